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
    r"|不对|没(?:问题|事|关系)|未来|从未|别(?:人|的|处|名)"
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
                yield _named(held)
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
            yield _named(held)
        start, end = _clause(lower, at, match.end(), until)
        if kind == "negation" and not is_han_rule(lower[start:at], lower[at:end]):
            kind = "weak"
        if kind == "promise" and end - match.end() < 3:
            held = None
            continue
        held, until = (kind, start, end), end
    if held is not None:
        yield _named(held)


def _named(held: tuple[str, int, int]) -> tuple[str, int, int]:
    return ("condition", held[1], held[2]) if held[0] == "state" else held


def _is_meant(lower: str, match: re.Match[str], kind: str | None) -> bool:
    cue, at = match[0], match.start()
    if kind == "exception" and cue == "除":
        return _OUTSIDE.match(lower, at, at + 50) is not None
    if kind == "negation":
        return _NO_NEGATION.match(lower, at) is None and lower[max(0, at - 1) : at + 1] not in (
            "要不",
            "是不",
            "能不",
            "绕不",
            "分不",
        )
    return True


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
