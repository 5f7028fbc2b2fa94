"""Batch: objects that become visible together, with the root that keeps them.

Laws:
- A commit is one transaction: objects, then the root that names them, then the rows. After it returns
  everything is on the disk; a crash before leaves staged files or objects that nothing names, never a
  root that names what is not there.
- Bytes that were staged are kept until the transaction has decided (castore.store.publishing).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING

from castore.config import ROOT_CHAIN_MAX, parse_name
from castore.digest import Bytes, Digest
from castore.errors import BaseMissing, InvalidOption, LimitExceeded, NameMoved, NameTaken
from castore.objects.database import EncodedObject, Staged
from castore.roots.model import Content, Root, RootDraft, alone, forgotten, merged, root_id
from castore.store import logs, quota, replacing
from castore.store.access import Granted
from castore.store.publishing import Holding, new_scopes, note_scopes
from castore.store.queries import Queries
from castore.store.transaction import Transactions

if TYPE_CHECKING:
    from sqlite3 import Connection

    from castore.store.tombstones import Tombstone

__all__ = ["Batch", "Meaning", "NameMove"]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a name stands for: a folded document with its objects, or objects.

    view: of a view, the root that says how to take it back, which must be kept with the objects.
    """

    document: Content | None
    objects: tuple[Digest, ...]
    view: Root | None = None


@dataclass(frozen=True, slots=True)
class NameMove:
    """A name may be taken from the root that has it. expected: what it must mean now; None: anything."""

    expected: Meaning | None = None


