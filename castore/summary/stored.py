"""Entries in a store: what has a key now, and the writes that change it. castore.summary.cache decides.

Laws:
- What may be served is whole: a live root that says so, not past its age, with source and summary there.
- A write says which root it is in place of: the one that was read when it was decided. If another has the key
  by then, KeyTaken, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from castore.digest import Digest
from castore.errors import CastoreError, KeyTaken, ObjectDamaged
from castore.roots.model import Content, Root, RootKind
from castore.summary.derivation import derivation
from castore.summary.entry import NAMES_PATH, Entry, entry_of
from castore.summary.eviction import is_old
from castore.summary.key import SummaryKey
from castore.summary.listing import policy_of
from castore.summary.superseding import tied

if TYPE_CHECKING:
    from castore.store import Store

__all__ = ["TRIES_MAX", "There", "find", "look", "store_entry", "text_of", "tie"]

TRIES_MAX = 8
"""Writes of others that one call reads and tries again after."""


@dataclass(frozen=True, slots=True)
class There:
    """The live root that has a key, and the entry and text that a hit serves, if it is one."""

    root: Root | None = None
    hit: tuple[Entry, str] | None = None


def find(store: Store, key: SummaryKey) -> Entry | None:
    """The entry that a hit would serve. Raises ScopeDenied, ObjectDamaged, InvalidConfig."""
    return _whole(store, key, _root(store, key))


def look(store: Store, key: SummaryKey) -> There:
    """What has the key now. What is damaged is no hit: it is made anew, and the file is replaced."""
    root = _root(store, key)
    try:
        entry = _whole(store, key, root)
        return There(root, None if entry is None else (entry, text_of(store, entry)))
    except ObjectDamaged:
        return There(root)


def text_of(store: Store, entry: Entry) -> str:
    """The summary, digested again. Raises ObjectMissing, ObjectPurged, ObjectDamaged."""
    from castore.store.reads import ReadCount

    # It is the use of the entry that is noted, not a read of the object: it would count twice.
    data = store.read(entry.summary.digest, count=ReadCount())
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise CastoreError(f"summary '{entry.summary.digest.abbreviated}' is not UTF-8") from error


def store_entry(
    store: Store,
    key: SummaryKey,
    source: bytes | Digest,
    text: bytes,
    *,
    made_by: str,
    names: Sequence[str],
    source_name: str | None,
    old: Root | None,
) -> Entry:
    """The entry is on the disk, in place of the live root `old`, whose names it keeps. Raises KeyTaken."""
    before = None if old is None else entry_of(old)
    made_from = derivation(store, source, key.scope)
    entry = Entry(
        key=key,
        source=Content(key.source, _size(store, source)),
        summary=Content(Digest.of(text), len(text)),
        made_by=made_by,
        made=store.parts.clock(),
        chain=made_from.chain,
        keeps=made_from.keeps,
        base=made_from.base,
        source_name=source_name,
    )
    if before is not None:
        # Made anew, it is of the same content: what that is called has not changed.
        entry = replace(entry, names=before.names, source_name=source_name or before.source_name)
    entry = _with_names(store, entry, names)
    with store.batch() as batch:
        if not isinstance(source, Digest):
            batch.stage(source)
        batch.stage(text)
        return _entry(batch.commit(entry.draft(replaces=0 if old is None else old.sequence)))


def tie(store: Store, entry: Entry, names: Sequence[str]) -> Entry:
    """The entry, tied to these names, whose content it is. Nothing is written if it was so already.

    Raises KeyTaken if it is there no more.
    """
    tries = 0
    while True:
        tries += 1
        changed = _with_names(store, entry, names)
        if changed is entry:
            return entry
        try:
            with store.batch() as batch:
                return _entry(batch.commit(changed.draft(replaces=entry.sequence)))
        except KeyTaken:
            found = find(store, entry.key)
            if found is None or tries == TRIES_MAX:
                raise
            entry = found


# --- Helpers ---------------------------------------------------------------------------------------


def _root(store: Store, key: SummaryKey) -> Root | None:
    return store.keyed_root(RootKind.SUMMARY, key.hex, scope=key.scope)


def _whole(store: Store, key: SummaryKey, root: Root | None) -> Entry | None:
    entry = None if root is None else entry_of(root)
    if entry is None or is_old(entry, policy_of(store, key.strategy), store.parts.clock()):
        return None
    both = entry.source.digest, entry.summary.digest
    promised = store.promised(both)
    return entry if all(each in promised or store.stat(each) is not None for each in both) else None


def _with_names(store: Store, entry: Entry, names: Sequence[str]) -> Entry:
    """The very same if it is tied to them already, and their content is its source."""
    for name in names:
        # Those of this name alone: a hit is not to cost more the more entries there are.
        roots = store.keyed_roots(RootKind.SUMMARY, scope=entry.scope, member=(NAMES_PATH, name))
        entry = tied(entry, name, [each for root in roots if (each := entry_of(root)) is not None])
    return entry


def _entry(root: Root) -> Entry:
    entry = entry_of(root)
    if entry is None:
        raise CastoreError("what was stored is no summary: its root says something else", root=root.id)
    return entry


def _size(store: Store, source: bytes | Digest) -> int:
    if not isinstance(source, Digest):
        return len(source)
    store.want([source])
    found = store.stat(source)
    if found is None:
        raise store.absence(source)
    return found.size
