"""Publish bytes so that a crash or a power loss leaves all of them or nothing.

Laws of this file, the only one that syncs, renames or links:

- A name that `rename` or `publish` gave to bytes never shows a part of them: the bytes were written
  beside it under another name and synced first.
- Bytes and their name are on the disk once data sync, rename and folder sync have returned, in that
  order. Each step has its own function, so that a transaction may put its decision between them.
- A failed sync is an error and is never tried again: the kernel has dropped the pages, and a second
  sync would report success for bytes that are gone. The caller writes them again, or gives up.

A crash between the steps leaves a file in a staging folder, or a published file that nothing names.

Every system call goes through `calls`, so that a test can fail, skip or count each of them.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedRandom
from typing import Any, BinaryIO

from castore.config import SYNC_FILES_MAX
from castore.errors import CastoreError

__all__ = [
    "Calls",
    "append",
    "calls",
    "is_replaceable",
    "make_folder",
    "make_folders",
    "move",
    "publish",
    "publish_new",
    "remove",
    "remove_leftover",
    "rename",
    "replacing",
    "require_writable",
    "sync_everything",
    "sync_files",
    "sync_folders",
    "temporary_names",
    "why_unwritable",
    "write_new",
]

_NEW_FILE = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW
_WRITE_ERRORS = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG, errno.EROFS, errno.EACCES))
"""What writing to a file fails with; other errors in the block are not OUT's."""

_SPOOL_COPY_BYTES = 1 << 20
_OPEN_FILE = re.compile(r"/dev/(?:std(?:in|out|err)|fd/[0-9]+)\Z|/proc/[^/]+(?:/task/[0-9]+)?/fd/[0-9]+\Z")
"""Where names lead to what is open already: replacing a log behind `>> log` would lose it."""


class Calls:
    """The system calls that durability rests on. Tests replace `calls.NAME` by a script of faults."""

    open = staticmethod(os.open)
    write = staticmethod(os.write)
    close = staticmethod(os.close)
    rename = staticmethod(os.rename)
    link = staticmethod(os.link)
    unlink = staticmethod(os.unlink)
    mkdir = staticmethod(os.mkdir)
    rmdir = staticmethod(os.rmdir)

    def __init__(self) -> None:
        self._libc: Any = None

    def fsync(self, descriptor: int) -> None:
        """Data and metadata of one file or folder are on the disk, not only in its cache."""
        if sys.platform == "darwin":
            import fcntl

            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        else:
            os.fsync(descriptor)

    def syncfs(self, descriptor: int) -> bool:
        """All that was written to this file system is on the disk; False if there is no such call."""
        if sys.platform != "linux":
            return False
        if self._libc is None:
            import ctypes

            self._libc = ctypes.CDLL(None, use_errno=True)
        if not hasattr(self._libc, "syncfs"):
            return False
        if self._libc.syncfs(descriptor) != 0:
            import ctypes

            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        return True


calls = Calls()


def write_new(path: str, pieces: Iterable[bytes | bytearray | memoryview], mode: int) -> int:
    """A new file at `path` holds `pieces`, unsynced; returns its bytes. On an error there is no file.

    Raises CastoreError when there is one already, or the disk is full or failing.
    """
    try:
        descriptor = calls.open(path, _NEW_FILE, mode)
    except OSError as error:
        raise _failed("write", path, error) from error
    length = 0
    try:
        for piece in pieces:
            length += len(piece)
            written = calls.write(descriptor, piece)
            while written < len(piece):
                piece = memoryview(piece)[written:]
                written = calls.write(descriptor, piece)
    except BaseException as error:
        calls.close(descriptor)
        _remove_quietly(path)
        if isinstance(error, OSError):
            raise _failed("write", path, error) from error
        raise
    calls.close(descriptor)
    return length


def sync_files(paths: list[str], near: str) -> None:
    """The bytes of every file of `paths` are on the disk. They share the file system of the folder `near`.

    Up to SYNC_FILES_MAX are synced one by one; above it the file system is synced once, where the
    platform can do that.
    """
    if len(paths) > SYNC_FILES_MAX and _sync_file_system(near):
        return
    for path in paths:
        _sync(path, os.O_RDONLY)


def sync_folders(paths: Iterable[str], near: str) -> None:
    """The names in every folder of `paths` are on the disk, removed ones too."""
    folders = list(paths)
    if len(folders) > SYNC_FILES_MAX and _sync_file_system(near):
        return
    for path in folders:
        _sync(path, os.O_RDONLY | os.O_DIRECTORY)


def sync_everything(folder: str) -> None:
    """All files and names under `folder`, and its own name, are on the disk, whoever left them unsynced."""
    if _sync_file_system(folder):
        return
    for path, _, names in os.walk(folder):
        for name in names:
            _sync_found(f"{path}/{name}")
        _sync(path, os.O_RDONLY | os.O_DIRECTORY)
    _sync(os.path.dirname(folder), os.O_RDONLY | os.O_DIRECTORY)


