"""Conditions, exceptions, negations, deadlines and promises: clauses that are known by a cue.

Laws:
- A fact is a clause, from its cue or its beginning to its end, or what a label says; of a deadline its date
  or period alone. But for deadlines, which may stand within another clause, no two of them overlap.
- What another extractor took holds no cue; a label is one wherever it stands.
- Each character is looked at a bounded number of times, whatever the text is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from castore.summary.fidelity.clauses.english import english_clauses
from castore.summary.fidelity.clauses.han import han_clauses
from castore.summary.fidelity.clauses.idle import is_idle
from castore.summary.fidelity.model import Fact, Text

__all__ = ["extract", "weak_conditions", "weak_negations"]

_CODE_MAX = 120
"""Characters between backticks, at most, that a clause takes in."""
_SPACE = re.compile(r"[\W_]+")
_BESIDE_HAN = re.compile(r"\W+(?=[\u3400-\u9fff])|(?<=[\u3400-\u9fff])\W+")


def extract(text: Text) -> Iterator[Fact]:
    """Facts of the kinds condition, exception, negation, deadline and promise."""
    return _facts(text.lower, (span for span in _spans(text) if not span[0].startswith("weak")))


def weak_conditions(text: Text) -> Iterator[Fact]:
    """What must be so for something that is no rule: no fact by itself, but one that keeps the rest of its
    sentence is not to drop it."""
    weak = (("condition", start, end) for kind, start, end in _spans(text) if kind == "weak condition")
    return _facts(text.lower, weak)


def weak_negations(text: Text) -> Iterator[Fact]:
    """What is not so, and is no rule: no fact by itself, but not to be turned round."""
    weak = (("negation", start, end) for kind, start, end in _spans(text) if kind == "weak")
    return _facts(text.lower, weak)


def _spans(text: Text) -> Iterator[tuple[str, int, int]]:
    lower = text.lower
    spans = english_clauses(lower, text.raw, text.taken)
    return spans if lower.isascii() else chain(spans, han_clauses(lower, text.taken))


def _facts(lower: str, spans: Iterable[tuple[str, int, int]]) -> Iterator[Fact]:
    for kind, start, end in spans:
        words = lower[start:end]
        if "`" in words and words.count("`") % 2:
            start, end = _with_code(lower, start, end)
            words = lower[start:end]
        if kind == "exception" or not is_idle(words):
            yield Fact(kind, start, end, _key(words))


def _with_code(lower: str, start: int, end: int) -> tuple[int, int]:
    """A clause that begins or ends between backticks, with all that stands between them on its line."""
    line = lower.rfind("\n", max(0, start - _CODE_MAX), start) + 1 or max(0, start - _CODE_MAX)
    if lower.count("`", line, start) % 2:
        return lower.rindex("`", line, start), end
    close = lower.find("`", end, end + _CODE_MAX)
    return (start, close + 1) if close >= 0 and "\n" not in lower[end:close] else (start, end)


def _key(words: str) -> str:
    """The words, whatever stands between them."""
    if not words.isascii():
        words = _BESIDE_HAN.sub("", words)
    return _SPACE.sub(" ", words).strip()
