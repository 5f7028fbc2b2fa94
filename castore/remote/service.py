"""Service: what a Bucket needs of a place for keys and bytes, each method one request (or one a page).

There are two: `cloud` (object storage, through obstore) and `folder` (file://). Both raise RemoteError alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

__all__ = ["Entry", "Service"]


class Entry(NamedTuple):
    """What lies under a key. version: opaque, changes with what is written; the same bytes may have the same.
    modified: unix seconds, by the server's clock; a listing may tell it more exactly than an answer."""

    key: str
    size: int
    version: str
    modified: float


class Service(Protocol):
    """A place for keys and bytes. Absent is None; `delete` of what is absent is success."""

    is_far: bool
    """A request may last, so that an interrupt should not wait for it."""

    deletes_max: int
    """Keys that one request can delete."""

    def get(
        self, key: str, start: int, length: int | None, bytes_max: int | None
    ) -> tuple[bytes, Entry] | None:
        """Bytes from `start`, fewer than `length` only at the end, and what it is that they are of.

        bytes_max: what is longer as a whole is RemoteDamaged before it is read.
        """

    def head(self, key: str) -> Entry | None: ...

    def put(self, key: str, data: bytes | Path) -> None: ...

    def create(self, key: str, data: bytes) -> bool: ...

    def replace(self, key: str, data: bytes, entry: Entry) -> bool: ...

    def delete(self, keys: Sequence[str]) -> None:
        """At most `deletes_max` of them."""

    def pages(self, prefix: str) -> Iterator[Sequence[Entry]]:
        """All whose keys begin with the prefix, which ends with a slash or is empty, sorted."""

    def settle(self) -> None: ...
