"""What repair would do: pure, so that `--dry-run` prints the very acts that the executor carries out.

Laws: nothing is deleted: whatever is in the way moves to damaged/, under the name of the path it had and a
number. Bytes that are good are written where they belong before, or as, the file that holds them moves.
What no root names is named by the operator's own root, so that nothing leaks and nothing is swept; so is
what a base names that is kept for a damaged root, as it seems.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from castore.config import OPERATOR
from castore.digest import Digest
from castore.gc.log_gaps import LogGap
from castore.roots.model import Root, RootDraft, RootKind, root_id

__all__ = ["Act", "ActKind", "Facts", "Fault", "Held", "Mending", "decide"]

_NAME_BYTES_MAX = 200
"""Of a name in damaged/, without its number: file systems take 255."""


RECOVERED_OBJECTS_MAX = 100_000
"""Objects that one recovered root names: a root file is read whole."""


class ActKind(StrEnum):
    MOVED = "moved"
    ADOPTED = "adopted"
    HEALED = "healed"
    REWRITTEN = "rewritten"
    REMOVED = "removed"
    RESTORED = "restored"
    NAMED = "named"
    REBUILT = "rebuilt"
    CORRECTED = "corrected"


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that repair does.

    path: in the store's folder, of what moves or was adopted. target: its name in damaged/. is_linked: the
    file at `path` is replaced at once by another one, and gets the other name before. source: what had the
    bytes, or the root: a file, or a remote; none for what a sound index had. root: an id. count: objects that
    it names, or rows.
    """

    kind: ActKind
    digest: Digest | None = None
    path: str = ""
    target: str = ""
    is_linked: bool = False
    source: str = ""
    root: str = ""
    count: int = 0

    def __str__(self) -> str:
        return self.words(is_done=True)

    def words(self, *, is_done: bool) -> str:
        """`healed DIGEST from FILE`, or, before it is done, `would heal DIGEST from FILE`."""
        done, verb, rest = {
            ActKind.MOVED: ("moved", "move", f"{self.path} to damaged/{self.target}"),
            ActKind.ADOPTED: ("adopted", "adopt", f"{self.digest} from {self.path}"),
            ActKind.HEALED: ("healed", "heal", f"{self.digest} from {self.source}"),
            ActKind.REWRITTEN: ("rewrote", "rewrite", f"the file of {self.digest}"),
            ActKind.REMOVED: ("removed", "remove", f"{self.digest}, which was purged"),
            ActKind.RESTORED: ("restored", "restore", f"root {self.root}" + _from(self.source)),
            ActKind.NAMED: ("named", "name", f"{_objects(self.count)} by {self.root}"),
            ActKind.REBUILT: ("rebuilt", "rebuild", "the index"),
            ActKind.CORRECTED: ("corrected", "correct", f"{_rows(self.count)} of the index"),
        }[self.kind]
        return f"{done} {rest}" if is_done else f"would {verb} {rest}"


