"""What is folded or moved in one of two documents and not in the other. Pure: lists of spans, and no store.

Laws: what stands in one place of both in the same words is no difference, nor is what the other has folded
with more around it, for neither shows it; all else is told once, in the order of the documents (`weighed`
puts what never reached the model last). Places are held against each other by what both have: offsets in one
source, else paths in a folded document, else the digests themselves, in the order in which they stand.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from castore.transcript.model import PartKind, Reason

__all__ = ["Change", "Difference", "FoldedSpan", "Rest", "differences", "rest_of", "weighed"]

_WITH_PROSE = {Reason.OLDER, Reason.OTHER_BRANCH, Reason.CUT}
"""Whole records that left for one of these may hold what somebody said."""


class Change(StrEnum):
    """As `diff` writes it."""

    FIRST = "<"
    """Folded in the first alone: the second shows it."""
    SECOND = ">"
    BOTH = "|"
    """Folded in both, and not alike."""


@dataclass(frozen=True, slots=True)
class FoldedSpan:
    """What does not stand in a document, but for a reference or a marker, or nothing.

    digest: of its object, 16 digits or all of them. size: bytes of the object, if that is known. kind: of the
    part of a view, or of a reference. reason: why it left a view. offset, end: in the source. turn: -1 before
    the first. path: in the folded document, of the value with this number, from 0. line: of a marker, from 1.
    stands: what stands in its place. excerpt: of what it says, a line.
    """

    digest: str
    kind: str
    stands: bytes = field(repr=False)
    size: int | None = None
    reason: str | None = None
    offset: int | None = None
    end: int | None = None
    turn: int | None = None
    role: str | None = None
    value: int | None = None
    path: str | None = None
    line: int | None = None
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """One span: of which document it is, and what the other has there."""

    change: Change
    span: FoldedSpan
    other: FoldedSpan | None = None

    @property
    def words(self) -> str:
        """What is different of a span that both have not alike."""
        if self.other is None:
            return ""
        if self.span.digest[:16] != self.other.digest[:16]:
            return "another object"
        if self.span.reason != self.other.reason:
            return f"{self.span.reason} -> {self.other.reason}"
        return "another reference" if self.span.path is not None else "another marker"


@dataclass(frozen=True, slots=True)
class Rest:
    """How the sources differ beside what is folded: from which byte and line on; FIRST, SECOND: that one goes
    on where the other ends. offset None: it is not known where."""

    change: Change
    offset: int | None = None
    line: int | None = None
    size: int = 0

    @property
    def words(self) -> str:
        if self.offset is None:
            return "the sources differ"
        if self.change is Change.BOTH:
            return f"the sources differ from line {self.line:,} on (byte {self.offset:,})"
        whose = "first" if self.change is Change.FIRST else "second"
        return f"the {whose} goes on for {self.size:,} bytes after line {self.line:,}"


def differences(
    first: Sequence[FoldedSpan], second: Sequence[FoldedSpan], *, is_one_source: bool
) -> Iterator[Difference]:
    """What is folded in one of them, or in both not alike. is_one_source: offsets are of one source, or of
    two of which one begins with the other."""
    keys = _keys(first, second, is_one_source=is_one_source)
    ours, theirs = (
        dict(zip(each, spans, strict=True)) for each, spans in zip(keys, (first, second), strict=True)
    )
    if is_one_source and not any(span.offset is None for span in (*first, *second)):
        order: list[Hashable] = sorted({*ours, *theirs})  # type: ignore[type-var]
    else:
        order = _merged(keys[0], keys[1])
    for key in order:
        here, there = ours.get(key), theirs.get(key)
        if here is None and there is not None:
            if not is_one_source or not _is_within(there, first):
                yield Difference(Change.SECOND, there)
        elif here is not None and there is None:
            if not is_one_source or not _is_within(here, second):
                yield Difference(Change.FIRST, here)
        elif here is not None and there is not None and not _is_alike(here, there):
            yield Difference(Change.BOTH, here, there)


def weighed(found: Iterable[Difference]) -> list[Difference]:
    """The same, those last that a model never sees: they are many, and say little."""
    return sorted(found, key=lambda each: _is_aside(each.span))


def rest_of(first: bytes, second: bytes) -> Rest | None:
    """How two sources differ; None if they are the same."""
    if first == second:
        return None
    at = _common_bytes(first, second)
    line = first.count(b"\n", 0, at) + 1
    if at == min(len(first), len(second)):
        change = Change.FIRST if len(first) > at else Change.SECOND
        ended = first[:at].count(b"\n") if first[:at].endswith(b"\n") else line
        return Rest(change, at, ended, abs(len(first) - len(second)))
    return Rest(Change.BOTH, at, line)


# --- Helpers ---------------------------------------------------------------------------------------


def _is_aside(span: FoldedSpan) -> bool:
    return span.kind == PartKind.UI or (span.kind == "records" and span.reason not in _WITH_PROSE)


def _keys(
    first: Sequence[FoldedSpan], second: Sequence[FoldedSpan], *, is_one_source: bool
) -> tuple[list[Hashable], list[Hashable]]:
    """What each span is found by in the other: none is there twice."""
    spans = (*first, *second)
    if is_one_source and all(span.offset is not None for span in spans):
        return [span.offset for span in first], [span.offset for span in second]
    if all(span.path is not None for span in spans):
        return _numbered(first, by_path=True), _numbered(second, by_path=True)
    return _numbered(first, by_path=False), _numbered(second, by_path=False)


def _numbered(spans: Sequence[FoldedSpan], *, by_path: bool) -> list[Hashable]:
    """By path or digest, and how many have the same before it: a member may be there twice."""
    seen: dict[Hashable, int] = {}
    keys: list[Hashable] = []
    for span in spans:
        key: Hashable = (span.value, span.path) if by_path else span.digest[:16]
        seen[key] = seen.get(key, 0) + 1
        keys.append((key, seen[key]))
    return keys


def _merged(first: Sequence[Hashable], second: Sequence[Hashable]) -> list[Hashable]:
    """Both orders in one: what the second alone has comes before the next that both have."""
    at_second = {key: at for at, key in enumerate(second)}
    in_first = set(first)
    merged: list[Hashable] = []
    done = 0
    for key in first:
        stop = at_second.get(key, 0)
        merged += [each for each in second[done:stop] if each not in in_first]
        done = max(done, stop)
        merged.append(key)
    return [*merged, *(each for each in second[done:] if each not in in_first)]


def _is_within(span: FoldedSpan, others: Sequence[FoldedSpan]) -> bool:
    """Whether one of the others, which are in order, holds it and more."""
    if span.offset is None or span.end is None:
        return False
    at = bisect_right(others, span.offset, key=lambda each: -1 if each.offset is None else each.offset)
    before = others[at - 1] if at else None
    return before is not None and before.end is not None and before.end >= span.end


def _is_alike(one: FoldedSpan, other: FoldedSpan) -> bool:
    return one.digest[:16] == other.digest[:16] and one.reason == other.reason and one.stands == other.stands


def _common_bytes(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    low, high = 0, min(len(one), len(other))
    left, right = memoryview(one), memoryview(other)
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
