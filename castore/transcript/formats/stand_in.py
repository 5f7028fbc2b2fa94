"""What the formats share of `stand_in`: which records leave, and how those that stand in are written.

Law: what is written is short of white space and holds what it was given; a member of a record that leaves is
taken over as it is spelled, and only if it is a short string or a flag.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from json.encoder import encode_basestring

from castore.transcript.arguments import json_bytes
from castore.transcript.records import Record, Records
from castore.transcript.values import Value

__all__ = [
    "COLLAPSE_MARK",
    "Members",
    "copied",
    "is_stand_in",
    "joined",
    "literal_of",
    "object_of",
    "records_in",
    "records_with",
]

Members = Mapping[str, bytes | str | None]
"""Of an object: literals, and texts that are to be one; None is left out."""

COLLAPSE_MARK = "castore.collapse"
"""What tells a record that stands in from one of the tool's own."""

_COPIED_BYTES_MAX = 512


def records_in(records: Records, pieces: Sequence[tuple[int, int]]) -> list[Record]:
    """The records that leave, in order."""
    found: list[Record] = []
    for start, end in pieces:
        low, high = (bisect_left(records.records, at, key=lambda record: record.start) for at in (start, end))
        found += records.records[low:high]
    return found


def records_with(records: Records, pattern: re.Pattern[bytes]) -> Iterator[Record]:
    """The records whose bytes have it somewhere, in order: so members are found that few records have, if
    they are spelled as every tool spells them, without escapes."""
    found = pattern.search(records.data)
    for record in records.records:
        if found is None:
            return
        if found.start() < record.end:
            if found.start() >= record.start:
                yield record
            found = pattern.search(records.data, record.end)


def is_stand_in(value: Value) -> bool:
    """Whether a record stands in for others, by its mark alone."""
    return value.text("customType") == COLLAPSE_MARK


def literal_of(text: str) -> bytes:
    """A JSON string that says the text."""
    return json_bytes(encode_basestring(text))


def object_of(members: Members) -> bytes:
    """The JSON object with these members."""
    written = [
        literal_of(name) + b":" + (value if isinstance(value, bytes) else literal_of(value))
        for name, value in members.items()
        if value is not None
    ]
    return b"{" + b",".join(written) + b"}"


def copied(value: Value | None, names: Iterable[str]) -> dict[str, bytes | str | None]:
    """Members of a record that leaves, as they are spelled."""
    found: dict[str, bytes | str | None] = {}
    for name in names:
        member = None if value is None else value.get(name)
        if member is None or len(member) > _COPIED_BYTES_MAX:
            continue
        if member.is_string or member.type_name == "boolean":
            found[name] = member.literal
    return found


def joined(records: Sequence[bytes], source: bytes, pieces: Sequence[tuple[int, int]]) -> bytes:
    """Records with the line ends between them that the session has."""
    start, end = pieces[0]
    newline = b"\r\n" if source[max(start, end - 2) : end] == b"\r\n" else b"\n"
    return newline.join(records)
