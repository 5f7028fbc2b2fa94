"""Changes of what is kept: tag, forget, and taking a forget back. Each is one transaction.

Laws:
- Nothing is forgotten that was not chosen: a root that has a name only by its name, a put only when all
  that it put is chosen, a document by its own digest, never by that of an object in it.
- Forgetting removes nothing: the expiry becomes min(expiry, now + grace), and gc removes what expired.
  Until then `remember` restores what it was.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from castore.digest import parse_prefix
from castore.errors import InvalidOption
from castore.roots.model import Root, RootKind, forgotten, restored
from castore.store import quota
from castore.store.access import Granted
from castore.store.transaction import Transactions

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["Forgotten", "RootChoice", "forget", "remember"]


@dataclass(frozen=True, slots=True)
class RootChoice:
    """Which roots: those that meet all of what is given, which must be something.

    references: names, digests of documents, or digests of what was put (or 6 or more of their digits).
    older_than_seconds: created longer ago. source: a glob over the source's name.
    keep_last: not the latest so many of each source. scope None: the one that the caller writes in.
    """

    references: tuple[str, ...] = ()
    older_than_seconds: int | None = None
    source: str | None = None
    keep_last: int | None = None
    scope: str | None = None


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The roots as they are now (or, in a dry run, would be), and what gc frees of them once all expired.

    objects, stored_bytes: of the objects that, of all roots the caller sees, only these name.
    expires: when the last of these roots does; None if there are none, or they are kept.
    """

    roots: tuple[Root, ...]
    objects: int
    stored_bytes: int
    expires: float | None


def forget(
    parts: Transactions, granted: Granted, choice: RootChoice, *, at_once: bool, dry_run: bool
) -> Forgotten:
    """The chosen roots expire after the grace, or at once. Choosing none is no error."""
    grace_seconds = 0 if at_once else parts.config.grace_seconds
    scope = granted.writing_scope(choice.scope)
    _check(choice)
    with parts.writing(names_files=granted.is_operator) as connection:
        now = parts.clock()
        changed = []
        for root in _chosen(connection, scope, choice, now):
            if root.is_expired(now) or (root.forgotten is not None and not at_once):
                continue
            changed.append(forgotten(root, now=now, grace_seconds=grace_seconds))
        return _done(connection, parts, granted, changed, dry_run=dry_run)


def remember(parts: Transactions, granted: Granted, choice: RootChoice, *, dry_run: bool) -> Forgotten:
    """The chosen roots that are forgotten, and not yet collected, are what they were before.

    Raises NameTaken if another root has the name by now, LimitExceeded if what had expired was given up
    to a quota.
    """
    scope = granted.writing_scope(choice.scope)
    _check(choice)
    with parts.writing(names_files=granted.is_operator) as connection:
        from castore.index import objects

        now = parts.clock()
        changed = [
            restored(root) for root in _chosen(connection, scope, choice, now) if root.forgotten is not None
        ]
        names: dict[str, str] = {}
        # Of several that had one name, one after the other, the latest has it again.
        changed = [
            root for root in changed if root.name is None or names.setdefault(root.name, root.id) == root.id
        ]
        for root in changed:
            parts.check_name(connection, root.name, root.scope, root.id, now)
        sizes = objects.sizes(connection, {digest for root in changed for digest in root.objects})
        needs = quota.Needs({scope: sizes}, 0)
        quota.check(connection, parts.config, needs, now, is_operator=granted.is_operator)
        return _done(connection, parts, granted, changed, dry_run=dry_run)


# --- Helpers ---------------------------------------------------------------------------------------


def _check(choice: RootChoice) -> None:
    policies = (choice.older_than_seconds, choice.source, choice.keep_last)
    if any(not reference.strip() for reference in choice.references):
        raise InvalidOption("an empty REF means nothing", hint="is a variable empty?")
    if not choice.references and all(each is None for each in policies):
        raise InvalidOption("nothing says which roots are meant", hint="name them, or say --older-than")


def _chosen(connection: Connection, scope: str, choice: RootChoice, now: float) -> list[Root]:
    """The latest first, without those that have expired unforgotten."""
    from castore.index import roots

    found = roots.newest_unread(connection, seen=(scope,))
    if choice.references:
        found = _referenced(found, choice.references)
    else:
        found = [root for root in found if root.name is None]
    if choice.source is not None:
        from fnmatch import fnmatchcase

        glob = choice.source
        found = [root for root in found if fnmatchcase(root.source_name or "", glob)]
    if choice.keep_last is not None:
        found = _without_last(found, choice.keep_last, now)
    if choice.older_than_seconds is not None:
        limit = now - choice.older_than_seconds
        found = [root for root in found if root.created < limit]
    return found


def _referenced(found: Iterable[Root], references: tuple[str, ...]) -> list[Root]:
    names = set(references)
    prefixes = tuple(prefix for each in references if (prefix := parse_prefix(each)) is not None)

    def is_meant(root: Root) -> bool:
        if root.name is not None:
            return root.name in names
        if root.document is not None:
            return root.document.digest.hex.startswith(prefixes)
        if root.kind is RootKind.PUT and root.objects:
            return all(digest.hex.startswith(prefixes) for digest in root.objects)
        return False

    return [root for root in found if is_meant(root)]


def _without_last(found: Iterable[Root], count: int, now: float) -> list[Root]:
    seen: dict[str | None, int] = {}
    older = []
    for root in found:
        if root.is_live(now):
            seen[root.source_name] = seen.get(root.source_name, 0) + 1
            if seen[root.source_name] <= count:
                continue
        older.append(root)
    return older


def _done(
    connection: Connection, parts: Transactions, granted: Granted, changed: list[Root], *, dry_run: bool
) -> Forgotten:
    from castore.index import roots, seen

    changed = [replace(root, objects=tuple(root.objects)) for root in changed]
    expiries = [root.expires for root in changed if root.expires is not None]
    freed = seen.named_only_by(
        connection, roots.numbers(connection, [root.id for root in changed]), granted.seen
    )
    if not dry_run:
        parts.put_roots(connection, changed)
    return Forgotten(
        tuple(changed),
        freed.objects,
        freed.stored_bytes,
        max(expiries) if expiries else None,
    )
