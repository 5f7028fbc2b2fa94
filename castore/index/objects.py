"""Rows about objects: one for each file that a transaction has published."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from castore.digest import Digest

__all__ = [
    "ObjectRow",
    "Total",
    "add",
    "biggest",
    "count",
    "everything",
    "expiries_in_shard",
    "in_shard",
    "in_use",
    "named_in_shard",
    "named_without_row",
    "one",
    "remove",
    "set_gone",
    "sizes",
    "total",
    "unnamed",
    "unnamed_in_shard",
    "without_row",
]


class ObjectRow(NamedTuple):
    """`size`, `stored_bytes` in bytes; `file_sha256` of the stored file."""

    digest: bytes
    size: int
    stored_bytes: int
    file_sha256: bytes


class Total(NamedTuple):
    objects: int
    size: int
    stored_bytes: int


def add(connection: sqlite3.Connection, rows: Iterable[ObjectRow]) -> None:
    """Each object has this row, in place of an earlier one."""
    connection.executemany(
        "INSERT INTO objects VALUES (?,?,?,?) ON CONFLICT(digest) DO UPDATE SET"
        " size=excluded.size, stored_bytes=excluded.stored_bytes, file_sha256=excluded.file_sha256",
        rows,
    )


def everything(connection: sqlite3.Connection) -> Iterator[ObjectRow]:
    return (ObjectRow(*row) for row in connection.execute("SELECT * FROM objects"))


def remove(connection: sqlite3.Connection, digests: Iterable[bytes]) -> None:
    """None of these objects has a row, nor have its frames."""
    gone = [(each,) for each in digests]
    connection.executemany("DELETE FROM objects WHERE digest=?", gone)
    connection.executemany("DELETE FROM frames WHERE digest=?", gone)
    connection.executemany("DELETE FROM frame_checks WHERE digest=?", gone)


def one(connection: sqlite3.Connection, digest: Digest) -> ObjectRow | None:
    row = connection.execute("SELECT * FROM objects WHERE digest=?", (digest.raw,)).fetchone()
    return None if row is None else ObjectRow(*row)


def sizes(connection: sqlite3.Connection, digests: Iterable[Digest]) -> dict[bytes, int]:
    """The size of each of these objects that has a row, by its raw digest."""
    found = (one(connection, each) for each in digests)
    return {row.digest: row.size for row in found if row is not None}


def without_row(connection: sqlite3.Connection, digests: Iterable[Digest]) -> list[Digest]:
    """Those of these objects that have no row."""
    return [each for each in digests if one(connection, each) is None]


def named_without_row(connection: sqlite3.Connection) -> list[Digest]:
    """The objects that a root names and that have no row, sorted."""
    rows = connection.execute(
        "SELECT DISTINCT digest FROM root_objects WHERE NOT EXISTS"
        " (SELECT 1 FROM objects WHERE objects.digest=root_objects.digest) ORDER BY digest"
    )
    return [Digest.from_raw(row[0]) for row in rows]


def in_shard(connection: sqlite3.Connection, shard: str) -> dict[bytes, ObjectRow]:
    """The rows of the objects whose digest begins with these two hex digits."""
    rows = connection.execute("SELECT * FROM objects WHERE digest>=? AND digest<=?", _bounds(shard))
    return {row[0]: ObjectRow(*row) for row in rows}


def in_use(connection: sqlite3.Connection, shard: str) -> bool:
    """Whether an object of this shard has a row."""
    query = "SELECT 1 FROM objects WHERE digest>=? AND digest<=? LIMIT 1"
    return connection.execute(query, _bounds(shard)).fetchone() is not None


def named_in_shard(connection: sqlite3.Connection, shard: str) -> set[bytes]:
    """The digests of this shard that a root names."""
    rows = connection.execute(
        "SELECT DISTINCT digest FROM root_objects WHERE digest>=? AND digest<=?", _bounds(shard)
    )
    return {row[0] for row in rows}


def expiries_in_shard(connection: sqlite3.Connection, shard: str) -> dict[bytes, float | None]:
    """As `named_in_shard`, each with when the last root that names it has expired; None: one never does."""
    rows = connection.execute(
        "SELECT digest, MAX(expires), SUM(expires IS NULL) FROM root_objects JOIN roots ON number=root"
        " WHERE digest>=? AND digest<=? GROUP BY digest",
        _bounds(shard),
    )
    return {row[0]: None if row[2] else row[1] for row in rows}


def unnamed_in_shard(connection: sqlite3.Connection, shard: str) -> list[bytes]:
    """The digests with a row in this shard that no root names."""
    rows = connection.execute(
        "SELECT digest FROM objects WHERE digest>=? AND digest<=? AND NOT EXISTS"
        " (SELECT 1 FROM root_objects WHERE root_objects.digest=objects.digest)",
        _bounds(shard),
    )
    return [row[0] for row in rows]


def unnamed(connection: sqlite3.Connection, roots_gone: Iterable[int] = ()) -> Total:
    """Objects with a row that no root names, once the roots with these numbers are gone."""
    set_gone(connection, roots_gone)
    row = connection.execute(
        "SELECT COUNT(*), COALESCE(SUM(size),0), COALESCE(SUM(stored_bytes),0) FROM objects WHERE NOT EXISTS"
        " (SELECT 1 FROM root_objects WHERE root_objects.digest=objects.digest"
        " AND root NOT IN (SELECT root FROM temp.gone))"
    ).fetchone()
    return Total(*row)


def count(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT COUNT(*) FROM objects").fetchone()[0])


def total(connection: sqlite3.Connection) -> Total:
    row = connection.execute(
        "SELECT COUNT(*), COALESCE(SUM(size),0), COALESCE(SUM(stored_bytes),0) FROM objects"
    )
    return Total(*row.fetchone())


def biggest(connection: sqlite3.Connection, limit: int) -> list[ObjectRow]:
    """The objects of most stored bytes first."""
    rows = connection.execute("SELECT * FROM objects ORDER BY stored_bytes DESC, digest LIMIT ?", (limit,))
    return [ObjectRow(*row) for row in rows]


def set_gone(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """The roots that a question leaves out, in a table of this connection alone."""
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS gone(root INTEGER PRIMARY KEY)")
    connection.execute("DELETE FROM temp.gone")
    connection.executemany("INSERT INTO temp.gone VALUES (?)", ((each,) for each in numbers))


def _bounds(shard: str) -> tuple[bytes, bytes]:
    first = bytes.fromhex(shard)
    return first + bytes(31), first + b"\xff" * 31
