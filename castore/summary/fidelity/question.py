"""A question, and what of a text is relevant to it: a sentence that shares a term with it."""

from __future__ import annotations

from castore.summary.fidelity.model import Text
from castore.summary.fidelity.sentences import sentence_around
from castore.summary.fidelity.terms import terms

__all__ = ["Question"]


class Question:
    """terms: of the question."""

    def __init__(self, words: str) -> None:
        self.terms = terms(Text(words).lower)

    def is_met(self, text: Text, start: int, end: int) -> bool:
        """Whether the sentence around these characters has a term of the question."""
        begin, until = sentence_around(text.plain, start)
        return not self.terms.isdisjoint(terms(text.lower[begin : max(until, end)]))
