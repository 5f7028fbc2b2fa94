"""Parts of an object, without reading the rest of it.

Laws:
- A byte that comes back was checked: of an object of FRAME_BYTES or more each frame against its digest in
  the index, which was taken when the whole was checked; of a shorter one, or where the index knows no frames,
  the whole against the object's digest. Never other bytes: ObjectDamaged.
- A row of the index that does not fit costs time, never bytes: then the whole is read and measured, and what
  it gives is used. Nothing is written; `ctx repair` mends such rows.
- What the caller does not see is absent, in the words of `Store.read`, and nothing of it is read.

Memory: two frames, and some 200 bytes for each frame of the object; a shorter object whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from castore.config import FRAME_BYTES
from castore.digest import Digest
from castore.errors import ObjectDamaged, ObjectMissing
from castore.objects.frames import NONE, FrameFacts
from castore.store.transaction import Transactions

if TYPE_CHECKING:
    from castore.objects.database import ObjectParts

__all__ = ["Guard", "Mark", "RangedObject"]


T = TypeVar("T")


class Mark(NamedTuple):
    """What stands before a place of an object, which is the beginning of a frame.

    offset: of the place, in bytes. newlines: line feeds before it. characters: bytes before it that begin
    one in UTF-8. Of an array, else 0: commas: between its items, before it. depth: arrays and objects that
    are open there. state: 0 outside strings, 1 inside one, 2 inside one just after a backslash.
    """

    offset: int
    newlines: int
    characters: int
    commas: int
    depth: int
    state: int


class Guard(NamedTuple):
    """What the store says of errors, and is told of what was read.

    absent: the error for an object that is missing. address: says to whom a damaged one is shown. note: so
    many bytes came back, of so many reads.
    """

    absent: Callable[[], Exception]
    address: Callable[[ObjectDamaged], None]
    note: Callable[[int, int], None]


class RangedObject:
    """One object that is there, to be read by ranges. For one thread at a time.

    All that is read of it counts as one read, of the bytes that came back.
    """

    def __init__(self, parts: Transactions, digest: Digest, guard: Guard) -> None:
        self.digest = digest
        self._guard = guard
        self._times = 1
        self._frames: _Frames | _Short = self._guarded(lambda: _opened(parts, digest))
        self._marks: tuple[Mark, ...] | None = None

    @property
    def size(self) -> int:
        """Bytes of the object."""
        return self._frames.size

    @property
    def is_array(self) -> bool:
        """It is one JSON array; a large one as far as its brackets say (castore.document.nesting).

        Raises ObjectMissing, ObjectDamaged.
        """
        return self._guarded(lambda: self._frames.is_array)

    def read(self, start: int, stop: int) -> bytes:
        """The bytes from `start` on, before `stop`, as a slice of the whole. Raises ObjectMissing,
        ObjectDamaged."""
        return b"".join(self.pieces(start, stop))

    def pieces(self, start: int, stop: int) -> Iterator[bytes]:
        """As `read`, in pieces of FRAME_BYTES at most, each of which was checked before it is given."""
        start, stop, _ = slice(max(0, start), max(0, stop)).indices(self.size)
        while start < stop:
            number, at = divmod(start, FRAME_BYTES)
            frame = self._guarded(lambda number=number: self._frames.frame(number))  # type: ignore[misc]
            piece = frame[at : at + stop - start]
            self._guard.note(len(piece), self._times)
            self._times = 0
            yield piece
            start += len(piece)

    def marks(self) -> Sequence[Mark]:
        """One at the beginning of each frame, in order; one at 0 at least. Raises ObjectMissing,
        ObjectDamaged."""
        if self._marks is None:
            self._marks = self._guarded(self._frames.marks)
        return self._marks

    def _guarded(self, act: Callable[[], T]) -> T:
        try:
            return act()
        except ObjectMissing:
            raise self._guard.absent() from None
        except ObjectDamaged as error:
            self._guard.address(error)
            raise


def _opened(parts: Transactions, digest: Digest) -> _Frames | _Short:
    found = parts.database.parts(digest)
    if found.size < FRAME_BYTES:
        return _Short(parts.database.read(digest))
    return _Frames(parts, digest, found)


class _Short:
    """An object of one frame: it is read whole, and checked by its digest."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    @property
    def size(self) -> int:
        return len(self._data)

    @cached_property
    def is_array(self) -> bool:
        from castore.document.single import is_array

        return is_array(self._data)

    def frame(self, number: int) -> bytes:
        return self._data

    def marks(self) -> tuple[Mark, ...]:
        return (Mark(0, 0, 0, 0, 0, 0),)


