"""Columns of lines that end in free text: judged from the left, on all lines, however many words each has.

Laws: a column is told of only where it is one: few values, or one form, in nearly all lines. One pass over
the lines' first words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from castore.overview.tables import STAMP, numeric
from castore.overview.templates import shapes, without_digits

__all__ = ["left_columns"]

_WORDS = 8
_SAMPLE = 64
_LINES_MIN = 12
_FEW_SHARE = 8
_ALIKE_SHARE = 0.8


def left_columns(texts: Sequence[str]) -> Iterator[tuple[bool, list[Any], list[int] | None]]:
    """Whether it is one of words, its values, and the lines that have it, None for all. Of lines that all
    have as many words only the moment at their beginning: their other columns are found without this."""
    total = len(texts)
    if total < _LINES_MIN:
        return
    stamps = [STAMP.match(text) for text in texts]
    which = [at for at, found in enumerate(stamps) if found is not None]
    if len(which) * 10 >= 9 * total:
        moments = [found[1].replace(",", ".") for found in stamps if found is not None]
        yield False, moments, which
    widths = Counter(map(len, (text.split() for text in texts[:: max(1, total // _SAMPLE)])))
    if widths.most_common(1)[0][1] * 10 > 8 * sum(widths.values()):
        return
    words = [text.split(None, _WORDS) for text in texts]
    for place in range(_WORDS):
        there = [at for at, each in enumerate(words) if len(each) > place]
        if len(there) * 20 < 19 * total:
            return
        column = [words[at][place] for at in there]
        if _is_column(column):
            yield True, numeric(column), None if len(there) == total else there


def _is_column(column: list[str]) -> bool:
    """Few values, of which the commonest are most; or nearly all of one form, which has digits."""
    sample = column[:: max(1, len(column) // _SAMPLE)]
    counts = Counter(sample)
    if len(counts) * _FEW_SHARE <= len(sample):
        return True
    forms = Counter(shapes([without_digits(word) for word in sample]))
    form, count = forms.most_common(1)[0]
    return count >= _ALIKE_SHARE * len(sample) and any(c in form for c in "0")
