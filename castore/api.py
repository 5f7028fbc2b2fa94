"""The Python calls: open a store, fold, unfold, view, put, get. Every front end calls these.

Bytes and values are two calls each, so that a `str` is never in doubt: `fold_bytes` takes a JSON
document as it stands and gives every byte back; `fold_value` takes what `json.loads` gives.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from castore.config import PAGE_BYTES, parse_grants
from castore.digest import Bytes, Digest
from castore.errors import DigestAmbiguous, DocumentInvalid
from castore.fold.fold import FoldedSpan, FoldReport, plan_stream
from castore.fold.policy import FoldPolicy
from castore.fold.unfold import UnfoldReport
from castore.fold.value import from_json, to_json
from castore.gc.verify import verify as verify_store
from castore.objects.database import ObjectStat
from castore.remote.sharing import (
    add_remote,
    check_remote,
    collect_remote,
    connect,
    create_bundle,
    fetch,
    forget_at_remote,
    import_bundle,
    list_remotes,
    pull,
    push,
    remove_remote,
    roots_at_remote,
    verify_at_remote,
)
from castore.roots.model import Content, Root, RootDraft, RootKind
from castore.store import Access, Store, StoreHandle
from castore.store.batch import NameMove
from castore.transcript.verifying import verify_documents, verify_files

if TYPE_CHECKING:
    from castore.gc.plan import GcReport
    from castore.retrieve.address import Address
    from castore.retrieve.pages import Page
    from castore.transcript.view import ViewRequest

__all__ = [
    "Access",
    "Collected",
    "Content",
    "Digest",
    "FoldPolicy",
    "FoldReport",
    "FoldedSpan",
    "ObjectStat",
    "Store",
    "StoreHandle",
    "UnfoldReport",
    "add_remote",
    "check_remote",
    "clip_text",
    "collect",
    "collect_remote",
    "connect",
    "create_bundle",
    "fetch",
    "fold_bytes",
    "fold_stream",
    "fold_value",
    "forget_at_remote",
    "get",
    "import_bundle",
    "init_store",
    "keep",
    "list_remotes",
    "open_store",
    "page",
    "plan_stream",
    "pull",
    "push",
    "put",
    "read",
    "remove_remote",
    "roots_at_remote",
    "stat",
    "unfold_bytes",
    "unfold_stream",
    "unfold_value",
    "verify_at_remote",
    "verify_documents",
    "verify_files",
    "verify_store",
    "view_bytes",
]


def open_store(
    folder: str | os.PathLike[str],
    *,
    create: bool = False,
    grants: tuple[str, ...] | None = None,
    scope: str | None = None,
    offline: bool = False,
) -> Store:
    """The store in `folder` (the .ctxstore folder itself), made if it is not there and `create` is true.

    grants: the scopes that the caller may use, and globs of them (`team/*`; `*` is the operator); None:
    what the store's settings say. What lies outside is not there for this Store. scope: the one to see
    and to write in, within the grants. offline: what reads an object that lies at a remote raises
    RemoteForbidden, instead of fetching it. Raises StoreMissing, UnknownStoreFormat, InvalidConfig,
    InvalidOption for a grant that is none.
    """
    from castore.remote.on_demand import OnDemand

    if grants is not None:
        grants = tuple(grant for each in grants for grant in parse_grants(each))
    handle = StoreHandle(
        folder, may_create=create, access=Access(grants, scope), fetcher=OnDemand(offline=offline)
    )
    return handle.get_or_create() if create else handle.get()


def init_store(folder: str | os.PathLike[str], *, shared: bool = False, tracked: bool = False) -> Store:
    """A new, empty store; `folder` itself becomes it, so it is best called `.ctxstore`. Raises StoreExists.

    shared: the folder's group may read and write. tracked: git tracks its objects and roots.
    """
    return Store.init(folder, shared=shared, tracked=tracked)


def fold_bytes(
    store: Store,
    document: Bytes,
    policy: FoldPolicy | None = None,
    *,
    name: str | None = None,
    scope: str | None = None,
    source_name: str | None = None,
    keep_seconds: int | None = None,
    allow_purged: bool = False,
) -> bytes:
    """The folded document. What it names is durable, and kept for ever unless `keep_seconds` says less.

    document: a sequence of JSON values (a JSON file, JSON Lines, …). If nothing folds, it comes back (but
    for escapes), and there is no root.
    name: the root's, unique in its scope, a letter and up to 99 of `A-Z a-z 0-9 . _ -`; it keeps the
    objects until the root is forgotten by it. scope: who the root belongs to, words joined by `/`; None:
    the store's own. source_name: what the document is called, for people and for forgetting by it; it is
    never opened. keep_seconds: from now. Folding the same bytes with the same three finds the same root.
    allow_purged: values may fold whose bytes were purged from the scope.
    Raises DocumentInvalid, LimitExceeded, NameTaken, ObjectPurged, ScopeDenied, InvalidOption.
    """
    target = io.BytesIO()
    fold_stream(
        io.BytesIO(document),
        target,
        StoreHandle.of(store),
        policy or FoldPolicy(),
        name=name,
        scope=scope,
        source_name=source_name,
        keep_seconds=keep_seconds,
        allow_purged=allow_purged,
        is_private=True,
    )
    return target.getvalue()


def unfold_bytes(store: Store, document: Bytes, *, only: tuple[str, ...] = ()) -> bytes:
    """The bytes that were folded.

    only: digests (6 or more of their digits) and path patterns (`$.rows`, `$..log`): just the references
    that one of them fits are expanded, and the result is again a folded document; none: all of them.
    Raises ObjectMissing, ObjectDamaged, UnfoldMismatch, DocumentInvalid.
    """
    target = io.BytesIO()
    unfold_stream(io.BytesIO(document), target, StoreHandle.of(store), only=only, is_private=True)
    return target.getvalue()


def fold_stream(
    source: BinaryIO, target: BinaryIO, handle: StoreHandle, policy: FoldPolicy, **options: Any
) -> FoldReport:
    """`target` holds the folded document; see castore.fold.fold.fold_stream, whose options these are."""
    from castore.transcript.folding import fold_stream

    return fold_stream(source, target, handle, policy, **options)


def unfold_stream(
    source: BinaryIO,
    target: BinaryIO,
    handle: StoreHandle,
    *,
    only: Sequence[str] = (),
    session: str | None = None,
    is_private: bool = False,
) -> UnfoldReport:
    """`target` holds what was folded, or the session of a view, byte for byte; or nothing was written.

    only: as of unfold_bytes. session: of several sessions that have this view, the one meant (its name, or
    the beginning of its digest). Raises what unfold_bytes raises, and DigestAmbiguous.
    """
    from castore.transcript.unfolding import unfold_stream

    return unfold_stream(source, target, handle, only=only, session=session, is_private=is_private)


def view_bytes(
    store: Store,
    session: Bytes,
    request: ViewRequest | None = None,
    *,
    name: str | None = None,
    scope: str | None = None,
    source_name: str | None = None,
    keep_seconds: int | None = None,
    allow_purged: bool = False,
    move: bool = False,
) -> bytes:
    """The session as the model should see it; `unfold_bytes` of that is `session`, byte for byte.

    request: strategies, options, format, leaf (castore.transcript.view.ViewRequest); None: `transparent`.
    move: `name` may be taken from the root that has it, which is then forgotten. The rest:
    as of fold_bytes. Raises SessionInvalid, LimitExceeded, InvalidOption, NameTaken, ScopeDenied.
    """
    from castore.transcript.view import ViewRequest, make_view

    view = make_view(
        bytes(session),
        StoreHandle.of(store),
        request or ViewRequest(),
        source_name=source_name,
        name=name,
        scope=scope,
        keep_seconds=keep_seconds,
        allow_purged=allow_purged,
        move=NameMove() if move else None,
    )
    return view.to_bytes()


def clip_text(store: Store, text: str, *, characters_max: int = 4000, **options: Any) -> str:
    """`text`, or its head and tail with a marker between; then the whole is an object that a root keeps.

    options: scope, source_name, keep_seconds, allow_purged, as of fold_bytes; retrieve_with. Raises
    DocumentInvalid for half a character (a lone surrogate), which has no bytes to store.
    """
    from castore.transcript.clipping import clip_text

    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise DocumentInvalid(
            f"character {error.start} of the text is a lone surrogate, which UTF-8 can't hold",
            hint="encode the text with errors='replace', or keep its bytes with put",
        ) from error
    return clip_text(data, StoreHandle.of(store), characters_max=characters_max, **options).decode()


def fold_value(store: Store, value: Any, policy: FoldPolicy | None = None, **options: Any) -> Any:
    """`value` with its long arrays and strings as references (`{"$ctx": {…}}`). options: as of fold_bytes.

    value: None, bool, int, finite float, str, list and dict with string keys, exactly those types; else
    ValueNotFoldable names the path. `unfold_value(store, fold_value(store, value)) == value`.
    """
    return from_json(fold_bytes(store, to_json(value), policy, **options))


def unfold_value(store: Store, value: Any) -> Any:
    """The value that was folded. Raises what unfold_bytes raises."""
    return from_json(unfold_bytes(store, to_json(value)))


def put(
    store: Store,
    data: Bytes,
    *,
    name: str | None = None,
    scope: str | None = None,
    keep_seconds: int | None = None,
    allow_purged: bool = False,
) -> Digest:
    """`data` is an object of the store, durable, and a root of its own keeps it.

    name, scope, keep_seconds, allow_purged: as of fold_bytes. Raises NameTaken, ObjectPurged, ScopeDenied,
    LimitExceeded, InvalidOption.
    """
    with store.batch() as batch:
        staged = batch.stage(data)
        batch.commit(
            RootDraft(
                RootKind.PUT,
                (staged.digest,),
                scope=scope,
                name=name,
                keep_seconds=keep_seconds,
                source=Content(staged.digest, staged.size),
            ),
            allow_purged=allow_purged,
        )
        return staged.digest


def keep(
    store: Store,
    *references: str,
    files: Sequence[str | os.PathLike[str]] = (),
    name: str | None = None,
    scope: str | None = None,
    keep_seconds: int | None = None,
) -> list[Root]:
    """A root keeps each of `references`, and what each folded document in `files` names: all, or none.

    references: digests of objects or folded documents (6 or more of their digits), names, whole markers.
    name, scope, keep_seconds: as of fold_bytes; a name is for one root alone. A file whose references name
    an object that is missing, or not to be seen, is refused. Raises ObjectMissing, ObjectPurged,
    NameMissing, DigestAmbiguous, DocumentInvalid, NameTaken, ScopeDenied, LimitExceeded, InvalidOption;
    CastoreError for a file that can't be read.
    """
    from castore.fold import documents

    return documents.keep(store, references, files, name=name, scope=scope, keep_seconds=keep_seconds)


@dataclass(frozen=True, slots=True)
class Collected:
    """What gc freed. kept: roots that were made for documents; forgotten: those of what they were before."""

    report: GcReport
    kept: tuple[Root, ...] = ()
    forgotten: tuple[Root, ...] = ()


def collect(
    store: Store,
    *,
    documents: Iterable[str | os.PathLike[str]] = (),
    forgotten_now: bool = False,
    dry_run: bool = False,
) -> Collected:
    """What no root names is gone, and nothing that one of the `documents` names, which lie in files.

    Roots keep those first; a file that has none of our references needs no root. Where one can't be read,
    is no document, or names what is missing, nothing is removed. forgotten_now: the grace is skipped.
    dry_run: nothing is changed; says what would be. Raises what `keep` raises, and Damaged, RootDamaged
    where it is not certain what is kept.
    """
    from castore.fold.documents import keep_documents, plan_documents
    from castore.gc.sweep import plan, sweep

    store.require_operator("gc")
    paths = list(documents)
    if dry_run:
        planned = plan_documents(store, paths)
        report = plan(store, forgotten_now=forgotten_now, changed=planned.changed(store))
        return Collected(report)
    kept, forgotten = keep_documents(store, paths)
    return Collected(sweep(store, forgotten_now=forgotten_now), tuple(kept), tuple(forgotten))


def get(store: Store, digest: Digest | str) -> bytes:
    """The object's bytes, digested again. Raises ObjectMissing, ObjectDamaged."""
    return store.read(Digest.parse(digest) if isinstance(digest, str) else digest)


