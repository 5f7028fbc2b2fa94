"""Which conditions belong to a rule, and what becomes of the weak ones, which belong to none."""

from __future__ import annotations

import pytest

from castore.summary.fidelity.check import check_text
from castore.summary.fidelity.clauses.extract import extract, weak_conditions
from castore.summary.fidelity.model import Text

WEAK = """
Our courtyard is quiet when the students are gone.
If you grew up here, you remember the old mill.
A good soup forgives a lot if the stock is honest.
When autumn comes, the lake turns silver.
If everybody lends a hand, the evening goes by quickly.
Small teams work best when people listen to each other.
When a plan works out, it rarely makes the news.
If you look up, you see the old clock.
Mistakes happen when everybody is tired.
It is good to have neighbours when the power goes out.
If one door closes, another one opens.
When the market is closed, the square belongs to the pigeons.
Life is easier if you share it.
When you hold it in your hand, you notice the weight.
If the day has been long, a cup of tea does wonders.
The team was nervous, as always when a release is near.
If you have never been to the coast, this is a good start.
Once the music starts, nobody sits still.
When problems pile up, a walk around the block helps.
If we are honest, none of us saw it coming.
如果邻里和气，院子里就热闹。
天气好的时候，如果走到山顶，能看见海。
只要一家人在一起，日子就有滋味。
要是赶上桂花开，满街都是香气。
当夜幕降临时，江边的灯一盏盏亮起来。
一旦尝过，就很难忘记这个味道。
如果大家多走几步，路上就没那么堵。
人累了的话，效率自然会低。
若是懂得等待，风景总会出现。
只有静下来，才能听见鸟叫。
如果心里踏实，睡觉也香。
当团队配合得好时，项目会顺利很多。
如果没有好奇心，就不会有发现。
只要方向对，慢一点也没有关系。
""".strip().splitlines()
RULES = """
If the parcel is damaged, refuse it.
Employees get a day off if they work on a public holiday.
When the alarm sounds, leave the building.
If the invoice is wrong, contact accounting.
The permit lapses if the owner moves away.
Guests may bring a dog if they ask beforehand.
If the sensor is dirty, wipe it with a dry cloth.
The deposit is kept if the flat is left dirty.
Once the seal is broken, the item cannot be returned.
If the token has expired, the server returns an error.
The build is aborted when a test fails.
Members can vote if they have paid the fee.
If the driver is late, call the dispatcher.
When the battery is low, connect the charger.
If a guest falls ill, the booking is refunded.
Children can attend if a parent comes along.
If the host is unreachable, the job is retried.
You will lose the discount if you change the order.
如果包裹破损，请拒收。
若司机迟到，请联系调度。
当警报响起时，应立即离开。
如果发票有误，可以重开。
一旦拆封，不予退换。
只要提前说明，就可以带宠物入住。
如房客损坏家具，须照价赔偿。
电池电量低的话，请及时充电。
如果令牌过期，服务器返回错误。
若测试失败，构建会中止。
要是下雨，活动改到室内。
只有缴清会费的会员才能投票。
如果孩子发烧，应留在家里。
如果节假日加班，员工可以调休。
""".strip().splitlines()
# A source, and a summary that keeps its sentence without its condition, or with another one.
DROPPED = [
    ("If the wind turns, the boat stays in the harbour.", "The boat stays in the harbour."),
    ("The choir sings in the old church when the hall is taken.", "The choir sings in the old church."),
    ("如果汤汁太多，最后开大火收汁。", "最后开大火收汁。"),
]
SAID = [
    ("It can be renewed unless another reader has reserved it.",
     "It can be renewed as long as nobody else has reserved the title."),
    ("Calculators are allowed, except programmable ones.",
     "You may use a calculator as long as it isn't programmable."),
    ("Calculators are allowed only if they are non-programmable.",
     "A calculator is permitted provided it cannot be programmed."),
    ("If the flag `strictCookies` is off, the loop does not occur.",
     "It does not appear when `strictCookies` is turned off."),
    ("You must wear glasses if your licence says so.", "Wear glasses when the licence demands it."),
    ("早餐每位38元，不含在房费中。", "房费里没有早餐，每人另付38元。"),
    ("无人机须经管理处批准方可起飞。", "没有管理处的批准，无人机不得起飞。"),
    ("未经仲裁庭许可，不得录音录像。", "录音录像须仲裁庭许可，否则禁止。"),
]  # fmt: skip
"""A source, and the same in other words."""
CHANGED = [
    ("If the flag is red, no boats go out.", "If the flag is green, no boats go out."),
    ("若利率上浮，月供相应增加。", "若利率下浮，月供相应增加。"),
]


def conditions(text: str) -> list[str]:
    return [fact.kind for fact in extract(Text(text)) if fact.kind == "condition"]


def told(summary: str, source: str) -> list[str]:
    return [each.change for each in check_text(summary, source).findings if each.kind == "condition"]


class TestWhatIsARule:
    @pytest.mark.parametrize("text", RULES)
    def test_what_to_do_what_is_due_and_who_may_make_it_a_fact(self, text: str) -> None:
        assert conditions(text)

    @pytest.mark.parametrize("text", WEAK)
    def test_how_things_are_makes_it_weak(self, text: str) -> None:
        assert conditions(text) == []

    @pytest.mark.parametrize("text", ["It gets busy if more than 40 people come.", "如果超过40人，会很挤。"])
    def test_a_value_makes_it_a_fact_whatever_is_said(self, text: str) -> None:
        assert conditions(text)


class TestWeakConditions:
    @pytest.mark.parametrize("text", WEAK)
    def test_one_that_is_left_out_with_its_sentence_is_not_lost(self, text: str) -> None:
        rule = "The fee is 20 euros. 费用为20元。"
        assert told("", text) == []
        assert told(rule, f"{rule}\n{text}\n") == []
        report = check_text(rule, f"{rule}\n{text}\n")
        assert "condition" not in report.counts

    @pytest.mark.parametrize(("source", "summary"), DROPPED)
    def test_one_whose_sentence_is_kept_without_it_is_lost(self, source: str, summary: str) -> None:
        assert list(weak_conditions(Text(source)))
        assert told(summary, source) == ["lost"]
        assert told(source, source) == []

    @pytest.mark.parametrize(("source", "summary"), SAID)
    def test_any_that_is_said_in_other_words_is_kept(self, source: str, summary: str) -> None:
        assert check_text(summary, source).findings == ()

    @pytest.mark.parametrize(("source", "summary"), CHANGED)
    def test_one_that_became_another_is_changed(self, source: str, summary: str) -> None:
        assert told(summary, source) == ["changed"]
