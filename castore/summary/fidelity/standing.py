"""Standing: all values that a text says in any form, to ask whether it says one, and what it says instead.

It is made only where values were not kept by their key, and once for each text.
"""

from __future__ import annotations

import re
from decimal import Context, Decimal
from functools import cached_property
from weakref import WeakKeyDictionary

from castore.summary.fidelity.dates import Clock, Day, holds, same_time
from castore.summary.fidelity.measures import Near, measures
from castore.summary.fidelity.model import Fact, Facts
from castore.summary.fidelity.numerals import (
    HAN_DIGITS,
    NUMBER,
    Magnitude,
    han_value,
    number_value,
    words_value,
)
from castore.summary.fidelity.sentences import sentence_around
from castore.summary.fidelity.terms import shared, terms

__all__ = ["Standing", "standing_of"]

_KINDS = ("number", "money", "percent", "duration")
_ANY_NUMBER = re.compile(rf"(?<![0-9]){NUMBER}")
_ANY_WORD = re.compile(
    r"(?<![a-z])(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirt|fift|twent|fort|an? )"
)
_SAID: dict[str, Magnitude] = {
    **dict.fromkeys(str.split("no none zero without"), 0),
    **dict.fromkeys(str.split("once single a an daily weekly monthly yearly annual annually hourly each"), 1),
    **dict.fromkeys(str.split("twice both couple pair double doubled doubles two-fold"), 2),
    **dict.fromkeys(str.split("triple tripled thrice"), 3),
    "dozen": 12,
}
_WORDS_OF_NUMBER = re.compile(rf"(?<![a-z])(?:{'|'.join(_SAID)})(?![a-z])")
_PERCENTS: dict[str, Magnitude] = {
    **dict.fromkeys(str.split("half halve 一半 半数 对半"), 50),
    **dict.fromkeys(str.split("quarter 四分之一"), 25),
    **dict.fromkeys(str.split("fifth 五分之一"), 20),
    **dict.fromkeys(str.split("tenth 十分之一"), 10),
    **dict.fromkeys(str.split("full all whole entire double 全 翻倍 翻番"), 100),
}
_UNDER: dict[object, tuple[str, ...]] = {
    2: ("half", "halves", "一半", "半数"),
    3: ("third", "三分之"),
    4: ("quarter", "四分之"),
    5: ("fifth", "五分之"),
    10: ("tenth", "十分之", "一成"),
}
_NAMES = {
    ("second", 3600): ("hour", "hourly", "一个?小时|每小时", "一个?小时"),
    ("second", 86400): ("day", "daily", "一天|一日|每天|每日", "一天"),
    ("second", 604800): ("week", "weekly", "一周|一个?星期|每周", "一周|一个?星期"),
    ("month", 1): ("month", "monthly", "一个月|每个?月", "一个月"),
    ("month", 3): ("quarter", "quarterly", "一个?季度|每季", "一个?季度"),
    ("month", 12): ("year", "yearly|annual|annually", "一年|每年|全年", "一年"),
}
_OFTEN: dict[tuple[object, ...], re.Pattern[str]] = {
    key: re.compile(rf"(?<![a-z])(?:(?:an?|one|per|each|every)[ -]{name}|{often})(?![a-z])|{han}")
    for key, (name, often, han, _) in _NAMES.items()
}
"""What says one of a unit without a number, or how often."""
_ONCE: dict[tuple[object, ...], re.Pattern[str]] = {
    key: re.compile(
        rf"(?<![a-z])(?:(?:one|(?:within|after|for|in|lasts|takes) an?)[ -]{name})(?![a-z])|{han}"
    )
    for key, (name, _, _, han) in _NAMES.items()
}
"""What says one of a unit, and not how often."""
_ABOUT_BEFORE = re.compile(
    r"(?:about|around|roughly|approximately|approx\.?|some|nearly|almost|over|more than|circa|ca\.)"
    r"(?: a)? ?[$€£¥]?$"
    r"|[~≈约近逾][$€£¥ ]?$|(?:大约|接近|将近|(?<!不)超过)[$€£¥ ]?$"
)
_ABOUT_IN = re.compile(r"illion|(?<=[0-9.])(?:k|m|b|bn|mn)(?![a-z])|[万亿余多]|左右")
_ROUNDED_MAX = 200
_ROUNDED_BY_MAX = Decimal("0.03")
_WEEKEND = re.compile("(?<![a-z])weekends?(?![a-z])|周末|双休日")
_WEEKDAYS = re.compile("(?<![a-z])(?:weekdays?|work(?:ing)? ?days)(?![a-z])|工作日")
_HAN = re.compile(f"[{HAN_DIGITS}]{{1,12}}")
_INSIDE = "abcdefghijklmnopqrstuvwxyz0123456789_./-"
_KEPT: WeakKeyDictionary[Facts, Standing] = WeakKeyDictionary()


