"""What is weak: negations and conditions that are no rules, and when a summary is wrong about one.

Laws:
- One that the summary does not speak of is neither lost nor kept.
- A negation is contradicted only by a sentence, or a piece of one, that has nearly all of what it says,
  subject and deed, and nothing that denies; one of the summary is never invented.
- A condition is dropped only by a sentence that keeps what is so if it is met.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from weakref import WeakKeyDictionary

from castore.summary.fidelity.clauses.extract import weak_conditions, weak_negations
from castore.summary.fidelity.clauses.judgement import Clause, clauses_of, look
from castore.summary.fidelity.clauses.meaning import Reading, Unit, coverage, has_han, known, read, terms_of
from castore.summary.fidelity.model import Fact, Facts, Text

__all__ = ["conditions", "contradicted", "is_dropped"]

_SAID = 0.7
"""The share of what one says that the other must say, to contradict it; and that of its deed."""
_SAID_IF_DONE = 0.5
"""The same, where it says all of the deed."""
_LEAST = 1.0
"""The weight of what it says, at least: less than that may be about anything."""
_WAITS = re.compile(r"\b(?:once|after|when|wait\w*|later)\b|等|再|才|之后")
"""What is not so yet, and will be, contradicts nothing."""
_SPARED = re.compile(r"\b(?:have to|has to|need\w*|necessary|required)\b|无需|无须|不必|不用|不需")
_BOUND = re.compile(
    r"\b(?:must|have to|has to|had to|need\w*|necessary|requir\w+|should|ought)\b|须|需|要|应|得"
)
"""Who need not do a thing is contradicted by who must, not by who does."""
_MAIN_SAID = 0.6
"""The share of what a sentence says beside its condition that keeps it."""
_MAIN_LEAST = 1.5
"""The weight of that, at least."""
_Found = WeakKeyDictionary[Text, dict[Hashable, Fact]]
_negations: _Found = WeakKeyDictionary()
_conditions: _Found = WeakKeyDictionary()


def conditions(text: Text) -> dict[Hashable, Fact]:
    """The weak conditions of a text, by key."""
    return _once(_conditions, text, weak_conditions)


def is_dropped(around: Sequence[Unit], other: Reading) -> bool:
    """Whether a sentence of the other text says `around`: what that of a condition says beside it."""
    if _weight(around) < _MAIN_LEAST:
        return False
    return any(share >= _MAIN_SAID for share, _ in other.best(around))


def contradicted(source: Facts, summary: Facts) -> list[tuple[Fact, tuple[int, int]]]:
    """Weak negations of the source that the summary turns round, each with where."""
    if not summary.text.raw.strip() or not (mine := _weak(source.text)):
        return []
    theirs, ruled = _weak(summary.text), summary.of("negation")
    gone = [fact for key, fact in mine.items() if key not in theirs and key not in ruled]
    here, there = read(source.text), read(summary.text)
    told = []
    for clause in clauses_of(source, gone, summary):
        if clause.values_kept is False:
            continue
        flipped = look("negation", clause, here, there).flipped
        if flipped is not None and _is_same(clause, summary.text.lower[slice(*flipped)], is_han=there.is_han):
            told.append((clause.fact, flipped))
    return told


def _weak(text: Text) -> dict[Hashable, Fact]:
    return _once(_negations, text, weak_negations)


def _once(before: _Found, text: Text, extract: Callable[[Text], Iterator[Fact]]) -> dict[Hashable, Fact]:
    if (found := before.get(text)) is None:
        found = before[text] = {}
        for fact in extract(text):
            found.setdefault(fact.key, fact)
    return found


def _is_same(clause: Clause, words: str, *, is_han: bool) -> bool:
    if _WAITS.search(words) or (_SPARED.search(clause.words) and not _BOUND.search(words)):
        return False
    said = terms_of(words)
    units, deed = clause.units, clause.deed
    if has_han(clause.words) is not is_han:
        units, deed = known(units), known(deed)
    if _weight(units) < _LEAST or not deed:
        return False
    done = coverage(deed, said)
    return coverage(units, said) >= (_SAID if done < 1.0 else _SAID_IF_DONE) and done >= _SAID


def _weight(units: Sequence[Unit]) -> float:
    return sum(unit.weight for unit in units)
