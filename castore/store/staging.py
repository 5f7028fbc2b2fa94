"""Stage many files at once, in several processes where that is faster.

Law: what is returned is what `stage` would return for each file, in the same order; a file that can't be
read gives its error in its place. For thousands of small files the interpreter is what costs, so a share
of them goes to forked processes, which encode into tmp/ and send back digests and paths. If one of them
dies, its files are staged here.
"""

from __future__ import annotations

import marshal
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from castore.config import FRAME_BYTES, STAGING_PROCESSES_MAX
from castore.cores import core_count, exit_status, may_fork
from castore.digest import Digest
from castore.errors import CastoreError
from castore.objects.database import Look, ObjectCheck, ObjectDatabase, Staged
from castore.objects.frames import FrameFacts
from castore.objects.loose import LooseSource
from castore.objects.source import Frames

__all__ = ["stage_files"]

_SHARE_FILES_MIN = 128
"""With fewer files than this for each process, another one costs more than it saves."""

_READ = os.O_RDONLY | os.O_CLOEXEC

Keep = Callable[[Staged], Staged]


def stage_files(
    database: ObjectDatabase, source: LooseSource, paths: list[str], keep: Keep, look: Look
) -> list[Staged | OSError]:
    """The bytes of each file are staged and given to `keep`; or why it could not be read.

    look: as for `ObjectDatabase.stage`; it is also asked in forked processes, so it may use no index.
    """
    processes = _processes(len(paths))
    share = max(1, -(-len(paths) // processes))
    shares = [paths[start : start + share] for start in range(0, len(paths), share)]
    hold = processes == 1
    children: list[_Child] = []
    try:
        for each in shares[1:]:
            children.append(_Child(database, source, each, look))
        results = (
            [_keep(_stage_file(database, path, look, hold=hold), keep) for path in shares[0]] if paths else []
        )
        for each, child in zip(shares[1:], children, strict=True):
            received = child.results()
            if received is None:
                received = [_stage_file(database, path, look, hold=hold) for path in each]
            results += [_keep(one, keep) for one in received]
    except BaseException:
        for child in children:
            child.stop()
        raise
    return results


class _Child:
    """A forked process that stages some files; `results` waits for it."""

    def __init__(self, database: ObjectDatabase, source: LooseSource, paths: list[str], look: Look) -> None:
        self._source = source
        self._name = source.name_for_child()
        self._read, write = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            _run_child(database, source, self._name, paths, look, write)
        os.close(write)

    def results(self) -> list[Staged | OSError] | None:
        """What it staged; None if it failed, and then nothing of it is left."""
        with os.fdopen(self._read, "rb") as pipe:
            data = pipe.read()
        self._read = -1
        status = exit_status(self._pid, data)
        self._pid = 0
        if status != 0:
            self._source.drop_child(self._name)
            return None
        return [_received(record) for record in marshal.loads(data)]

    def stop(self) -> None:
        """It has ended, and what it staged and did not hand over is gone."""
        if self._read >= 0:
            os.close(self._read)
        if self._pid:
            import signal

            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(self._pid, signal.SIGKILL)
                os.waitpid(self._pid, 0)
            self._source.drop_child(self._name)


def _run_child(
    database: ObjectDatabase, source: LooseSource, name: str, paths: list[str], look: Look, write: int
) -> None:
    """Never returns: the process ends without running what the parent has set up to run at its own end."""
    status = 1
    try:
        source.become_child(name)
        records = [_record(_stage_file(database, path, look, hold=False)) for path in paths]
        with os.fdopen(write, "wb") as pipe:
            marshal.dump(records, pipe)
        status = 0
    except (CastoreError, OSError, KeyboardInterrupt, MemoryError):
        # The parent stages these files again, meets the same error, and tells it.
        status = 1
    finally:
        os._exit(status)


def _record(result: Staged | OSError) -> tuple[Any, ...]:
    if isinstance(result, OSError):
        return (result.errno, result.strerror, result.filename)
    found = result.found
    return (
        result.digest.hex,
        result.size,
        result.file_sha256,
        result.frames.path,
        result.frames.stored_bytes,
        None if found is None else (found.size, found.stored_bytes, found.file_sha256, found.stamp),
        [tuple(each) for each in result.facts],
    )


def _received(record: tuple[Any, ...]) -> Staged | OSError:
    if len(record) == 3:
        return OSError(*record)
    hex_digits, size, file_sha256, path, stored_bytes, found, facts = record
    digest = Digest(hex_digits)
    staged = Staged(digest, size, file_sha256, Frames(None, path, stored_bytes))
    staged.facts = tuple(FrameFacts(*each) for each in facts)
    if found is not None:
        staged.found = ObjectCheck(digest, *found)
        staged.is_new = False
    return staged


def _keep(result: Staged | OSError, keep: Keep) -> Staged | OSError:
    return result if isinstance(result, OSError) else keep(result)


def _processes(count: int) -> int:
    if count < 2 * _SHARE_FILES_MIN or not may_fork():
        return 1
    return min(core_count(), STAGING_PROCESSES_MAX, count // _SHARE_FILES_MIN)


def _stage_file(database: ObjectDatabase, path: str, look: Look, *, hold: bool) -> Staged | OSError:
    try:
        descriptor = os.open(path, _READ)
    except OSError as error:
        return error
    try:
        data = os.read(descriptor, FRAME_BYTES)
        more = os.read(descriptor, FRAME_BYTES) if data else b""
        if not more:
            return database.stage(data, hold=hold, look=look)
        return database.stage_chunks(_pieces(descriptor, data, more), look=look)
    except OSError as error:
        return OSError(error.errno, error.strerror, path)
    finally:
        os.close(descriptor)


def _pieces(descriptor: int, *begun: bytes) -> Iterator[bytes]:
    yield from begun
    while piece := os.read(descriptor, FRAME_BYTES):
        yield piece
