"""Units: what the word behind a number (or the sign before it) makes of it.

Laws:
- One unit has one name, and units of one dimension one measure: 24 hours are 1 day, 1 kB is 1000 bytes. A
  month is no number of days, and a working day is no day.
- A word that is no unit is the noun that is counted, without its plural's ending.
"""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

__all__ = ["CAPITALS", "CURRENCY_SIGNS", "HAN_UNITS", "SCALES", "UNITS", "Unit", "noun", "unit_of_han"]


class Unit(NamedTuple):
    """kind: of the facts that it makes. dimension: what is measured. factor: how many of the dimension's
    measure it is. name: what it is called here."""

    kind: str
    dimension: str
    factor: int | Decimal
    name: str


_MINUTE, _HOUR, _DAY = 60, 3600, 86400

_SPELT: dict[tuple[str, str, int | Decimal, str], str] = {
    ("duration", "second", Decimal("0.000000001"), "nanosecond"): "ns nanosecond nanoseconds 纳秒",
    ("duration", "second", Decimal("0.000001"), "microsecond"): "µs μs microsecond microseconds 微秒",
    ("duration", "second", Decimal("0.001"), "millisecond"): "ms msec millisecond milliseconds 毫秒",
    ("duration", "second", 1, "second"): "s sec secs second seconds 秒 秒钟",
    ("duration", "second", _MINUTE, "minute"): "min mins minute minutes 分钟",
    ("duration", "second", _HOUR, "hour"): "h hr hrs hour hours 小时 个小时 个钟头 钟头 个钟",
    ("duration", "second", _DAY, "day"): "d day days 天 日 个自然日 自然日 个日历日 日历日 昼夜",
    ("duration", "second", 7 * _DAY, "week"): "w wk wks week weeks 周 星期 个星期 礼拜 个礼拜",
    ("duration", "second", 14 * _DAY, "fortnight"): "fortnight fortnights",
    ("duration", "month", 1, "month"): "mo mos mth mths month months 个月",
    ("duration", "month", 3, "quarter"): "quarters 个季度",
    ("duration", "month", 12, "year"): "y yr yrs year years 年 周年",
    ("duration", "month", 120, "decade"): "decade decades",
    ("duration", "working day", 1, "working day"): "个工作日 工作日 个营业日 营业日 个交易日 交易日 工作天",
    ("percent", "percent", 1, "percent"): "% percent pct percents 个百分点 百分点",
    ("percent", "percent", Decimal("0.1"), "per mille"): "‰",
    ("percent", "percent", Decimal("0.01"), "basis point"): "bps bp 个基点 基点",
    ("money", "USD", 1, "USD"): "dollar dollars usd buck bucks 美元 美金 美刀",
    ("money", "USD", Decimal("0.01"), "US cent"): "cent cents 美分",
    ("money", "CNY", 1, "CNY"): "yuan rmb cny renminbi 元 块 块钱 元人民币 人民币 圆 元钱",
    ("money", "CNY", Decimal("0.1"), "jiao"): "角",
    ("money", "EUR", 1, "EUR"): "euro euros eur 欧元",
    ("money", "GBP", 1, "GBP"): "pounds gbp quid 英镑",
    ("money", "JPY", 1, "JPY"): "yen jpy 日元 日圆",
    ("money", "HKD", 1, "HKD"): "hkd 港元 港币",
    ("money", "TWD", 1, "TWD"): "twd ntd 新台币 台币",
    ("money", "KRW", 1, "KRW"): "won krw 韩元",
    ("money", "INR", 1, "INR"): "rupee rupees inr 卢比",
    ("money", "AUD", 1, "AUD"): "aud 澳元",
    ("money", "CAD", 1, "CAD"): "cad 加元",
    ("money", "SGD", 1, "SGD"): "sgd 新加坡元 新元",
    ("money", "CHF", 1, "CHF"): "chf franc francs 瑞士法郎",
    ("number", "byte", 1, "byte"): "byte bytes 字节 个字节",
    ("number", "byte", 10**3, "kilobyte"): "kb kilobyte kilobytes",
    ("number", "byte", 10**6, "megabyte"): "mb megabyte megabytes 兆 兆字节",
    ("number", "byte", 10**9, "gigabyte"): "gb gigabyte gigabytes gig gigs",
    ("number", "byte", 10**12, "terabyte"): "tb terabyte terabytes",
    ("number", "byte", 10**15, "petabyte"): "pb petabyte petabytes",
    ("number", "byte", 2**10, "kibibyte"): "kib kibibyte kibibytes",
    ("number", "byte", 2**20, "mebibyte"): "mib mebibyte mebibytes",
    ("number", "byte", 2**30, "gibibyte"): "gib gibibyte gibibytes",
    ("number", "byte", 2**40, "tebibyte"): "tib tebibyte tebibytes",
    ("number", "bit", 1, "bit"): "bit bits 位元 比特",
    ("number", "bit/s", 10**3, "kbps"): "kbps kbit",
    ("number", "bit/s", 10**6, "mbps"): "mbps mbit",
    ("number", "bit/s", 10**9, "gbps"): "gbps gbit",
    (
        "number",
        "metre",
        Decimal("0.001"),
        "millimetre",
    ): "mm millimeter millimeters millimetre millimetres 毫米",
    (
        "number",
        "metre",
        Decimal("0.01"),
        "centimetre",
    ): "cm centimeter centimeters centimetre centimetres 厘米 公分",
    ("number", "metre", 1, "metre"): "meter meters metre metres 米",
    ("number", "metre", 1000, "kilometre"): "km kilometer kilometers kilometre kilometres 公里 千米",
    ("number", "foot", 1, "foot"): "ft foot feet 英尺",
    ("number", "inch", 1, "inch"): "inch inches 英寸 寸",
    ("number", "mile", 1, "mile"): "mile miles 英里",
    ("number", "gram", Decimal("0.001"), "milligram"): "mg milligram milligrams 毫克",
    ("number", "gram", 1, "gram"): "gram grams 克",
    ("number", "gram", 500, "jin"): "斤",
    ("number", "gram", 1000, "kilogram"): "kg kgs kilo kilos kilogram kilograms 千克 公斤",
    ("number", "gram", 10**6, "ton"): "ton tons tonne tonnes 吨",
    ("number", "pound", 1, "pound"): "lb lbs 磅",
    ("number", "ounce", 1, "ounce"): "oz ounce ounces 盎司",
    (
        "number",
        "litre",
        Decimal("0.001"),
        "millilitre",
    ): "ml milliliter milliliters millilitre millilitres 毫升",
    ("number", "litre", 1, "litre"): "l liter liters litre litres 升",
    ("number", "gallon", 1, "gallon"): "gal gallon gallons 加仑",
    ("number", "pint", 1, "pint"): "pint pints",
    ("number", "yard", 1, "yard"): "yd yard yards 码",
    ("number", "acre", 1, "acre"): "acre acres 英亩",
    ("number", "hectare", 1, "hectare"): "ha hectare hectares 公顷",
    ("number", "square metre", 1, "square metre"): "sqm m² ㎡ 平方米 平米 平",
    ("number", "mu", 1, "mu"): "亩",
    ("number", "mph", 1, "mph"): "mph",
    ("number", "km/h", 1, "km/h"): "kmh kph",
    ("number", "calorie", 1, "calorie"): "cal calorie calories 卡",
    ("number", "calorie", 1000, "kilocalorie"): "kcal 千卡 大卡",
    ("number", "hertz", 1, "hertz"): "hz hertz 赫兹",
    ("number", "hertz", 10**3, "kilohertz"): "khz",
    ("number", "hertz", 10**6, "megahertz"): "mhz",
    ("number", "hertz", 10**9, "gigahertz"): "ghz",
    ("number", "decibel", 1, "decibel"): "db decibel decibels 分贝",
    ("number", "mAh", 1, "mAh"): "mah 毫安时",
    ("number", "watt-hour", 1, "watt-hour"): "wh 瓦时",
    ("number", "watt-hour", 1000, "kilowatt-hour"): "kwh 千瓦时 度电",
    ("number", "pascal", 1, "pascal"): "pa 帕",
    ("number", "pascal", 1000, "kilopascal"): "kpa 千帕",
    ("number", "bar", 1, "bar"): "bar",
    ("number", "ppm", 1, "ppm"): "ppm",
    ("number", "rpm", 1, "rpm"): "rpm 转",
    ("number", "lumen", 1, "lumen"): "lm lumen lumens 流明",
    ("number", "newton metre", 1, "newton metre"): "nm 牛米",
    ("number", "dpi", 1, "dpi"): "dpi ppi",
    ("number", "fps", 1, "fps"): "fps 帧",
    ("number", "horsepower", 1, "horsepower"): "hp horsepower 马力",
    ("number", "watt", 1, "watt"): "watt watts 瓦",
    ("number", "watt", 1000, "kilowatt"): "kw kilowatt kilowatts 千瓦",
    ("number", "watt", 10**6, "megawatt"): "mw megawatt megawatts 兆瓦",
    ("number", "volt", 1, "volt"): "volt volts 伏 伏特",
    ("number", "degree", 1, "degree"): "° °c ℃ degree degrees celsius 度 摄氏度",
    ("number", "fahrenheit", 1, "fahrenheit"): "°f ℉ fahrenheit 华氏度",
    ("number", "times", 1, "times"): "x × times fold 倍 次",
    ("number", "pixel", 1, "pixel"): "px pixel pixels 像素",
}

