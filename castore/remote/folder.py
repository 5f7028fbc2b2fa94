"""Folder: keys and bytes in a plain folder (file://), which many machines may share.

Laws: bytes under a key are those that were written, whole, or none, whatever crashes: they are synced before
they get their name. Their names are on the disk once `settle` has returned; what `create` and `replace` wrote
is when they return. Of two that create one key one is told True: a link is made where none is. Conditions on
what is there hold under a lock on the file `lock`, which ends with its holder. Nothing below the folder that
is a link is followed: what is read, listed, deleted or written lies in the folder itself. (The folder may be
one.) What is neither a file nor a folder is damage of the key that it lies under, and of no other.

A version is inode, size and time of change; `replace` takes care that the time grows, should the clock stand.
No client library is used: obstore's own for folders does not sync, and can't replace under a condition.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from castore import durable
from castore.errors import (
    CastoreError,
    RemoteDamaged,
    RemoteDenied,
    RemoteError,
    RemoteMissing,
    RemoteUnavailable,
)
from castore.remote.beneath import Beneath
from castore.remote.service import Entry

__all__ = ["Folder"]

_READ_BYTES = 1 << 20
_STAGING = "tmp"
_LOCK = "lock"
_DEPTH_MAX = 8
_STAGED_SECONDS_MAX = 86_400
_STAGED_NAME = re.compile(r"[0-9]+-[0-9a-f]{12}-[0-9]+\Z")
_MODE_FILE = 0o666
_MODE_FOLDER = 0o777


class Folder:
    """A Service in the folder `path`, made if the one it lies in is there. Safe from several threads."""

    is_far = False
    deletes_max = 1000

    def __init__(self, remote: str, path: str) -> None:
        self._remote = remote
        self._path = path
        self._lock = Lock()
        self._settling = Lock()
        self._beneath = Beneath(remote, path)
        self._made: set[str] = set()
        self._unsettled: set[str] = set()
        self._staged = 0
        self._staged_name = f"{os.getpid()}-{os.urandom(6).hex()}"

    def get(
        self, key: str, start: int, length: int | None, bytes_max: int | None
    ) -> tuple[bytes, Entry] | None:
        with self._told("get", key):
            descriptor = self._beneath.opened(key)
            if descriptor is None:
                return None
            try:
                entry = self._beneath.entry(key, os.fstat(descriptor))
                if bytes_max is not None and entry.size > bytes_max:
                    raise RemoteDamaged(self._remote, key, f"it is longer than {bytes_max:,} bytes")
                left = max(0, entry.size - start)
                return _read(descriptor, start, left if length is None else min(left, length)), entry
            finally:
                os.close(descriptor)

    def head(self, key: str) -> Entry | None:
        with self._told("head", key):
            found = self._beneath.found(key)
            return None if found is None else self._beneath.entry(key, found)

    def put(self, key: str, data: bytes | Path) -> None:
        with self._told("put", key), self._staged_file(data) as staged:
            target = self._placed(key)
            durable.rename(staged, target)
            self._note(key)

    def create(self, key: str, data: bytes) -> bool:
        with self._told("create", key), self._staged_file(data) as staged:
            target = self._placed(key)
            is_made = durable.publish_new(staged, target)
            durable.sync_folders([os.path.dirname(target)], self._path)
            return is_made

    def replace(self, key: str, data: bytes, entry: Entry) -> bool:
        with self._told("replace", key), self._staged_file(data) as staged, self._locked():
            target = self._file(key)
            found = self._beneath.found(key)
            if found is None or self._beneath.entry(key, found).version != entry.version:
                return False
            if os.stat(staged).st_mtime_ns <= found.st_mtime_ns:
                os.utime(staged, ns=(found.st_mtime_ns + 1, found.st_mtime_ns + 1))
            durable.rename(staged, target)
            durable.sync_folders([os.path.dirname(target)], self._path)
            return True

    def delete(self, keys: Sequence[str]) -> None:
        with self._locked():
            for key in keys:
                with self._told("delete", key):
                    try:
                        with self._beneath.within(os.path.dirname(key)) as folder:
                            is_removed = durable.remove(os.path.basename(key), folder=folder)
                    except (FileNotFoundError, NotADirectoryError):
                        continue
                    if is_removed:
                        self._note(key)

    def pages(self, prefix: str) -> Iterator[Sequence[Entry]]:
        """A page a folder, one within another in the order of their keys."""
        if prefix.count("/") > _DEPTH_MAX:
            return  # Nobody here makes those.
        with self._told("list", prefix):
            names = self._beneath.names(prefix)
        page: list[Entry] = []
        # A folder's keys go on with a slash, which stands before some characters that a name may go on with.
        for name, entry in sorted(names, key=lambda each: each[0] + "/" * (each[1] is None)):
            if not prefix and name in (_STAGING, _LOCK):
                continue
            if entry is not None:
                page.append(entry)
                continue
            if page:
                yield page
                page = []
            yield from self.pages(f"{prefix}{name}/")
        if page:
            yield page

    def settle(self) -> None:
        # Who comes while another settles waits: what the other took may be its own.
        with self._settling:
            with self._lock:
                folders, self._unsettled = sorted(self._unsettled), set()
            with self._told("settle", ""):
                durable.sync_folders(folders, self._path)

    # --- Helpers ---

    def _file(self, key: str) -> str:
        return f"{self._path}/{key}"

    def _placed(self, key: str) -> str:
        """The file's path; the folders that it lies in are there, no links, and their names on the disk."""
        folder = os.path.dirname(self._file(key))
        if folder not in self._made:
            self._make(folder)
        else:
            self._require_plain(folder)
        return self._file(key)

    def _require_plain(self, folder: str) -> None:
        with self._beneath.within(folder[len(self._path) + 1 :]):
            return

    def _make(self, folder: str) -> None:
        if folder == self._path and not os.path.isdir(os.path.dirname(folder)):
            raise RemoteMissing(
                self._remote,
                f"the folder of remote '{self._remote}' is not there, nor the one it would lie in",
                hint="make the folder, or mount what it lies on",
            )
        if folder != self._path and os.path.dirname(folder) not in self._made:
            self._make(os.path.dirname(folder))
        durable.make_folders([folder], os.path.dirname(folder), _MODE_FOLDER, unproven=folder != self._path)
        self._require_plain(folder)
        self._made.add(folder)

    @contextmanager
    def _staged_file(self, data: bytes | Path) -> Iterator[str]:
        """A file with the bytes, on the disk; it is gone after the block unless it was renamed."""
        folder = f"{self._path}/{_STAGING}"
        if folder in self._made:
            self._require_plain(folder)
        else:
            self._make(folder)
            self._remove_left()
        with self._lock:
            self._staged += 1
            staged = f"{folder}/{self._staged_name}-{self._staged}"
        durable.write_new(staged, [data] if isinstance(data, bytes) else _pieces(data), _MODE_FILE)
        try:
            durable.sync_files([staged], self._path)
            yield staged
        finally:
            durable.remove_leftover([staged], [])

    def _remove_left(self) -> None:
        """What writers that were killed have staged, and nobody gives a name any more, is gone."""
        before = time.time() - _STAGED_SECONDS_MAX
        with self._beneath.within(_STAGING) as folder:
            with os.scandir(folder) as entries:
                left = [
                    each.name
                    for each in entries
                    if _STAGED_NAME.match(each.name)
                    and each.is_file(follow_symlinks=False)
                    and each.stat(follow_symlinks=False).st_mtime < before
                ]
            for name in left:
                durable.remove(name, folder=folder)

    def _note(self, key: str) -> None:
        with self._lock:
            self._unsettled.add(os.path.dirname(self._file(key)))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Nobody else who asks for it is in this block, in any process."""
        with self._told("lock", _LOCK):
            if self._path not in self._made:
                self._make(self._path)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            descriptor = os.open(f"{self._path}/{_LOCK}", flags, _MODE_FILE)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                yield
            finally:
                os.close(descriptor)

    @contextmanager
    def _told(self, operation: str, key: str) -> Iterator[None]:
        """What the system or castore.durable raises is told as the remote's."""
        try:
            yield
        except RemoteError:
            raise
        except OSError as error:
            raise self._failed(operation, key, error) from error
        except CastoreError as error:
            cause = error.__cause__
            if not isinstance(cause, OSError):
                raise
            raise self._failed(operation, key, cause) from error

    def _failed(self, operation: str, key: str, error: OSError) -> RemoteError:
        reason = error.strerror or type(error).__name__
        words = f"remote '{self._remote}' failed to {operation} '{key}': {reason}"
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            return RemoteDenied(
                self._remote, words, hint="who may use the folder is said by its modes", errno=error.errno
            )
        if error.errno == errno.ELOOP:
            return self._beneath.damaged(key, "it is a link")
        return RemoteUnavailable(self._remote, words, errno=error.errno)


def _read(descriptor: int, start: int, length: int) -> bytes:
    pieces = []
    while length > 0 and (piece := os.pread(descriptor, min(length, _READ_BYTES), start)):
        pieces.append(piece)
        start, length = start + len(piece), length - len(piece)
    return b"".join(pieces)


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_READ_BYTES):
            yield piece
