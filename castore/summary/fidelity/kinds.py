"""The kinds of facts: one table, a line a kind, in the order in which findings are told.

What agents lose first stands first: paths, commands and numbers. An extractor may find several kinds in one
pass; extractors run in the order of EXTRACTORS, each leaving alone what those before it took (Text.taken).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from castore.summary.fidelity.clauses import compare as compare_clauses
from castore.summary.fidelity.clauses import extract as clauses
from castore.summary.fidelity.json_text import readable
from castore.summary.fidelity.model import Compare, Fact, Facts, Text
from castore.summary.fidelity.tokens import compare as compare_tokens
from castore.summary.fidelity.tokens import extract as tokens
from castore.summary.fidelity.values import compare as compare_values
from castore.summary.fidelity.values import extract as values

__all__ = ["EXTRACTORS", "KINDS", "Kind", "facts_of"]

Extract = Callable[[Text], Iterable[Fact]]

EXTRACTORS: tuple[Extract, ...] = (tokens.extract, values.extract, clauses.extract)


class Kind(NamedTuple):
    """extract: what finds it. compare: what tells whether a summary keeps it."""

    name: str
    extract: Extract
    compare: Compare


KINDS: tuple[Kind, ...] = (
    Kind("path", tokens.extract, compare_tokens.compare),
    Kind("command", tokens.extract, compare_tokens.compare),
    Kind("number", values.extract, compare_values.compare),
    Kind("money", values.extract, compare_values.compare),
    Kind("percent", values.extract, compare_values.compare),
    Kind("date", values.extract, compare_values.compare),
    Kind("time", values.extract, compare_values.compare),
    Kind("duration", values.extract, compare_values.compare),
    Kind("deadline", clauses.extract, compare_clauses.compare),
    Kind("version", values.extract, compare_values.compare),
    Kind("identifier", tokens.extract, compare_tokens.compare),
    Kind("url", tokens.extract, compare_tokens.compare),
    Kind("email", tokens.extract, compare_tokens.compare),
    Kind("code", tokens.extract, compare_tokens.compare),
    Kind("quote", tokens.extract, compare_tokens.compare),
    Kind("name", tokens.extract, compare_tokens.compare),
    Kind("condition", clauses.extract, compare_clauses.compare),
    Kind("exception", clauses.extract, compare_clauses.compare),
    Kind("negation", clauses.extract, compare_clauses.compare),
    Kind("promise", clauses.extract, compare_clauses.compare),
)


def facts_of(text: Text | str) -> Facts:
    """The distinct facts of a text; of JSON, those that its strings have. Takes time linear in it."""
    if isinstance(text, str):
        text = readable(text)
    return Facts(text, (fact for extract in EXTRACTORS for fact in extract(text)))
