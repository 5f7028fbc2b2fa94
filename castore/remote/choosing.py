"""Which roots are meant by what somebody names to push, or to put in a bundle.

Laws:
- Chosen are live roots that the caller sees, each once, and with each the roots that it is based on, before
  it. A root of a log comes with the whole log: its records in order, then its state. Names are chosen by name
  alone: a document's roots that have one only where it has no others.
- What is named and has no live root of its own gets one first, as `keep` makes it: a folded document in a
  file, an object. All such roots are made, or, where one of the texts means nothing, none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from castore.digest import Digest, parse_prefix
from castore.errors import DocumentInvalid, NameMissing, NotFound
from castore.fold.documents import document_digest, draft_of_file
from castore.fold.targets import is_file, neither
from castore.remote.files import session_in
from castore.roots.model import REPLACED, Root, RootDraft, RootKind, merged
from castore.store import Store
from castore.store.lookup import pasted

__all__ = ["choose"]


def choose(
    store: Store, texts: Sequence[str], *, everything: bool = False, dry_run: bool = False
) -> list[Root]:
    """The roots that `texts` mean, in their order; with `everything`, all live ones, the oldest first.

    texts: each the FILE of a folded document, a recorded view or a collapsed session, a name, a root's id,
    the digest of a document or an object, or 6 or more of its digits, a pasted reference. dry_run: roots that
    would be made are not, and are given as they would be. Raises NameMissing, ObjectMissing, ObjectPurged,
    DigestAmbiguous; NotFound for what is forgotten; what `ctx keep` raises for a FILE; BaseMissing,
    RootDamaged.
    """
    found: dict[str, Root] = {}
    if everything:
        now = store.parts.clock()
        live = (root for root in reversed(store.roots()) if root.is_live(now))
        found = {root.id: root for root in _with_bases(store, live)}
    meant = [_meant(store, text) for text in texts]
    drafts = [each for each in meant if isinstance(each, RootDraft)]
    made = iter(_made(store, drafts, dry_run=dry_run))
    for each in meant:
        roots = [next(made)] if isinstance(each, RootDraft) else each
        for root in _with_bases(store, _with_logs(store, roots)):
            found.setdefault(root.id, root)
    return list(found.values())


# --- Helpers ---


def _made(store: Store, drafts: list[RootDraft], *, dry_run: bool) -> Sequence[Root]:
    if not dry_run:
        return store.keep(drafts) if drafts else ()
    now = store.parts.clock()
    return [
        merged(draft, store.granted.writing_scope(draft.scope), None, now=now, sequence=0) for draft in drafts
    ]


def _meant(store: Store, text: str) -> list[Root] | RootDraft:
    """The live roots that the text means; or the draft of one, where it has none."""
    if is_file(store, text):
        return _of_document(store, document_digest(text)) or _of_file(store, text)
    reference = pasted(text)
    if parse_prefix(reference) is None:
        named = store.named_roots(reference)
        if named:
            return named
    try:
        found = store.find(reference)
    except NameMissing as error:
        raise (neither(text) if error.hint == error.default_hint else error) from None
    if isinstance(found, Digest):
        # Bytes that were put may be a folded document's as well: then both are meant.
        alone = [root for root in _live(store, store.roots_naming(found)) if _names_alone(root, found)][:1]
        documents = _of_document(store, found)
        return [*documents, *alone] or store.keep_draft(str(found))
    live = _live(store, found)
    if not live:
        raise NotFound(
            f"'{reference[:80]}' is forgotten, or has expired",
            hint=f"'ctx forget --undo --root {found[0].id}' brings it back, while gc has not freed it",
            subject=reference[:80],
        )
    return _unnamed(live)


def _of_file(store: Store, path: str) -> list[Root] | RootDraft:
    """Of a file that no root is of: a draft that keeps it; or, of a session, its collapse logs."""
    try:
        return draft_of_file(store, path)
    except DocumentInvalid:
        session = session_in(path)
        scopes = () if session is None else store.log_scopes(RootKind.COLLAPSE, session).live
        logs = [_log(store, RootKind.COLLAPSE, str(session), scope) for scope in scopes]
        if not logs:
            raise
        return [root for log in logs for root in log]


def _log(store: Store, kind: RootKind, source_name: str, scope: str) -> list[Root]:
    log = store.log(kind, source_name, scope=scope)
    return [*log.records, *([] if log.state is None else [log.state])]


def _of_document(store: Store, digest: Digest) -> list[Root]:
    return _unnamed(_live(store, store.document_roots(digest)))


def _unnamed(live: list[Root]) -> list[Root]:
    """Those with a name, which a document does not say, only where there are no others."""
    return [root for root in live if root.name is None] or live


def _live(store: Store, roots: Iterable[Root]) -> list[Root]:
    now = store.parts.clock()
    return [root for root in roots if root.is_live(now)]


def _names_alone(root: Root, digest: Digest) -> bool:
    """Whether it keeps this object and nothing else, and is no part of a log nor made of another object."""
    is_plain = (root.document, root.base, root.place, root.key) == (None,) * 4
    return is_plain and REPLACED not in root.details and tuple(root.objects) == (digest,)


def _with_logs(store: Store, roots: Iterable[Root]) -> Iterator[Root]:
    for root in roots:
        if root.place is None or root.source_name is None:
            yield root
            continue
        yield from _log(store, root.kind, root.source_name, root.scope)


def _with_bases(store: Store, roots: Iterable[Root]) -> Iterator[Root]:
    """Each with the roots that it is based on, before it; some perhaps again."""
    for root in roots:
        if root.base is None:
            yield root
        else:
            yield from reversed(store.based_chain(root))
