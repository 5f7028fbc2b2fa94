"""Store: one folder = objects + roots + index, as one caller may see and use it.

Laws: reading takes no lock, creates nothing, and works from the files where there is no index. Writing
is a Batch, or a change of roots (castore.store.keeping): each one transaction. What is said to be stored
is on the disk. What the caller was not granted (castore.store.access) is not there: every question is
answered over what it sees, and reading the rest is ObjectMissing, in the same words.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from castore import durable
from castore.digest import Digest
from castore.errors import (
    Damaged,
    InvalidConfig,
    InvalidOption,
    NotFound,
    ObjectDamaged,
    ObjectMissing,
    StoreExists,
    StoreMissing,
)
from castore.layout import Layout
from castore.objects.database import CheckSize, ObjectStat
from castore.roots.model import Root, RootDraft, RootKind, keyed_root_id
from castore.settings import Config
from castore.store import keeping, scopes
from castore.store.access import Access, Granted, resolve_access
from castore.store.batch import Batch, Meaning, NameMove
from castore.store.folder import create_folder, is_store, read_format, seems_to_grant
from castore.store.keeping import Forgotten, RootChoice
from castore.store.logs import LogRoots, LogScopes
from castore.store.lookup import Lookup
from castore.store.purging import Purged, purge
from castore.store.queries import Queries
from castore.store.remedies import offer_repair
from castore.store.scopes import ScopeFacts
from castore.store.stats import StoreStats, stats
from castore.store.transaction import Clock, Transactions

if TYPE_CHECKING:
    from castore.index.seen import Naming
    from castore.index.views import ViewRow
    from castore.store.importing import Importing
    from castore.store.life import Life, Listed
    from castore.store.ranged import RangedObject
    from castore.store.reads import ReadCount, ReadLog, Use

__all__ = ["Fetch", "Store", "StoreHandle"]

Fetch = Callable[["Store", str, Sequence[Digest]], None]
"""Given a store, the name of a remote and digests of objects that are there: they are here, or it raises."""


class Store:
    """One open store. Objects may be read and staged from several threads; the rest from one.

    access: what the caller was granted, which is settled when the store is first asked for something.
    """

    def __init__(self, layout: Layout, clock: Clock, access: Access | None = None) -> None:
        self.folder = layout.folder
        self.parts = Transactions(layout, clock)
        self._access = access or Access()
        self._queries = Queries(self.parts, lambda: self.granted)
        self._lookup = Lookup(self.parts.source, self._queries)
        self._reads: ReadLog | None = None
        self.fetcher: Fetch | None = None
        """What brings objects that a root promises (its detail REMOTE) from the remote of that name; None:
        nothing does. It is set by who opens the store."""

    @property
    def config(self) -> Config:
        """The settings. Raises InvalidConfig."""
        return self.parts.config

    @classmethod
    def open(
        cls, folder: str | os.PathLike[str], *, clock: Clock = time.time, access: Access | None = None
    ) -> Store:
        """The store in `folder`. Raises StoreMissing, UnknownStoreFormat."""
        layout = Layout(os.path.abspath(folder))
        read_format(layout)
        return cls(layout, clock, access)

    @classmethod
    def init(
        cls,
        folder: str | os.PathLike[str],
        *,
        shared: bool = False,
        tracked: bool = False,
        clock: Clock = time.time,
        access: Access | None = None,
    ) -> Store:
        """A new, empty store is in `folder`, on the disk, whole or not at all. Raises StoreExists."""
        create_folder(Layout(os.path.abspath(folder)), is_shared=shared, is_tracked=tracked)
        store = cls.open(folder, clock=clock, access=access)
        store.parts.is_made_here = True
        return store

    @property
    def notes(self) -> list[str]:
        """What happened that somebody should be told, such as an index that was built anew."""
        return self.parts.notes

    def close(self) -> None:
        self._flush_reads()
        self._queries.close()
        self.parts.close()

    # --- Access ---

    @cached_property
    def granted(self) -> Granted:
        """What this caller may use, as it was when first asked. Raises ScopeDenied, InvalidConfig."""
        access = self._access
        try:
            config = self.parts.config
        except InvalidConfig:
            # Settings must not keep an object from being read back (L9), nor let a reader see more.
            default = Config().scope
            if access.grants is None and (
                seems_to_grant(self.parts.layout) or self._queries.has_other_scope(default)
            ):
                raise
            return resolve_access(access, None, default, alone=True)
        is_asked = access.grants is None and config.granted is None
        alone = is_asked and not (
            config.scopes.keys() - {config.scope} or self._queries.has_other_scope(config.scope)
        )
        return resolve_access(access, config.granted, config.scope, alone=alone)

    def require_operator(self, act: str) -> None:
        """Raises ScopeDenied unless the caller may act on the whole store. act: `gc`, `repair`, …"""
        self.granted.require_operator(act)

    def scopes(self) -> list[ScopeFacts]:
        """The scopes that the caller sees, sorted: those with a root, and those declared or granted."""
        return scopes.listed(self.parts, self._queries, self.granted)

    def scope(self, name: str) -> ScopeFacts:
        """What one scope holds. Raises ScopeDenied, whether or not it exists, if it was not granted."""
        return scopes.shown(self.parts, self._queries, self.granted, name)

    def create_scope(self, name: str, *, quota: str | None = None) -> ScopeFacts:
        """config.toml declares the scope and its quota (`10GB`, `none`; None: as it is), on the disk.

        Raises ScopeDenied unless the caller is the operator; InvalidOption, InvalidConfig, LimitExceeded.
        """
        scopes.create(self.parts, self.granted, name, quota)
        return self.scope(name)

    def change_setting(self, key: str, value: str) -> None:
        """config.toml says that `key` (`fold.bytes-over`) is `value`, on the disk; comments stay.

        It could widen what is granted, so it is the operator's. Raises ScopeDenied, InvalidConfig.
        """
        self.require_operator("changing a setting")
        scopes.set_value(self.parts, key, value)

    # --- Objects ---

    def read(
        self, digest: Digest, check_size: CheckSize | None = None, *, count: ReadCount | None = None
    ) -> bytes:
        """The object's bytes, all of them, digested again. Raises ObjectMissing, ObjectPurged, ObjectDamaged.

        check_size: of a large object, is given the size before any byte is decoded, and may raise.
        count: the read is counted there, instead of being noted as one of the store's (castore.store.reads).
        """
        self._require(digest)
        try:
            data = self.parts.database.read(digest, check_size)
        except ObjectMissing:
            raise self.absence(digest) from None
        except ObjectDamaged as error:
            self._address(error)
            raise
        if count is None:
            self.reads.note(digest, len(data))
        else:
            count.add(digest.hex, len(data))
        return data

    def chunks(self, digest: Digest, *, count: ReadCount | None = None) -> Iterator[bytes]:
        """The object's bytes in pieces of at most 1 MiB; ends without an error only if all were right.

        count: as of `read`. Raises ObjectMissing, ObjectPurged, ObjectDamaged, the last also after the last
        piece: keep what came back until then.
        """
        self._require(digest)
        size = 0
        try:
            for piece in self.parts.database.chunks(digest):
                size += len(piece)
                yield piece
        except ObjectMissing:
            raise self.absence(digest) from None
        except ObjectDamaged as error:
            self._address(error)
            raise
        if count is None:
            self.reads.note(digest, size)
        else:
            count.add(digest.hex, size)

    def ranged(self, digest: Digest, *, count: ReadCount | None = None) -> RangedObject:
        """The object, to be read by ranges: only what is needed of it is read, and checked.

        All of its ranges are one read, of the bytes that came back. count: as of `read`.
        Raises ObjectMissing, ObjectPurged, ObjectDamaged, as does what is asked of it.
        """
        from castore.store.ranged import Guard, RangedObject

        self._require(digest)

        def note(size: int, times: int) -> None:
            if count is None:
                self.reads.note(digest, size, times)
            else:
                count.add(digest.hex, size, times)

        return RangedObject(self.parts, digest, Guard(lambda: self.absence(digest), self._address, note))

    @property
    def reads(self) -> ReadLog:
        """Where it is noted what was read: in the file once the store is closed, or asked for it."""
        if self._reads is None:
            from castore.store.reads import ReadLog

            parts = self.parts
            self._reads = ReadLog(parts.layout, parts.modes, parts.clock, lambda: self.granted.reader)
        return self._reads

    def life(self, digest: Digest) -> Life:
        """What keeps the object, and when it was last read. Raises ObjectMissing, RootDamaged.

        It is damaged if its header is; purged, if the caller is told so.
        """
        for found in self.lives([digest]):
            if found.life is not None:
                return found.life
        raise self.absence(digest)

    def lives(self, digests: Iterable[Digest]) -> Iterator[Listed]:
        """Sizes and life of each of `digests`, in their order; many at once. See castore.store.life."""
        from castore.store.life import lives

        self._flush_reads()
        return lives(self.parts, self._queries, self.granted, digests)

    def uses(self, keys: Iterable[str]) -> dict[str, Use]:
        """Of these keys of roots those that were used, and how, as far as readers could note it (`reads`).

        Told of the uses by readers that the caller's grants cover; a key without any is left out.
        """
        from castore.store.reads import uses

        self._flush_reads()
        return uses(self.parts.layout, self.granted.covers, frozenset(keys))

    def stat(self, digest: Digest) -> ObjectStat | None:
        """Whether the object is there, and its sizes; its bytes are not read. Raises ObjectDamaged."""
        if not self._queries.sees(digest):
            return None
        try:
            return self.parts.database.stat(digest)
        except ObjectDamaged as error:
            self._address(error)
            raise

    def promised(self, digests: Iterable[Digest]) -> dict[Digest, str]:
        """Of these objects those that are not here, but at a remote as a root says that the caller sees: each
        with the remote's name, in their order."""
        return self._queries.promised(digests)

    def want(self, digests: Iterable[Digest]) -> int:
        """Those of these objects that are promised and not here are fetched; returns how many.

        For who is about to read many: all that one remote has are asked for at once. After it each is here,
        on the disk. Nothing is done about what is missing otherwise, is damaged, or is not promised by a root
        that the caller sees: no remote is ever asked for that. Without a fetcher nothing is done at all.
        Raises RemoteError: RemoteForbidden where nothing may be fetched.
        """
        if self.fetcher is None:
            return 0
        by_remote: dict[str, list[Digest]] = {}
        for digest, remote in self.promised(digests).items():
            by_remote.setdefault(remote, []).append(digest)
        for remote, wanted in by_remote.items():
            self.fetcher(self, remote, wanted)
        return sum(map(len, by_remote.values()))

    def absence(self, digest: Digest) -> NotFound:
        """The error that says why there is no such object: ObjectPurged or ObjectMissing."""
        return self._queries.absence(digest)

    def digests(self, prefix: str = "") -> Iterator[Digest]:
        """Of every object that is there or promised (`promised`), sorted. prefix: the hex digits they begin
        with."""
        from heapq import merge

        is_operator = self.granted.is_operator
        here = self.parts.source.digests(prefix) if is_operator else iter(self._queries.digests(prefix))
        promised = self._queries.promised_digests(prefix)
        return merge(here, promised) if promised else here

    def newest_objects(self) -> list[tuple[Digest, int | None]]:
        """Every object that may be there, those named last first, each with its size if that is known."""
        return self._queries.newest_objects()

    def resolve(self, text: str) -> Digest:
        """The digest of the object that `text` names, which is there or promised (`promised`).

        text: a digest, 6 or more of its digits, with or without `sha256:`; a name whose root names one
        object; a whole marker or reference. Raises NameMissing, ObjectMissing, ObjectPurged,
        DigestAmbiguous; NotFound for what is no object: a folded document, a root, a name of several
        objects.
        """
        return self._lookup.object(text)

    def find(self, text: str) -> Digest | tuple[Root, ...]:
        """What `text` names: an object that is there; else roots, the latest first.

        text: as for `resolve`; also a folded document's digest, or a root's id, or 6 or more of their
        digits. A name is an object if its roots name that one alone and no document.
        Raises NameMissing, ObjectMissing, ObjectPurged, DigestAmbiguous, RootDamaged.
        """
        return self._lookup.anything(text)

    def batch(self) -> Batch:
        """Objects to be published together, under one root."""
        try:
            self.parts.make_writable()
        except Damaged as error:
            self._address(error)
            raise
        return Batch(self.parts, self._queries, self.granted, want=self.want)

    def importing(self) -> Importing:
        """Roots and objects that come from elsewhere, to be here as they are there."""
        from castore.store.importing import Importing

        try:
            self.parts.make_writable()
        except Damaged as error:
            self._address(error)
            raise
        return Importing(self.parts, self._queries, self.granted)

    def require_writable(self, scope: str | None = None) -> None:
        """Raises what a writer in this scope (None: the caller's own) would get, as far as that can be told
        before there is something to write; nothing is made but folders and rows that follow from files.

        Raises ScopeDenied, StoreLocked, RootDamaged, IndexDamaged, InvalidConfig, CastoreError.
        """
        self.granted.writing_scope(scope)
        self.batch()
        for folder in (self.parts.layout.objects, self.parts.layout.roots, self.parts.layout.tmp):
            durable.require_writable(folder)
        with self.parts.writing(names_files=self.granted.is_operator):
            pass

    def stats(self) -> StoreStats:
        """Counts and sizes of what the caller sees: from the index, or from every object's header."""
        self._flush_reads()
        return stats(self.parts, self._queries, self.granted)

    def purge(self, digest: Digest, reason: str) -> Purged:
        """The object is gone though roots name it, and who could see it is told. See castore.store.purging.

        Raises ScopeDenied unless the caller is the operator; ObjectMissing if nothing knows the object.
        """
        self.require_operator("purge")
        return purge(self.parts, digest, reason)

    def bound_to(self, digest: Digest) -> list[Root]:
        """The roots, such as of summaries, that would be over at once if the object were purged."""
        return self._queries.bound_to(digest)

    # --- Roots ---

    def roots(self, limit: int | None = None) -> list[Root]:
        """The roots, the latest first. Raises RootDamaged where a file had to be read and could not."""
        return self._queries.newest(limit)

    def roots_naming(self, digest: Digest) -> list[Root]:
        """The roots that name this object, the latest first.

        What else they name is read when it is asked for, while the store is open: a root may name thousands.
        """
        return self._queries.roots_naming(digest)

    def naming(self, digest: Digest) -> Naming:
        """By how many roots the object is kept, and until when."""
        return self._queries.naming(digest)

    def root(self, root_id: str) -> Root | None:
        """The root with this id (32 hex digits), live or not; None if there is none."""
        return self._queries.root(root_id)

    def based_chain(self, root: Root) -> list[Root]:
        """The root, the one that it is based on, the one that that is based on, and so on: at most 64.

        Raises BaseMissing if one of them is not there; RootDamaged if they go round in a circle.
        """
        return self._queries.based_chain(root)

    def log(self, kind: RootKind, source_name: str, *, scope: str | None = None) -> LogRoots:
        """The log of this kind and source, in the scope that the caller writes in; empty if there is none.

        Where the index is behind, root files are read one after another: beside a writer that may show a
        later record without an earlier one, but never the same twice. Raises ScopeDenied, RootDamaged.
        """
        return self._queries.log(kind, self.granted.writing_scope(scope), source_name)

    def log_scopes(self, kind: RootKind, source_name: str) -> LogScopes:
        """In which of the scopes that the caller sees a log of this kind and source lies."""
        return self._queries.log_scopes(kind, source_name)

    def keyed_root(self, kind: RootKind, key: str, *, scope: str | None = None) -> Root | None:
        """The live root that has this key, in the scope that the caller writes in; None if there is none.

        key: 64 lower-case hex digits. Raises ScopeDenied, RootDamaged.
        """
        scope = self.granted.writing_scope(scope)
        root = self._queries.root(keyed_root_id(kind, scope, key)) if self.granted.covers(scope) else None
        return root if root is not None and root.is_live(self.parts.clock()) else None

    def keyed_roots(
        self, kind: RootKind, *, scope: str | None = None, member: tuple[str, str] | None = None
    ) -> list[Root]:
        """The live roots of this kind that have a key, the latest first: of all scopes that the caller sees,
        or of one. member: only those whose details have, at this path (`$.summary.names`), an object with
        this member. Raises ScopeDenied for a scope that was not granted, RootDamaged."""
        scope = None if scope is None else self.granted.writing_scope(scope)
        return self._queries.keyed(kind, scope, member)

    def views(self) -> list[ViewRow]:
        """The recorded views that the caller sees, the latest first: what each is of, by digest and size."""
        from castore.index import views

        now = self.parts.clock()
        return self._queries.ask(lambda connection: views.rows(connection, self._queries.seen, now))

    def document_root(self, document: Digest) -> Root | None:
        """The latest root whose document has this digest; None if none has: it was edited, or is not ours."""
        return next(iter(self.document_roots(document)), None)

    def document_roots(self, document: Digest) -> list[Root]:
        """The roots whose document has this digest, the latest first."""
        return self._queries.of_document(document.hex)

    def named_roots(self, name: str) -> list[Root]:
        """The live roots that have this name, in any scope."""
        return self._queries.named(name)

    def tag(
        self,
        name: str,
        reference: str,
        *,
        scope: str | None = None,
        keep_seconds: int | None = None,
        move: bool = False,
        expected: str | None = None,
    ) -> Root:
        """The name means what `reference` does: an object, or a document with all its objects.

        move: the name may mean something else now, which is then forgotten. expected: only if it means
        what this does, else NameMoved, so that of two that move it from the same place one is told.
        Raises NameTaken unless it meant that already, or `move`; NameMissing, ObjectMissing,
        ObjectPurged, DigestAmbiguous, ScopeDenied, InvalidOption.
        """
        meaning = self._lookup.meaning(reference)
        change = None
        if move:
            change = NameMove(None if expected is None else self._lookup.meaning(expected))
        draft = RootDraft(
            RootKind.TAG,
            meaning.objects,
            scope=scope,
            name=name,
            document=meaning.document,
            keep_seconds=keep_seconds,
            base=self._base_of(meaning, scope),
        )
        with self.batch() as batch:
            return batch.commit(draft, move=change)

    def keep(self, drafts: list[RootDraft]) -> list[Root]:
        """The roots of `drafts` are there, all or none; each names what the caller sees."""
        with self.batch() as batch:
            return batch.commit_all(drafts)

    def keep_draft(self, reference: str, *, scope: str | None = None) -> RootDraft:
        """A draft that keeps what `reference` means: an object, or a document with all its objects.

        scope: that the root will be in. Raises InvalidOption for a view that was recorded in another.
        """
        meaning = self._lookup.meaning(reference)
        return RootDraft(
            RootKind.KEEP,
            meaning.objects,
            document=meaning.document,
            scope=scope,
            base=self._base_of(meaning, scope),
        )

    def forget(self, choice: RootChoice, *, at_once: bool = False, dry_run: bool = False) -> Forgotten:
        """The roots chosen expire after the grace, or at once. Choosing none is no error."""
        return keeping.forget(self.parts, self.granted, choice, at_once=at_once, dry_run=dry_run)

    def remember(self, choice: RootChoice, *, dry_run: bool = False) -> Forgotten:
        """The roots chosen that were forgotten are what they were before (`forget --undo`)."""
        return keeping.remember(self.parts, self.granted, choice, dry_run=dry_run)

    # --- Helpers ---

    def _flush_reads(self) -> None:
        if self._reads is not None:
            self._reads.flush()

    def _base_of(self, meaning: Meaning, scope: str | None) -> str | None:
        """The root without which a view can't be taken back; None for what is no view."""
        if meaning.view is None:
            return None
        if meaning.view.scope != self.granted.writing_scope(scope):
            raise InvalidOption(
                f"the view is recorded in scope '{meaning.view.scope}', and can be kept there alone",
                hint=f"say --scope '{meaning.view.scope}', or make the view here: 'ctx view --scope'",
            )
        return meaning.view.id

    def _address(self, error: Damaged) -> None:
        """Who is not the operator is told what it can do itself; and all, what a remote may put right."""
        if not self.granted.is_operator:
            error.address_others()
        offer_repair(self.parts, error, is_operator=self.granted.is_operator)

    def _require(self, digest: Digest) -> None:
        """The caller sees the object; if it is promised and not here, it was fetched."""
        if not self._queries.sees(digest):
            raise self.absence(digest)
        if self.parts.source.stat(digest) is None:
            self.want([digest])


