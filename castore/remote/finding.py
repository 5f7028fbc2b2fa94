"""Which roots of a bucket somebody's words mean: FILE, name, root, document, object, all.

Laws:
- Only roots of scopes that the caller may use there are found, in the words of what is not there. What has a
  key that follows from the words (a name, a root's id) is asked for by it; else each root is read once, for
  all words at once, and none is held that they don't mean.
- What is wrong with one root, or with what it is based on, keeps no other from being found. Who may not use
  all that is there is not told of damage whose scope is not known, nor stopped by it: it may be others'.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from castore.config import ROOT_CHAIN_MAX
from castore.digest import DIGEST_HEX, parse_prefix
from castore.errors import DigestAmbiguous, NameMissing, NotFound, ObjectMissing, RemoteDamaged
from castore.layout import ROOT_ID
from castore.remote.bucket import Bucket
from castore.remote.files import contents, session_in
from castore.remote.keys import root_key
from castore.remote.matching import OfDigest, OfFile
from castore.remote.names import Names
from castore.remote.roots import Grants, RemoteRoots
from castore.roots.joining import has_its_id
from castore.roots.model import LAST, STATE, Root, RootKind, log_root_id
from castore.store import Store
from castore.store.lookup import pasted

__all__ = ["Found", "find"]


@dataclass(slots=True)
class Found:
    """The roots that were meant, each after what it is based on, distinct. unnamed: of all, those that are
    left, as the name that they were given means something else there by now. refused: why some that were
    meant can't come. damaged: why others, of all that were looked at, could not be told from what was meant.
    """

    roots: list[Root] = field(default_factory=list)
    refused: list[RemoteDamaged] = field(default_factory=list)
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

    is_to_forget: those too that are forgotten already, so that doing it again, or at once, is no mistake; and
    of a log all of it.

    A text is an existing file (a folded document, a recorded view, a collapsed session), a name, a root's id,
    the digest of a document or an object, 6 or more digits of one of these, or a pasted reference.

    Raises NameMissing, ObjectMissing, NotFound, DigestAmbiguous for what nothing there is; RemoteDamaged, if
    nothing that a text means can be used.
    """
    run = _Search(store, bucket, names, chains=chains, is_to_forget=is_to_forget)
    if everything:
        run.take_all()
    try:
        run.take(texts)
    except NotFound:
        if run.found.damaged:
            # It may be what was meant.
            raise run.found.damaged[0] from None
        raise
    if texts and run.found.refused and not run.found.roots:
        raise run.found.refused[0]
    return run.found


