"""The fast scan: the structure of large inputs found with vector operations, chunk by chunk.

Law: what it reports is what `grammar.scan_strictly` reports, or it says that it can't tell
(`is_irregular`), and then the strict scan decides. It never validates what is between the structural
bytes; the caller does.

How (the idea of a structural index is Langdale and Lemire, "Parsing gigabytes of JSON per second",
2019; here with numpy). In a chunk: take the quotes, less the escaped ones (after an odd run of
backslashes). An odd number of quotes before a byte means it is inside a string. Of `[ ] { } ,` keep
those outside strings; their depth is a running sum of the brackets. A *stable sort by depth* then puts
each container's open, its own commas and its close side by side: spans, item counts and the last comma
fall out by looking at neighbours. Containers that cross chunks wait on a stack, one a depth.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from castore.config import DEPTH_MAX
from castore.document.grammar import ARRAY, SPACE, STRING, Node

__all__ = ["StructureScan", "count_newlines"]

_CHUNK_BYTES = 1 << 20
_LONG_STRING_BYTES = 4096
_RUN_ROUNDS_MAX = 64
_QUOTE, _BACKSLASH, _COMMA, _COLON, _NEWLINE = 0x22, 0x5C, 0x2C, 0x3A, 0x0A
_STRUCTURAL = bytes(byte in b"[]{}," for byte in range(256))
_DELTA = np.zeros(256, np.int8)
_DELTA[list(b"[{")] = 1
_DELTA[list(b"]}")] = -1

Ints = npt.NDArray[np.signedinteger[Any]]
Octets = npt.NDArray[np.uint8]


class StructureScan:
    """Feed it a growing buffer that begins at a top-level value; it says how far values are whole.

    nodes: what was found so far, in no order: containers and strings (names of members too) whose
    literal is longer than `floor`. cut: offset after the last whole top-level container (or line of
    scalars). containers: top-level containers closed before `cut`. newlines: line feeds before the end.
    is_irregular: the bytes fed are not a beginning of a valid document.
    """

    def __init__(self, floor: int) -> None:
        self.floor = floor
        self.nodes: list[Node] = []
        self.cut = 0
        self.containers = 0
        self.is_irregular = False
        self._scanned = 0
        self._string_start = -1
        self._open: list[Node] = []

    @property
    def is_whole(self) -> bool:
        """No container and no string is open at the end of what was fed."""
        return not self._open and self._string_start < 0

    @property
    def open_containers(self) -> list[Node]:
        """Those that have begun and not ended, outermost first; `items` counts the commas so far."""
        return self._open

    def feed(self, data: bytes | bytearray) -> None:
        """Scan what is new in `data`, of which all that was fed before is a prefix (less what was cut)."""
        octets = np.frombuffer(data, np.uint8)
        while self._scanned < len(data) and not self.is_irregular:
            end = min(self._scanned + _CHUNK_BYTES, len(data))
            self._chunk(octets, self._scanned, end)
            self._scanned = end
            if not self._open and self._string_start < 0:
                self._cut_at_line(octets, end)

    def take(self, data: bytes | bytearray) -> list[Node]:
        """The values before `cut`, in order of start; what is after it is kept, and counts from there."""
        cut = self.cut
        taken = [node for node in self.nodes if node.start < cut and not _is_member_name(data, node)]
        kept = [node for node in self.nodes if node.start >= cut]
        for node in (*kept, *self._open):
            node.start -= cut
            node.end -= cut
            if node.last_comma >= 0:
                node.last_comma -= cut
        self.nodes = kept
        self._scanned -= cut
        if self._string_start >= 0:
            self._string_start -= cut
        self.cut = self.containers = 0
        for node in taken:
            if (
                node.items == 1
                and node.last_comma < 0
                and SPACE.fullmatch(data, node.start + 1, node.end - 1)
            ):
                node.items = 0
        # A container begins before what is in it, so that order of start is outermost first.
        taken.sort(key=lambda node: node.start)
        return taken

    def _cut_at_line(self, octets: Octets, end: int) -> None:
        """Between top-level values a line feed is a boundary too (a string can't hold one)."""
        newlines = np.flatnonzero(octets[max(self.cut, end - 4096) : end] == _NEWLINE)
        if newlines.size:
            self.cut = max(self.cut, max(self.cut, end - 4096) + int(newlines[-1]) + 1)

    def _chunk(self, octets: Octets, begin: int, end: int) -> None:
        quotes = _unescaped_quotes(octets, begin, end)
        starts_inside = self._string_start >= 0
        positions = _structural(octets, quotes, begin, end, starts_inside)
        parity = np.searchsorted(quotes, positions) & 1
        positions = positions[parity == int(starts_inside)]
        self._strings(quotes)
        if positions.size:
            self._brackets(octets, positions)

    def _strings(self, quotes: Ints) -> None:
        if not quotes.size:
            return
        if self._string_start >= 0:
            quotes = np.concatenate((np.array([self._string_start]), quotes))
        self._string_start = int(quotes[-1]) if quotes.size & 1 else -1
        whole = quotes.size & ~1
        opens, closes = quotes[0:whole:2], quotes[1:whole:2]
        for at in np.flatnonzero(closes - opens >= self.floor):
            self.nodes.append(Node(int(opens[at]), int(closes[at]) + 1, STRING))

    def _brackets(self, octets: Octets, positions: Ints) -> None:
        codes = octets[positions]
        delta = _DELTA[codes]
        depth = np.cumsum(delta, dtype=np.int32)
        depth += len(self._open)
        level = depth + (delta < 0)
        if int(level.min()) < 1 or int(level.max()) > DEPTH_MAX:
            # A close too many, a comma between top-level values, or too deep.
            self.is_irregular = True
            return
        at_top = np.flatnonzero((depth == 0) & (delta < 0))
        if at_top.size:
            self.cut = int(positions[at_top[-1]]) + 1
            self.containers += at_top.size

        order = np.argsort(level.astype(np.int16), kind="stable")
        level, codes, positions = level[order], codes[order], positions[order]
        brackets = np.flatnonzero(codes != _COMMA)
        self._whole_containers(level, codes, positions, brackets)
        self._crossing_containers(level, codes, positions, brackets, int(depth[-1]))

    def _whole_containers(self, level: Ints, codes: Octets, positions: Ints, brackets: Ints) -> None:
        """Those that open and close in this chunk: a bracket and the next one of its level."""
        opens, closes = brackets[:-1], brackets[1:]
        is_pair = (level[opens] == level[closes]) & (_DELTA[codes[opens]] > 0)
        opens, closes = opens[is_pair], closes[is_pair]
        # `]` is two after `[`, and `}` two after `{`.
        if (codes[closes] - codes[opens] != 2).any():
            self.is_irregular = True
            return
        large = positions[closes] - positions[opens] >= self.floor
        for first, last in zip(opens[large].tolist(), closes[large].tolist(), strict=True):
            node = Node(int(positions[first]), int(positions[last]) + 1, int(codes[first]))
            _count(node, last - first - 1, int(positions[last - 1]))
            self.nodes.append(_finished(node))

    def _crossing_containers(
        self, level: Ints, codes: Octets, positions: Ints, brackets: Ints, depth_after: int
    ) -> None:
        """Those already open, and those that stay open: at most one of each a level."""
        starts = np.flatnonzero(np.diff(level, prepend=0))
        ends = np.append(starts[1:], level.size)
        firsts = np.searchsorted(brackets, starts)
        lasts = np.searchsorted(brackets, ends)
        already = self._open
        # What opens here and stays open takes its level's place; levels come in order, the outer ones first.
        stack = list(already)
        for start, end, first, last in zip(
            starts.tolist(), ends.tolist(), firsts.tolist(), lasts.tolist(), strict=True
        ):
            depth = int(level[start])
            first_bracket = int(brackets[first]) if first < last else end
            if depth <= len(already):
                node = already[depth - 1]
                commas = first_bracket - start
                _count(node, commas, int(positions[first_bracket - 1]))
                if first < last:
                    if int(codes[first_bracket]) - node.kind != 2:
                        self.is_irregular = True
                        return
                    node.end = int(positions[first_bracket]) + 1
                    if node.end - node.start > self.floor:
                        self.nodes.append(_finished(node))
            if first < last:
                last_bracket = int(brackets[last - 1])
                if _DELTA[codes[last_bracket]] > 0:
                    node = Node(int(positions[last_bracket]), -1, int(codes[last_bracket]))
                    _count(node, end - last_bracket - 1, int(positions[end - 1]))
                    del stack[depth - 1 :]
                    stack.append(node)
        self._open = stack[:depth_after]


def count_newlines(data: bytes | bytearray) -> int:
    octets = np.frombuffer(data, np.uint8)
    return sum(
        int(np.count_nonzero(octets[at : at + _CHUNK_BYTES] == _NEWLINE))
        for at in range(0, len(data), _CHUNK_BYTES)
    )


def _count(node: Node, commas: int, last_comma: int) -> None:
    if commas:
        node.items += commas
        node.last_comma = last_comma


def _finished(node: Node) -> Node:
    """From commas to items, which only arrays have; `take` looks whether an array of one is empty."""
    if node.kind == ARRAY:
        node.items += 1
    else:
        node.items, node.last_comma = 0, -1
    return node


def _is_member_name(data: bytes | bytearray, node: Node) -> bool:
    if node.kind != STRING:
        return False
    after = SPACE.match(data, node.end).end()  # type: ignore[union-attr]
    return after < len(data) and data[after] == _COLON


def _structural(octets: Octets, quotes: Ints, begin: int, end: int, starts_inside: bool) -> Ints:
    """Offsets of `[ ] { } ,` in [begin, end), but for those in long strings, which are not looked at."""
    edges = np.concatenate((np.array([begin]), quotes, np.array([end])))
    # What lies between two edges is by turns outside and inside a string.
    inside = np.arange(edges.size - 1) & 1 == (0 if starts_inside else 1)
    long = np.flatnonzero(inside & (np.diff(edges) > _LONG_STRING_BYTES))
    starts = [begin, *edges[long + 1].tolist()]
    ends = [*edges[long].tolist(), end]
    found = []
    for start, stop in zip(starts, ends, strict=True):
        piece = octets[start:stop].tobytes().translate(_STRUCTURAL)
        found.append(np.flatnonzero(np.frombuffer(piece, np.bool_)) + start)
    return found[0] if len(found) == 1 else np.concatenate(found)


def _unescaped_quotes(octets: Octets, begin: int, end: int) -> Ints:
    """Offsets of the quotes in [begin, end) that no odd run of backslashes stands before."""
    quotes = np.flatnonzero(octets[begin:end] == _QUOTE)
    quotes += begin
    if not quotes.size:
        return quotes
    if quotes[0] == 0:
        # Nothing stands before the first byte; the byte at -1 would be the buffer's last.
        rest = _drop_escaped(octets, quotes[1:])
        return np.concatenate((quotes[:1], rest))
    return _drop_escaped(octets, quotes)


def _drop_escaped(octets: Octets, quotes: Ints) -> Ints:
    candidates = np.flatnonzero(octets[quotes - 1] == _BACKSLASH)
    if not candidates.size:
        return quotes
    keep = np.ones(quotes.size, np.bool_)
    # Walk all the runs back at once; each round drops the runs that have ended.
    before = quotes[candidates] - 2
    length = 1
    while candidates.size and length < _RUN_ROUNDS_MAX:
        goes_on = (before >= 0) & (octets[before] == _BACKSLASH)
        if length & 1:
            keep[candidates[~goes_on]] = False
        candidates, before = candidates[goes_on], before[goes_on] - 1
        length += 1
    for candidate in candidates.tolist():
        if _run_length(octets, int(quotes[candidate])) & 1:
            keep[candidate] = False
    return quotes[keep]


def _run_length(octets: Octets, quote: int) -> int:
    """Backslashes just before `quote`, by a search in windows that double: linear in the run."""
    window = 1024
    while True:
        low = max(0, quote - window)
        others = np.flatnonzero(octets[low:quote] != _BACKSLASH)
        if others.size:
            return quote - low - int(others[-1]) - 1
        if low == 0:
            return quote
        window *= 2
