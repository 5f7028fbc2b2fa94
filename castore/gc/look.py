"""What lies in a store's folders, and what the index says of it: for verify and repair, who judge it.

Law: looking changes nothing. A root file that can't be read is told, never left out in silence, and what
the index says is asked before the files are: a writer publishes in the opposite order.

Memory: some 36 bytes for each name of an object in a root, 100 for each record of a log, and the rows and
files of one shard.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from castore.config import ROOT_CHAIN_MAX
from castore.errors import CastoreError, RootDamaged
from castore.gc.log_gaps import Logs
from castore.gc.names import Names
from castore.layout import OBJECT_NAME, ROOT_NAME, SHARD_NAME, SHARDS, TOMBSTONE_NAME, Layout
from castore.roots.model import REMOTE, Root
from castore.store.tombstones import Tombstone
from castore.store.transaction import Transactions

if TYPE_CHECKING:
    from sqlite3 import Connection

    from castore.index.objects import ObjectRow
    from castore.index.roots import StampRow

__all__ = [
    "DamagedFile",
    "RootLink",
    "RootLook",
    "ShardLook",
    "Stray",
    "damaged_tombstones",
    "entries",
    "index_problem",
    "is_denied",
    "look_at_roots",
    "look_at_shard",
    "strays",
]


@dataclass(frozen=True, slots=True)
class DamagedFile:
    """A root or tombstone file that is not what was written. `id`: the root's, as its name says."""

    path: str
    reason: str
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Stray:
    """What has no place where it lies. `is_odd`: by its name it could be ours."""

    path: str
    words: str
    is_odd: bool = False


class RootLink(NamedTuple):
    """What a root says that is based on another, or on which one is based. As of Root."""

    scope: str
    base: str | None
    expires: float | None
    expires_alone: float | None


