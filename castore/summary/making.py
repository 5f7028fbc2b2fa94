"""Of several processes that want one summary, one makes it, and the others wait.

Laws:
- One of those that are `alone` with a key is in such a block at a time, in whatever process or thread. When a
  maker ends in any way, SIGKILL included, the lock is free: somebody who waits is next.
- The lock is a file in the store's tmp/ that is taken away again; one that a killed maker left keeps nobody
  out, and gc sweeps it after a day. Whoever removes it at the wrong moment costs work, and nothing else:
  that a key has one entry is seen to in the transaction that writes it.
- Waiting can be interrupted at any moment.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from castore import durable
from castore.errors import CastoreError, StoreLocked

if TYPE_CHECKING:
    from castore.store import Store

__all__ = ["alone"]

_OPEN = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_POLL_SECONDS = 0.05


@contextmanager
def alone(
    store: Store,
    key: str,
    *,
    on_wait: Callable[[], None] | None = None,
    wait_seconds_max: float | None = None,
) -> Iterator[None]:
    """Nobody else is alone with this key in this store.

    on_wait: is called once, when somebody else is. wait_seconds_max: then StoreLocked; None: as long as it
    takes. Raises CastoreError where no file can be made in tmp/.
    """
    path = store.parts.layout.staged_file(f"summary-{key}.lock")
    is_shared = store.parts.modes.is_shared
    begun = time.monotonic()
    is_told = False
    while (descriptor := _locked(path, is_shared=is_shared)) is None:
        if not is_told and on_wait is not None:
            on_wait()
        is_told = True
        if wait_seconds_max is not None and time.monotonic() - begun > wait_seconds_max:
            words = f"another process has been making this summary for over {wait_seconds_max:g} s"
            raise StoreLocked(words, subject=key)
        time.sleep(_POLL_SECONDS)
    try:
        yield
    finally:
        try:
            # While it is locked: whoever waits finds that the path is not this file's any more.
            if _is_same(descriptor, path):
                durable.remove_leftover([path], [])
        finally:
            os.close(descriptor)


# --- Helpers ---------------------------------------------------------------------------------------


def _locked(path: str, *, is_shared: bool) -> int | None:
    """The lock's file, open and locked; None if another has it, or the path is another file's by now."""
    import fcntl

    descriptor = _opened(path, is_shared=is_shared)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise CastoreError(f"'{path}' is not a regular file", file=path)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_same(descriptor, path):
            return descriptor
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError as error:
        os.close(descriptor)
        raise _failed(path, error) from error
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def _opened(path: str, *, is_shared: bool) -> int:
    mode = 0o660 if is_shared else 0o600
    try:
        descriptor = os.open(path, _OPEN, mode)
    except OSError as error:
        raise _failed(path, error) from error
    try:
        found = os.fstat(descriptor)
        if is_shared and found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) != mode:
            # The umask took what the others of the group need.
            os.fchmod(descriptor, mode)
    except OSError as error:
        os.close(descriptor)
        raise _failed(path, error) from error
    return descriptor


def _is_same(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False


def _failed(path: str, error: OSError) -> CastoreError:
    return CastoreError(f"can't lock '{path}': {error.strerror or error}", file=path, errno=error.errno)
