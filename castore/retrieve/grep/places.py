"""Where a match is: the smallest address that still carries what is around it.

Law: what the address reads has the match in it, spelt as it stands or, where the address goes into a string,
as that string says. An array is read by its items, text by its lines; of what is longer than RECORD_BYTES,
only what is around the match. A short field is read with what is beside it: alone it says little.

How: from the whole value down, as long as what is there is too long: into the item or member that holds the
match, into what a string says, into the JSON that this is, or the line of it.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property, partial
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import NamedTuple

from castore.document.grammar import ARRAY, OBJECT, STRING
from castore.document.strings import decode_literal
from castore.retrieve.address import Address, Range, Unit
from castore.retrieve.grep.containers import Container
from castore.retrieve.grep.said import ESCAPE
from castore.retrieve.kinds import SPACE, ObjectKind, kind_of_bytes
from castore.retrieve.readable import Readable
from castore.retrieve.slicing import item_slices

__all__ = ["RECORD_BYTES", "BytesPlaces", "JsonPlaces", "Place", "TextPlaces", "items_beside", "places_in"]

RECORD_BYTES = 900
"""What is no longer than this is read whole."""

_BEFORE_BYTES, _AFTER_BYTES = 200, 450
"""What is read around a match in something longer; a record tells what it is about at its beginning."""

_SPAN_BYTES_MAX = 1200
"""Items or lines that a match goes across are read whole up to this."""

_NAME_CHARACTERS_MAX = 200
_SHORT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_ESCAPE_BYTES = re.compile(ESCAPE.pattern.encode())


Beside = Callable[[int], tuple[list[bytes], list[bytes]]]
"""So many items, or lines, before and after."""


class Place(NamedTuple):
    """piece: the bytes that the address reads, less the line feed after a value. beside: of items, lines."""

    address: Address
    piece: bytes
    beside: Beside | None = None


class TextPlaces:
    """Text, by its lines."""

    def __init__(self, data: bytes, selects: tuple[str, ...] = ()) -> None:
        self._data = data
        self._selects = selects
        self._counted = self._lines = 0
        self._has_lines = b"\n" in data
        self._cuts = _Cuts(data)

    def at(self, start: int, end: int) -> Place:
        """For places that do not decrease much."""
        data = self._data
        first = data.rfind(b"\n", 0, start) + 1
        last = _line_end(data, max(start, end - 1))
        span = Range.one(Unit.LINES, self._line(first))
        further = data.count(b"\n", start, max(start, end - 1))
        if further:
            span = Range(Unit.LINES, span.start, (span.start or 0) + further + 1)
        if last - first <= (_SPAN_BYTES_MAX if further else RECORD_BYTES):
            if not self._has_lines:
                return Place(Address(self._selects), data)
            return Place(Address(self._selects, span), data[first:last], partial(self._beside, first, last))
        cut, piece = self._cuts.around(first, last, start, end)
        return Place(Address(self._selects, span if self._has_lines else None, cut), piece)

    def _beside(self, first: int, last: int, count: int) -> tuple[list[bytes], list[bytes]]:
        before: list[bytes] = []
        after: list[bytes] = []
        while len(before) < count and first > 0:
            start = self._data.rfind(b"\n", 0, first - 1) + 1
            before.insert(0, self._data[start:first])
            first = start
        while len(after) < count and last < len(self._data):
            end = _line_end(self._data, last)
            after.append(self._data[last:end])
            last = end
        return before, after

    def _line(self, at: int) -> int:
        if at < self._counted:
            self._counted = self._lines = 0
        self._lines += self._data.count(b"\n", self._counted, at)
        self._counted = at
        return self._lines


class BytesPlaces:
    """Bytes that are no text."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def at(self, start: int, end: int) -> Place:
        first = max(0, start - _BEFORE_BYTES)
        last = min(len(self._data), end + _AFTER_BYTES)
        return Place(Address(cut=Range(Unit.BYTES, first, last)), self._data[first:last])