@dataclass(slots=True)
class RootLook:
    """The root files, and what the index says of them.

    names: of objects that must be here, with the files of roots that name them. promised: of those that need
    not be, by roots that say which remote has them, with the names of remotes.
    folder_problem: what is wrong with roots/ itself. denied: what this process may not read.
    lost: roots that the index has, that have not expired, and whose file is gone or damaged.
    behind: ids of the roots of which the rows say something else than the file.
    is_current: the index was written after the last change to the root files, as far as can be told.
    sequence: the highest of a root. baseless: in words, by the id of a root that has not expired, what is
    wrong with what it is based on. links: what each root says of its base, by its id. logs: those there are,
    with the roots that are lost.
    """

    names: Names = field(default_factory=Names)
    promised: Names = field(default_factory=Names)
    damaged: list[DamagedFile] = field(default_factory=list)
    folder_problem: str | None = None
    denied: str | None = None
    lost: list[Root] = field(default_factory=list)
    behind: list[str] = field(default_factory=list)
    is_current: bool = False
    sequence: int = 0
    links: dict[str, RootLink] = field(default_factory=dict)
    baseless: dict[str, str] = field(default_factory=dict)
    logs: Logs = field(default_factory=Logs)
    half_purged: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By the hex of an object: the path of a root that names it, though it was purged from its scope; why."""

    @property
    def is_whole(self) -> bool:
        """Every root file could be read, so that an object that none names is named by none."""
        return not self.damaged and self.folder_problem is None


@dataclass(frozen=True, slots=True)
class ShardLook:
    """The objects of one shard: stored bytes of each file by hex digits, and the rows; None: no index.

    frames: the fingerprints of the rows about the frames of large objects (castore.objects.frames).
    """

    shard: str
    sizes: dict[str, int]
    rows: dict[str, ObjectRow] | None
    frames: dict[str, bytes]


def look_at_roots(parts: Transactions, connection: Connection | None, *, now: float) -> RootLook:
    """Every root file is read. connection: of the index, if there is one."""
    look = RootLook()
    look.folder_problem, is_refused = _folder_problem(parts.layout.roots)
    if is_refused:
        look.denied = parts.layout.roots
    newest: dict[tuple[str, str], int] = {}
    purged = _purged(parts)
    gone: list[str] = []
    look.is_current = connection is not None and _is_current(connection, parts)
    for shard in SHARDS:
        stamps = _stamps(connection, shard)
        for root_id in _ids(parts, look, shard):
            path = parts.layout.root_file(root_id)
            try:
                stamp = parts.root_files.stamp(root_id)
                root = parts.root_files.read(root_id)
            except FileNotFoundError:
                continue
            except RootDamaged as error:
                look.damaged.append(DamagedFile(path, str(error.fields["reason"]), root_id))
                if is_denied(error):
                    look.denied = path
                continue
            look.sequence = max(look.sequence, root.sequence)
            remote = root.details.get(REMOTE)
            if remote is None:
                look.names.add(path, root.objects)
            else:
                look.promised.add(str(remote), root.objects)
            look.logs.add(root, now)
            if root.base is not None or root.expires_alone is not None:
                look.links[root_id] = RootLink(root.scope, root.base, root.expires, root.expires_alone)
            for name in purged.keys() & {digest.hex for digest in root.objects} if purged else ():
                if root.scope in purged[name].scopes:
                    look.half_purged[name] = path, purged[name].reason
            if root.name is not None and root.is_live(now):
                key = (root.scope, root.name)
                newest[key] = max(newest.get(key, -1), root.sequence)
            row = stamps.pop(root_id, None)
            if connection is None or not (look.is_current or (row is not None and row.stamp == stamp)):
                continue
            # Another stamp alone is no finding: a store that was copied says the same in other files.
            if row is None or _by_id(connection, root_id) != root:
                look.behind.append(root_id)
        gone += stamps
    needed = {link.base for link in look.links.values()}
    for root_id in gone:
        lost = _by_id(connection, root_id)
        if lost is None or lost.is_expired(now):
            continue
        # A root whose name went to another one is removed, and its rows may go a moment later.
        if root_id in needed or lost.name is None or newest.get((lost.scope, lost.name), -1) <= lost.sequence:
            look.lost.append(lost)
            look.logs.add(lost, now)
    look.baseless = _baseless(parts, look, now)
    return look


def _purged(parts: Transactions) -> dict[str, Tombstone]:
    """The tombstones that can be read, by the hex of their objects."""
    found = {}
    for digest in parts.tombstones.digests():
        with contextlib.suppress(RootDamaged):
            tombstone = parts.tombstones.get(digest)
            if tombstone is not None:
                found[digest.hex] = tombstone
    return found


def look_at_shard(parts: Transactions, connection: Connection | None, shard: str) -> ShardLook:
    rows = None
    facts: dict[str, bytes] = {}
    if connection is not None:
        from castore.index import frames, objects
        from castore.index.connection import IndexUnreadable

        # What a damaged index says of objects is nothing; that it is damaged is told elsewhere.
        try:
            rows = {digest.hex(): row for digest, row in objects.in_shard(connection, shard).items()}
            # After those: a writer adds both at once.
            facts = {digest.hex(): found for digest, found in frames.fingerprints(connection, shard).items()}
        except IndexUnreadable:
            rows = None
    return ShardLook(shard, parts.source.sizes(shard), rows, facts)


def strays(layout: Layout) -> Iterator[Stray]:
    """Whatever lies in objects/, roots/ or tombstones/ and is not a file of ours."""
    for top, is_ours in ((layout.objects, _is_object), (layout.roots, _is_root)):
        for entry in entries(top):
            if not SHARD_NAME.match(entry.name) or not entry.is_dir(follow_symlinks=False):
                yield Stray(entry.path, "is no folder of ours")
                continue
            for file in entries(entry.path):
                found = _stat(file)
                if found is not None:
                    yield from _stray(file.path, found, is_ours(entry.name, file.name))
    for file in entries(layout.tombstones):
        found = _stat(file)
        if found is not None:
            yield from _stray(file.path, found, TOMBSTONE_NAME.match(file.name) is not None)


def damaged_tombstones(parts: Transactions) -> Iterator[DamagedFile]:
    for digest in parts.tombstones.digests():
        try:
            parts.tombstones.get(digest)
        except RootDamaged as error:
            if is_denied(error):
                raise
            yield DamagedFile(parts.layout.tombstone(digest.hex), str(error.fields["reason"]))


def index_problem(parts: Transactions) -> str | None:
    """What is wrong with the index that is there, in words; None if nothing is, or there is none."""
    return parts.index.problem() if os.path.lexists(parts.layout.index) else None


def entries(folder: str) -> list[os.DirEntry[str]]:
    """What lies in a folder, sorted by name; nothing where there is none."""
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise CastoreError(f"can't list '{folder}': {error.strerror}", file=folder) from error


def is_denied(error: CastoreError) -> bool:
    """Whether it is the caller who may not read a file: that says nothing of the file."""
    cause = error.__cause__
    return isinstance(cause, OSError) and cause.errno in (errno.EACCES, errno.EPERM)


# --- Helpers ---------------------------------------------------------------------------------------


def _folder_problem(roots: str) -> tuple[str | None, bool]:
    """In words, None if there is none; and whether it is that this process may not look."""
    try:
        if not stat.S_ISDIR(os.stat(roots).st_mode):
            return "it is no folder", False
        os.listdir(roots)
    except FileNotFoundError:
        return "the folder is gone", False
    except OSError as error:
        return f"the folder can't be listed ({error.strerror})", True
    return None, False


def _ids(parts: Transactions, look: RootLook, shard: str) -> list[str]:
    """Of the root files in a shard that can be listed; one that can't is told."""
    if look.folder_problem is not None:
        return []
    try:
        return parts.root_files.ids(shard)
    except RootDamaged as error:
        path = parts.layout.root_folder(shard)
        look.damaged.append(DamagedFile(path, str(error.fields["reason"])))
        if is_denied(error):
            look.denied = path
        return []


