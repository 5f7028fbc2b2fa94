"""Recorded views: what a view's root says, and how the session's bytes come back from it.

Laws:
- The view's bytes with every recorded splice put back are the session's, and this is held against the
  session's digest before a byte is given out. Nothing but the root (with those it is based on) and the
  objects is needed: no format, no strategy, no option.
- A view is told by its digest; one that grew by a tail of whole values is the view and the tail, which
  passes through. What begins like a recorded view and is none of the two was edited: an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from castore.descriptor import Descriptor, Encoding, Escape, Kind
from castore.digest import Digest
from castore.document.grammar import scan_strictly
from castore.document.reference import members, parse_reference
from castore.errors import (
    DigestAmbiguous,
    DocumentInvalid,
    InvalidOption,
    LimitExceeded,
    NotFound,
    RootDamaged,
    SessionInvalid,
    UnfoldMismatch,
    ViewMissing,
)
from castore.fold.literal import rebuild
from castore.index.views import ViewRow
from castore.roots.model import Content, Root, RootKind
from castore.store import Store
from castore.store.reads import ReadCount
from castore.transcript.marker import whole_marker

__all__ = [
    "VIEW",
    "RecordedSplice",
    "RecordedView",
    "differences",
    "edited_view",
    "edited_words",
    "find_recorded",
    "is_asked_so",
    "prefix_digests",
    "refuse_edited",
    "session_bytes",
    "splices_of",
    "view_size",
]

VIEW = "view"
"""The detail of a view's root that says what it is: docs/format.md, View."""

_ASKED = {
    "strategies": "--strategy",
    "options": "options",
    "budget": "--budget",
    "leaf": "--leaf",
    "sidechain": "--sidechain",
    "asked": "--format",
    "session": "--session",
}
"""What decides a view's bytes, and the options that say it."""

_HEAD_MARK = b"[ctx "


@dataclass(frozen=True, slots=True)
class RecordedSplice:
    """start, size: the span in the view. What stood there is `before`, the rebuilt literal, `after`."""

    start: int
    size: int
    descriptor: Descriptor
    reason: str
    before: bytes = b""
    after: bytes = b""

    def to_json(self) -> dict[str, Any]:
        """Only what is needed: a view has hundreds of them."""
        described = self.descriptor
        said: dict[str, Any] = {
            "at": [self.start, self.size],
            "kind": str(described.kind),
            "digest": str(described.digest),
            "size": described.size,
            "reason": self.reason,
        }
        for name in ("escape", "encoding", "media_type"):
            if (value := getattr(described, name)) is not None:
                said[name] = str(value)
        if self.before:
            said["before"] = self.before.decode()
        if self.after:
            said["after"] = self.after.decode()
        return said

    @classmethod
    def parse(cls, said: Any) -> RecordedSplice:
        """Raises KeyError, TypeError or ValueError for what is none."""
        start, size = said["at"]
        escape, encoding = said.get("escape"), said.get("encoding")
        descriptor = Descriptor(
            Kind(said["kind"]),
            Digest.parse(said["digest"]),
            _count(said["size"]),
            None if escape is None else Escape(escape),
            None if encoding is None else Encoding(encoding),
            said.get("media_type"),
        )
        before, after = said.get("before", ""), said.get("after", "")
        return cls(_count(start), _count(size), descriptor, said["reason"], before.encode(), after.encode())


@dataclass(frozen=True)
class RecordedView:
    """A view that a root knows. size: bytes of it; what comes after is a tail."""

    store: Store
    root: Root
    size: int

    @property
    def facts(self) -> dict[str, Any]:
        """What the root says of how it was made."""
        return dict(self.root.details.get(VIEW, {}))

    def source(self, data: bytes) -> tuple[bytes, int]:
        """The session's bytes, with the tail that `data` has after the view; and how many splices came back.

        Raises what `spanned` raises.
        """
        back, spans = self.spanned(data)
        return back, len(spans)

    def spanned(self, data: bytes) -> tuple[bytes, list[tuple[int, int]]]:
        """The session's bytes, with the tail; and where each splice's span stands in them.

        Raises ObjectMissing, ObjectPurged, ObjectDamaged, RootDamaged; UnfoldMismatch; ViewMissing for a tail
        with markers that are none of this view's.
        """
        whole = sha256()
        pieces: list[bytes | memoryview] = []
        splices = splices_of(self.store, self.root)
        if len(data) > self.size:
            _check_tail(data[self.size :], {splice.descriptor.digest.short for splice in splices})
        spans: list[tuple[int, int]] = []
        size = 0
        for is_splice, piece in self._pieces(memoryview(data)[: self.size], splices):
            whole.update(piece)
            pieces.append(piece)
            if is_splice:
                spans.append((size, size + len(piece)))
            size += len(piece)
        expected = self.root.source
        if expected is None or whole.hexdigest() != expected.digest.hex:
            raise UnfoldMismatch(
                f"what came back has digest 'sha256:{whole.hexdigest()[:16]}', not that of the session",
                hint="'ctx verify' tells what is damaged",
            )
        return b"".join([*pieces, memoryview(data)[self.size :]]), spans

    def _pieces(
        self, view: memoryview, splices: list[RecordedSplice]
    ) -> Iterator[tuple[bool, bytes | memoryview]]:
        """The session's pieces, in order; and of each whether it is the span of a splice."""
        done = 0
        count = ReadCount()
        self.store.want(splice.descriptor.digest for splice in splices)
        for splice in splices:
            if not done <= splice.start <= splice.start + splice.size <= len(view):
                raise _not_a_view(self.root)
            yield False, view[done : splice.start]
            literal = rebuild(splice.descriptor, self.store.read(splice.descriptor.digest, count=count))
            yield True, b"".join((splice.before, literal, splice.after))
            done = splice.start + splice.size
        yield False, view[done:]
        self.store.reads.note_all(count, self.root.document.digest if self.root.document else None)


