"""Reading parts of an object, each checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

__all__ = ["Mark", "RangedObject"]


class Mark(NamedTuple):
    """What stands before `offset`: line feeds, characters, commas at depth 1; brackets open there; and where
    it is: outside strings (0), inside one (1), just after a backslash in one (2)."""

    offset: int
    newlines: int
    characters: int
    commas: int
    depth: int
    state: int


class RangedObject:
    """An object that is held whole."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    @property
    def size(self) -> int:
        return len(self._data)

    @cached_property
    def is_array(self) -> bool:
        from castore.document.single import single_value
        from castore.errors import DocumentInvalid, LimitExceeded

        try:
            single_value(self._data.strip(b" \t\r\n"))
        except (DocumentInvalid, LimitExceeded):
            return False
        return self._data.lstrip(b" \t\r\n")[:1] == b"["

    def read(self, start: int, stop: int) -> bytes:
        return self._data[start:stop]

    def pieces(self, start: int, stop: int) -> Iterator[bytes]:
        if start < stop:
            yield self._data[start:stop]

    def marks(self) -> Sequence[Mark]:
        return (Mark(0, 0, 0, 0, 0, 0),)
