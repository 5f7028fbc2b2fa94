"""Questions about roots, answered from the index where it says what the root files say, else from those.

Law: both ways give the same answers. Reading the files costs a read of every root, so it is what a clone
without an index does until its first write.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from castore.digest import Digest
from castore.roots.model import Root
from castore.transaction import Transactions

__all__ = ["RootQueries"]


class RootQueries:
    """Every list is the latest root first. Raises RootDamaged where a file had to be read and could not."""

    def __init__(self, parts: Transactions) -> None:
        self._parts = parts

    def newest(self, limit: int | None = None) -> list[Root]:
        connection = self._parts.reading()
        if connection is None:
            return self._from_files(lambda _: True)[:limit]
        from castore.index import roots

        return roots.newest(connection, limit)

    def count(self) -> int:
        connection = self._parts.reading()
        if connection is None:
            return len(self._from_files(lambda _: True))
        from castore.index import roots

        return roots.count(connection)

    def naming(self, digest: Digest) -> list[Root]:
        """The roots that name this object."""
        connection = self._parts.reading()
        if connection is None:
            return self._from_files(lambda root: digest in root.objects)
        from castore.index import roots

        return roots.naming(connection, digest)

    def of_document(self, prefix: str) -> list[Root]:
        """The roots whose document's digest begins with these hex digits."""
        connection = self._parts.reading()
        if connection is None:
            return self._from_files(lambda root: _begins(root, prefix))
        from castore.index import roots

        return roots.by_document_prefix(connection, prefix)

    def named(self, name: str) -> list[Root]:
        """The live roots that have this name; of two in one scope only the latest has it."""
        connection = self._parts.reading()
        if connection is None:
            found = self._from_files(lambda root: root.name == name)
        else:
            from castore.index import roots

            found = roots.by_name(connection, name)
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
