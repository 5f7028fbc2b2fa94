"""Root: what keeps objects. Nothing that a live root names is ever removed.

Laws: a root's id follows from what it is (kind, scope, name, source, document; its objects where it has
no document), so that doing the same thing again finds the same root and a crash in the middle leaves
no second one. Times are unix seconds and always an argument.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from hashlib import sha256
from typing import Any

from castore.digest import Digest
from castore.layout import ROOT_ID_HEX

__all__ = [
    "PURGED",
    "Content",
    "Root",
    "RootDraft",
    "RootKind",
    "forgotten",
    "merged",
    "restored",
    "root_id",
    "without",
]

PURGED = "purged"
"""The detail of a root that lists the digests it named until they were purged."""


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


@dataclass(frozen=True, slots=True)
class Root:
    """One root as its file says. `objects` are sorted and distinct.

    created, expires, forgotten: unix seconds; expires None: never. sequence: a number of this store that
    grows with every root written. expires_unforgotten: the expiry that undoing the forget restores.
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

    def is_live(self, now: float) -> bool:
        """Neither forgotten nor expired: it is shown, and its name is taken."""
        return self.forgotten is None and not self.is_expired(now)

    def is_expired(self, now: float) -> bool:
        return self.expires is not None and self.expires <= now


def root_id(draft: RootDraft, scope: str) -> str:
    """The first 32 hex digits of the SHA-256 of the canonical JSON of what the root is."""
    import json

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
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return sha256(text.encode("ascii")).hexdigest()[:ROOT_ID_HEX]


def merged(draft: RootDraft, scope: str, old: Root | None, *, now: float, sequence: int) -> Root:
    """The root after `draft` was done, given the root of the same id that was there.

    The longer expiry wins, none being the longest. A forgotten root is live again, as it was before.
    One that has expired begins anew. `created` is kept, but for those two. Details that were there stay,
    but for what the draft says of them, and for objects that were purged and are named again.
    """
    expires = None if draft.keep_seconds is None else now + draft.keep_seconds
    objects = set(draft.objects)
    created, number = now, sequence
    details = dict(draft.details)
    if old is not None and not old.is_expired(now):
        before = old.expires if old.forgotten is None else old.expires_unforgotten
        expires = None if expires is None or before is None else max(expires, before)
        objects.update(old.objects)
        details = {**old.details, **details}
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
    )


def forgotten(root: Root, *, now: float, grace_seconds: int) -> Root:
    """The root once forgotten: its expiry is min(expiry, now + grace). Forgetting again only shortens it."""
    until = now + grace_seconds
    expires = until if root.expires is None else min(root.expires, until)
    if root.forgotten is not None:
        return replace(root, expires=expires)
    return replace(root, forgotten=now, expires=expires, expires_unforgotten=root.expires)


def restored(root: Root) -> Root:
    """The root as it was before it was forgotten."""
    if root.forgotten is None:
        return root
    return replace(root, forgotten=None, expires=root.expires_unforgotten, expires_unforgotten=None)


def without(root: Root, digest: Digest) -> Root:
    """The root once this object was purged: it does not name it any more, and says that it did."""
    purged = sorted({*root.details.get(PURGED, ()), str(digest)})
    objects = tuple(each for each in root.objects if each != digest)
    return replace(root, objects=objects, details={**root.details, PURGED: purged})
