"""Which roots of a bucket somebody's words mean: FILE, name, root, document, object, all.

Laws: only roots of scopes that the caller may use there are found, in the words of what is not there. What
has a key that follows from the words (a name, a root's id) is asked for by it; else each root is read once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from io import BufferedReader

from castore.digest import DIGEST_HEX, Digest, parse_prefix
from castore.errors import DigestAmbiguous, NameMissing, NotFound, ObjectMissing, RemoteDamaged
from castore.layout import ROOT_ID
from castore.remote.bucket import Bucket
from castore.remote.keys import root_key
from castore.remote.names import Names
from castore.remote.roots import Grants, RemoteRoots
from castore.roots.joining import has_its_id
from castore.roots.model import LAST, STATE, Root, log_root_id
from castore.store import Store
from castore.store.lookup import pasted

__all__ = ["Found", "find"]


@dataclass(slots=True)
class Found:
    """The roots that were meant, each after what it is based on, distinct. unnamed: of all, those that are
    left, as the name that they were given means something else there by now. damaged: why others, of all that
    were looked at, could not be told from what was meant."""

    roots: list[Root] = field(default_factory=list)
    unnamed: list[Root] = field(default_factory=list)
    damaged: list[RemoteDamaged] = field(default_factory=list)


def find(
    store: Store,
    bucket: Bucket,
    names: Names,
    texts: Sequence[str],
    *,
    everything: bool = False,
    chains: bool = True,
    is_to_forget: bool = False,
) -> Found:
    """The live roots there that `texts` mean, or all that the caller may use; and what they are based on,
    and the records of a log before them, unless chains is False.

    is_to_forget: those too that are forgotten already, so that doing it again, or at once, is no mistake.

    A text is an existing file (a folded document, or a recorded view), a name, a root's id, the digest of a
    document or an object, 6 or more digits of one of these, or a pasted reference.
    Raises NameMissing, ObjectMissing, NotFound, DigestAmbiguous for what nothing there is; RemoteDamaged.
    """
    run = _Search(store, bucket, names, chains=chains, is_to_forget=is_to_forget)
    if everything:
        run.take_all()
    for text in texts:
        try:
            run.take(text)
        except NotFound:
            if run.found.damaged:
                # It may be what was meant.
                raise run.found.damaged[0] from None
            raise
    return run.found


class _Search:
    """One run; all roots are read at most once."""

    def __init__(
        self, store: Store, bucket: Bucket, names: Names, *, chains: bool, is_to_forget: bool
    ) -> None:
        self.found = Found()
        self._is_to_forget = is_to_forget
        self._chains = chains
        self._bucket = bucket
        self._names = names
        self._roots = RemoteRoots(bucket)
        self._grants = Grants(store.granted, bucket.settings.granted)
        self._own_scope = store.granted.writing_scope()
        self._now = store.parts.clock()
        self._all: list[Root] | None = None
        self._taken: set[str] = set()

    def take_all(self) -> None:
        """One that can't be read, or lacks what it needs, keeps no other from being found."""
        for root in self._live():
            try:
                record = None if root.name is None else self._names.get(root.scope, root.name)
                if record is None or record.root == root.id:
                    self._take(root)
                else:
                    self.found.unnamed.append(root)
            except RemoteDamaged as error:
                self.found.damaged.append(error)

    def take(self, text: str) -> None:
        if os.path.isfile(text):
            self._take_file(text)
            return
        text = pasted(text)
        prefix = parse_prefix(text)
        if prefix is None:
            self._take_named(text)
        elif not self._take_id(prefix):
            self._take_digest(text, prefix)

    # --- One kind of text each ---

    def _take_named(self, name: str) -> None:
        record = self._names.get(self._own_scope, name) if self._grants.covers(self._own_scope) else None
        ids = [record.root] if record is not None else []
        if not ids:
            ids = [each.root for each in self._names.all() if each.name == name]
        roots = [root for each in ids if (root := self._one(each)) is not None]
        if not roots:
            raise NameMissing(name, hint=f"no root at '{self._bucket.remote}' has this name")
        for root in roots:
            self._take(root)

    def _take_id(self, prefix: str) -> bool:
        if ROOT_ID.match(prefix) is None:
            return False
        root = self._one(prefix)
        if root is not None:
            self._take(root)
        return root is not None

    def _take_digest(self, text: str, prefix: str) -> None:
        """Of a document its roots; of an object the root that names the fewest others."""
        documents = self._matching(lambda root: _is_of_document(root, prefix))
        by_id = self._matching(lambda root: root.id.startswith(prefix))
        objects = {each for root in self._live() for each in root.objects if each.hex.startswith(prefix)}
        meant = {str(root.document.digest) for root in documents if root.document is not None}
        meant |= {str(each) for each in objects} | {root.id for root in by_id}
        if len(meant) > 1:
            raise DigestAmbiguous(text, sorted(meant))
        for root in (*documents, *by_id):
            self._take(root)
        for each in objects if not documents else ():
            self._take(self._smallest([each]))
        if not meant:
            whole = f"sha256:{prefix}"
            raise (
                ObjectMissing(whole)
                if len(prefix) == DIGEST_HEX
                else NotFound(f"nothing at '{self._bucket.remote}' begins with '{text}'", subject=text)
            )

    def _take_file(self, path: str) -> None:
        with open(path, "rb") as source:
            content, digests = _contents(source)
        roots = self._matching(lambda root: _is_of_document(root, content.hex))
        for root in roots:
            self._take(root)
        if roots:
            return
        if not digests:
            raise NotFound(
                f"no root at '{self._bucket.remote}' is of '{path}', and nothing in it is a reference",
                subject=path,
            )
        left = set(digests)
        while left:
            root = self._smallest(sorted(left))
            self._take(root)
            left.difference_update(root.objects)

    # --- Helpers ---

    def _live(self) -> list[Root]:
        """All roots there that the caller may use, and that may be meant: read once."""
        if self._all is None:
            found = [each.root for each in self._roots.all(self.found.damaged)]
            self._all = [root for root in found if self._may_take(root)]
            self.found.damaged += [self._made_up(root) for root in self._all if not has_its_id(root)]
            self._all = [root for root in self._all if has_its_id(root)]
        return self._all

    def _matching(self, is_meant: Callable[[Root], bool]) -> list[Root]:
        return [root for root in self._live() if is_meant(root)]

    def _smallest(self, digests: Sequence[Digest]) -> Root:
        """Of the roots that name most of these, the one that names the fewest others."""
        wanted = set(digests)
        naming = [root for root in self._live() if not wanted.isdisjoint(root.objects)]
        if not naming:
            raise ObjectMissing(str(digests[0]))
        naming = [root for root in naming if root.is_live(self._now)] or naming
        return max(naming, key=lambda root: (len(wanted.intersection(root.objects)), -len(root.objects)))

    def _one(self, root_id: str) -> Root | None:
        found = self._roots.get(root_id)
        if found is None or not self._may_take(found.root):
            return None
        if not has_its_id(found.root):
            raise self._made_up(found.root)
        return found.root

    def _made_up(self, root: Root) -> RemoteDamaged:
        """Of a root that claims another scope or content than it was written with."""
        return RemoteDamaged(self._bucket.remote, root_key(root.id), "its id is not that of what it says")

    def _may_take(self, root: Root) -> bool:
        return (self._is_to_forget or root.is_live(self._now)) and self._grants.covers(root.scope)

    def _take(self, root: Root) -> None:
        """The root, after all that it is based on."""
        chain: list[Root] = []
        at: Root | None = root
        while at is not None and at.id not in self._taken:
            self._taken.add(at.id)
            chain.append(at)
            at = None if at.base is None or not self._chains else self._base(at.base)
        for each in reversed(chain):
            self._take_log(each)
            self.found.roots.append(each)

    def _take_log(self, root: Root) -> None:
        """The records of the root's log that come before it: their ids follow from their places."""
        if root.place is None or not self._chains:
            return
        last = root.place - 1 if root.place != STATE else root.details.get(LAST)
        for place in range(1, (last if isinstance(last, int) else 0) + 1):
            root_id = log_root_id(root.kind, root.scope, root.source_name, place)
            if root_id not in self._taken:
                self._taken.add(root_id)
                self.found.roots.append(self._base(root_id))

    def _base(self, root_id: str) -> Root:
        """What a live root is based on, be it live or not."""
        found = self._roots.get(root_id)
        if found is None:
            words = "it is not there, and a root needs it"
            raise RemoteDamaged(self._bucket.remote, root_key(root_id), words)
        return found.root


def _is_of_document(root: Root, prefix: str) -> bool:
    return root.document is not None and root.document.digest.hex.startswith(prefix)


def _contents(source: BufferedReader) -> tuple[Digest, tuple[Digest, ...]]:
    """The digest of a file's bytes, and what its references name; a file that is no document has none."""
    from hashlib import file_digest

    from castore.fold.check import may_hold_references
    from castore.fold.documents import references_in

    whole = Digest(file_digest(source, "sha256").hexdigest())
    source.seek(0)
    if not may_hold_references(source):
        return whole, ()
    source.seek(0)
    return whole, references_in(source, lambda digest: True)[1]
