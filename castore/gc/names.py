"""Which objects the roots name, in some 36 bytes a name: for whoever must know all of them at once.

Law: what was added is there, under the place that it was first added with. An object that many roots
name is held once as soon as that pays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import Struct

from castore.digest import Digest
from castore.layout import SHARDS

__all__ = ["Names"]

_ENTRY = Struct("<32sI")
_COMPACT_BYTES_MIN = 1 << 16


class Names:
    """Digests, each with a place: the path of the root file that names it."""

    def __init__(self) -> None:
        self._places: list[str] = []
        self._shards = {shard: bytearray() for shard in SHARDS}
        self._compacted = dict.fromkeys(SHARDS, _COMPACT_BYTES_MIN)

    def add(self, place: str, digests: Iterable[Digest]) -> None:
        number = len(self._places)
        self._places.append(place)
        for digest in digests:
            shard = digest.hex[:2]
            entries = self._shards[shard]
            entries += _ENTRY.pack(bytes.fromhex(digest.hex), number)
            if len(entries) > 2 * self._compacted[shard]:
                self._compact(shard)

    def shard(self, shard: str) -> dict[str, str]:
        """The places, by hex digits, of the digests that begin with these two."""
        places = self._places
        return {digest.hex(): places[number] for digest, number in self._entries(shard).items()}

    def place(self, hex_digits: str) -> str | None:
        """The place of one digest; None if it was not added. Costs a pass over its shard."""
        return self.shard(hex_digits[:2]).get(hex_digits)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        for shard in SHARDS:
            yield from self.shard(shard).items()

    # --- Helpers ---

    def _entries(self, shard: str) -> dict[bytes, int]:
        found: dict[bytes, int] = {}
        for digest, number in _ENTRY.iter_unpack(self._shards[shard]):
            found.setdefault(digest, number)
        return found

    def _compact(self, shard: str) -> None:
        found = self._entries(shard)
        self._shards[shard] = bytearray().join(_ENTRY.pack(*entry) for entry in found.items())
        self._compacted[shard] = max(_COMPACT_BYTES_MIN, len(self._shards[shard]))
