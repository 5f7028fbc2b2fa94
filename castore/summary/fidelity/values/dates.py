"""Dates and times of day: their spellings, and what they say.

    2026-11-30 = 30 November 2026 = Nov 30, 2026 = 2026年11月30日; Nov 30 and 11月 leave parts out
    3pm = 15:00 = 3:00 p.m. = 下午3点; 9:00 may be either half of the day

Laws:
- Parts that a spelling leaves out are None, and contradict nothing.
- What is no date (a 32nd, a 13th month) is none; nothing is raised.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from datetime import date
from typing import NamedTuple

from castore.summary.fidelity.terms import is_han
from castore.summary.fidelity.values.numerals import HAN_DIGITS, han_value

__all__ = [
    "DAYPARTS",
    "NUMERIC",
    "Clock",
    "Day",
    "Found",
    "beside",
    "clock_of",
    "han_dates",
    "holds",
    "named_dates",
    "numeric_date",
    "same_time",
]


class Day(NamedTuple):
    """A date, or what is said of one. weekday: 0 is Monday. quarter: 1 to 4."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    quarter: int | None = None


class Clock(NamedTuple):
    """A time of day. is_half: it may be twelve hours later as well. zone: as spelt, in lower case."""

    second: int
    is_half: bool = False
    zone: str | None = None


class Found(NamedTuple):
    kind: str
    start: int
    end: int
    key: Hashable


