"""A text of one line, or of a few long ones, as its pieces: sentences, or what commas and spaces divide.

Law: every piece knows which characters it is. A text is divided in one way, the first that gives pieces of
one kind.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from castore.overview.tables import Table, number_of
from castore.overview.wrapped import spanned

__all__ = ["piece_rows"]

_PIECES_MIN = 12
_WORDS_CHARACTERS_MAX = 80
_SEPARATORS = (
    re.compile(r"[;|\t][ \t\r\n]*+"),
    re.compile(r",[ \t\r\n]*+"),
    re.compile(r"[ \t\r\n]++"),
)
_SENTENCE = re.compile(r"(?<=[.!?])[ \t\r\n]++(?=[^\Wa-z])|(?<=[。！？])")


def piece_rows(text: str) -> Table | None:
    """None of a text that is not of pieces."""
    for separator in _SEPARATORS:
        spans = _divided(text, separator)
        if len(spans) < _PIECES_MIN or len(spans) * _WORDS_CHARACTERS_MAX < len(text):
            continue
        values = [number_of(text[first:after]) for first, after in spans]
        are_numbers = sum(not isinstance(value, str) for value in values) * 10 >= 9 * len(values)
        if are_numbers or separator is not _SEPARATORS[-1]:
            if separator is _SEPARATORS[1] and not are_numbers and _is_prose(text, spans):
                continue
            return spanned("values", text, values, spans)
    spans = _divided(text, _SENTENCE)
    if len(spans) < _PIECES_MIN:
        return None
    pieces = [text[first:after] for first, after in spans]
    return Table("sentences", pieces, range(len(pieces)), pieces, spans=spans)


def _divided(text: str, separator: re.Pattern[str]) -> list[tuple[int, int]]:
    """What stands between the separators, without white space around it; nothing of nothing."""
    spans: list[tuple[int, int]] = []
    first = 0
    for found in separator.finditer(text):
        spans.append((first, found.start()))
        first = found.end()
    spans.append((first, len(text)))
    trimmed = []
    for first, after in spans:
        piece = text[first:after]
        begin = first + len(piece) - len(piece.lstrip())
        after -= len(piece) - len(piece.rstrip())
        if begin < after:
            trimmed.append((begin, after))
    return trimmed


def _is_prose(text: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Pieces of sentences: of many words, or with a full stop in them."""
    sample = [text[first:after] for first, after in spans[:: max(1, len(spans) // 64)]]
    return sum(". " in piece or piece.count(" ") >= 4 for piece in sample) * 8 > len(sample)
