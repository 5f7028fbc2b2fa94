"""Where else an object's bytes are, before it is purged: purge removes one file, a secret may lie in more.

Laws: everything in the store that holds the bytes, in one of the spellings of castore.gc.spellings, is
named, and so are documents, damaged and staged files, views and summaries that name the object; nothing
else is, but for files that can't be read, which is said. Nothing is changed.

Not looked for: parts of the bytes, their copies in files that no root records (the source that was folded,
backups, other stores), and other spellings of them (upper-case escapes, base64 in lines).

Of an object whose bytes can't be had, only what names it is told. Memory: as in castore.gc.spellings.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import BinaryIO

from castore.codec import decode_what_is_left
from castore.digest import Digest
from castore.document.reference import Reference
from castore.document.scan import segments
from castore.document.splice import unfold_parts
from castore.errors import DocumentInvalid, LimitExceeded, ObjectDamaged, ObjectMissing
from castore.gc.spellings import Spelling, named, spelling_in, spellings
from castore.roots.model import Root, RootKind
from castore.store import Store

__all__ = ["Copy", "CopyPlace", "copies"]

Progress = Callable[[], None]
"""Called after each object or file that was looked into."""

_READ_BYTES = 1 << 20
_NO_NODES = 1 << 62
_FRAME_MAGIC = b"\x28\xb5\x2f\xfd"
_BROKEN_FRAMES_MAX = 10_000
"""After so many places in a file where a frame seems to begin and none does, its rest is left alone."""

_DERIVED = (RootKind.VIEW, RootKind.SUMMARY, RootKind.COLLAPSE)


class CopyPlace(StrEnum):
    """object: of this store. damaged, staged: a file in damaged/, in tmp/. document: a folded document on
    the disk. root: a view, summary or collapse record."""

    OBJECT = "object"
    DAMAGED = "damaged"
    STAGED = "staged"
    DOCUMENT = "document"
    ROOT = "root"


@dataclass(frozen=True, slots=True)
class Copy:
    """One place. subject: a digest, an absolute path, or a root's id. words: what is there, for people.

    holds_bytes: it has the whole bytes, or may have, as what is damaged or can't be read; else it names the
    object, and at most shows how it begins and ends.
    """

    place: CopyPlace
    subject: str
    words: str
    holds_bytes: bool = True

    def __str__(self) -> str:
        return f"{self.place} {self.subject} {self.words}"


def copies(store: Store, digest: Digest, *, progress: Progress | None = None) -> Iterator[Copy]:
    """Where else the object's bytes are, or may be: objects, damaged and staged files, documents, roots.

    Every object is read, so it takes about as long as `verify`. Raises ScopeDenied unless the caller is
    the operator; CastoreError where objects can't be listed.
    """
    store.require_operator("purge")
    wanted = _wanted(store, digest)
    looked = progress or _nothing
    yield from _in_objects(store, digest, wanted, looked)
    names = named(digest.hex.encode())
    layout = store.parts.layout
    for place, folder in ((CopyPlace.DAMAGED, layout.damaged), (CopyPlace.STAGED, layout.tmp)):
        for path in _files(folder):
            words = _in_file(path, digest, wanted, names)
            if words is not None:
                yield Copy(place, path, words)
            looked()
    yield from _in_documents(store, digest, wanted, looked)
    for root in store.roots_naming(digest):
        if root.kind in _DERIVED:
            words = f"a {root.kind} of scope '{root.scope}' names it"
            yield Copy(CopyPlace.ROOT, root.id, words, holds_bytes=False)


# --- Helpers ---------------------------------------------------------------------------------------


def _nothing() -> None:
    return


def _wanted(store: Store, digest: Digest) -> list[Spelling]:
    try:
        return spellings(lambda: store.parts.database.chunks(digest))
    except (ObjectMissing, ObjectDamaged):
        return []


def _in_objects(store: Store, digest: Digest, wanted: list[Spelling], looked: Progress) -> Iterator[Copy]:
    parts = store.parts
    for other in parts.source.digests() if wanted else ():
        if other == digest:
            continue
        try:
            found = spelling_in(lambda other=other: parts.database.chunks(other), wanted)  # type: ignore[misc]
        except ObjectMissing:
            found = None  # It was removed a moment ago.
        except ObjectDamaged:
            path = parts.layout.object_file(other.hex)
            with _opened(path) as file:
                found = None if file is None else spelling_in(lambda file=file: _left_in(file), wanted)  # type: ignore[misc]
        if found is not None:
            yield Copy(CopyPlace.OBJECT, str(other), _holds(found))
        looked()


def _in_file(path: str, digest: Digest, wanted: list[Spelling], names: Spelling) -> str | None:
    """What a damaged or staged file has of the object: its bytes, as they lie or encoded, or its name."""
    try:
        with _opened(path) as file:
            if file is None:
                return None
            found = spelling_in(lambda: _pieces(file), wanted) or spelling_in(lambda: _left_in(file), wanted)
            if found is not None:
                return _holds(found)
            if digest.hex in os.path.basename(path) or spelling_in(lambda: _pieces(file), [names]):
                return "names it, and may hold a part of its bytes"
    except OSError as error:
        return _unread(error)
    return None


def _in_documents(store: Store, digest: Digest, wanted: list[Spelling], looked: Progress) -> Iterator[Copy]:
    for path in sorted({path for root in store.roots() if (path := _file_of(root)) is not None}):
        try:
            with _opened(path) as file:
                if file is None:
                    continue
                found = spelling_in(lambda file=file: _pieces(file), wanted)  # type: ignore[misc]
                if found is not None:
                    yield Copy(CopyPlace.DOCUMENT, path, _holds(found))
                elif _refers(file, digest):
                    words = "names it, and may show in a preview how it begins and ends"
                    yield Copy(CopyPlace.DOCUMENT, path, words, holds_bytes=False)
        except OSError as error:
            yield Copy(CopyPlace.DOCUMENT, path, _unread(error))
        looked()


def _holds(spelling: Spelling) -> str:
    return f"holds its bytes, {spelling.words}"


def _unread(error: OSError) -> str:
    return f"can't be read ({error.strerror}), so what it holds is not known"


def _file_of(root: Root) -> str | None:
    """Where a root's document lies, as `fold -o` and `keep FILE` record it."""
    path = root.details.get("file")
    return path if isinstance(path, str) and os.path.isabs(path) and "\0" not in path else None


