"""What stands in a Pi session for entries that leave: a `custom_message`, which goes to the model as the
user's, and `custom` entries, which never do, for the ids that entries which stay point to.

Law: a session of version 1 counts its entries, so as many stand as stood there before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
    records_with,
)
from castore.transcript.model import Transcript
from castore.transcript.records import Record, Records
from castore.transcript.values import Value

__all__ = ["stand_in"]

_POINTERS = ("firstKeptEntryId", "targetId", "fromId")
"""Beside the parent."""
_POINTER = re.compile(rb'"(?:%s)"' % "|".join(_POINTERS).encode())


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
    way = [entry.index for entry in branch.viewed]
    ids = {index: branch.ids[index] for index in sorted(way)}
    names = {name: index for index, name in ids.items()}
    above = {later: earlier for earlier, later in pairwise(way)}
    # A last entry that says where the branch ends stays, though it is not on it.
    ends = [record.index for record in records.objects[-1:] if _value(record).text("type") == "leaf"]
    staying = [*way, *ends]
    told = [(index, branch.parents[index]) for index in staying if index in branch.parents]
    told += _told(records, frozenset(staying))
    if any(name not in names for _, name in told):
        # Some tools name a call as the parent: then it is the entry that holds it.
        names = {**_calls(branch.viewed), **names}
    pointers = [(index, names[name], name) for index, name in told if name in names]
    return Chain(ids, above, branch.parents, way, pointers)


def _told(records: Records, staying: frozenset[int]) -> Iterator[tuple[int, str]]:
    """What entries name beside their parents. Few have such members, which are looked for in the bytes."""
    for record in records_with(records, _POINTER):
        if record.index in staying:
            for member in _POINTERS:
                name = _value(record).text(member) if member in _value(record).members else None
                if name is not None:
                    yield record.index, name


def _calls(entries: Sequence[Record]) -> dict[str, int]:
    """The ids of calls, and the entries that hold them."""
    calls: dict[str, int] = {}
    for entry in entries:
        content = _value(entry).get("message", "content")
        for block in content.items() if content is not None else []:
            if block.text("type") == "toolCall":
                calls.setdefault(block.text("id") or "", entry.index)
    return calls


def _value(entry: Record) -> Value:
    assert entry.value is not None
    return entry.value
