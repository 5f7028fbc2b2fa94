"""Which clauses are rules, conditions and promises that a summary should keep, and which tell a story."""

from __future__ import annotations

import pytest

from castore.summary.fidelity.check import check_text
from castore.summary.fidelity.clauses.extract import extract, weak_negations
from castore.summary.fidelity.model import Text

RULES = """
The tenant may not sublet the flat.
You can't bring dogs.
Refunds aren't available for sale items.
Glass is not allowed on the deck.
Late entries won't be considered.
We don't ship to islands.
Our tickets can never be resold.
No pets.
No refunds after check-in.
Not suitable for children under 3.
Wear gloves and never touch the blade.
Nobody may enter the lab alone.
No guest can enter the kitchen.
The warranty does not extend to batteries.
During the night do not open the windows.
The plan does not include breakfast.
Contractors are not entitled to paid leave.
Members are asked not to park on the lawn.
The bank bears no liability for delays.
Python 3.8 is no longer supported.
Flying at night is prohibited.
Do not let the cartridge freeze.
Passengers are not to leave their seats.
None of the rooms may be used for cooking.
To protect the lens, never touch the glass.
The app never shares your location.
Goods which were sold at a discount cannot be returned.
租客不得转租。
馆内禁止吸烟。
展品请勿触摸。
本店不接受信用卡。
电池不在保修范围内。
未成年人不能购买酒类。
逾期不予受理。
机票不退不改。
不建议在雨天使用。
酒后不要驾车。
孕妇不宜食用。
公司不承担运费。
夜间不开放。
维修费用不由租客承担。
本机不支持5G网络。
别让机器空转。
本店谢绝自带酒水。
该优惠不与其他优惠叠加。
我们不会向第三方泄露您的信息。
旧接口不再维护。
""".strip().splitlines()
WEAK = """
I can't find my keys.
She never asked for help.
We did not win.
Not a single tile fell.
It wasn't my idea.
You do not need to bring anything.
There was no food left.
No one spoke.
Don't be shy, come and say hello.
Never in my life have I seen such rain.
It has not rained since May.
We may never know.
This can't be right.
You won't find better bread.
Don't let the price fool you.
A city that never sleeps.
Parcels that cannot be delivered are sent back.
Nobody missed the storms.
It was nobody's fault.
No letter can make up for a lost evening.
It was no easy quarter.
我不知道该说什么。
他们没有放弃。
他不能接受这个结果。
希望你不要难过。
没人知道他去了哪里。
奶奶不识字。
这一年并不轻松。
他舍不得离开。
说不准哪天就走了。
非去不可。
谁也没有喊累。
大家久久没有散去。
我大概不会走进那间教室。
发票暂时还不能开。
""".strip().splitlines()
STORIES = """
If you had told me, I would have waited.
If it were up to me, we would close.
If anyone asked, he smiled.
When we arrived, the lights were off.
When she smiles, the room lights up.
They would have won if the keeper had been awake.
Only when the last guest left did they notice.
I would be grateful if you could reply.
The bread lasts a week if nobody finds it first.
As long as I can remember, the shop was there.
Don't be surprised if it rains.
Prices will rise in May.
She will talk about it for years.
We will always remember him.
They will tell you that it is easy.
We promise that the soup is better than it was.
The evening promises to be fun.
The comet will return in 2061.
A 2-year guarantee is included.
They would not listen.
If you are anything like me, you keep lists.
If you have come this far, thank you.
Even if your legs disagree, go.
Once you have tasted it, there is no way back.
We will keep you posted.
They agreed to disagree.
The town grew until the war.
Nobody came except my uncle.
Everything was perfect except the weather.
The soup was hot but not spicy.
The square was full within minutes.
如果不是朋友硬拉着，我会后悔的。
要不是你，我早就放弃了。
如果时间可以重来，我会选择留下。
当我回头时，他已经走了。
他说的话我一直记得。
您方便的话可以来看看。
父亲常说，如果下雨就收衣服。
我会想念这里的一切。
我将永远记得那一天。
保证您吃了还想吃。
投标保证金6万元。
现场负责人钟灵毓启动了发电机。
展览将于5月1日开幕。
除了草莓，还有蓝莓。
要是能再来一次就好了。
只要您来，就有热茶。
如果喜欢，欢迎转发。
他只能苦笑。
才能出众的年轻人。
无一例外。
前两天下过雨。
""".strip().splitlines()
MEANT = [
    ("If the goods were damaged in transit, the carrier pays.", "condition"),
    ("If delivered late, the fee is waived.", "condition"),
    ("If nobody objects within 5 days, the plan is adopted.", "condition"),
    ("Once the invoice is paid, the seller ships.", "condition"),
    ("Tickets are sold only at the door.", "condition"),
    ("All tables were migrated except audit_log.", "exception"),
    ("Members, but not guests, may vote.", "exception"),
    ("We will mow the lawn every week in May.", "promise"),
    ("Anna Berg will prepare the slides.", "promise"),
    ("Damaged parts will be replaced free of charge.", "promise"),
    ("如果没有老师批准，不得离校。", "condition"),
    ("只要一次性付清，就免手续费。", "condition"),
    ("只有亲属可以探视。", "condition"),
    ("库存不足的话会延迟发货。", "condition"),
    ("公司将报销全部网费。", "promise"),
    ("我会在周五前把稿子发给您。", "promise"),
    ("除节假日外每天开放。", "exception"),
]
# The source, and a summary that turns it round.
TURNED = [
    ("The query did not use the index.", "The query used the index."),
    ("No customer data was exposed.", "Customer data was exposed."),
    ("The artist was not present at the opening.", "The artist was present at the opening."),
    ("I have not pushed the branch yet.", "The branch was pushed."),
    ("支付业务未受影响。", "支付业务受到了影响。"),
    ("集成测试因为缺少测试账号没有运行。", "集成测试都已运行。"),
    ("操场今年没有翻修。", "操场今年翻修了。"),
]


