"""Clauses of English text, each by the cue in it or at its beginning."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from heapq import merge

from castore.summary.fidelity.cues import (
    BREAK_BEHIND,
    CLAUSE_END,
    DATE_AHEAD,
    DATE_ON,
    ENGLISH,
    PERIOD_AHEAD,
    PERIOD_BEHIND,
    PROMISED,
)
from castore.summary.fidelity.labels import LABELS, labelled

__all__ = ["english_clauses"]

Span = tuple[str, int, int]
_REACH = 110
"""Characters before and behind a cue, at most, that belong to its clause."""
_WORDS_MAX = 16


_LED = re.compile(r"\s(?:if|when|where|for|that|in|unless|so|while|which)\b")
"""What belongs to a cue although a clause may begin with it."""


class _Place:
    """Where a cue stands: `lower[at:end]`. floor: where the last clause ended."""

    __slots__ = ("at", "end", "floor", "lower", "raw")

    def __init__(self, lower: str, raw: str) -> None:
        self.lower = lower
        self.raw = raw
        self.at = self.end = self.floor = 0

    def ahead(self, count: int = 40) -> str:
        return self.lower[self.end : self.end + count]

    def behind(self, count: int = 45) -> str:
        return self.lower[max(self.floor, self.at - count) : self.at]

    def stop(self) -> int:
        """Where the clause ends that the cue is in."""
        led = _LED.match(self.lower, self.end)
        found = CLAUSE_END.search(self.lower, led.end() if led else self.end, self.end + _REACH)
        if found is not None:
            return found.start()
        limit = min(len(self.lower), self.end + _REACH)
        return limit if limit == len(self.lower) else max(self.end, self.lower.rfind(" ", self.end, limit))

    def start(self) -> int:
        """Where it begins."""
        low = max(self.floor, self.at - _REACH)
        start = (
            low
            if low == self.floor or self.lower[low - 1].isspace()
            else self.lower.find(" ", low, self.at) + 1
        )
        for found in BREAK_BEHIND.finditer(self.lower, low, self.at):
            start = found.end()
        return start if start <= self.at else self.at

    def leading(self, kind: str) -> Span:
        """The clause from its cue on."""
        return kind, self.at, self.stop()

    def around(self, kind: str) -> Span:
        """The whole clause."""
        return kind, self.start(), self.stop()


def english_clauses(lower: str, raw: str, taken: bytearray) -> Iterator[Span]:
    """Kind and span of each."""
    place = _Place(lower, raw)
    dated = 0
    for at, end in merge(_cues(lower), _contracted(lower), _wills(lower)):
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
        yield kind, start, end
        if kind == "deadline":
            dated = end
        else:
            place.floor = end


def _cues(lower: str) -> Iterator[tuple[int, int]]:
    first = ENGLISH.match("\n" + lower[:40])
    if first is not None and first.start() == 0:
        yield 0, first.end() - 1
    for match in ENGLISH.finditer(lower):
        yield match.start() + 1, match.end()


def _contracted(lower: str) -> Iterator[tuple[int, int]]:
    """can't, won't, isn't."""
    at = lower.find("n't")
    while at >= 0:
        start = at
        while start and at - start < 8 and lower[start - 1].isalpha():
            start -= 1
        yield start, at + 3
        at = lower.find("n't", at + 3)


def _wills(lower: str) -> Iterator[tuple[int, int]]:
    """we'll"""
    at = lower.find("'ll ")
    while at >= 0:
        yield at, at + 3
        at = lower.find("'ll ", at + 3)


# ------------------------------------------------------------------------------------------ exceptions


def _exception(place: _Place) -> Span | None:
    return place.leading("exception")


def _excluded(place: _Place) -> Span | None:
    return place.around("exception")


def _exception_noun(place: _Place) -> Span | None:
    before, ahead = place.behind(16), place.ahead(12)
    if before.endswith(("only ", "one ", "sole ", "with the ", "following ")) or ahead.startswith(
        (" is ", " are ", " appl", ": ", " to ")
    ):
        return place.around("exception")
    return None


def _but_not(place: _Place) -> Span | None:
    return place.leading("exception") if place.behind(2).endswith((", ", " ")) else None


def _all_but(place: _Place) -> Span | None:
    return place.leading("exception")


# ------------------------------------------------------------------------------------------ conditions

_POLITE = re.compile(
    r"\s(?:so|not|any|needed|necessary|possible|you(?:'d)? (?:want|like|wish|prefer|have (?:any )?(?:questions|other))"
    r"|i (?:may|remember|recall|understand)|anything|desired|applicable|only|at all|ever)\b(?! (?:other|of))"
)
_PRESENT = re.compile(
    r"\b(?:is|are|be|been|has|have|gets?|becomes?|remains?|can|will|must|may|does|do|exceeds?|isn't|aren't)\b"
)
_PAST = re.compile(r"\b(?:was|were|had|did|went|came|saw|got|took|made|said|told|[a-z]+ed)\b")


