"""gc of a bucket, beside pushes and other gcs: roots that have expired go, and what nothing names.

Laws:
- At every instant each root that is there has its objects and its base there, and each name's record its
  root, whatever pushes and gcs run at once and wherever they are killed. docs/sharing-reference.md says why.
- An object is deleted once gcs found it unnamed for the grace, by the server's clock. A root, whatever its
  expiry, keeps its objects for as long as it is there.
- Where a root, a name or an intent can't be read nothing is deleted: what it names is not known.
- A gc that is killed leaves its sweep, which is over in its time; the next one does the rest.

Neither intents nor sweeps need conditional writes, so a gc runs in a bucket without; docs/sharing.md says
what does not hold there.
Memory: some 300 bytes a root, and the objects of some shards; what roots name is on disk, 32 bytes each.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields

from castore.errors import RemoteUnavailable
from castore.layout import SHARDS
from castore.remote.bucket import Bucket
from castore.remote.catalogue import Catalogue, going_names, going_roots
from castore.remote.clock import elapsed
from castore.remote.intents import standing_intents
from castore.remote.keys import MARKS, digest_of, marks_key, root_key
from castore.remote.marks import Found, Unnamed, marked
from castore.remote.spool import DigestSpool
from castore.remote.sweeps import Sweeping, remove_over
from castore.roots.model import Root

__all__ = ["GcReport", "collect"]

Progress = Callable[[int, int], None]
"""Is told of shards: how many were looked through, of how many."""

_SWEEP_KEYS = 10_000
"""In one sweep: as many as two minutes suffice for. Every push reads every sweep."""

_SWEEPS_MAX = 3
"""In a row for which time was over before anything could be deleted: a machine may have slept in one."""


@dataclass(slots=True)
class GcReport:
    """What a gc has done, or would do. Bytes are of files.

    roots, objects, object_bytes: that were there. roots_removed: that had expired; names_removed: theirs, and
    those whose root was not there. ready: objects that nothing named for the grace. kept_back: what was ready
    and stayed, as a push holds it or a root names it by now. marked: objects that wait for the grace; the
    last is ready at `later`, in unix seconds. strays: keys among objects that are no object's, and left
    alone. marks_damaged: shards whose marks began anew. sweeps_over: what killed gcs left.
    """

    roots: int = 0
    objects: int = 0
    object_bytes: int = 0
    roots_removed: int = 0
    names_removed: int = 0
    ready: int = 0
    ready_bytes: int = 0
    deleted_objects: int = 0
    deleted_bytes: int = 0
    kept_back: int = 0
    marked: int = 0
    marked_bytes: int = 0
    later: float | None = None
    strays: int = 0
    marks_damaged: int = 0
    sweeps_over: int = 0

    def after(self, earlier: GcReport) -> GcReport:
        """Of two runs: what both did, and what there is now."""
        done = ("roots_removed", "names_removed", "deleted_objects", "deleted_bytes", "sweeps_over")
        now = {each.name: getattr(self, each.name) for each in fields(self)}
        return GcReport(**now | {name: now[name] + getattr(earlier, name) for name in done})


def collect(
    bucket: Bucket,
    *,
    tmp: str,
    grace_seconds: int = 86_400,
    wait: bool = False,
    dry_run: bool = False,
    shard: str | None = None,
    clock: Callable[[], float] = elapsed,
    sleep: Callable[[float], None] = time.sleep,
    progress: Progress | None = None,
) -> GcReport:
    """Roots that have expired are gone, and objects that nothing named for the grace. See the module's laws.

    tmp: a folder for files without names. wait: also what is found unnamed now, once the grace is over.
    dry_run: says what it would do now; only a record that tells the server's time is written, and deleted.
    shard: two hex digits, the objects of that shard alone, so that many machines can each do some; no root is
    removed.
    Raises RemoteError; what was deleted until then is gone, and nothing that is there lacks anything.
    """
    report = GcReport()
    while True:
        run = _Run(bucket, tmp, grace_seconds, dry_run=dry_run, clock=clock, progress=progress)
        report = run.run(SHARDS if shard is None else (shard,), roots_too=shard is None).after(report)
        if not wait or dry_run or not report.marked:
            return report
        # A second more, as servers tell whole ones.
        sleep(grace_seconds + 1)
        wait = False


class _Run:
    """One gc: mark, and sweep what is ready."""

    def __init__(
        self,
        bucket: Bucket,
        tmp: str,
        grace_seconds: int,
        *,
        dry_run: bool,
        clock: Callable[[], float],
        progress: Progress | None,
    ) -> None:
        self._bucket = bucket
        self._tmp = tmp
        self._grace_seconds = grace_seconds
        self._dry_run = dry_run
        self._clock = clock
        self._progress = progress
        self._there = Catalogue(bucket)
        self._report = GcReport()
        self._now = 0.0
        self._fruitless = 0

    def run(self, shards: Collection[str], *, roots_too: bool) -> GcReport:
        bucket, report, there = self._bucket, self._report, self._there
        bucket.require_format()
        with Sweeping(bucket, (), clock=self._clock) as probe:
            self._now = probe.modified
            report.sweeps_over = remove_over(bucket, probe, dry_run=self._dry_run)
        with DigestSpool(self._tmp) as named, DigestSpool(self._tmp) as later:

            def note(root: Root) -> None:
                # What those name that have expired is only known once it is known which of them go.
                if root.id not in there.expired:
                    named.add(root.objects)

            for intent in standing_intents(bucket, now=self._now, dry_run=self._dry_run):
                named.add(digest for digest in map(digest_of, intent.keys) if digest is not None)
            there.read_roots(note, now=self._now)
            report.roots = len(there.versions)
            gone: set[str] = set()
            if roots_too:
                there.read_names()
                gone = self._remove_roots(note)
            for root in there.read_again(there.expired - gone):
                named.add(root.objects)
            self._sweep_shards(shards, named, later)
        return report

    # --- Roots and names ---

    def _remove_roots(self, note: Callable[[Root], None]) -> set[str]:
        """Roots that have expired are gone, with their names; which of those known are taken to be."""
        there, report = self._there, self._report
        going = going_roots(there.expired, there.bases)
        names = going_names(there.names, going, there.versions)
        if self._dry_run:
            report.roots_removed, report.names_removed = len(going), len(names)
            return going
        of_root: dict[str, list[str]] = {}
        for name in names:
            of_root.setdefault(there.names[name].root, []).append(name)
        keys: list[str] = []
        for root_id in [
            *(each for level in there.levels(going) for each in level),
            *(of_root.keys() - going),
        ]:
            keys += of_root.get(root_id, ())
            if root_id in going:
                keys.append(root_key(root_id))
            if len(keys) >= _SWEEP_KEYS:
                self._sweep_roots(keys, note)
                keys = []
        if keys:
            self._sweep_roots(keys, note)
        return set()

    def _sweep_roots(self, keys: Collection[str], note: Callable[[Root], None]) -> None:
        """Of these roots and names those are gone that may go."""
        left = set(keys)
        while left:
            with Sweeping(self._bucket, left, clock=self._clock) as sweep:
                names, roots = self._may_go(left, sweep.modified, note)
                done = self._delete_roots(sweep, names, roots)
            self._report.kept_back += len(left) - len(names) - len(roots)
            left = {*names, *map(root_key, roots)} - done
            self._require_progress(done, left)

    def _may_go(
        self, keys: Collection[str], now: float, note: Callable[[Root], None]
    ) -> tuple[list[str], set[str]]:
        """Of the keys of a sweep that stands: those of names, and the ids of roots, that may be deleted."""
        there = self._there
        held: set[str] = set()
        for intent in standing_intents(self._bucket, now=now):
            held.update(key for key in intent.keys if key in keys)
        there.read_roots(note, now=self._now)
        there.read_names()
        free = set(keys) - held
        # A name that stays keeps its root.
        kept = {name.root for key, name in there.names.items() if key not in free}
        kept.update(root_id for root_id in there.expired if root_key(root_id) not in free)
        going = going_roots(there.expired, there.bases, kept)
        names = going_names(
            {key: there.names[key] for key in free if key in there.names}, going, there.versions
        )
        return names, going

    def _delete_roots(self, sweep: Sweeping, names: list[str], roots: Collection[str]) -> set[str]:
        """Names first, then roots, each before its base, as far as there is time; the keys that are gone."""
        bucket, there, report = self._bucket, self._there, self._report
        done = set(names[: sweep.delete(names)])
        bucket.settle()
        for key in done:
            del there.names[key]
        report.names_removed += len(done)
        if len(done) < len(names):
            return done
        for level in there.levels(roots):
            keys = [root_key(root_id) for root_id in level]
            count = sweep.delete(keys)
            bucket.settle()
            for root_id in level[:count]:
                there.drop_root(root_id)
            report.roots_removed += count
            done.update(keys[:count])
            if count < len(keys):
                break
        return done

    # --- Objects ---

    def _sweep_shards(self, shards: Collection[str], named: DigestSpool, later: DigestSpool) -> None:
        marks = {entry.key for entry in self._bucket.entries(MARKS)}

        def look(shard: str) -> Found:
            with named.shard(shard) as is_named:
                return marked(
                    self._bucket,
                    shard,
                    is_named,
                    now=self._now,
                    grace_seconds=self._grace_seconds,
                    has_marks=marks_key(shard) in marks,
                    dry_run=self._dry_run,
                )

        ready: list[Unnamed] = []
        for count, found in enumerate(self._bucket.map(look, shards), start=1):
            self._add(found)
            ready += found.ready
            while len(ready) >= _SWEEP_KEYS:
                self._sweep_objects(ready[:_SWEEP_KEYS], later)
                ready = ready[_SWEEP_KEYS:]
            if self._progress is not None:
                self._progress(count, len(shards))
        if ready:
            self._sweep_objects(ready, later)

    def _add(self, found: Found) -> None:
        report = self._report
        report.objects += found.objects
        report.object_bytes += found.object_bytes
        report.ready += len(found.ready)
        report.ready_bytes += sum(each.size for each in found.ready)
        report.marked += found.waiting
        report.marked_bytes += found.waiting_bytes
        report.strays += found.strays
        report.marks_damaged += found.are_marks_damaged
        if found.later is not None:
            report.later = max(report.later or 0.0, found.later)

    def _sweep_objects(self, ready: Collection[Unnamed], later: DigestSpool) -> None:
        """Of these those are gone that still nothing names."""
        if self._dry_run:
            return
        left = {each.key: each.size for each in ready}
        while left:
            with Sweeping(self._bucket, left, clock=self._clock) as sweep:
                going = self._unnamed(left, sweep.modified, later)
                count = sweep.delete(going)
                self._bucket.settle()
            self._report.kept_back += len(left) - len(going)
            self._report.deleted_objects += count
            self._report.deleted_bytes += sum(left[key] for key in going[:count])
            left = {key: left[key] for key in going[count:]}
            self._require_progress(going[:count], left)

    def _unnamed(self, keys: Collection[str], now: float, later: DigestSpool) -> list[str]:
        """Of the keys of a sweep that stands: those of objects that no push holds and no root names.

        later: what is named by roots that were read since the marks, of which more is added.
        """
        by_digest = {bytes.fromhex(digest.hex): key for key in keys if (digest := digest_of(key)) is not None}
        held: set[str] = set()
        for intent in standing_intents(self._bucket, now=now):
            held.update(key for key in intent.keys if key in keys)
        # Only after that: a push writes its roots before it deletes its intent.
        self._there.read_roots(lambda root: later.add(root.objects), now=self._now)
        for raw in later:
            by_digest.pop(raw, None)
        return sorted(key for key in by_digest.values() if key not in held)

    def _require_progress(self, done: Collection[str], left: Collection[str]) -> None:
        self._fruitless = 0 if done or not left else self._fruitless + 1
        if self._fruitless == _SWEEPS_MAX:
            words = f"remote '{self._bucket.remote}' takes too long to tell its roots again for a gc"
            raise RemoteUnavailable(
                self._bucket.remote, words, hint="run it nearer to the bucket, or with more workers"
            )
