"""The names of a bucket: records that are moved by compare-and-swap.

Laws:
- Of two that move one name from the same root, one wins, and the other is told NameMoved.
- A push moves a name only from where this store last saw it, or by force. One that nobody has is free.
- A name's record names a root that is there; the root that had the name is forgotten, with the grace. What a
  killed push left undone of that is done by the next push of the name.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from castore.digest import SHORT_HEX
from castore.errors import NameMoved, RemoteDamaged
from castore.remote.bucket import Bucket, Entry
from castore.remote.intents import hold
from castore.remote.keys import NAMES, is_name_key, name_key, root_key
from castore.remote.records import NameRecord, decode_name, encode
from castore.remote.roots import RemoteRoots
from castore.remote.tracking import Seen, Tracking
from castore.roots.model import Root, forgotten

__all__ = ["NameChange", "Names"]


class NameChange(StrEnum):
    SAME = "same"
    NEW = "new"
    MOVED = "moved"


class _Found(NamedTuple):
    record: NameRecord
    entry: Entry


class Names:
    """The names of one bucket, as one store knows them. mends: `move` replaces a record that is damaged."""

    def __init__(
        self, bucket: Bucket, roots: RemoteRoots, tracking: Tracking, *, mends: bool = False
    ) -> None:
        self._bucket = bucket
        self._mends = mends
        self._roots = roots
        self._tracking = tracking

    def get(self, scope: str, name: str) -> NameRecord | None:
        """What the name means there; None if it means nothing. Raises RemoteDamaged, RemoteError."""
        found = self._find(name_key(scope, name))
        return None if found is None else found.record

    def of(self, name: str) -> list[NameRecord]:
        """What the name means in each scope there. What can't be read is no name's record: whose it was, and
        whether it was this name's, nobody can tell."""

        def one(key: str) -> NameRecord | None:
            try:
                found = self._find(key)
            except RemoteDamaged:
                return None
            return None if found is None or found.record.name != name else found.record

        keys = (entry.key for entry in self._bucket.entries(NAMES) if is_name_key(entry.key))
        return [record for record in self._bucket.map(one, keys) if record is not None]

    def require_movable(self, root: Root, *, by_force: bool, now: float) -> None:
        """Raises NameMoved where `move` would, as far as that can be told before."""
        try:
            found = self._find(_key(root))
        except RemoteDamaged:
            if not self._mends:
                raise
            return
        if found is not None and not self._may_move(found.record, root, by_force=by_force, now=now):
            raise self._moved(root, found)

    def would(self, root: Root) -> NameChange:
        """What `move` would do, if it may. Raises RemoteDamaged, unless that is to be mended."""
        try:
            found = self._find(_key(root))
        except RemoteDamaged:
            if not self._mends:
                raise
            return NameChange.MOVED
        if found is None:
            return NameChange.NEW
        return NameChange.SAME if found.record.root == root.id else NameChange.MOVED

    def move(self, root: Root, *, by_force: bool, now: float, grace_seconds: int) -> NameChange:
        """The name of the root, which is there, means it. Raises NameMoved: then it means what it did."""
        key = _key(root)
        if self._mends:
            self._mend(key, root)
        found = self._find(key)
        if found is None:
            record = NameRecord(root.scope, _name(root), root.id)
            if not self._bucket.create(key, encode(record)):
                found = self._find(key)
                if found is None or found.record != record:
                    raise self._moved(root, found)
            self._agree(key, record)
            return NameChange.NEW
        if found.record.root == root.id:
            self._agree(key, found.record)
            self._forget(found.record, now=now, grace_seconds=grace_seconds)
            return NameChange.SAME
        if not self._may_move(found.record, root, by_force=by_force, now=now):
            raise self._moved(root, found)
        old = found.record
        record = NameRecord(old.scope, old.name, root.id, old.moves + 1, old.root)
        if not self._bucket.replace(key, encode(record), found.entry):
            now_there = self._find(key)
            # The answer to a try of ours may have been lost, and the next one found our own move.
            if now_there is None or now_there.record != record:
                raise self._moved(root, now_there)
        self._agree(key, record)
        self._forget(record, now=now, grace_seconds=grace_seconds)
        return NameChange.MOVED

    # --- Helpers ---

    def _mend(self, key: str, root: Root) -> None:
        """The record is not damaged; what meant nothing means the root."""
        found = self._bucket.get(key)
        if found is None:
            return
        try:
            self._decoded(key, found[0])
        except RemoteDamaged:
            seen = self._tracking.get(key)
            record = NameRecord(root.scope, _name(root), root.id, 0 if seen is None else seen.moves + 1)
            self._bucket.replace(key, encode(record), found[1])

    def _find(self, key: str) -> _Found | None:
        found = self._bucket.get(key)
        if found is None:
            return None
        return _Found(self._decoded(key, found[0]), found[1])

    def _decoded(self, key: str, data: bytes) -> NameRecord:
        """What the record says; that of another name is damaged, as is what none wrote."""
        record = decode_name(data, self._bucket.remote, key)
        if name_key(record.scope, record.name) != key:
            raise RemoteDamaged(self._bucket.remote, key, "it is the record of another name")
        return record

    def _may_move(self, record: NameRecord, root: Root, *, by_force: bool, now: float) -> bool:
        if by_force or record.root == root.id or self._tracking.get(_key(root)) == _seen(record):
            return True
        holder = self._roots.get(record.root)
        return holder is None or not holder.root.is_live(now)

    def _forget(self, record: NameRecord, *, now: float, grace_seconds: int) -> None:
        """The root that had the name before is forgotten, unless it was since pushed without it."""
        if record.was is None:
            return

        def of(there: Root) -> Root:
            # What a record says of a root of another scope or name was forged.
            if (there.scope, there.name) != (record.scope, record.name) or there.forgotten is not None:
                return there
            return forgotten(there, now=now, grace_seconds=grace_seconds)

        try:
            there = self._roots.get(record.was)
        except RemoteDamaged:
            # The name has moved, and what can't be read can't be forgotten: a gc tells of it.
            return
        if there is None or of(there.root) == there.root:
            return
        # No gc removes it between the two halves of the change, which matters where there are no conditions.
        with hold(self._bucket, [root_key(record.was)]):
            self._roots.change(record.was, of)

    def _agree(self, key: str, record: NameRecord) -> None:
        self._tracking.note(key, _seen(record))

    def _moved(self, root: Root, found: _Found | None) -> NameMoved:
        """found: what the name means there, as far as that is known."""
        remote, name = self._bucket.remote, _name(root)
        if found is None:
            words = f"name '{name}' was moved by somebody else at '{remote}'"
            return NameMoved(name, root.scope, message=words)
        words = f"name '{name}' means another root at '{remote}': {found.record.root[:SHORT_HEX]}"
        hint = f"look at it with 'ctx log --remote {remote}': pull it and decide, or push with --move"
        return NameMoved(name, root.scope, message=words, hint=hint, root=found.record.root)


def _seen(record: NameRecord) -> Seen:
    return Seen(record.moves, record.root)


def _key(root: Root) -> str:
    return name_key(root.scope, _name(root))


def _name(root: Root) -> str:
    if root.name is None:
        raise AssertionError("only a root with a name moves one")
    return root.name
