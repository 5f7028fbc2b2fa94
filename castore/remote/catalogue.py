"""What a gc knows of a bucket's roots and names, and keeps up to date: the pure decisions, and the reading.

Laws:
- A root goes only if it has expired, no push holds it, no root that stays is based on it, and no name that
  stays means it. A name goes only with its root, or after it.
- What can't be read is RemoteDamaged, before anything is decided by it: what it names is not known.

Memory: some 300 bytes a root, and a name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import NamedTuple

from castore.errors import RemoteDamaged
from castore.layout import SHARDS
from castore.remote.bucket import Bucket, Entry
from castore.remote.keys import NAMES, ROOTS, is_name_key, name_key, root_id_of
from castore.remote.records import decode_name
from castore.remote.roots import RemoteRoots
from castore.roots.model import Root

__all__ = ["Catalogue", "NameThere", "going_names", "going_roots"]

_LISTED_AT_ONCE_MAX = 5_000
"""With more roots, shards of them are listed, many at once."""

_UNKNOWN = -1


class NameThere(NamedTuple):
    """What a name's record says: the id of its root. version: of the record, as it was listed."""

    root: str
    version: int


def going_roots(expired: Collection[str], bases: Mapping[str, str], kept: Collection[str] = ()) -> set[str]:
    """Ids of the roots that go: expired, not kept, and not what one that stays is based on, however far.

    bases: by the id of each root that is based on one, the id of that one. kept: ids.
    """
    going = set(expired).difference(kept)
    for root_id, base in bases.items():
        if root_id in going:
            continue
        # Each is taken out once, so that a circle ends.
        at: str | None = base
        while at is not None and at in going:
            going.discard(at)
            at = bases.get(at)
    return going


def going_names(names: Mapping[str, NameThere], going: Collection[str], there: Collection[str]) -> list[str]:
    """Keys of the names that go with the roots `going`, or whose root is not there."""
    return sorted(key for key, name in names.items() if name.root in going or name.root not in there)


class Catalogue:
    """The roots and names of a bucket, as they were when last read.

    versions: by the id of each root there. bases: by the id of each that is based on one. expired: ids.
    names: by key.
    """

    def __init__(self, bucket: Bucket) -> None:
        self.versions: dict[str, int] = {}
        self.bases: dict[str, str] = {}
        self.expired: set[str] = set()
        self.names: dict[str, NameThere] = {}
        self._bucket = bucket
        self._roots = RemoteRoots(bucket)

    def read_roots(self, note: Callable[[Root], None], *, now: float) -> None:
        """Every root is as the bucket has it: those that are new or changed are read, and told to `note`.

        Intents must have been read before (castore.remote.intents). now: by the server's clock.
        """
        listed: dict[str, int] = {}
        for entry in self._listed():
            # What is no root's key keeps nothing, and is left alone.
            root_id = root_id_of(entry.key)
            if root_id is not None:
                listed[root_id] = _version(entry)
        for gone in self.versions.keys() - listed.keys():
            self.drop_root(gone)
        for root_id, root in self._read(_changed(listed, self.versions)):
            if root is None:
                # Another gc has removed it.
                self.drop_root(root_id)
                continue
            self._take(root, listed[root_id], now)
            note(root)

    def read_again(self, root_ids: Collection[str]) -> Iterator[Root]:
        """These roots, those of them that are still there."""
        for _, root in self._read(sorted(root_ids)):
            if root is not None:
                yield root

    def read_names(self) -> None:
        """Every name is as the bucket has it."""
        entries = self._bucket.entries(NAMES)
        listed = {entry.key: _version(entry) for entry in entries if is_name_key(entry.key)}
        for gone in self.names.keys() - listed.keys():
            del self.names[gone]
        known = {key: name.version for key, name in self.names.items()}
        for key, root_id in self._bucket.map(self._name, _changed(listed, known)):
            if root_id is None:
                self.names.pop(key, None)
            else:
                self.names[key] = NameThere(root_id, listed[key])

    def drop_root(self, root_id: str) -> None:
        """It is not there any more."""
        self.versions.pop(root_id, None)
        self.bases.pop(root_id, None)
        self.expired.discard(root_id)

    def levels(self, root_ids: Collection[str]) -> Iterator[list[str]]:
        """The roots in groups, each root before what it is based on."""
        waiting = set(root_ids)
        while waiting:
            based_on = {self.bases.get(root_id) for root_id in waiting}
            # In a circle, which only somebody who tampers makes, none comes first.
            level = sorted(waiting - based_on) or sorted(waiting)
            waiting.difference_update(level)
            yield level

    # --- Helpers ---

    def _listed(self) -> Iterable[Entry]:
        if len(self.versions) <= _LISTED_AT_ONCE_MAX:
            return self._bucket.entries(ROOTS)
        pages = self._bucket.map(lambda shard: list(self._bucket.entries(f"{ROOTS}{shard}/")), SHARDS)
        return (entry for page in pages for entry in page)

    def _read(self, root_ids: list[str]) -> Iterator[tuple[str, Root | None]]:
        def read(root_id: str) -> tuple[str, Root | None]:
            found = self._roots.get(root_id)
            return root_id, None if found is None else found.root

        return self._bucket.map(read, root_ids)

    def _take(self, root: Root, version: int, now: float) -> None:
        self.versions[root.id] = version
        if root.base is None:
            self.bases.pop(root.id, None)
        else:
            self.bases[root.id] = root.base
        if root.is_expired(now):
            self.expired.add(root.id)
        else:
            self.expired.discard(root.id)

    def _name(self, key: str) -> tuple[str, str | None]:
        found = self._bucket.get(key)
        if found is None:
            return key, None
        record = decode_name(found[0], self._bucket.remote, key)
        if name_key(record.scope, record.name) != key:
            raise RemoteDamaged(self._bucket.remote, key, f"it is the record of the name '{record.name}'")
        return key, record.root


# --- Helpers ---------------------------------------------------------------------------------------


def _changed(listed: Mapping[str, int], known: Mapping[str, int]) -> list[str]:
    return [each for each, version in listed.items() if version == _UNKNOWN or known.get(each) != version]


def _version(entry: Entry) -> int:
    """A number for what was listed: what is read after that is it, or newer. _UNKNOWN: read it each time."""
    if not entry.version:
        return _UNKNOWN
    return int.from_bytes(sha256(f"{entry.version} {entry.size} {entry.modified}".encode()).digest()[:8])