def append(path: str, data: bytes) -> None:
    """The file at `path`, which is there, ends with `data`, on the disk, beginning on a line of its own.

    It is written in one call where the system takes it so. A crash, or an error, leaves a beginning of it at
    the end of the file, or nothing. What an earlier crash left there, without a line feed, is not continued.
    Raises CastoreError, also for what is no regular file.
    """
    try:
        descriptor = calls.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise CastoreError(f"'{path}' is not a regular file", file=path)
            is_torn = found.st_size > 0 and os.pread(descriptor, 1, found.st_size - 1) != b"\n"
            view = memoryview(b"\n" + data if is_torn else data)
            while view:
                view = view[calls.write(descriptor, view) :]
            calls.fsync(descriptor)
        finally:
            calls.close(descriptor)
    except OSError as error:
        raise _failed("write", path, error) from error


def why_unwritable(folder: str) -> int | None:
    """As told beforehand: the number of the error by which a file can't be made in the folder; None: it can,
    or that can't be told. The disk may be full, of bytes or of files, but for whom it keeps some."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return None
    if found.f_flag & os.ST_RDONLY:
        return errno.EROFS
    if not os.access(folder, os.W_OK | os.X_OK):
        return errno.EACCES
    is_full = found.f_bavail == 0 or (found.f_files > 0 and found.f_favail == 0)
    return errno.ENOSPC if is_full else None


def require_writable(folder: str) -> None:
    """Raises CastoreError where a file can't be made in the folder, as far as that can be told beforehand."""
    number = why_unwritable(folder) if os.path.isdir(folder) else errno.ENOTDIR
    # Of a disk that is full some is kept for root.
    if number is not None and (number != errno.ENOSPC or os.geteuid() != 0):
        raise _failed("write in", folder, OSError(number, os.strerror(number)))


def rename(source: str, target: str) -> None:
    """`target` names what `source` named, which is gone; a file that was there is replaced at once.

    On the disk after the sync of both folders; before it a power loss may show either.
    """
    try:
        calls.rename(source, target)
    except OSError as error:
        raise _failed("rename into place", target, error) from error


def move(source: str, target: str) -> None:
    """As `rename`, and on the disk: the folders of both are synced."""
    rename(source, target)
    _sync(os.path.dirname(target), os.O_RDONLY | os.O_DIRECTORY)
    if os.path.dirname(source) != os.path.dirname(target):
        _sync(os.path.dirname(source), os.O_RDONLY | os.O_DIRECTORY)


def publish(path: str, data: bytes, *, staged: str, mode: int) -> None:
    """`path` holds `data`, on the disk, in place of what was there. A crash leaves the old or the new.

    staged: the path of a file that does not exist, in the same file system.
    """
    write_new(staged, [data], mode)
    try:
        _sync(staged, os.O_RDONLY)
        rename(staged, path)
    except BaseException:
        _remove_quietly(staged)
        raise
    _sync(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)


def publish_new(staged: str, target: str) -> bool:
    """`target` names the file `staged` too, unless a file was there: then False. Not synced."""
    try:
        calls.link(staged, target)
    except FileExistsError:
        return False
    except OSError as error:
        raise _failed("link into place", target, error) from error
    return True


def remove(path: str, *, folder: int | None = None) -> bool:
    """No file has this name; False if there was none. On the disk after the sync of its folder.

    folder: descriptor of the one that `path` begins in.
    """
    try:
        if folder is None:
            calls.unlink(path)
        else:
            calls.unlink(path, dir_fd=folder)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise _failed("remove", path, error) from error
    return True


def remove_leftover(files: Iterable[str], folders: Iterable[str]) -> None:
    """These files are gone, and then these folders that are empty. Best effort: garbage may as well stay."""
    for path in files:
        _remove_quietly(path)
    for path in folders:
        _remove_folder_quietly(path)


def temporary_names(path: str) -> re.Pattern[str]:
    """The names that `replacing` gives to what it writes beside the file that `path` leads to."""
    name = os.path.basename(os.path.realpath(path))
    return re.compile(re.escape(name) + r"\.[1-9][0-9]{0,9}-[0-9a-f]{8}\.tmp\Z")


def make_folder(path: str, mode: int, *, sync: bool = True) -> bool:
    """There is a folder at `path`; True if this call made it: then, with `sync`, its name is on the disk."""
    if sync:
        return bool(make_folders([path], os.path.dirname(path) or ".", mode))
    try:
        calls.mkdir(path, mode & 0o777)
    except FileExistsError:
        return False
    except OSError as error:
        raise _failed("make the folder", path, error) from error
    if mode & 0o7070:
        try:
            os.chmod(path, mode)
        except OSError as error:
            raise _failed("make the folder", path, error) from error
    return True


