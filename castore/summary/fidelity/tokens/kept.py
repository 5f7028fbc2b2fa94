"""Whether one text says a word or a marked piece of another, in whatever form."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from castore.summary.fidelity.model import Fact, Facts
from castore.summary.fidelity.terms import is_han, terms
from castore.summary.fidelity.tokens.name_words import COMMON, GENERIC, NEVER
from castore.summary.fidelity.tokens.names import name_parts
from castore.summary.fidelity.tokens.said import Said, said_by

__all__ = ["is_kept"]

_KINDS = ("path", "command", "identifier", "url", "email", "code", "quote", "name")
_HEX = re.compile(r"[0-9a-f]{7,}")
_IN_SHORT = re.compile(r"[^.;()\n]{0,60}\((?:the )?\"?([A-Z]{2,8})\"?\)")
_LOOSELY = frozenset("@_")
_KIND_OF_PLACE = re.compile(
    r"(?:信息|科技|技术|网络|软件|食品|贸易|商贸|实业|投资|建设|建筑|工程|会计师|律师|教育|文化|传媒|物流|生物|医药|"
    r"电子|智能|数据|咨询|管理|服务|国际|控股|股份|发展|电力|能源|环保|汽车|机械|化工|制造|置业|保险|证券|基金|人民|第[一二三四五六七八九十]|附属|中心|职业|师范|理工|农业|商业){0,4}"
    r"(?:有限责任公司|有限公司|公司|集团|大学|学院|研究[院所]|事务所|宾馆|大?酒店|饭店|医院|机场|银行|博物馆|图书馆|体育馆|出版社|[中小]学|高铁站|火车站|"
    r"小区|花园|大厦|广场|水务|物业|科技|快递|速运|物流|证券|公园|基地|山庄|工厂)\Z"
)
_QUOTE_SHARE = 0.6
"""Of the terms of a quotation that has three or more, which share a sentence has that tells it unmarked."""


def is_kept(fact: Fact, here: Facts, there: Facts, *, is_reverse: bool = False) -> bool:
    """Whether the text `there` says the fact of the text `here`. is_reverse: `here` is the summary, and may
    make one of what stands apart in its source."""
    if fact.key in there.of(fact.kind) or any(fact.key in there.of(kind) for kind in _KINDS):
        return True
    said = said_by(there)
    if not said.lower:
        return False
    phrase = here.text.lower[fact.start : fact.end]
    return _RULES[fact.kind](fact, phrase, said, here, there, is_reverse)


def _plain(fact: Fact, phrase: str, said: Said, here: Facts, there: Facts, is_reverse: bool) -> bool:
    return said.has(phrase) or said.has(str(fact.key))


def _identifier(fact: Fact, phrase: str, said: Said, here: Facts, there: Facts, is_reverse: bool) -> bool:
    if said.has(phrase) or said.has(str(fact.key)) or said.has_loose(phrase):
        return True
    key = str(fact.key)
    if is_reverse:
        return _HEX.fullmatch(phrase) is not None and said.begins_digits(phrase)
    if _HEX.fullmatch(key) is None and len(key) != 36:
        return False
    return any(key[:size] in said.words and said.has(key[:size]) for size in range(7, len(key)))


def _path(fact: Fact, phrase: str, said: Said, here: Facts, there: Facts, is_reverse: bool) -> bool:
    key = str(fact.key)
    if said.has(phrase) or said.has(key):
        return True
    name = key.rpartition("/")[2]
    for other, _ in said.paths.like((name,)):
        if _is_end(other, key) or _is_end(key, other):
            return True
    if is_reverse:
        parts = [part for part in re.split(r"[/\\]", key) if part not in ("", ".", "..", "~")]
        return bool(parts) and all(said.has(part, joins=_LOOSELY) for part in parts)
    return "." in name[1:] and said.has(name)


def _is_end(short: str, long: str) -> bool:
    """Whether one path is the end of the other, from a file name on."""
    return long.endswith("/" + short.removeprefix("~/").removeprefix("./").lstrip("/")) and len(short) > 2


def _url(fact: Fact, phrase: str, said: Said, here: Facts, there: Facts, is_reverse: bool) -> bool:
    key = str(fact.key)
    if said.has(key):
        return True
    if is_reverse:
        return "/" not in key and key in said.flat
    return False


def _code(fact: Fact, phrase: str, said: Said, here: Facts, there: Facts, is_reverse: bool) -> bool:
    if said.has(phrase) or said.has(str(fact.key)):
        return True
    pieces = [piece for piece in re.split(r"[\s=:(){},;\"'<>|\[\]]+", phrase) if piece]
    if len(pieces) == 1:
        return said.has(pieces[0]) or any(said.has(pieces[0].replace("_", joint)) for joint in " -")
    return bool(pieces) and all(said.has(piece) for piece in pieces)


def _command(fact: Fact, phrase: str, said: Said, here: Facts, there: Facts, is_reverse: bool) -> bool:
    if said.has(phrase):
        return True
    return (
        is_reverse
        and all(said.has(piece) for piece in phrase.split())
        and said.has(" ".join(phrase.split()[:2]))
    )


def _quote(fact: Fact, phrase: str, said: Said, here: Facts, there: Facts, is_reverse: bool) -> bool:
    if said.has_loose(phrase) or _is_foreign(phrase, said):
        return True
    wanted = terms(phrase)
    if not wanted:
        return True
    quotes = [*said.quotes.like(wanted)]
    if any(wanted <= other and _has_same_sense(str(fact.key), key) for key, other in quotes):
        return True
    if any(wanted <= other or _is_other_quote(wanted, other) for _, other in quotes):
        return False
    share = _QUOTE_SHARE if len(wanted) > (7 if is_reverse else 2) else 1.0
    return any(len(wanted & held) >= share * len(wanted) for _, held in said.sentences.like(wanted))


_SENSE = frozenset(
    str.split(
        "no not never none nobody nothing nor without t cannot must may might should can could only all every"
    )
)
"""Small words that no term is made of, and that make another quotation of one. t: the end of `don't`."""


def _has_same_sense(one: str, other: str) -> bool:
    """Whether two quotations of the same terms, by their keys, don't differ in a `not` or a `must`."""
    return one in other or other in one or _SENSE & {*one.split()} == _SENSE & {*other.split()}


