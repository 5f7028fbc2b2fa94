"""A cue in an English text, and the clause around it."""

from __future__ import annotations

import re

from castore.summary.fidelity.clauses.cues import BREAK_BEHIND, CLAUSE_END

__all__ = ["REACH", "Place", "Span", "is_past", "is_told"]

Span = tuple[str, int, int]
REACH = 110
"""Characters before and behind a cue, at most, that belong to its clause."""
_SENTENCE_MAX = 160


_LED = re.compile(r"\s(?:if|when|where|for|that|in|unless|so|while|which)\b")
"""What belongs to a cue although a clause may begin with it."""


class Place:
    """Where a cue stands: `lower[at:end]`. floor: where the last clause ended."""

    __slots__ = ("at", "end", "floor", "lower", "raw")

    def __init__(self, lower: str, raw: str) -> None:
        self.lower = lower
        self.raw = raw
        self.at = self.end = self.floor = 0

    def ahead(self, count: int = 40) -> str:
        return self.lower[self.end : self.end + count]

    def behind(self, count: int = 45) -> str:
        return self.lower[max(self.floor, self.at - count) : self.at]

    def stop(self) -> int:
        """Where the clause ends that the cue is in."""
        led = _LED.match(self.lower, self.end)
        found = CLAUSE_END.search(self.lower, led.end() if led else self.end, self.end + REACH)
        if found is not None:
            return found.start()
        limit = min(len(self.lower), self.end + REACH)
        return limit if limit == len(self.lower) else max(self.end, self.lower.rfind(" ", self.end, limit))

    def start(self) -> int:
        """Where it begins."""
        lower, at = self.lower, self.at
        low = max(self.floor, at - REACH)
        if low > self.floor and not lower[low - 1].isspace():
            low = lower.find(" ", low, at) + 1 or at
        # The commonest marks are found sooner this way.
        low = max(low, lower.rfind("\n", low, at) + 1)
        for mark in (". ", ", "):
            if (found := lower.rfind(mark, low, at)) >= 0:
                low = found + 2
        start = low
        for match in BREAK_BEHIND.finditer(lower, low, at):
            start = match.end()
        return min(start, at)

    def beside(self, end: int) -> str:
        """What the sentence says beside the clause that ends there."""
        lower = self.lower
        low, high = max(0, self.at - _SENTENCE_MAX), min(len(lower), end + _SENTENCE_MAX)
        for mark in (". ", "? ", "! ", "\n"):
            if (found := lower.rfind(mark, low, self.at)) >= 0:
                low = found + 1
            if (found := lower.find(mark, end, high)) >= 0:
                high = found
        return lower[low : self.at] + " " + lower[end:high]

    def leading(self, kind: str) -> Span:
        """The clause from its cue on."""
        return kind, self.at, self.stop()

    def around(self, kind: str) -> Span:
        """The whole clause."""
        return kind, self.start(), self.stop()


_PRESENT = re.compile(
    r"\b(?:is|are|be|been|has|have|gets?|becomes?|remains?|can|will|must|may|does|do|exceeds?|isn't|aren't)\b"
)
_PAST = re.compile(
    r"\b(?:was|were|had|did|went|came|saw|got|took|made|said|told|ran|sat|stood|knew|thought|felt|gave|wrote"
    r"|spoke|fell|grew|began|broke|drove|ate|drank|swam|sang|rang|rose|wore|chose|forgot|became|won|met|slept"
    r"|bought|left|kept|found|held|lost|heard|brought"
    r"|[a-z]+ed)\b"
)


def is_past(words: str) -> bool:
    """Whether it tells what was."""
    return _PAST.search(words) is not None and _PRESENT.search(words) is None


_RULING = re.compile(
    r"\b(?:may|must|can|cannot|will|shall|should|is|are|isn't|aren't|has to|have to|needs?|requires?|applies"
    r"|gets?|pays?|do|does|please|won't|can't|mustn't|don't|doesn't)\b|'ll\b"
)


def is_told(around: str, words: str = "") -> bool:
    """Whether what a sentence says around a clause, and the clause, only tells what was."""
    return is_past(around + words) and _RULING.search(around) is None
