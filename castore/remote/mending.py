"""What repair takes from a remote: objects and roots that are damaged or missing here, and whole there.

Laws: what is asked for is said by castore.gc.elsewhere, within the scopes that the remote grants. Each object
is digested again, and each root checked, before it is of use. What is damaged there is told, and is no error;
a remote that can't be asked is one, and then nothing here was changed. Nothing is written there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO

from castore.digest import Digest
from castore.errors import ObjectDamaged, ObjectMissing, RemoteDamaged
from castore.gc.repair import RepairReport, repair
from castore.objects.database import ObjectDatabase
from castore.remote.bucket import Bucket
from castore.remote.pull import remote_database
from castore.remote.roots import Grants, RemoteRoots
from castore.roots.model import Root
from castore.store import Store

__all__ = ["repair_from_remote"]


def repair_from_remote(
    store: Store,
    bucket: Bucket,
    sources: Iterable[tuple[str, BinaryIO]] = (),
    *,
    asked: Mapping[Digest, str] | None = None,
    dry_run: bool = False,
) -> RepairReport:
    """As `repair`, with what the bucket has. Raises RemoteError, too: then nothing was changed."""
    store.require_operator("repair")
    bucket.require_format()
    return repair(store, sources, asked=asked, elsewhere=_AtRemote(store, bucket), dry_run=dry_run)


class _AtRemote:
    """A bucket, as repair sees it."""

    def __init__(self, store: Store, bucket: Bucket) -> None:
        self._bucket = bucket
        self._roots = RemoteRoots(bucket)
        self._grants = Grants(store.granted, bucket.settings.granted)
        self._database = remote_database(bucket, store)
        self._damaged: list[str] = []

    @property
    def words(self) -> str:
        return f"remote '{self._bucket.remote}'"

    def covers(self, scope: str | None) -> bool:
        return self._grants.is_whole if scope is None else self._grants.covers(scope)

    def roots(self, root_ids: Sequence[str]) -> Iterator[Root]:
        def one(root_id: str) -> Root | None:
            try:
                found = self._roots.get(root_id)
            except RemoteDamaged:
                self._damaged.append(f"root '{root_id}'")
                return None
            return None if found is None or not self._grants.covers(found.root.scope) else found.root

        for root in self._bucket.map(one, root_ids):
            if root is not None:
                yield root

    def each(self, digests: Sequence[Digest], take: Callable[[ObjectDatabase, Digest], None]) -> None:
        def one(digest: Digest) -> None:
            try:
                take(self._database, digest)
            except ObjectMissing:
                return
            except ObjectDamaged:
                self._damaged.append(f"object '{digest.abbreviated}'")

        for _ in self._bucket.map(one, digests):
            pass

    def notes(self) -> list[str]:
        if not self._damaged:
            return []
        first, more = min(self._damaged), len(self._damaged) - 1
        return [f"{first}{f', and {more:,} more,' if more else ''} can't be had: damaged at {self.words} too"]
