"""Where the items of an array are is told by pieces as one reads it byte by byte."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from castore.config import DEPTH_MAX
from castore.document.nesting import ESCAPED, INSIDE, OUTSIDE, Nesting, Place

SPACE = b" \t\n\r"
PAIRS = {b"]": b"[", b"}": b"{"}

BYTES = st.lists(st.sampled_from([b"[", b"]", b"{", b"}", b",", b'"', b"\\", b" ", b"a", b"_", b"\xc3\xa9"]))
NOISE = BYTES.map(b"".join)
VALUES = st.recursive(
    st.none() | st.integers(0, 9) | st.text('[]{},"\\aé'),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text('",\\{', max_size=3), inner, max_size=3)
    ),
    max_leaves=12,
)
ARRAYS = st.builds(
    lambda before, items, ascii, after: before + json.dumps(items, ensure_ascii=ascii).encode() + after,
    st.sampled_from([b"", b" ", b"\n\t "]),
    st.lists(VALUES),
    st.booleans(),
    st.sampled_from([b"", b"\n", b"  \r\n", b"]", b",", b"[]", b" x"]),
)


def read(data: bytes, sizes: list[int]) -> tuple[bool, list[Place]]:
    """The model: one byte after another."""
    places, stack, state, is_over, is_wrong = [], [], OUTSIDE, False, False
    starts = {sum(sizes[:at]) for at in range(len(sizes))}
    for offset in range(len(data)):
        byte = data[offset : offset + 1]
        if offset in starts:
            places.append(Place(0, len(stack), state))
        if state == ESCAPED:
            state = INSIDE
        elif state == INSIDE:
            state = {b"\\": ESCAPED, b'"': OUTSIDE}.get(byte, INSIDE)
        elif byte not in SPACE:
            is_wrong |= is_over or byte == b"\\" or (not stack and byte != b"[")
            if byte == b'"':
                state = INSIDE
            elif byte in b"[{":
                stack.append(byte)
                is_wrong |= len(stack) > DEPTH_MAX
            elif byte in b"]}":
                is_wrong |= not stack or stack.pop() != PAIRS[byte]
                is_over = not stack
            elif byte == b"," and len(stack) == 1:
                last = places[-1]
                places[-1] = last._replace(commas=last.commas + 1)
        if is_wrong:
            return False, []
    return is_over, places if is_over else []


def passed(data: bytes, sizes: list[int], *, is_long: bool) -> tuple[bool, list[Place]]:
    nesting = Nesting(is_long=is_long)
    works, at = [], 0
    for size in sizes:
        works.append(nesting.begin(data[at : at + size]))
        at += size
    # As threads may: the last one first.
    shapes = [work() for work in reversed(works)]
    places = [nesting.add(shape) for shape in reversed(shapes)]
    return nesting.is_array, places if nesting.is_array else []


def cut(data: bytes, cuts: list[int]) -> list[int]:
    """Sizes of pieces, none of them empty, that make the data."""
    sizes, left = [], len(data)
    for each in cuts:
        if left > each:
            sizes.append(each)
            left -= each
    return [*sizes, left] if left else sizes


@pytest.mark.parametrize("is_long", [False, True])
class TestPiecesSayWhatTheWholeDoes:
    @settings(max_examples=300)
    @given(ARRAYS, st.lists(st.integers(1, 90), max_size=40))
    @example(b'["\\"', [3])
    @example(b'["\\\\"]', [3, 1])
    @example(b"[[],[{}]]", [1, 1, 1, 1, 1, 1, 1, 1])
    def test_of_arrays(self, is_long: bool, data: bytes, cuts: list[int]) -> None:
        sizes = cut(data, cuts)
        assert passed(data, sizes, is_long=is_long) == read(data, sizes)

    @settings(max_examples=300)
    @given(NOISE, st.lists(st.integers(1, 20), max_size=20))
    def test_of_anything(self, is_long: bool, noise: bytes, cuts: list[int]) -> None:
        for data in (b"[" + noise, b"[" + noise + b"]", noise):
            sizes = cut(data, cuts)
            assert passed(data, sizes, is_long=is_long) == read(data, sizes)

    @pytest.mark.parametrize("length", range(1, 10))
    def test_of_runs_of_backslashes_at_a_boundary(self, is_long: bool, length: int) -> None:
        for quotes in (1, 2):
            data = b'["a' + b"\\" * length + b'"' * quotes + b',",[{"]'
            for at in range(1, len(data)):
                sizes = cut(data, [at])
                assert passed(data, sizes, is_long=is_long) == read(data, sizes)

    @pytest.mark.parametrize("depth", [DEPTH_MAX, DEPTH_MAX + 1])
    def test_of_deep_ones(self, is_long: bool, depth: int) -> None:
        for unit in (b"[", b'[{"a":'):
            levels = depth // len(unit.translate(None, b'"a:'))
            opens = unit * levels + b"[" * (depth - levels * (1 if unit == b"[" else 2))
            closes = opens.translate(None, b'"a:')[::-1].translate(bytes.maketrans(b"[{", b"]}"))
            data = opens + closes
            sizes = cut(data, [300, 700])
            assert passed(data, sizes, is_long=is_long) == read(data, sizes)
            assert read(data, sizes)[0] is (depth <= DEPTH_MAX)

    def test_of_brackets_that_do_not_pair(self, is_long: bool) -> None:
        for data in (b"[{]}", b"[}", b"[[}]", b"[]]", b"[1]{}", b"[", b'["]', b'[\\"]'):
            for at in range(1, len(data)):
                assert passed(data, cut(data, [at]), is_long=is_long) == (False, [])

    def test_of_wide_pieces(self, is_long: bool) -> None:
        """With many words of 64 bits."""
        items = [{"id": number, "of": [number % 7, '"[,', "é" * (number % 5)]} for number in range(700)]
        data = json.dumps(items, ensure_ascii=False).encode()
        for size in (64, 1000, 4096):
            sizes = cut(data, [size] * (len(data) // size))
            found = passed(data, sizes, is_long=is_long)
            assert found == read(data, sizes)
            assert sum(place.commas for place in found[1]) == 699
