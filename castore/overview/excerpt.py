"""Of an entry that stands apart, the part that is odd, with what explains it.

Laws: an excerpt is one line, at most `bytes_max` of UTF-8, and no character of it is cut. A short entry is
shown whole; of a long one the odd fields come first, then its words for people, then the rest. Of a long
string what none of the others says is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from castore.overview.texts import SEVERE, novel_words
from castore.overview.words import clip, plain, visible

if TYPE_CHECKING:
    from castore.overview.pools import Pool

__all__ = ["Odd", "compact", "excerpt_of", "outline", "plain"]

_FIELD_BYTES = 90
_ODD_BYTES = 200
_LEAVES_MAX = 400
_OUTLINE_DEPTH = 3
_OUTLINE_MEMBERS = 24
_WINDOW_BEFORE = 40
_AS_IT_IS = 80
_OTHERS = 60
_OTHERS_CHARACTERS = 4_000
_SEARCHED_CHARACTERS = 200_000
_COMPACT_BYTES_MAX = 4_000
_TELLING = re.compile(
    r"(?i)note|message|msg|error|reason|detail|comment|desc|text|summary|body|title|cause|warn|alert|status|level"
)


@dataclass(slots=True)
class Odd:
    """A value that stands apart: which, how surprising, in what way, and in words."""

    pool: Pool
    index: int
    bits: float
    what: str
    reason: str

    @property
    def value(self) -> Any:
        return self.pool.values[self.index]


def excerpt_of(pool: Pool, index: int, stop: int, odd: list[Odd], bytes_max: int) -> str:
    """Of the entries of `pool` from `index` on, before `stop`."""
    if pool.table is not None:
        return _lines(pool, index, stop, odd, bytes_max)
    value = pool.values[index]
    for child in pool.children:
        if (
            child.step.value == "read"
            and child.owners is not None
            and any(each.pool is not pool for each in odd)
        ):
            value = next((child.values[at] for at, owner in enumerate(child.owners) if owner == index), value)
    if isinstance(value, str):
        return _window(value, pool, index, bytes_max, is_quoted=True)
    whole = compact(value)
    if whole is not None and len(whole.encode("utf-8", "backslashreplace")) <= bytes_max // 2:
        return visible(whole)
    return _fields(value, pool, index, odd, bytes_max)


def compact(value: Any) -> str | None:
    """The value as JSON without white space; None if it is long."""
    if isinstance(value, str) and len(value) > _COMPACT_BYTES_MAX:
        return None
    if isinstance(value, list | dict) and _size(value, 2_000) > _COMPACT_BYTES_MAX:
        return None
    import json

    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError):  # A number of over 4,300 digits; nested too deep.
        return None


def _size(value: Any, most: int) -> int:
    """About how many bytes it has, as far as `most` values tell."""
    size, seen, left = 0, 0, [value]
    while left and seen < most and size <= _COMPACT_BYTES_MAX:
        each = left.pop()
        seen += 1
        if isinstance(each, dict):
            size += sum(map(len, each)) + 4 * len(each)
            left += each.values()
        elif isinstance(each, list):
            size += len(each)
            left += each
        else:
            size += len(each) + 2 if isinstance(each, str) else 4
    return size if seen < most else _COMPACT_BYTES_MAX + 1


# --- Lines -----------------------------------------------------------------------------------------


def _lines(pool: Pool, index: int, stop: int, odd: list[Odd], bytes_max: int) -> str:
    assert pool.table is not None
    table = pool.table
    first, after = table.lines[index], table.end(stop - 1)
    if after == first + 1 or table.format in ("csv", "tsv"):
        text = "\n".join(table.texts[first:after])
        if len(text) > bytes_max // 2 and isinstance(pool.values[index], dict | list):
            return _fields(pool.values[index], pool, index, odd, bytes_max)
        return _window(text, pool, index, bytes_max)
    block = [text.strip() for text in table.texts[first:after] if text.strip()]
    whole = " ⏎ ".join(block)
    if len(whole.encode("utf-8", "backslashreplace")) <= bytes_max:
        return plain(whole)
    # Of a long block its first line, those of alarm, and its last: where a trace says what it is of.
    telling = [text for text in block[1:-1] if SEVERE.search(text[:2_000])][:2]
    chosen = [block[0], *telling, block[-1]]
    share = bytes_max // len(chosen) - 5
    return " … ".join(clip(plain(text), share) for text in chosen)


# --- Fields ----------------------------------------------------------------------------------------


def _fields(value: Any, pool: Pool, index: int, odd: list[Odd], bytes_max: int) -> str:
    """`status 500, note "upstream reset", …`: odd ones first, then those beside them."""
    parts: list[str] = []
    used = 0
    shown: set[str] = set()
    for each in odd:
        path = _below(pool, index, each)
        if path in shown or not path:
            continue
        shown.add(path)
        inner = each.value
        text = (
            _window(inner, each.pool, each.index, _ODD_BYTES, is_quoted=True)
            if isinstance(inner, str)
            else _short(inner, _ODD_BYTES)
        )
        used += _add(parts, f"{path}: {text}", bytes_max - used)
    leaves = [(path, leaf) for path, leaf in _leaves(value) if path not in shown]
    near = {path.rpartition(".")[0] for path in shown}
    leaves.sort(key=lambda pair: (pair[0].rpartition(".")[0] not in near, *_rank(*pair)))
    for path, leaf in leaves:
        if used > bytes_max - 16:
            break
        used += _add(parts, f"{path}: {_short(leaf, _FIELD_BYTES)}", bytes_max - used)
    return clip(", ".join(parts), bytes_max)


def _add(parts: list[str], text: str, room: int) -> int:
    size = len(text.encode("utf-8", "backslashreplace")) + 2
    if size > room and parts:
        text = clip(text, max(0, room - 2))
        size = room
        if len(text) < 8:
            return size
    parts.append(text)
    return size


def _rank(path: str, leaf: Any) -> tuple[int, int]:
    """Words for people first, then other strings, then numbers; what is empty last."""
    if leaf in (None, "", [], {}):
        return (4, 0)
    name = path.rpartition(".")[2]
    if isinstance(leaf, str):
        return (0 if _TELLING.search(name) else 1 if " " in leaf else 2, 0)
    return (2, 1) if name.lower().endswith("id") else (3, 0)


def _leaves(value: Any, path: str = "", most: int = _LEAVES_MAX) -> Iterator[tuple[str, Any]]:
    left: list[tuple[str, Any]] = [(path, value)]
    seen = 0
    while left and seen < most:
        path, each = left.pop()
        seen += 1
        if isinstance(each, dict) and each:
            members = list(each.items())[:most]
            left += [(f"{path}.{name}" if path else name, inner) for name, inner in reversed(members)]
        elif isinstance(each, list) and each:
            left += [(f"{path}[{at}]", inner) for at, inner in reversed(list(enumerate(each[:most])))]
        else:
            yield path, each


def _below(pool: Pool, index: int, odd: Odd) -> str:
    """The path of an odd value from its entry on."""
    steps = odd.pool.way(odd.index)[len(pool.way(index)) :]
    path = ""
    for step, name in steps:
        if step.value in ("member", "entry"):
            path += f".{name}" if path else str(name)
        elif step.value == "column":
            path += f".{odd.pool.name}" if path else odd.pool.name
        elif step.value in ("item", "line"):
            path += f"[{name}]"
    return path


def outline(value: dict[str, Any], bytes_max: int, depth: int = 0) -> str:
    """The members in one line, of long ones only how much they hold. What speaks to people comes before the
    rest where not all fit."""
    members = [
        (name, _member(name, inner, bytes_max, depth)) for name, inner in list(value.items())[:_LEAVES_MAX]
    ]
    order = sorted(range(len(members)), key=lambda at: (_TELLING.search(members[at][0]) is None, at))
    chosen: set[int] = set()
    room = bytes_max - 12
    for at in order:
        size = len(members[at][1].encode("utf-8", "backslashreplace")) + 1
        if size <= room:
            chosen.add(at)
            room -= size
    text = ",".join(text for at, (_, text) in enumerate(members) if at in chosen)
    left = len(value) - len(chosen)
    return "{" + text + (f",…{left} more" if left else "") + "}"


def _member(name: str, value: Any, bytes_max: int, depth: int) -> str:
    label = f'"{clip(plain(name), 40)}":'
    whole = compact(value)
    if whole is not None and len(whole) <= _FIELD_BYTES:
        return label + plain(whole)
    if isinstance(value, dict) and depth < _OUTLINE_DEPTH and len(value) <= _OUTLINE_MEMBERS:
        return label + outline(value, max(40, bytes_max // 2), depth + 1)
    if isinstance(value, list | dict):
        return label + (
            f"[{len(value):,} items]" if isinstance(value, list) else f"{{{len(value):,} members}}"
        )
    return label + (
        clip(plain(whole), _FIELD_BYTES)
        if whole is not None
        else f"({len(value):,} characters)"
        if isinstance(value, str)
        else "(a huge number)"
    )


def _short(value: Any, bytes_max: int) -> str:
    text = compact(value)
    if text is None:
        if isinstance(value, str):
            text = '"' + value[:bytes_max] + '…"'
        elif isinstance(value, list | dict):
            text = f"[{len(value):,} items]" if isinstance(value, list) else f"{{{len(value):,} members}}"
        else:
            text = "a huge number"
    return clip(visible(text), bytes_max)  # As JSON it is on one line, and each blank in it counts.


# --- Windows ---------------------------------------------------------------------------------------


def _window(text: str, pool: Pool, index: int, bytes_max: int, *, is_quoted: bool = False) -> str:
    """`text` in one line, or what is odd in it: where most words are that others have not."""
    text = text[:_SEARCHED_CHARACTERS]
    if is_quoted and len(text) <= _AS_IT_IS:
        return f'"{clip(visible(text), bytes_max - 2)}"'  # A blank at its end may be what is odd.
    flat = plain(text)
    if len(flat.encode("utf-8", "backslashreplace")) <= bytes_max - 2:
        return f'"{flat}"' if is_quoted else flat
    at = _novel_at(flat, pool, index)
    if at <= _WINDOW_BEFORE:
        return clip(flat, bytes_max)
    head = clip(flat[: _WINDOW_BEFORE // 2].rstrip(), 24)
    rest = bytes_max - len(head.encode("utf-8", "backslashreplace")) - 3
    return f"{head}…{clip(flat[max(0, at - 12) :], rest)}"


def _novel_at(flat: str, pool: Pool, index: int) -> int:
    """Where the part begins that has the most words which the others have not."""
    values = pool.values
    step = max(1, len(values) // _OTHERS)
    chosen = {*range(0, len(values), step), *range(max(0, index - 5), min(len(values), index + 6))} - {index}
    texts = pool.table.texts if pool.table is not None and len(pool.table.texts) == len(values) else values
    others = [each[:_OTHERS_CHARACTERS] for at in sorted(chosen) if isinstance(each := texts[at], str)]
    if not others:
        return _alarm_at(flat)
    novel = novel_words(flat, others)
    # Numbers are new in every entry; a word says more.
    words = [word for word in novel if not any(c.isdigit() for c in word)] or novel
    if not words or len(words) > 400:
        return _alarm_at(flat)
    places: list[int] = []
    at = 0
    for word in words:
        at = flat.find(word, at)
        if at < 0:
            return _alarm_at(flat)
        places.append(at)
        at += len(word)
    best, count, stop = places[0], 0, 0
    for begin, place in enumerate(places):
        while stop < len(places) and places[stop] < place + 120:
            stop += 1
        if stop - begin > count:
            best, count = place, stop - begin
    return best


def _alarm_at(flat: str) -> int:
    found = SEVERE.search(flat)
    return found.start() if found else 0
