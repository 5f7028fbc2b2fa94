"""Root: what keeps objects. Nothing that a live root names is ever removed.

Laws: a root's id follows from what it is (kind, scope, name, source, document; its objects where it has
no document), so that doing the same thing again finds the same root and a crash in the middle leaves
no second one. The id of a root that is of a log follows from the log and its place there instead, so that
of two that would have the same place one finds the other's file; and that of a root with a key from its key.
A root never expires before one that is based on it: what it would do alone is kept beside that, and what the
others need is in `lasting`. Times are unix seconds and always an argument.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from hashlib import sha256
from typing import Any

from castore.digest import Digest
from castore.layout import ROOT_ID_HEX

__all__ = [
    "ANEW",
    "BY",
    "GC",
    "LAST",
    "PURGED",
    "REMOTE",
    "REPLACED",
    "STATE",
    "Content",
    "Root",
    "RootDraft",
    "RootKind",
    "alone",
    "ended",
    "forgotten",
    "is_bound",
    "is_by_hand",
    "is_over",
    "keyed_root_id",
    "lasting",
    "latest",
    "log_root_id",
    "merged",
    "restored",
    "root_id",
    "without",
]

PURGED = "purged"
"""The detail of a root that lists the digests it named until they were purged."""

REPLACED = "replaced"
"""The detail of a root that keeps, for the grace, what a root with this key named before it was replaced."""

REMOTE = "remote"
"""The detail of a root whose objects need not be here: the name of the remote that has those that are not."""

BY, GC = "by", "gc"
"""The detail of a keep root that nobody asked for by hand."""

STATE = 0
"""The place of a log's state; its records have the places from 1."""

LAST = "records"
"""The detail of a log's state: the number of the last record that there was when it was written."""

ANEW = "anew"
"""The detail, true, of a log's record that begins the log anew: those before count for nothing."""


class RootKind(StrEnum):
    DOCUMENT = "document"
    VIEW = "view"
    PUT = "put"
    TAG = "tag"
    KEEP = "keep"
    COLLAPSE = "collapse"
    SUMMARY = "summary"
    RECOVERED = "recovered"


@dataclass(frozen=True, slots=True)
class Content:
    """Bytes by their digest and size, stored or not."""

    digest: Digest
    size: int


@dataclass(frozen=True, slots=True)
class RootDraft:
    """What a writer says. `scope` None: the store's own. `keep_seconds` None: for ever.

    source: the bytes it came from; document: the folded document; details: what the kind needs.
    base: id of the root that has what this one does not name, in the same scope; it is kept as long.
    place: in the log of its kind, scope and source name: a record's number, from 1, which is the next one of
    the log; or STATE. key: 64 lower-case hex digits, what the root was made from.
    replaces: of a state, and of a root with a key, which are replaced whole: the sequence of the live root
    that it is in place of; 0: of none.
    """

    kind: RootKind
    objects: tuple[Digest, ...]
    scope: str | None = None
    name: str | None = None
    source_name: str | None = None
    source: Content | None = None
    document: Content | None = None
    keep_seconds: int | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    base: str | None = None
    place: int | None = None
    key: str | None = None
    replaces: int = 0

    @property
    def is_whole(self) -> bool:
        """It says all that its root is to say: nothing of one that was there before stays."""
        return self.key is not None or self.place == STATE


@dataclass(frozen=True, slots=True)
class Root:
    """One root as its file says. `objects` are sorted and distinct.

    created, expires, forgotten: unix seconds; expires None: never. sequence: a number of this store that
    grows with every root written. expires_unforgotten: the expiry that undoing the forget restores.
    base: id of the root that it is based on. expires_alone: the expiry that it would have if none were based
    on it, which is earlier; None: `expires` is that.
    place: in the log of its kind, scope and source name: a record's number, from 1, or STATE; None: of none.
    key: what it was made from, 64 lower-case hex digits; None: nobody looks it up by that.
    """

    id: str
    scope: str
    kind: RootKind
    name: str | None
    source_name: str | None
    source: Content | None
    document: Content | None
    created: float
    sequence: int
    expires: float | None
    forgotten: float | None
    expires_unforgotten: float | None
    objects: Sequence[Digest]
    details: Mapping[str, Any] = field(default_factory=dict)
    base: str | None = None
    expires_alone: float | None = None
    place: int | None = None
    key: str | None = None

    @property
    def log(self) -> tuple[str, str, str | None] | None:
        """Which log it is of, by kind, scope and source name; None: of none."""
        return None if self.place is None else (self.kind.value, self.scope, self.source_name)

    def is_live(self, now: float) -> bool:
        """Neither forgotten nor expired: it is shown, and its name is taken."""
        return self.forgotten is None and not self.is_expired(now)

    def is_expired(self, now: float) -> bool:
        return self.expires is not None and self.expires <= now


def root_id(draft: RootDraft, scope: str) -> str:
    """The first 32 hex digits of the SHA-256 of the canonical JSON of what the root is."""
    if draft.place is not None:
        return log_root_id(draft.kind, scope, draft.source_name, draft.place)
    if draft.key is not None:
        return keyed_root_id(draft.kind, scope, draft.key)
    identity: dict[str, Any] = {
        "kind": draft.kind.value,
        "scope": scope,
        "name": draft.name,
        "source_name": draft.source_name,
        "source": str(draft.source.digest) if draft.source else None,
        "document": str(draft.document.digest) if draft.document else None,
    }
    if draft.document is None:
        identity["objects"] = [str(digest) for digest in sorted(set(draft.objects))]
    return _id_of(identity)


