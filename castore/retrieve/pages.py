"""Pages: an answer of a bounded length, and how to go on.

Law: a page has at most `bytes_max` bytes; it is the beginning of what the address means, ends after an item,
a line, or a character, and what its `next` addresses give is the rest, nothing twice and nothing left out. An
address whose answer fits has no next one.
"""

from __future__ import annotations

import base64
import codecs
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from castore.config import FRAME_BYTES, PAGE_BYTES, PAGE_BYTES_MIN
from castore.digest import Digest
from castore.errors import InvalidOption
from castore.retrieve.address import Address, Range, Unit
from castore.retrieve.kinds import WHOLE_BYTES_MAX, ObjectKind, kind_of
from castore.retrieve.readable import Held, Readable
from castore.retrieve.reading import Found, find, held, of_values, pieces_of
from castore.retrieve.selecting import says
from castore.retrieve.slicing import count, cut_stream, item_slices, slices
from castore.store.store import Store

__all__ = ["Page", "page", "page_of"]

_CUT_ESCAPE = re.compile(
    rb"(?<!\\)(?:\\\\)*(?:(\\u[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u[0-9a-fA-F]{0,3})?)?|\\(?:u[0-9a-fA-F]{0,3})?))\Z"
)
"""The end of a text in the middle of an escape, or between two that make one character."""


@dataclass(frozen=True, slots=True)
class Page:
    """kind: of the object, or of the value that was selected. total: how many of `unit` there are in what the
    selects gave, where that is known. left_out: in words; None: nothing is. next: what gives the rest, in
    order."""

    data: bytes
    kind: ObjectKind
    unit: Unit
    total: int | None
    left_out: str | None = None
    next: tuple[Address, ...] = ()

    @property
    def text(self) -> str | None:
        """The page as text; None where it is none."""
        try:
            return self.data.decode()
        except UnicodeDecodeError:
            return None

    def facts(self, digest: Digest, address: Address) -> dict[str, Any]:
        """The page as JSON values: addresses as words of `ctx cat`, bytes that are no text as base64."""
        text = self.text
        return {
            "digest": str(digest),
            "address": [digest.short, *address.words()],
            "kind": str(self.kind),
            "text": text,
            "base64": base64.b64encode(self.data).decode() if text is None else None,
            "unit": str(self.unit),
            "total": self.total,
            "left_out": self.left_out,
            "next": [[digest.short, *each.words()] for each in self.next],
        }


def page(store: Store, digest: Digest, address: Address, bytes_max: int | None = PAGE_BYTES) -> Page:
    """The first page of what the address means in an object; bytes_max None: all of it, in memory. Raises
    what `reading.pieces_of` raises."""
    return page_of(store.ranged(digest), address, bytes_max)


def page_of(source: Readable, address: Address, bytes_max: int | None = PAGE_BYTES) -> Page:
    """As `page`, of what can be read."""
    if bytes_max is None:
        bytes_max = sys.maxsize
    if bytes_max < PAGE_BYTES_MIN:
        raise InvalidOption(
            f"a page has at least {PAGE_BYTES_MIN} bytes, not {bytes_max}", option="--max-bytes"
        )
    found = find(source, address)
    if found.values is not None:
        return _of_values(found, address, bytes_max)
    # Of a part nothing else is read: what is damaged elsewhere does not matter.
    is_part = address.range is not None or address.cut is not None
    kind = kind_of(found.source, whole_bytes_max=FRAME_BYTES if is_part else WHOLE_BYTES_MAX)
    if address.cut is not None:
        return _of_cut(found.source, kind, address, bytes_max)
    if address.range is not None:
        return _of_range(found.source, kind, address, bytes_max)
    if found.source.size + found.is_selected <= bytes_max:
        data = b"".join(pieces_of(source, address))
        return Page(data, kind, Unit.BYTES, found.source.size)
    return _of_whole(found.source, kind, address, bytes_max)


# --- Helpers ---------------------------------------------------------------------------------------


def _of_whole(source: Readable, kind: ObjectKind, address: Address, bytes_max: int) -> Page:
    """Of what does not fit: by items, by lines, or else by characters; of bytes by bytes."""
    selects = address.selects
    if selects and kind is ObjectKind.STRING and isinstance(source, Held):
        said = says(source.data)
        if said is not None:
            return _of_whole(said, ObjectKind.TEXT, address, bytes_max)
    if kind is ObjectKind.ARRAY:
        return _of_range(source, kind, Address(selects, Range(Unit.ITEMS)), bytes_max)
    if kind is ObjectKind.BYTES:
        return _of_cut(source, kind, Address(selects, None, Range(Unit.BYTES)), bytes_max)
    if b"\n" in source.read(0, min(bytes_max, source.size)):
        return _of_range(source, kind, Address(selects, Range(Unit.LINES)), bytes_max)
    return _of_cut(source, kind, Address(selects, None, Range(Unit.CHARS)), bytes_max)