class _Search:
    """One run; all roots are read at most once for `all`, and once for all texts."""

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
        self._taken: dict[str, int] = {}
        """By the ids of roots that are found, how many others each is based on."""
        self._refused: dict[str, RemoteDamaged] = {}

    def take_all(self) -> None:
        """One that can't be read, or lacks what it needs, keeps no other from being found."""
        for root in [each for each in self._seen() if each.is_live(self._now)]:
            try:
                record = None if root.name is None else self._names.get(root.scope, root.name)
                if record is None or record.root == root.id:
                    self._take(root)
                else:
                    self.found.unnamed.append(root)
            except RemoteDamaged as error:
                self.found.refused.append(error)

    def take(self, texts: Sequence[str]) -> None:
        """What each of `texts` means, in their order."""
        meant = [self._meant(text) for text in texts]
        asked = [each for each in meant if isinstance(each, OfFile | OfDigest)]
        if asked:
            for root in self._seen():
                is_live = root.is_live(self._now)
                for each in asked:
                    each.see(root, is_live=is_live, is_meant=is_live or self._is_to_forget)
        for found in meant:
            if isinstance(found, OfDigest):
                roots = self._of_digest(found)
            elif isinstance(found, OfFile):
                roots = self._of_file(found)
            else:
                roots = found
            for root in roots:
                try:
                    self._take(root)
                except RemoteDamaged as error:
                    self.found.refused.append(error)

    # --- One kind of text each ---

    def _meant(self, text: str) -> list[Root] | OfDigest | OfFile:
        """The roots that have a key that follows from the text; or what to look for in all of them."""
        if os.path.isfile(text):
            with open(text, "rb") as source:
                return OfFile(text, *contents(source))
        text = pasted(text)
        prefix = parse_prefix(text)
        if prefix is None:
            return self._named(text)
        root = self._by_id(prefix) if ROOT_ID.match(prefix) else None
        return OfDigest(text, prefix) if root is None else [root]

    def _named(self, name: str) -> list[Root]:
        ids = []
        if self._grants.covers(self._own_scope):
            record = self._names.get(self._own_scope, name)
            ids = [] if record is None else [record.root]
        if not ids:
            ids = [each.root for each in self._names.of(name) if self._grants.covers(each.scope)]
        there = [root for each in ids if (root := self._granted(each)) is not None]
        roots = [root for root in there if self._is_meant(root)]
        if not roots:
            raise NameMissing(
                name, hint=self._forgotten_hint(name) if there else f"no root at {self._where} has this name"
            )
        return roots

    def _by_id(self, root_id: str) -> Root | None:
        try:
            root = self._granted(root_id)
        except RemoteDamaged:
            if self._grants.is_whole:
                raise
            return None
        if root is not None and not self._is_meant(root):
            raise self._forgotten(root_id)
        return root

    def _of_digest(self, asked: OfDigest) -> list[Root]:
        """Of a document its roots; of an object the root that names the fewest others."""
        meant = asked.meant
        if len(meant) > 1:
            raise DigestAmbiguous(asked.text, meant)
        if not meant and asked.was_forgotten:
            raise self._forgotten(asked.text)
        if not meant and len(asked.prefix) == DIGEST_HEX:
            raise ObjectMissing(
                f"sha256:{asked.prefix}", hint=f"no root at {self._where} that may be used names it"
            )
        if not meant:
            raise NotFound(f"nothing at {self._where} begins with '{asked.text}'", subject=asked.text)
        roots, ids = asked.chosen()
        return [*roots, *self._again(ids)]

    def _of_file(self, asked: OfFile) -> list[Root]:
        if asked.documents:
            return asked.documents
        ids = asked.chosen()
        if ids is not None:
            return self._again(ids)
        if asked.was_forgotten:
            raise self._forgotten(asked.path)
        log = self._session_log(asked.path) if self._grants.covers(self._own_scope) else []
        if log:
            return log
        raise NotFound(
            f"no root at {self._where} is of '{asked.path}', or names what its references do",
            hint=f"'ctx push {self._bucket.remote} FILE' brings it there, from a store that has it",
            subject=asked.path,
        )

    def _session_log(self, path: str) -> list[Root]:
        """The collapse log of the session in a file, of the scope that the caller writes in."""
        session = session_in(path)
        log: list[Root] = []
        for place in count(STATE) if session is not None else ():
            root = self._granted(log_root_id(RootKind.COLLAPSE, self._own_scope, session, place))
            if root is None and place != STATE:
                break
            if root is not None:
                log.append(root)
        meant = [root for root in log if self._is_meant(root)]
        if log and not meant:
            raise self._forgotten(path)
        return meant

    # --- Reading ---

    def _seen(self) -> Iterator[Root]:
        """All roots there that the caller may use, forgotten ones too: each read once."""
        unreadable: list[RemoteDamaged] = []
        for found in self._roots.all(unreadable):
            if not self._grants.covers(found.root.scope):
                continue
            if has_its_id(found.root):
                yield found.root
            else:
                self.found.damaged.append(self._made_up(found.root))
        if self._grants.is_whole:
            self.found.damaged += unreadable

    def _granted(self, root_id: str) -> Root | None:
        """The root, if it is there and the caller may use it. Raises RemoteDamaged."""
        found = self._roots.get(root_id)
        if found is None or not self._grants.covers(found.root.scope):
            return None
        if not has_its_id(found.root):
            raise self._made_up(found.root)
        return found.root

    def _again(self, root_ids: Sequence[str]) -> list[Root]:
        """What was seen and not held; what is gone meanwhile is left out."""
        found = (self._granted(each) for each in root_ids)
        return [root for root in found if root is not None]

    def _is_meant(self, root: Root) -> bool:
        return self._is_to_forget or root.is_live(self._now)

    # --- What comes along ---

    def _take(self, root: Root) -> None:
        """The root, after all that it is based on, and after its log's records; all of that or nothing.
        Raises RemoteDamaged, which says of this root why it can't come."""
        if root.id in self._taken:
            return
        if root.id in self._refused:
            raise self._refused[root.id]
        try:
            coming = self._with_needed(root) if self._chains else self._whole(root)
        except RemoteDamaged as error:
            self._refused[root.id] = error
            raise
        for each in coming:
            if each.id not in self._taken:
                below = None if each.base is None else self._taken.get(each.base)
                self._taken[each.id] = 0 if below is None else below + 1
                self.found.roots.append(each)

    def _with_needed(self, root: Root) -> list[Root]:
        needed: list[Root] = []
        for each in self._chain(root):
            needed += self._before(each)
            needed.append(each)
        return needed

    def _chain(self, root: Root) -> list[Root]:
        """The root and what it is based on that was not taken yet, the last first."""
        chain = [root]
        while (base_id := chain[-1].base) is not None:
            if any(each.id == base_id for each in chain):
                raise self._unusable(root, "it is based on itself")
            if len(chain) + self._taken.get(base_id, 0) >= ROOT_CHAIN_MAX:
                raise self._unusable(root, f"it is based on over {ROOT_CHAIN_MAX - 1} others")
            if base_id in self._taken:
                break
            base = self._needed(root, base_id)
            if base is None or base.place is not None or base.key is not None:
                raise self._unusable(root, "what it is based on is not there, or can't be read or used")
            chain.append(base)
        return chain[::-1]

    def _before(self, root: Root) -> Iterator[Root]:
        """The records of the root's log that come before it: their ids follow from their places."""
        if root.place is None:
            return
        last = root.place - 1 if root.place != STATE else root.details.get(LAST)
        for place in range(1, (last if isinstance(last, int) else 0) + 1):
            record_id = log_root_id(root.kind, root.scope, root.source_name, place)
            if record_id in self._taken:
                continue
            record = self._needed(root, record_id)
            if record is None:
                raise self._unusable(root, f"record {place} of its log is not there, or can't be read")
            yield record

    def _whole(self, root: Root) -> list[Root]:
        """The root; of a log that is forgotten all of it: a part would be missed by the others."""
        if root.place is None or not self._is_to_forget:
            return [root]
        told = root.details.get(LAST) if root.place == STATE else root.place
        last = told if isinstance(told, int) else 0
        log = {root.id: root}
        for places in ((STATE,), range(last, STATE, -1), count(last + 1)):
            for place in places:
                each = self._needed(root, log_root_id(root.kind, root.scope, root.source_name, place))
                if each is None:
                    break
                log[each.id] = each
        return list(log.values())

    def _needed(self, root: Root, root_id: str) -> Root | None:
        """What the root needs, be it live or not; None if that is not there, or is of another scope, which
        are not told apart, or can't be read."""
        try:
            found = self._granted(root_id)
        except RemoteDamaged:
            return None
        return found if found is not None and found.scope == root.scope else None

    # --- Words ---

    @property
    def _where(self) -> str:
        return f"'{self._bucket.remote}'"

    def _unusable(self, root: Root, words: str) -> RemoteDamaged:
        return RemoteDamaged(self._bucket.remote, root_key(root.id), words)

    def _made_up(self, root: Root) -> RemoteDamaged:
        """Of a root that claims another scope or content than it was written with."""
        return self._unusable(root, "its id is not that of what it says")

    def _forgotten(self, text: str) -> NotFound:
        return NotFound(
            f"'{text[:80]}' is forgotten at {self._where}", hint=self._forgotten_hint(text), subject=text
        )

    def _forgotten_hint(self, text: str) -> str:
        pushed = f"'ctx push {self._bucket.remote} {text[:80]}'"
        return f"its root at {self._where} was forgotten: {pushed} brings it back, from a store that has it"
