"""Rows about roots: a copy of each root file, and which objects each root names."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, overload

from castore.digest import Digest
from castore.errors import IndexDamaged, InvalidOption, LimitExceeded
from castore.index.seen import Seen, seen_clause
from castore.roots.files import RootStamp, check_root
from castore.roots.model import Content, Root, RootKind

__all__ = [
    "StampRow",
    "by_document",
    "by_document_prefix",
    "by_id",
    "by_id_prefix",
    "by_name",
    "count",
    "expiring",
    "keyed",
    "last_place",
    "log_scopes",
    "naming",
    "naming_count",
    "newest",
    "newest_time",
    "newest_unread",
    "next_sequence",
    "numbers",
    "of_log",
    "put",
    "remove",
    "set_shard_times",
    "shard_times",
    "stamps",
    "used_sequence",
]

_COLUMNS = (
    "number, id, scope, kind, name, source_name, source_digest, source_size, document_digest, document_size,"
    " created, sequence, expires, forgotten, expires_unforgotten, details, base, expires_alone, place, key"
)


class RowInvalid(IndexDamaged, sqlite3.DatabaseError):
    """A row that no root file could have led to: whoever asked reads the files, a writer drops the index.

    What a root names may be asked for after all that: so it is an error of ours, too.
    """

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


class StampRow(NamedTuple):
    number: int
    id: str
    stamp: RootStamp


def put(connection: sqlite3.Connection, root: Root, stamp: RootStamp) -> None:
    """The rows say what the root's file says."""
    import json

    remove(connection, [root.id])
    cursor = connection.execute(
        "INSERT INTO roots(id, scope, kind, name, source_name, source_digest, source_size, document_digest,"
        " document_size, created, sequence, expires, forgotten, expires_unforgotten, details, base,"
        " expires_alone, place, key, inode, file_bytes, mtime_ns)"
        " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        (
            root.id,
            root.scope,
            root.kind.value,
            root.name,
            root.source_name,
            *_content(root.source),
            *_content(root.document),
            root.created,
            root.sequence,
            root.expires,
            root.forgotten,
            root.expires_unforgotten,
            json.dumps(dict(root.details), sort_keys=True) if root.details else "{}",
            root.base,
            root.expires_alone,
            root.place,
            root.key,
            *stamp,
        ),
    )
    number = cursor.lastrowid
    connection.executemany(
        "INSERT INTO root_objects VALUES (?,?)",
        [(bytes.fromhex(digest.hex), number) for digest in root.objects],
    )


def remove(connection: sqlite3.Connection, root_ids: Iterable[str]) -> None:
    for each in root_ids:
        row = connection.execute("SELECT number FROM roots WHERE id=?", (each,)).fetchone()
        if row is not None:
            connection.execute("DELETE FROM root_objects WHERE root=?", row)
            connection.execute("DELETE FROM roots WHERE number=?", row)


def by_id(connection: sqlite3.Connection, root_id: str) -> Root | None:
    return next(_select(connection, "WHERE id=?", (root_id,)), None)


def by_id_prefix(connection: sqlite3.Connection, prefix: str, seen: Seen = None) -> list[Root]:
    """The roots whose id begins with these lower-case hex digits, the latest first."""
    return _seen(connection, "id>=? AND id<?", (prefix, prefix + "g"), seen)


def by_name(connection: sqlite3.Connection, name: str, seen: Seen = None) -> list[Root]:
    """The roots that have this name, in any scope that is seen, the latest first."""
    return _seen(connection, "name=?", (name,), seen)


def by_document(connection: sqlite3.Connection, document: Digest, seen: Seen = None) -> list[Root]:
    """The roots whose document has this digest, the latest first."""
    return _seen(connection, "document_digest=?", (document.raw,), seen)


def by_document_prefix(connection: sqlite3.Connection, prefix: str, seen: Seen = None) -> list[Root]:
    low, high = bytes.fromhex(prefix.ljust(64, "0")), bytes.fromhex(prefix.ljust(64, "f"))
    return _seen(connection, "document_digest BETWEEN ? AND ?", (low, high), seen)


def of_log(connection: sqlite3.Connection, kind: RootKind, scope: str, source_name: str) -> list[Root]:
    """The roots of one log, by their places: the state first, if there is one. What each names is read when
    it is asked for, while this connection is open."""
    where = "WHERE kind=? AND scope=? AND source_name=? AND place IS NOT NULL ORDER BY place"
    return list(_select(connection, where, (kind.value, scope, source_name), objects=_Objects))


