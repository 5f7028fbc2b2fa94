"""verify FILES: whether each, a folded document or a recorded view, can be unfolded. It writes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, BinaryIO

from castore.digest import Digest
from castore.errors import BaseMissing, RootDamaged, UnfoldMismatch, ViewMissing
from castore.fold import check
from castore.fold.check import DocumentCheck
from castore.objects.finding import Finding, FindingName
from castore.transcript.marker import MarkerWatch
from castore.transcript.recorded import (
    RecordedView,
    edited_view,
    edited_words,
    find_recorded,
    splices_of,
    view_size,
)

if TYPE_CHECKING:
    from castore.index.views import ViewRow
    from castore.store import StoreHandle

__all__ = ["verify_documents", "verify_files", "verify_with"]

_READ_BYTES = 1 << 20


def verify_files(paths: Sequence[str], handle: StoreHandle, *, quick: bool = False) -> Iterator[Finding]:
    """What is wrong with the references of these files, or with what left them. As castore.fold.check."""
    yield from verify_documents(check.opened(paths), handle, quick=quick)


def verify_documents(
    documents: Iterable[tuple[str, BinaryIO]], handle: StoreHandle, *, quick: bool = False
) -> Iterator[Finding]:
    """As `verify_files`, of files that are open and at their beginning, each with its name in findings.

    A view is checked splice by splice, and (not quick) its session against the digest that is recorded.
    """
    yield from verify_with(DocumentCheck(handle, quick=quick), documents)


def verify_with(each: DocumentCheck, documents: Iterable[tuple[str, BinaryIO]]) -> Iterator[Finding]:
    """As `verify_documents`, where `each` says what is wrong with a reference. Which files are views, the
    records in its store say."""
    handle = each.handle
    rows = handle.get().views() if handle.exists else []
    longest = max((row.view.size for row in rows), default=0)
    for name, source in documents:
        data = source.read(longest)
        if view_size(rows, data) is not None:
            data += source.read()
            recorded = find_recorded(rows, handle.get(), data)
            if recorded is not None:
                yield from _of_view(recorded, data, name, each)
                continue
        edited = edited_view(rows, data)
        source.seek(0)
        if check.may_hold_references(source):
            source.seek(0)
            yield from each.document(source, name)
            continue
        source.seek(0)
        yield from _of_markers(source, name, handle, edited)


def _of_markers(
    source: BinaryIO, name: str, handle: StoreHandle, edited: ViewRow | None
) -> Iterator[Finding]:
    """Of a file without references: whether it is what is left of a view."""
    watch = MarkerWatch(source)
    whole = sha256()
    while piece := watch.read(_READ_BYTES):
        whole.update(piece)
    if watch.found is None:
        return
    if handle.exists and handle.get().document_root(Digest(whole.hexdigest())) is not None:
        return
    if edited is not None:
        yield Finding(FindingName.MISMATCH, None, name, edited_words(edited))
    else:
        yield Finding(FindingName.MISSING, None, name, ViewMissing(watch.found).message)


def _of_view(recorded: RecordedView, data: bytes, name: str, each: DocumentCheck) -> Iterator[Finding]:
    lacking = each.of_record(recorded.root)
    if lacking is not None:
        yield Finding(lacking[0], None, name, lacking[1])
    is_whole = lacking is None
    try:
        splices = splices_of(recorded.store, recorded.root)
        each.expect([splice.descriptor for splice in splices])
        for splice in splices:
            found = each.of(splice.descriptor)
            if found is not None:
                is_whole = False
                yield Finding(found[0], splice.descriptor.digest, f"{name}:$@{splice.start}", found[1])
        if is_whole and each.proves_sources:
            recorded.source(data)
    except ViewMissing as error:
        yield Finding(FindingName.MISSING, None, name, error.message)
    except (RootDamaged, BaseMissing) as error:
        yield Finding(FindingName.DAMAGED, None, name, error.message)
    except UnfoldMismatch as error:
        yield Finding(FindingName.MISMATCH, None, name, error.message)
