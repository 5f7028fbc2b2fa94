"""How deep a JSON array is nested at the beginning of each piece of it, so that its items can be found from
the middle of it.

Laws: the pieces follow each other and make the whole. Of each it is told whether it begins inside a string,
how many containers are open there, and how many commas between items of the outermost array are in it. What
is told is what one reads byte by byte from the beginning. `is_array` says whether the whole is one array by
its brackets: it begins with `[`, and the bracket that closes that is the last byte but for white space,
brackets pair, and a backslash stands in strings alone. Nothing else is validated.

How: what a piece does is measured apart from what came before it (`Shape`), so that threads can share the
work; only its quotes are counted in order. Quotes less the escaped ones become a mask of what is inside
strings by a running exclusive or over 64 bits at a time (the idea is Langdale and Lemire's, "Parsing
gigabytes of JSON per second", 2019; here with numpy). A few pieces are measured without numpy, which takes
longer to load than they take.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from castore.config import DEPTH_MAX

__all__ = ["ESCAPED", "INSIDE", "OUTSIDE", "Nesting", "Place", "Shape"]

OUTSIDE, INSIDE, ESCAPED = 0, 1, 2
"""What the first byte of a piece is: outside strings, inside one, or escaped by a backslash before it."""

_SPACE = b" \t\n\r"
_TAIL_BYTES = 256
_ROUNDS_MAX = 24
_ESCAPE = re.compile(rb"\\[\s\S]")
_TOKEN = re.compile(rb",+|[\[\]{}]")
_UNMATCHED = re.compile(rb"([\]}]*)([\[{]*)\Z")
_NOT_STRUCTURAL = bytes(each for each in range(256) if each not in b"[]{},")
_local = threading.local()
_OPENS = {0x5D: 0x5B, 0x7D: 0x7B}
"""The bracket that each closing one needs."""


class Shape(NamedTuple):
    """What a piece does to the nesting, apart from the depth that it begins with.

    state: of its first byte. depth: containers open at its end, more than at its beginning. lowest, highest:
    of these numbers after each bracket in it; None if there is none. commas: outside strings, by the number
    that was open. closes, opens: brackets that pair with none in the piece. ends_low: only the last bracket
    reaches `lowest`. ends_closed: a bracket is its last byte but for white space. is_wrong: no array has it.
    """

    state: int
    depth: int = 0
    lowest: int | None = None
    highest: int = 0
    commas: dict[int, int] = {}  # noqa: RUF012 - it is not changed
    closes: bytes = b""
    opens: bytes = b""
    ends_low: bool = False
    ends_closed: bool = False
    is_blank: bool = False
    is_wrong: bool = False


class Place(NamedTuple):
    """Of a piece: commas between items of the outermost array in it; depth and state at its beginning."""

    commas: int
    depth: int
    state: int


class Nesting:
    """`begin` and `add` are called for each piece, in order; the work that `begin` gives is done anywhere.

    is_long: many pieces come, so that numpy pays.
    """

    def __init__(self, *, is_long: bool) -> None:
        self._is_long = is_long
        self._state = OUTSIDE
        self._may_be_array: bool | None = None
        """None: nothing but white space came."""
        self._stack = bytearray()
        self._is_over = False

    @property
    def is_array(self) -> bool:
        """Of all the pieces that were added."""
        return bool(self._may_be_array) and self._is_over

    def begin(self, piece: bytes) -> Callable[[], Shape]:
        """What is to be done with the piece, which is not empty."""
        if self._may_be_array is None:
            first = piece[:_TAIL_BYTES].lstrip(_SPACE)[:1] or piece.lstrip(_SPACE)[:1]
            if first:
                self._may_be_array = first == b"["
        if not self._may_be_array:
            # It is none, or does not begin yet.
            shape = Shape(OUTSIDE, is_blank=True)
            return lambda: shape
        state = self._state
        if self._is_long:
            self._state, work = _begin(piece, state)
            return work
        self._state = _state_after(piece, state)
        return lambda: _shape(piece, state)

    def add(self, shape: Shape) -> Place:
        """The piece is taken into account."""
        depth = len(self._stack)
        commas = shape.commas.get(1 - depth, 0)
        if self._may_be_array and not self._follows(shape):
            self._may_be_array = False
            self._stack.clear()
        return Place(commas, depth, shape.state)

    def _follows(self, shape: Shape) -> bool:
        """Whether the array may go on like this."""
        if self._is_over:
            return shape.is_blank
        depth = len(self._stack)
        if shape.is_wrong or depth + shape.highest > DEPTH_MAX:
            return False
        for each in shape.closes:
            if not self._stack or self._stack.pop() != _OPENS[each]:
                return False
        self._stack += shape.opens
        if shape.lowest is not None and depth + shape.lowest == 0:
            self._is_over = True
            return shape.ends_low and shape.ends_closed
        return True


def _ends_closed(piece: bytes, state_after: int) -> bool:
    tail = piece[-_TAIL_BYTES:].rstrip(_SPACE) or piece.rstrip(_SPACE)
    return state_after == OUTSIDE and tail[-1:] in (b"]", b"}")


def _is_blank(piece: bytes) -> bool:
    return not piece[:_TAIL_BYTES].strip(_SPACE) and not piece.strip(_SPACE)


def _unmatched(brackets: bytes) -> tuple[bytes, bytes] | None:
    """Of brackets, in order, those that close or open what is not here; None if two are unlike."""
    for _ in range(_ROUNDS_MAX):
        shorter = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if len(shorter) == len(brackets):
            break
        brackets = shorter
    else:
        # Deep, and not wide: one after another.
        kept = bytearray()
        for each in brackets:
            if kept and each in _OPENS and kept[-1] not in _OPENS:
                if kept.pop() != _OPENS[each]:
                    return None
            else:
                kept.append(each)
        brackets = bytes(kept)
    found = _UNMATCHED.match(brackets)
    return None if found is None else (found[1], found[2])


# --- A few pieces ----------------------------------------------------------------------------------


def _state_after(piece: bytes, state: int) -> int:
    text = piece[1:] if state == ESCAPED else piece
    if len(text) < len(piece) and not text:
        return INSIDE
    escapes = len(text) - len(text.rstrip(b"\\"))
    quotes = (_ESCAPE.sub(b"", text) if b"\\" in text else text).count(b'"')
    is_inside = (quotes + (state != OUTSIDE)) & 1
    if not is_inside:
        return OUTSIDE
    return ESCAPED if escapes & 1 else INSIDE


def _shape(piece: bytes, state: int) -> Shape:
    """By searches in bytes."""
    text = piece[1:] if state == ESCAPED else piece
    # What a backslash stands before goes; the backslash stays, to be found where none should be.
    text = _ESCAPE.sub(b"\\\\", text) if b"\\" in text else text
    outside = b"".join(text.split(b'"')[state != OUTSIDE :: 2])
    if b"\\" in outside:
        return Shape(state, is_wrong=True)
    depth = highest = lows = 0
    lowest: int | None = None
    commas: dict[int, int] = {}
    structural = outside.translate(None, _NOT_STRUCTURAL)
    for token in _TOKEN.findall(structural):
        if token[0] == 0x2C:
            commas[depth] = commas.get(depth, 0) + len(token)
            continue
        if token in b"[{":
            depth += 1
            highest = max(highest, depth)
        else:
            depth -= 1
        if lowest is None or depth < lowest:
            lowest, lows = depth, 0
        lows += depth == lowest
        if highest - lowest > DEPTH_MAX:
            return Shape(state, is_wrong=True)
    pairs = _unmatched(structural.replace(b",", b""))
    if pairs is None:
        return Shape(state, is_wrong=True)
    ends_low = lowest == depth and lows == 1
    ends_closed = _ends_closed(piece, _state_after(piece, state))
    return Shape(
        state,
        depth,
        lowest,
        highest,
        commas,
        *pairs,
        ends_low,
        ends_closed,
        state == OUTSIDE and _is_blank(piece),
    )


# --- Many pieces -----------------------------------------------------------------------------------


def _begin(piece: bytes, state: int) -> tuple[int, Callable[[], Shape]]:
    """The state after the piece, and the rest of the work."""
    import numpy as np

    octets = np.frombuffer(piece, np.uint8)
    quotes = np.equal(octets, 0x22, out=_scratch(octets.size))
    backslashes: Any = None
    is_escaped = False
    if state == ESCAPED or b"\\" in piece:
        backslashes = _words(np.equal(octets, 0x5C, out=_scratch(octets.size, 1)))
        is_escaped = _unescape(quotes, _places(backslashes), state == ESCAPED)
        if state == ESCAPED:
            backslashes[0] &= ~np.uint64(1)
    words = _words(quotes)
    is_inside = (int(np.bitwise_count(words).sum()) + (state != OUTSIDE)) & 1
    after = (ESCAPED if is_escaped else INSIDE) if is_inside else OUTSIDE
    return after, lambda: _shape_of_many(piece, state, after, words, backslashes)


def _unescape(quotes: Any, backslashes: Any, is_first_escaped: bool) -> bool:
    """`quotes` has no escaped ones any more. Returns whether the byte after the last is escaped.

    backslashes: their offsets. In a run of them every second one is escaped itself.
    """
    import numpy as np

    if is_first_escaped:
        quotes[0] = False
        if backslashes.size and backslashes[0] == 0:
            backslashes = backslashes[1:]
    if not backslashes.size:
        return False
    begins = np.ones(backslashes.size, np.bool_)
    np.not_equal(np.diff(backslashes), 1, out=begins[1:])
    if not begins.all():
        numbers = np.arange(backslashes.size)
        first = np.maximum.accumulate(np.where(begins, numbers, 0))
        backslashes = backslashes[(numbers - first) & 1 == 0]
    is_next_escaped = bool(backslashes[-1] + 1 == quotes.size)
    quotes[(backslashes[:-1] if is_next_escaped else backslashes) + 1] = False
    return is_next_escaped


def _shape_of_many(piece: bytes, state: int, after: int, quotes: Any, backslashes: Any) -> Shape:
    import numpy as np

    octets = np.frombuffer(piece, np.uint8)
    outside = ~_inside(quotes, state != OUTSIDE)
    if backslashes is not None and (backslashes & outside).any():
        return Shape(state, is_wrong=True)
    scratch = _scratch(octets.size)
    # Of the bytes that this makes alike only brackets stand outside strings in JSON.
    alike = np.bitwise_or(octets, 0x26, out=scratch.view(np.uint8))
    places = _places(_words(np.equal(alike, 0x7F, out=scratch)) & outside)
    codes = octets[places]
    # `[` and `{` less 0x5B are 0 and 0x20; `]` and `}` 2 and 0x22.
    is_other = (codes - 0x5B) & 0xDD
    if is_other.any():
        places, codes = places[is_other == 0], codes[is_other == 0]
    commas = _commas(_words(np.equal(octets, 0x2C, out=scratch)) & outside, places)
    is_blank = state == OUTSIDE and _is_blank(piece)
    if not places.size:
        return Shape(state, commas={0: int(commas[0])}, is_blank=is_blank)
    depths = np.cumsum(1 - ((codes - 0x5B) & 2).view(np.int8), dtype=np.int32)
    lowest, highest = int(depths.min()), max(0, int(depths.max()))
    pairs = None if highest - lowest > DEPTH_MAX else _unmatched(codes.tobytes())
    if pairs is None:
        return Shape(state, is_wrong=True)
    floor = min(0, lowest)
    by_depth = np.bincount(depths - floor, weights=commas[1:])
    counts = {floor + at: int(number) for at, number in enumerate(by_depth.tolist()) if number}
    if commas[0]:
        counts[0] = counts.get(0, 0) + int(commas[0])
    ends_low = int(depths[-1]) == lowest and int(np.count_nonzero(depths == lowest)) == 1
    return Shape(
        state,
        int(depths[-1]),
        lowest,
        highest,
        counts,
        *pairs,
        ends_low,
        _ends_closed(piece, after),
        is_blank,
    )


def _scratch(size: int, number: int = 0) -> Any:
    """Flags to write over, of this thread: fresh memory costs more than what is done with it."""
    import numpy as np

    held: dict[str, Any] = _local.__dict__
    found = held.get(f"scratch{number}")
    if found is None or found.size < size:
        found = held[f"scratch{number}"] = np.empty(size, np.bool_)
    return found[:size]


def _places(words: Any) -> Any:
    """The offsets of the bits that are set."""
    import numpy as np

    octets = words.view(np.uint8)
    some = np.flatnonzero(octets != 0)
    bits = np.flatnonzero(np.unpackbits(octets[some], bitorder="little").view(np.bool_))
    places = some[bits >> 3]
    places <<= 3
    places |= bits & 7
    return places


def _words(flags: Any) -> Any:
    """64 of the flags a word, the first one lowest."""
    import numpy as np

    packed = np.packbits(flags, bitorder="little")
    if packed.size & 7:
        packed = np.concatenate((packed, np.zeros(-packed.size & 7, np.uint8)))
    return packed.view("<u8")


def _inside(quotes: Any, starts_inside: bool) -> Any:
    """A bit for each byte: whether it is inside a string, or the quote that begins one."""
    import numpy as np

    words = quotes.copy()
    for shift in (1, 2, 4, 8, 16, 32):
        words ^= words << np.uint64(shift)
    odd = words >> np.uint64(63)
    before = np.bitwise_xor.accumulate(odd) ^ odd
    words ^= np.uint64(0) - (before ^ np.uint64(starts_inside))
    return words


def _commas(words: Any, places: Any) -> Any:
    """How many bits are set before the first of the places, between each and the next, and after the last."""
    import numpy as np

    counts = np.bitwise_count(words)
    before = np.cumsum(counts, dtype=np.int64)
    at = places >> 6
    below = words[at] & ((np.uint64(1) << (places & 63).astype(np.uint64)) - np.uint64(1))
    until = before[at] - counts[at] + np.bitwise_count(below)
    total = int(before[-1]) if before.size else 0
    return np.diff(until, prepend=0, append=total)