def last_place(
    connection: sqlite3.Connection, kind: RootKind, scope: str, source_name: str, now: float
) -> int:
    """The highest place of a root of the log that has not expired; 0 if there is none."""
    row = connection.execute(
        "SELECT MAX(place) FROM roots WHERE kind=? AND scope=? AND source_name=? AND place IS NOT NULL"
        " AND (expires IS NULL OR expires>?)",
        (kind.value, scope, source_name, now),
    ).fetchone()
    return row[0] or 0


def log_scopes(
    connection: sqlite3.Connection, kind: RootKind, source_name: str, now: float, seen: Seen = None
) -> list[tuple[str, bool]]:
    """The scopes, sorted, in which a log has roots that have not expired, and whether one is live."""
    clause, scopes = seen_clause(seen)
    rows = connection.execute(
        "SELECT scope, MAX(forgotten IS NULL) FROM roots WHERE kind=? AND source_name=? AND place IS NOT NULL"
        f" AND (expires IS NULL OR expires>?) AND {clause} GROUP BY scope ORDER BY scope",
        (kind.value, source_name, now, *scopes),
    )
    return [(scope, bool(is_live)) for scope, is_live in rows]


def keyed(
    connection: sqlite3.Connection,
    kind: RootKind,
    now: float,
    seen: Seen = None,
    *,
    member: tuple[str, str] | None = None,
) -> list[Root]:
    """The live roots of this kind that have a key, the latest first.

    member: only those whose details have, at this path (`$.summary.names`), an object with this member.
    """
    where = "kind=? AND key IS NOT NULL AND forgotten IS NULL AND (expires IS NULL OR expires>?)"
    values: tuple[Any, ...] = (kind.value, now)
    if member is not None:
        where += " AND EXISTS (SELECT 1 FROM json_each(roots.details, ?) AS found WHERE found.key = ?)"
        values += member
    return _seen(connection, where, values, seen)


def naming(connection: sqlite3.Connection, digest: Digest, seen: Seen = None) -> list[Root]:
    """The roots that name this object, the latest first. What else they name is read when it is asked for."""
    where = "number IN (SELECT root FROM root_objects WHERE digest=?)"
    return _seen(connection, where, (digest.raw,), seen, objects=_Objects)


def naming_count(connection: sqlite3.Connection, digest: Digest) -> int:
    row = connection.execute("SELECT COUNT(*) FROM root_objects WHERE digest=?", (digest.raw,)).fetchone()
    return int(row[0])


def newest(connection: sqlite3.Connection, limit: int | None = None, seen: Seen = None) -> list[Root]:
    return _seen(connection, "TRUE", (), seen, limit=limit)


def newest_unread(connection: sqlite3.Connection, seen: Seen = None) -> list[Root]:
    """As `newest`; what each names is read when it is asked for, while this connection is open."""
    return _seen(connection, "TRUE", (), seen, objects=_Objects)


def expiring(connection: sqlite3.Connection) -> list[tuple[int, str, float, bool]]:
    """Number, id, expiry, and whether it is forgotten, of each root with an expiry, the earliest first."""
    rows = connection.execute(
        "SELECT number, id, expires, forgotten IS NOT NULL FROM roots WHERE expires IS NOT NULL"
        " ORDER BY expires, id"
    )
    return [(row[0], row[1], row[2], bool(row[3])) for row in rows]


def newest_time(connection: sqlite3.Connection) -> float | None:
    """When the latest root was created or forgotten, unix seconds."""
    row = connection.execute("SELECT MAX(MAX(created), MAX(COALESCE(forgotten, 0))) FROM roots").fetchone()
    return None if row[0] is None else float(row[0])


def numbers(connection: sqlite3.Connection, root_ids: Iterable[str]) -> list[int]:
    """The numbers that these roots have in the index; those without rows have none."""
    found = (
        connection.execute("SELECT number FROM roots WHERE id=?", (each,)).fetchone() for each in root_ids
    )
    return [row[0] for row in found if row is not None]


def count(connection: sqlite3.Connection, seen: Seen = None) -> int:
    clause, scopes = seen_clause(seen)
    return int(connection.execute(f"SELECT COUNT(*) FROM roots WHERE {clause}", scopes).fetchone()[0])


def stamps(connection: sqlite3.Connection, shard: str | None = None) -> dict[str, StampRow]:
    """By id: what each root's file was like when its rows were written."""
    statement = "SELECT number, id, inode, file_bytes, mtime_ns FROM roots"
    bounds: tuple[str, ...] = ()
    if shard is not None:
        statement += " WHERE id>=? AND id<?"
        bounds = (shard, shard + "g")
    return {
        row[1]: StampRow(row[0], row[1], RootStamp(*row[2:])) for row in connection.execute(statement, bounds)
    }


