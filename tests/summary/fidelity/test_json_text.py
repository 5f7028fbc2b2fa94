"""JSON as a text: what its strings say, at the places where it is written."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from castore.summary.fidelity.check import check_text
from castore.summary.fidelity.json_text import readable
from castore.summary.fidelity.kinds import facts_of

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

    def test_so_are_the_arguments_of_calls(self) -> None:
        calls = 'C:\\new\ncall write {"a":"MIT\\n\\nTHE"}\ncall ls ["\\u5df2"]\nC:\\new'
        assert readable(calls).raw == 'C:\\new\ncall write {"a":"MIT\n\nTHE"}\ncall ls ["已"]\nC:\\new'

    @pytest.mark.parametrize(
        "line",
        ["a call x {}\\n", "call x {\\n}", "\\call x {}", 'call two words {"a":"\\n"}', "call x C:\\n"],
    )
    def test_and_nothing_else_of_a_text(self, line: str) -> None:
        assert readable(f"one\n{line}\ntwo").raw == f"one\n{line}\ntwo"


class TestFactsOfCalls:
    WRITTEN = "MIT License\n\nCopyright (c) 2026\nMust not be sold."

    def test_come_of_what_was_written_and_not_of_how_it_is_escaped(self) -> None:
        text = (
            f"## assistant\ncall write {json.dumps({'file_path': '/a/LICENSE', 'content': self.WRITTEN})}\n"
        )
        facts = facts_of(text)
        assert [facts.words(each) for each in facts.of("path").values()] == ["/a/LICENSE"]
        told = check_text("It was Copyright 2025.", text).findings
        assert [(each.line, each.column) for each in told if "2026" in each.text] == [
            (2, text.index("2026") - 12)
        ]


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
