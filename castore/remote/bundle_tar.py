"""The tar of a bundle, member by member: plain files with the names that they have in a store's folder.

Laws:
- The same members give the same bytes, whoever writes them, when and wherever.
- Only what has that form is read: regular files of these names alone, each once, in their order, whole, and
  nothing behind the end. No name leads anywhere; links, devices, longer names and holes are refused by the
  type that their headers have.
- Reading holds one header. What a header declares is never made room for.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterable, Iterator
from typing import BinaryIO, NamedTuple, Protocol

from castore import codec
from castore.config import BUNDLE_ROOTS_BYTES_MAX, FRAME_BYTES, OBJECT_BYTES_MAX, ROOT_BYTES_MAX
from castore.errors import BundleDamaged, LimitExceeded
from castore.layout import FORMAT_VERSION
from castore.remote.keys import FORMAT, digest_of, root_id_of

__all__ = ["FORMAT_LINE", "Member", "Stream", "TarWriter", "check_roots_bytes", "members"]

FORMAT_LINE = FORMAT_VERSION.encode() + b"\n"
"""What the first member holds."""

_BLOCK = tarfile.BLOCKSIZE
_ZEROS = bytes(_BLOCK)
_MODE = 0o400
"""Of every member: as objects and roots have it in a store of one's own."""

_USTAR_SIZE_MAX = (8 << 30) - 1
"""What 11 octal digits hold. A longer member has its size in base 256, which all tars of today read."""