def kinds(text: str) -> list[str]:
    return [fact.kind for fact in extract(Text(text))]


class TestWhatIsARule:
    @pytest.mark.parametrize("text", RULES)
    def test_what_must_not_be_or_is_left_out_is_a_negation(self, text: str) -> None:
        assert kinds(text) == ["negation"]

    @pytest.mark.parametrize("text", WEAK)
    def test_what_was_not_or_is_not_known_is_weak(self, text: str) -> None:
        assert kinds(text) == []
        assert len(list(weak_negations(Text(text)))) == 1

    @pytest.mark.parametrize(("text", "kind"), MEANT)
    def test_what_is_meant_is_a_fact(self, text: str, kind: str) -> None:
        assert kind in kinds(text)

    @pytest.mark.parametrize("text", STORIES)
    def test_a_story_has_no_fact(self, text: str) -> None:
        assert kinds(text) == []


class TestWeakNegations:
    @pytest.mark.parametrize("text", WEAK)
    def test_they_are_never_lost_nor_invented(self, text: str) -> None:
        assert "negation" not in [each.kind for each in check_text("", text).findings]
        assert "negation" not in [each.kind for each in check_text(text, "").findings]

    @pytest.mark.parametrize(("source", "summary"), TURNED)
    def test_they_are_changed_where_they_are_turned_round(self, source: str, summary: str) -> None:
        changes = [(each.change, each.kind) for each in check_text(summary, source).findings]
        assert ("changed", "negation") in changes
        assert ("changed", "negation") not in [
            (each.change, each.kind) for each in check_text(source, source).findings
        ]

    def test_what_is_not_yet_is_not_turned_round_by_what_will_be(self) -> None:
        assert check_text("发票要等月底再开。", "发票暂时还不能开。").findings == ()