def splices_of(store: Store, root: Root) -> list[RecordedSplice]:
    """All splices of a view, in order: those it keeps of the one it is based on, and its own.

    Raises RootDamaged where one of the roots says what can't be.
    """
    splices: list[RecordedSplice] = []
    for each in reversed(store.based_chain(root)):
        said = each.details.get(VIEW)
        try:
            kept = _count(said["keep"])  # type: ignore[index]
            own = [RecordedSplice.parse(splice) for splice in said["splices"]]  # type: ignore[index]
        except (KeyError, TypeError, ValueError, AttributeError, InvalidOption) as error:
            raise _not_a_view(each) from error
        if kept > len(splices):
            raise _not_a_view(each)
        splices = [*splices[:kept], *own]
    return splices


def find_recorded(
    rows: Sequence[ViewRow], store: Store, data: bytes, *, source: str | None = None
) -> RecordedView | None:
    """The recorded view that `data` is, or begins with; None if it is none, or another document after all.

    rows: of the views that there are. source: of several sessions that have this view, the one whose digest
    begins so or whose name this is. Raises DigestAmbiguous if there are several all the same.
    """
    longest = view_size(rows, data)
    if longest is None or not _is_tail(data, longest):
        return None
    if longest < len(data) and any(
        root.kind is RootKind.DOCUMENT for root in store.document_roots(Digest.of(data))
    ):
        return None  # What begins with a view was folded, and is known as a whole.
    view = Digest.of(memoryview(data)[:longest])
    found = [row for row in rows if row.view == Content(view, longest)]
    roots = [root for row in found if (root := store.root(row.root_id)) is not None]
    if longest == len(data):
        # Somebody may have folded the view itself, and then it is as good a document of its own.
        roots += [root for root in store.document_roots(view) if root.kind is RootKind.DOCUMENT]
    if not roots:
        return None  # What recorded it went while we looked.
    chosen = _one_source(roots, view, source)
    recorded = RecordedView(store, chosen, longest)
    if chosen.kind is not RootKind.VIEW or (longest < len(data) and _is_session(recorded, data)):
        return None
    return recorded


def session_bytes(store: Store, data: bytes) -> bytes:
    """The session behind `data`, if that is a recorded view; else `data`.

    Raises SessionInvalid for a view that was edited, and what RecordedView.source raises.
    """
    rows = store.views()
    recorded = find_recorded(rows, store, data)
    if recorded is not None:
        return recorded.source(data)[0]
    refuse_edited(rows, store, data)
    return data


def refuse_edited(rows: Sequence[ViewRow], store: Store, data: bytes) -> None:
    """Raises SessionInvalid for what begins like a recorded view, is none, and is no document either."""
    edited = edited_view(rows, data)
    if edited is not None and store.document_root(Digest.of(data)) is None:
        raise SessionInvalid(
            edited_words(edited), hint="view the session itself; only whole records may follow a view"
        )


def is_asked_so(facts: Mapping[str, Any], said: Mapping[str, Any]) -> bool:
    """Whether the view that a root tells of was asked for in these words."""
    return all(facts.get(key) == said.get(key) for key in _ASKED)


def differences(facts: Mapping[str, Any], said: Mapping[str, Any]) -> list[str]:
    """The options in which the two differ, each with what the view that a root tells of was made with."""
    found = []
    for key, option in _ASKED.items():
        made, asked = facts.get(key), said.get(key)
        if made == asked:
            continue
        if isinstance(made, dict) and isinstance(asked, dict):
            pairs = [(each.replace("_", "-"), made.get(each), asked.get(each)) for each in made | asked]
            found += [_difference(name, *values) for name, *values in pairs if values[0] != values[1]]
        else:
            found.append(_difference(option, made, asked))
    return found