def _of_values(found: Found, address: Address, bytes_max: int) -> Page:
    """Of the values that a path found: as items, which they are counted by."""
    assert found.values is not None
    of_values(found.values, address.range)
    lists = Held(b"[" + b",".join(found.values) + b"]")
    if address.cut is not None:
        return _of_cut(
            lists, ObjectKind.ARRAY, Address(address.selects, _all(address), address.cut), bytes_max
        )
    of_values(found.values, address.range)
    return _of_range(lists, ObjectKind.ARRAY, Address(address.selects, _all(address)), bytes_max)


def _all(address: Address) -> Range:
    return address.range or Range(Unit.ITEMS)


def _of_range(source: Readable, kind: ObjectKind, address: Address, bytes_max: int) -> Page:
    """As many whole items or lines as fit; of the first one, if that alone does not fit, the beginning."""
    assert address.range is not None
    unit, selects = address.range.unit, address.selects
    total = count(source, unit)
    first, last = address.range.bounds(total)
    data, taken = _entries(source, Range(unit, first, last), bytes_max)
    rest = Range(unit, first + taken, last)
    if first + taken == last:
        return Page(data, kind, unit, total)
    if taken:
        left_out = f"{last - first - taken:,} of {last - first:,} {unit}"
        return Page(data, kind, unit, total, left_out, (Address(selects, rest),))
    one = Range.one(unit, first)
    begun = _of_cut(source, kind, Address(selects, one, Range(_cut_unit(source, one, bytes_max))), bytes_max)
    after = (Address(selects, Range(unit, first + 1, last)),) if first + 1 < last else ()
    left_out = f"the rest of {str(unit)[:-1]} {first:,}" + (
        f", and {last - first - 1:,} more {unit}" if after else ""
    )
    return Page(begun.data, kind, unit, total, left_out, begun.next + after)


def _entries(source: Readable, wanted: Range, bytes_max: int) -> tuple[bytes, int]:
    """Whole items or lines of that slice, as many as fit, and how many these are."""
    data = bytearray()
    if wanted.unit is Unit.ITEMS:
        taken = end = 0
        for piece, is_end in item_slices(source, wanted):
            data += piece
            if is_end:
                data += b"\n"
            if len(data) > bytes_max:
                break
            if is_end:
                taken, end = taken + 1, len(data)
        return bytes(data[:end]), taken
    for piece in slices(source, wanted):
        data += piece
        if len(data) > bytes_max:
            end = data.rfind(b"\n", 0, bytes_max) + 1
            return bytes(data[:end]), data.count(b"\n", 0, end)
    # The last line need not have a line feed.
    return bytes(data), data.count(b"\n") + (1 if data and data[-1] != 0x0A else 0)


def _cut_unit(source: Readable, one: Range, bytes_max: int) -> Unit:
    """Characters, if it begins as text does."""
    head = b""
    for piece in slices(source, one):
        head += piece[: bytes_max + 1 - len(head)]
        if len(head) > bytes_max:
            break
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return Unit.BYTES
    return Unit.CHARS


def _of_cut(source: Readable, kind: ObjectKind, address: Address, bytes_max: int) -> Page:
    """As many characters, or bytes, as fit."""
    assert address.cut is not None
    unit = address.cut.unit
    if address.range is not None and address.cut.needs_length:
        source, outer = Held(held(slices(source, address.range))), None
    else:
        outer = address.range
    total = count(source, unit) if outer is None else None
    if total is not None:
        first, end = address.cut.bounds(total)
        last: int | None = end
        pieces: Iterable[bytes] = slices(source, Range(unit, first, end))
    else:
        first, last = address.cut.start or 0, address.cut.stop
        pieces = cut_stream(slices(source, outer), address.cut) if outer is not None else ()
    data = bytearray()
    for piece in pieces:
        data += piece
        if len(data) > bytes_max:
            break
    else:
        return Page(bytes(data), kind, unit, total)
    taken = _whole_characters(bytes(data[:bytes_max])) if unit is Unit.CHARS else bytes(data[:bytes_max])
    length = len(taken.decode()) if unit is Unit.CHARS else len(taken)
    rest = Address(address.selects, address.range, Range(unit, first + length, last))
    left = "more" if total is None or last is None else f"{last - first - length:,} of {last - first:,}"
    return Page(taken, kind, unit, total, f"{left} {unit}", (rest,))


def _whole_characters(data: bytes) -> bytes:
    """Without a character, or an escape of JSON, that is cut at the end."""
    text = data.decode("utf-8", "ignore").encode()
    found = _CUT_ESCAPE.search(text[-40:])
    return text if found is None else text[: len(text) - len(found[1])]
