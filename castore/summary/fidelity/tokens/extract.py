"""Facts that are words or marked as such: paths, commands, code, URLs, e-mail addresses, identifiers,
quotations and names.

Laws:
- A span is one kind. What others would find numbers in, such as a URL or a hash, is taken (Text.take); what
  quotations and names say is left to be looked through.
- Time is linear in the text, whatever it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from castore.summary.fidelity.model import Fact, Text
from castore.summary.fidelity.tokens.code import code_facts, prose_commands
from castore.summary.fidelity.tokens.han_names import han_name_facts
from castore.summary.fidelity.tokens.names import name_facts
from castore.summary.fidelity.tokens.quotes import quote_facts
from castore.summary.fidelity.tokens.words import word_facts


def extract(text: Text) -> Iterator[Fact]:
    """The facts of these kinds, in no particular order."""
    yield from code_facts(text)
    yield from prose_commands(text)
    yield from word_facts(text)
    yield from quote_facts(text)
    yield from name_facts(text)
    yield from han_name_facts(text)
