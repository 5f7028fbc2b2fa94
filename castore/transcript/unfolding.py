"""Unfold, of a view or of a folded document: which of the two it is, is told by the store.

Laws: a recorded view gives the session's bytes (and a tail passes through), a folded document its source;
nothing is written before all has resolved. What begins like a recorded view and is none was edited, and is
an error; so is none of the two that has markers for whole strings, but that is only told, since anybody may
quote a marker. Memory: the longest recorded view, and the whole if it is one; else what unfold of a folded
document takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from castore.digest import Digest
from castore.errors import Damaged, InvalidOption, UnfoldMismatch
from castore.fold import unfold
from castore.fold.unfold import UnfoldReport
from castore.roots.model import Content
from castore.transcript.recorded import RecordedView, edited_view, find_recorded, view_size

if TYPE_CHECKING:
    from castore.store import StoreHandle

__all__ = ["unfold_stream"]

_READ_BYTES = 1 << 20

_MARKER = b'"[ctx '


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
    DigestAmbiguous, UnfoldMismatch for a view that was edited.
    """
    try:
        rows = handle.get().views() if handle.exists else []
    except Damaged as error:
        # The objects of a folded document are enough (L9); but what has no references may be a view.
        return unfold.unfold_stream(
            source, target, handle, only=only, is_private=is_private, unless_folded=error
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
            f"it was a view of session '{edited.source.digest.abbreviated}', and was changed in the middle",
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
    joined = _Joined(head, rest)
    report = unfold.unfold_stream(cast("BinaryIO", joined), target, handle, **options)
    return replace(report, has_markers=joined.has_markers and not report.expanded and not report.left)


class _Joined:
    """What was read of a stream, and the rest of it; looks for strings that begin as a marker does."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head = head
        self._rest = rest
        self._before = b""
        self.has_markers = False

    def read(self, size: int = -1) -> bytes:
        piece = self._next(size)
        if not self.has_markers:
            self.has_markers = _MARKER in self._before + piece[: len(_MARKER)] or _MARKER in piece
            self._before = piece[-len(_MARKER) :]
        return piece

    def _next(self, size: int) -> bytes:
        if not self._head:
            return self._rest.read(size)
        piece = self._head if size < 0 else self._head[:size]
        self._head = self._head[len(piece) :]
        return piece + self._rest.read() if size < 0 else piece


def _read_up_to(source: BinaryIO, size: int) -> bytes:
    """`size` bytes, or fewer where the stream ends: a pipe gives what it has."""
    pieces = []
    while size and (piece := source.read(min(size, _READ_BYTES))):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
