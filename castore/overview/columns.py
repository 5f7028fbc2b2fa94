"""What stands apart in one pool of values: its types, its values, its numbers, their order, its strings.

Laws: every finding is of one value and has its bits (castore.overview.rarity). A pool in which many values
stand apart has none. Numbers of any size and strings of any length are looked at in bounded time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import inf, isfinite, log2
from typing import Any

from castore.overview.moments import moments_of
from castore.overview.rarity import (
    ENTRIES_MIN,
    Finding,
    high_tail,
    low_tail,
    rare_numbers,
    rare_values,
    sign_outliers,
)
from castore.overview.series import spikes
from castore.overview.texts import text_findings
from castore.overview.words import plain, visible

__all__ = ["NAMES", "column_findings", "value_text"]

NAMES: dict[type, str] = {
    type(None): "null",
    bool: "bool",
    int: "int",
    float: "float",
    str: "str",
    list: "array",
    dict: "object",
}
_VALUE_CHARACTERS = 24
_ORDER_SHARE = 40
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


def value_text(value: Any) -> str:
    """A scalar in a few characters; of a container, what it is."""
    if isinstance(value, str):
        short = value[: _VALUE_CHARACTERS * 2]
        short = visible(short) if len(short) <= _VALUE_CHARACTERS else plain(short)
        return f"'{short[:_VALUE_CHARACTERS]}…'" if len(short) > _VALUE_CHARACTERS else f"'{short}'"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, list):
        return f"[{len(value)}]"
    if isinstance(value, dict):
        return f"{{{len(value)}}}"
    if isinstance(value, int) and abs(value) >= 10**24:
        return "huge"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


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
    ordered = _by_order(numbers, values)
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


def _by_order(numbers: list[float], values: Sequence[Any]) -> list[Finding] | None:
    """Of numbers that go up (or down): what breaks the order, and gaps. None if they do not."""
    total = len(numbers)
    if total < ENTRIES_MIN + 2 or numbers[0] == numbers[total // 2] == numbers[-1]:
        return None
    steps = [b - a for a, b in pairwise(numbers)]
    ups, downs = sum(1 for step in steps if step > 0), sum(1 for step in steps if step < 0)
    most = max(1, total // _ORDER_SHARE)
    if min(ups, downs) > most or max(ups, downs) * 2 < total:
        return None
    sign = 1 if ups >= downs else -1
    if sign < 0:
        numbers, steps = [-x for x in numbers], [-step for step in steps]
    breaks = _breaks(numbers, steps)
    found: list[Finding] = []
    if breaks:
        bits = log2(total / len(breaks))
        found += [(at, bits, "order", f"{value_text(values[at])} out of order") for at in breaks]
    broken = {at for each in breaks for at in (each, each + 1)}
    sound = sorted(step for at, step in enumerate(steps, 1) if at not in broken)
    count, bits = high_tail(sound) if sound else (0, 0.0)
    if count:
        edge = sound[-count]
        found += [
            # Where the first one is far from all others, it is the first that stands apart.
            (at, 0.8 * bits, "gap", f"{value_text(values[at])} after a gap")
            if at > 1 or total < 3
            else (0, 0.8 * bits, "gap", f"{value_text(values[0])} before a gap")
            for at, step in enumerate(steps, 1)
            if step >= edge and at not in broken
        ]
    still = sum(1 for step in steps if step == 0)
    if 0 < still <= max(1, total // 50):
        bits = 0.8 * log2(total / still)
        found += [
            (at, bits, "same", f"{value_text(values[at])} again")
            for at, step in enumerate(steps, 1)
            if step == 0
        ]
    return found


def _breaks(numbers: list[float], steps: list[float]) -> list[int]:
    """Which ones stand out of the order: those without which the others beside them would be in it. Of the
    places where the order begins anew, one that is the only one."""
    found: list[int] = []
    anew: list[int] = []
    for at, step in enumerate(steps):
        if step >= 0:
            continue
        before = numbers[at - 1] if at else -inf
        after = numbers[at + 2] if at + 2 < len(numbers) else inf
        is_high, is_low = numbers[at + 1] >= before, after >= numbers[at]
        if is_high and is_low:
            # Either would do: the one that is further off.
            is_high = numbers[at] - numbers[at + 1] > numbers[at + 1] - before if after == inf else at == 0
        if is_high:
            found.append(at)
        elif is_low:
            found.append(at + 1)
        else:
            anew.append(at + 1)
    return found + anew if len(anew) == 1 else found


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
    return [
        (
            at,
            bits + (what == "value"),
            f"{what} {values[at]}" if what == "value" else what,
            reason or value_text(values[at]),
        )
        for at, bits, what, reason in found
    ]


def _of_moments(values: Sequence[str], moments: list[float | None]) -> list[Finding]:
    """Points in time: their order, else how early or late; and what is none, or is written otherwise."""
    places = [at for at, x in enumerate(moments) if x is not None]
    numbers = [x for x in moments if x is not None]
    there = [values[at] for at in places]
    ordered = _by_order(numbers, there)
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
