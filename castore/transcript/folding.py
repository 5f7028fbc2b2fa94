"""Fold, beside recorded views: what folds to bytes that unfold would take for a view is recorded as itself.

Law: `unfold(fold(x))` is `x` or an error, also if nothing in `x` folds, and it is a view, or begins like one,
or holds markers for whole strings.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from castore.errors import Damaged
from castore.fold import fold
from castore.fold.fold import FoldReport
from castore.fold.policy import FoldPolicy
from castore.transcript.marker import MarkerWatch

if TYPE_CHECKING:
    from castore.index.views import ViewRow
    from castore.store import StoreHandle

__all__ = ["fold_stream"]


def fold_stream(
    source: BinaryIO, target: BinaryIO, handle: StoreHandle, policy: FoldPolicy, **options: Any
) -> FoldReport:
    """As castore.fold.fold.fold_stream, whose options these are."""
    try:
        rows = handle.get().views() if handle.exists else []
    except Damaged:
        rows = []  # Where no root can be read none can be made: what folds will say so.
    prefixes = _PrefixWatch(source, rows)
    markers = MarkerWatch(cast("BinaryIO", prefixes))

    def needs_root() -> bool:
        return markers.found is not None or prefixes.is_like_a_view

    watched = cast("BinaryIO", markers)
    return fold.fold_stream(watched, target, handle, policy, needs_root=needs_root, **options)


class _PrefixWatch:
    """A stream that is digested as it is read, up to each size at which one of the views ends or is told."""

    def __init__(self, source: BinaryIO, rows: Sequence[ViewRow]) -> None:
        self._source = source
        self._wanted: dict[int, set[str]] = {}
        for row in rows:
            self._wanted.setdefault(row.view.size, set()).add(row.view.digest.hex)
            if row.head is not None:
                self._wanted.setdefault(row.head[0], set()).add(row.head[1])
        self._sizes = sorted(self._wanted, reverse=True)
        self._digest = sha256()
        self._done = 0
        self.is_like_a_view = False
        """Whether one of them was met; to be asked when all has been read."""

    def read(self, size: int = -1) -> bytes:
        piece = self._source.read(size)
        self._look(memoryview(piece))
        return piece

    def _look(self, piece: memoryview) -> None:
        while self._sizes and self._sizes[-1] <= self._done + len(piece):
            size = self._sizes.pop()
            self._digest.update(piece[: size - self._done])
            piece = piece[size - self._done :]
            self._done = size
            if self._digest.hexdigest() in self._wanted[size]:
                self.is_like_a_view = True
        if self._sizes:
            self._digest.update(piece)
            self._done += len(piece)
