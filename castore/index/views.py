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
    head: tuple[int, str] | None
    """Bytes of the view up to the end of what stands for its first splice, and their SHA-256 in hex."""

    @property
    def is_session(self) -> bool:
        """Nothing left it: it was recorded to say that it stands for itself."""
        return self.view == self.source


def rows(connection: sqlite3.Connection, seen: Seen, now: float) -> list[ViewRow]:
    """The views whose roots have not expired, the latest first."""
    clause, values = seen_clause(seen)
    found = connection.execute(
        "SELECT id, scope, document_digest, document_size, source_digest, source_size,"
        " json_extract(details, '$.view.head.size'), json_extract(details, '$.view.head.sha256') FROM roots"
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
            (head, sha256) if isinstance(head, int) and head >= 0 and isinstance(sha256, str) else None,
        )
        for root_id, scope, view, view_size, source, source_size, head, sha256 in found
    ]
