"""What an overview says, as values."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Key", "Outlier", "Overview", "Place"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a part of an object is, in the terms of an address: JSONPaths, each going on in what the one
    before found, then an item of that, or lines, or characters (from the first on, before the last)."""

    selects: tuple[str, ...] = ()
    item: int | None = None
    lines: tuple[int, int] | None = None
    chars: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Outlier:
    """reasons: why it stands apart, the clearest first, in two or three words each. excerpt: of the entry,
    what is odd and what explains it. alike: places of others that stand apart for the same reason, some of
    `more`. bits: how surprising it is; only for ranking."""

    place: Place
    reasons: tuple[str, ...]
    excerpt: str
    bits: float
    alike: tuple[Place, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class Key:
    """A member of the rows (or of the object): its types and how often each; its values and how often, if
    they are few; how many distinct ones there are, if that was counted; the least and the greatest number."""

    name: str
    types: tuple[tuple[str, int], ...]
    values: tuple[tuple[str, int], ...] = ()
    distinct: int | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Overview:
    """kind: array, object, string, text or bytes. items: of an array; members: of an object; lines: of a
    text. format: of a text that holds rows. outline: of an object that is no map, its members, of large ones
    only how many. path: where the rows are that `keys` tells of, and how many; "" for the object itself.
    first, last: entries, or lines, whole or clipped. share: how much of it was looked at, 1 for all.
    """

    kind: str
    size: int
    items: int | None = None
    members: int | None = None
    lines: int | None = None
    format: str | None = None
    outline: str = ""
    path: str = ""
    rows: int | None = None
    keys: tuple[Key, ...] = ()
    keys_total: int = 0
    outliers: tuple[Outlier, ...] = ()
    first: str = ""
    last: str = ""
    share: float = 1.0
