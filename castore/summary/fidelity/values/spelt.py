"""Numbers in words: seven days, twenty percent, a week, 七天, 百分之十, 八折, 下午三点半.

Laws:
- A number in words is a fact where a unit follows it, or what it counts is worth a check: "three approvals",
  三名审批人, but not "two ways", "one of", 一个, 两个方面.
- Takes time linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from castore.summary.fidelity.model import Fact
from castore.summary.fidelity.values.dates import DAYPARTS, Clock, clock_of
from castore.summary.fidelity.values.measures import PEOPLE, Measure, measures
from castore.summary.fidelity.values.numerals import HAN_DIGITS, han_value, number_at, words_value
from castore.summary.fidelity.values.units import UNITS, unit_of_han

__all__ = ["COUNTED", "han_numbers", "share_of", "spelt_numbers"]

_FIRST = (
    "(?:t(?:wo|hree|en|welve|wenty|hirt|wice|housand)|f(?:our|ive|ift|ort)|s(?:ix|even)|e(?:ight|leven)|nine|on(?:e|ce)"
    "|h(?:undred|alf)|quarter|million|billion|dozen)"
)
# One pass for each character before: to look for one is several times as fast as for one of several.
_BEHIND = [re.compile(f"{before}{_FIRST}") for before in (" ", "\n", r"\(", "-")]
_ARTICLE = re.compile(
    r" an? (?P<unit>second|minute|hour|day|week|month|year|fortnight|decade|(?:business|working) day)"
    r"(?![a-z-])(?P<half> and an? half)?"
)
_HALF_PRICE = re.compile("half[ -]price")
_PART_OF = re.compile(
    r"(?:(?P<half>half)|a (?P<under>third|quarter|fifth)) (?:of )?(?=(?:the|all|our|their|its|of) )"
    r"(?!the (?:fun|battle|story|truth|trouble|joy|point|problem|work)(?![a-z]))"
)
_HALF = re.compile(r"half(?:[ -]an?)?[ -](?P<unit>minute|hour|day|week|month|year)(?![a-z])")
_SHARE = re.compile(r"(?P<over>one|two|three|four)[ -](?P<under>third|quarter|fifth|half)s?(?![a-z])")
_OF_AN_HOUR = re.compile(r"(?:(?P<over>one|three) )?quarters?(?: of an|-) ?hour(?![a-z])")
_NAMED = {
    word: value for value, word in enumerate(str.split("one two three four five six seven eight nine ten"), 1)
}
_ANY_NAMED = "|".join(_NAMED)
_ONE_IN = re.compile(
    rf"([0-9]{{1,2}}|{_ANY_NAMED}) (?:in|out of) (?:every )?([0-9]{{1,3}}|{_ANY_NAMED})(?![0-9a-z.,])"
)
_SOME_OF = re.compile(rf"({_ANY_NAMED})(?<!one) of (?:the |our |its |their )?({_ANY_NAMED})(?![a-z])")
_NEXT_WORD = re.compile(" ([a-z]+)")
_TIMES = re.compile(
    r"(once|twice|thrice) (?:(?:a|per|each|every) )?"
    r"(hour|day|week|month|year|hourly|daily|weekly|monthly|yearly|annually)(?![a-z])"
)
_OFTEN = {
    "hourly": "hour",
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
    "yearly": "year",
    "annually": "year",
}
_PAST = re.compile(r"(half|quarter) (past|to) ")
_UNDER = {"half": 2, "third": 3, "quarter": 4, "fifth": 5}
_OVER = {"one": 1, "two": 2, "three": 3, "four": 4}
_LASTING = frozenset(
    str.split(
        "within after for in every least most than lasts takes took under over about around exactly only "
        "up to be lasting taking last past"
    )
)
_REFERRING = frozenset(str.split("the these those other all of our their its his her my your any next"))
COUNTED = frozenset(
    str.split(
        "way thing step reason point part option question example kind type aspect area case item issue "
        "approach section category topic side more other different main key major level half piece "
        "sentence word choice possibility idea problem bullet goal phase component and or of to "
        "exception condition requirement rule change fix feature decision action task group factor "
        "measure improvement consideration criterion criteria scenario place location spot strategy edit "
        "sense direction form challenge benefit advantage detail lesson principle element aim priority "
        "concern "
    )
)


def spelt_numbers(plain: str, lower: str, busy: bytearray) -> Iterator[Fact]:
    """Those in English."""
    starts = [match.start() + 1 for pattern in _BEHIND for match in pattern.finditer(lower)]
    for start in (0, *starts):
        is_inside = lower[start - 1 : start] == "-" and lower[start - 2 : start - 1].isalpha()
        if start < len(busy) and not busy[start] and not is_inside:
            yield from _spelt(plain, lower, start, busy)
    for match in _ARTICLE.finditer(lower):
        start = match.start() + 1
        if not busy[start] and _previous(lower, match.start()) in _LASTING:
            unit = UNITS["工作日"] if " day" in match["unit"] else UNITS[match["unit"]]
            value = Decimal("1.5") if match["half"] else 1
            yield Measure(start, match.end(), value, unit).fact()


def _past(lower: str, start: int) -> Fact | None:
    """Half past six, a quarter to seven: in either half of the day."""
    match = _PAST.match(lower, start)
    hour = words_value(lower, match.end()) if match else None
    if match is None or hour is None or not isinstance(hour[0], int) or not 1 <= hour[0] <= 12:
        return None
    minutes = 30 if match[1] == "half" else 15
    second = hour[0] * 3600 + (minutes if match[2] == "past" else -minutes) * 60
    return Fact("time", start, hour[1], Clock(second, True))


def _part(lower: str, start: int) -> Fact | None:
    """A part of one: three quarters of an hour, half a day, two-thirds, nine out of ten."""
    if part := _OF_AN_HOUR.match(lower, start):
        return Measure(start, part.end(), Decimal(_OVER[part["over"] or "one"]) / 4, UNITS["hour"]).fact()
    if half := _HALF.match(lower, start):
        return Measure(start, half.end(), Decimal("0.5"), UNITS[half["unit"]]).fact()
    if often := _TIMES.match(lower, start):
        rate = UNITS[often[2]].name if often[2] in UNITS else _OFTEN[often[2]]
        value = {"once": 1, "twice": 2, "thrice": 3}[often[1]]
        return Measure(start, often.end(), value, UNITS["times"], None, rate).fact()
    if price := _HALF_PRICE.match(lower, start):
        return Measure(start, price.end(), 50, UNITS["%"]).fact()
    if share := _PART_OF.match(lower, start):
        return Fact(
            "number", start, share.end(share.lastgroup or 0), ("share", 1, _UNDER[share["under"] or "half"])
        )
    if share := _SHARE.match(lower, start):
        key = ("share", _OVER[share["over"]], _UNDER[share["under"]])
        return Fact("number", start, share.end(), key)
    if (of := _SOME_OF.match(lower, start)) and _NAMED[of[1]] < _NAMED[of[2]]:
        return Fact("number", start, of.end(), ("share", _NAMED[of[1]], _NAMED[of[2]]))
    return share_of(lower, start)


def share_of(lower: str, start: int) -> Fact | None:
    """One in five, 98 out of 100."""
    match = _ONE_IN.match(lower, start)
    if match is None:
        return None
    over, under = (int(each) if each.isdecimal() else _NAMED.get(each, 0) for each in match.groups())
    following = _NEXT_WORD.match(lower, match.end())
    if not 0 < over < under or (following and following[1] in UNITS):
        return None
    return Fact("number", start, match.end(), ("share", over, under))


def _spelt(plain: str, lower: str, start: int, busy: bytearray) -> Iterator[Fact]:
    if fact := _past(lower, start) or _part(lower, start):
        busy[start : fact.end] = b"\1" * (fact.end - fact.start)
        yield fact
        return
    number = words_value(lower, start)
    if number is None or _previous(lower, start - 1) == "and":
        return
    for found in measures(plain, lower, start, number[1], number[0]):
        value, is_one = found.magnitude, found.magnitude == 1
        if found.unit is None:
            if is_one or not isinstance(value, int) or not _is_worth(lower, start, found):
                continue
        elif is_one and found.unit.name == "day" and _previous(lower, start - 1) not in _LASTING:
            continue
        busy[found.start : found.end] = b"\1" * (found.end - found.start)
        yield found.fact()


def _is_worth(lower: str, start: int, found: Measure) -> bool:
    """Whether what is counted says something: a plural that is no step or way, and that is new."""
    if isinstance(found.magnitude, int) and found.magnitude >= 20:
        return True
    if found.noun is None or found.noun in COUNTED or _previous(lower, start - 1) in _REFERRING:
        return False
    return found.noun in PEOPLE or lower[found.end - 1] == "s"


def _previous(lower: str, end: int) -> str:
    return lower[max(0, end - 14) : end].rstrip().rpartition(" ")[2].strip("(\"'*-,") if end > 0 else ""


_HAN = re.compile(f"[{HAN_DIGITS}半][{HAN_DIGITS}]*+")
_COUNTING = frozenset("个名位台份条家笔张项只次人种款件倍")
_HAN_COUNTED = (
    "方面",
    "步",
    "部分",
    "阶段",
    "原因",
    "问题",
    "点",
    "例子",
    "方法",
    "方式",
    "选项",
    "类",
    "种",
    "者",
    "的",
    "性",
    "例外",
    "条件",
    "要求",
    "建议",
    "措施",
    "规定",
    "事项",
    "任务",
    "目标",
    "决定",
    "环节",
    "情况",
    "情形",
)
_NOT_BEFORE = "第这那其几数前后每某任同统唯单万之"
_HAN_FOR = frozenset("期满达共限足仅过少多迟长延等待")
_HAN_LASTING = ("内", "以内", "之内", "后", "之后", "前", "之前", "左右", "以上", "以下")


def han_numbers(plain: str, lower: str, busy: bytearray) -> Iterator[Fact]:
    """Those in Chinese."""
    for match in _HAN.finditer(lower):
        start, end = match.span()
        if not busy[start] and end - start <= 12:
            yield from _of_han(plain, lower, start, end)


def _of_han(plain: str, lower: str, start: int, end: int) -> Iterator[Fact]:
    spelt, before = lower[start:end], lower[start - 1 : start]
    if spelt == "半":
        yield from _half(lower, start, end)
        return
    value = han_value(spelt)
    if value is None or "半" in spelt or (lower.startswith("分之", end) and spelt in ("百", "千", "万")):
        return
    if spelt[0] in "百千万亿" and not spelt.strip("百千万亿"):
        return  # 千万别
    if lower[max(0, start - 3) : start] in ("百分之", "千分之", "万分之"):
        said, until = number_at(lower, start) or (value, end)
        yield from (each.fact() for each in measures(plain, lower, start, until, said))
        return
    if lower.startswith("分之", end) and (over := number_at(lower, end + 2)):
        yield Fact("number", start, over[1], ("share", over[0], value))
        return
    if lower[end : end + 1] in ("点", "时") and lower[max(0, start - 2) : start] in DAYPARTS:
        yield from _clock(lower, start, end, value)
        return
    if lower[end : end + 1] == "点" and (number := number_at(lower, start)) and number[1] > end:
        yield from (each.fact() for each in measures(plain, lower, start, number[1], number[0]))
        return
    if before and before in _NOT_BEFORE:
        return
    yield from _counted(plain, lower, start, end, value)


def _half(lower: str, start: int, end: int) -> Iterator[Fact]:
    if lower.startswith("价", end):
        yield Measure(start, end + 1, 50, UNITS["%"]).fact()
        return
    at = end + 1 if lower.startswith("个", end) else end
    found = unit_of_han(lower[end : end + 4]) or unit_of_han(lower[at : at + 4])
    if found and found[0].kind == "duration" and lower[start - 1 : start] not in ("个", "点", "大"):
        length = found[1] if unit_of_han(lower[end : end + 4]) else found[1] + 1
        unit = found[0]
        if lower.startswith("个月", end):
            length = 2
        yield Measure(start, end + length, Decimal("0.5"), unit).fact()


def _clock(lower: str, start: int, end: int, value: int) -> Iterator[Fact]:
    """下午三点半, by its spelling in digits."""
    digits = f"{lower[start - 2 : start]}{value}{lower[end : end + 4]}"
    if value <= 24 and (clock := clock_of(digits, 2)):
        said: Clock = clock[0]
        yield Fact("time", start - 2, end + clock[2] - len(str(value)) - 2, said)


def _counted(plain: str, lower: str, start: int, end: int, value: int) -> Iterator[Fact]:
    found, *more = measures(plain, lower, start, end, value)
    if more:
        yield found.fact()
        return
    unit = found.unit
    if unit is not None and unit.kind in ("duration", "money", "percent"):
        if unit.kind == "money" and found.end - end < 2 and lower[found.end - 1] in "块圆角":
            return
        is_lasting = lower.startswith(_HAN_LASTING, found.end) or lower[start - 1 : start] in _HAN_FOR
        if value == 1 and lower[found.end - 1] in "天日周年" and not is_lasting:
            return
        yield found.fact()
    elif unit is not None:
        if value > 1 or unit.name not in ("times", "degree"):
            yield found.fact()
    elif value > 1 and lower[end : end + 1] in _COUNTING:
        if not lower.startswith(_HAN_COUNTED, end + 1):
            yield found.fact()
    elif value >= 100:
        yield found.fact()
