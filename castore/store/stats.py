"""What a store holds, as far as the caller sees it.

Law: every count and size covers what the caller sees, and nothing else. It is read from the index, or,
where there is none, from the header of every object.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from castore.digest import Digest
from castore.objects.database import ObjectStat
from castore.store.queries import Queries
from castore.store.transaction import Transactions

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["StoreStats", "stats"]

_BIGGEST_COUNT = 5


@dataclass(frozen=True, slots=True)
class StoreStats:
    """`bytes`: of all objects; `stored_bytes`: of their files; `biggest`: by their files, biggest first."""

    objects: int
    roots: int
    bytes: int
    stored_bytes: int
    biggest: tuple[ObjectStat, ...]


def stats(parts: Transactions, queries: Queries) -> StoreStats:
    def from_index(connection: Connection) -> StoreStats:
        from castore.index import objects, roots, seen

        scopes, now = queries.seen, parts.clock()
        if scopes is None:
            total, biggest = objects.total(connection), objects.biggest(connection, _BIGGEST_COUNT)
        else:
            total = seen.total(connection, scopes, now)
            biggest = seen.biggest(connection, _BIGGEST_COUNT, scopes, now)
        shown = tuple(ObjectStat(Digest.from_raw(row.digest), row.size, row.stored_bytes) for row in biggest)
        return StoreStats(
            total.objects, roots.count(connection, scopes), total.size, total.stored_bytes, shown
        )

    return queries.ask(from_index, lambda: _from_files(parts, queries))


def _from_files(parts: Transactions, queries: Queries) -> StoreStats:
    database = parts.database
    found = [each for digest in queries.digests("") if (each := database.stat(digest)) is not None]
    found.sort(key=lambda each: (-each.stored_bytes, each.digest))
    return StoreStats(
        len(found),
        len(queries.newest()),
        sum(each.size for each in found),
        sum(each.stored_bytes for each in found),
        tuple(found[:_BIGGEST_COUNT]),
    )