class StoreHandle:
    """A place where a store is, or may be made: opened when it is first needed."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        may_create: bool,
        clock: Clock = time.time,
        access: Access | None = None,
        fetcher: Fetch | None = None,
    ) -> None:
        self.folder = os.path.abspath(folder)
        self.may_create = may_create
        self.access = access
        self.fetcher = fetcher
        self._clock = clock
        self._store: Store | None = None

    @classmethod
    def of(cls, store: Store) -> StoreHandle:
        """The place of a store that is open already."""
        handle = cls(store.folder, may_create=False, clock=store.parts.clock)
        handle._store = store
        return handle

    @property
    def exists(self) -> bool:
        return self._store is not None or is_store(Layout(self.folder))

    def get(self) -> Store:
        """The store. Raises StoreMissing: reading never creates one."""
        if self._store is None:
            self._store = Store.open(self.folder, clock=self._clock, access=self.access)
            self._store.fetcher = self.fetcher
        return self._store

    def get_or_create(self) -> Store:
        """The store, made if it may be. Of several processes that make it at once, each gets the same."""
        try:
            return self.get()
        except StoreMissing:
            if not self.may_create:
                raise
        try:
            self._store = Store.init(self.folder, clock=self._clock, access=self.access)
            self._store.fetcher = self.fetcher
        except StoreExists:
            if not self.exists:
                raise
        return self.get()

    def require_writable(self, scope: str | None = None) -> None:
        """As of Store; where none is and one may be made, a folder can be made. Raises StoreMissing, too."""
        if self.exists or not self.may_create:
            self.get().require_writable(scope)
            return
        folder = self.folder
        while not os.path.lexists(folder):
            folder = os.path.dirname(folder)
        durable.require_writable(folder)

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
