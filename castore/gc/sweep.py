"""gc: expired roots go, then the objects that no root names any more.

Laws:
- Nothing that a root names which has not expired is removed, however many writers run beside it: each
  group of shards is listed, decided and swept inside the write transaction, and a writer that relies on
  an object looks for it inside its own.
- A root's file goes before its rows, and both before the objects: a crash leaves objects that nothing
  names. Running again does the rest. A root goes before the one that it is based on.
- On a full disk it works too, though the index can't be written there.
- Where it is not certain what is kept, nothing is removed: roots/ missing or never used, a root file that
  can't be read, a clock that stands before the newest record are all errors.

Memory: the digests of a group of shards.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from castore.config import CLOCK_SKEW_SECONDS_MAX, STAGED_AGE_SECONDS_MAX
from castore.digest import Digest
from castore.errors import CastoreError, Damaged, RootDamaged
from castore.gc.plan import ExpiringRoot, GcReport, ShardPlan, expired_roots, plan_shard
from castore.layout import SHARDS
from castore.roots.files import RootStamp
from castore.roots.model import Root
from castore.store import Store

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["plan", "sweep"]

_FIRST_ROOT_SECONDS = 1.0
"""How long a plan, which is outside every transaction, waits before it says that there is no root."""

_GROUP_SHARDS = 16
"""Shards swept in one transaction: short enough that writers wait for a moment only."""


def plan(store: Store, *, forgotten_now: bool = False, changed: Sequence[Root] = ()) -> GcReport:
    """What `sweep` would do now; nothing is changed. Raises RootDamaged, Damaged as it would.

    changed: roots as they are to be before it.
    """
    store.require_operator("gc")
    parts = store.parts
    from castore.index import roots
    from castore.index.temporary import roots_in_memory

    # The index is not asked: only the sweep may have it checked, and made anew where it is unsound.
    _check_roots(store, wait_seconds=_FIRST_ROOT_SECONDS)
    connection = roots_in_memory(parts.root_files)
    now = parts.clock()
    _check_clock(connection, now)
    for root in changed:
        roots.put(connection, root, RootStamp(0, 0, 0))
    rows = _Rows(connection)
    later = _expire(store, connection, rows.write, rows.remove, now=now, forgotten_now=forgotten_now)
    report = GcReport(roots=len(rows.removed))
    for shard in SHARDS:
        report = report.with_shard(_plan_shard(store, connection, shard, later))
    return _with_staged(report, _stale(store, now))


def sweep(store: Store, *, forgotten_now: bool = False) -> GcReport:
    """Expired roots are gone, and every object that only they named, on the disk. Says what was done."""
    store.require_operator("gc")
    try:
        return _sweep(store, forgotten_now=forgotten_now)
    except CastoreError as error:
        if error.fields.get("errno") not in (errno.ENOSPC, errno.EDQUOT):
            raise
        return _sweep_without_index(store, forgotten_now=forgotten_now)


# --- Helpers ---------------------------------------------------------------------------------------


def _sweep(store: Store, *, forgotten_now: bool) -> GcReport:
    parts = store.parts
    parts.root_files.shards()  # Writing would make roots/ anew where it is gone.
    with parts.writing(every_file=True) as connection:
        # Asked in the transaction: the first writer ever publishes its objects before its root.
        _check_roots(store)
        now = parts.clock()
        _check_clock(connection, now)
        removed: list[str] = []

        def remove(root_ids: list[str]) -> None:
            parts.remove_roots(connection, root_ids)
            removed.extend(root_ids)

        def write(changed: list[Root]) -> None:
            parts.put_roots(connection, changed)

        later = _expire(store, connection, write, remove, now=now, forgotten_now=forgotten_now)
    report = GcReport(roots=len(removed))
    for start in range(0, len(SHARDS), _GROUP_SHARDS):
        with parts.writing() as connection:
            _, later = _expired(connection, now=now, forgotten_now=forgotten_now)
            report = _sweep_group(store, connection, SHARDS[start : start + _GROUP_SHARDS], later, report)
    with parts.writing() as connection:
        # After the objects: what another scope's last root named must not be seen by who was kept from it.
        parts.remove_mark(connection)
    return _with_staged(report, _remove_stale(store, now))


def _sweep_without_index(store: Store, *, forgotten_now: bool) -> GcReport:
    """As `sweep`, needing no room: the index goes first, and rows are made in memory from the root files.

    No writer is beside it: each waits, or finds no index and makes it anew afterwards.
    """
    from castore.index.temporary import roots_in_memory

    parts = store.parts
    with parts.one_thread, parts.index.alone():
        _check_roots(store)
        connection = roots_in_memory(parts.root_files)
        now = parts.clock()
        _check_clock(connection, now)
        rows = _Rows(connection)
        later = _expire(store, connection, rows.write, rows.remove, now=now, forgotten_now=forgotten_now)
        parts.index.remove("the disk is full: the index was removed, and the next write builds it anew")
        parts.root_files.remove(rows.removed)
        report = GcReport(roots=len(rows.removed))
        for shard in SHARDS:
            found = _plan_shard(store, connection, shard, later)
            report = report.with_shard(found)
            removed = [Digest(each) for each in found.removed]
            for digest in removed:
                parts.source.delete(digest)
            parts.source.settle(removed)
    return _with_staged(report, _remove_stale(store, now))


class _Rows:
    """Changes to an index in memory that stand for those to the files; removed: ids, in order."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.removed: list[str] = []

    def write(self, changed: list[Root]) -> None:
        from castore.index import bases, roots

        for root in bases.settled(self._connection, changed):
            roots.put(self._connection, root, RootStamp(0, 0, 0))

    def remove(self, root_ids: list[str]) -> None:
        from castore.index import roots

        roots.remove(self._connection, root_ids)
        self.removed += root_ids