def log_root_id(kind: RootKind, scope: str, source_name: str | None, place: int) -> str:
    """The id of the root that has this place in a log, whatever it says there."""
    return _id_of({"kind": kind.value, "scope": scope, "source_name": source_name, "place": place})


def keyed_root_id(kind: RootKind, scope: str, key: str) -> str:
    """The id of the root that has this key, whatever it says."""
    return _id_of({"key": key, "kind": kind.value, "scope": scope})


def _id_of(identity: Mapping[str, Any]) -> str:
    import json

    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return sha256(text.encode("ascii")).hexdigest()[:ROOT_ID_HEX]


def merged(
    draft: RootDraft,
    scope: str,
    old: Root | None,
    *,
    now: float,
    sequence: int,
    old_bases: Collection[Root] | None = (),
) -> Root:
    """The root after `draft` was done, given the root of the same id that was there, with its bases.

    The longer expiry wins, none being the longest. A forgotten root is live again, as it was before.
    One that has expired begins anew. `created` is kept, but for those two. Details that were there stay,
    but for what the draft says of them, for objects that were purged and are named again, and for gc having
    made it, once somebody asks for it.
    Where the draft has another base than the root, the root has what it needs already: its base and details
    stay, and of what the draft names it gets what neither it nor its bases name, such as what was purged.

    old_bases: all of them; None: one is missing, so that the draft's base and details are those of the root.
    """
    expires = None if draft.keep_seconds is None else now + draft.keep_seconds
    objects = set(draft.objects)
    created, number = now, sequence
    details, base = dict(draft.details), draft.base
    if old is not None and not old.is_expired(now):
        expires = latest([expires, alone(old).expires if old.forgotten is None else old.expires_unforgotten])
        earlier = {key: value for key, value in old.details.items() if key != BY}
        if old.base == base:
            details = {**earlier, **details}
        elif old_bases is not None:
            base, details = old.base, earlier
            objects.difference_update(*(each.objects for each in old_bases))
        elif PURGED in earlier:
            details[PURGED] = earlier[PURGED]
        objects.update(old.objects)
        purged = sorted(set(details.pop(PURGED, ())) - {str(digest) for digest in objects})
        if purged:
            details[PURGED] = purged
        if old.forgotten is None:
            created, number = old.created, old.sequence
    return Root(
        id=root_id(draft, scope),
        scope=scope,
        kind=draft.kind,
        name=draft.name,
        source_name=draft.source_name,
        source=draft.source,
        document=draft.document,
        created=created,
        sequence=number,
        expires=expires,
        forgotten=None,
        expires_unforgotten=None,
        objects=tuple(sorted(objects)),
        details=details,
        base=base,
        place=draft.place,
        key=draft.key,
    )


def latest(expiries: Iterable[float | None]) -> float | None:
    """The longest expiry, None being that. There must be one."""
    found = list(expiries)
    return None if None in found else max(each for each in found if each is not None)


def alone(root: Root) -> Root:
    """The root as it would be if none were based on it."""
    if root.expires_alone is None:
        return root
    return replace(root, expires=root.expires_alone, expires_alone=None)


def lasting(root: Root, expiries: Iterable[float | None]) -> Root:
    """The root, kept as long as roots with these expiries that are based on it, and no longer than needed."""
    own = alone(root)
    until = latest([own.expires, *expiries])
    return own if until == own.expires else replace(own, expires=until, expires_alone=own.expires)


def forgotten(root: Root, *, now: float, grace_seconds: int) -> Root:
    """The root once forgotten: its expiry is min(expiry, now + grace). Forgetting again only shortens it.

    That is the expiry that it has alone.
    """
    root = alone(root)
    until = now + grace_seconds
    expires = until if root.expires is None else min(root.expires, until)
    if root.forgotten is not None:
        return replace(root, expires=expires)
    return replace(root, forgotten=now, expires=expires, expires_unforgotten=root.expires)


def restored(root: Root) -> Root:
    """The root as it was, alone, before it was forgotten."""
    if root.forgotten is None:
        return root
    return replace(alone(root), forgotten=None, expires=root.expires_unforgotten, expires_unforgotten=None)


def ended(root: Root, *, now: float) -> Root:
    """The root once it is over for good: it expires now, and undoing that brings nothing back."""
    return replace(forgotten(root, now=now, grace_seconds=0), expires_unforgotten=now)


def is_over(root: Root) -> bool:
    """It was forgotten for good, as `ended` does: such a root never has an expiry otherwise."""
    return is_bound(root) and root.expires_unforgotten is not None


def is_bound(root: Root) -> bool:
    """It keeps all that it names or nothing: a summary is not to outlive its source."""
    return root.key is not None or REPLACED in root.details


def is_by_hand(root: Root) -> bool:
    """Somebody asked for just this root, with `keep`; no other act made it on the way."""
    return root.kind is RootKind.KEEP and root.details.get(BY) != GC


def without(root: Root, digest: Digest) -> Root:
    """The root once this object was purged: it does not name it any more, and says that it did."""
    purged = sorted({*root.details.get(PURGED, ()), str(digest)})
    objects = tuple(each for each in root.objects if each != digest)
    return replace(root, objects=objects, details={**root.details, PURGED: purged})