def _is_past(words: str) -> bool:
    return _PAST.search(words) is not None and _PRESENT.search(words) is None


def _condition(place: _Place) -> Span | None:
    if place.behind(4) == "for ":
        return None
    return place.leading("condition")


def _if(place: _Place) -> Span | None:
    before = place.behind(10)
    if before.endswith(("as ", "what ", "see ", "know ", "check ", "asked ", "wonder ", "sure ")):
        return None
    if (polite := _POLITE.match(place.lower, place.end)) and place.stop() - polite.end() < 12:
        return None
    return place.leading("condition")


def _when(place: _Place) -> Span | None:
    kind, start, end = place.leading("condition")
    words = place.lower[place.end : end]
    return None if len(words) < 4 or _is_past(words) else (kind, start, end)


_ONCE = re.compile(r"\s(?:an? |per |more|again|every|daily|or twice|in a|upon a|weekly|monthly)")


def _once(place: _Place) -> Span | None:
    if place.behind(3) == "at " or _ONCE.match(place.lower, place.end) or place.ahead(1) != " ":
        return None
    return _when(place)


_ONLY = re.compile(
    r"\s(?:if|when|after|once|for|to|with|by|in|on|upon|while|where|from|during|through|until|as|at|available|valid"
    r"|applies|applicable|allowed|permitted|possible|open)\b"
)
_MODAL = re.compile(r"\b(?:may|can|must|should|is|are|will|shall|have|has)\b")


def _only(place: _Place) -> Span | None:
    if place.behind(4).endswith("not ") or place.behind(4).endswith("n't "):
        return None
    if _ONLY.match(place.lower, place.end):
        return place.leading("condition")
    kind, start, end = place.around("condition")
    if re.search(r"\b(?:exempt|excluded|not)\b", place.lower[place.end : end]):
        return ("exception", start, end) if place.at - start < 2 else None
    if place.at - start < 2 and _MODAL.search(place.lower, place.end, end):
        return kind, start, end
    return None


def _provided(place: _Place) -> Span | None:
    before = place.behind(4).rstrip()
    if place.ahead(6) == " that " or before.endswith((",", ";", "(")):
        return place.leading("condition")
    return None


_CONSENT = re.compile(r"\b(?:approv|consent|permission|sign-?off|authori[sz]|review|confirmation|written)")


def _needs(place: _Place) -> Span | None:
    kind, start, end = place.leading("condition")
    return (kind, start, end) if _CONSENT.search(place.lower, place.end, end) else None


# ------------------------------------------------------------------------------------------ negations

_NO_NEGATION = re.compile(
    r"(?:only|just|necessarily|sure|to mention|more|less|fewer|one of|doubt|problem|matter|idea|worr|thanks|wonder"
    r"|point|sooner|hesitate|mind|think|forget|that\b|\d)"
)
_LATER = re.compile(r"\s(?:later|longer) than\b")
_AUXILIARY_END = ("don't", "doesn't", "didn't")


def _negation(place: _Place) -> Span | None:
    if _LATER.match(place.lower, place.end) and place.lower.startswith(" later", place.end):
        return _dated(place, place.end + len(" later than"))
    ahead = place.ahead(14).lstrip()
    if not ahead or _NO_NEGATION.match(ahead) or place.ahead(1) in "-,.":
        return None
    before = place.behind(12)
    if before.endswith((" or ", "why ", "whether ")) and before.endswith(("why ", "whether or ", "if or ")):
        return None
    return place.around("negation")


def _plain_negation(place: _Place) -> Span | None:
    return place.around("negation")


# ------------------------------------------------------------------------------------------ deadlines

_EVENT_ELSE = re.compile(r"\s(?:that|this|now|then|long|and|or|but|it|me|us|him|her|them|i)\b|[^ ]|\s\d")
_BOUND = re.compile(
    r"\b(?:must|should|may|can|will|shall|needs?|have to|has to|not|don't|never|please|required|always|cannot|only|do)\b"
)


_SIDE_OF = re.compile(r"(?:end|art|ing|ose|dle) of (?!\d)")


def _dated(place: _Place, end: int) -> Span | None:
    """A deadline that is a date or a time."""
    found = DATE_AHEAD.match(place.lower, end)
    if found is None:
        return None
    if _SIDE_OF.match(place.lower, found.end() - 3):
        place.end = found.end()
        return "deadline", place.at, _short_stop(place)
    more = DATE_ON.match(place.lower, found.end())
    return "deadline", place.at, more.end() if more else found.end()


