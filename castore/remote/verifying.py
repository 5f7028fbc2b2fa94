"""verify FILES --remote: whether each could be taken back from what a remote has. It writes nothing.

Laws: findings are those of verify FILES, said of the remote. A caller that may not use all of the remote is
told only of objects that roots in its scopes name there: others are missing to it. What many references of a
document name is asked for at once, and each object once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import BinaryIO

from castore.config import FRAME_BYTES
from castore.descriptor import Descriptor
from castore.digest import Digest
from castore.errors import ObjectDamaged, ObjectMissing, RemoteDamaged, UnfoldMismatch
from castore.fold.check import DocumentCheck
from castore.fold.literal import check_fit
from castore.objects.finding import Finding, FindingName
from castore.remote.bucket import Bucket
from castore.remote.pull import remote_database
from castore.remote.roots import Grants, RemoteRoots
from castore.roots.model import Root
from castore.store import Store, StoreHandle
from castore.transcript.verifying import verify_with

__all__ = ["verify_at_remote"]

_Found = tuple[FindingName, str] | None


def verify_at_remote(
    store: Store, bucket: Bucket, documents: Iterable[tuple[str, BinaryIO]], *, whole: bool = False
) -> Iterator[Finding]:
    """What is wrong at the remote with the references of these files, which are open, each with its name.

    whole: each object is read and digested; else, of those of FRAME_BYTES and more, the size and the table of
    frames are looked at. A view is one that the store here has a record of, which must be at the remote, too.
    Raises RemoteError.
    """
    bucket.require_format()
    yield from verify_with(_RemoteCheck(store, bucket, quick=not whole), documents)


class _RemoteCheck(DocumentCheck):
    def __init__(self, store: Store, bucket: Bucket, *, quick: bool) -> None:
        super().__init__(StoreHandle.of(store), quick=quick)
        self.proves_sources = False
        self._bucket = bucket
        self._database = remote_database(bucket, store)
        self._roots = RemoteRoots(bucket)
        self._grants = Grants(store.granted, bucket.settings.granted)
        self._now = store.parts.clock()

    def expect(self, descriptors: Sequence[Descriptor]) -> None:
        if not self._grants.is_whole:
            _ = self._named  # Not first by many threads at once.
        look = self.quickly if self.quick else self.wholly
        new = list(dict.fromkeys(each for each in descriptors if each not in self.known))
        self.known.update(zip(new, self._bucket.map(look, new), strict=True))

    def of_record(self, root: Root) -> _Found:
        found = self._roots.get(root.id)
        if found is not None and found.root.is_live(self._now) and self._grants.covers(found.root.scope):
            return None
        return FindingName.MISSING, f"no record of this view is at remote '{self._bucket.remote}'"

    def quickly(self, descriptor: Descriptor) -> _Found:
        """As `of`: of an object of one frame by every byte, which takes no request more; of a larger one by
        its table of frames, and its size."""

        def look() -> int | None:
            if descriptor.size < FRAME_BYTES:
                return len(self._database.read(descriptor.digest, lambda size: check_fit(descriptor, size)))
            found = self._database.stat(descriptor.digest)
            return None if found is None else found.size

        return self._looked(descriptor, look)

    def wholly(self, descriptor: Descriptor) -> _Found:
        return self._looked(descriptor, lambda: self._database.check(descriptor.digest).size)

    def _looked(self, descriptor: Descriptor, look: Callable[[], int | None]) -> _Found:
        """look: gives the object's size; None: it is not there."""
        if not self._grants.is_whole and descriptor.digest not in self._named:
            return _ABSENT
        try:
            size = look()
            if size is None:
                return _ABSENT
            check_fit(descriptor, size)
        except ObjectMissing:
            return _ABSENT
        except (ObjectDamaged, RemoteDamaged) as error:
            return FindingName.DAMAGED, str(error.fields["reason"])
        except UnfoldMismatch as error:
            return FindingName.MISMATCH, error.message
        return None

    @cached_property
    def _named(self) -> frozenset[Digest]:
        """What roots name that the caller may use there: read once. Whose a root is that can't be read nobody
        can tell, so it names nothing."""
        return frozenset(
            digest
            for found in self._roots.all([])
            if found.root.is_live(self._now) and self._grants.covers(found.root.scope)
            for digest in found.root.objects
        )


_ABSENT = FindingName.MISSING, "no such object"
