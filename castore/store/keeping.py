"""Changes of what is kept: tag, forget, and taking a forget back. Each is one transaction.

Laws:
- Nothing is forgotten that was not chosen: a root that has a name only by its name or its id, a put only
  when all that it put is chosen, a document by its own digest, never by that of an object in it. What
  `keep` was asked for is not chosen by the digest of the document: that is another root's.
- A log is one thing, as old as the latest of its roots: it is chosen whole or not at all.
- A root with a key is chosen by its id or by policies, never by the digests of what it names. One that is
  over since its source was purged does not come back.
- Forgetting removes nothing: the expiry becomes min(expiry, now + grace), and gc removes what expired.
  Until then `remember` restores what it was, all that was chosen or nothing.
- A root on which others are based lasts as long as they do, forgotten or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from castore.digest import PREFIX_HEX_MIN, SHORT_HEX, parse_prefix
from castore.errors import DigestAmbiguous, InvalidOption, NameTaken, NotFound
from castore.layout import ROOT_ID_HEX
from castore.roots.model import Root, RootKind, forgotten, is_by_hand, is_over, restored
from castore.store import logs, quota
from castore.store.access import Granted
from castore.store.transaction import Transactions

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["Forgotten", "RootChoice", "forget", "remember"]

_ID_PREFIX = re.compile(rf"[0-9a-fA-F]{{{PREFIX_HEX_MIN},{ROOT_ID_HEX}}}\Z")


@dataclass(frozen=True, slots=True)
class RootChoice:
    """Which roots: those named, or else all without a name, that meet the rest; something must be given.

    references: names, digests of documents, or digests of what was put (or 6 or more of their digits).
    roots: ids of roots, or 6 or more of their digits. older_than_seconds: created longer ago. source: a glob
    over the source's name. keep_last: not the latest so many of each source. scope None: the one that the
    caller writes in; for `roots`, each that the caller was granted.
    """

    references: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    older_than_seconds: int | None = None
    source: str | None = None
    keep_last: int | None = None
    scope: str | None = None


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The roots as they are now (or, in a dry run, would be), and what gc frees of them once all expired.

    objects, stored_bytes: of the objects that, of all roots the caller sees, only these name, with those that
    they are based on and that nothing else keeps. expires: when the last of these roots does; None if there
    are none, or they are kept.
    unmatched: references that chose no root. left: how many of those chosen are as they were, since they
    are (or, of `remember`, are not) forgotten. still_kept: live roots of what the references mean that these
    do not choose: those with a name, and those made by hand.
    """

    roots: tuple[Root, ...]
    objects: int
    stored_bytes: int
    expires: float | None
    unmatched: tuple[str, ...] = ()
    left: int = 0
    still_kept: tuple[Root, ...] = ()


@dataclass(frozen=True, slots=True)
class _Chosen:
    """roots: the latest first. by_id: of those that were chosen by their ids."""

    roots: list[Root]
    by_id: frozenset[str] = frozenset()
    unmatched: tuple[str, ...] = ()
    still_kept: tuple[Root, ...] = ()


def forget(
    parts: Transactions, granted: Granted, choice: RootChoice, *, at_once: bool, dry_run: bool
) -> Forgotten:
    """The chosen roots expire after the grace, or at once. Choosing none is no error.

    Raises NotFound for an id that no root has, DigestAmbiguous for one that several have.
    """
    grace_seconds = 0 if at_once else parts.config.grace_seconds
    scope = _scope(granted, choice)
    _check(choice)
    with parts.writing(names_files=granted.is_operator) as connection:
        now = parts.clock()
        chosen = _chosen(connection, granted, scope, choice, now, kept_too=False)
        changed = []
        for root in chosen.roots:
            if root.is_expired(now) or (root.forgotten is not None and not at_once):
                continue
            changed.append(forgotten(root, now=now, grace_seconds=grace_seconds))
        return _done(connection, parts, granted, chosen, changed, dry_run=dry_run)


