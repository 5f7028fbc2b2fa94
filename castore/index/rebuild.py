"""The index follows the files: rows for root files that came or changed, none for those that went.

Laws: after `reconcile`, and after `rebuild`, the rows about roots say what the root files say, and the
good objects that a root names which had no rows have theirs; `rebuild` gives every good object its row.
Both run inside the write transaction. A root file that can't be read is RootDamaged, and nothing is
changed: what a root that we can't read keeps is not known.

What `reconcile` finds without rows came from a writer that did not end. That it can be read does not say
that it is on the disk, and a sync that failed once says nothing when it succeeds later: so such roots, and
the objects without rows that they name, are written again. (`rebuild` reads what others may have copied
here by the million, and leaves it to one sync of the file system.)
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from itertools import islice

from castore.digest import Digest
from castore.errors import ObjectDamaged, ObjectMissing, RootDamaged
from castore.index import frames, objects, roots
from castore.index.objects import ObjectRow
from castore.objects.database import ObjectDatabase, Staged
from castore.roots.files import RootFiles
from castore.roots.model import Root

__all__ = ["adopt", "is_complete", "is_current", "rebuild", "reconcile", "reconcile_all"]

_ADOPTED_AT_ONCE = 1000
"""Objects that are written again together; the small ones are held in memory meanwhile."""


def is_complete(connection: sqlite3.Connection) -> bool:
    """Whether a rebuild has gone through since the index was made."""
    row = connection.execute("SELECT value FROM facts WHERE name='complete'").fetchone()
    return row is not None and row[0] == 1


def is_current(connection: sqlite3.Connection, files: RootFiles) -> bool:
    """Whether no roots/ab folder has changed since the index was written, as far as that can be told."""
    try:
        return roots.shard_times(connection) == files.shard_times()
    except (sqlite3.Error, RootDamaged):
        return False


def rebuild(connection: sqlite3.Connection, database: ObjectDatabase, files: RootFiles) -> None:
    """Every root file and every good object has its rows. Reads the whole store."""
    _add_objects(connection, database, database.source.digests())
    known, times = roots.shard_times(connection), files.shard_times()
    for shard in sorted(known.keys() | times.keys()):
        _reconcile_shard(connection, database, files, shard, write_again=False)
    roots.set_shard_times(connection, times, [shard for shard in known if shard not in times])
    connection.execute("INSERT OR REPLACE INTO facts VALUES ('complete', 1)")


def reconcile(connection: sqlite3.Connection, database: ObjectDatabase, files: RootFiles) -> bool:
    """The rows follow every roots/ab folder that changed since our last write. True if one had.

    Costs a stat for each shard. It sees every file that came, went or was replaced by a rename, not one
    that was written into in place: `reconcile_all` sees those too.
    """
    known = roots.shard_times(connection)
    times = files.shard_times()
    changed = [shard for shard in sorted(known.keys() | times.keys()) if known.get(shard) != times.get(shard)]
    for shard in changed:
        if _reconcile_shard(connection, database, files, shard):
            times[shard] = files.shard_time(shard)
    if changed:
        now = {shard: times[shard] for shard in changed if shard in times}
        roots.set_shard_times(connection, now, [shard for shard in changed if shard not in times])
    return bool(changed)


def reconcile_all(connection: sqlite3.Connection, database: ObjectDatabase, files: RootFiles) -> bool:
    """As `reconcile`, but every root file is compared, by inode, size and mtime.

    Objects that a root names get their rows too, if they could not be read when the others got theirs.
    """
    known = roots.shard_times(connection)
    times = files.shard_times()
    for shard in sorted(known.keys() | times.keys()):
        if _reconcile_shard(connection, database, files, shard):
            times[shard] = files.shard_time(shard)
    adopt(connection, database, objects.named_without_row(connection))
    roots.set_shard_times(connection, times, [shard for shard in known if shard not in times])
    return known != times


def adopt(connection: sqlite3.Connection, database: ObjectDatabase, digests: Iterable[Digest]) -> None:
    """Each of these objects is written again, from the bytes that are there, is on the disk, and has its row.

    Not those that are missing or damaged: verify reports them.
    """
    left = iter(digests)
    while some := list(islice(left, _ADOPTED_AT_ONCE)):
        staged: list[Staged] = []
        try:
            for digest in some:
                try:
                    staged.append(database.restage(digest))
                except (ObjectDamaged, ObjectMissing):
                    continue
            named = [(each.digest, each.frames) for each in staged]
            database.source.publish(named, unproven={each.digest.hex[:2] for each in staged})
            objects.add(
                connection,
                [
                    ObjectRow(each.digest.raw, each.size, each.frames.stored_bytes, each.file_sha256)
                    for each in staged
                ],
            )
            frames.put_all(connection, [(each.digest, each.facts) for each in staged])
        finally:
            database.source.drop([each.frames for each in staged])


# --- Helpers ---------------------------------------------------------------------------------------


def _reconcile_shard(
    connection: sqlite3.Connection,
    database: ObjectDatabase,
    files: RootFiles,
    shard: str,
    *,
    write_again: bool = True,
) -> bool:
    """The rows of this shard's roots say what their files say. True if files were written again."""
    rows = roots.stamps(connection, shard)
    seen: set[str] = set()
    came: list[Root] = []
    for root_id in files.ids(shard):
        try:
            stamp = files.stamp(root_id)
            row = rows.get(root_id)
            if row is None or row.stamp != stamp:
                root = files.read(root_id)
                if write_again and (row is None or roots.by_id(connection, root_id) != root):
                    came.append(root)
                else:
                    roots.put(connection, root, stamp)
        except FileNotFoundError:
            # Only writers remove root files, and we are the writer: somebody's hand did, just now.
            continue
        seen.add(root_id)
    roots.remove(connection, [root_id for root_id in rows if root_id not in seen])
    if came:
        # The objects first, as every writer does. (Two roots of one writer may name the same ones.)
        wanted = {digest for root in came for digest in root.objects}
        adopt(connection, database, sorted(objects.without_row(connection, wanted)))
        for root, stamp in zip(came, files.publish_again(came), strict=True):
            roots.put(connection, root, stamp)
    return bool(came)


def _add_objects(connection: sqlite3.Connection, database: ObjectDatabase, digests: Iterable[Digest]) -> None:
    """Each of these objects has its row, but for those that are missing or damaged: verify reports them."""
    rows: list[ObjectRow] = []
    for digest in digests:
        try:
            found = database.check(digest, measure=True)
        except (ObjectDamaged, ObjectMissing):
            continue
        frames.put_all(connection, [(digest, found.frames)])
        rows.append(ObjectRow(digest.raw, found.size, found.stored_bytes, found.file_sha256))
    objects.add(connection, rows)
