"""The hits in a window of a long object: it is read by pieces, each checked, and never held whole.

Law: the windows of an object have each of its hits once, but for one that is longer than OVERLAP_BYTES and
crosses the end of a window. Of an array the address is the item, or within it; of text the line. Of other
JSON that is too long to be parsed for it, and of a line or an item that is too long to hold, it is the bytes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import islice

from castore.retrieve.address import Address, Range, Unit
from castore.retrieve.grep.inside import Inside, distinct, in_bytes, matches_in, placed
from castore.retrieve.grep.pattern import GrepOptions, Needle
from castore.retrieve.grep.places import JsonPlaces, Place, TextPlaces, items_beside
from castore.retrieve.items import Commas
from castore.retrieve.kinds import SPACE, ObjectKind, kind_of
from castore.retrieve.readable import Readable
from castore.retrieve.slicing import item_slices
from castore.store.ranged import Mark

__all__ = ["HELD_BYTES_MAX", "OVERLAP_BYTES", "WINDOW_BYTES", "hits_in_window"]

HELD_BYTES_MAX = 8 << 20
"""Longest object, and longest item of a longer one, that is held whole."""

WINDOW_BYTES = 8 << 20
OVERLAP_BYTES = 64 << 10
_BEFORE_BYTES, _AFTER_BYTES = 200, 450
_HEAD_BYTES = 64 << 10


def hits_in_window(
    source: Readable,
    start: int,
    needle: Needle,
    options: GrepOptions,
    hits_max: int | None,
    alive: Callable[[], None] = lambda: None,
) -> list[Inside]:
    """Those that begin in the window at `start`. alive: as of `hits_in`."""
    stop = min(source.size, start + WINDOW_BYTES)
    base = max(0, start - OVERLAP_BYTES)
    data = source.read(base, min(source.size, stop + OVERLAP_BYTES))
    if not needle.may_be_in(data):
        return []
    kind = kind_of(source)
    if kind is ObjectKind.BYTES:
        text, is_text = data.decode("utf-8", "surrogateescape"), False
    else:
        skipped = _cut_bytes(data) if base else 0
        base, data = base + skipped, data[skipped:]
        # What is cut at the ends is a part of a character; each window has it whole, or the next one.
        text, is_text = data.decode("utf-8", "surrogateescape"), True
    places = _places(source, kind, data, base)
    is_json = kind.is_json or source.read(0, 64).lstrip()[:1] in (b"[", b"{", b'"')
    hits = (
        placed(match, places, first, last, options)
        for match, first, last in in_bytes(matches_in(text, needle, is_text=is_text, is_json=is_json), text)
        if start <= base + first < stop
    )
    return list(islice(distinct(hits, alive), hits_max))


def _cut_bytes(data: bytes) -> int:
    """How many bytes at the beginning belong to a character before it."""
    return next((at for at, byte in enumerate(data[:4]) if byte & 0xC0 != 0x80), 0)


def _places(source: Readable, kind: ObjectKind, data: bytes, base: int) -> _Window:
    if kind is ObjectKind.ARRAY:
        return _ItemWindow(source, data, base)
    return _LineWindow(source, data, base) if kind is ObjectKind.TEXT else _Window(source, data, base)


class _Window:
    """Bytes of a long object from `base` on."""

    def __init__(self, source: Readable, data: bytes, base: int) -> None:
        self.source = source
        self.data = data
        self.base = base

    def at(self, start: int, end: int) -> Place:
        first = max(0, start - _BEFORE_BYTES)
        last = min(len(self.data), end + _AFTER_BYTES)
        while first < start and self.data[first] & 0xC0 == 0x80:
            first += 1
        while last > end and last < len(self.data) and self.data[last] & 0xC0 == 0x80:
            last -= 1
        cut = Range(Unit.BYTES, self.base + first, self.base + last)
        return Place(Address(cut=cut), self.data[first:last])


class _LineWindow(_Window):
    """Of text."""

    def __init__(self, source: Readable, data: bytes, base: int) -> None:
        super().__init__(source, data, base)
        self._lines = TextPlaces(data)
        self._before: int | None = None

    def at(self, start: int, end: int) -> Place:
        begun = self.data.rfind(b"\n", 0, start) + 1
        ended = self.data.find(b"\n", max(start, end - 1))
        is_whole = (begun or not self.base) and (ended >= 0 or self.base + len(self.data) == self.source.size)
        if not is_whole:
            return super().at(start, end)
        if self._before is None:
            self._before = _feeds_before(self.source, self.base)
        place = self._lines.at(start, end)
        span = place.address.range
        if span is None or span.start is None or span.stop is None:
            return super().at(start, end)
        moved = Range(Unit.LINES, span.start + self._before, span.stop + self._before)
        return Place(Address(range=moved, cut=place.address.cut), place.piece, place.beside)


class _ItemWindow(_Window):
    """Of an array, each of whose items is held while matches are in it."""

    def __init__(self, source: Readable, data: bytes, base: int) -> None:
        super().__init__(source, data, base)
        self._first = self._last = 0
        self._places: JsonPlaces | None = None
        self._commas: _CommasBefore | None = None

    def at(self, start: int, end: int) -> Place:
        at = self.base + start
        if not self._first <= at < self._last:
            self._go_to(at)
        if self._places is None or self.base + end > self._last or at < self._first:
            return super().at(start, end)
        place = self._places.at(at - self._first, self.base + end - self._first)
        span = place.address.range
        if span is None or place.address.selects:
            return place
        return Place(place.address, place.piece, lambda count: items_beside(self.source, span, count))

    def _go_to(self, at: int) -> None:
        """Hold the item that the byte at `at` is in, if it is not too long."""
        if self._commas is None or not self._commas.can_go_to(at):
            self._commas = _CommasBefore(self.source, at)
        number, begun = self._commas.go_to(at)
        literal = bytearray()
        if begun is not None:
            for piece, _ in item_slices(self.source, Range.one(Unit.ITEMS, number)):
                literal += piece
                if len(literal) > HELD_BYTES_MAX:
                    break
        self._places, self._first, self._last = None, at, at
        if begun is not None and 0 < len(literal) <= HELD_BYTES_MAX:
            head = self.source.read(begun, at + 1)
            self._places = JsonPlaces(bytes(literal), within=number)
            self._first = begun + len(head) - len(head.lstrip(SPACE))
            self._last = self._first + len(literal)


class _CommasBefore:
    """An array's own commas, counted from the last mark on, further and further."""

    def __init__(self, source: Readable, at: int) -> None:
        self._source = source
        marks = source.marks()
        self._number = bisect_right(marks, at, key=lambda mark: mark.offset) - 1
        mark = marks[self._number]
        self._stop = marks[self._number + 2].offset if self._number + 2 < len(marks) else source.size
        self._count = mark.commas
        self._ends = _ends(source, mark)
        self._begun = self._begun_before(self._number)
        self._at = at
        self._comma = next(self._ends, None)

    def can_go_to(self, at: int) -> bool:
        """Without starting anew."""
        return self._at <= at < self._stop

    def go_to(self, at: int) -> tuple[int, int | None]:
        """How many commas are before `at`; and the offset after the last of them, or after the bracket: None
        if that is so far off that the item is too long to be held."""
        self._at = at
        while self._comma is not None and self._comma < at:
            self._count, self._begun = self._count + 1, self._comma + 1
            self._comma = next(self._ends, None)
        return self._count, self._begun

    def _begun_before(self, number: int) -> int | None:
        """Where the item begins that is open at a mark."""
        marks = self._source.marks()
        at = marks[number].offset
        while number >= 0 and at - marks[number].offset < HELD_BYTES_MAX:
            mark = marks[number]
            if mark.depth == 0:
                bracket = self._source.read(mark.offset, at or _HEAD_BYTES).find(b"[")
                begun = mark.offset + bracket + 1 if bracket >= 0 else None
            else:
                begun = None
            for end in _ends(self._source, mark):
                if end >= at:
                    break
                begun = end + 1
            if begun is not None:
                return begun
            number -= 1
        return None


def _ends(source: Readable, mark: Mark) -> Iterator[int]:
    """The offsets of an array's own commas from a mark on."""
    commas = Commas(mark.depth, mark.state)
    offset = mark.offset
    for piece in source.pieces(offset, source.size):
        for end in commas.ends(piece):
            if commas.depth == 0:
                return  # That is the bracket.
            yield offset + end
        offset += len(piece)


def _feeds_before(source: Readable, at: int) -> int:
    """How many line feeds are before `at`."""
    marks = source.marks()
    mark = marks[bisect_right(marks, at, key=lambda mark: mark.offset) - 1]
    return mark.newlines + sum(piece.count(b"\n") for piece in source.pieces(mark.offset, at))
