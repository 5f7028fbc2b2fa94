"""An object source in memory: for tests, and the shortest thing that passes the conformance suite."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from castore.digest import Digest
from castore.errors import ObjectMissing
from castore.objects.source import Frames, SourceStat

__all__ = ["MemorySource"]


class MemorySource:
    """Holds encoded objects in a dict. Nothing survives the process."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self._version = 0
        self._versions: dict[str, int] = {}

    def stage(self, pieces: Iterable[bytes], *, hold: bool = True) -> Frames:
        data = b"".join(pieces)
        return Frames([data], None, len(data))

    def prepare(self, staged: Sequence[Frames]) -> None:
        for each in staged:
            each.is_durable = True

    def publish(self, named: Sequence[tuple[Digest, Frames]], *, unproven: Collection[str] = ()) -> None:
        for digest, frames in named:
            self._version += 1
            self._versions[digest.hex] = self._version
            self.files[digest.hex] = b"".join(frames.held or ())

    def drop(self, staged: Iterable[Frames]) -> None:
        for each in staged:
            each.held = None

    def stat(self, digest: Digest) -> SourceStat | None:
        data = self.files.get(digest.hex)
        if data is None:
            return None
        return SourceStat(len(data), (self._versions.get(digest.hex, 0), len(data), 0))

    def get(self, digest: Digest, start: int = 0, length: int | None = None) -> bytes:
        try:
            data = self.files[digest.hex]
        except KeyError:
            raise ObjectMissing(str(digest)) from None
        return data[start : None if length is None else start + length]

    def delete(self, digest: Digest) -> bool:
        return self.files.pop(digest.hex, None) is not None

    def settle(self, digests: Iterable[Digest]) -> None:
        return

    def digests(self, prefix: str = "") -> Iterator[Digest]:
        for name in sorted(self.files):
            if name.startswith(prefix):
                yield Digest(name)
