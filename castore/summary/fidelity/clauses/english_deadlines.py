"""Deadlines of English text: a date or a period behind `by`, `within` or `before`, or before `notice`."""

from __future__ import annotations

import re

from castore.summary.fidelity.clauses.cues import DATE_AHEAD, DATE_ON, PERIOD_AHEAD, PERIOD_BEHIND, PROMISED
from castore.summary.fidelity.clauses.english_place import REACH, Place, Span, is_past, is_told

__all__ = ["before", "by", "dated", "deadline_noun", "due", "expires", "period_noun", "within"]

_EVENT_ELSE = re.compile(r"\s(?:that|this|now|then|long|and|or|but|it|me|us|him|her|them|i)\b|[^ ]|\s\d")
_TELLER = re.compile(r"\s(?:we|they|he|she|my|anyone|everyone|someone)\b")
"""What belongs to an order of events more than to a deadline, behind `before`."""
_BOUND = re.compile(
    r"\b(?:must|should|may|can|will|shall|needs?|have to|has to|not|don't|never|please|required|always"
    r"|cannot|only|do)\b"
)


_SIDE_OF = re.compile(r"(?:end|art|ing|ose|dle) of (?!\d)")


_BESIDE_EVENT = re.compile(r"\s(?:before|after) (?!\d)(?!(?:that|this|it|noon)\b)")


def dated(place: Place, end: int) -> Span | None:
    """A deadline that is a date or a time."""
    found = DATE_AHEAD.match(place.lower, end)
    if found is None:
        return None
    if _SIDE_OF.match(place.lower, found.end() - 3):
        place.end = found.end()
        return "deadline", place.at, _short_stop(place)
    if _BESIDE_EVENT.match(place.lower, found.end()):
        place.end = found.end() + 6
        return "deadline", place.at, _short_stop(place)
    more = DATE_ON.match(place.lower, found.end())
    return "deadline", place.at, more.end() if more else found.end()


def by(place: Place) -> Span | None:
    return _unless_told(place, dated(place, place.end))


def _unless_told(place: Place, span: Span | None) -> Span | None:
    """None of what has no number of its own and stands in a story: by the end of the day all was over."""
    if span is None or _DIGIT.search(place.lower, span[1], span[2]):
        return span
    return None if is_told(place.beside(span[2])) else span


_DIGIT = re.compile(r"\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|tomorrow|noon|midnight")


def before(place: Place) -> Span | None:
    if place.behind(4) == "not ":
        return None
    low = max(0, place.at - 45)
    period = PERIOD_BEHIND.search(place.lower, low, place.at)
    day = dated(place, place.end)
    if period is not None:
        return "deadline", period.start(), day[2] if day else _short_stop(place)
    if day is not None:
        ahead = place.lower[place.start() : place.at]
        is_done = is_past(ahead) and _BOUND.search(ahead) is None
        return None if is_done and _DIGIT.search(place.lower, day[1], day[2]) is None else day
    if _EVENT_ELSE.match(place.lower, place.end):
        return None
    if place.lower[place.at] == "b" and _TELLER.match(place.lower, place.end):
        return None
    start, stop = place.start(), _short_stop(place)
    is_first = place.at - start < 2
    if is_past(place.lower[place.end : stop]) and not _BOUND.search(place.lower, start, place.at):
        return None
    if place.lower[place.at : place.end] in ("until", "till") or PROMISED.match(
        " " + place.lower[start : place.at]
    ):
        return _unless_told(place, ("deadline", place.at, stop))
    if is_first or _BOUND.search(place.lower, max(0, place.at - REACH), place.at):
        return _unless_told(place, ("deadline", place.at, stop))
    return None


def _short_stop(place: Place) -> int:
    """The end of the clause, at most eight words on."""
    stop, at = place.stop(), place.end
    for _ in range(9):
        at = place.lower.find(" ", at + 1, stop)
        if at < 0:
            return stop
    return at


_COUNTED_FROM = re.compile(r"\s(?:of|from|after|before|following|prior to|since)\s")


def within(place: Place) -> Span | None:
    found = PERIOD_AHEAD.match(place.lower, place.end)
    if found is None:
        return None
    end = found.end()
    if _COUNTED_FROM.match(place.lower, end):
        place.end = end + 3
        end = _short_stop(place)
        joined = place.lower.find(" and ", found.end(), end)
        end = joined if joined > 0 else end
    return _unless_told(place, ("deadline", place.at, end))


def period_noun(place: Place) -> Span | None:
    low = max(0, place.at - 45)
    found = PERIOD_BEHIND.search(place.lower, low, place.at)
    return None if found is None else ("deadline", found.start(), place.end)


_IS = re.compile(r"(?:\s(?:for|to|of) [^.,;\n]{1,40}?)?\s(?:is|was|of|on|remains|falls on|will be)\s")


def deadline_noun(place: Place) -> Span | None:
    if (found := period_noun(place)) is not None:
        return found
    if not _IS.match(place.lower, place.end):
        return None
    return "deadline", place.at, place.stop()


_DUE = re.compile(r"\s(?:on|by|in|at|within|no later|every|the|before)\b")


def due(place: Place) -> Span | None:
    if (day := dated(place, place.end)) is not None:
        return day
    found = _DUE.match(place.lower, place.end)
    if found is None:
        return None
    end = place.stop()
    return ("deadline", place.at, end) if _TIMED.search(place.lower, place.end, end) else None


_TIMED = re.compile(
    r"\d|\b(?:day|week|month|year|hour|minute|date)|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
)
_AFTER = re.compile(r"\s(?:in|after|on|at|within|automatically after)\s")


def expires(place: Place) -> Span | None:
    if not _AFTER.match(place.lower, place.end):
        return None
    end = place.stop()
    return ("deadline", place.at, end) if _TIMED.search(place.lower, place.end, end) else None