def make_folders(paths: Iterable[str], parent: str, mode: int, *, unproven: bool = False) -> list[str]:
    """There is a folder at each of `paths`, which lie in `parent`; returns those that this call made.

    Their names are on the disk; with `unproven`, so are those of the others, whoever made them. Where that
    sync fails, the new ones are gone again: the next call would find them, and could not write their names.
    """
    made: list[str] = []
    try:
        for path in paths:
            if make_folder(path, mode, sync=False):
                made.append(path)
        if made or unproven:
            _sync(parent, os.O_RDONLY | os.O_DIRECTORY)
    except BaseException:
        for path in made:
            _remove_folder_quietly(path)
        raise
    return made


@contextmanager
def replacing(path: str | os.PathLike[str], *, sync: bool = True) -> Iterator[BinaryIO]:
    """After the block, the file holds what was written in it, all at once, with the mode it had.

    A symbolic link stays one: the file it leads to is replaced. On an exception nothing is changed.
    A device, a pipe or an open file (/dev/stdout) is not replaced: what was written is spooled, and
    appended there at the end.
    A crash leaves the old file or the new one; with `sync`, the new one once this has returned.
    """
    mode = _mode_of(os.fspath(path))
    if mode is not None and stat.S_ISDIR(mode):
        raise CastoreError(f"'{os.fspath(path)}' is a folder", file=os.fspath(path))
    target = os.path.realpath(path)
    if not is_replaceable(path):
        with _spooled() as spool:
            yield spool
            spool.seek(0)
            _copy_to(os.fspath(path), spool)
        return
    temporary = f"{target}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    try:
        descriptor = calls.open(
            temporary, _NEW_FILE & ~os.O_WRONLY | os.O_RDWR, 0o666 if mode is None else 0o600
        )
    except OSError as error:
        raise _failed("write", os.fspath(path), error) from error
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
            file.flush()
            if mode is not None:
                os.chmod(file.fileno(), stat.S_IMODE(mode))
            if sync:
                calls.fsync(file.fileno())
        calls.rename(temporary, target)
    except BaseException as error:
        _remove_quietly(temporary)
        if (
            isinstance(error, OSError)
            and error.errno in _WRITE_ERRORS
            and error.filename in (None, temporary)
        ):
            raise _failed("write", os.fspath(path), error) from error
        raise
    if sync:
        _sync(os.path.dirname(target), os.O_RDONLY | os.O_DIRECTORY)


def is_replaceable(path: str | os.PathLike[str]) -> bool:
    """Whether `replacing` leaves a file there: there is one, or nothing, and no device or open file."""
    mode = _mode_of(os.fspath(path))
    return mode is None or (stat.S_ISREG(mode) and not _OPEN_FILE.match(os.path.abspath(path)))


# --- Helpers ---------------------------------------------------------------------------------------


def _sync(path: str, flags: int) -> None:
    try:
        descriptor = calls.open(path, flags | os.O_CLOEXEC)
        try:
            calls.fsync(descriptor)
        finally:
            calls.close(descriptor)
    except OSError as error:
        raise _failed("sync", path, error) from error


def _sync_found(path: str) -> None:
    """Sync what a listing gave, if it is a file: a pipe would keep us waiting, a link lead us elsewhere.

    Others may remove it meanwhile, as a writer does what it staged: then there is nothing to sync.
    """
    try:
        if stat.S_ISREG(os.lstat(path).st_mode):
            _sync(path, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return
    except CastoreError as error:
        if not isinstance(error.__cause__, FileNotFoundError):
            raise


def _sync_file_system(near: str) -> bool:
    try:
        descriptor = calls.open(near, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            return calls.syncfs(descriptor)
        finally:
            calls.close(descriptor)
    except OSError as error:
        raise _failed("sync the file system of", near, error) from error


def _failed(act: str, path: str, error: OSError) -> CastoreError:
    return CastoreError(f"can't {act} '{path}': {error.strerror or error}", file=path, errno=error.errno)


def _remove_quietly(path: str) -> None:
    """Best effort: what stays behind is swept later, and the first error is the one to tell."""
    try:
        calls.unlink(path)
    except OSError:
        return


def _remove_folder_quietly(path: str) -> None:
    """As `_remove_quietly`, of an empty folder."""
    try:
        calls.rmdir(path)
    except OSError:
        return


def _mode_of(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _failed("write", path, error) from error


def _spooled() -> BufferedRandom:
    import tempfile

    return tempfile.TemporaryFile("w+b", buffering=_SPOOL_COPY_BYTES)  # type: ignore[return-value]


def _copy_to(path: str, spool: BinaryIO) -> None:
    try:
        descriptor = calls.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        with os.fdopen(descriptor, "wb", buffering=0) as device:
            while piece := spool.read(_SPOOL_COPY_BYTES):
                view = memoryview(piece)
                while view:
                    view = view[device.write(view) :]
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _failed("write", path, error) from error
