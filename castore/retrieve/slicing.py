"""Slices of what can be read: by bytes, characters, lines, and the items of an array.

Law: what is given is that slice of the whole: `data[a:b]` of the bytes; `text[a:b]` of the text; the lines
from a on, before b, each with its line feed as it stands; the literals of the items. Only the frames that
are needed are read. Ranges are Python's: what lies outside is nothing.

Of text that is not UTF-8 there are no characters (InvalidOption), as far as it was read; of what is no array
no items.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import islice

from castore.errors import InvalidOption
from castore.retrieve.address import Range, Unit
from castore.retrieve.items import Commas, item_pieces
from castore.retrieve.readable import Readable

__all__ = ["count", "cut_stream", "item_slices", "line_slices", "slices"]

_FEED = re.compile(rb"\n")
_CONTINUATION = bytes(range(0x80, 0xC0))


def slices(source: Readable, wanted: Range) -> Iterator[bytes]:
    """The bytes of that slice, in pieces; of items, a line feed after each."""
    if wanted.unit is Unit.ITEMS:
        for piece, is_end in item_slices(source, wanted):
            yield piece
            if is_end:
                yield b"\n"
    elif wanted.unit is Unit.LINES:
        yield from line_slices(source, wanted)
    elif wanted.unit is Unit.CHARS:
        yield from _characters(source, wanted)
    else:
        yield from source.pieces(*wanted.bounds(source.size))


def count(source: Readable, unit: Unit) -> int:
    """How many of these the whole has. Raises InvalidOption for items of what is no array."""
    if unit is Unit.BYTES:
        return source.size
    mark = source.marks()[-1]
    if unit is Unit.CHARS:
        return mark.characters + _count_characters(source.pieces(mark.offset, source.size))
    if unit is Unit.LINES:
        feeds = mark.newlines + sum(piece.count(b"\n") for piece in source.pieces(mark.offset, source.size))
        return feeds + (1 if source.size and source.read(source.size - 1, source.size) != b"\n" else 0)
    _require_array(source)
    marks = source.marks()
    counted = _counted_fast(source) if len(marks) == 1 else None
    if counted is not None:
        return counted
    # White space behind the array, or before it, may be longer than a frame.
    mark = next((each for each in reversed(marks) if each.depth > 0), marks[0])
    commas = Commas(mark.depth, mark.state)
    ends = mark.commas + sum(
        len(list(commas.ends(piece))) for piece in source.pieces(mark.offset, source.size)
    )
    # The bracket that closes an array ends an item, too, unless there is none.
    return 0 if ends == 1 and _is_empty(source) else ends


def line_slices(source: Readable, wanted: Range) -> Iterator[bytes]:
    """The lines of that slice, in pieces that may end anywhere."""
    first, last = _bounds(source, wanted)
    if first < last:
        start = _after_feed(source, first)
        stop = _after_feed(source, last)
        yield from source.pieces(start, stop)


def item_slices(source: Readable, wanted: Range) -> Iterator[tuple[bytes, bool]]:
    """Pieces of the items of that slice, each with whether it ends its item. Raises InvalidOption."""
    _require_array(source)
    first, last = _bounds(source, wanted)
    if first < last:
        start = _after_comma(source, first)
        if start is not None:
            yield from item_pieces(source.pieces(start, source.size), last - first)


def cut_stream(pieces: Iterable[bytes], wanted: Range) -> Iterator[bytes]:
    """The slice of what the pieces make together, by characters or bytes counted from the beginning."""
    if wanted.needs_length:
        raise AssertionError("of a stream nothing is known of the end")
    first = wanted.start or 0
    at = 0
    for piece, length in _counted(pieces, wanted.unit):
        last = length if wanted.stop is None else min(length, wanted.stop - at)
        if at + length > first and last > 0:
            yield _inner(piece, max(0, first - at), last, wanted.unit)
        at += length
        # Before the next piece is asked for: it may be damaged, and is none of ours.
        if wanted.stop is not None and at >= wanted.stop:
            return


# --- Helpers ---------------------------------------------------------------------------------------


def _bounds(source: Readable, wanted: Range) -> tuple[int, int]:
    """The first and the one after the last; how many there are is only asked where it matters."""
    if wanted.needs_length:
        return wanted.bounds(count(source, wanted.unit))
    last = source.size if wanted.stop is None else wanted.stop
    return wanted.start or 0, last


def _require_array(source: Readable) -> None:
    if not source.is_array:
        raise InvalidOption(
            "there are no items in it: it is no JSON array",
            hint="--lines and --chars read text; --select looks into other JSON, and into JSON Lines",
            option="--items",
        )


def _counted_fast(source: Readable) -> int | None:
    """The items of an array that is no longer than a frame; None where the fast reader can't read it."""
    import msgspec

    try:
        return len(msgspec.json.decode(source.read(0, source.size), type=list[msgspec.Raw]))
    except (msgspec.DecodeError, RecursionError):
        return None


