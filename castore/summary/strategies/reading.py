"""A source as pieces of text, of which a strategy may choose some. Pure.

Laws:
- Every piece stands in the source as it is there: of a text, sentences and lines; of a session, those of its
  messages as castore.transcript.collapse.reading has them; of other JSON, values as they are spelt (a whole
  row, or a member with its name), and of a long string what it says.
- Pieces are in the order of the source, do not overlap, and have at most as many characters as asked.
- Headings of a session (`## user`) are pieces too; each piece of a message knows its heading.
- It takes time linear in the source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from castore.document.grammar import STRING, scan_strictly, value_end
from castore.document.place import utf8_text
from castore.document.strings import decode_literal
from castore.errors import DocumentInvalid, LimitExceeded
from castore.summary.fidelity.sentences import sentences
from castore.summary.strategies.weights import (
    Section,
    Weight,
    is_code,
    weights_of_json,
    weights_of_session,
    weights_of_text,
)
from castore.transcript.collapse.reading import RESULT_CHARACTERS_MAX, text_of
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
_WHOLE_LINE = re.compile(r"[^\n]+")
_ANY_LINE = re.compile(r"\n")
_CALL_CHARACTERS = 190
"""Of a longer call, what it was called with is pieces of their own: it was written rather than done."""
# What begins a line of a session's text, which nothing else there does: a heading, or a call.
_OF_SESSION = re.compile(r"^(?:## (\S+)|call \S{1,80}+ [\[{\"])[^\n]*", re.M)
_MEMBER = re.compile(r",(?= ?\"\w+\":)")
_NUMBER = re.compile(r"(?:[-*•#>|]+[ \t]*)?\d{1,3}[.)]")
_SPACES = re.compile(r"\s+")
# Where nothing but the beginnings and ends of long containers, commas and names are passed.
_BETWEEN = re.compile(rb"[ \t\r\n,\]}]*+")
_NAME = re.compile(rb'"(?:[^"\\]++|\\.)*+"[ \t\r\n]*+:[ \t\r\n]*+', re.S)


@dataclass(frozen=True, slots=True)
class Reading:
    """text: what is read. pieces: half-open spans of it; what is between two of them is white space.

    weights: of each piece. headings: of each piece the number of the one that is its heading, or -1; empty
    where there is none. whole: all of the source, for a summary in which there is room for it; of a session
    its text.
    """

    text: str
    pieces: list[tuple[int, int]]
    weights: list[Weight]
    headings: list[int]
    whole: str


def read_source(source: bytes, piece_max: int = PIECE_CHARACTERS_MAX, *, is_whole: bool = False) -> Reading:
    """piece_max: characters of a piece, at most. is_whole: of a session, long results are not clipped.
    Raises DocumentInvalid, with the place, for bytes that are not UTF-8."""
    text = utf8_text(source, "the source").removeprefix("\ufeff")
    if text.lstrip()[:1] in ("{", "["):
        said = _session_text(source, is_whole=is_whole)
        if said is not None:
            return _of_session(without_controls(said), piece_max)
        found = _json_pieces(text.encode(), piece_max)
        if found is not None:
            weights = weights_of_json(list(zip(found.pieces, found.are_values, strict=True)))
            return Reading("\n".join(found.pieces), found.spans, weights, [], without_controls(text))
    text = without_controls(text)
    pieces = list(_pieces_of(text, piece_max))
    return Reading(text, pieces, weights_of_text(text, pieces), [], text)


# --- Texts -----------------------------------------------------------------------------------------


def _pieces_of(text: str, piece_max: int) -> Iterator[tuple[int, int]]:
    for start, end in _joined(text, sentences(text), piece_max):
        for line in _lines(text, start, end, piece_max):
            yield from _cut(text, *line, piece_max)


def _joined(text: str, spans: Iterable[tuple[int, int]], piece_max: int) -> Iterator[tuple[int, int]]:
    """The spans; the number of an item (`2.`) with what follows it, and a clause before a semicolon with the
    next one: alone neither says much. Lines of code end so too, and stay lines."""
    before: tuple[int, int] | None = None
    for start, end in spans:
        if before is None:
            before = (start, end)
        elif end - before[0] <= piece_max and _goes_on(text, *before, start):
            before = (before[0], end)
        else:
            yield before
            before = (start, end)
    if before is not None:
        yield before


def _goes_on(text: str, start: int, end: int, following: int) -> bool:
    """following: where the next span begins."""
    gap = text[end:following]
    if _NUMBER.fullmatch(text, start, end):
        return "\n" not in gap
    return text[end - 1] == ";" and gap.count("\n") < 2 and not is_code(text[start : end - 1])


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
        spaces = [
            space.span() for space in _SPACES.finditer(text, max(start, full - _BREAK_CHARACTERS), full)
        ]
        stop, following = spaces[-1] if spaces else (full, full)
        yield start, stop
        while following < end and text[following].isspace():
            following += 1
        start = following
    if start < end:
        yield start, end


# --- Sessions --------------------------------------------------------------------------------------


def _of_session(text: str, piece_max: int) -> Reading:
    """text: as text_of gives it, so it begins with a heading."""
    pieces: list[tuple[int, int]] = []
    sections: list[Section] = []
    heading, kind = 0, ""
    marks = [*_OF_SESSION.finditer(text)]
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=True):
        begins = min(mark.end(), mark.start() + piece_max) if mark[1] else _call_end(text, *mark.span())
        if mark[1] is not None:
            heading, kind = len(pieces), mark[1]
        for each, found in (
            ("call" if mark[1] is None else "heading", [(mark.start(), begins)]),
            ("written", _cut(text, begins, mark.end(), piece_max)),
            (kind, _said(text, mark.end(), end, piece_max, is_result=kind == "result")),
        ):
            start = len(pieces)
            pieces += found
            if start < len(pieces):
                sections.append(Section(each, heading, start, len(pieces)))
    headings = [each.heading for each in sections for _ in range(each.start, each.end)]
    return Reading(text, pieces, weights_of_session(text, pieces, sections), headings, text)


def _call_end(text: str, start: int, end: int) -> int:
    """Of a call, or of what stands before the first long text that it was given."""
    if end - start <= _CALL_CHARACTERS:
        return end
    members = [member.end() for member in _MEMBER.finditer(text, start, start + _CALL_CHARACTERS)]
    return members[-1] if members else start + _CALL_CHARACTERS


def _said(text: str, start: int, end: int, piece_max: int, *, is_result: bool) -> Iterator[tuple[int, int]]:
    """Sentences and lines; what a tool gave is lines first, whatever its words look like."""
    lines = [line.span() for line in _WHOLE_LINE.finditer(text, start, end)] if is_result else [(start, end)]
    for line_start, line_end in lines:
        for piece_start, piece_end in _pieces_of(text[line_start:line_end], piece_max):
            yield line_start + piece_start, line_start + piece_end


def _session_text(source: bytes, *, is_whole: bool) -> str | None:
    """What a session says; None of what is none."""
    try:
        transcript = read_session(source)
    except (DocumentInvalid, LimitExceeded):
        return None
    longest = None if is_whole else RESULT_CHARACTERS_MAX
    return text_of(transcript, 0, len(transcript.messages), result_characters_max=longest) or None


# --- JSON ------------------------------------------------------------------------------------------


def _json_pieces(data: bytes, piece_max: int) -> _Pieces | None:
    """None where it is no JSON."""
    try:
        longer = scan_strictly(data, piece_max)
    except (DocumentInvalid, LimitExceeded):
        return None
    nodes = {node.start: node for node in longer}
    found = _Pieces(piece_max)
    at = 0
    while (start := _end(_BETWEEN, data, at)) < len(data):
        # A string with a colon behind it is the name of a member.
        name = _NAME.match(data, start)
        value = start if name is None else name.end()
        node = nodes.get(value)
        if node is None:
            at = value_end(data, value)
            found.take(data[start:at].decode(), is_whole=True)
        elif node.kind == STRING:
            found.take(decode_literal(data[value : node.end]))
            at = node.end
        else:
            at = value + 1
    return found


def _end(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    found = pattern.match(data, at)
    return at if found is None else found.end()


class _Pieces:
    """Pieces that come one by one, and where they stand once a line end is between them."""

    def __init__(self, piece_max: int) -> None:
        self._piece_max = piece_max
        self.pieces: list[str] = []
        self.are_values: list[bool] = []
        self.spans: list[tuple[int, int]] = []
        self._at = 0

    def take(self, text: str, *, is_whole: bool = False) -> None:
        """is_whole: it is one piece, if it is not too long."""
        text = without_controls(text)
        longest = self._piece_max
        spans = _cut(text, 0, len(text), longest) if is_whole else _pieces_of(text, longest)
        for start, end in spans:
            self.pieces.append(text[start:end])
            self.are_values.append(is_whole)
            self.spans.append((self._at, self._at + end - start))
            self._at += end - start + 1
