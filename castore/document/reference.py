"""References in a document, and the escape that keeps a user's `$ctx` apart from ours.

Law: a document that fold wrote is cut by `parts` into exactly the pieces it was made of; and
`unescaped(escaped(bytes)) == bytes`. A user's member whose decoded name is `$ctx`, `$$ctx`, … gets one `$`
put before its literal; unfold takes exactly one away. So a member named `$ctx` is always ours, and one
that is not a well-formed reference is an error, never passed through.

Nothing here parses the document: an opening quote followed by a name of that form and a colon is a
member in every valid document, since inside a string a quote has a backslash before it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from castore.config import REFERENCE_BYTES_MAX
from castore.descriptor import Descriptor, Encoding, Escape, Kind
from castore.digest import Digest
from castore.document.grammar import SPACE
from castore.document.strings import MEDIA_TYPE, encode_text
from castore.errors import DocumentInvalid, InvalidOption

__all__ = [
    "REFERENCE_BYTES_MIN",
    "Member",
    "Reference",
    "bare_length",
    "members",
    "parse_descriptor",
    "write_reference",
]

_DOLLAR = rb"(?:\$|\\u0024)"
_MEMBER = re.compile(rb'"((?:\$|\\u0024)++)(?:c|\\u0063)(?:t|\\u0074)(?:x|\\u0078)"[ \t\r\n]*+:')
_ONE_DOLLAR = re.compile(_DOLLAR)

REFERENCE_BYTES_MIN = 117
"""No reference is shorter: `{"$ctx":{"kind":"text","digest":"sha256:…","size":0}}` and its like."""

Member = tuple[int, int, int, int]
"""Of a member whose name is `$…ctx`: offset of its name's quote, of the first dollar's end, how many dollars,
and the offset after its colon."""


class Reference(tuple[int, int, Descriptor]):
    """start, end, descriptor: where a reference stands in the document, and what it says."""

    __slots__ = ()

    @property
    def start(self) -> int:
        return self[0]

    @property
    def end(self) -> int:
        return self[1]

    @property
    def descriptor(self) -> Descriptor:
        return self[2]


def members(data: bytes | bytearray, start: int = 0, end: int | None = None) -> Iterator[Member]:
    """Every member named `$ctx`, `$$ctx`, … (however it is spelt) in valid JSON, in order."""
    stop = len(data) if end is None else end
    for at in _candidates(data, start, stop):
        match = _MEMBER.match(data, at, stop)
        if match is not None and (at == 0 or data[at - 1] != 0x5C):
            dollars = _ONE_DOLLAR.findall(match[1])
            yield at, at + 1 + len(dollars[0]), len(dollars), match.end()


def _candidates(data: bytes | bytearray, start: int, end: int) -> Iterator[int]:
    """Offsets of `"$` and of `"\\u0024`, in order. Plain searches are many times faster than a pattern."""
    plain = data.find(b'"$', start, end)
    spelt = data.find(b'"\\u0024', start, end)
    while plain >= 0 or spelt >= 0:
        if spelt < 0 or 0 <= plain < spelt:
            yield plain
            plain = data.find(b'"$', plain + 1, end)
        else:
            yield spelt
            spelt = data.find(b'"\\u0024', spelt + 1, end)


def bare_length(kind: Kind, size: int) -> int:
    """Bytes of the shortest reference to an array, object or string of `size` bytes."""
    return len('{"$ctx":{"kind":"","digest":"sha256:","size":}}') + 64 + len(kind) + len(str(size))


def write_reference(descriptor: Descriptor, bytes_max: float) -> bytes | None:
    """The reference, with as much for the reader as fits in `bytes_max`; None if not even the bare one does.

    First the preview goes (whoever calls has shortened it as far as it goes), then the counts.
    """
    bare = [f'{{"$ctx":{{"kind":"{descriptor.kind}","digest":"{descriptor.digest}","size":{descriptor.size}']
    if descriptor.escape is not None:
        bare.append(f'"escape":"{descriptor.escape}"')
    if descriptor.encoding is not None:
        bare.append(f'"encoding":"{descriptor.encoding}"')
    if descriptor.encoding is Encoding.DATA_URI:
        bare.append('"media_type":' + encode_text(descriptor.media_type or "", Escape.MINIMAL).decode())
    counts = list(bare)
    if descriptor.items is not None:
        counts.append(f'"items":{descriptor.items}')
    if descriptor.lines is not None:
        counts.append(f'"lines":{descriptor.lines}')
    whole = list(counts)
    if descriptor.preview is not None:
        whole.append('"preview":' + encode_text(descriptor.preview, Escape.MINIMAL).decode())
    for members_ in (whole, counts, bare):
        written = (",".join(members_) + "}}").encode()
        if len(written) <= bytes_max:
            return written
    return None


def parse_reference(data: bytes | bytearray, member: Member) -> Reference:
    """The reference whose `$ctx` member was found. Raises DocumentInvalid at what is wrong."""
    name_at, _, _, value_at = member
    start = name_at - 1
    while start >= 0 and data[start] in b" \t\r\n":
        start -= 1
    if start < 0 or data[start] != 0x7B:
        raise _malformed("'$ctx' stands among other members", name_at)
    value_at = SPACE.match(data, value_at).end()  # type: ignore[union-attr]
    pairs, value_end = _read_object(data, value_at)
    end = SPACE.match(data, value_end).end()  # type: ignore[union-attr]
    if end >= len(data) or data[end] != 0x7D:
        raise _malformed("'$ctx' stands among other members", name_at)
    return Reference((start, end + 1, parse_descriptor(pairs, name_at)))


def _read_object(data: bytes | bytearray, at: int) -> tuple[list[tuple[str, Any]], int]:
    """The members of the object at `at`, as pairs, and the offset after it."""
    if data[at : at + 1] != b"{":
        raise _malformed("its value is not an object", at)
    text = bytes(data[at : at + REFERENCE_BYTES_MAX]).decode("utf-8", "ignore")
    try:
        pairs, length = _DECODER.raw_decode(text)
    except (ValueError, RecursionError) as error:
        raise _malformed(f"its value is longer than {REFERENCE_BYTES_MAX} bytes", at) from error
    return pairs, at + len(text[:length].encode())


class _Pairs(list[tuple[str, Any]]):
    """An object's members as they stand, so that one given twice is seen."""


