"""Named: the references and markers that a file holds, and whether the store has what they name.

Nothing here refuses: what is not well formed is no reference (`ctx verify` says what is wrong with it), and a
text that quotes a marker counts as one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from castore.document.reference import members, parse_reference
from castore.errors import DocumentInvalid
from castore.report.model import Listed, ReferenceFacts
from castore.transcript.markers import find

__all__ = ["MARKER", "Presence", "references"]

MARKER = "marker"
"""The kind of what is written as text in a view."""

Presence = Callable[[str], bool]
"""Whether there is an object whose digest begins with these hex digits."""

_SIZE = re.compile(r", ([0-9]{1,18}) bytes")
_Named = tuple[str, str, int]
"""kind, hex digits, bytes as it says."""


def references(data: bytes, is_present: Presence | None = None) -> Listed[ReferenceFacts]:
    """A row a kind, the kind of which most bytes are named first. is_present: asked once for each object."""
    rows: dict[str, list[_Named]] = {}
    for each in (*_references(data), *_markers(data)):
        rows.setdefault(each[0], []).append(each)
    facts = [_row(kind, named, is_present) for kind, named in rows.items()]
    facts.sort(key=lambda each: (-each.size, each.kind))
    return Listed(tuple(facts), len(facts))


def _row(kind: str, named: list[_Named], is_present: Presence | None) -> ReferenceFacts:
    objects = {digits: size for _, digits, size in named}
    missing = None if is_present is None else sum(not is_present(digits) for digits in objects)
    return ReferenceFacts(kind, len(named), len(objects), sum(objects.values()), missing)


def _references(data: bytes) -> Iterator[_Named]:
    for member in members(data):
        if member[2] != 1:
            continue  # A user's own `$ctx`, escaped.
        try:
            described = parse_reference(data, member).descriptor
        except DocumentInvalid:
            continue
        yield str(described.kind), described.digest.hex, described.size


def _markers(data: bytes) -> Iterator[_Named]:
    for found in find(data):
        if not found.is_reference:
            size = _SIZE.search(found.text)
            yield MARKER, found.digest, int(size[1]) if size else 0
