"""Numbers that go up, or down: what breaks their order, where there are gaps, what stands still."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import inf, log2
from typing import Any

from castore.overview.rarity import ENTRIES_MIN, Finding, high_tail
from castore.overview.scalars import value_text

__all__ = ["order_findings"]

_ORDER_SHARE = 40


def order_findings(numbers: list[float], values: Sequence[Any]) -> list[Finding] | None:
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
