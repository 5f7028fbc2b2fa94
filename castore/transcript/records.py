"""Records: the top-level values of a session, and the lines that are none.

Law: records are disjoint, in order, and every byte between them is white space; each is one value by the
grammar of docs/format.md or, in a file of one record a line, a line that is none (cut by a crash, say), of
which nothing is read. Glued records, blank lines and a missing last newline are records like any other.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar, cast

from castore.config import DEPTH_MAX, SESSION_RECORD_BYTES_MAX
from castore.document.grammar import ARRAY, OBJECT, SPACE, scan_strictly, value_end
from castore.document.place import Origin, utf8_error_offset
from castore.document.scan import BOM
from castore.errors import DocumentInvalid, LimitExceeded, SessionInvalid
from castore.transcript.values import Source, Value, shallow_end

__all__ = ["Record", "Records", "collector_off", "read_records"]

T = TypeVar("T")

_STRICT_BYTES_MAX = 12 << 20
_GRAMMAR_BYTES_MAX = 512 << 10
"""Up to this size the grammar scans by itself: that costs less than importing the faster reader."""
_LINE_BLOCK_BYTES = 4096
"""Lines are counted once for each block, and then within one for each question."""
_PIECE_BYTES = 512
"""After a line that is none the next piece is scanned, and twice as much after each that is whole."""

_Bad = tuple[int, int, str]
"""A line that is none: its start, the end of its last byte that is not white space, and why it is none."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record. line: that it begins on, from 1. value: None if the line is no JSON, and `why` not."""

    index: int
    start: int
    end: int
    line: int
    value: Value | None
    why: str | None = None

    @property
    def is_object(self) -> bool:
        return self.value is not None and self.value.is_object

    def release(self) -> None:
        """Forget what was read of the value: it is read again when it is asked for."""
        if self.value is not None:
            self.value.release()


@dataclass(frozen=True)
class Records:
    """All records of a session, and the bytes they stand in."""

    source: Source
    records: list[Record]

    @property
    def data(self) -> bytes:
        return self.source.data

    @cached_property
    def objects(self) -> list[Record]:
        """Those that are JSON objects, as nearly all are."""
        return [record for record in self.records if record.is_object]

    def once(self, name: Hashable, find: Callable[[Records], T]) -> T:
        """What `find` finds in these records, found the first time that it is asked for by this name."""
        if name not in self._found:
            self._found[name] = find(self)
        return cast(T, self._found[name])

    @cached_property
    def _found(self) -> dict[Hashable, Any]:
        return {}

    def release(self) -> None:
        """Forget what was read of the records. Who reads on in them asks for little."""
        self.source.levels = 0
        for record in self.records:
            record.release()

    def span_with_line_end(self, record: Record) -> tuple[int, int]:
        """The record and the white space after it up to its line's end: what leaves when it leaves whole."""
        data = self.source.data
        stop = SPACE.match(data, record.end).end()  # type: ignore[union-attr]
        newline = data.find(b"\n", record.end, stop)
        return record.start, newline + 1 if newline >= 0 else record.end

    def line_of(self, offset: int) -> int:
        """The line that the offset is on, from 1; whatever the order of questions, each is cheap."""
        block = min(offset, len(self.source.data)) // _LINE_BLOCK_BYTES
        begin = block * _LINE_BLOCK_BYTES
        return self._lines_before[block] + self.source.data.count(b"\n", begin, offset) + 1

    @cached_property
    def _lines_before(self) -> list[int]:
        """How many line ends stand before each block."""
        data = self.source.data
        counts = [0]
        for begin in range(0, len(data), _LINE_BLOCK_BYTES):
            counts.append(counts[-1] + data.count(b"\n", begin, begin + _LINE_BLOCK_BYTES))
        return counts


