"""Store: one folder = objects + roots + index. What is said to be stored is on the disk.

Law: reading takes no lock, creates nothing, and works from the files where there is no index. Writing
is a Batch, or a change of roots (castore.store.keeping): each one transaction.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from castore.config import Config
from castore.digest import DIGEST_HEX, PREFIX_HEX_MIN, SHORT_HEX, Digest, is_short_prefix, parse_prefix
from castore.errors import (
    DigestAmbiguous,
    NameMissing,
    NotFound,
    ObjectMissing,
    RootDamaged,
    StoreExists,
    StoreMissing,
)
from castore.layout import Layout
from castore.objects.database import CheckSize, ObjectStat
from castore.roots.model import Content, Root, RootDraft, RootKind
from castore.store import keeping
from castore.store.batch import Batch
from castore.store.folder import create_folder, is_store, read_format
from castore.store.keeping import Forgotten, RootChoice
from castore.store.queries import RootQueries, answer
from castore.store.transaction import Clock, Transactions

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["Store", "StoreHandle", "StoreStats"]

_MARKER = re.compile(r"\[ctx ([0-9a-f]{16,64})\b[^\]]*\]?\Z")
_BIGGEST_COUNT = 5


@dataclass(frozen=True, slots=True)
class StoreStats:
    """`bytes`: of all objects; `stored_bytes`: of their files; `biggest`: by their files, biggest first."""

    objects: int
    roots: int
    bytes: int
    stored_bytes: int
    biggest: tuple[ObjectStat, ...]


class Store:
    """One open store. Objects may be read and staged from several threads; the rest from one."""

    def __init__(self, layout: Layout, clock: Clock) -> None:
        self.folder = layout.folder
        self.parts = Transactions(layout, clock)
        self._queries = RootQueries(self.parts)

    @property
    def config(self) -> Config:
        """The settings. Raises InvalidConfig."""
        return self.parts.config

    @classmethod
    def open(cls, folder: str | os.PathLike[str], *, clock: Clock = time.time) -> Store:
        """The store in `folder`. Raises StoreMissing, UnknownStoreFormat."""
        layout = Layout(os.path.abspath(folder))
        read_format(layout)
        return cls(layout, clock)

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
        create_folder(Layout(os.path.abspath(folder)), is_shared=shared, is_tracked=tracked)
        store = cls.open(folder, clock=clock)
        store.parts.is_made_here = True
        return store

    @property
    def notes(self) -> list[str]:
        """What happened that somebody should be told, such as an index that was built anew."""
        return self.parts.notes

    def close(self) -> None:
        self.parts.close()

    # --- Objects ---

    def read(self, digest: Digest, check_size: CheckSize | None = None) -> bytes:
        """The object's bytes, all of them, digested again. Raises ObjectMissing, ObjectDamaged.

        check_size: of a large object, is given the size before any byte is decoded, and may raise.
        """
        return self.parts.database.read(digest, check_size)

    def chunks(self, digest: Digest) -> Iterator[bytes]:
        """The object's bytes in pieces of at most 1 MiB; ends without an error only if all were right.

        Raises ObjectMissing, ObjectDamaged, also after the last piece: keep what came back until then.
        """
        return self.parts.database.chunks(digest)

    def stat(self, digest: Digest) -> ObjectStat | None:
        """Whether the object is there, and its sizes; its bytes are not read. Raises ObjectDamaged."""
        return self.parts.database.stat(digest)

    def digests(self) -> Iterator[Digest]:
        """Of every object file, sorted."""
        return self.parts.source.digests()

    def resolve(self, text: str) -> Digest:
        """The digest of the object that `text` names, which is there.

        text: a digest, 6 or more of its digits, with or without `sha256:`; a name whose root names one
        object; a whole marker or reference. Raises NameMissing, ObjectMissing, DigestAmbiguous; NotFound
        for what is no object: a folded document, a root, a name of several objects.
        """
        text = pasted(text)
        prefix = parse_prefix(text)
        if prefix is None:
            return self._resolve_name(text)
        found = self._objects(prefix)
        if not found:
            raise self._no_object(prefix)
        if len(found) > 1:
            raise DigestAmbiguous(text, [str(each) for each in found])
        return found[0]

    def find(self, text: str) -> Digest | tuple[Root, ...]:
        """What `text` names: an object that is there; else roots, the latest first.

        text: as for `resolve`; also a folded document's digest, or a root's id, or 6 or more of their
        digits. A name is an object if its roots name that one alone and no document.
        Raises NameMissing, ObjectMissing, DigestAmbiguous, RootDamaged.
        """
        text = pasted(text)
        prefix = parse_prefix(text)
        if prefix is None:
            named = self._named(text)
            objects = {digest for root in named for digest in root.objects}
            is_object = len(objects) == 1 and all(root.document is None for root in named)
            return self.resolve(text) if is_object else tuple(named)
        found: dict[str, Digest | tuple[Root, ...]] = {str(each): each for each in self._objects(prefix)}
        documents: dict[str, tuple[Root, ...]] = {}
        for root in self._queries.of_document(prefix):
            key = str(root.document.digest) if root.document is not None else root.id
            documents[key] = (*documents.get(key, ()), root)
        # A document that was also put is an object: its bytes are here.
        found = {**documents, **found, **{root.id: (root,) for root in self._queries.with_id(prefix)}}
        if len(found) > 1:
            raise DigestAmbiguous(text, sorted(found))
        for each in found.values():
            return each
        raise ObjectMissing(f"sha256:{prefix}")

    def batch(self) -> Batch:
        """Objects to be published together, under one root."""
        self.parts.make_writable()
        return Batch(self.parts)

    def stats(self) -> StoreStats:
        """Counts and sizes of everything in the store: from the index, or from every object's header."""
        return answer(self.parts, self._stats_from_index, self._stats_from_files)

    # --- Roots ---

    def roots(self, limit: int | None = None) -> list[Root]:
        """The roots, the latest first. Raises RootDamaged where a file had to be read and could not."""
        return self._queries.newest(limit)

    def roots_naming(self, digest: Digest) -> list[Root]:
        """The roots that name this object, the latest first.

        What else they name is read when it is asked for, while the store is open: a root may name thousands.
        """
        return self._queries.naming(digest)

    def document_root(self, document: Digest) -> Root | None:
        """The latest root whose document has this digest; None if none has: it was edited, or is not ours."""
        return next(iter(self._queries.of_document(document.hex)), None)

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
    ) -> Root:
        """The name means what `reference` does: an object, or a document with all its objects.

        Raises NameTaken unless it meant that already, or `move`; NameMissing, ObjectMissing,
        DigestAmbiguous, InvalidOption.
        """
        document, objects = self._meant(pasted(reference))
        draft = RootDraft(
            RootKind.TAG, objects, scope=scope, name=name, document=document, keep_seconds=keep_seconds
        )
        with self.batch() as batch:
            return batch.commit(draft, move_name=move)

    def forget(self, choice: RootChoice, *, at_once: bool = False, dry_run: bool = False) -> Forgotten:
        """The roots chosen expire after the grace, or at once. Choosing none is no error."""
        return keeping.forget(self.parts, choice, at_once=at_once, dry_run=dry_run)

    def remember(self, choice: RootChoice, *, dry_run: bool = False) -> Forgotten:
        """The roots chosen that were forgotten are what they were before (`forget --undo`)."""
        return keeping.remember(self.parts, choice, dry_run=dry_run)

    # --- Helpers ---

    def _stats_from_index(self, connection: Connection) -> StoreStats:
        from castore.index import objects, roots

        total = objects.total(connection)
        biggest = tuple(
            ObjectStat(Digest.from_raw(row.digest), row.size, row.stored_bytes)
            for row in objects.biggest(connection, _BIGGEST_COUNT)
        )
        return StoreStats(total.objects, roots.count(connection), total.size, total.stored_bytes, biggest)

    def _stats_from_files(self) -> StoreStats:
        found = [each for digest in self.digests() if (each := self.stat(digest)) is not None]
        found.sort(key=lambda each: (-each.stored_bytes, each.digest))
        return StoreStats(
            len(found),
            len(self.roots()),
            sum(each.size for each in found),
            sum(each.stored_bytes for each in found),
            tuple(found[:_BIGGEST_COUNT]),
        )

    def _objects(self, prefix: str) -> list[Digest]:
        """The objects that are there whose digest begins with these digits."""
        if len(prefix) < DIGEST_HEX:
            return list(self.parts.source.digests(prefix))
        digest = Digest(prefix)
        return [digest] if self.parts.source.stat(digest) is not None else []

    def _no_object(self, prefix: str) -> NotFound:
        """Why no object's digest begins with these digits, which may be something else's."""
        try:
            documents, roots = self._queries.of_document(prefix), self._queries.with_id(prefix)
        except RootDamaged:
            # What the roots would say is only a better message; that there is no object is sure.
            return ObjectMissing(f"sha256:{prefix}")
        for root in documents:
            if root.document is not None:
                short = root.document.digest.short
                return _not_an_object(short, "a folded document, which is not stored itself")
        for root in roots:
            return _not_an_object(root.id[:SHORT_HEX], "a root, which is not an object itself")
        return ObjectMissing(f"sha256:{prefix}")

    def _named(self, text: str) -> list[Root]:
        found = self.named_roots(text)
        if not found:
            hint = f"a digest takes {PREFIX_HEX_MIN} digits or more; 'ctx log' lists the names in use"
            raise NameMissing(text, hint=hint if is_short_prefix(text) else None)
        return found

    def _resolve_name(self, text: str) -> Digest:
        found = {digest for root in self._named(text) for digest in root.objects}
        if len(found) != 1:
            raise NotFound(
                f"name '{text}' names {len(found):,} objects",
                hint=f"'ctx show {text}' lists them",
                subject=text,
                objects=len(found),
            )
        digest = found.pop()
        if self.parts.source.stat(digest) is None:
            raise ObjectMissing(str(digest))
        return digest

    def _meant(self, text: str) -> tuple[Content | None, tuple[Digest, ...]]:
        """The document, if that is what `text` names, and the objects to keep."""
        prefix = parse_prefix(text)
        if prefix is None:
            found = self._named(text)
            return found[0].document, tuple(found[0].objects)
        roots = self._queries.of_document(prefix)
        documents = {root.document.digest: root for root in roots if root.document is not None}
        digests = {*documents, *self.parts.source.digests(prefix)}
        if len(digests) > 1:
            raise DigestAmbiguous(text, [str(each) for each in sorted(digests)])
        for root in documents.values():
            return root.document, tuple(root.objects)
        digest = self.resolve(text)
        return None, (digest,)


class StoreHandle:
    """A place where a store is, or may be made: opened when it is first needed."""

    def __init__(self, folder: str | os.PathLike[str], *, may_create: bool, clock: Clock = time.time) -> None:
        self.folder = os.path.abspath(folder)
        self.may_create = may_create
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
            self._store = Store.open(self.folder, clock=self._clock)
        return self._store

    def get_or_create(self) -> Store:
        """The store, made if it may be. Of several processes that make it at once, each gets the same."""
        try:
            return self.get()
        except StoreMissing:
            if not self.may_create:
                raise
        try:
            self._store = Store.init(self.folder, clock=self._clock)
        except StoreExists:
            if not self.exists:
                raise
        return self.get()

    def close(self) -> None:
        if self._store is not None:
            self._store.close()


def _not_an_object(short: str, what: str) -> NotFound:
    return NotFound(f"'{short}' is {what}", hint=f"'ctx show {short}' lists its objects", subject=short)


def pasted(text: str) -> str:
    """The digest in a whole marker or reference; other text as it is, without white space around it."""
    text = text.strip()
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
