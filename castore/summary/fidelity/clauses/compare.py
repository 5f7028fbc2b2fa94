"""Whether a summary keeps the clauses of its source: conditions, exceptions, negations, deadlines, promises.

Laws:
- What is in both word for word is kept, and never looked into.
- A clause whose words and values are there, but not its `not`, is changed; so is one whose values, whose
  `more` and `less`, or whose subject are others.
- What is left on both sides is paired by what it has in common. A pair is changed where something tells
  that it is another thing, and otherwise kept: said in other words. The rest is lost, and invented.
- A weak condition is counted only if it is changed, or if the summary keeps its sentence without it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Sequence
from itertools import accumulate, product

from castore.summary.fidelity.clauses.another import is_another, tells
from castore.summary.fidelity.clauses.judgement import Clause, Verdict, clauses_of, look
from castore.summary.fidelity.clauses.meaning import Reading, Unit, coverage, has_han, read, units_of
from castore.summary.fidelity.clauses.weak import conditions, contradicted, is_dropped
from castore.summary.fidelity.likeliest import likeliest_pairs
from castore.summary.fidelity.model import Compared, Fact, Facts

__all__ = ["compare"]

_NEAR = 0.3
"""The share of what two clauses say that makes one the other with another value."""
_AROUND = 0.5
"""What their sentences have to share, for two clauses that share nothing to be two values of one thing."""
_OTHER = {"condition": 0.3, "exception": 0.3, "deadline": 0.3, "promise": 0.25}
"""By kind: the share of a clause that nothing in the other text says, which makes one that seems to be said
another thing."""
_ALIKE = 0.6
_PAIRS_MAX = 40_000
"""Pairs of clauses of one kind, at most, that are held against each other."""
_LIKELIEST_MAX = 10_000
"""The same, where there are more than that."""


def compare(kind: str, source: Facts, summary: Facts) -> Compared:
    """What became of the facts of this kind."""
    before = source.of(kind)
    said, other = _with_weak(kind, source), _with_weak(kind, summary)
    compared = Compared(kept=[fact for key, fact in before.items() if key in other])
    gone = clauses_of(source, [fact for key, fact in said.items() if key not in other], summary)
    new = clauses_of(summary, [fact for key, fact in other.items() if key not in said], source, is_new=True)
    for clause in gone:
        clause.is_weak = clause.fact.key not in before
    if kind == "negation":
        compared.changed += contradicted(source, summary)
    if not gone and not new:
        return compared
    if not summary.text.raw.strip():
        compared.lost = [clause.fact for clause in gone if not clause.is_weak]
        return compared
    there, here = read(summary.text), read(source.text)
    left = []
    for clause in gone:
        verdict = look(kind, clause, here, there)
        if verdict.flipped is not None:
            compared.changed.append((clause.fact, verdict.flipped))
        elif not _is_open(kind, clause, verdict, there):
            compared.kept.append(clause.fact)
        else:
            left.append(clause)
    made = []
    told = _Spans(span for _, span in compared.changed)
    for clause in new:
        verdict = look(kind, clause, there, here)
        if not told.meets(clause.fact) and _is_open(kind, clause, verdict, here):
            made.append(clause)
    pairs = _pairs(left, made, here, there)
    for mine, theirs in pairs:
        if is_another(mine, theirs, here, there):
            compared.changed.append((mine.fact, (theirs.fact.start, theirs.fact.end)))
        else:
            compared.kept.append(mine.fact)
    paired = {id(clause) for pair in pairs for clause in pair}
    left = [clause for clause in left if id(clause) not in paired]
    made = [clause for clause in made if id(clause) not in paired]
    spare = _spare(new, made, compared) if len(left) * len(new) <= _PAIRS_MAX else []
    for clause in left:
        clause.is_doubtful = clause.is_doubtful or _is_like_one(clause, spare, here, there)
        if _is_kept(kind, clause):
            compared.kept.append(clause.fact)
        elif not clause.is_weak or is_dropped(_around(clause), there):
            compared.lost.append(clause.fact)
    compared.kept = [fact for fact in compared.kept if fact.key in before]
    compared.invented = [clause.fact for clause in made if not _is_kept(kind, clause) and tells(clause)]
    return compared


def _with_weak(kind: str, facts: Facts) -> dict[Hashable, Fact]:
    """The facts of this kind, and the weak ones."""
    return {**conditions(facts.text), **facts.of(kind)} if kind == "condition" else facts.of(kind)


def _spare(new: list[Clause], made: list[Clause], compared: Compared) -> list[Clause]:
    """The clauses of the summary that the source has, and that are no other value of one of its own."""
    open_ones = {id(clause) for clause in made}
    used = {span for _, span in compared.changed}
    return [
        clause
        for clause in new
        if id(clause) not in open_ones and (clause.fact.start, clause.fact.end) not in used
    ]


def _is_like_one(clause: Clause, spare: list[Clause], here: Reading, there: Reading) -> bool:
    """Whether a clause of the summary that the source has shares enough to be this one in other words."""
    return any(
        _common(clause.deed, each.deed) >= _NEAR
        and not (clause.passage and each.words in clause.passage.words)
        and not is_another(clause, each, here, there)
        for each in spare
    )


def _is_kept(kind: str, clause: Clause) -> bool:
    """Whether enough of it is in the other text, though no clause there is its counterpart."""
    return clause.is_doubtful or (clause.values_kept is True and kind != "deadline")


def _is_open(kind: str, clause: Clause, verdict: Verdict, other: Reading) -> bool:
    """Whether it may have a counterpart that says another thing: it is not there, or not all of it."""
    if verdict.flipped is not None or not verdict.is_there:
        return True
    if kind not in _OTHER or clause.is_dated or has_han(clause.words) is not other.is_han:
        return False
    clause.is_doubtful = _missing(clause, other) >= _OTHER[kind]
    return clause.is_doubtful


def _missing(clause: Clause, other: Reading) -> float:
    """The share of what it says that nothing in the other text says."""
    return 1.0 - coverage(clause.units, other.said_of(clause.units)) if clause.units else 0.0


class _Spans:
    """Spans of a text."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        ordered = sorted(spans)
        self._starts = [start for start, _ in ordered]
        # Up to each of them, how far any goes: an earlier one may end behind a later one.
        self._reach = list(accumulate((end for _, end in ordered), max))

    def meets(self, fact: Fact) -> bool:
        """Whether one has a character of the fact."""
        count = bisect_left(self._starts, fact.end)
        return count > 0 and self._reach[count - 1] > fact.start


