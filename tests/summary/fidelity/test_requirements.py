"""What a summary must keep, by the laws of requirements."""

from __future__ import annotations

import pytest

from castore.errors import FidelityShort, InvalidOption
from castore.summary.fidelity.kinds import KINDS
from castore.summary.fidelity.model import Counts, Finding, Report
from castore.summary.fidelity.requirements import (
    check_askable,
    empty_kinds,
    fidelity_check,
    parse_requirements,
    shortfalls,
)
from castore.summary.fidelity.structured import check_fields

REPORT = Report(
    (
        Finding("lost", "number", "40 items", 1, 1),
        Finding("changed", "number", "12 GB", 2, 1, found="16 GB"),
        Finding("lost", "path", "a/b.py", 3, 1),
        Finding("invented", "number", "99", 1, 1),
    ),
    {"number": Counts(2, 1, 1, 1), "path": Counts(3, 1, 0, 0), "date": Counts(2, 0, 0, 5)},
)


class TestParsing:
    def test_lists_and_repetitions_are_one(self) -> None:
        assert parse_requirements(["number=1.0, path=0.5", "all=.9", "path=0"]) == {
            "number": 1.0,
            "path": 0.0,
            "all": 0.9,
        }
        assert parse_requirements([]) == {}

    @pytest.mark.parametrize("kind", [*(kind.name for kind in KINDS), "field", "all"])
    def test_every_kind_can_be_required(self, kind: str) -> None:
        assert parse_requirements([f"{kind}=1"]) == {kind: 1.0}

    @pytest.mark.parametrize(
        "text",
        [
            *("", "number", "number=", "numbers=1", "number=1.1", "number=-1", "number=nan", "number=a"),
            *("invented", "invented=", "invented=0.5", "invented=-1", "invented=1e3", "invented=٣"),
            "invented=" + "9" * 5000,
        ],
    )
    def test_anything_else_is_refused(self, text: str) -> None:
        with pytest.raises(InvalidOption):
            parse_requirements([text])


class TestShares:
    @pytest.mark.parametrize(
        ("text", "short"),
        [
            ("number=0.5", []),
            ("number=0.51", ["number"]),
            ("number=1,path=0.75", ["number"]),
            ("path=1,number=1", ["path", "number"]),
            ("date=1", []),
            ("money=1", []),
            ("all=0.7", []),
            ("all=0.71", ["all"]),
        ],
    )
    def test_what_is_kept_counts(self, text: str, short: list[str]) -> None:
        assert [each.kind for each in shortfalls(REPORT, parse_requirements([text]))] == short

    def test_sums_of_decimals_cost_nothing(self) -> None:
        report = Report((), {"number": Counts(1, 2, 0, 0)})
        assert shortfalls(report, {"number": 0.1 + 0.2 + 1 / 3 - 0.3}) == []

    def test_says_how_many_and_what(self) -> None:
        (number,) = shortfalls(REPORT, {"number": 1.0})
        assert str(number) == (
            "keeps 2 of 4 numbers (number=1 asked): "
            "number '40 items' is lost (1:1), number '12 GB' became '16 GB' (2:1)"
        )
        assert number.reached == "number=0.5"
        (every,) = shortfalls(REPORT, {"all": 1.0})
        assert str(every).startswith("keeps 7 of 10 facts (all=1 asked): ")

    def test_many_are_not_all_told(self) -> None:
        lost = tuple(Finding("lost", "path", f"a/{number}", 1, 1) for number in range(9))
        (short,) = shortfalls(Report(lost, {"path": Counts(0, 9, 0, 0)}), {"path": 1})
        assert str(short).endswith("path 'a/2' is lost (1:1), and 6 more")

    def test_fields_of_documents_are_a_kind(self) -> None:
        report = check_fields('{"a":1}', '{"a":1,"b":2}')
        assert [str(each) for each in shortfalls(report, {"field": 1.0})] == [
            "keeps 1 of 2 fields (field=1 asked): field b '2' is lost (1:12)"
        ]


class TestInventions:
    def test_cost_nothing_unless_they_are_asked_about(self) -> None:
        assert shortfalls(REPORT, {"invented": 6.0, "date": 1.0}) == []
        (found,) = shortfalls(REPORT, parse_requirements(["invented=5"]))
        assert (found.kind, found.total, found.reached) == ("invented", 6, "invented=6")
        assert str(found) == "invents 6 facts (invented=5 asked): number '99' (1:1 of the summary)"

    def test_of_fields_too(self) -> None:
        report = check_fields('{"a":1,"z":0}', '{"a":1,"b":2}')
        assert [each.kind for each in shortfalls(report, {"invented": 0.0})] == ["invented"]

    def test_are_refused_to_a_collapse(self) -> None:
        with pytest.raises(FidelityShort, match="the summary invents 1 fact ") as raised:
            fidelity_check({"invented": 0})("It costs $40, $50.", "It costs $40.")
        assert raised.value.fields["short"] == ["invented=1"]

    def test_are_named_first_and_each_finding_once(self) -> None:
        asked = {"number": 1, "all": 1, "invented": 0}
        source = "".join(f"Batch {number} has {number + 500} files.\n" for number in range(99))
        with pytest.raises(FidelityShort) as raised:
            fidelity_check(asked)("Ask help@example.com.", source)
        findings = raised.value.fields["findings"]
        assert isinstance(findings, list)
        assert findings[0] == "email 'help@example.com' (1:5 of the summary)"
        assert len(set(findings)) == len(findings) == 100


class TestWhatCantBeAsked:
    def test_facts_of_fields_and_fields_of_texts(self) -> None:
        with pytest.raises(InvalidOption, match="none is a number") as raised:
            check_askable({"number": 1.0}, are_fields=True)
        assert "--text" in str(raised.value.hint)
        with pytest.raises(InvalidOption, match="no fields"):
            fidelity_check({"field": 1.0})
        for are_fields, kind in ((True, "field"), (False, "number")):
            check_askable({"all": 1.0, "invented": 0.0, kind: 1.0}, are_fields=are_fields)

    def test_a_kind_that_the_source_has_nothing_of_is_named(self) -> None:
        assert empty_kinds(REPORT, {"number": 1.0, "money": 1.0, "invented": 0.0}) == ["money"]
        assert empty_kinds(Report((), {}), {"all": 1.0}) == ["all"]


class TestCallable:
    SOURCE = "Refunds are paid within 7 days, unless the item is fresh food. It costs $40.\n"

    def test_nothing_is_said_of_what_keeps_all(self) -> None:
        fidelity_check({"all": 1.0})(self.SOURCE, self.SOURCE)

    def test_what_falls_short_is_an_error_that_says_what(self) -> None:
        with pytest.raises(FidelityShort, match=r"the summary keeps 0 of 1 amounts of money") as raised:
            fidelity_check({"money": 1.0})("Refunds are paid within 7 days.", self.SOURCE)
        assert raised.value.exit_code == 3
        assert raised.value.fields == {
            "short": ["money=0"],
            "missed": ["$40"],
            "findings": ["money '$40' is lost (1:73)"],
        }
