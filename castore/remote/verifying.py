"""verify FILES --remote: whether every reference of a document could be unfolded from what a remote has.

Laws: it reads, and writes nothing. Findings are those of verify FILES, said of the remote. A caller that may
not use all of the remote is told only of objects that roots in its scopes name: others are missing to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from castore.digest import Digest
from castore.errors import NotFound, ObjectMissing
from castore.fold.check import opened, verify_documents
from castore.objects.database import CheckSize, ObjectDatabase, ObjectStat
from castore.objects.finding import Finding
from castore.remote.bucket import Bucket
from castore.remote.pull import remote_database
from castore.remote.roots import Grants, RemoteRoots
from castore.store import Store
from castore.store.reads import ReadCount

__all__ = ["verify_at_remote"]


def verify_at_remote(
    store: Store, bucket: Bucket, paths: Sequence[str], *, whole: bool = False
) -> Iterator[Finding]:
    """What is wrong with the references of these files at the remote.

    whole: each object is read and digested; else its presence and its size are looked at. Raises OSError for
    a file that can't be read, RemoteError.
    """
    bucket.require_format()
    objects = _RemoteObjects(store, bucket)
    yield from verify_documents(opened(paths), objects, quick=not whole)


class _RemoteObjects:
    """The objects of a remote, in the place of a store's."""

    def __init__(self, store: Store, bucket: Bucket) -> None:
        self._database: ObjectDatabase = remote_database(bucket, store)
        self._bucket = bucket
        self._grants = Grants(store.granted, bucket.settings.granted)
        self._clock: Callable[[], float] = store.parts.clock

    def get(self) -> _RemoteObjects:
        return self

    def stat(self, digest: Digest) -> ObjectStat | None:
        return self._database.stat(digest) if self._sees(digest) else None

    def read(
        self, digest: Digest, check_size: CheckSize | None = None, *, count: ReadCount | None = None
    ) -> bytes:
        if not self._sees(digest):
            raise self.absence(digest)
        return self._database.read(digest, check_size)

    def absence(self, digest: Digest) -> NotFound:
        return ObjectMissing(str(digest))

    def want(self, digests: Sequence[Digest]) -> int:
        return 0

    def _sees(self, digest: Digest) -> bool:
        return self._grants.is_whole or digest in self._named

    @cached_property
    def _named(self) -> frozenset[Digest]:
        """What roots name that the caller may use: read once."""
        now = self._clock()
        return frozenset(
            digest
            for found in RemoteRoots(self._bucket).all()
            if found.root.is_live(now) and self._grants.covers(found.root.scope)
            for digest in found.root.objects
        )
