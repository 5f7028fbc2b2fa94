"""Reading: archived messages as one text, for a summarizer or for whoever wants to know what was said.

    ## user
    Fix the tests.
    ## assistant
    I run them first.
    call bash {"command":"pytest"}
    ## result of bash (error, exit code 1)
    E   assert 1 == 2
    [9120 of 13120 characters left out]
    1 failed in 0.3 s

Laws:
- What the model got is there, in order: texts, calls with their arguments on one line, results (clipped, if
  asked). Thinking is not, nor what never reached the model, nor system messages, which a collapse leaves
  where they are; media and unknown blocks are named in brackets.
- No text passes for a line of ours: where one of its lines reads like a heading, a call or a bracket, a
  backslash stands before it, and one more if it begins with backslashes; `unescaped` takes one away.
- It is UTF-8: U+FFFD stands for half a surrogate pair. It takes time linear in the messages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from castore.document.grammar import STRING
from castore.document.strings import decode_literal
from castore.transcript.arguments import arguments_of
from castore.transcript.model import Message, Part, PartKind, Role, Transcript
from castore.transcript.values import Source, Value, read_json

__all__ = ["RESULT_CHARACTERS_MAX", "text_of", "unescaped"]

RESULT_CHARACTERS_MAX = 4000
"""Of each result, and of each text in a call's arguments, unless asked otherwise."""

_NAME_CHARACTERS_MAX = 80
_NOTE_CHARACTERS = 60
"""What says how much was left out; a text that is over its limit by less would get no shorter."""
_HALF = re.compile("[\ud800-\udfff]")
_CONTEXT_LABEL = "context text"

# What else than a line feed some reader may take for a line's end; or a backslash of an escaped line.
_BEFORE = r"\n\r\v\f\x1c-\x1e\x85\u2028\u2029\\"
_BRACKETED = r"(?:[^\[\]\\\n]{1,120}+(?<= bytes)|[0-9]+ of [0-9]+ characters left out)\]"
_OURS = re.compile(
    # What a line of ours begins with comes first, and is looked for fast; then, whether a line begins there.
    rf"## (?<![^{_BEFORE}]## )"
    rf'|call (?<![^{_BEFORE}]call )\S{{1,80}}+ [\[{{"]'
    rf"|\[(?<![^{_BEFORE}]\[){_BRACKETED}"
)
_ESCAPED = re.compile(rf'\\+(?:## |call \S{{1,80}}+ [\[{{"]|\[{_BRACKETED})')
_BEGINS = re.compile(f"[{_BEFORE}]")
_LINE_ENDS = frozenset("\n\r")
_OF_RESULTS = frozenset({PartKind.MEDIA, PartKind.UNKNOWN})
"""What a result may hold besides its text."""
_INSIDE = str.maketrans({each: f"\\u{ord(each):04x}" for each in "\x7f\x85\u2028\u2029"})


def text_of(
    transcript: Transcript,
    first: int,
    last: int,
    *,
    result_characters_max: int | None = RESULT_CHARACTERS_MAX,
) -> str:
    """The messages from `first` to before `last` (indices into transcript.messages) as text.

    result_characters_max: of a longer result, or text in a call's arguments, two thirds of that stand from
    its beginning and one from its end, and between them how many were left out; None: all is whole.
    """
    tools: dict[str, str | None] = {}
    lines: list[str] = []
    for message in transcript.messages[first:last]:
        if message.role is Role.SYSTEM:
            continue
        latest: tuple[str, str | None] | None = None
        for piece in _pieces(transcript, message, tools, result_characters_max):
            if (piece.heading, piece.call_id) != latest:
                latest = (piece.heading, piece.call_id)
                lines.append(f"## {piece.heading}")
            if piece.text:
                lines.append(piece.text)
    return "".join(f"{line}\n" for line in lines)


def unescaped(line: str) -> str:
    """A line of text_of as it was in the session."""
    return line[1:] if _ESCAPED.match(line) else line


# --- Pieces ----------------------------------------------------------------------------------------


class _Piece(NamedTuple):
    """What a message says under one heading. call_id: of the call that a result is of."""

    heading: str
    call_id: str | None
    text: str


def _pieces(
    transcript: Transcript, message: Message, tools: dict[str, str | None], limit: int | None
) -> Iterator[_Piece]:
    """tools: the names of those called so far, by the ids of the calls; a message's own are added."""
    own = _own_heading(transcript, message)
    told: set[str | None] = set()
    for index in message.parts:
        part = transcript.parts[index]
        text = _text(transcript, part, limit)
        if text is None:
            continue
        is_of_result = (
            part.kind in _OF_RESULTS and part.call_id is not None and part.call_id in message.answers
        )
        if part.kind is PartKind.RESULT or is_of_result:
            told.add(part.call_id)
            yield _Piece(_result_heading(part, tools), part.call_id, text)
        else:
            if part.kind is PartKind.CALL and part.call_id is not None:
                tools[part.call_id] = part.tool
            yield _Piece(own, None, text)
    for call_id in message.answers:
        if call_id not in told:
            yield _Piece(_named("result", tools.get(call_id)), call_id, "")


