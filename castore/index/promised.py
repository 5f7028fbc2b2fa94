"""What roots promise that need not be here: those with the detail REMOTE, over what the caller sees.

Law: a promise counts only if a root makes it that is seen and has not expired.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from castore.digest import Digest
from castore.index.seen import Seen, seen_clause

__all__ = ["DIGESTS_AT_ONCE_MAX", "counts", "promised", "remotes", "without_row"]

DIGESTS_AT_ONCE_MAX = 500
"""Digests in one statement: fewer than SQLite takes as parameters everywhere."""

# The first term is a search for bytes, so that few details are parsed.
_PROMISING = "details LIKE '%\"remote\"%' AND json_extract(details, '$.remote') IS NOT NULL"


def remotes(
    connection: sqlite3.Connection, digests: Sequence[Digest], seen: Seen, now: float
) -> dict[bytes, str]:
    """By raw digest, the remote that has each of these objects as the latest root says that promises it.

    digests: DIGESTS_AT_ONCE_MAX at most.
    """
    clause, scopes = seen_clause(seen)
    marks = ",".join("?" * len(digests))
    rows = connection.execute(
        "SELECT digest, json_extract(details, '$.remote') FROM root_objects JOIN roots ON number=root"
        f" WHERE digest IN ({marks}) AND (expires IS NULL OR expires>?) AND {clause} AND {_PROMISING}"
        " ORDER BY sequence",
        (*(digest.raw for digest in digests), now, *scopes),
    )
    return {row[0]: str(row[1]) for row in rows}


def promised(connection: sqlite3.Connection, prefix: str, seen: Seen, now: float) -> list[Digest]:
    """The objects that roots promise whose digest begins with these hex digits, sorted."""
    clause, scopes = seen_clause(seen)
    low, high = bytes.fromhex(prefix.ljust(64, "0")), bytes.fromhex(prefix.ljust(64, "f"))
    is_promised = f"(expires IS NULL OR expires>?) AND {clause} AND {_PROMISING}"
    # With digits few objects are looked at, each with its roots; without, the roots are looked at once.
    statement = (
        f"root IN (SELECT number FROM roots WHERE {is_promised})"
        if not prefix
        else f"EXISTS (SELECT 1 FROM roots WHERE number=root AND {is_promised})"
    )
    rows = connection.execute(
        f"SELECT DISTINCT digest FROM root_objects WHERE digest BETWEEN ? AND ? AND {statement}"
        " ORDER BY digest",
        (low, high, now, *scopes),
    )
    return [Digest.from_raw(row[0]) for row in rows]


def counts(connection: sqlite3.Connection, seen: Seen, now: float) -> dict[str, int]:
    """By remote, sorted, how many objects that roots promise have no row, so that they are there alone; each
    at the remote that the latest such root names."""
    clause, scopes = seen_clause(seen)
    rows = connection.execute(
        "SELECT remote, COUNT(*) FROM (SELECT json_extract(details, '$.remote') AS remote, MAX(sequence)"
        f" FROM root_objects JOIN roots ON number=root WHERE (expires IS NULL OR expires>?) AND {clause}"
        f" AND {_PROMISING} AND NOT EXISTS (SELECT 1 FROM objects WHERE objects.digest=root_objects.digest)"
        " GROUP BY root_objects.digest) GROUP BY remote ORDER BY remote",
        (now, *scopes),
    )
    return {str(remote): count for remote, count in rows}


def without_row(connection: sqlite3.Connection) -> list[Digest]:
    """The objects that roots promise and that have no row, sorted: those that are not here, and those that
    came with a fetch that did not end."""
    rows = connection.execute(
        "SELECT DISTINCT digest FROM root_objects WHERE root IN"
        f" (SELECT number FROM roots WHERE {_PROMISING}) AND NOT EXISTS"
        " (SELECT 1 FROM objects WHERE objects.digest=root_objects.digest) ORDER BY digest"
    )
    return [Digest.from_raw(row[0]) for row in rows]
