"""Chinese and Japanese, as they are and escaped."""

from __future__ import annotations

import json
from random import Random

from tests.retrieve.needles.needle import Needle, compact, iso, needle, pretty, spot, text

_NAMES = ["王伟", "李娜", "张敏", "刘洋", "陈静", "杨帆", "赵磊", "黄丽"]
_CITIES = ["上海", "杭州", "成都", "西安", "武汉", "广州"]
_GOODS = ["茶叶", "瓷器", "雨伞", "台灯", "书包", "键盘"]


def _memo(rng: Random) -> str:
    return (
        f"{rng.choice(_CITIES)}仓库{rng.choice(('已打包', '已出库', '待签收', '已签收'))}{rng.choice(_GOODS)}"
    )


@needle(300, 9000)
def refunded_order(rng: Random, count: int) -> Needle:
    rows = [
        {
            "订单号": 880_000 + n,
            "状态": "已完成",
            "客户": rng.choice(_NAMES),
            "金额": rng.randrange(20, 900),
            "备注": _memo(rng),
        }
        for n in range(count)
    ]
    rows[spot(rng, count, "any")] |= {"状态": "已退款", "备注": "五月三日由梅姐批准退款"}
    return Needle(compact(rows), "五月三日由梅姐批准退款")


@needle(250, 7000)
def escaped_rows_searched(rng: Random, count: int) -> Needle:
    rows = [{"id": n, "name": rng.choice(_NAMES), "remark": _memo(rng)} for n in range(count)]
    rows[spot(rng, count, "any")] |= {"remark": "投诉:包裹在三号码头被雨淋湿"}
    return Needle(json.dumps(rows).encode(), "包裹在三号码头被雨淋湿", "投诉")


@needle(300, 9000)
def log_with_one_error(rng: Random, count: int) -> Needle:
    lines = [
        f"{iso(n * 6)}【信息】{rng.choice(_CITIES)}节点 同步{rng.randrange(100, 999)}条记录,"
        f"用时{rng.randrange(9, 80)}毫秒"
        for n in range(count)
    ]
    at = spot(rng, count, "any")
    lines[at] = f"{iso(at * 6)}【严重】昆明节点 证书已被老周吊销"
    return Needle(text(lines), "证书已被老周吊销")


@needle(250, 7000)
def escaped_log_in_a_string(rng: Random, count: int) -> Needle:
    lines = [f"{iso(n * 6)} {rng.choice(_NAMES)} 登录成功 来自{rng.choice(_CITIES)}" for n in range(count)]
    at = spot(rng, count, "middle")
    lines[at] = f"{iso(at * 6)} 网关 连接超时 对端是南门机房七号柜"
    return Needle(json.dumps("\n".join(lines)).encode(), "南门机房七号柜", "超时")


@needle(700, 16_000)
def table_in_a_string(rng: Random, count: int) -> Needle:
    lines = ["编号,城市,货物,数量,经手"]
    lines += [
        f"{n},{rng.choice(_CITIES)},{rng.choice(_GOODS)},{rng.randrange(1, 400)},{rng.choice(_NAMES)}"
        for n in range(count)
    ]
    at = spot(rng, count, "any")
    lines[at] = f"{at - 1},拉萨,药材(异常),3,次仁旺堆"
    return Needle(pretty({"文件": "五月.csv", "内容": "\n".join(lines)}), "次仁旺堆", "异常")


@needle(300, 8000)
def inspection_in_japanese(rng: Random, count: int) -> Needle:
    rows = [
        {
            "番号": f"L{n:05}",
            "判定": "合格",
            "重量": round(rng.gauss(50, 0.4), 2),
            "担当": rng.choice(("佐藤", "鈴木", "高橋")),
        }
        for n in range(count)
    ]
    rows[spot(rng, count, "any")] |= {"判定": "不合格", "担当": "夜勤の小田切"}
    return Needle(json.dumps(rows).encode(), "夜勤の小田切")


@needle(200, 5000)
def escaped_in_an_escaped_string(rng: Random, count: int) -> Needle:
    rows = [{"工单": n, "描述": _memo(rng)} for n in range(count)]
    rows[spot(rng, count, "any")]["描述"] = "阀门漏水,钥匙在门卫老马处"
    return Needle(json.dumps({"result": json.dumps({"rows": rows})}).encode(), "钥匙在门卫老马处", "漏水")


@needle(250, 6000)
def contract_in_paragraphs(rng: Random, count: int) -> Needle:
    """Prose: nothing is odd, one clause is asked for."""
    lines = [
        f"第{n + 1}条 {rng.choice(('甲方', '乙方', '双方'))}应于收货后{rng.randrange(2, 30)}日内"
        f"{rng.choice(('验收', '付款', '回函', '盖章'))},并通知{rng.choice(_CITIES)}办事处。"
        for n in range(count)
    ]
    lines[spot(rng, count, "any")] = "第九百条 逾期者,违约金按每日万分之十七计,直至付清。"
    return Needle(text(lines), "每日万分之十七", "违约金")


@needle(250, 7000)
def mixed_service_log(rng: Random, count: int) -> Needle:
    """JSON Lines with words of both languages; one has a key more."""
    records = [
        {"time": iso(n), "level": "INFO", "msg": f"任务{n}完成", "worker": f"工人{rng.randrange(9)}"}
        for n in range(count)
    ]
    records[spot(rng, count, "last")]["error"] = "磁盘只读,请找值班的阿桂"
    return Needle(text([json.dumps(each) for each in records]), "请找值班的阿桂")