_DECODER = json.JSONDecoder(object_pairs_hook=_Pairs)

_KINDS = {str(kind): kind for kind in Kind if kind is not Kind.SPAN}
_ESCAPES = {str(escape): escape for escape in Escape}
_ENCODINGS = {str(encoding): encoding for encoding in Encoding}
_READ_MEMBERS = frozenset(
    ("kind", "digest", "size", "escape", "encoding", "media_type", "items", "lines", "preview")
)


def parse_descriptor(pairs: list[tuple[str, Any]], offset: int) -> Descriptor:
    """What a reference's members say. Unknown ones are ignored; what rebuilds the literal must be right."""
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in _READ_MEMBERS:
            if name in values:
                raise _malformed(f"'{name}' is given twice", offset)
            values[name] = value
    kind = _KINDS.get(_string(values.get("kind")))
    if kind is None:
        raise _malformed("'kind' must be array, object, string, text or bytes", offset)
    try:
        digest = Digest.parse(_string(values.get("digest")))
    except InvalidOption as error:
        raise _malformed("'digest' must be 'sha256:' and 64 lower-case hex digits", offset) from error
    if not _string(values.get("digest")).startswith("sha256:"):
        raise _malformed("'digest' must be 'sha256:' and 64 lower-case hex digits", offset)
    size = values.get("size")
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise _malformed("'size' must be an integer of bytes", offset)
    escape = encoding = media_type = None
    if kind is Kind.TEXT:
        escape = _ESCAPES.get(_string(values.get("escape")))
        if escape is None:
            raise _malformed("'escape' must be minimal, ascii or go", offset)
    if kind is Kind.BYTES:
        encoding = _ENCODINGS.get(_string(values.get("encoding")))
        if encoding is None:
            raise _malformed("'encoding' must be base64 or data-uri", offset)
        if encoding is Encoding.DATA_URI:
            media_type = values.get("media_type")
            if not isinstance(media_type, str) or not MEDIA_TYPE.fullmatch(media_type):
                raise _malformed("'media_type' must say what the data URI says", offset)
    return Descriptor(
        kind,
        digest,
        size,
        escape,
        encoding,
        media_type,
        _count(values, "items"),
        _count(values, "lines"),
        values.get("preview") if isinstance(values.get("preview"), str) else None,
    )


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(values: dict[str, Any], name: str) -> int | None:
    """What is there for the reader alone: -1 if it is no count, so that verify can say so."""
    if name not in values:
        return None
    value = values[name]
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else -1


def _malformed(message: str, offset: int) -> DocumentInvalid:
    return DocumentInvalid(
        f"not a well-formed reference: {message}",
        offset=offset,
        hint="undo the edit of the reference; what fold did not write can't be unfolded",
    )
