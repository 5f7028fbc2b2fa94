"""Promises of English text: who will do what; rules for cues."""

from __future__ import annotations

import re

from castore.summary.fidelity.clauses.cues import PROMISED
from castore.summary.fidelity.clauses.english_place import Place, Span

__all__ = ["shall", "vow", "will"]

_NO_SUBJECT = re.compile(r"\b(?:it|this|that|there|which|what|these|those|you|who|if)\Z")
_SPEAKER = re.compile(
    r"(?:\A|[^a-z])(?:we|i|they|he|she|team|company|vendor|seller|provider|bank|landlord)\Z"
)
_AT_ONCE = re.compile(
    r"\s(?:now|also|then|first|just|quickly|next|start|begin|check|look|explain|describe|show|read|run"
    r"|use|see|try|take"
    r"|walk|go|continue|proceed|need|analy[sz]e|search|examine|implement|create|make|do|be|let|explore"
    r"|think|have|get"
    r"|write|add|update|fix|test|focus|verify|assume|not|never|no)\b"
)
_DEEDS_AT_ONCE = (
    "fix update add writ run test build review remove delete move complete install process keep call report "
    "handle prepare draft provide share post follow confirm investigate"
)
_DONE_AT_ONCE = frozenset(_DEEDS_AT_ONCE.split())
"""What somebody may be about to do, and then it is no promise unless it says when."""
_DATE_REACH = 12
"""Characters behind the clause, at most, where it may say when."""
_NO_DEED = re.compile(
    r"\s(?:fail|need|cause|look|show|become|happen|depend|mean|see|want|find|not|never|no|likely|probably)\b"
)
_DATED_DEED = re.compile(
    r"\b(?:by|before|within|tomorrow|next|as soon as|once|after|until|every|each|today|free)\b"
)


def will(place: Place) -> Span | None:
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
        if (
            is_mine
            and delivers[1] in _DONE_AT_ONCE
            and not _DATED_DEED.search(place.lower, place.end, end + _DATE_REACH)
        ):
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


def shall(place: Place) -> Span | None:
    if place.ahead(4) == " not" or place.ahead(6) == " never" or place.behind(6).endswith("neither "):
        return None
    return place.around("promise")


_TO = re.compile(
    r"\s(?:to|that|not to|the|a|an|its?|our|his|her|their|all|every|full|you|us|\d)\b|\s[a-z]+ing\b"
    r"|\s[\w%€$£]"
)


_NO_VOW = re.compile(r"\b(?:not|no|the|a) \Z")


def vow(place: Place) -> Span | None:
    if _NO_VOW.search(place.behind(6)):
        return None
    cue = place.lower[place.at : place.end]
    if (cue.startswith("commit") and not cue.endswith(" to")) or place.behind(4) == "was ":
        return None
    return place.around("promise") if _TO.match(place.lower, place.end) else None
