"""Of an entry that is long, the one inside of it that is odd.

Law: what is given holds all that is clearly odd in the entry; it is the whole entry where that is short.
"""

from __future__ import annotations

from collections.abc import Sequence

from castore.overview.excerpt import Odd, compact
from castore.overview.pools import Pool

__all__ = ["narrowed", "within"]

_WHOLE_BYTES_MAX = 600
_PART_BYTES_MAX = 400
_CLEAR_SHARE = 0.6

_Unit = tuple[Pool, int]


def narrowed(pool: Pool, index: int, odd: Sequence[Odd]) -> _Unit:
    """The widest entry of at most _PART_BYTES_MAX that is inside of this one, or the innermost if all are
    longer. odd: what is odd in it, the clearest first."""
    if pool.table is not None or _size(pool, index) <= _WHOLE_BYTES_MAX:
        return pool, index
    inside = _entries(odd[0], pool, index)
    if not inside:
        return pool, index
    for each in odd[1:]:
        if each.bits >= odd[0].bits * _CLEAR_SHARE:
            others = {(id(inner), at) for inner, at in _entries(each, pool, index)}
            inside = [(inner, at) for inner, at in inside if (id(inner), at) in others]
    short = [each for each in inside if _size(*each) <= _PART_BYTES_MAX]
    return short[-1] if short else inside[0] if inside else (pool, index)


def within(odd: Sequence[Odd], pool: Pool, index: int) -> list[Odd]:
    """Those that are in this entry."""
    return [each for each in odd if _is_in(each, pool, index)]


def _is_in(odd: Odd, pool: Pool, index: int) -> bool:
    at, place = odd.pool, odd.index
    while (at, place) != (pool, index):
        owner = at.owner(place)
        if owner is None:
            return False
        at, place = owner
    return True


def _entries(odd: Odd, pool: Pool, index: int) -> list[_Unit]:
    """The objects around an odd value that are entries themselves, from within, up to this one."""
    found: list[_Unit] = []
    at, place = odd.pool, odd.index
    while (at, place) != (pool, index):
        if at.is_entries and isinstance(at.values[place], dict):
            found.append((at, place))
        owner = at.owner(place)
        if owner is None:
            return []
        at, place = owner
    return found


def _size(pool: Pool, index: int) -> float:
    text = compact(pool.values[index])
    return len(text.encode("utf-8", "backslashreplace")) if text is not None else float("inf")
