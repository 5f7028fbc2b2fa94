"""Bucket: keys and bytes in object storage, with one manner of errors. BucketSource: its objects.

Laws:
- What `put`, `create` and `replace` wrote is there whole or not at all, and durable when they return; in a
  folder (file://), what `put` and `delete` did is once `settle` has returned.
- Of two that `create` one key, or `replace` the same state of it, one is told True and the other False;
  but for a bucket with `conditions = "none"`: there both look and then write, so that one may undo the other.
- What fails is tried again with backoff, for a bounded time; then it is a RemoteError, which names the remote
  and never a credential. A False after a try whose answer was lost may be of our own doing: whoever needs to
  know reads again.
- An interrupt ends a wait for an answer at once; what was asked for may then still be done.
"""

from __future__ import annotations

import os
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TypeVar

from castore import durable
from castore.config import ROOT_BYTES_MAX
from castore.digest import Digest
from castore.errors import (
    ObjectDamaged,
    ObjectMissing,
    RemoteDamaged,
    RemoteError,
    RemoteMissing,
    RemoteUnavailable,
    RemoteUnconditional,
)
from castore.layout import FORMAT_VERSION, SHARDS
from castore.objects.source import Frames, SourceStat
from castore.remote import crew
from castore.remote.keys import FORMAT, OBJECTS, digest_of, object_key
from castore.remote.service import Entry, Service
from castore.settings import RemoteSettings

__all__ = ["Bucket", "BucketSource", "Entry"]

T = TypeVar("T")
R = TypeVar("R")

_FORMAT_LINE = FORMAT_VERSION.encode() + b"\n"
_FORMAT_BYTES_MAX = 256


