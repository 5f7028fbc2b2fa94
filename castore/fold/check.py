"""verify FILES: whether every reference in a document can be unfolded. It reads, and writes nothing.

A file that holds no `$ctx` in any spelling passes unparsed, whatever else it is: a hook is given every
JSON-like file of a repository. What one reference was found to be is kept for
the others that say the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO

from castore.descriptor import Descriptor, Kind
from castore.document.path import paths_at
from castore.document.preview import count_in_preview, line_count
from castore.document.reference import Reference
from castore.document.scan import Segment, segments
from castore.document.single import single_value
from castore.document.splice import unfold_parts
from castore.errors import (
    DocumentInvalid,
    LimitExceeded,
    NotFound,
    ObjectDamaged,
    ObjectMissing,
    ObjectPurged,
    RemoteDamaged,
    UnfoldMismatch,
)
from castore.fold.literal import check_fit, rebuild
from castore.fold.unfold import placed
from castore.objects.finding import Finding, FindingName
from castore.store.reads import ReadCount

if TYPE_CHECKING:
    from castore.roots.model import Root
    from castore.store import StoreHandle

__all__ = ["DocumentCheck", "may_hold_references", "opened", "verify_documents", "verify_files"]

_NO_NODES = 1 << 62
_READ_BYTES = 1 << 20
_NAME = re.compile(rb'"(?:\$|\\u0024)(?:c|\\u0063)(?:t|\\u0074)(?:x|\\u0078)"')
_NAME_BYTES_MAX = 26


def verify_files(paths: Sequence[str], handle: StoreHandle, *, quick: bool = False) -> Iterator[Finding]:
    """What is wrong with the references of these files. quick: presence and size only.

    Raises OSError for a file that can't be read, StoreMissing if a file has references and no store is here.
    """
    yield from verify_documents(opened(paths), handle, quick=quick)


def verify_documents(
    documents: Iterable[tuple[str, BinaryIO]], handle: StoreHandle, *, quick: bool = False
) -> Iterator[Finding]:
    """As `verify_files`, of files that are open and at their beginning, each with its name in findings."""
    check = DocumentCheck(handle, quick=quick)
    for name, source in documents:
        if may_hold_references(source):
            source.seek(0)
            yield from check.document(source, name)


def opened(paths: Sequence[str]) -> Iterator[tuple[str, BinaryIO]]:
    """Each file, by its path, while it is looked at. Raises OSError."""
    for path in paths:
        with open(path, "rb") as source:
            yield path, source


def may_hold_references(source: BinaryIO) -> bool:
    """Whether the bytes hold `"$ctx"` in any spelling. Two plain searches: as fast as the disk."""
    tail = b""
    while piece := source.read(_READ_BYTES):
        window = tail + piece
        if (b'"$' in window or b'"\\u0024' in window) and _NAME.search(window):
            return True
        tail = window[-_NAME_BYTES_MAX:]
    return False


class DocumentCheck:
    """One run over several documents; what was found of a reference is kept for those that say the same.

    What is looked at lies in a store; a subclass says where else, and what is wrong there.
    """

    def __init__(self, handle: StoreHandle, *, quick: bool) -> None:
        self.handle = handle
        self.quick = quick
        self.proves_sources = not quick
        """What is taken back is held against the digest of its source."""
        self.count = ReadCount()
        """A check is no use of what was folded: these reads are noted nowhere."""
        self.known: dict[Descriptor, tuple[FindingName, str] | None] = {}

    def document(self, source: BinaryIO, name: str) -> Iterator[Finding]:
        """What is wrong with the references of a document, each with its place."""
        try:
            for segment in segments(source.read, _NO_NODES):
                yield from self._segment(segment, name)
        except (DocumentInvalid, LimitExceeded) as error:
            offset = error.fields.get("offset")
            place = name if offset is None else f"{name}:$@{offset}"
            path = error.fields.get("path")
            place = place.replace("$@", f"{path}@", 1) if path else place
            yield Finding(FindingName.MALFORMED, None, place, error.message)

    def _segment(self, segment: Segment, name: str) -> Iterator[Finding]:
        try:
            references = [part for part in unfold_parts(segment.data) if isinstance(part, Reference)]
        except DocumentInvalid as error:
            raise placed(error, segment) from error
        self.expect([each.descriptor for each in references])
        wrong = [(each, found) for each in references if (found := self.of(each.descriptor))]
        paths = paths_at(segment.data, [each.start for each, _ in wrong]) if wrong else {}
        for reference, (finding, words) in wrong:
            offset = segment.origin.offset + reference.start
            place = f"{name}:{paths[reference.start]}@{offset}"
            yield Finding(finding, reference.descriptor.digest, place, words)

    def expect(self, descriptors: Sequence[Descriptor]) -> None:
        """These are asked about next: what is promised of them comes at once, to be read."""
        if descriptors and not self.quick and self.handle.exists:
            # What is damaged there is told when it is asked about, by itself.
            with suppress(RemoteDamaged):
                self.handle.get().want(each.digest for each in descriptors)

    def of_record(self, root: Root) -> tuple[FindingName, str] | None:
        """What is wrong with the root that says how a view is taken back; None if nothing is."""
        return None

    def of(self, descriptor: Descriptor) -> tuple[FindingName, str] | None:
        """What is wrong with what it names; None if nothing is."""
        if descriptor not in self.known:
            self.known[descriptor] = self.quickly(descriptor) if self.quick else self.wholly(descriptor)
        return self.known[descriptor]

    def quickly(self, descriptor: Descriptor) -> tuple[FindingName, str] | None:
        """As `of`, by presence and size; of what is promised by a root's word that it is at a remote."""
        try:
            store = self.handle.get()
            found = store.stat(descriptor.digest)
            if found is None and store.promised([descriptor.digest]):
                return None
            if found is None:
                return _absent(store.absence(descriptor.digest))
            check_fit(descriptor, found.size)
        except ObjectDamaged as error:
            return FindingName.DAMAGED, str(error.fields["reason"])
        except UnfoldMismatch as error:
            return FindingName.MISMATCH, error.message
        return None

    def wholly(self, descriptor: Descriptor) -> tuple[FindingName, str] | None:
        """As `of`, by every byte."""
        try:
            data = self.handle.get().read(
                descriptor.digest, lambda size: check_fit(descriptor, size), count=self.count
            )
            rebuild(descriptor, data)
        except (ObjectMissing, ObjectPurged) as error:
            return _absent(error)
        except ObjectDamaged as error:
            return FindingName.DAMAGED, str(error.fields["reason"])
        except RemoteDamaged as error:
            return FindingName.DAMAGED, f"at remote '{error.fields['remote']}': {error.fields['reason']}"
        except UnfoldMismatch as error:
            return FindingName.MISMATCH, error.message
        words = _false_words(descriptor, data)
        return (FindingName.MISMATCH, words) if words else None


