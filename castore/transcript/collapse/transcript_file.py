"""A transcript in a file of JSON lines, to which entries of ours are appended beside a harness's own.

Laws:
- What is appended stands in whole lines, in order, on the disk, and behind a line feed: what a killed writer
  left is a line of its own, which is no JSON and is passed over.
- One appender of ours is in `alone` at a time. The harness is not held up by it, and need not be: it appends
  whole lines too.
- Nothing else in the file is changed, and nothing is made beside it.
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, BinaryIO

from castore import durable
from castore.config import LOCK_TIMEOUT_SECONDS
from castore.errors import CastoreError, StoreLocked
from castore.transcript.collapse.entries import CUSTOM_TYPE, EntryLog, is_entry

__all__ = ["TranscriptFile"]

_SIGN = b"collapse-"
"""In every entry of ours, however its JSON is spelt by others."""

_REMEMBERED_BYTES = 256
"""Of what was read last: should they differ, the file was rewritten, and is read anew."""

_HEAD_BYTES_MAX = 1 << 16
_BLOCK_BYTES = 1 << 16
_POLL_SECONDS = 0.01
_ID_HEX = 16


class TranscriptFile:
    """The entries of a transcript file, and a way to append some. path: of the file.

    In a session of Pi, whose loader makes a chain of all lines, each entry is one of Pi's own, of type
    `custom`, behind the latest line; in any other file it stands as it is.
    clock: unix seconds, for the timestamps of such entries.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        timeout_seconds: float = LOCK_TIMEOUT_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.path = os.path.abspath(path)
        self._timeout_seconds = timeout_seconds
        self._clock = clock
        self._entries: list[Any] = []
        self._offset = 0
        self._inode = 0
        self._remembered = b""

    def log(self, session: str) -> EntryLog:
        """The collapse log of a session in this file."""
        return EntryLog(session, self.append, self.entries, self.alone)

    def entries(self) -> list[Any]:
        """Those lines that may be entries of a collapse log, in order; none where there is no file.

        What was appended since the last call is read, or all if the file was rewritten. Raises CastoreError.
        """
        try:
            with _opened(self.path) as file:
                return self._read(file)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _failed("read", self.path, error) from error

    def append(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """The entries are the last lines of the file, on the disk. Raises CastoreError, also where there is
        no file: it is the harness's to make."""
        try:
            with _opened(self.path) as file:
                form = _Form.of(file)
        except OSError as error:
            raise _failed("write", self.path, error) from error
        now = datetime.fromtimestamp(self._clock(), UTC).isoformat(timespec="milliseconds")
        lines = [form.entry(entry, now.replace("+00:00", "Z")) for entry in entries]
        text = "".join(json.dumps(line, ensure_ascii=True, separators=(",", ":")) + "\n" for line in lines)
        durable.append(self.path, text.encode("ascii"))

    @contextmanager
    def alone(self) -> Iterator[None]:
        """No other TranscriptFile of this file is in such a block. Raises StoreLocked after the timeout."""
        deadline = time.monotonic() + self._timeout_seconds
        while (locked := self._locked()) is None:
            if time.monotonic() > deadline:
                words = f"'{self.path}' is locked for over {self._timeout_seconds:g} s"
                raise StoreLocked(words, file=self.path)
            time.sleep(_POLL_SECONDS)
        with locked:
            yield

    # --- Helpers ---

    def _locked(self) -> BinaryIO | None:
        """The file, locked until it is closed; None if another has the lock, or the path is another file's by
        now, as a harness may have put one in its place."""
        import fcntl

        try:
            file = _opened(self.path)
        except OSError as error:
            raise _failed("lock", self.path, error) from error
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(file.fileno()), os.stat(self.path)):
                return file
        except (BlockingIOError, FileNotFoundError):
            file.close()
            return None
        except BaseException:
            file.close()
            raise
        file.close()
        return None

    def _read(self, file: BinaryIO) -> list[Any]:
        inode = os.fstat(file.fileno()).st_ino
        file.seek(self._offset - len(self._remembered))
        if inode != self._inode or file.read(len(self._remembered)) != self._remembered:
            self._entries, self._offset, self._inode, self._remembered = [], 0, inode, b""
            file.seek(0)
        unfinished: list[Any] = []
        for line in file:
            found = [each for each in _parsed(line) if is_entry(each)] if _SIGN in line else []
            if not line.endswith(b"\n"):
                # It may be whole, or half of what somebody writes just now: it is read again.
                unfinished = found
                break
            self._entries += found
            self._offset += len(line)
            self._remembered = (self._remembered + line[-_REMEMBERED_BYTES:])[-_REMEMBERED_BYTES:]
        return [*self._entries, *unfinished]


class _Form:
    """How an entry stands in a file. is_pi: in one of Pi's own; has_ids: which has an id; parent: that of the
    latest line."""

    def __init__(self, is_pi: bool, has_ids: bool = False, parent: str | None = None) -> None:
        self._is_pi = is_pi
        self._has_ids = has_ids
        self._parent = parent

    @classmethod
    def of(cls, file: BinaryIO) -> _Form:
        head = _parsed(file.readline(_HEAD_BYTES_MAX))
        header = head[0] if head else None
        if not isinstance(header, dict) or header.get("type") != "session":
            return cls(False)
        # The first version has no ids; Pi gives them to all lines when it loads such a file.
        has_ids = header.get("version", 1) != 1
        return cls(True, has_ids, _latest_id(file) if has_ids else None)

    def entry(self, entry: Mapping[str, Any], timestamp: str) -> Mapping[str, Any]:
        if not self._is_pi:
            return entry
        line = {"type": "custom", "customType": CUSTOM_TYPE, "data": entry, "timestamp": timestamp}
        if not self._has_ids:
            return line
        id = sha256(f"{self._parent} {entry.get('check')}".encode()).hexdigest()[:_ID_HEX]
        parent, self._parent = self._parent, id
        return {**line, "id": id, "parentId": parent}


def _latest_id(file: BinaryIO) -> str | None:
    """The id of the latest line that has one; None if only the header is there."""
    for line in _lines_backwards(file):
        for found in _parsed(line):
            if not isinstance(found, dict) or found.get("type") == "session":
                continue
            # What says which line is the latest one may be a line itself.
            id = found.get("targetId" if found.get("type") == "leaf" else "id")
            if isinstance(id, str):
                return id
    return None


def _lines_backwards(file: BinaryIO) -> Iterator[bytes]:
    """The lines of the file, the last one first."""
    end = file.seek(0, os.SEEK_END)
    size = _BLOCK_BYTES
    while end > 0:
        start = max(end - size, 0)
        file.seek(start)
        block = file.read(end - start)
        cut = block.find(b"\n") if start > 0 else -1
        if start > 0 and cut < 0:
            size *= 2  # A line is longer than that.
            continue
        yield from reversed(block[cut + 1 :].split(b"\n"))
        end, size = start + max(cut, 0) if start > 0 else 0, _BLOCK_BYTES


def _opened(path: str) -> BinaryIO:
    """The regular file, for reading: a pipe could keep us waiting. Raises OSError, CastoreError."""
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise CastoreError(f"'{path}' is not a regular file", file=path)
    return file


def _parsed(line: bytes) -> list[Any]:
    """The JSON value of a line, if it is one."""
    try:
        return [json.loads(line)]
    except (ValueError, RecursionError):
        return []


def _failed(act: str, path: str, error: OSError) -> CastoreError:
    return CastoreError(f"can't {act} '{path}': {error.strerror or error}", file=path, errno=error.errno)