class Bucket:
    """A remote's keys and bytes. Safe from several threads. No method but `map` is more than a few requests.

    workers: calls at once in `map`; 1: everything runs in the calling thread, in order. requests: how many
    were sent, by operation, tries after a failure not counted.
    """

    def __init__(
        self, remote: str, settings: RemoteSettings, service: Service, *, workers: int | None = None
    ) -> None:
        self.remote = remote
        self.settings = settings
        self.workers = settings.workers if workers is None else workers
        self.requests: Counter[str] = Counter()
        self.service = service
        self._lock = Lock()

    # --- Keys and bytes ---

    def get(self, key: str, bytes_max: int = ROOT_BYTES_MAX) -> tuple[bytes, Entry] | None:
        """All bytes under the key. None: absent. What is over `bytes_max` is RemoteDamaged, unread."""
        return self._asked("get", lambda: self.service.get(key, 0, None, bytes_max))

    def read(self, key: str, start: int, length: int | None = None) -> bytes | None:
        """Bytes from `start`, fewer than `length` only at the end. None: absent."""
        if length == 0:
            return None if self.head(key) is None else b""
        found = self.begin(key, start, length)
        return None if found is None else found[0]

    def begin(self, key: str, start: int, length: int | None) -> tuple[bytes, Entry] | None:
        """As `read`, and what it is that they are of."""
        return self._asked("get", lambda: self.service.get(key, start, length, None))

    def head(self, key: str) -> Entry | None:
        return self._asked("head", lambda: self.service.head(key))

    def put(self, key: str, data: bytes | Path) -> None:
        """In place of what was there. A file, or what is long, is sent in parts: memory stays bounded."""
        self._asked("put", lambda: self.service.put(key, data))

    def create(self, key: str, data: bytes) -> bool:
        """False: something is there, and stays."""
        if self.settings.conditions == "none":
            if self.head(key) is not None:
                return False
            self.put(key, data)
            return True
        return self._asked("create", lambda: self.service.create(key, data))

    def replace(self, key: str, data: bytes, entry: Entry) -> bool:
        """False: what is there is not `entry` any more, and stays."""
        if self.settings.conditions == "none":
            found = self.head(key)
            if found is None or found.version != entry.version:
                return False
            self.put(key, data)
            return True
        return self._asked("replace", lambda: self.service.replace(key, data, entry))

    def delete(self, keys: Sequence[str]) -> None:
        """Nothing is under these keys; that nothing was is success."""
        size = self.service.deletes_max
        batches = [keys[start : start + size] for start in range(0, len(keys), size)]
        for _ in self.map(self._delete, batches):
            pass

    def entries(self, prefix: str) -> Iterator[Entry]:
        """What lies under keys that begin with the prefix (empty, or with a slash at its end), sorted.

        No snapshot: what is written or deleted meanwhile may be in it or not.
        """
        pages, last = self.service.pages(prefix), ""
        self._count("list")
        while (page := self._waited(lambda: next(pages, None))) is not None:
            if last:
                self._count("list")
            for entry in page:
                if entry.key <= last or not entry.key.startswith(prefix):
                    words = f"remote '{self.remote}' does not list keys in their order"
                    raise RemoteUnavailable(self.remote, words, hint="such a server can't be used")
                last = entry.key
                yield entry

    def settle(self) -> None:
        """All that was written and deleted is durable."""
        self.service.settle()

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """`function` of each item in order, `workers` at once, bounded ahead (castore.remote.crew)."""
        return map(function, items) if self.workers == 1 else crew.mapped(function, items, self.workers)

    # --- What kind of bucket it is ---

    def require_format(self) -> None:
        """A castore of this version is in the bucket. Raises RemoteMissing."""
        try:
            found = self.get(FORMAT, _FORMAT_BYTES_MAX)
        except RemoteDamaged as error:
            raise self._no_castore() from error
        if found is None:
            words = f"no castore is in the bucket of remote '{self.remote}'"
            raise RemoteMissing(self.remote, words, hint="'ctx push' begins one there")
        if found[0] != _FORMAT_LINE:
            raise self._no_castore()

    def require_conditions(self) -> None:
        """`format` is there, and the server refuses what it must. Raises RemoteUnconditional, RemoteMissing.

        It is created: the first time, a second create must be refused; that it was there is a refusal
        already. Then what expects another version of it must not replace it. All writes are of the same
        bytes, so that a server which takes them does no harm. With `conditions = "none"` nothing is probed.
        """
        if self.settings.conditions == "none":
            self.create(FORMAT, _FORMAT_LINE)
            self.require_format()
            return
        if self.create(FORMAT, _FORMAT_LINE) and self.create(FORMAT, _FORMAT_LINE):
            raise self._unconditional("overwrites what is to be created")
        self.require_format()
        if self.replace(FORMAT, _FORMAT_LINE, Entry(FORMAT, 0, "0" * 32, 0.0)):
            raise self._unconditional("overwrites what has changed")

    # --- Helpers ---

    def _asked(self, operation: str, call: Callable[[], T]) -> T:
        self._count(operation)
        return self._waited(call)

    def _count(self, operation: str) -> None:
        with self._lock:
            self.requests[operation] += 1

    def _waited(self, call: Callable[[], T]) -> T:
        return crew.aside(call) if self.service.is_far and self.workers > 1 else call()

    def _delete(self, keys: Sequence[str]) -> None:
        self._asked("delete", lambda: self.service.delete(keys))

    def _no_castore(self) -> RemoteError:
        words = f"what is at remote '{self.remote}' is no castore of this version"
        return RemoteMissing(self.remote, words, hint="use another bucket or prefix, or another castore")

    def _unconditional(self, what: str) -> RemoteError:
        return RemoteUnconditional(
            self.remote,
            f"the server of remote '{self.remote}' {what}: two pushes at once could undo each other",
            hint=f"'ctx remote check {self.remote}' says what it refuses; 'ctx config remote.{self.remote}"
            ".conditions none' is for a bucket to which one store alone pushes at a time",
        )


_HEAD_BYTES = 256 << 10
"""So much of an object comes with its size: nearly all are shorter, and take one request."""

_HEADS_BYTES_MAX = 32 << 20
_HELD_OBJECT_BYTES_MAX = 1 << 20
_HELD_BYTES_MAX = 64 << 20
_FILE_MODE = 0o600


