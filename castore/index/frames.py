"""Rows about the frames of large objects, so that a part of one can be found, and checked, without the rest.

Law: they follow from the object's bytes, and are there where its row in `objects` is. Whoever reads by them
finds out when they lie, by the digests in them, and does without.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from castore.digest import Digest
from castore.objects.frames import FrameFacts, fingerprint

__all__ = ["fingerprints", "put", "put_all", "rows"]


def put(connection: sqlite3.Connection, digest: Digest, facts: Sequence[FrameFacts]) -> None:
    """The object has these rows, a frame each, and no others."""
    connection.execute("DELETE FROM frames WHERE digest=?", (digest.raw,))
    connection.executemany(
        "INSERT INTO frames VALUES (?,?,?,?,?,?,?,?)",
        ((digest.raw, number, *each) for number, each in enumerate(facts)),
    )


def put_all(connection: sqlite3.Connection, measured: Iterable[tuple[Digest, Sequence[FrameFacts]]]) -> None:
    """As `put`, of each of these that has any."""
    for digest, facts in measured:
        if facts:
            put(connection, digest, facts)


def rows(connection: sqlite3.Connection, digest: Digest) -> tuple[FrameFacts, ...] | None:
    """Of the object's frames, in order; None if there are none, or not of each from the first to the last."""
    found = connection.execute(
        "SELECT * FROM frames WHERE digest=? ORDER BY number", (digest.raw,)
    ).fetchall()
    return _facts(found)


def fingerprints(connection: sqlite3.Connection, shard: str) -> dict[bytes, bytes]:
    """Of the rows of each object of this shard that has any, by its raw digest."""
    first = bytes.fromhex(shard)
    query = "SELECT * FROM frames WHERE digest>=? AND digest<=? ORDER BY digest, number"
    found = connection.execute(query, (first + bytes(31), first + b"\xff" * 31))
    return {digest: _fingerprint(list(group)) for digest, group in groupby(found, key=lambda row: row[0])}


def _fingerprint(found: list[tuple[Any, ...]]) -> bytes:
    """None that frames can have, if one is left out."""
    return fingerprint(_facts(found) or ())


def _facts(found: list[tuple[Any, ...]]) -> tuple[FrameFacts, ...] | None:
    if not found or any(number != row[1] for number, row in enumerate(found)):
        return None
    return tuple(FrameFacts(*row[2:]) for row in found)
