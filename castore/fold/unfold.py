"""Unfold: every reference is replaced by the bytes that stood there, or nothing is written at all.

Each object is digested again as it is read (L4), and if the document is just as fold wrote it, the whole
is held against the digest of its source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, BinaryIO

from castore.digest import Digest, parse_prefix
from castore.document.path import paths_at, values
from castore.document.pattern import Pattern, parse_pattern
from castore.document.reference import Reference
from castore.document.scan import Segment, segments
from castore.document.splice import escape_members, unfold_parts
from castore.errors import (
    CastoreError,
    Damaged,
    DocumentInvalid,
    InvalidOption,
    NotFound,
    RootDamaged,
    UnfoldMismatch,
)
from castore.fold.literal import check_fit, rebuild
from castore.fold.spool import Spool
from castore.roots.model import Content
from castore.store.reads import ReadCount

if TYPE_CHECKING:
    from castore.store import StoreHandle

__all__ = ["UnfoldReport", "unfold_stream"]

_NO_NODES = 1 << 62


@dataclass(frozen=True, slots=True)
class UnfoldReport:
    """document: what was read; source: what was written. left: references that --only left folded."""

    document: Content
    source: Content
    expanded: int
    left: int


@dataclass(frozen=True, slots=True)
class Selection:
    """What a partial unfold expands: digests (by their beginnings) and path patterns."""

    prefixes: tuple[str, ...]
    patterns: tuple[Pattern, ...]

    @classmethod
    def parse(cls, only: Sequence[str]) -> Selection | None:
        if not only:
            return None
        prefixes, patterns = [], []
        for text in only:
            prefix = parse_prefix(text)
            if prefix is not None:
                prefixes.append(prefix)
            elif text.startswith("$"):
                patterns.append(parse_pattern(text))
            else:
                raise InvalidOption(
                    f"'{text[:80]}' is neither a digest nor a path pattern", subject=text[:80]
                )
        return cls(tuple(prefixes), tuple(patterns))

    def chosen(self, data: bytes | bytearray, references: list[Reference]) -> set[int]:
        """Offsets of the references in `data` that are to be expanded."""
        chosen = {each.start for each in references if each.descriptor.digest.hex.startswith(self.prefixes)}
        if self.patterns and references:
            starts = {each.start for each in references}
            chosen.update(
                at
                for at, steps in values(data)
                if at in starts and any(pattern.matches(steps) for pattern in self.patterns)
            )
        return chosen


def unfold_stream(
    source: BinaryIO,
    target: BinaryIO,
    handle: StoreHandle,
    *,
    only: Sequence[str] = (),
    is_private: bool = False,
    unless_folded: Callable[[Content], CastoreError | None] | None = None,
) -> UnfoldReport:
    """`target` holds the source of the document, byte for byte; nothing is written before all resolved.

    only: digests or patterns; just those references are expanded, and the result is again a folded
    document. unless_folded: is asked if there is no reference at all, and what it gives is raised.
    Raises ObjectMissing, ObjectDamaged, UnfoldMismatch (with the place in the document), DocumentInvalid,
    StoreMissing if there are references and no store.
    """
    selection = Selection.parse(only)
    with Spool(target, is_private=is_private) as spool:
        unfolding = _Unfolding(handle, spool, selection)
        unfolding.run(source)
        if unless_folded is not None and not unfolding.expanded and not unfolding.left:
            error = unless_folded(unfolding.document)
            if error is not None:
                raise error
        is_recorded = False
        if unfolding.expanded and selection is None:
            is_recorded = _check_whole(handle, unfolding.document, spool.content)
        spool.release()
        if unfolding.expanded:
            # A document whose root is there takes one note, however many objects it has.
            document = unfolding.document.digest if is_recorded else None
            handle.get().reads.note_all(unfolding.count, document)
        return UnfoldReport(unfolding.document, spool.content, unfolding.expanded, unfolding.left)


def _check_whole(handle: StoreHandle, document: Content, source: Content) -> bool:
    """Whether a root records the document. Raises UnfoldMismatch if it came of another source."""
    try:
        roots = handle.get().document_roots(document.digest)
    except RootDamaged:
        # What the roots say is one check more; the objects were digested, and they are enough (L9).
        return False
    # A tag of it, or a keep of its file, need not say what was folded.
    folded = next((root.source for root in roots if root.source is not None), None)
    if folded is not None and folded != source:
        raise UnfoldMismatch(
            f"the document unfolds to '{source.digest.abbreviated}', but '{folded.digest.abbreviated}' "
            "was folded",
            hint="its objects are whole; report this as a bug in castore",
        )
    return bool(roots)


class _Unfolding:
    """One run, in one thread: it took no longer than two did (docs/decisions/0009)."""

    def __init__(self, handle: StoreHandle, spool: Spool, selection: Selection | None) -> None:
        self.handle = handle
        self.spool = spool
        self.selection = selection
        self.expanded = self.left = 0
        self.count = ReadCount()
        self._digest = sha256()
        self._size = 0

    @property
    def document(self) -> Content:
        return Content(Digest(self._digest.hexdigest()), self._size)

    def run(self, source: BinaryIO) -> None:
        for segment in segments(source.read, _NO_NODES):
            self._digest.update(segment.data)
            self._size += len(segment.data)
            self._segment(segment)

    def _segment(self, segment: Segment) -> None:
        try:
            parts = list(unfold_parts(segment.data))
        except DocumentInvalid as error:
            raise placed(error, segment) from error.__cause__
        references = [part for part in parts if isinstance(part, Reference)]
        if self.selection is not None:
            self._partly(segment, references)
            return
        self._want(references)
        for part in parts:
            if isinstance(part, Reference):
                self.spool.write(self._literal(segment, part))
                self.expanded += 1
            elif part:
                self.spool.write(part)

    def _partly(self, segment: Segment, references: list[Reference]) -> None:
        """The chosen references are expanded, escaped where that is needed; all else stays as it is."""
        assert self.selection is not None
        chosen = self.selection.chosen(segment.data, references)
        view = memoryview(segment.data)
        done = 0
        self._want([each for each in references if each.start in chosen])
        for reference in references:
            if reference.start not in chosen:
                self.left += 1
                continue
            self.spool.write(view[done : reference.start])
            for piece in escape_members(self._literal(segment, reference)):
                self.spool.write(piece)
            self.expanded += 1
            done = reference.end
        self.spool.write(view[done:])

    def _want(self, references: list[Reference]) -> None:
        """What is promised of these comes at once. (Where there is no store, the first of them tells so.)"""
        if references and self.handle.exists:
            self.handle.get().want(each.descriptor.digest for each in references)

    def _literal(self, segment: Segment, reference: Reference) -> bytes:
        try:
            descriptor = reference.descriptor
            data = self.handle.get().read(
                descriptor.digest, lambda size: check_fit(descriptor, size), count=self.count
            )
            return rebuild(descriptor, data)
        except CastoreError as error:
            raise placed_at(error, segment, reference) from error.__cause__


def placed_at(error: CastoreError, segment: Segment, reference: Reference) -> CastoreError:
    """`error` with the path and the byte of the reference it is about."""
    path = paths_at(segment.data, [reference.start])[reference.start]
    offset = segment.origin.offset + reference.start
    error.fields.update(path=path, offset=offset)
    if isinstance(error, NotFound | Damaged | UnfoldMismatch):
        error.at(f"{path} (byte {offset})")
    return error


def placed(error: DocumentInvalid, segment: Segment) -> DocumentInvalid:
    """`error`, raised at an offset in the segment, with path, line and column."""
    at = error.fields["offset"]
    assert isinstance(at, int)
    path = paths_at(segment.data, [at])[at]
    segment.origin.locate(error, segment.data)
    error.fields["path"] = path
    error.place = f"{path} ({error.place})"
    return error
