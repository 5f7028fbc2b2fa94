"""Arguments of a call: their text; and what stands in their place if they leave, but for what is short of
them, so that the model still sees which file it wrote.

Law: what stands is an object, and each of its members that is short is as it was, byte for byte; in the place
of each long one is the marker. If none is long, or it is no object, one member `ctx` holds the marker.
"""

from __future__ import annotations

import json
import re

from castore.document.grammar import OBJECT
from castore.document.single import single_value
from castore.document.strings import decode_literal
from castore.errors import DocumentInvalid, LimitExceeded
from castore.transcript.model import Form, Part, Transcript
from castore.transcript.values import Source, Value

__all__ = ["arguments_of", "json_bytes", "shorter_arguments"]

_OF_CALLS = frozenset({"cache_control", "call_id", "id", "name", "status", "thoughtSignature", "type"})
_OF_ARGUMENTS = frozenset({"action", "args", "arguments", "input", "operation"})
"""Members of a call's block: what it may have without arguments, and what its arguments are called."""

_HALF = re.compile("[\ud800-\udfff]")


def arguments_of(transcript: Transcript, part: Part) -> str:
    """The text of a call's arguments: of a string literal what it says, of any other value its JSON; of a
    call that has none, an empty object's."""
    literal = transcript.literal(part)
    if literal.startswith(b'"'):
        return decode_literal(literal)
    text = literal.decode()
    return "{}" if part.form is Form.FIXED and _is_whole_call(text, part) else text


def _is_whole_call(text: str, part: Part) -> bool:
    """Whether it is the block of a call that has no arguments, so its name and id and what goes with them."""
    try:
        block = json.loads(text, parse_int=str)
    except (ValueError, RecursionError):
        return False
    if not isinstance(block, dict) or any(block.get(name) is not None for name in _OF_ARGUMENTS):
        return False
    ids = (block.get("id"), block.get("call_id"))
    if part.call_id is not None and part.call_id in ids:
        return True
    is_named = part.tool is not None and block.get("name") == part.tool
    return is_named and (_OF_CALLS | _OF_ARGUMENTS).issuperset(block)


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
