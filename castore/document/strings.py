"""JSON string literals <-> what they say: the encoders that give a literal back to the byte.

Law: `decode(encode(text, escape)) == text`, and `choose_escape(literal)` names an encoder only if
`encode(decode(literal), escape) == literal`. Each encoder is fixed to the byte in docs/format.md:

minimal   RFC 8785, 3.2.2.2: only what JSON demands is escaped, in the short form where there is one,
          else as `\\u00xx`, lower case.
ascii     Python's json with ensure_ascii: as minimal, and everything above U+007E as `\\uxxxx`, lower
          case, beyond the basic plane as a pair of surrogates.
go        Go's encoding/json (1.22 and later): as minimal, and `<`, `>`, `&`, U+2028 and U+2029 as
          `\\uxxxx`, lower case.
"""

from __future__ import annotations

import base64
import binascii
import re
from json.decoder import scanstring  # type: ignore[attr-defined]
from json.encoder import encode_basestring, encode_basestring_ascii

from castore.descriptor import Encoding, Escape

__all__ = [
    "MEDIA_TYPE",
    "choose_escape",
    "decode_base64",
    "decode_data_uri",
    "decode_literal",
    "encode_base64",
    "encode_text",
    "looks_like_base64",
    "sniff_media_type",
]

_SHORT_BYTES_MAX = 16 << 10
"""A longer string is worth the import of the faster library."""

_BASE64_HEAD = re.compile(rb"[A-Za-z0-9+/]{24,64}")
# As it is spelt in the literal, so escapes may stand in it; `(?=…)` bounds it.
_SPELT = r"(?=.{0,200}\Z)(?:[ !#-+\--\[\]-~]|\\(?:[\"\\/bfnrt]|u[0-9a-fA-F]{4}))*"
MEDIA_TYPE = re.compile(_SPELT)
"""What may stand between `data:` and `;base64,`: up to 200 printable ASCII characters without a comma."""
_DATA_URI_HEAD = re.compile(rb"data:([ -+\--~]{0,200}?);base64,")

# The first bytes of what is sent as base64; each is long enough that text doesn't begin so by chance.
_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"BZh9", "application/x-bzip2"),
    (b"OggS\x00", "audio/ogg"),
    (b"ID3\x03", "audio/mpeg"),
    (b"ID3\x04", "audio/mpeg"),
    (b"fLaC\x00", "audio/flac"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"wOF2", "font/woff2"),
    (b"wOFF", "font/woff"),
    (b"\x7fELF", "application/x-executable"),
    (b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"\x00asm\x01", "application/wasm"),
)


def decode_literal(literal: bytes) -> str:
    """The text of a valid string literal, quotes included. Lone surrogates stay lone surrogates."""
    if b"\\" not in literal:
        return literal[1:-1].decode()
    if len(literal) > _SHORT_BYTES_MAX:
        import msgspec

        try:
            text: str = msgspec.json.decode(literal, type=str)
        except msgspec.DecodeError:  # A lone surrogate: the slower decoder takes it.
            return str(scanstring(literal.decode(), 1)[0])
        return text
    return str(scanstring(literal.decode(), 1)[0])


def encode_text(text: str, escape: Escape) -> bytes:
    """The literal, quotes included, that the encoder writes for `text` (which has no lone surrogate)."""
    if escape is Escape.ASCII:
        return encode_basestring_ascii(text).encode()
    literal = _minimal(text)
    if escape is Escape.GO:
        for character in "<>&\u2028\u2029":
            literal = literal.replace(character.encode(), b"\\u%04x" % ord(character))
    return literal


def _minimal(text: str) -> bytes:
    """Both encoders write the same bytes for every character (a test compares them); one is faster."""
    if len(text) > _SHORT_BYTES_MAX:
        import msgspec

        return bytes(msgspec.json.encode(text))
    return encode_basestring(text).encode()


def choose_escape(literal: bytes, text: str) -> Escape | None:
    """The encoder that gives `literal` for `text`, the first of minimal, ascii, go that does; else None."""
    if b"\\" not in literal:
        # Whatever stands bare is what minimal leaves bare: the grammar has had the rest escaped.
        return Escape.MINIMAL
    for escape in Escape:
        if encode_text(text, escape) == literal:
            return escape
    return None


def looks_like_base64(content: bytes) -> bool:
    return len(content) % 4 == 0 and _BASE64_HEAD.match(content) is not None


def decode_base64(content: bytes) -> bytes | None:
    """The bytes in `content`, a literal without its quotes, if base64 gives `content` back for them."""
    try:
        data = binascii.a2b_base64(content, strict_mode=True)
    except (binascii.Error, ValueError):
        return None
    return data if binascii.b2a_base64(data, newline=False) == content else None


def decode_data_uri(content: bytes) -> tuple[str, bytes] | None:
    """The media type (with its parameters) and the bytes of a `data:…;base64,…` that can be rebuilt."""
    match = _DATA_URI_HEAD.match(content)
    if match is None or MEDIA_TYPE.fullmatch(match[1].decode()) is None:
        return None
    data = decode_base64(content[match.end() :])
    return None if data is None else (match[1].decode(), data)


def encode_base64(data: bytes, encoding: Encoding, media_type: str | None) -> bytes:
    """The literal, quotes included."""
    head = b"" if encoding is Encoding.BASE64 else b"data:" + (media_type or "").encode() + b";base64,"
    return b'"' + head + base64.b64encode(data) + b'"'


def sniff_media_type(data: bytes) -> str | None:
    """The media type that the first bytes say, if they say one."""
    for magic, media_type in _MAGIC:
        if data.startswith(magic):
            return media_type
    if data[:4] == b"RIFF":
        return {b"WEBP": "image/webp", b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo"}.get(data[8:12])
    if data[4:8] == b"ftyp":
        return "video/mp4"
    return None
