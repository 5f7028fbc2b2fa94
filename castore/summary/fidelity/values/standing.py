"""Standing: all values that a text says in any form, to ask whether it says one, and what it says instead.

Laws:
- It is made only where values were not kept by their key, once for each text, in time linear in it.
- To ask for one value takes constant time: what is looked at of those that are like it is bounded.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from decimal import Decimal
from fractions import Fraction
from weakref import WeakKeyDictionary

from castore.summary.fidelity.model import Fact, Facts
from castore.summary.fidelity.sentences import sentence_around
from castore.summary.fidelity.terms import shared, terms
from castore.summary.fidelity.values import forms
from castore.summary.fidelity.values.dates import Clock, Day, holds, same_time
from castore.summary.fidelity.values.index import HALF_DAY, ValueIndex, turned, without_zeros
from castore.summary.fidelity.values.measures import Near
from castore.summary.fidelity.values.numerals import Magnitude

__all__ = ["Standing", "standing_of"]

_LOOKED_AT_MAX = 50
"""Of the facts that are like the one that is asked for."""
_REACH = 500
"""Characters of a sentence, at most, before a fact and behind it."""
_BESIDE = 60
_KEPT: WeakKeyDictionary[Facts, Standing] = WeakKeyDictionary()


def standing_of(facts: Facts) -> Standing:
    """That of these facts, made once."""
    standing = _KEPT.get(facts)
    if standing is None:
        standing = _KEPT[facts] = Standing(facts)
    return standing


class Standing(ValueIndex):
    """What a text says, by value."""

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._terms: dict[int, frozenset[str]] = {}

    def says(self, fact: Fact, words: str, there: Standing | None = None) -> int:
        """Whether this text says the value of a fact of another text: 2, it does; 1, there is such a number,
        of something else or of nothing that is told; 0, in no form. words: as it is spelt there. there:
        what that text says, if it is at hand."""
        if isinstance(fact.key, Day):
            return 2 * self._says_day(fact.key, words, there)
        if isinstance(fact.key, Clock):
            return 2 * self._says_time(fact.key, words)
        if fact.kind == "version":
            return 2 * (without_zeros(str(fact.key)) in self.versions)
        if isinstance(fact.near, Near):
            grade = self._says_measure(fact, fact.near)
            if grade == 2:
                return grade
            is_about = there is not None and there.is_about(fact)
            return max(grade, 2 * self._says_rounded(fact, fact.near, is_about))
        return self._says_share(fact, words)

    def is_count(self, fact: Fact) -> bool:
        """Whether a few things are counted in words, as a summary does that names them after."""
        near = fact.near
        if not isinstance(near, Near) or near.is_unit or near.magnitude not in (2, 3, 4, 5):
            return False
        return not self.plain[fact.start].isdecimal()

    def is_same_unit(self, fact: Fact, other: Fact) -> bool:
        """Whether both have one unit, count one noun, or are parts of one."""
        one, two = fact.near, other.near
        if not isinstance(one, Near) or not isinstance(two, Near):
            return _is_share(fact) and _is_share(other)
        return one.unit is not None and one.unit == two.unit

    def has_no_unit(self, fact: Fact) -> bool:
        return isinstance(fact.near, Near) and fact.near.unit is None

    def likeness(self, fact: Fact, other: Fact, there: Standing) -> float:
        """How much speaks for a fact of `there` being this one of here with another value; 0: nothing."""
        alike = shared(self.terms(fact), there.terms(other))
        one, two = fact.near, other.near
        if isinstance(one, Near) and isinstance(two, Near):
            if one.unit is not None and one.unit == two.unit:
                return 2 + alike
            if one.is_unit and two.is_unit and fact.kind == other.kind:
                return 1 + alike + (one.magnitude == two.magnitude)
            if one.is_unit != two.is_unit and (one.unit or two.unit) and alike < 0.5:
                return 0
        elif fact.kind in ("date", "time") and fact.kind == other.kind:
            return 0.5 + alike + _parts_in_common(fact.key, other.key)
        return 0.01 + alike if alike >= 0.25 else 0

    def marks(self, fact: Fact) -> set[Hashable]:
        """What facts may have in common that are alike: their unit and value, and the words beside them."""
        marks: set[Hashable] = set()
        if isinstance(fact.near, Near):
            marks = {("unit", fact.near.unit), ("value", fact.near.magnitude)}
        before = self.lower[max(0, fact.start - _BESIDE) : fact.start]
        return marks | terms(before + " " + self.lower[fact.end : fact.end + _BESIDE])

    def terms(self, fact: Fact) -> frozenset[str]:
        """What the sentence around a fact is about, without the fact."""
        found = self._terms.get(fact.start)
        if found is None:
            start, end = sentence_around(self.plain, fact.start, reach=_REACH)
            said = f"{self.lower[start : fact.start]} {self.lower[fact.end : max(end, fact.end)]}"
            found = self._terms[fact.start] = frozenset(each for each in terms(said) if not each.isdecimal())
        return found

    # ------------------------------------------------------------------ measures

    def _says_measure(self, fact: Fact, near: Near) -> int:
        assert isinstance(fact.key, tuple)
        if same := self.by_value.get(fact.key[:2]):
            return 2 * any(_same_rate(near, each) for each in same[:_LOOKED_AT_MAX])
        grade = 0
        if fact.kind == "percent" and (by := self._says_percent(near.magnitude)):
            if by == 2:
                return 2
            grade = 1
        if fact.kind == "number" and not near.is_unit and near.magnitude in self.named_numbers:
            return 2
        if near.unit == "day" and (None, near.magnitude) in self.by_day:
            return 2
        form = forms.forms_of_duration(fact.key[:2], near.magnitude)
        if form is not None and self.has(form):
            # A word such as `monthly` says it of something: of what, nobody knows.
            grade = 1
        for each in self.by_magnitude.get(near.magnitude, ())[:_LOOKED_AT_MAX]:
            if _same_rate(near, each):
                if each.unit is None or near.unit is None:
                    return 2
                if not (near.is_unit and each.is_unit):
                    grade = 1
        if near.magnitude not in self.by_magnitude and near.magnitude in self.numbers:
            grade = 1
        return grade

    def _says_percent(self, magnitude: Magnitude) -> int:
        if isinstance(magnitude, int | Decimal) and Fraction(magnitude) in self.shares:
            return 2
        form = forms.forms_of_percent(magnitude)
        return int(form is not None and self.has(form))

    def _says_rounded(self, fact: Fact, near: Near, is_about: bool) -> bool:
        """Whether one of the two is the other, rounded, and its text says so; bytes may be of 1024."""
        assert isinstance(fact.key, tuple)
        group, value = (fact.kind, fact.key[0] if near.is_unit else None), fact.key[1]
        if is_about and (group, value) in self.roundings:
            return True
        if any((group, each) in self.abouts for each in forms.roundings(value)):
            return True
        return fact.key[0] == "byte" and any(
            ("byte", each) in self.by_value for each in _as_many_bytes(value)
        )

    def _says_share(self, fact: Fact, words: str) -> int:
        if not isinstance(fact.key, tuple) or fact.key[0] != "share":
            return 2 * ("".join(words.lower().split()).replace("×", "x") in self.sizes)
        _, over, under = fact.key
        if not isinstance(over, int) or not isinstance(under, int) or not under:
            return 2 * ("".join(words.split()) in self.signed)
        if Fraction(100 * over, under) in self.percents:
            return 2
        form = forms.UNDER.get(under)
        if over in self.numbers and under in self.numbers:
            return 1
        return int(form is not None and self.has(form))

    # --------------------------------------------------- dates and times of day

    def _says_day(self, day: Day, words: str, there: Standing | None) -> bool:
        if any(holds(each, day) for each in self._days_like(day)):
            return True
        if (
            "/" in words
            and (other := turned(day))
            and any(holds(each, other) for each in self._days_like(other))
        ):
            return True
        if day.weekday is not None and day == Day(weekday=day.weekday):
            # All working days are Monday and Friday with those between, and no single one of them.
            if day.weekday > 4:
                return (there is None or there.has(forms.BOTH_DAYS)) and self.has(forms.WEEKEND)
            is_all = there is None or (day.weekday in (0, 4) and there.has(forms.FROM_MONDAY))
            return is_all and self.has(forms.WEEKDAYS)
        if day.day is not None and day == Day(day=day.day):
            near = self.by_magnitude.get(day.day, ())[:_LOOKED_AT_MAX]
            return any(each.unit == "day" for each in near)
        if day == Day(year=day.year):
            return day.year in self.numbers
        return "".join(words.split()) in self.signed

    def _says_time(self, clock: Clock, words: str) -> bool:
        near = self.by_half_day.get(clock.second % HALF_DAY, ())[:_LOOKED_AT_MAX]
        return any(same_time(clock, each) for each in near) or "".join(words.split()) in self.signed

    def _days_like(self, day: Day) -> Iterator[Day]:
        if day.day is None:
            yield from self.days_by_part.get(day._replace(year=None), ())[:_LOOKED_AT_MAX]
            return
        for month in {day.month, None} if day.month is not None else {*range(1, 13), None}:
            yield from self.by_day.get((month, day.day), ())[:_LOOKED_AT_MAX]


def _is_share(fact: Fact) -> bool:
    return isinstance(fact.key, tuple) and fact.key[0] == "share"


def _same_rate(one: Near, other: Near) -> bool:
    return one.rate is None or other.rate is None or one.rate == other.rate


def _as_many_bytes(value: object) -> Iterator[int]:
    """What it is with units of 1024 instead of 1000, and the other way: 2048 MB are 2 GB."""
    if isinstance(value, int):
        for power in range(1, 5):
            for many, few in ((1024, 1000), (1000, 1024)):
                number, rest = divmod(value * many**power, few**power)
                if rest == 0:
                    yield number


def _parts_in_common(one: object, other: object) -> float:
    if isinstance(one, Day) and isinstance(other, Day):
        return 0.2 * sum(a == b for a, b in zip(one, other, strict=True) if a is not None)
    return 0.0
