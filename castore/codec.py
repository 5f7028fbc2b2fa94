"""Object bytes <-> zstd frames: the only user of zstandard.

An object shorter than FRAME_BYTES is one zstd frame that declares its content's size. A longer one is
a frame for every FRAME_BYTES of it (the last may be shorter), then the seek table of the zstd seekable
format in a skippable frame, so that frames compress in parallel and a range reads only its frames.
In both cases `zstd -dc FILE` prints the object.

Law: a file decodes if and only if it has exactly that shape: no checksums, no dictionary, no window or
content larger than FRAME_BYTES, nothing after the end. All of it is checked before a frame is
decompressed, because zstandard trusts what a frame declares (13 bytes can ask for 50 GB, and bytes after
the frame pass). Whatever is wrong is ObjectDamaged with the reason; that the bytes are the *right* ones
is checked above, by their digest.

Memory: two frames (2 MiB) whatever the object's length, but for `decode`, which is for one frame.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple

import zstandard

from castore.config import FRAME_BYTES, OBJECT_BYTES_MAX
from castore.digest import Bytes, Digest
from castore.errors import CastoreError, LimitExceeded, ObjectDamaged

__all__ = [
    "SINGLE_STORED_MAX",
    "FrameTable",
    "declared_size",
    "decode",
    "decode_at",
    "decode_what_is_left",
    "encode",
    "encode_pieces",
    "read_table",
]

SINGLE_STORED_MAX = FRAME_BYTES + (FRAME_BYTES >> 8) + 128
"""Longest file of one frame: what zstd makes of FRAME_BYTES bytes that do not compress."""

_EMPTY = bytes.fromhex("28b52ffd2000010000")
"""The one file of an object of no bytes. zstandard returns early on it, and accepts junk behind it."""

_HEADER_BYTES_MAX = 18
_LEFT_READ_BYTES = 16 << 10
_BLOCK_HEADER_BYTES = 3
_BLOCKS_MAX = 1024
_SKIPPABLE = struct.Struct("<II")
_SKIPPABLE_MAGIC = 0x184D2A5E
_ENTRY = struct.Struct("<II")
_FOOTER = struct.Struct("<IBI")
_FOOTER_MAGIC = 0x8F92EAB1
_ENTRIES_MAX = OBJECT_BYTES_MAX // FRAME_BYTES

_contexts = threading.local()
"""One compressor a level and one decompressor for each thread: making one costs as much as a small object."""


class FrameTable(NamedTuple):
    """The frames of a file: their bytes as stored, and decoded. `size`: bytes of the whole object."""

    stored: list[int]
    decoded: list[int]
    size: int


Map = Callable[[Callable[[Bytes], tuple[int, bytes]], Iterable[Bytes]], Iterable[tuple[int, bytes]]]
"""As the built-in `map`: results in order. One that works ahead in threads makes large objects fast."""


def encode(data: Bytes, level: int) -> bytes:
    """The file of an object shorter than FRAME_BYTES; it was decoded again and compared."""
    if len(data) >= FRAME_BYTES:
        raise AssertionError("an object of FRAME_BYTES or more has a seek table")
    return _frame(data, level)


def encode_pieces(frames: Iterable[Bytes], level: int, *, map_frames: Map = map) -> Iterator[bytes]:
    """The pieces of the file of the object that `frames` make: each FRAME_BYTES long, but for the last.

    Each was decoded again and compared. Only the frames that `map_frames` works on are held. `frames`
    may be empty: the object of no bytes.
    """
    entries: list[tuple[int, int]] = []
    last = FRAME_BYTES
    for size, frame in map_frames(lambda data: (len(data), _frame(data, level)), frames):
        if last != FRAME_BYTES or not 0 < size <= FRAME_BYTES:
            raise AssertionError("a frame that is not the last must hold FRAME_BYTES")
        if len(entries) == _ENTRIES_MAX:
            raise LimitExceeded(f"the object has over {OBJECT_BYTES_MAX} bytes", limit="OBJECT_BYTES_MAX")
        last = size
        entries.append((len(frame), size))
        yield frame
    if not entries:
        yield _EMPTY
    elif entries[0][1] == FRAME_BYTES:
        yield _seek_table(entries)


def decode(digest: Digest, file: bytes) -> bytes:
    """The bytes in `file`, which must be one frame and nothing else, of fewer than FRAME_BYTES bytes."""
    size = _declared(digest, file)
    if size == FRAME_BYTES:
        raise ObjectDamaged(str(digest), "its seek table is cut off")
    return _decode_frame(digest, file, size)


def declared_size(digest: Digest, head: bytes) -> int:
    """Bytes that the frame beginning with `head` (18 bytes, or the whole file) declares."""
    return _declared(digest, head)


def read_table(digest: Digest, stored_bytes: int, read: Callable[[int, int], bytes]) -> FrameTable:
    """The frames of a file of `stored_bytes`, of which `read(offset, length)` gives pieces.

    What the table says of the frames' lengths adds up to the file's; that each frame declares what the
    table says is checked by `decode_at` when it is decoded.
    """
    size = _declared(digest, read(0, min(stored_bytes, _HEADER_BYTES_MAX)))
    if size < FRAME_BYTES:
        if stored_bytes > SINGLE_STORED_MAX:
            raise ObjectDamaged(str(digest), "its file is longer than its frame can be")
        return FrameTable([stored_bytes], [size], size)
    if stored_bytes < _SKIPPABLE.size + _FOOTER.size:
        raise ObjectDamaged(str(digest), "its seek table is cut off")
    count, descriptor, magic = _FOOTER.unpack(read(stored_bytes - _FOOTER.size, _FOOTER.size))
    table_bytes = _SKIPPABLE.size + count * _ENTRY.size + _FOOTER.size
    if (
        magic != _FOOTER_MAGIC
        or descriptor != 0
        or not 1 <= count <= _ENTRIES_MAX
        or table_bytes > stored_bytes
    ):
        raise ObjectDamaged(str(digest), "its seek table is not readable")
    table = read(stored_bytes - table_bytes, table_bytes)
    if _SKIPPABLE.unpack_from(table) != (_SKIPPABLE_MAGIC, table_bytes - _SKIPPABLE.size):
        raise ObjectDamaged(str(digest), "its seek table is not readable")
    entries = list(_ENTRY.iter_unpack(table[_SKIPPABLE.size : -_FOOTER.size]))
    stored = [entry[0] for entry in entries]
    decoded = [entry[1] for entry in entries]
    whole = decoded[0] == FRAME_BYTES and all(each == FRAME_BYTES for each in decoded[:-1])
    if not whole or not 0 < decoded[-1] <= FRAME_BYTES or sum(stored) + table_bytes != stored_bytes:
        raise ObjectDamaged(str(digest), "its seek table does not fit its frames")
    if max(stored) > SINGLE_STORED_MAX:
        raise ObjectDamaged(str(digest), "its seek table does not fit its frames")
    return FrameTable(stored, decoded, sum(decoded))


def decode_at(digest: Digest, frame: bytes, size: int) -> bytes:
    """The bytes in one frame of a file, which must be `size` by its own header too."""
    if _declared(digest, frame) != size:
        raise ObjectDamaged(str(digest), "a frame does not have the size that the seek table says")
    return _decode_frame(digest, frame, size)


def decode_what_is_left(file: BinaryIO, start: int) -> tuple[bytes, int]:
    """What the frame at `start` decodes to before the first error in it, FRAME_BYTES at most; and its end.

    The end is 0 where it can't be told, or there was an error. For looking into damaged files: nobody says
    that the bytes are right. Whatever the frame declares, no more memory than two frames is used.
    """
    file.seek(start)
    decompressor = zstandard.ZstdDecompressor(max_window_size=FRAME_BYTES)
    pieces: list[bytes] = []
    left = FRAME_BYTES
    is_right = True
    with decompressor.stream_reader(file, read_size=_LEFT_READ_BYTES, closefd=False) as reader:
        try:
            while left and (piece := reader.read(min(left, _LEFT_READ_BYTES))):
                pieces.append(piece)
                left -= len(piece)
        except zstandard.ZstdError:
            is_right = False  # What came before it is what there is.
    return b"".join(pieces), _frame_end(file, start) if is_right and pieces else 0


# --- Helpers ---------------------------------------------------------------------------------------


def _frame(data: Bytes, level: int) -> bytes:
    if not data:
        return _EMPTY
    compressors: dict[object, Any] = _contexts.__dict__  # type: ignore[assignment]
    compressor = compressors.get(level)
    if compressor is None:
        compressor = compressors[level] = zstandard.ZstdCompressor(level=level)
    frame: bytes = compressor.compress(data)
    if _decompressor().decompress(frame, allow_extra_data=False) != data:
        raise CastoreError(
            "zstandard made a frame that does not decode to what was put in", hint="check the memory"
        )
    return frame


def _frame_end(file: BinaryIO, start: int) -> int:
    """The offset after the frame at `start`, by the headers of its blocks; 0 if the file ends before it."""
    file.seek(start)
    head = file.read(_HEADER_BYTES_MAX)
    at = start + zstandard.frame_header_size(head)
    has_checksum = zstandard.get_frame_parameters(head).has_checksum
    length = file.seek(0, 2)
    for _ in range(_BLOCKS_MAX):
        file.seek(at)
        block = file.read(_BLOCK_HEADER_BYTES)
        if len(block) < _BLOCK_HEADER_BYTES:
            break
        header = int.from_bytes(block, "little")
        is_last, is_run = header & 1, header >> 1 & 3 == 1
        at += _BLOCK_HEADER_BYTES + (1 if is_run else header >> 3)
        if is_last:
            end = at + 4 * has_checksum
            return end if end <= length else 0
    return 0


def _seek_table(entries: list[tuple[int, int]]) -> bytes:
    body = b"".join(_ENTRY.pack(*entry) for entry in entries) + _FOOTER.pack(len(entries), 0, _FOOTER_MAGIC)
    return _SKIPPABLE.pack(_SKIPPABLE_MAGIC, len(body)) + body


def _decompressor() -> zstandard.ZstdDecompressor:
    contexts: dict[object, Any] = _contexts.__dict__  # type: ignore[assignment]
    found: zstandard.ZstdDecompressor | None = contexts.get("decompressor")
    if found is None:
        found = contexts["decompressor"] = zstandard.ZstdDecompressor()
    return found


def _declared(digest: Digest, head: bytes) -> int:
    try:
        parameters = zstandard.get_frame_parameters(head)
    except zstandard.ZstdError as error:
        raise ObjectDamaged(str(digest), "its file does not begin with a zstd frame") from error
    size = parameters.content_size
    if size > FRAME_BYTES:
        told = "no size" if size >= zstandard.CONTENTSIZE_ERROR else f"{size} bytes"
        raise ObjectDamaged(str(digest), f"a frame declares {told}")
    if parameters.window_size > FRAME_BYTES or parameters.dict_id or parameters.has_checksum:
        raise ObjectDamaged(str(digest), "a frame's header is not one that we write")
    return int(size)


def _decode_frame(digest: Digest, frame: bytes, size: int) -> bytes:
    if size == 0:
        if frame != _EMPTY:
            raise ObjectDamaged(str(digest), "its file has bytes where an empty object has none")
        return b""
    try:
        data: bytes = _decompressor().decompress(frame, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise ObjectDamaged(str(digest), f"a frame does not decode ({error})") from error
    if len(data) != size:
        raise ObjectDamaged(str(digest), f"a frame holds {len(data)} bytes and declares {size}")
    return data