def _is_empty(source: Readable) -> bool:
    pieces = item_pieces(source.pieces(_after_bracket(source), source.size), 1)
    return not any(piece for piece, _ in pieces)


def _after_bracket(source: Readable) -> int:
    """The offset after the bracket that opens the array."""
    at = 0
    for piece in source.pieces(0, source.size):
        found = piece.find(b"[")
        if found >= 0:
            return at + found + 1
        at += len(piece)
    return at


def _after_feed(source: Readable, number: int) -> int:
    """The offset after so many line feeds; the end where there are fewer."""
    if number == 0:
        return 0
    marks = source.marks()
    at = bisect_left(marks, number, key=lambda mark: mark.newlines) - 1
    offset, left = marks[max(at, 0)].offset, number - marks[max(at, 0)].newlines
    for piece in source.pieces(offset, source.size):
        feeds = piece.count(b"\n")
        if feeds >= left:
            found = next(islice(_FEED.finditer(piece), left - 1, None))
            return offset + found.end()
        left -= feeds
        offset += len(piece)
    return source.size


def _after_comma(source: Readable, number: int) -> int | None:
    """The offset after so many of the array's own commas, its bracket for 0; None where there are fewer."""
    if number == 0:
        return _after_bracket(source)
    marks = source.marks()
    at = max(bisect_left(marks, number, key=lambda mark: mark.commas) - 1, 0)
    offset, left = marks[at].offset, number - marks[at].commas
    commas = Commas(marks[at].depth, marks[at].state)
    for piece in source.pieces(offset, source.size):
        for end in commas.ends(piece):
            left -= 1
            if left == 0:
                return None if commas.depth == 0 else offset + end + 1
        offset += len(piece)
    return None


def _characters(source: Readable, wanted: Range) -> Iterator[bytes]:
    first, last = _bounds(source, wanted)
    if first >= last:
        return
    marks = source.marks()
    # At a mark a character may be cut: its first byte is before the mark, and it is counted there.
    at = max(bisect_right(marks, first, key=lambda mark: mark.characters) - 1, 0)
    while at and marks[at].characters == first and _is_cut(source, marks[at].offset):
        at -= 1
    offset, before = marks[at].offset, marks[at].characters
    if _is_cut(source, offset):
        offset += _continuation_bytes(source, offset)
    pieces = source.pieces(offset, source.size)
    yield from cut_stream(pieces, Range(Unit.CHARS, first - before, last - before))


def _is_cut(source: Readable, offset: int) -> bool:
    return _continuation_bytes(source, offset) > 0


def _continuation_bytes(source: Readable, offset: int) -> int:
    """How many bytes at `offset` belong to a character that begins before it."""
    head = source.read(offset, min(offset + 4, source.size)) if offset else b""
    return len(head) - len(head.lstrip(_CONTINUATION))


def _count_characters(pieces: Iterable[bytes]) -> int:
    return sum(
        len(piece) if piece.isascii() else len(piece.translate(None, _CONTINUATION)) for piece in pieces
    )


def _counted(pieces: Iterable[bytes], unit: Unit) -> Iterator[tuple[bytes | str, int]]:
    """Pieces and their lengths: bytes, or text in characters. Raises InvalidOption for what is no text."""
    if unit is Unit.BYTES:
        for piece in pieces:
            yield piece, len(piece)
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for piece in pieces:
            if piece.isascii() and not decoder.getstate()[0]:
                yield piece, len(piece)
                continue
            text = decoder.decode(piece)
            yield text, len(text)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise InvalidOption(
            "there are no characters in it: it is not UTF-8 text",
            hint="--bytes reads anything",
            option="--chars",
        ) from error


def _inner(piece: bytes | str, first: int, last: int, unit: Unit) -> bytes:
    """Of ASCII a byte is a character; else the piece is text."""
    part = piece[first:last]
    return part.encode() if isinstance(part, str) else part
