"""Rows about recorded views: enough to tell a view, or a longer session of one, by its bytes."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from castore.digest import Digest
from castore.index.seen import Seen, seen_clause
from castore.roots.model import Content, RootKind

__all__ = ["ViewRow", "rows"]


class ViewRow(NamedTuple):
    """One recorded view: its root, the view's bytes and the session's."""

    root_id: str
    scope: str
    view: Content
    source: Content


def rows(connection: sqlite3.Connection, seen: Seen, now: float) -> list[ViewRow]:
    """The views whose roots have not expired, the latest first."""
    clause, values = seen_clause(seen)
    found = connection.execute(
        "SELECT id, scope, document_digest, document_size, source_digest, source_size FROM roots"
        f" WHERE kind = ? AND document_digest IS NOT NULL AND source_digest IS NOT NULL"
        f" AND (expires IS NULL OR expires > ?) AND {clause} ORDER BY sequence DESC",
        (RootKind.VIEW.value, now, *values),
    )
    return [
        ViewRow(
            root_id,
            scope,
            Content(Digest.from_raw(view), view_size),
            Content(Digest.from_raw(source), source_size),
        )
        for root_id, scope, view, view_size, source, source_size in found
    ]
