"""What became of the values of a source: by their keys, then by any form that says the same.

Laws:
- Kept is what the summary says in any form: the same value with another unit of its dimension, or with none;
  a date whose parts do not conflict; a number in words, in a path or in a word.
- Changed is a value that is not kept, where the summary has another one that nothing in the source says, of
  the same unit or of the same subject. Each of the summary's stands against one of the source's.
- Changed is a value, too, that the summary bounds from the other side: within 7 days, after 7 days.
- Invented is what the source says in no form.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from castore.summary.fidelity.likeliest import likeliest_pairs
from castore.summary.fidelity.model import Compared, Fact, Facts
from castore.summary.fidelity.values.opposed import opposed
from castore.summary.fidelity.values.standing import Standing, standing_of

__all__ = ["compare"]


def compare(kind: str, source: Facts, summary: Facts) -> Compared:
    """What became of the facts of this kind."""
    compared = _by_value(kind, source, summary)
    turned = {each.fact.key: each for each in opposed(kind, source, summary)}
    for fact in compared.kept if turned else ():
        if (each := turned.get(fact.key)) is not None:
            start, end = each.source
            compared.changed.append((each.fact._replace(start=start, end=end), each.summary))
    compared.kept = [fact for fact in compared.kept if fact.key not in turned]
    compared.changed.sort(key=lambda pair: pair[0].start)
    return compared


def _by_value(kind: str, source: Facts, summary: Facts) -> Compared:
    there = summary.of(kind)
    compared = Compared()
    unmatched: list[Fact] = []
    for key, fact in source.of(kind).items():
        (compared.kept if key in there else unmatched).append(fact)
    unknown = [fact for key, fact in there.items() if key not in source.of(kind)]
    if not unmatched and not unknown:
        return compared
    before, after = standing_of(source), standing_of(summary)
    missing = [(fact, after.says(fact, source.words(fact), before)) for fact in unmatched]
    made = [(fact, before.says(fact, summary.words(fact), after)) for fact in unknown]
    compared.changed = _pairs(
        [each for each in missing if each[1] < 2], [each for each in made if each[1] < 2], before, after
    )
    changed = {id(fact) for fact, _ in compared.changed}
    for fact, grade in missing:
        if id(fact) not in changed:
            (compared.kept if grade else compared.lost).append(fact)
    spans = {span for _, span in compared.changed}
    compared.invented = [
        fact
        for fact, grade in made
        if not grade and (fact.start, fact.end) not in spans and not after.is_count(fact)
    ]
    compared.kept.sort(key=lambda fact: fact.start)
    return compared


_Graded = list[tuple[Fact, int]]


def _pairs(
    missing: _Graded, made: _Graded, before: Standing, after: Standing
) -> list[tuple[Fact, tuple[int, int]]]:
    """Which of the made ones stand for which of the missing: those that have most in common first. One that
    the other text has a number for, of something else, does so only where both have one unit."""
    found: list[tuple[float, int, int]] = []
    for i, j in _to_compare(missing, made, before, after):
        (fact, grade), (other, other_grade) = missing[i], made[j]
        if grade or other_grade:
            score = 1.0 if before.is_same_unit(fact, other) else 0.0
        else:
            score = before.likeness(fact, other, after)
        if score > 0:
            found.append((-score, i, j))
    found.sort()
    gone: tuple[set[int], set[int]] = (set(), set())
    pairs: list[tuple[Fact, tuple[int, int]]] = []
    for _, i, j in found:
        if i not in gone[0] and j not in gone[1]:
            gone[0].add(i)
            gone[1].add(j)
            pairs.append((missing[i][0], (made[j][0].start, made[j][0].end)))
    left = [fact for i, (fact, grade) in enumerate(missing) if i not in gone[0] and not grade]
    more = [fact for j, (fact, grade) in enumerate(made) if j not in gone[1] and not grade]
    if len(left) == len(more) == 1 and before.has_no_unit(left[0]) and after.has_no_unit(more[0]):
        pairs.append((left[0], (more[0].start, more[0].end)))
    return sorted(pairs, key=lambda each: each[0].start)


_PAIRS_MAX = 40_000
_LIKELIEST_MAX = 4_000


def _to_compare(
    missing: _Graded, made: _Graded, before: Standing, after: Standing
) -> Iterable[tuple[int, int]]:
    """All pairs, or of more than _PAIRS_MAX those that share most."""
    if len(missing) * len(made) <= _PAIRS_MAX:
        return product(range(len(missing)), range(len(made)))
    marks = [before.marks(fact) for fact, _ in missing]
    return likeliest_pairs(marks, [after.marks(fact) for fact, _ in made], _LIKELIEST_MAX)
