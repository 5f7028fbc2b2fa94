"""The fixed simple agent: it shows, searches once, and reads one address, or what stands apart.

It knows the reference, the pattern if the question gives one, and how to tell that it has the answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from tests.retrieve.needles.needle import Needle

__all__ = ["BYTES_MAX", "Call", "Outcome", "search"]

BYTES_MAX = 2000
"""Of all answers of one search together."""

_OUTLIERS_READ_MAX = 2
_HITS_MAX = 5
_ESCAPED = re.compile(r"\\+u([0-9a-fA-F]{4})")

Run = Callable[[list[str]], str]
"""What a command line of ctx prints on stdout."""


class Call(NamedTuple):
    arguments: list[str]
    said: str


class Outcome(NamedTuple):
    """by: the step that found it, or None."""

    by: str | None
    calls: list[Call]

    @property
    def size(self) -> int:
        """Bytes of all that was returned."""
        return sum(len(each.said.encode("utf-8", "surrogateescape")) for each in self.calls)

    @property
    def is_found(self) -> bool:
        return self.by is not None and self.size < BYTES_MAX


def search(run: Run, reference: str, needle: Needle) -> Outcome:
    """Look for the fact of `needle` in the object that `reference` names."""
    calls: list[Call] = []

    def asked(*arguments: str) -> str:
        said = run(list(arguments))
        calls.append(Call(list(arguments), said))
        return said

    if _tells(asked("show", reference), needle.fact):
        return Outcome("show", calls)
    if needle.pattern is not None:
        said = asked("grep", "-m", str(_HITS_MAX), "--json", needle.pattern, reference)
        if _tells(said, needle.fact):
            return Outcome("grep", calls)
        hits = _parsed(said)
        is_told = bool(hits) and _tells(asked("cat", *hits[0]["address"]), needle.fact)
        return Outcome("cat" if is_told else None, calls)
    shown = _parsed(run(["show", "--json", reference]))[0]  # The same answer again, as a program reads it.
    for outlier in shown["outliers"][:_OUTLIERS_READ_MAX]:
        if _tells(asked("cat", *outlier["address"]), needle.fact):
            return Outcome("outlier", calls)
    return Outcome(None, calls)


def _tells(said: str, fact: str) -> bool:
    """One who reads `said` has the fact; \\u4e09 is read as easily as what it stands for."""
    return fact in said or fact in _ESCAPED.sub(lambda found: chr(int(found[1], 16)), said)


def _parsed(said: str) -> list[Any]:
    return [json.loads(line) for line in said.splitlines() if line.startswith("{")]
