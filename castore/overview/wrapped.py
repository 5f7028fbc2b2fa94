"""JSON that stands in a text: after a line of words, in a fence, in a call, cut off before its end, one value
after the other; and lists as Python prints them.

Laws: every row knows which characters it is, and they read as what the row says. What is decoded has at most
_WORK times the characters of the text, so the time grows with the text. What is cut off is left out, and all
before it is there. Rows are told of only where they are most of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from json import JSONDecodeError, JSONDecoder
from typing import Any

from castore.overview.tables import Table

__all__ = ["spanned", "wrapped_rows"]

Span = tuple[int, int]
Found = tuple[list[Any], list[Span]]

ROWS_MIN = 6
_WORK = 12
_TRIES_MAX = 24
_PRINTED_TRIES_MAX = 3
_SHARE_MIN = 0.5
_DEPTH_MAX = 40
_WIDTH_MAX = 1_000
_PYTHON_CHARACTERS_MAX = 2_000_000
_OPENING = re.compile(r"[\[{(](?=[ \t\r\n]*+[\[{(\"'\d\-tfnTFN])")
_SPACE = re.compile(r"[ \t\r\n]*+")
_BETWEEN = re.compile(r"[ \t\r\n,;]*+")
_MARKS = re.compile(r"'(?:[^'\\\n]|\\.)*+'|\"(?:[^\"\\\n]|\\.)*+\"|[\[\]{}(),]")


def wrapped_rows(text: str) -> Table | None:
    """The rows of JSON, or of a printed list, that are most of this text; None if there are none."""
    reader = _Reader(text)
    at = tries = printed = 0
    while tries < _TRIES_MAX and (opening := _OPENING.search(text, at)) is not None:
        at = opening.start()
        if at > (1 - _SHARE_MIN) * len(text) or reader.left <= 0:
            return None
        tries += 1
        found, after = reader.rows_at(at)
        if found is None and printed < _PRINTED_TRIES_MAX and _seems_python(text, at):
            printed += 1
            found = _python_rows(text, at)
        if found is not None and found[1][-1][1] - found[1][0][0] >= _SHARE_MIN * len(text):
            return spanned("json", text, *found)
        at = max(after, at + 1)
    return None


def spanned(form: str, text: str, values: Sequence[Any], spans: Sequence[Span]) -> Table:
    """A table whose entries are these characters of the text, and what stands between a few of them."""
    values, spans = _with_gaps(text, values, spans)
    pieces = [text[first:after] for first, after in spans]
    return Table(form, values, range(len(spans)), pieces, spans=spans)


def _with_gaps(
    text: str, values: Sequence[Any], spans: Sequence[Span]
) -> tuple[Sequence[Any], Sequence[Span]]:
    """With a comment, or another word, between two rows as an entry of its own, where few have one."""
    gaps: list[Span] = []
    for (_, end), (after, _) in pairwise(spans):
        first = _after(_BETWEEN, text, end)
        if first < after:
            gaps.append((first, first + len(text[first:after].rstrip())))
    if not 0 < len(gaps) <= max(1, len(spans) // 16):
        return values, spans
    said = dict(zip(spans, values, strict=True)) | {gap: text[gap[0] : gap[1]] for gap in gaps}
    ordered = sorted(said)
    return [said[span] for span in ordered], ordered


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


# --- JSON --------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Reader:
    """left: how many characters may still be decoded."""

    text: str
    left: int = 0

    def __post_init__(self) -> None:
        self.left = _WORK * len(self.text) + 1_000

    def rows_at(self, at: int) -> tuple[Found | None, int]:
        """The rows of the JSON that begins here, and where to go on if these are not the ones."""
        if self.text[at] == "[":
            values, spans, _ = self._items(at)
            if len(values) >= ROWS_MIN and isinstance(values[0], dict | list):
                return (values, spans), spans[-1][1]
        decoded = self._decode(at)
        if decoded is None:
            return self._cut_off(at), at + 1
        value, end = decoded
        return self._in_sequence(at, value, end) or self._within(at, value), end

    def _decode(self, at: int) -> tuple[Any, int] | None:
        """A value and its end; None if none can be read here, or enough was read."""
        if self.left <= 0:
            return None
        try:
            value, end = _DECODER.raw_decode(self.text, at)
        except JSONDecodeError as error:
            # Of a string without an end the place is its beginning.
            is_string = error.msg.startswith("Unterminated")
            self.left -= (len(self.text) if is_string else error.pos) - at + 8
            return None
        except (ValueError, RecursionError):
            self.left -= len(self.text) - at + 8
            return None
        self.left -= end - at
        return value, end

    def _in_sequence(self, at: int, value: Any, end: int) -> Found | None:
        """Values one after the other."""
        values, spans = [value], [(at, end)]
        while (at := _after(_BETWEEN, self.text, end)) < len(self.text) and self.text[at] in "{[":
            decoded = self._decode(at)
            if decoded is None:
                break
            value, end = decoded
            values.append(value)
            spans.append((at, end))
        return (values, spans) if len(values) >= ROWS_MIN else None

    def _within(self, at: int, value: Any) -> Found | None:
        """The items of the longest array in this value."""
        steps = _longest(value)
        if steps is None:
            return None
        for step in steps:
            place = self._place_of(at, step)
            if place is None:
                return None
            at = place
        values, spans, _ = self._items(at)
        return (values, spans) if len(values) >= ROWS_MIN else None

    def _place_of(self, at: int, step: str | int) -> int | None:
        """Where the member, or the item, of the value that begins here has its own beginning."""
        if isinstance(step, int):
            spans = self._items(at, step + 1)[1]
            return spans[step][0] if step < len(spans) else None
        places = [place for name, place, _ in self._members(at) if name == step]
        return places[-1] if places else None  # Of several of one name the last counts.

    def _items(self, at: int, most: int | None = None) -> tuple[list[Any], list[Span], int]:
        """The items of the array that begins here, as far as they can be read, and where the next begins."""
        text = self.text
        values: list[Any] = []
        spans: list[Span] = []
        at = _after(_SPACE, text, at + 1)
        while (most is None or len(values) < most) and at < len(text) and text[at] != "]":
            decoded = self._decode(at)
            if decoded is None:
                break
            values.append(decoded[0])
            spans.append((at, decoded[1]))
            at = _after(_BETWEEN, text, decoded[1])
        return values, spans, at

    def _members(self, at: int) -> Iterator[tuple[str, int, int]]:
        """The members of the object that begins here: name, where its value begins, where it ends; -1 of the
        one that can't be read whole, which is the last."""
        at = _after(_SPACE, self.text, at + 1)
        while self.text[at : at + 1] == '"' and (name := self._decode(at)) is not None:
            at = _after(_SPACE, self.text, name[1])
            if self.text[at : at + 1] != ":":
                return
            at = _after(_SPACE, self.text, at + 1)
            value = self._decode(at)
            yield name[0], at, -1 if value is None else value[1]
            if value is None:
                return
            at = _after(_BETWEEN, self.text, value[1])

    def _cut_off(self, at: int) -> Found | None:
        """Of JSON without its end: the rows that are whole, of the outermost array that has so many."""
        for _ in range(_DEPTH_MAX):
            opening = self.text[at : at + 1]
            if opening == "[":
                values, spans, at = self._items(at)
                if len(values) >= ROWS_MIN:
                    return values, spans
            elif opening == "{":
                members = list(self._members(at))
                if not members or members[-1][2] >= 0:
                    return None
                at = members[-1][1]
            else:
                return None
        return None


