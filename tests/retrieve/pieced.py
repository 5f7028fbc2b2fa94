"""Bytes to read by ranges, given in small pieces, and with marks as a large object has them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from castore.retrieve.items import Commas
from castore.retrieve.readable import Held
from castore.store.ranged import Mark


class Pieced(Held):
    """Frames of a few bytes: every boundary that frames of a mebibyte have comes up in a short text."""

    def __init__(self, data: bytes, frame_bytes: int, seed: int = 0) -> None:
        super().__init__(data)
        self._frame_bytes = frame_bytes
        self._random = random.Random(seed)
        self.read_bytes = 0

    def read(self, start: int, stop: int) -> bytes:
        self.read_bytes += max(0, stop - start)
        return super().read(start, stop)

    def pieces(self, start: int, stop: int) -> Iterator[bytes]:
        while start < stop:
            # To the end of the frame, or a part of the way.
            end = min(stop, (start // self._frame_bytes + 1) * self._frame_bytes)
            end = self._random.randint(start + 1, end)
            self.read_bytes += end - start
            yield self.data[start:end]
            start = end

    def marks(self) -> Sequence[Mark]:
        """By a walk over every byte, told apart by nothing else than what they say."""
        found = []
        commas, walk = 0, Commas(0, 0)
        for offset in range(0, max(1, len(self.data)), self._frame_bytes):
            before = self.data[:offset]
            characters = sum(byte & 0xC0 != 0x80 for byte in before)
            found.append(Mark(offset, before.count(b"\n"), characters, commas, walk.depth, walk.state))
            commas += len(list(walk.ends(self.data[offset : offset + self._frame_bytes])))
        return found
