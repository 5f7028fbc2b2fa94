"""What became of values: kept in other words, lost, changed or invented, by the laws of the comparison."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from castore.summary.fidelity.check import check_facts, check_text
from castore.summary.fidelity.kinds import facts_of

VALUES = ("number", "money", "percent", "date", "time", "duration", "version")
CASES = tomllib.loads((Path(__file__).parent / "values.toml").read_text("utf-8"))


def told(summary: str, source: str) -> list[list[str]]:
    findings = check_text(summary, source).findings
    return [[each.change, each.text, each.found or ""] for each in findings if each.kind in VALUES]


class TestKept:
    """A value that the summary says in any form is kept, and nothing of it is invented."""

    @pytest.mark.parametrize(("source", "summary"), CASES["faithful"])
    def test_in_other_words(self, source: str, summary: str) -> None:
        assert told(summary, source) == []

    @pytest.mark.parametrize(
        ("source", "summary"),
        [
            ("12,345,678 rows", "about 12.3 million rows"),
            ("12.3 million rows", "12,345,678 rows"),
            ("1,987 people came", "nearly 2,000 people came"),
        ],
    )
    def test_rounded_where_it_says_so(self, source: str, summary: str) -> None:
        assert told(summary, source) == []

    def test_in_a_path(self) -> None:
        assert told("See /var/log/2026-01-06.txt.", "It broke on 2026-01-06.") == []

    def test_a_count_of_what_follows_is_not_invented(self) -> None:
        assert told("Three exceptions hold: A, B and C.", "Excepted are A, B and C.") == []


class TestDaysOfTheWeek:
    """All of them from Monday to Friday are weekdays; some of them, or how many, are not."""

    @pytest.mark.parametrize(
        ("source", "summary"),
        [
            ("Open Monday to Friday.", "Open on weekdays."),
            ("Open on working days.", "Open Mon-Fri."),
            ("周一至周五营业", "工作日营业"),
            ("Closed Saturday and Sunday.", "Closed at the weekend."),
        ],
    )
    def test_all_of_them(self, source: str, summary: str) -> None:
        assert told(summary, source) == []

    @pytest.mark.parametrize(
        ("source", "summary"),
        [
            ("Due on Monday. Takes 5 working days.", "Due on Tuesday. Takes 5 working days."),
            ("Open on weekdays. Delivery on Tuesday.", "Open on weekdays. Delivery on Thursday."),
            ("周五前提交，需要3个工作日。", "周四前提交，需要3个工作日。"),
            ("Open at the weekend. Music on Sunday.", "Open at the weekend. Music on Saturday."),
        ],
    )
    def test_one_of_them(self, source: str, summary: str) -> None:
        assert [each[0] for each in told(summary, source)] == ["changed"]


class TestWordsForAValue:
    """What a word says of something else hides no other value in its place."""

    @pytest.mark.parametrize(
        ("source", "summary"),
        [
            ("A 100% refund for all members.", "A 50% refund for all members."),
            (
                "The notice period is 1 month. Rent is paid monthly.",
                "The notice period is 3 months. Rent is paid monthly.",
            ),
            ("工期1年，每年检查。", "工期3年，每年检查。"),
            ("A 2/3 majority; 2 of them and 3 guests.", "A 1/3 majority; 2 of them and 3 guests."),
        ],
    )
    def test_is_changed(self, source: str, summary: str) -> None:
        assert [each[0] for each in told(summary, source)] == ["changed"]


class TestFaults:
    """Each is told as what it is, and nothing else is."""

    @pytest.mark.parametrize(("source", "summary", "faults"), CASES["faults"])
    def test_is_told(self, source: str, summary: str, faults: list[list[str]]) -> None:
        assert told(summary, source) == faults

    @pytest.mark.parametrize(
        ("source", "summary"),
        [
            ("1,234 people", "1,200 people"),
            ("450 people", "about 400 people"),
            ("not over 400 people", "not over 450 people"),
            ("3,200 people", "about 3,250 people"),
        ],
    )
    def test_rounded_without_a_word_or_too_far(self, source: str, summary: str) -> None:
        assert [each[0] for each in told(summary, source)] == ["changed"]

    def test_one_of_the_summary_stands_against_one_of_the_source(self) -> None:
        findings = told("It takes 9 days.", "It takes 3 days, or 5 days.")
        assert sorted(each[0] for each in findings) == ["changed", "lost"]


class TestEachOfTheSource:
    """Each distinct fact is kept, lost or changed, and one of them only."""

    @pytest.mark.parametrize(("source", "summary", "faults"), CASES["faults"])
    def test_is_counted_once(self, source: str, summary: str, faults: list[list[str]]) -> None:
        facts = facts_of(source)
        counts = check_facts(facts_of(summary), facts).counts
        for kind in VALUES:
            assert (counts[kind].total if kind in counts else 0) == len(facts.of(kind))
