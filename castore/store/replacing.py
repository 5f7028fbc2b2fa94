"""Roots that are replaced whole: the state of a log, and what is looked up by its key.

Laws:
- Of two writers who read the same root with a key, or that there is none, one writes and the other gets
  KeyTaken: a draft says which live root it is in place of, and that is asked in its own transaction.
- Nothing of other scopes has a part in that: the id of such a root follows from its scope, too.
- A root that was forgotten, or has expired, is not live: a new one takes its place.
- What the old root named and the new one does not is kept for the grace, as what is forgotten is: by a root
  of its own, that is there before, so that a crash leaves nothing unnamed. Of a root with a key that one
  names all that the old one did: it is as much bound to its source.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from castore.digest import Digest
from castore.errors import InvalidOption, KeyTaken
from castore.layout import KEY
from castore.roots.model import (
    REPLACED,
    Root,
    RootDraft,
    RootKind,
    ended,
    forgotten,
    is_over,
    merged,
    root_id,
)

if TYPE_CHECKING:
    from sqlite3 import Connection

    from castore.store.transaction import Transactions

__all__ = ["check_drafts", "check_replaced", "keep_dropped"]


def check_drafts(drafts: Iterable[RootDraft]) -> None:
    """Those with a key are nothing else, and are kept for ever. Raises InvalidOption."""
    for draft in drafts:
        if draft.key is None:
            continue
        others = (draft.name, draft.document, draft.place, draft.keep_seconds)
        if draft.kind is not RootKind.SUMMARY or KEY.match(draft.key) is None:
            raise InvalidOption("a key is 64 lower-case hex digits, and of a root of kind summary")
        if any(each is not None for each in others):
            raise InvalidOption("a root with a key has no name, document or place, and is kept for ever")


def check_replaced(
    connection: Connection, drafts: Sequence[RootDraft], scopes: Sequence[str], now: float
) -> None:
    """Those of these drafts that have a key are in place of the live root that has it. Raises KeyTaken."""
    from castore.index import roots

    seen: set[str] = set()
    for draft, scope in zip(drafts, scopes, strict=True):
        if draft.key is None:
            continue
        identity = root_id(draft, scope)
        old = roots.by_id(connection, identity)
        replaced = old.sequence if old is not None and old.is_live(now) else 0
        if draft.replaces != replaced or identity in seen:
            raise KeyTaken(draft.key, scope)
        seen.add(identity)


def keep_dropped(
    parts: Transactions, connection: Connection, old: Root, draft: RootDraft, now: float, *, unproven: bool
) -> None:
    """What `old` names, and `draft`, which gets its place, does not, has a root that is forgotten; so gc
    takes it after the grace, or at once where `old` has expired. Nothing is written where other roots of the
    scope keep all of it. unproven: as of `Transactions.put_roots`."""
    from castore.index import roots

    def is_there(digest: Digest) -> bool:
        return parts.source.stat(digest) is not None

    def is_kept(digest: Digest) -> bool:
        # Other scopes are not asked: the work would tell what they have.
        naming = roots.naming(connection, digest, (old.scope,))
        return any(root.id != old.id and root.expires is None for root in naming)

    dropped = sorted(set(old.objects) - set(draft.objects))
    left = tuple(each for each in dropped if is_there(each) and not is_kept(each))
    kept = RootDraft(RootKind.SUMMARY, left, scope=old.scope, source_name=old.source_name)
    if old.key is not None:
        there = tuple(filter(is_there, old.objects))
        base = _living(connection, old.base, now)
        # A base is let go as an object is.
        left = left if base in (None, draft.base) else there
        details = {REPLACED: old.key}
        kept = replace(kept, objects=there, source=old.source, details=details, base=base)
    if not left:
        return
    known = roots.by_id(connection, root_id(kept, old.scope))
    root = merged(kept, old.scope, known, now=now, sequence=roots.next_sequence(connection))
    grace = 0 if old.is_expired(now) else parts.config.grace_seconds
    # What is over does not come back by another root either.
    root = ended(root, now=now) if is_over(old) else forgotten(root, now=now, grace_seconds=grace)
    parts.put_root(connection, root, unproven=unproven)


def _living(connection: Connection, base: str | None, now: float) -> str | None:
    from castore.index import roots

    found = None if base is None else roots.by_id(connection, base)
    return None if found is None or found.is_expired(now) else found.id
