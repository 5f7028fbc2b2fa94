"""Excerpts: how a text begins, on one line, without reading all of it. Pure."""

from __future__ import annotations

import re

from castore.document.strings import decode_literal
from castore.report.model import EXCERPT_CHARACTERS_MAX
from castore.transcript.model import Part, PartKind, Transcript

__all__ = ["beginning", "cut", "excerpt_of_literal", "excerpt_of_part", "text_of"]

_BYTES_A_CHARACTER = 6
"""The longest escape."""
_WHOLE_CHARACTERS = re.compile(rb'"(?:[^"\\]|\\u[0-9a-fA-F]{4}|\\[^u])*+')
_THOUGHT = re.compile(rb'(?<!\\)"(?:thinking|text|reasoning|content)"[ \t\r\n]*+:[ \t\r\n]*+(?=")')
_LONE_HIGH = re.compile("[\ud800-\udbff]\\Z")


def excerpt_of_part(transcript: Transcript, part: Part) -> str:
    """Of a payload such as an image nothing: nobody reads it. Of a block of thinking what was thought."""
    if part.kind is PartKind.MEDIA:
        return ""
    if part.kind is PartKind.THINKING:
        thought = _thought(transcript.source, *part.object_span)
        if thought is not None:
            return thought
    return excerpt_of_literal(transcript.source, *part.object_span)


def excerpt_of_literal(data: bytes | bytearray, start: int, end: int) -> str:
    """Of a string what it says, of anything else how it is written; at most EXCERPT_CHARACTERS_MAX."""
    # White space may be many characters that come to one.
    head = bytes(data[start : min(end, start + 4 * _BYTES_A_CHARACTER * EXCERPT_CHARACTERS_MAX)])
    text = _decoded(head, is_whole=start + len(head) == end)
    return beginning(text, is_whole=start + len(head) == end)


def beginning(text: str, *, characters_max: int = EXCERPT_CHARACTERS_MAX, is_whole: bool = True) -> str:
    """One line; it ends with `…` if more follows. is_whole: nothing follows what was given."""
    line = " ".join(text.split())
    if is_whole and len(line) <= characters_max:
        return line
    return line[: characters_max - 1] + "…"


def cut(text: str, characters_max: int) -> str:
    """The text, or its head and `…`; line ends stay."""
    return text if len(text) <= characters_max else text[: characters_max - 1] + "…"


def text_of(literal: bytes) -> str:
    """What a string says; of anything else how it is written."""
    return decode_literal(literal) if literal[:1] == b'"' else literal.decode("utf-8", "replace")


def _thought(data: bytes, start: int, end: int) -> str | None:
    """How the text in a block of thinking begins; None: it has none that can be read, or is itself a text."""
    found = None if data[start : start + 1] == b'"' else _THOUGHT.search(data, start, end)
    if found is None:
        return None
    head = data[found.end() : min(end, found.end() + 4 * _BYTES_A_CHARACTER * EXCERPT_CHARACTERS_MAX)]
    head = head.decode("utf-8", "ignore").encode()
    match = _WHOLE_CHARACTERS.match(head)
    assert match is not None
    text = _LONE_HIGH.sub("", decode_literal(match[0] + b'"'))
    return beginning(text, is_whole=head[match.end() : match.end() + 1] == b'"')


def _decoded(head: bytes, *, is_whole: bool) -> str:
    if is_whole:
        return text_of(head)
    head = head.decode("utf-8", "ignore").encode()
    if head[:1] != b'"':
        return head.decode()
    match = _WHOLE_CHARACTERS.match(head)
    assert match is not None
    return _LONE_HIGH.sub("", decode_literal(match[0] + b'"'))
