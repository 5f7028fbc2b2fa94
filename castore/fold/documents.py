"""Folded documents that lie in files: what they name can be kept, whoever folded them and wherever.

Laws:
- A file is kept as it is when it is read: its digest, and every object that its references name. Each of
  them is there and the writer sees it, or nothing at all is kept and the error says where it stands.
- After `keep_documents` nothing that one of the files names is removed by gc. A file that can't be read,
  or that may hold references and is no document, is an error before anything is changed.
- Doing either again with the same files makes no new root.

Memory: one top-level value of a file, and the distinct digests of all.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import BinaryIO

from castore.config import OPERATOR
from castore.digest import Digest
from castore.document.reference import Reference
from castore.document.scan import Segment, segments
from castore.document.splice import unfold_parts
from castore.errors import CastoreError, DocumentInvalid, InvalidOption, NotFound, ObjectDamaged, ObjectPurged
from castore.fold.check import may_hold_references
from castore.fold.unfold import placed, placed_at
from castore.roots.model import BY, GC, Content, Root, RootDraft, RootKind, forgotten, merged
from castore.store import Store

__all__ = [
    "DocumentsPlan",
    "Path",
    "document_digest",
    "draft_of_file",
    "keep",
    "keep_documents",
    "plan_documents",
    "references_in",
]

Path = str | os.PathLike[str]

Accept = Callable[[Digest], bool]
"""Of a digest that a reference names: whether to list it. May raise NotFound."""

FILE = "file"
"""The detail of a root that says where its document lies: an absolute path."""

_NO_NODES = 1 << 62
_READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class DocumentsPlan:
    """drafts: the roots to be made. older: roots that gc made for the same files as they were before."""

    drafts: tuple[RootDraft, ...]
    older: tuple[Root, ...]

    def changed(self, store: Store) -> list[Root]:
        """The roots as they would be once this is done."""
        now, grace_seconds = store.parts.clock(), store.config.grace_seconds
        made = [
            merged(draft, draft.scope or store.granted.writing_scope(), None, now=now, sequence=0)
            for draft in self.drafts
        ]
        return [*made, *(forgotten(root, now=now, grace_seconds=grace_seconds) for root in self.older)]


def references_in(source: BinaryIO, accept: Accept | None = None) -> tuple[Content, tuple[Digest, ...]]:
    """Digest and size of the document, and the distinct digests that its references name, in order.

    accept: is asked of each, once; None: all are listed. What it raises gets the place of the reference.
    Raises DocumentInvalid, LimitExceeded, with the place.
    """
    digest, size = sha256(), 0
    asked: set[Digest] = set()
    found: list[Digest] = []
    for segment in segments(source.read, _NO_NODES):
        digest.update(segment.data)
        size += len(segment.data)
        for reference in _references(segment):
            named = reference.descriptor.digest
            if named in asked:
                continue
            asked.add(named)
            try:
                if accept is None or accept(named):
                    found.append(named)
            except NotFound as error:
                raise placed_at(error, segment, reference) from error.__cause__
    return Content(Digest(digest.hexdigest()), size), tuple(found)


def draft_of_file(store: Store, path: Path, *, scope: str | None = None) -> RootDraft:
    """A draft that keeps the folded document or the recorded view in a file, with every object it needs.

    Raises ObjectMissing, ObjectPurged, DocumentInvalid (also if there is no reference), LimitExceeded, each
    with the file and the place in it; CastoreError if the file can't be read.
    """
    with _opened(path) as source:
        try:
            content, digests = references_in(source, lambda digest: _is_there(store, digest))
        except DocumentInvalid as error:
            source.seek(0)
            error.hint = _as_object(store, _digest(source)) or error.hint
            raise
        known = store.document_roots(content.digest)
        if not digests and any(root.kind is RootKind.VIEW for root in known):
            draft = store.keep_draft(str(content.digest), scope=scope)
            return replace(draft, source_name=_text(path), details={FILE: os.path.abspath(path)})
        if not digests:
            raise DocumentInvalid(
                "no reference is in it, so there is nothing to keep",
                hint=_as_object(store, content.digest)
                or "'ctx fold' writes documents that have some; 'ctx put' stores any file",
            )
    return _draft(path, content, digests, known)


def document_digest(path: Path) -> Digest:
    """The digest of a file's bytes, whatever they are. Raises CastoreError if it can't be read."""
    with _opened(path) as source:
        return _digest(source)


def keep(
    store: Store,
    references: Sequence[str] = (),
    files: Sequence[Path] = (),
    *,
    name: str | None = None,
    scope: str | None = None,
    keep_seconds: int | None = None,
) -> list[Root]:
    """Each of `references` and of the folded documents in `files` has a root of its own: all, or none.

    The roots are in the order of `references`, then of `files`. name: for one of them alone. Raises what
    `draft_of_file` raises, InvalidOption, NameTaken, NameMissing, ObjectMissing, DigestAmbiguous.
    """
    if name is not None and len(references) + len(files) != 1:
        raise InvalidOption("a name is for one root", hint="keep them one by one, each with its name")
    drafts = [store.keep_draft(reference, scope=scope) for reference in references]
    drafts += [draft_of_file(store, path, scope=scope) for path in files]
    drafts = [replace(draft, name=name, scope=scope, keep_seconds=keep_seconds) for draft in drafts]
    return store.keep(drafts) if drafts else []


def plan_documents(store: Store, paths: Iterable[Path]) -> DocumentsPlan:
    """The roots without which gc might remove what these files name; nothing is changed.

    A file whose objects are all named by one live root needs none, whatever scope that is in. A new root
    is in the scope of the document's latest root if it had one, else in the one that the caller writes in.
    What was purged is left out, as it is from the roots. Raises what `draft_of_file` raises, but for files
    without references among others: those need no root, and the ones without a `$ctx` are not even parsed.
    If none has any, and no root remembers one as its document, the paths are wrong: DocumentInvalid.
    """
    writing_scope = store.granted.writing_scope()
    drafts: list[RootDraft] = []
    current: dict[str, Digest | None] = {}
    views = {row.view for row in store.views()}
    for path in paths:
        place = os.path.abspath(path)
        if place in current:
            continue
        current[place] = None
        with _opened(path) as source:
            if not may_hold_references(source):
                source.seek(0)
                view = _view_to_keep(store, source, views)
                if view is not None:
                    current[place] = view.document.digest if view.document is not None else None
                    if not view.is_live(store.parts.clock()):
                        draft = store.keep_draft(view.id, scope=view.scope)
                        drafts.append(replace(draft, details={FILE: place, BY: GC}))
                continue
            source.seek(0)
            content, digests = references_in(
                source, lambda digest: _is_there(store, digest, unless_purged=True)
            )
        if digests:
            current[place] = content.digest
        known = store.document_roots(content.digest)
        scope = next((root.scope for root in known if root.scope != OPERATOR), None)
        digests = _not_purged(store, digests, scope or writing_scope)
        if digests and not _is_kept(store, known, digests):
            draft = _draft(path, content, digests, known)
            drafts.append(replace(draft, scope=scope, details={**draft.details, BY: GC}))
    older = tuple(_older(store, current))
    if current and not any(current.values()) and not _were_documents(store, current):
        raise DocumentInvalid(
            f"none of the {len(current):,} documents names an object",
            hint="name what fold wrote, not what was folded; nothing was removed",
        )
    return DocumentsPlan(tuple(drafts), older)


def keep_documents(store: Store, paths: Iterable[Path]) -> tuple[list[Root], list[Root]]:
    """Roots keep what these files name; those that gc made for the files as they were are forgotten.

    The older ones expire after the grace, once the new ones are on the disk. Returns both. Raises what
    `plan_documents` raises, and then nothing was changed.
    """
    plan = plan_documents(store, paths)
    made = store.keep(list(plan.drafts)) if plan.drafts else []
    return made, _forget(store, plan.older) if plan.older else []


# --- Helpers ---------------------------------------------------------------------------------------


def _references(segment: Segment) -> Iterator[Reference]:
    try:
        for part in unfold_parts(segment.data):
            if isinstance(part, Reference):
                yield part
    except DocumentInvalid as error:
        raise placed(error, segment) from error.__cause__


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a regular file; an error in the block says which file it is about."""
    shown = _text(path)
    try:
        # A pipe that nobody writes to must not make gc wait.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError) as error:
        raise _unreadable(shown, error) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise CastoreError(
            f"can't read '{shown}': it is not a regular file",
            hint="write the document to a file first",
            path=shown,
        )
    with os.fdopen(descriptor, "rb") as source:
        try:
            yield source
        except OSError as error:
            if error.filename is not None:
                raise
            raise _unreadable(shown, error) from error
        except CastoreError as error:
            error.fields["file"] = shown
            error.place = shown if error.place is None else f"{shown}: {error.place}"
            raise