def remember(parts: Transactions, granted: Granted, choice: RootChoice, *, dry_run: bool) -> Forgotten:
    """The chosen roots that are forgotten, and not yet collected, are what they were before; those that are
    over, since what they are bound to was purged, stay so.

    Raises NameTaken if another root has the name by now, LogMoved for a log that was begun anew,
    LimitExceeded if what had expired was given up to a quota, NotFound for an id that no root has, or one
    that is over, BaseMissing for one whose base was collected; then nothing was changed.
    """
    scope = _scope(granted, choice)
    _check(choice)
    with parts.writing(names_files=granted.is_operator) as connection:
        from castore.index import bases, objects

        now = parts.clock()
        chosen = _chosen(connection, granted, scope, choice, now, kept_too=True)
        _check_not_over(chosen)
        changed = _with_names(
            connection,
            parts,
            [root for root in chosen.roots if root.forgotten is not None and not is_over(root)],
            chosen.by_id,
            now,
        )
        back = {root.id for root in changed}
        logs.check_is_not_begun_anew(connection, [root for root in chosen.roots if root.id in back], now)
        for root in changed:
            parts.bases_of(connection, root)
        live = bases.settled(connection, changed)
        sizes = {
            each: objects.sizes(
                connection, {digest for root in live if root.scope == each for digest in root.objects}
            )
            for each in {root.scope for root in live}
        }
        needs = quota.Needs(sizes, 0)
        quota.check(connection, parts.config, needs, now, is_operator=granted.is_operator)
        return _done(connection, parts, granted, chosen, changed, dry_run=dry_run)


# --- Helpers ---------------------------------------------------------------------------------------


def _check(choice: RootChoice) -> None:
    policies = (choice.older_than_seconds, choice.source, choice.keep_last)
    if any(not reference.strip() for reference in choice.references):
        raise InvalidOption("an empty REF means nothing", hint="is a variable empty?")
    if not choice.references and not choice.roots and all(each is None for each in policies):
        raise InvalidOption("nothing says which roots are meant", hint="name them, or say --older-than")


def _check_not_over(chosen: _Chosen) -> None:
    """None that was named itself is over. Raises NotFound."""
    for root in chosen.roots:
        if root.id in chosen.by_id and is_over(root):
            raise NotFound(
                f"root '{root.id[:SHORT_HEX]}' went with something that was purged",
                hint="nothing brings it back",
                subject=root.id,
            )


def _scope(granted: Granted, choice: RootChoice) -> str | None:
    """The one whose roots are chosen from; None: ids alone are given, and say it."""
    if choice.scope is None and choice.roots and not choice.references:
        return None
    return granted.writing_scope(choice.scope)


def _chosen(
    connection: Connection,
    granted: Granted,
    scope: str | None,
    choice: RootChoice,
    now: float,
    *,
    kept_too: bool,
) -> _Chosen:
    """kept_too: a document's digest chooses what was kept by hand as well."""
    from castore.index import roots

    seen = granted.seen if choice.scope is None else (choice.scope,)
    by_id = logs.whole_logs(connection, (_with_id(connection, each, seen) for each in choice.roots))
    ids = frozenset(root.id for root in by_id)
    if scope is None:
        return _Chosen(_narrowed(_once(by_id), choice, now), ids)
    found = roots.newest_unread(connection, seen=(scope,))
    if choice.references:
        references = _References(choice.references)
        meant = [root for root in found if references.choose(root, kept_too=kept_too)]
        unmatched = tuple(
            each for each in choice.references if not any(map(_References((each,)).mean_a_part, meant))
        )
        taken = {root.id for root in meant} | ids
        still_kept = tuple(
            root for root in found if root.is_live(now) and root.id not in taken and references.mean_all(root)
        )
        return _Chosen(_narrowed(_once([*by_id, *meant]), choice, now), ids, unmatched, still_kept)
    if by_id:
        return _Chosen(_narrowed(_once(by_id), choice, now), ids)
    return _Chosen(_narrowed([root for root in found if root.name is None], choice, now))


def _with_id(connection: Connection, text: str, seen: tuple[str, ...] | None) -> Root:
    from castore.index import roots

    found = roots.by_id_prefix(connection, text.lower(), seen) if _ID_PREFIX.match(text) else []
    if not found:
        raise NotFound(
            f"no root's id begins with '{text}'",
            hint=f"'ctx log' lists the ids; {PREFIX_HEX_MIN} digits or more will do",
            subject=text,
        )
    if len(found) > 1:
        raise DigestAmbiguous(text, sorted(root.id for root in found))
    return found[0]


def _once(found: Iterable[Root]) -> list[Root]:
    """Each root once, the latest first."""
    distinct = {root.id: root for root in found}
    return sorted(distinct.values(), key=lambda root: root.sequence, reverse=True)