class BucketSource:
    """The objects of a bucket, as an ObjectSource (castore.objects.source).

    `stat` reads the beginning of the object, from which `get` is then answered: to read one of up to 256 KiB
    takes one request. What is staged is held in memory if it is small, else in a file in the folder `tmp`.
    """

    def __init__(self, bucket: Bucket, tmp: str) -> None:
        self.bucket = bucket
        self._tmp = tmp
        self._lock = Lock()
        self._heads: OrderedDict[str, tuple[bytes, SourceStat]] = OrderedDict()
        self._heads_bytes = 0
        self._held_bytes = 0
        self._staged = 0
        self._staged_name = f"{os.getpid()}-{os.urandom(6).hex()}"

    # --- Writing ---

    def stage(self, pieces: Iterable[bytes], *, hold: bool = True) -> Frames:
        begun: list[bytes] = []
        size, rest = 0, iter(pieces)
        for piece in rest:
            begun.append(piece)
            size += len(piece)
            if size > _HELD_OBJECT_BYTES_MAX:
                break
        if hold and size <= _HELD_OBJECT_BYTES_MAX and self._may_hold(size):
            return Frames(begun, None, size)
        with self._lock:
            self._staged += 1
            path = f"{self._tmp}/{self._staged_name}-{self._staged}"

        def all_pieces() -> Iterator[bytes]:
            yield from begun
            begun.clear()
            yield from rest

        return Frames(None, path, durable.write_new(path, all_pieces(), _FILE_MODE))

    def prepare(self, staged: Sequence[Frames]) -> None:
        """Nothing: that the bytes are here until they are there is enough."""

    def publish(self, named: Sequence[tuple[Digest, Frames]], *, unproven: Collection[str] = ()) -> None:
        for _ in self.bucket.map(lambda each: self.put(*each), named):
            pass
        self.bucket.settle()

    def put(self, digest: Digest, frames: Frames) -> None:
        """What was staged is there under its digest, and durable once the bucket is settled."""
        self._forget(digest)
        if frames.path is not None:
            self.bucket.put(object_key(digest), Path(frames.path))
        elif frames.held is not None:
            self.bucket.put(object_key(digest), b"".join(frames.held))
        else:
            raise AssertionError("what was dropped is not published")

    def drop(self, staged: Iterable[Frames]) -> None:
        for each in staged:
            if each.path is not None:
                durable.remove_leftover([each.path], [])
                each.path = None
            if each.held is not None:
                with self._lock:
                    self._held_bytes -= each.stored_bytes
                each.held = None

    def delete(self, digest: Digest) -> bool:
        self._forget(digest)
        key = object_key(digest)
        is_there = self.bucket.head(key) is not None
        self.bucket.delete([key])
        return is_there

    def settle(self, digests: Iterable[Digest]) -> None:
        self.bucket.settle()

    # --- Reading ---

    def stat(self, digest: Digest) -> SourceStat | None:
        self._forget(digest)
        with _told_of(digest):
            found = self.bucket.begin(object_key(digest), 0, _HEAD_BYTES)
        if found is None:
            return None
        data, entry = found
        stat = SourceStat(entry.size, _stamp(entry))
        with self._lock:
            self._heads[digest.hex] = data, stat
            self._heads_bytes += len(data)
            while self._heads_bytes > _HEADS_BYTES_MAX:
                self._heads_bytes -= len(self._heads.popitem(last=False)[1][0])
        return stat

    def get(self, digest: Digest, start: int = 0, length: int | None = None) -> bytes:
        with self._lock:
            head = self._heads.get(digest.hex)
        if head is not None:
            data, stat = head
            end = stat.stored_bytes if length is None else min(start + length, stat.stored_bytes)
            if end <= len(data):
                if start == 0 and end == stat.stored_bytes:
                    self._forget(digest)  # It was read whole: nobody comes for more.
                return data[start:end]
        with _told_of(digest):
            found = self.bucket.read(object_key(digest), start, length)
        if found is None:
            raise ObjectMissing(str(digest))
        return found

    def digests(self, prefix: str = "") -> Iterator[Digest]:
        shards = [prefix[:2]] if len(prefix) >= 2 else [each for each in SHARDS if each.startswith(prefix)]
        for folder in [f"{OBJECTS}{shard}/" for shard in shards] if prefix else [OBJECTS]:
            for entry in self.bucket.entries(folder):
                digest = digest_of(entry.key)
                if digest is not None and digest.hex.startswith(prefix):
                    yield digest

    # --- Helpers ---

    def _forget(self, digest: Digest) -> None:
        with self._lock:
            head = self._heads.pop(digest.hex, None)
            if head is not None:
                self._heads_bytes -= len(head[0])

    def _may_hold(self, length: int) -> bool:
        with self._lock:
            if self._held_bytes + length > _HELD_BYTES_MAX:
                return False
            self._held_bytes += length
            return True


@contextmanager
def _told_of(digest: Digest) -> Iterator[None]:
    """What lies under the object's key, and is none, is damage of that object alone."""
    try:
        yield
    except RemoteDamaged as error:
        raise ObjectDamaged(str(digest), str(error.fields["reason"])) from error


def _stamp(entry: Entry) -> tuple[int, int, int]:
    from hashlib import sha256

    version = sha256(entry.version.encode()).digest()
    return int.from_bytes(version[:7], "big"), entry.size, int(entry.modified * 1e9)
