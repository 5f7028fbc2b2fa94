"""verify of the whole store: every object's bytes, every root file, and the index against both.

Laws: it writes nothing, takes no lock, and names everything that is wrong; a store that is in use has no
findings for being in use: what looks wrong because a writer is in the middle of its work is looked at
again. An index that is absent, or behind the root files (as after a crash, or in a clone), is no finding:
the next write makes it follow. But a root that it has, and whose file is gone, is one: writers and gc
remove a root's file only with the root's end. An object that lies at a remote, as all roots say that name it,
need not be here.

Memory: some 36 bytes for each name of an object in a root, 100 for each record of a log, and what is known
of a few shards.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from castore.config import FRAME_BYTES, STAGED_AGE_SECONDS_MAX
from castore.digest import Digest
from castore.errors import NotFound, ObjectDamaged
from castore.gc import workers
from castore.gc.look import (
    RootLook,
    ShardLook,
    damaged_tombstones,
    entries,
    index_problem,
    look_at_roots,
    look_at_shard,
    strays,
)
from castore.layout import SHARDS
from castore.objects.finding import Finding, FindingName
from castore.objects.frames import fingerprint
from castore.store import Store
from castore.store.transaction import Transactions

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["check_bytes", "verify"]

Index = Callable[[], "Connection | None"]

_LOOK_AGAIN_SECONDS = (0.1, 0.4, 1.5)
"""Waits before a store that seems to disagree with itself is believed to: a commit takes less."""

_GROUP_OBJECTS = 16_384
"""Objects whose bytes are checked before the next shards are looked at."""

_NOT_WRITTEN = fingerprint(())
"""Of rows about frames that are not what was written, as the index tells them."""


def verify(store: Store, *, quick: bool = False, at_remotes: Counter[str] | None = None) -> Iterator[Finding]:
    """Everything that is wrong with the store, objects first. quick: presence and sizes, not the bytes.

    at_remotes: gets, by the names of remotes, how many objects lie there and are not here, as roots say whose
    objects need not be; at the end. They are no findings.
    Raises ScopeDenied unless the caller is the operator: it is told of every scope.
    """
    store.require_operator("verify of the whole store")
    parts = store.parts
    now = parts.clock()
    problem = index_problem(parts)

    def index() -> Connection | None:
        """To ask; None if there is none, or none that is worth asking."""
        return parts.index.reading() if problem is None and os.path.exists(parts.layout.index) else None

    # The rows first, then the roots, then the objects: a writer publishes in the opposite order.
    roots = look_at_roots(parts, index(), now=now)
    suspected: list[Finding] = _root_disagreements(parts, roots, now)
    shards: list[str] = []
    for group in _groups(parts, index):
        yield from check_bytes(parts, group, quick=quick)
        for look in group:
            if at_remotes is not None:
                at_remotes.update(_elsewhere(roots, look).values())
            found = _object_disagreements(parts, roots, look)
            suspected += found
            shards += [look.shard] if found else []
    for seconds in _LOOK_AGAIN_SECONDS:
        if not suspected:
            break
        time.sleep(seconds)
        roots = look_at_roots(parts, index(), now=now)
        again = set(_root_disagreements(parts, roots, now))
        for shard in shards:
            again.update(_object_disagreements(parts, roots, look_at_shard(parts, index(), shard)))
        suspected = [finding for finding in suspected if finding in again]
    yield from suspected
    yield from _damaged_roots(parts, roots)
    for stray in strays(parts.layout):
        yield _at(FindingName.STRAY, stray.path, stray.words)
    yield from _stale_files(parts, now)
    for tombstone in damaged_tombstones(parts):
        yield _at(FindingName.DAMAGED, tombstone.path, tombstone.reason)
    if problem is not None:
        yield _at(FindingName.DAMAGED, parts.layout.index, problem)


# --- The bytes -------------------------------------------------------------------------------------


def check_bytes(parts: Transactions, looks: Sequence[ShardLook], *, quick: bool = False) -> Iterator[Finding]:
    """Every object decodes to bytes of its digest, and its file is the one that was written."""
    database = parts.database
    listed = [(size, name) for look in looks for name, size in look.sizes.items()]
    rows = {name: row for look in looks for name, row in (look.rows or {}).items()}
    frames = {name: found for look in looks for name, found in look.frames.items()}
    processes = workers.processes_for(listed)

    def check(name: str) -> workers.Outcome | None:
        digest = Digest(name)
        try:
            if quick:
                size = database.stat(digest)
                if size is None:
                    return None
                facts: tuple[int, int, bytes | None] = (size.size, size.stored_bytes, None)
            else:
                found = database.check(digest, alone=processes == 1)
                facts = (found.size, found.stored_bytes, found.file_sha256)
        except ObjectDamaged as error:
            return name, FindingName.DAMAGED, str(error.fields["reason"])
        except NotFound:
            # A sweep removed it since it was listed; if it should be there it is told as missing.
            return None
        row = rows.get(name)
        if row is None:
            return None
        if facts[2] is not None and facts[2] != row.file_sha256:
            return (
                name,
                FindingName.DAMAGED,
                "its file was changed since it was written, though it still decodes",
            )
        if facts[0] != row.size:
            return name, FindingName.MISMATCH, f"it has {facts[0]} bytes, and the index says {row.size}"
        if facts[1] != row.stored_bytes:
            words = f"its file has {facts[1]} bytes, and the index says {row.stored_bytes}"
            return name, FindingName.MISMATCH, words
        # Rows that are what was written were measured when the whole was checked: not again, for arrays take
        # longer to measure than to read.
        told = frames.get(name)
        if (told is None) == (facts[0] >= FRAME_BYTES) or told == _NOT_WRITTEN:
            return name, FindingName.MISMATCH, "the index says something else of its frames"
        return None

    for name, finding, words in workers.run(listed, check, processes):
        yield Finding(FindingName(finding), Digest(name), None, words)


def _groups(parts: Transactions, index: Index) -> Iterator[list[ShardLook]]:
    """All shards, so many at a time that checking their bytes keeps all cores busy."""
    group: list[ShardLook] = []
    count = 0
    for shard in SHARDS:
        look = look_at_shard(parts, index(), shard)
        group.append(look)
        count += len(look.sizes)
        if count >= _GROUP_OBJECTS:
            yield group
            group, count = [], 0
    yield group


# --- One against another ---------------------------------------------------------------------------


def _object_disagreements(parts: Transactions, roots: RootLook, look: ShardLook) -> list[Finding]:
    """Objects of which not all of file, row and name is there."""
    findings = []
    needed = roots.names.shard(look.shard)
    named = roots.promised.shard(look.shard) | needed
    half_purged = sorted(name for name in roots.half_purged if name.startswith(look.shard))
    for name in half_purged:
        place, reason = roots.half_purged[name]
        words = f"was purged ({reason}), and this root still names it: the next write ends the purge"
        findings.append(Finding(FindingName.PURGED, Digest(name), place, words))
    for name in sorted(needed.keys() - look.sizes.keys() - roots.half_purged.keys()):
        findings.append(Finding(FindingName.MISSING, Digest(name), named[name], "is named by this root"))
    rows = look.rows
    if rows is not None and roots.is_current:
        # What was promised and came with a fetch that did not end gets its row with the next fetch.
        for name in sorted(look.sizes.keys() & needed.keys() - rows.keys()):
            findings.append(Finding(FindingName.UNINDEXED, Digest(name), None, "has no row in the index"))
    if roots.is_whole:
        # What a root that can't be read names is not known: then no object is said to have none.
        for name in sorted(look.sizes.keys() - named.keys()):
            findings.append(Finding(FindingName.UNNAMED, Digest(name), None, "no root names it"))
        for name in sorted((rows or {}).keys() - look.sizes.keys() - named.keys()):
            findings.append(
                Finding(FindingName.UNNAMED, Digest(name), None, "has a row in the index, and no file")
            )
    return findings


def _elsewhere(roots: RootLook, look: ShardLook) -> dict[str, str]:
    """The objects that lie at a remote and need not be here, each with the remote's name."""
    promised = roots.promised.shard(look.shard)
    gone = promised.keys() - look.sizes.keys()
    return {name: promised[name] for name in gone - roots.names.shard(look.shard).keys()} if gone else {}