@dataclass(frozen=True, slots=True)
class Held:
    """A path that is in the way, and what it is worth. inode: of the entry itself.

    holds: the objects that it has the bytes of, each with the path of its file.
    """

    path: str
    inode: int
    holds: tuple[tuple[Digest, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Fault:
    """An object's place where not the file is that we wrote.

    is_file: a regular file. is_good: one that gives the object's bytes all the same. has_other_name: and
    the only fault is that the file has another name elsewhere.
    """

    digest: Digest
    place: Held
    is_file: bool
    is_good: bool = False
    has_other_name: bool = False


@dataclass(slots=True)
class Facts:
    """What was found. All paths are relative to the store's folder.

    good: digests, in hex, of the objects whose place has their bytes in a file of its own.
    strays, root_strays: what lies in objects/ or elsewhere, and in roots/, and is not ours.
    damaged_roots: by id. lost: roots to be written again from the index. named: hex and place of each
    object that a root names; asked: of those that somebody asked for.
    sizes: of objects that are not there, where the index knows them. known: hex of every object that a
    root or the index names, or that was asked for. purged: hex, of those with a tombstone.
    taken: names in damaged/ and their inodes. new_roots: roots/ is made anew, whole; then roots_in_way is
    what has its place now.
    """

    folder: str
    good: set[str] = field(default_factory=set)
    faults: list[Fault] = field(default_factory=list)
    strays: list[Held] = field(default_factory=list)
    root_strays: list[Held] = field(default_factory=list)
    damaged_roots: dict[str, Held] = field(default_factory=dict)
    lost: list[Root] = field(default_factory=list)
    named: dict[str, str] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    purged: set[str] = field(default_factory=set)
    taken: dict[str, int] = field(default_factory=dict)
    new_roots: bool = False
    roots_in_way: Held | None = None
    is_rebuilt: bool = False
    baseless: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By the id of a root whose bases are not whole: the id of its base, and what is wrong, in words."""
    log_gaps: list[LogGap] = field(default_factory=list)
    """What is missing of logs, and nowhere to be had."""
    promised: set[str] = field(default_factory=set)
    """Hex of the objects that need not be here, as all roots say that name them: none is ever missing."""
    sources: dict[str, str] = field(default_factory=dict)
    """By the id of a lost root: where it was had from, if not from the index."""
    unexplained: set[str] = field(default_factory=set)
    """Hex of the objects of bases which, as it seems, damaged roots alone need."""
    rows_wrong: set[str] = field(default_factory=set)
    rows_gone: set[str] = field(default_factory=set)
    roots_behind: list[str] = field(default_factory=list)

    def wanted(self) -> set[Digest]:
        """Objects whose bytes are nowhere in the store, and would be of use."""
        held = {digest.hex for digest, _ in self.held()}
        lost = {digest.hex for root in self.lost for digest in root.objects}
        broken = {fault.digest.hex for fault in self.faults if not fault.is_good}
        hexes = (self.named.keys() | self.asked.keys() | lost | broken) - self.good - held - self.purged
        rewritten = {fault.digest.hex for fault in self.faults if fault.is_good}
        return {Digest(each) for each in hexes - rewritten}

    def held(self) -> list[tuple[Digest, str]]:
        """The objects that are in the store in a place that is not theirs.

        Rotten bytes may decode, to bytes of another digest: only one that is known, or that the file's own
        name says, is an object.
        """
        places = [fault.place for fault in self.faults if not fault.is_good] + self.strays
        return [
            (digest, path)
            for place in places
            for digest, path in place.holds
            if digest.hex not in self.purged and (digest.hex in self.known or path.endswith("/" + digest.hex))
        ]


@dataclass(slots=True)
class Mending:
    """What is to be done, in groups. `remaining`: hex and place of what is named and stays missing."""

    written: dict[Digest, Act] = field(default_factory=dict)
    moved: list[Act] = field(default_factory=list)
    moved_roots: list[Act] = field(default_factory=list)
    removed: list[Act] = field(default_factory=list)
    restored: list[Root] = field(default_factory=list)
    sources: Mapping[str, str] = field(default_factory=dict)
    """Of those restored, as of the facts."""
    unnamed: list[Digest] = field(default_factory=list)
    rows: int = 0
    is_rebuilt: bool = False
    remaining: dict[str, str] = field(default_factory=dict)
    baseless: dict[str, str] = field(default_factory=dict)
    """By the id of a root: what stays wrong with what it is based on."""

    def acts(self) -> list[Act]:
        """In the order in which they are told."""
        acts = [*self.moved, *self.written.values(), *self.removed, *self.moved_roots]
        for root in self.restored:
            acts.append(Act(ActKind.RESTORED, root=root.id, source=self.sources.get(root.id, "")))
        for draft in self.recovered():
            named = root_id(draft, OPERATOR)
            acts.append(Act(ActKind.NAMED, root=named, count=len(draft.objects)))
        if self.is_rebuilt:
            acts.append(Act(ActKind.REBUILT))
        elif self.rows:
            acts.append(Act(ActKind.CORRECTED, count=self.rows))
        return acts

    def recovered(self) -> list[RootDraft]:
        """The roots of the operator's scope that name, for ever, what no root names."""
        starts = range(0, len(self.unnamed), RECOVERED_OBJECTS_MAX)
        pieces = (tuple(self.unnamed[start : start + RECOVERED_OBJECTS_MAX]) for start in starts)
        return [RootDraft(RootKind.RECOVERED, piece) for piece in pieces]


def decide(facts: Facts, found: Mapping[Digest, str]) -> Mending:
    """What to do. found: of the objects that are wanted, the files that have their bytes."""
    plan = Mending(is_rebuilt=facts.is_rebuilt, restored=list(facts.lost), sources=facts.sources)
    names = _Names(facts.taken)
    # What a damaged file holds is written before that file moves.
    for digest, path in facts.held():
        if digest.hex not in facts.good:
            plan.written.setdefault(digest, Act(ActKind.ADOPTED, digest, path=path))
    for digest, source in found.items():
        plan.written[digest] = Act(ActKind.HEALED, digest, source=source)
    for fault in facts.faults:
        if fault.is_good:
            plan.written[fault.digest] = Act(ActKind.REWRITTEN, fault.digest, path=fault.place.path)
        if fault.is_good and fault.has_other_name:
            continue
        plan.moved.append(names.move(fault.place, is_linked=fault.is_file and fault.digest in plan.written))
    plan.moved += [names.move(each) for each in facts.strays]
    restored = {root.id for root in facts.lost}
    if facts.new_roots:
        if facts.roots_in_way is not None:
            plan.moved_roots.append(names.move(facts.roots_in_way))
    else:
        for root_id, place in facts.damaged_roots.items():
            plan.moved_roots.append(names.move(place, is_linked=root_id in restored))
        plan.moved_roots += [names.move(each) for each in facts.root_strays]
    there = facts.good | {digest.hex for digest in plan.written}
    named = facts.named.keys() | facts.promised
    named |= {digest.hex for root in facts.lost for digest in root.objects}
    unnamed = there - named
    plan.removed = [
        Act(ActKind.REMOVED, Digest(each)) for each in sorted(unnamed & facts.purged & facts.good)
    ]
    if facts.damaged_roots.keys() - restored:
        unnamed |= facts.unexplained & there
    plan.unnamed = [Digest(each) for each in sorted(unnamed - facts.purged)]
    plan.baseless = {
        root_id: words for root_id, (base, words) in facts.baseless.items() if base not in restored
    }
    _leave(plan, facts, there)
    rows_gone = facts.rows_gone - {digest.hex for digest in plan.written}
    plan.rows = len(facts.rows_wrong) + len(rows_gone) + len(facts.roots_behind)
    return plan


def _leave(plan: Mending, facts: Facts, there: set[str]) -> None:
    """What stays missing."""
    for root in facts.lost:
        for digest in root.objects:
            if digest.hex not in there:
                plan.remaining.setdefault(digest.hex, f"{facts.folder}/roots/{root.id[:2]}/{root.id}.json")
    for name, place in [*facts.named.items(), *facts.asked.items()]:
        if name not in there:
            plan.remaining.setdefault(name, place)


class _Names:
    """Names in damaged/: `objects/ab/3f9a…` becomes `objects-ab-3f9a….1`."""

    def __init__(self, taken: Mapping[str, int]) -> None:
        self._taken = dict(taken)

    def move(self, place: Held, *, is_linked: bool = False) -> Act:
        """A name that nothing has, but for this very file, of which a killed repair made it one."""
        base = os.fsdecode(os.fsencode(place.path.replace("/", "-"))[:_NAME_BYTES_MAX])
        number = 1
        while self._taken.get(f"{base}.{number}", place.inode) != place.inode:
            number += 1
        name = f"{base}.{number}"
        self._taken[name] = place.inode
        return Act(ActKind.MOVED, path=place.path, target=name, is_linked=is_linked)


def _from(source: str) -> str:
    return f" from {source}" if source else ""


def _objects(count: int) -> str:
    return f"{count:,} object{'' if count == 1 else 's'}"


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"
