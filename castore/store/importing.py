"""Importing: roots and objects that come from elsewhere, as they are there. A remote, or a bundle.

Laws:
- A commit is one transaction, as of a batch: objects, then the roots that name them, bases first and records
  of a log in their order, then the rows. After it returns all is on the disk. After a crash a root is there
  with all its objects, or it is not there.
- A root keeps its id and the time when it was created, and gets a number of this store. What comes of each is
  told (castore.store.arriving); one that is refused keeps no other from coming.
- Every byte was digested on its way in.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

from castore.digest import Digest
from castore.objects.database import ObjectDatabase
from castore.roots.model import Root, RootDraft, forgotten
from castore.store import quota, replacing
from castore.store.access import Granted
from castore.store.arriving import Arrivals, Decision, Outcome, Terms, check_arriving
from castore.store.publishing import Holding, new_scopes, note_scopes
from castore.store.queries import Queries
from castore.store.transaction import Transactions, new_nesting

if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection

__all__ = ["Imported", "Importing", "Outcome"]


class Imported(NamedTuple):
    """root: as it is here now; as it came, where it was refused."""

    root: Root
    outcome: Outcome


class Importing:
    """Objects and roots that come from elsewhere. A context manager: what was not committed is dropped."""

    def __init__(self, parts: Transactions, queries: Queries, granted: Granted) -> None:
        self._parts = parts
        self._queries = queries
        self._granted = granted
        self._holding = Holding(parts, granted)

    def __enter__(self) -> Importing:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._holding.drop()

    def needed(self, roots: Iterable[Root], *, lazily: bool = False) -> list[Digest]:
        """The objects of these roots that must be brought before `commit`, sorted.

        lazily: those alone that can't be promised. To who does not see all of the store that is each that it
        does not see, as of a whole import; to the operator what is here and not of the root's own scope.
        """
        if not lazily or not self._granted.is_operator:
            distinct = {digest for root in roots for digest in root.objects}
            return sorted(digest for digest in distinct if not self._has(digest))
        from castore.index import seen

        named = {(digest, root.scope) for root in roots for digest in root.objects}
        here = {pair for pair in named if self._has(pair[0])}
        now = self._parts.clock()

        def others(connection: Connection) -> set[Digest]:
            return {
                digest
                for digest, scope in here
                if digest not in self._holding and not seen.is_named(connection, digest, (scope,), now)
            }

        return sorted(self._queries.ask(others))

    def bring(self, database: ObjectDatabase, digest: Digest, *, anyway: bool = False) -> int:
        """The object is staged here as it is stored there, every byte checked. Safe from several threads.
        Returns the bytes of its file; 0 if nothing was done.

        Nothing is done for what was brought already; nor, unless `anyway`, for what is here and the caller
        sees. Raises ObjectMissing, ObjectDamaged, and what the source does.
        """
        if digest in self._holding or (not anyway and self._has(digest)):
            return 0
        staged = database.transfer(digest, self._parts.source, new_nesting=new_nesting)
        return self._holding.hold(staged).frames.stored_bytes

    def commit(
        self,
        roots: Sequence[Root],
        *,
        lazily: str | None = None,
        restore: bool = False,
        moves: Collection[str] = (),
        newer: Collection[str] = (),
        check: Callable[[Sequence[Decision]], None] | None = None,
    ) -> list[Imported]:
        """The roots are here, joined with what was, and the objects that they name; in the order of `roots`.

        lazily: the name of the remote that has those objects that are neither here nor brought (`needed`).
        restore: those that are forgotten here are live again. moves: ids of roots that take their name from
        another one, which is then forgotten, with the grace. newer: ids of states of logs that were made from
        those that are here. check: is told what is to become of each before anything is published, and may
        raise: then nothing comes.

        Raises ScopeDenied for a root of a scope in which the caller may not write, RootDamaged for one whose
        id is not its own, ObjectMissing, ObjectPurged, BaseMissing, LimitExceeded, InvalidOption,
        StoreLocked; then nothing is visible that was not before.
        """
        parts, granted = self._parts, self._granted
        for root in roots:
            check_arriving(root, granted)
        brought = self._holding.of({digest for root in roots for digest in root.objects})
        self._holding.prepare(brought)
        with parts.writing(names_files=granted.is_operator) as connection:
            now = parts.clock()
            terms = Terms(
                now,
                is_brought=self._holding.__contains__,
                may_name=lambda digest: self._may_name(connection, digest, now),
                absence=self._queries.absence,
                # Who does not see all is not to learn, by a promise, what others have.
                lazily=lazily if granted.is_operator else None,
                restore=restore,
                moves=frozenset(moves),
                newer=frozenset(newer),
            )
            decisions = Arrivals(parts, connection, terms).decide(roots)
            if check is not None:
                check(decisions)
            taken = [each for each in decisions if not each.outcome.is_refused]
            named = {digest for each in taken for digest in each.root.objects}
            mine = self._holding.of(named)
            scopes = [each.root.scope for each in taken if each.is_written]
            new = new_scopes(parts, granted, connection, scopes)
            self._check_quota(connection, taken, now)
            self._holding.publish(connection, mine)
            self._holding.adopt(connection, named)
            written = self._put_roots(connection, [each for each in taken if each.is_written], taken, now)
        self._holding.release(mine)
        note_scopes(parts, granted, scopes, new)
        done = {
            each.root.id: Imported(written.get(each.root.id, each.root), each.outcome) for each in decisions
        }
        return [done[root.id] for root in roots]

    def commit_objects(self) -> None:
        """What was brought is here, on the disk. A root that has not expired, and that the caller sees, names
        each of them already.

        Raises ObjectMissing for one that no such root names (any more), LimitExceeded, StoreLocked.
        """
        parts, granted = self._parts, self._granted
        mine = self._holding.all()
        self._holding.prepare(mine)
        with parts.writing(names_files=granted.is_operator) as connection:
            from castore.index import roots

            now = parts.clock()
            sizes: dict[str, dict[bytes, int]] = {}
            for staged in mine:
                naming = roots.naming(connection, staged.digest, granted.seen)
                scopes = {root.scope for root in naming if not root.is_expired(now)}
                if not scopes:
                    raise self._queries.absence(staged.digest)
                for scope in scopes:
                    sizes.setdefault(scope, {})[staged.digest.raw] = staged.size
            needs = quota.Needs(sizes, sum(staged.frames.stored_bytes for staged in mine))
            quota.check(connection, parts.config, needs, now, is_operator=granted.is_operator)
            self._adopt_fetched(connection)
            self._holding.publish(connection, mine)
        self._holding.release(mine)

    # --- Helpers ---

    def _adopt_fetched(self, connection: Connection) -> None:
        """What came with a fetch that did not end is written again and has its row: no root's file tells that
        it is new. Once is enough for who has the store open."""
        from castore.index import promised, rebuild

        parts = self._parts
        if not parts.has_adopted_fetched:
            found = [each for each in promised.without_row(connection) if parts.source.stat(each) is not None]
            rebuild.adopt(connection, parts.database, found)
            parts.has_adopted_fetched = True

    @cached_property
    def _sees(self) -> Callable[[Digest], bool]:
        return self._queries.sees_many()

    def _has(self, digest: Digest) -> bool:
        """Whether the object is here, and the caller sees it. `commit` does not rely on it."""
        return self._sees(digest) and self._parts.source.stat(digest) is not None

    def _may_name(self, connection: Connection, digest: Digest, now: float) -> bool:
        from castore.index import seen

        granted = self._granted
        if not granted.is_operator and not seen.is_named(connection, digest, granted.seen, now):
            return False
        return self._parts.source.stat(digest) is not None

    def _check_quota(self, connection: Connection, taken: list[Decision], now: float) -> None:
        """What comes fits, as far as it is here: what is promised counts once it comes."""
        from castore.index import objects

        sizes: dict[str, dict[bytes, int]] = {}
        stored_bytes = 0
        for digest, scope in {(digest, each.root.scope) for each in taken for digest in each.root.objects}:
            staged = self._holding.get(digest)
            row = None if staged is not None else objects.one(connection, digest)
            size = staged.size if staged is not None else 0 if row is None else row.size
            sizes.setdefault(scope, {})[digest.raw] = size
        for staged in self._holding.of({digest for each in taken for digest in each.root.objects}):
            stored_bytes += staged.frames.stored_bytes
        needs = quota.Needs(sizes, stored_bytes)
        quota.check(connection, self._parts.config, needs, now, is_operator=self._granted.is_operator)

    def _put_roots(
        self, connection: Connection, writing: list[Decision], taken: list[Decision], now: float
    ) -> dict[str, Root]:
        """By their ids, all that were written: these roots, and those that they have an effect on."""
        from castore.index import roots

        parts = self._parts
        # Who does not see all roots is to learn nothing of others by the work that they save.
        unproven = not self._granted.is_operator
        for each in writing:
            if each.there is not None:
                drops = RootDraft(each.root.kind, tuple(each.root.objects), base=each.root.base)
                replacing.keep_dropped(parts, connection, each.there, drops, now, unproven=unproven)
        sequence = roots.next_sequence(connection)
        changed: dict[str, Root] = {}
        numbers = {}
        for each in sorted(writing, key=lambda each: (each.root.created, each.root.sequence)):
            if each.is_anew:
                numbers[each.root.id] = sequence
                sequence += 1
        for each in writing:
            number = numbers.get(each.root.id)
            changed[each.root.id] = each.root if number is None else replace(each.root, sequence=number)
        for base in {each.there.base for each in writing if each.there is not None and each.there.base}:
            # It may be needed by one less.
            found = roots.by_id(connection, base)
            if found is not None:
                changed.setdefault(base, found)
        grace_seconds = parts.config.grace_seconds if any(each.others for each in taken) else 0
        for each in taken:
            for other in each.others:
                lost = changed.get(other.id, other)
                changed[other.id] = forgotten(lost, now=now, grace_seconds=grace_seconds)
        written = parts.put_roots(connection, list(changed.values()), unproven=unproven) if changed else []
        return {root.id: root for root in written}
