"""Bundles are made: roots, and all that they name, in one tar that is a store once it is unpacked.

Laws: it holds the files of roots and objects as they lie in a store (docs/sharing-reference.md), so that of
the same roots and objects the same bytes are made. Every object was read and digested while it was written.
Where an error comes, what was written is a tar that is cut off, which is how it is told from a bundle.

Memory: the digests of all objects, and a few frames.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import BinaryIO, NamedTuple

from castore.digest import Digest
from castore.remote.bundle_tar import FORMAT_LINE, TarWriter, check_roots_bytes
from castore.remote.keys import FORMAT, object_key, root_key
from castore.roots.files import encode_root
from castore.roots.model import REMOTE, Root
from castore.store import Store

__all__ = ["BundleFacts", "create_bundle"]

Progress = Callable[[int, int], None]
"""Is told of objects: how many are done, of how many."""


class BundleFacts(NamedTuple):
    """size: bytes of the tar."""

    roots: int
    objects: int
    size: int


def create_bundle(
    store: Store, target: BinaryIO, roots: Sequence[Root], *, progress: Progress | None = None
) -> BundleFacts:
    """`target` holds a bundle of these roots, which the caller sees, with all that they are based on.

    What they have at a remote is fetched first. Raises RemoteError, ObjectMissing, ObjectPurged before
    anything is written; LimitExceeded, ObjectDamaged, after which what was written is no bundle.
    """
    database = store.parts.database
    digests = [Digest.from_raw(raw) for raw in sorted({each.raw for root in roots for each in root.objects})]
    absent = [digest for digest in digests if database.source.stat(digest) is None]
    if absent:
        store.want(absent)
    for digest in absent:
        if database.source.stat(digest) is None:
            raise store.absence(digest)
    tar = TarWriter(target)
    tar.add(FORMAT, len(FORMAT_LINE), [FORMAT_LINE])
    numbers = {each.id: number for number, each in enumerate(sorted(roots, key=_sequence), start=1)}
    for root in sorted(roots, key=lambda each: each.id):
        data = encode_root(_carried(root, numbers[root.id]))
        check_roots_bytes(tar.size + len(data))
        tar.add(root_key(root.id), len(data), [data])
    for done, digest in enumerate(digests):
        if progress is not None:
            progress(done, len(digests))
        size, pieces = database.stored(digest)
        tar.add(object_key(digest), size, pieces)
    tar.end()
    target.flush()
    return BundleFacts(len(roots), len(digests), tar.size)


# --- Helpers ---


def _sequence(root: Root) -> int:
    return root.sequence


def _carried(root: Root, number: int) -> Root:
    """Without what only the store that it lies in says of it. Its number there counts the roots of all, also
    of those whose roots the caller does not see."""
    details = {key: value for key, value in root.details.items() if key != REMOTE}
    return replace(root, details=details, sequence=number)
