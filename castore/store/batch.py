"""Batch: objects that become visible together, with the root that keeps them.

Laws:
- A commit is one transaction: objects, then the root that names them, then the rows. After it returns
  everything is on the disk; a crash before leaves staged files or objects that nothing names, never a
  root that names what is not there.
- Bytes that were staged are kept until the transaction has decided, so that no sweep beside it can lose
  an object between "it is there already" and the root that keeps it.
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any

from castore.config import parse_name, parse_scope
from castore.digest import Bytes, Digest
from castore.errors import NameTaken, ObjectMissing
from castore.objects.database import EncodedObject, Staged
from castore.roots.model import Root, RootDraft, merged, root_id
from castore.store.transaction import Transactions

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["Batch"]


class Batch:
    """Objects that become visible together, with the root that keeps them. A context manager.

    What is staged and not committed is dropped at the end of the block. Staging is safe from several
    threads; the same bytes staged twice are one object.
    """

    def __init__(self, parts: Transactions) -> None:
        self._parts = parts
        self._lock = Lock()
        self._staged: dict[str, Staged] = {}
        self.objects_new = 0
        self.objects_existing = 0

    def __enter__(self) -> Batch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._parts.source.drop(staged.frames for staged in self._staged.values())
        self._staged.clear()

    def stage(self, data: Bytes) -> Staged:
        """`data` is digested, encoded, decoded again and compared; it is in the store after `commit`."""
        return self._keep(self._parts.database.stage(data))

    def stage_encoded(self, encoded: EncodedObject) -> Staged:
        """As `stage`, for an object that was encoded elsewhere, by `encode_object`."""
        return self._keep(self._parts.database.stage_encoded(encoded))

    def stage_chunks(self, pieces: Iterable[Bytes]) -> Staged:
        """As `stage`, for any length, in bounded memory."""
        return self._keep(self._parts.database.stage_chunks(pieces))

    def stage_files(self, paths: list[str]) -> list[Staged | OSError]:
        """The bytes of each file are staged, in the order of `paths`; or the error of reading it.

        The way to put thousands of files: several processes share the work.
        """
        from castore.store.staging import stage_files

        return stage_files(self._parts.database, self._parts.source, paths, self._keep)

    def commit(self, draft: RootDraft, *, move_name: bool = False) -> Root:
        """The objects of `draft` and its root are in the store, on the disk.

        move_name: a root that has the name already goes, once this one is there.

        Each object was staged here or is there already. Raises ObjectMissing, NameTaken, InvalidOption,
        StoreLocked, RootDamaged; then nothing is visible that was not before. Where the disk fails at the
        very end, the root may be there all the same, with all its objects. After a crash the root is
        there with all its objects, or it is not there.
        """
        parts = self._parts
        scope = parse_scope(parts.config.scope if draft.scope is None else draft.scope)
        if draft.name is not None:
            parse_name(draft.name)
        named = set(draft.objects)
        mine = [self._staged[digest.hex] for digest in sorted(named) if digest.hex in self._staged]
        parts.source.prepare([staged.frames for staged in mine if staged.found is None])
        with parts.writing() as connection:
            from castore.index import objects, rebuild, roots

            now = parts.clock()
            identity = root_id(draft, scope)
            others: list[str] = []
            if draft.name is not None:
                others = parts.others_named(connection, draft.name, scope, identity, now)
                if others and not move_name:
                    raise NameTaken(draft.name, scope)
            for digest in named:
                if digest.hex not in self._staged and parts.source.stat(digest) is None:
                    raise ObjectMissing(str(digest))
            self._publish(connection, mine)
            objects.add(connection, [_row(staged) for staged in mine])
            # What a writer that did not end has left is written again before a root relies on it.
            unstaged = [digest for digest in sorted(named) if digest.hex not in self._staged]
            rebuild.adopt(connection, parts.database, objects.without_row(connection, unstaged))
            sequence = roots.next_sequence(connection)
            old = roots.by_id(connection, identity)
            root = merged(draft, scope, old, now=now, sequence=sequence)
            if root != old:
                parts.put_root(connection, root)
            if others:
                parts.remove_roots(connection, others)
        return root

    # --- Helpers ---

    def _keep(self, staged: Staged) -> Staged:
        with self._lock:
            first = self._staged.setdefault(staged.digest.hex, staged)
        if first is not staged:
            self._parts.source.drop([staged.frames])
        return first

    def _publish(self, connection: Connection, mine: list[Staged]) -> None:
        """Those that are not there as they were when they were found good get their staged bytes.

        So do those without a row: who published them did not end, and may not have synced them. For the
        same reason a shard without rows is synced, though its folder is there.
        """
        from castore.index import objects

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
        source.publish(waiting, unproven={shard for shard in shards if not objects.in_use(connection, shard)})
        self.objects_new = sum(staged.is_new for staged in mine)
        self.objects_existing = len(mine) - self.objects_new


def _row(staged: Staged) -> Any:
    from castore.index.objects import ObjectRow

    found = staged.found
    if found is not None:
        return ObjectRow(staged.digest.raw, found.size, found.stored_bytes, found.file_sha256)
    return ObjectRow(staged.digest.raw, staged.size, staged.frames.stored_bytes, staged.file_sha256)
