"""Finding markers and references in any file: what a model copied from a view into something it wrote.

Law: every marker (`[ctx`, a space and 16 hex digits, then `:` or `]`) and every reference (`{"$ctx":{` and a
digest within what a reference may take) is found, wherever it begins and in whatever file, if its encoding
has ASCII in it; also inside string literals. Memory is that of a piece of 1 MiB, not of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from castore.config import REFERENCE_BYTES_MAX

__all__ = ["Found", "find", "find_in_stream"]

_PIECE_BYTES = 1 << 20
_MARKER_BYTES_MAX = 600
_OVERLAP_BYTES = REFERENCE_BYTES_MAX + 1024
"""More than the longest thing that is looked for."""
_SHOWN = 160
"""Characters of it that are shown."""

# A reference may stand in a string literal, and that in another: its quotes have backslashes before them.
_Q = rb'\\{0,16}+"'
_S = rb"[ \t\r\n]{0,64}+"
_MARKER = rb"\[ctx [0-9a-f]{16}(?:\]|:[^\]\r\n]{0,%d}+\]?)" % _MARKER_BYTES_MAX
_REFERENCE = rb"\{%b%b\$ctx%b%b:%b\{(?:(?!\$ctx)[\s\S]){0,%d}?digest%b%b:%b%bsha256:[0-9a-f]{6,64}" % (
    *(_S, _Q, _Q, _S, _S, REFERENCE_BYTES_MAX, _Q, _S, _S, _Q),
)
_PATTERN = re.compile(_MARKER + b"|" + _REFERENCE)


@dataclass(frozen=True, slots=True)
class Found:
    """line, column: from 1, the column in bytes. text: its beginning, on one line. digest: the hex digits
    it names its object by: 16 in a marker, 64 in a reference that is whole."""

    line: int
    column: int
    text: str
    is_reference: bool
    digest: str


def find(data: bytes) -> Iterator[Found]:
    """Every marker and reference in `data`, in order."""
    import io

    return find_in_stream(io.BytesIO(data))


def find_in_stream(source: BinaryIO) -> Iterator[Found]:
    """The same of a stream. Raises OSError if it can't be read."""
    held = b""
    line, line_start, base = 1, 0, 0
    is_end = False
    while not is_end:
        piece = source.read(_PIECE_BYTES)
        is_end = not piece
        held += piece
        # What begins in the last bytes is looked at when what comes after it has been read.
        stop = len(held) if is_end else max(0, len(held) - _OVERLAP_BYTES)
        counted = 0
        next_start = 0
        for match in _PATTERN.finditer(held) if b"ctx" in held else ():
            if match.start() >= stop:
                break
            line, line_start = _advance(held, counted, match.start(), base, line, line_start)
            counted = match.start()
            next_start = match.end()
            yield _found(match[0], line, base + match.start() - line_start + 1)
        keep_from = max(stop, next_start)
        line, line_start = _advance(held, counted, keep_from, base, line, line_start)
        held, base = held[keep_from:], base + keep_from


def _advance(data: bytes, start: int, end: int, base: int, line: int, line_start: int) -> tuple[int, int]:
    """The line that `end` is on, and where that begins in the whole, being told those of `start`."""
    feeds = data.count(b"\n", start, end)
    if feeds:
        line_start = base + data.rfind(b"\n", start, end) + 1
    return line + feeds, line_start


def _found(literal: bytes, line: int, column: int) -> Found:
    is_reference = literal.startswith(b"{")
    text = literal.decode("utf-8", "backslashreplace")
    shown = " ".join(text.split())
    if is_reference or len(shown) > _SHOWN:
        shown = shown[:_SHOWN] + "…"
    digest = text.rpartition("sha256:")[2] if is_reference else text[5:21]
    return Found(line, column, shown, is_reference, digest)
