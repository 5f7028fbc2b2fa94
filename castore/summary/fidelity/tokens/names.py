"""Names: of people, firms, places and products, which English writes with capitals.

A word with a capital inside of a sentence is one, if it is none that is written so anyway; at the beginning
of a sentence it is, if more speaks for it: a word with a capital behind it, a given name, a form like
`GitHub`, or that the text has it inside of a sentence too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from castore.summary.fidelity.model import Fact, Text
from castore.summary.fidelity.tokens.listed import listed
from castore.summary.fidelity.tokens.name_words import COMMON, GENERIC, GIVEN, LITTLE, NEVER, SPEAKS
from castore.summary.fidelity.tokens.words import camel_fact

__all__ = ["name_facts", "name_parts"]

_LETTERS = r"[A-Za-z\u00c0-\u024f]"
_WORD = rf"[A-Z\u00c0-\u00de]{_LETTERS}*+(?:['&.-](?!s\b){_LETTERS}++)*+"
_LINK = r" (?:(?:of(?: the)?|d(?:e[rnl]?|[iau])|la|v[ao]n|al|and the|bin|el|&) )?"
_NAME = re.compile(rf"{_WORD}(?:{_LINK}{_WORD}){{0,6}}+")
_MORE = re.compile("[0-9_]|-[0-9]")
"""What goes on with what is no name. Not asked in the pattern: it would try each capital before it anew."""
_BEFORE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789,)%'\"")
"""What may stand, before a space, inside of a sentence."""
_SMALL = frozenset("abcdefghijklmnopqrstuvwxyz")
_SKIP = " \t*_\"'(\u201c\u300c[>`"
_ENDS = frozenset("\n.!?:;|#-*\u2022\u2014\u3002\uff01\uff1f\u2192=+")
_LABELS = re.compile(
    r"(?:owner|contact|by|from|to|attendees|present|author|authors|lead|reviewer|reviewers|assignee|name|"
    r"vendor|host|driver|chair|cc|manager|signed|prepared for|prepared by|"
    r"attn|location|venue|city)\**: ?\**\Z"
)
_NEXT = re.compile(r"(?:'s)? ([a-z]+)")
_TITLES = frozenset(("mr", "mrs", "ms", "dr", "prof", "sir"))
_PART = re.compile(r"[^\W_]+")


def name_facts(text: Text) -> Iterator[Fact]:
    """Names in letters with capitals; and words like `parseDate`, which are code."""
    found: dict[str, Fact] = {}
    doubtful: dict[str, Fact] = {}
    seen: set[str] = set(COMMON_CAPITAL)
    doubted: set[str] = set()
    plain, taken = text.plain, text.taken
    passed = 0
    for match in _NAME.finditer(plain):
        said, start = match[0], match.start()
        if start < passed or (said in seen and plain[start - 1] not in _SMALL):
            continue
        if taken[start] or (said in doubted and plain[start - 2 : start - 1] not in _BEFORE):
            continue
        if _MORE.match(plain, match.end()):
            continue
        if start and _goes_on(plain[start - 1]):
            if plain[start - 1].islower():
                code, passed = camel_fact(text, start)
                if (fact := code or _joined(text, start, said)) is not None:
                    yield fact
            continue
        (doubted if plain[start - 2 : start - 1] not in _BEFORE else seen).add(said)
        for is_sure, fact in _judged(text, start, said):
            if is_sure:
                seen.add(said)
            (found if is_sure else doubtful).setdefault(str(fact.key), fact)
    yield from found.values()
    sure = {part for key in found for part in key.split()}
    for key, fact in doubtful.items():
        if key not in found and key in sure and key not in GENERIC:
            yield fact


def _joined(text: Text, start: int, said: str) -> Fact | None:
    """What begins with a small letter and has a capital behind, and is no code: a name such as `iPhone`."""
    if text.plain[start - 1] in "ie" and not text.plain[start - 2 : start - 1].isalnum() and len(said) > 1:
        end = start + len(said.partition(" ")[0])
        return Fact("name", start - 1, end, text.lower[start - 1 : end])
    return None


def _goes_on(before: str) -> bool:
    """Whether a word that has this character before it is a part of a longer one."""
    return before in "_-$/.@" or (before.isalnum() and before < "\u2fff")


COMMON_CAPITAL = frozenset(word.capitalize() for word in COMMON | NEVER) | {"I"}


def _judged(text: Text, start: int, said: str) -> Iterator[tuple[bool, Fact]]:
    plain = text.plain
    is_inside = _is_inside(text, start)
    words = said.split(" ")
    if not is_inside:
        is_shouted = said.isupper() and len(words) > 1 and min(map(len, words)) > 3
        if is_shouted or _is_heading(plain, start, start + len(said)):
            return
        while words and words[0].lower() in COMMON:
            start += len(words[0]) + 1
            words = words[1:]
            is_inside = True
    elif words and words[0].lower() in COMMON and len(words) > 1 and words[0].lower() not in GENERIC:
        start += len(words[0]) + 1
        words = words[1:]
    while words and (words[0].lower() in LITTLE or words[0].lower().rstrip(".") in _TITLES):
        start += len(words[0]) + 1
        words = words[1:]
    while words and (words[-1].lower() in LITTLE or words[-1].lower() in _DATES):
        words = words[:-1]
    while words and words[0].lower() in _DATES:
        start += len(words[0]) + 1
        words = words[1:]
    if not words or all(_says_little(word) for word in words):
        return
    fact = _named(start, " ".join(words))
    if fact is None:
        return
    if is_inside or len(words) > 1 or _is_name_by_look(words[0]) or _speaks(plain, start + len(words[0])):
        yield True, fact
    else:
        yield False, fact


_DATES = listed(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june
    july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec
    am pm utc gmt
    """
)


