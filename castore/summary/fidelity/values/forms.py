"""Forms: words and signs that say a value without its number, or that it is rounded.

monthly, 每月: one month; a quarter: 25%; both: 2; about, 约: rounded; weekdays: from Monday to Friday
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from decimal import Context, Decimal

from castore.summary.fidelity.model import Fact
from castore.summary.fidelity.values.numerals import HAN_DIGITS, Magnitude

__all__ = ["ANY_HAN", "ANY_NUMBER_WORD", "NUMBER_WORDS", "UNDER"]
__all__ += ["BOTH_DAYS", "FROM_MONDAY", "WEEKDAYS", "WEEKEND"]
__all__ += ["forms_of_duration", "forms_of_percent", "is_about", "roundings"]

NUMBER_WORDS: dict[str, Magnitude] = {
    **dict.fromkeys(str.split("no none zero without"), 0),
    **dict.fromkeys(str.split("once single a an daily weekly monthly yearly annual annually hourly each"), 1),
    **dict.fromkeys(str.split("twice both couple pair double doubled doubles two-fold"), 2),
    **dict.fromkeys(str.split("triple tripled thrice"), 3),
    "dozen": 12,
    **{f"{word}s": value for value, word in enumerate(str.split("two three four five"), 2)},
    **{word: value for value, word in enumerate(str.split("sixes sevens eights nines tens"), 6)},
    **{f"{word}s": value for value, word in enumerate(str.split("eleven twelve thirteen fourteen"), 11)},
    **{f"{word}s": value for value, word in enumerate(str.split("fifteen sixteen seventeen eighteen"), 15)},
}
"""Words that say how many without being a number."""
ANY_NUMBER_WORD = re.compile(
    r"(?<![a-z])(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirt|fift|twent|fort|half"
    r"|an? )"
)
"""Where a number in English words may begin."""
ANY_HAN = re.compile(f"[{HAN_DIGITS}]{{1,12}}")

_PERCENTS: dict[Hashable, str] = {
    10: "tenths?|十分之一",
    20: "fifths?|五分之一",
    25: "quarters?|四分之一",
    50: "half|halves?|halved|一半|半数|对半|半价|half[ -]price",
    100: "full|fully|all|whole|entire|doubled?|doubles|全|翻倍|翻番",
}
UNDER: dict[Hashable, re.Pattern[str]] = {
    under: re.compile(f"(?<![a-z])(?:{words})")
    for under, words in {
        2: "half|halves|一半|半数",
        3: "third|三分之",
        4: "quarter|四分之",
        5: "fifth|五分之",
        10: "tenth|十分之|一成",
    }.items()
}
"""What says so many parts of one."""

_NAMES: dict[Hashable, tuple[str, str, str, str]] = {
    ("second", 1): ("second", "every second", "一秒|每秒", "一秒"),
    ("second", 60): ("minute", "every minute", "一分钟|每分钟", "一分钟"),
    ("second", 3600): ("hour", "hourly", "一个?小时|每小时", "一个?小时"),
    ("second", 86400): ("day", "daily", "一天|一日|每天|每日", "一天"),
    ("second", 604800): ("week", "weekly", "一周|一个?星期|每周", "一周|一个?星期"),
    ("month", 1): ("month", "monthly", "一个月|每个?月", "一个月"),
    ("month", 3): ("quarter", "quarterly", "一个?季度|每季", "一个?季度"),
    ("month", 12): ("year", "yearly|annual|annually", "一年|每年|全年", "一年"),
}
_OFTEN = {
    key: re.compile(rf"(?<![a-z])(?:(?:an?|one|per|each|every)[ -]{name}|{often})(?![a-z])|{han}")
    for key, (name, often, han, _) in _NAMES.items()
}
_ONCE = {
    key: re.compile(
        rf"(?<![a-z])(?:(?:one|(?:within|after|for|in|lasts|takes) an?)[ -]{name}"
        rf"|an? {name} (?:before|after|ahead|prior|in advance))(?![a-z])|{han}"
    )
    for key, (name, _, _, han) in _NAMES.items()
}
_OF_PERCENT = {value: re.compile(f"(?<![a-z])(?:{words})(?![a-z])") for value, words in _PERCENTS.items()}

WEEKEND = re.compile("(?<![a-z])weekends?(?![a-z])|周末|双休日")
WEEKDAYS = re.compile(
    r"(?<![a-z])(?<![0-9][ -])(?<!one |two |ree |our |ive |six |ven |ght |ine |ten |few |ral |any |hin |ext )"
    r"(?:weekdays?|(?:work(?:ing)?|business) ?days)(?![a-z])"
    r"|(?<![0-9一二三四五六七八九十两几个])(?<![0-9] )工作日"
)
"""All days from Monday to Friday: not some of them, which are a duration."""
FROM_MONDAY = re.compile(
    r"mon(?:days?)? ?(?:-|to|through|thru|till|until|and) ?fri(?:days?)?(?![a-z])"
    r"|(?:周|星期|礼拜)一 ?[至到-] ?(?:周|星期|礼拜)?五"
)
BOTH_DAYS = re.compile(
    r"sat(?:urdays?)? ?(?:-|to|/|,|&|and|or) ?sun(?:days?)?(?![a-z])"
    r"|(?:周|星期|礼拜)六[、和至到及或与 -]?(?:周|星期|礼拜)?[日天]"
)

_ABOUT_BEFORE = re.compile(
    r"(?:about|around|roughly|approximately|approx\.?|some|nearly|almost|over|more than|circa|ca\.)"
    r"(?: a)? ?[$€£¥]?$"
    r"|[~≈约近逾][$€£¥ ]?$|(?:大约|接近|将近|(?<!不)超过)[$€£¥ ]?$"
)
_ABOUT_IN = re.compile(r"illion|(?<=[0-9.])(?:k|m|b|bn|mn)(?![a-z])|[万亿余多]|左右")
_ROUNDED_BY_MAX = Decimal("0.03")
_DIGITS_MAX = 12
_CONTEXT = Context(prec=40, traps=[])


def forms_of_duration(key: Hashable, magnitude: Magnitude) -> re.Pattern[str] | None:
    """What says this duration without a number: of one unit how often, too; of several of a smaller unit
    (12 months) only what does not say how often."""
    return (_OFTEN if magnitude == 1 else _ONCE).get(key)


def forms_of_percent(magnitude: Magnitude) -> re.Pattern[str] | None:
    return _OF_PERCENT.get(magnitude)


def is_about(lower: str, fact: Fact) -> bool:
    """Whether the number says of itself that it is rounded."""
    before, words = lower[max(0, fact.start - 16) : fact.start], lower[fact.start : fact.end + 3]
    return _ABOUT_BEFORE.search(before) is not None or _ABOUT_IN.search(words) is not None


def roundings(exact: object) -> Iterator[Magnitude]:
    """The number with fewer digits that say something, as long as it stays near."""
    if isinstance(exact, str) or not isinstance(exact, int | Decimal):
        return
    one = Decimal(exact)
    most = _CONTEXT.multiply(abs(one), _ROUNDED_BY_MAX)
    for digits in range(1, min(len(one.normalize(_CONTEXT).as_tuple().digits), _DIGITS_MAX)):
        other = Context(prec=digits, traps=[]).create_decimal(one)
        if abs(_CONTEXT.subtract(one, other)) <= most:
            yield other
