"""The check of one JSON document against another, by its laws."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from castore.errors import DocumentInvalid, InvalidOption
from castore.summary.fidelity.check import check_text
from castore.summary.fidelity.model import Counts, Report
from castore.summary.fidelity.structured import FIELD, are_structured, check_fields
from castore.summary.fidelity.tree import meaning, parse_field, parse_fields

POLICY = json.dumps(
    {"version": "v1", "deadline_days": 7, "condition": "已发货订单", "exception": "生鲜商品"},
    ensure_ascii=False,
)
BAD = json.dumps(
    {"text": "订单可退货。", "version": "v1", "deadline_days": 0, "condition": "订单", "exception": ""},
    ensure_ascii=False,
)
GOOD = json.dumps(
    {
        "text": "已发货订单在签收7天内可退货，生鲜商品除外。",
        "version": "v1",
        "deadline_days": 7,
        "condition": "已发货订单",
        "exception": "生鲜商品",
    }
)

FINITE = st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | st.integers() | FINITE | st.text(max_size=6)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)
DOCUMENTS = st.lists(TREES, max_size=4) | st.dictionaries(st.text(max_size=4), TREES, max_size=4)


def told(summary: str, source: str, fields: list[str] | None = None) -> list[tuple[Any, ...]]:
    """Change, field, text, found."""
    report = check_fields(summary, source, fields)
    return [(each.change, each.field, each.text, each.found) for each in report.findings]  # type: ignore[attr-defined]


def leaves(value: Any) -> int:
    if isinstance(value, dict | list) and value:
        return sum(map(leaves, value.values() if isinstance(value, dict) else value))
    return 1


class TestTheExample:
    def test_reports_exactly_what_the_summary_lost(self) -> None:
        assert told(BAD, POLICY) == [
            ("changed", "deadline_days", "7", "0"),
            ("changed", "condition", '"已发货订单"', '"订单"'),
            ("changed", "exception", '"生鲜商品"', '""'),
        ]

    def test_reports_nothing_of_the_one_that_keeps_it(self) -> None:
        assert told(GOOD, POLICY) == []

    def test_says_where_and_what_for_programs(self) -> None:
        (first, *_) = check_fields(BAD, POLICY.replace(", ", ",\n  ")).findings
        assert first.record() == {
            "change": "changed",
            "kind": "field",
            "field": "deadline_days",
            "text": "7",
            "found": "0",
            "line": 2,
            "column": 20,
        }

    def test_counts_shares(self) -> None:
        assert check_fields(BAD, POLICY).counts == {FIELD: Counts(1, 0, 3, 0)}


class TestEqual:
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("7", "7.0"),
            ("7", "70e-1"),
            ("0", "-0.0"),
            ("1e400", "10E+399"),
            ("123456789012345678901234567890", "123456789012345678901234567890.00"),
            ('"é"', '"\\u00e9"'),
            ('"/"', '"\\/"'),
            ("[]", "[ ]"),
            ("{}", "{ }"),
        ],
    )
    def test_says_the_same(self, one: str, other: str) -> None:
        assert told(f'{{"a":{other}}}', f'{{"a":{one}}}') == []

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("7", "-7"),
            ("7", '"7"'),
            ("7", "70"),
            ("0.7", "0.07"),
            ("1e400", "1e401"),
            ("1e999999999999999999999", "1e999999999999999999998"),
            ("null", "false"),
            ("null", '"null"'),
            ('""', "null"),
            ("[]", "{}"),
            ("[]", "[1]"),
            ("1", "[1]"),
            ('"a"', '"A"'),
        ],
    )
    def test_says_another_thing(self, one: str, other: str) -> None:
        assert told(f'{{"a":{other}}}', f'{{"a":{one}}}') == [("changed", "a", one, other)]

    @given(FINITE, FINITE)
    @settings(max_examples=50)
    def test_numbers_are_by_value(self, one: float, other: float) -> None:
        same = meaning(repr(one).encode()) == meaning(repr(other).encode())
        assert same == (one == other)
        assert meaning(b"%.30e" % 0.5) == meaning(b"0.5")


class TestPaths:
    SOURCE = '{"a":{"b":[1,{"c":2}],"d":[]},"e":null}'

    def test_each_leaf_is_a_field(self) -> None:
        assert told("{}", self.SOURCE) == [
            ("lost", "a.b[0]", "1", None),
            ("lost", "a.b[1].c", "2", None),
            ("lost", "a.d", "[]", None),
            ("lost", "e", "null", None),
        ]

    def test_what_is_of_another_shape_is_changed_once_and_counts_for_all_in_it(self) -> None:
        report = check_fields('{"a":3,"e":null}', self.SOURCE)
        assert [each.change for each in report.findings] == ["changed"]
        assert report.counts[FIELD] == Counts(1, 0, 3, 0)

    def test_only_in_the_summary_is_invented_and_placed_there(self) -> None:
        (found,) = check_fields('{"a":1,\n "b":{"c":2}}', '{"a":1}').findings
        assert (found.change, found.text, found.line, found.column) == ("invented", "2", 2, 11)

    def test_text_at_the_top_is_the_summarys_own_unless_the_source_has_it(self) -> None:
        assert told('{"a":1,"text":"words"}', '{"a":1}') == []
        assert told('{"a":1,"text":"words"}', '{"a":1,"text":"others"}') == [
            ("changed", "text", '"others"', '"words"')
        ]
        assert told('{"a":{"text":"words"}}', '{"a":{}}')[0][0] == "changed"
        assert told('{"a":{"b":1,"text":"w"}}', '{"a":{"b":1}}') == [("invented", "a.text", '"w"', None)]

    def test_a_member_may_be_named_by_its_path(self) -> None:
        assert told('{"a.b[0]":1,"a.b[1].c":2.0,"$.a.d":[],"e":null}', self.SOURCE) == []
        assert told('{"a.b[0]":5}', self.SOURCE, ["a.b[0]"]) == [("changed", "a.b[0]", "1", "5")]

    def test_a_member_whose_name_only_reads_like_a_path_is_itself(self) -> None:
        assert told('{"a.b":1}', '{"a.b":1}') == []
        assert told('{"a.b":1}', '{"a":{"c":1}}', ["['a.b']"]) == [("invented", "['a.b']", "1", None)]

    def test_the_last_of_one_name_counts(self) -> None:
        assert told('{"a":1}', '{"a":0,"a":1}') == []


class TestChosenFields:
    SOURCE = '{"a":{"b":1,"c":2},"d":3}'

    def test_only_they_are_compared(self) -> None:
        assert told("{}", self.SOURCE, ["d"]) == [("lost", "d", "3", None)]
        assert told('{"d":3,"z":1}', self.SOURCE, ["d"]) == []

    def test_a_container_stands_for_all_in_it_once(self) -> None:
        assert len(told("{}", self.SOURCE, ["a", "a.b", "$.a"])) == 2

    def test_one_that_the_source_has_not_is_invented(self) -> None:
        assert told('{"z":1}', self.SOURCE, ["z"]) == [("invented", "z", "1", None)]

    @pytest.mark.parametrize("field", ["z", "a.z", "a[0]", "d.e"])
    def test_one_that_neither_has_is_refused(self, field: str) -> None:
        with pytest.raises(InvalidOption, match="neither"):
            check_fields("{}", self.SOURCE, [field])

    @pytest.mark.parametrize("field", ["", "$", "a..b", "*", "a[*]", "a.", "a b"])
    def test_what_names_no_one_field_is_refused(self, field: str) -> None:
        with pytest.raises(InvalidOption):
            check_fields("{}", self.SOURCE, [field])

    def test_a_list_has_commas(self) -> None:
        assert parse_fields("a, b.c[0] ,['x,y'].z") == ["a", "b.c[0]", "['x,y'].z"]
        assert parse_field("['x,y'].z") == ("x,y", "z")
        assert parse_field("[0].条件") == (0, "条件")
        with pytest.raises(InvalidOption):
            parse_fields(" , ")


class TestAnyDocument:
    @given(DOCUMENTS, st.booleans())
    @settings(max_examples=60)
    def test_is_like_itself_however_it_is_spelt(self, value: Any, is_ascii: bool) -> None:
        spelt = json.dumps(value, ensure_ascii=is_ascii, indent=1 if is_ascii else None)
        assert check_fields(spelt, json.dumps(value)).findings == ()

    @given(DOCUMENTS)
    @settings(max_examples=40)
    def test_loses_everything_to_an_empty_one(self, value: Any) -> None:
        report = check_fields("{}" if isinstance(value, dict) else "[]", json.dumps(value))
        assert {each.change for each in report.findings} <= {"lost"}
        assert len(report.findings) == (leaves(value) if value else 0)

    @given(DOCUMENTS, DOCUMENTS)
    @settings(max_examples=60)
    def test_every_field_is_kept_lost_or_changed(self, one: Any, other: Any) -> None:
        report = check_fields(json.dumps(one), json.dumps(other))
        total = report.counts[FIELD].total if report.counts else 0
        assert total == (leaves(other) if other else 0)

    @pytest.mark.parametrize("text", ["", "1", '"a"', "{} {}", "[1", "{'a':1}", "\ufeff", "{}x", "words"])
    def test_what_is_not_one_is_refused(self, text: str) -> None:
        assert not are_structured(text, "{}")
        assert not are_structured("{}", text)
        with pytest.raises(DocumentInvalid):
            check_fields(text, "{}")

    def test_the_error_says_which_it_is(self) -> None:
        for texts, whose in ((("words", "{}"), "the summary"), (("{}", "words"), "the source")):
            with pytest.raises(DocumentInvalid) as raised:
                check_fields(*texts)
            assert str(raised.value.place).startswith(whose)

    @pytest.mark.parametrize("check", [check_fields, check_text])
    @pytest.mark.parametrize("texts", [(b"{}", "{}"), ("{}", b"{}"), (None, "{}")])
    def test_what_is_no_text_is_refused(self, check: Callable[..., Report], texts: tuple[Any, Any]) -> None:
        with pytest.raises(InvalidOption):
            check(*texts)

    def test_deep_and_wide_ones_take_linear_time(self) -> None:
        deep = "[" * 500 + "1," * 20_000 + "2" + "]" * 500
        assert len(check_fields("[]", "[[1" + ",1" * 20_000 + "]]").findings) == 20_001
        assert check_fields(deep, deep).findings == ()

    @given(DOCUMENTS)
    @settings(max_examples=40)
    def test_each_finding_is_where_it_says(self, value: Any) -> None:
        source = json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "replace").decode()
        lines = source.split("\n")
        for each in check_fields("{}" if isinstance(value, dict) else "[]", source).findings:
            assert lines[each.line - 1][each.column - 1 :].startswith(each.text.split("\n")[0])
