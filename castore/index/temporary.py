"""An index in memory, for reading where there is none on disk and none may be made."""

from __future__ import annotations

import sqlite3

from castore.index import roots
from castore.index.schema import SCHEMA
from castore.roots.files import RootFiles

__all__ = ["roots_in_memory"]


def roots_in_memory(files: RootFiles) -> sqlite3.Connection:
    """Rows for every root file, and none about objects. Raises RootDamaged."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for statement in SCHEMA:
        connection.execute(statement)
    for root in files.all():
        roots.put(connection, root, files.stamp(root.id))
    return connection
