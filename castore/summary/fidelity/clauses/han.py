"""Clauses of Chinese text: what stands between two marks, by the cues in it; deadlines by what stands before
内 and 前.

Marks are those of the plain forms: a full-width comma is a comma.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from castore.summary.fidelity.clauses.cues import HAN_CUE, HAN_DATE_BEHIND, HAN_FIRST, HAN_PERIOD_BEHIND
from castore.summary.fidelity.clauses.labels import LABELS, labelled
from castore.summary.fidelity.clauses.rules import is_han_rule
from castore.summary.fidelity.clauses.ruling import is_han_ruling

__all__ = ["han_clauses"]

_REACH = 60
"""Characters before and behind a cue, at most, that belong to its clause."""
_BREAK = re.compile(
    r"[，。；！？：;!?“”\"（）()\[\]\n|]|,(?!\d)|:(?![/\d])|\.(?=\s)|(?<=\s)[-*•](?=\s)|\d+[.、)](?=\s)|："
)
_RANK = {"exception": 0, "condition": 1, "negation": 2, "promise": 3, "weak": 3, "state": 4}
_OUTSIDE = re.compile(r"[^,;!?，。；！？\n]{1,40}?外")
_DATED = re.compile(r"[于在]?\s*[\d年月日号点时周星期:./-]+(?:[一二三四五六日天])?(?:之前|以前|前|内)?")
_EVENT = re.compile(r"[\u4e00-\u9fff]{2,8}(?:之|以)?\Z")
_LEAD = re.compile(
    r"[ \t*•、`-]*(?:第[一二三四五六七八九十百\d]{1,5}[条章款项节]|[一二三四五六七八九十]{1,3}、"
    r"|\d{1,2}、)?[ \t]*(?:所以|因此|另外|此外)?"
)
_PERIOD_AHEAD = re.compile(
    r"\s*(?:至少)?\s*[\d.一二两三四五六七八九十百]+\s*(?:个?(?:工作日|自然日|小时|分钟|星期|月)|[天日周秒])"
)
_BOUND = re.compile(r"须|应|必须|请|不得|禁止|将|会|要|务必|保证|承诺|需|不能")
_BEFORE_ELSE = "目当以之先从提空面眼向往跟门朝史"
_NO_NEGATION = re.compile(
    r"不(?:客气|好意思|见|错|久|断|妨|愧|用谢|少|止|时|定期|由(?:得|自|分说)|得不|可或缺|禁)|不得(?:[,;。!?\s]|\Z)"
    r"|不对(?=[,;。!?的劲头吗\s]|\Z)|(?<=分)不[清出开]|没(?:问题|事|关系)|未来|从未|别(?:人|的|处|名)"
)


def han_clauses(lower: str, taken: bytearray) -> Iterator[tuple[str, int, int]]:
    """Kind and span of each."""
    held: tuple[str, int, int] | None = None
    until = 0
    passed = 0
    for first in HAN_FIRST.finditer(lower):
        at = first.start()
        if at < passed:
            continue
        match = HAN_CUE.match(lower, at)
        if match is None:
            continue
        passed = match.end()
        if match[0] in LABELS and at >= until and (facts := labelled(lower, at, passed)):
            if held is not None:
                yield _named(lower, held)
                held = None
            yield from facts
            until = passed = facts[-1][2]
            continue
        if taken[at]:
            continue
        kind = match.lastgroup or ""
        if kind == "deadline":
            span = _deadline(lower, at, match.end())
            if span is not None:
                yield "deadline", *span
            continue
        if not _is_meant(lower, match, kind):
            continue
        if at < until and held is not None:
            if kind == "negation" and not is_han_rule(lower[held[1] : at], lower[at : at + _REACH]):
                continue
            if _RANK[kind] < _RANK[held[0]]:
                held = (kind, held[1], held[2])
            continue
        if held is not None:
            yield _named(lower, held)
        start, end = _clause(lower, at, match.end(), until)
        if kind == "negation" and not is_han_rule(lower[start:at], lower[at:end]):
            kind = "weak"
        if kind == "promise" and end - match.end() < 3:
            held = None
            continue
        held, until = (kind, start, end), end
    if held is not None:
        yield _named(lower, held)


def _named(lower: str, held: tuple[str, int, int]) -> tuple[str, int, int]:
    kind, start, end = held
    if kind == "state":
        kind = "condition"
    elif kind == "condition" and not is_han_ruling(lower[start:end], _beside(lower, start, end)):
        kind = "weak condition"
    return kind, start, end


def _beside(lower: str, start: int, end: int) -> str:
    """What the sentence says beside a clause."""
    low, high = max(0, start - 2 * _REACH), min(len(lower), end + 2 * _REACH)
    for mark in "。!！?？\n":
        low = max(low, lower.rfind(mark, low, start) + 1)
        high = found if (found := lower.find(mark, end, high)) >= 0 else high
    return lower[low:start] + " " + lower[end:high]


def _is_meant(lower: str, match: re.Match[str], kind: str | None) -> bool:
    cue, at = match[0], match.start()
    if kind == "exception":
        if cue == "例外" and lower.endswith(("不", "无一"), 0, at):
            return False
        if _BESIDES.match(lower, at):
            return False
        return cue != "除" or _OUTSIDE.match(lower, at, at + 50) is not None
    if kind == "negation":
        return _NO_NEGATION.match(lower, at) is None and lower[max(0, at - 1) : at + 1] not in (
            "要不",
            "是不",
            "能不",
            "绕不",
        )
    if kind == "condition":
        if _KIN.search(lower, max(0, at - 30), at + 40):
            return False
        if cue in _BY_WHOM and _WHO.search(lower, max(0, at - 4), at):
            return False
        return _MIGHT_HAVE.match(lower, at) is None and (
            cue != "话" or _SPEECH.search(lower, max(0, at - 4), at) is None
        )
    if kind == "promise":
        start, end = _clause(lower, at, match.end(), max(0, at - _REACH))
        return _is_promise(cue, lower[start:at], lower[match.end() : end])
    return True


_BY_WHOM = ("只能", "只在", "只对", "才能", "才可", "情况下", "情形下")
_WHO = re.compile("(?:[我他她咱]们?|[这那]种|这样的|此)\\Z")
_KIN = re.compile("爷爷|奶奶|外婆|外公|姥姥|妈妈|爸爸|母亲|父亲|老伴|儿时|小时候|那时候")
"""Whose stories have no conditions."""
_BESIDES = re.compile(
    "除(?:此|了?(?:他|我|她|你|这|那|感谢|等待|祝福))|除了?[^,，。;；]{1,16}[,，]?(?:以外|之外|外)?[,，]?(?:还|也|又|更|没有?人|谁"
    "|什么[也都]|别无|剩下)"
)
"""What comes on top of something, and who alone is meant in a story."""
_MIGHT_HAVE = re.compile(
    "(?:如果|要是|如|若|假如|倘若)(?:不是(?!因)|当初|当时|当年|那[天时年晚]|早|时光|时间(?:可以|能)|有来生|有一天|你?问我"
    "|让我|我[是能再早没]|再给|没有[^,，。;；]{1,8}(?:帮|照顾|支持|陪|努力|坚持|鼓励|付出|[,，]就没有)"
    "|没有(?:你|您|他|她)们?[,，]|还有机会|能重来|可以重来)|要不是|只要(?:心|我|大家|人人|家里)"
    "|当(?:我|他|她|年|初|晚|时的)|一旦错过|只有(?:我|他|她|你|妈|爸|经历|亲[历眼身]|自己)"
    "|在?[^,，。]{0,6}不知情的情况下"
    "|(?:如果|要是|若)(?:[你您]们?)?(?:来[,，]|也?喜欢|愿意|也?想[,，]|有空|路过|觉得|碰巧|有兴趣|说有|细看|仔细)"
    "|只要[你您]们?来|一旦爱上|如需帮助|仅供参考|只能(?:等[,，。;]|苦笑|算|靠|说|眼)|(?:如果|假如|要是)[^,，。]{0,12}就好了"
    "|(?:如果|假如)(?:给我|大家都)|只要功夫|只有失去|只有(?=[0-9一二两三四五六七八九十几百半])|限于(?:此|篇幅|水平|能力)"
    "|才能(?=出|和|、|[,，。]|的|成功|明白|懂|体会|走)"
)
"""A condition of what might have been, or that only the teller makes."""
_SPEECH = re.compile(
    "(?:[说讲问听写他她你我您师亲爷奶妈爸婆公里下句人]|留下|方便|有空|愿意|感兴趣|可能)的\\Z|想[吃看来喝玩学]的\\Z"
)
_VAGUE = re.compile(
    "(?:您|你|你们|大家|顾客)?(?:都|都会|会|能)?(?:满意|喜欢|好吃|新鲜|不|没|让|吃|看|爱|笑|后悔|想)|永远|一直|想念|记得|记住"
    "|怀念|努力|选择|迎来|面临|成为|变得|看到|遇到|想起|发现|觉得|怕|好好|珍惜|在心里|陪|更加|有所|越来越|做得更|变得|走向|一起走"
)
_HAN_DEED = re.compile(
    "退|换|发|送|寄|付|赔|补|修|交|提供|提前|安排|通知|联系|回复|答复|回电|回访|更新|上线|完成|提交|公布|处理|跟进|免费"
    "|承担|报销|归还|合并|删|改|新增|增|派|开放|举办|组织|支付|减免|扣|调整|打电话|拨|转|协助|帮|接|开具|开票|检|测|审|恢复"
    "|部署|整理|翻译|签|重做|赠|捐|配|留|给|为|加|装|培训|采购|邀请|代|推送|清洗|粉刷|建立|保障|优先|延长|运|取|搬|拍|写"
    "|做|出具|上门|解决|告知|汇报|同步|推|撤|关闭|升级|迁移|备份|讲解|指导|复诊|返|抵|降|负责|追加|起草|核|排查|分享|上传"
)


def _is_promise(cue: str, before: str, ahead: str) -> bool:
    """Whether somebody says what they will do, and not only that something will be, or how they feel."""
    if cue == "确保":
        return before.endswith(("将", "会", "负责", "承诺", "我们"))
    if cue in ("承诺", "答应", "负责"):
        return True
    if _VAGUE.match(ahead):
        return False
    return cue == "保证" or _HAN_DEED.search(ahead) is not None


def _clause(lower: str, at: int, end: int, floor: int) -> tuple[int, int]:
    low = max(floor, at - _REACH)
    start = low
    for found in _BREAK.finditer(lower, low, at):
        start = found.end()
    stop = _BREAK.search(lower, end, end + _REACH)
    end = stop.start() if stop else min(len(lower), end + _REACH)
    words = lower[start:end]
    lead = _LEAD.match(words)
    start += lead.end() if lead else 0
    return start, max(start + 1, end - (len(words) - len(words.rstrip())))


def _deadline(lower: str, at: int, end: int) -> tuple[int, int] | None:
    cue = lower[at:end]
    low = max(0, at - 24)
    before = lower[low:at]
    if cue == "内":
        found = HAN_PERIOD_BEHIND.search(before)
        return None if found is None else (low + found.start(), end)
    if cue == "前":
        if before.endswith("前"):
            return None
        return _before(lower, low, at)
    if cue == "为止":
        start, _ = _clause(lower, at, end, max(0, at - 24))
        return start, end
    _, stop = _clause(lower, at, end, at)
    if cue in ("有效期", "时限", "期限") and not re.search(r"\d|[一二三四五六七八九十]", lower[end:stop]):
        return None
    if cue in ("最迟", "最晚"):
        dated = _DATED.match(lower, end)
        return (at, dated.end()) if dated else (at, stop) if stop > end else None
    if cue == "提前":
        found = re.compile(
            r"\s*(?:至少)?\s*[\d.一二两三四五六七八九十百]+\s*(?:个\s*)?(?:个?(?:工作日|自然日|小时|分钟"
            r"|星期|月|季度)|[天日周年秒])"
        ).match(lower, end)
        stop = found.end() if found else stop
    return (at, stop) if stop > end else None


def _before(lower: str, low: int, at: int) -> tuple[int, int] | None:
    before = lower[low:at]
    if (ahead := _PERIOD_AHEAD.match(lower, at + 1)) is not None:
        start, _ = _clause(lower, at, at + 1, low)
        if at - start < 2:
            # 前两天: the days that have passed.
            return None
        held = max(start, lower.rfind("在", start, at) + 1, lower.rfind("于", start, at) + 1, at - 6)
        return held, ahead.end()
    found = HAN_DATE_BEHIND.search(before)
    if found is not None:
        return low + found.start() + len(found[0]) - len(found[0].lstrip()), at + 1
    bare = before.removesuffix("之").removesuffix("以")
    if (
        not bare
        or bare[-1] in _BEFORE_ELSE
        or lower[at + 1 : at + 2] in ("的", "端", "后", "往", "提", "台", "面", "者", "景", "沿", "缀")
    ):
        return None
    event = _EVENT.search(before)
    if event is None:
        return None
    start, end = _clause(lower, at, at + 1, max(0, at - 24))
    if not _BOUND.search(lower, start, min(len(lower), end + 10)) or start >= at:
        return None
    held = lower.find("在", start, at)
    return (held if held >= 0 else start), at + 1
