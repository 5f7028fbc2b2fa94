"""The life of an object follows from what names it: kept, expiring, unnamed, damaged or purged.

Laws:
- The answer covers what the caller sees: its roots that have not expired, and what readers of its scopes
  noted. What it does not see has no life.
- Many objects are looked up together: a statement for hundreds, and one pass over the notes.
- Damage is told as far as the object's file and its header show it. Whoever has read the whole knows more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING

from castore.digest import Digest
from castore.errors import ObjectDamaged, ObjectPurged
from castore.objects.database import ObjectStat
from castore.store.access import Granted
from castore.store.queries import Queries
from castore.store.reads import OTHERS, Read, noted
from castore.store.transaction import Transactions

if TYPE_CHECKING:
    from castore.index.lives import LifeRow

__all__ = ["Life", "LifeState", "Listed", "lives"]


class LifeState(StrEnum):
    """unnamed: the next gc takes it. damaged wins over the others, as nothing can be read back. remote: it is
    not here, but at a remote, as a root says; reading it fetches it."""

    KEPT = "kept"
    EXPIRING = "expiring"
    UNNAMED = "unnamed"
    DAMAGED = "damaged"
    PURGED = "purged"
    REMOTE = "remote"


@dataclass(frozen=True, slots=True)
class Life:
    """roots: how many name it that have not expired. last_read: a UTC date; None: nobody noted any.

    expires: unix seconds, of the last of them, if all have an expiry; else None. Only the operator sees
    objects that no root names.
    """

    state: LifeState
    roots: int
    expires: float | None
    last_read: str | None


@dataclass(frozen=True, slots=True)
class Listed:
    """stat: None if the object is damaged, purged, or not here. life: None if it is not there."""

    digest: Digest
    stat: ObjectStat | None
    life: Life | None


def lives(
    parts: Transactions, queries: Queries, granted: Granted, digests: Iterable[Digest]
) -> Iterator[Listed]:
    """`digests`, in their order. Raises RootDamaged where a root file had to be read, and could not."""
    from castore.index.lives import DIGESTS_AT_ONCE_MAX

    reads: dict[str, Read] | None = None
    left = iter(digests)
    while page := list(islice(left, DIGESTS_AT_ONCE_MAX)):
        if reads is None:
            reads = noted(parts.layout, granted.covers)
        rows = _rows(parts, queries, page, reads)
        for digest in page:
            yield _listed(parts, queries, digest, rows.get(digest.raw), reads)


# --- Helpers ---------------------------------------------------------------------------------------


def _rows(
    parts: Transactions, queries: Queries, page: list[Digest], reads: dict[str, Read]
) -> dict[bytes, LifeRow]:
    from castore.index import lives as index

    days = {bytes.fromhex(each): read.day for each, read in reads.items() if each != OTHERS}
    day_of = days.get if days else None
    now = parts.clock()
    return queries.ask(lambda connection: index.lives(connection, page, queries.seen, now, day_of))


def _listed(
    parts: Transactions, queries: Queries, digest: Digest, row: LifeRow | None, reads: dict[str, Read]
) -> Listed:
    is_seen = row is not None or queries.seen is None
    stat, is_damaged = None, False
    if is_seen:
        try:
            stat = parts.database.stat(digest)
        except ObjectDamaged:
            is_damaged = True
    if stat is None and not is_damaged:
        if isinstance(queries.absence(digest), ObjectPurged):
            return Listed(digest, None, Life(LifeState.PURGED, 0, None, None))
        if row is None or not queries.promised([digest]):
            return Listed(digest, None, None)
    read = reads.get(digest.hex)
    days = [day for day in (read and read.day, row and row.document_day) if day]
    last_read = max(days, default=None)
    if row is None:
        state = LifeState.DAMAGED if is_damaged else LifeState.UNNAMED
        return Listed(digest, stat, Life(state, 0, None, last_read))
    state = LifeState.KEPT if row.expires is None else LifeState.EXPIRING
    if is_damaged:
        state = LifeState.DAMAGED
    elif stat is None:
        state = LifeState.REMOTE
    return Listed(digest, stat, Life(state, row.roots, row.expires, last_read))
