"""Which of the roots that pass by a word means: a document's, an object's, a file's. Pure.

Laws: every root is seen once, and none is held but those of the document that is meant; what else may be
needed of one is its id and a few digests. So memory follows from what was asked for, not from what is there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from castore.digest import Digest
from castore.roots.model import Root

__all__ = ["OfDigest", "OfFile"]

_CANDIDATES_MAX = 64
"""A prefix with two of these is ambiguous: more need not be told."""


class _Best(NamedTuple):
    """Of the roots that name an object one that keeps little else. rank: the larger, the better."""

    rank: tuple[bool, int]
    root_id: str


class OfDigest:
    """A digest, or digits that one begins with: of a document, an object or a root.

    documents: roots of documents. root_ids: of roots. objects: by digest, which root keeps the fewest others;
    live ones before those that are forgotten. was_forgotten: a root that is not meant, as it is forgotten, is
    of it.
    """

    def __init__(self, text: str, prefix: str) -> None:
        self.text = text
        self.prefix = prefix
        self.documents: list[Root] = []
        self.root_ids: list[str] = []
        self.was_forgotten = False
        self._objects: dict[Digest, _Best] = {}

    def see(self, root: Root, *, is_live: bool, is_meant: bool) -> None:
        """is_meant: not, of what is forgotten: it is only noted."""
        is_document = root.document is not None and root.document.digest.hex.startswith(self.prefix)
        is_id = root.id.startswith(self.prefix)
        named = [each for each in root.objects if each.hex.startswith(self.prefix)]
        if not is_meant:
            self.was_forgotten = self.was_forgotten or is_document or is_id or bool(named)
            return
        if is_document:
            self.documents.append(root)
        if is_id:
            self.root_ids.append(root.id)
        rank = is_live, -len(root.objects)
        for each in named:
            best = self._objects.get(each)
            if (best is None and len(self._objects) < _CANDIDATES_MAX) or (
                best is not None and rank > best.rank
            ):
                self._objects[each] = _Best(rank, root.id)

    @property
    def meant(self) -> list[str]:
        """What may be meant, distinct: digests and ids. More than one is ambiguous."""
        digests = {str(root.document.digest) for root in self.documents if root.document is not None}
        digests.update(map(str, self._objects))
        return sorted(digests.union(self.root_ids))

    def chosen(self) -> tuple[list[Root], list[str]]:
        """The roots that it means, and the ids of others."""
        if self.documents:
            return self.documents, self.root_ids
        return [], [*self.root_ids, *(best.root_id for best in self._objects.values())]


@dataclass(slots=True)
class _Candidate:
    """A root that names some of a file's objects, which are `named`, among `size`."""

    root_id: str
    named: frozenset[Digest]
    size: int
    is_live: bool


class OfFile:
    """A file: its roots are those of the document that it is; else some that name what its references do."""

    def __init__(self, path: str, content: Digest, digests: Iterable[Digest]) -> None:
        self.path = path
        self.documents: list[Root] = []
        self.was_forgotten = False
        self._content = content
        self._wanted = frozenset(digests)
        self._candidates: list[_Candidate] = []

    def see(self, root: Root, *, is_live: bool, is_meant: bool) -> None:
        is_document = root.document is not None and root.document.digest == self._content
        if not is_meant:
            self.was_forgotten = self.was_forgotten or is_document
            return
        if is_document:
            self.documents.append(root)
            self._candidates.clear()
        elif not self.documents and self._wanted:
            named = self._wanted.intersection(root.objects)
            if named:
                self._candidates.append(_Candidate(root.id, named, len(root.objects), is_live))

    def chosen(self) -> list[str] | None:
        """Ids of roots that name all that the references do: those that name most of it first, and of these
        the smallest. None: not all of it is named. Only where there are no documents."""
        left = set(self._wanted)
        chosen: list[str] = []
        while left:
            naming = [each for each in self._candidates if not left.isdisjoint(each.named)]
            naming = [each for each in naming if each.is_live] or naming
            if not naming:
                return None
            best = max(naming, key=lambda each: (len(left.intersection(each.named)), -each.size))
            chosen.append(best.root_id)
            left.difference_update(best.named)
        return chosen or None
