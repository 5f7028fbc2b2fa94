"""Law (must hold 2): what a range gives is that slice of the whole, at every boundary of frames."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from castore.errors import InvalidOption, ObjectDamaged
from castore.retrieve.address import Address, Range, Unit
from castore.retrieve.pages import page_of
from castore.retrieve.readable import Held
from castore.retrieve.reading import pieces_of
from castore.retrieve.slicing import count
from tests.retrieve.pieced import Pieced

TEXT = st.text(st.sampled_from(list('ab"\\[]{},: \n\té订😀\u2028')), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9**12) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=12,
)
NUMBERS = st.none() | st.integers(-14, 14)
FRAMES = st.integers(1, 40)


@st.composite
def arrays(draw: st.DrawFn) -> tuple[list[Any], bytes]:
    """An array, and one of the many ways in which it may stand."""
    value = draw(st.lists(VALUES, max_size=9))
    written = json.dumps(value, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 0, 2])))
    before, after = draw(st.sampled_from(["", " ", "\n\t "])), draw(st.sampled_from(["", "\n", "  \n "]))
    return value, (before + written + after).encode()


def given_by(
    source: Held, *, items: Any = None, lines: Any = None, chars: Any = None, of: Any = None
) -> bytes:
    ranges = [
        Range(unit, *each) for unit, each in ((Unit.ITEMS, items), (Unit.LINES, lines)) if each is not None
    ]
    cuts = [Range(unit, *each) for unit, each in ((Unit.CHARS, chars), (Unit.BYTES, of)) if each is not None]
    address = Address((), ranges[0] if ranges else None, cuts[0] if cuts else None)
    return b"".join(pieces_of(source, address))


class TestSlices:
    @given(arrays(), NUMBERS, NUMBERS, FRAMES)
    def test_items(
        self, array: tuple[list[Any], bytes], first: int | None, last: int | None, frame: int
    ) -> None:
        value, data = array
        out = given_by(Pieced(data, frame), items=(first, last)).decode()
        decoder, found, at = json.JSONDecoder(), [], 0
        while at < len(out):
            item, at = decoder.raw_decode(out, at)
            found.append(item)
            assert out[at] == "\n"
            at += 1
        assert found == value[first:last]

    @given(arrays(), FRAMES)
    def test_items_stand_as_they_are(self, array: tuple[list[Any], bytes], frame: int) -> None:
        """All items, joined by commas, are the array again, but for the white space between them."""
        value, data = array
        items = [given_by(Pieced(data, frame), items=(n, n + 1)) for n in range(len(value))]
        assert all(item[:-1] in data for item in items)
        assert json.loads(b"[" + b",".join(items) + b"]") == value

    @given(TEXT | TEXT.map(lambda text: text * 9), NUMBERS, NUMBERS, FRAMES)
    def test_lines_characters_bytes(self, text: str, first: int | None, last: int | None, frame: int) -> None:
        data = text.encode()
        source = Pieced(data, frame)
        lines = re.findall(rb"[^\n]*\n|[^\n]+\Z", data)
        assert given_by(source, lines=(first, last)) == b"".join(lines[first:last])
        assert given_by(source, chars=(first, last)).decode() == text[first:last]
        assert given_by(source, of=(first, last)) == data[first:last]

    @given(arrays(), NUMBERS, NUMBERS, NUMBERS, NUMBERS, FRAMES)
    def test_a_cut_of_items(
        self,
        array: tuple[list[Any], bytes],
        a: int | None,
        b: int | None,
        c: int | None,
        d: int | None,
        frame: int,
    ) -> None:
        source = Pieced(array[1], frame)
        whole = given_by(source, items=(a, b))
        assert given_by(source, items=(a, b), chars=(c, d)).decode() == whole.decode()[c:d]
        assert given_by(source, items=(a, b), of=(c, d)) == whole[c:d]

    @given(arrays(), FRAMES)
    def test_counts(self, array: tuple[list[Any], bytes], frame: int) -> None:
        value, data = array
        source = Pieced(data, frame)
        assert count(source, Unit.ITEMS) == len(value)
        assert count(source, Unit.CHARS) == len(data.decode())
        assert count(source, Unit.LINES) == len(re.findall(rb"[^\n]*\n|[^\n]+\Z", data))

    @given(st.binary(max_size=60), NUMBERS, NUMBERS, FRAMES)
    def test_bytes_of_anything(self, data: bytes, first: int | None, last: int | None, frame: int) -> None:
        assert given_by(Pieced(data, frame), of=(first, last)) == data[first:last]
        assert given_by(Pieced(data, frame), lines=(first, last)) == b"".join(
            re.findall(rb"[^\n]*\n|[^\n]+\Z", data)[first:last]
        )


class TestOnlyWhatIsNeededIsRead:
    def test_the_last_items_of_many(self) -> None:
        data = json.dumps([{"id": n, "text": "x" * 40} for n in range(2000)]).encode()
        source = Pieced(data, 1000)
        assert json.loads(given_by(source, items=(-1, None)))["id"] == 1999
        assert source.read_bytes < 10_000

    def test_a_line_in_the_middle(self) -> None:
        data = b"".join(b"line %d\n" % n for n in range(5000))
        source = Pieced(data, 500)
        assert given_by(source, lines=(2500, 2501)) == b"line 2500\n"
        assert source.read_bytes < 3000

    def test_characters_near_the_end(self) -> None:
        text = "订单é" * 3000
        source = Pieced(text.encode(), 777)
        assert given_by(source, chars=(8990, 8996)).decode() == text[8990:8996]
        assert source.read_bytes < 4000


class TestDamageElsewhere:
    """A range whose frames are sound is given, whatever is wrong with others."""

    class Damaged(Pieced):
        def __init__(self, data: bytes, bad: int) -> None:
            super().__init__(data, 100)
            self._bad = bad

        def read(self, start: int, stop: int) -> bytes:
            return b"".join(self.pieces(start, stop))

        def pieces(self, start: int, stop: int) -> Iterator[bytes]:
            for piece in super().pieces(start, stop):
                if start // 100 <= self._bad <= (start + len(piece) - 1) // 100:
                    raise ObjectDamaged("sha256:" + "0" * 64, "a frame holds other bytes")
                yield piece
                start += len(piece)

    @pytest.mark.parametrize(
        "address",
        [
            Address((), None, Range(Unit.CHARS, 90, 100)),
            Address((), None, Range(Unit.BYTES, 0, 100)),
            Address((), Range(Unit.LINES, 0, 9)),
            Address((), Range(Unit.LINES, 0, 10), Range(Unit.CHARS, 0, 100)),
        ],
    )
    def test_of_the_next_frame(self, address: Address) -> None:
        source = self.Damaged(b"line 0123\n" * 50, 1)
        whole = b"".join(pieces_of(Held(b"line 0123\n" * 50), address))
        assert b"".join(pieces_of(source, address)) == whole
        with pytest.raises(ObjectDamaged):
            list(pieces_of(source, Address((), None, Range(Unit.CHARS, 90, 101))))


class TestWhatHasNoSuchParts:
    @pytest.mark.parametrize(
        "data", [b"", b"{}", b'"[1]"', b"[1", b"1]", b"[1]]", b"[1] [2]", b"text", b"[a, b]"]
    )
    def test_items_of_no_array(self, data: bytes) -> None:
        with pytest.raises(InvalidOption, match="no JSON array"):
            given_by(Held(data), items=(0, 1))

    @pytest.mark.parametrize("data", [b"\xff", b"ab\xc3", b"\x80abc", b"a\xe8\xaeb"])
    def test_characters_of_no_text(self, data: bytes) -> None:
        with pytest.raises(InvalidOption, match="not UTF-8"):
            given_by(Pieced(data, 2), chars=(0, None))


class TestRangesAsWords:
    @given(st.sampled_from(list(Unit)), NUMBERS, NUMBERS)
    def test_inverse(self, unit: Unit, first: int | None, last: int | None) -> None:
        wanted = Range(unit, first, last)
        assert Range.parse(unit, str(wanted)).bounds(10) == wanted.bounds(10)

    @given(st.integers(-12, 12), st.integers(0, 12))
    def test_one(self, number: int, length: int) -> None:
        found = Range.parse(Unit.ITEMS, str(number)).bounds(length)
        wanted = list(range(length))[number:][:1] if -length <= number < length else []
        assert list(range(*found)) == wanted

    @pytest.mark.parametrize("text", ["", "x", "1:2:3", "1-2", "1.5", " 1", "1:", "9" * 30, "--1", "１"])
    def test_what_is_none(self, text: str) -> None:
        if text == "1:":
            assert Range.parse(Unit.ITEMS, text) == Range(Unit.ITEMS, 1, None)
            return
        with pytest.raises(InvalidOption):
            Range.parse(Unit.ITEMS, text)


class TestPages:
    """Law: pages, one after the other, are the whole; each fits, and none cuts a character or an escape."""

    @settings(max_examples=40)
    @given(arrays(), NUMBERS, NUMBERS, FRAMES, st.integers(64, 90))
    def test_pages_make_the_whole(
        self, array: tuple[list[Any], bytes], first: int | None, last: int | None, frame: int, most: int
    ) -> None:
        source = Pieced(array[1], frame)
        for address in (
            Address((), Range(Unit.ITEMS, first, last)),
            Address((), Range(Unit.LINES, first, last)),
            Address((), None, Range(Unit.CHARS, first, last)),
            Address((), None, Range(Unit.BYTES, first, last)),
            Address((), Range(Unit.ITEMS, first, last), Range(Unit.CHARS, 1, None)),
        ):
            self.follow(source, address, most, b"".join(pieces_of(source, address)))

    @pytest.mark.parametrize(
        "value",
        [
            "订" * 200,
            "a\n" * 300,
            ["x" * 300, 2, "y" * 300],
            {"a": "\\" * 99, "b": ["\U0001f600" * 70]},
            "\ud83d" * 40,
        ],
    )
    @pytest.mark.parametrize("ascii_alone", [True, False])
    def test_long_values(self, value: Any, ascii_alone: bool) -> None:
        if not ascii_alone and value == "\ud83d" * 40:
            return
        data = json.dumps(value, ensure_ascii=ascii_alone).encode()
        whole = (
            data
            if not isinstance(value, list)
            else b"".join(json.dumps(v, ensure_ascii=ascii_alone).encode() + b"\n" for v in value)
        )
        self.follow(Held(data), Address(), 64, whole)

    def follow(self, source: Held, address: Address, most: int, whole: bytes) -> None:
        found, left = b"", [address]
        while left:
            shown = page_of(source, left.pop(0), most)
            assert len(shown.data) <= most
            assert bool(shown.next) == (shown.left_out is not None)
            assert shown.data or not shown.next
            is_cut_of_bytes = any(each.cut and each.cut.unit is Unit.BYTES for each in (*shown.next, address))
            assert is_cut_of_bytes or shown.text is not None
            found += shown.data
            left = [*shown.next, *left]
        assert found == whole

    def test_an_escape_is_not_cut(self) -> None:
        data = json.dumps("\U0001f600" * 100).encode()
        for most in range(64, 90):
            shown = page_of(Held(data), Address(), most)
            assert re.search(rb"(?:\\ude00|\")\Z", shown.data)
