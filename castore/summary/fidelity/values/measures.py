"""Measures: a number with what stands around it, which says what it is a number of.

    $1.2 million  120万美元  10-20 days  5 business days  100 requests per minute  500条记录  1h30m

Laws:
- The unit may stand behind (days, 元) or before (a sign or a code of money), with a space, a hyphen or
  nothing between. Both numbers of a range have its unit.
- Time is constant for each number: what is looked at around it is bounded.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

from castore.summary.fidelity.model import Fact
from castore.summary.fidelity.values.numerals import Magnitude, number_at, times
from castore.summary.fidelity.values.units import (
    CAPITALS,
    CURRENCY_SIGNS,
    SCALES,
    UNITS,
    Unit,
    noun,
    unit_of_han,
)

__all__ = ["PEOPLE", "Measure", "Near", "measures"]


class Near(NamedTuple):
    """unit: its name, or the noun that is counted; None if neither is said. magnitude: as spelt, with its
    thousands and millions. is_unit: the unit is one of the table. rate: per what."""

    unit: str | None
    magnitude: Magnitude
    is_unit: bool = False
    rate: str | None = None


class Measure(NamedTuple):
    start: int
    end: int
    magnitude: Magnitude
    unit: Unit | None
    noun: str | None = None
    rate: str | None = None

    @property
    def kind(self) -> str:
        return self.unit.kind if self.unit else "number"

    def fact(self) -> Fact:
        if self.unit is None:
            near = Near(self.noun, self.magnitude, False, self.rate)
            return Fact("number", self.start, self.end, (self.noun, self.magnitude, self.rate), near)
        kind, dimension, factor, name = self.unit
        near = Near(name, self.magnitude, True, self.rate)
        return Fact(kind, self.start, self.end, (dimension, times(self.magnitude, factor), self.rate), near)


_TAIL = re.compile(
    "(?P<gap> | ?-(?=[a-z]))?"
    "(?:(?P<word>[a-z]{1,24}+)|(?P<sign>[%‰℃℉×€£¥$]|°[cf]?)|(?P<han>[\u4e00-\u9fff]{1,8}))"
)
_JOIN = re.compile(r" ?(?:-|~|—|to|or|and|至|到|或)(?: ?[$€£¥])? ?")
_NO_RANGE = re.compile(r"[0-9:/-]|\.[0-9]")
_RATE = re.compile(
    r" ?/ ?([a-z]+|秒|分钟|小时|天|日|周|月|年|人|次)|[ -]per[ -]([a-z]+)|,? (?:each|every|an?) "
    r"(second|minute|hour|day|week|month|quarter|year)(?![a-z])"
    r"| (hourly|daily|weekly|monthly|quarterly|yearly|annually)(?![a-z])"
)
PEOPLE = frozenset(("people", "men", "women", "children", "staff"))
"""Plurals that have an ending of their own."""
_HAN_RATE = re.compile("每个?(秒|分钟|小时|天|日|周|月|年)[^0-9，。；\n]{0,6}$")
_PREFIXES = {"us$": "USD", "hk$": "HKD", "a$": "AUD", "c$": "CAD", "s$": "SGD", "nt$": "TWD"}
_CURRENCIES = {unit.name: unit for unit in UNITS.values() if unit.kind == "money" and unit.factor == 1}
_CODES = {name.lower(): name for name in _CURRENCIES} | {"rmb": "CNY"}
_SHARERS = frozenset(
    str.split("user person seat host node request token call item order customer head 人 次")
)
_WORKING = frozenset(["business", "work", "working", "trading", "banking"])
_NO_NOUN = frozenset(
    str.split(
        "a an the and or but of to in on at by for from with as is are was were be been if unless except "
        "until than then that this these those which who when where while per each every it we you they "
        "he she i so not no can could will would shall should may might must do does did has have had "
        "into onto over under about after before between within without up out off only also just both "
        "more less most least fewer via plus minus vs instead because since though although however "
        "either neither nor any all some such there here total"
    )
)
_HAN_SCALES = {
    "万": 10**4,
    "亿": 10**8,
    "千": 1000,
    "百": 100,
    "百万": 10**6,
    "千万": 10**7,
    "十万": 10**5,
    "万亿": 10**12,
}
_HAN_CLASSIFIERS = "个名位台份件条家笔张项只次人种款辆艘套组批架段句页章节轮行列座处所户门"
_TENTHS = re.compile("成(?![为功立员本长熟果就分交绩都年败品语效千百人])|折(?![叠扣返腾旧中])")
_HAN_AGE = re.compile("周?岁")
_HAN_NO_NOUN = re.compile("[的了是在和与及或以之内后前起至到均都，。]")


def measures(text: str, lower: str, start: int, end: int, value: Magnitude) -> list[Measure]:
    """What the number that stands here is a number of, with what follows it in a range or a sum."""
    first = measure(text, lower, start, end, value)
    if (
        first.rate is None
        and ((first.unit is None and first.noun is None) or _is_sign_first(lower, first))
        and (join := _JOIN.match(lower, first.end))
    ):
        begin = join.end()
        other = number_at(lower, begin)
        if other is not None and not _NO_RANGE.match(lower, other[1]):
            scale, until = other
            second = measure(text, lower, begin, until, scale)
            if first.unit is not None:
                return [_like(first, second, scale), second._replace(unit=first.unit)]
            if second.unit or second.noun or second.magnitude != scale:
                return [_like(first, second, scale), second]
    if first.unit is not None and first.unit.kind == "duration":
        return [_sum(text, lower, first)]
    return [first]


def _is_sign_first(lower: str, found: Measure) -> bool:
    """Whether money has its sign before the number, and what follows may be the end of its range."""
    return found.unit is not None and found.unit.kind == "money" and not lower[found.start].isdecimal()


def _like(first: Measure, second: Measure, scale: Magnitude) -> Measure:
    """The first number of a range, with the unit and the thousands of the second."""
    magnitude = first.magnitude
    if isinstance(scale, int | Decimal) and isinstance(second.magnitude, int | Decimal) and scale:
        factor = Decimal(second.magnitude) / Decimal(scale)
        if factor > 1 and first.magnitude is not None and first.end - first.start <= 6:
            magnitude = times(first.magnitude, factor)
    unit = first.unit or second.unit
    return first._replace(magnitude=magnitude, unit=unit, noun=second.noun, rate=second.rate)


def measure(text: str, lower: str, start: int, end: int, value: Magnitude) -> Measure:
    """The number of this value, in whatever numerals, with its unit or noun."""
    currency = None
    if start:
        last = lower[start - 1]
        if last == " " and start > 1:
            last = lower[start - 2]
        if last in _LAST_OF_MONEY:
            currency, start = _money_before(lower, start)
        elif last == "之" and (unit := _HUNDREDTHS.get(lower[max(0, start - 3) : start])):
            return Measure(start - 3, end, value, unit)
    tail = _TAIL.match(lower, end)
    if tail is not None and (tail["word"] in SCALES or tail["han"]):
        value, end, tail = _scaled(text, lower, value, end, tail, currency is not None)
    if currency is not None:
        if (
            tail is not None
            and (unit := UNITS.get(tail["word"] or "") or _han_unit(tail))
            and unit.kind == "money"
        ):
            end = tail.end()
            currency = currency if unit.name == currency.name or unit.factor != 1 else unit
        return _rated(lower, Measure(start, end, value, currency))
    if tail is None:
        return _rated(lower, Measure(start, end, value, None))
    if tail["han"]:
        return _of_han(lower, start, end, value, tail)
    if tail["sign"]:
        if unit := UNITS.get(tail["sign"]):
            return _rated(lower, Measure(start, tail.end(), value, unit))
        if name := CURRENCY_SIGNS.get(tail["sign"]):
            return _rated(lower, Measure(start, tail.end(), value, _CURRENCIES[name]))
        return Measure(start, end, value, None)
    return _rated(lower, _of_word(text, lower, start, end, value, tail))


_HUNDREDTHS = {"百分之": UNITS["%"], "千分之": UNITS["‰"], "万分之": UNITS["bp"]}
_LAST_OF_MONEY = frozenset("$€£¥₹₩dbyrpwf")


def _money_before(lower: str, start: int) -> tuple[Unit | None, int]:
    """The currency whose sign or code stands before a number, and where that begins."""
    at = start - (lower[start - 1] == " ")
    if name := CURRENCY_SIGNS.get(lower[at - 1]):
        for prefix, its in _PREFIXES.items():
            begin = at - len(prefix)
            if lower.startswith(prefix, max(0, begin)) and not lower[begin - 1 : begin].isalpha():
                return _CURRENCIES[its], begin
        return _CURRENCIES[name], at - 1
    if (name := _CODES.get(lower[at - 3 : at])) and not lower[at - 4 : at - 3].isalpha():
        return _CURRENCIES[name], at - 3
    return None, start


def _scaled(
    text: str, lower: str, value: Magnitude, end: int, tail: re.Match[str], is_money: bool
) -> tuple[Magnitude, int, re.Match[str] | None]:
    """The value times the thousands or millions that follow it, and what comes then."""
    word, han = tail["word"], tail["han"]
    if word and word in SCALES:
        at = tail.start("word")
        is_letter = len(word) == 1
        if is_letter and (tail["gap"] or (word != "k" and text[at] == word and not is_money)):
            return value, end, tail
        value, end = times(value, SCALES[word]), tail.end()
        return value, end, _TAIL.match(lower, end)
    if han and han[0] in "万亿千百十" and not unit_of_han(han):
        length = 2 if len(han) > 1 and han[:2] in _HAN_SCALES else 1
        if han[:length] in _HAN_SCALES:
            value, end = times(value, _HAN_SCALES[han[:length]]), tail.start("han") + length
            return value, end, _TAIL.match(lower, end)
    return value, end, tail


def _han_unit(tail: re.Match[str]) -> Unit | None:
    found = unit_of_han(tail["han"]) if tail["han"] else None
    return found[0] if found else None


def _of_word(text: str, lower: str, start: int, end: int, value: Magnitude, tail: re.Match[str]) -> Measure:
    word, at = tail["word"], tail.start("word")
    unit = UNITS.get(word)
    if word == "m" and _SECONDS.match(lower, tail.end()):
        unit = UNITS["min"]
    if len(word) == 1 and text[at] != word:
        unit = CAPITALS.get(text[at])
    is_adjective = word in _WORKING or (unit is None and word not in _NO_NOUN)
    if is_adjective and (found := _second_word(lower, tail.end(), word)):
        return Measure(start, found[1], value, found[0])
    if two := _IN_TWO_WORDS.match(lower, at):
        return Measure(start, two.end(), value, UNITS["bp" if two[0].startswith("basis") else "%"])
    if word in ("us", "hong", "canadian", "australian", "singapore") and " dollar" in lower[at : at + 24]:
        until = lower.index(" dollar", at) + 7
        until += lower.startswith("s", until)
        code = {"us": "USD", "hong": "HKD", "canadian": "CAD", "australian": "AUD", "singapore": "SGD"}[word]
        return Measure(start, until, value, _CURRENCIES[code])
    if unit is not None:
        return Measure(start, tail.end(), value, unit)
    if word in _NO_NOUN or (tail["gap"] is None and len(word) > 0 and word in ("st", "nd", "rd", "th")):
        return Measure(start, end, value, None)
    is_plural, until = word.endswith("s") or word in PEOPLE, tail.end()
    if not is_plural and (following := _PLURAL.match(lower, until)) and following[1] not in _NO_PLURAL:
        return Measure(start, following.end(), value, None, noun(following[1]))
    return Measure(start, until if is_plural and tail["gap"] else end, value, None, noun(word))


_IN_TWO_WORDS = re.compile(r"(?:per cent|(?:percentage|basis)[ -]points?)(?![a-z])")
_SECONDS = re.compile(r" ?[0-9]{1,2} ?s(?:ec)?(?![a-z])")
_PLURAL = re.compile(r"[ -]([a-z]{3,16}s)(?![a-z'])(?<!ss)")
_NO_PLURAL = frozenset(
    str.split("this its was has does his hers yours always towards besides perhaps unless")
)
_NEXT_WORD = re.compile(r"[ -]([a-z]{1,16}+)")


def _second_word(lower: str, end: int, word: str) -> tuple[Unit, int] | None:
    """The unit of time behind an adjective: business days, consecutive hours."""
    following = _NEXT_WORD.match(lower, end)
    unit = UNITS.get(following[1]) if following else None
    if following is None or unit is None or unit.kind != "duration" or len(following[1]) < 3:
        return None
    if word in _WORKING:
        return (UNITS["工作日"], following.end()) if unit.name == "day" else None
    return (unit, following.end()) if following[1].endswith("s") else None


def _of_han(lower: str, start: int, end: int, value: Magnitude, tail: re.Match[str]) -> Measure:
    words, at = tail["han"], tail.start("han")
    if words.startswith("个半月"):
        return Measure(start, at + 3, _plus_half(value), UNITS["个月"])
    if words.startswith("个半") and (found := unit_of_han(words[2:])):
        return Measure(start, at + 2 + found[1], _plus_half(value), found[0])
    if age := _HAN_AGE.match(words):
        return Measure(start, at + age.end(), value, None, "岁")
    rate = None
    if before := _HAN_RATE.search(lower, max(0, start - 12), start):
        rate, start = "month" if before[1] == "月" else UNITS[before[1]].name, before.start()
    if (tenths := _TENTHS.match(words)) and isinstance(value, int) and (value <= 10 or words[0] == "折"):
        percent = value * 10 if words[0] == "成" else 100 - (value * 10 if value < 10 else value)
        return Measure(start, at + tenths.end(), percent, UNITS["%"])
    if found := unit_of_han(words):
        unit, length = found
        return _rated(lower, Measure(start, at + length, value, unit, None, rate))
    said = words[1:] if words[0] in _HAN_CLASSIFIERS else words
    if stop := _HAN_NO_NOUN.search(said):
        said = said[: stop.start()]
    is_classified = words[0] in _HAN_CLASSIFIERS
    counted = said[:2] or (words[0] if is_classified else None)
    return _rated(lower, Measure(start, at + 1 if is_classified else end, value, None, counted, rate))


_OFTEN = {
    "hourly": "hour",
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
    "quarterly": "quarters",
    "yearly": "year",
    "annually": "year",
}


def _rated(lower: str, found: Measure) -> Measure:
    """With what it is per, if that is said."""
    match = _RATE.match(lower, found.end)
    if match is None:
        return found
    word = match[1] or match[2] or match[3] or _OFTEN[match[4]]
    if word == "月":
        return found._replace(rate="month", end=match.end())
    unit = UNITS.get(word)
    if unit is not None and unit.kind == "duration":
        return found._replace(rate=unit.name, end=match.end())
    if match[1] and noun(word) not in _SHARERS:
        return found
    return found._replace(rate=noun(word), end=match.end())


_MORE = re.compile(r",? ?(?:and )?(?=[0-9a-z]|[\u4e00-\u9fff])")
_HALF_MORE = re.compile(r" and an? half(?![a-z])|半(?!年|天|小时)")


def _sum(text: str, lower: str, first: Measure) -> Measure:
    """One duration of what is said in several units, the largest first: 1 hour 30 minutes, 1小时30分."""
    assert first.unit is not None
    total, end, least = times(first.magnitude, first.unit.factor), first.end, first.unit
    if half := _HALF_MORE.match(lower, end):
        return first._replace(end=half.end(), magnitude=_plus_half(first.magnitude))
    is_sum = False
    for _ in range(3):
        match = _MORE.match(lower, end)
        number = number_at(lower, match.end()) if match else None
        if match is None or number is None:
            break
        value, until = number
        second = _short(text, lower, match.end(), until, value)
        unit = second.unit
        if unit is None or unit.dimension != least.dimension or unit.factor >= least.factor:
            break
        added = times(value, unit.factor)
        if isinstance(total, str) or isinstance(added, str) or added >= least.factor:
            break
        total, end, least, is_sum = total + added, second.end, unit, True
    if not is_sum or isinstance(total, str):
        return first
    unit = least._replace(factor=1, name=least.dimension)
    return first._replace(end=end, magnitude=total, unit=unit)


def _plus_half(value: Magnitude) -> Magnitude:
    return value if isinstance(value, str) else value + Decimal("0.5")


def _short(text: str, lower: str, start: int, end: int, value: Magnitude) -> Measure:
    """As measure, for what follows another unit: m behind hours, and 分, are minutes."""
    if lower.startswith("m", end) and not lower[end + 1 : end + 2].isalpha():
        return Measure(start, end + 1, value, UNITS["min"])
    if lower.startswith("分", end) and not lower.startswith("分钟", end):
        return Measure(start, end + 1, value, UNITS["min"])
    return measure(text, lower, start, end, value)
