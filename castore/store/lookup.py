"""What a REF means: a digest or the beginning of one, a name, a document, a root, a pasted reference.

Laws: only what the caller sees has a meaning, and what is promised (Store.promised) has one as well.
A prefix that it shares with an object that the caller does not see is not ambiguous, and a name in another
scope is not there.
"""

from __future__ import annotations

import re

from castore.config import NAME_PATTERN
from castore.digest import DIGEST_HEX, PREFIX_HEX_MIN, SHORT_HEX, Digest, is_short_prefix, parse_prefix
from castore.errors import DigestAmbiguous, NameMissing, NotFound, ObjectMissing, RootDamaged
from castore.objects.loose import LooseSource
from castore.roots.model import Root, RootKind
from castore.store.batch import Meaning
from castore.store.queries import Queries

__all__ = ["Lookup", "pasted"]

_MARKER = re.compile(r"\[ctx ([0-9a-f]{16,64})\b[^\]]*\]?\Z")


class Lookup:
    """The meanings of one caller's words in one store."""

    def __init__(self, source: LooseSource, queries: Queries) -> None:
        self._source = source
        self._queries = queries

    def object(self, text: str) -> Digest:
        """As `Store.resolve`."""
        text = pasted(text)
        prefix = parse_prefix(text)
        if prefix is None:
            try:
                return self._object_named(text)
            except NameMissing as error:
                if NAME_PATTERN.match(text) is not None and not is_short_prefix(text):
                    self._queries.offer_pull(error, text)
                raise
        found = self._objects(prefix)
        if not found:
            raise self._no_object(prefix)
        if len(found) > 1:
            raise DigestAmbiguous(text, [str(each) for each in found])
        return found[0]

    def anything(self, text: str) -> Digest | tuple[Root, ...]:
        """As `Store.find`."""
        text = pasted(text)
        prefix = parse_prefix(text)
        if prefix is None:
            named = self._named(text)
            objects = {digest for root in named for digest in root.objects}
            is_object = len(objects) == 1 and all(root.document is None for root in named)
            return self.object(text) if is_object else tuple(named)
        found: dict[str, Digest | tuple[Root, ...]] = {str(each): each for each in self._objects(prefix)}
        documents: dict[str, tuple[Root, ...]] = {}
        for root in self._queries.of_document(prefix):
            key = str(root.document.digest) if root.document is not None else root.id
            documents[key] = (*documents.get(key, ()), root)
        # A document that was also put is an object: its bytes are here.
        found = {**documents, **found, **{root.id: (root,) for root in self._queries.with_id(prefix)}}
        if len(found) > 1:
            raise DigestAmbiguous(text, sorted(found))
        for each in found.values():
            return each
        raise self._absent(prefix)

    def meaning(self, text: str) -> Meaning:
        """The document, if that is what `text` names, and the objects to keep. Of a root's id: all of its."""
        text = pasted(text)
        prefix = parse_prefix(text)
        if prefix is None:
            named = self._named(text)
            return self._meaning_of(named[0])
        roots = self._queries.of_document(prefix)
        documents = {root.document.digest: root for root in roots if root.document is not None}
        by_id = {root.id: root for root in self._queries.with_id(prefix)}
        found = {*map(str, {*documents, *self._objects(prefix)}), *by_id}
        if len(found) > 1:
            raise DigestAmbiguous(text, sorted(found))
        for root in (*documents.values(), *by_id.values()):
            return self._meaning_of(root)
        return Meaning(None, (self.object(text),))

    # --- Helpers ---

    def _meaning_of(self, root: Root) -> Meaning:
        return Meaning(root.document, self._all_objects(root), self._view(root))

    def _view(self, root: Root) -> Root | None:
        """The root of the view that this one is of, or keeps."""
        if root.kind is RootKind.VIEW:
            return root
        if root.base is None or root.document is None:
            return None
        below = self._queries.based_chain(root)
        same = (each for each in below if each.kind is RootKind.VIEW and each.document == root.document)
        return next(same, None)

    def _all_objects(self, root: Root) -> tuple[Digest, ...]:
        """Those of the roots that it is based on are its own, too."""
        if root.base is None:
            return tuple(root.objects)
        return tuple(sorted({each for one in self._queries.based_chain(root) for each in one.objects}))

    def _objects(self, prefix: str) -> list[Digest]:
        """The objects that are there for this caller whose digest begins with these digits; if none is, those
        that are promised."""
        if len(prefix) < DIGEST_HEX:
            return self._queries.digests(prefix) or self._queries.promised_digests(prefix)
        digest = Digest(prefix)
        return [digest] if self._is_there(digest) else []

    def _is_there(self, digest: Digest) -> bool:
        """Or promised."""
        # Asked first whether it is seen: what is hidden then takes the steps of what is absent.
        if self._queries.sees(digest) and self._source.stat(digest) is not None:
            return True
        return bool(self._queries.promised([digest]))

    def _absent(self, prefix: str) -> NotFound:
        """Purged, if that is what the one object of these digits was; else missing."""
        try:
            purged = self._queries.purged(prefix)
        except RootDamaged:
            purged = []
        if len(purged) == 1 or len(prefix) == DIGEST_HEX:
            return self._queries.absence(purged[0] if len(purged) == 1 else Digest(prefix))
        missing = ObjectMissing(f"sha256:{prefix}")
        self._queries.offer_pull(missing, prefix)
        return missing

    def _no_object(self, prefix: str) -> NotFound:
        """Why no object's digest begins with these digits, which may be something else's."""
        try:
            documents, roots = self._queries.of_document(prefix), self._queries.with_id(prefix)
        except RootDamaged:
            # What the roots would say is only a better message; that there is no object is sure.
            return self._absent(prefix)
        for root in documents:
            if root.document is not None:
                short = root.document.digest.short
                return _not_an_object(short, "a folded document, which is not stored itself")
        for root in roots:
            return _not_an_object(root.id[:SHORT_HEX], "a root, which is not an object itself")
        return self._absent(prefix)

    def _named(self, text: str) -> list[Root]:
        found = self._queries.named(text)
        if not found:
            hint = f"a digest takes {PREFIX_HEX_MIN} digits or more; 'ctx log' lists the names in use"
            raise NameMissing(text, hint=hint if is_short_prefix(text) else None)
        return found

    def _object_named(self, text: str) -> Digest:
        found = {digest for root in self._named(text) for digest in root.objects}
        if len(found) != 1:
            raise NotFound(
                f"name '{text}' names {len(found):,} objects",
                hint=f"'ctx show {text}' lists them",
                subject=text,
                objects=len(found),
            )
        digest = found.pop()
        if not self._is_there(digest):
            raise self._queries.absence(digest)
        return digest


def _not_an_object(short: str, what: str) -> NotFound:
    return NotFound(f"'{short}' is {what}", hint=f"'ctx show {short}' lists its objects", subject=short)


def pasted(text: str) -> str:
    """The digest in a whole marker or reference; other text as it is, without white space around it."""
    text = text.strip()
    if text.startswith("[ctx "):
        match = _MARKER.match(text)
        return match[1] if match else text
    if text.startswith("{"):
        import json

        try:
            return str(json.loads(text)["$ctx"]["digest"])
        except (ValueError, KeyError, TypeError, RecursionError):
            return text
    return text
