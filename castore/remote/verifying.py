"""verify FILES --remote: whether each could be taken back from what a remote has. It writes nothing.

Laws: findings are those of verify FILES, said of the remote. A caller that may not use all of the remote is
told only of objects that roots in its scopes name there: others are missing to it. What many references of a
document name is asked for at once, and each object once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import BinaryIO

from castore.descriptor import Descriptor
from castore.digest import Digest
from castore.errors import ObjectDamaged, ObjectMissing, UnfoldMismatch
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

    whole: each object is read and digested; else its presence and its size are looked at. A view is one that
    the store here has a record of, which must be at the remote, too. Raises RemoteError.
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
        return self._looked(descriptor, is_whole=False)

    def wholly(self, descriptor: Descriptor) -> _Found:
        return self._looked(descriptor, is_whole=True)

    def _looked(self, descriptor: Descriptor, *, is_whole: bool) -> _Found:
        digest = descriptor.digest
        if not self._grants.is_whole and digest not in self._named:
            return _ABSENT
        try:
            found = self._database.check(digest) if is_whole else self._database.stat(digest)
            if found is None:
                return _ABSENT
            check_fit(descriptor, found.size)
        except ObjectMissing:
            return _ABSENT
        except ObjectDamaged as error:
            return FindingName.DAMAGED, str(error.fields["reason"])
        except UnfoldMismatch as error:
            return FindingName.MISMATCH, error.message
        return None

    @cached_property
    def _named(self) -> frozenset[Digest]:
        """What roots name that the caller may use there: read once."""
        return frozenset(
            digest
            for found in self._roots.all()
            if found.root.is_live(self._now) and self._grants.covers(found.root.scope)
            for digest in found.root.objects
        )


_ABSENT = FindingName.MISSING, "no such object"
