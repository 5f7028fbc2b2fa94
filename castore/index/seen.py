"""What a caller sees: rows about roots of the scopes it was granted, and about the objects that they name.

Laws: `seen` None is everything; else scopes, and globs in which `*` stands for any characters. An object
is seen if a root of such a scope names it that has not expired. Whoever sees nothing of an object is told
nothing about it: every count, size and list here is over what is seen alone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from castore.config import OPERATOR
from castore.digest import Digest
from castore.index.objects import ObjectRow, Total, set_gone
from castore.roots.files import RootStamp

__all__ = [
    "Naming",
    "Seen",
    "biggest",
    "digests",
    "has_other_scope",
    "is_named",
    "is_named_raw",
    "named_only_by",
    "namers",
    "naming",
    "newest",
    "scope_names",
    "seen_clause",
    "total",
]

Seen = tuple[str, ...] | None


class Naming(NamedTuple):
    """How an object is kept: by how many live roots, until when (None: for ever, or by none)."""

    roots: int
    expires: float | None


def seen_clause(seen: Seen) -> tuple[str, tuple[str, ...]]:
    """A condition on the column `scope`, and its values."""
    if seen is None or OPERATOR in seen:
        return "TRUE", ()
    # No scope and no grant holds the other signs of GLOB.
    terms = ["(scope GLOB ? AND scope<>'*')" if "*" in each else "scope=?" for each in seen]
    return f"({' OR '.join(terms) or 'FALSE'})", seen


def namers(
    connection: sqlite3.Connection, digest: Digest, seen: Seen, now: float
) -> Iterator[tuple[str, RootStamp]]:
    """The roots that let the object be seen: id, and what the file was like when its rows were written."""
    clause, scopes = seen_clause(seen)
    rows = connection.execute(
        "SELECT id, inode, file_bytes, mtime_ns FROM root_objects JOIN roots ON number=root"
        f" WHERE digest=? AND (expires IS NULL OR expires>?) AND {clause}",
        (digest.raw, now, *scopes),
    )
    return ((row[0], RootStamp(*row[1:])) for row in rows)


def is_named(connection: sqlite3.Connection, digest: Digest, seen: Seen, now: float) -> bool:
    """Whether the object is seen, in rows that say what the root files say."""
    return next(namers(connection, digest, seen, now), None) is not None


def is_named_raw(connection: sqlite3.Connection, digest: bytes, seen: Seen, now: float) -> bool:
    """As `is_named`, of a digest in raw bytes."""
    return is_named(connection, Digest.from_raw(digest), seen, now)


def digests(connection: sqlite3.Connection, prefix: str, seen: Seen, now: float) -> list[Digest]:
    """The objects that are seen whose digest begins with these hex digits, sorted."""
    clause, scopes = seen_clause(seen)
    low, high = bytes.fromhex(prefix.ljust(64, "0")), bytes.fromhex(prefix.ljust(64, "f"))
    rows = connection.execute(
        "SELECT DISTINCT digest FROM root_objects JOIN roots ON number=root"
        f" WHERE digest BETWEEN ? AND ? AND (expires IS NULL OR expires>?) AND {clause} ORDER BY digest",
        (low, high, now, *scopes),
    )
    return [Digest(row[0].hex()) for row in rows]


def newest(connection: sqlite3.Connection, seen: Seen, now: float) -> list[tuple[Digest, int | None]]:
    """The objects that are seen, those that were named last first, each with its size if it has a row."""
    clause, scopes = seen_clause(seen)
    rows = connection.execute(
        "SELECT named.digest, objects.size FROM (SELECT digest, MAX(sequence) AS latest FROM root_objects"
        f" JOIN roots ON number=root WHERE (expires IS NULL OR expires>?) AND {clause}"
        " GROUP BY digest) AS named LEFT JOIN objects ON objects.digest=named.digest"
        " ORDER BY latest DESC, named.digest",
        (now, *scopes),
    )
    return [(Digest(row[0].hex()), row[1]) for row in rows]


def naming(connection: sqlite3.Connection, digest: Digest, seen: Seen, now: float) -> Naming:
    """How many roots that are seen and have not expired name the object, and until when."""
    clause, scopes = seen_clause(seen)
    row = connection.execute(
        "SELECT COUNT(*), MAX(expires), SUM(expires IS NULL) FROM root_objects JOIN roots ON number=root"
        f" WHERE digest=? AND (expires IS NULL OR expires>?) AND {clause}",
        (digest.raw, now, *scopes),
    ).fetchone()
    return Naming(row[0], None if row[2] else row[1])


def has_other_scope(connection: sqlite3.Connection, default: str) -> bool:
    """Whether a root is in another scope than this one, and not in the operator's own."""
    statement = "SELECT 1 FROM roots WHERE (scope<? OR scope>?) AND scope<>'*' LIMIT 1"
    return connection.execute(statement, (default, default)).fetchone() is not None


def scope_names(connection: sqlite3.Connection, seen: Seen) -> list[str]:
    """The scopes that are seen and have a root, sorted."""
    clause, scopes = seen_clause(seen)
    rows = connection.execute(f"SELECT DISTINCT scope FROM roots WHERE {clause} ORDER BY scope", scopes)
    return [row[0] for row in rows]


def total(connection: sqlite3.Connection, seen: Seen, now: float) -> Total:
    """Of the distinct objects that are seen and have a row."""
    statement, values = _named(seen, now)
    row = connection.execute(
        "SELECT COUNT(*), COALESCE(SUM(size),0), COALESCE(SUM(stored_bytes),0) FROM objects"
        f" WHERE digest IN ({statement})",
        values,
    ).fetchone()
    return Total(*row)


def biggest(connection: sqlite3.Connection, limit: int, seen: Seen, now: float) -> list[ObjectRow]:
    """The objects of most stored bytes first."""
    statement, values = _named(seen, now)
    rows = connection.execute(
        f"SELECT * FROM objects WHERE digest IN ({statement}) ORDER BY stored_bytes DESC, digest LIMIT ?",
        (*values, limit),
    )
    return [ObjectRow(*row) for row in rows]


def named_only_by(connection: sqlite3.Connection, numbers: list[int], seen: Seen) -> Total:
    """Of the objects with a row that the roots with these numbers name, and no other root that is seen."""
    set_gone(connection, numbers)
    clause, scopes = seen_clause(seen)
    row = connection.execute(
        "SELECT COUNT(*), COALESCE(SUM(size),0), COALESCE(SUM(stored_bytes),0) FROM objects WHERE digest IN"
        " (SELECT digest FROM root_objects WHERE root IN (SELECT root FROM temp.gone))"
        " AND NOT EXISTS (SELECT 1 FROM root_objects JOIN roots ON number=root WHERE"
        f" root_objects.digest=objects.digest AND root NOT IN (SELECT root FROM temp.gone) AND {clause})",
        scopes,
    ).fetchone()
    return Total(*row)


def _named(seen: Seen, now: float) -> tuple[str, tuple[str | float, ...]]:
    clause, scopes = seen_clause(seen)
    statement = (
        "SELECT digest FROM root_objects JOIN roots ON number=root"
        f" WHERE (expires IS NULL OR expires>?) AND {clause}"
    )
    return statement, (now, *scopes)
