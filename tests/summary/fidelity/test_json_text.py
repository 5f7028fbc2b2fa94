"""JSON as a text: what its strings say, at the places where it is written."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from castore.summary.fidelity.json_text import readable

VALUES = st.recursive(
    st.none() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("ab\\\n已😀", max_size=3), inner),
    max_leaves=8,
)


class TestWhatIsRead:
    @given(VALUES)
    def test_is_what_the_strings_say_however_they_are_escaped(self, value: object) -> None:
        for text in ([value], {"a": value}):
            plain = readable(json.dumps(text, ensure_ascii=False))
            escaped = readable(json.dumps(text, ensure_ascii=True))
            assert plain.raw == escaped.raw

    @pytest.mark.parametrize(
        "text",
        ["C:\\new\\table", "[1] is in C:\\new\\table", '{"a": "\\n"', '{"a": "\\q"}', "{\\n}", '"a\\"', ""],
    )
    def test_of_what_is_no_json_is_the_text(self, text: str) -> None:
        assert readable(text).raw == text

    def test_half_a_pair_is_a_character_that_a_text_may_have(self) -> None:
        readable('["\\ud83d"]').raw.encode()

    def test_json_lines_are_read_too(self) -> None:
        assert readable('{"a":"\\u5df2"}\n{"a":"\\n"}\n').raw == '{"a":"已"}\n{"a":"\n"}\n'


class TestPlaces:
    @given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), st.text('ab\\"\n已😀', max_size=9))
    def test_are_those_of_the_text_as_it_was_given(self, before: str, inside: str) -> None:
        text = json.dumps([before, inside, "X\n"])
        assert readable(text).place(readable(text).raw.rindex("X")) == (1, text.rindex("X") + 1)
        spread = json.dumps([before, inside, "X\n"], indent=1)
        line = spread.count("\n", 0, spread.rindex("X"))
        assert readable(spread).place(readable(spread).raw.rindex("X")) == (
            line + 1,
            spread.rindex("X") - spread.rindex("\n", 0, spread.rindex("X")),
        )
