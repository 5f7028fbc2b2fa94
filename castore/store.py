"""Store: one folder = objects + roots + index. What is printed after a commit is on the disk.

Laws:
- A commit is one transaction: objects, then the root that names them, then the rows. After it returns
  everything is durable; a crash before leaves staged files or objects that nothing names, never a root
  that names what is not there.
- Bytes that were staged are kept until the transaction has decided, so that no sweep beside it can lose
  an object between "it is there already" and the root that keeps it.
- Reading takes no lock, creates nothing, and works from the files where there is no index.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any

from castore.config import Config, parse_name, parse_scope
from castore.digest import Bytes, Digest, parse_prefix
from castore.errors import DigestAmbiguous, NameMissing, NameTaken, ObjectMissing, RootDamaged, StoreMissing
from castore.folder import create_folder, is_store, read_config, read_format, shared_modes
from castore.layout import Layout
from castore.objects.database import ObjectDatabase, ObjectStat, Staged
from castore.objects.loose import LooseSource
from castore.roots.files import RootFiles
from castore.roots.model import Root, RootDraft, merged, root_id

if TYPE_CHECKING:
    from sqlite3 import Connection

    from castore.index.connection import IndexFile

__all__ = ["Batch", "Store", "StoreHandle"]

Clock = Callable[[], float]

_MARKER = re.compile(r"\[ctx ([0-9a-f]{16,64})\b[^\]]*\]?\Z")


class Store:
    """One open store. Objects may be read and staged from several threads; the rest from one."""

    def __init__(self, layout: Layout, config: Config, clock: Clock) -> None:
        self.folder = layout.folder
        self.config = config
        self.layout = layout
        self.clock = clock
        self.modes = shared_modes(layout)
        self.source = LooseSource(layout, self.modes)
        self.database = ObjectDatabase(self.source, level=config.compression_level)
        self.root_files = RootFiles(layout, file_mode=self.modes.file, folder_mode=self.modes.folder)
        self._index: IndexFile | None = None

    @classmethod
    def open(cls, folder: str | os.PathLike[str], *, clock: Clock = time.time) -> Store:
        """The store in `folder`. Raises StoreMissing, UnknownStoreFormat, InvalidConfig."""
        layout = Layout(os.path.abspath(folder))
        read_format(layout)
        return cls(layout, read_config(layout), clock)

    @classmethod
    def init(
        cls,
        folder: str | os.PathLike[str],
        *,
        shared: bool = False,
        tracked: bool = False,
        clock: Clock = time.time,
    ) -> Store:
        """A new, empty store is in `folder`, on the disk, whole or not at all. Raises StoreExists."""
        layout = Layout(os.path.abspath(folder))
        create_folder(layout, is_shared=shared, is_tracked=tracked)
        return cls.open(folder, clock=clock)

    def close(self) -> None:
        if self._index is not None:
            self._index.close()

    # --- Objects ---

    def read(self, digest: Digest) -> bytes:
        """The object's bytes, all of them, digested again. Raises ObjectMissing, ObjectDamaged."""
        return self.database.read(digest)

    def chunks(self, digest: Digest) -> Iterator[bytes]:
        """The object's bytes in pieces of at most 1 MiB; ends without an error only if all were right.

        Raises ObjectMissing, ObjectDamaged, also after the last piece: keep what came back until then.
        """
        return self.database.chunks(digest)

    def stat(self, digest: Digest) -> ObjectStat | None:
        """Whether the object is there, and its sizes; its bytes are not read. Raises ObjectDamaged."""
        return self.database.stat(digest)

    def digests(self) -> Iterator[Digest]:
        """Of every object file, sorted."""
        return self.source.digests()

    def resolve(self, text: str) -> Digest:
        """The digest of the object that `text` names, which is there.

        text: a digest, 6 or more of its digits, with or without `sha256:`; a name whose root names one
        object; a whole marker or reference. Raises NameMissing, ObjectMissing, DigestAmbiguous.
        """
        text = _pasted(text.strip())
        prefix = parse_prefix(text)
        if prefix is None:
            return self._resolve_name(text)
        if len(prefix) == 64:
            if self.source.stat(Digest(prefix)) is None:
                raise ObjectMissing(f"sha256:{prefix}")
            return Digest(prefix)
        found = list(self.source.digests(prefix))
        if not found:
            raise ObjectMissing(f"sha256:{prefix}")
        if len(found) > 1:
            raise DigestAmbiguous(text, [str(each) for each in found])
        return found[0]

    def batch(self) -> Batch:
        """Objects to be published together, under one root."""
        self.make_writable()
        return Batch(self)

    # --- Roots ---

    def roots(self, limit: int | None = None) -> list[Root]:
        """The roots, the latest first. Raises RootDamaged where a file had to be read and could not."""
        connection = self._reading()
        if connection is not None:
            from castore.index import roots

            return roots.newest(connection, limit)
        return self._roots_from_files(lambda _: True)[:limit]

    def roots_naming(self, digest: Digest) -> list[Root]:
        """The roots that name this object, the latest first."""
        connection = self._reading()
        if connection is not None:
            from castore.index import roots

            return roots.naming(connection, digest)
        return self._roots_from_files(lambda root: digest in root.objects)

    def document_root(self, document: Digest) -> Root | None:
        """The latest root whose document has this digest; None if none has: it was edited, or is not ours."""
        connection = self._reading()
        if connection is not None:
            from castore.index import roots

            return next(iter(roots.by_document(connection, document)), None)
        found = self._roots_from_files(
            lambda root: root.document is not None and root.document.digest == document
        )
        return found[0] if found else None

    def named_roots(self, name: str) -> list[Root]:
        """The live roots that have this name, in any scope; of two in one scope only the latest has it."""
        connection = self._reading()
        if connection is not None:
            from castore.index import roots

            found = roots.by_name(connection, name)
        else:
            found = self._roots_from_files(lambda root: root.name == name)
        now = self.clock()
        live: dict[str, Root] = {}
        for root in found:
            if root.is_live(now):
                live.setdefault(root.scope, root)
        return list(live.values())

    # --- For batches, and for the layer above that deletes ---

    @property
    def index(self) -> IndexFile:
        if self._index is None:
            from castore.index.connection import IndexFile

            self._index = IndexFile(self.layout, mode=self.modes.index)
        return self._index

    @property
    def notes(self) -> list[str]:
        """What happened that somebody should be told, such as an index that was built anew."""
        return self._index.notes if self._index is not None else []

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """The one write transaction, with the rows as the root files are. Raises StoreLocked, RootDamaged."""
        from castore.index import rebuild

        self.make_writable()
        with self.index.writing() as connection:
            if rebuild.is_complete(connection):
                rebuild.reconcile(connection, self.root_files)
            else:
                rebuild.rebuild(connection, self.database, self.root_files)
            yield connection

    def put_root(self, connection: Connection, root: Root) -> None:
        """The root's file, on the disk, and its rows, in this transaction, say `root`."""
        from castore.index import roots

        stamp = self.root_files.publish(root)
        roots.put(connection, root, stamp)
        roots.used_sequence(connection, root.sequence)
        self.note_shards(connection, {root.id[:2]})

    def note_shards(self, connection: Connection, shards: set[str]) -> None:
        """The changes to these shards of roots/ are ours: the next write need not look at them."""
        from castore.index import roots

        roots.set_shard_times(connection, {shard: self.root_files.shard_time(shard) for shard in shards})

    def make_writable(self) -> None:
        """The folders that writing needs are there: git keeps no empty ones.

        Raises RootDamaged where objects/ holds something and roots/ is gone: what is kept is then not
        known, and making it anew would let gc take everything.
        """
        from castore import durable

        layout, mode = self.layout, self.modes.folder
        for folder in (layout.objects, layout.tmp):
            if not os.path.isdir(folder):
                durable.make_folder(folder, mode)
        if not os.path.isdir(layout.roots):
            if next(self.source.digests(), None) is not None:
                raise RootDamaged(layout.roots, "the folder is gone, and objects are there")
            durable.make_folder(layout.roots, mode)

    # --- Helpers ---

    def _reading(self) -> Connection | None:
        """The index, if its rows are what the root files are."""
        if not os.path.exists(self.layout.index):
            return None
        connection = self.index.reading()
        if connection is None:
            return None
        from castore.index.rebuild import is_current

        return connection if is_current(connection, self.root_files) else None

    def _roots_from_files(self, wanted: Callable[[Root], bool]) -> list[Root]:
        if not os.path.isdir(self.layout.roots):
            return []
        found = [root for root in self.root_files.all() if wanted(root)]
        return sorted(found, key=lambda root: root.sequence, reverse=True)

    def _resolve_name(self, text: str) -> Digest:
        found = {digest for root in self.named_roots(text) for digest in root.objects}
        if not found:
            raise NameMissing(text)
        if len(found) > 1:
            raise DigestAmbiguous(text, [str(each) for each in sorted(found)])
        digest = found.pop()
        if self.source.stat(digest) is None:
            raise ObjectMissing(str(digest))
        return digest


