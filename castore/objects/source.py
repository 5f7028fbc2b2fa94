"""ObjectSource: a place that holds objects, encoded, by their digests. It knows no kinds, roots or scopes.

Laws, held by one conformance suite over every source:

- What `stage` took is invisible until `publish`, and after it whole and durable under its digest.
- Publishing where an object is already is success, and the new file takes its place.
- Absent is None from `stat` and ObjectMissing from `get`. A source never decodes and never checks.
- After a crash an object is there as it was published, or absent; staged bytes may stay behind.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from castore.digest import Digest

__all__ = ["Frames", "ObjectSource", "SourceStat", "Stamp"]

Stamp = tuple[int, int, int]
"""Changes when the stored file does (inode, bytes, mtime in nanoseconds, for files)."""


class SourceStat(NamedTuple):
    """`stored_bytes`: of the file as stored, frames and table."""

    stored_bytes: int
    stamp: Stamp


class Frames:
    """Encoded bytes that a source has staged: held in memory, in a file, or both (then unsynced)."""

    __slots__ = ("held", "is_durable", "path", "stored_bytes")

    def __init__(self, held: Sequence[bytes] | None, path: str | None, stored_bytes: int) -> None:
        self.held = held
        self.path = path
        self.stored_bytes = stored_bytes
        self.is_durable = False


class ObjectSource(Protocol):
    def stage(self, pieces: Iterable[bytes], *, hold: bool = True) -> Frames:
        """Take encoded bytes, invisible. Any length; safe from several threads. hold: in memory, if small."""

    def prepare(self, staged: Sequence[Frames]) -> None:
        """The bytes of `staged` are durable, still without a name."""

    def publish(self, named: Sequence[tuple[Digest, Frames]], *, unproven: Collection[str] = ()) -> None:
        """Each is whole and durable under its digest (`prepare` is done for what needs it).

        unproven: first two digits of digests under which no publish is known to have ended.
        """

    def drop(self, staged: Iterable[Frames]) -> None:
        """Forget what was staged and not published."""

    def stat(self, digest: Digest) -> SourceStat | None: ...

    def get(self, digest: Digest, start: int = 0, length: int | None = None) -> bytes:
        """Stored bytes from `start`, fewer than `length` only at the end. Raises ObjectMissing."""

    def delete(self, digest: Digest) -> bool:
        """The object is gone (durably after `settle`); False if it was not there."""

    def settle(self, digests: Iterable[Digest]) -> None:
        """What `delete` did to these is durable."""

    def digests(self, prefix: str = "") -> Iterator[Digest]:
        """Of every object whose hex begins with `prefix`, sorted."""