def standing_of(facts: Facts) -> Standing:
    """That of these facts, made once."""
    standing = _KEPT.get(facts)
    if standing is None:
        standing = _KEPT[facts] = Standing(facts.text.plain, facts.text.lower, facts)
    return standing


class Standing:
    """What a text says, by value."""

    def __init__(self, plain: str, lower: str, facts: Facts) -> None:
        self.plain = plain
        self.lower = lower
        self.by_kind = {kind: list(facts.of(kind).values()) for kind in (*_KINDS, "date", "time", "version")}
        self._terms: dict[int, frozenset[str]] = {}

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
            if busy[start] or (end - start < 3 and lower[start - 1 : start] in _INSIDE and start):
                continue
            value = number_value(match[0])
            found.add(value)
            found.update(each.magnitude for each in measures(self.plain, lower, start, end, value))
        for match in _ANY_WORD.finditer(lower):
            if said := words_value(lower, match.start()):
                found.add(said[0])
        found.update(_SAID[word] for word in _WORDS_OF_NUMBER.findall(lower))
        if not lower.isascii():
            for match in _HAN.finditer(lower):
                if not busy[match.start()] and (number := han_value(match[0])) is not None:
                    found.add(number)
        return frozenset(found)

    @cached_property
    def by_magnitude(self) -> dict[Magnitude, list[Fact]]:
        found: dict[Magnitude, list[Fact]] = {}
        for kind in _KINDS:
            for fact in self.by_kind[kind]:
                if isinstance(fact.near, Near):
                    found.setdefault(fact.near.magnitude, []).append(fact)
        return found

    @cached_property
    def by_value(self) -> dict[tuple[object, ...], list[Fact]]:
        found: dict[tuple[object, ...], list[Fact]] = {}
        for kind in _KINDS:
            for fact in self.by_kind[kind]:
                if isinstance(fact.key, tuple):
                    found.setdefault(fact.key[:2], []).append(fact)
        return found

    def says(self, fact: Fact, words: str, is_about: bool = False) -> int:
        """Whether this text says the value of a fact of another text: 2, it does; 1, there is such a number,
        of something else or of nothing that is told; 0, in no form. words: as it is spelt there. is_about:
        that text says that it is rounded."""
        if isinstance(fact.key, Day):
            return 2 * self._says_day(fact.key, words)
        if isinstance(fact.key, Clock):
            return 2 * self._says_time(fact.key, words)
        if fact.kind == "version":
            return 2 * self._says_version(str(fact.key))
        if isinstance(fact.near, Near):
            grade = self._says_measure(fact, fact.near)
            return grade if grade == 2 else max(grade, 2 * self._says_rounded(fact, fact.near, is_about))
        return 2 * self._says_share(fact, words)

    def _says_measure(self, fact: Fact, near: Near) -> int:
        assert isinstance(fact.key, tuple)
        if same := self.by_value.get(fact.key[:2]):
            return 2 * any(_same_rate(near, each.near) for each in same)
        if fact.kind == "percent" and self._says_percent(near.magnitude):
            return 2
        if near.unit == "day" and isinstance(near.magnitude, int):
            day = Day(day=near.magnitude)
            if any(each.key == day for each in self.by_kind["date"]):
                return 2
        if self._says_one(fact.key[:2], near) or (fact.kind == "number" and self._says_name(near)):
            return 2
        grade = 0
        for each in self.by_magnitude.get(near.magnitude, ()):
            if isinstance(each.near, Near) and _same_rate(near, each.near):
                if each.near.unit is None or near.unit is None:
                    return 2
                if not (near.is_unit and each.near.is_unit):
                    grade = 1
        if grade == 0 and near.magnitude not in self.by_magnitude and near.magnitude in self.numbers:
            grade = 1
        return grade

    def _says_rounded(self, fact: Fact, near: Near, is_about: bool) -> bool:
        """Whether one of the two is the other, rounded, and its text says so."""
        value = fact.key[1] if isinstance(fact.key, tuple) else None
        for each in self.by_kind[fact.kind][:_ROUNDED_MAX]:
            other = each.key[1] if isinstance(each.key, tuple) else None
            if not isinstance(each.near, Near) or each.near.is_unit != near.is_unit:
                continue
            if (
                near.is_unit
                and isinstance(each.key, tuple)
                and isinstance(fact.key, tuple)
                and each.key[0] != fact.key[0]
            ):
                continue
            if is_about and _is_rounded(other, value):
                return True
            if _is_rounded(value, other) and self.is_about(each):
                return True
        return fact.key[0] == "byte" and self._says_bytes(value) if isinstance(fact.key, tuple) else False

    def _says_bytes(self, value: object) -> bool:
        """Whether it says so many bytes with units of 1024 instead of 1000: 2048 MB are 2 GB."""
        said = [
            each.key[1]
            for each in self.by_kind["number"]
            if isinstance(each.key, tuple) and each.key[0] == "byte"
        ]
        ratios = [float(value) / float(each) for each in said if each and not isinstance(each, str)]  # type: ignore[arg-type]
        return any(abs(ratio / 1.024**power - 1) < 1e-6 for ratio in ratios for power in range(-4, 5))

    def is_about(self, fact: Fact) -> bool:
        """Whether the number says of itself that it is rounded."""
        before, words = (
            self.lower[max(0, fact.start - 16) : fact.start],
            self.lower[fact.start : fact.end + 3],
        )
        return _ABOUT_BEFORE.search(before) is not None or _ABOUT_IN.search(words) is not None

    def _says_one(self, key: tuple[object, ...], near: Near) -> bool:
        """Whether it says a duration of one unit without a number: monthly, for a year, 一年."""
        said = (_OFTEN if near.magnitude == 1 else _ONCE).get(key)
        return said is not None and said.search(self.lower) is not None

    def _says_name(self, near: Near) -> bool:
        """Whether a bare number is a year or a version here."""
        if near.is_unit:
            return False
        if any(_is_same_number(str(each.key), near.magnitude) for each in self.by_kind["version"]):
            return True
        return any(
            isinstance(each.key, Day) and each.key.year == near.magnitude for each in self.by_kind["date"]
        )

    def _says_percent(self, magnitude: Magnitude) -> bool:
        words = (word for word, value in _PERCENTS.items() if value == magnitude)
        if any(re.search(rf"(?<![a-z]){word}s?(?![a-z])", self.lower) for word in words):
            return True
        shares = (each.key for each in self.by_kind["number"] if isinstance(each.key, tuple))
        return any(key[0] == "share" and key[1] * 100 == magnitude * key[2] for key in shares)

    def _says_share(self, fact: Fact, words: str) -> bool:
        if re.sub(r"\s", "", words.lower()) in self._dense:
            return True
        if not isinstance(fact.key, tuple) or fact.key[0] != "share":
            return False
        _, over, under = fact.key
        percents = (each.key[1] for each in self.by_kind["percent"] if isinstance(each.key, tuple))
        if any(over * 100 == each * under for each in percents):
            return True
        if over in self.numbers and (under in self.numbers or (over == 1 and under == 2)):
            return True
        return any(re.search(rf"(?<![a-z]){word}", self.lower) for word in _UNDER.get(under, ()))

    @cached_property
    def _dense(self) -> str:
        return "".join(self.lower.split())

    def _says_day(self, day: Day, words: str) -> bool:
        if any(holds(each, day) for each in self.days):
            return True
        if "/" in words and day.month and day.day and day.day <= 12:
            # 03/05/2025 is either of two days.
            turned = day._replace(month=day.day, day=day.month)
            if any(holds(each, turned) for each in self.days):
                return True
        if day.weekday is not None and day == Day(weekday=day.weekday):
            pattern = _WEEKEND if day.weekday > 4 else _WEEKDAYS
            if pattern.search(self.lower):
                return True
        if day.day is not None and day == Day(day=day.day):
            return any(
                isinstance(each.near, Near) and each.near[:2] == ("day", day.day)
                for each in self.by_kind["duration"]
            )
        if day.month is None and day.quarter is None and day.year is not None:
            return day.year in self.numbers
        return "".join(words.lower().split()) in self._dense

    @cached_property
    def days(self) -> list[Day]:
        """The dates of the text; one with strokes is two, if it may be."""
        days = []
        for each in self.by_kind["date"]:
            if isinstance(each.key, Day):
                days.append(each.key)
                day, month = each.key.day, each.key.month
                if "/" in self.plain[each.start : each.end] and day and month and day <= 12:
                    days.append(each.key._replace(month=day, day=month))
        return days

    def _says_time(self, clock: Clock, words: str) -> bool:
        if any(same_time(clock, each.key) for each in self.by_kind["time"] if isinstance(each.key, Clock)):
            return True
        return len(words) > 3 and "".join(words.lower().split()) in self._dense

    def _says_version(self, version: str) -> bool:
        bare = re.sub(r"(?:\.0)+$", "", version)
        pattern = rf"(?<![0-9.]){re.escape(bare)}(?:\.0|\.x)*(?![0-9]|\.[0-9])"
        return re.search(pattern, self.lower) is not None

    def is_count(self, fact: Fact) -> bool:
        """Whether a few things are counted in words, as a summary does that names them after."""
        near = fact.near
        if not isinstance(near, Near) or near.is_unit or near.magnitude not in (2, 3, 4, 5):
            return False
        return not self.plain[fact.start].isdecimal()

    def is_same_unit(self, fact: Fact, other: Fact) -> bool:
        """Whether both have one unit, or count one noun."""
        one, two = fact.near, other.near
        return (
            isinstance(one, Near) and isinstance(two, Near) and one.unit is not None and one.unit == two.unit
        )

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


