"""Conditions, exceptions, negations, deadlines and promises: what is one, and whether a summary keeps it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from castore.summary.fidelity.check import check_text
from castore.summary.fidelity.clauses.extract import extract
from castore.summary.fidelity.kinds import facts_of
from castore.summary.fidelity.model import Finding, Text
from tests.summary.fidelity.clause_cases import IDLE, SAID
from tests.summary.fidelity.pairs import Pair, read_pairs

CLAUSES = ("condition", "exception", "negation", "deadline", "promise")
PAIRS = read_pairs([Path(__file__).parent / "clause_pairs.toml"])
POLICIES = (
    '{"version": "v1", "deadline_days": 7, "condition": "已发货订单", "exception": "生鲜商品"}',
    "version: v1\ndeadline_days: 7\ncondition: 已发货订单\nexception: 生鲜商品\n",
    "{version: v1, deadline_days: 7, condition: 已发货订单, exception: 生鲜商品}",
    "条件：已发货订单\n期限：7天\n例外：生鲜商品\n",
    "已发货订单在签收7天内可退货，生鲜商品除外。",
)
"""The policy of the issue, as text."""
PIECES = (
    *("if", "unless", "not", "n't", "within 7 days", "by Friday", "before", "will", "only", "no", ": "),
    *("除", "外", "不", "如果", "7天内", "前", "承诺", "条件：", "，", "。", "\n- ", '"', "exception:", "İ"),
)


def found(text: str) -> list[tuple[str, str]]:
    facts = sorted(extract(Text(text)), key=lambda fact: (fact.start, fact.kind))
    return [(fact.kind, text[fact.start : fact.end]) for fact in facts]


def told(summary: str, source: str) -> list[Finding]:
    return [each for each in check_text(summary, source).findings if each.kind in CLAUSES]


class TestWhatIsAClause:
    @pytest.mark.parametrize(
        ("text", "facts"),
        [
            ("Return it within 7 days of delivery.", [("deadline", "within 7 days of delivery")]),
            ("Pay by Friday, 6 March 2026 at noon.", [("deadline", "by Friday, 6 March 2026 at noon")]),
            ("A 7-day window applies.", [("deadline", "A 7-day window")]),
            ("We need 30 days' notice.", [("deadline", "30 days' notice")]),
            ("It grew by 5% within the team.", []),
            ("The park lies within 5 km.", []),
            ("Refunds need approval unless paid by card.",
             [("condition", "need approval"), ("exception", "unless paid by card")]),
            ("If it rains, we meet inside.", [("condition", "If it rains")]),
            ("When Maya joined in 2019, she led sales.", []),
            ("See if you like it as if new.", []),
            ("Data must not leave the EU.", [("negation", "Data must not leave the EU")]),
            ("Whether or not it fits, no more than 5 are sold.", []),
            ("No later than 5 May, send it.", [("deadline", "No later than 5 May")]),
            ("Open daily, except on Mondays.", [("exception", "except on Mondays")]),
            ("The call raises an exception in `run()`.", []),
            ("The vendor will refund the fee.", [("promise", "The vendor will refund the fee")]),
            ("It will rain.", []),
            ("This will be explained below.", []),
            ("Only managers may approve.", [("condition", "Only managers may approve")]),
            ("He only changed two files.", []),
            ("签收后7天内可退货，生鲜商品除外。", [("deadline", "7天内"), ("exception", "生鲜商品除外")]),
            ("未成年人请看好随身物品。", []),
            ("国内前端团队目前在内部测试。", []),
            ("须经财务批准，且不得转让。", [("condition", "须经财务批准"), ("negation", "且不得转让")]),
            ("助手删除了旧文件。", []),
            ("请在周五之前提交。", [("deadline", "周五之前")]),
            ("我们承诺免费维修。", [("promise", "我们承诺免费维修")]),
            ('{"exception": "gift cards", "deadline_days": 14}',
             [("exception", "gift cards"), ("deadline", 'deadline_days": 14')]),
            ("Exceptions:\n- gift cards\n- food\n", [("exception", "gift cards"), ("exception", "food")]),
        ],
    )  # fmt: skip
    def test_it_is_found_from_its_cue_to_its_end(self, text: str, facts: list[tuple[str, str]]) -> None:
        assert found(text) == facts

    @pytest.mark.parametrize("text", IDLE)
    def test_what_only_is_nice_is_none(self, text: str) -> None:
        assert found(text) == []

    def test_what_another_extractor_took_holds_none(self) -> None:
        text = Text("Run x unless y now")
        text.take(4, 14)
        assert list(extract(text)) == []


class TestKept:
    @pytest.mark.parametrize(("source", "summary"), [(each[2], said) for each in SAID for said in each[3]])
    def test_the_same_in_other_words_is_no_finding(self, source: str, summary: str) -> None:
        assert told(summary, source) == []

    @pytest.mark.parametrize("source", POLICIES)
    @pytest.mark.parametrize(
        "summary",
        [
            "已发货订单在签收7天内可退货，生鲜商品除外。",
            "已发货的订单，签收后七天之内可以退货，但不包括生鲜商品。",
            "Shipped orders can be returned within 7 days, except for fresh goods.",
        ],
    )
    def test_a_policy_as_a_sentence_is_no_finding(self, summary: str, source: str) -> None:
        assert told(summary, source) == []

    @pytest.mark.parametrize("pair", [each for each in PAIRS if not each.planted], ids=lambda pair: pair.name)
    def test_a_faithful_summary_has_no_finding(self, pair: Pair) -> None:
        assert told(pair.summary, pair.source) == []


class TestLostChangedInvented:
    @pytest.mark.parametrize(
        ("kind", "change", "source", "summary"), [(each[0], each[1], each[2], each[4]) for each in SAID]
    )
    def test_another_thing_is_told(self, kind: str, change: str, source: str, summary: str) -> None:
        assert (change, kind) in [(each.change, each.kind) for each in told(summary, source)]

    @pytest.mark.parametrize("source", POLICIES)
    def test_a_policy_loses_its_deadline_condition_and_exception(self, source: str) -> None:
        findings = told("订单可退货。", source)
        assert {(each.change, each.kind) for each in findings} == {
            ("lost", "deadline"),
            ("lost", "condition"),
            ("lost", "exception"),
        }

    @pytest.mark.parametrize("pair", [each for each in PAIRS if each.planted], ids=lambda pair: pair.name)
    def test_each_planted_fault_is_told(self, pair: Pair) -> None:
        findings = check_text(pair.summary, pair.source).findings
        for planted in pair.planted:
            kinds = (planted.kind, *planted.also)
            assert any(
                each.change == planted.change
                and each.kind in kinds
                and _is_about(each, planted.text, planted.found)
                for each in findings
            ), planted

    def test_a_flipped_negation_names_what_it_became(self) -> None:
        (finding,) = told("Guests may park in the yard.", "Guests must not park in the yard.")
        assert (finding.change, finding.text) == ("changed", "Guests must not park in the yard")
        assert finding.found is not None
        assert "may park" in finding.found


class TestAnyText:
    @settings(max_examples=60, deadline=None)
    @given(
        st.lists(
            st.one_of(
                st.sampled_from(PIECES),
                st.text(max_size=6),
            ),
            max_size=40,
        ).map(" ".join)
    )
    def test_clauses_lie_in_it_and_against_itself_nothing_is_told(self, text: str) -> None:
        facts = facts_of(text)
        clauses = [fact for fact in facts if fact.kind in CLAUSES]
        assert all(0 <= fact.start < fact.end <= len(text) for fact in clauses)
        assert told(text, text) == []
        assert [each.change for each in told("", text)] == ["lost"] * len(clauses)


def _is_about(finding: Finding, *planted: str | None) -> bool:
    ours = ["".join(each.split()).lower() for each in (finding.text, finding.found) if each]
    theirs = ["".join(each.split()).lower() for each in planted if each]
    return any(one in other or other in one for one in ours for other in theirs)
