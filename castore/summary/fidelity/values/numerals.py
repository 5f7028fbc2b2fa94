"""Numerals: the value of a number in digits, in English words, or in Chinese.

    1,000 = 1000 = 1 000; twenty-five = 25; two and a half = 2.5; half a million = 500,000
    三十二 = 32; 一百二 = 120; 两千零五 = 2005

Laws:
- Equal values are equal and hash alike, whatever their spelling.
- No spelling raises: a number of more digits than DIGITS_MAX is its own spelling.
"""

from __future__ import annotations

import re
from decimal import Context, Decimal

__all__ = [
    "DIGITS_MAX",
    "HAN_DIGITS",
    "NUMBER",
    "Magnitude",
    "han_value",
    "number_at",
    "number_value",
    "times",
    "words_value",
]

Magnitude = int | Decimal | str
"""str: of a number that is too long to reckon with."""

DIGITS_MAX = 24

NUMBER = r"(?:[0-9]{1,3}(?:[, '_][0-9]{3}(?![0-9])){1,6}+(?:\.[0-9]++)?|[0-9]++(?:\.[0-9]++)?)"
"""A number in digits, with a separator of thousands or none."""

_SEPARATORS = str.maketrans("", "", ", '_")
_CONTEXT = Context(prec=40, traps=[])

_SMALL = {
    word: value
    for value, word in enumerate(
        str.split(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
            "sixteen seventeen eighteen nineteen"
        )
    )
}
_TENS = {
    word: 10 * value
    for value, word in enumerate(str.split("twenty thirty forty fifty sixty seventy eighty ninety"), 2)
}
_BIG = {"hundred": 100, "dozen": 12, "thousand": 1000, "million": 10**6, "billion": 10**9}
_SHARES = {"half": 2, "third": 3, "quarter": 4, "fifth": 5}
_HALF = Decimal("0.5")

_VALUES = {**_SMALL, **_TENS}
_SMALL_WORD = "|".join(sorted(_VALUES, key=len, reverse=True))
_PHRASE = re.compile(
    rf"(?:an?(?= (?:hundred|dozen|thousand|million|billion))|{_SMALL_WORD})(?![a-z])"
    rf"(?:(?: |-| and )(?:{_SMALL_WORD}|{'|'.join(_BIG)})(?![a-z])){{0,8}}"
)
_HALF_A = re.compile(r"half a (hundred|dozen|thousand|million|billion)(?![a-z])")
_AND_A_HALF = re.compile(r" and an? half(?![a-z])")

HAN_DIGITS = "零〇一二两三四五六七八九十百千万亿"
_HAN_SMALL = {each: value for value, each in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_HAN_TENS = {"十": 10, "百": 100, "千": 1000}
_HAN_BIG = {"万": 10**4, "亿": 10**8}


_DIGITS = re.compile(NUMBER)
_HAN = re.compile(f"[{HAN_DIGITS}]{{1,12}}")
_HAN_POINT = re.compile("点([零〇一二三四五六七八九]{1,8})(?![十分刻点零〇一二三四五六七八九])")
_HAN_TENTHS = {"百": 10, "千": 100, "万": 1000, "亿": 10**7}
"""What a last digit counts that stands right behind these: 两千五 is 2500, and 两千零五 is 2005."""


def number_value(spelt: str) -> Magnitude:
    """The value of what NUMBER matches."""
    plain = spelt if spelt.isdecimal() else spelt.translate(_SEPARATORS)
    if len(plain) > DIGITS_MAX:
        return plain
    if "." not in plain:
        return int(plain)
    value = Decimal(plain)
    return int(value) if value == value.to_integral_value() else value


def times(value: Magnitude, factor: int | Decimal) -> Magnitude:
    """The product; a whole one is an int."""
    if factor == 1 or isinstance(value, str):
        return value
    if isinstance(value, int) and isinstance(factor, int):
        return value * factor
    product = _CONTEXT.multiply(Decimal(value), Decimal(factor))
    whole = _CONTEXT.to_integral_value(product)
    return int(whole) if whole == product else _CONTEXT.normalize(product)


def number_at(lower: str, at: int) -> tuple[Magnitude, int] | None:
    """The number in whatever numerals that begins here, and where it ends."""
    if match := _DIGITS.match(lower, at):
        return number_value(match[0]), match.end()
    if match := _HAN.match(lower, at):
        value = han_value(match[0])
        if value is None:
            return None
        if (point := _HAN_POINT.match(lower, match.end())) and value < 1000:
            behind = "".join(str(_HAN_SMALL[each]) for each in point[1])
            return number_value(f"{value}.{behind}"), point.end()
        return value, match.end()
    return words_value(lower, at)


def words_value(lower: str, at: int) -> tuple[Magnitude, int] | None:
    """The number in English words that begins at `at`, and where it ends."""
    if half := _HALF_A.match(lower, at):
        return _BIG[half[1]] // 2, half.end()
    match = _PHRASE.match(lower, at)
    if match is None:
        return None
    words, end = re.split(r"[ -]", match[0]), match.end()
    if words[-1] == "and":
        return None
    total = value = 0
    last = None
    for word in words:
        if word == "and" or word in ("a", "an"):
            continue
        if word in _BIG:
            value = (value or 1) * _BIG[word]
            if _BIG[word] >= 1000:
                total, value = total + value, 0
        elif last in _VALUES and not (last in _TENS and 0 < _VALUES[word] < 10):
            # "five six" are two numbers: the first one is told.
            return _VALUES[words[0]], at + len(words[0])
        else:
            value += _VALUES[word]
        last = word
    if half := _AND_A_HALF.match(lower, end):
        return times(2 * (total + value) + 1, _HALF), half.end()
    return total + value, end


def han_value(spelt: str) -> int | None:
    """The value of a Chinese number, one of digits in a row too (二〇二六); None where it is none."""
    if all(each in _HAN_SMALL for each in spelt):
        return int("".join(str(_HAN_SMALL[each]) for each in spelt)) if len(spelt) <= DIGITS_MAX else None
    total = section = digit = 0
    for each in spelt[:DIGITS_MAX]:
        if each in _HAN_SMALL:
            digit = _HAN_SMALL[each]
        elif each in _HAN_TENS:
            section, digit = section + (digit or 1) * _HAN_TENS[each], 0
        elif not (section or digit or total):
            return None
        elif total > _HAN_BIG[each]:  # 一亿三千万
            total, section, digit = total + (section + digit) * _HAN_BIG[each], 0, 0
        else:
            total, section, digit = (total + section + digit) * _HAN_BIG[each], 0, 0
    if digit and len(spelt) > 1:
        digit *= _HAN_TENTHS.get(spelt[-2], 1)
    return total + section + digit