def _unreadable(shown: str, error: OSError | ValueError) -> CastoreError:
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return CastoreError(f"can't read '{shown}': {reason}", path=shown, errno=getattr(error, "errno", None))


def _text(path: Path) -> str:
    """The path as it was typed, tidied, as text for people: bytes that are none are written as `\\xe9`."""
    return os.fsencode(os.path.normpath(path)).decode("utf-8", "backslashreplace")


def _view_to_keep(store: Store, source: BinaryIO, views: set[Content]) -> Root | None:
    """The root of the recorded view that a file is; None if it is none."""
    size = os.fstat(source.fileno()).st_size
    if not any(view.size == size for view in views):
        return None
    digest = _digest(source)
    if Content(digest, size) not in views:
        return None
    roots = store.document_roots(digest)
    # Any that is live will do; else the latest that was recorded.
    live = [root for root in roots if root.is_live(store.parts.clock())]
    return next(iter([*live, *(root for root in roots if root.kind is RootKind.VIEW)]), None)


def _digest(source: BinaryIO) -> Digest:
    whole = sha256()
    while piece := source.read(_READ_BYTES):
        whole.update(piece)
    return Digest(whole.hexdigest())


def _is_there(store: Store, digest: Digest, *, unless_purged: bool = False) -> bool:
    """True if the caller sees the object, here or promised; raises ObjectMissing, ObjectPurged if not.

    One that is damaged is there: keeping it is what lets it be repaired. unless_purged: False for what
    was purged.
    """
    try:
        if store.stat(digest) is not None or store.promised([digest]):
            return True
    except ObjectDamaged:
        return True
    absence = store.absence(digest)
    if unless_purged and isinstance(absence, ObjectPurged):
        return False
    raise absence


