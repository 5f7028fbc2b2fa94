"""What a transaction publishes: staged objects with their rows, and notes about scopes that are new.

Law: bytes that were staged are kept until the transaction has decided, so that no sweep beside it can lose
an object between "it is there already" and the root that keeps it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from castore.digest import Digest
from castore.objects.database import Staged
from castore.store.access import Granted
from castore.store.transaction import Transactions

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["Holding", "new_scopes", "note_scopes"]


class Holding:
    """Objects that are staged, until a transaction publishes them or they are dropped."""

    def __init__(self, parts: Transactions, granted: Granted) -> None:
        self._parts = parts
        self._granted = granted
        self._lock = Lock()
        self._staged: dict[str, Staged] = {}

    def __contains__(self, digest: Digest) -> bool:
        return digest.hex in self._staged

    def get(self, digest: Digest) -> Staged | None:
        return self._staged.get(digest.hex)

    def hold(self, staged: Staged) -> Staged:
        """`staged`, or what was staged of the same object before, and then `staged` is dropped. Safe from
        several threads."""
        with self._lock:
            first = self._staged.setdefault(staged.digest.hex, staged)
        if first is not staged:
            self._parts.source.drop([staged.frames])
        return first

    def of(self, digests: Collection[Digest]) -> list[Staged]:
        """Those of these objects that are staged, sorted."""
        return [self._staged[digest.hex] for digest in sorted(digests) if digest.hex in self._staged]

    def all(self) -> list[Staged]:
        """Whatever is staged, sorted."""
        return [self._staged[name] for name in sorted(self._staged)]

    def release(self, mine: Iterable[Staged]) -> None:
        """These, which were published, take no memory any more."""
        for staged in mine:
            self._parts.source.drop([staged.frames])
            self._staged.pop(staged.digest.hex, None)

    def drop(self) -> None:
        """Nothing is staged any more."""
        self._parts.source.drop(staged.frames for staged in self._staged.values())
        self._staged.clear()

    def prepare(self, mine: Iterable[Staged]) -> None:
        """What is likely to be published is on the disk, without names: before the transaction, which is
        then shorter."""
        self._parts.source.prepare([staged.frames for staged in mine if staged.found is None])

    def publish(self, connection: Connection, mine: list[Staged]) -> None:
        """Those that are not there as they were when they were found good get their staged bytes; all have
        their rows.

        So do those without a row: who published them did not end, and may not have synced them. For the
        same reason a shard without rows is synced, though its folder is there; and for a writer who does
        not see everything it always is, or the work would tell what others have.
        """
        from castore.index import frames, objects

        source = self._parts.source
        waiting: list[tuple[Digest, Any]] = []
        for staged in mine:
            found = staged.found
            if found is not None:
                now = source.stat(staged.digest)
                row = objects.one(connection, staged.digest)
                is_same_file = now is not None and now.stamp == found.stamp
                if is_same_file and row is not None and row.file_sha256 == found.file_sha256:
                    continue
            waiting.append((staged.digest, staged.frames))
            staged.found = None
        shards = {digest.hex[:2] for digest, _ in waiting}
        unproven = {
            shard
            for shard in shards
            if not self._granted.is_operator or not objects.in_use(connection, shard)
        }
        source.publish(waiting, unproven=unproven)
        objects.add(connection, [_row(staged) for staged in mine])
        frames.put_all(connection, [(staged.digest, staged.facts) for staged in mine])

    def adopt(self, connection: Connection, named: Iterable[Digest]) -> None:
        """What a writer that did not end has left of these, and is not staged, is written again, before a
        root relies on it."""
        from castore.index import objects, rebuild

        unstaged = sorted(digest for digest in named if digest.hex not in self._staged)
        rebuild.adopt(connection, self._parts.database, objects.without_row(connection, unstaged))


def new_scopes(
    parts: Transactions, granted: Granted, connection: Connection, scopes: Iterable[str]
) -> list[str]:
    """Those of these scopes that nobody declared, and that have no root."""
    from castore.index import seen

    declared = {granted.default_scope, *parts.config.scopes}
    return [scope for scope in sorted(set(scopes) - declared) if not seen.scope_names(connection, (scope,))]


def note_scopes(parts: Transactions, granted: Granted, scopes: Iterable[str], new: Sequence[str]) -> None:
    """Who was granted nothing sees the default scope alone from now on, and should be told.

    Whoever else is the first to write in a scope may have mistyped it. Whether the store has other
    scopes makes no difference, or it would be told by this.
    """
    others = sorted({scope for scope in scopes if scope != granted.default_scope})
    if granted.is_by_default and granted.is_operator and others:
        more = f", and {len(others) - 1} more" if len(others) > 1 else ""
        parts.note(
            f"the store has the scope '{others[0]}' now{more}: only who is granted it sees it, "
            f"by CTX_SCOPE or \"CTX_SCOPE='*' ctx config scopes.granted {others[0]}\""
        )
        return
    for scope in new:
        parts.note(f"scope '{scope}' is new in this store")


def _row(staged: Staged) -> Any:
    from castore.index.objects import ObjectRow

    found = staged.found
    if found is not None:
        return ObjectRow(staged.digest.raw, found.size, found.stored_bytes, found.file_sha256)
    return ObjectRow(staged.digest.raw, staged.size, staged.frames.stored_bytes, staged.file_sha256)
