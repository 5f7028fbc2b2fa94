"""Rows of several kinds: what stands apart among those of its own kind, though not among all.

A column of few values, such as `type`, may tell what the others hold: which of them are there, their types,
signs, forms, values, how great their numbers are. A row that has what others of its class never have stands
apart. What all rows of a class have does not, however few they are.

Laws: what tells nothing is seen to do so in some of the rows, so that only few pairs of columns are looked
at whole. A class tells a column apart only if what is common elsewhere (or is told apart by numbers) is
absent from it but for very few rows.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite, log2
from typing import Any

from castore.overview.places import named
from castore.overview.pools import Pool, Step
from castore.overview.rarity import high_tail, low_tail, rare_values
from castore.overview.scalars import NAMES, value_text

__all__ = ["PoolFinding", "class_findings"]

PoolFinding = tuple[Pool, int, float, str, str]
"""A pool, an index in it, bits, what kind of oddness, reason."""

_ROWS_MIN = 24
_COLUMNS_MAX = 32
_SAMPLE = 400
_CLASSES_MAX = 12
_KEYS_MAX = 3
_FORMS_MAX = 8
_FORM_CHARACTERS = 60
_EXPECTED_MIN = 6.0
_CONTRAST = 16
_FEW_SHARE = 500
_HUGE = 1e290

_RUN = re.compile(r"[^\W_]+")


class _Absent:
    """What a row has in place of a member it lacks."""


_ABSENT = _Absent


@dataclass(slots=True)
class _Column:
    """some: its values in the sample, _ABSENT where a row has none. signs: what is compared of them.
    by_value: whether that is the values themselves. total: how many rows there are."""

    pool: Pool
    total: int
    some: list[Any]
    signs: list[Any]
    by_value: bool
    has_forms: bool
    is_key: bool
    spread: Sequence[Any] | None = None

    @property
    def values(self) -> Sequence[Any]:
        """One for each row."""
        if self.spread is None:
            if self.pool.owners is None:
                self.spread = self.pool.values
            else:
                spread: list[Any] = [_ABSENT] * self.total
                for owner, value in zip(self.pool.owners, self.pool.values, strict=True):
                    spread[owner] = value
                self.spread = spread
        return self.spread

    def sign(self, value: Any) -> Any:
        return value if self.by_value else _sign(value, has_forms=self.has_forms)

    def at(self, row: int) -> int | None:
        """The index in the pool of the value that this row has."""
        if self.pool.owners is None:
            return row
        at = bisect_left(self.pool.owners, row)  # They are in the order of the rows.
        return at if at < len(self.pool.owners) and self.pool.owners[at] == row else None


def class_findings(pools: Sequence[Pool]) -> tuple[list[PoolFinding], set[int]]:
    """What stands apart in a class; and the pools (their ids) whose names are those of a class, so that it
    says nothing that others lack them."""
    found: list[PoolFinding] = []
    explained: set[int] = set()
    for pool in pools:
        if pool.is_entries and len(pool.values) >= _ROWS_MIN and len(pool.children) >= 2:
            columns = _columns(pool)
            found += _of_rows(pool, columns)
            explained |= _explained(columns)
    return found, explained


def _of_rows(rows: Pool, columns: list[_Column]) -> Iterator[PoolFinding]:
    keys = [column for column in columns if column.is_key]
    if not keys or len(columns) < 2:
        return
    scores = {
        (at, other): score
        for at, key in enumerate(keys)
        for other, column in enumerate(columns)
        if column is not key and (score := _told(key, column)) > 0
    }
    weight = {at: sum(score for (each, _), score in scores.items() if each == at) for at in range(len(keys))}
    kept = sorted(weight, key=lambda at: (-weight[at], at))[:_KEYS_MAX]
    for other, column in enumerate(columns):
        best = max(kept, key=lambda at: scores.get((at, other), 0.0))
        if (best, other) in scores:
            key = keys[best]
            yield from _by_sign(rows, key, column)
            if not column.by_value:
                yield from _by_number(key, column)


# --- Columns ---------------------------------------------------------------------------------------


def _columns(rows: Pool) -> list[_Column]:
    total = len(rows.values)
    step = max(1, total // _SAMPLE)
    members = [child for child in rows.children if child.step in (Step.MEMBER, Step.COLUMN)]
    # Columns of one table have their rows in common.
    places: dict[int, dict[int, int]] = {}
    for child in members[:_COLUMNS_MAX]:
        if child.owners is not None and id(child.owners) not in places:
            places[id(child.owners)] = {
                owner: at for at, owner in enumerate(child.owners) if owner % step == 0
            }
    return [_column(child, total, step, places.get(id(child.owners))) for child in members[:_COLUMNS_MAX]]


def _column(pool: Pool, total: int, step: int, places: dict[int, int] | None) -> _Column:
    if places is None:
        some = list(pool.values[::step])
    else:
        some = [pool.values[places[row]] if row in places else _ABSENT for row in range(0, total, step)]
    scalars = [value for value in some if value is not None and value is not _ABSENT]
    are_scalars = all(type(value) in (str, int, bool) for value in scalars)
    distinct = Counter(scalars) if are_scalars else Counter()
    by_value = are_scalars and 0 < len(distinct) <= _CLASSES_MAX
    is_key = by_value and len(distinct) >= 2 and len(scalars) * 10 >= 9 * len(some)
    has_forms = False
    if not by_value:
        forms = {_form(value) for value in scalars if type(value) is str}
        has_forms = 1 < len(forms) <= _FORMS_MAX
    signs = some if by_value else [_sign(value, has_forms=has_forms) for value in some]
    return _Column(pool, total, some, signs, by_value, has_forms, is_key)


def _sign(value: Any, *, has_forms: bool) -> Any:
    """What is compared of a value that is one of many."""
    if value is _ABSENT or value is None or value is True or value is False:
        return value
    kind = type(value)
    if kind in (int, float):
        return "number", (value > 0) - (value < 0)
    if kind is str:
        return "str", _form(value) if has_forms else not value
    return NAMES.get(kind, "other"), not value


def _form(text: str) -> str:
    """`a@a.a`, `0`, `-0.0`: runs of digits as one, and of letters and digits."""
    return _RUN.sub(_run, text[:_FORM_CHARACTERS])


def _run(found: re.Match[str]) -> str:
    return "0" if found[0].isdigit() else "a"


# --- What a class tells ----------------------------------------------------------------------------


def _told(key: _Column, column: _Column) -> float:
    """How many of the sample are where they would not be if the class told nothing; 0 if it tells nothing."""
    total = len(key.some)
    classes, signs = Counter(key.some), Counter(column.signs)
    pairs = Counter(zip(key.some, column.signs, strict=True))
    score = 0.0
    if len(signs) > 1:
        for name, number in classes.items():
            for sign, count in signs.items():
                expected = number * count / total
                if expected >= _EXPECTED_MIN and pairs[name, sign] * _CONTRAST <= expected:
                    score += expected
    if not score and not column.by_value and _is_narrow(key, column):
        score = 1.0
    return score


def _is_narrow(key: _Column, column: _Column) -> bool:
    """The numbers of some class keep to a part of where all are."""
    groups: dict[Any, list[float]] = {}
    for name, value in zip(key.some, column.some, strict=True):
        if type(value) in (int, float) and -_HUGE < value < _HUGE:
            groups.setdefault(name, []).append(value)
    ordered = sorted(value for group in groups.values() for value in group)
    if len(groups) < 2 or len(ordered) < _ROWS_MIN:
        return False
    spread = ordered[len(ordered) * 19 // 20] - ordered[len(ordered) // 20]
    for group in groups.values():
        group.sort()
        few = len(group) // 12
        if few and group[-1 - few] - group[few] < spread / 2:
            return True
    return False


def _by_sign(rows: Pool, key: _Column, column: _Column) -> list[PoolFinding]:
    total = len(rows.values)
    signs = column.values if column.by_value else [column.sign(value) for value in column.values]
    try:
        pairs = Counter(zip(key.values, signs, strict=True))
    except TypeError:  # An array or object among values of which the sample has none.
        return []
    classes: Counter[Any] = Counter()
    counts: Counter[Any] = Counter()
    for (name, sign), count in pairs.items():
        classes[name] += count
        counts[sign] += count
    odd: dict[Any, float] = {}
    inside: dict[Any, dict[Any, int]] = {}
    for (name, sign), count in pairs.items():
        inside.setdefault(name, {})[sign] = count
    for name, number in classes.items():
        rare = rare_values(inside[name], number)
        for sign in rare:
            count = inside[name][sign]
            expected = number * counts[sign] / total
            if expected >= _EXPECTED_MIN and count * _CONTRAST <= expected:
                odd[name, sign] = 0.9 * log2(number / count)
    several = sum(pairs[pair] for pair in odd)
    if not odd or several > 2 + total // _FEW_SHARE:
        return []
    return [
        _finding(rows, key, column, row, odd[pair])
        for row, pair in enumerate(zip(key.values, signs, strict=True))
        if pair in odd
    ]


def _finding(rows: Pool, key: _Column, column: _Column, row: int, bits: float) -> PoolFinding:
    value, name = column.values[row], key.values[row]
    label = named(column.pool, rows)
    where = "without" if name is _ABSENT else f"where {named(key.pool, rows)} {value_text(name)}"
    what = f"class {name!s:.40} {column.sign(value)!s:.40}"
    index = column.at(row)
    if index is None:
        return rows, row, bits, f"missing {label} {name!s:.40}", f"no '{label}' {where}"
    return column.pool, index, bits, what, f"{label} {value_text(value)} {where}"


def _by_number(key: _Column, column: _Column) -> list[PoolFinding]:
    """Numbers that are far from those of their class, though others are as great."""
    if not _is_narrow(key, column):
        return []
    groups: dict[Any, list[tuple[float, int]]] = {}
    for row, (name, value) in enumerate(zip(key.values, column.values, strict=True)):
        if type(value) in (int, float) and -_HUGE < value < _HUGE and isfinite(value):
            groups.setdefault(name, []).append((float(value), row))
    found: list[PoolFinding] = []
    for name, group in groups.items():
        group.sort()
        ordered = [value for value, _ in group]
        for (count, bits), rows, sign in (
            (high_tail(ordered), group[::-1], "high"),
            (low_tail(ordered), group, "low"),
        ):
            if not 0 < count <= 3:
                continue
            for value, row in rows[:count]:
                index = column.at(row)
                reason = f"{column.pool.name} {value_text(value)} where {key.pool.name} {value_text(name)}"
                if index is not None:
                    found.append((column.pool, index, 0.9 * bits, f"class {name!s:.40} {sign}", reason))
    return found


def _explained(columns: list[_Column]) -> set[int]:
    """Members that few rows have, but most of some class."""
    explained: set[int] = set()
    keys = [column for column in columns if column.is_key]
    for column in columns:
        if not column.pool.extra:
            continue
        for key in keys:
            having = Counter([key.values[row] for row in column.pool.extra])
            name, count = having.most_common(1)[0]
            if count >= _CLASSES_MAX and count * 2 >= key.values.count(name):
                explained.add(id(column.pool))
                break
    return explained
