"""Whether a clause of a summary that may stand for one of its source is that one, or another thing.

Another thing needs something that tells so: what is only said in other words is no change.
"""

from __future__ import annotations

from castore.summary.fidelity.clauses.judgement import Clause
from castore.summary.fidelity.clauses.meaning import Reading, has_han
from castore.summary.fidelity.clauses.polarity import bound, denies, direction

__all__ = ["is_another", "tells"]


def is_another(mine: Clause, theirs: Clause, here: Reading, there: Reading) -> bool:
    """Whether a clause of the summary that may stand for one of the source says another thing: another
    value, more for less, yes for no, or with a word that is nowhere in the other text on both sides."""
    if mine.values_kept is False or theirs.values_kept is False:
        return True
    if direction(mine.words) * direction(theirs.words) < 0 or bound(mine.words) * bound(theirs.words) < 0:
        return True
    if not _has_common(mine, theirs):
        least = 1 if has_han(mine.words) else _OTHER_THING
        return _foreign(mine, there) >= least and _foreign(theirs, here) >= least
    if denies(mine.words) is not denies(theirs.words) and mine.fact.kind != "exception":
        return True
    return bool(_foreign(mine, there) and _foreign(theirs, here))


def tells(clause: Clause) -> bool:
    """Whether it has a value, or words that say something by themselves."""
    return clause.values_kept is False or sum(unit.weight for unit in clause.units) >= _SLIGHT_NEW


def _has_common(mine: Clause, theirs: Clause) -> bool:
    return not mine.terms.isdisjoint(theirs.terms) or not set(mine.words.split()).isdisjoint(
        set(theirs.words.split()) - _FRAME
    )


_FRAME_WORDS = "if when whenever once the a an is are it you your to of in on for and or"
_FRAME = frozenset(_FRAME_WORDS.split())


def _foreign(clause: Clause, other: Reading) -> int:
    """How many telling words of it the other text has in no form; of Chinese, two characters are one."""
    said = other.said_of(clause.units)
    missing = [unit for unit in clause.units if unit.terms.isdisjoint(said)]
    if has_han(clause.words):
        alone = sum(any(len(term) == 1 for term in unit.terms) for unit in missing)
        return alone // 2
    return sum(unit.weight >= _TELLING for unit in missing)


_OTHER_THING = 2
"""How many such words make two clauses that share none two things, not one in other words."""
_TELLING = 0.7
"""What a word weighs, at least, that makes a clause another one."""


_SLIGHT_NEW = 0.4
"""What is in a summary only, and weighs less than this, is no news."""
