"""The values of a text by what may be asked of them: their number, their unit, their day, their hour.

Laws:
- Each index is made where it is first asked for, in time linear in the text and its facts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterator
from fractions import Fraction
from functools import cached_property

from castore.summary.fidelity.model import Fact, Facts
from castore.summary.fidelity.values import forms
from castore.summary.fidelity.values.dates import Clock, Day, holds
from castore.summary.fidelity.values.measures import Near, measures
from castore.summary.fidelity.values.numerals import NUMBER, Magnitude, han_value, number_value, words_value

__all__ = ["HALF_DAY", "ValueIndex", "turned", "without_zeros"]

HALF_DAY = 43200
_MEASURED = ("number", "money", "percent", "duration")
_KINDS = (*_MEASURED, "date", "time", "version")
_ANY_NUMBER = re.compile(rf"(?<![0-9]){NUMBER}")
_INSIDE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_./-")
_BOUNDS = ("under-", " over-", "above-", "below-")
_SIGNED = re.compile(r"[0-9]{1,20}(?:[.:/-][0-9]{1,20}){1,8}")
_DOTTED = re.compile(r"[0-9]{1,20}(?:\.[0-9]{1,20}){0,8}")
_PLAIN = re.compile(r"[0-9]{1,20}(?:\.[0-9]{1,20})?")
_ZEROS = re.compile(r"(?:\.(?:0+|x))+$")
_NUMBER_WORDS = re.compile(rf"(?<![a-z])(?:{'|'.join(forms.NUMBER_WORDS)})(?![a-z])")
_SIZED = re.compile(r"[0-9]{2,5} ?[x×*] ?[0-9]{2,5}")
_SIZE = re.compile(" ?[x×*] ?")
_Grouped = tuple[Hashable, Magnitude]


class ValueIndex:
    """The values of one text. by_kind: its facts of each kind."""

    def __init__(self, facts: Facts) -> None:
        self.plain = facts.text.plain
        self.lower = facts.text.lower
        self.by_kind = {kind: list(facts.of(kind).values()) for kind in _KINDS}
        self._searched: dict[re.Pattern[str], bool] = {}

    def is_about(self, fact: Fact) -> bool:
        """Whether a fact of this text says of itself that it is rounded."""
        return forms.is_about(self.lower, fact)

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
        return frozenset(without_zeros(each) for each in said | set(_DOTTED.findall(self.lower)))

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
                if "/" in self.plain[fact.start : fact.end] and (other := turned(fact.key)):
                    days.append(other)
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
                found[fact.key.second % HALF_DAY].append(fact.key)
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
    def signed(self) -> frozenset[str]:
        """What is spelt with digits and signs between them, wherever it stands: in a path, too."""
        return frozenset(_SIGNED.findall(self.lower))

    @cached_property
    def sizes(self) -> frozenset[str]:
        return frozenset(_SIZE.sub("x", each) for each in _SIZED.findall(self.lower))

    def has(self, form: re.Pattern[str]) -> bool:
        found = self._searched.get(form)
        if found is None:
            found = self._searched[form] = form.search(self.lower) is not None
        return found


def without_zeros(version: str) -> str:
    """1.2 of 1.2.0 and 1.2.x."""
    return _ZEROS.sub("", version)


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


def turned(day: Day) -> Day | None:
    """The other date that 03/05/2025 may be."""
    if day.month is None or day.day is None or day.day > 12:
        return None
    return day._replace(month=day.day, day=day.month)
