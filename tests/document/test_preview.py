"""Previews are bounded, deterministic, and true of the object."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from castore.descriptor import Escape, Kind
from castore.document.grammar import scan_strictly
from castore.document.preview import count_in_preview, line_count, preview
from castore.document.strings import encode_text


def of_array(literal: bytes, bytes_max: int) -> str | None:
    node = scan_strictly(literal, 0)[0]
    return preview(literal, Kind.ARRAY, bytes_max, items=node.items, last_comma=node.last_comma)


class TestPreviews:
    @given(
        st.lists(
            st.one_of(
                st.integers(), st.text(max_size=30), st.dictionaries(st.text(max_size=3), st.text(max_size=9))
            )
        ),
        st.integers(0, 160),
        st.booleans(),
    )
    def test_of_arrays_fit_and_count(self, items: list[object], bytes_max: int, ascii_only: bool) -> None:
        literal = json.dumps(items, ensure_ascii=ascii_only).encode("utf-8", "replace")
        shown = of_array(literal, bytes_max)
        if shown is None:
            return
        assert len(encode_text(shown, Escape.MINIMAL)) <= bytes_max
        if len(items) > 2 and shown.encode() != literal:
            assert f"… {len(items) - 2} more …" in shown
            assert count_in_preview(shown, len(items) - 2) is None

    @given(st.text(st.characters(blacklist_categories=("Cs",)), max_size=400), st.integers(0, 160))
    def test_of_texts_fit_and_count(self, text: str, bytes_max: int) -> None:
        data = text.encode()
        lines = line_count(data)
        shown = preview(data, Kind.TEXT, bytes_max, lines=lines)
        if shown is None:
            return
        assert len(encode_text(shown, Escape.MINIMAL)) <= bytes_max
        if lines > 2 and shown != text:
            assert f" … {lines - 2} more lines … " in shown

    def test_read_well(self) -> None:
        rows = json.dumps([{"id": number} for number in range(1, 12_001)], separators=(",", ":")).encode()
        assert of_array(rows, 160) == '[{"id":1}, … 11998 more …, {"id":12000}]'
        log = b"".join(b"step %d\n" % number for number in range(812))
        assert preview(log, Kind.TEXT, 160, lines=812) == "step 0 … 810 more lines … step 811"
        assert preview(b"x" * 300, Kind.TEXT, 40, lines=1) == "x" * 16 + " … " + "x" * 16

    def test_binary_has_none(self) -> None:
        assert preview(b"\x89PNG" * 100, Kind.BYTES, 160) is None

    def test_a_false_count_is_noticed(self) -> None:
        assert count_in_preview("[1, … 5 more …, 9]", 7) == 5
        assert count_in_preview("a … 3 more lines … b … 5 more …", 5) is None


class TestLineCount:
    @given(st.binary(max_size=60))
    def test_is_that_of_splitting(self, data: bytes) -> None:
        assert line_count(data) == len(data.split(b"\n")) - (1 if data.endswith(b"\n") or not data else 0)
