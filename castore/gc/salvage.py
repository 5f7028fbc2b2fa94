"""Find the bytes of lost objects in any file that may still have them.

Laws: what is found has the digest that was looked for; a file is read and never changed; whatever the file
holds, time and memory are bounded by its length: what can't be searched within that is left out, and the
search says so.

Looked at are: the file's bytes as a whole; the file as an object's file, as a backup has it; and, where it
is a sequence of JSON values, each array, object and string as it is spelt, the text of each string, and
the bytes of each that is base64. So the source of a folded document gives every object of it back.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from typing import BinaryIO

from castore import codec
from castore.config import FRAME_BYTES
from castore.digest import Digest
from castore.document.grammar import STRING, Node
from castore.document.reference import Reference
from castore.document.scan import Segment, segments
from castore.document.splice import unfold_parts
from castore.document.strings import decode_base64, decode_literal
from castore.errors import DocumentInvalid, LimitExceeded, ObjectDamaged

__all__ = ["Search", "digest_in", "pieces_in", "references_in"]

DIGESTED_RATIO_MAX = 64
"""Bytes digested, for each byte of the file: values in values are digested again for each level."""

DIGESTED_BYTES_MIN = 256 << 20
"""However short the file is, so many may be digested."""

VALUE_BYTES_MAX = 256 << 20
"""Longest single value that is searched; it is held in memory, with a list of the values in it."""

SHORT_BYTES = 256
"""Values up to this length are looked at after all longer ones, if something is still wanting."""

SHORT_FILE_BYTES_MAX = 16 << 20
"""And only in files up to this length: there may be one for every third byte."""

_READ_BYTES = 1 << 20
_NO_NODES = 1 << 62
_NO_DIGEST = Digest("0" * 64)
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"

Take = Callable[[Digest, "Iterator[bytes]"], None]
"""Called once with each object that was found, and its bytes in pieces, to be read at once."""


class _Enough(Exception):
    """Everything was found, or the limit was met."""


class Search:
    """One search: `wanted` are the digests looked for, with their sizes where they are known.

    limit: in words, what kept a file from being searched to its end; None if nothing did.
    """

    def __init__(self, wanted: Mapping[Digest, int | None], take: Take) -> None:
        self.wanted = dict(wanted)
        self.limit: str | None = None
        self._take = take
        self._left_bytes = 0
        self._set_sizes()

    def file(self, source: BinaryIO) -> None:
        """What is wanted and is in `source`, which can seek, was given to `take`. Raises OSError."""
        if not self.wanted:
            return
        self.limit = None
        length = source.seek(0, 2)
        self._left_bytes = max(DIGESTED_BYTES_MIN, DIGESTED_RATIO_MAX * length)
        try:
            self._whole(source, length)
            self._object_file(source, length)
            smallest = self._smallest
            if smallest is None or smallest <= SHORT_BYTES:
                self._document(source, SHORT_BYTES)
                if length > SHORT_FILE_BYTES_MAX:
                    raise self._stopped(
                        f"values of up to {SHORT_BYTES} bytes are not searched in so long a file"
                    )
                self._document(source, 1)
            else:
                self._document(source, smallest - 1)
        except _Enough:
            return

    # --- The ways to look ---

    def _whole(self, source: BinaryIO, length: int) -> None:
        if not self._may_be(length):
            return
        digest = _digest_of(_pieces(source))
        if digest in self.wanted:
            self._give(digest, _pieces(source))

    def _object_file(self, source: BinaryIO, length: int) -> None:
        def may_decode(size: int) -> bool:
            if self._may_be(size):
                self._spend(size)
                return True
            return False

        digest = digest_in(source, may_decode)
        if digest is not None and digest in self.wanted:
            self._give(digest, pieces_in(source))

    def _document(self, source: BinaryIO, floor: int) -> None:
        """Of every value over `floor` bytes."""
        source.seek(0)
        waiting = 0

        def read(size: int) -> bytes:
            nonlocal waiting
            piece = source.read(size)
            waiting += len(piece)
            if waiting > VALUE_BYTES_MAX:
                raise self._stopped(f"a value of over {VALUE_BYTES_MAX:,} bytes is not searched")
            return piece

        try:
            for segment in segments(read, floor):
                waiting = 0
                self._segment(segment)
        except (DocumentInvalid, LimitExceeded):
            return  # It is no document, or none that fold takes, from here on.

    def _segment(self, segment: Segment) -> None:
        data = memoryview(segment.data)
        for node in segment.nodes:
            literal = data[node.start : node.end]
            self._try(literal)
            if node.kind == STRING:
                self._string(node, literal)

    def _string(self, node: Node, literal: memoryview) -> None:
        length = node.end - node.start
        # Text has at most the bytes between the quotes, and a sixth of them if all are escapes.
        if self._may_be_within((length - 2) // 6, length - 2):
            # A lone surrogate has no UTF-8, and so was not folded as text.
            with contextlib.suppress(UnicodeEncodeError):
                self._try(decode_literal(bytes(literal)).encode())
        if self._may_be_within((length - 260) * 3 // 4 - 3, length * 3 // 4):
            content = bytes(literal[1:-1])
            if content.startswith(b"data:"):
                content = content.partition(b";base64,")[2]
            if content and len(content) % 4 == 0:
                found = decode_base64(content)
                if found is not None:
                    self._try(found)

    # --- Helpers ---

    def _try(self, data: bytes | memoryview) -> None:
        if self._may_be(len(data)):
            self._spend(len(data))
            digest = Digest.of(data)
            if digest in self.wanted:
                self._give(digest, iter((bytes(data),)))

    def _give(self, digest: Digest, pieces: Iterator[bytes]) -> None:
        self._take(digest, pieces)
        del self.wanted[digest]
        self._set_sizes()
        if not self.wanted:
            raise _Enough

    def _set_sizes(self) -> None:
        """sizes: those wanted; None if one of them is not known, so that any may be it."""
        self._sizes: set[int] | None = None
        self._smallest: int | None = None
        sizes = {size for size in self.wanted.values() if size is not None}
        if self.wanted and None not in self.wanted.values():
            self._sizes, self._smallest = sizes, min(sizes)

    def _may_be(self, size: int) -> bool:
        return self._sizes is None or size in self._sizes

    def _may_be_within(self, low: int, high: int) -> bool:
        return self._sizes is None or any(low <= size <= high for size in self._sizes)

    def _spend(self, size: int) -> None:
        self._left_bytes -= size
        if self._left_bytes < 0:
            raise self._stopped(f"over {DIGESTED_RATIO_MAX} times its bytes would be digested")

    def _stopped(self, words: str) -> _Enough:
        self.limit = words
        return _Enough()


def references_in(source: BinaryIO) -> dict[Digest, int]:
    """The digests that a folded document names, and their sizes. Raises DocumentInvalid, LimitExceeded."""
    source.seek(0)
    found: dict[Digest, int] = {}
    for segment in segments(source.read, _NO_NODES):
        for part in unfold_parts(segment.data):
            if isinstance(part, Reference):
                found[part.descriptor.digest] = part.descriptor.size
    return found


def digest_in(source: BinaryIO, may_decode: Callable[[int], bool] = lambda size: True) -> Digest | None:
    """The digest of the object of which `source` is the file, as we write them; None if it is not one.

    may_decode: is asked, with the size that the file declares, before anything is decoded.
    """
    length = source.seek(0, 2)
    source.seek(0)
    if source.read(len(_ZSTD_MAGIC)) != _ZSTD_MAGIC:
        return None
    try:
        table = _table(source, length)
        return _digest_of(_decoded(source, table, length)) if may_decode(table.size) else None
    except ObjectDamaged:
        return None


def pieces_in(source: BinaryIO) -> Iterator[bytes]:
    """The bytes of the object of which `source` is the file. Raises ObjectDamaged."""
    length = source.seek(0, 2)
    yield from _decoded(source, _table(source, length), length)


def _table(source: BinaryIO, length: int) -> codec.FrameTable:
    return codec.read_table(_NO_DIGEST, length, lambda at, size: _read_at(source, at, size))


def _digest_of(pieces: Iterator[bytes]) -> Digest:
    whole = sha256()
    for piece in pieces:
        whole.update(piece)
    return Digest(whole.hexdigest())


def _pieces(source: BinaryIO) -> Iterator[bytes]:
    source.seek(0)
    while piece := source.read(_READ_BYTES):
        yield piece


def _read_at(source: BinaryIO, at: int, size: int) -> bytes:
    source.seek(at)
    data = source.read(size)
    if len(data) != size:
        raise ObjectDamaged(str(_NO_DIGEST), "its file is cut off")
    return data


def _decoded(source: BinaryIO, table: codec.FrameTable, length: int) -> Iterator[bytes]:
    """The bytes of an object's file, a frame at a time. Raises ObjectDamaged."""
    if table.size < FRAME_BYTES:
        yield codec.decode(_NO_DIGEST, _read_at(source, 0, length))
        return
    at = 0
    for stored, size in zip(table.stored, table.decoded, strict=True):
        yield codec.decode_at(_NO_DIGEST, _read_at(source, at, stored), size)
        at += stored
