"""Arguments of a call that leave, but for what is short of them: the model still sees which file it wrote.

Law: what stands is an object, and each of its members that is short is as it was, byte for byte; in the place
of each long one is the marker. If none is long, or it is no object, one member `ctx` holds the marker.
"""

from __future__ import annotations

import re

from castore.document.grammar import OBJECT
from castore.document.single import single_value
from castore.errors import DocumentInvalid, LimitExceeded
from castore.transcript.values import Source, Value

__all__ = ["json_bytes", "shorter_arguments"]

_HALF = re.compile("[\ud800-\udfff]")


def json_bytes(text: str) -> bytes:
    """JSON, the text of a string, as UTF-8; half a character, which that can't hold, as its escape."""
    if text.isascii():
        return text.encode()
    return _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", text).encode()


def shorter_arguments(written: bytes, marker: bytes, least: int) -> bytes:
    """written: the arguments as JSON. marker: a string literal. least: a member of more bytes is long."""
    pieces: list[bytes] = []
    done = 0
    for value in _values(written):
        if len(value) > least:
            pieces += [written[done : value.start], marker]
            done = value.end
    if not pieces:
        return b'{"ctx":' + marker + b"}"
    return b"".join([*pieces, written[done:]])


def _values(written: bytes) -> list[Value]:
    """Of the object's members, in order; none if it is no object. Of a name that is there twice, the last
    one: that is what readers take."""
    try:
        if written[:1] != b"{" or single_value(written).kind != OBJECT:
            return []
    except (DocumentInvalid, LimitExceeded):
        return []  # What a model wrote as arguments need not be JSON.
    members = Value(Source(written), 0, len(written)).members
    return sorted(members.values(), key=lambda value: value.start)
