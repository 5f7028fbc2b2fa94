"""Addresses: which part of an object is meant, as the words that `ctx cat` takes.

Law: `parse` of an address's words is the address. Ranges mean what Python's slices of the whole mean: what
lies outside is empty, never an error.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from castore.errors import InvalidOption

__all__ = ["WHOLE", "Address", "Range", "Unit"]

_RANGE = re.compile(r"(-?[0-9]{1,18})?(?:(:)(-?[0-9]{1,18})?)?\Z")


class Unit(StrEnum):
    """What a range counts, in the words of the options."""

    ITEMS = "items"
    LINES = "lines"
    CHARS = "chars"
    BYTES = "bytes"


@dataclass(frozen=True, slots=True)
class Range:
    """A slice: from `start` on, before `stop`; None is the beginning, or the end."""

    unit: Unit
    start: int | None = None
    stop: int | None = None

    @classmethod
    def one(cls, unit: Unit, number: int) -> Range:
        """The one at this place; -1 is the last."""
        return cls(unit, number, number + 1 if number != -1 else None)

    @classmethod
    def parse(cls, unit: Unit, text: str) -> Range:
        """`A:B`, `A:`, `:B`, `:`, or `N` for the one at N. Raises InvalidOption."""
        found = _RANGE.match(text) if text else None
        if found is None:
            raise InvalidOption(
                f"--{unit} must be a range such as 3:9, 3:, :9, -20: or 7, not '{text[:40]}'",
                option=f"--{unit}",
            )
        first, colon, last = found.groups()
        if colon is None:
            return cls.one(unit, int(first))
        return cls(unit, None if first is None else int(first), None if last is None else int(last))

    def __str__(self) -> str:
        if self.start is not None and self == Range.one(self.unit, self.start):
            return str(self.start)
        return f"{'' if self.start is None else self.start}:{'' if self.stop is None else self.stop}"

    def bounds(self, length: int) -> tuple[int, int]:
        """The first and the one after the last, of so many: 0 <= first <= last <= length."""
        first, last, _ = slice(self.start, self.stop).indices(length)
        return first, max(first, last)

    @property
    def needs_length(self) -> bool:
        """An end of it counts from the end of the whole."""
        return (self.start is not None and self.start < 0) or (self.stop is not None and self.stop < 0)


@dataclass(frozen=True, slots=True)
class Address:
    """selects: JSONPaths, each going on in what the one before found. range: items or lines of that. cut:
    characters or bytes of that. Nothing of these: the whole object."""

    selects: tuple[str, ...] = ()
    range: Range | None = None
    cut: Range | None = None

    def __post_init__(self) -> None:
        if self.range is not None and self.range.unit not in (Unit.ITEMS, Unit.LINES):
            raise AssertionError("a range of an address is of items or of lines")
        if self.cut is not None and self.cut.unit not in (Unit.CHARS, Unit.BYTES):
            raise AssertionError("a cut of an address is of characters or of bytes")

    @classmethod
    def parse(
        cls,
        selects: Sequence[str] = (),
        *,
        items: str | None = None,
        lines: str | None = None,
        chars: str | None = None,
        bytes: str | None = None,
    ) -> Address:
        """What the options of these names say. Raises InvalidOption."""
        if items is not None and lines is not None:
            raise InvalidOption("--items and --lines can't be given together", option="--lines")
        if chars is not None and bytes is not None:
            raise InvalidOption("--chars and --bytes can't be given together", option="--bytes")
        outer = _first((Unit.ITEMS, items), (Unit.LINES, lines))
        return cls(tuple(selects), outer, _first((Unit.CHARS, chars), (Unit.BYTES, bytes)))

    def words(self) -> list[str]:
        """The options of `ctx cat`, without the object."""
        found = [word for select in self.selects for word in ("--select", select)]
        for each in (self.range, self.cut):
            if each is not None:
                found += [f"--{each.unit}", str(each)]
        return found


WHOLE = Address()


def _first(*options: tuple[Unit, str | None]) -> Range | None:
    return next((Range.parse(unit, text) for unit, text in options if text is not None), None)
