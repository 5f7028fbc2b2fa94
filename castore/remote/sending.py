"""Which objects a bucket lacks, and sending them.

Laws: an object that is said to be there was there when this was asked. What is sent was read from the store
and digested again, so damage here never spreads. Sending what is there is harmless: it is the same bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import groupby, islice
from typing import NamedTuple

from castore.digest import Digest
from castore.errors import ObjectDamaged, ObjectMissing
from castore.remote.bucket import Bucket, BucketSource
from castore.remote.keys import OBJECTS, digest_of, object_key
from castore.store import Store

__all__ = ["Sent", "Unsent", "missing", "send"]

_LISTED_MIN = 12
"""A request that lists 1,000 keys costs some 12 times what asking for one key does."""
_PAGE = 1000


class Sent(NamedTuple):
    """stored_bytes: of the object's file as it was sent."""

    digest: Digest
    stored_bytes: int


class Unsent(NamedTuple):
    """An object that is not whole here, and how."""

    digest: Digest
    error: ObjectMissing | ObjectDamaged


def missing(bucket: Bucket, digests: Collection[Digest]) -> list[Digest]:
    """Those of `digests` that are not there, sorted.

    Many in a shard are held against its listing, as far as that costs no more than asking for each; the
    others are asked for one by one.
    """
    wanted = sorted(set(digests))
    shards = [list(shard) for _, shard in groupby(wanted, key=lambda digest: digest.hex[:2])]
    listed = [shard for shard in shards if len(shard) >= _LISTED_MIN]
    single = [digest for shard in shards if len(shard) < _LISTED_MIN for digest in shard]
    found: list[Digest] = []
    for absent, undecided in bucket.map(lambda shard: _by_listing(bucket, shard), listed):
        found += absent
        single += undecided

    def is_absent(digest: Digest) -> Digest | None:
        return digest if bucket.head(object_key(digest)) is None else None

    found += [digest for digest in bucket.map(is_absent, single) if digest is not None]
    return sorted(found)


def _by_listing(bucket: Bucket, shard: list[Digest]) -> tuple[list[Digest], list[Digest]]:
    """Of one shard's digests those that are not there, and those that the listing did not come to."""
    pages = len(shard) // _LISTED_MIN
    entries = bucket.entries(f"{OBJECTS}{shard[0].hex[:2]}/")
    there: set[Digest] = set()
    last = None
    count = 0
    for entry in islice(entries, pages * _PAGE):
        count += 1
        last = digest_of(entry.key) or last
        if last is not None:
            there.add(last)
    is_whole = count < pages * _PAGE
    decided = shard if is_whole else [each for each in shard if last is not None and each <= last]
    return [each for each in decided if each not in there], shard[len(decided) :]


def send(store: Store, bucket: Bucket, digests: Iterable[Digest], tmp: str) -> Iterator[Sent | Unsent]:
    """Each object is there, durably once the bucket was settled, but for those that are not whole here.

    Raises RemoteError."""
    database = store.parts.database
    source = BucketSource(bucket, tmp)

    def one(digest: Digest) -> Sent | Unsent:
        try:
            staged = database.transfer(digest, source)
        except (ObjectMissing, ObjectDamaged) as error:
            return Unsent(digest, error)
        try:
            source.put(digest, staged.frames)
        finally:
            source.drop([staged.frames])
        return Sent(digest, staged.frames.stored_bytes)

    yield from bucket.map(one, digests)