_OBJECT_STORED_MAX = codec.SINGLE_STORED_MAX * (OBJECT_BYTES_MAX // FRAME_BYTES + 1)
_SIZE_MAX = {"format": len(FORMAT_LINE), "roots": ROOT_BYTES_MAX, "objects": _OBJECT_STORED_MAX}
_RANK = {"format": 0, "roots": 1, "objects": 2}

_TYPES = {
    tarfile.LNKTYPE: "a link",
    tarfile.SYMTYPE: "a symbolic link",
    tarfile.CHRTYPE: "a device",
    tarfile.BLKTYPE: "a device",
    tarfile.DIRTYPE: "a folder",
    tarfile.FIFOTYPE: "a pipe",
    tarfile.GNUTYPE_SPARSE: "a file with holes",
    tarfile.GNUTYPE_LONGNAME: "a longer name",
    tarfile.GNUTYPE_LONGLINK: "a longer name",
    tarfile.XHDTYPE: "an extended header",
    tarfile.XGLTYPE: "an extended header",
    tarfile.SOLARIS_XHDTYPE: "an extended header",
}
_COMPRESSED = {b"\x1f\x8b": "gunzip", b"\x28\xb5\x2f\xfd": "zstd -d", b"\xfd7zXZ": "xz -d", b"BZh": "bunzip2"}


class Member(NamedTuple):
    """start: where its bytes begin in the tar."""

    name: str
    start: int
    size: int


class Stream(Protocol):
    """What a tar is read from, once and in order."""

    def take(self, length: int) -> bytes:
        """The next bytes, fewer only at the end."""

    def skip(self, length: int) -> bool:
        """The next bytes are passed by; False if there are not so many."""


class TarWriter:
    """Writes members as they are given: `format`, then roots, then objects, each of them sorted by name."""

    def __init__(self, target: BinaryIO) -> None:
        self._target = target
        self.size = 0

    def add(self, name: str, size: int, pieces: Iterable[bytes]) -> None:
        """Raises AssertionError unless the pieces have `size` bytes together."""
        info = tarfile.TarInfo(name)
        info.size, info.mode = size, _MODE
        is_long = size > _USTAR_SIZE_MAX
        self._write(info.tobuf(tarfile.GNU_FORMAT if is_long else tarfile.USTAR_FORMAT, "ascii", "strict"))
        before = self.size
        for piece in pieces:
            self._write(piece)
        if self.size - before != size:
            raise AssertionError("a member has another size than its header says")
        self._write(bytes(-size % _BLOCK))

    def end(self) -> None:
        """Without it, the tar is cut off for who reads it."""
        self._write(_ZEROS * 2)
        self._write(bytes(-self.size % tarfile.RECORDSIZE))

    def _write(self, data: bytes) -> None:
        self._target.write(data)
        self.size += len(data)


def members(stream: Stream) -> Iterator[Member]:
    """The members, in their order; ends only if the whole has the form. Raises BundleDamaged.

    Their bytes are passed by, so that what is asked of them may be read at their places later.
    """
    last: tuple[int, str] | None = None
    at = 0
    while True:
        header = stream.take(_BLOCK)
        if header == _ZEROS and last is not None:
            _check_end(stream)
            return
        place = last[1] if last is not None else None
        name, size = _parsed(header, place)
        rank = _RANK[name.split("/", 1)[0]], name
        if last is None and name != FORMAT:
            raise _no_bundle(f"its first member is '{name}'")
        if last is not None and rank <= last:
            raise BundleDamaged(name, "it is there twice" if rank == last else "it is out of order")
        last = rank
        yield Member(name, at + _BLOCK, size)
        padding = -size % _BLOCK
        if not stream.skip(size) or len(filler := stream.take(padding)) < padding:
            raise BundleDamaged(name, "the bundle is cut off in it")
        if filler.strip(b"\0"):
            raise BundleDamaged(name, "bytes stand behind it that are no member's")
        at += _BLOCK + size + padding


def check_roots_bytes(size: int) -> None:
    """The root files of a bundle have so many bytes, together. Raises LimitExceeded."""
    if size > BUNDLE_ROOTS_BYTES_MAX:
        raise LimitExceeded(
            f"the roots of a bundle are over {BUNDLE_ROOTS_BYTES_MAX:,} bytes",
            limit="BUNDLE_ROOTS_BYTES_MAX",
            hint="make several bundles, each of fewer roots",
        )


# --- Helpers ---------------------------------------------------------------------------------------


def _parsed(header: bytes, place: str | None) -> tuple[str, int]:
    """Name and size of the member that the header begins. place: the name of the one before it, if any."""
    if place is None:
        _check_beginning(header)
    if len(header) < _BLOCK and place is not None:
        raise BundleDamaged(place, "the bundle is cut off behind it")
    try:
        info = tarfile.TarInfo.frombuf(header, "ascii", "backslashreplace")
    except (tarfile.HeaderError, ValueError):
        if place is None:
            raise _no_bundle("it is no tar") from None
        raise BundleDamaged(place, "what stands behind it is no header of a member") from None
    name, kind = info.name[:200], header[156:157]
    if kind != tarfile.REGTYPE:
        raise BundleDamaged(name, f"it is {_TYPES.get(kind, 'no regular file')}")
    if digest_of(name) is None and root_id_of(name) is None and name != FORMAT:
        raise BundleDamaged(name, "a bundle has no such name")
    # What stands behind a zero byte in a field, or in the one for the beginnings of long names, is hidden.
    if header[:100] != name.encode().ljust(100, b"\0") or header[345:500].strip(b"\0"):
        raise BundleDamaged(name, "its name is not written as a bundle's are")
    if header[157:257].strip(b"\0"):
        raise BundleDamaged(name, "it links to another")
    limit = _SIZE_MAX[name.split("/", 1)[0]]
    if not 0 < info.size <= limit:
        raise BundleDamaged(name, f"it can't have {info.size:,} bytes")
    return name, info.size


def _check_beginning(header: bytes) -> None:
    if not header:
        raise _no_bundle("it is empty")
    for magic, command in _COMPRESSED.items():
        if header.startswith(magic):
            raise _no_bundle(
                "it is compressed", hint=f"unpack it first: {command} < FILE | ctx bundle import -"
            )


def _no_bundle(reason: str, hint: str | None = None) -> BundleDamaged:
    return BundleDamaged(
        None, f"this is no bundle: {reason}", hint=hint or "'ctx bundle create' makes bundles"
    )


def _check_end(stream: Stream) -> None:
    """Two blocks of zeros, of which one was read, and at most as many as fill up a record of a tape."""
    rest = stream.take(tarfile.RECORDSIZE + 1)
    if len(rest) < _BLOCK:
        raise BundleDamaged(None, "the bundle is cut off at its end")
    if rest.strip(b"\0") or len(rest) > tarfile.RECORDSIZE:
        raise BundleDamaged(None, "bytes stand behind the end of the bundle")
