"""What a store holds, what gc would free of it, and whether folding paid, as far as the caller sees it.

Law: every count and size covers what the caller sees, and nothing else. It is read from the index, or,
where there is none, from the root files and the header of every object.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from castore.digest import Digest
from castore.objects.database import ObjectStat
from castore.store.access import Granted
from castore.store.queries import Queries
from castore.store.reads import OTHERS, Read, noted
from castore.store.transaction import Transactions

if TYPE_CHECKING:
    from sqlite3 import Connection

    from castore.index.lives import DocumentRow
    from castore.index.objects import ObjectRow

__all__ = ["DocumentUse", "Freeable", "StoreStats", "stats"]

_BIGGEST_COUNT = 5


@dataclass(frozen=True, slots=True)
class Freeable:
    """What gc frees. stored_bytes: of files."""

    objects: int
    stored_bytes: int


@dataclass(frozen=True, slots=True)
class DocumentUse:
    """One folded document, and what came back of it.

    file: where it was written, absolute; None: nobody said. is_gone: it is there no more; None: not known.
    object_bytes: of the distinct objects it names. saved_bytes: by how much the document is shorter than
    its source; None: not known. read_bytes: what was read of it and of its objects, by readers in the
    caller's scopes, as far as they could note it (an object of two documents counts for both).
    last_read: a UTC date.
    """

    document: Digest
    source_name: str | None
    file: str | None
    is_gone: bool | None
    object_bytes: int
    saved_bytes: int | None
    read_bytes: int
    last_read: str | None


@dataclass(frozen=True, slots=True)
class StoreStats:
    """`bytes`: of all objects; `stored_bytes`: of their files; `biggest`: by their files, biggest first.

    free_now: what gc would free now; free_later: besides, once every root that has an expiry has expired,
    the last of it by `free_later_date` (unix seconds). Both as far as the caller's roots go: what others
    name stays.
    at_remotes: by remote, how many objects besides lie there alone, as roots say.
    documents: distinct ones that a live root keeps; documents_gone: those of them whose file is recorded,
    and no such file is there. read_bytes: of all reads noted. biggest_documents: by saved_bytes.
    """

    objects: int
    roots: int
    bytes: int
    stored_bytes: int
    biggest: tuple[ObjectStat, ...]
    free_now: Freeable
    free_later: Freeable
    free_later_date: float | None
    documents: int
    documents_gone: int
    read_bytes: int
    biggest_documents: tuple[DocumentUse, ...]
    at_remotes: Mapping[str, int]


def stats(parts: Transactions, queries: Queries, granted: Granted) -> StoreStats:
    """Raises RootDamaged, and ObjectDamaged for a header, where files had to be read and could not."""
    reads = noted(parts.layout, granted.covers)

    def question(connection: Connection) -> StoreStats:
        return _Figures(connection, queries.seen, parts.clock(), reads).all()

    return queries.ask(question, lambda: queries.ask_files(question, _rows(parts, queries)))


# --- Helpers ---------------------------------------------------------------------------------------


class _Figures:
    """The answers of one index, for one caller, at one time."""

    def __init__(
        self, connection: Connection, seen: tuple[str, ...] | None, now: float, reads: dict[str, Read]
    ) -> None:
        self.connection = connection
        self.seen = seen
        self.now = now
        self.reads = reads

    def all(self) -> StoreStats:
        from castore.index import lives, objects, promised, roots, seen

        connection, scopes, now = self.connection, self.seen, self.now
        if scopes is None:
            total, biggest = objects.total(connection), objects.biggest(connection, _BIGGEST_COUNT)
        else:
            total = seen.total(connection, scopes, now)
            biggest = seen.biggest(connection, _BIGGEST_COUNT, scopes, now)
        freed = lives.expiring_bytes(connection, scopes, until=now)
        ever = lives.expiring_bytes(connection, scopes, until=None)
        count, gone, shown = self._documents()
        return StoreStats(
            objects=total.objects,
            roots=roots.count(connection, scopes),
            bytes=total.size,
            stored_bytes=total.stored_bytes,
            biggest=tuple(
                ObjectStat(Digest.from_raw(row.digest), row.size, row.stored_bytes) for row in biggest
            ),
            free_now=Freeable(freed.objects, freed.stored_bytes),
            free_later=Freeable(ever.objects - freed.objects, ever.stored_bytes - freed.stored_bytes),
            free_later_date=lives.last_freed(connection, scopes, now),
            documents=count,
            documents_gone=gone,
            read_bytes=sum(read.bytes for read in self.reads.values()),
            biggest_documents=tuple(self._use(*each) for each in shown),
            at_remotes=promised.counts(connection, scopes, now),
        )

    def _documents(self) -> tuple[int, int, list[tuple[DocumentRow, str | None, bool | None]]]:
        """How many there are, how many have lost their file, and the biggest, each with its file."""
        from castore.index import lives

        count = gone = 0
        shown: list[tuple[DocumentRow, str | None, bool | None]] = []
        for rows in _by_document(lives.documents(self.connection, self.seen, self.now)):
            file, is_gone = _file_of(rows)
            count += 1
            gone += is_gone is True
            if len(shown) < _BIGGEST_COUNT:
                shown.append((rows[0], file, is_gone))
        if shown:
            read = ((bytes.fromhex(each), read) for each, read in self.reads.items() if each != OTHERS)
            lives.set_reads(self.connection, ((raw, each.day, each.bytes) for raw, each in read))
        return count, gone, shown

    def _use(self, row: DocumentRow, file: str | None, is_gone: bool | None) -> DocumentUse:
        from castore.index import lives

        document = Digest.from_raw(row.document)
        read_bytes, day = lives.document_reads(self.connection, row.document, self.seen, self.now)
        whole = self.reads.get(document.hex)
        if whole is not None:
            read_bytes += whole.bytes
            day = max(day or whole.day, whole.day)
        return DocumentUse(
            document=document,
            source_name=row.source_name,
            file=file,
            is_gone=is_gone,
            object_bytes=lives.document_bytes(self.connection, row.document, self.seen, self.now),
            saved_bytes=row.saved_bytes,
            read_bytes=read_bytes,
            last_read=day,
        )


def _by_document(rows: Iterator[DocumentRow]) -> Iterator[list[DocumentRow]]:
    """The rows of one document at a time, the latest root first."""
    from itertools import groupby

    for _, group in groupby(rows, key=lambda row: row.document):
        yield list(group)


def _file_of(rows: list[DocumentRow]) -> tuple[str | None, bool | None]:
    """Where the document was written, and whether it is gone; a file that is there wins."""
    files = [file for row in rows if (file := _recorded(row.details)) is not None]
    for file in files:
        if not _is_gone(file):
            return file, False
    return (files[0], True) if files else (None, None)


def _recorded(details: str) -> str | None:
    """The absolute path in a root's details, if there is one."""
    if '"file"' not in details:
        return None
    import json

    file = json.loads(details).get("file")
    return file if isinstance(file, str) and os.path.isabs(file) else None


def _is_gone(path: str) -> bool:
    """Whether it is certain that nothing has this name: where one may not look, it is not."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return True
    except OSError:
        return False
    return False


def _rows(parts: Transactions, queries: Queries) -> Iterator[ObjectRow]:
    """Rows about the objects that are there, from their headers; the digests of their files are not known.

    For other callers than the operator also of those that only expired roots of theirs name.
    """
    from castore.index.objects import ObjectRow

    # Asked before the first row is: what tells them is the index that the rows are put into.
    digests = parts.source.digests() if queries.seen is None else iter(queries.named_digests())
    return (
        ObjectRow(digest.raw, found.size, found.stored_bytes, b"")
        for digest in digests
        if (found := parts.database.stat(digest)) is not None
    )
