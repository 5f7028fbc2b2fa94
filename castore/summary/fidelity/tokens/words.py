"""Words that are facts by their look: URLs, e-mail addresses, paths, identifiers, and code that stands bare.

Law: each character is looked at a bounded number of times, whatever the text is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from castore.summary.fidelity.model import Fact, Text
from castore.summary.fidelity.tokens.shapes import Shape, near, shape, url_key

__all__ = ["word_facts"]

# A mark inside of a word, or a digit: few words of prose have one.
_TRIGGER = re.compile(r"[/_@\\0-9.-](?=[A-Za-z0-9_./~{<*$-])")
_NUMBER = re.compile(r"\d\d?(?:[.,]\d+)?%?(?=[ \n),.;:](?![0-9A-Za-z]))")
"""A small number, which says nothing but itself."""
_WIDE = re.compile("[\uff1a\uff08\uff09\uff1d\uff0c\uff1b\uff01\uff1f]")
_CALL = re.compile(r"\(\)")
_BACK = re.compile(r"[A-Za-z0-9_.~@%+#$:=-]*+")
_ON = re.compile(r"[A-Za-z0-9_./\\:@%+~#?&=${}()\[\]*-]*+")
_URL_ON = re.compile(r"[A-Za-z0-9_./\\:@%+~#?&=${}()\[\]*,;!|-]*+")
_NEAR, _REACH = 20, 120
"""Characters before a mark, at most, that belong to its word."""
_LENGTH_MAX = 400
"""Longer words than this are looked at for an address only."""
_LEAD = ".:)*=+(]}?&%"
_TRAIL = ".:!?*=(["
_SCHEME = re.compile(r"(?i:[a-z][a-z0-9+.-]{1,14}://|www\.)")
_MAIL = re.compile(r"(?<![\w.])[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_LABEL = re.compile(
    r"(?:ticket|order|case|invoice|issue|incident|request|account|policy|contract|claim|job|build|run|flight|train|"
    r"(?<![a-z])(?:id|no\.?|number|ref|reference|pr|mr|sku|po|rfc|iso|bug|card|tracking|booking|permit|batch|lot|"
    r"room|gate|seat)|"
    r"号|编号|工单|订单|合同|账号|卡号|航班|批次|电话|热线|手机)[ :#]{0,2}\Z"
)
_SERIAL = re.compile(r"\d{2,}(?:[-/]\d{2,}){1,4}")
_NUMBERED = re.compile(
    r"(?:编号|文号|单号|证号|账号|号码|(?<![a-z])(?:no\.?|number|id|ref\.?|reference))[ :#]{0,2}\Z"
)
"""What stands before digits with hyphens that are no date."""
_PHONES = (
    ("+", re.compile(r"\+\d{1,3}[ -]?(?:\(\d{1,4}\)[ -]?)?\d{2,4}(?:[ -]\d{2,4}){1,4}(?!\d)")),
    ("(", re.compile(r"\(\d{3,4}\) ?\d{3,4}-\d{4}(?!\d)")),
)
_CARD = re.compile(r"\d{4}(?: \d{4}){2,4}(?!\d)")
_FLIGHT = re.compile(
    r"(?<![A-Za-z])(?:CA|MU|CZ|HU|BA|UA|AA|DL|LH|AF|KL|EK|SQ|QF|NH|JL|CX|FM|MF|ZH|RFC|ISO|PR|MR) \Z"
)


def word_facts(text: Text) -> Iterator[Fact]:
    """What words say by their look. Takes what it finds."""
    yield from _spaced(text)
    plain, taken = text.plain, text.taken
    end = 0
    for match in _TRIGGER.finditer(plain):
        at = match.start()
        if at < end or taken[at]:
            continue
        mark = plain[at]
        if mark == "-":
            if plain[at + 1].isalpha() and plain[at - 1 : at].isalpha():
                continue
        elif (
            mark in "0123456789"
            and plain[at - 1 : at] in " \n("
            and (number := _NUMBER.match(plain, at)) is not None
        ):
            end = number.end()
            continue
        start, end = _word_around(text, at, end)
        fact = _taken_from(text, at, start, end)
        if fact is not None:
            yield fact
    yield from _calls(text)


def _calls(text: Text) -> Iterator[Fact]:
    end = 0
    for match in _CALL.finditer(text.plain):
        at = match.start()
        if at >= end and not text.taken[at]:
            start, end = _word_around(text, at, end)
            if (fact := _taken_from(text, at, start, end)) is not None:
                yield fact


def camel_fact(text: Text, at: int) -> tuple[Fact | None, int]:
    """What the word is that has this character inside; and where it ends, if it is too long to be looked at
    again for each of its capitals, as a picture in letters is."""
    if text.taken[at]:
        return None, at
    start, end = _word_around(text, at, 0)
    return _taken_from(text, at, start, end), end if end - start > _LENGTH_MAX else at


def _taken_from(text: Text, at: int, start: int, end: int) -> Fact | None:
    if text.taken[start] or text.taken[end - 1]:
        start, end = _outside(text.taken, at, start, end)
    if text.plain[start] == "/" and text.plain[start - 1 : start] == "<":
        return None
    fact = _fact(text, start, end)
    if fact is not None:
        text.take(fact.start, fact.end)
    return fact


def _word_around(text: Text, at: int, floor: int) -> tuple[int, int]:
    plain = text.plain
    start = _start_of(plain, at, floor)
    on = _ON.match(plain, at)
    end = max(on.end() if on else at, at + 1)
    if plain[at] in "/." and (plain.startswith("://", at - 1) or plain.startswith("www.", start)):
        more = _URL_ON.match(plain, end)
        end = more.end() if more else end
        end -= _size_after(plain, start, end, ",;!|")
    if not text.raw[start:end].isascii():
        # In Chinese a colon or a bracket stands without a space around it, and in no word.
        for wide in _WIDE.finditer(text.raw, start, end):
            if wide.start() >= at:
                return start, max(wide.start(), at + 1)
            start = wide.end()
    return start, end


def _start_of(plain: str, at: int, floor: int) -> int:
    if at == floor or plain[at - 1] in " \n":
        return at
    for reach in (_NEAR, _REACH):
        before = plain[max(floor, at - reach) : at]
        found = _BACK.match(before[::-1])
        size = found.end() if found is not None else 0
        if size < reach:
            break
    return at - size


def _size_after(plain: str, start: int, end: int, marks: str) -> int:
    word = plain[start:end]
    return len(word) - len(word.rstrip(marks))


def _outside(taken: bytearray, at: int, start: int, end: int) -> tuple[int, int]:
    """The part of a word around a mark that nobody has taken."""
    start = max(start, taken.rfind(1, start, at) + 1)
    stop = taken.find(1, at, end)
    return start, end if stop < 0 else stop


def _fact(text: Text, start: int, end: int) -> Fact | None:
    plain = text.plain
    word = plain[start:end]
    if len(word) > _LENGTH_MAX:
        return _long(word, start)
    word, start = _stripped(word, start)
    if len(word) < 2:
        return None
    if word.isdigit():
        return _labelled(text, word, start)
    if _SERIAL.fullmatch(word) and _NUMBERED.search(text.lower, max(0, start - 8), start) is not None:
        return Fact("identifier", start, start + len(word), _digits(word), ("digits", len(word)))
    found = shape(word)
    if found is None:
        inside = _inside(word)
        if inside is None:
            return None
        start, found = start + inside[0], inside[1]
    return Fact(found.kind, start, start + found.size, found.key, near(found.kind, found.key))


def _stripped(word: str, start: int) -> tuple[str, int]:
    """Without the marks around it that belong to the sentence."""
    bare = word.lstrip(_LEAD) if word[0] in _LEAD and not word.startswith(("./", "../", ".", "*.")) else word
    start += len(word) - len(bare)
    while bare:
        last = bare[-1]
        if (
            last in _TRAIL
            or (last == ")" and bare.count("(") < bare.count(")"))
            or (last == "]" and bare.count("[") < bare.count("]"))
            or (last == "}" and bare.count("{") < bare.count("}"))
            or (last == "_" and bare[0] == "_" and not bare.startswith("__"))
        ):
            bare = bare[:-1]
        else:
            break
    if bare.startswith("_") and not bare.startswith("__") and bare.count("_") == 1:
        return bare[1:], start + 1
    return bare, start


@lru_cache(maxsize=1 << 14)
def _inside(word: str) -> tuple[int, Shape] | None:
    """Something that a label stands before, or a value behind: where it begins, and what it is."""
    if "@" in word and (found := _MAIL.search(word)) is not None:
        return found.start(), Shape("email", found.end() - found.start(), found.group().lower())
    if "/" in word and (found := _SCHEME.search(word)) is not None and found.start():
        return found.start(), Shape("url", len(word) - found.start(), url_key(word[found.start() :]))
    for mark in "=:":
        head, at, tail = word.partition(mark)
        if at and head:
            if tail and (shaped := shape(tail)) is not None:
                return len(head) + 1, shaped
            if (shaped := shape(head)) is not None:
                return 0, shaped
    return None


def _long(word: str, start: int) -> Fact | None:
    found = _SCHEME.search(word, 0, _LENGTH_MAX)
    if found is None:
        return None
    return Fact("url", start + found.start(), start + len(word), url_key(word[found.start() :]))


def _labelled(text: Text, word: str, start: int) -> Fact | None:
    """Digits are an identifier if a label before says so, or if no number has as many."""
    plain = text.plain
    end = start + len(word)
    if len(word) == 4 and (card := _CARD.match(plain, start)) is not None:
        return Fact("identifier", start, card.end(), _digits(card.group()), ("digits", 16))
    if (code := _FLIGHT.search(plain[max(0, start - 5) : start])) is not None:
        start -= len(code.group())
        return Fact(
            "identifier", start, end, _digits(plain[start:end]), ("identifier", code.group().strip().lower())
        )
    if len(word) >= 9:
        found = shape(word)
        after = plain[end : end + 2].strip()
        is_amount = plain[max(0, start - 2) : start].strip()[-1:] in ("$", "¥", "€", "£") or after[
            :1
        ] in tuple("元万亿%")
        if found is not None and not is_amount:
            return Fact("identifier", start, end, found.key, ("digits", len(word)))
        return None
    if (
        len(word) < 3
        or plain[start - 1 : start] in (".", ",")
        or (plain[end : end + 1] in (".", ",") and plain[end + 1 : end + 2].isdigit())
    ):
        return None
    label = _LABEL.search(text.lower[max(0, start - 14) : start])
    if label is None:
        return None
    after = plain[end : end + 2]
    is_closed = not after.strip() or after[0] in ",.;:)!?\n，。；、）" or after[1:2] in ("\n", "(", "（")
    is_closed = is_closed or plain[start - 1] in "#:"
    if len(word) < 4 and not is_closed:
        return None
    return Fact("identifier", start, end, word, ("digits", len(word)))


def _spaced(text: Text) -> Iterator[Fact]:
    """Telephone numbers, whose parts have spaces between."""
    for mark, pattern in _PHONES:
        if mark not in text.plain:
            continue
        for match in pattern.finditer(text.plain):
            start, end = match.span()
            if not text.taken[start]:
                text.take(start, end)
                key = _digits(match.group())
                yield Fact("identifier", start, end, key, ("digits", len(key)))


def _digits(said: str) -> str:
    return re.sub(r"[^0-9A-Za-z]", "", said).lower()
