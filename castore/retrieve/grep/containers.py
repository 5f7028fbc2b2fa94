"""What stands in an array or an object of JSON: its items or members, with the bytes each takes.

Law: the spans are those of the literals in the bytes, in order, and the names what the literals say. How: a
fast reader splits a container and leaves what is in it as it stands; what it can't read is walked over.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from castore.document import path
from castore.document.grammar import ARRAY, SPACE, STRING_END, value_end
from castore.document.strings import decode_literal
from castore.retrieve.items import Commas

__all__ = ["Child", "Container"]

_DENSE_ITEMS_MIN = 1 << 18
"""Of more items than this, those that are asked for are counted up to, instead of listing all."""

_SPACES = b" \t\r\n"


class Child(NamedTuple):
    """step: an index, or a name. start, end: of the literal."""

    step: str | int
    start: int
    end: int


class Container:
    """The array or object at [start, end) of a valid JSON value."""

    def __init__(self, data: bytes, start: int, end: int) -> None:
        self._data = data
        self._start = start
        self._end = end
        self._is_array = data[start] == ARRAY
        is_dense = self._is_array and data.count(b",", start, end) > _DENSE_ITEMS_MIN
        self._counted = _Counted(data, start, end) if is_dense else None
        self._children = [] if is_dense else list(_children(data, start, end))
        self._starts = [each.start for each in self._children]
        self._ends = [each.end for each in self._children]
        self._names = {each.step: each.start for each in self._children} if not self._is_array else {}

    def holding(self, at: int) -> Child | None:
        """The child whose literal has the byte at `at`; None if it is between them, or in a name, or in a
        member whose name a later one has too. For places that do not decrease."""
        if self._counted is not None:
            return self._counted.holding(at)
        number = bisect_right(self._starts, at) - 1
        if number < 0 or at >= self._children[number].end:
            return None
        child = self._children[number]
        return child if self._is_array or self._names[child.step] == child.start else None

    def items(self, start: int, stop: int) -> list[bytes] | None:
        """The literals of these items; None of an array whose items are counted as they are asked for."""
        if self._counted is not None:
            return None
        return [self._data[each.start : each.end] for each in self._children[max(0, start) : stop]]

    def member(self, at: int) -> tuple[int, int] | None:
        """From its name to its end, the member of an object whose name is at `at`, or begins after it."""
        number = bisect_right(self._ends, at) if not self._is_array else len(self._children)
        if number == len(self._children):
            return None
        begun = self._ends[number - 1] if number else self._start + 1
        name = self._data.find(b'"', begun, self._children[number].start)
        return None if name < 0 else (name, self._children[number].end)


class _Counted:
    """Items of a long array, counted as far as they are asked for."""

    def __init__(self, data: bytes, start: int, end: int) -> None:
        self._data, self._start, self._end = data, start, end
        self._from = self._number = self._comma = 0
        self._ends: Iterator[int] = iter(())
        self._rewind()

    def holding(self, at: int) -> Child | None:
        if at < self._from:
            self._rewind()
        while self._comma <= at:
            self._from, self._number = self._comma + 1, self._number + 1
            following = next(self._ends, None)
            if following is None or self._from >= self._end:
                return None
            self._comma = self._start + following
        literal = self._data[self._from : self._comma]
        first = self._from + len(literal) - len(literal.lstrip(_SPACES))
        last = self._from + len(literal.rstrip(_SPACES))
        return Child(self._number, first, last) if first <= at < last else None

    def _rewind(self) -> None:
        self._ends = Commas(0, 0).ends(self._data[self._start : self._end])
        self._from, self._number = self._start + 1, 0
        self._comma = self._start + next(self._ends, self._end - self._start)


def _children(data: bytes, start: int, end: int) -> Iterator[Child]:
    found = _split(data, start, end)
    return iter(found) if found is not None else _walked(data, start, end)


def _split(data: bytes, start: int, end: int) -> list[Child] | None:
    """By the fast reader; None for what it does not read: a lone surrogate, say, or names that come twice."""
    import msgspec

    literal = data[start:end]
    try:
        if data[start] == ARRAY:
            return _items(data, start, msgspec.json.decode(literal, type=list[msgspec.Raw]))
        return _members(data, start, end, msgspec.json.decode(literal, type=dict[str, msgspec.Raw]))
    except (msgspec.DecodeError, RecursionError):
        return None


def _items(data: bytes, start: int, raws: list[object]) -> list[Child]:
    found = []
    at = start + 1
    for number, raw in enumerate(raws):
        literal = bytes(raw).strip(_SPACES)  # type: ignore[call-overload]
        # Between two items there are commas and white space alone.
        at = data.index(literal, at)
        found.append(Child(number, at, at + len(literal)))
        at += len(literal)
    return found


def _members(data: bytes, start: int, end: int, raws: dict[str, object]) -> list[Child] | None:
    found = []
    at = start + 1
    for name, raw in raws.items():
        literal = bytes(raw).strip(_SPACES)  # type: ignore[call-overload]
        at = _pass(data, at)
        spelt = STRING_END.match(data, at + 1)
        if spelt is None or decode_literal(data[at : spelt.end()]) != name:
            return None
        at = _pass(data, _pass(data, spelt.end()) + 1)
        if not data.startswith(literal, at):
            return None
        found.append(Child(name, at, at + len(literal)))
        at = _pass(data, at + len(literal)) + 1
    return found if at >= end else None


def _pass(data: bytes, at: int) -> int:
    """The offset after white space."""
    return SPACE.match(data, at).end()  # type: ignore[union-attr]


def _walked(data: bytes, start: int, end: int) -> Iterator[Child]:
    for at, steps in path.values(data, start, end):
        if len(steps) == 1:
            yield Child(steps[0], at, value_end(data, at))