def read(
    store: Store,
    reference: str,
    *,
    select: Sequence[str] = (),
    items: str | None = None,
    lines: str | None = None,
    chars: str | None = None,
    bytes: str | None = None,
) -> bytes:
    """A part of an object: exactly what `ctx cat` prints for the same words (docs/retrieval.md).

    reference: a digest, 6 or more of its digits, a name, a whole marker or reference, `FILE#PATTERN`. items,
    …: Python slices as text (`3:9`, `-20:`, `7`). Only what is needed of a large object is read, and that is
    checked. Raises ObjectMissing, ObjectPurged, ObjectDamaged, NameMissing, DigestAmbiguous, NotFound,
    InvalidOption, DocumentInvalid, LimitExceeded.
    """
    from castore.retrieve.address import Address
    from castore.retrieve.reading import read
    from castore.retrieve.references import resolve

    address = Address.parse(select, items=items, lines=lines, chars=chars, bytes=bytes)
    return b"".join(piece for each in resolve(store, reference) for piece in read(store, each, address))


def page(
    store: Store, reference: str, address: Address | None = None, *, max_bytes: int = PAGE_BYTES
) -> Page:
    """At most `max_bytes` of what the address means in one object, and the addresses of the rest (`next`).

    reference: as of `read`, but of one object. Raises what `read` raises.
    """
    from castore.retrieve.address import WHOLE
    from castore.retrieve.pages import page
    from castore.retrieve.references import resolve

    digests = resolve(store, reference)
    if len(digests) > 1:
        raise DigestAmbiguous(reference, [str(each) for each in digests])
    return page(store, digests[0], address or WHOLE, max_bytes)


def stat(store: Store, digest: Digest | str) -> ObjectStat | None:
    """The object's sizes, None if it is not there."""
    return store.stat(Digest.parse(digest) if isinstance(digest, str) else digest)
