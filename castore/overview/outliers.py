"""The entries that stand apart, ranked: findings of all pools, brought together by entry.

Laws: an entry's bits are those of its clearest finding and a share of the others', so that what is odd in
several ways ranks higher; a word of alarm ranks it higher still. Entries that stand apart in the same way
are one outlier, with the places of the others. Ties are in order of place. The same value gives the same
outliers.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import chain
from math import log2
from typing import Any

from castore.overview.classes import class_findings
from castore.overview.columns import column_findings
from castore.overview.excerpt import Odd, excerpt_of
from castore.overview.inner import narrowed, within
from castore.overview.model import Outlier, Place
from castore.overview.places import named, place_of
from castore.overview.pools import Pool, Step
from castore.overview.rarity import ENTRIES_MIN
from castore.overview.scalars import value_text
from castore.overview.texts import severity

__all__ = ["OUTLIERS_MAX", "find_outliers"]

OUTLIERS_MAX = 12
_EXCERPT_BYTES = 400
_ALIKE_MAX = 4
_SHORT_LIST = 8
_CANDIDATES_MAX = 400
_CLEAR_SHARE = 0.3
_BLOCK_GAP = 2
_REASONS_MAX = 3
_OFTEN = 2
_WORD = re.compile(r"[^\s'\"]+")


@dataclass(slots=True)
class _Entry:
    """One entry and what is odd in it."""

    pool: Pool
    index: int
    odd: list[Odd] = field(default_factory=list)
    bits: float = 0.0
    stop: int = 0


def find_outliers(pools: list[Pool], *, is_read: bool = False, is_part: bool = False) -> list[Outlier]:
    """is_read: the whole is a text or a string that was read as JSON. is_part: entries in between are not
    here, so that gaps say nothing."""
    entries: dict[tuple[int, int], _Entry] = {}
    classes, explained = class_findings(pools)
    for pool in pools:
        for at, bits, what, reason in _findings(pool, is_extra=id(pool) not in explained):
            if is_part and what == "gap":
                continue
            unit, index = _unit(pool, at)
            # One of three notes of each of so many rows is no rarer than one row.
            bits -= log2(max(1.0, len(pool.values) / len(unit.values)))
            if bits <= 0:
                continue
            entry = entries.setdefault((id(unit), index), _Entry(unit, index))
            entry.odd.append(Odd(pool, at, bits, what, reason))
    for pool, at, bits, what, reason in chain(_missing(pools), classes):
        unit, index = _unit(pool, at)
        entry = entries.setdefault((id(unit), index), _Entry(unit, index))
        entry.odd.append(Odd(pool, at, bits, what, reason))
    for entry in entries.values():
        _weigh(entry)
    ranked = sorted(entries.values(), key=lambda each: -each.bits)
    ranked = _blocks(ranked[:_CANDIDATES_MAX]) + ranked[_CANDIDATES_MAX:]
    groups = _groups(ranked)
    if groups:
        least = groups[0][0].bits * _CLEAR_SHARE
        groups = [group for group in groups if group[0].bits >= least][:OUTLIERS_MAX]
    return [_outlier(group, is_read=is_read) for group in groups]


def _findings(pool: Pool, *, is_extra: bool = True) -> list[tuple[int, float, str, str]]:
    """Those of one pool, each with its reason in words. is_extra: whether it says something that few have
    it."""
    label = named(pool, _entry_pool(pool))
    is_one_type = len(pool.values) >= ENTRIES_MIN and set(map(type, pool.values)) == {str}
    found = [
        (at, bits, what, f"{label} {reason}".strip())
        for at, bits, what, reason in column_findings(
            pool.values,
            pool.name,
            are_lines=pool.step is Step.LINE,
            counts=pool.counted if is_one_type else None,
        )
        # Of words that only some rows say, some have never been said by chance.
        if what != "words" or len(pool.values) * _OFTEN >= pool.among
    ]
    if is_extra and pool.step is Step.MEMBER and pool.parent is not None:
        found += _of_presence(pool, label)
    return found


def _of_presence(pool: Pool, label: str) -> list[tuple[int, float, str, str]]:
    """Of a name that only few have: those that have it. The ones that lack it are the parent's."""
    total, extra = pool.among, len(pool.extra)
    if 0 < extra <= _few(total) and total >= ENTRIES_MIN:
        bits = log2(total / extra) + 1
        return [(at, bits, "extra", f"extra key '{label}'") for at in range(extra)]
    return []


