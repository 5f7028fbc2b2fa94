"""Opposed bounds: where a summary has a value of its source, and bounds it from the other side.

    within 7 days -> after 7 days; at least 90 days -> at most 90 days; 6月1日之前 -> 6月1日之后

Laws:
- Both texts bound the value in words; one bound that is left out changes nothing.
- It is told where what is said of the value is alike in both, neither is said the other way round ("no
  refunds after 7 days" is "refunds within 7 days"), and the summary says it nowhere as the source does.
- Nothing is opposed in a text against itself. Takes time linear in the texts' values: what is held against
  one of them is bounded.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterator
from typing import NamedTuple
from weakref import WeakKeyDictionary

from castore.summary.fidelity.model import Fact, Facts
from castore.summary.fidelity.sentences import sentence_around
from castore.summary.fidelity.terms import shared, terms
from castore.summary.fidelity.values.bounds import Bounded, bound_of
from castore.summary.fidelity.values.dates import Clock, Day, holds
from castore.summary.fidelity.values.index import HALF_DAY, without_zeros
from castore.summary.fidelity.values.measures import Near

__all__ = ["Opposed", "opposed"]

_KINDS = ("number", "money", "percent", "date", "time", "duration", "version")
_LOOKED_AT_MAX = 50
"""Places of one value, of each text."""
_ALIKE_LEAST = 0.3
_END_OF_CLAUSE = re.compile(r"[;\n,.!?:](?=\s|$)|[，；。！？、]| (?:and|but|or|while|then) |但|而")
_REACH = 120
_TURNING = re.compile(
    r"(?<![a-z])(?:(?:no|not)(?! (?:more|less|fewer|later|earlier|longer|sooner|shorter) than)|nor|none"
    r"|nobody|nothing|never|cannot|[a-z]{2,6}n't|without|unless|except|otherwise|late|closed?|closes|closing|shuts?"
    r"|expir[a-z]+|forfeit[a-z]*|lose[sd]?|lost|refus[a-z]+|reject[a-z]*|stop[a-z]*|ends?|ended|ending|fail[a-z]*"
    r"|invalid|void|den[yi][a-z]*|declin[a-z]+|prohibit[a-z]*|forbid[a-z]*|ban(?:ned)?|exclu[a-z]+|free|fees?"
    r"|charg[a-z]+|surcharge[a-z]*|gone|delet[a-z]+|remov[a-z]+|exempt[a-z]*|wip[a-z]+|eras[a-z]+|purg[a-z]+"
    r"|destroy[a-z]*|drop[a-z]*|terminat[a-z]+|cancel[a-z]*|lock[a-z]*|block[a-z]*|empt[a-z]+|vacat[a-z]+"
    r"|avoid[a-z]*|penalt[a-z]+|fin(?:e|ed|es)|costs?|non|un[a-z]{4,})(?![a-z])"
    r"|[不未无非没免]|禁止|拒绝|逾期|失效|过期|停止|关闭|除外|否则|作废|结束|删除|到期|收费|清空|取消|避免|罚|锁定|离|补"
)
_NOT = frozenset(("not", "never", "cannot"))
_OF_BOUNDS = frozenset(terms("least fewer earlier later max maximum min minimum latest earliest exceed"))


class Opposed(NamedTuple):
    """source, summary: the spans of the value with its bound. fact: the source's, where it is bounded so."""

    fact: Fact
    source: tuple[int, int]
    summary: tuple[int, int]


def opposed(kind: str, source: Facts, summary: Facts) -> Iterator[Opposed]:
    """The values of this kind that the summary bounds from the other side, each of the source's once."""
    if source.text.raw == summary.text.raw:
        return
    ours, theirs = _places_of(source), _places_of(summary)
    told: set[Hashable] = set()
    for group, there in theirs.by_group.items():
        here = ours.by_group.get(group)
        if here is None:
            continue
        told_here = [each for each in here[:_LOOKED_AT_MAX] if each.kind == kind]
        for fact in there[:_LOOKED_AT_MAX] if told_here else ():
            found = _opposed(fact, there, here[:_LOOKED_AT_MAX], ours, theirs)
            if found is not None and found.fact.kind == kind and found.fact.key not in told:
                told.add(found.fact.key)
                yield found


def _opposed(fact: Fact, there: list[Fact], here: list[Fact], ours: Places, theirs: Places) -> Opposed | None:
    bounded = theirs.bound(fact)
    if bounded is None:
        return None
    if not any((one := ours.bound(each)) and one.bound is bounded.bound.opposite for each in here):
        return None
    words = theirs.clause(fact)
    if any(
        (one := ours.bound(each)) and one.bound is bounded.bound and ours.clause(each) == words
        for each in here
    ):
        return None
    nearest, best = None, _ALIKE_LEAST
    for each in here:
        if not _may_be_one(each, fact):
            continue
        alike = _alike(ours, each, theirs, fact)
        one = ours.bound(each)
        is_opposed = one is not None and one.bound is not bounded.bound
        if alike > best or (alike == best and (nearest is None or not is_opposed)):
            nearest, best = each, alike
    if nearest is None:
        return None
    said = ours.bound(nearest)
    if said is None or said.bound is bounded.bound:
        return None
    if ours.turns(nearest) != theirs.turns(fact):
        return None
    for other in there[:_LOOKED_AT_MAX]:
        if other is not fact and _alike(ours, nearest, theirs, other) >= best:
            its = theirs.bound(other)
            if its is None or its.bound is said.bound:
                return None
    return Opposed(nearest, (said.start, said.end), (bounded.start, bounded.end))


