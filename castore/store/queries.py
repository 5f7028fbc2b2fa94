"""Questions about roots and what they name, for one caller.

Laws: the answers cover what the caller sees, and are those of the root files: where the index is absent,
behind or damaged, the files are read into one in memory. Reading them costs a read of every root, so it is
what a clone without an index does until its first write.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from castore.config import NAME_PATTERN
from castore.digest import Digest
from castore.errors import BaseMissing, Damaged, NotFound, ObjectMissing, RootDamaged
from castore.layout import ROOT_ID
from castore.roots.model import Root, RootKind
from castore.store.access import Granted
from castore.store.logs import LogRoots, LogScopes, read_log
from castore.store.remedies import offer_pull, offer_repair
from castore.store.tombstones import Tombstone
from castore.store.transaction import Transactions

if TYPE_CHECKING:
    from sqlite3 import Connection

    from castore.index.objects import ObjectRow
    from castore.index.seen import Naming
    from castore.roots.files import RootStamp

__all__ = ["Queries"]

T = TypeVar("T")


class Queries:
    """Every list of roots is the latest first.

    Raises RootDamaged where a file had to be read and could not, for the operator alone: whose it was is
    not known, so to everybody else it is not there.

    granted: what the caller may use; asked for each question.
    """

    def __init__(self, parts: Transactions, granted: Callable[[], Granted]) -> None:
        self._parts = parts
        self._granted = granted
        self._memory: dict[bool, tuple[dict[str, int], Connection]] = {}
        """Indexes of the root files, by whether damaged ones were left out, with the folders' times."""
        self._files: dict[str, tuple[RootStamp, Root, frozenset[Digest]]] = {}
        """Roots that were read because their rows are about other files, with what those files were like."""

    @property
    def seen(self) -> tuple[str, ...] | None:
        return self._granted().seen

    def close(self) -> None:
        for _, connection in self._memory.values():
            connection.close()
        self._memory.clear()
        self._files.clear()

    def ask(self, question: Callable[[Connection], T], from_files: Callable[[], T] | None = None) -> T:
        """The answer of the index where it says what the root files say; else of the files.

        from_files: for what root files do not tell; else the question is put to an index of them.
        """
        try:
            return self._ask(question, from_files)
        except Damaged as error:
            if self.seen is not None:
                error.address_others()
            raise

    def _ask(self, question: Callable[[Connection], T], from_files: Callable[[], T] | None) -> T:
        from castore.index.connection import IndexUnreadable

        # A connection is for one thread at a time: two that run the same statement would share its cursor.
        with self._parts.one_thread:
            connection = self._parts.reading()
            if connection is not None:
                try:
                    return question(connection)
                except IndexUnreadable:
                    pass  # Then the files are asked, as if there were none.
            self._note_lost_roots()
            if from_files is None:
                return question(self._in_memory(only_readable=self.seen is not None))
        return from_files()

    def ask_files(self, question: Callable[[Connection], T], rows: Iterable[ObjectRow]) -> T:
        """The answer of an index in memory of the root files, and of these rows about objects."""
        from castore.index import lives

        with self._parts.one_thread:
            connection = self._in_memory(only_readable=self.seen is not None)
            lives.set_objects(connection, rows)
            return question(connection)

    # --- Objects ---

    def sees(self, digest: Digest) -> bool:
        """Whether a root that has not expired lets this caller see the object. Costs a query and a stat.

        A damaged root file lets nobody see anything but the operator.
        """
        seen = self.seen
        if seen is None:
            return True
        from castore.index.connection import IndexUnreadable

        with self._parts.one_thread:
            kept = [connection for _, connection in self._memory.values()]
            for connection in (self._parts.index_as_it_is(), *kept):
                if connection is not None:
                    try:
                        if self._is_shown(connection, digest, seen):
                            return True
                    except IndexUnreadable:
                        continue
            # Nothing shows it. The rows may be behind the files, as after a crash.
            if self._parts.reading() is not None:
                return False
            self._note_lost_roots()
            return self._is_shown(self._in_memory(only_readable=True), digest, seen)

    def sees_many(self) -> Callable[[Digest], bool]:
        """`sees`, for many objects: the folders are looked at once, so what comes later may be left out."""
        seen = self.seen
        with self._parts.one_thread:
            is_current = self._parts.reading() is not None
        if seen is None or not is_current:
            return self.sees

        def sees(digest: Digest) -> bool:
            from castore.index.connection import IndexUnreadable

            with self._parts.one_thread:
                connection = self._parts.index_as_it_is()
                try:
                    return connection is not None and self._is_shown(connection, digest, seen)
                except IndexUnreadable:
                    return False

        return sees

    def digests(self, prefix: str) -> list[Digest]:
        """The objects that the caller sees and that are there, sorted."""
        seen = self.seen
        source = self._parts.source
        if seen is None:
            return list(source.digests(prefix))
        from castore.index import seen as rows

        now = self._parts.clock()
        found = self.ask(lambda connection: rows.digests(connection, prefix, seen, now))
        return [digest for digest in found if source.stat(digest) is not None]

    def promised(self, digests: Iterable[Digest]) -> dict[Digest, str]:
        """Of these objects those that are not here and that a root promises which the caller sees, in their
        order, each with the name of the remote that has it.

        Nothing where what roots say can't be read: what is missing is then told as missing.
        """
        seen, source = self.seen, self._parts.source
        distinct = list(dict.fromkeys(digests))
        if seen is None:
            # The operator may know what is here. To all others only what is promised is looked for.
            distinct = [digest for digest in distinct if source.stat(digest) is None]
        found = self._remotes(distinct) if distinct else {}
        return {
            digest: remote for digest, remote in found.items() if seen is None or source.stat(digest) is None
        }

    def promised_digests(self, prefix: str) -> list[Digest]:
        """The objects that are not here and that a root promises which the caller sees, sorted. As `promised`
        where roots can't be read. prefix: the hex digits they begin with."""
        from castore.index import promised

        now, source = self._parts.clock(), self._parts.source
        try:
            found = self.ask(lambda connection: promised.promised(connection, prefix, self.seen, now))
        except Damaged:
            return []
        return [digest for digest in found if source.stat(digest) is None]

    def _remotes(self, digests: list[Digest]) -> dict[Digest, str]:
        from castore.index import promised

        now = self._parts.clock()

        def remotes(connection: Connection) -> dict[bytes, str]:
            found: dict[bytes, str] = {}
            for start in range(0, len(digests), promised.DIGESTS_AT_ONCE_MAX):
                some = digests[start : start + promised.DIGESTS_AT_ONCE_MAX]
                found.update(promised.remotes(connection, some, self.seen, now))
            return found

        try:
            found = self.ask(remotes)
        except Damaged:
            return {}
        return {digest: found[digest.raw] for digest in digests if digest.raw in found}

    def newest_objects(self) -> list[tuple[Digest, int | None]]:
        """The objects that the caller sees, those that were named last first, with sizes as far as known; the
        operator's, too, that nothing names. Some may be gone."""
        from castore.index import seen as rows

        now = self._parts.clock()
        found = self.ask(lambda connection: rows.newest(connection, self.seen, now))
        if self.seen is None:
            named = {digest for digest, _ in found}
            found += [(digest, None) for digest in self._parts.source.digests("") if digest not in named]
        return found

    def named_digests(self) -> list[Digest]:
        """The objects that the caller's roots name, expired ones too, there or not; sorted."""
        from castore.index import seen as rows

        return self.ask(lambda connection: rows.digests(connection, "", self.seen, -1.0))

    def naming(self, digest: Digest) -> Naming:
        """By how many roots that the caller sees the object is kept, and until when."""
        from castore.index import seen as rows

        now = self._parts.clock()
        return self.ask(lambda connection: rows.naming(connection, digest, self.seen, now))

    def absence(self, digest: Digest) -> NotFound:
        """The error for an object that is not there, or not for this caller: the two read alike."""
        tombstone = self._tombstone(digest)
        if tombstone is not None and self._is_told(tombstone):
            return tombstone.error()
        remote = self.promised([digest]).get(digest)
        if remote is not None:
            words = f"it lies at remote '{remote}': 'ctx fetch {digest.short}' brings it"
            return ObjectMissing(str(digest), hint=words)
        lost = self._lost_roots()
        missing = ObjectMissing(str(digest), hint=lost)
        if self.seen is not None:
            missing.address_others()
        if lost is None and self._is_named(digest):
            offer_repair(self._parts, missing, is_operator=self.seen is None)
        elif lost is None:
            self.offer_pull(missing, digest.short)
        return missing

    def offer_pull(self, error: NotFound, what: str) -> None:
        """Where the store has remotes, the hint begins with the pull that may bring it (remedies)."""
        offer_pull(self._parts, error, what)

    def purged(self, prefix: str) -> list[Digest]:
        """The objects whose purge this caller is told of, by the beginning of their digests."""
        found = map(self._tombstone, self._parts.tombstones.digests(prefix))
        return [each.digest for each in found if each is not None and self._is_told(each)]

    # --- Scopes ---

    def has_other_scope(self, default: str) -> bool:
        """Whether a root is in another scope than this one, or the store is marked as having had one.

        The mark is there so that damage to the roots and the index does not make the operator of a caller
        who was granted nothing; and so those need not be whole for the owner of a store of one scope (L9).
        """
        from castore.index import seen as rows
        from castore.index.connection import IndexUnreadable

        if self._parts.has_mark:
            return True
        with self._parts.one_thread:
            connection = self._parts.reading()
            if connection is not None:
                try:
                    return rows.has_other_scope(connection, default)
                except IndexUnreadable:
                    pass  # Then the files are asked, as if there were none.
            return rows.has_other_scope(self._in_memory(only_readable=True), default)

    def scope_names(self) -> list[str]:
        """The scopes that the caller sees and that have a root, sorted."""
        from castore.index import seen as rows

        return self.ask(lambda connection: rows.scope_names(connection, self.seen))

    # --- Roots ---

    def newest(self, limit: int | None = None) -> list[Root]:
        from castore.index import roots

        return self.ask(lambda connection: roots.newest(connection, limit, self.seen))

    def roots_naming(self, digest: Digest) -> list[Root]:
        """The roots that name this object."""
        from castore.index import roots

        return self.ask(lambda connection: roots.naming(connection, digest, self.seen))

    def of_document(self, prefix: str) -> list[Root]:
        """The roots whose document's digest begins with these hex digits."""
        from castore.index import roots

        return self.ask(lambda connection: roots.by_document_prefix(connection, prefix, self.seen))

    def with_id(self, prefix: str) -> list[Root]:
        """The roots whose id begins with these hex digits."""
        from castore.index import roots

        return self.ask(lambda connection: roots.by_id_prefix(connection, prefix, self.seen))

    def root(self, root_id: str) -> Root | None:
        """The root with this id, which is whole; None if there is none."""
        return next(iter(self.with_id(root_id)), None) if ROOT_ID.match(root_id) else None

    def based_chain(self, root: Root) -> list[Root]:
        """The root, what it is based on, what that is based on, and so on.

        They are in its scope, so that who sees it sees them all. Raises BaseMissing, RootDamaged.
        """
        if root.base is not None and not self._granted().covers(root.scope):
            raise BaseMissing(root.base)
        return [root, *self.ask(lambda connection: self._parts.bases_of(connection, root))]

    def log(self, kind: RootKind, scope: str, source_name: str) -> LogRoots:
        """What a log holds now, of those of one scope; nothing if the caller does not see that."""
        if not self._granted().covers(scope):
            return LogRoots()
        now = self._parts.clock()
        return self.ask(lambda connection: read_log(connection, kind, scope, source_name, now))

    def keyed(self, kind: RootKind, scope: str | None, member: tuple[str, str] | None = None) -> list[Root]:
        """The live roots of this kind that have a key. scope: of one scope alone. member: as of the index."""
        from castore.index import roots

        if scope is not None and not self._granted().covers(scope):
            return []
        seen = self.seen if scope is None else (scope,)
        now = self._parts.clock()
        return self.ask(lambda connection: roots.keyed(connection, kind, now, seen, member=member))

    def bound_to(self, digest: Digest) -> list[Root]:
        """The roots that are over once this object is purged."""
        from castore.index import roots

        now = self._parts.clock()

        def question(connection: Connection) -> list[Root]:
            found = self._parts.bound_to(connection, roots.naming(connection, digest, self.seen))
            return [root for root in found if not root.is_expired(now)]

        return self.ask(question)

    def log_scopes(self, kind: RootKind, source_name: str) -> LogScopes:
        """Where the caller sees such a log."""
        from castore.index import roots

        now = self._parts.clock()
        found = self.ask(lambda connection: roots.log_scopes(connection, kind, source_name, now, self.seen))
        return LogScopes(
            tuple(scope for scope, is_live in found if is_live),
            tuple(scope for scope, is_live in found if not is_live),
        )

    def named(self, name: str) -> list[Root]:
        """The live roots that have this name; of two in one scope only the latest has it."""
        from castore.index import roots

        if NAME_PATTERN.match(name) is None:
            return []  # It may even be text that the index can't be asked for.
        found = self.ask(lambda connection: roots.by_name(connection, name, self.seen))
        now = self._parts.clock()
        live: dict[str, Root] = {}
        for root in found:
            if root.is_live(now):
                live.setdefault(root.scope, root)
        return list(live.values())

    # --- Helpers ---

    def _note_lost_roots(self) -> None:
        words = self._lost_roots()
        if words is not None:
            self._parts.note(words)

    def _lost_roots(self) -> str | None:
        """Why nothing seems to be kept, and what to do, if roots/ is gone.

        A new clone of a store that held nothing has none either; but only the operator may know whether
        others hold something, so all others are told of it in any case.
        """
        if os.path.isdir(self._parts.layout.roots):
            return None
        if self.seen is not None:
            return "roots/ is missing, so nothing is seen: ask the store's operator to run 'ctx repair'"
        if next(self._parts.source.digests(), None) is None:
            return None
        return "roots/ is missing, so nothing says what is kept: 'ctx repair' keeps all that is there"

    def _is_named(self, digest: Digest) -> bool:
        """Whether a live root that the caller sees names it: then it was here, and is lost."""
        try:
            return self.naming(digest).roots > 0
        except Damaged:
            return True

    def _tombstone(self, digest: Digest) -> Tombstone | None:
        """Nothing is told of what can't be read; verify reports the damaged file."""
        try:
            return self._parts.tombstones.get(digest)
        except RootDamaged:
            return None

    def _is_told(self, tombstone: Tombstone) -> bool:
        granted = self._granted()
        return granted.is_operator or any(map(granted.covers, tombstone.scopes))

    def _is_shown(self, connection: Connection, digest: Digest, seen: tuple[str, ...]) -> bool:
        """Whether a root says so whose file is still the one that the rows are about."""
        from castore.index import seen as rows

        now = self._parts.clock()
        for root_id, stamp in rows.namers(connection, digest, seen, now):
            try:
                found = self._parts.root_files.stamp(root_id)
                if found == stamp or self._file_shows(root_id, found, digest, now):
                    return True
            except OSError:
                continue
        return False

    def _file_shows(self, root_id: str, stamp: RootStamp, digest: Digest, now: float) -> bool:
        """Whether the file says so: in a copy of a store, none is the one that its rows are about."""
        kept = self._files.get(root_id)
        if kept is None or kept[0] != stamp:
            try:
                root = self._parts.root_files.read(root_id)
            except RootDamaged:
                return False
            kept = self._files[root_id] = stamp, root, frozenset(root.objects)
        return digest in kept[2] and self._granted().covers(kept[1].scope) and not kept[1].is_expired(now)

    def _in_memory(self, *, only_readable: bool = False) -> Connection:
        from castore.index.temporary import roots_in_memory

        files = self._parts.root_files
        times = files.shard_times() if os.path.isdir(self._parts.layout.roots) else {}
        kept = self._memory.get(only_readable)
        if kept is not None:
            if kept[0] == times:
                return kept[1]
            del self._memory[only_readable]
            kept[1].close()
        memory = roots_in_memory(files, only_readable=only_readable)
        self._memory[only_readable] = times, memory
        return memory