def _few(total: int) -> int:
    """How many may have, or lack, a name that the others lack or have."""
    return max(1, min(total // 16, 4 + total // 100))


def _missing(pools: list[Pool]) -> list[tuple[Pool, int, float, str, str]]:
    """Of names that nearly all have: those that lack it, found in the parent."""
    found = []
    for pool in pools:
        lacking = len(pool.missing)
        if pool.parent is None or not lacking:
            continue
        total = len(pool.values) + lacking
        if lacking <= _few(total) and total >= ENTRIES_MIN:
            bits = log2(total / lacking) + 1
            found += [
                (pool.parent, at, bits, f"missing {pool.name}", f"no '{pool.name}'") for at in pool.missing
            ]
    return found


def _entry_pool(pool: Pool) -> Pool | None:
    at: Pool | None = pool
    while at is not None and not at.is_entries:
        at = at.parent
    return at


def _unit(pool: Pool, index: int) -> tuple[Pool, int]:
    """The entry that a value belongs to: of short lists inside of entries, the outer entry."""
    at: Pool = pool
    place = index
    while not at.is_entries:
        owner = at.owner(place)
        if owner is None:
            return at, place
        at, place = owner
    while True:
        outer, outer_place = at, place
        while (owner := outer.owner(outer_place)) is not None:
            outer, outer_place = owner
            if outer.is_entries:
                break
        if outer is at or not outer.is_entries or len(at.values) >= _SHORT_LIST * len(outer.values):
            return at, place
        if len(outer.values) < ENTRIES_MIN:
            return at, place
        at, place = outer, outer_place


def _weigh(entry: _Entry) -> None:
    entry.odd.sort(key=lambda odd: -odd.bits)
    seen: set[tuple[int, int]] = set()
    share, bits = 1.0, 0.0
    for odd in entry.odd:
        # The same value found odd in two ways counts for little more than once.
        key = (id(odd.pool), odd.index)
        bits += odd.bits * (share if key not in seen else share / 4)
        seen.add(key)
        share /= 2
    entry.bits = bits + max((_alarm(odd) for odd in entry.odd[:4]), default=0.0)
    entry.stop = entry.index + 1


def _alarm(odd: Odd) -> float:
    value = odd.pool.values[odd.index]
    return severity(value) if isinstance(value, str) else severity(odd.pool.name)


# --- Blocks and groups -----------------------------------------------------------------------------


def _blocks(ranked: list[_Entry]) -> list[_Entry]:
    """Lines that stand apart next to each other are one: a stack trace, say."""
    lines: dict[int, list[_Entry]] = defaultdict(list)
    for entry in ranked:
        if (
            entry.pool.step is Step.LINE
            and entry.pool.table is not None
            and entry.pool.table.format in ("lines", "some")
        ):
            lines[id(entry.pool)].append(entry)
    if not lines:
        return ranked
    dropped: set[int] = set()
    for each in lines.values():
        each.sort(key=lambda entry: entry.index)
        head = each[0]
        best = head.bits
        for entry in each[1:]:
            if entry.index - head.stop < _BLOCK_GAP and _is_odd_line(entry):
                head.stop = entry.index + 1
                head.odd += entry.odd
                best = max(best, entry.bits)
                head.bits = best + 0.5 * min(4, head.stop - head.index)
                dropped.add(id(entry))
            else:
                head, best = entry, entry.bits
    return sorted((entry for entry in ranked if id(entry) not in dropped), key=lambda entry: -entry.bits)


def _is_odd_line(entry: _Entry) -> bool:
    """Whether the line is odd as a line, rather than by a value or a number that a usual line has: two of
    those side by side have nothing to do with each other."""
    return any(odd.pool is entry.pool and not odd.what.startswith("number") for odd in entry.odd[:2])


def _groups(ranked: list[_Entry]) -> list[list[_Entry]]:
    """By the kind of oddness that is the clearest in each; the first of a group is its clearest."""
    groups: dict[Any, list[_Entry]] = {}
    for entry in ranked:
        main = entry.odd[0]
        key: Any = (id(main.pool), main.what)
        if entry.stop - entry.index > 1 or main.what in ("template", "words", "shape"):
            key = (*key, entry.index) if len(groups) < OUTLIERS_MAX else key
        groups.setdefault(key, []).append(entry)
    return list(groups.values())


def _outlier(group: list[_Entry], *, is_read: bool) -> Outlier:
    entry = group[0]
    reasons = _reasons(entry.odd)
    pool, index, stop, odd = entry.pool, entry.index, entry.stop, entry.odd
    place = _place(entry, is_read=is_read)
    if stop - index == 1 and (inner := narrowed(pool, index, odd)) != (pool, index):
        pool, index = inner
        place, stop, odd = place_of(pool.way(index), is_read=is_read), index + 1, within(odd, *inner)
    return Outlier(
        place,
        tuple(reasons),
        excerpt_of(pool, index, stop, odd, _EXCERPT_BYTES),
        round(entry.bits, 2),
        tuple(_place(each, is_read=is_read) for each in group[1 : 1 + _ALIKE_MAX]),
        len(group) - 1,
    )


def _reasons(every: list[Odd]) -> list[str]:
    """The clearest three; one that says no more than one before it, or the same value twice, is left out."""
    kept: list[str] = []
    known: list[set[str]] = []
    values: set[tuple[int, int]] = set()
    for odd in every:
        reason, value = _reason(odd), (id(odd.pool), odd.index)
        words = set(_WORD.findall(reason)) - {"number"}
        if any(words <= each for each in known) and (words or reason in kept):
            continue
        if value in values and odd.what.startswith("number"):
            continue
        kept.append(reason)
        known.append(words)
        values.add(value)
        if len(kept) == _REASONS_MAX:
            break
    return kept


def _reason(odd: Odd) -> str:
    if odd.reason:
        return odd.reason
    return value_text(odd.pool.values[odd.index])


def _place(entry: _Entry, *, is_read: bool) -> Place:
    place = place_of(entry.pool.way(entry.index), is_read=is_read)
    table = entry.pool.table
    if place.lines is None or table is None:
        return place
    if table.spans is not None:
        return Place(place.selects, chars=(table.spans[entry.index][0], table.spans[entry.stop - 1][1]))
    number = table.end(entry.stop - 1) - table.lines[entry.index]
    return Place(place.selects, None, (place.lines[0], place.lines[0] + number))
