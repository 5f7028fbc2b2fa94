"""repair: what verify finds is put right, as far as the bytes are there.

Laws:
- Nothing is deleted. What is damaged or odd moves to damaged/; good bytes are written where they belong
  first, and where a good root would be lost with a bad file, its objects are named before the file moves.
- What no root names is named by a root of the operator's own scope, so that nobody else sees it and gc
  leaves it.
- Killed at any instant, it leaves a store of which no more is wrong than before, and running it again
  does the rest. Once it has ended, running it again does nothing.
- It is alone: all of it that relies on what it saw, and all it changes but a bad index, is inside one
  write transaction. The bytes of all objects are checked before, and what is to come from elsewhere is
  brought before, so that writers wait for the rest only.

Only a purged object's file that a killed purge left behind is removed, as the purge would have.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO

from castore import durable
from castore.config import OPERATOR
from castore.digest import Digest
from castore.errors import CastoreError, ObjectDamaged
from castore.gc.elsewhere import Brought, Elsewhere, arrive, bring
from castore.gc.look import index_problem, look_at_shard
from castore.gc.mending import Act, ActKind, Facts, Mending, decide
from castore.gc.salvage import Search, pieces_in
from castore.gc.survey import NEW_ROOTS, held_in, survey
from castore.gc.verify import check_bytes
from castore.layout import SHARDS, Layout
from castore.objects.database import Staged
from castore.objects.finding import Finding, FindingName
from castore.roots.files import RootFiles
from castore.roots.model import Root, merged
from castore.store import Store
from castore.store.transaction import Transactions

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["RepairReport", "repair"]

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK

Sources = Iterable[tuple[str, BinaryIO]]


@dataclass(frozen=True, slots=True)
class RepairReport:
    """acts: what was done, or would be. remaining: what is still missing. notes: what was not searched."""

    acts: tuple[Act, ...]
    remaining: tuple[Finding, ...]
    notes: tuple[str, ...]


def repair(
    store: Store,
    sources: Sources = (),
    *,
    asked: Mapping[Digest, str] | None = None,
    elsewhere: Elsewhere | None = None,
    dry_run: bool = False,
) -> RepairReport:
    """The store has no damage but objects, and bases of roots, that are nowhere to be had; they are named.

    sources: files, open, by name, that may have the bytes of missing objects. asked: objects that must be
    there too, and what asks for them. elsewhere: a place that may have objects and roots; what fails there is
    raised before anything is changed. dry_run: nothing is changed.
    Raises StoreLocked, ScopeDenied, and CastoreError for what can't be read or written.
    """
    store.require_operator("repair")
    parts = store.parts
    problem = index_problem(parts)
    connection = parts.index.reading() if problem is None and _is_there(parts.layout.index) else None
    suspects = _suspects(parts, connection)
    moved = _index_in_way(parts)
    run = _Repair(parts, sources, asked or {})
    if elsewhere is not None:
        run.bring(elsewhere, connection, suspects, is_staged=not dry_run)
    if dry_run:
        report = run.plan(connection, suspects)
        return replace(report, acts=(*moved, *report.acts))
    try:
        with parts.one_thread:
            _make_folders(parts)
            _clear_index(parts, problem, moved)
            with parts.index.writing() as connection:
                durable.sync_everything(parts.layout.folder)
                report = run.run(connection, suspects)
    finally:
        run.brought.drop(parts)
    return replace(report, acts=(*moved, *report.acts))


# --- Before the transaction ------------------------------------------------------------------------


def _suspects(parts: Transactions, connection: Connection | None) -> list[str]:
    """Hex of every object of which anything is wrong. No lock is held meanwhile."""
    looks = [look_at_shard(parts, connection, shard) for shard in SHARDS]
    found = check_bytes(parts, looks)
    return [finding.digest.hex for finding in found if finding.digest is not None]


def _make_folders(parts: Transactions) -> None:
    """Those that the lock, staging and moving need; not roots/, whose absence says something."""
    layout = parts.layout
    for folder in (layout.objects, layout.tmp, layout.damaged):
        durable.make_folder(folder, parts.modes.folder)
        if not stat.S_ISDIR(os.lstat(folder).st_mode) and folder != layout.objects:
            raise CastoreError(f"'{folder}' is not a folder", hint="move it away", file=folder)


def _index_in_way(parts: Transactions) -> list[Act]:
    """What has the place of the index, or of a file beside it, and is no file moves to damaged/."""
    acts = []
    for ending in ("", "-wal", "-shm", "-journal"):
        name = f"index.sqlite{ending}"
        if _is_there(parts.layout.index + ending) or not os.path.lexists(parts.layout.index + ending):
            continue
        number = 1
        while os.path.lexists(f"{parts.layout.damaged}/{name}.{number}"):
            number += 1
        acts.append(Act(ActKind.MOVED, path=name, target=f"{name}.{number}"))
    return acts


def _clear_index(parts: Transactions, problem: str | None, in_way: list[Act]) -> None:
    """An index that can't be used is gone: it is derived."""
    if problem is not None or in_way:
        with parts.index.alone():
            for act in in_way:
                durable.move(f"{parts.layout.folder}/{act.path}", f"{parts.layout.damaged}/{act.target}")
            parts.index.remove("the index was not usable and was built anew")


