"""Whether a summary keeps the words and marked pieces of its source.

One is kept in whatever form: as it is, without its marks, by the part of it that tells (the end of a path,
the last name of somebody). What is not, and is like something that only the summary has, was changed into
that.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from weakref import WeakKeyDictionary

from castore.summary.fidelity.likeliest import likeliest_pairs
from castore.summary.fidelity.model import Compared, Fact, Facts
from castore.summary.fidelity.tokens.alike import likeness, marks_of
from castore.summary.fidelity.tokens.kept import is_kept

__all__ = ["TOKENS", "compare"]

TOKENS = ("path", "command", "identifier", "url", "email", "code", "quote", "name")
_PAIRS_MAX = 10_000
"""Pairs of lost and invented facts, at most, that are held against each other."""

_LIKELIEST_MAX = 4_000
"""The same, where there are more than that."""

_known: WeakKeyDictionary[Facts, WeakKeyDictionary[Facts, dict[str, Compared]]] = WeakKeyDictionary()


def compare(kind: str, source: Facts, summary: Facts) -> Compared:
    """What became of the facts of this kind."""
    of_source = _known.setdefault(source, WeakKeyDictionary())
    if summary not in of_source:
        of_source[summary] = _all_kinds(source, summary)
    return of_source[summary][kind]


def _all_kinds(source: Facts, summary: Facts) -> dict[str, Compared]:
    """All kinds at once: what was a path may be between backticks now, and so code."""
    compared = {kind: Compared() for kind in TOKENS}
    lost: list[Fact] = []
    for kind in TOKENS:
        for fact in source.of(kind).values():
            if is_kept(fact, source, summary):
                compared[kind].kept.append(fact)
            else:
                lost.append(fact)
    invented = [
        fact
        for kind in TOKENS
        for fact in summary.of(kind).values()
        if not is_kept(fact, summary, source, is_reverse=True)
    ]
    changed = _paired(lost, invented, source, summary)
    for index, fact in enumerate(lost):
        if (other := changed.get(index)) is None:
            compared[fact.kind].lost.append(fact)
        else:
            compared[fact.kind].changed.append((fact, (invented[other].start, invented[other].end)))
    used = set(changed.values())
    for index, fact in enumerate(invented):
        if index not in used:
            compared[fact.kind].invented.append(fact)
    return compared


def _paired(lost: list[Fact], invented: list[Fact], source: Facts, summary: Facts) -> dict[int, int]:
    """Which of the lost facts became which of the invented ones: the likest first, each only once."""
    likest = []
    for index, other_index in _to_compare(lost, invented, source, summary):
        like = likeness(lost[index], invented[other_index], source, summary)
        if like:
            likest.append((-like, index, other_index))
    paired: dict[int, int] = {}
    used: set[int] = set()
    for _, index, other_index in sorted(likest):
        if index not in paired and other_index not in used:
            paired[index] = other_index
            used.add(other_index)
    return paired


def _to_compare(
    lost: list[Fact], invented: list[Fact], source: Facts, summary: Facts
) -> Iterable[tuple[int, int]]:
    """All pairs, or of very many those that share most."""
    if len(lost) * len(invented) <= _PAIRS_MAX:
        return product(range(len(lost)), range(len(invented)))
    marks = [marks_of(fact, source) for fact in lost]
    return likeliest_pairs(marks, [marks_of(fact, summary) for fact in invented], _LIKELIEST_MAX)