def _pairs(
    left: list[Clause], made: list[Clause], here: Reading, there: Reading
) -> list[tuple[Clause, Clause]]:
    """Of what is left on both sides: which is which with another value, those with most in common first."""
    scored = []
    for mine, theirs in _to_compare(left, made):
        own = max(_common(mine.deed, theirs.deed), _alike(mine.words, theirs.words))
        around = _common(_around(mine), _around(theirs))
        if own >= _NEAR or _is_beside(mine, theirs, around, here, there):
            scored.append((own + around, mine, theirs))
    scored.sort(key=lambda each: (-each[0], each[1].fact.start, each[2].fact.start))
    pairs: list[tuple[Clause, Clause]] = []
    used: set[int] = set()
    for _, mine, theirs in scored:
        if used.isdisjoint((id(mine), id(theirs))):
            used |= {id(mine), id(theirs)}
            pairs.append((mine, theirs))
    return pairs


def _to_compare(left: list[Clause], made: list[Clause]) -> Iterable[tuple[Clause, Clause]]:
    """All pairs, or of more than _PAIRS_MAX those that share most."""
    if len(left) * len(made) <= _PAIRS_MAX:
        return product(left, made)
    pairs = likeliest_pairs([*map(_marks, left)], [*map(_marks, made)], _LIKELIEST_MAX)
    return [(left[one], made[other]) for one, other in pairs]


def _marks(clause: Clause) -> frozenset[str]:
    """What it says, and what its sentence says beside it."""
    return frozenset(clause.words.split()).union(*(unit.terms for unit in (*clause.deed, *_around(clause))))


def _is_beside(mine: Clause, theirs: Clause, around: float, here: Reading, there: Reading) -> bool:
    """Whether two clauses that share nothing stand in the same place of what is said."""
    if mine.is_doubtful or theirs.is_doubtful:
        return mine.fact.kind in ("deadline", "exception") and around >= _AROUND
    return around >= _AROUND or (around >= _NEAR and not is_another(mine, theirs, here, there))


def _around(clause: Clause) -> list[Unit]:
    """What the sentence says beside the clause."""
    passage = clause.passage
    if not clause.around and passage is not None:
        start, end = clause.fact.start - passage.start, clause.fact.end - passage.start
        clause.around = units_of(passage.words[:start] + " " + passage.words[end:])
    return clause.around


def _alike(one: str, other: str) -> float:
    """0, or the share of all their words that two short clauses have in common, if that is most of them."""
    mine, theirs = set(one.split()), set(other.split())
    share = len(mine & theirs) / max(len(mine), len(theirs), 1)
    return share if share >= _ALIKE else 0.0


def _common(one: Sequence[Unit], other: Sequence[Unit]) -> float:
    few, many = (one, other) if len(one) <= len(other) else (other, one)
    if not few:
        return 0.0
    return coverage(few, frozenset().union(*(each.terms for each in many)))