def _is_current(connection: Connection, parts: Transactions) -> bool:
    from castore.index import rebuild

    return rebuild.is_current(connection, parts.root_files)


def _stamps(connection: Connection | None, shard: str) -> dict[str, StampRow]:
    if connection is None:
        return {}
    from castore.index import roots
    from castore.index.connection import IndexUnreadable

    try:
        return roots.stamps(connection, shard)
    except IndexUnreadable:
        return {}


def _by_id(connection: Connection | None, root_id: str) -> Root | None:
    if connection is None:
        return None
    from castore.index import roots
    from castore.index.connection import IndexUnreadable

    try:
        return roots.by_id(connection, root_id)
    except IndexUnreadable:
        return None


def _baseless(parts: Transactions, look: RootLook, now: float) -> dict[str, str]:
    """Of each root that has not expired what is wrong with its bases. (A killed gc may leave the others.)"""
    problems: dict[str, str] = {}
    depths: dict[str, int] = {}
    for root_id, link in look.links.items():
        if link.base is None or (link.expires is not None and link.expires <= now):
            continue
        words = _base_problem(parts, look, link)
        if words is None and _depth(look.links, root_id, depths) >= ROOT_CHAIN_MAX:
            words = f"is based on over {ROOT_CHAIN_MAX - 1} roots, or on itself"
        if words is not None:
            problems[root_id] = words
    return problems


def _base_problem(parts: Transactions, look: RootLook, link: RootLink) -> str | None:
    base = link.base or ""
    known = look.links.get(base)
    try:
        scope = known.scope if known is not None else parts.root_files.read(base).scope
    except FileNotFoundError:
        return f"is based on root '{base}', which is missing"
    except RootDamaged:
        return f"is based on root '{base}', which is damaged"
    return None if scope == link.scope else f"is based on root '{base}', which is of another scope"


def _depth(links: Mapping[str, RootLink], root_id: str, depths: dict[str, int]) -> int:
    """How many roots it is based on, as far as they are there; ROOT_CHAIN_MAX if over that, or a circle."""
    path: dict[str, None] = {}
    at: str | None = root_id
    while at is not None and at in links and at not in depths and at not in path:
        path[at] = None
        at = links[at].base
    depth = ROOT_CHAIN_MAX if at is not None and at in path else depths.get(at or "", -1 if at is None else 0)
    for each in reversed(path):
        depth = depths[each] = min(depth + 1, ROOT_CHAIN_MAX)
    return depths[root_id]


def _stray(path: str, found: os.stat_result, is_ours: bool) -> Iterator[Stray]:
    if not is_ours:
        yield Stray(path, "has no name that we give")
    elif not stat.S_ISREG(found.st_mode):
        yield Stray(path, "is not a regular file", is_odd=True)
    elif found.st_nlink > 1:
        yield Stray(path, "has another name elsewhere", is_odd=True)


def _is_object(shard: str, name: str) -> bool:
    return OBJECT_NAME.match(name) is not None and name.startswith(shard)


def _is_root(shard: str, name: str) -> bool:
    return ROOT_NAME.match(name) is not None and name.startswith(shard)


def _stat(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
