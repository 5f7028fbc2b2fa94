"""Push: roots of a store, and all that they name, are in a bucket too.

Laws:
- At every instant each root in the bucket has all its objects there; a push that is killed leaves objects
  that no root names, and its intent. Doing it again goes on where it was, and sends nothing twice.
- Roots are pushed in batches, each in the steps of docs/sharing-reference.md: an intent, the sweeps heeded,
  a look at what is there, objects, roots, names. Memory is that of one batch (castore.remote.batching).
- A root that can't be pushed (it diverged, its name was moved by somebody else, what is there is damaged, an
  object of it is not whole here) is refused and told, with what is based on it or the rest of its log; the
  others are pushed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from castore.digest import Digest
from castore.errors import CastoreError, Conflict, RemoteDamaged, RootsDiverged
from castore.remote.batching import batches, levels, ordered
from castore.remote.bucket import Bucket
from castore.remote.intents import IntentOver, hold
from castore.remote.keys import name_key, object_key, root_key
from castore.remote.names import NameChange, Names
from castore.remote.roots import Grants, RemoteRoots, Seen
from castore.remote.sending import Unsent, missing, send
from castore.remote.tracking import Tracking
from castore.roots.joining import joined
from castore.roots.model import STATE, Root
from castore.store import Store

__all__ = ["PushReport", "Pushed", "Refused", "push"]

Progress = Callable[[int, int], None]
"""Is told of objects: how many were sent, and how many are to be, as far as is known."""


class Pushed(NamedTuple):
    """A root that is there. is_changed: it was not there (then is_new, too), or said less. name: what became
    of its name."""

    root: Root
    is_changed: bool
    name: NameChange | None
    is_new: bool = False


class Refused(NamedTuple):
    """A root that was left as it is, and why."""

    root: Root
    error: CastoreError


@dataclass(slots=True)
class PushReport:
    """objects_there: that were not sent, as they were there. sent_bytes: of object files. left: roots that
    were forgotten there, and so left as they are."""

    pushed: list[Pushed] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    left: list[Root] = field(default_factory=list)
    objects_sent: int = 0
    objects_there: int = 0
    sent_bytes: int = 0


def push(
    store: Store,
    bucket: Bucket,
    roots: Sequence[Root],
    *,
    move: bool = False,
    anew: bool = False,
    restore: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
    on_wait: Callable[[], None] | None = None,
) -> PushReport:
    """Each of `roots` is in the bucket with its objects, durably; those in the report's `refused` are not.

    roots: as `castore.remote.choosing` gives them, bases before what is based on them. move: a name is
    taken from whatever root has it there. anew: objects are sent that are there, too, and roots and names
    that are damaged there are replaced, which else are refused. restore: a root that was forgotten there is
    live again; else it is left. dry_run: what would be sent is counted, and nothing written. progress: is
    told of objects, if the caller may use all that is there. on_wait: is called once, before it waits for a
    gc there, 20 minutes at most. Raises ScopeDenied, RemoteError; then a part may have been pushed, and
    nothing that is there lacks anything.
    """
    grants = Grants(store.granted, bucket.settings.granted)
    for scope in {root.scope for root in roots}:
        grants.require(scope)
    # Who may not use all that is there learns nothing of it by how much is to be sent.
    told = progress if grants.is_whole else None
    run = _Push(store, bucket, move=move, anew=anew, restore=restore, progress=told)
    run.on_wait = on_wait
    run.bases = {root.base for root in roots if root.base is not None}
    if dry_run:
        for batch in batches(ordered(roots)):
            run.count(batch)
    else:
        bucket.require_conditions()
        try:
            for batch in batches(ordered(roots)):
                run.batch(batch)
        finally:
            run.tracking.save()
    if not grants.is_whole:
        _tell_own(store, run.report, anew=anew, dry_run=dry_run)
    return run.report


class _Push:
    def __init__(
        self,
        store: Store,
        bucket: Bucket,
        *,
        move: bool,
        anew: bool,
        restore: bool,
        progress: Progress | None,
    ) -> None:
        self.report = PushReport()
        self.tracking = Tracking(store, bucket.remote)
        self._store = store
        self._tmp = store.parts.layout.tmp
        self._bucket = bucket
        self._roots = RemoteRoots(bucket, mends=anew)
        self._names = Names(bucket, self._roots, self.tracking, mends=anew)
        self._by_force, self._anew, self._restore = move, anew, restore
        self._progress = progress
        self._now = store.parts.clock()
        self._lacking: dict[object, CastoreError] = {}
        """Of roots, by their ids, and of logs, that lack an object there, the reason."""
        self._diverged: dict[object, CastoreError] = {}
        """Of logs that say something else there, the reason."""
        self._seen: dict[str, Seen] = {}
        """What was there of the roots of the batch when it was looked at, under the intent."""
        self._new: set[str] = set()
        """Ids of roots that were not there."""
        self.on_wait: Callable[[], None] | None = None
        self.bases: set[str] = set()
        """What others are based on is pushed though it was forgotten there."""

    def _tell_wait(self) -> None:
        if self.on_wait is not None:
            self.on_wait()
            self.on_wait = None

    def count(self, batch: Sequence[Root]) -> None:
        """What would be sent, and what would be refused, as far as that can be told before."""
        self._seen.clear()
        roots, left, refused = self._acceptable(batch)
        objects = _objects_of(roots)
        absent = objects if self._anew else missing(self._bucket, objects)
        for outcome in self._bucket.map(self._would, roots):
            if isinstance(outcome, Refused):
                refused.append(outcome)
            else:
                self.report.pushed.append(outcome)
        self.report.left += left
        self.report.refused += refused
        self.report.objects_sent += len(absent)
        self.report.objects_there += len(objects) - len(absent)

    def _would(self, root: Root) -> Pushed | Refused:
        """What became of it if it were pushed now."""
        there = self._seen[root.id].root
        is_changed = True
        if there is not None:
            try:
                wanted = joined(there, root, now=self._now, is_newer=self._is_newer(there))
                is_changed = wanted != there and not self._is_older(root)
            except Conflict as error:
                return Refused(root, error)
        change = None if root.name is None else self._names.would(root)
        return Pushed(root, is_changed, change, root.id in self._new)

    def batch(self, roots: Sequence[Root]) -> None:
        """The roots of one batch are there, or refused."""
        while True:
            self._seen.clear()
            lacking = dict(self._lacking)
            try:
                self._try(roots)
            except IntentOver:
                # It took too long for gcs to wait: all is looked at again, and what was sent is there.
                self._lacking = lacking
                continue
            return

    def _try(self, batch: Sequence[Root]) -> None:
        with hold(self._bucket, _keys(batch), on_wait=self._tell_wait) as held:
            roots, left, refused = self._acceptable(batch)
            objects = _objects_of(roots)
            absent = objects if self._anew else missing(self._bucket, objects)
            roots = self._whole(roots, self._send(absent), refused)
            held.require_time()
            written: list[tuple[Root, bool]] = []
            for level in levels(roots):
                for done in self._bucket.map(self._put_in_order, level):
                    for root, outcome in done:
                        if isinstance(outcome, CastoreError):
                            refused.append(Refused(root, outcome))
                        else:
                            written.append((root, outcome))
            self._bucket.settle()
            held.require_time()
            pushed = self._move_names(written, refused)
            self._bucket.settle()
        self.report.pushed += pushed
        self.report.left += left
        self.report.refused += refused
        self.report.objects_there += len(objects) - len(absent)

    def _acceptable(self, batch: Sequence[Root]) -> tuple[list[Root], list[Root], list[Refused]]:
        """Those to be pushed; those that were forgotten there; those whose name can't be moved, as far as
        that can be told before anything is sent."""
        roots: list[Root] = []
        left: list[Root] = []
        refused: list[Refused] = []

        def looked_at(root: Root) -> tuple[Root, CastoreError | bool]:
            try:
                if root.name is not None:
                    self._names.require_movable(root, by_force=self._by_force, now=self._now)
                there = self._seen[root.id] = self._roots.look(root.id)
            except (Conflict, RemoteDamaged) as error:
                return root, error
            if there.entry is None:
                self._new.add(root.id)
            is_wanted = self._restore or root.id in self.bases
            return root, is_wanted or there.root is None or there.root.forgotten is None

        for root, found in self._bucket.map(looked_at, batch):
            if isinstance(found, CastoreError):
                refused.append(Refused(root, found))
                if root.log is not None:
                    self._diverged[root.log] = found
            else:
                (roots if found else left).append(root)
        roots = self._consistent(roots, refused)
        return self._based(roots, refused), left, refused

    def _consistent(self, roots: Sequence[Root], refused: list[Refused]) -> list[Root]:
        """Those that are of no log, or of one that says there what it says here, as far as it goes there.
        From the first record that differs on a log is refused, before anything of it is sent."""
        same = []
        for root in roots:
            error = None if root.log is None else self._diverged.get(root.log)
            seen = self._seen.get(root.id)
            if error is None and root.log is not None and seen and seen.root and not self._is_older(root):
                try:
                    joined(seen.root, root, now=self._now, is_newer=self._is_newer(seen.root))
                except RootsDiverged as found:
                    error = self._diverged[root.log] = found
            if error is None:
                same.append(root)
            else:
                refused.append(Refused(root, error))
        return same

    def _based(self, roots: Sequence[Root], refused: list[Refused]) -> list[Root]:
        """Those whose base is there, or among them. What is based on one that was refused, and that is not
        there, is refused with it. roots: bases first."""
        errors = {each.root.id: each.error for each in (*self.report.refused, *refused)}
        based = []
        for root in roots:
            if root.base in errors and not self._is_there(root.base):
                errors[root.id] = errors[root.base]
                refused.append(Refused(root, errors[root.base]))
            else:
                based.append(root)
        return based

    def _is_there(self, root_id: str) -> bool:
        try:
            return self._roots.get(root_id) is not None
        except RemoteDamaged:
            return False

    def _send(self, absent: Sequence[Digest]) -> dict[Digest, CastoreError]:
        """`absent` are there, durably, but for those that are not whole here, which are told. What only
        another remote has is brought here first."""
        self._store.want(absent)
        unsent: dict[Digest, CastoreError] = {}
        for done, sent in enumerate(send(self._store, self._bucket, absent, self._tmp), start=1):
            if isinstance(sent, Unsent):
                unsent[sent.digest] = sent.error
            else:
                self.report.objects_sent += 1
                self.report.sent_bytes += sent.stored_bytes
            if self._progress is not None:
                self._progress(done, len(absent))
        self._bucket.settle()
        return unsent

    def _whole(
        self, roots: Sequence[Root], unsent: Mapping[Digest, CastoreError], refused: list[Refused]
    ) -> list[Root]:
        """Those of a batch, in order, that lack nothing there; the others are refused."""
        whole: list[Root] = []
        for root in roots:
            error = next((unsent[digest] for digest in root.objects if digest in unsent), None)
            for needed in (root.base, root.log):
                error = error or self._lacking.get(needed)
            if error is None:
                whole.append(root)
                continue
            refused.append(Refused(root, error))
            self._lacking[root.id] = error
            if root.log is not None:
                self._lacking[root.log] = error
        return whole

    def _put_in_order(self, roots: Sequence[Root]) -> list[tuple[Root, bool | CastoreError]]:
        """Each root is there, or none of those after it: a record of a log follows the one that is there
        before it, so that two pushes at once can't mix theirs, and a killed one leaves no hole."""
        done: list[tuple[Root, bool | CastoreError]] = []
        for root in roots:
            outcome = done[-1][1] if done and isinstance(done[-1][1], CastoreError) else self._put(root)
            done.append((root, outcome))
            if isinstance(outcome, CastoreError) and root.log is not None:
                self._diverged[root.log] = outcome
        return done

    def _is_newer(self, there: Root) -> bool:
        """What this store says was made from what is there; or it is to be there whatever that says."""
        return there.place == STATE and (self._by_force or self.tracking.is_agreed(there))

    def _is_older(self, root: Root) -> bool:
        """What is there was made from what this store says."""
        if root.place != STATE or self._by_force or not self.tracking.is_agreed(root):
            return False
        seen = self._seen.get(root.id)
        return seen is not None and seen.root is not None and seen.root.is_live(self._now)

    def _put(self, root: Root) -> bool | CastoreError:
        # The number counts the roots of all scopes: who does not see these is not to carry it out.
        if self._is_older(root):
            return False
        sent = root if self._store.granted.is_operator else replace(root, sequence=0)
        try:
            seen = self._seen.pop(root.id, None)
            there, is_changed = self._roots.put(sent, now=self._now, seen=seen, is_newer=self._is_newer)
        except (Conflict, RemoteDamaged) as error:
            return error
        if root.place == STATE:
            self.tracking.note_state(there)
        return is_changed

    def _move_names(self, written: Sequence[tuple[Root, bool]], refused: list[Refused]) -> list[Pushed]:
        pushed = []
        grace_seconds = self._store.parts.config.grace_seconds

        def moved(one: tuple[Root, bool]) -> Pushed | Refused:
            root, is_changed = one
            try:
                change = None
                if root.name is not None:
                    change = self._names.move(
                        root, by_force=self._by_force, now=self._now, grace_seconds=grace_seconds
                    )
                return Pushed(root, is_changed, change, root.id in self._new)
            except (Conflict, RemoteDamaged) as error:
                return Refused(root, error)

        for outcome in self._bucket.map(moved, written):
            if isinstance(outcome, Refused):
                refused.append(outcome)
            else:
                pushed.append(outcome)
        return pushed


# --- Helpers ---------------------------------------------------------------------------------------


def _tell_own(store: Store, report: PushReport, *, anew: bool, dry_run: bool) -> None:
    """Who may not use all of the bucket does not learn by counts what others have there: only what its own
    roots named there is told as there, and all else as sent."""
    known = set() if anew else set(_objects_of([each.root for each in report.pushed if not each.is_changed]))
    sent = set(_objects_of([each.root for each in report.pushed])) - known
    found = [] if dry_run else [store.parts.source.stat(digest) for digest in sent]
    report.objects_sent, report.objects_there = len(sent), len(known)
    report.sent_bytes = sum(each.stored_bytes for each in found if each is not None)


def _objects_of(roots: Sequence[Root]) -> list[Digest]:
    return sorted({digest for root in roots for digest in root.objects})


def _keys(roots: Sequence[Root]) -> set[str]:
    """All keys in the bucket that a batch relies on or writes."""
    keys = {object_key(digest) for root in roots for digest in root.objects}
    keys.update(root_key(root.id) for root in roots)
    keys.update(root_key(root.base) for root in roots if root.base is not None)
    keys.update(name_key(root.scope, root.name) for root in roots if root.name is not None)
    return keys
