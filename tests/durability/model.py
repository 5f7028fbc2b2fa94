"""A disk that keeps only what was synced: the strictest one that POSIX allows.

Bytes are on it after a sync of their file, a name after a sync of its folder; nothing else helps (ext4
often keeps more). What a sync that failed should have written is lost: no later sync brings it back, only
writing it again does. `violations` runs a trace on it and says where a promise was made too early.

The promises, in the order of a write:
 1. a name in the store is given only to bytes that are on the disk, in a folder whose name is;
 2. a root is published once every object is on the disk with its name, and its folders with theirs;
 3. the rows are written once the root is; an object is removed once the removal of roots is on the disk;
 4. the first byte on stdout, or the new name of OUT, comes after all of that and the sync of the rows;
 5. when the program ends, everything is on the disk, OUT and its name too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from tests.durability.trace import Event

__all__ = ["KILLED", "violations"]

KILLED = Event(0, "killed", (), None, "", 0)
"""Between the events of a program that was killed, or failed, and those of the next, on the same files."""

_DATA_SYNCS = ("fsync", "fdatasync")
_WRITES = ("write", "pwrite64", "writev", "pwritev", "ftruncate")
_VOLATILE = ("index.sqlite-shm", "lock")
"""Means nothing after a crash."""


class _Disk:
    """What is not on the disk yet: bytes by their file's path; names, and the removal of names."""

    def __init__(self, store: str, out: str | None, in_steps: bool) -> None:
        self.store = store
        self.out = out
        self.in_steps = in_steps
        self.bytes: set[str] = set()
        self.names: set[str] = set()
        self.removed: set[str] = set()
        self.lost: set[str] = set()
        """Bytes and names that a failed sync did not write. (Of removals none is: the next sync that
        writes the folder writes them.)"""
        self.found: list[str] = []

    def complain(self, words: str) -> None:
        self.found.append(words)

    def needs_names(self, under: str, before: str) -> None:
        for path in sorted(self.names if self.in_steps else self.names | self.lost):
            if path == under or path.startswith(under + "/"):
                self.complain(f"{before} before the sync of the folder of {self.short(path)}")

    def needs_removals(self, under: str, before: str) -> None:
        for path in sorted(self.removed):
            if path.startswith(under + "/"):
                self.complain(f"{before} before the sync of the removal of {self.short(path)}")

    def needs_everything(self, before: str) -> None:
        for path in sorted(self.bytes):
            # What stays in tmp/ is nobody's; bytes that get a name from there were checked then.
            if not self.is_staged(path):
                self.complain(f"{before} before the sync of the bytes of {self.short(path)}")
        for path in sorted(self.names):
            self.complain(f"{before} before the sync of the folder of {self.short(path)}")
        for path in sorted(self.lost):
            if not self.is_staged(path):
                self.complain(f"{before} though a failed sync lost {self.short(path)}")
        self.needs_removals(self.store, before)

    def lose(self, paths: set[str]) -> None:
        """A sync that should have written these failed. What SQLite writes, it sees to itself."""
        self.lost |= {path for path in paths if "/index.sqlite" not in path}
        self.bytes -= paths
        self.names -= paths

    def short(self, path: str) -> str:
        return os.path.relpath(path, os.path.dirname(self.store))

    def is_ours(self, path: str) -> bool:
        """In the store, or in the folder that becomes the store; without what may vanish."""
        if path == self.out or path.startswith(self.out + "." if self.out else "\0"):
            return True
        if path != self.store and not path.startswith((self.store + "/", self.store + ".new-")):
            return False
        return os.path.basename(path) not in _VOLATILE

    def is_staged(self, path: str) -> bool:
        """Nobody relies on it: what a crash leaves of it is rubbish."""
        beginnings = (self.store + "/tmp/", self.store + ".new-")
        return path.startswith(beginnings if self.out is None else (*beginnings, self.out + "."))