def _refers(file: BinaryIO, digest: Digest) -> bool:
    """Whether a reference in the document names the object; of what is no document, whether the digits do."""
    file.seek(0)
    try:
        for segment in segments(file.read, _NO_NODES):
            for part in unfold_parts(segment.data):
                if isinstance(part, Reference) and part.descriptor.digest == digest:
                    return True
    except (DocumentInvalid, LimitExceeded):
        return spelling_in(lambda: _pieces(file), [named(digest.hex.encode())]) is not None
    return False


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO | None]:
    """A regular file; None if there is none any more. Raises OSError. No link is followed into a pipe."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        yield None
        return
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            yield None
            return
        with open(descriptor, "rb", closefd=False) as file:
            yield file
    finally:
        os.close(descriptor)


def _files(folder: str) -> Iterator[str]:
    """Every regular file below a folder of the store, sorted; links are not followed."""
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _files(entry.path)
        elif entry.is_file(follow_symlinks=False):
            yield entry.path


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    """Each piece at its own place: several may read the file at once."""
    at = 0
    while piece := os.pread(file.fileno(), _READ_BYTES, at):
        yield piece
        at += len(piece)


def _left_in(file: BinaryIO) -> Iterator[bytes]:
    """What still decodes of an object's file, wherever in it a frame begins."""
    window, origin, at = b"", 0, 0
    broken = 0
    while broken < _BROKEN_FRAMES_MAX:
        if at + len(_FRAME_MAGIC) > origin + len(window):
            window, origin = os.pread(file.fileno(), _READ_BYTES, at), at
            if len(window) < len(_FRAME_MAGIC):
                return
        found = window.find(_FRAME_MAGIC, at - origin)
        if found < 0:
            # The last bytes of the window may be the beginning of one.
            at = origin + len(window) - len(_FRAME_MAGIC) + 1
            continue
        data, end = decode_what_is_left(file, origin + found)
        if data:
            yield data
        # Inside a frame that is whole none begins.
        at = end or origin + found + 1
        broken += not end