def _narrowed(found: list[Root], choice: RootChoice, now: float) -> list[Root]:
    """Those that the policies choose. The latest live root of a log stands for all of it."""
    of_logs: dict[object, list[Root]] = {}
    for root in found:
        if root.log is not None:
            of_logs.setdefault(root.log, []).append(root)
    for_logs = {
        max(whole, key=lambda root: (root.is_live(now), root.sequence)).id: whole
        for whole in of_logs.values()
    }
    chosen = _met([root for root in found if root.log is None or root.id in for_logs], choice, now)
    return _once(each for root in chosen for each in for_logs.get(root.id, [root]))


def _met(found: list[Root], choice: RootChoice, now: float) -> list[Root]:
    """Those that meet the policies."""
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


class _References:
    """What references mean: names, or beginnings of digests."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.names = frozenset(texts)
        self.prefixes = tuple(prefix for each in texts if (prefix := parse_prefix(each)) is not None)

    def choose(self, root: Root, *, kept_too: bool) -> bool:
        if root.name is not None:
            return root.name in self.names
        if is_by_hand(root) and not kept_too:
            return False
        return (root.document is not None or root.kind is RootKind.PUT) and self.mean_all(root)

    def mean_all(self, root: Root) -> bool:
        """The digests are those of the root's document, or else of all its objects."""
        if not self.prefixes:
            return False
        digests = root.objects if root.document is None else (root.document.digest,)
        return len(digests) > 0 and all(digest.hex.startswith(self.prefixes) for digest in digests)

    def mean_a_part(self, root: Root) -> bool:
        """Whether these had a part in choosing the root."""
        if root.name is not None:
            return root.name in self.names
        digests = root.objects if root.document is None else (root.document.digest,)
        return any(digest.hex.startswith(self.prefixes) for digest in digests)


def _without_last(found: Iterable[Root], count: int, now: float) -> list[Root]:
    # Logs, and what has a key, are counted apart: they take no place of what else the source has.
    seen: dict[object, int] = {}
    older = []
    for root in found:
        if root.is_live(now):
            source = root.log or (root.source_name if root.key is None else (root.kind, root.source_name))
            seen[source] = seen.get(source, 0) + 1
            if seen[source] <= count:
                continue
        older.append(root)
    return older


def _with_names(
    connection: Connection, parts: Transactions, chosen: list[Root], by_id: frozenset[str], now: float
) -> list[Root]:
    """The roots as they were, each with its name again. Raises NameTaken, with a way to have it all the same.

    Of several that had one name, one after the other, the latest has it again, unless ids say which.
    """
    latest: dict[tuple[str, str], str] = {}
    changed = []
    for root in chosen:
        if root.name is not None:
            is_latest = latest.setdefault((root.scope, root.name), root.id) == root.id
            if not is_latest and root.id not in by_id:
                continue
            if not is_latest or parts.others_named(connection, root.name, root.scope, root.id, now):
                short = root.id[:SHORT_HEX]
                hint = (
                    f"'ctx tag --move {root.name} {short}' gives it the name back, "
                    f"'ctx keep {short}' keeps what it names without one"
                )
                raise NameTaken(root.name, root.scope, hint=hint)
        changed.append(restored(root))
    return changed


def _done(
    connection: Connection,
    parts: Transactions,
    granted: Granted,
    chosen: _Chosen,
    changed: list[Root],
    *,
    dry_run: bool,
) -> Forgotten:
    from castore.index import bases, roots, seen

    # With the bases that these alone have kept, and without those that others still need.
    written = bases.settled(connection, [replace(root, objects=tuple(root.objects)) for root in changed])
    expiring = [root for root in written if root.expires is not None]
    expiries = [root.expires for root in expiring if root.expires is not None]
    freed = seen.named_only_by(
        connection, roots.numbers(connection, [root.id for root in expiring]), granted.seen
    )
    for root in () if dry_run else written:
        # In this very order: of a log the beginning goes first and comes last: a crash leaves its end.
        parts.put_root_as_it_is(connection, root)
    by_id = {root.id: root for root in written}
    changed = [by_id[root.id] for root in changed]
    return Forgotten(
        tuple(changed),
        freed.objects,
        freed.stored_bytes,
        max(expiries) if expiries else None,
        chosen.unmatched,
        len(chosen.roots) - len(changed),
        tuple(replace(root, objects=tuple(root.objects)) for root in chosen.still_kept),
    )
