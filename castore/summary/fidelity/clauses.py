"""Conditions, exceptions, negations, deadlines and promises: clauses that are known by a cue.

Laws:
- A fact is a clause, at most to where it ends and _LENGTH_MAX characters long; a deadline is its date or period
  alone. But for deadlines, which may stand within another clause, no two of them overlap.
- What another extractor took holds no cue; a label (`"condition": …`, 例外：…) is one wherever it stands.
- Each character is looked at a bounded number of times, whatever the text is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from castore.summary.fidelity.cues import LABEL
from castore.summary.fidelity.english_clauses import english_clauses
from castore.summary.fidelity.han_clauses import han_clauses
from castore.summary.fidelity.model import Fact, Text

__all__ = ["extract"]

_LABELS = {
    "condition": "condition",
    "prerequisite": "condition",
    "exception": "exception",
    "exclusion": "exception",
    "exclude": "exception",
    "deadline": "deadline",
    "due": "deadline",
    "expire": "deadline",
    "expiry": "deadline",
    "prohibited": "negation",
    "forbidden": "negation",
    "promise": "promise",
    "commitment": "promise",
    "guarantee": "promise",
    "条件": "condition",
    "前提": "condition",
    "例外": "exception",
    "除外": "exception",
    "期限": "deadline",
    "时限": "deadline",
    "截止": "deadline",
    "禁止": "negation",
    "承诺": "promise",
}
_LABEL_WORD = re.compile(
    r"(?:condition|prerequisite|exception|exclusion|exclude|deadline|due|expire|expiry|prohibited|forbidden"
    r"|promise|commitment|guarantee)(?:s|d|ment)?(?![a-z])|条件|前提|例外|除外|期限|时限|截止"
    r"|禁止|承诺"
)
_LABEL_LEAD = re.compile(
    r"(?:\A|[\n{,\[|])[ \t]{0,8}(?:[-*#>\"'`]{0,3}[ \t]?){0,2}[\w\u4e00-\u9fff-]{0,12}\Z"
)
_COLON = re.compile(r"[:=：]")
_LEAD_MAX = 40
_SPACE = re.compile(r"[\W_]+")
_BLANK = re.compile(r"\W+(?=[\u3400-\u9fff])|(?<=[\u3400-\u9fff])\W+")


def extract(text: Text) -> Iterator[Fact]:
    """Facts of the kinds condition, exception, negation, deadline and promise."""
    spans = [*_labelled(text)]
    text_taken = text.taken
    if spans:
        # What a label says is said: no cue in it is another fact.
        text_taken = bytearray(text_taken)
        for _, start, end in spans:
            text_taken[start:end] = b"\1" * (end - start)
    spans += english_clauses(text.lower, text.raw, text_taken)
    if not text.lower.isascii():
        spans += han_clauses(text.lower, text_taken)
    lower = text.lower
    for kind, start, end in spans:
        yield Fact(kind, start, end, clause_key(lower[start:end]))


def clause_key(words: str) -> str:
    """The words in lower case, whatever stands between them."""
    if not words.isascii():
        words = _BLANK.sub("", words)
    return _SPACE.sub(" ", words).strip()


def _labelled(text: Text) -> Iterator[tuple[str, int, int]]:
    lower = text.lower
    until = 0
    for colon in _COLON.finditer(lower):
        at = colon.start()
        if at < until or at + 1 >= len(lower):
            continue
        low = max(0, at - _LEAD_MAX)
        before = lower[low:at]
        word = None
        for word in _LABEL_WORD.finditer(before):
            pass
        if word is None:
            continue
        label = LABEL.match(lower, low + word.end())
        if label is None or label.start("value") <= at or not _LABEL_LEAD.search(before[: word.start()]):
            continue
        until = label.end()
        kind = _LABELS[_root(word[0])]
        start, end = label.span("value")
        end -= len(label["value"]) - len(label["value"].rstrip(" \t.。;；"))
        if lower[start] == '"':
            start, end = start + 1, end - 1
        if kind == "deadline":
            start = low + word.start()
        if start < end:
            yield kind, start, end


def _root(word: str) -> str:
    if word in _LABELS:
        return word
    for cut in ("s", "d", "ment"):
        if (root := word.removesuffix(cut)) in _LABELS:
            return root
    return "condition"