@contextmanager
def collector_off() -> Iterator[None]:
    """Within it Python looks for no cycles; afterwards it does if it did before, errors or not.

    For making hundreds of thousands of objects none of which is part of a cycle: a sixth of the time would go
    into looking at them again and again.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@collector_off()
def read_records(data: bytes) -> Records:
    """The records of `data`. Raises DocumentInvalid with its place if it is neither JSON nor lines of it;
    LimitExceeded for a record over SESSION_RECORD_BYTES_MAX or nested too deep."""
    begin = len(BOM) if data.startswith(BOM) else 0
    _refuse_long_lines(data)
    ends: dict[int, int] = {}
    bad: list[_Bad] = []
    # A sound session is scanned at once. From the first bad line on it is scanned in pieces that grow as long
    # as they are sound, so that a session of many bad lines is not copied and scanned anew for each.
    at, size = begin, len(data)
    while True:
        stop = _piece_end(data, at, size)
        try:
            _scan(data, at, stop, ends)
            if stop == len(data):
                break
            at, size = stop, 2 * size
        except (DocumentInvalid, LimitExceeded) as error:
            offset = error.fields["offset"]
            assert isinstance(offset, int)
            offset += at
            if offset >= stop < len(data):
                # A value goes on behind the piece.
                size = 2 * max(size, stop - at)
                continue
            error.fields["offset"] = offset
            found = _bad_lines(data, begin, at, error, ends)
            bad += found
            line_end = data.find(b"\n", found[-1][1])
            at, size = len(data) if line_end < 0 else line_end, _PIECE_BYTES
    source = Source(data)
    return Records(source, list(_records(source, begin, bad, ends)))


def _bad_lines(
    data: bytes, begin: int, at: int, error: DocumentInvalid | LimitExceeded, ends: dict[int, int]
) -> list[_Bad]:
    """The lines that are none, one after the other, of which the first made the scan from `at` on fail.
    Raises the error, with its place, if the file is not one of lines."""
    offset = error.fields["offset"]
    assert isinstance(offset, int)
    start = max(data.rfind(b"\n", 0, min(offset, len(data))) + 1, begin)
    end = data.find(b"\n", offset)
    end = len(data) if end < 0 else end
    is_all = start == begin and end == len(data)
    if start >= at and not is_all and not isinstance(error, LimitExceeded):
        try:
            _scan(data, at, start, ends)
            return [(start, _trimmed(data, start, end), error.message)]
        except DocumentInvalid:
            pass  # A record that began on a line before does not end where the scan failed.
    cut = _cut_lines(data, begin, at, offset)
    if not cut:
        raise _located(error, data) from None
    return cut


def _cut_lines(data: bytes, begin: int, at: int, offset: int) -> list[_Bad]:
    """The line that ends inside a record, of which it is only found at `offset`, behind that line, and those
    next to it that end inside one too. None if they may be of one record over several lines.

    A harness that is killed leaves a beginning of a record, and goes on with whole ones on lines of their
    own; all that is never one value, but it may look like one for a while. So what comes next is asked: it
    is a record of its own, no further in, or nothing. In a record over several lines what comes next is
    further in, or no array or object, or has a comma or bracket behind it.
    """
    first = _open_line(data, at, offset)
    start = max(data.rfind(b"\n", 0, first) + 1, begin) if first is not None else begin
    if first is None or start < at:
        return []
    if start == begin and _last_line_closes(data):
        return []
    indent = first - start
    found: list[_Bad] = []
    while True:
        end = data.find(b"\n", start)
        if not found and not 0 <= end < offset:
            return []  # It failed on the line that it began on.
        end = len(data) if end < 0 else end
        found.append((start, _trimmed(data, start, end), "the record that begins on it is cut"))
        following = SPACE.match(data, end).end()  # type: ignore[union-attr]
        if following == len(data):
            return found if found[0][0] > begin else []
        start = data.rfind(b"\n", 0, following) + 1
        if following - start > indent or data[following] not in _CONTAINERS:
            return []
        end = data.find(b"\n", following)
        line = data[following : len(data) if end < 0 else end]
        try:
            rest = line[value_end(line, 0) :].lstrip()
        except DocumentInvalid:
            continue
        except LimitExceeded:
            return []
        return [] if rest[:1] in (b",", b":", b"]", b"}") else found


def _open_line(data: bytes, at: int, offset: int) -> int | None:
    """Where the first record begins on the line on which the one begins that is open at `offset`; None if a
    record of several lines ends on it. From `at` to `offset` there are records and that beginning."""
    first = end = at
    while True:
        start = SPACE.match(data, end).end()  # type: ignore[union-attr]
        if end == at or data.find(b"\n", end, start) >= 0:
            first = start
        found = shallow_end(data, start, offset)
        if found is None:
            try:
                found = value_end(data, start)
            except (DocumentInvalid, LimitExceeded):
                break
        if found > offset:
            break
        end = found
    return first if data.find(b"\n", first, start) < 0 else None


def _last_line_closes(data: bytes) -> bool:
    """Whether the last line goes on with a value that began before it."""
    text_end = _trimmed(data, 0, len(data))
    last = SPACE.match(data, data.rfind(b"\n", 0, text_end) + 1).end()  # type: ignore[union-attr]
    return data[last : last + 1] in (b"]", b"}")


def _piece_end(data: bytes, at: int, size: int) -> int:
    """The last line end within `size` bytes from `at`, or the first one after them, or the end."""
    if size >= len(data) - at:
        return len(data)
    newline = data.rfind(b"\n", at + 1, at + size)
    if newline < 0:
        newline = data.find(b"\n", at + size)
    return newline + 1 if newline >= 0 else len(data)


def _records(source: Source, begin: int, bad: list[_Bad], ends: dict[int, int]) -> Iterator[Record]:
    """ends: of the records of which the end is known."""
    data = source.data
    lines = data.count(b"\n", 0, begin) + 1
    counted = begin
    waiting = iter(bad)
    next_bad = next(waiting, None)
    at = SPACE.match(data, begin).end()  # type: ignore[union-attr]
    index = 0
    while at < len(data):
        lines += data.count(b"\n", counted, at)
        counted = at
        if next_bad is not None and next_bad[0] <= at < next_bad[1]:
            end = next_bad[1]
            yield Record(index, at, end, lines, None, next_bad[2])
            next_bad = next(waiting, None)
        else:
            end = ends.get(at) or source.end_of(at)
            if end - at > SESSION_RECORD_BYTES_MAX:
                raise _too_long(at, lines)
            yield Record(index, at, end, lines, Value(source, at, end))
        index += 1
        at = SPACE.match(data, end).end()  # type: ignore[union-attr]


def _scan(data: bytes, start: int, end: int, ends: dict[int, int]) -> None:
    """Refuses what in [start, end) is no JSON; the ends of its records go into `ends`, as far as they are
    found on the way. Errors carry offsets from `start`."""
    whole = data if (start, end) == (0, len(data)) else data[start:end]
    if len(whole) > _GRAMMAR_BYTES_MAX and _scan_fast(whole, start, ends):
        return
    if len(whole) <= _STRICT_BYTES_MAX:
        scan_strictly(whole, len(whole))
        return
    import io

    from castore.document.scan import segments

    for _segment in segments(io.BytesIO(whole).read, len(whole)):
        pass


def _scan_fast(whole: bytes, start: int, ends: dict[int, int]) -> bool:
    """False where it can't be told, or is no JSON: the grammar says which, and where.

    What the reader takes and the grammar does not (castore.document.scan) is checked here: UTF-8, scalars
    side by side, and nesting.
    """
    import msgspec

    try:
        literals = msgspec.json.Decoder(msgspec.Raw).decode_lines(whole)
    except (msgspec.DecodeError, RecursionError):
        return False
    if utf8_error_offset(whole) is not None:
        return False
    found: dict[int, int] = {}
    at = 0
    for literal in literals:
        at = SPACE.match(whole, at).end()  # type: ignore[union-attr]
        end = at + memoryview(literal).nbytes
        if whole[at] not in _CONTAINERS or (end - at > 2 * DEPTH_MAX and _may_be_deep(whole, at, end)):
            return False
        found[start + at] = start + end
        at = end
    ends.update(found)
    return True


def _may_be_deep(data: bytes, start: int, end: int) -> bool:
    """Whether the container may be nested deeper than DEPTH_MAX."""
    opened = data.count(b"{", start, end) + data.count(b"[", start, end)
    if opened <= DEPTH_MAX:
        return False
    if shallow_end(data, start) is not None:
        return False
    try:
        scan_strictly(data[start:end], end - start)
    except (DocumentInvalid, LimitExceeded):
        return True
    return False


_CONTAINERS = bytes((ARRAY, OBJECT))


def _trimmed(data: bytes, start: int, end: int) -> int:
    """Where the line's last byte that is not white space ends."""
    return start + len(data[start:end].rstrip(b" \t\r\n"))


