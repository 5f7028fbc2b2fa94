"""Clauses of English text, each by the cue in it or at its beginning."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from castore.summary.fidelity.clauses import english_conditions as conditions
from castore.summary.fidelity.clauses import english_deadlines as deadlines
from castore.summary.fidelity.clauses import english_promises as promises
from castore.summary.fidelity.clauses.cues import ENGLISH
from castore.summary.fidelity.clauses.english_place import Place, Span, is_told
from castore.summary.fidelity.clauses.labels import LABELS, labelled
from castore.summary.fidelity.clauses.rules import is_english_rule
from castore.summary.fidelity.clauses.ruling import is_english_ruling

__all__ = ["english_clauses"]


def english_clauses(lower: str, raw: str, taken: bytearray) -> Iterator[Span]:
    """Kind and span of each."""
    place = Place(lower, raw)
    dated = 0
    for at, end in sorted([*_cues(lower), *_contracted(lower)]):
        cue = lower[at:end]
        if cue in LABELS and at >= place.floor and (facts := labelled(lower, at, end)):
            yield from facts
            place.floor = dated = facts[-1][2]
            continue
        if taken[at] or lower.startswith("_", end):
            continue
        place.at, place.end = at, end
        rule = _RULES.get(cue) or _RULES.get(cue.split(" ", 1)[0]) or _negation
        if at < (dated if rule in _MAY_NEST else place.floor):
            continue
        found = rule(place)
        if found is None:
            continue
        kind, start, end = found
        while end > start and lower[end - 1] in " \t'\"*_`-–":
            end -= 1
        while start < end and lower[start] in " \t'\"*_`-–•":
            start += 1
        if start >= end:
            continue
        if kind == "condition" and not is_english_ruling(cue, lower[start:end], place.beside(end)):
            kind = "weak condition"
        yield kind, start, end
        if kind == "deadline":
            dated = end
        elif kind != "weak":
            place.floor = end


def _cues(lower: str) -> Iterator[tuple[int, int]]:
    first = ENGLISH.match("\n" + lower[:40])
    if first is not None and first.start() == 0:
        yield 0, first.end() - 1
    for match in ENGLISH.finditer(lower):
        yield match.start() + 1, match.end()


def _contracted(lower: str) -> Iterator[tuple[int, int]]:
    """can't, won't, isn't; we'll."""
    at = lower.find("'")
    while at >= 0:
        if lower.startswith("'ll ", at):
            yield at, at + 3
        elif at and lower[at - 1] == "n" and lower.startswith("t", at + 1):
            start = at - 1
            while start and at - start < 9 and lower[start - 1].isalpha():
                start -= 1
            yield start, at + 2
        at = lower.find("'", at + 1)


def _exception(place: Place) -> Span | None:
    kind, start, end = place.leading("exception")
    return None if _is_story(place, end) else (kind, start, end)


_TELLER = re.compile(
    r"\b(?:i|he|she|my|me|him|her|they|nobody|no one|nothing|everyone|everybody|everything|anyone|it was"
    r"|there was|there were|never)\b"
)


def _is_story(place: Place, end: int) -> bool:
    """Whether it is part of a story that somebody tells."""
    words = place.lower[place.end : end]
    around = place.beside(end)
    return _TELLER.search(around + words) is not None and is_told(around, words)


def _excluded(place: Place) -> Span | None:
    return place.around("exception")


def _exception_noun(place: Place) -> Span | None:
    before, ahead = place.behind(16), place.ahead(12)
    if before.endswith(("only ", "one ", "sole ", "with the ", "following ")) or ahead.startswith(
        (" is ", " are ", " appl", ": ", " to ")
    ):
        return place.around("exception")
    return None


_NOT_SO = re.compile(
    r"\s(?:too|very|un\w+|as|so|quite|really|necessarily|always|yet|only|much|enough|im\w+|forgotten|least"
    r"|sur\w+|least|just|because|that)\b"
)
_IS_SO = re.compile(r"\b(?:is|was|are|were|be|been|feels?|felt|looks?|looked)\s(?:\w+\s)?\w+,?\s\Z")


def _but_not(place: Place) -> Span | None:
    if not place.behind(2).endswith((", ", " ")) or _NOT_SO.match(place.lower, place.end):
        return None
    kind, start, end = place.leading("exception")
    if " " not in place.lower[place.end + 1 : end] and _IS_SO.search(place.behind(24)):
        # Hot, but not spicy.
        return None
    return kind, start, end


_NO_NEGATION = re.compile(
    r"(?:only|just|necessarily|sure|to mention|more|less|fewer|one of|doubt|problem|matter|idea|worr"
    r"|thanks|wonder"
    r"|point|sooner|hesitate|mind|think|forget|that\b|\d)"
)
_LATER = re.compile(r"\s(?:later|longer) than\b")
_AUXILIARY_END = ("don't", "doesn't", "didn't")


def _negation(place: Place) -> Span | None:
    if _LATER.match(place.lower, place.end) and place.lower.startswith(" later", place.end):
        return deadlines.dated(place, place.end + len(" later than"))
    ahead = place.ahead(14).lstrip()
    if not ahead or _NO_NEGATION.match(ahead) or place.ahead(1) in "-,.":
        return None
    before = place.behind(12)
    if before.endswith((" or ", "why ", "whether ")) and before.endswith(("why ", "whether or ", "if or ")):
        return None
    return _ruled(place)


_BARE = re.compile(r"\s*(?:\w+\s)?\Z")


_RELATIVE = re.compile(
    r"(?:\w+ed|are|is|was|were|have|has|can|do|does|[a-z]+s)\s(?:\S+\s){1,8}?(?:is|are|may|must|can)?"
)
_SAID_THAT = re.compile(
    r"\b(?:note|sure|know|remember|aware|means?|says?|said|agree[sd]?|understand|so|such|reminded) that\s\Z"
)
_SUPPOSED = re.compile(r"\bwould(?:\s\w+)?\s*\Z")


def _ruled(place: Place) -> Span | None:
    """The clause: a negation if it is a rule, a weak one if not."""
    lower = place.lower
    kind, start, end = place.around("negation")
    before = lower[start : place.at]
    if lower.startswith("would", place.at) or _SUPPOSED.search(before[-20:]):
        return None
    if _BARE.match(before) and lower.endswith(("that ", "which ", "who ", "whom "), 0, start):
        # What has no subject of its own belongs to it.
        before = lower[max(0, start - 8) : start] + before
    if is_english_rule(before, lower[place.at : place.end], lower[place.end : end]):
        if (
            _RELATIVE.match(before)
            and lower.endswith(("that ", "which ", "who "), 0, start)
            and not (_SAID_THAT.search(lower[max(0, start - 16) : start]))
        ):
            # Its subject stands before the clause in between.
            place.at = start - 5
            start = place.start()
        return kind, start, end
    return "weak", start, end


_Rule = Callable[[Place], Span | None]
_RULES: dict[str, _Rule] = {
    "unless": _exception,
    "except": _exception,
    "excepting": _exception,
    "excluding": _exception,
    "apart": _exception,
    "aside": _exception,
    "barring": _exception,
    "other": _exception,
    "save": _exception,
    "with": _exception,
    "but": _but_not,
    "all": _exception,
    "exclude": _excluded,
    "excludes": _excluded,
    "excluded": _excluded,
    "exempt": _excluded,
    "exempted": _excluded,
    "exemption": _exception_noun,
    "exemptions": _exception_noun,
    "exception": _exception_noun,
    "exceptions": _exception_noun,
    "exclusion": _exception_noun,
    "exclusions": _exception_noun,
    "if": conditions.if_,
    "as": conditions.condition,
    "so": conditions.condition,
    "assuming": conditions.condition,
    "contingent": conditions.condition,
    "conditional": conditions.condition,
    "depending": conditions.condition,
    "in case": conditions.condition,
    "in the event": conditions.condition,
    "on condition": conditions.condition,
    "on the condition": conditions.condition,
    "condition that": conditions.condition,
    "subject": conditions.condition,
    "limited": conditions.condition,
    "restricted": conditions.condition,
    "when": conditions.when,
    "whenever": conditions.when,
    "once": conditions.once,
    "only": conditions.only,
    "provided": conditions.provided,
    "providing": conditions.provided,
    "require": conditions.needs,
    "requires": conditions.needs,
    "need": conditions.needs,
    "needs": conditions.needs,
    "prohibited": _ruled,
    "prohibits": _ruled,
    "prohibit": _ruled,
    "forbidden": _ruled,
    "forbids": _ruled,
    "forbid": _ruled,
    "banned": _ruled,
    "disallowed": _ruled,
    "ineligible": _ruled,
    "by": deadlines.by,
    "through": deadlines.by,
    "before": deadlines.before,
    "until": deadlines.before,
    "till": deadlines.before,
    "prior": deadlines.before,
    "on or before": deadlines.by,
    "beforehand": deadlines.period_noun,
    "in advance": deadlines.period_noun,
    "notice": deadlines.period_noun,
    "window": deadlines.period_noun,
    "period": deadlines.period_noun,
    "limit": deadlines.period_noun,
    "deadline": deadlines.deadline_noun,
    "deadlines": deadlines.deadline_noun,
    "cutoff": deadlines.deadline_noun,
    "cut-off": deadlines.deadline_noun,
    "due": deadlines.due,
    "within": deadlines.within,
    "expire": deadlines.expires,
    "expires": deadlines.expires,
    "expiry": deadlines.expires,
    "will": promises.will,
    "'ll": promises.will,
    "shall": promises.shall,
    "promise": promises.vow,
    "promises": promises.vow,
    "promised": promises.vow,
    "guarantee": promises.vow,
    "guarantees": promises.vow,
    "guaranteed": promises.vow,
    "pledge": promises.vow,
    "pledges": promises.vow,
    "pledged": promises.vow,
    "undertake": promises.vow,
    "undertakes": promises.vow,
    "warrants": promises.vow,
    "agrees": promises.vow,
    "agreed": promises.vow,
    "agree": promises.vow,
    "commit": promises.vow,
    "commits": promises.vow,
    "committed": promises.vow,
    "condition": lambda place: None,
    "conditions": lambda place: None,
    "commitment": lambda place: None,
    "commitments": lambda place: None,
    "at": lambda place: None,
    "notices": lambda place: None,
}
_MAY_NEST = {
    deadlines.by,
    deadlines.before,
    deadlines.within,
    deadlines.period_noun,
    deadlines.deadline_noun,
    deadlines.due,
    deadlines.expires,
}
