"""Promises of English text: who will do what; rules for cues."""

from __future__ import annotations

import re

from castore.summary.fidelity.clauses.cues import PROMISED
from castore.summary.fidelity.clauses.english_place import Place, Span

__all__ = ["shall", "vow", "will"]

_NO_SUBJECT = re.compile(r"\b(?:it|this|that|there|which|what|these|those|you|who|if)\Z")
_SPEAKER = re.compile(r"(?:\A|[^a-z])(?:we|i|team|company|vendor|seller|provider|bank|landlord)\Z")
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
_HOPE = re.compile(r"\b(?:hope|hopes|wish|think|sure|believe|expect|guess)(?: that)? \w+\Z")
"""Of what one thinks will be: no promise."""
_NO_DEED = re.compile(
    r"\s(?:fail|need|cause|look|show|become|happen|depend|mean|see|want|find|not|never|no|likely|probably)\b"
)
_DATED_DEED = re.compile(
    r"\b(?:by|before|within|tomorrow|next|as soon as|once|after|until|every|each|today|free)\b"
)


def will(place: Place) -> Span | None:
    before = place.behind(30).rstrip()
    if not before or _HOPE.search(before) or _NO_DEED.match(place.lower, place.end):
        return None
    delivers = PROMISED.match(place.lower, place.end)
    is_said = delivers is not None and delivers[1] not in _DONE_AT_ONCE
    if _NO_SUBJECT.search(before) and not (is_said and before.endswith(("this", "these", "those", "it"))):
        return None
    kind, start, end = place.around("promise")
    ahead = place.lower[place.end : end + _DATE_REACH]
    is_dated = _DATED_DEED.search(ahead) is not None
    if delivers and not _VAGUE.match(place.lower, place.end):
        is_mine = before.endswith((" i", "\ni")) or before == "i"
        if is_mine and delivers[1] in _DONE_AT_ONCE and not is_dated:
            return None
        return (kind, start, end) if _THING.search(before) is None else None
    if _AT_ONCE.match(place.lower, place.end) or _VAGUE.match(place.lower, place.end):
        return None
    if _SPEAKER.search(before) or (_PRONOUN.search(before) and _TIMED.search(ahead)):
        return (kind, start, end) if is_dated or _TIMED.search(ahead) else None
    if before.endswith(","):
        return (kind, start, end) if _TIMED.search(ahead) else None
    return (kind, start, end) if _is_name(place) else None


_PRONOUN = re.compile(r"(?:\A|[^a-z])(?:they|he|she)\Z")
_THING = re.compile(
    r"\b(?:sun|moon|comet|rain|snow|winter|spring|summer|autumn|weather|time|years?|life|bridge|road|line"
    r"|museum shop|season|market|prices?|demand|sales|everything|everyone|somebody|nobody|people)\Z"
)
_VAGUE = re.compile(
    r"\s(?:teach (?:you|us)|serve (?:you|us) well|bring (?:joy|people|us)"
    r"|give (?:you |us )?(?:joy|pleasure|hope))\b"
    r"|\s(?:keep (?:you|our|going|trying|on)\b|do (?:our|my) best|carry on)"
    r"|\s(?:\w+ly |always |never |still |all |just |surely )?(?:remember|miss|see|manage|talk|meet again|tell"
    r"|love|like|enjoy|feel|get (?:there|used|through|over)|know|believe|think|survive|cope|grow|wonder|learn"
    r"|rise|fall|stay|remain|live|die|laugh|cry|regret|forget|recall|notice|hear|watch|wait|want|hope|try"
    r"|make (?:it|do)|be (?:missed|there|fine|glad|back to|proud|sad|ready|ok|okay|happy|sorry))\b"
)
_TIMED = re.compile(
    r"\d|\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|week|month|noon|midnight|tonight)|[$£€%]"
)


def _is_name(place: Place) -> bool:
    """Whether a name stands right before it; a word with a capital that only begins a sentence is none."""
    at = max(0, place.at - 1)
    low = max(0, at - 40)
    word_at = max(place.raw.rfind(" ", low, at), place.raw.rfind("\n", low, at)) + 1
    if not place.raw[word_at : word_at + 1].isupper():
        return False
    before = place.raw[max(0, word_at - 2) : word_at]
    return bool(before.strip()) and not before.rstrip().endswith((".", "!", "?", ":"))


def shall(place: Place) -> Span | None:
    if place.ahead(4) == " not" or place.ahead(6) == " never" or place.behind(6).endswith("neither "):
        return None
    return place.around("promise")


_TO = re.compile(
    r"\s(?:to|that|not to|the|a|an|its?|our|his|her|their|all|every|full|you|us|\d)\b|\s[a-z]+ing\b"
    r"|\s[\w%€$£]"
)


_NO_VOW = re.compile(
    r"\b(?:not|no|the|a|an|our|its|their|this|that|with|year|month|day|full|under|your|any|extended|limited)"
    r" \Z|promised my \Z"
)
_AGREEING = re.compile(r" (?:to )?(?:disagree|differ|try|keep trying|meet again|wait|think|see|go on)\b")
_PROMISING = re.compile(
    r"\s(?:to be|(?:that )?i am|(?:that )?(?:it|this|that|you|there|the \w+|our \w+)(?: \w+)? (?:is|are|was"
    r"|won't|will love|will not regret)|my \w+|myself|itself|a (?:warm|great|good|lovely|wonderful))\b"
)
"""What praises, and what one has promised oneself."""


def vow(place: Place) -> Span | None:
    if _NO_VOW.search(place.behind(12)) or _PROMISING.match(place.lower, place.end):
        return None
    cue = place.lower[place.at : place.end]
    if (cue.startswith("commit") and not cue.endswith(" to")) or place.behind(4) == "was ":
        return None
    if _AGREEING.match(place.lower, place.end):
        return None
    return place.around("promise") if _TO.match(place.lower, place.end) else None