def _says_little(word: str) -> bool:
    low = word.lower().rstrip(".")
    return low in NEVER or low in LITTLE or low in COMMON or low in GENERIC or word.isdigit() or len(word) < 2


def _named(start: int, said: str) -> Fact | None:
    parts = name_parts(said.lower())
    if _FORMS.issuperset(parts):
        return None
    key = " ".join(parts)
    return Fact("name", start, start + len(said), key) if len(key) > 1 else None


def name_parts(lower: str) -> list[str]:
    """The words of a name, without titles, what forms of firms are called, and small words."""
    joined = lower.replace("'", "")
    if re.fullmatch(r"(?:[a-z]\.)+[a-z]?\.?", joined):
        joined = joined.replace(".", "")
    parts = [part for part in _PART.findall(joined) if part not in LITTLE and part not in _FORMS]
    return parts or _PART.findall(joined)


_FORMS = _TITLES | {"inc", "ltd", "llc", "llp", "plc", "corp", "corporation", "co", "gmbh", "ag", "limited"}


def _is_inside(text: Text, start: int) -> bool:
    """Whether it stands inside of a sentence."""
    plain = text.plain
    at = start - 1
    while at >= 0 and start - at < 8 and plain[at] in _SKIP:
        at -= 1
    if at < 0:
        return False
    last = plain[at]
    if last not in _ENDS:
        return start - at < 8 and (last != "," or at + 1 < start)
    if last == ":":
        return _LABELS.search(text.lower[max(0, at - 16) : start]) is not None
    if last == ".":
        # A title, or an initial: `Dr. Lin`, `J. Smith`.
        word = plain[max(0, at - 4) : at].rpartition(" ")[2].lower()
        return word in _TITLES or (len(word) == 1 and word.isalpha())
    return last == "-" and at > 0 and plain[at - 1].isalnum()


def _is_heading(plain: str, start: int, end: int) -> bool:
    """Whether its line is a heading or a label: it has nothing but words with capitals."""
    low = max(0, start - 80)
    begin = plain.rfind("\n", low, start) + 1 or low
    if plain[begin : begin + 1] == "#":
        return True
    after = plain[end : end + 3].lstrip("*_ ")
    if after[:1] == ":":
        return True
    stop = plain.find("\n", end, end + 80)
    rest = plain[end : stop if stop >= 0 else min(len(plain), end + 80)]
    is_first = plain[begin:start].strip(" \t*_>|") == ""
    if not is_first or (stop < 0 and end + 80 < len(plain)):
        return False
    words = rest.replace(",", " ").split()
    return (
        bool(rest.strip() == "" or all(word[0].isupper() or word in LITTLE for word in words))
        and not rest.rstrip().endswith((".", "!", "?"))
        and begin + 80 > end
        and (stop >= 0 and begin == 0)
    )


def _is_name_by_look(word: str) -> bool:
    low = word.lower()
    if low in GIVEN:
        return True
    if word.isupper():
        return 2 <= len(word) <= 6
    return any(map(str.isupper, word[1:])) or not word.isascii()


def _speaks(plain: str, end: int) -> bool:
    found = _NEXT.match(plain, end)
    return found is not None and found.group(1) in SPEAKS and plain[end - 1] != "s"
