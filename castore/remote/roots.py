"""The roots of a bucket: read and checked, written by compare-and-swap.

Laws: what is read is a root as some store wrote it, under its own id, or RemoteDamaged. A root that is there
is never replaced by one that names less (castore.roots.joining). Whoever is told that a root was written
can rely on it, whatever others write at once. What the caller was not granted is read, as there is no other
way to know its scope, and never given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from castore.config import OPERATOR, parse_grants
from castore.errors import RemoteBusy, RemoteDamaged, RootDamaged, ScopeDenied
from castore.remote.bucket import Bucket, Entry
from castore.remote.keys import ROOTS, root_id_of, root_key
from castore.roots.files import decode_root, encode_root
from castore.roots.joining import joined
from castore.roots.model import Root
from castore.store.access import Granted

__all__ = ["Grants", "RemoteRoots", "Seen", "Stored"]

_SMALL_BYTES_MAX = 1 << 20
"""Roots of up to so many bytes are read many at once."""

_TRIES_MAX = 16
"""Others may change one root so often while it is written."""


class Stored(NamedTuple):
    """A root in the bucket, and which state of it that is."""

    root: Root
    entry: Entry


class Seen(NamedTuple):
    """What was found under a root's key. entry: None: nothing is there; root: None, too, if it is damaged."""

    root: Root | None
    entry: Entry | None


class Grants:
    """The scopes that a caller may use at a remote: those granted to it here, within the remote's own."""

    def __init__(self, granted: Granted, remote_grants: tuple[str, ...] | None) -> None:
        self._here = granted
        self._there = (OPERATOR,) if remote_grants is None else remote_grants

    def covers(self, scope: str) -> bool:
        return self._here.covers(scope) and self._remote_covers(scope)

    def require(self, scope: str) -> None:
        """Raises ScopeDenied unless the caller may write in the scope, here and there."""
        self._here.writing_scope(scope)
        if not self._remote_covers(scope):
            raise ScopeDenied(f"scope '{scope}' is not granted at the remote", subject=scope)

    @property
    def is_whole(self) -> bool:
        """The caller sees all that is there."""
        return self._here.is_operator and OPERATOR in self._there

    def _remote_covers(self, scope: str) -> bool:
        return Granted(tuple(each for text in self._there for each in parse_grants(text)), scope).covers(
            scope
        )


class RemoteRoots:
    """The roots of one bucket. mends: `put` replaces what is damaged there, which else it raises."""

    def __init__(self, bucket: Bucket, *, mends: bool = False) -> None:
        self.bucket = bucket
        self._mends = mends

    def get(self, root_id: str) -> Stored | None:
        """The root with this id, live or not. Raises RemoteDamaged, RemoteError."""
        found = self.bucket.get(root_key(root_id))
        return None if found is None else Stored(self._decoded(root_id, found[0]), found[1])

    def ids(self) -> Iterator[str]:
        """Of every root there, sorted."""
        return (root_id for root_id, _ in self._listed())

    def all(self, damaged: list[RemoteDamaged] | None = None) -> Iterator[Stored]:
        """Every root there, by id; one that goes meanwhile is left out. Raises as `get`; but damage is put in
        `damaged`, if that is given, and the root left out."""

        def one(root_id: str) -> Stored | RemoteDamaged | None:
            try:
                return self.get(root_id)
            except RemoteDamaged as error:
                if damaged is None:
                    raise
                return error

        def unless_large(there: tuple[str, int]) -> Stored | RemoteDamaged | str | None:
            return one(there[0]) if there[1] <= _SMALL_BYTES_MAX else there[0]

        for looked in self.bucket.map(unless_large, self._listed()):
            # Large ones are read one after another: decoded they take some ten times as much.
            found = one(looked) if isinstance(looked, str) else looked
            if isinstance(found, RemoteDamaged):
                assert damaged is not None
                damaged.append(found)
            elif found is not None:
                yield found

    def look(self, root_id: str) -> Seen:
        """What is there under the root's key. Raises RemoteDamaged, unless that is to be mended."""
        found = self.bucket.get(root_key(root_id))
        if found is None:
            return Seen(None, None)
        try:
            return Seen(self._decoded(root_id, found[0]), found[1])
        except RemoteDamaged:
            if not self._mends:
                raise
            return Seen(None, found[1])

    def put(
        self,
        root: Root,
        *,
        now: float,
        seen: Seen | None = None,
        is_newer: Callable[[Root], bool] = lambda there: False,
    ) -> tuple[Root, bool]:
        """The root is there, joined with the one that was, which it gives; and whether that changed it.

        seen: what was there a moment ago, so that it need not be asked for again. is_newer: of a state,
        whether the root was made from the one that is there. Raises RootsDiverged; RemoteBusy if others
        change it without end.
        """
        key = root_key(root.id)
        for _ in range(_TRIES_MAX):
            there, entry = self.look(root.id) if seen is None else seen
            seen = None
            is_from_it = there is not None and is_newer(there)
            wanted = joined(there, root, now=now, is_newer=is_from_it)
            if entry is None:
                if self.bucket.create(key, encode_root(wanted)):
                    return wanted, True
            elif wanted == there:
                return wanted, False
            elif self.bucket.replace(key, encode_root(wanted), entry):
                return wanted, True
        raise self._busy(root.id)

    def change(self, root_id: str, change: Callable[[Root], Root]) -> Root | None:
        """The root there is what `change` makes of it, as it is then; None: there is none. As `put`."""
        for _ in range(_TRIES_MAX):
            found = self.get(root_id)
            if found is None:
                return None
            wanted = change(found.root)
            if wanted == found.root:
                return wanted
            if self.bucket.replace(root_key(root_id), encode_root(wanted), found.entry):
                return wanted
        raise self._busy(root_id)

    def _listed(self) -> Iterator[tuple[str, int]]:
        """The id of every root there, sorted, and the bytes of its file."""
        for entry in self.bucket.entries(ROOTS):
            root_id = root_id_of(entry.key)
            if root_id is not None:
                yield root_id, entry.size

    def _decoded(self, root_id: str, data: bytes) -> Root:
        key = root_key(root_id)
        try:
            root = decode_root(data, key)
        except RootDamaged as error:
            raise RemoteDamaged(self.bucket.remote, key, str(error.fields["reason"])) from error
        if root.id != root_id:
            raise RemoteDamaged(self.bucket.remote, key, f"it holds the root '{root.id}'")
        return root

    def _busy(self, root_id: str) -> RemoteBusy:
        return RemoteBusy(self.bucket.remote, f"root '{root_id[:16]}' is changed by others without end")
