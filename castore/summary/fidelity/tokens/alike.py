"""How like two words or marked pieces are, of which one may be the other with something changed."""

from __future__ import annotations

import re
from collections.abc import Hashable
from difflib import SequenceMatcher

from castore.summary.fidelity.model import Fact, Facts
from castore.summary.fidelity.terms import shared, terms
from castore.summary.fidelity.tokens.said import said_by

__all__ = ["likeness", "marks_of"]

_FAMILY = frozenset(("path", "command", "identifier", "code"))
"""Kinds of which one text may mark as another what is the same."""
_AROUND_LEAST = 0.5
"""The share of terms that two sentences have in common which say one thing of two subjects."""
_LOOKED_AT = 200
"""Characters of each that are looked at."""
_BESIDE = 60
_LETTERS = re.compile(r"[a-z]+")
_DIGITS = re.compile(r"[0-9]+")


def likeness(fact: Fact, other: Fact, source: Facts, summary: Facts) -> float:
    """0: they have nothing to do with each other. Greater: liker, by look and by what stands around."""
    if fact.kind != other.kind and (fact.kind not in _FAMILY or other.kind not in _FAMILY):
        return 0.0
    look = _look(fact, other, source, summary)
    around = _around(fact, other, source, summary)
    same = 0.2 if fact.kind == other.kind else 0.0
    if (
        look >= 0.5
        or (look >= 0.3 and around >= 0.3)
        or (around >= _AROUND_LEAST and fact.kind == other.kind)
    ):
        return look + around + same
    return 0.0


def marks_of(fact: Fact, facts: Facts) -> set[Hashable]:
    """What facts may have in common that are alike: where they are near, their terms, those around them."""
    lower = facts.text.lower
    around = lower[max(0, fact.start - _BESIDE) : fact.start] + "\n" + lower[fact.end : fact.end + _BESIDE]
    marks: set[Hashable] = {("around", term) for term in terms(around)}
    marks.update(("in", term) for term in terms(lower[fact.start : fact.end][:_LOOKED_AT]))
    if fact.near is not None:
        marks.add(("near", fact.kind, fact.near))
    return marks


def _look(fact: Fact, other: Fact, source: Facts, summary: Facts) -> float:
    one = source.text.lower[fact.start : fact.end][:_LOOKED_AT]
    two = summary.text.lower[other.start : other.end][:_LOOKED_AT]
    if fact.kind == "quote":
        return shared(terms(one), terms(two))
    if fact.kind == "name":
        parts, others = set(str(fact.key).split()), set(str(other.key).split())
        if parts & others:
            return 0.8
        return 0.6 if len(one) < 5 and not one.isascii() and set(one) & set(two) else 0.0
    like = SequenceMatcher(None, one, two, autojunk=False).ratio()
    if fact.kind == other.kind == "identifier" and _form(one) == _form(two):
        return max(like, 0.6)
    if fact.near is not None and fact.near == other.near:
        return max(like, 0.6)
    return like if like >= 0.5 else 0.0


def _form(said: str) -> str:
    return _DIGITS.sub("0", _LETTERS.sub("a", said))


def _around(fact: Fact, other: Fact, source: Facts, summary: Facts) -> float:
    return shared(
        said_by(source).terms_around(fact.start, fact.end),
        said_by(summary).terms_around(other.start, other.end),
    )