class _Frames:
    """An object of FRAME_BYTES or more: its frames are read and checked one by one."""

    def __init__(self, parts: Transactions, digest: Digest, found: ObjectParts) -> None:
        self._database = parts.database
        self._digest = digest
        self._parts = found
        self._facts = _rows(parts, digest, found)
        self._is_measured = False
        """The facts are those of the file that `_parts` is about, which was found right as a whole."""
        self._last: tuple[int, bytes] | None = None

    @property
    def size(self) -> int:
        return self._parts.size

    @property
    def is_array(self) -> bool:
        return self.facts()[0].depth != NONE

    def facts(self) -> tuple[FrameFacts, ...]:
        if self._facts is None:
            self._measure()
        assert self._facts is not None
        return self._facts

    def frame(self, number: int) -> bytes:
        """The bytes of one frame. The last one is held: ranges often follow each other."""
        if self._last is not None and self._last[0] == number:
            return self._last[1]
        while True:
            expected = self.facts()[number].sha256
            try:
                data = self._database.frame(self._digest, self._parts, number)
            except ObjectDamaged:
                if self._is_measured and self._database.is_same(self._digest, self._parts):
                    raise
            else:
                if sha256(data).digest() == expected:
                    self._last = number, data
                    return data
                if self._is_measured and self._database.is_same(self._digest, self._parts):
                    raise ObjectDamaged(str(self._digest), "a frame holds other bytes than it did just now")
            # The file is damaged, was replaced, or the rows lie: the whole tells.
            self._measure()

    def marks(self) -> tuple[Mark, ...]:
        marks = []
        newlines = characters = commas = 0
        for number, each in enumerate(self.facts()):
            of_array = (0, 0, 0) if each.depth == NONE else (commas, each.depth, each.state)
            marks.append(Mark(number * FRAME_BYTES, newlines, characters, *of_array))
            newlines += each.newlines
            characters += each.characters
            commas += each.commas
        return tuple(marks)

    def _measure(self) -> None:
        """Every byte of the file is read, and is right. Raises ObjectMissing, ObjectDamaged."""
        while True:
            parts = self._database.parts(self._digest)
            try:
                found = self._database.check(self._digest, measure=True)
            except ObjectDamaged:
                if self._database.is_same(self._digest, parts):
                    raise
                continue
            if found.stamp == parts.found.stamp:
                self._parts, self._facts, self._is_measured = parts, found.frames, True
                return


def _rows(parts: Transactions, digest: Digest, found: ObjectParts) -> tuple[FrameFacts, ...] | None:
    """What the index says of the object's frames; None if that can't be of this object.

    They follow from the bytes, so it does not matter whether the index knows what the roots say by now.
    """
    from castore.index import frames
    from castore.index.connection import IndexUnreadable

    with parts.one_thread:
        connection = parts.index_as_it_is()
        try:
            rows = None if connection is None else frames.rows(connection, digest)
        except IndexUnreadable:
            return None
    if rows is None or len(rows) != len(found.decoded) or not all(map(_may_be, rows)):
        return None
    return rows


def _may_be(row: FrameFacts) -> bool:
    """Whether the row says what can be of a frame: sums of others would be of no use."""
    counts = (row.newlines, row.characters, row.commas)
    return all(NONE <= each <= FRAME_BYTES for each in counts) and row.state in (NONE, 0, 1, 2)