def _as_object(store: Store, digest: Digest) -> str | None:
    """What to name in place of a file that is no document, if its bytes are an object; None if not."""
    try:
        is_object = store.stat(digest) is not None or bool(store.promised([digest]))
    except ObjectDamaged:
        is_object = True
    return f"the file's bytes are object '{digest.short}': name that in its place" if is_object else None


def _draft(path: Path, content: Content, digests: tuple[Digest, ...], known: Sequence[Root]) -> RootDraft:
    """known: the roots that this document has. What was folded to it, if one says, unfold can then check."""
    return RootDraft(
        RootKind.KEEP,
        digests,
        source_name=_text(path),
        source=next((root.source for root in known if root.source is not None), None),
        document=content,
        details={FILE: os.path.abspath(path)},
    )


def _not_purged(store: Store, digests: tuple[Digest, ...], scope: str) -> tuple[Digest, ...]:
    """Without those that were purged from this scope, though another has put their bytes again."""
    tombstones = store.parts.tombstones
    purged = set(tombstones.digests()).intersection(digests)
    refused = {each for each in purged if (found := tombstones.get(each)) and scope in found.scopes}
    return tuple(each for each in digests if each not in refused)


def _is_kept(store: Store, known: Sequence[Root], digests: Sequence[Digest]) -> bool:
    now = store.parts.clock()
    needed = set(digests)
    return any(root.is_live(now) and needed.issubset(root.objects) for root in known)


def _were_documents(store: Store, current: dict[str, Digest | None]) -> bool:
    return any(root.details.get(FILE) in current for root in store.roots())


def _older(store: Store, current: dict[str, Digest | None]) -> Iterator[Root]:
    """The live roots that gc made for these files, by absolute path, when they were other documents."""
    now = store.parts.clock()
    for root in store.roots():
        file = root.details.get(FILE)
        is_of_gc = root.kind is RootKind.KEEP and root.details.get(BY) == GC
        if is_of_gc and file in current and root.document is not None and root.is_live(now):
            is_older = root.document.digest != current[file]
            if is_older:
                yield root


def _forget(store: Store, older: Sequence[Root]) -> list[Root]:
    """These roots expire after the grace, those that changed meanwhile excepted."""
    from castore.index import roots

    parts = store.parts
    with parts.writing() as connection:
        now, grace_seconds = parts.clock(), parts.config.grace_seconds
        changed = [
            forgotten(found, now=now, grace_seconds=grace_seconds)
            for each in older
            if (found := roots.by_id(connection, each.id)) is not None and found.is_live(now)
        ]
        parts.put_roots(connection, changed)
    return changed
