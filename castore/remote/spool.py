"""Digests on disk, more than memory would hold: which of a bucket's objects are named.

Laws: what was added is found. Memory is some megabytes, however many there are; nothing stays in the folder,
whatever ends the process, as the files have no names.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import BinaryIO

from castore.digest import Digest

__all__ = ["DigestSpool"]

_DIGEST_BYTES = 32
_CHUNK_BYTES = 64 << 10
_LOADED_MAX = 1 << 17
"""Digests of one shard that are held at once."""


class DigestSpool:
    """Digests in 256 groups, each by the byte at `place`. Adding is one thread's; asking is not, after it."""

    def __init__(self, folder: str, *, place: int = 0) -> None:
        self._folder = folder
        self._place = place
        self._held = [bytearray() for _ in range(256)]
        self._chunks = [array("Q") for _ in range(256)]
        """Where in the file each group's chunks begin, all of one length."""
        self._end = 0
        self._file: BinaryIO | None = None

    def __enter__(self) -> DigestSpool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, digests: Iterable[Digest]) -> None:
        for digest in digests:
            self.add_raw(bytes.fromhex(digest.hex))

    def add_raw(self, raw: bytes) -> None:
        group = raw[self._place]
        held = self._held[group]
        held += raw
        if len(held) >= _CHUNK_BYTES:
            self._write(group)

    def __iter__(self) -> Iterator[bytes]:
        """Every digest that was added, as raw bytes."""
        for group in range(256):
            yield from self._group(group)

    @contextmanager
    def shard(self, shard: str) -> Iterator[Callable[[bytes], bool]]:
        """Says of a digest of this shard, as raw bytes, whether it was added. To be asked in sorted order."""
        group = int(shard, 16)
        if self._is_loadable(group):
            yield frozenset(self._group(group)).__contains__
            return
        with DigestSpool(self._folder, place=self._place + 1) as parts, ExitStack() as stack:
            for raw in self._group(group):
                parts.add_raw(raw)
            yield _Parts(parts, self._place + 1, stack).holds

    def in_order(self, shard: str) -> Iterator[bytes]:
        """Every digest of this shard that was added, as raw bytes: sorted, each once."""
        yield from self._sorted(int(shard, 16))

    # --- Helpers ---

    def _sorted(self, group: int) -> Iterator[bytes]:
        if self._is_loadable(group):
            yield from sorted(frozenset(self._group(group)))
            return
        with DigestSpool(self._folder, place=self._place + 1) as parts:
            for raw in self._group(group):
                parts.add_raw(raw)
            for part in range(256):
                yield from parts._sorted(part)

    def _is_loadable(self, group: int) -> bool:
        count = len(self._chunks[group]) * _CHUNK_BYTES // _DIGEST_BYTES
        return count <= _LOADED_MAX or self._place + 1 == _DIGEST_BYTES

    def _group(self, group: int) -> Iterator[bytes]:
        for start in self._chunks[group]:
            assert self._file is not None  # There is a chunk in it.
            yield from _digests(os.pread(self._file.fileno(), _CHUNK_BYTES, start))
        yield from _digests(bytes(self._held[group]))

    def _write(self, group: int) -> None:
        if self._file is None:
            import tempfile

            self._file = tempfile.TemporaryFile("w+b", buffering=0, dir=self._folder)  # noqa: SIM115
        held = self._held[group]
        written = 0
        while written < len(held):
            written += os.pwrite(self._file.fileno(), held[written:], self._end + written)
        self._chunks[group].append(self._end)
        self._end += len(held)
        held.clear()


class _Parts:
    """One large shard, of which a part is held at a time. stack: leaves the last one."""

    def __init__(self, parts: DigestSpool, place: int, stack: ExitStack) -> None:
        self._parts = parts
        self._place = place
        self._stack = stack
        self._at: int | None = None
        self._holds: Callable[[bytes], bool] = frozenset().__contains__

    def holds(self, raw: bytes) -> bool:
        part = raw[self._place]
        if part != self._at:
            self._stack.close()
            self._at = part
            self._holds = self._stack.enter_context(self._parts.shard(f"{part:02x}"))
        return self._holds(raw)


def _digests(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), _DIGEST_BYTES):
        yield data[start : start + _DIGEST_BYTES]
