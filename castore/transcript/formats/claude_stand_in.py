"""What stands in a Claude Code session for records that leave: a `user` record that is `isMeta`, so the model
gets it and no person is taken to have written it; and `system` records that the tool shows to nobody, for the
uuids that records which stay point to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from castore.transcript.formats.chain import Chain, Link
from castore.transcript.formats.claude_tree import Line, Selection, selected
from castore.transcript.formats.stand_in import (
    COLLAPSE_MARK,
    Members,
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

_OF_ALL = ("isSidechain", "agentId", "sessionId", "timestamp")
_OF_MESSAGES = (*_OF_ALL, "userType", "cwd", "version", "gitBranch", "slug")
_POINTERS = (
    ("logicalParentUuid",),
    ("leafUuid",),
    ("sourceToolAssistantUUID",),
    ("compactMetadata", "preservedSegment", "headUuid"),
    ("compactMetadata", "preservedSegment", "anchorUuid"),
    ("compactMetadata", "preservedSegment", "tailUuid"),
)
"""Beside the parent."""
_POINTER = re.compile(rb'"(?:%s)"' % "|".join(sorted({way[0] for way in _POINTERS})).encode())


def stand_in(transcript: Transcript, pieces: Sequence[tuple[int, int]], text: str) -> bytes:
    records, leaf = transcript.records, transcript.leaf
    chain = records.once(("claude chain", leaf), lambda records: _chain(records, leaf))
    leaving = records_in(records, pieces)
    links = chain.links([record.index for record in leaving])
    written = [
        _message(link, records.records[link.of], text)
        if link.is_message
        else _note(link, records.records[link.of])
        for link in links
    ]
    return joined(written, transcript.source, pieces)


def _message(link: Link, record: Record, text: str) -> bytes:
    said = object_of({"role": "user", "content": text})
    members: Members = {
        "parentUuid": _parent(link),
        "uuid": link.id,
        "type": "user",
        **copied(record.value, _OF_MESSAGES),
        "isMeta": b"true",
        "customType": COLLAPSE_MARK,
        "message": said,
    }
    return object_of(members)


def _note(link: Link, record: Record) -> bytes:
    kind = {"type": "system", "subtype": "informational", "level": "info", "content": ""}
    return object_of({"parentUuid": _parent(link), "uuid": link.id, **kind, **copied(record.value, _OF_ALL)})


def _parent(link: Link) -> bytes | None:
    if link.parent is None:
        return None if link.id is None else b"null"
    return literal_of(link.parent)


# --- The chain ---


def _chain(records: Records, leaf: str | None) -> Chain:
    selection = selected(records, leaf)
    names = {line.uuid: line.record.index for line in selection.viewed if line.uuid is not None}
    ids = {index: name for name, index in names.items()}
    above = {
        line.record.index: line.parent.record.index for line in selection.viewed if line.parent is not None
    }
    parents = {
        line.record.index: line.parent_uuid for line in selection.viewed if line.parent_uuid is not None
    }
    staying = {line.record.index for line in selection.viewed}
    staying.update(record.index for record in selection.floating)
    told = list(parents.items())
    for record in records_with(records, _POINTER):
        if record.index in staying and record.value is not None:
            told += [(record.index, name) for name in _named(record.value)]
    pointers = [(index, names[name], name) for index, name in told if name in names]
    return Chain(ids, above, parents, _way(selection), pointers)


def _named(value: Value) -> Iterator[str]:
    """The uuids that a record points to beside its parent's."""
    for way in _POINTERS:
        name = value.text(*way) if way[0] in value.members else None
        if name is not None:
            yield name


def _way(selection: Selection) -> list[int]:
    """From the root to the leaf, as far as it is viewed, and on to the last record if that hangs on the leaf:
    the results of the leaf's calls do."""
    viewed = {line.uuid: line for line in selection.viewed if line.uuid is not None}
    leaf = viewed.get(selection.leaf or "")
    last = next(reversed(viewed.values()), None)
    way = _up_from(last)
    return way if leaf is None or leaf.record.index in way else _up_from(leaf)


def _up_from(line: Line | None) -> list[int]:
    way: dict[int, None] = {}
    while line is not None and line.record.index not in way:
        way[line.record.index] = None
        line = line.parent
    return [*way][::-1]
