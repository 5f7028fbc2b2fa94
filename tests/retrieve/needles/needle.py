"""What a needle is, how one is declared, and small things that most makers need.

Law: a maker's name, size and seed determine its bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from importlib import import_module
from random import Random
from typing import Any, NamedTuple

__all__ = [
    "FAMILIES",
    "Maker",
    "Needle",
    "compact",
    "day",
    "iso",
    "makers",
    "needle",
    "pretty",
    "sentence",
    "spot",
    "text",
]

FAMILIES = (
    "rows",
    "logs",
    "builds",
    "nested",
    "strings",
    "series",
    "repository",
    "chinese",
    "agents",
    "asked",
    "deep",
)
"""Modules of this package; each reads as if by another writer."""

BEGINNING = datetime(2026, 5, 1, 6, 0, 0, tzinfo=UTC)

_makers: dict[str, Maker] = {}


class Needle(NamedTuple):
    """data: the object. fact: what must come back. pattern: what one who has the question would search for;
    None if nobody could know it, so that only what stands apart leads there."""

    data: bytes
    fact: str
    pattern: str | None = None


class Maker(NamedTuple):
    """small, large: how many rows, lines or entries there are by default, and in the long version."""

    name: str
    family: str
    small: int
    large: int
    make: Callable[[Random, int], Needle]

    def made(self, *, is_large: bool = False, seed: int = 0) -> Needle:
        return self.make(Random(f"{self.name} {seed}"), self.large if is_large else self.small)


def needle(
    small: int, large: int
) -> Callable[[Callable[[Random, int], Needle]], Callable[[Random, int], Needle]]:
    """Declare a maker; its family is its module."""

    def declared(make: Callable[[Random, int], Needle]) -> Callable[[Random, int], Needle]:
        family = make.__module__.rpartition(".")[2]
        name = f"{family}.{make.__name__}"
        assert name not in _makers
        _makers[name] = Maker(name, family, small, large, make)
        return make

    return declared


def makers() -> list[Maker]:
    """All of them, in the order of the families."""
    for family in FAMILIES:
        import_module(f"{__package__}.{family}")
    return list(_makers.values())


def spot(rng: Random, count: int, where: str) -> int:
    """The index of the planted one: `first`, `last`, `middle`, or `any`."""
    if where == "any":
        return rng.randrange(count // 20 + 2, count - 2)
    return {"first": 0, "last": count - 1, "middle": count // 2}[where]


def compact(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def pretty(value: Any, indent: int = 2) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=indent).encode() + b"\n"


def text(lines: Sequence[str] | Iterator[str], end: str = "\n") -> bytes:
    return "".join(f"{line}{end}" for line in lines).encode()


def iso(seconds: float) -> str:
    return (BEGINNING + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def day(days: float) -> str:
    return (BEGINNING + timedelta(days=days)).strftime("%Y-%m-%d")


_SUBJECTS = [
    "the courier",
    "a customer",
    "our partner",
    "the warehouse",
    "the driver",
    "support",
    "the buyer",
    "the vendor",
]
_VERBS = [
    "asked about",
    "confirmed",
    "moved",
    "checked",
    "repacked",
    "reordered",
    "returned",
    "labelled",
    "paid for",
]
_THINGS = [
    "the parcel",
    "two crates",
    "the invoice",
    "a pallet",
    "the spare parts",
    "the sample",
    "an order",
    "the box",
]
_ENDS = [
    "this morning",
    "before noon",
    "after the call",
    "in the depot",
    "at the gate",
    "on arrival",
    "as planned",
]


def sentence(rng: Random) -> str:
    """One of some thousands that say nothing."""
    parts = (rng.choice(each) for each in (_SUBJECTS, _VERBS, _THINGS, _ENDS))
    return " ".join(parts)
