"""An overview in few bytes: what it is, what stands apart, the members, how it begins and ends.

Laws: the lines have at most `bytes_max` bytes of UTF-8 together, labels and separators included; no
character is cut; what comes first matters most, and what was left out is said, where that fits. The same
overview gives the same lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from castore.overview.excerpt import plain
from castore.overview.keys import key_text
from castore.overview.model import Outlier, Overview, Place
from castore.overview.words import clip, count_text, plural, size_text

__all__ = ["Line", "facts_text", "outlier_text", "render"]

Line = tuple[str, str]
"""A label and what it labels."""

LABEL_BYTES = 11
"""A label, as wide as the widest, with what stands between it and the value."""

_EXCERPTS = (230, 170, 130, 110, 90)
_EDGE_BYTES_MAX = 90
_EDGE_BYTES_MIN = 24
_OUTLINE_BYTES_MAX = 220
_KEYS_BYTES_MAX = 190
_KEYS_ALONE_BYTES_MAX = 260
_NAMED_BYTES_MAX = 120
_LEFT_OUT_BYTES = 58
_REASONS = 2
_WEAK = 0.45


def render(
    overview: Overview, head: str, words: Callable[[Place], str], named: Sequence[str], bytes_max: int
) -> list[Line]:
    """head: what stands first, behind the kind. words: how an address reads. named: the roots, in words."""
    lines: list[Line] = [(overview.kind, clip(head, max(0, bytes_max - LABEL_BYTES - 1)))]
    room = bytes_max - _cost(lines[0])
    named_by = _named(named, min(_NAMED_BYTES_MAX, room // 4))
    keys = _keys(overview, _KEYS_BYTES_MAX if overview.outliers else _KEYS_ALONE_BYTES_MAX)
    kept_back = sum(_cost(("", text)) for text in (named_by, keys) if text) + _LEFT_OUT_BYTES
    kept_back = min(kept_back, room // 2)
    outliers = _outliers(overview.outliers, words, room - kept_back)
    room -= sum(map(_cost, outliers))
    lines += outliers
    left_out: list[str] = []
    if (hidden := _hidden(overview.outliers, len(outliers))) > 0:
        left_out.append(plural(hidden, "outlier"))
    after: list[Line] = []
    if named_by:
        after = [("named by", named_by)] if _cost(("named by", named_by)) <= room else []
        room -= sum(map(_cost, after))
    if keys:
        label = "keys" if not overview.path else f"{clip(plain(overview.path), 60)} x {overview.rows:,}"
        text = keys if label == "keys" else f"{label}: {keys}"
        if _cost(("keys", text)) > room - _LEFT_OUT_BYTES:
            text = clip(text, max(0, room - _LEFT_OUT_BYTES - LABEL_BYTES - 1))
            left_out.append("keys")
        if text:
            lines.append(("keys", text))
            room -= _cost(("keys", text))
    lines += (edges := _edges(overview, room - (_LEFT_OUT_BYTES if left_out else 0)))
    room -= sum(map(_cost, edges))
    more = ("more", f"{', '.join(left_out)}: --max-bytes N, or --json")
    if left_out and _cost(more) <= room:
        lines.append(more)
    return lines + after


def facts_text(overview: Overview) -> str:
    """`1.8 MB, 12,000 items`."""
    parts = [size_text(overview.size)]
    if overview.items is not None:
        parts.append(plural(overview.items, "item"))
    if overview.members is not None:
        parts.append(plural(overview.members, "key"))
    if overview.lines is not None:
        parts.append(plural(overview.lines, "line"))
    if overview.format is not None:
        parts.append(overview.format)
    return ", ".join(parts)


def outlier_text(outlier: Outlier, words: Callable[[Place], str], excerpt_bytes: int) -> str:
    """`--items 11999  status 500  {"id":12000,…`."""
    reasons = [each for each in outlier.reasons if not each.startswith("odd ")] or list(outlier.reasons)
    # A reason that repeats what the excerpt begins with says nothing.
    text = f"{words(outlier.place)}  {clip(plain(', '.join(reasons[:_REASONS])), 70)}"
    if outlier.more:
        text += f" (and {count_text(outlier.more)} alike)"
    return f"{text}  {clip(outlier.excerpt, excerpt_bytes)}" if excerpt_bytes >= 12 else text


def _cost(line: Line) -> int:
    return LABEL_BYTES + len(line[1].encode("utf-8", "backslashreplace")) + 1


def _outliers(outliers: Sequence[Outlier], words: Callable[[Place], str], room: int) -> list[Line]:
    lines: list[Line] = []
    for number, outlier in enumerate(outliers[: len(_EXCERPTS)]):
        bare = ("outlier", outlier_text(outlier, words, 0))
        left = room - _cost(bare) - 2
        if left < 0:
            break
        most = _EXCERPTS[number]
        if outlier.bits < outliers[0].bits * _WEAK:
            most = min(most, _EXCERPTS[-1])
        line = ("outlier", outlier_text(outlier, words, min(most, left)))
        lines.append(line)
        room -= _cost(line)
    return lines


def _hidden(outliers: Sequence[Outlier], shown: int) -> int:
    return len(outliers) - shown


def _named(named: Sequence[str], bytes_max: int) -> str:
    """As many as fit, and how many more there are."""
    text = ""
    for number, each in enumerate(named):
        longer = f"{text}; {each}" if text else each
        rest = len(named) - number - 1
        more = f"; {rest} more" if rest else ""
        if len((longer + more).encode("utf-8", "backslashreplace")) > bytes_max:
            if not text:
                return clip(longer, max(0, bytes_max - len(more))) + more
            return f"{text}; {len(named) - number} more"
        text = longer
    return text


def _keys(overview: Overview, bytes_max: int) -> str:
    text = ""
    for number, key in enumerate(overview.keys):
        words = plain(key_text(key, overview.rows or 1))
        longer = f"{text} · {words}" if text else clip(words, bytes_max - 12)
        if len(longer.encode("utf-8", "backslashreplace")) > bytes_max - 12:
            return f"{text} · {overview.keys_total - number} more"
        text = longer
    rest = overview.keys_total - len(overview.keys)
    return f"{text} · {rest} more" if rest > 0 else text


def _edges(overview: Overview, room: int) -> list[Line]:
    if overview.outline:
        share = min(_OUTLINE_BYTES_MAX, room - LABEL_BYTES - 1)
        return [("holds", clip(overview.outline, share))] if share >= _EDGE_BYTES_MIN else []
    edges = [(label, text) for label, text in (("first", overview.first), ("last", overview.last)) if text]
    lines: list[Line] = []
    for number, (label, text) in enumerate(edges):
        share = room // (len(edges) - number) - LABEL_BYTES - 1
        share = min(share, _EDGE_BYTES_MAX if overview.outliers else 2 * _EDGE_BYTES_MAX)
        if share < _EDGE_BYTES_MIN:
            break
        lines.append((label, clip(text, share)))
        room -= _cost(lines[-1])
    return lines
