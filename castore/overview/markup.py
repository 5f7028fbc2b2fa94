"""Rows of markup: of XML and HTML the elements that stand at one path again and again.

Laws: a row has its attributes, the texts of its children by their names, and their rows below it; it knows
which characters it is. Markup need not be well formed: what is not closed ends where its parent does. A tag
is looked at once, so the time grows with the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from typing import Any

from castore.overview.tables import Table, number_of
from castore.overview.wrapped import ROWS_MIN, spanned

__all__ = ["markup_rows"]

_CHARACTERS_MAX = 16_000_000
_PREAMBLE_MAX = 400
_DEPTH_MAX = 40
_SHARE_MIN = 0.5
_INNER_SHARE = 8
_TEXTS_MIN = 12
_TAG = re.compile(r"<(?:(/?)([A-Za-z_][\w:.-]{0,60})([^<>]{0,20000}+)>|!--|!\[CDATA\[)")
_ENDS = {"<!--": "-->", "<![CDATA[": "]]>"}
_ATTRIBUTE = re.compile(
    r"([\w:.-]{1,80})[ \t\r\n]{0,20}=[ \t\r\n]{0,20}(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'>]++))"
)
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]
)
_SAME_ENDS = frozenset(["li", "p", "td", "th", "tr", "dt", "dd", "option"])


@dataclass(slots=True)
class _Element:
    name: str
    path: str
    start: int
    attributes: str
    end: int = 0
    inner: int = 0
    is_whole: bool = False
    children: list[_Element] = field(default_factory=list)


def markup_rows(text: str) -> Table | None:
    """None if the text is no markup, or none of it stands there again and again."""
    first = text[:_PREAMBLE_MAX].find("<")
    if first < 0 or len(text) > _CHARACTERS_MAX or not re.match(r"[A-Za-z_!?]", text[first + 1 : first + 2]):
        return None
    by_path = _elements(text)
    whole = {path: [each for each in there if each.is_whole] for path, there in by_path.items()}
    if sum(map(len, whole.values())) * 10 < 7 * sum(map(len, by_path.values())):
        return None  # What is hardly ever closed is no markup: `<alice> hello`.
    rows = _rows(whole)
    if rows is None or rows[-1].end - rows[0].start < _SHARE_MIN * len(text):
        return None
    values = _with_numbers([_value(text, each) for each in rows])
    return spanned("markup", text, values, [(each.start, each.end) for each in rows])


def _elements(text: str) -> dict[str, list[_Element]]:
    """All elements by the path of names that leads there, in their order."""
    by_path: dict[str, list[_Element]] = {}
    open_: list[_Element] = [_Element("", "", 0, "")]
    for tag in _tags(text):
        name = tag[2]
        if tag[1]:
            _close(open_, name, tag.start(), tag.end())
            continue
        if open_[-1].name == name and name.lower() in _SAME_ENDS:
            _close(open_, name, tag.start(), tag.start())
        parent = open_[-1]
        element = _Element(name, f"{parent.path}/{name}", tag.start(), tag[3], tag.end(), tag.end())
        parent.children.append(element)
        by_path.setdefault(element.path, []).append(element)
        if tag[3].endswith("/") or name.lower() in _VOID:
            element.is_whole = True
        elif len(open_) < _DEPTH_MAX:
            open_.append(element)
    for element in open_[1:]:
        element.end = len(text)
    return by_path


def _tags(text: str) -> Iterator[re.Match[str]]:
    """Those that are in no comment and no quoted section."""
    at = 0
    endless: set[str] = set()
    while (tag := _TAG.search(text, at)) is not None:
        at = tag.end()
        if tag[2] is not None:
            yield tag
        elif tag[0] not in endless:
            end = text.find(_ENDS[tag[0]], at)
            if end < 0:
                endless.add(tag[0])
            else:
                at = end


def _close(open_: list[_Element], name: str, at: int, end: int) -> None:
    """What is open inside of the one that ends here ends, too; a tag that ends nothing is none."""
    for place in range(len(open_) - 1, 0, -1):
        if open_[place].name == name:
            for inner in open_[place + 1 :]:
                inner.end = at
            open_[place].end, open_[place].is_whole = end, True
            del open_[place:]
            return


def _rows(by_path: dict[str, list[_Element]]) -> list[_Element] | None:
    """Of the elements that hold something besides text the outermost that are many."""
    structured = {
        path: each
        for path, each in by_path.items()
        if len(each) >= ROWS_MIN and any(one.attributes.strip(" /") or one.children for one in each[:50])
    }
    if not structured:
        longest = max(by_path.values(), key=len, default=[])
        return longest if len(longest) >= _TEXTS_MIN else None
    most = max(map(len, structured.values()))
    many = [path for path, each in structured.items() if len(each) * _INNER_SHARE >= most]
    return structured[min(many, key=lambda path: path.count("/"))]


def _value(text: str, element: _Element, depth: int = 0) -> Any:
    """Of an element that holds only text the text."""
    row: dict[str, Any] = {}
    for found in _ATTRIBUTE.finditer(element.attributes):
        row[found[1]] = _scalar(found[2] or found[3] or found[4] or "")
    if not element.children or depth >= _DEPTH_MAX:
        said = _said(text, element.inner, element.end)
        if not row:
            return said
        if said != "":
            row["text"] = said
        return row
    names = Counter(child.name for child in element.children)
    for at, child in enumerate(element.children):
        value = _value(text, child, depth + 1)
        if names[child.name] == 1:
            row.setdefault(child.name, value)
        elif child.name in ("td", "th"):
            row[f"{child.name}{at}"] = value
        else:
            row.setdefault(child.name, []).append(value)
    return row


def _said(text: str, first: int, after: int) -> str:
    inside = text[first:after]
    closing = inside.rfind("</")
    inside = inside[:closing] if closing >= 0 else inside
    return _scalar(inside.replace("<![CDATA[", "").replace("]]>", "").strip())


def _scalar(text: str) -> str:
    return unescape(text) if "&" in text else text


def _with_numbers(rows: list[Any]) -> list[Any]:
    """What are numbers in nearly all rows as numbers: a name may have only digits by chance."""
    seen: Counter[tuple[str, ...]] = Counter()
    numbers: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        for path, said in _leaves(row):
            seen[path] += 1
            numbers[path] += _is_number(said)
    chosen = {path for path, count in numbers.items() if count * 10 >= 9 * seen[path]}
    return [_converted(row, chosen, ()) for row in rows] if chosen else rows


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, (*path, name))
    else:
        for inner in value:
            yield from _leaves(inner, (*path, ""))


def _converted(value: Any, chosen: set[tuple[str, ...]], path: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        return number_of(value) if path in chosen and _is_number(value) else value
    if isinstance(value, dict):
        return {name: _converted(inner, chosen, (*path, name)) for name, inner in value.items()}
    return [_converted(inner, chosen, (*path, "")) for inner in value]


def _is_number(text: str) -> bool:
    return not isinstance(number_of(text), str) and (text[:1] != "0" or text[1:2] in ("", "."))
