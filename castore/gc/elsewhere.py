"""What repair takes from elsewhere: a place that has roots and objects of this store too, such as a remote.

Laws:
- Asked for is what is missing or damaged here and that a root here names, or somebody asks for: in a scope
  that the place may be used for. A root is asked for where its file is damaged and no sound index has it,
  where another one is based on it, or where it is a record that its log lacks.
- All of it is brought before the write transaction, digested on its way; inside that it takes its place only
  where the damage is still found. What is whole is never touched.
- A root from elsewhere never undoes what was said here: what was purged here it does not name, and it does
  not come where its name has gone to another root, or where it has expired.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Protocol

from castore.config import ROOT_CHAIN_MAX
from castore.digest import Digest
from castore.errors import RootDamaged
from castore.gc.log_gaps import LogGap
from castore.gc.look import RootLook
from castore.gc.mending import Facts
from castore.layout import SHARDS
from castore.objects.database import ObjectDatabase, Staged
from castore.roots.model import REMOTE, Root, alone, forgotten, is_bound, lasting, log_root_id, without
from castore.store.transaction import Transactions, new_nesting

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["Brought", "Elsewhere", "arrive", "bring"]

_RECORDS_MAX = 100_000
"""Of a log, that are asked for at once: how many are missing is what a root file says."""


class Elsewhere(Protocol):
    """A place that has roots and objects of this store. Its errors come through."""

    @property
    def words(self) -> str:
        """What it is called in what is told: `remote 'origin'`."""

    def covers(self, scope: str | None) -> bool:
        """Whether the place may be used for the scope; None: for all of them."""

    def roots(self, root_ids: Sequence[str]) -> Iterator[Root]:
        """Those that are there, whole, and whose scope is covered, as they are there."""

    def each(self, digests: Sequence[Digest], take: Callable[[ObjectDatabase, Digest], None]) -> None:
        """`take` was called with each, from several threads perhaps. That it raised ObjectMissing or
        ObjectDamaged is no error: the object is not to be had."""

    def notes(self) -> list[str]:
        """What is worth telling of what was asked for."""


@dataclass(slots=True)
class Brought:
    """What was brought from `words`. staged: objects; None: whole there, and to be staged by another run."""

    words: str = ""
    staged: dict[Digest, Staged | None] = field(default_factory=dict)
    roots: dict[str, Root] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def drop(self, parts: Transactions) -> None:
        """Nothing of it is left that has not taken its place."""
        parts.source.drop(staged.frames for staged in self.staged.values() if staged is not None)


def bring(
    parts: Transactions,
    connection: Connection | None,
    elsewhere: Elsewhere,
    facts: Facts,
    look: RootLook,
    *,
    is_staged: bool,
) -> Brought:
    """What is wanted by these facts and is there. is_staged: objects are staged here; else only checked.

    Roots have been added to the facts. On an error nothing is staged. connection: of a sound index.
    """
    brought = Brought(elsewhere.words)
    for root in _roots(parts, connection, elsewhere, facts, look):
        brought.roots[root.id] = root
    arrive(parts, facts, look, brought)

    def take(database: ObjectDatabase, digest: Digest) -> None:
        if is_staged:
            brought.staged[digest] = database.transfer(digest, parts.source, new_nesting=new_nesting)
        else:
            database.check(digest)
            brought.staged[digest] = None

    try:
        elsewhere.each(sorted(_covered(parts, elsewhere, facts)), take)
    except BaseException:
        brought.drop(parts)
        raise
    brought.notes = elsewhere.notes()
    return brought


def arrive(parts: Transactions, facts: Facts, look: RootLook, brought: Brought) -> None:
    """Those of the roots that may come stand among the lost ones of these facts."""
    if not brought.roots:
        return
    now = parts.clock()
    based = _based(look, facts, brought, now)
    chosen = _chosen(parts, facts, brought, based, now)
    for root in sorted(chosen.values(), key=lambda each: (each.created, each.sequence)):
        look.sequence += 1
        chosen[root.id] = replace(root, sequence=look.sequence)
    for root in reversed(list(chosen.values())):
        # What is based on it comes before, so that its own expiry is known.
        expiries = [chosen[each.id].expires if each.id in chosen else each.expires for each in based[root.id]]
        chosen[root.id] = lasting(alone(root), expiries)
    for root in chosen.values():
        facts.lost.append(root)
        facts.sources[root.id] = brought.words
        facts.known.update(digest.hex for digest in root.objects)
        look.logs.add(root, now)
    facts.log_gaps = list(look.logs.gaps())


# --- Which roots -----------------------------------------------------------------------------------


class _Based(NamedTuple):
    """A root that is based on another."""

    id: str
    scope: str
    expires: float | None


def _based(look: RootLook, facts: Facts, brought: Brought, now: float) -> dict[str, list[_Based]]:
    """By the id of each root that was brought: the roots that are based on it, here or among the brought, and
    have not expired."""
    found: dict[str, list[_Based]] = {root_id: [] for root_id in brought.roots}
    roots = [*facts.lost, *brought.roots.values()]
    links = [(root.base, _Based(root.id, root.scope, root.expires)) for root in roots]
    links += [(link.base, _Based(each, link.scope, link.expires)) for each, link in look.links.items()]
    for base, based in links:
        if base in found and (based.expires is None or based.expires > now):
            found[base].append(based)
    return found


def _chosen(
    parts: Transactions, facts: Facts, brought: Brought, based: Mapping[str, list[_Based]], now: float
) -> dict[str, Root]:
    """Of the roots that were brought those that may come, each after its base, without what was purged."""
    lost = {root.id for root in facts.lost}
    wanted = _wanted_roots(parts, facts)
    names = _names(parts, facts) if any(root.name is not None for root in brought.roots.values()) else {}
    chosen: dict[str, Root] = {}
    for root in _bases_first(brought.roots.values()):
        is_needed = root.id in wanted or (based[root.id] and _root(parts, root.id) is None)
        if root.id in lost or not is_needed:
            continue
        named = (root.scope, root.name) if root.name is not None and root.is_live(now) else None
        is_taken = named is not None and names.get(named, root.id) != root.id
        if (is_taken or alone(root).is_expired(now)) and not based[root.id]:
            continue
        if any(each.scope != root.scope for each in based[root.id]):
            continue
        if root.base is not None and not _has_base(parts, root, chosen, lost):
            continue
        left = _unpurged(parts, root)
        if left is None:
            continue
        # As any root that has lost its name, it is kept for those alone that are based on it.
        chosen[root.id] = forgotten(left, now=now, grace_seconds=0) if is_taken else left
        if named is not None and not is_taken:
            names[named] = root.id
    return chosen


def _roots(
    parts: Transactions, connection: Connection | None, elsewhere: Elsewhere, facts: Facts, look: RootLook
) -> Iterator[Root]:
    """Those that are wanted, and what they are based on that is not here."""
    wanted = _wanted_roots(parts, facts) - _known(connection, facts.damaged_roots)
    asked = set(wanted)
    for _ in range(ROOT_CHAIN_MAX):
        if not wanted:
            return
        bases = set()
        for root in elsewhere.roots(sorted(wanted)):
            yield root
            if root.base is not None and root.base not in asked and _root(parts, root.base) is None:
                bases.add(root.base)
        asked |= bases
        wanted = bases


def _wanted_roots(parts: Transactions, facts: Facts) -> set[str]:
    """Ids of roots whose file is damaged or missing, and is needed."""
    lost = {root.id for root in facts.lost}
    wanted = set(facts.damaged_roots)
    wanted |= {base for base, _ in facts.baseless.values() if _root(parts, base) is None}
    for gap in facts.log_gaps:
        wanted |= set(islice(_records(gap), _RECORDS_MAX))
    return wanted - lost


def _records(gap: LogGap) -> Iterator[str]:
    for place in range(gap.first, gap.last + 1):
        yield log_root_id(gap.kind, gap.scope, gap.source_name, place)


def _known(connection: Connection | None, root_ids: Iterable[str]) -> set[str]:
    """Those of which a sound index says that they are over, or have lost their name."""
    if connection is None:
        return set()
    from castore.index import roots

    return {root_id for root_id in root_ids if roots.by_id(connection, root_id) is not None}


def _root(parts: Transactions, root_id: str) -> Root | None:
    """The root here; None if it is not there, or damaged."""
    with contextlib.suppress(FileNotFoundError, RootDamaged):
        return parts.root_files.read(root_id)
    return None


def _readable(parts: Transactions) -> Iterator[Root]:
    """Every root here that is not damaged."""
    for shard in SHARDS:
        root_ids: list[str] = []
        with contextlib.suppress(RootDamaged):
            root_ids = parts.root_files.ids(shard)
        for root_id in root_ids:
            root = _root(parts, root_id)
            if root is not None:
                yield root


def _names(parts: Transactions, facts: Facts) -> dict[tuple[str, str], str]:
    """By scope and name the id of the live root that has it."""
    now = parts.clock()
    return {
        (root.scope, root.name): root.id
        for root in (*facts.lost, *_readable(parts))
        if root.name is not None and root.is_live(now)
    }


def _bases_first(roots: Iterable[Root]) -> list[Root]:
    waiting = {root.id: root for root in roots}
    found: list[Root] = []
    while waiting:
        level = [root for root in waiting.values() if root.base not in waiting] or list(waiting.values())
        for root in level:
            del waiting[root.id]
        found += level
    return found


def _has_base(parts: Transactions, root: Root, chosen: Mapping[str, Root], lost: set[str]) -> bool:
    base = chosen.get(root.base or "") or _root(parts, root.base or "")
    return root.base in lost if base is None else base.scope == root.scope


def _unpurged(parts: Transactions, root: Root) -> Root | None:
    """The root without what was purged here from its scope; None if it is nothing without that, or if what
    was purged can't be told."""
    left = replace(root, details={key: value for key, value in root.details.items() if key != REMOTE})
    for digest in root.objects:
        try:
            tombstone = parts.tombstones.get(digest)
        except RootDamaged:
            return None
        if tombstone is not None and root.scope in tombstone.scopes:
            if is_bound(root):
                return None
            left = without(left, digest)
    return left


# --- Which objects ---------------------------------------------------------------------------------


def _covered(parts: Transactions, elsewhere: Elsewhere, facts: Facts) -> set[Digest]:
    """The wanted objects that may be asked for there: by who sees all of it, or a root of a covered scope."""
    wanted = facts.wanted()
    named = {digest for digest in wanted if digest.hex in facts.named or digest.hex in facts.promised}
    named |= {digest for root in facts.lost for digest in root.objects if digest in wanted}
    if elsewhere.covers(None):
        return named | {digest for digest in wanted if digest.hex in facts.asked}
    found: set[Digest] = set()
    for root in (*facts.lost, *_readable(parts)) if named else ():
        if elsewhere.covers(root.scope):
            found |= named.intersection(root.objects)
    return found