_MONTHS = str.split("jan feb mar apr may jun jul aug sep oct nov dec")
_MONTH = (
    "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    "|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_NAMED = re.compile(
    rf"{_MONTH}(?![A-Za-z])(?P<dot>(?<![A-Za-z]{{5}})(?<!June|July|[^A-Za-z]May)\.)?"
    r"(?:[ -](?P<day>[0-9]{1,2})(?:st|nd|rd|th)?(?![0-9:.][0-9]|[0-9%]| ?[ap]\.?m)"
    r"(?:(?: ?- ?| to | and )(?P<until>[0-9]{1,2})(?:st|nd|rd|th)?(?![0-9:%a-z]))?)?"
    r"(?:(?:,? (?:of )?|-)(?P<year>(?:19|20)[0-9]{2})(?![0-9]))?"
)
_COUNTS = re.compile(" (?:second|minute|hour|day|week|month|year|people|person|time)s?(?![a-z])")
_TO_MONTH = re.compile(rf"(?: ?- ?| to | through | until ){_MONTH}(?![A-Za-z])")
_DAY_BEFORE = re.compile(
    r"(?<![0-9.:/])(?:(?P<since>[0-9]{1,2})(?:st|nd|rd|th)?(?: ?- ?| to | and ))?"
    r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?(?: of| day of)?[ -]$"
)
_IN_MONTH = frozenset(
    str.split(
        "in by since until till from before after of during last next through early late mid this each "
        "every between and to end"
    )
)
_WEEKDAYS = str.split("mon tue wed thu fri sat sun")
_WEEKDAY = re.compile(
    r"days?(?![a-z])(?:"
    + "|".join(
        f"(?<={name}day{end})"
        for name in str.split("mon tues wednes thurs fri satur sun")
        for end in ("", "s")
    )
    + ")"
)
_SHORT_WEEKDAY = re.compile("(?:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)(?![A-Za-z])")
_OTHER_WEEKDAY = re.compile("Mon|Tue|Wed|Thu|Fri|Sat|Sun|[0-9]")
_NAME_LENGTH = {"mon": 6, "tue": 7, "wed": 9, "thu": 8, "fri": 6, "sat": 8, "sun": 6}
_QUARTER = re.compile(
    r"q([1-4])(?![a-z0-9])(?<![a-z0-9_/.-]q[1-4])(?:,? (?:of )?((?:19|20)[0-9]{2})(?![0-9]))?"
)
_ORDERED = {"first": 1, "second": 2, "third": 3, "fourth": 4, "final": 4}
_QUARTER_IN_WORDS = re.compile(r"quarter(?![a-z])(?:,? (?:of )?((?:19|20)[0-9]{2}))?")
_YEAR_BEFORE = re.compile(r"((?:19|20)[0-9]{2})[ -]$")


def named_dates(plain: str, lower: str) -> Iterator[Found]:
    """Those with the name of a month or of a day of the week, and quarters."""
    for match in _NAMED.finditer(plain):
        yield from _named(plain, lower, match)
    for match in _SHORT_WEEKDAY.finditer(plain):
        start, end = match.span()
        if plain[start - 1 : start].isalpha():
            continue
        # Sat and Sun are words of their own.
        around = plain[max(0, start - 8) : start] + plain[end : end + 8]
        if plain[start] != "S" or _OTHER_WEEKDAY.search(around):
            yield Found("date", start, end, Day(weekday=_WEEKDAYS.index(lower[start : start + 3])))
    for match in _WEEKDAY.finditer(lower):
        end = match.start() + 3
        for name, length in _NAME_LENGTH.items():
            start = end - length
            if start >= 0 and lower.startswith(name, start) and not lower[start - 1 : start].isalpha():
                yield Found("date", start, match.end(), Day(weekday=_WEEKDAYS.index(name)))
                break
    for name, second in (("noon", 43200), ("midnight", 0)):
        at = lower.find(name)
        while at >= 0:
            end = at + len(name)
            if not lower[at - 1 : at].isalpha() and not lower[end : end + 1].isalpha():
                yield Found("time", at, end, Clock(second))
            at = lower.find(name, end)
    yield from _quarters(lower)


def _quarters(lower: str) -> Iterator[Found]:
    for match in _QUARTER_IN_WORDS.finditer(lower):
        start = match.start() - 1
        word = lower[max(0, start - 8) : max(0, start)].rpartition(" ")[2]
        if word in _ORDERED and lower[start] in " -":
            year = int(match[1]) if match[1] else None
            yield Found("date", start - len(word), match.end(), Day(year, quarter=_ORDERED[word]))
    for match in _QUARTER.finditer(lower):
        start, said = match.start(), match[2]
        if said is None and (before := _YEAR_BEFORE.search(lower[max(0, start - 5) : start])):
            start, said = start - len(before[0]), before[1]
        yield Found("date", start, match.end(), Day(int(said) if said else None, quarter=int(match[1])))


def _named(plain: str, lower: str, match: re.Match[str]) -> Iterator[Found]:
    start, end = match.span()
    if start and plain[start - 1].isalpha():
        return
    month = _MONTHS.index(lower[start : start + 3]) + 1
    year = int(match["year"]) if match["year"] else None
    days = [each for each in (match["day"], match["until"]) if each]
    window = lower[max(0, start - 22) : start]
    counts = match["day"] and not match["until"] and _COUNTS.match(lower, match.end("day"))
    if counts and _DAY_BEFORE.search(window):
        # In `on 9 May 3 hours late` the number behind is another thing's.
        days, end = [], match.start("day") - 1
    if not days and (before := _DAY_BEFORE.search(window)):
        days = [each for each in (before["since"], before["day"]) if each]
        start -= len(window) - before.start()
    elif not days and year is None:
        previous = window.rstrip().rpartition(" ")[2].strip("(\"'-")
        is_range = _TO_MONTH.match(plain, end) is not None
        if (previous not in _IN_MONTH and not is_range) or (match["dot"] and end - start < 5):
            return
        if previous in ("and", "to", "this", "of") and month in (3, 5):
            return
        end -= len(match["dot"] or "")
    if not days:
        yield Found("date", start, end, Day(year, month))
    for each in days:
        if 1 <= int(each) <= 31:
            yield Found("date", start, end, Day(year, month, int(each)))


_YEAR = "(?:19|20)[0-9]{2}"
NUMERIC = (
    rf"(?P<iso>(?P<y1>{_YEAR})(?P<by>[-/.])(?P<m1>[0-9]{{1,2}})(?P=by)(?P<d1>[0-9]{{1,2}})(?![0-9]))"
    rf"|(?P<han>(?P<y2>[0-9]{{4}}) ?年 ?(?:(?P<m2>[0-9]{{1,2}}) ?月"
    r"(?:份| ?(?P<d2>[0-9]{1,2}) ?[日号])?)?度?)"
    r"|(?P<han_day>(?P<m3>[0-9]{1,2}) ?月(?:份| ?(?P<d3>[0-9]{1,2}) ?[日号])?)"
    rf"|(?P<end>(?P<a>[0-9]{{1,2}})(?P<by2>[-/.])(?P<b>[0-9]{{1,2}})(?P=by2)(?P<y4>{_YEAR})(?![0-9]))"
    rf"|(?P<month>(?P<y5>{_YEAR})-(?P<m5>0[1-9]|1[0-2])(?![0-9-]))"
)
"""A date in digits: alternatives of a larger expression."""


def numeric_date(match: re.Match[str]) -> Day | None:
    """The date that NUMERIC matched, if it is one: day and month of 03/04/2026 are told as in America,
    unless one of them is no month."""
    shape = match.lastgroup
    year = month = day = None
    if shape == "iso":
        year, month, day = match["y1"], match["m1"], match["d1"]
    elif shape == "han":
        year, month, day = match["y2"], match["m2"], match["d2"]
    elif shape == "han_day":
        month, day = match["m3"], match["d3"]
    elif shape == "month":
        year, month = match["y5"], match["m5"]
    elif shape == "end":
        year, month, day = match["y4"], match["a"], match["b"]
        if int(month) > 12 or match["by2"] == ".":
            month, day = day, month
    else:
        return None
    said = Day(*(int(each) if each else None for each in (year, month, day)))
    if (said.month is not None and not 1 <= said.month <= 12) or (
        said.day is not None and not 1 <= said.day <= 31
    ):
        return None
    return said


_HAN = f"[{HAN_DIGITS}]"
_LEADING = re.compile(f"{_HAN}+")
_HAN_DATE = re.compile(
    rf"{_HAN}{_HAN}{{0,3}}+(?:(?<={_HAN}{{4}})年(?:({_HAN}{{1,3}})月(?:({_HAN}{{1,3}})[日号])?)?|月(?:份|({_HAN}{{1,3}})[日号]))"
)
_HAN_WEEKDAYS = [
    re.compile(
        f"{name}([一二三四五六日天])(?![天年月日个回趟篇杯顿遍]|次(?!日)|小时)((?:[、和及至到-][一二三四五六日天](?![天年月日个点时]))*)"
    )
    for name in ("周", "星期", "礼拜")
]
_HAN_QUARTER = re.compile("季度(?<=([一二三四1-4])季度)")
_QUARTER_OF = re.compile("(?:((?:19|20)[0-9]{2}) ?年)?第?$")


def han_dates(plain: str) -> Iterator[Found]:
    """Those whose numbers are Chinese, days of the week, and quarters."""
    for match in _HAN_DATE.finditer(plain):
        start, end = match.span()
        first, month, day = han_value(_LEADING.match(plain, start)[0]), match[1], match[2] or match[3]  # type: ignore[index]
        is_year = plain[start + 4 : start + 5] == "年"
        parts = (first if is_year else None, han_value(month) if month else None if is_year else first)
        said = Day(*parts, han_value(day) if day else None)
        if (said.month or 1) <= 12 and (said.day or 1) <= 31:
            yield Found("date", start, end, said)
    for pattern in _HAN_WEEKDAYS:
        for match in pattern.finditer(plain):
            yield Found("date", match.start(), match.end(1), Day(weekday=_han_weekday(match[1])))
            for at in range(match.end(1) + 1, match.end(), 2):
                yield Found("date", at, at + 1, Day(weekday=_han_weekday(plain[at])))
    for match in _HAN_QUARTER.finditer(plain):
        quarter = int(match[1]) if match[1].isascii() else "一二三四".index(match[1]) + 1
        start = match.start() - 1
        before = _QUARTER_OF.search(plain, max(0, start - 8), start)
        year = int(before[1]) if before and before[1] else None
        yield Found("date", before.start() if before else start, match.end(), Day(year, quarter=quarter))


def _han_weekday(named: str) -> int:
    return min("一二三四五六日天".index(named), 6)


def holds(said: Day, asked: Day) -> bool:
    """Whether one date, as far as it goes, says another: no part differs, and the finest part is there."""
    if any(a is not None and b is not None and a != b for a, b in zip(said, asked, strict=True)):
        return False
    if asked.day is not None:
        return said.day is not None
    if asked.weekday is not None:
        return said.weekday is not None or _weekday(said) == asked.weekday
    if asked.quarter is not None:
        return said.quarter is not None or (said.month is not None and (said.month + 2) // 3 == asked.quarter)
    if asked.month is not None:
        return said.month is not None
    return said.year is not None


def _weekday(day: Day) -> int | None:
    if day.year and day.month and day.day:
        try:
            return date(day.year, day.month, day.day).weekday()
        except ValueError:
            return None
    return None


def beside(one: Day, other: Day, between: str) -> Day | None:
    """Both as one, where a date and its day of the week stand side by side."""
    if between not in _BESIDE or (one.weekday is None) == (other.weekday is None):
        return None
    whole, weekday = (one, other.weekday) if one.weekday is None else (other, one.weekday)
    return None if whole.day is None else whole._replace(weekday=weekday)


_BESIDE = frozenset(("", " ", ", ", ",", " (", "(", "（", ", the ", " the "))


_MORNING = frozenset(("上午", "早上", "早晨", "凌晨", "清晨"))
_EVENING = frozenset(("下午", "晚上", "傍晚", "晚间", "夜里"))
DAYPARTS = _MORNING | _EVENING | {"中午"}
"""What says, before an hour, in which half of the day it is."""

_ZONE = (
    r"(?: ?\(?(?P<zone>utc|gmt|est|edt|cst|cdt|pst|pdt|cet|cest|bst|jst|ist|et|pt|z)(?![a-z])"
    r"(?:[+-][0-9]{1,2})?\)?)?"
)
CLOCK = re.compile(
    r"(?P<hour>[0-9]{1,2})(?:"
    r":(?P<minute>[0-5][0-9])(?::(?P<second>[0-5][0-9])(?:\.[0-9]{1,9})?)?(?![0-9]|:[0-9])"
    r"|(?:\.(?P<dotted>[0-5][0-9]))?(?= ?(?:[ap]\.?m(?![a-z])|o'clock))"
    r"|(?P<to>(?::[0-5][0-9])?(?= ?(?:-|to|and|until|till) ?[0-9]{1,2}(?::[0-5][0-9])? ?[ap]\.?m(?![a-z])))"
    r"| ?[点时](?P<han>半|整|钟|(?P<han_minute>[0-9]{1,2}) ?分(?!钟)|一刻)?(?![间候段光建要意说原理内代刻])"
    r")"
    rf"(?: ?(?P<half>[ap])(?:m|\.m\.?)(?![a-z])| ?o'clock)?{_ZONE}"
)
_TO = re.compile(r" ?(?:-|to|and|until|till) ?([0-9]{1,2})(?::[0-5][0-9])? ?([ap])\.?m")
_PAUSES = "，,。；;\n"
_POINTS = "要建意说原理内注事措规条问启不优缺共看想体心结经教"
_HAN_EVIDENCE_BEFORE = "在于到至从天日午晚上早每"
_HAN_EVIDENCE_AFTER = (
    "前",
    "后",
    "之前",
    "之后",
    "以前",
    "以后",
    "开",
    "关",
    "到",
    "至",
    "截",
    "下班",
    "上班",
    "-",
)


def clock_of(lower: str, at: int) -> tuple[Clock, int, int] | None:
    """The time of day that begins at these digits, where it begins and ends; None if they are none."""
    match = CLOCK.match(lower, at)
    if match is None:
        return None
    hour, minute = int(match["hour"]), int(match["minute"] or match["dotted"] or match["han_minute"] or 0)
    start, end, half = at, match.end(), match["half"]
    part = lower[at - 2 : at] if at >= 2 and lower[at - 2 : at] in DAYPARTS else None
    if part is not None:
        start -= 2
    if match["han"]:
        minute = {"半": 30, "一刻": 15}.get(match["han"], minute)
    elif lower[end - 1] in "点时" and part is None and not _is_han_time(lower, at, end, hour):
        return None
    if match["to"] is not None and (to := _TO.match(lower, end)):
        half = to[2] if hour <= int(to[1]) or hour == 12 else "a"
        half = "a" if hour == 12 and to[2] == "p" and int(to[1]) == 12 else half
    if hour > 24 or minute > 59:
        return None
    if half and hour <= 12:
        hour = hour % 12 + (12 if half == "p" else 0)
    elif part is not None:
        hour = _han_hour(hour, part)
    is_half = half is None and part is None and 1 <= hour <= 12 and lower[at] != "0" and not match["zone"]
    second = hour % 24 * 3600 + minute * 60 + int(match["second"] or 0)
    return Clock(second, is_half, _zone(match["zone"])), start, end


def _han_hour(hour: int, part: str) -> int:
    if hour > 12 or part in _MORNING or (hour < 5 and part not in ("下午", "傍晚", "中午")):
        return hour % 12 if part == "凌晨" else hour
    if part == "中午":
        return hour + 12 if hour < 10 else hour
    return hour + 12 if hour < 12 else 12 if part == "下午" else 0


def _zone(spelt: str | None) -> str | None:
    return "utc" if spelt in ("z", "gmt", "utc") else spelt


def _is_han_time(lower: str, at: int, end: int, hour: int) -> bool:
    """Whether 点 says a time of day here, and not how many points there are."""
    if lower[end - 1] == "时":
        return hour >= 6 or lower[at - 1 : at] in ("日", "午")
    if lower[at - 1 : at] in _HAN_EVIDENCE_BEFORE or lower.startswith(_HAN_EVIDENCE_AFTER, end):
        return True
    # 6:10打针，8点降温: behind a pause, with what happened then, and no noun of which there may be eight.
    is_begun = at == 0 or lower[at - 1] in _PAUSES
    return is_begun and 5 <= hour <= 24 and is_han(lower[end : end + 1] or " ") and lower[end] not in _POINTS


def same_time(one: Clock, other: Clock) -> bool:
    """Whether both may be one time of day. One that has no zone contradicts no other."""
    if one.zone and other.zone and one.zone != other.zone:
        return False
    apart = abs(one.second - other.second)
    return apart == 0 or (apart == 43200 and (one.is_half or other.is_half))
