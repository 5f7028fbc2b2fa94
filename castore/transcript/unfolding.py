"""Unfold, of a view or of a folded document: which of the two it is, is told by the store.

Laws: a recorded view gives the session's bytes (and a tail passes through), a folded document its source;
nothing is written before all has resolved. An error is what begins like a recorded view and is none (it was
edited), and what holds markers for whole strings, has no reference, and of which no record is here. (What
folds to such bytes is recorded: castore.transcript.folding.) Memory: the longest recorded view, and the
whole if it is one; else what unfold of a folded document takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from castore.digest import Digest
from castore.errors import CastoreError, Damaged, InvalidOption, UnfoldMismatch, ViewMissing
from castore.fold import unfold
from castore.fold.unfold import UnfoldReport
from castore.roots.model import Content
from castore.store.remedies import offer_pull
from castore.transcript.marker import MarkerWatch
from castore.transcript.recorded import RecordedView, edited_view, edited_words, find_recorded, view_size

if TYPE_CHECKING:
    from castore.store import StoreHandle

__all__ = ["unfold_stream"]

_READ_BYTES = 1 << 20


def unfold_stream(
    source: BinaryIO,
    target: BinaryIO,
    handle: StoreHandle,
    *,
    only: Sequence[str] = (),
    session: str | None = None,
    is_private: bool = False,
) -> UnfoldReport:
    """`target` holds what was folded or viewed, byte for byte; nothing is written before all resolved.

    only: as of castore.fold.unfold, and for folded documents alone. session: of several sessions with this
    view, the one meant: its name, or the beginning of its digest. Raises what castore.fold.unfold raises;
    DigestAmbiguous; UnfoldMismatch for a view that was edited, ViewMissing for one without a record here.
    """
    try:
        rows = handle.get().views() if handle.exists else []
    except Damaged as error:
        # The objects of a folded document are enough (L9); but what has no references may be a view.
        damage = error
        return unfold.unfold_stream(
            source, target, handle, only=only, is_private=is_private, unless_folded=lambda _: damage
        )
    if not rows:
        if session is not None:
            raise InvalidOption("no view was recorded here, so there is no session to choose")
        return _unfold_document(b"", source, target, handle, only=only, is_private=is_private)
    store = handle.get()
    data = _read_up_to(source, max(row.view.size for row in rows))
    edited = None
    if view_size(rows, data) is not None or (edited := edited_view(rows, data)) is not None:
        data += source.read()
        recorded = find_recorded(rows, store, data, source=session)
        if recorded is not None:
            return _unfold_view(recorded, data, target, only)
        edited = edited_view(rows, data)
    if edited is not None and store.document_root(Digest.of(data)) is None:
        raise UnfoldMismatch(
            edited_words(edited),
            hint="make the view again with 'ctx view'; only whole records may follow a view",
        )
    return _unfold_document(data, source, target, handle, only=only, is_private=is_private)


# --- Helpers ---------------------------------------------------------------------------------------


def _unfold_view(recorded: RecordedView, data: bytes, target: BinaryIO, only: Sequence[str]) -> UnfoldReport:
    if only:
        raise InvalidOption("--only is for folded documents; a view comes back whole")
    back, expanded = recorded.source(data)
    target.write(back)
    target.flush()
    return UnfoldReport(Content(Digest.of(data), len(data)), Content(Digest.of(back), len(back)), expanded, 0)


def _unfold_document(
    head: bytes, rest: BinaryIO, target: BinaryIO, handle: StoreHandle, **options: Any
) -> UnfoldReport:
    """What was read of a stream and what is left of it, as a folded document."""
    watch = MarkerWatch(rest, head)

    def unless_folded(document: Content) -> CastoreError | None:
        if watch.found is None or (handle.exists and handle.get().document_root(document.digest) is not None):
            return None
        missing = ViewMissing(watch.found)
        if handle.exists:
            offer_pull(handle.get().parts, missing, "FILE")
        return missing

    joined = cast("BinaryIO", watch)
    return unfold.unfold_stream(joined, target, handle, unless_folded=unless_folded, **options)


def _read_up_to(source: BinaryIO, size: int) -> bytes:
    """`size` bytes, or fewer where the stream ends: a pipe gives what it has."""
    pieces = []
    while size and (piece := source.read(min(size, _READ_BYTES))):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