class Batch:
    """Objects that become visible together, with the root that keeps them. A context manager.

    What is staged and not committed is dropped at the end of the block. Staging is safe from several
    threads; the same bytes staged twice are one object.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = Lock()
        self._staged: dict[str, Staged] = {}
        self.objects_new = 0
        self.objects_existing = 0

    def __enter__(self) -> Batch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._store.source.drop(staged.frames for staged in self._staged.values())
        self._staged.clear()

    def stage(self, data: Bytes) -> Staged:
        """`data` is digested, encoded, decoded again and compared; it is in the store after `commit`."""
        return self._keep(self._store.database.stage(data))

    def stage_chunks(self, pieces: Iterable[Bytes]) -> Staged:
        """As `stage`, for any length, in bounded memory."""
        return self._keep(self._store.database.stage_chunks(pieces))

    def commit(self, draft: RootDraft) -> Root:
        """The objects of `draft` and its root are in the store, on the disk.

        Each object was staged here or is there already. Raises ObjectMissing, NameTaken, InvalidOption,
        StoreLocked, RootDamaged; then nothing is visible that was not before. After a crash the root is
        there with all its objects, or it is not there.
        """
        store = self._store
        scope = parse_scope(store.config.scope if draft.scope is None else draft.scope)
        if draft.name is not None:
            parse_name(draft.name)
        named = set(draft.objects)
        mine = [self._staged[digest.hex] for digest in sorted(named) if digest.hex in self._staged]
        store.source.prepare([staged.frames for staged in mine if staged.found is None])
        with store.writing() as connection:
            from castore.index import objects, roots

            now = store.clock()
            identity = root_id(draft, scope)
            if draft.name is not None:
                for other in roots.by_name(connection, draft.name):
                    if other.scope == scope and other.id != identity and other.is_live(now):
                        raise NameTaken(draft.name, scope)
            for digest in named:
                if digest.hex not in self._staged and store.source.stat(digest) is None:
                    raise ObjectMissing(str(digest))
            self._publish(connection, mine)
            objects.add(connection, [_row(staged) for staged in mine])
            sequence = roots.next_sequence(connection)
            old = roots.by_id(connection, identity)
            root = merged(draft, scope, old, now=now, sequence=sequence)
            if root != old:
                store.put_root(connection, root)
        return root

    # --- Helpers ---

    def _keep(self, staged: Staged) -> Staged:
        with self._lock:
            first = self._staged.setdefault(staged.digest.hex, staged)
        if first is not staged:
            self._store.source.drop([staged.frames])
        return first

    def _publish(self, connection: Connection, mine: list[Staged]) -> None:
        """Those that are not there as they were when they were found good get their staged bytes."""
        from castore.index import objects

        source = self._store.source
        waiting: list[tuple[Digest, Any]] = []
        for staged in mine:
            found = staged.found
            if found is not None:
                now = source.stat(staged.digest)
                row = objects.one(connection, staged.digest)
                is_same_file = row is None or row.file_sha256 == found.file_sha256
                if now is not None and now.stamp == found.stamp and is_same_file:
                    continue
            waiting.append((staged.digest, staged.frames))
            staged.found = None
        source.publish(waiting)
        self.objects_new = sum(staged.is_new for staged in mine)
        self.objects_existing = len(mine) - self.objects_new


class StoreHandle:
    """A place where a store is, or may be made: opened when it is first needed."""

    def __init__(self, folder: str | os.PathLike[str], *, may_create: bool, clock: Clock = time.time) -> None:
        self.folder = os.path.abspath(folder)
        self.may_create = may_create
        self._clock = clock
        self._store: Store | None = None

    @property
    def exists(self) -> bool:
        return self._store is not None or is_store(Layout(self.folder))

    def get(self) -> Store:
        """The store. Raises StoreMissing: reading never creates one."""
        if self._store is None:
            self._store = Store.open(self.folder, clock=self._clock)
        return self._store

    def get_or_create(self) -> Store:
        """The store, made if it may be. Of several processes that make it at once, each gets the same."""
        try:
            return self.get()
        except StoreMissing:
            if not self.may_create:
                raise
        from castore.errors import StoreExists

        try:
            self._store = Store.init(self.folder, clock=self._clock)
        except StoreExists:
            if not self.exists:
                raise
        return self.get()

    def close(self) -> None:
        if self._store is not None:
            self._store.close()


def _pasted(text: str) -> str:
    """The digest in a whole marker or reference; other text as it is."""
    if text.startswith("[ctx "):
        match = _MARKER.match(text)
        return match[1] if match else text
    if text.startswith("{"):
        import json

        try:
            return str(json.loads(text)["$ctx"]["digest"])
        except (ValueError, KeyError, TypeError, RecursionError):
            return text
    return text


def _row(staged: Staged) -> Any:
    from castore.index.objects import ObjectRow

    found = staged.found
    if found is not None:
        return ObjectRow(staged.digest.raw, found.size, found.stored_bytes, found.file_sha256)
    return ObjectRow(staged.digest.raw, staged.size, staged.frames.stored_bytes, staged.file_sha256)
