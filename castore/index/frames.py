"""Rows about the frames of large objects, so that a part of one can be found, and checked, without the rest.

Law: they follow from the object's bytes, and are there where its row in `objects` is. They are given only if
all of them are what was written, by a digest of them: a count that flipped would lead to another line, and
nothing would tell.
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
    for table in ("frames", "frame_checks"):
        connection.execute(f"DELETE FROM {table} WHERE digest=?", (digest.raw,))
    if not facts:
        return
    connection.executemany(
        "INSERT INTO frames VALUES (?,?,?,?,?,?,?,?)",
        ((digest.raw, number, *each) for number, each in enumerate(facts)),
    )
    connection.execute("INSERT INTO frame_checks VALUES (?,?)", (digest.raw, fingerprint(facts)))


def put_all(connection: sqlite3.Connection, measured: Iterable[tuple[Digest, Sequence[FrameFacts]]]) -> None:
    """As `put`, of each of these that has any."""
    for digest, facts in measured:
        if facts:
            put(connection, digest, facts)


def rows(connection: sqlite3.Connection, digest: Digest) -> tuple[FrameFacts, ...] | None:
    """Of the object's frames, in order; None if there are none, or they are not what was written."""
    query = "SELECT * FROM frames WHERE digest=? ORDER BY number"
    facts = _facts(connection.execute(query, (digest.raw,)).fetchall())
    check = connection.execute("SELECT sha256 FROM frame_checks WHERE digest=?", (digest.raw,)).fetchone()
    return facts if facts is not None and check == (fingerprint(facts),) else None


def fingerprints(connection: sqlite3.Connection, shard: str) -> dict[bytes, bytes]:
    """Of the rows of each object of this shard that has any, by its raw digest; where they are not what was
    written, one that no frames have."""
    first = bytes.fromhex(shard)
    bounds = (first + bytes(31), first + b"\xff" * 31)
    checks = dict(connection.execute("SELECT * FROM frame_checks WHERE digest>=? AND digest<=?", bounds))
    query = "SELECT * FROM frames WHERE digest>=? AND digest<=? ORDER BY digest, number"
    told = dict.fromkeys(checks, fingerprint(()))
    for digest, group in groupby(connection.execute(query, bounds), key=lambda row: row[0]):
        found = fingerprint(_facts(list(group)) or ())
        told[digest] = found if found == checks.get(digest) else fingerprint(())
    return told


def _facts(found: list[tuple[Any, ...]]) -> tuple[FrameFacts, ...] | None:
    if not found or any(number != row[1] for number, row in enumerate(found)):
        return None
    return tuple(FrameFacts(*row[2:]) for row in found)