def _by(place: _Place) -> Span | None:
    return _dated(place, place.end)


def _before(place: _Place) -> Span | None:
    low = max(0, place.at - 45)
    period = PERIOD_BEHIND.search(place.lower, low, place.at)
    dated = _dated(place, place.end)
    if period is not None:
        return "deadline", period.start(), dated[2] if dated else _short_stop(place)
    if dated is not None:
        return dated
    if _EVENT_ELSE.match(place.lower, place.end):
        return None
    start, stop = place.start(), _short_stop(place)
    is_first = place.at - start < 2
    if _is_past(place.lower[place.end : stop]) and not _BOUND.search(place.lower, start, place.at):
        return None
    if place.lower[place.at : place.end] in ("until", "till") or PROMISED.match(
        " " + place.lower[start : place.at]
    ):
        return "deadline", place.at, stop
    if is_first or _BOUND.search(place.lower, max(0, place.at - _REACH), place.at):
        return "deadline", place.at, stop
    return None


def _short_stop(place: _Place) -> int:
    """The end of the clause, at most eight words on."""
    stop, at = place.stop(), place.end
    for _ in range(9):
        at = place.lower.find(" ", at + 1, stop)
        if at < 0:
            return stop
    return at


_COUNTED_FROM = re.compile(r"\s(?:of|from|after|before|following|prior to|since)\s")


def _within(place: _Place) -> Span | None:
    found = PERIOD_AHEAD.match(place.lower, place.end)
    if found is None:
        return None
    end = found.end()
    if _COUNTED_FROM.match(place.lower, end):
        place.end = end + 3
        end = _short_stop(place)
        joined = place.lower.find(" and ", found.end(), end)
        end = joined if joined > 0 else end
    return "deadline", place.at, end


def _period_noun(place: _Place) -> Span | None:
    low = max(0, place.at - 45)
    found = PERIOD_BEHIND.search(place.lower, low, place.at)
    return None if found is None else ("deadline", found.start(), place.end)


_IS = re.compile(r"(?:\s(?:for|to|of) [^.,;\n]{1,40}?)?\s(?:is|was|of|on|remains|falls on|will be)\s")


def _deadline_noun(place: _Place) -> Span | None:
    if (found := _period_noun(place)) is not None:
        return found
    if not _IS.match(place.lower, place.end):
        return None
    return "deadline", place.at, place.stop()


_DUE = re.compile(r"\s(?:on|by|in|at|within|no later|every|the|before)\b")


def _due(place: _Place) -> Span | None:
    if (dated := _dated(place, place.end)) is not None:
        return dated
    found = _DUE.match(place.lower, place.end)
    if found is None:
        return None
    end = place.stop()
    return ("deadline", place.at, end) if _TIMED.search(place.lower, place.end, end) else None


_TIMED = re.compile(
    r"\d|\b(?:day|week|month|year|hour|minute|date)|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
)
_AFTER = re.compile(r"\s(?:in|after|on|at|within|automatically after)\s")


def _expires(place: _Place) -> Span | None:
    if not _AFTER.match(place.lower, place.end):
        return None
    end = place.stop()
    return ("deadline", place.at, end) if _TIMED.search(place.lower, place.end, end) else None


# ------------------------------------------------------------------------------------------ promises

_NO_SUBJECT = re.compile(r"\b(?:it|this|that|there|which|what|these|those|you|who|if)\Z")
_SPEAKER = re.compile(
    r"(?:\A|[^a-z])(?:we|i|they|he|she|team|company|vendor|seller|provider|bank|landlord)\Z"
)
_AT_ONCE = re.compile(
    r"\s(?:now|also|then|first|just|quickly|next|start|begin|check|look|explain|describe|show|read|run|use|see|try|take"
    r"|walk|go|continue|proceed|need|analy[sz]e|search|examine|implement|create|make|do|be|let|explore|think|have|get"
    r"|write|add|update|fix|test|focus|verify|assume|not|never|no)\b"
)
_DONE_AT_ONCE = frozenset(
    ("fix", "update", "add", "writ", "run", "test", "build", "review", "remove", "delete", "move", "complete")
    + (
        "install",
        "process",
        "keep",
        "call",
        "report",
        "handle",
        "prepare",
        "draft",
        "provide",
        "share",
    )
    + ("post", "follow", "confirm", "investigate")
)
"""What somebody may be about to do, and then it is no promise unless it says when."""
_NO_DEED = re.compile(
    r"\s(?:fail|need|cause|look|show|become|happen|depend|mean|see|want|find|not|never|no|likely|probably)\b"
)
_DATED_DEED = re.compile(
    r"\b(?:by|before|within|tomorrow|next|as soon as|once|after|until|every|each|today|free)\b"
)


