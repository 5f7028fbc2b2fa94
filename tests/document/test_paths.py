"""Paths and patterns mean what RFC 9535 means by them, and lead back to the value."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from castore.document.grammar import STRING, scan_strictly
from castore.document.path import count_items, member_name_before, paths_at, values, write_path
from castore.document.pattern import parse_pattern
from castore.errors import InvalidOption
from tests.document.strategies import SEQUENCES

STEPS = st.lists(
    st.one_of(st.integers(0, 3), st.sampled_from(["a", "b", "log", "odd name", "it's", "0"])), max_size=6
)


def at_steps(value: Any, steps: list[Any]) -> Any:
    for step in steps:
        value = value[step]
    return value


class TestPaths:
    @given(SEQUENCES)
    def test_every_value_is_met_where_a_parser_finds_it(self, document: bytes) -> None:
        body = document.removeprefix(b"\xef\xbb\xbf")
        starts = {node.start for node in scan_strictly(body, 0) if node.kind != STRING}
        met = {at for at, _ in values(body)}
        assert starts <= met

    def test_the_steps_lead_to_the_value(self) -> None:
        document = b'{"a":[1,{"b c":[[],"x"]},{"$ctx":5}],"r":{}}'
        whole = json.loads(document)
        for at, steps in values(document):
            value, _ = json.JSONDecoder().raw_decode(document[at:].decode())
            assert at_steps(whole, list(steps)) == value

    def test_paths_in_a_sequence_begin_anew(self) -> None:
        document = b'{"a":1} [2,"q"] 5'
        assert paths_at(document, [5, 9, 16]) == {5: "$.a", 9: "$[0]", 16: "$"}

    def test_odd_names_are_written_so_that_they_can_be_read_and_given_back(self) -> None:
        for name in ("odd name", "it's", "a.b", "back\\slash", ""):
            path = write_path([name, 3])
            assert parse_pattern(path).matches([name, 3])

    def test_names_and_items_before_a_value(self) -> None:
        document = b'{"k\\"e\\\\" : [1,[2,3],{"a":","},4]}'
        start = document.index(b"[1")
        assert member_name_before(document, start) == 'k"e\\'
        assert member_name_before(document, start + 1) is None
        assert count_items(document, start + 1, document.index(b"4]")) == 3


class TestPatterns:
    @pytest.mark.parametrize(
        ("pattern", "steps", "does"),
        [
            ("$", [], True),
            ("$", ["a"], False),
            ("$.rows", ["rows"], True),
            ("$.rows", ["rows", 0], False),
            ("$['rows']", ["rows"], True),
            ('$["ro ws"]', ["ro ws"], True),
            ("$.messages[*].content", ["messages", 7, "content"], True),
            ("$.messages[7].content", ["messages", 7, "content"], True),
            ("$.messages[7].content", ["messages", 8, "content"], False),
            ("$.*", ["x"], True),
            ("$.*", [3], True),
            ("$..log", ["log"], True),
            ("$..log", ["a", 4, "log"], True),
            ("$..log", ["a", "log", "b"], False),
            ("$..[0]", ["a", 0], True),
            ("$..*", [], False),
            ("$..a..b", ["a", "x", "b"], True),
            ("$.0", ["0"], True),
            ("$.0", [0], False),
        ],
    )
    def test_match(self, pattern: str, steps: list[Any], does: bool) -> None:
        assert parse_pattern(pattern).matches(steps) is does

    @given(STEPS)
    def test_a_written_path_matches_itself_alone(self, steps: list[Any]) -> None:
        pattern = parse_pattern(write_path(steps))
        assert pattern.matches(steps)
        assert not pattern.matches([*steps, "more"])

    def test_many_descents_are_not_exponential(self) -> None:
        assert not parse_pattern("$" + "..a" * 40 + ".b").matches(["a"] * 500)

    @pytest.mark.parametrize(
        "text", ["", "rows", "$.", "$..", "$[x]", "$[-1]", "$.a b", "$.*x", "$[", "$['a", "$a"]
    )
    def test_what_is_none_is_refused(self, text: str) -> None:
        with pytest.raises(InvalidOption):
            parse_pattern(text)
