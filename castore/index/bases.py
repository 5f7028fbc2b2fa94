"""Which roots are based on which: how long each must be kept, and in what order that is written.

Law: a root never expires before one that is based on it. `settled` says what must be written beside a change
so that this holds after it, and for nothing longer than it must; written in its order, it holds after each
root, so that a crash leaves a base that is kept for too long at most, which `unsettled` finds. What is
missing here, or goes round in a circle, is passed over: reading tells it (castore.store.transaction).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

from castore.config import ROOT_CHAIN_MAX
from castore.index import roots
from castore.roots.model import Root, lasting, latest

__all__ = ["based_ids", "bases", "bases_first", "settled", "unsettled"]


def bases(connection: sqlite3.Connection) -> dict[str, str]:
    """By the id of each root that is based on one: the id of that one, which may be missing."""
    return dict(connection.execute("SELECT id, base FROM roots WHERE base IS NOT NULL").fetchall())


def based_ids(connection: sqlite3.Connection, root_id: str) -> dict[str, float | None]:
    """The roots that are based on this one, and the expiry of each."""
    return dict(connection.execute("SELECT id, expires FROM roots WHERE base=?", (root_id,)).fetchall())


def unsettled(connection: sqlite3.Connection) -> list[Root]:
    """The bases that expire too early, or are kept for longer than they need be."""
    rows = connection.execute(
        "SELECT id FROM roots AS base WHERE expires_alone IS NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM roots WHERE roots.base=base.id AND roots.expires IS base.expires)"
        " UNION SELECT base.id FROM roots JOIN roots AS base ON base.id=roots.base"
        " WHERE base.expires IS NOT NULL AND (roots.expires IS NULL OR roots.expires>base.expires)"
        " ORDER BY 1"
    ).fetchall()
    found = (roots.by_id(connection, root_id) for (root_id,) in rows)
    return [root for root in found if root is not None]


def settled(connection: sqlite3.Connection, changed: Iterable[Root]) -> list[Root]:
    """`changed`, and the bases that must be kept for longer, or for less long; in the order of writing.

    What is kept for longer comes first, bases before what is based on them; then the others, in reverse.
    """
    new = {root.id: root for root in changed}
    based: dict[str, list[str]] = {}
    for root in new.values():
        if root.base is not None:
            based.setdefault(root.base, []).append(root.id)
    for root_id in list(new):
        _settle(connection, new, based, root_id)
    before = {root_id: _expiry(connection, root_id) for root_id in new}
    grown: list[Root] = []
    shrunk: list[Root] = []
    for root_id in bases_first({root_id: root.base for root_id, root in new.items()}):
        old = before[root_id]
        is_shrunk = old is not None and latest([*old, new[root_id].expires]) != new[root_id].expires
        (shrunk if is_shrunk else grown).append(new[root_id])
    return [*grown, *reversed(shrunk)]


def bases_first(base_of: Mapping[str, str | None]) -> list[str]:
    """These roots, each after the one that it is based on, if that is among them."""
    depths = {}
    for root_id in base_of:
        depth, base = 0, base_of[root_id]
        while base is not None and base in base_of and depth < ROOT_CHAIN_MAX:
            depth, base = depth + 1, base_of[base]
        depths[root_id] = depth
    return sorted(base_of, key=depths.__getitem__)


# --- Helpers ---------------------------------------------------------------------------------------


def _settle(
    connection: sqlite3.Connection, new: dict[str, Root], based: Mapping[str, list[str]], root_id: str
) -> None:
    """In `new` the root, and the bases below it, last as long as they must. Ends at the first that does.

    based: ids of those in `new` from the beginning, by their bases.
    """
    at: str | None = root_id
    for step in range(ROOT_CHAIN_MAX + 1):
        root = None if at is None else new.get(at) or roots.by_id(connection, at)
        if at is None or root is None or root.scope != new[root_id].scope:
            return
        expiries = based_ids(connection, at)
        for each in {*expiries, *based.get(at, ())} & new.keys():
            # A root that is begun anew may have another base.
            expiries.pop(each, None)
            if new[each].base == at:
                expiries[each] = new[each].expires
        lasts = lasting(root, expiries.values())
        if (lasts.expires, lasts.expires_alone) != (root.expires, root.expires_alone):
            new[at] = lasts
        elif step > 0:
            return
        at = root.base


def _expiry(connection: sqlite3.Connection, root_id: str) -> tuple[float | None] | None:
    """None if the root has no row."""
    row = connection.execute("SELECT expires FROM roots WHERE id=?", (root_id,)).fetchone()
    return None if row is None else (row[0],)