def _will(place: _Place) -> Span | None:
    before = place.behind(30).rstrip()
    if not before or _NO_DEED.match(place.lower, place.end):
        return None
    delivers = PROMISED.match(place.lower, place.end)
    is_said = delivers is not None and delivers[1] not in _DONE_AT_ONCE
    if _NO_SUBJECT.search(before) and not (is_said and before.endswith(("this", "these", "those", "it"))):
        return None
    kind, start, end = place.around("promise")
    if delivers:
        is_mine = before.endswith((" i", "\ni")) or before == "i"
        if is_mine and delivers[1] in _DONE_AT_ONCE and not _DATED_DEED.search(place.lower, place.end, end):
            return None
        return kind, start, end
    if _SPEAKER.search(before) and not _AT_ONCE.match(place.lower, place.end):
        return kind, start, end
    at = max(0, place.at - 1)
    word_at = (
        max(place.raw.rfind(" ", 0, at), place.raw.rfind("\n", 0, at)) + 1
        if at - 40 < 0
        else place.raw.rfind(" ", at - 40, at) + 1
    )
    if place.raw[word_at : word_at + 1].isupper() and not _AT_ONCE.match(place.lower, place.end):
        return kind, start, end
    return None


def _shall(place: _Place) -> Span | None:
    if place.ahead(4) == " not" or place.ahead(6) == " never" or place.behind(6).endswith("neither "):
        return None
    return place.around("promise")


_TO = re.compile(
    r"\s(?:to|that|not to|the|a|an|its?|our|his|her|their|all|every|full|you|us|\d)\b|\s[a-z]+ing\b|\s[\w%€$£]"
)


_NO_VOW = re.compile(r"\b(?:not|no|the|a) \Z")


def _vow(place: _Place) -> Span | None:
    if _NO_VOW.search(place.behind(6)):
        return None
    cue = place.lower[place.at : place.end]
    if (cue.startswith("commit") and not cue.endswith(" to")) or place.behind(4) == "was ":
        return None
    return place.around("promise") if _TO.match(place.lower, place.end) else None


_Rule = Callable[[_Place], Span | None]
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
    "all": _all_but,
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
    "if": _if,
    "as": _condition,
    "so": _condition,
    "assuming": _condition,
    "contingent": _condition,
    "conditional": _condition,
    "depending": _condition,
    "in case": _condition,
    "in the event": _condition,
    "on condition": _condition,
    "on the condition": _condition,
    "condition that": _condition,
    "subject": _condition,
    "limited": _condition,
    "restricted": _condition,
    "when": _when,
    "whenever": _when,
    "once": _once,
    "only": _only,
    "provided": _provided,
    "providing": _provided,
    "require": _needs,
    "requires": _needs,
    "need": _needs,
    "needs": _needs,
    "prohibited": _plain_negation,
    "prohibits": _plain_negation,
    "prohibit": _plain_negation,
    "forbidden": _plain_negation,
    "forbids": _plain_negation,
    "forbid": _plain_negation,
    "banned": _plain_negation,
    "disallowed": _plain_negation,
    "ineligible": _plain_negation,
    "by": _by,
    "through": _by,
    "before": _before,
    "until": _before,
    "till": _before,
    "prior": _before,
    "on or before": _by,
    "beforehand": _period_noun,
    "in advance": _period_noun,
    "notice": _period_noun,
    "window": _period_noun,
    "period": _period_noun,
    "limit": _period_noun,
    "deadline": _deadline_noun,
    "deadlines": _deadline_noun,
    "cutoff": _deadline_noun,
    "cut-off": _deadline_noun,
    "due": _due,
    "within": _within,
    "expire": _expires,
    "expires": _expires,
    "expiry": _expires,
    "will": _will,
    "'ll": _will,
    "shall": _shall,
    "promise": _vow,
    "promises": _vow,
    "promised": _vow,
    "guarantee": _vow,
    "guarantees": _vow,
    "guaranteed": _vow,
    "pledge": _vow,
    "pledges": _vow,
    "pledged": _vow,
    "undertake": _vow,
    "undertakes": _vow,
    "warrants": _vow,
    "agrees": _vow,
    "agreed": _vow,
    "agree": _vow,
    "commit": _vow,
    "commits": _vow,
    "committed": _vow,
    "condition": lambda place: None,
    "conditions": lambda place: None,
    "commitment": lambda place: None,
    "commitments": lambda place: None,
    "at": lambda place: None,
    "notices": lambda place: None,
}
_MAY_NEST = {_by, _before, _within, _period_noun, _deadline_noun, _due, _expires}
