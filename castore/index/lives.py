"""What keeps many objects, and what documents are: rows for `ls` and `stats`, over what the caller sees."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from castore.digest import Digest
from castore.index import objects
from castore.index.objects import ObjectRow, Total
from castore.index.seen import Seen, named_only_by, seen_clause

__all__ = [
    "DIGESTS_AT_ONCE_MAX",
    "DocumentRow",
    "LifeRow",
    "document_bytes",
    "document_reads",
    "documents",
    "expiring_bytes",
    "last_freed",
    "lives",
    "set_objects",
    "set_reads",
]

DIGESTS_AT_ONCE_MAX = 500
"""Digests in one statement: fewer than SQLite takes as parameters everywhere."""

_LIVE_DOCUMENTS = (
    "document_digest IS NOT NULL AND kind IN ('document','keep') AND forgotten IS NULL"
    " AND (expires IS NULL OR expires>?)"
)


class LifeRow(NamedTuple):
    """roots: live ones that name the object. expires: when the last one does, None: one never does.

    document_day: when a document whose root is one of them was last unfolded.
    """

    roots: int
    expires: float | None
    document_day: str | None


class DocumentRow(NamedTuple):
    """A live root of a folded document. details: JSON. saved_bytes: what folding saved, if it is known."""

    document: bytes
    source_name: str | None
    saved_bytes: int | None
    details: str


def lives(
    connection: sqlite3.Connection,
    digests: Sequence[Digest],
    seen: Seen,
    now: float,
    day_of: Callable[[bytes], str | None] | None,
) -> dict[bytes, LifeRow]:
    """What keeps each of these objects; those that no root keeps are left out. One statement.

    digests: DIGESTS_AT_ONCE_MAX at most. day_of: when the document with this digest was last unfolded;
    None: none was.
    """
    clause, scopes = seen_clause(seen)
    column = "NULL"
    if day_of is not None:
        connection.create_function("day_of", 1, lambda raw: None if raw is None else day_of(raw))
        column = "MAX(day_of(document_digest))"
    marks = ",".join("?" * len(digests))
    rows = connection.execute(
        f"SELECT digest, COUNT(*), MAX(expires), SUM(expires IS NULL), {column}"
        f" FROM root_objects JOIN roots ON number=root WHERE digest IN ({marks})"
        f" AND (expires IS NULL OR expires>?) AND {clause} GROUP BY digest",
        (*(digest.raw for digest in digests), now, *scopes),
    )
    return {row[0]: LifeRow(row[1], None if row[3] else row[2], row[4]) for row in rows}


def expiring_bytes(connection: sqlite3.Connection, seen: Seen, *, until: float | None) -> Total:
    """Of the objects that no root keeps once all those with an expiry up to `until` (None: any) are gone.

    Where not all is seen, only those that a root named which is seen, and which no other such root keeps.
    """
    clause, scopes = seen_clause(seen)
    limit = "" if until is None else " AND expires<=?"
    rows = connection.execute(
        f"SELECT number FROM roots WHERE expires IS NOT NULL{limit} AND {clause}",
        (*(() if until is None else (until,)), *scopes),
    )
    numbers = [row[0] for row in rows]
    if seen is None:
        return objects.unnamed(connection, numbers)
    return named_only_by(connection, numbers, seen)


def last_freed(connection: sqlite3.Connection, seen: Seen, now: float) -> float | None:
    """When the last of the objects goes that no root keeps once those with an expiry are gone; None: none.

    Roots that free nothing, because others keep what they name, do not count.
    """
    clause, scopes = seen_clause(seen)
    row = connection.execute(
        f"SELECT MAX(expires) FROM root_objects JOIN roots ON number=root WHERE expires>? AND {clause}"
        " AND EXISTS (SELECT 1 FROM objects WHERE objects.digest=root_objects.digest)"
        " AND NOT EXISTS (SELECT 1 FROM root_objects AS kept JOIN roots ON number=root"
        f" WHERE kept.digest=root_objects.digest AND expires IS NULL AND {clause})",
        (now, *scopes, *scopes),
    ).fetchone()
    return None if row[0] is None else float(row[0])


def documents(connection: sqlite3.Connection, seen: Seen, now: float) -> Iterator[DocumentRow]:
    """Every live root of a folded document, the one that saved most first; of one document all together."""
    clause, scopes = seen_clause(seen)
    rows = connection.execute(
        "SELECT document_digest, source_name,"
        " MAX(source_size-document_size) OVER (PARTITION BY document_digest) AS saved, details"
        f" FROM roots WHERE {_LIVE_DOCUMENTS} AND {clause}"
        " ORDER BY saved DESC, document_digest, sequence DESC",
        (now, *scopes),
    )
    return (DocumentRow(*row) for row in rows)


def document_bytes(connection: sqlite3.Connection, document: bytes, seen: Seen, now: float) -> int:
    """Of the distinct objects that the live roots of this document name."""
    named, values = _named_by_document(document, seen, now)
    query = f"SELECT COALESCE(SUM(size),0) FROM objects WHERE digest IN ({named})"
    return int(connection.execute(query, values).fetchone()[0])


def document_reads(
    connection: sqlite3.Connection, document: bytes, seen: Seen, now: float
) -> tuple[int, str | None]:
    """Bytes and last day of the reads of `set_reads` that were of this document's objects."""
    named, values = _named_by_document(document, seen, now)
    query = f"SELECT TOTAL(bytes), MAX(day) FROM temp.read WHERE digest IN ({named})"
    row = connection.execute(query, values).fetchone()
    return int(row[0]), row[1]


def set_reads(connection: sqlite3.Connection, reads: Iterable[tuple[bytes, str, int]]) -> None:
    """Digest, last day and bytes of what was read, in a table of this connection alone."""
    connection.execute(
        "CREATE TEMP TABLE IF NOT EXISTS read(digest BLOB PRIMARY KEY, day TEXT, bytes INTEGER)"
    )
    connection.execute("DELETE FROM temp.read")
    connection.executemany("INSERT INTO temp.read VALUES (?,?,?)", reads)


def set_objects(connection: sqlite3.Connection, rows: Iterable[ObjectRow]) -> None:
    """These are the rows about objects, in an index of root files alone."""
    connection.execute("DELETE FROM objects")
    objects.add(connection, rows)


def _named_by_document(
    document: bytes, seen: Seen, now: float
) -> tuple[str, tuple[bytes | str | float, ...]]:
    clause, scopes = seen_clause(seen)
    statement = (
        "SELECT digest FROM root_objects WHERE root IN (SELECT number FROM roots"
        f" WHERE document_digest=? AND {_LIVE_DOCUMENTS} AND {clause})"
    )
    return statement, (document, now, *scopes)