def _is_other_quote(wanted: frozenset[str], other: frozenset[str]) -> bool:
    """Whether the other quotation is this one with other words in it."""
    return 2 * len(wanted & other) >= min(len(wanted), len(other)) > 0 and bool(other - wanted)


def _name(fact: Fact, phrase: str, said: Said, here: Facts, there: Facts, is_reverse: bool) -> bool:
    if said.has(phrase, joins=frozenset()) or _is_foreign(phrase, said):
        return True
    if is_han(phrase[0]):
        return _is_han_name_kept(phrase, said)
    parts = name_parts(phrase) or str(fact.key).split()
    if not phrase.isascii() and said.has_loose(phrase):
        return True
    missing = [part for part in parts if not said.has_word(part)]
    if not missing or _is_shortened(parts, phrase, said) or _is_in_short(fact, phrase, here, said):
        return True
    telling = [part for part in parts if part not in GENERIC and part not in COMMON] or parts
    absent = [part for part in telling if part in missing]
    if not absent:
        return True
    if len(absent) == len(telling):
        return False
    if is_reverse:
        return all(part in COMMON or part in GENERIC or part in NEVER for part in absent)
    return not _has_rival(parts, here, there)


def _is_han_name_kept(phrase: str, said: Said) -> bool:
    """The name of a firm or a place is there if what it alone is called is: not where it is, what it deals
    in, or what kind of firm it is."""
    if len(phrase) < 4:
        return False
    found = _KIND_OF_PLACE.search(phrase)
    if found is None:
        # A title, of which a part may serve.
        pairs = ["".join(pair) for pair in pairwise(phrase)]
        return len(pairs) > 4 and 2 * sum(pair in said.lower for pair in pairs) > len(pairs)
    name, kind = phrase[: found.start()], phrase[-2:]
    if len(name) < 3:
        return said.has_near(name, kind)
    return name[-2:] in said.lower


def _has_rival(parts: list[str], here: Facts, there: Facts) -> bool:
    """Whether the other text has a name with a part of this and one that this text does not have at all."""
    ours = said_by(here)
    theirs = said_by(there).names.like(parts)
    return any(not all(map(ours.has_word, other)) for _, other in theirs)


def _is_shortened(parts: list[str], phrase: str, said: Said) -> bool:
    """Whether the text has the first letters of these words, or the words of these first letters."""
    if len(parts) > 1:
        letters = "".join(part[0] for part in re.findall(r"[^\W_]+", phrase))
        return len(letters) > 1 and (
            letters in said.words or "".join(part[0] for part in parts) in said.words
        )
    return 2 < len(parts[0]) < 7 and parts[0].isalpha() and parts[0] in said.initials


def _is_in_short(fact: Fact, phrase: str, here: Facts, said: Said) -> bool:
    """Whether the text has the letters that stand for the name, as the other says in brackets."""
    found = _IN_SHORT.match(here.text.plain, fact.end)
    if found is None:
        return False
    short = found.group(1).lower()
    at = 0
    for word in phrase.split():
        at = short.find(word[0], at) + 1
        if not at:
            return False
    return said.has_word(short)


def _is_foreign(phrase: str, said: Said) -> bool:
    """Whether the text is in another script, in which it can't be looked for."""
    if phrase.isascii():
        return said.is_han and " " in phrase.strip() and not re.search(r"[a-z]{3}", said.lower)
    return (
        not said.has_han and bool(said.lower.strip()) and any("\u3400" <= each <= "\u9fff" for each in phrase)
    )


_RULES: dict[str, Callable[[Fact, str, Said, Facts, Facts, bool], bool]] = {
    "path": _path,
    "command": _command,
    "identifier": _identifier,
    "url": _url,
    "email": _plain,
    "code": _code,
    "quote": _quote,
    "name": _name,
}
