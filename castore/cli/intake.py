"""The files of one `put`: staged together, and those that can't be read set apart.

Law: what could be read is committed together under one root; what could not is set apart. A failure of the
store itself (a full disk) ends the whole call with nothing published.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from castore.cli.files import STANDARD, source_name, standard_input, unreadable
from castore.errors import CastoreError, ObjectPurged
from castore.roots.model import RootDraft

if TYPE_CHECKING:
    from castore.objects.database import Staged
    from castore.store import Store
    from castore.store.batch import Batch

__all__ = ["put_files"]

_PIECE_BYTES = 1 << 20

_SHOWN = 5
"""Files that one line names."""


def put_files(
    store: Store, paths: list[str], draft: RootDraft, *, allow_purged: bool = False
) -> tuple[list[tuple[str, Staged]], list[CastoreError]]:
    """Every path with its object, in input order, durable under the root of `draft`; and the errors of the
    paths that could not be read. `-` is stdin. allow_purged: what was purged may be put again."""
    with store.batch() as batch:
        results = list(zip(paths, _staged(batch, paths), strict=True))
        stored = [(path, each) for path, each in results if not isinstance(each, OSError | ValueError)]
        unread = [unreadable(path, each) for path, each in results if isinstance(each, OSError | ValueError)]
        if stored:
            try:
                batch.commit(_complete(draft, stored), allow_purged=allow_purged)
            except ObjectPurged as error:
                raise _naming_files(error, stored) from error.__cause__
    return stored, unread


def _staged(batch: Batch, paths: list[str]) -> Iterator[Staged | OSError | ValueError]:
    """In the order of `paths`: what was staged, or why it could not be read."""
    files = iter(batch.stage_files([path for path in paths if _is_file(path)]))
    for path in paths:
        if path == STANDARD:
            yield batch.stage_chunks(_pieces())
        elif _is_file(path):
            yield next(files)
        else:
            yield ValueError("the path holds a zero byte")


def _is_file(path: str) -> bool:
    return path != STANDARD and "\0" not in path


def _pieces() -> Iterator[bytes]:
    """stdin's bytes; an error of reading it is not one of the store."""
    source = standard_input(is_asked_for=True)
    while True:
        try:
            piece = source.read(_PIECE_BYTES)
        except OSError as error:
            raise unreadable("stdin", error) from error
        if not piece:
            return
        yield piece


def _naming_files(error: ObjectPurged, stored: list[tuple[str, Staged]]) -> ObjectPurged:
    """Says which of the files hold what was purged: all of one put are stored, or none."""
    refused = set(error.refused)
    held = [(path, staged.digest) for path, staged in stored if str(staged.digest) in refused]
    error.fields["files"] = [path for path, _ in held]
    error.fields["digests"] = [str(digest) for _, digest in held]
    more = f" and {len(held) - _SHOWN:,} more" if len(held) > _SHOWN else ""
    error.at(", ".join(f"{path} ({digest.abbreviated})" for path, digest in held[:_SHOWN]) + more)
    if len(stored) > len(held):
        error.hint = "nothing was stored: leave these files out, or put their bytes again with --allow-purged"
    return error


def _complete(draft: RootDraft, stored: list[tuple[str, Staged]]) -> RootDraft:
    distinct = {staged.digest: staged.size for _, staged in stored}
    return replace(
        draft,
        objects=tuple(distinct),
        source_name=source_name(stored[0][0]) if len(stored) == 1 else None,
        details={"files": len(stored), "size": sum(distinct.values())},
    )