_DECODER = JSONDecoder(parse_constant=_refused, strict=False)


def _longest(value: Any) -> tuple[str | int, ...] | None:
    """The way to the array that has the most items; arrays of rows come before others, outer before inner."""
    best = 0
    way: tuple[str | int, ...] | None = None
    level: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    for _ in range(_DEPTH_MAX):
        below: list[tuple[tuple[str | int, ...], Any]] = []
        for steps, each in level:
            if isinstance(each, list) and len(each) >= ROWS_MIN:
                weight = len(each) * (8 if isinstance(each[0], dict | list) else 1)
                if weight > 8 * best or not best:
                    best, way = weight, steps
            if len(below) < _WIDTH_MAX:
                inner = list(each.items() if isinstance(each, dict) else enumerate(each))[:_WIDTH_MAX]
                below += [((*steps, name), v) for name, v in inner if isinstance(v, dict | list)]
        level = below
    return way


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found is not None else at


# --- As Python prints it -----------------------------------------------------------------------------


def _seems_python(text: str, at: int) -> bool:
    head = text[at : at + 400]
    return "'" in head and ("'," in head or "':" in head) and len(text) <= _PYTHON_CHARACTERS_MAX


def _python_rows(text: str, at: int) -> Found | None:
    """The items of the longest list, each read by itself; what is no literal stays text."""
    best: list[Span] = []
    begins: list[int] = []
    inside: list[list[Span]] = []
    for mark in _MARKS.finditer(text, at):
        kind = mark[0]
        if kind in ("[", "{", "("):
            begins.append(mark.end())
            inside.append([])
            continue
        if kind not in ("]", "}", ")", ","):
            continue
        first, after = _after(_SPACE, text, begins[-1]), mark.start()
        if first < after:
            inside[-1].append((first, after))
        begins[-1] = mark.end()
        if kind == ",":
            continue
        begins.pop()
        items = inside.pop()
        if len(items) > len(best) and len(items) >= ROWS_MIN and text[items[0][0]] in "[{(":
            best = items
        if not begins:
            break
    if begins and inside and len(inside[0]) > len(best) and len(inside[0]) >= ROWS_MIN:
        best = inside[0]  # It was cut off.
    return ([_literal(text[first:after]) for first, after in best], best) if best else None


def _literal(text: str) -> Any:
    """What a literal of Python says, as JSON would have it; other text stays as it is."""
    import ast
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Of escapes that are none.
            return _as_json(ast.literal_eval(text))
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return text


def _as_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {name if isinstance(name, str) else str(name): _as_json(v) for name, v in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(v) for v in value]
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)
