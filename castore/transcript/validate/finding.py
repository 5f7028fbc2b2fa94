"""Finding: one rule of an API that a list of messages breaks, and where; and what all APIs' rules share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Finding", "is_blank", "named", "type_name"]

_SHOWN = 40
"""Characters of an id or a type that a finding shows."""


@dataclass(frozen=True, slots=True)
class Finding:
    """rule: `api/what`, for programs. place: `messages[3].content[0]`. words: lower case, for people."""

    rule: str
    place: str
    words: str

    def __str__(self) -> str:
        return f"{self.rule} {self.place} {self.words}"


def is_blank(text: Any) -> bool:
    return isinstance(text, str) and not text.strip()


def named(value: Any) -> str:
    """An id, a role or a type as a finding quotes it; short, whatever stands there."""
    if not isinstance(value, str):
        return type_name(value)
    return f"'{value}'" if len(value) <= _SHOWN else f"'{value[:_SHOWN]}…'"


def type_name(value: Any) -> str:
    """What JSON calls it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    for python, words in ((str, "a string"), (dict, "an object"), (list, "an array")):
        if isinstance(value, python):
            return words
    return "a number"
