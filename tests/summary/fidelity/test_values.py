"""The finding of numbers, money, percentages, dates, times of day, durations and versions, by its laws."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from castore.summary.fidelity.check import check_facts
from castore.summary.fidelity.kinds import facts_of
from castore.summary.fidelity.model import Fact, Text
from castore.summary.fidelity.values.extract import extract

VALUES = ("number", "money", "percent", "date", "time", "duration", "version")


def found(said: str) -> list[Fact]:
    return list(extract(Text(said)))


def told(said: str) -> list[tuple[str, str]]:
    return [(fact.kind, said[fact.start : fact.end]) for fact in found(said)]


class TestOneValueHasOneKey:
    """Whatever its spelling, in both languages."""

    @pytest.mark.parametrize(
        ("kind", "spellings"),
        [
            ("number", "1,000 rows|1000 rows|1 000 rows|1'000 rows|1k rows|１０００ rows|one thousand rows"),
            ("number", "1 GB|1GB|1 gigabyte|1000 MB|1 000 000 kB"),
            ("number", "3.5 kg|3.50 kg|3500 grams|3.5公斤|3.5千克"),
            ("number", "three replicas|3 replicas|3 new replicas"),
            ("number", "2/3 of them|two-thirds of them|two thirds of them|三分之二"),
            (
                "number",
                "100 requests per minute|100 requests/minute|100 requests a minute|100 requests each minute",
            ),
            ("number", "两千五|2500|二千五百|2,500|两千五百"),
            (
                "money",
                "$1.2 million|$1,200,000|$1.2M|US$1.2m|1.2 million dollars|USD 1,200,000|120万美元|$1200000",
            ),
            ("money", "¥500|500元|五百元|RMB 500|500 yuan|￥５００|CNY 500"),
            ("money", "€50|50 euros|50€|EUR 50|50欧元"),
            ("money", "half a million dollars|$500,000|$500K|50万美元"),
            ("percent", "10%|10 %|10 percent|ten percent|10 per cent|百分之十|百分之10|一成|10％|10.0%"),
            ("percent", "八折|8折|20% off|打八折"),
            ("percent", "0.05%|万分之五|5 basis points|万分之5|0.5‰"),
            (
                "duration",
                "7 days|7-day|seven days|seven-day|7天|七天|7 天|７天|1 week|a total of one week|168 hours",
            ),
            ("duration", "24 months|2 years|two years|两年|24个月"),
            (
                "duration",
                "90 minutes|1.5 hours|1h30m|1 hour and 30 minutes|one and a half hours|一个半小时",
            ),
            (
                "duration",
                "5 business days|5 working days|five business days|5个工作日|五个工作日|5-business-day",
            ),
            ("duration", "half an hour|30 minutes|半小时|半个小时|half-hour"),
            ("duration", "three quarters of an hour|45 minutes|45分钟"),
            (
                "date",
                "2026-11-30|30 November 2026|Nov 30, 2026|November 30th, 2026|2026年11月30日|2026/11/30",
            ),
            (
                "date",
                "30.11.2026|30th of November 2026|30-Nov-2026|二〇二六年十一月三十日|11/30/2026",
            ),
            ("date", "Q3 2026|2026 Q3|third quarter of 2026|2026年第三季度"),
            ("date", "on Friday|on Fri|周五|星期五|礼拜五"),
            ("time", "3pm|15:00|3:00 p.m.|3 PM|下午3点|下午三点|15点整|15:00:00"),
            ("time", "下午三点半|15:30|3.30 pm|下午3:30|15时30分"),
            ("time", "noon|12 pm|中午12点"),
            ("version", "v1.2.0|1.2.0|version 1.2.0|版本1.2.0|release 1.2.0"),
        ],
    )
    def test_spellings(self, kind: str, spellings: str) -> None:
        keys = {
            each: [fact.key for fact in found(each) if fact.kind == kind] for each in spellings.split("|")
        }
        first = next(iter(keys.values()))
        assert len(first) == 1
        assert {each: key for each, key in keys.items() if key != first} == {}

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("5 days", "5 business days"),
            ("30 seconds", "30 minutes"),
            ("1 month", "30 days"),
            ("$50", "€50"),
            ("$50", "$50 per month"),
            ("2 GB", "2 GiB"),
            ("3am", "3pm"),
            ("14:00 UTC", "14:00 PST"),
            ("2026-11-03", "2026-03-11"),
            ("1.2.0", "1.20"),
            ("1.2亿元", "1.2万元"),
            ("5 points", "5%"),
            ("2025年3月5日", "2025年5月3日"),
            ("两千五", "两千零五"),
        ],
    )
    def test_others_differ(self, one: str, other: str) -> None:
        assert {fact.key for fact in found(one)}.isdisjoint(fact.key for fact in found(other))


class TestWhatIsAFact:
    """Its span is what a reviewer would mark."""

    @pytest.mark.parametrize(
        ("said", "facts"),
        [
            ("Refund within 7 days of delivery.", [("duration", "7 days")]),
            ("It costs $5/month.", [("money", "$5/month")]),
            ("10-20 days", [("duration", "10"), ("duration", "20 days")]),
            ("two to three weeks", [("duration", "two"), ("duration", "three weeks")]),
            ("三到五个工作日", [("duration", "三"), ("duration", "五个工作日")]),
            ("$5-10 each", [("money", "$5"), ("money", "10")]),
            ("9-5pm", [("time", "9"), ("time", "5pm")]),
            ("Lunch at 9:30 am.", [("time", "9:30 am")]),
            ("3–5 May 2025", [("date", "3-5 May 2025".replace("-", "–"))] * 2),
            ("Thursday, 6 November", [("date", "Thursday, 6 November")]),
            ("TLS 1.0 and 1.1", [("version", "1.0"), ("version", "1.1")]),
            ("Python 3.11 or later", [("version", "3.11")]),
            ('"deadline_days": 7', [("duration", "7")]),
            ("timeout_ms: 3000", [("duration", "3000")]),
            ("in 2024", [("date", "2024")]),
            ("Twelve people came.", [("number", "Twelve people")]),
            ("三名审批人", [("number", "三名")]),
            ("最多重试三次", [("number", "三次")]),
            ("policy version 1, release 4", [("version", "version 1"), ("version", "release 4")]),
            ("版本 3，版本号：5", [("version", "版本 3"), ("version", "版本号：5")]),
            ("须年满18周岁", [("number", "18周岁")]),
            ("third-quarter sales", [("date", "third-quarter")]),
            ("每晚02:00执行", [("time", "02:00")]),
            ("每周三次，周三上午", [("number", "每周三次"), ("date", "周三")]),
            ("twice a day", [("number", "twice a day")]),
            ("within a week", [("duration", "a week")]),
            ("by the 15th of the following month", [("date", "15th")]),
            ("每月5日前", [("date", "5日")]),
            ("5日内", [("duration", "5日")]),
            ("1920x1080", [("number", "1920x1080")]),
            ("2025-06-14T11:02:20Z", [("date", "2025-06-14"), ("time", "11:02:20z".upper())]),
        ],
    )
    def test_is_one(self, said: str, facts: list[tuple[str, str]]) -> None:
        assert told(said) == facts

    @pytest.mark.parametrize(
        "said",
        [
            "1. Fix it\n2) Ship it\n- 3. Rest\n### 4. Head",
            "Step 3: run. See section 4.2 and figure 7.",
            "(1) one thing, (2) another",
            "第1步，第三章，第二次",
            "the 2nd floor, a 3D model, utf8, gpt-4, x86, S3, sha-256",
            "one of them, both, two ways, the three of us, five more steps",
            "一个，一些，两个方面，十分重要，万一，千万别，一旦，统一，三个步骤",
            "a day in the life, twice as many",
            "I may march on. The second look may be in May or not.",
            "a one-on-one talk, second-hand",
            "24/7",
            "6.1 The Supplier delivers. 6.2 Nothing else.\n### 4.1 Scope\nClause 9. Deposit, see Article 12",
            "Travelling is half the fun.",
        ],
    )
    def test_is_none(self, said: str) -> None:
        assert told(said) == [] or told(said) == [("date", "May")]

    def test_what_others_took_is_left_alone(self) -> None:
        text = Text("see /logs/2024-01-02 and 3 files")
        text.take(4, 20)
        assert [text.raw[fact.start : fact.end] for fact in extract(text)] == ["3 files"]


PIECES = str.split(
    "1 2 7 10 30 2025 1,000 3.5 0 00 24 99 . , : / - % $ € ¥ am pm days day "
    "hours and a half an to or of the one two twenty hundred million "
    "quarter past in out May March 3rd th Mon Monday 年 月 日 号 天 个 半 小时 一 二 三 "
    "十 百 千 万 亿 分之 点 下午 周 星期 折 成 元 次 每 内 v 1.2.3 x per week k m s ( ) \" ' # "
    "第 T Z UTC ² ١ İ ﬁ ß １ ％ 〇 Q3 noon "
)


class TestAnyText:
    """Nothing is raised; spans are in the text; against itself nothing is found."""

    @settings(max_examples=150, deadline=None)
    @given(st.lists(st.sampled_from([*PIECES, " ", "\n"]), max_size=40).map("".join))
    def test_laws(self, said: str) -> None:
        facts = facts_of(said)
        assert all(0 <= fact.start < fact.end <= len(said) for fact in found(said))
        assert check_facts(facts_of(said), facts).findings == ()
        report = check_facts(facts_of(""), facts)
        for kind in VALUES:
            assert kind not in report.counts or report.counts[kind].lost == len(facts.of(kind))

    @pytest.mark.parametrize(
        "piece",
        [
            "1",
            "1,",
            "1.",
            "1-",
            "1:",
            ",000",
            "$",
            "$1",
            "1年",
            "月",
            "一",
            "半",
            "一月",
            " one",
            "twenty-",
            "monday ",
            "May 5 ",
            "v1.",
            "1/",
            "1 to ",
            "1h ",
            "3点",
            "half a ",
            "'1",
            "百分之",
        ],
    )
    def test_hostile_text(self, piece: str) -> None:
        said = piece * (20_000 // len(piece))
        assert all(0 <= fact.start < fact.end <= len(said) for fact in found(said))
