"""Marks: objects that a gc found unnamed, with the time when first, a record for each shard.

Laws: an object is ready once it was found unnamed for the grace, by the server's clock; what is found named
loses its mark. A mark that is older than the object under its key is of one that was there before. Marks
decide when, never whether: one that is lost, or damaged, begins anew, and one that is wrong shortens a grace.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from castore.errors import RemoteDamaged
from castore.remote.bucket import Bucket, Entry
from castore.remote.keys import OBJECTS, digest_of, marks_key
from castore.remote.records import RECORD_BYTES_MAX, Marks, decode_marks, encode

__all__ = ["MARKS_MAX", "Found", "Unnamed", "judge", "marked"]

MARKS_MAX = 500_000
"""In one shard; what is beyond them is marked by later gcs."""


class Unnamed(NamedTuple):
    """An object that nothing names. size: of its file."""

    key: str
    size: int


@dataclass(slots=True)
class Found:
    """What is in one shard. ready: by key. waiting: marked, and not yet ready. strays: keys of no object.

    later: when the last that waits is ready, by the server's clock.
    """

    objects: int = 0
    object_bytes: int = 0
    ready: list[Unnamed] = field(default_factory=list)
    waiting: int = 0
    waiting_bytes: int = 0
    later: float | None = None
    strays: int = 0
    are_marks_damaged: bool = False


def marked(
    bucket: Bucket,
    shard: str,
    is_named: Callable[[bytes], bool],
    *,
    now: float,
    grace_seconds: int,
    has_marks: bool = True,
    dry_run: bool = False,
) -> Found:
    """What is in the shard, whose unnamed objects are marked: those that were keep their time. One request
    a thousand objects, and up to two for the marks.

    is_named: of raw digests, asked in sorted order. has_marks: False: it had no marks when they were listed.
    Where another gc writes the marks at once its stay.
    """
    key = marks_key(shard)
    stored, are_damaged = _read(bucket, key) if has_marks else (None, False)
    old: Mapping[str, int] = {} if stored is None else stored.marks.since
    entries = bucket.entries(f"{OBJECTS}{shard}/")
    found, since = judge(entries, is_named, old, now=now, grace_seconds=grace_seconds)
    found.are_marks_damaged = are_damaged
    if dry_run:
        return found
    if are_damaged:
        bucket.put(key, encode(Marks(since)))
    elif stored is None:
        if since:
            bucket.create(key, encode(Marks(since)))
    elif not since:
        bucket.delete([key])
    elif since != old:
        bucket.replace(key, encode(Marks(since)), stored.entry)
    return found


def judge(
    entries: Iterable[Entry],
    is_named: Callable[[bytes], bool],
    old: Mapping[str, int],
    *,
    now: float,
    grace_seconds: int,
) -> tuple[Found, dict[str, int]]:
    """What `marked` found, and the marks that are to be. Pure."""
    found, since = Found(), dict[str, int]()
    for entry in entries:
        digest = digest_of(entry.key)
        if digest is None:
            found.strays += 1
            continue
        found.objects += 1
        found.object_bytes += entry.size
        if is_named(bytes.fromhex(digest.hex)) or len(since) == MARKS_MAX:
            continue
        first = max(min(old.get(digest.hex, now), now), min(entry.modified, now))
        since[digest.hex] = math.ceil(first)
        if now - first >= grace_seconds:
            found.ready.append(Unnamed(entry.key, entry.size))
        else:
            found.waiting += 1
            found.waiting_bytes += entry.size
            found.later = max(found.later or 0.0, math.ceil(first) + grace_seconds)
    return found, since


# --- Helpers ---------------------------------------------------------------------------------------


class _Stored(NamedTuple):
    marks: Marks
    entry: Entry


def _read(bucket: Bucket, key: str) -> tuple[_Stored | None, bool]:
    """The marks that are there, and whether some are that can't be read."""
    try:
        found = bucket.get(key, RECORD_BYTES_MAX)
        if found is None:
            return None, False
        return _Stored(decode_marks(found[0], bucket.remote, key), found[1]), False
    except RemoteDamaged:
        return None, True
