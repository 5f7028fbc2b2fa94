"""Finding markers and references in any file: what a model copied from a view into something it wrote.

Law: every marker (`[ctx`, a space and 16 hex digits, then `:` or `]`) and every reference (a member `$ctx`
that is an object, and a digest within what a reference may take) is found, wherever it begins and in whatever
file, if its encoding has ASCII in it; also inside string literals, with `[`, `]`, `$` or quotes spelled as
`\\u00xx`, in Python's quotes, and behind other members. Memory is that of a piece of 1 MiB, not of the file.
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
_SPACE = 0x20
_SHOWN = 160
"""Characters of it that are shown."""

# Each may stand in a string literal, and that in another: escapes and quotes have backslashes before them.
_ESCAPE = rb"\\{1,16}+u00"
_Q = rb"(?:%b2[27]|\\{0,16}+[\"'])" % _ESCAPE
_S = rb"[ \t\r\n]{0,64}+"
_CLOSE = rb"(?:\]|%b5[dD])" % _ESCAPE
# What both have is found first, and then what is before and behind it: most files have none of that.
_CTX = re.compile(rb"ctx(?= [0-9a-f]{16}[]:\\]|[\"'\\])")
_BEFORE_BYTES = 256
_BEFORE_MARKER = re.compile(rb"(?:\[|%b5[bB])\Z" % _ESCAPE)
_MARKER = re.compile(
    rb"ctx (?P<digest>[0-9a-f]{16})(?:%b|:[^\]\r\n]{0,%d}+\]?)" % (_CLOSE, _MARKER_BYTES_MAX)
)
_BEFORE_REFERENCE = re.compile(rb"(?:\{%b)?%b(?:\$|%b24)\Z" % (_S, _Q, _ESCAPE))
_REFERENCE = re.compile(
    rb"ctx%b%b:%b\{(?:(?!(?:\$|%b24)ctx)[\s\S]){0,%d}?digest%b%b:%b%bsha256:(?P<digest>[0-9a-f]{6,64})"
    % (_Q, _S, _S, _ESCAPE, REFERENCE_BYTES_MAX, _Q, _S, _S, _Q)
)


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
        for start, match in _matches(held):
            if start >= stop:
                break
            line, line_start = _advance(held, counted, start, base, line, line_start)
            counted = start
            next_start = match.end()
            yield _found(held[start:next_start], match, line, base + start - line_start + 1)
        keep_from = max(stop, next_start)
        line, line_start = _advance(held, counted, keep_from, base, line, line_start)
        held, base = held[keep_from:], base + keep_from


def _matches(held: bytes) -> Iterator[tuple[int, re.Match[bytes]]]:
    """Where each begins, and what matched from its `ctx` on; in order, none in another."""
    end = 0
    for found in _CTX.finditer(held):
        at = found.start()
        is_marker = held[at + 3] == _SPACE
        before, behind = (_BEFORE_MARKER, _MARKER) if is_marker else (_BEFORE_REFERENCE, _REFERENCE)
        # What is behind is asked first: it is told apart in fewer steps.
        match = behind.match(held, at) if at >= end else None
        head = before.search(held[max(end, at - _BEFORE_BYTES) : at]) if match is not None else None
        if head is not None and match is not None:
            end = match.end()
            yield at - len(head[0]), match


def _advance(data: bytes, start: int, end: int, base: int, line: int, line_start: int) -> tuple[int, int]:
    """The line that `end` is on, and where that begins in the whole, being told those of `start`."""
    feeds = data.count(b"\n", start, end)
    if feeds:
        line_start = base + data.rfind(b"\n", start, end) + 1
    return line + feeds, line_start


def _found(literal: bytes, match: re.Match[bytes], line: int, column: int) -> Found:
    is_reference = match.re is _REFERENCE
    shown = " ".join(literal.decode("utf-8", "backslashreplace").split())
    if is_reference or len(shown) > _SHOWN:
        shown = shown[:_SHOWN] + "…"
    return Found(line, column, shown, is_reference, match["digest"].decode())
