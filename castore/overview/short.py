"""The outliers of an object in so few bytes that they fit into a reference.

Laws: as written in a document (a JSON string, quotes included) it is at most `bytes_max` long; it follows
from the object's bytes and `bytes_max` alone; it says of no number of items or lines that they were left out,
so nothing in it can be false in that way.
"""

from __future__ import annotations

from castore.descriptor import Escape
from castore.document.strings import encode_text
from castore.overview.excerpt import plain
from castore.overview.model import Outlier, Place
from castore.overview.overview import LOOKED_BYTES_MAX, overview
from castore.overview.words import clip

__all__ = ["short_outliers"]

_OUTLIERS_MAX = 3
_EXCERPT_BYTES_MIN = 16


def short_outliers(data: bytes | memoryview, bytes_max: int) -> str | None:
    """`outliers [11999] status 500 {id:12000,status:500}; [4711] status 404`; None where nothing stands
    apart, or the object is too large to be looked at."""
    if len(data) > LOOKED_BYTES_MAX:
        return None
    found = overview(bytes(data)).outliers[:_OUTLIERS_MAX]
    text = ""
    for number, outlier in enumerate(found):
        longer = f"{text}; {_bare(outlier)}" if number else f"outliers {_bare(outlier)}"
        if _written(longer) > bytes_max:
            break
        text = longer
        room = (bytes_max - _written(text)) // (min(2, len(found)) - number or 1) - 1
        if room >= _EXCERPT_BYTES_MIN:
            text += f" {_fitted(outlier.excerpt, room)}"
    return text or None


def _bare(outlier: Outlier) -> str:
    more = f" (and {outlier.more} alike)" if outlier.more else ""
    return f"{_quiet(clip(_place(outlier.place), 80))} {_quiet(clip(plain(outlier.reasons[0]), 60))}{more}"


def _place(place: Place) -> str:
    path = " ".join(place.selects)
    if place.item is not None:
        return f"{path}[{place.item}]"
    if place.lines is not None:
        first, after = place.lines
        lines = f"line {first}" if after == first + 1 else f"lines {first}:{after}"
        return f"{path} {lines}".strip()
    return path or "whole"


def _quiet(text: str) -> str:
    """Without quotes and backslashes, which would have to be escaped, and without what tells of items that
    were left out."""
    return text.translate(_QUIET)


_QUIET = {ord('"'): None, ord("\\"): None, ord("…"): ".."}


def _fitted(excerpt: str, room: int) -> str:
    """As much of its beginning as is written in so many bytes."""
    text = _quiet(excerpt)
    kept = clip(text, room)
    while kept and (over := _written(kept) - 2 - room) > 0:
        kept = clip(text, max(0, len(kept.encode("utf-8", "backslashreplace")) - over - 3))
    return kept.replace("…", "..") if _written(kept.replace("…", "..")) - 2 <= room else kept


def _written(text: str) -> int:
    return len(encode_text(text, Escape.MINIMAL))