def _is_rounded(exact: object, rounded: object) -> bool:
    """Whether one number is the other with fewer digits that say something."""
    if (
        isinstance(exact, str)
        or not isinstance(exact, int | Decimal)
        or not isinstance(rounded, int | Decimal)
    ):
        return False
    digits = len(Decimal(rounded).normalize(_CONTEXT).as_tuple().digits)
    if digits >= len(Decimal(exact).normalize(_CONTEXT).as_tuple().digits):
        return False
    near = abs(Decimal(exact) - Decimal(rounded)) <= abs(Decimal(exact)) * _ROUNDED_BY_MAX
    return near and Context(prec=digits, traps=[]).create_decimal(exact) == rounded


def _is_same_number(version: str, magnitude: Magnitude) -> bool:
    return _PLAIN_NUMBER.fullmatch(version) is not None and number_value(version) == magnitude


_CONTEXT = Context(prec=40, traps=[])
_PLAIN_NUMBER = re.compile(r"[0-9]{1,20}(?:\.[0-9]{1,20})?")


def _same_unit(one: Near, other: object) -> bool:
    """Whether a number is not contradicted by the other's unit: a noun is no unit, and may be left out."""
    return isinstance(other, Near) and not (one.is_unit and other.is_unit and one.unit != other.unit)


def _same_rate(one: Near, other: object) -> bool:
    return isinstance(other, Near) and (one.rate is None or other.rate is None or one.rate == other.rate)


def _parts_in_common(one: object, other: object) -> float:
    if isinstance(one, Day) and isinstance(other, Day):
        return 0.2 * sum(a == b for a, b in zip(one, other, strict=True) if a is not None)
    return 0.0
