"""Quotations: what somebody said or wrote, word for word, between marks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from castore.summary.fidelity.model import Fact, Text

__all__ = ["quote_facts", "quote_key"]

_LONG = 400
_QUOTES = (
    ('"', re.compile(rf'"(?<![A-Za-z0-9]")(?=\S)([^"\n]{{1,{_LONG}}}+)(?<=\S)"')),
    ("\u201c", re.compile(rf"\u201c([^\u201c\u201d]{{1,{_LONG}}}+)\u201d")),
    ("\u300c", re.compile(rf"\u300c([^\u300c\u300d]{{1,{_LONG}}}+)\u300d")),
    ("\u300e", re.compile(rf"\u300e([^\u300e\u300f]{{1,{_LONG}}}+)\u300f")),
    (" '", re.compile(r" '((?!\s)[^'\n]{1,200}+(?:'[a-z][^'\n]{0,80}+){0,3}+)'(?![A-Za-z0-9])")),
)
_TITLE = re.compile(r"\u300a([^\u300a\u300b\n]{1,60}+)\u300b")
_DEFINES = re.compile(r"\((?:the |each,? (?:a|an) |hereinafter |collectively,? )?\Z")
_SAID = re.compile(r"[^a-z0-9\u3400-\u4dbf\u4e00-\u9fff]+")


def quote_facts(text: Text) -> Iterator[Fact]:
    """Quotations and, in Chinese, titles. What is inside is looked through by others too."""
    plain = text.plain
    for mark, pattern in _QUOTES:
        if mark not in plain:
            continue
        for match in pattern.finditer(plain):
            start, end = match.span(1)
            if text.taken[start] and text.taken[end - 1]:
                continue
            if mark in '"\u201c' and _is_data(plain, match.start(), match.end()):
                continue
            key = quote_key(text.lower[start:end])
            if key and not key.isdigit():
                yield Fact("quote", start, end, key)
    if "\u300a" in plain:
        for match in _TITLE.finditer(plain):
            start, end = match.span(1)
            yield Fact("name", start, end, quote_key(text.lower[start:end]) or match.group(1))


def quote_key(lower: str) -> str:
    """Its words alone."""
    return _SAID.sub(" ", lower).strip()


def _is_data(plain: str, start: int, end: int) -> bool:
    """Whether it is the name or the value of a member of JSON, or gives a thing its name in brackets, and so
    nobody's words."""
    after = plain[end : end + 2].lstrip()
    if after.startswith(":"):
        return True
    if plain[end : end + 1] == ")" and _DEFINES.search(plain, max(0, start - 12), start) is not None:
        return True
    before = plain[max(0, start - 3) : start].rstrip()
    return before.endswith(('":', "[", '",', "{")) or (before.endswith("=") and not before.endswith(" ="))
