"""What a summary must keep, by the laws of requirements."""

from __future__ import annotations

import pytest

from castore.errors import FidelityShort, InvalidOption
from castore.summary.fidelity.kinds import KINDS
from castore.summary.fidelity.model import Counts, Finding, Report
from castore.summary.fidelity.requirements import fidelity_check, parse_requirements, shortfalls
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
        ["", "number", "number=", "numbers=1", "number=1.1", "number=-1", "number=nan", "number=a"],
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
        assert str(number) == "2 of 4 numbers (number=1 asked): '40 items' is lost, '12 GB' became '16 GB'"
        (every,) = shortfalls(REPORT, {"all": 1.0})
        assert str(every).startswith("7 of 10 facts (all=1 asked): ")

    def test_many_are_not_all_told(self) -> None:
        lost = tuple(Finding("lost", "path", f"a/{number}", 1, 1) for number in range(9))
        (short,) = shortfalls(Report(lost, {"path": Counts(0, 9, 0, 0)}), {"path": 1})
        assert str(short).endswith("'a/2' is lost, and 6 more")

    def test_fields_of_documents_are_a_kind(self) -> None:
        report = check_fields('{"a":1}', '{"a":1,"b":2}')
        assert [str(each) for each in shortfalls(report, {"field": 1.0})] == [
            "1 of 2 fields (field=1 asked): '2' is lost"
        ]


class TestCallable:
    SOURCE = "Refunds are paid within 7 days, unless the item is fresh food. It costs $40.\n"

    def test_nothing_is_said_of_what_keeps_all(self) -> None:
        fidelity_check({"all": 1.0})(self.SOURCE, self.SOURCE)

    def test_what_falls_short_is_an_error_that_says_what(self) -> None:
        with pytest.raises(FidelityShort, match=r"the summary keeps 0 of 1 amounts of money") as raised:
            fidelity_check({"money": 1.0})("Refunds are paid within 7 days.", self.SOURCE)
        assert raised.value.exit_code == 3
        assert raised.value.fields == {"short": ["money=0"], "missed": ["$40"]}