def _absent(error: NotFound) -> tuple[FindingName, str]:
    if isinstance(error, ObjectPurged):
        return FindingName.PURGED, error.message
    return FindingName.MISSING, "no such object"


def _false_words(descriptor: Descriptor, data: bytes) -> str | None:
    """What the reference tells its reader that is not so."""
    if descriptor.items is not None or descriptor.kind is Kind.ARRAY:
        items = single_value(data, counts=True).items if descriptor.kind is Kind.ARRAY else None
        if descriptor.items is not None and descriptor.items != items:
            return f"the reference says {descriptor.items} items, the object has {items or 'none'}"
        return _false_preview(descriptor, data, (items or 0) - 2)
    if descriptor.lines is not None or descriptor.kind is Kind.TEXT:
        lines = line_count(data)
        if descriptor.lines is not None and descriptor.lines != lines:
            return f"the reference says {descriptor.lines} lines, the object has {lines}"
        return _false_preview(descriptor, data, lines - 2)
    return None


def _false_preview(descriptor: Descriptor, data: bytes, left_out: int) -> str | None:
    preview = descriptor.preview
    # A preview may hold anything, lone surrogates too.
    if preview is None or left_out < 1 or preview.encode("utf-8", "surrogatepass") == data:
        return None
    count = count_in_preview(preview, left_out)
    return f"the preview leaves out {count}, the object {left_out}" if count is not None else None
