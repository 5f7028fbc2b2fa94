"""Previews: the edges of an object in a few words, for whoever reads the document.

Laws: a preview as written in the document (a JSON string, quotes included) is at most `bytes_max` long;
it is made from the object's bytes and `bytes_max` alone; it never changes what unfold gives.
An array shows its first and last item (`[{"id":1}, … 11998 more …, {"id":12000}]`), a text its first and
last line (`start … 810 more lines … done`), anything else its first and last bytes (`{"a": … ]}`). What is
whole within the limit is shown whole.
"""

from __future__ import annotations

import re

from castore.descriptor import Escape, Kind
from castore.document.strings import encode_text

__all__ = ["PREVIEW_BYTES_MIN", "count_in_preview", "line_count", "preview"]

PREVIEW_BYTES_MIN = 24
"""A shorter one says nothing and is left out."""

_PLAIN = " … "
_SPACE = " \t\r\n"
_MORE = re.compile(r"… ([0-9]+) more (?:lines )?…")


def line_count(data: bytes | memoryview) -> int:
    """Line feeds, plus one if the last byte is not one."""
    view = bytes(data) if isinstance(data, memoryview) else data
    return view.count(b"\n") + (0 if not view or view.endswith(b"\n") else 1)


def preview(
    data: bytes | memoryview,
    kind: Kind,
    bytes_max: int,
    *,
    items: int = 0,
    last_comma: int = -1,
    lines: int = 0,
) -> str | None:
    """The preview of an object's bytes, or None if nothing useful fits, or the object is binary.

    items, last_comma: of an array, the latter as an offset into `data`. lines: of a text.
    """
    if kind is Kind.BYTES or bytes_max < PREVIEW_BYTES_MIN:
        return None
    if len(data) <= bytes_max:
        whole = _decode_head(data, bytes_max)
        if _written(whole) + 2 <= bytes_max:
            return whole
    head, middle, tail = _edges(data, kind, items, last_comma, lines, bytes_max)
    if middle == _PLAIN:
        share = (bytes_max - 2 - _written(_PLAIN)) // 2
        return _fit(head, share, from_end=False) + _PLAIN + _fit(tail, share, from_end=True)
    budget = bytes_max - _written(middle) - 2
    if budget < 4:
        return None
    # Each side has half; what one does not need the other has.
    head_need, tail_need = _written(head), _written(tail)
    head_share = min(head_need, max((budget + 1) // 2, budget - tail_need))
    return _cut_head(head, head_need, head_share) + middle + _cut_tail(tail, tail_need, budget - head_share)


def count_in_preview(text: str, expected: int) -> int | None:
    """The count a preview gives, if it gives one and none that it gives is `expected`."""
    counts = [int(count) for count in _MORE.findall(text)]
    return counts[0] if counts and expected not in counts else None


def _edges(
    data: bytes | memoryview, kind: Kind, items: int, last_comma: int, lines: int, bytes_max: int
) -> tuple[str, str, str]:
    """What the preview has at its start, in its middle and at its end, before cutting."""
    if kind is Kind.ARRAY and items > 1:
        # The white space of a pretty-printed array says nothing.
        head = "[" + _first_item(_decode_head(data[1:last_comma], 2 * bytes_max).lstrip(_SPACE))
        tail = _decode_tail(data[last_comma + 1 : -1], 2 * bytes_max).strip(_SPACE) + "]"
        return head, f", … {items - 2} more …, " if items > 2 else ", ", tail
    if kind is Kind.TEXT and lines > 2:
        head = _decode_head(data, bytes_max).partition("\n")[0]
        body = data[:-1] if bytes(data[-1:]) == b"\n" else data
        tail = _decode_tail(body, bytes_max).rpartition("\n")[2]
        return head, f" … {lines - 2} more lines … ", tail
    return _decode_head(data, bytes_max), _PLAIN, _decode_tail(data, bytes_max)


def _first_item(head: str) -> str:
    """The first item, of the text from where it begins."""
    depth = 0
    is_inside = is_escaped = False
    for at, character in enumerate(head):
        if is_inside:
            if is_escaped:
                is_escaped = False
            elif character == "\\":
                is_escaped = True
            elif character == '"':
                is_inside = False
        elif character == '"':
            is_inside = True
        elif character in "[{":
            depth += 1
        elif character in "]}":
            depth -= 1
        elif character == "," and depth == 0:
            return head[:at].rstrip(_SPACE)
    return head.rstrip(_SPACE)


def _decode_head(data: bytes | memoryview, bytes_max: int) -> str:
    return bytes(data[:bytes_max]).decode("utf-8", "ignore")


def _decode_tail(data: bytes | memoryview, bytes_max: int) -> str:
    return bytes(data[-bytes_max:]).decode("utf-8", "ignore")


def _written(text: str) -> int:
    """Bytes of the text as a document has it, without the quotes."""
    return len(encode_text(text, Escape.MINIMAL)) - 2


def _cut_head(text: str, need: int, share: int) -> str:
    """As much of the start as is written in `share` bytes, `…` where something is left out."""
    if need <= share:
        return text
    return _fit(text, share - 3, from_end=False) + "…" if share >= 3 else ""


def _cut_tail(text: str, need: int, share: int) -> str:
    if need <= share:
        return text
    return "…" + _fit(text, share - 3, from_end=True) if share >= 3 else ""


def _fit(text: str, share: int, *, from_end: bool) -> str:
    if share <= 0:
        return ""
    kept = text[-share:] if from_end else text[:share]
    while (over := _written(kept) - share) > 0:
        # No character is written in more than six bytes, so this many must go at least.
        drop = -(-over // 6)
        kept = kept[drop:] if from_end else kept[:-drop]
    return kept