def _own_heading(transcript: Transcript, message: Message) -> str:
    """What is no result; of a message of results, what a user said along with them."""
    if message.role is Role.RESULT:
        return Role.USER.value
    parts = (transcript.parts[index] for index in message.parts)
    is_context = message.role is Role.USER and any(part.label == _CONTEXT_LABEL for part in parts)
    return "context" if is_context else message.role.value


def _result_heading(part: Part, tools: dict[str, str | None]) -> str:
    name = part.tool or tools.get(part.call_id or "")
    heading = _named("result", name)
    facts = ["error"] if part.is_error else []
    if part.exit_code is not None and (part.exit_code or part.is_error):
        facts.append(f"exit code {part.exit_code}")
    return f"{heading} ({', '.join(facts)})" if facts else heading


def _named(word: str, name: str | None) -> str:
    return f"{word} of {_plain(name)}" if name else word


def _text(transcript: Transcript, part: Part, limit: int | None) -> str | None:
    """The lines that a part gives; None if it gives none."""
    if part.kind is PartKind.PROSE:
        return _escaped(_whole(_said(transcript, part)))
    if part.kind is PartKind.RESULT:
        return _clipped(_whole(_said(transcript, part)), limit, _escaped)
    if part.kind is PartKind.CALL:
        return f"call {_plain(part.tool or 'unknown')} {_arguments(transcript, part, limit)}"
    if part.kind is PartKind.MEDIA:
        return f"[{_plain(part.label)}, {_media_size(transcript, part)} bytes]"
    if part.kind is PartKind.UNKNOWN:
        type = Value(Source(transcript.source), part.start, part.end).text("type")
        name = f"{part.label} of type {_plain(type)}" if type else part.label
        return f"[{name}, {part.size} bytes]"
    return None


def _media_size(transcript: Transcript, part: Part) -> int:
    """Bytes of the image, if it stands there as base64; else of its block."""
    if part.payload is None:
        return part.size
    start, end = part.payload
    data = transcript.source
    comma = data.find(b",", start, min(start + 200, end)) + 1 or start + 1
    return (end - 1 - comma) * 3 // 4 - data.count(b"=", end - 3, end)


def _said(transcript: Transcript, part: Part) -> str:
    """What a string says, and of anything else how it is written."""
    literal = transcript.literal(part)
    return decode_literal(literal) if literal[:1] == b'"' else literal.decode()


def _whole(text: str) -> str:
    """The text without halves of surrogate pairs, and without the line ends at its end."""
    return _HALF.sub("\ufffd", text).rstrip("\r\n")


def _plain(name: str) -> str:
    """A name that the session gave, as a short word: it stands in a line of ours."""
    shown = (
        each if each.isprintable() and each not in r"[]\ " else "_" for each in name[:_NAME_CHARACTERS_MAX]
    )
    return "".join(shown) or "unknown"


# --- Clipping and escaping -------------------------------------------------------------------------


def _clipped(text: str, limit: int | None, escape: Callable[[str], str]) -> str:
    if limit is None or len(text) <= limit + _NOTE_CHARACTERS:
        return escape(text)
    tail = limit // 3
    note = f"[{len(text) - limit} of {len(text)} characters left out]"
    return f"{escape(text[: limit - tail])}\n{note}\n{escape(text[len(text) - tail :])}"


def _escaped(text: str) -> str:
    """The text with a backslash before each line that reads like one of ours."""
    pieces: list[str] = []
    done = 0
    for found in _OURS.finditer(text):
        start = found.start()
        while start > done and text[start - 1] == "\\":
            start -= 1
        if start == found.start() or start == 0 or _BEGINS.match(text, start - 1):
            pieces += (text[done:start], "\\")
            done = start
    pieces.append(text[done:])
    return "".join(pieces)


def _arguments(transcript: Transcript, part: Part, limit: int | None) -> str:
    """The arguments as JSON on one line, whatever the model wrote; long texts in them clipped."""
    text = _HALF.sub("\ufffd", arguments_of(transcript, part))
    if not text.strip():
        return "{}"
    is_long = limit is not None and len(text) > limit
    # What stands in a string is whatever the model wrote; an object is one, but may be on several lines.
    is_text = transcript.source[part.start] == STRING
    if is_long or is_text or text[:1] not in ("{", "[") or not _LINE_ENDS.isdisjoint(text):
        try:
            value = read_json(text)
            if not isinstance(value, dict | list):
                value = {} if value is None else text
            written = json.dumps(value if limit is None else _with_clips(value, limit), ensure_ascii=False)
        except (ValueError, RecursionError):
            written = json.dumps(_with_clips(text, limit), ensure_ascii=False)
        text = _HALF.sub("\ufffd", written)
    return text if text.isascii() and "\x7f" not in text else text.translate(_INSIDE)


def _with_clips(value: Any, limit: int | None) -> Any:
    if isinstance(value, str):
        return _clipped(value, limit, str)
    if isinstance(value, list):
        return [_with_clips(each, limit) for each in value]
    if isinstance(value, dict):
        return {name: _with_clips(each, limit) for name, each in value.items()}
    return value
