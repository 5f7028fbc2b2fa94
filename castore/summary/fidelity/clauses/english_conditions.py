"""Conditions of English text: what must be so for something else; rules for cues.

What might have been, what was, and what is said to be polite is none.
"""

from __future__ import annotations

import re

from castore.summary.fidelity.clauses.english_place import Place, Span, is_past, is_told

__all__ = ["condition", "if_", "needs", "once", "only", "provided", "when"]

_POLITE = re.compile(
    r"\s(?:so|not|any|needed|necessary|possible|you(?:'d)? (?:want|like|wish|prefer"
    r"|have (?:any )?(?:questions|other))"
    r"|(?:your|the|their|our) plans? changes?|something (?:changes|comes up)"
    r"|i (?:may|remember|recall|understand)|anything|desired|applicable|only|at all|ever)\b(?! (?:other|of))"
)
_NONE_BEFORE = (
    *(
        "as ",
        "what ",
        "see ",
        "know ",
        "knows ",
        "check ",
        "asked ",
        "wonder ",
        "wondered ",
        "sure ",
        "tell ",
    ),
    *("surprised ", "sorry ", "afraid ", "alarmed ", "upset ", "worry ", "worried ", "mind ", "matter "),
    *("panic ", "grateful ", "appreciate it ", "lovely ", "nice ", "unsure ", "wondering ", "cross "),
    *("even ", "love it ", "delighted ", "welcome to ask "),
)
_NOBODY = re.compile(
    r"\s(?:nobody|no one)\s(?!objects?|claims?|collects?|responds?|answers?|repl|bids?|appl|signs?"
    r"|volunteers?)"
)
_IF_ONLY = re.compile(
    r"\s(?:(?:i|it|he|she)\s(?:were|weren't)\b|(?:the |my |our )?\w+\s(?:had(?! to\b)|hadn't|would)\b"
    r"|(?:we|i)\s(?:can|could|ever|really|get|feel|find|know)\b|it hadn't|not for\b|everyone|truth"
    r"|(?:you|you're|there|it|this|all this|that) (?:are anything like|anything like|is one thing|ain't"
    r"|sounds?|see (?:him|her|them)|love|enjoy|ever|think|thought|feel like|look closely|listen|can believe"
    r"|must know|never|liked|loved|have (?:read|come|made it|got|ever)|can\Z)\b|my memory\b)"
)
"""What begins that which is not so, or what only the teller might do."""
_WOULD = re.compile(r"\b(?:would|wouldn't|could have|couldn't have|might have|should have)\b|'d have\b")


def condition(place: Place) -> Span | None:
    if place.behind(4) == "for " or _LONG_AS.match(place.lower, place.at):
        return None
    return place.leading("condition")


_LONG_AS = re.compile(
    r"(?:as|so) long as (?:(?:i|we|he|she) (?:can|could|live|like|remember|want|did|had|was|were)|\w+ed\b"
    r"|anyone|possible|ever|\w+ (?:lived|lasted|was|were|had)\b)"
)


def if_(place: Place) -> Span | None:
    if place.behind(14).endswith(_NONE_BEFORE):
        return None
    if (polite := _POLITE.match(place.lower, place.end)) and place.stop() - polite.end() < 12:
        return None
    if _NOBODY.match(place.lower, place.end):
        return None
    kind, start, end = place.leading("condition")
    if _was_not(place, end):
        return None
    return kind, start, end


_PARTICIPLE = re.compile(r"\s(?:\w+ly )?\w+ed\b")


def _was_not(place: Place, end: int) -> bool:
    """Whether it tells what might have been, or what was."""
    words = place.lower[place.end : end]
    if _IF_ONLY.match(words):
        return True
    if not is_past(words) or _PARTICIPLE.match(words):
        return False
    around = place.beside(end)
    return _WOULD.search(around) is not None or is_told(around)


_TELLER = re.compile(
    r"\s(?:i|we|he|she|they|nobody|no one|someone|people|my|his|her|our|everyone"
    r"|in doubt|all is said|it comes to|it rains)\b"
)


def when(place: Place) -> Span | None:
    kind, start, end = place.leading("condition")
    words = place.lower[place.end : end]
    if len(words) < 4 or is_past(words) or _TELLER.match(words):
        return None
    return kind, start, end


_ONCE = re.compile(r"\s(?:an? |per |more|again|every|daily|or twice|in a|upon a|weekly|monthly)")


def once(place: Place) -> Span | None:
    if place.behind(3) == "at " or _ONCE.match(place.lower, place.end) or place.ahead(1) != " ":
        return None
    kind, start, end = place.leading("condition")
    words = place.lower[place.end : end]
    if len(words) < 4 or is_past(words) or _TASTED.match(words):
        return None
    return kind, start, end


_TASTED = re.compile(
    r"\s(?:you|you've|one)(?: have| has)? (?:tasted|tried|seen|been|heard|gotten|got used|know)\b"
)
_ONLY = re.compile(
    r"\s(?:if|when|after|once|for|to|with|by|in|on|upon|while|where|from|during|through|until|as|at"
    r"|available|valid"
    r"|applies|applicable|allowed|permitted|possible|open)\b"
)
_MODAL = re.compile(r"\b(?:may|can|must|should|is|are|will|shall|have|has)\b")


def only(place: Place) -> Span | None:
    if place.behind(4).endswith("not ") or place.behind(4).endswith("n't "):
        return None
    if _ONLY.match(place.lower, place.end):
        kind, start, end = place.leading("condition")
        return None if is_told(place.beside(end), place.lower[place.end : end]) else (kind, start, end)
    kind, start, end = place.around("condition")
    if re.search(r"\b(?:exempt|excluded|not)\b", place.lower[place.end : end]):
        return ("exception", start, end) if place.at - start < 2 else None
    if place.at - start < 2 and _MODAL.search(place.lower, place.end, end):
        return kind, start, end
    return None


def provided(place: Place) -> Span | None:
    before = place.behind(4).rstrip()
    if place.ahead(6) == " that " or before.endswith((",", ";", "(")):
        return place.leading("condition")
    return None


_CONSENT = re.compile(r"\b(?:approv|consent|permission|sign-?off|authori[sz]|review|confirmation|written)")


def needs(place: Place) -> Span | None:
    kind, start, end = place.leading("condition")
    return (kind, start, end) if _CONSENT.search(place.lower, place.end, end) else None
