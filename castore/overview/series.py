"""Numbers in the order in which they stand: one that fits neither those before it nor those after it.

Law: only where the numbers go on smoothly, each close to the one before, does a spike stand apart; in
numbers without an order none does. A change of level is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from operator import sub

from castore.overview.rarity import high_tail

__all__ = ["spikes"]

_SMOOTH_MAX = 0.12
_FAR = 8.0
_SPIKES_MAX = 3
_RUN = 64
_RUNS = 6
_NUMBERS_MIN = 40


def spikes(numbers: Sequence[float]) -> list[tuple[int, float]]:
    """Which ones, with their bits."""
    total = len(numbers)
    if total < _NUMBERS_MIN or not _is_smooth(numbers):
        return []
    steps = list(map(sub, numbers[1:], numbers))
    jumps = [
        min(abs(before), abs(after)) if (before > 0) != (after > 0) else 0.0
        for before, after in pairwise(steps)
    ]
    ordered = sorted(jumps)
    count, bits = high_tail(ordered)
    typical = sorted(map(abs, steps))[len(steps) // 2]
    if not 0 < count <= _SPIKES_MAX or ordered[-count] < _FAR * typical:
        return []
    edge = ordered[-count]
    return [(at, bits) for at, jump in enumerate(jumps, 1) if jump >= edge]


def _is_smooth(numbers: Sequence[float]) -> bool:
    """From one to the next is little of the way between all of them."""
    total = len(numbers)
    if total <= _RUN * _RUNS:
        runs = [numbers]
    else:
        begins = range(0, total - _RUN, (total - _RUN) // (_RUNS - 1))
        runs = [numbers[begin : begin + _RUN] for begin in begins]
    steps = sorted(abs(b - a) for run in runs for a, b in pairwise(run))
    there = sorted(number for run in runs for number in run)
    spread = there[len(there) * 3 // 4] - there[len(there) // 4]
    return 0 < steps[len(steps) // 2] <= _SMOOTH_MAX * spread
