"""Roots in groups that are pushed or pulled at once, so that memory is bounded. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from castore.roots.model import Root

__all__ = ["BATCH_OBJECTS_MAX", "BATCH_ROOTS_MAX", "batches"]

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
