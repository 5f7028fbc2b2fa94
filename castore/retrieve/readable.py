"""What can be read by ranges: an object of a store, or bytes that are held, as of a value inside one.

Law: the slices of both are taken by the same code (slicing), so a range means the same in an object and in
what a string inside it says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Protocol

from castore.document.single import is_array
from castore.store.ranged import Mark

__all__ = ["Held", "Readable"]


class Readable(Protocol):
    """Bytes that can be read from any place. `size`: how many."""

    @property
    def size(self) -> int: ...

    @property
    def is_array(self) -> bool:
        """It is a JSON array, as far as its structure says."""

    def read(self, start: int, stop: int) -> bytes:
        """The bytes from `start` on, before `stop`. Raises ObjectMissing, ObjectDamaged."""

    def pieces(self, start: int, stop: int) -> Iterator[bytes]:
        """The same, in pieces."""

    def marks(self) -> Sequence[Mark]:
        """What stands before each of some places, the first of them 0, in order."""


class Held:
    """Bytes in memory."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    @property
    def size(self) -> int:
        return len(self.data)

    @cached_property
    def is_array(self) -> bool:
        return is_array(self.data)

    def read(self, start: int, stop: int) -> bytes:
        return self.data[start:stop]

    def pieces(self, start: int, stop: int) -> Iterator[bytes]:
        if start < stop:
            yield self.data[start:stop]

    def marks(self) -> Sequence[Mark]:
        return (Mark(0, 0, 0, 0, 0, 0),)
