"""The files of one `put`: opened, read, staged; and those that can't be read set aside.

Law: what could be read is committed together under one root; what could not is set apart.
A failure of the store itself (a full disk) ends the whole call with nothing published.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO

from castore.cli.files import STANDARD, source_name, standard_input, unreadable
from castore.errors import CastoreError
from castore.roots.model import RootDraft, RootKind

if TYPE_CHECKING:
    from castore.batch import Batch
    from castore.objects.database import Staged
    from castore.store import Store

__all__ = ["Unread", "put_files"]

_PIECE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Unread:
    """A path that could not be read, and why."""

    path: str
    error: CastoreError


class _Unreadable(CastoreError):
    """Told apart from an error of the store while both happen in one call."""


def put_files(
    store: Store, paths: Iterable[str], draft: RootDraft
) -> tuple[list[tuple[str, Staged]], list[Unread]]:
    """Every path with its object, in input order, durable under the root of `draft`; and the unread ones."""
    stored: list[tuple[str, Staged]] = []
    unread: list[Unread] = []
    with store.batch() as batch:
        for path in paths:
            try:
                stored.append((path, _stage(batch, path)))
            except _Unreadable as error:
                unread.append(Unread(path, unreadable(path, error.__cause__)))  # type: ignore[arg-type]
        if stored:
            batch.commit(_complete(draft, stored))
    return stored, unread


def _complete(draft: RootDraft, stored: list[tuple[str, Staged]]) -> RootDraft:
    distinct = {staged.digest: staged.size for _, staged in stored}
    name = source_name(stored[0][0]) if len(stored) == 1 else None
    return replace(
        draft,
        kind=RootKind.PUT,
        objects=tuple(distinct),
        source_name=name,
        details={"files": len(stored), "size": sum(distinct.values())},
    )


def _stage(batch: Batch, path: str) -> Staged:
    """The object of one file: in one piece if it is short."""
    if path == STANDARD:
        return _stage_stream(batch, standard_input(is_asked_for=True))
    try:
        source = open(path, "rb", buffering=0)  # noqa: SIM115 - it is closed below
    except (OSError, ValueError) as error:
        raise _Unreadable("") from error
    with source:
        return _stage_stream(batch, source)


def _stage_stream(batch: Batch, source: BinaryIO) -> Staged:
    first = _read(source)
    if len(first) < _PIECE_BYTES:
        rest = _read(source)
        if not rest:
            return batch.stage(first)
        return batch.stage_chunks(_pieces(source, first, rest))
    return batch.stage_chunks(_pieces(source, first))


def _pieces(source: BinaryIO, *read_already: bytes) -> Iterator[bytes]:
    yield from read_already
    while piece := _read(source):
        yield piece


def _read(source: BinaryIO) -> bytes:
    try:
        return source.read(_PIECE_BYTES)
    except OSError as error:
        raise _Unreadable("") from error