class JsonPlaces:
    """One JSON value. selects: what leads to it. steps: where it stands in what these select. is_item: it is
    an item of an array that is read by items."""

    def __init__(self, data: bytes, selects: tuple[str, ...] = (), *, within: int | None = None) -> None:
        self._data = data
        self._selects = selects
        self._start = len(data) - len(data.lstrip(SPACE))
        self._end = len(data.rstrip(SPACE))
        self._containers: dict[tuple[int, int], Container] = {}
        self._strings: dict[tuple[int, int], _SaidValue] = {}
        self._cuts = _Cuts(data)
        self._within = within
        """The index of the item that it is, of an array too long to hold."""

    @property
    def is_array(self) -> bool:
        return self._data[self._start] == ARRAY

    @property
    def _is_by_items(self) -> bool:
        """Even if the whole is short, one item of it is read."""
        return self.is_array and not self._selects and self._within is None

    def at(self, start: int, end: int) -> Place:
        """For places that do not decrease much."""
        first, last = self._start, self._end
        start, end = max(start, first), min(max(end, start + 1), last)
        steps: list[str | int] = [] if self._within is None else [self._within]
        while last - first > RECORD_BYTES or (not steps and self._is_by_items):
            byte = self._data[first]
            if byte == STRING and first < start and end < last:
                return self._in_string(steps, first, last, start, end)
            if byte not in (ARRAY, OBJECT):
                return self._around(steps, first, last, start, end)
            container = self._container(first, last)
            child = container.holding(start)
            if child is None or end > child.end or not _can_be_named(child.step):
                return self._across(container, steps, first, last, start, end)
            is_long = child.end - child.start > RECORD_BYTES
            is_string = self._data[child.start] == STRING
            if is_string and is_long and (start == child.start or end == child.end):
                # Of a long string what it says is read, without its quotes.
                return self._across(container, steps, first, last, start, end)
            if byte == OBJECT and not is_long and self._data[child.start] not in (ARRAY, OBJECT):
                return self._around(steps, first, last, start, end)
            steps.append(child.step)
            first, last = child.start, child.end
        return self._whole(steps, first, last)

    def _across(
        self, container: Container, steps: list[str | int], first: int, last: int, start: int, end: int
    ) -> Place:
        """A match that is not in one child: of whole items if these are the array's own, or around it."""
        if not steps and self._is_by_items:
            one, other = container.holding(start), container.holding(end - 1)
            if one is not None and other is not None and other.end - one.start <= _SPAN_BYTES_MAX:
                assert isinstance(one.step, int)
                assert isinstance(other.step, int)
                span = Range(Unit.ITEMS, one.step, other.step + 1)
                return Place(Address(range=span), self._data[one.start : other.end], self._beside_items(span))
        member = container.member(start)
        if member is not None and member[1] - member[0] > end - start:
            # A match in a name is of what has that name.
            start, end = min(start, member[0]), max(end, min(member[1], member[0] + RECORD_BYTES))
            return self._around(steps, first, last, start, end, is_all=True)
        return self._around(steps, first, last, start, end)

    def _around(
        self, steps: list[str | int], first: int, last: int, start: int, end: int, *, is_all: bool = False
    ) -> Place:
        """Of something long only what is beside the match. is_all: that is no more than the match."""
        if last - first <= RECORD_BYTES:
            return self._whole(steps, first, last)
        if not steps:
            first, last = 0, len(self._data)  # White space around the value counts, too.
        cut, piece = self._cuts.around(first, last, start, end, is_all=is_all)
        return Place(self._address(steps, cut), piece)

    def _whole(self, steps: list[str | int], first: int, last: int) -> Place:
        address = self._address(steps)
        beside = None if address.range is None else self._beside_items(address.range)
        return Place(address, self._data[first:last], beside)

    def _beside_items(self, span: Range) -> Beside | None:
        container = self._container(self._start, self._end)
        first, last = span.start, span.stop
        if first is None or last is None or not self._is_by_items or container.items(0, 0) is None:
            return None

        def beside(count: int) -> tuple[list[bytes], list[bytes]]:
            return container.items(first - count, first) or [], container.items(last, last + count) or []

        return beside

    def _in_string(self, steps: list[str | int], first: int, last: int, start: int, end: int) -> Place:
        value = self._strings.get((first, last))
        if value is None:
            # Matches come in order: the strings before this one are done with.
            self._strings.clear()
            selects = (*self._selects, _written(steps))
            value = self._strings[first, last] = _SaidValue(self._data[first:last], selects)
        return value.at(start - first, end - first)

    def _address(self, steps: list[str | int], cut: Range | None = None) -> Address:
        if not self._selects and len(steps) == 1 and isinstance(steps[0], int):
            return Address(range=Range.one(Unit.ITEMS, steps[0]), cut=cut)
        if not steps and not self._selects:
            return Address(cut=cut)
        return Address((*self._selects, *([_written(steps)] if steps else [])), cut=cut)

    def _container(self, first: int, last: int) -> Container:
        found = self._containers.get((first, last))
        if found is None:
            if len(self._containers) > 8:
                # The outermost is asked for each time, the others for neighbours.
                self._containers = {
                    key: each for key, each in self._containers.items() if key == (self._start, self._end)
                }
            found = self._containers[first, last] = Container(self._data, first, last)
        return found


