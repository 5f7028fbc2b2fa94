"""verify of the whole store: every object's bytes, every root file, and the index against both.

Laws: it writes nothing, takes no lock, and names everything that is wrong; a store that is in use has no
findings for being in use: what looks wrong because a writer is in the middle of its work is looked at
again. An index that is absent, or behind the root files (as after a crash, or in a clone), is no finding:
the next write makes it follow.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from castore.config import STAGED_AGE_SECONDS_MAX
from castore.digest import Digest
from castore.errors import CastoreError, NotFound, ObjectDamaged, RootDamaged
from castore.gc import workers
from castore.layout import OBJECT_NAME, ROOT_NAME, SHARD_NAME, SHARDS
from castore.objects.finding import Finding, FindingName
from castore.store import Store

__all__ = ["verify"]

_LOOK_AGAIN_SECONDS = (0.1, 0.4, 1.5)
"""Waits before a store that seems to disagree with itself is believed to: a commit takes less."""


@dataclass(slots=True)
class _Row:
    size: int
    stored_bytes: int
    file_sha256: bytes


@dataclass(slots=True)
class _Seen:
    """One look at the folders and the index."""

    sizes: dict[str, int] = field(default_factory=dict)
    rows: dict[str, _Row] | None = None
    named: dict[str, str] = field(default_factory=dict)
    """By the hex of an object: the path of a root file that names it."""
    is_current: bool = False
    """Whether the rows were written after the last change to the root files."""
    strays: list[Finding] = field(default_factory=list)
    damaged_roots: list[Finding] = field(default_factory=list)


def verify(store: Store, *, quick: bool = False) -> Iterator[Finding]:
    """Everything that is wrong with the store, objects first. quick: presence and sizes, not the bytes."""
    seen = _look(store)
    yield from _check_bytes(store, seen, quick=quick)
    disagreements = _disagreements(seen)
    for seconds in _LOOK_AGAIN_SECONDS:
        if not disagreements:
            break
        time.sleep(seconds)
        seen = _look(store)
        again = set(_disagreements(seen))
        disagreements = [finding for finding in disagreements if finding in again]
    yield from disagreements
    yield from seen.damaged_roots
    yield from seen.strays
    yield from _stale_files(store)
    yield from _index_findings(store)


# --- What is there ---------------------------------------------------------------------------------


def _look(store: Store) -> _Seen:
    """The rows first, then the roots, then the objects: a writer publishes in the opposite order."""
    seen = _Seen()
    connection = store.parts.index.reading() if os.path.exists(store.parts.layout.index) else None
    if connection is not None:
        from castore.index import objects, rebuild
        from castore.index.connection import IndexUnreadable

        # What a damaged index says of objects is nothing; that it is damaged is told at the end.
        with contextlib.suppress(*IndexUnreadable):
            seen.rows = {
                row.digest.hex(): _Row(row.size, row.stored_bytes, row.file_sha256)
                for row in objects.everything(connection)
            }
            seen.is_current = rebuild.is_current(connection, store.parts.root_files)
    _look_at_roots(store, seen)
    for shard in SHARDS:
        seen.sizes.update(store.parts.source.sizes(shard))
    _look_for_strays(store, seen)
    return seen


def _look_at_roots(store: Store, seen: _Seen) -> None:
    layout, files = store.parts.layout, store.parts.root_files
    if not os.path.isdir(layout.roots):
        if seen.rows or next(store.digests(), None) is not None:
            seen.damaged_roots.append(_at(FindingName.DAMAGED, layout.roots, "the folder is gone"))
        return
    try:
        shards = files.shards()
    except RootDamaged as error:
        seen.damaged_roots.append(_at(FindingName.DAMAGED, layout.roots, str(error.fields["reason"])))
        return
    for shard in shards:
        for root_id in files.ids(shard):
            path = layout.root_file(root_id)
            try:
                root = files.read(root_id)
            except FileNotFoundError:
                continue
            except RootDamaged as error:
                seen.damaged_roots.append(_at(FindingName.DAMAGED, path, str(error.fields["reason"])))
                continue
            for digest in root.objects:
                seen.named.setdefault(digest.hex, path)


def _look_for_strays(store: Store, seen: _Seen) -> None:
    """Whatever lies in objects/ or roots/ and is not a file of ours."""
    layout = store.parts.layout
    for top, is_ours in ((layout.objects, _is_object), (layout.roots, _is_root)):
        for entry in _entries(top):
            if not SHARD_NAME.match(entry.name) or not entry.is_dir(follow_symlinks=False):
                seen.strays.append(_at(FindingName.STRAY, entry.path, "is no folder of ours"))
                continue
            for file in _entries(entry.path):
                found = _stat(file)
                if found is None:
                    continue
                if not is_ours(entry.name, file.name):
                    seen.strays.append(_at(FindingName.STRAY, file.path, "has no name that we give"))
                elif not stat.S_ISREG(found.st_mode):
                    seen.strays.append(_at(FindingName.STRAY, file.path, "is not a regular file"))
                elif found.st_nlink > 1:
                    seen.strays.append(_at(FindingName.STRAY, file.path, "has another name elsewhere"))


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise CastoreError(f"can't list '{folder}': {error.strerror}", file=folder) from error


def _is_object(shard: str, name: str) -> bool:
    return OBJECT_NAME.match(name) is not None and name.startswith(shard)


def _is_root(shard: str, name: str) -> bool:
    return ROOT_NAME.match(name) is not None and name.startswith(shard)


def _at(name: FindingName, path: str, words: str) -> Finding:
    return Finding(name, None, path, words)


# --- The bytes -------------------------------------------------------------------------------------


def _check_bytes(store: Store, seen: _Seen, *, quick: bool) -> Iterator[Finding]:
    """Every object decodes to bytes of its digest, and its file is the one that was written."""
    database = store.parts.database
    rows = seen.rows or {}
    listed = [(size, name) for name, size in seen.sizes.items()]
    processes = workers.processes_for(listed)

    def check(name: str) -> workers.Outcome | None:
        digest = Digest(name)
        try:
            if quick:
                size = database.stat(digest)
                if size is None:
                    return None
                facts: tuple[int, int, bytes | None] = (size.size, size.stored_bytes, None)
            else:
                found = database.check(digest, alone=processes == 1)
                facts = (found.size, found.stored_bytes, found.file_sha256)
        except ObjectDamaged as error:
            return name, FindingName.DAMAGED, str(error.fields["reason"])
        except NotFound:
            # A sweep removed it since it was listed; if it should be there it is told as missing.
            return None
        row = rows.get(name)
        if row is None:
            return None
        if facts[:2] != (row.size, row.stored_bytes):
            return name, FindingName.MISMATCH, f"it has {facts[0]} bytes, and the index says {row.size}"
        if facts[2] is not None and facts[2] != row.file_sha256:
            return (
                name,
                FindingName.DAMAGED,
                "its file was changed since it was written, though it still decodes",
            )
        return None

    for name, finding, words in workers.run(listed, check, processes):
        yield Finding(FindingName(finding), Digest(name), None, words)


# --- One against another ---------------------------------------------------------------------------


def _disagreements(seen: _Seen) -> list[Finding]:
    """Objects of which not all of file, row and name is there."""
    findings = []
    for name in sorted(seen.named.keys() - seen.sizes.keys()):
        findings.append(Finding(FindingName.MISSING, Digest(name), seen.named[name], "is named by this root"))
    rows = seen.rows
    if rows is not None and seen.is_current:
        for name in sorted(seen.sizes.keys() & seen.named.keys() - rows.keys()):
            findings.append(Finding(FindingName.UNINDEXED, Digest(name), None, "has no row in the index"))
    if not seen.damaged_roots:
        # What a root that can't be read names is not known: then no object is said to have none.
        for name in sorted(seen.sizes.keys() - seen.named.keys()):
            findings.append(Finding(FindingName.UNNAMED, Digest(name), None, "no root names it"))
        for name in sorted((rows or {}).keys() - seen.sizes.keys() - seen.named.keys()):
            findings.append(
                Finding(FindingName.UNNAMED, Digest(name), None, "has a row in the index, and no file")
            )
    return findings


def _stale_files(store: Store) -> Iterator[Finding]:
    limit = store.parts.clock() - STAGED_AGE_SECONDS_MAX
    for entry in _entries(store.parts.layout.tmp):
        found = _stat(entry)
        if found is not None and found.st_mtime < limit:
            yield _at(FindingName.STRAY, entry.path, "was staged over a day ago; gc removes it")


def _index_findings(store: Store) -> Iterator[Finding]:
    if os.path.exists(store.parts.layout.index):
        problem = store.parts.index.problem()
        if problem is not None:
            yield _at(FindingName.DAMAGED, store.parts.layout.index, problem)


def _stat(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
