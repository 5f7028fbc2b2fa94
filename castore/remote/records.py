"""What lies in a bucket beside objects and roots: names, intents, sweeps and marks. Pure.

Laws: a record is canonical JSON (sorted members, ASCII, a line feed at the end) whose member `check` is
the SHA-256 of the same JSON without it, as in a root's file: a changed bit is RemoteDamaged, never another.
Times are of the server's clock, and stand in no intent or sweep: when it was written is what the server says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, TypeVar

from castore.config import COUNT_MAX, TIME_MAX, parse_name, parse_scope
from castore.errors import InvalidOption, RemoteDamaged
from castore.layout import OBJECT_NAME, ROOT_ID

__all__ = [
    "INTENT_SECONDS",
    "RECORD_BYTES_MAX",
    "SWEEP_DELETES_SECONDS",
    "SWEEP_SECONDS",
    "Intent",
    "Marks",
    "NameRecord",
    "Sweep",
    "decode_intent",
    "decode_marks",
    "decode_name",
    "decode_sweep",
    "encode",
]

INTENT_SECONDS = 3600
"""An intent holds for so long after the server took it; a push that lasts longer writes another."""

SWEEP_DELETES_SECONDS = 120
"""A gc sends no delete of a sweep later than this after it began to write the sweep's record."""

SWEEP_SECONDS = 1200
"""A sweep is over its time so long after the server took it: longer than SWEEP_DELETES_SECONDS and all that a
request that was sent by then can still take, with every try that the settings allow. S3 refuses what was
signed over 15 minutes ago. Half of INTENT_SECONDS is longer still."""

RECORD_BYTES_MAX = 64 << 20

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NameRecord:
    """What a name means. root: id of the root that has it. moves: grows with each move, from 0.

    was: id of the root that had it before the last move; None: none did.
    """

    scope: str
    name: str
    root: str
    moves: int = 0
    was: str | None = None


@dataclass(frozen=True, slots=True)
class Intent:
    """A push that is under way. keys: of objects, roots and names that it relies on or writes, sorted."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sweep:
    """A gc that is about to delete. keys: that it may delete, sorted."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Marks:
    """Objects of one shard that a gc found unnamed. since: unix seconds of the server's clock when first, by
    their hex digits."""

    since: Mapping[str, int]


Record = NameRecord | Intent | Sweep | Marks


def encode(record: Record) -> bytes:
    """The bytes of the record."""
    members = _members(record)
    members["check"] = sha256(_canonical(members)).hexdigest()
    return _canonical(members) + b"\n"


def decode_name(data: bytes, remote: str, key: str) -> NameRecord:
    """Raises RemoteDamaged, as the others do, unless the bytes are exactly what `encode` writes."""

    def made(members: dict[str, Any]) -> NameRecord:
        was = members.get("was")
        moves = members["moves"]
        if type(moves) is not int or not 0 <= moves <= COUNT_MAX:
            raise ValueError("its moves are no count")
        root_ids = [members["root"], *([] if was is None else [was])]
        if not all(isinstance(each, str) and ROOT_ID.match(each) for each in root_ids):
            raise ValueError("it names no root")
        scope = members["scope"] if members["scope"] == "*" else parse_scope(members["scope"])
        return NameRecord(scope, parse_name(members["name"]), members["root"], moves, was)

    return _decoded(data, remote, key, made)


def decode_intent(data: bytes, remote: str, key: str) -> Intent:
    return _decoded(data, remote, key, lambda members: Intent(_keys(members["keys"])))


def decode_sweep(data: bytes, remote: str, key: str) -> Sweep:
    return _decoded(data, remote, key, lambda members: Sweep(_keys(members["keys"])))


def decode_marks(data: bytes, remote: str, key: str) -> Marks:
    def made(members: dict[str, Any]) -> Marks:
        since = members["since"]
        if not isinstance(since, dict) or not all(
            OBJECT_NAME.match(name) and type(time) is int and 0 <= time <= TIME_MAX
            for name, time in since.items()
        ):
            raise ValueError("it marks what is no object, or at no time")
        return Marks(since)

    return _decoded(data, remote, key, made)


# --- Helpers ---


def _members(record: Record) -> dict[str, Any]:
    if isinstance(record, NameRecord):
        return {
            "scope": record.scope,
            "name": record.name,
            "root": record.root,
            "moves": record.moves,
            "was": record.was,
        }
    if isinstance(record, Marks):
        return {"since": dict(record.since)}
    return {"keys": sorted(record.keys)}


def _keys(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ValueError("it has no list of keys")
    return tuple(value)


def _decoded(data: bytes, remote: str, key: str, made: Callable[[dict[str, Any]], T]) -> T:
    import json

    try:
        if len(data) > RECORD_BYTES_MAX:
            raise ValueError("it is too long")
        members = json.loads(data)
        if not isinstance(members, dict):
            raise ValueError("it is not an object")
        check = members.pop("check", None)
        if check != sha256(_canonical(members)).hexdigest():
            raise ValueError("its check does not fit")
        record = made(members)
        if encode(record) != data:  # type: ignore[arg-type]
            raise ValueError("it is not in canonical form")
    except (ValueError, InvalidOption, KeyError, TypeError, RecursionError) as error:
        words = str(error) if type(error) is ValueError else "it is not what was written"
        raise RemoteDamaged(remote, key, words) from None
    return record


def _canonical(members: Mapping[str, Any]) -> bytes:
    import json

    return json.dumps(members, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")
