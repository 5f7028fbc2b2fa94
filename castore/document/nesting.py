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

    from castore.document import bits

    octets = np.frombuffer(piece, np.uint8)
    quotes = bits.equal(octets, 0x22)
    backslashes: Any = None
    is_escaped = False
    if state == ESCAPED or b"\\" in piece:
        backslashes = bits.equal(octets, 0x5C)
        if state == ESCAPED:
            backslashes[0] &= ~np.uint64(1)
            quotes[0] &= ~np.uint64(1)
        escaping = _escaping(backslashes, octets.size)
        quotes &= ~bits.after(escaping)
        end = octets.size - 1
        is_escaped = bool(int(escaping[end >> 6]) >> (end & 63) & 1)
    is_inside = (bits.count(quotes) + (state != OUTSIDE)) & 1
    after = (ESCAPED if is_escaped else INSIDE) if is_inside else OUTSIDE
    return after, lambda: _shape_of_many(piece, state, after, quotes, backslashes)


def _escaping(backslashes: Any, size: int) -> Any:
    """Those that stand before what they escape: in a run of them every second one is escaped itself."""
    import numpy as np

    from castore.document import bits

    if not (backslashes & bits.after(backslashes)).any():
        return backslashes
    places = bits.places(backslashes)
    begins = np.ones(places.size, np.bool_)
    np.not_equal(np.diff(places), 1, out=begins[1:])
    numbers = np.arange(places.size)
    first = np.maximum.accumulate(np.where(begins, numbers, 0))
    return bits.at(places[(numbers - first) & 1 == 0], size)


def _shape_of_many(piece: bytes, state: int, after: int, quotes: Any, backslashes: Any) -> Shape:
    import numpy as np

    from castore.document import bits

    octets = np.frombuffer(piece, np.uint8)
    outside = bits.parity(quotes)
    if state == OUTSIDE:
        outside = ~outside
    if backslashes is not None and (backslashes & outside).any():
        return Shape(state, is_wrong=True)
    # Of the bytes that this makes alike only brackets stand outside strings in JSON.
    brackets = bits.equal(octets, 0x7F, ored=0x26) & outside
    commas = bits.equal(octets, 0x2C) & outside
    is_blank = state == OUTSIDE and _is_blank(piece)
    if not brackets.any():
        return Shape(state, commas={0: bits.count(commas)}, is_blank=is_blank)
    shape = _flat(piece, octets, brackets, commas) or _deep(octets, brackets, commas)
    return shape._replace(state=state, ends_closed=_ends_closed(piece, after), is_blank=is_blank)


def _flat(piece: bytes, octets: Any, brackets: Any, commas: Any) -> Shape | None:
    """Where every other bracket opens, as of rows that hold no others: without their places. Else None."""
    from castore.document import bits

    odd = bits.parity(brackets)
    # Of the bytes that were alike those that open have the one bit, and those that close the other.
    opens = bits.having(octets, 0x02) & brackets
    begins_open = bool((opens == brackets & odd).all())
    if not begins_open and not (opens == brackets & ~odd).all():
        return None
    closes = bits.having(octets, 0x04) & brackets
    if (closes != brackets ^ opens).any():
        return None
    number = bits.count(brackets)
    first, last = piece[bits.first(brackets)], piece[bits.last(brackets)]
    if b"[" in piece or b"]" in piece:
        # Those of an object have a bit that those of an array lack: pairs are alike where they cancel out.
        kinds = bits.parity(bits.having(octets, 0x20) & brackets)
        unlike = kinds if begins_open or not first & 0x20 else ~kinds
        if (closes & unlike).any():
            return None
    on_odd = bits.count(commas & odd)
    on_even = bits.count(commas) - on_odd
    last_opens = bytes([last]) if last & 0x02 else b""
    if begins_open:
        depth, lowest = number & 1, int(number == 1)
        counts = {0: on_even, 1: on_odd}
        return Shape(OUTSIDE, depth, lowest, 1, counts, b"", last_opens, ends_low=number <= 2)
    counts = {0: on_even, -1: on_odd}
    depth = -(number & 1)
    return Shape(OUTSIDE, depth, -1, 0, counts, bytes([first]), last_opens, ends_low=number == 1)


def _deep(octets: Any, brackets: Any, commas: Any) -> Shape:
    """By the place of each bracket."""
    import numpy as np

    from castore.document import bits

    places = bits.places(brackets)
    codes = octets[places]
    # `[` and `{` less 0x5B are 0 and 0x20; `]` and `}` 2 and 0x22.
    is_other = (codes - 0x5B) & 0xDD
    if is_other.any():
        places, codes = places[is_other == 0], codes[is_other == 0]
    between = bits.counts_between(commas, places)
    if not places.size:
        return Shape(OUTSIDE, commas={0: int(between[0])})
    depths = np.cumsum(1 - ((codes - 0x5B) & 2).view(np.int8), dtype=np.int32)
    lowest, highest = int(depths.min()), max(0, int(depths.max()))
    pairs = None if highest - lowest > DEPTH_MAX else _unmatched(codes.tobytes())
    if pairs is None:
        return Shape(OUTSIDE, is_wrong=True)
    floor = min(0, lowest)
    by_depth = np.bincount(depths - floor, weights=between[1:])
    counts = {floor + at: int(number) for at, number in enumerate(by_depth.tolist()) if number}
    if between[0]:
        counts[0] = counts.get(0, 0) + int(between[0])
    ends_low = int(depths[-1]) == lowest and int(np.count_nonzero(depths == lowest)) == 1
    return Shape(OUTSIDE, int(depths[-1]), lowest, highest, counts, *pairs, ends_low=ends_low)
