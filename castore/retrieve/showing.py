"""What an object is, what stands apart in it, and what names it: `ctx show`.

Laws: the text has at most `bytes_max` bytes; what matters most comes first, and what was left out is said.
An object of up to LOOKED_BYTES_MAX bytes is read and checked whole; of a larger one frames are, each checked,
and how much of it was looked at is said. Looking at an object is no use of it: the read is noted nowhere.
Every address that is given is what `ctx cat` takes.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from castore.config import COUNT_MAX, SHOWN_BYTES, SHOWN_BYTES_MIN
from castore.digest import Digest
from castore.errors import InvalidOption
from castore.overview.model import Key, Outlier, Overview, Place
from castore.overview.overview import LOOKED_BYTES_MAX, overview
from castore.overview.render import Line, Words, fact_words, render
from castore.overview.words import iso_text, size_text
from castore.retrieve.address import Address, Range, Unit
from castore.retrieve.naming import life_words, root_title, root_words
from castore.roots.model import Root
from castore.store.life import Life
from castore.store.reads import ReadCount
from castore.store.store import Store

__all__ = ["NAMED_MAX", "Shown", "address_of", "show"]

NAMED_MAX = 20

Onwards = Callable[[int], tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Shown:
    """lines: a label and its value each. overview, life, roots: what they tell of."""

    digest: Digest
    lines: tuple[Line, ...]
    overview: Overview
    stored_bytes: int
    life: Life
    roots: tuple[Root, ...]

    @property
    def named(self) -> tuple[Root, ...]:
        """A name is what people know it by: roots with one come before what was only stored."""
        return tuple(sorted(self.roots, key=lambda root: root.name is None))

    @property
    def text(self) -> str:
        return "\n".join(f"{label:<9} {value}" for label, value in self.lines)

    @property
    def facts(self) -> dict[str, Any]:
        """All that is known, as JSON values: keys, outliers with their addresses, who names it. There are at
        most so many of each; bytes are not counted."""
        told = self.overview
        return {
            "digest": str(self.digest),
            "kind": told.kind,
            "size": told.size,
            "stored_bytes": self.stored_bytes,
            "items": told.items if told.members is None else told.members,
            "lines": told.lines,
            "format": told.format,
            "looked_at": round(told.share, 4),
            "outliers": [_outlier_facts(self.digest, each, told) for each in told.outliers],
            "more_outliers": 0,
            "rows": told.rows,
            "path": told.path or None,
            "keys": [_key_facts(key) for key in told.keys],
            "more_keys": max(0, told.keys_total - len(told.keys)),
            "outline": told.outline or None,
            "first": told.first or None,
            "last": told.last or None,
            "state": str(self.life.state),
            "roots": self.life.roots,
            "expires": None if self.life.expires is None else iso_text(self.life.expires),
            "last_read": self.life.last_read,
            "named_by": [_root_facts(root) for root in self.named[:NAMED_MAX]],
            "more_named_by": max(0, len(self.roots) - NAMED_MAX),
        }


def show(
    store: Store,
    digest: Digest,
    *,
    bytes_max: int = SHOWN_BYTES,
    now: float | None = None,
    onwards: Onwards | None = None,
) -> Shown:
    """onwards: how the call reads that says it in so many bytes, whole and in few words; else as `ctx` takes
    it. Raises ObjectMissing, ObjectPurged, ObjectDamaged; InvalidOption for too few bytes."""
    if not SHOWN_BYTES_MIN <= bytes_max <= COUNT_MAX:
        raise InvalidOption(
            f"--max-bytes must be a number from {SHOWN_BYTES_MIN} on, not {bytes_max}", option="--max-bytes"
        )
    told = _overview(store, digest)
    found, life = store.stat(digest), store.life(digest)
    stored_bytes = found.stored_bytes if found is not None else 0
    roots = tuple(store.roots_naming(digest))
    when = now if now is not None else store.parts.clock()
    words = Words(
        lambda place: " ".join(map(shlex.quote, address_of(place, told.kind).words())) or "whole",
        onwards
        or (lambda wanted: (f"ctx show {digest.short} --max-bytes {wanted}", f"--max-bytes {wanted}")),
    )
    shown = Shown(digest, (), told, stored_bytes, life, roots)
    lines = render(
        told,
        _head(digest, told, stored_bytes, life),
        words,
        [(_named(root, when), root_title(root)) for root in shown.named],
        bytes_max,
    )
    return replace(shown, lines=tuple(lines))


def address_of(place: Place, kind: str) -> Address:
    """Where it is, as an address of an object of this kind."""
    selects = place.selects
    if kind == "string" and not selects and (place.lines is not None or place.chars is not None):
        selects = ("$",)  # Its lines are those of what it says.
    if place.chars is not None:
        return Address(selects, cut=Range(Unit.CHARS, *place.chars))
    if place.lines is not None:
        first, after = place.lines
        lines = Range.one(Unit.LINES, first) if after == first + 1 else Range(Unit.LINES, first, after)
        return Address(selects, lines)
    if place.item is not None:
        return Address(selects, Range.one(Unit.ITEMS, place.item))
    return Address(selects)


def _overview(store: Store, digest: Digest) -> Overview:
    store.want([digest])
    found = store.stat(digest)
    if found is None or found.size <= LOOKED_BYTES_MAX:
        return overview(store.read(digest, count=ReadCount()))
    from castore.retrieve.kinds import kind_of
    from castore.retrieve.sampling import sampled

    source = store.ranged(digest, count=ReadCount())
    return sampled(source, kind_of(source))


def _head(digest: Digest, told: Overview, stored_bytes: int, life: Life) -> list[str]:
    """`3f9ac01b77de5a10  1.8 MB`, `12,000 items`, `stored in 201 kB (9.2x)`, `kept`."""
    ratio = f" ({told.size / stored_bytes:.1f}x)" if stored_bytes else ""
    first, *rest = fact_words(told)
    head = [
        f"{digest.short}  {first}",
        *rest,
        f"stored in {size_text(stored_bytes)}{ratio}",
        life_words(life),
    ]
    return head + ([f"looked at {max(1, round(100 * told.share))} % of it"] if told.share < 1 else [])


def _named(root: Root, now: float) -> str:
    words = root_words(root, now)
    return words if root.scope == "default" else f"{words[:-1]}, scope {root.scope})"


def _key_facts(key: Key) -> dict[str, Any]:
    return {
        "name": key.name,
        "types": dict(key.types),
        "values": [{"value": value, "count": count} for value, count in key.values],
        "distinct": key.distinct,
        "low": key.low,
        "high": key.high,
    }


def _outlier_facts(digest: Digest, outlier: Outlier, told: Overview) -> dict[str, Any]:
    def words(place: Place) -> list[str]:
        return [digest.short, *address_of(place, told.kind).words()]

    return {
        "address": words(outlier.place),
        "reasons": list(outlier.reasons),
        "excerpt": outlier.excerpt,
        "alike": [words(place) for place in outlier.alike],
        "more": outlier.more,
    }


def _root_facts(root: Root) -> dict[str, Any]:
    return {
        "id": root.id,
        "scope": root.scope,
        "kind": str(root.kind),
        "name": root.name,
        "source_name": root.source_name,
        "created": iso_text(root.created),
        "expires": None if root.expires is None else iso_text(root.expires),
    }
