"""Roots in groups that are pushed or pulled at once, so that memory is bounded. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from castore.roots.model import STATE, Root

__all__ = ["BATCH_OBJECTS_MAX", "BATCH_ROOTS_MAX", "batches", "levels", "ordered"]

BATCH_OBJECTS_MAX = 10_000
BATCH_ROOTS_MAX = 1_000


def batches(roots: Sequence[Root]) -> Iterator[list[Root]]:
    """The roots in order, in groups that name a bounded number of objects; one root alone may name more."""
    batch: list[Root] = []
    count = 0
    for root in roots:
        if batch and (count + len(root.objects) > BATCH_OBJECTS_MAX or len(batch) >= BATCH_ROOTS_MAX):
            yield batch
            batch, count = [], 0
        batch.append(root)
        count += len(root.objects)
    if batch:
        yield batch


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
