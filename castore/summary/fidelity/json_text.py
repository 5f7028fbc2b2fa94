"""JSON as a text to be looked through: what its strings say, not how they are escaped.

Laws:
- Only what is a sequence of JSON values, from its first byte to its last, is read so, and the arguments on a
  line `call NAME JSON`, which is how castore.transcript.collapse.reading writes a call; all other text is
  what it is, whatever backslashes it has.
- A place is one of the text as it was given.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from io import BytesIO

from castore.document.scan import segments
from castore.errors import DocumentInvalid, LimitExceeded
from castore.summary.fidelity.model import Text

__all__ = ["readable"]

_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[\"\\/bfnrt])"
)
_CALL = re.compile(r"^call \S{1,80}+ (?=[\[{\"])([^\n]*)", re.M)
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def readable(text: str) -> Text:
    """The text to be looked through; of JSON with escapes, what they stand for."""
    if "\\" not in text:
        return Text(text)
    if text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[", '"') and _is_json(text):
        return _JsonText(text, [(0, len(text))])
    calls = [call.span(1) for call in _CALL.finditer(text) if "\\" in call[1] and _is_json(call[1])]
    return _JsonText(text, calls) if calls else Text(text)


class _JsonText(Text):
    """spans: those that are JSON, in order."""

    def __init__(self, text: str, spans: Iterable[tuple[int, int]]) -> None:
        pieces: list[str] = []
        self._said: list[int] = [0]
        self._written: list[int] = [0]
        at = said = 0
        for match in (each for start, end in spans for each in _ESCAPE.finditer(text, start, end)):
            stands_for = _meaning(match[0])
            pieces += (text[at : match.start()], stands_for)
            said += match.start() - at + len(stands_for)
            at = match.end()
            self._said.append(said)
            self._written.append(at)
        pieces.append(text[at:])
        super().__init__("".join(pieces))
        self._as_given = Text(text)

    def place(self, offset: int) -> tuple[int, int]:
        behind = bisect_right(self._said, offset) - 1
        return self._as_given.place(self._written[behind] + offset - self._said[behind])


def _meaning(escape: str) -> str:
    if escape[1] != "u":
        return _SHORT.get(escape[1], escape[1])
    if len(escape) > len("\\u0000"):
        high, low = int(escape[2:6], 16), int(escape[8:], 16)
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
    # Half a pair, alone, is no character that a text may have.
    return "\ufffd" if 0xD800 <= (code := int(escape[2:], 16)) <= 0xDFFF else chr(code)


def _is_json(text: str) -> bool:
    data = text.encode("utf-8", "surrogatepass")
    try:
        for _ in segments(BytesIO(data).read, len(data)):
            pass
    except (DocumentInvalid, LimitExceeded):
        return False
    return True