def _is_there(index: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(index).st_mode)
    except FileNotFoundError:
        return False


# --- Inside it -------------------------------------------------------------------------------------


class _Repair:
    """One run: the facts, the search for bytes, the decision, and the acts."""

    def __init__(self, parts: Transactions, sources: Sources, asked: Mapping[Digest, str]) -> None:
        self.parts = parts
        self.sources = sources
        self.asked = asked
        self.found: dict[Digest, str] = {}
        self.staged: dict[Digest, Staged] = {}
        self.brought = Brought()
        self.notes: list[str] = []
        self.sequence = 0

    def bring(
        self, elsewhere: Elsewhere, connection: Connection | None, suspects: list[str], *, is_staged: bool
    ) -> None:
        """What is missing here and is there is brought. No lock is held meanwhile."""
        if is_staged:
            _make_folders(self.parts)
        is_rebuilt = connection is None
        facts, look = survey(self.parts, connection, suspects, is_rebuilt=is_rebuilt, asked=self.asked)
        self.brought = bring(self.parts, connection, elsewhere, facts, look, is_staged=is_staged)
        self.notes += self.brought.notes

    def plan(self, connection: Connection | None, suspects: list[str]) -> RepairReport:
        facts, look = survey(
            self.parts, connection, suspects, is_rebuilt=connection is None, asked=self.asked
        )
        arrive(self.parts, facts, look, self.brought)
        self._search(facts, is_staged=False)
        plan = decide(facts, self.found)
        return self._report(plan.acts(), plan, facts, [Digest(name) for name in sorted(look.half_purged)])

    def run(self, connection: Connection, suspects: list[str]) -> RepairReport:
        from castore.index import rebuild, roots

        is_rebuilt = not rebuild.is_complete(connection)
        known = None if is_rebuilt else connection
        facts, look = survey(self.parts, known, suspects, is_rebuilt=is_rebuilt, asked=self.asked)
        look.sequence = max(look.sequence, roots.next_sequence(connection) - 1)
        arrive(self.parts, facts, look, self.brought)
        self.sequence = look.sequence
        try:
            self._search(facts, is_staged=True)
            plan = decide(facts, self.found)
            acts = plan.acts()
            if acts:
                self._execute(connection, facts, plan)
            ended = self.parts.end_purges(connection)
        finally:
            self.parts.source.drop(staged.frames for staged in self.staged.values())
        return self._report(acts, plan, facts, ended)

    def _report(self, acts: list[Act], plan: Mending, facts: Facts, ended: list[Digest]) -> RepairReport:
        """ended: purges that were half done, of objects that are missing on purpose."""
        acts = _in_order([*acts, *(Act(ActKind.REMOVED, digest) for digest in ended)])
        remaining = []
        on_purpose = {digest.hex for digest in ended}
        for name, place in sorted(plan.remaining.items()):
            if name in on_purpose:
                continue
            finding = FindingName.PURGED if name in facts.purged else FindingName.MISSING
            remaining.append(Finding(finding, Digest(name), place, "is named by this"))
        for root_id, words in plan.baseless.items():
            path = self.parts.layout.root_file(root_id)
            remaining.append(Finding(FindingName.DAMAGED, None, path, words))
        for gap in facts.log_gaps:
            path = self.parts.layout.root_file(gap.root_id)
            remaining.append(Finding(FindingName.MISSING, None, path, gap.words))
        return RepairReport(tuple(acts), tuple(remaining), tuple(self.notes))

    # --- The search for bytes ---

    def _search(self, facts: Facts, *, is_staged: bool) -> None:
        """found, and staged: the wanted objects, from what an earlier repair moved away, from elsewhere, and
        from sources."""
        wanted = facts.wanted()
        for name in sorted(facts.taken) if wanted else ():
            for digest, path in held_in(facts.folder, f"damaged/{name}"):
                if digest in wanted and (not is_staged or self._stage(digest, path)):
                    wanted.discard(digest)
                    self.found[digest] = path
        for digest in wanted & self.brought.staged.keys():
            staged = self.brought.staged.pop(digest)
            if staged is not None:
                self.staged[digest] = staged
            wanted.discard(digest)
            self.found[digest] = self.brought.words
        if not wanted:
            return
        name = ""

        def take(digest: Digest, pieces: Iterator[bytes]) -> None:
            if is_staged:
                staged = self.parts.database.stage_chunks(pieces)
                if staged.digest != digest:  # The file changed while it was read.
                    self.parts.source.drop([staged.frames])
                    return
                self.staged[digest] = staged
            self.found[digest] = name

        search = Search({digest: facts.sizes.get(digest.hex) for digest in wanted}, take)
        for name, source in self.sources:
            search.file(source)
            if search.limit is not None:
                self.notes.append(f"'{name}' was not searched to its end: {search.limit}")

    def _stage(self, digest: Digest, path: str) -> bool:
        """The object is staged from the object file at `path`, if that still has its bytes."""
        try:
            with os.fdopen(os.open(f"{self.parts.layout.folder}/{path}", _READ), "rb") as file:
                staged = self.parts.database.stage_chunks(pieces_in(file))
        except (OSError, ObjectDamaged):
            return False
        if staged.digest != digest:
            self.parts.source.drop([staged.frames])
            return False
        self.staged[digest] = staged
        return True

    # --- The acts ---

    def _execute(self, connection: Connection, facts: Facts, plan: Mending) -> None:
        """Everything is staged first; then what is linked is replaced, the rest moved, and roots follow."""
        for digest, act in list(plan.written.items()):
            if digest not in self.staged and not self._stage(digest, act.path):
                raise ObjectDamaged(str(digest), f"'{act.path}' changed while it was repaired")
        self.parts.source.prepare([staged.frames for staged in self.staged.values()])
        linked = [act for act in plan.moved if act.is_linked]
        linked += [act for act in plan.moved_roots if act.is_linked]
        self._aside(linked, is_linked=True)
        in_way = {act.path for act in plan.moved if not act.is_linked}
        late = [digest for digest in plan.written if self._is_in_way(digest, in_way)]
        self._publish(connection, [digest for digest in plan.written if digest not in set(late)])
        self._aside([act for act in plan.moved if not act.is_linked], is_linked=False)
        self._publish(connection, late)
        for act in plan.removed:
            if act.digest is not None:
                self.parts.source.delete(act.digest)
        self.parts.source.settle([act.digest for act in plan.removed if act.digest is not None])
        recovered = list(self._recovered(plan))
        if facts.new_roots:
            self._replace_roots(facts, [*plan.restored, *recovered])
        else:
            # As they are: the rows may be too few to say how long a base is needed.
            for root in (*plan.restored, *recovered):
                self.parts.put_root_as_it_is(connection, root)
        self._aside([act for act in plan.moved_roots if not act.is_linked], is_linked=False)
        if facts.new_roots:
            self._swap_roots()
        self._index(connection, facts, plan)

    def _is_in_way(self, digest: Digest, in_way: set[str]) -> bool:
        """Whether something that can't be replaced by a rename has the place of the object, or its folder."""
        return {f"objects/{digest.hex[:2]}", f"objects/{digest.hex[:2]}/{digest.hex}"} & in_way != set()

    def _aside(self, acts: list[Act], *, is_linked: bool) -> None:
        layout = self.parts.layout
        folders = {layout.damaged} if acts else set()
        for act in acts:
            path, target = f"{layout.folder}/{act.path}", f"{layout.damaged}/{act.target}"
            if os.path.lexists(target):
                # A repair that was killed has given it this name.
                _check_same(path, target)
                if not is_linked:
                    durable.remove(path)
            elif not is_linked or not _link(path, target):
                durable.rename(path, target)
            folders.add(os.path.dirname(path))
        durable.sync_folders(sorted(each for each in folders if os.path.isdir(each)), layout.folder)

    def _publish(self, connection: Connection, digests: list[Digest]) -> None:
        from castore.index import frames, objects
        from castore.index.objects import ObjectRow

        staged = [self.staged[digest] for digest in digests]
        rows = [
            ObjectRow(each.digest.raw, each.size, each.frames.stored_bytes, each.file_sha256)
            for each in staged
        ]
        self.parts.source.publish([(each.digest, each.frames) for each in staged], unproven=SHARDS)
        objects.add(connection, rows)
        frames.put_all(connection, [(each.digest, each.facts) for each in staged])

    def _recovered(self, plan: Mending) -> Iterator[Root]:
        now = self.parts.clock()
        for draft in plan.recovered():
            self.sequence += 1
            yield merged(draft, OPERATOR, None, now=now, sequence=self.sequence)

    # --- roots/ made anew ---

    def _replace_roots(self, facts: Facts, roots: list[Root]) -> None:
        """tmp/new-roots has every root there is: those in roots/, if it is there, and `roots`."""
        new = Layout(self.parts.layout.folder)
        new.roots = new.staged_file(NEW_ROOTS)
        modes = self.parts.modes
        durable.make_folder(new.roots, modes.folder)
        files = RootFiles(new, file_mode=modes.file, folder_mode=modes.folder)
        old = self.parts.root_files
        for shard in old.shards() if os.path.isdir(self.parts.layout.roots) else ():
            if not stat.S_ISDIR(os.lstat(self.parts.layout.root_folder(shard)).st_mode):
                continue
            for root_id in old.ids(shard):
                if root_id not in facts.damaged_roots:
                    files.publish(old.read(root_id))
        for root in roots:
            files.publish(root)

    def _swap_roots(self) -> None:
        layout = self.parts.layout
        durable.move(layout.staged_file(NEW_ROOTS), layout.roots)

    def _index(self, connection: Connection, facts: Facts, plan: Mending) -> None:
        """The rows say what the files do."""
        from castore.index import frames, objects, rebuild, roots
        from castore.index.objects import ObjectRow

        parts = self.parts
        durable.make_folder(parts.layout.roots, parts.modes.folder)
        if facts.is_rebuilt:
            rebuild.rebuild(connection, parts.database, parts.root_files)
            return
        gone = facts.rows_gone - {digest.hex for digest in plan.written}
        gone |= {act.digest.hex for act in plan.removed if act.digest is not None}
        objects.remove(connection, [bytes.fromhex(name) for name in sorted(gone)])
        for name in sorted(facts.rows_wrong - gone):
            found = parts.database.check(Digest(name), measure=True)
            row = ObjectRow(found.digest.raw, found.size, found.stored_bytes, found.file_sha256)
            objects.add(connection, [row])
            frames.put(connection, found.digest, found.frames)
        for root_id in facts.roots_behind:
            roots.put(connection, parts.root_files.read(root_id), parts.root_files.stamp(root_id))
        rebuild.reconcile_all(connection, parts.database, parts.root_files)


# --- Helpers ---------------------------------------------------------------------------------------


def _link(path: str, target: str) -> bool:
    """Whether the file has this name too; some file systems, and other owners' files, allow none."""
    try:
        return durable.publish_new(path, target)
    except CastoreError as error:
        if error.fields.get("errno") in (errno.EPERM, errno.EMLINK, errno.ENOTSUP, errno.EACCES):
            return False
        raise


def _check_same(path: str, target: str) -> None:
    """Both are names of one file. Raises CastoreError."""
    if os.lstat(path).st_ino != os.lstat(target).st_ino:
        raise CastoreError(f"'{target}' came while the store was repaired", hint="run it again", file=target)


def _in_order(acts: list[Act]) -> list[Act]:
    """The index last, as it is written."""
    last = (ActKind.REBUILT, ActKind.CORRECTED)
    return [act for act in acts if act.kind not in last] + [act for act in acts if act.kind in last]
