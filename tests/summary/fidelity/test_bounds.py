"""Bounds: a value that the summary bounds from the other side is changed; one that it bounds alike is not."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from castore.summary.fidelity.check import check_facts, check_text
from castore.summary.fidelity.kinds import facts_of
from castore.summary.fidelity.model import Text
from castore.summary.fidelity.values.bounds import bound_of
from castore.summary.fidelity.values.extract import extract

VALUES = ("number", "money", "percent", "date", "time", "duration", "version")
CASES = tomllib.loads((Path(__file__).parent / "bounds.toml").read_text("utf-8"))


def told(summary: str, source: str) -> list[tuple[str, str, str]]:
    findings = check_text(summary, source).findings
    return [(each.change, each.text, each.found or "") for each in findings if each.kind in VALUES]


class TestTheWordsAroundAValue:
    """They make it the least or the most that is meant, with a `not` the other of both."""

    @pytest.mark.parametrize(
        ("bound", "phrases"),
        [
            (
                "least",
                "at least 90 days|no less than 90 days|90 days or more|90 days minimum|not under 90 days",
            ),
            ("most", "at most 90 days|not more than 90 days|up to 90 days|within 90 days|max. 90 days"),
            (
                "least",
                "after 90 days|older than 90 days|longer than 90 days|up to 90 days before|90天后|至少90天",
            ),
            ("most", "90天内|不超过90天|不得超过90天|最多90天|90天以内|no earlier than 90 days before"),
            (
                "least",
                "from 6 pm|not before 6 pm|after 6 pm|no earlier than 6 pm|6 pm or later|6点后|不早于6点",
            ),
            ("most", "until 6 pm|before 6 pm|by 6 pm|no later than 6 pm|not after 6 pm|6点前|不晚于6点"),
            ("least", "version 3.2 or later|newer than 3.2|version 3.2 or newer|3.2及以上|3.2以上"),
            ("most", "version 3.2 or earlier|version 3.2 or older|3.2及以下|低于3.2"),
            ("least", "more than $50|not less than $50|exceeds $50|满50元|超过50元|不低于50元|不少于50元"),
            (
                "most",
                "less than $50|doesn't exceed $50|must not exceed $50|under $50|不满50元|不足50元|50元以下",
            ),
        ],
    )
    def test_bound_it(self, bound: str, phrases: str) -> None:
        for phrase in phrases.split("|"):
            text = Text(phrase)
            (fact,) = extract(text)
            bounded = bound_of(text.lower, fact)
            assert bounded is not None, phrase
            assert bounded.bound.value == bound, phrase

    @pytest.mark.parametrize(
        "phrase",
        [
            "for 90 days",
            "over 24 hours",
            "by 10%",
            "the past 7 days",
            "90 days",
            "7 days from receipt",
            "7天",
            "90 days before",
        ],
    )
    def test_or_do_not(self, phrase: str) -> None:
        text = Text(phrase)
        (fact,) = extract(text)
        assert bound_of(text.lower, fact) is None


class TestOpposed:
    """Told as changed, with the bounds' words, and by nothing else."""

    @pytest.mark.parametrize(("source", "summary", "text", "found"), CASES["opposed"])
    def test_is_changed(self, source: str, summary: str, text: str, found: str) -> None:
        assert told(summary, source) == [("changed", text, found)]

    @pytest.mark.parametrize(("source", "summary"), CASES["same"])
    def test_the_same_in_other_words_is_kept(self, source: str, summary: str) -> None:
        assert told(summary, source) == []

    def test_where_a_value_stands_twice_each_place_counts(self) -> None:
        source = "Delivery takes 7 days. Return the goods within 7 days."
        assert told("Delivery takes 7 days. Return the goods after 7 days.", source) == [
            ("changed", "within 7 days", "after 7 days")
        ]
        assert told("Return the goods within 7 days.", source) == []

    def test_one_bound_of_two_is_no_other(self) -> None:
        source = "Within 7 days you get your money back, after 7 days a voucher."
        assert told("You get a voucher after 7 days.", source) == []


class TestAnyPair:
    """Each distinct value of the source is kept, lost or changed, whatever the summary says of it."""

    PIECES = str.split(
        "within after before at least most up to not no more than 7 days 5 pm by from $50 under over 3.2 or "
        "later 1 May 2026 until max min 10% returns are refused . , 内 后 前 不 超过 最多 至少 7天 周五"
    )

    @settings(max_examples=100, deadline=None)
    @given(*[st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join)] * 2)
    def test_is_counted_once(self, summary: str, source: str) -> None:
        facts = facts_of(source)
        counts = check_facts(facts_of(summary), facts).counts
        for kind in VALUES:
            assert (counts[kind].total if kind in counts else 0) == len(facts.of(kind))
