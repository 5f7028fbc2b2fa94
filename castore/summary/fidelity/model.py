"""What the check of a summary speaks of: texts, facts, findings, and the report.

Laws:
- A fact is a span of its text, and two facts of one kind with the same `key` say the same thing.
- Each distinct fact of the source is kept, lost or changed, and in one of them only; each distinct fact of
  the summary that nothing in the source says, and that is not another value of a changed one, is invented.
- Offsets count characters of the text as it was given; lines and columns count from 1, columns characters.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

__all__ = ["CHANGES", "Compared", "Counts", "Fact", "Facts", "Finding", "Report", "Text"]

CHANGES = ("lost", "changed", "invented")
"""What may have happened to a fact: not in the summary; there with another value; nowhere in the source."""

_ALIKE = {
    **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},  # Full-width forms.
    **dict.fromkeys("\u3000\u00a0\u202f\u2007\u2009", " "),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"),
    **dict.fromkeys("\u2018\u2019", "'"),
    "\uffe5": "¥",
    "\uffe1": "£",
    "\uffe0": "¢",
    "\u0130": "I",  # Its lower case has two characters.
}
"""One character for one, so that offsets stay what they are."""
_TO_PLAIN = re.compile("[" + "".join(_ALIKE) + "]")


class Text:
    """A text to be looked through. `plain`, `lower`: as `raw`, with forms that mean the same made one; each
    has as many characters as `raw`, so that offsets hold in all three. taken: a byte for each character,
    not 0 where an extractor that ran before found what no other is to look into, such as a URL."""

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self.plain = raw if raw.isascii() else _TO_PLAIN.sub(_plain, raw)
        self.taken = bytearray(len(raw))

    @cached_property
    def lower(self) -> str:
        return self.plain.lower()

    def take(self, start: int, end: int) -> None:
        """No extractor that runs later looks at these characters."""
        self.taken[start:end] = b"\1" * (end - start)

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of a character, from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        at = self.raw.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = self.raw.find("\n", at + 1)
        return starts


def _plain(match: re.Match[str]) -> str:
    return _ALIKE[match[0]]


class Fact(NamedTuple):
    """A checkable piece of a text, from `start` to `end`.

    key: what it says, whatever its spelling. near: what two facts have in common of which one may be the
    other with another value (its unit, its subject); None: nothing.
    """

    kind: str
    start: int
    end: int
    key: Hashable
    near: Hashable = None


class Facts:
    """The distinct facts of a text, each where it stands first, by kind and in the order of the text."""

    def __init__(self, text: Text, found: Iterable[Fact]) -> None:
        self.text = text
        self._by_kind: dict[str, dict[Hashable, Fact]] = {}
        self._again: list[Fact] = []
        for fact in found:
            if self._by_kind.setdefault(fact.kind, {}).setdefault(fact.key, fact) is not fact:
                self._again.append(fact)

    def of(self, kind: str) -> dict[Hashable, Fact]:
        """Those of a kind, by key."""
        return self._by_kind.get(kind, {})

    def again(self) -> list[Fact]:
        """What stands in the text once more, each place a fact: with the same key, but other words around."""
        return self._again

    def words(self, fact: Fact) -> str:
        """As the text spells it."""
        return self.text.raw[fact.start : fact.end]

    def __iter__(self) -> Iterator[Fact]:
        for facts in self._by_kind.values():
            yield from facts.values()


@dataclass(slots=True)
class Compared:
    """What became of the facts of a kind. changed: each with the span of the summary that says otherwise."""

    kept: list[Fact] = field(default_factory=list)
    lost: list[Fact] = field(default_factory=list)
    changed: list[tuple[Fact, tuple[int, int]]] = field(default_factory=list)
    invented: list[Fact] = field(default_factory=list)

    @property
    def counts(self) -> Counts:
        return Counts(len(self.kept), len(self.lost), len(self.changed), len(self.invented))


Compare = Callable[[str, Facts, Facts], Compared]
"""Kind, facts of the source, facts of the summary -> what became of those of this kind."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that the summary does not say as its source does.

    change: of CHANGES. text: as the source spells it; of an invented one, the summary. found: of a changed
    one, what the summary says. line, column: where `text` stands. is_asked: it bears on the question.
    """

    change: str
    kind: str
    text: str
    line: int
    column: int
    found: str | None = None
    is_asked: bool = False

    def record(self) -> dict[str, Any]:
        record: dict[str, Any] = {"change": self.change, "kind": self.kind, "text": self.text}
        if self.found is not None:
            record["found"] = self.found
        return {**record, "line": self.line, "column": self.column}


@dataclass(frozen=True, slots=True)
class Counts:
    """Of the distinct facts of one kind. total: of the source."""

    kept: int
    lost: int
    changed: int
    invented: int

    @property
    def total(self) -> int:
        return self.kept + self.lost + self.changed

    @property
    def share(self) -> float:
        """Of the source's facts those that were kept, 0 to 1; 1 where it has none."""
        return self.kept / self.total if self.total else 1.0

    def record(self) -> dict[str, int | float]:
        return {
            "kept": self.kept,
            "lost": self.lost,
            "changed": self.changed,
            "invented": self.invented,
            "share": round(self.share, 4),
        }


@dataclass(frozen=True, slots=True)
class Report:
    """findings: the most telling first. counts: of the kinds that have a fact, in the table's order."""

    findings: tuple[Finding, ...]
    counts: dict[str, Counts]
