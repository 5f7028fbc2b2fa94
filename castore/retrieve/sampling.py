"""Entries of an object too large to be looked at whole: from its head, its tail, and evenly in between.

Laws: at most SECTIONS_MAX frames are read, each checked, one at a time. Every entry that is given is whole,
and its index is exact: the marks of the frames count what stands before them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from castore.config import FRAME_BYTES
from castore.overview.model import Overview
from castore.overview.overview import overview_of_sections
from castore.retrieve.address import Unit
from castore.retrieve.kinds import ObjectKind
from castore.retrieve.readable import Readable
from castore.retrieve.slicing import count
from castore.store.ranged import Mark

__all__ = ["sampled"]

SECTIONS_MAX = 24
_EDGE_SECTIONS = 4
_ENTRY_BYTES_MAX = 256 << 10
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},]|"', re.S)
_INSIDE = re.compile(rb'(?:[^"\\]|\\.)*"', re.S)

Section = tuple[list[Any], list[int]]


def sampled(source: Readable, kind: ObjectKind) -> Overview:
    """Raises ObjectMissing, ObjectDamaged."""
    marks = source.marks()
    chosen = _chosen(len(marks))
    sections: list[Section] = []
    looked = 0
    if kind in (ObjectKind.ARRAY, ObjectKind.TEXT):
        for at in chosen:
            mark = marks[at]
            stop = marks[at + 1].offset if at + 1 < len(marks) else source.size
            data = source.read(mark.offset, min(stop, mark.offset + 2 * FRAME_BYTES))
            looked += len(data)
            sections.append(
                _items(data, mark)
                if kind is ObjectKind.ARRAY
                else _lines(data, mark, is_last=stop == source.size)
            )
    facts: dict[str, Any] = {}
    if kind is ObjectKind.TEXT:
        facts["lines"] = count(source, Unit.LINES)
    if kind is ObjectKind.ARRAY:
        facts["items"] = count(source, Unit.ITEMS)
    share = looked / source.size if source.size else 1.0
    return overview_of_sections(str(kind), source.size, sections, share, **facts)


def _chosen(count: int) -> list[int]:
    if count <= SECTIONS_MAX:
        return list(range(count))
    edges = {*range(_EDGE_SECTIONS), *range(count - _EDGE_SECTIONS, count)}
    inner = SECTIONS_MAX - len(edges)
    return sorted(edges | {(count * (2 * at + 1)) // (2 * inner) for at in range(inner)})


def _lines(data: bytes, mark: Mark, *, is_last: bool) -> Section:
    first = 0 if not mark.offset else data.find(b"\n") + 1
    if is_last and not data.endswith(b"\n"):
        data += b"\n"
    last = data.rfind(b"\n") + 1
    if mark.offset and not first:
        return [], []
    begins = mark.newlines + (1 if mark.offset else 0)
    texts = data[first : max(first, last)].decode("utf-8", "replace").split("\n")[:-1]
    kept = [(at, text) for at, text in enumerate(texts, begins) if len(text) <= _ENTRY_BYTES_MAX]
    return [text for _, text in kept], [at for at, _ in kept]


def _items(data: bytes, mark: Mark) -> Section:
    """The items that begin and end in these bytes."""
    import msgspec

    commas = list(_commas(data, mark))
    if len(commas) < 2:
        return [], []
    begins = mark.commas + 1 if mark.offset else 0
    joined = b"[" + data[commas[0] + 1 : commas[-1]] + b"]"
    try:
        values = msgspec.json.decode(joined)
        return values, list(range(begins, begins + len(values)))
    except (msgspec.DecodeError, RecursionError):
        pass  # Half a character, or a huge number, in one of them: they are read one by one.
    found = {
        number: value
        for number, (start, end) in enumerate(pairwise(commas), begins)
        if (value := _value(data[start + 1 : end])) is not _UNREAD
    }
    return list(found.values()), list(found)


_UNREAD = object()


def _value(literal: bytes) -> Any:
    """What a slower reader makes of it; _UNREAD where that can't read it either."""
    try:
        return json.loads(literal)
    except (ValueError, RecursionError):
        return _UNREAD


def _commas(data: bytes, mark: Mark) -> Iterator[int]:
    """Where the commas between items stand, and the array's own brackets."""
    depth, at = mark.depth, 0
    if mark.state:
        closed = _INSIDE.match(data, 1 if mark.state == 2 else 0)
        if closed is None:
            return
        at = closed.end()
    for token in _TOKENS.finditer(data, at):
        kind = token[0]
        if kind in (b"[", b"{"):
            depth += 1
            if depth == 1 and not mark.offset:
                yield token.start()
        elif kind in (b"]", b"}"):
            depth -= 1
            if depth == 0:
                yield token.start()
        elif kind == b"," and depth == 1:
            yield token.start()
        elif kind == b'"':
            return  # A string that goes on in the next frame.
