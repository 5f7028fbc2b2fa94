"""What the members of rows are: their types, their values, how many distinct ones.

Law: counts are exact for what was looked at. Of members beyond NAMES_MAX only the number is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from castore.overview.model import Key
from castore.overview.pools import Pool, Step
from castore.overview.scalars import NAMES, value_text
from castore.overview.tables import REST

__all__ = ["key_text", "keys_of", "main_rows"]

_VALUES_MAX = 12
_SHOWN_MAX = 4
_VALUES_BYTES_MAX = 64
_ROWS_MIN = 2
_HUGE = 10**300


def main_rows(pools: Sequence[Pool]) -> Pool | None:
    """The entries that are told of: of those that have members the most, else the most."""
    best: tuple[int, int] = (0, 0)
    found: Pool | None = None
    for pool in pools:
        if not pool.is_entries or len(pool.values) < _ROWS_MIN:
            continue
        has_members = any(child.step in (Step.MEMBER, Step.COLUMN) for child in pool.children)
        if (rank := (int(has_members), len(pool.values))) > best:
            best, found = rank, pool
    return found


def keys_of(pool: Pool, most: int = 100) -> tuple[Key, ...]:
    """The members, in the order in which they come first."""
    is_pairs = pool.table is not None and pool.table.format == "pairs"
    members = [
        child
        for child in pool.children
        if child.step in (Step.MEMBER, Step.COLUMN) and not (is_pairs and child.name == REST)
    ]
    return tuple(_key(child) for child in members[:most])


def _key(pool: Pool) -> Key:
    values = pool.values
    kinds = Counter(map(type, values))
    types = tuple((NAMES.get(kind, "other"), count) for kind, count in kinds.most_common())
    scalars = [kind for kind in kinds if kind in (str, int, float, bool)]
    if not scalars or kinds[list] or kinds[dict]:
        return Key(pool.name, types)
    counts = pool.counted if len(kinds) == 1 else Counter(value for value in values if value is not None)
    common: tuple[tuple[str, int], ...] = ()
    if len(counts) <= _VALUES_MAX and all(
        not isinstance(v, str) or len(v) <= _VALUES_BYTES_MAX for v in counts
    ):
        common = tuple((_shown(value), count) for value, count in counts.most_common())
    low = high = None
    if set(scalars) <= {int, float}:
        low, high = min(counts), max(counts)
        if not -_HUGE < low <= high < _HUGE:
            low = high = None
    return Key(pool.name, types, common, len(counts), low, high)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else value_text(value)


def key_text(key: Key, rows: int) -> str:
    """`status int (200 x 11,998, 404, 500)`, `id int 1..12000`, `host str (40 values)`, `note str|null`."""
    name = " ".join(key.name[:40].split()) or "''"
    count = sum(number for _, number in key.types)
    words = f"{name} {'|'.join(kind for kind, _ in key.types)}"
    if len(key.types) > 1 and key.types[-1][1] * 16 <= count:
        words += f" x {key.types[-1][1]}"
    if count < rows:
        words += f" in {count:,}"
    kinds = {kind for kind, _ in key.types}
    if key.values and (len(key.values) <= _SHOWN_MAX or kinds <= {"bool"}):
        shown = ", ".join(f"{value} x {number:,}" if number > 1 else value for value, number in key.values)
        if len(shown) <= _VALUES_BYTES_MAX and count > 1:
            return f"{words} ({shown})"
    if key.low is not None and key.high is not None and count > 1:
        return f"{words} {value_text(key.low)}..{value_text(key.high)}"
    if key.distinct is not None and key.distinct > 1 and count > 1:
        return words if key.distinct * 20 > count * 19 else f"{words} ({key.distinct:,} values)"
    return words
