"""Every key in a bucket, one function each. Pure.

A bucket has the layout of a store's folder (castore.layout), and what only a bucket needs: names, intents,
sweeps and marks (docs/sharing-reference.md).
"""

from __future__ import annotations

import re
from hashlib import sha256

from castore.digest import Digest
from castore.layout import OBJECT_NAME, ROOT_NAME

__all__ = [
    "FORMAT",
    "INTENTS",
    "MARKS",
    "NAMES",
    "OBJECTS",
    "ROOTS",
    "SWEEPS",
    "digest_of",
    "intent_key",
    "is_name_key",
    "is_own",
    "marks_key",
    "name_key",
    "object_key",
    "root_id_of",
    "root_key",
    "sweep_key",
]

FORMAT = "format"
OBJECTS = "objects/"
ROOTS = "roots/"
NAMES = "names/"
INTENTS = "intents/"
SWEEPS = "sweeps/"
MARKS = "marks/"

_NAME_KEY = re.compile(r"names/[0-9a-f]{64}\.json\Z")
_RECORD = re.compile(r"(?:(?:intents|sweeps)/[0-9a-z]{1,32}|marks/[0-9a-f]{2})\.json\Z")
_SHARDED = re.compile(r"(objects|roots)/([0-9a-f]{2})/([^/]+)\Z")


def object_key(digest: Digest) -> str:
    return f"{OBJECTS}{digest.hex[:2]}/{digest.hex}"


def root_key(root_id: str) -> str:
    return f"{ROOTS}{root_id[:2]}/{root_id}.json"


def name_key(scope: str, name: str) -> str:
    """Of the record that says what the name means in the scope."""
    identity = b"\0".join((scope.encode(), name.encode()))
    return f"{NAMES}{sha256(identity).hexdigest()}.json"


def is_name_key(key: str) -> bool:
    """Whether the record of some name may lie under this key."""
    return _NAME_KEY.match(key) is not None


def intent_key(identity: str) -> str:
    return f"{INTENTS}{identity}.json"


def sweep_key(identity: str) -> str:
    return f"{SWEEPS}{identity}.json"


def marks_key(shard: str) -> str:
    return f"{MARKS}{shard}.json"


def digest_of(key: str) -> Digest | None:
    """The object that lies under this key; None: it is no object's key."""
    match = _SHARDED.match(key)
    if match is None or match[1] != "objects" or OBJECT_NAME.match(match[3]) is None:
        return None
    return Digest(match[3]) if match[3][:2] == match[2] else None


def root_id_of(key: str) -> str | None:
    """The root that lies under this key; None: it is no root's key."""
    match = _SHARDED.match(key)
    if match is None or match[1] != "roots":
        return None
    name = ROOT_NAME.match(match[3])
    return name[1] if name is not None and name[1][:2] == match[2] else None


def is_own(key: str) -> bool:
    """It is one that castore may have written: no other is ever deleted, and none but these is read."""
    return (
        key == FORMAT
        or is_name_key(key)
        or _RECORD.match(key) is not None
        or digest_of(key) is not None
        or root_id_of(key) is not None
    )
