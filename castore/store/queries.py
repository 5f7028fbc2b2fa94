"""Questions about roots, answered from the index where it says what the root files say, else from those.

Law: both ways give the same answers. Reading the files costs a read of every root, so it is what a clone
without an index does until its first write, and what anybody does whose index is damaged.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from castore.digest import Digest
from castore.roots.model import Root
from castore.store.transaction import Transactions

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["RootQueries", "answer"]

T = TypeVar("T")


def answer(parts: Transactions, from_index: Callable[[Connection], T], from_files: Callable[[], T]) -> T:
    """What the index says, or, where it is absent, behind or damaged, what the files say."""
    from castore.index.connection import IndexUnreadable

    # A connection is for one thread at a time: two that run the same statement would share its cursor.
    with parts.one_thread:
        connection = parts.reading()
        if connection is not None:
            try:
                return from_index(connection)
            except IndexUnreadable:
                pass  # Then the files are asked, as if there were none.
    return from_files()


class RootQueries:
    """Every list is the latest root first. Raises RootDamaged where a file had to be read and could not."""

    def __init__(self, parts: Transactions) -> None:
        self._parts = parts

    def newest(self, limit: int | None = None) -> list[Root]:
        def from_index(connection: Connection) -> list[Root]:
            from castore.index import roots

            return roots.newest(connection, limit)

        return answer(self._parts, from_index, lambda: self._from_files(lambda _: True)[:limit])

    def naming(self, digest: Digest) -> list[Root]:
        """The roots that name this object."""

        def from_index(connection: Connection) -> list[Root]:
            from castore.index import roots

            return roots.naming(connection, digest)

        return answer(self._parts, from_index, lambda: self._from_files(lambda root: digest in root.objects))

    def of_document(self, prefix: str) -> list[Root]:
        """The roots whose document's digest begins with these hex digits."""

        def from_index(connection: Connection) -> list[Root]:
            from castore.index import roots

            return roots.by_document_prefix(connection, prefix)

        return answer(self._parts, from_index, lambda: self._from_files(lambda root: _begins(root, prefix)))

    def with_id(self, prefix: str) -> list[Root]:
        """The roots whose id begins with these hex digits."""

        def from_index(connection: Connection) -> list[Root]:
            from castore.index import roots

            return roots.by_id_prefix(connection, prefix)

        def from_files() -> list[Root]:
            return self._from_files(lambda root: root.id.startswith(prefix))

        return answer(self._parts, from_index, from_files)

    def named(self, name: str) -> list[Root]:
        """The live roots that have this name; of two in one scope only the latest has it."""

        def from_index(connection: Connection) -> list[Root]:
            from castore.index import roots

            return roots.by_name(connection, name)

        found = answer(self._parts, from_index, lambda: self._from_files(lambda root: root.name == name))
        now = self._parts.clock()
        live: dict[str, Root] = {}
        for root in found:
            if root.is_live(now):
                live.setdefault(root.scope, root)
        return list(live.values())

    def _from_files(self, wanted: Callable[[Root], bool]) -> list[Root]:
        if not os.path.isdir(self._parts.layout.roots):
            return []
        found = [root for root in self._parts.root_files.all() if wanted(root)]
        return sorted(found, key=lambda root: root.sequence, reverse=True)


def _begins(root: Root, prefix: str) -> bool:
    return root.document is not None and root.document.digest.hex.startswith(prefix)