def _root_disagreements(parts: Transactions, roots: RootLook, now: float) -> list[Finding]:
    if roots.folder_problem is not None:
        return []
    layout = parts.layout
    damaged = {each.id for each in roots.damaged}
    findings = [
        _at(FindingName.MISSING, layout.root_file(root.id), "the index has this root, and its file is gone")
        for root in roots.lost
        if root.is_live(now) and root.id not in damaged
    ]
    findings += [
        _at(FindingName.DAMAGED, layout.root_file(root_id), words)
        for root_id, words in roots.baseless.items()
    ]
    findings += [
        _at(FindingName.MISSING, layout.root_file(gap.root_id), gap.words) for gap in roots.logs.gaps()
    ]
    words = "the index says something else of this root"
    return findings + [
        _at(FindingName.UNINDEXED, layout.root_file(root_id), words) for root_id in roots.behind
    ]


def _damaged_roots(parts: Transactions, roots: RootLook) -> Iterator[Finding]:
    if roots.folder_problem is not None:
        holds = any(parts.source.sizes(shard) for shard in SHARDS)
        if holds or roots.lost or roots.folder_problem != "the folder is gone":
            yield _at(FindingName.DAMAGED, parts.layout.roots, roots.folder_problem)
    for each in roots.damaged:
        yield _at(FindingName.DAMAGED, each.path, each.reason)


def _stale_files(parts: Transactions, now: float) -> Iterator[Finding]:
    for entry in entries(parts.layout.tmp):
        try:
            found = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue
        if found.st_mtime < now - STAGED_AGE_SECONDS_MAX:
            yield _at(FindingName.STRAY, entry.path, "was staged over a day ago; gc removes it")


def _at(name: FindingName, path: str, words: str) -> Finding:
    return Finding(name, None, path, words)