def _may_be_one(one: Fact, other: Fact) -> bool:
    if isinstance(one.key, Day) and isinstance(other.key, Day):
        return holds(one.key, other.key) or holds(other.key, one.key)
    return True


def _alike(ours: Places, one: Fact, theirs: Places, other: Fact) -> float:
    """How much two places have in common: of their clauses, or of their sentences where those say little."""
    here, there = ours.terms(one), theirs.terms(other)
    if len(here) < 2 or len(there) < 2:
        here, there = ours.terms(one, is_whole=True), theirs.terms(other, is_whole=True)
        if not here or not there:
            return 1.0
    return shared(here, there)


class Places:
    """Every place of a text where a value stands, by what its value is in whatever unit or spelling."""

    def __init__(self, facts: Facts) -> None:
        self.lower, self.plain = facts.text.lower, facts.text.plain
        self.by_group: dict[Hashable, list[Fact]] = defaultdict(list)
        for kind in _KINDS:
            for fact in facts.of(kind).values():
                self.by_group[_group(fact)].append(fact)
        for fact in facts.again():
            if fact.kind in _KINDS:
                self.by_group[_group(fact)].append(fact)
        self._bounds: dict[int, Bounded | None] = {}
        self._terms: dict[tuple[int, bool], frozenset[str]] = {}

    def bound(self, fact: Fact) -> Bounded | None:
        if fact.start not in self._bounds:
            self._bounds[fact.start] = bound_of(self.lower, fact)
        return self._bounds[fact.start]

    def clause(self, fact: Fact) -> str:
        """The words of the clause around the value, without it and its bound."""
        return self._around(fact, *self._clause(fact))

    def turns(self, fact: Fact) -> frozenset[str]:
        """What in the clause around the value says what is not so, what ends, or what is free."""
        found = _TURNING.findall(self.clause(fact))
        return frozenset("not" if each in _NOT or each.endswith("n't") else each[:4] for each in found)

    def terms(self, fact: Fact, *, is_whole: bool = False) -> frozenset[str]:
        """What the clause, or the whole sentence, around the value is about."""
        key = (fact.start, is_whole)
        if key not in self._terms:
            span = self._sentence(fact) if is_whole else self._clause(fact)
            said = terms(self._around(fact, *span)) - _OF_BOUNDS
            self._terms[key] = frozenset(each for each in said if not each.isdecimal())
        return self._terms[key]

    def _around(self, fact: Fact, start: int, end: int) -> str:
        bounded = self.bound(fact)
        left, right = (fact.start, fact.end) if bounded is None else (bounded.start, bounded.end)
        return f"{self.lower[start:left]} {self.lower[right : max(right, end)]}"

    def _sentence(self, fact: Fact) -> tuple[int, int]:
        low = max(0, fact.start - _REACH)
        start, end = sentence_around(self.plain[low : fact.end + _REACH], fact.start - low)
        return low + start, low + end

    def _clause(self, fact: Fact) -> tuple[int, int]:
        bounded = self.bound(fact)
        left, right = (fact.start, fact.end) if bounded is None else (bounded.start, bounded.end)
        start = max(0, left - _REACH)
        for match in _END_OF_CLAUSE.finditer(self.lower, start, left):
            if match.end() < left or match[0] in ",，":
                start = match.end()
        stop = _END_OF_CLAUSE.search(self.lower, right, right + _REACH)
        return start, stop.start() if stop else min(len(self.lower), right + _REACH)


_KEPT: WeakKeyDictionary[Facts, Places] = WeakKeyDictionary()


def _places_of(facts: Facts) -> Places:
    places = _KEPT.get(facts)
    if places is None:
        places = _KEPT[facts] = Places(facts)
    return places


def _group(fact: Fact) -> Hashable:
    """What facts of one value have in common, though their units, nouns or kinds be spelt otherwise."""
    key = fact.key
    if isinstance(key, Day):
        part = (key.month, key.day) if key.day is not None else key._replace(year=None)
        return "day", part if key.month or key.day or key.weekday is not None or key.quarter else key
    if isinstance(key, Clock):
        return "time", key.second % HALF_DAY
    if isinstance(fact.near, Near) and isinstance(key, tuple):
        return key[:2] if fact.near.is_unit else (None, str(fact.near.magnitude))
    return None, without_zeros(str(key))
