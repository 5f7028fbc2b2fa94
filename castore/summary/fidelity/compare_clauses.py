"""Whether a summary keeps the clauses of its source: conditions, exceptions, negations, deadlines, promises.

A clause is kept if the summary says it in its words, or if one of its sentences has most of what the clause says,
the same values, and the same polarity. What is left on both sides is paired: one exception may be another one now.

Laws:
- What is in both word for word is kept, and never looked into.
- A clause with the values and words of one that was there, but without its `not`, is changed; so is one whose
  values, or whose `more` and `less`, are others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from castore.summary.fidelity import values
from castore.summary.fidelity.meaning import (
    Part,
    Passage,
    Reading,
    Unit,
    coverage,
    has_han,
    known,
    read,
    units_of,
)
from castore.summary.fidelity.model import Compared, Fact, Facts, Text
from castore.summary.fidelity.polarity import (
    after_if,
    direction,
    excepts,
    has_cue,
    is_including,
    is_led_by_if,
    negations,
    restricts,
    says_no,
    says_only,
    takes_back,
)
from castore.summary.fidelity.standing import standing_of

__all__ = ["compare"]

_ENOUGH = {"condition": 0.5, "exception": 0.55, "negation": 0.5, "deadline": 0.5, "promise": 0.6}
"""The share of what a clause says that a sentence must have to say it."""
_ENOUGH_WITH_CUE = {"condition": 0.4, "exception": 0.55, "negation": 0.4, "deadline": 0.5, "promise": 0.34}
"""The same, of one that has a cue of the kind."""
_ENOUGH_WITH_VALUES = 0.34
"""The same, of one that has values, which are all there."""
_NEAR = 0.4
"""The share of what two clauses say, or of what is said around them, that makes one the other with another value."""
_PAIRS_MAX = 40_000


@dataclass(eq=False)
class _Clause:
    """A fact and what it says: its words in lower case; as they are spelt. values_kept: whether the other text has all its values; None: it has none."""

    fact: Fact
    words: str
    spelt: str
    units: list[Unit]
    values_kept: bool | None = None
    is_dated: bool = False
    is_new: bool = False
    passage: Passage | None = None
    around: list[Unit] = field(default_factory=list)


@dataclass(frozen=True)
class _Verdict:
    """is_there: it is said. flipped: where it is said the other way round."""

    is_there: bool
    flipped: tuple[int, int] | None = None


def compare(kind: str, source: Facts, summary: Facts) -> Compared:
    ours, theirs = source.of(kind), summary.of(kind)
    compared = Compared(kept=[fact for key, fact in ours.items() if key in theirs])
    gone = _clauses(source, [fact for key, fact in ours.items() if key not in theirs], summary)
    new = _clauses(summary, [fact for key, fact in theirs.items() if key not in ours], source)
    if not gone and not new:
        return compared
    if not summary.text.raw.strip():
        compared.lost = [clause.fact for clause in gone]
        return compared
    there, here = read(summary.text), read(source.text)
    left: list[_Clause] = []
    for clause in gone:
        verdict = _look(kind, clause, read(source.text), there)
        if verdict.flipped is not None:
            compared.changed.append((clause.fact, verdict.flipped))
        elif verdict.is_there:
            compared.kept.append(clause.fact)
        else:
            left.append(clause)
    flips: list[tuple[_Clause, tuple[int, int]]] = []
    made: list[_Clause] = []
    for clause in new:
        clause.is_new = True
        verdict = _look(kind, clause, there, here)
        if verdict.flipped is not None:
            flips.append((clause, verdict.flipped))
        elif not verdict.is_there:
            made.append(clause)
    made = [each for each in made if not _is_in(each.fact, compared.changed)]
    made += [clause for clause, _ in flips if not _is_in(clause.fact, compared.changed)]
    _pair(left, made, compared, here, there)
    return compared


def _clauses(facts: Facts, chosen: list[Fact], other: Facts) -> list[_Clause]:
    clauses = []
    for fact in chosen:
        words = _LABEL.sub("", facts.text.lower[fact.start : fact.end])
        clauses.append(_Clause(fact, words, _spelt_out(facts.words(fact)), _weighed(fact.kind, words)))
    _judge_values(clauses, other)
    return clauses


_LABEL = re.compile(r"\A(?:deadlines?|due|expires|expiry|期限|时限|截止)[\w ]{0,20}[\"'*]*\s*[:=：]\s*")
_HEAD = {
    "negation": re.compile(
        r"(?:\b(?:not|never|cannot|no longer)|n't)\b|不得|不能|不可|不允许|不准|不许|不要|不应|不会|不再|不予|禁止|严禁"
        r"|切勿|请勿|勿|没有|未|没|不"
    ),
    "condition": re.compile("仅限|只限|限于|仅"),
    "promise": re.compile(
        r"\b(?:will|shall|promise[sd]?|guarantee[sd]?|agree[sd]?|commit\w*)\b|'ll\b|承诺|保证|会|将|负责"
    ),
}


_CONSENT = re.compile("(?:未经|经|由|获得?|有)([^，。；]{1,12}?(?:批准|同意|审批|审核|授权|许可|签字))")


def _weighed(kind: str, words: str) -> list[Unit]:
    """The units of a clause; those of its subject count less."""
    if kind == "condition" and (consent := _CONSENT.search(words)):
        rest = words[: consent.start()] + " " + words[consent.end() :]
        return [Unit(0.3 * unit.weight, unit.terms) for unit in units_of(rest)] + units_of(consent[1])
    head = _HEAD[kind].search(words) if kind in _HEAD else None
    if head is not None and (deed := units_of(words[head.end() :])):
        return [Unit(0.7 * unit.weight, unit.terms) for unit in units_of(words[: head.start()])] + deed
    return units_of(words)


_LABELLED = re.compile(
    r"(?i)[\w ]*?[_ ](days?|hours?|minutes?|weeks?|months?|years?)[\"'*]*\s*[:=：]\s*(\d+)\Z"
)


def _spelt_out(words: str) -> str:
    """`deadline_days": 7` is 7 days."""
    found = _LABELLED.match(words)
    return f"within {found[2]} {found[1].rstrip('s')}s" if found else words


_ORDINAL = re.compile(r"\b\d{1,2}(?:st|nd|rd|th)\b")


def _ordinal_of(words: str) -> str | None:
    found = _ORDINAL.search(words.lower())
    return found[0] if found else None


_DATED = ("date", "time", "duration")


def _judge_values(clauses: list[_Clause], other: Facts) -> None:
    """Notes of each whether the other text has its values. All together, since each look at a text costs."""
    starts, size = [], 0
    for clause in clauses:
        starts.append(size)
        size += len(clause.spelt) + 2
    together = Text("\n\n".join(clause.spelt for clause in clauses))
    found = list(values.extract(together))
    if not found:
        return
    standing = standing_of(other)
    ordinals = frozenset(_ORDINAL.findall(other.text.lower))
    number = 0
    for fact in sorted(found, key=lambda each: each.start):
        while number + 1 < len(starts) and starts[number + 1] <= fact.start:
            number += 1
        clause = clauses[number]
        if clause.values_kept is not False:
            words = together.raw[fact.start : fact.end]
            grade = standing.says(fact, words)
            clause.values_kept = grade > 0 or _ordinal_of(words) in ordinals
            clause.is_dated = fact.kind in _DATED and grade != 1


def _look(kind: str, clause: _Clause, own: Reading, other: Reading) -> _Verdict:
    """Whether the other text says it."""
    clause.passage = own.at(clause.fact.start)
    if kind == "deadline" and clause.is_dated and clause.values_kept:
        return _Verdict(True)
    if clause.values_kept is False and kind not in ("promise", "negation"):
        return _Verdict(False)
    units = clause.units
    if has_han(clause.words) is not other.is_han:
        units = known(units)
    if not units:
        return _Verdict(clause.values_kept is not False and _has_kind(kind, other))
    verdict = _search(kind, clause, own.rated(units), other)
    if kind == "negation" and not verdict.is_there and (cut := clause.words.find(" without ")) > 12:
        # What is not so without something, and now is so without it.
        verdict = _search(kind, clause, own.rated(_weighed(kind, clause.words[:cut])), other)
    return verdict


def _search(kind: str, clause: _Clause, units: Sequence[Unit], other: Reading) -> _Verdict:
    found = _best(units, other)
    verdict = _Verdict(False)
    least = 0.8 * found[0][0] if found else 0.0
    for share, passage in found:
        if verdict.flipped is not None and coverage(units, passage.terms) < least:
            continue
        enough = _ENOUGH_WITH_CUE if not clause.is_new and has_cue(kind, passage.words) else _ENOUGH
        if share < max(least, min(enough[kind], _ENOUGH_WITH_VALUES if clause.values_kept else 1)):
            continue
        judged = _polarity(kind, clause, passage, _part(units, passage, share))
        if judged.is_there and judged.flipped is None:
            return judged
        if verdict.flipped is None:
            verdict = judged
    return verdict


def _has_kind(kind: str, other: Reading) -> bool:
    return kind != "negation" or any(says_no(each.words) for each in other.passages)


def _best(units: Sequence[Unit], other: Reading) -> list[tuple[float, Passage]]:
    """The passages that say most of it; one with its neighbours counts for a little less."""
    found = []
    for share, passage in other.best(units):
        if share < 0.7:
            share = max(share, 0.85 * coverage(units, other.around(passage)))
        found.append((share, passage))
    return sorted(found, key=lambda each: -each[0])


def _part(units: Sequence[Unit], passage: Passage, share: float) -> Part | None:
    """The part of the passage that has nearly all that it has of these units."""
    scored = [(coverage(units, part.terms), part) for part in passage.parts]
    if not scored:
        return None
    best, part = max(scored, key=lambda each: each[0])
    return part if best >= 0.7 * share else None


def _polarity(kind: str, clause: _Clause, passage: Passage, part: Part | None) -> _Verdict:
    words = passage.words if part is None else part.words
    span = (passage.start, passage.end) if part is None else (part.start, part.end)
    if kind == "negation":
        return _Verdict(True, None if _denies(clause, passage, part) else span)
    if kind == "exception":
        is_back = is_including(words) or is_led_by_if(words)
        is_said = says_no(words) if is_back else _denies(clause, passage, part) or restricts(words)
        if is_said:
            return _Verdict(True)
        return _Verdict(is_back, span if is_back else None)
    if kind == "condition":
        if direction(clause.words) * direction(words) < 0 and not negations(clause.words + words):
            return _Verdict(True, span)
        if _is_only(clause.words) and not says_only(passage.words) and not says_no(passage.words):
            return _Verdict(False)
        ours, theirs = after_if(clause.words), after_if(words)
        if ours and theirs and _only_if(words):
            if negations(ours) and not says_no(words):
                return _Verdict(True, span)
            if negations(theirs) and not says_no(clause.words, _terms(clause)):
                return _Verdict(True, span)
    return _Verdict(True)


def _is_only(words: str) -> bool:
    return words.startswith(("only", "limited", "restricted")) or re.search("仅|只(?!要)", words) is not None


def _only_if(words: str) -> bool:
    return "unless" not in words and "except" not in words and "除非" not in words and "除外" not in words


def _terms(clause: _Clause) -> frozenset[str]:
    return frozenset().union(*(unit.terms for unit in clause.units))


def _denies(clause: _Clause, passage: Passage, part: Part | None) -> bool:
    """Whether what is said there is denied or restricted: in the part, or before it and never taken back."""
    said = _terms(clause)
    if part is None:
        return says_no(passage.words, said) or says_no(passage.lead)
    if says_no(part.words, said) or ("without" in clause.words and restricts(part.words)):
        return True
    if any(excepts(each.words) and coverage(units_of(each.words), said) >= 0.5 for each in passage.parts):
        return True
    if takes_back(part.words):
        return False
    return says_no(passage.words, said) or says_no(passage.lead)


def _is_in(fact: Fact, changed: list[tuple[Fact, tuple[int, int]]]) -> bool:
    return any(start < fact.end and fact.start < end for _, (start, end) in changed)


def _pair(
    left: list[_Clause], made: list[_Clause], compared: Compared, here: Reading, there: Reading
) -> None:
    """Of what is left on both sides: which is which with another value; the rest is lost, and invented."""
    scored = []
    if len(left) * len(made) <= _PAIRS_MAX:
        for mine in left:
            for theirs in made:
                share = _nearness(mine, theirs, here, there)
                if share >= _NEAR:
                    scored.append((share, mine, theirs))
    scored.sort(key=lambda each: (-each[0], each[1].fact.start, each[2].fact.start))
    used: set[int] = set()
    for _, mine, theirs in scored:
        if id(mine) not in used and id(theirs) not in used:
            used |= {id(mine), id(theirs)}
            compared.changed.append((mine.fact, (theirs.fact.start, theirs.fact.end)))
    compared.lost += [each.fact for each in left if id(each) not in used]
    compared.invented += [each.fact for each in made if id(each) not in used]


def _nearness(mine: _Clause, theirs: _Clause, here: Reading, there: Reading) -> float:
    own = _common(mine.units, theirs.units)
    around = _common(_around(mine, here), _around(theirs, there))
    return max(own, 0.9 * around)


def _around(clause: _Clause, reading: Reading) -> list[Unit]:
    if not clause.around and clause.passage is not None:
        clause.around = units_of(clause.passage.words)
    return clause.around


def _common(one: Sequence[Unit], other: Sequence[Unit]) -> float:
    few, many = (one, other) if len(one) <= len(other) else (other, one)
    if not few:
        return 0.0
    return coverage(few, frozenset().union(*(each.terms for each in many)))