def view_size(rows: Sequence[ViewRow], data: bytes) -> int | None:
    """Bytes of the longest of these views that `data` begins with; None if there is none.

    What was recorded as standing for itself is only itself: with a tail it is another session.
    """
    rows = [row for row in rows if row.view.size == len(data) or not row.is_session]
    sizes = {row.view.size for row in rows if row.view.size <= len(data)}
    digests = prefix_digests(data, sizes)
    found = (row.view.size for row in rows if digests.get(row.view.size) == row.view.digest.hex)
    return max(found, default=None)


def edited_view(rows: Sequence[ViewRow], data: bytes) -> ViewRow | None:
    """The view that `data` begins like, up to what stands for its first splice; None if there is none.

    Such bytes come from the view, and what follows can't be told from what somebody changed.
    """
    if _HEAD_MARK not in data:
        return None
    heads = {row.head for row in rows if row.head is not None}
    digests = prefix_digests(data, {size for size, _ in heads if size <= len(data)})
    return next((row for row in rows if row.head and digests.get(row.head[0]) == row.head[1]), None)


def edited_words(row: ViewRow) -> str:
    """Of bytes that begin like this view, and are none."""
    session = row.source.digest.abbreviated
    return f"it begins like a view of session '{session}', and was changed since, or its record is gone"


def prefix_digests(data: bytes, sizes: set[int]) -> dict[int, str]:
    """The SHA-256, in hex, of the first so many bytes, for each size; one pass."""
    found: dict[int, str] = {}
    whole = sha256()
    done = 0
    view = memoryview(data)
    for size in sorted(sizes):
        whole.update(view[done:size])
        done = size
        found[size] = whole.hexdigest()
    return found


# --- Helpers ---------------------------------------------------------------------------------------


def _difference(option: str, made: Any, asked: Any) -> str:
    return f"{option} was {_words(made)}, now {_words(asked)}"


def _words(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_words, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "not given" if value is None else str(value)


def _check_tail(tail: bytes, known: set[str]) -> None:
    """What a harness appended has nothing that was to be taken back. known: markers of the view itself.

    Raises ViewMissing: a longer view of the session, whose record is not here, begins with this one;
    UnfoldMismatch: a document that was folded and is not known begins with it.
    """
    marker = whole_marker(tail, known)
    if marker is not None:
        raise ViewMissing(marker)
    for member in members(tail):
        try:
            reference = parse_reference(tail, member) if member[2] == 1 else None
        except DocumentInvalid:
            continue
        if reference is not None:
            raise UnfoldMismatch(
                "a reference stands after the view, and no record says what folded it",
                hint="unfold what follows the view on its own",
            )


def _is_tail(data: bytes, size: int) -> bool:
    """Whether what follows the view is a sequence of values, as a harness appends them."""
    if size == len(data):
        return True
    try:
        scan_strictly(data[size:], len(data))
    except (DocumentInvalid, LimitExceeded):
        return False
    return True


def _is_session(recorded: RecordedView, data: bytes) -> bool:
    """Whether these bytes are the view's own session, earlier or grown, and not the view with a tail: a view
    of a branch that ends early is how its session begins."""
    if recorded.root.details.get(VIEW, {}).get("head") is not None:
        return False  # A marker stands in it, which no session has.
    session, _ = recorded.source(data[: recorded.size])
    size = min(len(session), len(data))
    return session[:size] == data[:size]


def _one_source(roots: Sequence[Root], document: Digest, wanted: str | None) -> Root:
    """The latest root of the one session that is meant."""
    by_source: dict[str, list[Root]] = {}
    for root in roots:
        if root.source is not None:
            by_source.setdefault(root.source.digest.hex, []).append(root)
    if wanted is not None:
        prefix = wanted.removeprefix("sha256:")
        by_source = {
            hex_digits: having
            for hex_digits, having in by_source.items()
            if hex_digits.startswith(prefix)
            or any(wanted in (each.source_name, each.name) for each in having)
        }
        if not by_source:
            raise NotFound(f"no session '{wanted}' has this view", hint="'ctx log' lists the views")
    if len(by_source) > 1:
        error = DigestAmbiguous(document.abbreviated, [f"sha256:{each}" for each in sorted(by_source)])
        error.hint = "several sessions have this view: choose one with --source"
        raise error
    return next(iter(by_source.values()))[0]


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError("not a count")
    return value


def _not_a_view(root: Root) -> RootDamaged:
    return RootDamaged(f"{root.id}.json", "it does not say what a view is")
