"""Whether a text says a clause of another one: in its words or in others, and not the other way round.

A clause is said if a sentence has enough of what it says, its values, and its polarity.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from castore.summary.fidelity.clauses.meaning import (
    Part,
    Passage,
    Reading,
    Unit,
    coverage,
    has_han,
    known,
    units_of,
)
from castore.summary.fidelity.clauses.polarity import (
    after_if,
    bound,
    direction,
    excepts,
    frees,
    has_cue,
    has_lack,
    has_only_lack,
    is_including,
    is_led_by_if,
    is_only_then,
    is_twofold,
    is_weakly_negated,
    leaves_out,
    needs,
    negations,
    permits,
    restricts,
    says_no,
    says_only,
    takes_back,
    waits,
)
from castore.summary.fidelity.model import Fact, Facts, Text
from castore.summary.fidelity.values import extract as values
from castore.summary.fidelity.values.standing import standing_of

__all__ = ["Clause", "Verdict", "clauses_of", "look"]

_ENOUGH = {"condition": 0.4, "exception": 0.55, "negation": 0.4, "deadline": 0.5, "promise": 0.5}
"""The share of what a clause says that a sentence must have to say it."""
_ENOUGH_WITH_CUE = {"condition": 0.34, "exception": 0.42, "negation": 0.27, "deadline": 0.5, "promise": 0.34}
"""The same, of one that has a cue of the kind."""
_ENOUGH_WITH_VALUES = 0.2
"""The same, of one that has values, which are all there."""
_ENOUGH_LABELLED = 0.7
"""The same, of a condition that a label says."""
_STRICT = 1.1
"""Of Chinese so much more, since it repeats more of its words."""


@dataclass(eq=False)
class Clause:
    """A fact and what it says: its words in lower case; as they are spelt; its units, and those of them
    that are not of its subject.

    values_kept: whether the other text has all its values; None: it has none. is_dated: they say when.
    is_new: it is of the summary. is_doubtful: the other text has most of it, and not all. is_weak: it belongs
    to no rule, and is no fact by itself. around: what its
    sentence says beside it.
    """

    fact: Fact
    words: str
    spelt: str
    units: list[Unit]
    deed: list[Unit]
    values_kept: bool | None = None
    is_dated: bool = False
    is_new: bool = False
    is_doubtful: bool = False
    is_weak: bool = False
    passage: Passage | None = None
    around: list[Unit] = field(default_factory=list)

    @property
    def terms(self) -> frozenset[str]:
        return frozenset().union(*(unit.terms for unit in self.units))


@dataclass(frozen=True)
class Verdict:
    """is_there: it is said. flipped: where it is said the other way round."""

    is_there: bool
    flipped: tuple[int, int] | None = None


def clauses_of(facts: Facts, chosen: list[Fact], other: Facts, *, is_new: bool = False) -> list[Clause]:
    """What these facts say, and whether the other text has their values."""
    clauses = []
    for fact in chosen:
        words = _LABEL.sub("", facts.text.lower[fact.start : fact.end])
        clauses.append(
            Clause(fact, words, _spelt_out(facts.words(fact)), *_weighed(fact.kind, words), is_new=is_new)
        )
    _judge_values(clauses, other)
    return clauses


_LABEL = re.compile(r"\A(?:deadlines?|due|expires|expiry|期限|时限|截止)[\w ]{0,20}[\"'*]*\s*[:=：]\s*")
_HEAD = {
    "negation": re.compile(
        r"(?:\b(?:not|never|cannot|no longer)|n't)\b|不得|不能|不可|不允许|不准|不许|不要|不应|不会|不再"
        r"|不予|禁止|严禁"
        r"|切勿|请勿|勿|没有|未|没|不"
    ),
    "condition": re.compile("仅限|只限|限于|仅"),
    "promise": re.compile(
        r"\b(?:will|shall|promise[sd]?|guarantee[sd]?|agree[sd]?|commit\w*)\b|'ll\b|承诺|保证|会|将|负责"
    ),
}
_MAIN = 12
"""Where what a clause adds may begin, at least."""
_CONSENT = re.compile("(?:未经|经|由|获得?|有)([^，。；]{1,12}?(?:批准|同意|审批|审核|授权|许可|签字))")


def _weighed(kind: str, words: str) -> tuple[list[Unit], list[Unit]]:
    """The units of a clause, those of its subject weighing less; and those that are not of its subject."""
    if kind == "condition" and (consent := _CONSENT.search(words)):
        rest = words[: consent.start()] + " " + words[consent.end() :]
        deed = units_of(consent[1])
        return [Unit(0.3 * unit.weight, unit.terms) for unit in units_of(rest)] + deed, deed
    if kind == "negation" and (cut := words.find(" until ")) > _MAIN:
        # Until when it is not so is a deadline of its own.
        words = words[:cut]
    head = _HEAD[kind].search(words) if kind in _HEAD else None
    if head is not None and (deed := units_of(words[head.end() :])):
        return [Unit(0.7 * unit.weight, unit.terms) for unit in units_of(words[: head.start()])] + deed, deed
    units = units_of(words)
    return units, units


_LABELLED = re.compile(
    r"(?i)[\w ]*?[_ ](days?|hours?|minutes?|weeks?|months?|years?)[\"'*]*\s*[:=：]\s*(\d+)\Z"
)
_ONE = re.compile(
    r"\b(?:an?|one)(?= (?:(?:working|business) )?(?:minute|hour|day|week|month|year))|一(?=个?(?:分钟"
    r"|小时|工作日|天|日|周|月|年))"
)


def _spelt_out(words: str) -> str:
    """`deadline_days": 7` is 7 days."""
    found = _LABELLED.match(words)
    return (
        f"within {found[2]} {found[1].rstrip('s')}s" if found else _ONE.sub("1", words.removeprefix("提前"))
    )


_ORDINAL = re.compile(r"\b\d{1,2}(?:st|nd|rd|th)\b")


def _ordinal_of(words: str) -> str | None:
    found = _ORDINAL.search(words.lower())
    return found[0] if found else None


_DATED = ("date", "time", "duration")


def _judge_values(clauses: list[Clause], other: Facts) -> None:
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


def look(kind: str, clause: Clause, own: Reading, other: Reading) -> Verdict:
    """Whether the other text says it."""
    clause.passage = own.at(clause.fact.start)
    if kind == "deadline" and clause.is_dated and clause.values_kept:
        return Verdict(True)
    if clause.values_kept is False and kind not in ("promise", "negation"):
        return Verdict(False)
    units = clause.units
    if has_han(clause.words) is not other.is_han:
        units = known(units)
    if clause.values_kept and clause.is_new and kind in ("condition", "exception"):
        return Verdict(True)
    if clause.values_kept and sum(unit.weight for unit in units) < _SLIGHT:
        units = []
    if not units:
        return Verdict(clause.values_kept is not False and _has_kind(kind, other))
    if clause.values_kept and (limit := bound(clause.words)) and _is_bound(limit, units, other):
        return Verdict(True)
    verdict = _search(kind, clause, own.rated(units), other)
    if kind == "negation" and not verdict.is_there and (cut := clause.words.find(" without ")) > _MAIN:
        # What is not so without something, and now is so without it.
        verdict = _search(kind, clause, own.rated(_weighed(kind, clause.words[:cut])[0]), other)
    return verdict


_SLIGHT = 0.7
"""What weighs less than this says nothing by itself."""
_BARE = 0.12
"""The share of a negation that a text has which it does not invent: it often says it without a `not`."""


def _search(kind: str, clause: Clause, units: Sequence[Unit], other: Reading) -> Verdict:
    found = _best(units, other)
    verdict = Verdict(False)
    least = 0.8 * found[0][0] if found else 0.0
    strict = _STRICT if other.is_han else 1.0
    is_alike = False
    for share, passage in found:
        is_flipped = verdict.flipped is not None and not clause.is_new
        if is_flipped and coverage(units, passage.terms) < least:
            continue
        if share < max(least, _enough(kind, clause, passage, strict)):
            continue
        for part in _parts(units, passage, share):
            judged = _polarity(kind, clause, passage, part)
            if judged.is_there and judged.flipped is None:
                return judged
            if judged.flipped is not None and not _is_flipped(kind, clause, units, passage, part):
                is_alike = True
            elif verdict.flipped is None:
                verdict = judged
    return Verdict(True) if is_alike and verdict.flipped is None else verdict


_FLIPPED = 0.75
"""The share of a negation that a text says without a `not`, which makes it another thing."""
_FLIPPED_ALLOWED = 0.4
"""The same, where the text allows something."""


def _is_flipped(
    kind: str, clause: Clause, units: Sequence[Unit], passage: Passage, part: Part | None
) -> bool:
    """Whether what seems to be said the other way round shares enough to be so."""
    if kind != "negation":
        return not clause.is_new or coverage(units, passage.terms) >= _FLIPPED
    is_allowed = not clause.is_new and permits(passage.words if part is None else part.words)
    share = max(coverage(units, passage.terms), coverage(clause.deed, passage.terms))
    return share >= (_FLIPPED_ALLOWED if is_allowed else _FLIPPED)


def _enough(kind: str, clause: Clause, passage: Passage, strict: float) -> float:
    if clause.is_new:
        return {"negation": _BARE, "exception": 0.55}.get(kind, strict * _ENOUGH[kind])
    if kind == "condition" and _is_labelled(clause):
        # It is short, and each of its words counts.
        return strict * _ENOUGH_LABELLED
    if kind == "exception" and clause.words.startswith("unless") and frees(passage.words):
        return _ENOUGH_IF_FREE
    has_one = excepts(passage.words) if kind == "exception" else has_cue(kind, passage.words)
    enough = (_ENOUGH_WITH_CUE if has_one else _ENOUGH)[kind]
    return min(strict * enough, _ENOUGH_WITH_VALUES) if clause.values_kept else strict * enough


_ENOUGH_IF_FREE = 0.3
"""The share of `unless …` that a sentence must have which says: as long as nobody …"""


def _is_bound(limit: int, units: Sequence[Unit], other: Reading) -> bool:
    """Whether a sentence about this sets a bound of this sort: `must not exceed` is `at most`."""
    return any(bound(passage.words) == limit for _, passage in other.best(units))


_BEHIND_LABEL = re.compile(r"[:=：]\s*[\"'\[“]*\s*\Z")


def _is_labelled(clause: Clause) -> bool:
    passage = clause.passage
    return passage is not None and bool(
        _BEHIND_LABEL.search(passage.words[: clause.fact.start - passage.start])
    )


def _has_kind(kind: str, other: Reading) -> bool:
    return kind != "negation" or any(says_no(each.words) for each in other.passages)


def _best(units: Sequence[Unit], other: Reading) -> list[tuple[float, Passage]]:
    """The passages that say most of it; one with its neighbours counts for a little less."""
    found = []
    for share, passage in other.best(units):
        if _HELPED <= share < 0.7:
            share = max(share, 0.85 * coverage(units, other.around(passage)))
        found.append((share, passage))
    return sorted(found, key=lambda each: -each[0])


_HELPED = 0.2
"""What a passage has to say by itself, for its neighbours to help."""


def _parts(units: Sequence[Unit], passage: Passage, share: float) -> list[Part | None]:
    """The parts of the passage that have nearly all that it has of these units; None stands for all of it."""
    scored = [(coverage(units, part.terms), part) for part in passage.parts]
    best = max((share for share, _ in scored), default=0.0)
    if best < 0.7 * share:
        return [None]
    return [part for share, part in scored if share >= 0.95 * best]


def _polarity(kind: str, clause: Clause, passage: Passage, part: Part | None) -> Verdict:
    words = passage.words if part is None else part.words
    span = (passage.start, passage.end) if part is None else (part.start, part.end)
    if kind == "negation":
        is_said = _denies(clause, passage, part)
        if clause.passage is not None and leaves_out(clause.passage.words) and needs(passage.words):
            # Not unless something: only with it.
            is_said = True
        elif is_twofold(clause.words):
            # Not without something: only with it, and not: without it.
            if part is not None and coverage(clause.deed, part.terms) < _ENOUGH[kind]:
                # The part says before what, another one what not.
                words = passage.words
            is_said = not has_only_lack(words) if has_lack(words) else is_said or restricts(words)
        return Verdict(True, None if is_said else span)
    if kind == "exception":
        is_back = is_including(words) or is_led_by_if(words)
        is_said = says_no(words) if is_back else _denies(clause, passage, part) or restricts(words)
        is_said = is_said or (not is_back and waits(words))
        if not is_back and clause.words.startswith(("unless", "除非")) and not _is_bare(clause, passage):
            is_said = True
        if is_said:
            return Verdict(True)
        return Verdict(is_back, span if is_back else None)
    if kind == "deadline":
        return Verdict(clause.is_new or has_cue(kind, passage.words))
    if kind == "condition":
        ours, theirs = after_if(clause.words) or clause.words, after_if(words) or words
        if direction(ours) * direction(theirs) < 0 and not negations(ours + theirs):
            return Verdict(True, span)
        said = passage.words.replace("免费", "")
        if _is_only(clause.words) and not says_only(said) and not says_no(said):
            return Verdict(False)
        ours, theirs = after_if(clause.words), _first_of(after_if(words))
        if ours and theirs and _only_if(words):
            if negations(ours) and not says_no(words):
                return Verdict(True, span)
            if negations(theirs) and not negations(ours) and not is_weakly_negated(ours):
                return Verdict(True, span)
    return Verdict(True)


def _is_bare(clause: Clause, passage: Passage) -> bool:
    """Whether the passage has less than nearly all of a clause of several words."""
    return len(clause.units) < 2 or coverage(clause.units, passage.terms) < 0.9


_OR = re.compile(r"\s(?:or|and)\s|或|且")


def _first_of(words: str) -> str:
    return _OR.split(words, maxsplit=1)[0]


def _is_only(words: str) -> bool:
    return words.startswith(("only", "limited", "restricted")) or re.search("仅|只(?!要)", words) is not None


def _only_if(words: str) -> bool:
    return "unless" not in words and "except" not in words and "除非" not in words and "除外" not in words


def _denies(clause: Clause, passage: Passage, part: Part | None) -> bool:
    """Whether what is said there is denied or restricted: in the part, or before it and never taken back."""
    said = clause.terms
    if part is None:
        return says_no(passage.words, said) or says_no(passage.lead)
    if says_no(part.words, said) or ("without" in clause.words and restricts(part.words)):
        return True
    if clause.passage is not None and waits(clause.passage.words) and is_only_then(part.words):
        # Not before something is: only after it.
        return True
    if any(excepts(each.words) and coverage(units_of(each.words), said) >= 0.5 for each in passage.parts):
        return True
    if takes_back(part.words):
        return False
    return says_no(passage.words, said) or says_no(passage.lead)