def _expire(
    store: Store,
    connection: Connection,
    write: Callable[[list[Root]], None],
    remove: Callable[[list[str]], None],
    *,
    now: float,
    forgotten_now: bool,
) -> list[ExpiringRoot]:
    """Roots last as long as those based on them, no longer, and no expired one is left; says which will be.

    write: roots, and the bases whose expiry follows from them. remove: roots, by their ids.
    """
    from castore.index import bases

    early = [root.id for root in bases.unsettled(connection) if root.is_expired(now)]
    while True:
        unsettled = bases.unsettled(connection)
        if unsettled:
            write(unsettled)
        gone, later = _expired(connection, now=now, forgotten_now=forgotten_now)
        if not gone:
            break
        based_on = bases.bases(connection)
        remove(list(reversed(bases.bases_first({root.id: based_on.get(root.id) for root in gone}))))
    if early and {*early} & {*bases.bases(connection).values()}:
        store.parts.note("a root that has expired is kept, because another one is based on it")
    return later


def _expired(
    connection: Connection, *, now: float, forgotten_now: bool
) -> tuple[list[ExpiringRoot], list[ExpiringRoot]]:
    from castore.index import bases

    return expired_roots(_expiring(connection), bases.bases(connection), now=now, forgotten_now=forgotten_now)


def _remove_stale(store: Store, now: float) -> list[tuple[str, int]]:
    """What lay in tmp/ for over a day is gone; its paths and bytes. So is a store that was never made."""
    from castore import durable
    from castore.store.folder import remove_unfinished

    remove_unfinished(store.folder, now)
    stale = _stale(store, now)
    for path, _ in stale:
        durable.remove(path)
    return stale


def _sweep_group(
    store: Store,
    connection: Connection,
    shards: tuple[str, ...],
    later: list[ExpiringRoot],
    report: GcReport,
) -> GcReport:
    from castore.index import objects

    removed: list[Digest] = []
    rows: list[bytes] = []
    for shard in shards:
        found = _plan_shard(store, connection, shard, later)
        report = report.with_shard(found)
        removed += map(Digest, found.removed)
        rows += objects.unnamed_in_shard(connection, shard)
    for digest in removed:
        store.parts.source.delete(digest)
    # Those that only have a row were removed by a sweep that did not end, and may not have synced it.
    store.parts.source.settle({*removed, *(Digest.from_raw(row) for row in rows if len(row) == 32)})
    objects.remove(connection, rows)
    return report


def _plan_shard(store: Store, connection: Connection, shard: str, later: list[ExpiringRoot]) -> ShardPlan:
    from castore.index import objects

    sizes = store.parts.source.sizes(shard)
    if not sizes:
        return plan_shard({}, {})
    if later:
        return plan_shard(sizes, objects.expiries_in_shard(connection, shard))
    # The roots need not be asked then.
    return plan_shard(sizes, dict.fromkeys(objects.named_in_shard(connection, shard)))


def _expiring(connection: Connection) -> list[ExpiringRoot]:
    from castore.index import roots

    return [ExpiringRoot(*row) for row in roots.expiring(connection)]


def _check_roots(store: Store, *, wait_seconds: float = 0.0) -> None:
    """What is kept is known. Raises RootDamaged. wait_seconds: for a first writer to publish its root."""
    parts = store.parts
    deadline = time.monotonic() + wait_seconds
    while not parts.root_files.shards() and next(parts.source.digests(), None) is not None:
        if time.monotonic() >= deadline:
            raise RootDamaged(parts.layout.roots, "it has never held a root, and objects are there")
        time.sleep(wait_seconds / 10)


def _check_clock(connection: Connection, now: float) -> None:
    from castore.index import roots

    newest = roots.newest_time(connection)
    if newest is not None and newest > now + CLOCK_SKEW_SECONDS_MAX:
        raise Damaged(
            "the clock stands before the newest record of the store",
            hint="set the clock; nothing was removed",
            now=now,
            newest=newest,
        )


def _stale(store: Store, now: float) -> list[tuple[str, int]]:
    """Path and bytes of what lies in tmp/ for over a day."""
    stale = []
    try:
        with os.scandir(store.parts.layout.tmp) as entries:
            for entry in entries:
                found = entry.stat(follow_symlinks=False)
                if not stat.S_ISDIR(found.st_mode) and found.st_mtime < now - STAGED_AGE_SECONDS_MAX:
                    stale.append((entry.path, found.st_size))
    except FileNotFoundError:
        return []
    return sorted(stale)


def _with_staged(report: GcReport, stale: list[tuple[str, int]]) -> GcReport:
    return replace(report, staged_files=len(stale), staged_bytes=sum(size for _, size in stale))
