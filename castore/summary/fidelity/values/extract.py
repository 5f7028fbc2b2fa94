"""Values: numbers, money, percentages, dates, times of day, durations and versions.

    No fact is: a number that only counts what follows or that orders (Step 3, 2nd, 第1步, a list's numbers,
    "two ways"), nor one inside a word (utf8, gpt-4), nor what another extractor took.

Laws:
- Facts that say one value have one key, whatever the spelling: see numerals, dates and measures.
- Takes time linear in the text: what is looked at around each number is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from castore.summary.fidelity.model import Fact, Text
from castore.summary.fidelity.values.dates import (
    NUMERIC,
    Clock,
    Day,
    beside,
    clock_of,
    han_dates,
    named_dates,
    numeric_date,
)
from castore.summary.fidelity.values.measures import measures
from castore.summary.fidelity.values.numerals import NUMBER, number_value
from castore.summary.fidelity.values.spelt import han_numbers, share_of, spelt_numbers
from castore.summary.fidelity.values.units import SCALES, UNITS, noun, unit_of_han

__all__ = ["extract"]

_DIGITS = re.compile(
    r"[0-9](?<![a-z0-9_.][0-9])[0-9]*+|[0-9](?<=[^a-z](?:usd|rmb|cny|eur|gbp|jpy|hkd)[0-9])[0-9]*+"
)
_PRE = r"(?:[.-]?(?:rc|alpha|beta|dev|pre|post|snapshot|preview|a|b)(?:[.-]?[0-9]{1,8})?(?![a-z0-9]))?"
_SHAPE = re.compile(
    rf"{NUMERIC}"
    rf"|(?P<version>[0-9]{{1,8}}(?:\.[0-9]{{1,8}}){{2,4}}{_PRE}|[0-9]{{1,8}}(?:\.[0-9]{{1,8}})?\.x(?![a-z]))(?![0-9])"
    r"|(?P<size>[0-9]{2,5} ?[x×] ?[0-9]{2,5}(?![0-9a-z]))"
    r"|(?P<ratio>[0-9]{1,4}/[0-9]{1,4}(?![0-9/]))"
    rf"|(?P<number>{NUMBER})"
)
_MARKED_VERSION = re.compile(rf"v[0-9]{{1,8}}(?:\.[0-9]{{1,8}}){{0,4}}(?:\.x)?{_PRE}(?![a-z0-9_])")
_TO_VERSION = re.compile(rf"[0-9]{{1,8}}(?:\.[0-9]{{1,8}}){{0,4}}{_PRE}(?![a-z0-9_])")
_MORE_VERSIONS = re.compile(
    r"(?:, | and | or | to |/|, and | & )"
    r"([0-9]{1,4}(?:\.[0-9]{1,4}){1,3})(?![a-z0-9_%.])(?! ?[a-z]*(?:second|minute|hour|day|%))"
)
_JOINED_MAX = 20
_VERSIONED = frozenset(
    str.split(
        "version versions ver release python node nodejs node.js java jdk golang rust ruby php postgres "
        "postgresql mysql mariadb redis ubuntu debian fedora alpine django flask rails react vue angular "
        "kubernetes k8s tls macos ios android windows chrome firefox safari typescript swift kotlin scala "
        "gcc clang llvm cmake npm pnpm yarn kafka nginx openssl spark terraform elasticsearch mongodb "
        "sqlite spring numpy pandas pytorch tensorflow cuda helm docker git linux kernel openapi 版本 版本号"
    )
)
_SAYS_VERSION = frozenset(str.split("version versions ver release 版本 版本号"))
_LABELS = frozenset(
    str.split(
        "step section figure fig table chapter appendix option task item example question point case part "
        "exercise method approach scenario note problem todo no number issue pr line lines page bullet "
        "row column clause article paragraph para annex schedule rule exhibit attachment lesson unit"
    )
) - {"line", "lines", "page", "row", "column", "number"}
_IN_YEAR = frozenset(
    str.split(
        "in since by from until till of during before after through year fy for late early mid between "
        "and to founded established born built summer spring autumn fall winter copyright"
    )
)
_ON_DAY = frozenset(str.split("on by before after until till from since due to through"))
_DAY_BY = re.compile(r"(?<![a-z])the $|day,? $")
_OF_MONTH = re.compile(
    r" (?:day )?of (?:the|each|every|this|next|that|a) (?:[a-z]+ ){0,2}month|(?= ?(?:[.,;)\n]|$))"
)
_NO_DAY = ("内", "以内", "之内", "后", "之后", "以后", "前", "的", "线", "楼", "院", "门", "房", "机", "文")
_AFTER_DAY = (
    "前",
    "后",
    "之前",
    "之后",
    "以前",
    "起",
    "至",
    "到",
    "上",
    "下",
    "晚",
    "早",
    "，",
    "。",
    "、",
    "（",
    "的",
    "截",
)
_INNER = frozenset("-/\\_.:")
_TO_MARK = frozenset((".", ")", "、", "．", ":"))
_ITEM = frozenset((". ", ") "))
_BEFORE_MARK = frozenset(" ，。；：:\n")
_SHAPED = frozenset("-/.,'_:年月 x×")
_TIMED = frozenset(" :点时ap-'o")
_BEHIND_WORD = " :=#≥>^~(\"'*`"
_WORD_AT_END = re.compile("[a-z0-9.]*$")
_HAN = re.compile("[\u4e00-\u9fff]")
_HOUR = re.compile(r"([1-9]|1[0-2]|[01][0-9](?=\.)|2[0-3](?=\.))(?:\.([0-5][0-9]))?")
_DOTTED = re.compile(r"[0-9]{1,2}\.[0-5][0-9] ?[ap]\.?m(?![a-z])")
_LABELLED = re.compile(r"""([a-z]{1,16}+)["'`]?\ ?[:=]\ ?["'`]?$""", re.VERBOSE)
_NUMBER = re.compile(NUMBER)
_SIDES = re.compile("[0-9]+")
_MARKUP = " \t#*->([|"


def extract(text: Text) -> Iterator[Fact]:
    """The facts of these kinds, in the order of the text."""
    found = [*_found(text)]
    found.sort(key=lambda fact: fact.start)
    last: Fact | None = None
    for fact in found:
        if last is not None:
            if fact.kind == "date" and last.kind == "date":
                assert isinstance(fact.key, Day)
                assert isinstance(last.key, Day)
                if day := beside(last.key, fact.key, text.lower[last.end : fact.start]):
                    last = Fact("date", last.start, fact.end, day)
                    continue
            yield last
        last = fact
    if last is not None:
        yield last


def _found(text: Text) -> Iterator[Fact]:
    plain, lower, busy = text.plain, text.lower, bytearray(text.taken)
    dates = [*named_dates(plain, lower)]
    is_han = not plain.isascii() and _HAN.search(plain) is not None
    if is_han:
        dates += han_dates(plain)
    for kind, start, end, key in dates:
        if not text.taken[start]:
            busy[start:end] = b"\1" * (end - start)
            yield Fact(kind, start, end, key)
    for match in _MARKED_VERSION.finditer(lower):
        start, end = match.span()
        if not busy[start] and not _is_in_word(lower, start):
            busy[start:end] = b"\1" * (end - start)
            yield _version(start, end, lower[start + 1 : end])
    yield from _of_digits(plain, lower, busy)
    yield from spelt_numbers(plain, lower, busy)
    if is_han:
        yield from han_numbers(plain, lower, busy)


def _of_digits(plain: str, lower: str, busy: bytearray) -> Iterator[Fact]:
    at = inside = 0
    while match := _DIGITS.search(lower, at):
        start, at = match.span()
        if busy[start] or (lower[start - 1 : start] == "\n" and lower[at : at + 2] in _ITEM):
            continue
        if (start and lower[start - 1] in _INNER and _is_in_word(lower, start)) or (
            inside and start == inside + 1 and lower[inside] in _INNER
        ):
            inside = at
            continue
        found, end = _at(plain, lower, start, at)
        if end > at:
            busy[start:end] = b"\1" * (end - start)
            at = end
        yield from found


def _is_in_word(lower: str, start: int) -> bool:
    """Whether what begins here is the rest of a word, as the 4 of gpt-4 is."""
    before = lower[start - 2 : start] if start > 1 else lower[:start]
    if not before:
        return False
    last = before[-1]
    if last in _INNER:
        return before[0].isalpha() and before[0].isascii() if len(before) > 1 else False
    return last.isalnum() and last.isascii() and lower[start] == "v"


def _at(plain: str, lower: str, start: int, end: int) -> tuple[list[Fact], int]:
    """What the digits from `start` to `end` begin to say, and where that ends."""
    following = lower[end : end + 1]
    if following in _TO_MARK and end - start <= 3 and _is_mark(lower, start, end, following):
        return [], end
    if following not in _SHAPED and lower[end + 1 : end + 2] not in ("年", "月", "x", "×"):
        return _of_number(plain, lower, start, _NUMBER.match(lower, start).end())  # type: ignore[union-attr]
    shape = _SHAPE.match(lower, start)
    if shape is None:
        return [], end
    name, until = shape.lastgroup, shape.end()
    if name == "number" and following == "." and _is_of_section(plain, start, until):
        return [], until
    if name == "number":
        return _of_number(plain, lower, start, until)
    if name == "version":
        return [_version(start, until, shape["version"])], until
    if name == "size":
        wide, high = _SIDES.findall(shape["size"])
        return [Fact("number", start, until, ("size", f"{wide}x{high}"))], until
    if name == "ratio":
        return _of_ratio(lower, start, until, shape["ratio"])
    return _of_date(plain, lower, start, shape)


_SECTION_BEFORE = re.compile(r"(?:(?:\A|\n)[ \t#*>]*+|[.;:!?] |[。；])\Z")
_SECTION_AFTER = re.compile(r"\.? (?:[A-Z][A-Za-z]*|[\u4e00-\u9fff]{2})")


def _is_of_section(plain: str, start: int, end: int) -> bool:
    """Whether a number with a point stands before a sentence and numbers it: 6.1 The Supplier shall …"""
    if end - start > 10 or not _SECTION_BEFORE.search(plain, max(0, start - 8), start):
        return False
    after = _SECTION_AFTER.match(plain, end)
    word = after[0].lstrip(". ") if after else ""
    low = word.lower()
    return (
        bool(word)
        and low not in UNITS
        and low not in SCALES
        and not unit_of_han(word)
        and word[0] not in "万亿千百"
    )


def _of_date(plain: str, lower: str, start: int, shape: re.Match[str]) -> tuple[list[Fact], int]:
    said, end = numeric_date(shape), shape.end()
    if said is None:
        return _of_number(plain, lower, start, _NUMBER.match(lower, start).end())  # type: ignore[union-attr]
    if said.year is not None and not 1900 <= said.year <= 2099:
        return _of_number(plain, lower, start, start + 4)
    found = [Fact("date", start, end, said)]
    if lower[end : end + 1] == "t" and (clock := clock_of(lower, end + 1)):
        found.append(Fact("time", end + 1, clock[2], clock[0]))
        end = clock[2]
    return found, end


def _of_ratio(lower: str, start: int, end: int, spelt: str) -> tuple[list[Fact], int]:
    if spelt == "24/7":
        return [], end
    over, under = map(int, spelt.split("/"))
    if 1 <= over <= 12 and 9 < under <= 31 and _word_before(lower, start) in _ON_DAY:
        return [Fact("date", start, end, Day(None, over, under))], end
    return [Fact("number", start, end, ("share", over, under))], end


def _of_number(plain: str, lower: str, start: int, end: int) -> tuple[list[Fact], int]:
    if (
        (end - start <= 2 or _DOTTED.match(lower, start))
        and lower[end : end + 1] in _TIMED
        and (clock := clock_of(lower, start))
    ):
        said, begin, until = clock
        return [Fact("time", begin, until, said)], until
    if lower[end : end + 4] in (" in ", " out") and (share := share_of(lower, start)):
        return [share], share.end
    word = _word_before(lower, start)
    if word in _LABELS or lower[start - 1 : start] in ("第", "#"):
        return [], end
    if word in _VERSIONED and (version := _TO_VERSION.match(lower, start)):
        return _versions(lower, version, word)
    found = measures(plain, lower, start, end, number_value(lower[start:end]))
    first = found[0]
    if first.unit is None and len(found) == 1:
        if lower.startswith(("st", "nd", "rd", "th"), end):
            return _ordinal(lower, start, end)
        if "a" <= lower[end : end + 1] <= "z" and not _is_scaled(lower, end):
            return [], end  # 7zip
        if (
            first.noun is None
            and first.rate is None
            and (label := _LABELLED.search(lower, max(0, start - 24), start))
        ):
            unit = UNITS.get(label[1]) if len(label[1]) > 1 else None
            return [first._replace(unit=unit, noun=noun(label[1])).fact()], first.end
        if first.noun is None and word == "at" and (hour := _HOUR.fullmatch(lower, start, end)):
            second = int(hour[1]) * 3600 + int(hour[2] or 0) * 60
            return [Fact("time", start, end, Clock(second, second < 46800))], end
        if first.noun is None and (fact := _named(plain, lower, start, end, word)):
            return [fact], end
    if len(found) == 1 and lower[first.end - 1] in "日号" and (day := _day_of_month(lower, start, end)):
        return [Fact("date", start, first.end, Day(day=day))], first.end
    return [each.fact() for each in found], found[-1].end


def _versions(lower: str, first: re.Match[str], word: str) -> tuple[list[Fact], int]:
    """This one, and those that are joined to it: TLS 1.0 and 1.1. word: what stands before it, and belongs
    to it where the number by itself looks like any."""
    start, end = first.span()
    if word in _SAYS_VERSION or "." not in first[0]:
        start = lower.rindex(word, 0, start)
    found = [_version(start, end, first[0])]
    while (more := _MORE_VERSIONS.match(lower, end)) and len(found) < _JOINED_MAX:
        found.append(_version(*more.span(1), more[1]))
        end = more.end()
    return found, end


def _ordinal(lower: str, start: int, end: int) -> tuple[list[Fact], int]:
    """The 15th, where it is of a month or what is done by then; what else is ordered is no fact."""
    before = _DAY_BY.search(lower, max(0, start - 14), start)
    behind = _OF_MONTH.match(lower, end + 2)
    day = int(lower[start:end]) if end - start <= 2 else 0
    if behind and (before or len(behind[0]) > 3) and 1 <= day <= 31:
        return [Fact("date", start, end + 2, Day(day=day))], end + 2
    return [], end


def _day_of_month(lower: str, start: int, end: int) -> int:
    """The day that 5日 and 5号 say, where they are neither a duration nor a house number; else 0."""
    day = int(lower[start:end]) if end - start <= 2 else 0
    is_of_month = lower[start - 1 : start] == "月"
    at = end + (lower[end : end + 1] == " ") + 1
    if not 1 <= day <= 31 or (not is_of_month and lower.startswith(_NO_DAY, at)):
        return 0
    return day if lower[at - 1] == "日" or is_of_month or lower.startswith(_AFTER_DAY, at) else 0


def _is_scaled(lower: str, end: int) -> bool:
    """Whether the letter behind a number says how many thousands, or it may: 5m."""
    return lower[end] in "kmb" and not lower[end + 1 : end + 2].isalnum()


def _named(plain: str, lower: str, start: int, end: int, word: str) -> Fact | None:
    """The year that `in 2024` says, or the version behind a name (Fedora 41.2)."""
    spelt = lower[start:end]
    if len(spelt) == 4 and spelt.isdecimal():
        year = int(spelt)
        return Fact("date", start, end, Day(year)) if 1900 <= year <= 2099 and word in _IN_YEAR else None
    at = start - 1 - len(word)
    if "." in spelt and word and lower[start - 1] == " " and plain[at : at + 1].isupper():
        return _version(start, end, spelt)
    return None


def _version(start: int, end: int, spelt: str) -> Fact:
    return Fact("version", start, end, spelt)


def _word_before(lower: str, start: int) -> str:
    """The word before these digits, if it is on their line; Chinese: the two characters."""
    before = lower[max(0, start - 16) : start]
    if not before:
        return ""
    said = before.rstrip(_BEHIND_WORD) if before[-1] in _BEHIND_WORD else before
    if said[-1:] > "\u3400":
        return "版本号" if said.endswith("版本号") else said[-2:]
    if said is before:
        return ""
    word = said.rpartition(" ")[2]
    return word if word.isalpha() and word.isascii() else _WORD_AT_END.search(word)[0]  # type: ignore[index]


def _is_mark(lower: str, start: int, end: int, following: str) -> bool:
    """Whether it only orders: the number of a list's item, or in parentheses."""
    previous = lower[start - 1 : start] if start else "\n"
    if previous == "(" and following == ")":
        return True
    behind = lower[end + 1 : end + 2]
    if previous in "\n \t#*->|[(":
        begin = lower.rfind("\n", max(0, start - 24), start) + 1
        if (begin or start <= 24) and not lower[begin:start].strip(_MARKUP):
            return not behind or behind.isspace() or (following in "、." and not behind.isdecimal())
    if following not in ")、" or previous not in _BEFORE_MARK:
        return False
    return "(" not in lower[max(0, start - 40) : start]
