"""Two files, held against each other: what each of them has folded or moved, told by the store if it can.

Laws: a recorded view tells of its session, part by part; a folded document of its references, by their paths,
whether their objects are here or not; of anything else its markers count. What is the source of the other is
a session or document as it stands, whatever is quoted in it. Nothing is written.

A view that is not recorded here is told by its markers alone: so what left without one is not told, and what
a session itself quotes is told unless the other quotes it too.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, BinaryIO, cast

from castore.digest import Digest
from castore.document.path import values, write_path
from castore.document.reference import Reference
from castore.document.scan import segments
from castore.document.splice import unfold_parts
from castore.document.strings import decode_literal
from castore.errors import Damaged, DigestAmbiguous, NotFound, StoreUnavailable, UnfoldMismatch
from castore.fold.check import may_hold_references
from castore.fold.unfold import unfold_stream
from castore.roots.model import Content, RootKind
from castore.transcript.diff import Change, Difference, FoldedSpan, Rest, differences, rest_of, weighed
from castore.transcript.formats import ReadOptions, read_transcript
from castore.transcript.markers import find
from castore.transcript.model import Part, PartKind, Reason, Transcript
from castore.transcript.recorded import RecordedView, find_recorded, splices_of
from castore.transcript.records import read_records

if TYPE_CHECKING:
    from castore.store import Store, StoreHandle

__all__ = ["Compared", "compare"]

_NO_NODES = 1 << 62
_EXCERPT_CHARACTERS = 80
_EXCERPT_BYTES = 1200
_HEAD = re.compile(rb'"(?:[^"\\\x00-\x1f]|\\u[0-9a-fA-F]{4}|\\[^u])*+', re.DOTALL)
_THOUGHT = re.compile(
    rb'\{[ \t]*+(?:"(?:type|signature)"[ \t]*+:[ \t]*+"[^"\\]*+"[ \t]*+,[ \t]*+){0,2}'
    rb'"thinking"[ \t]*+:[ \t]*+(?=")'
)
"""What stands before the thought in such a block."""
_WHOLE_RECORDS = {Reason.OLDER: "records", Reason.OTHER_BRANCH: "records", Reason.CUT: "records"}


@dataclass(frozen=True)
class Compared:
    """spans: what is folded in one and not in the other. rest: how the sources differ otherwise; None: they
    do not, or nobody can say, and then `unknown` says why."""

    spans: Sequence[Difference]
    rest: Rest | None = None
    unknown: str | None = None

    @property
    def is_same(self) -> bool:
        return not self.spans and self.rest is None


def compare(first: bytes, second: bytes, handle: StoreHandle) -> Compared:
    """What is folded in one of the two, and not in the other. Raises DocumentInvalid for references that are
    none, DigestAmbiguous where several sessions have the view, and what RecordedView.source raises."""
    if first == second:
        return Compared(())
    store = handle.get() if handle.exists else None
    sides = [
        _recorded_side(store, one, other) if store is not None else None
        for one, other in ((first, second), (second, first))
    ]
    for at, data in enumerate((first, second)):
        other = sides[1 - at]
        if sides[at] is None:
            sides[at] = _side(handle, store, data, other)
    ours, theirs = cast("list[_Side]", sides)
    rest, unknown = _rest(ours, theirs)
    is_one_source = (rest is None or rest.change is not Change.BOTH) and unknown is None
    spans = weighed(differences(ours.spans, theirs.spans, is_one_source=is_one_source))
    if unknown is not None and not spans:
        # Something must be different: these bytes are not the same.
        rest = rest_of(first, second)
    return Compared(spans, rest, unknown)


@dataclass(frozen=True)
class _Side:
    """source: of what was folded or viewed, or of the file itself; None: nobody knows. data: its bytes, if
    they are at hand."""

    spans: Sequence[FoldedSpan] = ()
    source: Content | None = None
    data: bytes | None = field(default=None, repr=False)
    why_unknown: str = ""


def _rest(ours: _Side, theirs: _Side) -> tuple[Rest | None, str | None]:
    if ours.source is None or theirs.source is None:
        return None, ours.why_unknown or theirs.why_unknown
    if ours.source == theirs.source:
        return None, None
    if ours.data is None or theirs.data is None:
        return Rest(Change.BOTH), None
    return rest_of(ours.data, theirs.data), None


# --- Of a recorded view ----------------------------------------------------------------------------


def _recorded_side(store: Store, data: bytes, other: bytes) -> _Side | None:
    """None if it is no recorded view."""
    rows = store.views()
    if not rows:
        return None
    view = Digest.of(data)
    sources = {row.source.digest for row in rows if row.view == Content(view, len(data))}
    meant = Digest.of(other) if len(sources) > 1 else None
    try:
        recorded = find_recorded(rows, store, data, source=meant.hex if meant in sources and meant else None)
    except DigestAmbiguous as error:
        error.hint = "several sessions have this view: hold it against the session that is meant"
        raise
    if recorded is None or recorded.root.document == recorded.root.source:
        return None
    source, spans = recorded.spanned(data)
    return _Side(_view_spans(recorded, data, source, spans), _content(source), source)


def _view_spans(
    recorded: RecordedView, data: bytes, source: bytes, spans: Sequence[tuple[int, int]]
) -> list[FoldedSpan]:
    facts = recorded.facts
    options = ReadOptions(facts.get("leaf"), facts.get("sidechain"))
    transcript = read_transcript(read_records(source), options, format=facts.get("format"))
    found = []
    parts = iter(transcript.parts)
    part = next(parts, None)
    for splice, (start, end) in zip(splices_of(recorded.store, recorded.root), spans, strict=True):
        while part is not None and part.end <= start:
            part = next(parts, None)
        inner = part if part is not None and part.start < end else None
        literal = source[start + len(splice.before) : end - len(splice.after)]
        kind, role = _said_of(transcript, inner, splice.reason)
        found.append(
            FoldedSpan(
                splice.descriptor.digest.hex,
                kind,
                data[splice.start : splice.start + splice.size],
                splice.descriptor.size,
                splice.reason,
                start,
                end,
                None if inner is None else inner.turn,
                role,
                excerpt=inner.label if inner is not None and kind == PartKind.MEDIA else _excerpt(literal),
            )
        )
    return found


def _said_of(transcript: Transcript, part: Part | None, reason: str) -> tuple[str, str | None]:
    """The kind of what left, and whose it was."""
    if reason == Reason.COLLAPSED:
        return "turn", None
    if reason in _WHOLE_RECORDS or part is None:
        return "records", None
    role = part.role or (transcript.messages[part.message].role if part.message >= 0 else None)
    return str(part.kind), None if role is None else str(role)


def _excerpt(literal: bytes) -> str:
    """Its first characters, on one line; of a block of thinking those of what was thought."""
    begun = _THOUGHT.match(literal)
    head = literal[begun.end() :][:_EXCERPT_BYTES] if begun is not None else literal[:_EXCERPT_BYTES]
    begun = _HEAD.match(head)
    if begun is not None:
        text = decode_literal(begun[0].decode("utf-8", "ignore").encode() + b'"')
    else:
        text = head.decode("utf-8", "replace")
    line = " ".join(text.split())
    return line if len(line) <= _EXCERPT_CHARACTERS else line[: _EXCERPT_CHARACTERS - 1] + "…"


# --- Of anything else ------------------------------------------------------------------------------


def _side(handle: StoreHandle, store: Store | None, data: bytes, other: _Side | None) -> _Side:
    """other: what is known of the other file. What begins like its source, or goes on from it, may well quote
    markers and references: nothing left it."""
    own = _content(data)
    if other is not None and _is_of_source(data, own, other):
        return _Side((), own, data)
    if may_hold_references(io.BytesIO(data)):
        spans = list(_document_spans(data))
        if spans:
            source = _document_source(handle, store, data)
            return _Side(spans, source, None, "" if source else "objects of a folded document are not here")
    marked = [_marked(found.text, found.line, found.digest) for found in find(data) if not found.is_reference]
    if marked:
        return _Side(marked, None, None, "markers stand there of a view that is not recorded here")
    return _Side((), own, data)


def _is_of_source(data: bytes, own: Content, other: _Side) -> bool:
    if other.data is None:
        return other.source == own
    size = min(len(data), len(other.data))
    return memoryview(data)[:size] == memoryview(other.data)[:size]


def _marked(text: str, line: int, digest: str) -> FoldedSpan:
    size = re.search(r" (\d{1,18}) bytes", text)
    label = re.match(r"\S* ?[0-9a-f]*: ([^,;\]]+)", text)
    return FoldedSpan(
        digest,
        label[1] if label else "marker",
        text.encode(),
        int(size[1]) if size else None,
        line=line,
    )


def _document_spans(data: bytes) -> Iterator[FoldedSpan]:
    """Its references, with their paths. Raises DocumentInvalid, LimitExceeded."""
    number = -1
    for segment in segments(io.BytesIO(data).read, _NO_NODES):
        references = {part.start: part for part in unfold_parts(segment.data) if isinstance(part, Reference)}
        for at, steps in values(segment.data):
            if not steps:
                number += 1
            reference = references.get(at)
            if reference is not None:
                described = reference.descriptor
                yield FoldedSpan(
                    described.digest.hex,
                    str(described.kind),
                    bytes(segment.data[reference.start : reference.end]),
                    described.size,
                    value=number,
                    path=write_path(steps),
                    excerpt=_line(described.preview or described.media_type or ""),
                )


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _EXCERPT_CHARACTERS else line[: _EXCERPT_CHARACTERS - 1] + "…"


def _document_source(handle: StoreHandle, store: Store | None, data: bytes) -> Content | None:
    """Of what was folded; None if that can't be told from here."""
    if store is None:
        return None
    for root in store.document_roots(Digest.of(data)):
        if root.kind is RootKind.DOCUMENT and root.source is not None:
            return root.source
    target = _Digesting()
    try:
        unfold_stream(io.BytesIO(data), cast("BinaryIO", target), handle, is_private=True)
    except (NotFound, Damaged, StoreUnavailable, UnfoldMismatch):
        return None
    return Content(Digest(target.digest.hexdigest()), target.size)


class _Digesting:
    """A stream of which nothing is kept but its digest and size."""

    def __init__(self) -> None:
        self.digest = sha256()
        self.size = 0

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""


def _content(data: bytes) -> Content:
    return Content(Digest.of(data), len(data))
