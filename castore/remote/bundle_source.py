"""The objects in a bundle, as an object source that is only read, and where its roots lie.

Laws: what a source says holds here but for writing, which a bundle is not for. The whole tar was looked
through before anything is read of it; what is read is checked above, as in any source. Read from several
threads.

Memory: 48 bytes an object, some 200 a root.
"""

from __future__ import annotations

import os
import stat
import tempfile
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO, NoReturn

from castore.digest import Digest
from castore.errors import BundleDamaged, CastoreError, ObjectMissing
from castore.objects.source import Frames, SourceStat
from castore.remote.bundle_tar import FORMAT_LINE, Member, check_roots_bytes, members
from castore.remote.keys import FORMAT, ROOTS, digest_of

__all__ = ["Bundle", "TarSource", "opened_bundle"]

_PIECE_BYTES = 1 << 20
_RAW = 32


class Bundle:
    """One bundle that was looked through. roots: where their files lie in it, sorted by their names."""

    def __init__(self, file: _File, found: Iterable[Member]) -> None:
        """Raises BundleDamaged, LimitExceeded."""
        self._file = file
        self.roots: list[Member] = []
        self.objects = TarSource(file)
        roots_bytes = 0
        for member in found:
            digest = digest_of(member.name)
            if digest is not None:
                self.objects.add(digest, member)
            elif member.name.startswith(ROOTS):
                self.roots.append(member)
                roots_bytes += member.size
                check_roots_bytes(roots_bytes)
        # Asked when all has been passed by: only then is what is piped in a file.
        line = file.read(_BLOCK_BYTES, len(FORMAT_LINE))
        if line != FORMAT_LINE:
            shown = line.decode("ascii", "backslashreplace").strip()
            raise BundleDamaged(
                FORMAT,
                f"its format '{shown}' is unknown",
                hint="use the version of castore that made it, or a newer one",
            )

    def read(self, member: Member) -> bytes:
        data = self._file.read(member.start, member.size)
        if len(data) < member.size:
            raise BundleDamaged(member.name, "the bundle is cut off in it")
        return data


class TarSource:
    """An ObjectSource: the objects of a bundle."""

    def __init__(self, file: _File) -> None:
        self._file = file
        self._digests = bytearray()
        self._starts = array("Q")
        self._sizes = array("Q")

    def __len__(self) -> int:
        return len(self._starts)

    def add(self, digest: Digest, member: Member) -> None:
        """The object lies there. They come in the order of their digests."""
        self._digests += digest.raw
        self._starts.append(member.start)
        self._sizes.append(member.size)

    def number(self, digest: Digest) -> int | None:
        """Which of the objects it is, by the order of their digests; None: it is none of them."""
        raw = digest.raw
        place = bisect_left(range(len(self)), raw, key=self._raw)
        return place if place < len(self) and self._raw(place) == raw else None

    def numbered(self, number: int) -> Digest:
        return Digest.from_raw(self._raw(number))

    def stat(self, digest: Digest) -> SourceStat | None:
        number = self.number(digest)
        if number is None:
            return None
        size = self._sizes[number]
        return SourceStat(size, (self._starts[number], size, 0))

    def get(self, digest: Digest, start: int = 0, length: int | None = None) -> bytes:
        number = self.number(digest)
        if number is None:
            raise ObjectMissing(str(digest))
        left = max(0, self._sizes[number] - start)
        return self._file.read(self._starts[number] + start, left if length is None else min(length, left))

    def digests(self, prefix: str = "") -> Iterator[Digest]:
        for number in range(len(self)):
            digest = self.numbered(number)
            if digest.hex.startswith(prefix):
                yield digest

    def stage(self, pieces: Iterable[bytes], *, hold: bool = True) -> Frames:
        _only_read()

    def prepare(self, staged: Sequence[Frames]) -> None:
        _only_read()

    def publish(self, named: Sequence[tuple[Digest, Frames]], *, unproven: Collection[str] = ()) -> None:
        _only_read()

    def drop(self, staged: Iterable[Frames]) -> None:
        _only_read()

    def delete(self, digest: Digest) -> bool:
        _only_read()

    def settle(self, digests: Iterable[Digest]) -> None:
        _only_read()

    def _raw(self, number: int) -> bytes:
        return bytes(self._digests[number * _RAW : (number + 1) * _RAW])


