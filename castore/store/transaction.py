"""Transactions: the one write transaction of a store, and what every writer does inside it.

Laws:
- One writer or sweep of a store is inside `writing` at a time, and it finds rows that say what the root
  files say: the index was made to follow them first.
- A root file is on the disk before its rows are, and both before the block has ended.
- After a crash or an error in the middle the files are ahead of the rows; the next `writing` sees it and
  follows, and first writes again and syncs what the other may not have: what is there need not be on the
  disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING

from castore import durable
from castore.config import OPERATOR, ROOT_CHAIN_MAX
from castore.digest import Digest
from castore.errors import BaseMissing, InvalidConfig, RootDamaged
from castore.layout import Layout
from castore.objects.database import ObjectDatabase
from castore.objects.loose import LooseSource
from castore.roots.files import RootFiles
from castore.roots.model import Root, ended, is_bound, without
from castore.settings import Config
from castore.store.folder import read_config, shared_modes
from castore.store.tombstones import Tombstones

if TYPE_CHECKING:
    from sqlite3 import Connection

    from castore.document.nesting import Nesting
    from castore.index.connection import IndexFile

__all__ = ["Clock", "Transactions", "new_nesting"]

_MARK = b"Roots of this store are, or were, in other scopes than the default one.\n"

Clock = Callable[[], float]


def new_nesting(is_long: bool) -> Nesting:
    """The pass that tells how deep the arrays of an object are nested."""
    from castore.document.nesting import Nesting

    return Nesting(is_long=is_long)


class Transactions:
    """The parts of one store folder, and its write transaction."""

    def __init__(self, layout: Layout, clock: Clock) -> None:
        self.layout = layout
        self.clock = clock
        self.modes = shared_modes(layout)
        self.source = LooseSource(layout, self.modes)
        self.database = ObjectDatabase(
            self.source, level=lambda: self.config.compression_level, new_nesting=new_nesting
        )
        self.tombstones = Tombstones(layout, self.modes)
        self.root_files = RootFiles(layout, file_mode=self.modes.file, folder_mode=self.modes.folder)
        self.is_made_here = False
        """This process made the folder, and has synced it."""
        self.has_adopted_fetched = False
        """What a fetch left that did not end has its rows (castore.store.importing)."""
        self.one_thread = RLock()
        """Held while the index is used: its connections are for one thread at a time."""
        self._index: IndexFile | None = None
        self._own_notes: list[str] = []

    @cached_property
    def config(self) -> Config:
        """The settings, read when a writer first needs them: reading an object back must not (L9)."""
        return read_config(self.layout)

    @property
    def index(self) -> IndexFile:
        if self._index is None:
            from castore.index.connection import IndexFile

            self._index = IndexFile(self.layout, mode=self.modes.index)
        return self._index

    @property
    def notes(self) -> list[str]:
        """What happened that somebody should be told, such as an index that was built anew."""
        return [*self._own_notes, *(self._index.notes if self._index is not None else ())]

    def note(self, words: str) -> None:
        if words not in self._own_notes:
            self._own_notes.append(words)

    def close(self) -> None:
        if self._index is not None:
            self._index.close()

    @contextmanager
    def writing(self, *, every_file: bool = False, names_files: bool = True) -> Iterator[Connection]:
        """The one write transaction, with the rows as the root files are.

        every_file: trust nothing: the index is checked, and each root file compared with it.
        names_files: False for who may not learn which root is damaged: its id follows from what it keeps.
        Raises StoreLocked, RootDamaged, IndexDamaged.
        """

        with self.one_thread:
            try:
                yield from self._writing(every_file)
            except RootDamaged:
                if names_files:
                    raise
                error = RootDamaged(self.layout.roots, "the operator's 'ctx verify' says which, and how")
                error.address_others()
                raise error from None

    def _writing(self, every_file: bool) -> Iterator[Connection]:
        from castore.index import rebuild

        self.make_writable()
        if every_file and os.path.exists(self.layout.index):
            self.index.discard_unsound()
        while True:
            with self.index.writing() as connection:
                if not rebuild.is_complete(connection):
                    # A transaction of its own: should what follows fail, the next write can tell what it
                    # left from what was there before.
                    rebuild.rebuild(connection, self.database, self.root_files)
                    if not self.is_made_here:
                        durable.sync_everything(self.layout.folder)
                    self._mark_scopes(connection)
                    continue
                follow = rebuild.reconcile_all if every_file else rebuild.reconcile
                if follow(connection, self.database, self.root_files):
                    durable.sync_everything(self.layout.folder)
                    self._mark_scopes(connection)
                self.end_purges(connection)
                yield connection
                return

    @property
    def has_mark(self) -> bool:
        """A root was in another scope than the default one, since gc last found that none is.

        It is said beside the roots, so that damage to what keeps a reader out does not let it in.
        """
        return os.path.lexists(self.layout.scopes)

    def remove_mark(self, connection: Connection) -> None:
        """The mark of other scopes is gone, on the disk, if no root is in one. For gc."""
        from castore.index import seen

        if self.has_mark and not seen.has_other_scope(connection, self._default_scope()):
            durable.remove(self.layout.scopes)
            durable.sync_folders([self.layout.folder], self.layout.folder)

    def reading(self) -> Connection | None:
        """The index, if it says what the root files say; None: read those."""
        if self._index is None and not os.path.exists(self.layout.index):
            return None
        from castore.index import rebuild

        connection = self.index.reading()
        if connection is None or not rebuild.is_current(connection, self.root_files):
            return None
        return connection

    def settle(self, *, names_files: bool = True) -> None:
        """What can be read is on the disk: what a writer that did not end has left is written again.

        For who acts on what it read without writing anything. names_files: as of `writing`. Costs a stat for
        each shard where there is nothing to do, or nothing was ever written. Raises what `writing` does.
        """
        with self.one_thread:
            if self.reading() is None and os.path.isdir(self.layout.roots):
                with self.writing(names_files=names_files):
                    pass

    def index_as_it_is(self) -> Connection | None:
        """The index, which may be behind the root files; None if there is none that can be read."""
        if self._index is None and not os.path.exists(self.layout.index):
            return None
        return self.index.reading()

    def put_root(self, connection: Connection, root: Root, *, unproven: bool = False) -> Root:
        """The root's file, on the disk, and its rows, in this transaction, say `root`. As `put_roots`."""
        written = self.put_roots(connection, [root], unproven=unproven)
        return next(each for each in written if each.id == root.id)

    def put_roots(self, connection: Connection, changed: list[Root], *, unproven: bool = False) -> list[Root]:
        """The files of these roots, on the disk, and their rows say what they are to be.

        So do those of their bases, which never expire before them; a root on which others are based lasts
        as long as they do, whatever `changed` says. Returns all that were written. unproven: the names of
        their folders are synced whoever made them: for who may not learn whose roots are there already.
        """
        from castore.index import bases

        written = bases.settled(connection, changed)
        for root in written:
            self.put_root_as_it_is(connection, root, unproven=unproven)
        return written

    def put_root_as_it_is(self, connection: Connection, root: Root, *, unproven: bool = False) -> None:
        """As `put_root`, for one that was written before, whatever else the index knows by now."""
        from castore.index import roots

        if root.scope not in (OPERATOR, self._default_scope()):
            self._publish_mark()
        stamp = self.root_files.publish(root, unproven=unproven)
        roots.put(connection, root, stamp)
        roots.used_sequence(connection, root.sequence)
        self._note_shards(connection, {root.id[:2]})

    def bases_of(self, connection: Connection, root: Root) -> list[Root]:
        """What the root is based on, what that is based on, and so on.

        Raises BaseMissing, also for one of another scope; RootDamaged where it goes round in a circle.
        """
        from castore.index import roots

        found: list[Root] = []
        at = root
        while at.base is not None:
            base = roots.by_id(connection, at.base)
            if base is None or base.scope != root.scope:
                raise BaseMissing(at.base)
            found.append(base)
            if len(found) >= ROOT_CHAIN_MAX:
                words = f"it is based on over {ROOT_CHAIN_MAX - 1} roots, or on itself"
                raise RootDamaged(self.layout.root_file(root.id), words)
            at = base
        return found

    def usable_bases(self, connection: Connection, root: Root, now: float) -> list[Root] | None:
        """As `bases_of`; None if one of them is not there any more, or has expired."""
        try:
            found = self.bases_of(connection, root)
        except (BaseMissing, RootDamaged):
            return None
        return None if any(base.is_expired(now) for base in found) else found

    def others_named(
        self, connection: Connection, name: str, scope: str, root_id: str, now: float
    ) -> list[Root]:
        """The live roots of the scope that have the name, without this one, the latest first."""
        from castore.index import roots

        return [
            other
            for other in roots.by_name(connection, name)
            if other.scope == scope and other.id != root_id and other.is_live(now)
        ]

    def end_purges(self, connection: Connection) -> list[Digest]:
        """No purge is half done: no root names an object that was purged from its scope.

        A purge that was killed left its tombstone, and perhaps the file and roots that name it. Whoever
        writes next ends it; the file stays if a root of another scope names the object. Returns whose purge
        was ended.
        """
        from castore.index import objects, roots

        done = []
        for digest in self.tombstones.digests():
            try:
                tombstone = self.tombstones.get(digest)
            except RootDamaged:
                continue  # Verify tells it. Whom it names is not known.
            naming = [] if tombstone is None else roots.naming(connection, digest)
            if tombstone is None or not any(root.scope in tombstone.scopes for root in naming):
                continue
            # Written again: who was killed, or failed, may have failed to sync it.
            self.tombstones.publish(tombstone)
            now = self.clock()
            if all(root.scope in tombstone.scopes or root.is_expired(now) for root in naming):
                self.source.delete(digest)
                self.source.settle([digest])
                objects.remove(connection, [digest.raw])
            self.purge_roots(connection, digest, [root for root in naming if root.scope in tombstone.scopes])
            done.append(digest)
        return done

    def purge_roots(self, connection: Connection, digest: Digest, naming: list[Root]) -> list[Root]:
        """None of these roots, which name the object, does so any more, and each says that it did; the roots
        that are bound to it (`bound_to`) are over. Returns those that had not expired.

        Those are written first: after a crash what is left to do is found by the others.
        """
        now = self.clock()
        bound = {root.id: root for root in self.bound_to(connection, naming)}
        # What they name is read before their rows change.
        changed = {root.id: without(root, digest) for root in naming}
        over = {root.id: ended(changed.get(root.id, root), now=now) for root in bound.values()}
        self.put_roots(connection, list(over.values()))
        self.put_roots(connection, [root for root in changed.values() if root.id not in over])
        return [root for root in over.values() if not bound[root.id].is_expired(now)]

    def bound_to(self, connection: Connection, naming: Iterable[Root]) -> list[Root]:
        """Of these roots, and of all that are based on one of them, those that keep all or nothing."""
        from castore.index import bases, roots

        found = {root.id: root for root in naming}
        waiting = list(found.values())
        while waiting:
            base = waiting.pop()
            for each in bases.based_ids(connection, base.id).keys() - found.keys():
                root = roots.by_id(connection, each)
                if root is not None and root.scope == base.scope:
                    found[each] = root
                    waiting.append(root)
        return [root for root in found.values() if is_bound(root)]

    def remove_roots(self, connection: Connection, root_ids: list[str]) -> None:
        """None of these roots has a file, on the disk, or rows, in this transaction. In the order given."""
        from castore.index import roots

        self.root_files.remove(root_ids)
        roots.remove(connection, root_ids)
        self._note_shards(connection, {root_id[:2] for root_id in root_ids})

    def make_writable(self) -> None:
        """The folders that writing needs are there: git keeps no empty ones.

        Raises RootDamaged where objects/ holds something and roots/ is gone: what is kept is then not
        known, and making it anew would let gc take everything.
        """
        layout, mode = self.layout, self.modes.folder
        for folder in (layout.objects, layout.tmp):
            if not os.path.isdir(folder):
                durable.make_folder(folder, mode)
        if not os.path.isdir(layout.roots):
            if next(self.source.digests(), None) is not None:
                raise RootDamaged(layout.roots, "the folder is gone, and objects are there")
            durable.make_folder(layout.roots, mode)

    def _mark_scopes(self, connection: Connection) -> None:
        """Roots that came by other hands are marked as ours are."""
        from castore.index import seen

        if not self.has_mark and seen.has_other_scope(connection, self._default_scope()):
            self._publish_mark()

    def _publish_mark(self) -> None:
        if not self.has_mark:
            staged = self.layout.staged_file(f"scopes-{os.getpid()}-{os.urandom(6).hex()}")
            durable.publish(self.layout.scopes, _MARK, staged=staged, mode=self.modes.file)

    def _default_scope(self) -> str:
        try:
            return self.config.scope
        except InvalidConfig:
            return Config().scope

    def _note_shards(self, connection: Connection, shards: set[str]) -> None:
        """The changes to these shards of roots/ are ours: the next write need not look at them."""
        from castore.index import roots

        roots.set_shard_times(connection, {shard: self.root_files.shard_time(shard) for shard in shards})