class _SaidValue:
    """What a string literal says, and where its bytes are in the literal."""

    def __init__(self, literal: bytes, selects: tuple[str, ...]) -> None:
        self._literal = literal
        self._selects = selects
        self._escapes = _ESCAPE_BYTES.finditer(literal)
        # Of the escapes met so far: where they begin and end, and how much less is said up to the end.
        self._starts, self._ends, self._shifts = array("Q"), array("Q"), array("q")
        self._is_whole = False

    def at(self, start: int, end: int) -> Place:
        first = self._said(start)
        return self._places.at(first, max(first + 1, self._said(end)))

    @cached_property
    def _places(self) -> JsonPlaces | TextPlaces:
        data = decode_literal(self._literal).encode("utf-8", "backslashreplace")
        is_json = data.strip(SPACE)[:1] in (b"[", b"{") and kind_of_bytes(data).is_json
        return JsonPlaces(data, self._selects) if is_json else TextPlaces(data, self._selects)

    def _said(self, at: int) -> int:
        """The offset in what it says of the byte at `at`, or of the escape that this is in."""
        while not self._is_whole and (not self._ends or self._ends[-1] <= at):
            self._meet_next()
        number = bisect_right(self._ends, at)
        if number < len(self._starts) and self._starts[number] < at:
            at = self._starts[number]
        return at - 1 - (self._shifts[number - 1] if number else 0)

    def _meet_next(self) -> None:
        escape = next(self._escapes, None)
        if escape is None:
            self._is_whole = True
            return
        less = len(escape[0]) - _said_bytes(escape[0])
        self._starts.append(escape.start())
        self._ends.append(escape.end())
        self._shifts.append(less + (self._shifts[-1] if self._shifts else 0))


def places_in(data: bytes, kind: ObjectKind) -> JsonPlaces | TextPlaces | BytesPlaces:
    """Of a whole object."""
    if kind.is_json:
        return JsonPlaces(data)
    return BytesPlaces(data) if kind is ObjectKind.BYTES else TextPlaces(data)


def items_beside(source: Readable, span: Range, count: int) -> tuple[list[bytes], list[bytes]]:
    """The items of an array before and after a span of them."""
    assert span.start is not None
    assert span.stop is not None
    before = Range(Unit.ITEMS, max(0, span.start - count), span.start)
    after = Range(Unit.ITEMS, span.stop, span.stop + count)
    return _items(source, before), _items(source, after)


# --- Helpers ---------------------------------------------------------------------------------------


def _items(source: Readable, span: Range) -> list[bytes]:
    """Their literals; of a long one the beginning."""
    found, pieces = [], bytearray()
    for piece, is_end in item_slices(source, span):
        pieces += piece[: _SPAN_BYTES_MAX - len(pieces)]
        if is_end:
            found.append(bytes(pieces))
            pieces.clear()
    return found


def _line_end(data: bytes, at: int) -> int:
    found = data.find(b"\n", at)
    return len(data) if found < 0 else found + 1


class _Cuts:
    """Characters around matches in text. Where the last ones hold another match too, they are given again."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._first = self._low = self._high = -1
        self._cut = Range(Unit.CHARS)

    def around(
        self, first: int, last: int, start: int, end: int, *, is_all: bool = False
    ) -> tuple[Range, bytes]:
        """Around [start, end) of data[first:last]: their range there, and their bytes."""
        if not (self._first == first and self._low <= start and end <= self._high):
            low = start if is_all else _boundary(self._data, max(first, start - _BEFORE_BYTES), start, last)
            high = _boundary(self._data, end if is_all else min(last, end + _AFTER_BYTES), end, last)
            is_further = self._first == first and self._low <= low
            counted = (self._cut.start or 0, self._low) if is_further else (0, first)
            number = counted[0] + len(self._data[counted[1] : low].decode())
            length = len(self._data[low:high].decode())
            self._first, self._low, self._high = first, low, high
            self._cut = Range(Unit.CHARS, number, number + length)
        return self._cut, self._data[self._low : self._high]


def _boundary(data: bytes, at: int, towards: int, last: int) -> int:
    """`at`, or, if that is in a character, the next place that is in none on the way to `towards`."""
    step = 1 if at < towards else -1
    while at not in (towards, last) and data[at] & 0xC0 == 0x80:
        at += step
    return at


def _can_be_named(step: str | int) -> bool:
    """A path can say it: not half a character, nor a text that is no name."""
    if isinstance(step, int):
        return True
    return len(step) <= _NAME_CHARACTERS_MAX and not any("\ud800" <= each <= "\udfff" for each in step)


def _written(steps: list[str | int]) -> str:
    """As JSONPath (RFC 9535)."""
    return "$" + "".join(f"[{each}]" if isinstance(each, int) else _member(each) for each in steps)


def _member(name: str) -> str:
    if _SHORT_NAME.match(name):
        return "." + name
    quoted = name.replace("\\", "\\\\").replace("'", "\\'")
    letters = (each if each.isprintable() or each > "\uffff" else f"\\u{ord(each):04x}" for each in quoted)
    return f"['{''.join(letters)}']"


def _said_bytes(escape: bytes) -> int:
    """Bytes of UTF-8 that it says; half a character is spelt as it was."""
    if len(escape) == 2:
        return 1
    text = str(scanstring(escape.decode() + '"', 0)[0])
    return len(text.encode("utf-8", "backslashreplace"))
