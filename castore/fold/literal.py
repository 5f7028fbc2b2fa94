"""From a literal to the object that stands for it, and back: what a reference means.

Law: `rebuild(descriptor, data)` is the literal from which `object_of` made `descriptor` and `data`; this
was compared before the descriptor was returned. What a kind can't have is UnfoldMismatch.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from castore.descriptor import Descriptor, Encoding, Escape, Kind
from castore.digest import Digest
from castore.document.grammar import ARRAY, OBJECT, STRING, Node
from castore.document.preview import line_count
from castore.document.single import single_value
from castore.document.strings import (
    choose_escape,
    decode_base64,
    decode_data_uri,
    decode_literal,
    encode_base64,
    encode_text,
    looks_like_base64,
    sniff_media_type,
)
from castore.errors import DocumentInvalid, LimitExceeded, UnfoldMismatch

__all__ = ["NO_DIGEST", "check_fit", "object_of", "rebuild"]

NO_DIGEST = Digest("0" * 64)
"""Stands in a descriptor until its object has been digested."""

_MEDIA_TYPE_NAMES = frozenset(
    ("media_type", "mediatype", "mimetype", "mime_type", "contenttype", "content_type", "mime", "type")
)
_MEDIA_TYPE = re.compile(r"[a-z]+/[ -~]+", re.IGNORECASE)
_SIBLINGS_BYTES_MAX = 64 << 10
_KIND_OF_OPENING = {ARRAY: Kind.ARRAY, OBJECT: Kind.OBJECT, STRING: Kind.STRING}


def object_of(
    data: bytes | bytearray, node: Node, parent: Node | None
) -> tuple[Descriptor, bytes | memoryview]:
    """What stands for the literal at `node`: a descriptor without its digest, and the object's bytes.

    A text or base64 string was encoded again here and compared with its literal; else it is kept as a string.
    """
    literal = memoryview(data)[node.start : node.end]
    size = len(literal)
    if node.kind == ARRAY:
        return Descriptor(Kind.ARRAY, NO_DIGEST, size, items=node.items), literal
    if node.kind == OBJECT:
        return Descriptor(Kind.OBJECT, NO_DIGEST, size), literal
    return _object_of_string(bytes(literal), lambda: _siblings_say_binary(data, node, parent))


def _object_of_string(literal: bytes, is_said_binary: Callable[[], bool]) -> tuple[Descriptor, bytes]:
    binary = _as_bytes(literal, is_said_binary)
    if binary is not None:
        return binary
    text = decode_literal(literal)
    try:
        decoded = text.encode()
    except UnicodeEncodeError:  # A lone surrogate has no UTF-8.
        decoded = None
    escape = choose_escape(literal, text) if decoded is not None else None
    if decoded is None or escape is None:
        return Descriptor(Kind.STRING, NO_DIGEST, len(literal)), literal
    lines = line_count(decoded)
    return Descriptor(Kind.TEXT, NO_DIGEST, len(decoded), escape=escape, lines=lines), decoded


def _as_bytes(literal: bytes, is_said_binary: Callable[[], bool]) -> tuple[Descriptor, bytes] | None:
    content = literal[1:-1]
    if content.startswith(b"data:"):
        found = decode_data_uri(content)
        if found is None:
            return None
        media_type, data = found
        return (
            Descriptor(Kind.BYTES, NO_DIGEST, len(data), encoding=Encoding.DATA_URI, media_type=media_type),
            data,
        )
    if not looks_like_base64(content):
        return None
    decoded = decode_base64(content)
    if decoded is None:
        return None
    if sniff_media_type(decoded) is None and not is_said_binary():
        return None
    return Descriptor(Kind.BYTES, NO_DIGEST, len(decoded), encoding=Encoding.BASE64), decoded


def _siblings_say_binary(data: bytes | bytearray, node: Node, parent: Node | None) -> bool:
    """Whether the object that holds the string has a media type beside it (`media_type`, `mimeType`, …)."""
    if parent is None or parent.kind != OBJECT:
        return False
    around = bytes(data[parent.start : node.start]) + b'""' + bytes(data[node.end : parent.end])
    if len(around) > _SIBLINGS_BYTES_MAX:
        return False
    members = json.loads(around.decode(), parse_int=len, parse_float=len)
    return any(
        name.lower() in _MEDIA_TYPE_NAMES and isinstance(value, str) and _MEDIA_TYPE.fullmatch(value)
        for name, value in members.items()
    )


def rebuild(descriptor: Descriptor, data: bytes) -> bytes:
    """The literal that `descriptor` says stood there, from the object's bytes.

    Raises UnfoldMismatch where the size is not the object's, or its bytes can't be of that kind.
    """
    check_fit(descriptor, len(data))
    if descriptor.kind is Kind.SPAN:
        return data
    if descriptor.kind is Kind.TEXT:
        return encode_text(_decode(descriptor, data), descriptor.escape or Escape.MINIMAL)
    if descriptor.kind is Kind.BYTES:
        return encode_base64(data, descriptor.encoding or Encoding.BASE64, descriptor.media_type)
    _check_literal(descriptor, data)
    return data


def check_fit(descriptor: Descriptor, size: int) -> None:
    if size != descriptor.size:
        raise UnfoldMismatch(
            f"the reference says {descriptor.size} bytes, "
            f"object '{descriptor.digest.abbreviated}' has {size}",
            digest=str(descriptor.digest),
        )


def _decode(descriptor: Descriptor, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise _impossible(descriptor, f"it is not UTF-8 at byte {error.start}") from error


def _check_literal(descriptor: Descriptor, data: bytes) -> None:
    """The object is one JSON value of the kind, with nothing around it."""
    try:
        node = single_value(data)
    except (DocumentInvalid, LimitExceeded) as error:
        raise _impossible(descriptor, error.message) from error
    if _KIND_OF_OPENING[node.kind] is not descriptor.kind:
        raise _impossible(descriptor, f"it is of the kind {_KIND_OF_OPENING[node.kind]}")


def _impossible(descriptor: Descriptor, why: str) -> UnfoldMismatch:
    article = "an" if descriptor.kind in (Kind.ARRAY, Kind.OBJECT) else "a"
    return UnfoldMismatch(
        f"object '{descriptor.digest.abbreviated}' can't be {article} {descriptor.kind}: {why}",
        digest=str(descriptor.digest),
    )
