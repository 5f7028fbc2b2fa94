"""What a text says: itself, then what the JSON strings in it say, then what those inside them say.

Law: level 0 is the text. Each further level is the one before with every escape of JSON (`\\n`, `\\"`,
`\\u8ba2`) read, wherever it stands, so that what a string says can be found beside the names and marks around
it. `origin` tells where in level 0 each place of a level came from. An escape that JSON has not (`\\d`)
stays as it is.

How: bare quotes would end what the decoder of strings reads, so for the time they are other characters, and
so are escaped ones and escaped backslashes. The whole text is then one string, read at one go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]

__all__ = ["ESCAPE", "Level", "levels", "said"]

_LEVELS_MAX = 4
"""Strings in strings in strings: deeper ones are found as they are spelt."""

ESCAPE = re.compile(
    r'\\(?:["\\/bfnrt]|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4})'
)

# Control characters can't stand bare in JSON. Where a text has them all the same, they are read as marks.
_BACKSLASH, _ESCAPED_QUOTE, _QUOTE = "\x1c", "\x1d", "\x1e"


def said(text: str) -> str:
    """`text` with its escapes read."""
    marked = text.replace("\\\\", _BACKSLASH).replace('\\"', _ESCAPED_QUOTE).replace('"', _QUOTE)
    try:
        read = str(scanstring(marked + '"', 0, False)[0])
    except ValueError:  # An escape that JSON has not, or half of one at the end.
        return ESCAPE.sub(lambda match: str(scanstring(match[0] + '"', 0)[0]), text)
    return read.replace(_BACKSLASH, "\\").replace(_ESCAPED_QUOTE, '"').replace(_QUOTE, '"')


class Level:
    """number: how many times escapes were read. text: what there is then."""

    def __init__(self, number: int, text: str, below: Level | None) -> None:
        self.number = number
        self.text = text
        self._below = below
        self._last = self._shift = 0
        self._escapes: Iterator[re.Match[str]] = iter(())
        self._escape: re.Match[str] | None = None
        self._rewind()

    def origin(self, at: int) -> int:
        """Where in level 0 the character at `at` began. Quick for places that do not decrease."""
        if self._below is None:
            return at
        if at < self._last:
            self._rewind()
        self._last = at
        while self._escape is not None and self._escape.start() - self._shift < at:
            self._shift += self._escape.end() - self._escape.start() - 1
            self._escape = next(self._escapes, None)
        return self._below.origin(at + self._shift)

    def _rewind(self) -> None:
        self._last = self._shift = 0
        if self._below is not None:
            self._escapes = ESCAPE.finditer(self._below.text)
        self._escape = next(self._escapes, None)


def levels(text: str) -> Iterator[Level]:
    """The text, and then what it says, as long as there are escapes left."""
    level = Level(0, text, None)
    yield level
    while "\\" in level.text and level.number < _LEVELS_MAX:
        further = said(level.text)
        if further == level.text:
            return
        level = Level(level.number + 1, further, level)
        yield level
