"""How surprising it is that something stands apart, in bits: of values by how often they are, of numbers by
the gap between them and the rest.

Laws: what is said depends on the values and their order alone. Where many stand apart, none does: at most
one in SHARE of the entries is rare, and of many one in a hundred. A tail is judged by the tail itself, on a
linear and on a logarithmic scale, so heavy-tailed and uniform numbers have no outliers of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from itertools import accumulate, pairwise
from math import log, log1p, log2
from typing import TypeVar

__all__ = [
    "ENTRIES_MIN",
    "Finding",
    "Tail",
    "high_tail",
    "low_tail",
    "rare_numbers",
    "rare_values",
    "sign_outliers",
]

ENTRIES_MIN = 6
"""Among fewer entries nothing stands apart."""

_SHARE = 16
_RARE_MAX = 4
_CONTRAST = 4
_PLAIN_BITS_MIN = 13.0
_LOG_BITS_MIN = 5.0
_LOG_ALONE_BITS_MIN = 17.0
_TAIL_MAX = 200
_APART_MAX = 25
_STEP = 1.01

Value = TypeVar("Value", bound=Hashable)

Tail = tuple[int, float]
"""How many are in the tail, and the bits; (0, 0.0) for none."""

Finding = tuple[int, float, str, str]
"""Index, bits, what kind of oddness (those of one kind are alike), reason."""

NO_TAIL: Tail = (0, 0.0)


def rare_values(counts: Mapping[Value, int], total: int) -> dict[Value, float]:
    """The values that are rare where the others are common, each with its bits.

    Between the rare and the common ones there must be a clear step in how often they are, so that neither
    the tail of a Zipf distribution nor the chance of uniform draws makes a value rare.
    """
    if len(counts) < 2 or total < ENTRIES_MIN or max(counts.values()) < _CONTRAST:
        return {}
    sizes = Counter(counts.values())
    ladder = sorted(sizes)
    most = max(1, min(total // _SHARE, _RARE_MAX + total // 100))
    mass, masses, cut = 0, {}, 0
    for size, following in pairwise(ladder):
        mass += size * sizes[size]
        if mass > most:
            break
        masses[size] = mass
        if following >= _CONTRAST * size:
            cut = size
    if not cut:
        return {}
    return {value: log2(total / masses[count]) for value, count in counts.items() if count <= cut}


def rare_numbers(counts: Mapping[float, int], total: int) -> dict[float, float]:
    """The same of numbers that repeat: a rare one that goes on where the common ones end, step by step, is
    the end of their distribution and no more."""
    rare = rare_values(counts, total)
    if not rare or len(counts) - len(rare) < 3:
        return rare
    ordered = sorted(counts)
    common = [number for number in ordered if number not in rare]
    step = min(b - a for a, b in pairwise(common))
    kept: dict[float, float] = {}
    for at, number in enumerate(ordered):
        beside = [abs(number - ordered[other]) for other in (at - 1, at + 1) if 0 <= other < len(ordered)]
        if number in rare and min(beside) > 2 * step:
            kept[number] = rare[number]
    return kept


def high_tail(numbers: Sequence[float]) -> Tail:
    """How many of the greatest of these sorted numbers stand apart from the rest."""
    total = len(numbers)
    if total < ENTRIES_MIN + 2:
        return NO_TAIL
    apart, kept = _sizes(total)
    top = numbers[: -(apart + kept + 2) : -1]
    middle = numbers[total // 2]
    plain = _Top(top, apart, kept)
    count = plain.clearest(_PLAIN_BITS_MIN)
    if not count:
        return NO_TAIL
    scale = (numbers[total * 3 // 4] - numbers[total // 4]) or plain.least
    logarithmic = _Top([_symmetric_log(x - middle, scale) for x in top], apart, kept, plain.least / scale)
    if logarithmic.bits(count) < _LOG_BITS_MIN + 2 * log2(count):
        count = logarithmic.clearest(_LOG_BITS_MIN)
        if (
            not count
            or logarithmic.bits(count) < _LOG_BITS_MIN + 2 * log2(count)
            or plain.bits(count) < _PLAIN_BITS_MIN
        ):
            return NO_TAIL
    return count, _capped((logarithmic.bits(count) + plain.bits(count)) / 2, count, total)


def low_tail(numbers: Sequence[float]) -> Tail:
    """How many of the least stand apart. Positive numbers may do so by their logarithm alone."""
    total = len(numbers)
    if total < ENTRIES_MIN + 2:
        return NO_TAIL
    found = high_tail([-x for x in reversed(numbers)])
    if numbers[0] > 0 and numbers[-1] / 4 > numbers[0]:
        apart, kept = _sizes(total)
        bottom = _Top([-log(x) for x in numbers[: apart + kept + 1]], apart, kept)
        count = bottom.clearest(_LOG_ALONE_BITS_MIN)
        if count:
            found = max(found, (count, _capped(bottom.bits(count), count, total)), key=lambda each: each[1])
    return found


def sign_outliers(numbers: Sequence[float]) -> tuple[int, int]:
    """How many of these sorted numbers are negative, and how many zero, where that stands apart.

    It does not where the positive ones come close to zero anyway.
    """
    total = len(numbers)
    negative = next((at for at, x in enumerate(numbers[: total // _SHARE + 2]) if x >= 0), -1)
    if negative < 0:
        return 0, 0
    zero = next((at for at, x in enumerate(numbers[negative : negative + total // _SHARE + 2]) if x > 0), -1)
    if zero < 0 or negative + zero > max(1, total // _SHARE) or total - negative - zero < ENTRIES_MIN:
        return 0, 0
    rest = numbers[negative + zero :]
    kept = min(max(6, len(rest) // 20), _TAIL_MAX, len(rest) - 1)
    slope = sum(rest[:kept]) / kept
    slope = rest[kept] - slope
    return (negative if rest[0] >= slope / 2 or -numbers[0] > 4 * slope else 0), (
        zero if rest[0] >= slope * 2 else 0
    )


def _sizes(total: int) -> tuple[int, int]:
    """How many may stand apart, and how many of the rest judge them."""
    apart = max(1, min(total // 40, _APART_MAX))
    return apart, min(max(6, total // 20), _TAIL_MAX, total - apart - 2)


def _capped(bits: float, count: int, total: int) -> float:
    """No number tells more than that it is one of so many."""
    return min(bits, log2(total / count) + 1)


class _Top:
    """The greatest numbers, descending: up to `apart` that may stand apart, and those that judge them."""

    def __init__(self, top: Sequence[float], apart: int, kept: int, least: float | None = None) -> None:
        self.top = top
        self.apart = min(apart, len(top) - 2)
        self.kept = kept
        # The spacing after the j-th, times j, is of the same exponential distribution for every j.
        self.spacings = [at * (a - b) for at, (a, b) in enumerate(pairwise(top), 1)]
        self.sums = [0.0, *accumulate(self.spacings)]
        # Numbers that come in steps have no finer spacings; of whole ones that are all alike the step is one.
        step = _resolution(top[self.apart :]) if least is None else log1p(least)
        self.least = max(step, abs(top[self.apart]) * 1e-9, 1e-300)

    def clearest(self, least_bits: float) -> int:
        """After how many the clearest gap is; 0 if none is clear."""
        gaps = [
            (self.bits(count), -count)
            for count in range(1, self.apart + 1)
            # Next to the last one may be one step further: that is no gap, however many are there.
            if self.top[count - 1] - self.top[count] > self.least * _STEP
        ]
        bits, count = max(gaps, default=(0.0, 0))
        return -count if bits >= least_bits else 0

    def bits(self, count: int) -> float:
        """Against a gap this wide after `count`, if the tail goes on as those below the gap do.

        The spacings of an exponential tail, each times its rank, are exponential with one mean, which is
        estimated from `kept` of them (Renyi 1953; Hill 1975): hence the power.
        """
        last = min(count + self.kept, len(self.spacings))
        number = max(1, last - count)
        slope = max((self.sums[last] - self.sums[count]) / number, self.least)
        return number * log1p(self.spacings[count - 1] / slope / number) / log(2)


def _resolution(numbers: Sequence[float]) -> float:
    """The least step between two of these, which descend; of whole numbers that are all alike it is one."""
    steps = [a - b for a, b in pairwise(numbers) if a > b]
    if steps:
        return min(steps)
    return 1.0 if numbers and float(numbers[0]).is_integer() else abs(numbers[0]) / 100 if numbers else 0.0


def _symmetric_log(distance: float, scale: float) -> float:
    return log1p(distance / scale) if distance >= 0 else -log1p(-distance / scale)
