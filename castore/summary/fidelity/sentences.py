"""Sentences: where one thing that a text says ends. English and Chinese, lists and lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["sentence_around", "sentences"]

# A full stop that has a space after it (so no number, file or host is cut) and no short word with a full stop
# of its own before it; a stop of Chinese wherever it stands; an empty line, one that begins an item,
# or a `…` that has a line of its own.
# Each way to end begins with a character of few, so that the rest of a text is passed quickly.
_END = re.compile(
    r"[.!?](?<![.!?]{2})(?<![ (][A-Za-z].)(?<!\b(?:Mr|Ms|Dr|St|vs|No|Nr|cf).)"
    r"(?<!\b(?:Mrs|etc|e\.g|i\.e|Inc|Ltd|Fig|Sec|Art).)[.!?]*+[\"')\]’”]*+(?=\s|\Z)"
    r"|[。！？；]++[”’」』）)]*+|[!?;](?=\s)"
    r"|\n(?=[^\S\n]*+\n|[ \t]*+(?:[-*•#>|]|\d+[.)、]|…(?:\n|\Z)|$))|(?<=\n)…(?=\n)"
)
_REACH = 2000
"""Characters before and behind an offset, at most, in which its sentence is looked for."""


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """The spans of the sentences, without the white space around them; together they say all."""
    start = 0
    for end in (*(match.end() for match in _END.finditer(text)), len(text)):
        piece = text[start:end]
        if said := piece.strip():
            begin = start + len(piece) - len(piece.lstrip())
            yield begin, begin + len(said)
        start = end


def sentence_around(text: str, offset: int, *, reach: int = _REACH) -> tuple[int, int]:
    """The span of the sentence of this character, or of `reach` characters of it before and behind."""
    low, high = max(0, offset - reach), min(len(text), offset + reach)
    start = low
    for match in _END.finditer(text, low, high):
        if match.end() > offset:
            return start, match.end()
        start = match.end()
    return start, high
