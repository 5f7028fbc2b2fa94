"""Values: what a JSON document consists of, and its biggest values. Pure.

Law: every byte is of exactly one kind; and of the biggest values none stands inside another.
"""

from __future__ import annotations

import heapq
import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import compress

from castore.document.grammar import ARRAY, OBJECT, STRING, Node
from castore.document.path import paths_at
from castore.document.scan import BOM, segments
from castore.report.excerpts import excerpt_of_literal
from castore.report.model import LISTED_MAX, BigValue, Listed, ValueFacts

__all__ = ["Composition", "biggest"]

_KINDS = {ARRAY: "array", OBJECT: "object", STRING: "string"}
_BIG_SHARE = 1000
"""A value of less than one thousandth of its document is none of the biggest."""
_BIG_BYTES_MIN = 64
_SPLIT_ITEMS_MAX = 8
"""An array of more items is told as one: its items are much alike."""
_WINDOW_BYTES = 4 << 20

_DIGIT, _LETTER, _OTHER = b"d", b"l", b"-"
_CLASSES = bytes(
    (_DIGIT if chr(byte) in "+-.0123456789" else _LETTER if chr(byte).isalpha() and byte < 128 else _OTHER)[0]
    for byte in range(256)
)
_SPACE = b" \t\r\n"


@dataclass
class Composition:
    """What a valid document consists of: how many values of each kind, and the bytes of their own."""

    objects: int = 0
    arrays: int = 0
    empty_objects: int = 0
    empty_arrays: int = 0
    commas: int = 0
    names: int = 0
    name_bytes: int = 0
    strings: int = 0
    string_bytes: int = 0
    numbers: int = 0
    number_bytes: int = 0
    literals: int = 0
    literal_bytes: int = 0
    space_bytes: int = 0

    @classmethod
    def of(cls, document: bytes) -> Composition:
        found = cls()
        if document.startswith(BOM):
            found.space_bytes = len(BOM)
            document = document[len(BOM) :]
        for window in _windows(_without_escapes(document)):
            found._add(window)
        return found

    @property
    def top_level(self) -> int:
        """Values that stand side by side at the top: all but members and items."""
        values = self.objects + self.arrays + self.strings + self.numbers + self.literals
        return values - self.names - self._item_commas - (self.arrays - self.empty_arrays)

    def facts(self) -> tuple[ValueFacts, ...]:
        member_commas = self.commas - self._item_commas
        return (
            ValueFacts("object", self.objects, 2 * self.objects + self.names + member_commas),
            ValueFacts("array", self.arrays, 2 * self.arrays + self._item_commas),
            ValueFacts("string", self.strings, self.string_bytes),
            ValueFacts("number", self.numbers, self.number_bytes),
            ValueFacts("literal", self.literals, self.literal_bytes),
            ValueFacts("name", self.names, self.name_bytes),
            ValueFacts("space", 0, self.space_bytes),
        )

    @property
    def _item_commas(self) -> int:
        """An object has one comma fewer than members, unless it is empty."""
        return self.commas - self.names + self.objects - self.empty_objects

    def _add(self, window: bytes) -> None:
        """window: begins and ends outside strings; what begins in it ends in it."""
        pieces = window.split(b'"')
        strings, between = pieces[1::2], pieces[2::2]
        lengths = [len(each) + 2 for each in strings]
        named = [each.lstrip(_SPACE)[:1] == b":" for each in between]
        self.names += sum(named)
        names = sum(compress(lengths, named))
        self.name_bytes += names
        self.strings += len(strings) - sum(named)
        self.string_bytes += sum(lengths) - names
        # A quote stands for each string, so that what holds one is not taken for empty.
        spaced = b'"'.join(pieces[0::2])
        bare = spaced.translate(None, _SPACE)
        self.space_bytes += len(spaced) - len(bare)
        self.objects += bare.count(b"{")
        self.arrays += bare.count(b"[")
        self.empty_objects += bare.count(b"{}")
        self.empty_arrays += bare.count(b"[]")
        self.commas += bare.count(b",")
        words = {word: bare.count(word) for word in (b"true", b"false", b"null")}
        literal_bytes = sum(len(word) * count for word, count in words.items())
        self.literals += sum(words.values())
        self.literal_bytes += literal_bytes
        classes = spaced.translate(_CLASSES)
        # A number begins with a digit or a sign, and has no letter but that of its exponent.
        self.numbers += (_OTHER + classes).count(_OTHER + _DIGIT)
        self.number_bytes += classes.count(_DIGIT) + classes.count(_LETTER) - literal_bytes


def _without_escapes(document: bytes) -> bytes:
    """As long, and every quote in it begins or ends a string."""
    if b"\\" not in document:
        return document
    return document.replace(b"\\\\", b"__").replace(b'\\"', b"__")


def _windows(data: bytes) -> Iterator[bytes]:
    """The data in pieces, each but the last ending before a string begins."""
    at = 0
    while at < len(data):
        end = _window_end(data, at)
        yield data[at:end]
        at = end


def _window_end(data: bytes, at: int) -> int:
    end = at + _WINDOW_BYTES
    if end >= len(data):
        return len(data)
    if data.count(b'"', at, end) % 2:
        end = data.index(b'"', end) + 1
    following = data.find(b'"', end)
    return len(data) if following < 0 else following


# --- The biggest values ----------------------------------------------------------------------------


def biggest(document: bytes) -> Listed[BigValue]:
    """Of a valid document; the biggest first. What mostly consists of a few large values is told by those."""
    floor = max(len(document) // _BIG_SHARE, _BIG_BYTES_MIN)
    chosen: list[tuple[int, int, BigValue]] = []
    total = 0
    for segment in segments(io.BytesIO(document).read, floor):
        data, origin = segment.data, segment.origin.offset
        found = sorted(_disjoint(segment.nodes), key=lambda node: (node.start - node.end, node.start))
        total += len(found)
        del found[LISTED_MAX:]
        paths = paths_at(data, [node.start for node in found]) if found else {}
        for node in found:
            size = node.end - node.start
            excerpt = excerpt_of_literal(data, node.start, node.end)
            kind, offset = _KINDS[node.kind], origin + node.start
            value = BigValue(paths[node.start], offset, kind, size, size / len(document), excerpt)
            chosen.append((-size, offset, value))
        chosen = heapq.nsmallest(LISTED_MAX, chosen)
    return Listed(tuple(value for _, _, value in chosen), total)


def _disjoint(nodes: list[Node]) -> Iterator[Node]:
    """None inside another. nodes: in order of start, each with those inside it behind it."""
    children: dict[int, list[int]] = {}
    tops: list[int] = []
    around: list[int] = []
    for index, node in enumerate(nodes):
        while around and nodes[around[-1]].end <= node.start:
            around.pop()
        (children.setdefault(around[-1], []) if around else tops).append(index)
        if node.kind != STRING:
            around.append(index)
    waiting = list(tops)
    is_top = set(tops)
    while waiting:
        index = waiting.pop()
        node, inner = nodes[index], children.get(index, [])
        covered = sum(nodes[each].end - nodes[each].start for each in inner)
        is_of_few = node.kind == OBJECT or node.items <= _SPLIT_ITEMS_MAX or index in is_top
        if is_of_few and 2 * covered >= node.end - node.start:
            waiting += inner
        else:
            yield node
