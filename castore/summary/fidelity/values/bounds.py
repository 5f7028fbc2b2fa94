"""Bounds: whether a value is the least or the most that is meant, by the words around it.

    least: at least 90 days, from 6 pm, more than 100, 3.2 or later, no earlier than, 至少3天, 7天后, 不低于
    most: at most 90 days, until 6 pm, fewer than 100, within 7 days, no later than, 最多3天, 7天内, 不得超过

Laws:
- A `not` right before a bound turns it round: not more than 5 is at most 5, not before May is from May.
- So much as a value is before something (up to 24 hours before the start), its bound is turned round too.
- Takes constant time for each value: what is looked at around it is bounded.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from castore.summary.fidelity.model import Fact

__all__ = ["Bound", "Bounded", "bound_of"]


class Bound(Enum):
    LEAST = "least"
    MOST = "most"

    @property
    def opposite(self) -> Bound:
        return Bound.MOST if self is Bound.LEAST else Bound.LEAST


class Bounded(NamedTuple):
    """start, end: of the value with the words that bound it."""

    bound: Bound
    start: int
    end: int


_POINTS = frozenset(("date", "time", "version"))

_NOT = r"(?:not|never|nor?|cannot|without|[a-z]{2,6}n't)(?: be| go| last| take| to)?"
_NAMED = r"(?:(?: [a-z]+){0,2} (?:is|of|are)|:)?"
_BEFORE = re.compile(
    rf"(?<![a-z-])(?P<not>(?:{_NOT} )?)(?:"
    r"(?P<most>within|under|below|up to|at (?:the )?most|(?:less|fewer|lower|smaller|shorter|younger|earlier|"
    rf"sooner|cheaper|lighter) than|max(?:imum)?\.?{_NAMED}|limit of|capped at|<=?|≤)"
    r"|(?P<least>at (?:the )?least|(?:more|greater|higher|larger|longer|later|heavier|bigger) than"
    rf"|above|exceed(?:s|ing)?|min(?:imum)?\.?{_NAMED}|upwards of|in excess of|>=?|≥)"
    r"|(?P<most_point>before|until|till|by|prior to|up until)"
    r"|(?P<least_point>after|from|since|starting(?: from| on)?|beginning(?: on)?|as of|past|beyond)"
    r"|(?P<over>over)|(?P<older>older than)|(?P<newer>newer than)"
    r")(?: the| an?| about| around| \(| [a-z]{2,9}day,?| version| v)? ?$"
)
_OR = r",? (?:or|and) (?:"
_BEHIND = re.compile(
    r"(?: of age| old| long| years| version)?(?:"
    rf"(?P<most>{_OR}less|fewer|earlier|below|under|lower|younger|shorter|sooner|before)(?! than)(?![a-z])"
    r"|,? at (?:the )?(?:most|latest)(?![a-z])| max(?:imum)?(?![a-z])| tops(?![a-z]))"
    rf"|(?P<least>{_OR}more|later|above|over|higher|newer|longer|greater|up|upwards?|onwards?|after|beyond)"
    r"(?! than)(?![a-z])|,? at (?:the )?(?:least|earliest)(?![a-z])| min(?:imum)?(?![a-z])"
    r"| on ?wards?(?![a-z])|\+(?![0-9a-z]))"
    rf"|(?P<older>{_OR}older)(?! than)(?![a-z]))"
    r")"
)
_HAN_BEFORE = re.compile(
    r"(?P<not>不得|不能|不可以?|不应|不会|不要|不宜|不|没有|未能?|无需)?(?:"
    r"(?P<most>最多|至多|少于|低于|小于|短于|不足|不满|上限[为是:]?|最(?:高|长|大)(?:[\u4e00-\u9fff]{0,4}[为是:])?|最晚|最迟|早于|以内|至迟|(?<![期时无有权])限)"
    r"|(?P<least>至少|最少|超过|超出|多于|高于|大于|长于|晚于|迟于|起码|下限[为是:]?|最(?:低|短|小)(?:[\u4e00-\u9fff]{0,4}[为是:])?|最早|满|逾)"
    r"|(?P<least_point>自|从|始于)|(?P<most_point>截至|截止到?|[到至])"
    r")了? ?$"
)
_HAN_BEHIND = re.compile(
    r" ?(?:"
    r"(?P<most>之?内(?![容部存网])|以内|[及或和]?以下|或更[低早旧少]|及更[低早旧少]|封顶|为限|为止)"
    r"|(?P<least>[及或和]?以上|或更[高新晚多]|及更[高新晚多]|起步)"
    r"|(?P<most_point>[之以]前|前(?![台面端往十三几者的]|提[下是条])|截?止)"
    r"|(?P<least_point>[之以]后|后(?![台面端续门来果勤])|起(?![来诉码草])|开始)"
    r")"
)
_AHEAD = re.compile(
    r" ?(?:before|prior|ahead|in advance|beforehand|earlier)(?![a-z])"
    r"|[^0-9.,;:()\n]{0,24} in advance(?![a-z])"
)
_UNTIL_AHEAD = frozenset(("up to", "until", "by", "up until", "till"))
_TURNED_AHEAD = frozenset(("later than", "earlier than", "sooner than"))
"""What comes later than so much before something comes less than so much before it."""
_WINDOW, _WINDOW_BEHIND = 40, 24


def bound_of(lower: str, fact: Fact) -> Bounded | None:
    """The bound that the words right before or behind a value set, if any. lower: its text."""
    before = lower[max(0, fact.start - _WINDOW) : fact.start]
    after = lower[fact.end : fact.end + _WINDOW_BEHIND]
    if behind := _BEHIND.match(after) or _HAN_BEHIND.match(after):
        bound = _of_group(behind, fact)
        if bound is not None:
            return Bounded(bound, fact.start, fact.end + behind.end())
    found = _BEFORE.search(before) or _HAN_BEFORE.search(before)
    if found is None:
        return None
    start = fact.start - len(before) + found.start()
    words = found[0].removeprefix(found["not"] or "").strip()
    is_ahead = fact.kind == "duration" and _AHEAD.match(after) is not None
    bound = Bound.LEAST if is_ahead and words in _UNTIL_AHEAD else _of_group(found, fact)
    if bound is None:
        return None
    is_turned = bool(found["not"]) != (is_ahead and words in _TURNED_AHEAD)
    return Bounded(bound.opposite if is_turned else bound, start, fact.end)


def _of_group(match: re.Match[str], fact: Fact) -> Bound | None:
    """What the words say of a value of this kind: `by` and `from` bound points in time, not amounts."""
    group = match.lastgroup or ""
    is_point = fact.kind in _POINTS
    if group in ("most", "least"):
        return Bound(group)
    if group == "older":
        return Bound.MOST if fact.kind in ("version", "date") else Bound.LEAST
    if group == "newer":
        return Bound.MOST if fact.kind == "duration" else Bound.LEAST
    if group == "over":
        return None if is_point or fact.kind == "duration" else Bound.LEAST
    if fact.kind == "duration":
        return Bound.LEAST if match[group] in _AFTER else None
    if not is_point or (fact.kind == "version" and match[group] == "by"):
        return None
    return Bound.MOST if group == "most_point" else Bound.LEAST


_AFTER = frozenset(("after", "后", "之后", "以后"))
