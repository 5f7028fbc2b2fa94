"""What an object is, by its bytes alone: an array, an object or a string of JSON, other text, or bytes.

Law: the kind of an object of up to WHOLE_BYTES_MAX bytes is what a strict reader says; of a longer one it
follows from the array's structure, which was looked at when it was stored, and else from its first and last
bytes, so that nothing has to be read to show how it can be read.
"""

from __future__ import annotations

from enum import StrEnum

from castore.document.single import single_value
from castore.errors import DocumentInvalid, LimitExceeded
from castore.retrieve.readable import Held, Readable

__all__ = ["SPACE", "WHOLE_BYTES_MAX", "ObjectKind", "kind_of"]

WHOLE_BYTES_MAX = 8 << 20
SPACE = b" \t\r\n"
_EDGE_BYTES = 64 << 10


class ObjectKind(StrEnum):
    ARRAY = "array"
    OBJECT = "object"
    STRING = "string"
    """A JSON string, quotes and all."""
    TEXT = "text"
    BYTES = "bytes"

    @property
    def is_json(self) -> bool:
        return self in (ObjectKind.ARRAY, ObjectKind.OBJECT, ObjectKind.STRING)


_OPENS = {b"[": ObjectKind.ARRAY, b"{": ObjectKind.OBJECT, b'"': ObjectKind.STRING}
_CLOSES = {ObjectKind.ARRAY: b"]", ObjectKind.OBJECT: b"}", ObjectKind.STRING: b'"'}


def kind_of(source: Readable, *, whole_bytes_max: int = WHOLE_BYTES_MAX) -> ObjectKind:
    """whole_bytes_max: one of up to this length is read whole. Raises ObjectMissing, ObjectDamaged."""
    if source.size <= whole_bytes_max:
        return kind_of_bytes(source.data if isinstance(source, Held) else source.read(0, source.size))
    head = source.read(0, _EDGE_BYTES)
    tail = source.read(source.size - _EDGE_BYTES, source.size).rstrip(SPACE)
    if not (_is_text(head, from_start=True) and _is_text(tail, from_start=False)):
        return ObjectKind.BYTES
    if source.is_array:
        return ObjectKind.ARRAY
    kind = _OPENS.get(head.lstrip(SPACE)[:1], ObjectKind.TEXT)
    # An array that is none by its structure is text; of the others no structure was looked at.
    is_closed = kind is not ObjectKind.ARRAY and tail[-1:] == _CLOSES.get(kind)
    return kind if is_closed and not _is_one_of_lines(head) else ObjectKind.TEXT


def kind_of_bytes(data: bytes) -> ObjectKind:
    try:
        data.decode()
    except UnicodeDecodeError:
        return ObjectKind.BYTES
    stripped = data.strip(SPACE)
    kind = _OPENS.get(stripped[:1])
    if kind is None or stripped[-1:] != _CLOSES[kind]:
        return ObjectKind.TEXT
    try:
        single_value(stripped)
    except (DocumentInvalid, LimitExceeded):
        return ObjectKind.TEXT
    return kind


def _is_one_of_lines(head: bytes) -> bool:
    """The first line is a whole value: it is JSON Lines, and no one value."""
    line, feed, _ = head.lstrip(SPACE).partition(b"\n")
    return bool(feed) and kind_of_bytes(line).is_json


def _is_text(edge: bytes, *, from_start: bool) -> bool:
    """UTF-8, but for a character that is cut at the inner end."""
    text = edge.decode("utf-8", "replace")
    inner = text[:-1] if from_start else text[3:]
    return "\ufffd" not in inner or "\ufffd".encode() in edge