@contextmanager
def opened_bundle(source: BinaryIO, spool_folder: str) -> Iterator[Bundle]:
    """The bundle that `source` holds from where it stands. Raises BundleDamaged; CastoreError if it can't be
    read.

    A regular file is read in place. What comes through a pipe is copied into an unnamed file in
    `spool_folder`, which nobody else can read, only as far as it is a bundle.
    """
    descriptor = _regular(source)
    if descriptor is not None:
        file = _File(descriptor, source.tell())
        yield Bundle(file, members(_InPlace(file)))
        return
    with _spool(spool_folder) as spool:
        file = _File(spool.fileno(), 0)
        yield Bundle(file, _spooled(source, spool))


# --- Helpers ---------------------------------------------------------------------------------------

_BLOCK_BYTES = 512
"""The first member's bytes begin there."""


class _File:
    """Bytes of an open file, from `base` on. Read at any place, from several threads."""

    def __init__(self, descriptor: int, base: int) -> None:
        self._descriptor = descriptor
        self._base = base

    def size(self) -> int:
        return os.fstat(self._descriptor).st_size - self._base

    def read(self, start: int, length: int) -> bytes:
        """The bytes there, fewer only at the end of the file. Raises CastoreError."""
        pieces: list[bytes] = []
        at, end = self._base + start, self._base + start + length
        try:
            while at < end and (piece := os.pread(self._descriptor, min(end - at, _PIECE_BYTES), at)):
                pieces.append(piece)
                at += len(piece)
        except OSError as error:
            raise _failed("read the bundle", error) from error
        return b"".join(pieces)


class _InPlace:
    """A stream of a regular file: what is passed by is not read."""

    def __init__(self, file: _File) -> None:
        self._file = file
        self._at = 0
        self._size = file.size()

    def take(self, length: int) -> bytes:
        data = self._file.read(self._at, length)
        self._at += len(data)
        return data

    def skip(self, length: int) -> bool:
        self._at += length
        return self._at <= self._size


class _Spooling:
    """A stream of a pipe, which is copied as it is taken and passed by."""

    def __init__(self, source: BinaryIO, spool: BinaryIO) -> None:
        self._source = source
        self._spool = spool

    def take(self, length: int) -> bytes:
        data = b""
        while len(data) < length and (piece := self._piece(length - len(data))):
            data += piece
        return data

    def skip(self, length: int) -> bool:
        while length and (piece := self._piece(min(length, _PIECE_BYTES))):
            length -= len(piece)
        return length == 0

    def _piece(self, length: int) -> bytes:
        try:
            piece = self._source.read(length) if length else b""
        except OSError as error:
            raise _failed("read the bundle", error) from error
        try:
            self._spool.write(piece)
        except OSError as error:
            raise _failed("spool the bundle", error) from error
        return piece


def _spooled(source: BinaryIO, spool: BinaryIO) -> Iterator[Member]:
    yield from members(_Spooling(source, spool))
    try:
        spool.flush()
    except OSError as error:
        raise _failed("spool the bundle", error) from error


def _regular(source: BinaryIO) -> int | None:
    """The descriptor of a regular file; None for what has to be spooled."""
    try:
        descriptor = source.fileno()
        return descriptor if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
    except OSError:  # UnsupportedOperation is one.
        return None


def _spool(folder: str) -> BinaryIO:
    try:
        return tempfile.TemporaryFile("w+b", dir=folder)
    except OSError as error:
        raise _failed(f"write in '{folder}'", error) from error


def _failed(act: str, error: OSError) -> CastoreError:
    return CastoreError(f"can't {act}: {error.strerror or error}", errno=error.errno)


def _only_read() -> NoReturn:
    raise AssertionError("a bundle is only read")
