"""The entries of a cache as they stand: how often they were used, and what has become of them.

Law: what is told covers the scopes that the caller sees, and uses by readers of these scopes, and nothing
else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from castore.errors import ObjectDamaged
from castore.roots.model import Root, RootKind, is_over
from castore.settings import SummaryPolicy
from castore.summary.entry import Entry, entry_of
from castore.summary.eviction import Evicted, Standing, evicted, is_old
from castore.summary.superseding import superseded

if TYPE_CHECKING:
    from castore.store import Store

__all__ = ["Listed", "forgotten", "gone", "listed", "policy_of"]


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry as it stands. hits: how often it was served, as far as the caller is told. last_used: when it
    was made, tied to a name or served last, unix seconds. is_old: past its age, so that it is not served.
    is_whole: source and summary are there; if not, it is not served either."""

    entry: Entry
    hits: int
    last_used: float
    is_superseded: bool
    is_old: bool
    is_whole: bool


def policy_of(store: Store, strategy: str) -> SummaryPolicy:
    """What config.toml says of this strategy. Raises InvalidConfig."""
    return store.config.summary.get(strategy, SummaryPolicy())


def listed(store: Store, scope: str | None) -> list[Listed]:
    """The live entries of one scope, or of all that the caller sees, the latest first."""
    return _told(store, store.keyed_roots(RootKind.SUMMARY, scope=scope))


def forgotten(store: Store, scope: str | None) -> list[Listed]:
    """The entries that `Store.remember` would have back: forgotten, and not collected yet; likewise. Which
    contents are superseded is told among these alone."""
    return _told(
        store,
        [
            root
            for root in store.roots()
            if root.kind is RootKind.SUMMARY
            and root.forgotten is not None
            and not is_over(root)
            and scope in (None, root.scope)
        ],
    )


def _is_there(store: Store, entry: Entry) -> bool:
    source = store.parts.source
    try:
        return all(source.stat(each.digest) is not None for each in (entry.source, entry.summary))
    except ObjectDamaged:
        return False


def _told(store: Store, roots: Iterable[Root]) -> list[Listed]:
    found = [(root, entry) for root in roots if (entry := entry_of(root)) is not None]
    if not found:
        return []
    uses = store.uses([entry.key.hex for _, entry in found])
    old = superseded(entry for _, entry in found)
    now = store.parts.clock()
    told = []
    for root, entry in found:
        use = uses.get(entry.key.hex)
        told.append(
            Listed(
                entry=entry,
                hits=0 if use is None else use.times,
                last_used=root.created if use is None else max(root.created, use.last),
                is_superseded=entry.key.hex in old,
                is_old=is_old(entry, policy_of(store, entry.key.strategy), now),
                is_whole=_is_there(store, entry),
            )
        )
    return told


def gone(
    store: Store, entries: Iterable[Listed], strategy: str, just_made: str | None = None
) -> list[Evicted]:
    """Those of one scope's entries that the policy of this strategy does not hold. just_made: a key."""
    standings = [
        Standing(each.entry, each.last_used, each.is_superseded)
        for each in entries
        if each.entry.key.strategy == strategy
    ]
    policy = policy_of(store, strategy)
    return evicted(standings, policy, now=store.parts.clock(), just_made=just_made)
