"""Which of many things on two sides may be one another: those that share most, where holding each against
each would take too long.

Laws:
- Pairs are of two things that share a mark, the rarer the more it counts; the same marks give the same pairs.
- Takes time linear in the marks: of each mark few places are looked at, and no more pairs are given than
  asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from heapq import nsmallest

__all__ = ["likeliest_pairs"]

_PLACES_MAX = 8
"""Of each mark, on the other side."""
_MARKS_MAX = 40
"""Of each thing."""


def likeliest_pairs(
    one: Sequence[Collection[Hashable]], other: Sequence[Collection[Hashable]], most: int
) -> list[tuple[int, int]]:
    """Numbers of things, by the marks of each: at most `most` pairs, in their order."""
    places: dict[Hashable, list[int]] = {}
    for number, marks in enumerate(other):
        for mark in marks:
            places.setdefault(mark, []).append(number)
    found = nsmallest(most, _scored(one, places))
    return sorted((mine, theirs) for _, mine, theirs in found)


def _scored(
    one: Sequence[Collection[Hashable]], places: dict[Hashable, list[int]]
) -> Iterator[tuple[float, int, int]]:
    for number, marks in enumerate(one):
        known = sorted(
            (places[mark] for mark in marks if mark in places), key=lambda each: (len(each), each[0])
        )
        shared: dict[int, float] = {}
        for where in known[:_MARKS_MAX]:
            for place in where[:_PLACES_MAX]:
                shared[place] = shared.get(place, 0.0) + 1.0 / len(where)
        for place, weight in shared.items():
            yield -weight, number, place