class Batch:
    """Objects that become visible together, with the root that keeps them. A context manager.

    What is staged and not committed is dropped at the end of the block. Staging is safe from several
    threads; the same bytes staged twice are one object. To a writer that does not see an object, it is
    not there: it is staged and published as new.
    """

    def __init__(
        self,
        parts: Transactions,
        queries: Queries,
        granted: Granted,
        *,
        want: Callable[[Iterable[Digest]], object] = list,
    ) -> None:
        """want: fetches what is promised (Store.want): a root that says nothing of a remote has all here."""
        self._parts = parts
        self._want = want
        self._queries = queries
        self._granted = granted
        self._holding = Holding(parts, granted)
        self.objects_new = 0
        self.objects_existing = 0

    def __enter__(self) -> Batch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._holding.drop()

    def stage(self, data: Bytes) -> Staged:
        """`data` is digested, encoded, decoded again and compared; it is in the store after `commit`."""
        return self._keep(self._parts.database.stage(data, look=self._looks))

    def stage_encoded(self, encoded: EncodedObject) -> Staged:
        """As `stage`, for an object that was encoded elsewhere, by `encode_object`."""
        return self._keep(self._parts.database.stage_encoded(encoded, look=self._looks))

    def stage_chunks(self, pieces: Iterable[Bytes]) -> Staged:
        """As `stage`, for any length, in bounded memory."""
        return self._keep(self._parts.database.stage_chunks(pieces, look=self._looks))

    def stage_files(self, paths: list[str]) -> list[Staged | OSError]:
        """The bytes of each file are staged, in the order of `paths`; or the error of reading it.

        The way to put thousands of files: several processes share the work.
        """
        from castore.store.staging import stage_files

        return stage_files(self._parts.database, self._parts.source, paths, self._keep, self._looks)

    def commit(self, draft: RootDraft, *, move: NameMove | None = None, allow_purged: bool = False) -> Root:
        """The objects of `draft` and its root are in the store, on the disk. As `commit_all`."""
        return self.commit_all([draft], move=move, allow_purged=allow_purged)[0]

    def commit_all(
        self, drafts: Sequence[RootDraft], *, move: NameMove | None = None, allow_purged: bool = False
    ) -> list[Root]:
        """The objects of `drafts` and their roots are in the store, on the disk: all or none.

        move: a root that has a draft's name already is forgotten, once the new one is there.
        allow_purged: bytes that were purged may be put again.

        Each object was staged here, or is one that the writer sees. A base is there before the call, has not
        expired, and is of the same scope. Roots are written in the order of `drafts`; those of a log have the
        next places of it, in this order; its state, and what has a key, say which root they are in place of.
        Raises ObjectMissing, ObjectPurged, BaseMissing, NameTaken, NameMoved, LogMoved, KeyTaken,
        ScopeDenied, LimitExceeded (a quota, too long a chain), InvalidOption, StoreLocked, RootDamaged; then
        nothing is visible that was not before. Where the disk fails at the very end, a root may be there all
        the same, with all its objects. After a crash a root is there with all its objects, or it is not
        there; of several, those written first may be there alone.
        """
        parts = self._parts
        scopes = [self._granted.writing_scope(draft.scope) for draft in drafts]
        for draft in drafts:
            if draft.name is not None:
                parse_name(draft.name)
        logs.check_drafts(drafts)
        replacing.check_drafts(drafts)
        named = {digest for draft in drafts for digest in draft.objects}
        mine = self._holding.of(named)
        self._want(sorted(digest for digest in named if digest not in self._holding))
        self._holding.prepare(mine)
        with parts.writing(names_files=self._granted.is_operator) as connection:
            now = parts.clock()
            self._check_names(drafts, scopes)
            logs.check_next(connection, drafts, scopes, now)
            replacing.check_replaced(connection, drafts, scopes, now)
            plans = [
                self._planned(connection, draft, scope, move, now)
                for draft, scope in zip(drafts, scopes, strict=True)
            ]
            self._check_purged(drafts, scopes, allow_purged=allow_purged)
            new = new_scopes(parts, self._granted, connection, scopes)
            needs = self._needs(connection, drafts, scopes, now)
            quota.check(connection, parts.config, needs, now, is_operator=self._granted.is_operator)
            self._holding.publish(connection, mine)
            self.objects_new = sum(staged.is_new for staged in mine)
            self.objects_existing = len(mine) - self.objects_new
            self._holding.adopt(connection, named)
            if allow_purged:
                # Before the roots: one that names what its scope was purged of is a purge that was killed.
                self._lift_tombstones(drafts, scopes)
            done = [self._put_root(connection, plan, now) for plan in plans]
        note_scopes(parts, self._granted, scopes, new)
        return done

    # --- Helpers ---

    def _looks(self, digest: Digest) -> bool:
        """The operator sees what is there. What others see is asked in `_keep`, in this process."""
        return self._granted.is_operator

    def _keep(self, staged: Staged) -> Staged:
        first = self._holding.hold(staged)
        if first is staged and not self._granted.is_operator and self._sees(staged.digest):
            self._parts.database.looked_for(staged)
        return first

    def _check_names(self, drafts: Sequence[RootDraft], scopes: Sequence[str]) -> None:
        """Raises NameTaken where two of the drafts would have one name: neither has rows yet."""
        taken: dict[tuple[str, str], str] = {}
        for draft, scope in zip(drafts, scopes, strict=True):
            identity = root_id(draft, scope)
            if draft.name is not None and taken.setdefault((scope, draft.name), identity) != identity:
                raise NameTaken(draft.name, scope)

    @cached_property
    def _sees(self) -> Callable[[Digest], bool]:
        """Whether to look for what is staged; the root's own transaction does not rely on it."""
        return self._queries.sees_many()

    def _planned(
        self, connection: Connection, draft: RootDraft, scope: str, move: NameMove | None, now: float
    ) -> _Plan:
        """What is to be written for a draft, checked: its name is free, its objects the writer's to name."""
        from castore.index import roots

        identity = root_id(draft, scope)
        others: list[Root] = []
        if draft.name is not None:
            others = self._parts.others_named(connection, draft.name, scope, identity, now)
            if others and move is None:
                raise NameTaken(draft.name, scope)
            if move is not None and move.expected is not None:
                current = roots.by_id(connection, identity)
                meant = others[0] if others else current
                if meant is None or not meant.is_live(now) or not _means(meant, move.expected):
                    raise NameMoved(draft.name, scope)
        for digest in draft.objects:
            if digest not in self._holding and not self._may_name(connection, digest, now):
                raise self._queries.absence(digest)
        if draft.base is not None:
            self._check_base(connection, draft, draft.base, scope, now)
        return _Plan(draft, scope, identity, others)

    def _check_base(
        self, connection: Connection, draft: RootDraft, base: str, scope: str, now: float
    ) -> None:
        """The draft's root may be based on it, or is there. As `commit_all`."""
        from castore.index import roots

        identity = root_id(draft, scope)
        old = None if draft.is_whole else roots.by_id(connection, identity)
        is_kept = old is not None and not old.is_expired(now)
        if old is not None and is_kept and self._parts.usable_bases(connection, old, now) is not None:
            return  # Its own base stays.
        found = roots.by_id(connection, base)
        if found is None or found.scope != scope or found.is_expired(now):
            raise BaseMissing(base)
        if found.place is not None or found.key is not None:
            # What is based on it would lack what its next one does not name.
            raise InvalidOption("a root that is replaced whole is no base", base=base)
        below = self._parts.usable_bases(connection, found, now)
        if below is None or identity in {base, *(each.id for each in below)}:
            raise BaseMissing(base)
        if len(below) + 2 > ROOT_CHAIN_MAX:
            raise LimitExceeded(
                f"root '{base}' is based on {len(below)} others already",
                limit="ROOT_CHAIN_MAX",
                hint="write a root that is based on none",
                base=base,
            )

    def _may_name(self, connection: Connection, digest: Digest, now: float) -> bool:
        """Whether the object is there, and the writer sees it: asked in the root's own transaction."""
        from castore.index import seen

        if not self._granted.is_operator and not seen.is_named(connection, digest, self._granted.seen, now):
            return False
        return self._parts.source.stat(digest) is not None

    def _put_root(self, connection: Connection, plan: _Plan, now: float) -> Root:
        from castore.index import roots

        parts = self._parts
        # Who does not see all roots is to learn nothing of others by the work that they save.
        is_hidden = not self._granted.is_operator
        old = roots.by_id(connection, plan.identity)
        if old is not None and (plan.draft.place is not None or plan.draft.key is not None):
            replacing.keep_dropped(parts, connection, old, plan.draft, now, unproven=is_hidden)
        sequence = roots.next_sequence(connection)
        replaced = old if plan.draft.is_whole else None
        # What is replaced whole does not keep what it does not name any more.
        old = None if plan.draft.is_whole else old
        old_bases = None if old is None else self._parts.usable_bases(connection, old, now)
        root = merged(plan.draft, plan.scope, old, now=now, sequence=sequence, old_bases=old_bases)
        if old is not None and root == alone(old):
            root = old
        else:
            root = parts.put_root(connection, root, unproven=is_hidden)
            if replaced is not None and replaced.base not in (None, root.base):
                # What it was based on is needed by one less.
                base = roots.by_id(connection, replaced.base)
                parts.put_roots(connection, [] if base is None else [base])
        # Until the grace is over what the name meant before can be had back.
        grace = parts.config.grace_seconds if plan.others else 0
        parts.put_roots(connection, [forgotten(other, now=now, grace_seconds=grace) for other in plan.others])
        return root

    def _check_purged(
        self, drafts: Sequence[RootDraft], scopes: Sequence[str], *, allow_purged: bool
    ) -> None:
        """Raises ObjectPurged for bytes that a scope could see when they were purged, and would see again."""
        if allow_purged:
            return
        purged = set(self._parts.tombstones.digests())
        refused: dict[str, Tombstone] = {}
        for draft, scope in zip(drafts, scopes, strict=True):
            for digest in sorted(purged.intersection(draft.objects)):
                tombstone = self._parts.tombstones.get(digest)
                if tombstone is not None and scope in tombstone.scopes:
                    refused.setdefault(str(digest), tombstone)
        for first in refused.values():
            error = first.error()
            error.refused = tuple(refused)
            raise error

    def _lift_tombstones(self, drafts: Sequence[RootDraft], scopes: Sequence[str]) -> None:
        """The scopes that have the bytes again are told nothing any more."""
        tombstones = self._parts.tombstones
        purged = set(tombstones.digests())
        for draft, scope in zip(drafts, scopes, strict=True):
            for digest in sorted(purged.intersection(draft.objects)):
                tombstone = tombstones.get(digest)
                if tombstone is None or scope not in tombstone.scopes:
                    continue
                left = tuple(each for each in tombstone.scopes if each != scope)
                if left:
                    tombstones.publish(replace(tombstone, scopes=left))
                else:
                    tombstones.remove(digest)

    def _needs(
        self, connection: Connection, drafts: Sequence[RootDraft], scopes: Sequence[str], now: float
    ) -> quota.Needs:
        """What the drafts add, as the writer sees it: what only others have counts as new."""
        from castore.index import objects

        sizes: dict[str, dict[bytes, int]] = {}
        for draft, scope in zip(drafts, scopes, strict=True):
            for digest in draft.objects:
                staged = self._holding.get(digest)
                if staged is not None:
                    size = staged.size
                else:
                    # One that an unfinished writer left has no row yet.
                    row = objects.one(connection, digest) or self._parts.database.stat(digest)
                    size = 0 if row is None else row.size
                sizes.setdefault(scope, {})[digest.raw] = size
        named = {digest for draft in drafts for digest in draft.objects}
        new = [staged for staged in self._holding.of(named) if staged.found is None]
        return quota.Needs(sizes, sum(staged.frames.stored_bytes for staged in new))


@dataclass(frozen=True, slots=True)
class _Plan:
    """One root to be written. others: live roots that lose their name to it."""

    draft: RootDraft
    scope: str
    identity: str
    others: list[Root]


def _means(root: Root, meaning: Meaning) -> bool:
    if meaning.document is not None or root.document is not None:
        return root.document == meaning.document
    return tuple(root.objects) == tuple(sorted(set(meaning.objects)))
