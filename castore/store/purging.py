"""Purge: an object goes although roots name it, because a secret got in.

Laws:
- After it the object's bytes are in no file of objects/; the tombstone says when and why, and tells those
  who could see it; the roots that named it say so, and keep the rest of what they name.
- What was made of the object and is bound to it, such as a summary, goes with it: its root is over at once.
- The tombstone is on the disk first, then the file goes, then the roots are changed: a crash in between
  leaves roots that name what was purged, which `verify` reports. Whoever writes next ends it (Transactions).
- Purging what is purged already changes nothing, and tells the first reason.
- For scopes that could not see it nothing has changed: they may put the same bytes, as new.

Copies that others hold (a larger object, damaged/, a backup, a folded document's preview) are not found
here: castore.gc.copies looks for them.
"""

from __future__ import annotations

from dataclasses import dataclass

from castore.config import REASON_CHARACTERS_MAX
from castore.digest import Digest
from castore.errors import InvalidOption, ObjectMissing
from castore.roots.model import Root
from castore.store.tombstones import Tombstone
from castore.store.transaction import Transactions

__all__ = ["Purged", "check_reason", "purge"]


@dataclass(frozen=True, slots=True)
class Purged:
    """roots: those that named the object, as they are now. over: those that would be kept and are over with
    it, whether they named it or are based on one that did. stored_bytes: of its file; 0 if it had none."""

    tombstone: Tombstone
    roots: tuple[Root, ...]
    stored_bytes: int
    over: tuple[Root, ...] = ()


def purge(parts: Transactions, digest: Digest, reason: str) -> Purged:
    """The object is gone, on the disk. Raises ObjectMissing if no file, root or tombstone knows it."""
    check_reason(reason)
    with parts.writing(every_file=True) as connection:
        from castore.index import objects, roots

        now = parts.clock()
        naming = [
            root for each in roots.naming(connection, digest) if (root := roots.by_id(connection, each.id))
        ]
        found = parts.source.stat(digest)
        earlier = parts.tombstones.get(digest)
        if found is None and not naming and earlier is None:
            raise ObjectMissing(str(digest))
        if found is None and not naming and earlier is not None:
            # It is done already, for the reason that was given then.
            return Purged(earlier, (), 0)
        scopes = {root.scope for root in naming if not root.is_expired(now)}
        if earlier is not None:
            scopes.update(earlier.scopes)
        tombstone = Tombstone(digest, now, reason, tuple(sorted(scopes)))
        parts.tombstones.publish(tombstone)
        if found is not None:
            parts.source.delete(digest)
        parts.source.settle([digest])
        over = tuple(parts.purge_roots(connection, digest, naming))
        changed = [root for each in naming if (root := roots.by_id(connection, each.id))]
        objects.remove(connection, [digest.raw])
    stored_bytes = 0 if found is None else found.stored_bytes
    return Purged(tombstone, tuple(changed), stored_bytes, over)


def check_reason(reason: str) -> None:
    """Raises InvalidOption for what can't be a reason."""
    if not reason.strip() or len(reason) > REASON_CHARACTERS_MAX or not reason.isprintable():
        raise InvalidOption(
            "a reason is one line of printable text",
            hint=f"say why in up to {REASON_CHARACTERS_MAX} characters: it is what readers are told",
        )
