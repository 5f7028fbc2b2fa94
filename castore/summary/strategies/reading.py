"""A source as pieces of text, of which a strategy may choose some. Pure.

Laws:
- Every piece stands in the source as it is there: of a text, sentences and lines; of a session, those of its
  messages as castore.transcript.collapse.reading has them; of other JSON, values as they are spelt (a whole
  row, or a member with its name), and of a long string what it says.
- Pieces are in the order of the source, do not overlap, and have at most as many characters as asked.
- It takes time linear in the source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from castore.document.grammar import STRING, scan_strictly, value_end
from castore.document.path import values
from castore.document.place import utf8_text
from castore.document.strings import decode_literal
from castore.errors import DocumentInvalid, LimitExceeded
from castore.summary.fidelity.sentences import sentences
from castore.transcript.collapse.reading import text_of
from castore.transcript.collapse.summarizer import without_controls
from castore.transcript.formats import read_session

__all__ = ["PIECE_CHARACTERS_MAX", "Reading", "read_source"]

PIECE_CHARACTERS_MAX = 400
"""A longer sentence or line is several pieces: its lines, if it has several, or it is cut at white space."""

_BREAK_CHARACTERS = 80
"""So far before the end of a piece that is full, white space is looked for."""
# The first words of a line that is its own: a time, a level, a name with a colon or an equals sign.
_LINE = re.compile(
    r"\n(?=[ \t]{0,8}(?:[\[(<]{0,2}\d{1,4}[-/:.年月T]\d|\[|(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL|TRACE)\b"
    r"|[\w\u3400-\u9fff.-]{1,30}[:=：]))"
)
_ANY_LINE = re.compile(r"\n")
_SPACES = re.compile(r"\s+")
_BETWEEN = b" \t\r\n,[]{}"


@dataclass(frozen=True, slots=True)
class Reading:
    """text: what is read. pieces: half-open spans of it; what is between two of them is white space.

    whole: all of the source, for a summary in which there is room for it; of a session its text.
    """

    text: str
    pieces: list[tuple[int, int]]
    whole: str


def read_source(source: bytes, piece_max: int = PIECE_CHARACTERS_MAX) -> Reading:
    """piece_max: characters of a piece, at most. Raises DocumentInvalid, with the place, for bytes that are
    not UTF-8."""
    text = utf8_text(source, "the source").removeprefix("\ufeff")
    if text.lstrip()[:1] in ("{", "["):
        said = _session_text(source)
        if said is not None:
            return _of_text(said, piece_max)
        found = _json_pieces(text.encode(), piece_max)
        if found is not None:
            return Reading("\n".join(found.pieces), found.spans, without_controls(text))
    return _of_text(text, piece_max)


# --- Helpers ---------------------------------------------------------------------------------------


def _of_text(text: str, piece_max: int) -> Reading:
    text = without_controls(text)
    pieces = [
        piece
        for start, end in sentences(text)
        for line in _lines(text, start, end, piece_max)
        for piece in _cut(text, *line, piece_max)
    ]
    return Reading(text, pieces, text)


def _lines(text: str, start: int, end: int, piece_max: int) -> Iterator[tuple[int, int]]:
    """The span, or its lines where they are no wrapped sentence: each is something of its own, as in a log,
    or all of them are too long for one piece."""
    line_end = _LINE if end - start <= piece_max else _ANY_LINE
    for found in line_end.finditer(text, start, end):
        yield from _stripped(text, start, found.start())
        start = found.end()
    yield from _stripped(text, start, end)


def _stripped(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    line = text[start:end]
    if said := line.strip():
        start += len(line) - len(line.lstrip())
        yield start, start + len(said)


def _cut(text: str, start: int, end: int, piece_max: int) -> Iterator[tuple[int, int]]:
    """The span, or pieces of it where it is too long for one."""
    while end - start > piece_max:
        full = start + piece_max
        spaces = [space.span() for space in _SPACES.finditer(text, full - _BREAK_CHARACTERS, full)]
        stop, following = spaces[-1] if spaces else (full, full)
        yield start, stop
        while following < end and text[following].isspace():
            following += 1
        start = following
    if start < end:
        yield start, end


def _session_text(source: bytes) -> str | None:
    """What a session says; None of what is none."""
    try:
        transcript = read_session(source)
    except (DocumentInvalid, LimitExceeded):
        return None
    return text_of(transcript, 0, len(transcript.messages)) or None


def _json_pieces(data: bytes, piece_max: int) -> _Pieces | None:
    """None where it is no JSON."""
    try:
        longer = scan_strictly(data, piece_max)
    except (DocumentInvalid, LimitExceeded):
        return None
    nodes = {node.start: node for node in longer}
    found = _Pieces(piece_max)
    done = 0
    for offset, _ in values(data):
        if offset < done:
            continue
        node = nodes.get(offset)
        if node is None:
            # Between what came before and this value stand commas and brackets, and a member's name.
            end = value_end(data, offset)
            name = data[done:offset].lstrip(_BETWEEN)
            found.take((name + data[offset:end]).decode(), is_whole=True)
            done = end
        elif node.kind == STRING:
            found.take(decode_literal(data[offset : node.end]))
            done = node.end
        else:
            done = offset + 1
    return found


class _Pieces:
    """Pieces that come one by one, and where they stand once a line end is between them."""

    def __init__(self, piece_max: int) -> None:
        self._piece_max = piece_max
        self.pieces: list[str] = []
        self.spans: list[tuple[int, int]] = []
        self._at = 0

    def take(self, text: str, *, is_whole: bool = False) -> None:
        """is_whole: it is one piece, if it is not too long."""
        text = without_controls(text)
        longest = self._piece_max
        spans = _cut(text, 0, len(text), longest) if is_whole else _of_text(text, longest).pieces
        for start, end in spans:
            self.pieces.append(text[start:end])
            self.spans.append((self._at, self._at + end - start))
            self._at += end - start + 1
