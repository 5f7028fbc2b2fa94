"""From a stream of bytes to whole values: the way every document comes in.

Law: the segments of a document, joined, are its bytes; each is a whole number of top-level values with
the white space around them, valid by the grammar; and what is found in a segment does not depend on
where the stream was cut. The whole stream is held only if it is one value: a stream of records is read
in bounded memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from castore.document.grammar import Node, scan_strictly
from castore.document.place import Origin, utf8_error_offset
from castore.errors import DocumentInvalid, LimitExceeded

if TYPE_CHECKING:
    from castore.document.structure import StructureScan

__all__ = ["BOM", "Read", "Segment", "segments"]

BOM = b"\xef\xbb\xbf"

SMALL_BYTES_MAX = 2 << 20
"""Up to this size a document is read by the strict scan alone: it costs less than importing numpy."""

_SEGMENT_BYTES = 4 << 20
"""Segments have about this many bytes, or one value more."""

_READ_BYTES = 1 << 20

_KEPT_BYTES = 30 << 20

Read = Callable[[int], bytes]
"""`read(n)`: at most n bytes, none at the end."""


class Watch(Protocol):
    """Whoever wants to know how a large document is read."""

    def begins(self) -> None:
        """The document is too large for the strict scan alone. Nothing heavy has been loaded yet."""

    def looks(self, data: bytearray, scan: StructureScan) -> None:
        """So far a long value was read, which has not ended. To look at, not to keep."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Some whole top-level values. `origin`: where it begins in the document. `nodes`: in order of start."""

    data: bytes | bytearray
    origin: Origin
    nodes: list[Node]


def segments(
    read: Read, floor: int, *, small_bytes_max: int = SMALL_BYTES_MAX, watch: Watch | None = None
) -> Iterator[Segment]:
    """The document that `read` gives, in segments, with the nodes longer than `floor` bytes.


    Raises DocumentInvalid or LimitExceeded, with offset, line and column, at the first byte that makes
    it something else than a sequence of JSON values; segments before that have been yielded by then.
    """
    origin = Origin()
    head = _read_up_to(read, max(small_bytes_max + 1, len(BOM)))
    is_small = len(head) <= small_bytes_max
    if head.startswith(BOM):
        yield Segment(BOM, origin, [])
        origin = origin.after(BOM)
        head = head[len(BOM) :]
    if not is_small:
        _keep_freed_memory()
        if watch is not None:
            watch.begins()
        yield from _large(head, read, floor, origin, watch)
    elif head:
        yield Segment(head, origin, _strictly(head, floor, origin))


def _large(head: bytes, read: Read, floor: int, origin: Origin, watch: Watch | None) -> Iterator[Segment]:
    from castore.document.structure import StructureScan, count_newlines

    scan = StructureScan(floor)
    pending = bytearray(head)
    is_at_end = False
    while True:
        scan.feed(pending)
        if scan.is_irregular:
            # No valid beginning looks like this, so the strict scan finds the defect in what is here.
            _strictly(pending, floor, origin)
            raise AssertionError("the two scanners disagree")
        if is_at_end:
            scan.cut = len(pending)
        if scan.cut:
            segment, pending = _cut(pending, scan, floor, origin)
            yield segment
            if not is_at_end:
                origin = origin.after(segment.data, newlines=count_newlines(segment.data))
            del segment
        elif watch is not None:
            watch.looks(pending, scan)
        if is_at_end:
            return
        wanted = len(pending) + _SEGMENT_BYTES
        while len(pending) < wanted and not is_at_end:
            piece = read(_READ_BYTES)
            is_at_end = not piece
            pending += piece


def _keep_freed_memory() -> None:
    """glibc's malloc keeps freed blocks for the next one as large, once it has seen one of this size freed.

    Until then each goes back to the system and comes again as page faults, a fifth of a scan's time.
    The block is never touched, and elsewhere this does nothing.
    """
    bytes(_KEPT_BYTES)


def _cut(pending: bytearray, scan: StructureScan, floor: int, origin: Origin) -> tuple[Segment, bytearray]:
    is_whole = scan.cut < len(pending) or scan.is_whole
    containers = scan.containers
    rest = bytearray(memoryview(pending)[scan.cut :])
    del pending[scan.cut :]
    nodes = scan.take(pending)
    if not (is_whole and _is_mostly_large(pending, nodes) and _is_valid(pending, containers)):
        nodes = _strictly(pending, floor, origin)
    return Segment(pending, origin, nodes), rest


def _is_mostly_large(data: bytearray, nodes: list[Node]) -> bool:
    """Whether the fast reader has few values to list: it makes an object of each, be it two bytes long."""
    small = len(data)
    end = 0
    for node in nodes:
        if node.start >= end:
            end = node.end
            small -= node.end - node.start
    return small <= 2 * _SEGMENT_BYTES


def _is_valid(data: bytearray, containers: int) -> bool:
    """Whether `data` is a sequence of `containers` arrays and objects; False also where it can't be told.

    msgspec takes what the grammar takes, but for three habits: it does not look at UTF-8, it refuses lone
    surrogates (which the grammar has), and it lets scalars stand side by side without white space.
    The first is checked here; the others are left to the strict scan.
    """
    if not containers:
        return False
    import msgspec

    try:
        values = len(msgspec.json.Decoder(msgspec.Raw).decode_lines(data))
    except (msgspec.DecodeError, RecursionError):
        return False
    return values == containers and utf8_error_offset(data) is None


def _strictly(data: bytes | bytearray, floor: int, origin: Origin) -> list[Node]:
    try:
        return scan_strictly(data, floor)
    except (DocumentInvalid, LimitExceeded) as error:
        origin.locate(error, data)
        raise


def _read_up_to(read: Read, size: int) -> bytes:
    """`size` bytes, or fewer where the stream ends: a pipe gives what it has."""
    pieces = []
    while size:
        piece = read(size)
        if not piece:
            break
        pieces.append(piece)
        size -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
