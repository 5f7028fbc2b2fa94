"""Standing: all values that a text says in any form, to ask whether it says one, and what it says instead.

Laws:
- It is made only where values were not kept by their key, once for each text, in time linear in it.
- To ask for one value takes constant time: what is looked at of those that are like it is bounded.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from weakref import WeakKeyDictionary

from castore.summary.fidelity import forms
from castore.summary.fidelity.dates import Clock, Day, holds, same_time
from castore.summary.fidelity.measures import Near, measures
from castore.summary.fidelity.model import Fact, Facts
from castore.summary.fidelity.numerals import NUMBER, Magnitude, han_value, number_value, words_value
from castore.summary.fidelity.sentences import sentence_around
from castore.summary.fidelity.terms import shared, terms

__all__ = ["Standing", "standing_of"]

_MEASURED = ("number", "money", "percent", "duration")
_KINDS = (*_MEASURED, "date", "time", "version")
_LOOKED_AT_MAX = 50
"""Of the facts that are like the one that is asked for."""
_HALF_DAY = 43200
_ANY_NUMBER = re.compile(rf"(?<![0-9]){NUMBER}")
_INSIDE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_./-")
_BOUNDS = ("under-", " over-", "above-", "below-")
_SIGNED = re.compile(r"[0-9]{1,20}(?:[.:/-][0-9]{1,20}){1,8}")
_DOTTED = re.compile(r"[0-9]{1,20}(?:\.[0-9]{1,20}){0,8}")
_PLAIN = re.compile(r"[0-9]{1,20}(?:\.[0-9]{1,20})?")
_ZEROS = re.compile(r"(?:\.(?:0+|x))+$")
_Grouped = tuple[Hashable, Magnitude]
_KEPT: WeakKeyDictionary[Facts, Standing] = WeakKeyDictionary()


def standing_of(facts: Facts) -> Standing:
    """That of these facts, made once."""
    standing = _KEPT.get(facts)
    if standing is None:
        standing = _KEPT[facts] = Standing(facts)
    return standing


class Standing:
    """What a text says, by value."""

    def __init__(self, facts: Facts) -> None:
        self.plain = facts.text.plain
        self.lower = facts.text.lower
        self.by_kind = {kind: list(facts.of(kind).values()) for kind in _KINDS}
        self._terms: dict[int, frozenset[str]] = {}
        self._searched: dict[re.Pattern[str], bool] = {}

    def says(self, fact: Fact, words: str, is_about: bool = False) -> int:
        """Whether this text says the value of a fact of another text: 2, it does; 1, there is such a number,
        of something else or of nothing that is told; 0, in no form. words: as it is spelt there. is_about:
        that text says that it is rounded."""
        if isinstance(fact.key, Day):
            return 2 * self._says_day(fact.key, words)
        if isinstance(fact.key, Clock):
            return 2 * self._says_time(fact.key, words)
        if fact.kind == "version":
            return 2 * (_ZEROS.sub("", str(fact.key)) in self.versions)
        if isinstance(fact.near, Near):
            grade = self._says_measure(fact, fact.near)
            return grade if grade == 2 else max(grade, 2 * self._says_rounded(fact, fact.near, is_about))
        return 2 * self._says_share(fact, words)

    def is_about(self, fact: Fact) -> bool:
        """Whether a fact of this text says of itself that it is rounded."""
        return forms.is_about(self.lower, fact)

    def is_count(self, fact: Fact) -> bool:
        """Whether a few things are counted in words, as a summary does that names them after."""
        near = fact.near
        if not isinstance(near, Near) or near.is_unit or near.magnitude not in (2, 3, 4, 5):
            return False
        return not self.plain[fact.start].isdecimal()

    def is_same_unit(self, fact: Fact, other: Fact) -> bool:
        """Whether both have one unit, or count one noun."""
        one, two = fact.near, other.near
        if not isinstance(one, Near) or not isinstance(two, Near):
            return False
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

    def terms(self, fact: Fact) -> frozenset[str]:
        """What the sentence around a fact is about, without the fact."""
        found = self._terms.get(fact.start)
        if found is None:
            start, end = sentence_around(self.plain, fact.start)
            said = f"{self.lower[start : fact.start]} {self.lower[fact.end : max(end, fact.end)]}"
            found = self._terms[fact.start] = frozenset(each for each in terms(said) if not each.isdecimal())
        return found

    # ------------------------------------------------------------------ measures

    def _says_measure(self, fact: Fact, near: Near) -> int:
        assert isinstance(fact.key, tuple)
        if same := self.by_value.get(fact.key[:2]):
            return 2 * any(_same_rate(near, each) for each in same[:_LOOKED_AT_MAX])
        if fact.kind == "percent" and self._says_percent(near.magnitude):
            return 2
        if fact.kind == "number" and not near.is_unit and near.magnitude in self.named_numbers:
            return 2
        if near.unit == "day" and (None, near.magnitude) in self.by_day:
            return 2
        form = forms.forms_of_duration(fact.key[:2], near.magnitude)
        if form is not None and self._has(form):
            return 2
        grade = 0
        for each in self.by_magnitude.get(near.magnitude, ())[:_LOOKED_AT_MAX]:
            if _same_rate(near, each):
                if each.unit is None or near.unit is None:
                    return 2
                if not (near.is_unit and each.is_unit):
                    grade = 1
        if near.magnitude not in self.by_magnitude and near.magnitude in self.numbers:
            grade = 1
        return grade

    def _says_percent(self, magnitude: Magnitude) -> bool:
        form = forms.forms_of_percent(magnitude)
        if form is not None and self._has(form):
            return True
        return isinstance(magnitude, int | Decimal) and Fraction(magnitude) in self.shares

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

    def _says_share(self, fact: Fact, words: str) -> bool:
        if not isinstance(fact.key, tuple) or fact.key[0] != "share":
            return "".join(words.lower().split()).replace("×", "x") in self._sizes
        _, over, under = fact.key
        if not isinstance(over, int) or not isinstance(under, int) or not under:
            return "".join(words.split()) in self._signed
        if Fraction(100 * over, under) in self.percents:
            return True
        if over in self.numbers and under in self.numbers:
            return True
        form = forms.UNDER.get(under)
        return form is not None and self._has(form)

    # --------------------------------------------------- dates and times of day

    def _says_day(self, day: Day, words: str) -> bool:
        if any(holds(each, day) for each in self._days_like(day)):
            return True
        if (
            "/" in words
            and (turned := _turned(day))
            and any(holds(each, turned) for each in self._days_like(turned))
        ):
            return True
        if day.weekday is not None and day == Day(weekday=day.weekday):
            return self._has(forms.WEEKEND if day.weekday > 4 else forms.WEEKDAYS)
        if day.day is not None and day == Day(day=day.day):
            near = self.by_magnitude.get(day.day, ())[:_LOOKED_AT_MAX]
            return any(each.unit == "day" for each in near)
        if day == Day(year=day.year):
            return day.year in self.numbers
        return "".join(words.split()) in self._signed

    def _says_time(self, clock: Clock, words: str) -> bool:
        near = self.by_half_day.get(clock.second % _HALF_DAY, ())[:_LOOKED_AT_MAX]
        return any(same_time(clock, each) for each in near) or "".join(words.split()) in self._signed

    def _days_like(self, day: Day) -> Iterator[Day]:
        if day.day is None:
            yield from self.days_by_part.get(day._replace(year=None), ())[:_LOOKED_AT_MAX]
            return
        for month in {day.month, None} if day.month is not None else {*range(1, 13), None}:
            yield from self.by_day.get((month, day.day), ())[:_LOOKED_AT_MAX]

    # ------------------------------------------------------------------- indexes

    @cached_property
    def by_magnitude(self) -> dict[Magnitude, list[Near]]:
        """What is said of each number, as it is spelt."""
        found: dict[Magnitude, list[Near]] = defaultdict(list)
        for near, _ in self._nears():
            found[near.magnitude].append(near)
        return found

    @cached_property
    def by_value(self) -> dict[tuple[object, ...], list[Near]]:
        """The same, by dimension and value."""
        found: dict[tuple[object, ...], list[Near]] = defaultdict(list)
        for near, key in self._nears():
            found[key[:2]].append(near)
        return found

    def _nears(self) -> Iterator[tuple[Near, tuple[object, ...]]]:
        for kind in _MEASURED:
            for fact in self.by_kind[kind]:
                if isinstance(fact.near, Near) and isinstance(fact.key, tuple):
                    yield fact.near, fact.key

    @cached_property
    def roundings(self) -> frozenset[_Grouped]:
        """What each number of the text is, rounded, with its kind and unit."""
        return frozenset(
            (group, each) for group, value, _ in self._grouped() for each in forms.roundings(value)
        )

    @cached_property
    def abouts(self) -> frozenset[_Grouped]:
        """The numbers of the text that say of themselves that they are rounded."""
        return frozenset((group, value) for group, value, fact in self._grouped() if self.is_about(fact))

    def _grouped(self) -> Iterator[tuple[Hashable, Magnitude, Fact]]:
        for kind in _MEASURED:
            for fact in self.by_kind[kind]:
                if isinstance(fact.near, Near) and isinstance(fact.key, tuple):
                    yield (kind, fact.key[0] if fact.near.is_unit else None), fact.key[1], fact

    @cached_property
    def percents(self) -> frozenset[Fraction]:
        keys = (fact.key for fact in self.by_kind["percent"])
        return frozenset(
            Fraction(key[1]) for key in keys if isinstance(key, tuple) and not isinstance(key[1], str)
        )

    @cached_property
    def shares(self) -> frozenset[Fraction]:
        """Parts of one that are said, in percent."""
        keys = (fact.key for fact in self.by_kind["number"] if isinstance(fact.key, tuple))
        said = (key for key in keys if key[0] == "share")
        return frozenset(
            Fraction(100 * over, under) for _, over, under in said if isinstance(over, int) and under
        )

    @cached_property
    def versions(self) -> frozenset[str]:
        """Those of the text, and all of its numbers with points in them, without zeros at their ends."""
        said = {str(fact.key) for fact in self.by_kind["version"]}
        return frozenset(_ZEROS.sub("", each) for each in said | set(_DOTTED.findall(self.lower)))

    @cached_property
    def named_numbers(self) -> frozenset[Magnitude]:
        """The numbers that are a year or a version."""
        versions = (str(fact.key) for fact in self.by_kind["version"])
        found = {number_value(each) for each in versions if _PLAIN.fullmatch(each)}
        return frozenset(found | {day.year for day in self.days if day.year is not None})

    @cached_property
    def days(self) -> list[Day]:
        """The dates of the text; one with strokes (03/05/2025) is two, if it may be."""
        days = []
        for fact in self.by_kind["date"]:
            if isinstance(fact.key, Day):
                days.append(fact.key)
                if "/" in self.plain[fact.start : fact.end] and (turned := _turned(fact.key)):
                    days.append(turned)
        return days

    @cached_property
    def by_day(self) -> dict[tuple[int | None, object], list[Day]]:
        """The dates by month and day."""
        found: dict[tuple[int | None, object], list[Day]] = defaultdict(list)
        for day in self.days:
            if day.day is not None:
                found[day.month, day.day].append(day)
        return found

    @cached_property
    def days_by_part(self) -> dict[Day, list[Day]]:
        """The dates by what may be asked of them but a day: a month, a weekday, a quarter, a year."""
        found: dict[Day, list[Day]] = defaultdict(list)
        for day in self.days:
            for part in _parts_of(day):
                found[part].append(day)
        return found

    @cached_property
    def by_half_day(self) -> dict[int, list[Clock]]:
        found: dict[int, list[Clock]] = defaultdict(list)
        for fact in self.by_kind["time"]:
            if isinstance(fact.key, Clock):
                found[fact.key.second % _HALF_DAY].append(fact.key)
        return found

    @cached_property
    def numbers(self) -> frozenset[Magnitude]:
        """The numbers of the text in whatever numerals, with or without what multiplies them, but for those
        that are of a date, a time or a version, and short ones inside a word."""
        found: set[Magnitude] = set()
        lower = self.lower
        busy = bytearray(len(lower))
        for kind in ("date", "time", "version"):
            for fact in self.by_kind[kind]:
                busy[fact.start : fact.end] = b"\1" * (fact.end - fact.start)
        for match in _ANY_NUMBER.finditer(lower):
            start, end = match.span()
            is_inside = end - start < 3 and start > 0 and lower[start - 1] in _INSIDE
            is_inside = is_inside and not lower.startswith(_BOUNDS, start - 6)
            if not busy[start] and not is_inside:
                value = number_value(match[0])
                found.add(value)
                found.update(each.magnitude for each in measures(self.plain, lower, start, end, value))
        for match in forms.ANY_NUMBER_WORD.finditer(lower):
            if said := words_value(lower, match.start()):
                found.add(said[0])
        found.update(forms.NUMBER_WORDS[word] for word in _NUMBER_WORDS.findall(lower))
        if not lower.isascii():
            for match in forms.ANY_HAN.finditer(lower):
                if not busy[match.start()] and (number := han_value(match[0])) is not None:
                    found.add(number)
        return frozenset(found)

    @cached_property
    def _signed(self) -> frozenset[str]:
        """What is spelt with digits and signs between them, wherever it stands: in a path, too."""
        return frozenset(_SIGNED.findall(self.lower))

    @cached_property
    def _sizes(self) -> frozenset[str]:
        return frozenset(_SIZE.sub("x", each) for each in _SIZED.findall(self.lower))

    def _has(self, form: re.Pattern[str]) -> bool:
        found = self._searched.get(form)
        if found is None:
            found = self._searched[form] = form.search(self.lower) is not None
        return found


_NUMBER_WORDS = re.compile(rf"(?<![a-z])(?:{'|'.join(forms.NUMBER_WORDS)})(?![a-z])")
_SIZED = re.compile(r"[0-9]{2,5} ?[x×*] ?[0-9]{2,5}")
_SIZE = re.compile(" ?[x×*] ?")


def _parts_of(day: Day) -> Iterator[Day]:
    """What may be asked without a day of a month that this date holds."""
    if day.month is not None:
        yield Day(month=day.month)
        yield Day(quarter=(day.month + 2) // 3)
    if day.quarter is not None:
        yield Day(quarter=day.quarter)
    if day.year is not None:
        yield Day()
    for weekday in range(7):
        if holds(day, Day(weekday=weekday)) and (day.weekday is None or day.weekday == weekday):
            yield Day(weekday=weekday)


def _turned(day: Day) -> Day | None:
    """The other date that 03/05/2025 may be."""
    if day.month is None or day.day is None or day.day > 12:
        return None
    return day._replace(month=day.day, day=day.month)


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
