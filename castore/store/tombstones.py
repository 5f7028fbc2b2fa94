"""Tombstones: what was purged, when and why, and who is told. `tombstones/<digest hex>.json`.

Laws: a tombstone is on the disk before the object's file goes, so that whoever meets the gap is told. It
tells the scopes that could see the object, and the operator; to all others it is not there. A file holds
one tombstone as canonical JSON with its check, as a root file does; one that can't be read tells nobody
anything, and is RootDamaged for a writer, who must know whether its bytes are refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from castore import durable
from castore.digest import Digest
from castore.errors import CastoreError, ObjectPurged, RootDamaged
from castore.layout import TOMBSTONE_NAME, Layout
from castore.objects.loose import Modes

__all__ = ["Tombstone", "Tombstones"]

_FILE_BYTES_MAX = 16 << 20
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


@dataclass(frozen=True, slots=True)
class Tombstone:
    """purged: unix seconds. scopes: those that could see the object, sorted."""

    digest: Digest
    purged: float
    reason: str
    scopes: tuple[str, ...]

    def error(self) -> ObjectPurged:
        import time

        date = time.strftime("%Y-%m-%d", time.gmtime(self.purged))
        return ObjectPurged(str(self.digest), purged=self.purged, date=date, reason=self.reason)


class Tombstones:
    """The tombstones of one store folder. Only a caller inside the write transaction changes them."""

    def __init__(self, layout: Layout, modes: Modes) -> None:
        self._layout = layout
        self._modes = modes

    def get(self, digest: Digest) -> Tombstone | None:
        """Raises RootDamaged if there is one that can't be read."""
        path = self._layout.tombstone(digest.hex)
        try:
            descriptor = os.open(path, _READ)
            with os.fdopen(descriptor, "rb") as file:
                data = file.read(_FILE_BYTES_MAX)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise RootDamaged(path, f"it can't be read ({error.strerror})") from error
        found = _decode(data, path)
        if found.digest != digest:
            raise RootDamaged(path, "it is about another object")
        return found

    def digests(self, prefix: str = "") -> Iterator[Digest]:
        """Of every tombstone whose digest begins with these hex digits, sorted."""
        try:
            names = sorted(os.listdir(self._layout.tombstones))
        except FileNotFoundError:
            return
        except OSError as error:
            folder = self._layout.tombstones
            raise CastoreError(f"can't list '{folder}': {error.strerror}", file=folder) from error
        for name in names:
            match = TOMBSTONE_NAME.match(name)
            if match is not None and name.startswith(prefix):
                yield Digest(match[1])

    def publish(self, tombstone: Tombstone) -> None:
        """The tombstone is on the disk, in place of an earlier one."""
        layout = self._layout
        durable.make_folder(layout.tombstones, self._modes.folder)
        staged = layout.staged_file(f"tombstone-{os.getpid()}-{os.urandom(6).hex()}")
        durable.publish(
            layout.tombstone(tombstone.digest.hex), _encode(tombstone), staged=staged, mode=self._modes.file
        )

    def remove(self, digest: Digest) -> None:
        """There is no tombstone of this object, on the disk."""
        if durable.remove(self._layout.tombstone(digest.hex)):
            durable.sync_folders([self._layout.tombstones], self._layout.folder)


def _encode(tombstone: Tombstone) -> bytes:
    members: dict[str, Any] = {
        "digest": str(tombstone.digest),
        "purged": tombstone.purged,
        "reason": tombstone.reason,
        "scopes": list(tombstone.scopes),
    }
    members["check"] = sha256(_canonical(members)).hexdigest()
    return _canonical(members) + b"\n"


def _decode(data: bytes, path: str) -> Tombstone:
    import json

    try:
        members = json.loads(data)
        found = Tombstone(
            Digest.parse(members["digest"]),
            members["purged"],
            members["reason"],
            tuple(members["scopes"]),
        )
        is_whole = _encode(found) == data and isinstance(found.purged, int | float)
    except (ValueError, KeyError, TypeError, RecursionError, CastoreError):
        is_whole = False
    if not is_whole:
        raise RootDamaged(path, "it is not a tombstone that we wrote")
    return found


def _canonical(members: dict[str, Any]) -> bytes:
    import json

    return json.dumps(members, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")
