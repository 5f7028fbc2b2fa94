"""Labels: `"condition": …`, `deadline_days: 7`, 例外：…, or a line `Exceptions:` above a list.

What follows one is a fact of its kind.
"""

from __future__ import annotations

import re

__all__ = ["LABELS", "labelled"]

LABELS: dict[str, str] = {
    "condition": "condition",
    "conditions": "condition",
    "prerequisite": "condition",
    "prerequisites": "condition",
    "exception": "exception",
    "exceptions": "exception",
    "exclusion": "exception",
    "exclusions": "exception",
    "exclude": "exception",
    "excludes": "exception",
    "excluded": "exception",
    "deadline": "deadline",
    "deadlines": "deadline",
    "due": "deadline",
    "expires": "deadline",
    "expiry": "deadline",
    "prohibited": "negation",
    "forbidden": "negation",
    "promise": "promise",
    "promises": "promise",
    "commitment": "promise",
    "commitments": "promise",
    "guarantee": "promise",
    "条件": "condition",
    "前提": "condition",
    "例外": "exception",
    "除外": "exception",
    "期限": "deadline",
    "时限": "deadline",
    "截止": "deadline",
    "禁止": "negation",
    "承诺": "promise",
}
"""The words that are one, and the kind of what they label."""
_COLON = re.compile(r"[\w-]{0,20}[\"'*]{0,3}[ \t]{0,3}[:=：][ \t]{0,3}")
_VALUE = re.compile(r"\"([^\"\n]{1,120})\"|([^\s\"{\[,}][^\n\"{},，]{0,120})")
_ITEM = re.compile(r"\n[ \t]{0,8}[-*•] ?\[?[ \"']?([^\n]{1,120})")
_ITEMS_MAX = 20
_LEAD = re.compile(
    r"(?:\A|[\n{,\[|])[ \t]{0,8}(?:[-*#>\"'`]{0,3}[ \t]?){0,2}(?:[a-z]{1,12}[ _-])?[\u4e00-\u9fff]{0,6}\Z"
)
_LEAD_MAX = 36
_TRAIL = " \t\r.。;；\"',"


def labelled(lower: str, start: int, end: int) -> list[tuple[str, int, int]]:
    """The facts that the word from `start` to `end` labels: kind and span; none if it is no label."""
    colon = _COLON.match(lower, end)
    if colon is None or _LEAD.search(lower, max(0, start - _LEAD_MAX), start) is None:
        return []
    kind = LABELS[lower[start:end]]
    found = _VALUE.match(lower, colon.end())
    if found is not None:
        begin, until = found.span(found.lastindex or 0)
        until -= len(lower[begin:until]) - len(lower[begin:until].rstrip(_TRAIL))
        return [(kind, start if kind == "deadline" else begin, until)] if begin < until else []
    items: list[tuple[str, int, int]] = []
    at = colon.end()
    while len(items) < _ITEMS_MAX and (item := _ITEM.match(lower, at)) is not None:
        begin, at = item.span(1)
        until = at - len(item[1]) + len(item[1].rstrip(_TRAIL))
        if begin < until:
            items.append((kind, begin, until))
    return items