def shard_times(connection: sqlite3.Connection) -> dict[str, int]:
    return dict(connection.execute("SELECT shard, mtime_ns FROM root_shards").fetchall())


def set_shard_times(connection: sqlite3.Connection, times: dict[str, int], gone: Iterable[str] = ()) -> None:
    connection.executemany("INSERT OR REPLACE INTO root_shards VALUES (?,?)", sorted(times.items()))
    connection.executemany("DELETE FROM root_shards WHERE shard=?", ((each,) for each in gone))


def next_sequence(connection: sqlite3.Connection) -> int:
    """One more than any root of this store ever had, as far as its files and its index know."""
    row = connection.execute(
        "SELECT MAX(COALESCE((SELECT MAX(sequence) FROM roots),0),"
        " COALESCE((SELECT value FROM facts WHERE name='sequence'),0))"
    ).fetchone()
    return int(row[0]) + 1


def used_sequence(connection: sqlite3.Connection, number: int) -> None:
    """No later root gets this number, even once the root that has it is gone."""
    connection.execute("INSERT OR REPLACE INTO facts VALUES ('sequence', ?)", (number,))


class _Objects(Sequence[Digest]):
    """What one root names, sorted. Its length is counted; the digests are read when one is asked for.

    Asked after the index was closed, it raises sqlite3.ProgrammingError.
    """

    def __init__(self, connection: sqlite3.Connection, number: int) -> None:
        self._connection = connection
        self._number = number
        self._read: tuple[Digest, ...] | None = None

    def __len__(self) -> int:
        if self._read is not None:
            return len(self._read)
        query = "SELECT COUNT(*) FROM root_objects WHERE root=?"
        return int(self._connection.execute(query, (self._number,)).fetchone()[0])

    @overload
    def __getitem__(self, at: int) -> Digest: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Digest]: ...

    def __getitem__(self, at: int | slice) -> Digest | Sequence[Digest]:
        return self._all()[at]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._all() == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def _all(self) -> tuple[Digest, ...]:
        if self._read is None:
            self._read = _objects_of(self._connection, self._number)
        return self._read


def _objects_of(connection: sqlite3.Connection, number: int) -> tuple[Digest, ...]:
    rows = connection.execute("SELECT digest FROM root_objects WHERE root=? ORDER BY digest", (number,))
    try:
        return tuple(Digest.from_raw(digest) for (digest,) in rows)
    except (ValueError, TypeError) as error:
        raise RowInvalid(f"root {number} of the index names what is no digest") from error


def _seen(
    connection: sqlite3.Connection,
    where: str,
    values: tuple[Any, ...],
    seen: Seen,
    *,
    limit: int | None = None,
    objects: Callable[[sqlite3.Connection, int], Sequence[Digest]] | None = None,
) -> list[Root]:
    """The roots that meet `where` and are seen, the latest first."""
    clause, scopes = seen_clause(seen)
    statement = f"WHERE {where} AND {clause} ORDER BY sequence DESC LIMIT ?"
    values = (*values, *scopes, -1 if limit is None else limit)
    return list(_select(connection, statement, values, objects=objects or _objects_of))


def _select(
    connection: sqlite3.Connection,
    where: str,
    values: tuple[Any, ...],
    *,
    objects: Callable[[sqlite3.Connection, int], Sequence[Digest]] = _objects_of,
) -> Iterator[Root]:
    for row in connection.execute(f"SELECT {_COLUMNS} FROM roots {where}", values).fetchall():
        try:
            root = _root(row, objects(connection, row[0]))
            check_root(root)
        except (ValueError, TypeError, RecursionError, InvalidOption, LimitExceeded) as error:
            raise RowInvalid(f"the row of root {row[0]} is not one that we write") from error
        yield root


def _root(row: Sequence[Any], objects: Sequence[Digest]) -> Root:
    import json

    return Root(
        id=row[1],
        scope=row[2],
        kind=RootKind(row[3]),
        name=row[4],
        source_name=row[5],
        source=_content_of(row[6], row[7]),
        document=_content_of(row[8], row[9]),
        created=row[10],
        sequence=row[11],
        expires=row[12],
        forgotten=row[13],
        expires_unforgotten=row[14],
        objects=objects,
        details={} if row[15] == "{}" else json.loads(row[15]),
        base=row[16],
        expires_alone=row[17],
        place=row[18],
        key=row[19],
    )


def _content(content: Content | None) -> tuple[bytes | None, int | None]:
    return (None, None) if content is None else (content.digest.raw, content.size)


def _content_of(digest: bytes | None, size: int | None) -> Content | None:
    return None if digest is None or size is None else Content(Digest.from_raw(digest), size)
