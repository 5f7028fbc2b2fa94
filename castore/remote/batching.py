"""Roots in groups that are pushed or pulled at once, so that memory is bounded. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from castore.roots.model import STATE, Root

__all__ = ["BATCH_OBJECTS_MAX", "BATCH_ROOTS_MAX", "batches", "levels", "ordered"]

BATCH_OBJECTS_MAX = 10_000
BATCH_ROOTS_MAX = 1_000


def batches(roots: Sequence[Root]) -> Iterator[list[Root]]:
    """The roots in order, in groups that name a bounded number of objects.

    What is decided together is never parted: roots that are based on each other, and those of one log. Such a
    family alone may be, and name, more.
    """
    batch: list[Root] = []
    count = 0
    for family in _families(roots):
        objects = sum(len(root.objects) for root in family)
        is_full = count + objects > BATCH_OBJECTS_MAX or len(batch) + len(family) > BATCH_ROOTS_MAX
        if batch and is_full:
            yield batch
            batch, count = [], 0
        batch += family
        count += objects
    if batch:
        yield batch


def _families(roots: Sequence[Root]) -> Iterable[list[Root]]:
    """The roots by what they are decided with, each family in their order, the families by their first."""
    first: dict[object, object] = {}

    def found(key: object) -> object:
        while first.setdefault(key, key) != key:
            first[key] = first[first[key]]
            key = first[key]
        return key

    for root in roots:
        for other in (root.base, root.log):
            if other is not None:
                first[found(root.id)] = found(other)
    families: dict[object, list[Root]] = {}
    for root in roots:
        families.setdefault(found(root.id), []).append(root)
    return families.values()


def ordered(roots: Sequence[Root]) -> list[Root]:
    """The records of a log one after another, and its state after them; all else before, in its order."""
    return [
        *(root for root in roots if root.place is None),
        *sorted(
            (root for root in roots if root.place is not None),
            key=lambda root: (root.source_name or "", root.scope, root.kind, root.place == STATE, root.place),
        ),
    ]


def levels(roots: Sequence[Root]) -> Iterator[list[list[Root]]]:
    """The roots in groups, each of sequences that can be written at once, and in themselves only in order:
    those of a log; any other root is one alone. Nothing is based on what comes later. roots: as `ordered`."""
    waiting = {root.id: root for root in roots if root.place is None}
    logs: dict[object, list[Root]] = {}
    for root in roots:
        if root.place is not None:
            logs.setdefault(root.log, []).append(root)
    first = list(logs.values())
    while waiting or first:
        level = [root for root in waiting.values() if root.base not in waiting]
        if waiting and not level:
            raise AssertionError("a store's roots are never based on each other in a circle")
        for root in level:
            del waiting[root.id]
        yield [*first, *([root] for root in level)]
        first = []
