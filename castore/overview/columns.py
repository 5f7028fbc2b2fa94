"""What stands apart in one pool of values: its types, its values, its numbers, their order, its strings.

Laws: every finding is of one value and has its bits (castore.overview.rarity). A pool in which many values
stand apart has none. Numbers of any size and strings of any length are looked at in bounded time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import isfinite, log2
from typing import Any

from castore.overview.moments import moments_of
from castore.overview.orders import order_findings
from castore.overview.rarity import (
    ENTRIES_MIN,
    Finding,
    high_tail,
    low_tail,
    rare_numbers,
    rare_values,
    sign_outliers,
)
from castore.overview.scalars import NAMES, value_text
from castore.overview.series import spikes
from castore.overview.texts import text_findings
from castore.overview.tokens import hide_tails

__all__ = ["column_findings"]

_HUGE = 1e290
_CONTRAST = 16
_FRACTION = re.compile(r"\.\d+")
_DISTINCT_IDS = (
    "id",
    "key",
    "uuid",
    "guid",
    "hash",
    "sha",
    "email",
    "name",
    "sku",
    "number",
    "code",
    "digest",
)


def column_findings(
    values: Sequence[Any], name: str, *, are_lines: bool = False, counts: Counter[Any] | None = None
) -> list[Finding]:
    """name: of the member, which tells what is an id. counts: of the values, if they are of one type and
    were counted."""
    total = len(values)
    if total < ENTRIES_MIN:
        return []
    kinds = Counter(map(type, values))
    found: list[Finding] = []
    if len(kinds) > 1:
        found += _by_type(values, kinds, total)
    if kinds[str]:
        found += _within(values, str, kinds[str], lambda part: _strings(part, name, are_lines, counts))
    if kinds[int] or kinds[float]:
        numbers = _all_finite(values) if kinds[int] + kinds[float] == total else None
        if numbers is not None:
            found += _numbers(numbers, values, name)
        else:
            some = [
                (at, x)
                for at, v in enumerate(values)
                if type(v) in (int, float) and (x := _finite(v)) is not None
            ]
            inner = _numbers([x for _, x in some], [values[at] for at, _ in some], name)
            found += [(some[at][0], bits, what, reason) for at, bits, what, reason in inner]
    if kinds[bool]:
        found += _within(values, bool, kinds[bool], _booleans)
    if kinds[list] or kinds[dict]:
        found += _within(values, list, kinds[list], _lengths)
        found += _within(values, dict, kinds[dict], _lengths)
    return found


def _within(values: Sequence[Any], kind: type, count: int, look: Any) -> list[Finding]:
    if count < ENTRIES_MIN:
        return []
    if count == len(values):
        return list(look(values))
    places = [at for at, value in enumerate(values) if type(value) is kind]
    return [
        (places[at], bits, what, reason) for at, bits, what, reason in look([values[at] for at in places])
    ]


def _by_type(values: Sequence[Any], kinds: Counter[type], total: int) -> list[Finding]:
    merged: Counter[Any] = Counter()
    for kind, count in kinds.items():
        merged[_family(kind)] += count
    rare = rare_values(merged, total)
    found: list[Finding] = []
    if rare:
        odd = {kind: _family(kind) for kind in kinds if _family(kind) in rare}
        found += [
            (at, rare[odd[type(value)]] + 1, f"type {odd[type(value)]}", value_text(value))
            for at, value in enumerate(values)
            if type(value) in odd
        ]
    if kinds[int] and 0 < kinds[float] <= max(1, kinds[int] // 50):
        bits = 0.6 * log2(total / kinds[float])
        found += [
            (at, bits, "float", value_text(value))
            for at, value in enumerate(values)
            if type(value) is float and not value.is_integer()
        ]
    return found


def _family(kind: type) -> str:
    return "number" if kind in (int, float) else NAMES.get(kind, "other")


def _all_finite(values: Sequence[Any]) -> list[float] | None:
    """All of them, if they are finite and can be calculated with."""
    try:
        numbers = list(map(float, values))
    except OverflowError:
        return None
    return numbers if max(numbers) < _HUGE and min(numbers) > -_HUGE else None


def _finite(value: float) -> float | None:
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) and abs(number) < _HUGE else None


# --- Numbers ---------------------------------------------------------------------------------------


def _numbers(numbers: list[float], values: Sequence[Any], name: str) -> list[Finding]:
    total = len(numbers)
    if total < ENTRIES_MIN:
        return []
    found: list[Finding] = []
    ordered = order_findings(numbers, values)
    if ordered is not None:
        return ordered
    counts = Counter(numbers)
    if len(counts) * 4 <= total or len(counts) <= 3:
        rare = rare_numbers(counts, total)
        found += [
            (at, rare[x] + 1, f"value {x}", value_text(values[at]))
            for at, x in enumerate(numbers)
            if x in rare
        ]
    else:
        found += _duplicates(numbers, counts, name, total)
    ascending = sorted(numbers)
    count, bits = high_tail(ascending)
    if count:
        edge = ascending[-count]
        found += [(at, bits, "high", value_text(values[at])) for at, x in enumerate(numbers) if x >= edge]
    count, bits = low_tail(ascending)
    if count:
        edge = ascending[count - 1]
        found += [(at, bits, "low", value_text(values[at])) for at, x in enumerate(numbers) if x <= edge]
    found += [
        (at, bits, "spike", f"{value_text(values[at])} unlike its neighbours") for at, bits in spikes(numbers)
    ]
    negative, zero = sign_outliers(ascending)
    if negative:
        bits = log2(total / negative) + 2  # A sign that changed tells more than a value that is rare.
        found += [(at, bits, "negative", value_text(values[at])) for at, x in enumerate(numbers) if x < 0]
    if zero:
        bits = 0.9 * log2(total / zero)
        found += [(at, bits, "zero", value_text(values[at])) for at, x in enumerate(numbers) if x == 0]
    return found


def _booleans(values: Sequence[bool]) -> list[Finding]:
    rare = rare_values(Counter(values), len(values))
    return (
        [(at, rare[v] + 1, f"value {v}", value_text(v)) for at, v in enumerate(values) if v in rare]
        if rare
        else []
    )


def _lengths(values: Sequence[Any]) -> list[Finding]:
    """Of arrays and objects: how many items they have."""
    lengths = list(map(len, values))
    if min(lengths) == max(lengths):
        return []
    counts = Counter(map(float, lengths))
    rare = rare_numbers(counts, len(lengths))
    ordered = sorted(map(float, lengths))
    tail = {}
    count, bits = high_tail(ordered)
    if count:
        tail = {length: bits for length in counts if length >= ordered[-count]}
    empty, least = lengths.count(0), min((length for length in counts if length), default=0)
    if 0 < empty <= max(1, len(lengths) // 40) and empty * _CONTRAST <= counts[least]:
        # Nothing at all is more than one less.
        rare = {**rare, 0.0: max(rare.get(0.0, 0.0), log2(len(lengths) / empty) + 1)}
    found: list[Finding] = []
    for at, length in enumerate(lengths):
        bits = max(rare.get(length, 0.0), tail.get(length, 0.0))
        if bits:
            found.append((at, 0.8 * bits, f"length {length}", f"of {length}"))
    return found


# --- Strings ---------------------------------------------------------------------------------------


def _strings(values: Sequence[str], name: str, are_lines: bool, counts: Counter[Any] | None) -> list[Finding]:
    if are_lines:
        return text_findings(values, are_lines=True)
    moments = moments_of(values)
    if moments is not None:
        return _of_moments(values, moments)
    if counts is None:
        counts = Counter(values)
    found = text_findings(values, counts=counts)
    found += _duplicates(values, counts, name, len(values))
    found += _by_head(values, counts)
    return [
        (
            at,
            bits + (what == "value"),
            f"{what} {values[at]}" if what == "value" else what,
            reason or value_text(values[at]),
        )
        for at, bits, what, reason in found
    ]


def _by_head(values: Sequence[str], counts: Counter[Any]) -> list[Finding]:
    """What stands before a random token: `tst_` where all others begin with `ord_`."""
    if len(counts) * 2 < len(values):
        return []
    whole = list(values)
    heads = hide_tails(whole)
    if heads is whole:
        return []
    rare = rare_values(Counter(heads), len(heads))
    return [
        (at, rare[head], "shape", "") for at, head in enumerate(heads) if head in rare and head[-1:] == "~"
    ]


def _of_moments(values: Sequence[str], moments: list[float | None]) -> list[Finding]:
    """Points in time: their order, else how early or late; and what is none, or is written otherwise."""
    places = [at for at, x in enumerate(moments) if x is not None]
    numbers = [x for x in moments if x is not None]
    there = [values[at] for at in places]
    ordered = order_findings(numbers, there)
    inner = ordered if ordered is not None else _numbers_of_moments(numbers, there)
    found = [(places[at], bits, what, reason) for at, bits, what, reason in inner]
    if len(numbers) == len(values) and len(set(map(len, values))) == 1:
        return found
    # How many digits a second has is no matter: zeros at its end may be left out.
    kinds = [
        (len(_FRACTION.sub("", text, 1) if "." in text else text), moment is None)
        for text, moment in zip(values, moments, strict=True)
    ]
    rare = rare_values(Counter(kinds), len(kinds))
    if rare:
        found += [
            (at, rare[kind] if kind[1] else rare[kind] / 2, "shape", value_text(values[at]))
            for at, kind in enumerate(kinds)
            if kind in rare
        ]
    return found


def _numbers_of_moments(numbers: list[float], values: Sequence[str]) -> list[Finding]:
    ascending = sorted(numbers)
    found: list[Finding] = []
    for (count, bits), is_high in (
        (high_tail(ascending), True),
        (high_tail([-x for x in reversed(ascending)]), False),
    ):
        if count:
            edge = ascending[-count] if is_high else ascending[count - 1]
            found += [
                (at, bits, "late" if is_high else "early", value_text(values[at]))
                for at, x in enumerate(numbers)
                if (x >= edge if is_high else x <= edge)
            ]
    return found


def _duplicates(values: Sequence[Any], counts: Counter[Any], name: str, total: int) -> list[Finding]:
    """One value twice where all others are distinct, in what is named as an id."""
    extra = total - len(counts)
    if not 0 < extra <= 2 or total < 16:  # More are chance, or the rule.
        return []
    if not name.lower().endswith(_DISTINCT_IDS):
        return []
    twice = {value for value, count in counts.items() if count > 1}
    bits = 0.8 * log2(total / (extra + len(twice)))
    return [(at, bits, "same", f"{value_text(v)} twice") for at, v in enumerate(values) if v in twice]
