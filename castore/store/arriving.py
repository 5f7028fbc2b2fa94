"""What comes of roots that arrive from elsewhere: decided one after the other, written by nobody here.

Laws:
- A root is joined with the one of its id that is here (castore.roots.joining). What is refused is refused
  alone, with what is based on it, or with the rest of its log; all others go on.
- What was forgotten here stays forgotten, unless it is to be restored, or takes its name from another one.
  What has expired is not here, whether gc has taken it or not.
- A root that is not live where it comes from is left out, unless another one that arrives is based on it.
- Nobody gets at an object by naming it: each is brought, or was seen already by who imports. What is promised
  (the detail REMOTE) is not here at all, or has a root of the same scope: so that a root which names what
  others have, and which came without its bytes, shows nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from castore.config import OPERATOR, ROOT_CHAIN_MAX
from castore.digest import Digest
from castore.errors import BaseMissing, LimitExceeded, LogMoved, RootDamaged, RootsDiverged
from castore.roots.files import check_file
from castore.roots.joining import has_its_id, joined, says_what
from castore.roots.model import REMOTE, STATE, Root
from castore.store import logs
from castore.store.access import Granted
from castore.store.transaction import Transactions

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["Arrivals", "Decision", "Outcome", "Terms", "check_arriving"]


class Outcome(StrEnum):
    """What came of a root. new: it was not here. changed: joined with the one that was. same: nothing to do.

    forgotten: it is forgotten here, or where it comes from, and left as it is. diverged: of a log that says
    something else here. name-taken: another root here has its name. purged: it names what was purged here.
    """

    NEW = "new"
    CHANGED = "changed"
    SAME = "same"
    FORGOTTEN = "forgotten"
    DIVERGED = "diverged"
    NAME_TAKEN = "name-taken"
    PURGED = "purged"

    @property
    def is_refused(self) -> bool:
        return self in (Outcome.FORGOTTEN, Outcome.DIVERGED, Outcome.NAME_TAKEN, Outcome.PURGED)


@dataclass(frozen=True, slots=True)
class Decision:
    """root: as it is to be; as it came where it is refused. there: the one with its id that is here, if any.

    others: live roots here that lose their name to it. is_anew: it gets a new number, as what was not live
    here, or is replaced whole.
    """

    root: Root
    outcome: Outcome
    there: Root | None = None
    others: tuple[Root, ...] = ()
    is_anew: bool = False

    @property
    def is_written(self) -> bool:
        return self.outcome in (Outcome.NEW, Outcome.CHANGED)


@dataclass(frozen=True, slots=True)
class Terms:
    """On which roots are taken. lazily: the remote that has those objects that are not here; None: none does.

    is_brought: whether the object was staged here. may_name: whether it is here, and was seen by who
    imports. absence: the error for an object that is not. newer: ids of states that were made from
    those that are here.
    """

    now: float
    is_brought: Callable[[Digest], bool]
    may_name: Callable[[Digest], bool]
    absence: Callable[[Digest], Exception]
    lazily: str | None = None
    restore: bool = False
    moves: Collection[str] = ()
    newer: Collection[str] = ()


@dataclass(slots=True)
class Arrivals:
    """The decisions about roots that arrive together. Raises BaseMissing, LimitExceeded, InvalidOption, and
    `Terms.absence` for an object that was not brought."""

    parts: Transactions
    connection: Connection
    terms: Terms
    _coming: dict[str, Root] = field(default_factory=dict)
    _refused: dict[str, Outcome] = field(default_factory=dict)
    _refused_logs: dict[object, Outcome] = field(default_factory=dict)
    _bases: frozenset[str] = frozenset()
    _purged: frozenset[Digest] | None = None

    def decide(self, arriving: Sequence[Root]) -> list[Decision]:
        """In the order in which they may be written: bases first, records of a log in their order."""
        self._bases = frozenset(root.base for root in arriving if root.base is not None)
        decisions = []
        for root in _in_order(arriving):
            decision = self._decided(root)
            decisions.append(decision)
            if not decision.outcome.is_refused:
                self._coming[root.id] = decision.root
                for other in decision.others:
                    if other.id in self._coming:
                        self._coming[other.id] = replace(other, forgotten=self.terms.now)
                continue
            self._refused[root.id] = decision.outcome
            if root.log is not None and self._ends_log(root, decision):
                self._refused_logs[root.log] = decision.outcome
        return decisions

    def _decided(self, arriving: Root) -> Decision:
        from castore.index import roots

        now = self.terms.now
        there = roots.by_id(self.connection, arriving.id)
        outcome = self._left_out(arriving, there)
        if outcome is not None:
            return Decision(arriving, outcome, there)
        try:
            sound = self._sound(there, arriving)
            root = joined(sound, arriving, now=now, is_newer=arriving.id in self.terms.newer)
            self._check_log(there, root)
        except (RootsDiverged, LogMoved):
            return Decision(arriving, Outcome.DIVERGED, there)
        if self._was_purged(root):
            return Decision(arriving, Outcome.PURGED, there)
        others = self._others_named(root)
        has_name = there is not None and there.is_live(now)
        if others and not has_name and root.id not in self.terms.moves:
            return Decision(arriving, Outcome.NAME_TAKEN, there)
        self._check_base(root)
        promised = self._promised(there, arriving, root)
        if promised is None:
            return Decision(arriving, Outcome.DIVERGED, there)
        root = promised
        if there is not None and _is_same(there, root):
            return Decision(there, Outcome.SAME, there, others)
        check_file(root)
        is_anew = there is None or not there.is_live(now) or root.key is not None or root.place == STATE
        is_new = there is None or there.is_expired(now)
        return Decision(root, Outcome.NEW if is_new else Outcome.CHANGED, there, others, is_anew)

    def _left_out(self, arriving: Root, there: Root | None) -> Outcome | None:
        """Why it is refused, as far as that can be told without joining it."""
        now = self.terms.now
        if not arriving.is_live(now) and arriving.id not in self._bases:
            return Outcome.FORGOTTEN
        if arriving.log is not None and arriving.log in self._refused_logs:
            return self._refused_logs[arriving.log]
        base = None if arriving.base is None else self._refused.get(arriving.base)
        if base is not None and arriving.base is not None and self._base(arriving.base) is None:
            return base
        is_forgotten = there is not None and there.forgotten is not None and not there.is_expired(now)
        if not is_forgotten or self.terms.restore:
            return None
        # What may take its name is restored for that alone: not where nobody has the name.
        is_moved = arriving.id in self.terms.moves and bool(self._others_named(arriving))
        return None if is_moved else Outcome.FORGOTTEN

    def _ends_log(self, arriving: Root, decision: Decision) -> bool:
        """Whether nothing more of its log is taken: it says something else here, or is forgotten whole."""
        from castore.index import roots

        if decision.outcome is not Outcome.FORGOTTEN:
            return True
        if decision.there is None or arriving.source_name is None or not arriving.is_live(self.terms.now):
            return False
        of_log = roots.of_log(self.connection, arriving.kind, arriving.scope, arriving.source_name)
        return not any(root.is_live(self.terms.now) for root in of_log)

    def _sound(self, there: Root | None, arriving: Root) -> Root | None:
        """What is here; without the base that it had, if that is gone."""
        if there is None or there.base is None:
            return there
        if self.parts.usable_bases(self.connection, there, self.terms.now) is not None:
            return there
        return replace(there, base=arriving.base)

    def _check_log(self, there: Root | None, root: Root) -> None:
        """It leaves no gap in its log, and what was begun anew is not mixed with what was before. Raises
        RootsDiverged, LogMoved."""
        from castore.index import roots

        if root.place is None or root.source_name is None:
            return
        if there is not None and there.forgotten is not None and not there.is_expired(self.terms.now):
            logs.check_is_not_begun_anew(self.connection, [there], self.terms.now)
        if root.place == STATE:
            return
        last = roots.last_place(self.connection, root.kind, root.scope, root.source_name, self.terms.now)
        coming = (each.place or 0 for each in self._coming.values() if each.log == root.log)
        last = max([last, *coming])
        if last and root.place > last + 1:
            raise RootsDiverged(root.id, f"what is here of its log ends with record {last}")

    def _was_purged(self, root: Root) -> bool:
        """Whether it names what its scope was purged of. Raises RootDamaged for a tombstone."""
        if self._purged is None:
            self._purged = frozenset(self.parts.tombstones.digests())
        found = (self.parts.tombstones.get(each) for each in self._purged.intersection(root.objects))
        return any(root.scope in each.scopes for each in found if each is not None)

    def _others_named(self, root: Root) -> tuple[Root, ...]:
        """The live roots of its scope that have its name, those that come before it, too."""
        now = self.terms.now
        if root.name is None or not root.is_live(now):
            return ()
        found = self.parts.others_named(self.connection, root.name, root.scope, root.id, now)
        coming = [
            each
            for each in self._coming.values()
            if (each.name, each.scope) == (root.name, root.scope) and each.is_live(now)
        ]
        distinct = {each.id: each for each in (*found, *coming)}
        return tuple(each for each in distinct.values() if each.id != root.id)

    def _base(self, root_id: str) -> Root | None:
        """A root on which others may be based: it comes, or is here and has not expired."""
        from castore.index import roots

        found = self._coming.get(root_id)
        if found is None:
            found = roots.by_id(self.connection, root_id)
            if found is not None and found.is_expired(self.terms.now):
                return None
        # What is replaced whole would lack what its next one does not name.
        return found if found is not None and found.place is None and found.key is None else None

    def _check_base(self, root: Root) -> None:
        at, depth = root, 0
        while at.base is not None:
            base = self._base(at.base)
            if base is None or base.scope != root.scope or base.id == root.id:
                raise BaseMissing(at.base)
            at, depth = base, depth + 1
            if depth >= ROOT_CHAIN_MAX:
                raise LimitExceeded(
                    f"root '{root.id}' is based on over {ROOT_CHAIN_MAX - 1} others", limit="ROOT_CHAIN_MAX"
                )

    def _promised(self, there: Root | None, arriving: Root, root: Root) -> Root | None:
        """The root, with the remote that has what is not here of it, if there is one; None: two would have
        to be named. Raises `Terms.absence`."""
        absent = {each for each in root.objects if not self._is_here(each, root.scope)}
        came = absent.intersection(arriving.objects)
        if came and self.terms.lazily is None:
            raise self.terms.absence(min(came))
        before = None if there is None else there.details.get(REMOTE)
        remote = before if absent else None
        if came and before != self.terms.lazily:
            if absent <= set(arriving.objects):
                remote = self.terms.lazily
            elif before is None or there is None or not absent <= set(there.objects):
                return None
        details = {key: value for key, value in root.details.items() if key != REMOTE}
        if remote is not None:
            details[REMOTE] = remote
        return replace(root, details=details)

    def _is_here(self, digest: Digest, scope: str) -> bool:
        if self.terms.is_brought(digest):
            return True
        if not self.terms.may_name(digest):
            return False
        if self.terms.lazily is None or self._is_of(digest, scope):
            return True
        # It is another scope's: who knows no more than its digest is not to see it by a promise.
        raise self.terms.absence(digest)

    def _is_of(self, digest: Digest, scope: str) -> bool:
        from castore.index import seen

        return seen.is_named(self.connection, digest, (scope,), self.terms.now)


def check_arriving(root: Root, granted: Granted) -> None:
    """Its scope is one that the caller may write in, and its id is its own.

    Raises ScopeDenied, RootDamaged.
    """
    if root.scope == OPERATOR:
        granted.require_operator("importing a root of the operator's own scope")
    else:
        granted.writing_scope(root.scope)
    if not has_its_id(root):
        raise RootDamaged(root.id, "its id is not that of what it says it is")


# --- Helpers ---------------------------------------------------------------------------------------


def _in_order(arriving: Iterable[Root]) -> list[Root]:
    """Each once: those of no log by when they were created, but bases first; those of logs by their places,
    states last, as they tell of records."""
    from castore.index import bases

    by_id: dict[str, Root] = {}
    for root in sorted(arriving, key=lambda root: (root.created, root.sequence)):
        by_id.setdefault(root.id, root)
    base_of: Mapping[str, str | None] = {root.id: root.base for root in by_id.values() if root.log is None}
    of_logs = [root for root in by_id.values() if root.log is not None]
    of_logs.sort(key=lambda root: (root.source_name or "", root.place == STATE, root.place or 0))
    return [*(by_id[root_id] for root_id in bases.bases_first(base_of)), *of_logs]


def _is_same(there: Root, root: Root) -> bool:
    return says_what(there) == says_what(root) and there.details.get(REMOTE) == root.details.get(REMOTE)
