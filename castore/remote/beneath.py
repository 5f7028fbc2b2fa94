"""Beneath: what lies in a folder, reached without following a link below it. For buckets that are folders.

Law: no component of a path is a link, from behind the folder itself (which may be one) to what is opened,
looked at or listed: each folder is opened in the one before, by its descriptor. Somebody who puts a link in
the way meanwhile is too late, or is told.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from castore.errors import RemoteDamaged
from castore.remote.keys import is_own
from castore.remote.service import Entry

__all__ = ["Beneath"]

_TOP = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY
_BELOW = _TOP | os.O_NOFOLLOW
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_OPENED_MAX = 8
"""Folders that all threads have open at once: a process may have few descriptors."""


class Beneath:
    """What lies beneath the folder `path`, by keys. Safe from several threads."""

    def __init__(self, remote: str, path: str) -> None:
        self._remote = remote
        self._path = path
        self._opening = BoundedSemaphore(_OPENED_MAX)

    def opened(self, key: str) -> int | None:
        """A descriptor to read it by. None: it is absent. Raises RemoteDamaged for a link, OSError."""
        try:
            with self.within(os.path.dirname(key)) as folder:
                return os.open(os.path.basename(key), _READ, dir_fd=folder)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def entry(self, key: str, found: os.stat_result) -> Entry:
        """Raises RemoteDamaged for what is no regular file."""
        if not stat.S_ISREG(found.st_mode):
            raise self.damaged(key, "it is not a regular file")
        version = f"{found.st_ino}-{found.st_size}-{found.st_mtime_ns}"
        return Entry(key, found.st_size, version, found.st_mtime_ns / 1e9)

    def damaged(self, key: str, reason: str) -> RemoteDamaged:
        push = f"'ctx push {self._remote} FILE|REF --anew'"
        hint = f"castore did not make it: see what it is, remove it there, and then {push}"
        return RemoteDamaged(self._remote, key, reason, hint=hint)

    def names(self, prefix: str) -> list[tuple[str, Entry | None]]:
        """What lies in the folder; None: a folder.

        What is no file stands for its key, if castore could have written that: who reads it is told. A link
        elsewhere may hide any number of keys: no listing without them is given. Other things hide none.
        """
        names: list[tuple[str, Entry | None]] = []
        try:
            with self.within(prefix.rstrip("/")) as folder, os.scandir(folder) as entries:
                for each in entries:
                    try:
                        found = each.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue
                    key = prefix + each.name
                    if stat.S_ISREG(found.st_mode):
                        names.append((each.name, self.entry(key, found)))
                    elif is_own(key):
                        names.append((each.name, Entry(key, 0, "", found.st_mtime_ns / 1e9)))
                    elif stat.S_ISDIR(found.st_mode):
                        names.append((each.name, None))
                    elif stat.S_ISLNK(found.st_mode):
                        raise self.damaged(key, "it is a link")
        except (FileNotFoundError, NotADirectoryError):
            return []
        return names

    @contextmanager
    def within(self, path: str) -> Iterator[int]:
        """A descriptor of the folder `path` of the bucket, empty for its own. Raises RemoteDamaged for a link
        on the way; FileNotFoundError, NotADirectoryError."""
        with self._opening:
            descriptor = os.open(self._path, _TOP)
            try:
                for part in path.split("/") if path else ():
                    below = self._below(descriptor, part, path)
                    os.close(descriptor)
                    descriptor = below
                yield descriptor
            finally:
                os.close(descriptor)

    def _below(self, folder: int, part: str, path: str) -> int:
        try:
            return os.open(part, _BELOW, dir_fd=folder)
        except OSError as error:
            # Which of the two numbers a link gives depends on the system.
            if error.errno in (errno.ENOTDIR, errno.ELOOP) and stat.S_ISLNK(
                os.stat(part, dir_fd=folder, follow_symlinks=False).st_mode
            ):
                raise self.damaged(path, f"its '{part}' is a link") from None
            raise

    def found(self, key: str) -> os.stat_result | None:
        try:
            with self.within(os.path.dirname(key)) as folder:
                return os.stat(os.path.basename(key), dir_fd=folder, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None
