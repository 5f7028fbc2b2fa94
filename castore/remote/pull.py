"""Pull: roots of a bucket, and all that they name, are in a store too.

Laws:
- Every object is digested again before it is published; a root comes with all its objects, or not at all.
- Roots come in batches, each one transaction of the store; a pull that is killed has done some of them, and
  doing it again goes on where it was. Memory is that of the roots that come, and of one batch.
- What was forgotten or purged here stays so, unless it was asked for by name. A name that means something
  else here is moved only from where this store last agreed with the remote, or by force.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from castore.digest import Digest
from castore.errors import CastoreError, ObjectDamaged, ObjectMissing, RemoteDamaged, RemoteError
from castore.objects.database import ObjectDatabase
from castore.remote.batching import batches, ordered
from castore.remote.bucket import Bucket, BucketSource
from castore.remote.finding import find
from castore.remote.keys import name_key, object_key
from castore.remote.names import Names
from castore.remote.roots import Grants, RemoteRoots
from castore.remote.tracking import Seen, Tracking
from castore.roots.model import STATE, Root
from castore.store import Store
from castore.store.importing import Imported, Outcome

if TYPE_CHECKING:
    from castore.store.importing import Importing

__all__ = ["Lost", "PullReport", "bring", "pull", "remote_database"]

Progress = Callable[[int, int], None]
"""Is told of objects: how many came, and how many are to come, as far as is known."""


class Lost(NamedTuple):
    """A root that could not come, and why: an object of it is damaged or absent there."""

    root: Root
    error: CastoreError


@dataclass(slots=True)
class PullReport:
    """imported: what became of each root. lost: those that could not come. unnamed: left, as the name that
    they were given means something else there. damaged: why others can't be read or lack what they are based
    on. objects: that were brought, in files of `stored_bytes`.
    """

    imported: list[Imported] = field(default_factory=list)
    lost: list[Lost] = field(default_factory=list)
    damaged: list[RemoteDamaged] = field(default_factory=list)
    unnamed: list[Root] = field(default_factory=list)
    objects: int = 0
    stored_bytes: int = 0


def pull(
    store: Store,
    bucket: Bucket,
    texts: Sequence[str] = (),
    *,
    everything: bool = False,
    move: bool = False,
    lazily: bool = False,
    progress: Progress | None = None,
) -> PullReport:
    """What `texts` mean there, or all that the caller may use, is here: durably, each root with its objects.

    texts: see castore.remote.finding. move: a name is taken from whatever root has it here. lazily: roots
    come, and objects when they are read. Raises ScopeDenied, RemoteError, NotFound, InvalidOption,
    LimitExceeded (a quota), StoreLocked; then a part may have come, and nothing here lacks anything.
    """
    bucket.require_format()
    tracking = Tracking(store, bucket.remote)
    names = Names(bucket, RemoteRoots(bucket), tracking)
    found = find(store, bucket, names, texts, everything=everything)
    grants = Grants(store.granted, bucket.settings.granted)
    for scope in {root.scope for root in found.roots}:
        grants.require(scope)
    run = _Pull(store, bucket, names, tracking, move=move, lazily=lazily, progress=progress)
    run.is_asked = not everything
    run.report.unnamed = found.unnamed
    run.report.damaged = [*found.refused, *(found.damaged if everything else ())]
    try:
        for batch in batches(ordered(found.roots)):
            run.batch(batch)
    finally:
        tracking.save()
    return run.report


class _Pull:
    def __init__(
        self,
        store: Store,
        bucket: Bucket,
        names: Names,
        tracking: Tracking,
        *,
        move: bool,
        lazily: bool,
        progress: Progress | None,
    ) -> None:
        self.report = PullReport()
        self.is_asked = True
        """The roots were named one by one, so that what was forgotten here is wanted again."""
        self._store = store
        self._bucket = bucket
        self._names = names
        self._tracking = tracking
        self._by_force = move
        self._lazily = lazily
        self._progress = progress
        self._lost: dict[str, CastoreError] = {}

    def batch(self, roots: Sequence[Root]) -> None:
        """The roots of one batch are here, but for those that are told as lost."""
        seen = self._records(roots)
        with self._store.importing() as importing:
            lost = self._bring(importing, importing.needed(roots, lazily=self._lazily))
            whole: list[Root] = []
            older: list[Imported] = []
            for root in roots:
                here = self._newer_here(root)
                if here is not None:
                    older.append(Imported(here, Outcome.SAME))
                    continue
                error = self._reason(root, lost)
                if error is None:
                    whole.append(root)
                else:
                    self._lost[root.id] = error
                    self.report.lost.append(Lost(root, error))
            done = importing.commit(
                whole,
                lazily=self._bucket.remote if self._lazily else None,
                restore=self.is_asked,
                moves=[root.id for root in whole if self._may_move(root, seen)],
                newer=[root.id for root in whole if self._is_newer(root)],
            )
        for each in done:
            if each.outcome.is_refused:
                continue
            if each.root.id in seen:
                self._tracking.note(*seen[each.root.id])
            if each.root.place == STATE:
                self._tracking.note_state(each.root)
        self.report.imported += [*older, *done]

    def _bring(self, importing: Importing, wanted: Sequence[Digest]) -> dict[Digest, CastoreError]:
        """These objects are staged; those that could not be, each with the reason."""
        lost: dict[Digest, CastoreError] = {}
        brought = bring(importing, remote_database(self._bucket, self._store), self._bucket, wanted)
        for done, (digest, found) in enumerate(brought, start=1):
            if isinstance(found, CastoreError):
                lost[digest] = found
            else:
                self.report.objects += 1
                self.report.stored_bytes += found
            if self._progress is not None:
                self._progress(done, len(wanted))
        return lost

    def _reason(self, root: Root, lost: dict[Digest, CastoreError]) -> CastoreError | None:
        if root.base is not None and root.base in self._lost:
            return self._lost[root.base]
        return next((lost[digest] for digest in root.objects if digest in lost), None) if lost else None

    def _records(self, roots: Sequence[Root]) -> dict[str, tuple[str, Seen]]:
        """Of the roots that have a name there its record's key, and what that says."""
        named = [root for root in roots if root.name is not None]
        found: dict[str, tuple[str, Seen]] = {}

        def record(root: Root) -> None:
            assert root.name is not None
            said = self._names.get(root.scope, root.name)
            if said is not None and said.root == root.id:
                found[root.id] = name_key(root.scope, root.name), Seen(said.moves, said.root)

        for _ in self._bucket.map(record, named):
            pass
        return found

    def _may_move(self, root: Root, seen: dict[str, tuple[str, Seen]]) -> bool:
        """The name is where this store last agreed with the remote, and has moved only there since."""
        if root.name is None or self._by_force:
            return root.name is not None
        if root.id not in seen:
            return False
        agreed = self._tracking.get(seen[root.id][0])
        here = [each for each in self._store.named_roots(root.name) if each.scope == root.scope]
        # What nobody has here was perhaps forgotten, and stays so.
        return agreed is not None and bool(here) and all(each.id in (agreed.root, root.id) for each in here)

    def _is_newer(self, root: Root) -> bool:
        """It is a state that was made from the one that is here; or it is to be here whatever that says."""
        here = self._store.root(root.id) if root.place == STATE else None
        return here is not None and (self._by_force or self._tracking.is_agreed(here))

    def _newer_here(self, root: Root) -> Root | None:
        """The state that is here, if that was made from the one that arrives."""
        if root.place != STATE or self._by_force or not self._tracking.is_agreed(root):
            return None
        here = self._store.root(root.id)
        return here if here is not None and here.is_live(self._store.parts.clock()) else None


def remote_database(bucket: Bucket, store: Store) -> ObjectDatabase:
    """The objects of a bucket, to be read and checked."""
    return ObjectDatabase(
        BucketSource(bucket, store.parts.layout.tmp), level=lambda: store.parts.config.compression_level
    )


def bring(
    importing: Importing, database: ObjectDatabase, bucket: Bucket, digests: Sequence[Digest]
) -> Iterator[tuple[Digest, int | RemoteError]]:
    """Each object is staged here, digested again: the bytes of its file; or why it could not be."""

    def one(digest: Digest) -> tuple[Digest, int | RemoteError]:
        try:
            return digest, importing.bring(database, digest, anyway=True)
        except ObjectDamaged as error:
            return digest, RemoteDamaged(bucket.remote, object_key(digest), str(error.fields["reason"]))
        except ObjectMissing:
            return digest, RemoteDamaged(bucket.remote, object_key(digest), "it is not there")

    return bucket.map(one, digests)
