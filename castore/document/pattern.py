"""Path patterns, for choosing values: `$.rows`, `$.messages[*].content`, `$..log`, `$['odd name'][0]`.

`$` is each top-level value; `.name` and `['name']` a member, `[3]` an item, `.*` and `[*]` any child,
`..` any number of steps, none included. A small part of JSONPath (RFC 9535), with its meaning.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from castore.document.path import Step
from castore.errors import InvalidOption

__all__ = ["Pattern", "parse_pattern"]

_SEGMENT = re.compile(
    r"""(?P<descend>\.\.)?
        (?: (?:(?<=\.\.)|\.)(?:(?P<star>\*)|(?P<name>[^\s.\[\]'"*]+))
          | \[(?:(?P<any>\*)
                |(?P<index>[0-9]{1,18})
                |(?P<quote>['"])(?P<quoted>(?:\\.|(?!(?P=quote))[^\\])*)(?P=quote))\]
        )""",
    re.VERBOSE,
)
_UNESCAPE = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Segment:
    descends: bool
    step: Step | None
    """None is any child."""

    def takes(self, step: Step) -> bool:
        return self.step is None or (type(self.step) is type(step) and self.step == step)


@dataclass(frozen=True, slots=True)
class Pattern:
    text: str
    segments: tuple[_Segment, ...]

    @property
    def has_index(self) -> bool:
        return any(isinstance(segment.step, int) for segment in self.segments)

    def matches(self, steps: Sequence[Step]) -> bool:
        """Whether the whole of `steps` is one that the pattern describes. Linear in both lengths' product."""
        states = {0}
        for step in steps:
            after: set[int] = set()
            for state in states:
                if state == len(self.segments):
                    continue
                segment = self.segments[state]
                if segment.takes(step):
                    after.add(state + 1)
                if segment.descends:
                    after.add(state)
            if not after:
                return False
            states = after
        return len(self.segments) in states


def parse_pattern(text: str) -> Pattern:
    """Raises InvalidOption, with the place, for what is not a pattern."""
    if not text.startswith("$"):
        raise _invalid(text, "it must begin with '$'")
    at = 1
    segments = []
    while at < len(text):
        match = _SEGMENT.match(text, at)
        if match is None:
            raise _invalid(text, f"no step can be read at '{text[at : at + 20]}'")
        step: Step | None = None
        if match["name"] is not None:
            step = match["name"]
        elif match["index"] is not None:
            step = int(match["index"])
        elif match["quoted"] is not None:
            step = _UNESCAPE.sub(r"\1", match["quoted"])
        segments.append(_Segment(match["descend"] is not None, step))
        at = match.end()
    return Pattern(text, tuple(segments))


def _invalid(text: str, why: str) -> InvalidOption:
    return InvalidOption(
        f"'{text[:80]}' is not a path pattern: {why}",
        hint="patterns look like $.rows, $.messages[*].content, $..log, $['odd name'][0]",
        subject=text[:80],
    )
