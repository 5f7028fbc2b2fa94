"""What each scope holds, in rows."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from castore.index.seen import Seen, seen_clause

__all__ = ["ScopeRow", "by_scope"]


class ScopeRow(NamedTuple):
    """roots: forgotten ones included. objects, size: of the distinct objects that are seen by it."""

    roots: int
    objects: int
    size: int


def by_scope(connection: sqlite3.Connection, seen: Seen, now: float) -> dict[str, ScopeRow]:
    """Every scope that is seen and has a root. Objects without a row are not counted, as quotas do not."""
    clause, scopes = seen_clause(seen)
    roots: dict[str, int] = dict(
        connection.execute(f"SELECT scope, COUNT(*) FROM roots WHERE {clause} GROUP BY scope", scopes)
    )
    rows = connection.execute(
        "SELECT scope, COUNT(*), SUM(size) FROM objects JOIN"
        " (SELECT DISTINCT scope, digest FROM root_objects JOIN roots ON number=root"
        f" WHERE (expires IS NULL OR expires>?) AND {clause}) AS named ON named.digest=objects.digest"
        " GROUP BY scope",
        (now, *scopes),
    )
    objects = {scope: (count, size) for scope, count, size in rows}
    return {scope: ScopeRow(count, *objects.get(scope, (0, 0))) for scope, count in roots.items()}
