"""Charts as numbers: where bars and lines stand, for templates to draw as SVG.

Laws: pure; every shape stands in the box (WIDTH x HEIGHT); what is over 0 is seen, be it ever so small beside
the others. Amounts are told in tables, and exactly; here they are rounded to what a screen can show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = [
    "HEIGHT",
    "WIDTH",
    "Bar",
    "Column",
    "Columns",
    "Curve",
    "Segment",
    "columns",
    "curve",
    "groups",
    "share_bar",
]

WIDTH, HEIGHT = 1000, 240
"""Units of the box. It is stretched to the page, so a unit is no pixel, and text stands outside of it."""

TICKS = 4
"""An axis has so many steps of equal height, and one label more."""

_GAP = 0.18
"""Of a column's width, so much is left free, where columns are wide enough to be seen apart."""

_LEAST = 3.0
"""No bar is shorter."""

_NICE = (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10)
"""Tops of axes, whose quarters are short numbers too."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a column, or of a bar: what of, and where."""

    key: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Column:
    """x, width: of the whole column, gap and all, which is what a pointer meets. title: in words."""

    x: float
    width: float
    title: str
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Columns:
    """ticks: the amounts at the axis, from the top down."""

    columns: tuple[Column, ...]
    ticks: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """line, area: paths. points: (x, width, title) of what a pointer meets, a point each."""

    line: str
    area: str
    points: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar that lies, its segments from the left on; `rest` is what is left of the box."""

    segments: tuple[Segment, ...]
    rest: float


def groups(count: int, most: int) -> list[range]:
    """`count` things in at most `most` groups of neighbours, all of one size but for the last."""
    size = max(1, -(-count // most))
    return [range(start, min(start + size, count)) for start in range(0, count, size)]


def columns(amounts: Sequence[Mapping[str, int]], titles: Sequence[str], keys: Sequence[str]) -> Columns:
    """A column for each of `amounts`, its pieces stacked in the order of `keys`, the first at the bottom."""
    top = ceiling(max((sum(each.values()) for each in amounts), default=0))
    step = WIDTH / max(len(amounts), 1)
    gap = step * _GAP if step > 4 else 0.0
    found = []
    for place, (each, title) in enumerate(zip(amounts, titles, strict=True)):
        segments, y = [], float(HEIGHT)
        for key in keys:
            height = each.get(key, 0) / top * HEIGHT
            if height > 0:
                y -= height
                segments.append(Segment(key, _r(place * step + gap / 2), _r(y), _r(step - gap), _r(height)))
        found.append(Column(_r(place * step), _r(step), title, _seen(segments)))
    return Columns(tuple(found), tuple(top * (TICKS - each) / TICKS for each in range(TICKS + 1)))


def curve(shares: Sequence[float], titles: Sequence[str]) -> Curve:
    """A line through shares (0 to 1), the first at the left edge and the last at the right one."""
    count = len(shares)
    places = [each * WIDTH / (count - 1) if count > 1 else WIDTH / 2 for each in range(count)]
    heights = [_r(HEIGHT * (1 - min(max(share, 0.0), 1.0))) for share in shares]
    edges = [0.0, *((before + after) / 2 for before, after in pairwise(places)), float(WIDTH)]
    if count == 1:
        places, heights = [0.0, float(WIDTH)], heights * 2
    line = " ".join(
        f"{'L' if at else 'M'}{_r(x)} {y}" for at, (x, y) in enumerate(zip(places, heights, strict=True))
    )
    points = tuple(
        Column(_r(edges[at]), _r(edges[at + 1] - edges[at]), title, ()) for at, title in enumerate(titles)
    )
    return Curve(line, f"{line} L{WIDTH} {HEIGHT} L0 {HEIGHT} Z" if line else "", points)


def share_bar(amounts: Mapping[str, int], whole: int, keys: Sequence[str]) -> Bar:
    """A bar that lies: each amount as its share of `whole`."""
    found, x = [], 0.0
    for key in keys:
        amount = amounts.get(key, 0)
        if amount > 0 and whole > 0:
            x = min(x, WIDTH - _LEAST)
            width = min(max(amount / whole * WIDTH, _LEAST), WIDTH - x)
            found.append(Segment(key, _r(x), 0.0, _r(width), 1.0))
            x += width
    return Bar(tuple(found), _r(WIDTH - x))


def ceiling(amount: float) -> float:
    """A round number that is not below `amount`, nor below TICKS: the top of an axis."""
    amount = max(amount, TICKS)
    power = 1.0
    while power * 10 <= amount:
        power *= 10
    return next(nice * power for nice in _NICE if nice * power >= amount)


def _seen(segments: list[Segment]) -> tuple[Segment, ...]:
    """A column that would be lower than a hair is a hair high."""
    total = sum(each.height for each in segments)
    if segments and total < 1:
        last = segments[-1]
        segments[-1] = Segment(last.key, last.x, HEIGHT - 1.0, last.width, 1.0)
    return tuple(segments)


def _r(number: float) -> float:
    return round(number, 2)
