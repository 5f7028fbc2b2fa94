"""log --remote: which roots are there. Only roots are read, each once; nothing is written.

Law: roots of scopes that the caller may use there are told, live or not, and nothing of others. Of what can't
be read its scope is not known: only who sees all is told of it.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import TypeVar

from castore.errors import RemoteDamaged
from castore.remote.bucket import Bucket
from castore.remote.roots import Grants, RemoteRoots
from castore.roots.model import Root
from castore.store import Store

__all__ = ["roots_there"]

T = TypeVar("T")


def roots_there(
    store: Store, bucket: Bucket, of: Callable[[Root], T], *, limit: int | None = None
) -> tuple[list[T], list[RemoteDamaged]]:
    """What `of` makes of each root, the latest first, `limit` of them; and what could not be read.

    Memory is that of what `of` makes. Raises RemoteError.
    """
    bucket.require_format()
    grants = Grants(store.granted, bucket.settings.granted)
    damaged: list[RemoteDamaged] = []

    def found() -> Iterator[tuple[float, str, T]]:
        for each in RemoteRoots(bucket).all(damaged):
            if grants.covers(each.root.scope):
                yield each.root.created, each.root.id, of(each.root)

    def age(each: tuple[float, str, T]) -> tuple[float, str]:
        return each[:2]

    latest = (
        sorted(found(), key=age, reverse=True) if limit is None else heapq.nlargest(limit, found(), key=age)
    )
    return [each[2] for each in latest], damaged if grants.is_whole else []