def _refuse_long_lines(data: bytes) -> None:
    """Before anything is scanned: a value as long as this is no record of a session."""
    if len(data) <= SESSION_RECORD_BYTES_MAX:
        return
    at, line = 0, 1
    while at < len(data):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        if end - at > SESSION_RECORD_BYTES_MAX:
            raise _too_long(at, line)
        at, line = end + 1, line + 1


def _too_long(offset: int, line: int) -> LimitExceeded:
    error = LimitExceeded(
        f"a record is longer than {SESSION_RECORD_BYTES_MAX >> 20} MiB",
        limit="SESSION_RECORD_BYTES_MAX",
        offset=offset,
        line=line,
        column=1,
    )
    error.at(f"byte {offset}, line {line}")
    return error


def _located(error: DocumentInvalid | LimitExceeded, data: bytes) -> DocumentInvalid | LimitExceeded:
    """The error again, with its place in the whole session."""
    offset = error.fields["offset"]
    assert isinstance(offset, int)
    located: DocumentInvalid | LimitExceeded
    if isinstance(error, LimitExceeded):
        located = LimitExceeded(error.message, limit=str(error.fields["limit"]), offset=offset)
    else:
        located = SessionInvalid(error.message, offset=offset)
    Origin().locate(located, data)
    return located
