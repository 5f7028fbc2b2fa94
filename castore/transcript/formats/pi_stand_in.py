"""What stands in a Pi session for entries that leave: a `custom_message`, which goes to the model as the
user's, and `custom` entries, which never do, for the ids that entries which stay point to.

Law: a session of version 1 counts its entries, so as many stand as stood there before.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from castore.transcript.formats.chain import Chain, Link
from castore.transcript.formats.pi_tree import NO_ENTRY, selected
from castore.transcript.formats.stand_in import (
    COLLAPSE_MARK,
    copied,
    joined,
    literal_of,
    object_of,
    records_in,
)
from castore.transcript.model import Transcript
from castore.transcript.records import Record, Records
from castore.transcript.values import Value

__all__ = ["stand_in"]

_POINTERS = ("parentId", "firstKeptEntryId", "targetId", "fromId")


def stand_in(transcript: Transcript, pieces: Sequence[tuple[int, int]], text: str) -> bytes:
    records, leaf = transcript.records, transcript.leaf
    chain = records.once(("pi chain", leaf), lambda records: _chain(records, leaf))
    leaving = records_in(records, pieces)
    if chain is None:
        written = _counted(leaving, text)
    else:
        links = chain.links([record.index for record in leaving])
        written = [_entry(link, records.records[link.of], text) for link in links]
    return joined(written, transcript.source, pieces)


def _counted(leaving: Sequence[Record], text: str) -> list[bytes]:
    """The message goes last: what a compaction keeps from within them, it keeps with the message."""
    value = leaving[0].value
    said = object_of({"role": "user", "content": text})
    message = {"type": "message", **copied(value, ["timestamp"]), "customType": COLLAPSE_MARK}
    entries = sum(record.value is not None for record in leaving)
    return [*[NO_ENTRY] * (entries - 1), object_of({**message, "message": said})]


def _entry(link: Link, record: Record, text: str) -> bytes:
    type = "custom_message" if link.is_message else "custom"
    parent = b"null" if link.parent is None else literal_of(link.parent)
    members = {"type": type, "id": link.id, "parentId": parent, **copied(record.value, ["timestamp"])}
    members["customType"] = COLLAPSE_MARK
    if link.is_message:
        members |= {"content": text, "display": b"true"}
    return object_of(members)


# --- The chain ---


def _chain(records: Records, leaf: str | None) -> Chain | None:
    """None for a session without ids."""
    branch = selected(records, leaf)
    if branch.is_counted:
        return None
    names: dict[str, int] = {}
    calls: dict[str, int] = {}
    parents: dict[int, str] = {}
    for entry in branch.viewed:
        value = _value(entry)
        names[value.text("id") or ""] = entry.index
        parent = value.text("parentId")
        if parent is not None:
            parents[entry.index] = parent
        for block in _blocks(value):
            if block.text("type") == "toolCall":
                calls.setdefault(block.text("id") or "", entry.index)
    above = {later.index: earlier.index for earlier, later in pairwise(branch.viewed)}
    # A last entry that says where the branch ends stays, though it is not on it.
    ends = [record for record in records.objects[-1:] if _value(record).text("type") == "leaf"]
    pointers = [
        (entry.index, found, name)
        for entry in [*branch.viewed, *ends]
        for member in _POINTERS
        if member in _value(entry).members and (name := _value(entry).text(member)) is not None
        if (found := names.get(name, calls.get(name))) is not None
    ]
    ids = {index: name for name, index in names.items()}
    way = [entry.index for entry in branch.viewed]
    return Chain(dict(sorted(ids.items())), above, parents, way, pointers)


def _blocks(entry: Value) -> list[Value]:
    content = entry.get("message", "content")
    return content.items() if content is not None else []


def _value(entry: Record) -> Value:
    assert entry.value is not None
    return entry.value