UNITS: dict[str, Unit] = {word: Unit(*unit) for unit, words in _SPELT.items() for word in words.split()}
"""By each spelling, in lower case."""

HAN_UNITS = tuple(sorted((each for each in UNITS if each[0] >= "\u3400" and each[0] < "\ua000"), key=len))[
    ::-1
]
"""Of Chinese, the longest first."""

CAPITALS = {"W": UNITS["watt"], "V": UNITS["volt"], "C": UNITS["celsius"], "F": UNITS["fahrenheit"]}
"""Units of one capital letter; in small letters they are others, or none."""

SCALES: dict[str, int | Decimal] = {
    "hundred": 100,
    "dozen": 12,
    "k": 1000,
    "thousand": 1000,
    "m": 10**6,
    "mn": 10**6,
    "mln": 10**6,
    "million": 10**6,
    "b": 10**9,
    "bn": 10**9,
    "billion": 10**9,
    "trillion": 10**12,
}

CURRENCY_SIGNS = {
    "$": "USD",
    "¥": "CNY",
    "€": "EUR",
    "£": "GBP",
    "₹": "INR",
    "₩": "KRW",
}

_LONGEST = max(map(len, HAN_UNITS))


def unit_of_han(words: str) -> tuple[Unit, int] | None:
    """The unit that Chinese text begins with, the longest that fits, and of how many characters it is."""
    for length in range(min(_LONGEST, len(words)), 0, -1):
        if unit := UNITS.get(words[:length]):
            return unit, length
    return None


def noun(word: str) -> str:
    """What is counted, by its name for one: cheap, and wrong for what has a plural of its own."""
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-3] + "y" if word.endswith("ies") else word[:-1]
    return word
