"""An index of the root files alone, for reading where there is none on disk and none may be made.

It is in memory, and what is too large for that goes to an unnamed temporary file of SQLite's own.
"""

from __future__ import annotations

import sqlite3

from castore.errors import RootDamaged
from castore.index import roots
from castore.index.schema import SCHEMA
from castore.layout import SHARDS
from castore.roots.files import RootFiles

__all__ = ["roots_in_memory"]


def roots_in_memory(files: RootFiles, *, only_readable: bool = False) -> sqlite3.Connection:
    """Rows for every root file, and none about objects. Raises RootDamaged, unless `only_readable`."""
    connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
    for statement in SCHEMA:
        connection.execute(statement)
    connection.execute("BEGIN")
    for shard in SHARDS:
        try:
            root_ids = files.ids(shard)
        except RootDamaged:
            if not only_readable:
                raise
            continue
        for root_id in root_ids:
            try:
                roots.put(connection, files.read(root_id), files.stamp(root_id))
            except FileNotFoundError:
                continue
            except RootDamaged:
                if not only_readable:
                    raise
    connection.execute("COMMIT")
    return connection