def violations(
    events: Iterable[Event], store: str, *, out: str | None = None, in_steps: bool = False
) -> list[str]:
    """Every promise that was made too early by a program that wrote to the store folder, and to OUT.

    A program that met an error makes none; KILLED stands between its events and those of the next.
    in_steps: the program has several transactions, and what a failed sync lost need be on the disk only in
    time for the first byte on stdout: an earlier root does not name it.
    """
    disk = _Disk(store, out, in_steps)
    has_printed = False
    for event in events:
        if event.call in _WRITES and event.descriptor == 1:
            if not has_printed:
                has_printed = True
                disk.needs_everything("the first byte on stdout came")
        elif event.call in _WRITES:
            _write(disk, event.paths[0])
        elif event.call in ("openat", "creat"):
            _open(disk, event)
        elif event.call in _DATA_SYNCS:
            _sync(disk, event.paths[0])
        elif event.call in ("failed fsync", "failed fdatasync"):
            path = event.paths[0]
            disk.lose({each for each in disk.bytes if each == path})
            disk.lose({each for each in disk.names if os.path.dirname(each) == path})
        elif event.call == "failed syncfs":
            disk.lose(disk.bytes | disk.names)
        elif event.call in ("syncfs", "sync"):
            disk.bytes.clear()
            disk.names.clear()
            disk.removed.clear()
        elif event.call == "killed":
            disk.bytes = {path for path in disk.bytes if not disk.is_staged(path)}
            disk.names = {path for path in disk.names if not disk.is_staged(path) and path != disk.out}
            disk.lost = {path for path in disk.lost if not disk.is_staged(path) and path != disk.out}
            has_printed = False
        elif event.call.startswith("rename"):
            _rename(disk, *event.paths)
        elif event.call.startswith("mkdir"):
            disk.lost.discard(event.paths[0])
            if disk.is_ours(event.paths[0]):
                disk.names.add(event.paths[0])
        elif event.call.startswith("link"):
            _link(disk, *event.paths)
        elif event.call.startswith(("unlink", "rmdir")):
            _unlink(disk, event.paths[0])
    disk.needs_everything("the program ended")
    return disk.found


def _write(disk: _Disk, path: str) -> None:
    if not disk.is_ours(path):
        return
    if path.endswith("/index.sqlite-wal") and path not in disk.bytes:
        disk.needs_names(disk.store + "/objects", "the rows were written")
        disk.needs_names(disk.store + "/roots", "the rows were written")
        disk.needs_removals(disk.store + "/roots", "the rows were written")
    disk.bytes.add(path)


def _open(disk: _Disk, event: Event) -> None:
    if "O_CREAT" not in event.flags and event.call != "creat":
        return
    path = event.paths[0]
    if disk.is_ours(path) and not disk.is_staged(path) and not path.endswith("-wal"):
        disk.bytes.add(path)
        disk.names.add(path)


def _sync(disk: _Disk, path: str) -> None:
    disk.bytes.discard(path)
    disk.names = {name for name in disk.names if os.path.dirname(name) != path}
    disk.removed = {name for name in disk.removed if os.path.dirname(name) != path}


def _rename(disk: _Disk, source: str, target: str) -> None:
    if not disk.is_ours(target):
        return
    act = f"{disk.short(target)} got its name"
    beneath = source + "/"
    if os.path.dirname(target) in disk.names | disk.lost:
        disk.complain(f"{act} before the sync of the folder of {disk.short(os.path.dirname(target))}")
    for path in sorted(disk.lost):
        if path == source or path.startswith(beneath):
            disk.complain(f"{act} though a failed sync lost {disk.short(path)}")
    disk.lost.discard(target)
    for path in sorted(disk.bytes):
        if path == source or path.startswith(beneath):
            disk.complain(f"{act} before the sync of the bytes of {disk.short(path)}")
    for path in sorted(disk.names):
        if path.startswith(beneath):
            disk.complain(f"{act} before the sync of the folder of {disk.short(path)}")
    disk.bytes = {_moved(path, source, target) for path in disk.bytes}
    disk.names = {_moved(path, source, target) for path in disk.names if path != source}
    if target.startswith(disk.store + "/roots/"):
        disk.needs_names(disk.store + "/objects", act)
    if target == disk.out:
        disk.needs_everything(act)
    disk.names.add(target)


def _link(disk: _Disk, source: str, target: str) -> None:
    """The file has this name, too."""
    if not disk.is_ours(target):
        return
    act = f"{disk.short(target)} got its name"
    if os.path.dirname(target) in disk.names | disk.lost:
        disk.complain(f"{act} before the sync of the folder of {disk.short(os.path.dirname(target))}")
    if source in disk.lost:
        disk.complain(f"{act} though a failed sync lost {disk.short(source)}")
    if source in disk.bytes:
        disk.complain(f"{act} before the sync of the bytes of {disk.short(source)}")
    if target.startswith(disk.store + "/roots/"):
        disk.needs_names(disk.store + "/objects", act)
    disk.lost.discard(target)
    disk.names.add(target)


def _unlink(disk: _Disk, path: str) -> None:
    disk.bytes.discard(path)
    disk.names.discard(path)
    disk.lost.discard(path)
    if path.startswith(disk.store + "/objects/"):
        disk.needs_removals(disk.store + "/roots", f"{disk.short(path)} was removed")
    if path.startswith((disk.store + "/objects/", disk.store + "/roots/")):
        disk.removed.add(path)


def _moved(path: str, source: str, target: str) -> str:
    return target + path[len(source) :] if path == source or path.startswith(source + "/") else path
