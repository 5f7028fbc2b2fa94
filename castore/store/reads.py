"""When an object was last read, whole or in part, or a root used by its key, and how many bytes came back:
`reads`.

Laws:
- A note is best effort; of a read it is to the day. Whoever reads takes no lock for it, waits for nobody and
  syncs nothing; where the file can't be written, because the store is read-only say, nothing is noted and the
  read is as good. Deleting the file, or a part of it, loses no object and no root.
- A note says in which scope the reader was, and is told to those who see that scope: to see an object does
  not show that another scope reads it.
- The file has READS_BYTES_MAX bytes at most, and what one process appends at once. Whoever finds it longer
  makes the notes of one object, by one reader, into one, and then the oldest into one for all objects: no
  sum changes. Notes that others make in that moment may be lost.

A line is `DAY READER DIGEST TIMES BYTES`: a UTC date, the reader's scope or grant, 64 hex digits (an
object's, or a folded document's that was unfolded whole; `-`: of many), how often it was read, and the bytes
that came back in all. Ranges of an object that are read to answer one question are one read; a line may have
bytes of a read that another one counts. With a UTC time in place of the date it tells of uses, and has the
key of a root for the digest: those count as no reads. A line of another form, as a crash may leave at the
end, is skipped.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import UTC, datetime
from threading import Lock
from typing import NamedTuple

from castore import durable
from castore.config import READS_BYTES_MAX, READS_HELD_MAX, READS_HELD_SECONDS_MAX
from castore.digest import Digest
from castore.errors import CastoreError
from castore.layout import Layout
from castore.objects.loose import Modes

__all__ = ["OTHERS", "Read", "ReadCount", "ReadLog", "Use", "noted", "uses"]

OTHERS = "-"
"""Stands for the objects that have no line of their own."""

_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_TIME = "%Y-%m-%dT%H:%M:%S.%fZ"
_DAY_CHARACTERS = len("2026-11-30")
_LINE = (
    rb"^(\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d\.\d{6}Z)?)"
    rb" ([a-z0-9*][a-z0-9*._/-]{0,519}) ([0-9a-f]{64}|-) (\d{1,15}) (\d{1,15})\n"
)
_COUNT_MAX = 10**15 - 1
"""What a line holds at most."""


class Read(NamedTuple):
    """day: the last one, a UTC date (of uses: a UTC time). times: how many. bytes: of all of them."""

    day: str
    times: int
    bytes: int


class Use(NamedTuple):
    """Of a root by its key. times: how often. last: unix seconds. bytes: of all these times."""

    times: int
    last: float
    bytes: int


class ReadCount:
    """What was read: how often and how many bytes, by object. Safe from several threads.

    READS_HELD_MAX objects are told apart; those after them are counted together.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._times: dict[str, int] = {}
        self._bytes: dict[str, int] = {}

    def __bool__(self) -> bool:
        return bool(self._times)

    @property
    def is_full(self) -> bool:
        return len(self._times) >= READS_HELD_MAX

    def add(self, hex_digits: str, size: int, times: int = 1) -> None:
        """These bytes were read. hex_digits: OTHERS, for objects that are not told apart."""
        with self._lock:
            before = self._times.get(hex_digits, 0)
            if not before and len(self._times) >= READS_HELD_MAX:
                hex_digits = OTHERS
                before = self._times.get(OTHERS, 0)
            self._times[hex_digits] = before + times
            self._bytes[hex_digits] = self._bytes.get(hex_digits, 0) + size

    def take(self) -> list[tuple[str, int, int]]:
        """Digest, times and bytes of each; none of them is counted any more."""
        with self._lock:
            taken = [(each, times, self._bytes[each]) for each, times in self._times.items()]
            self._times, self._bytes = {}, {}
        return taken


class ReadLog:
    """The notes of one open store: held in memory, and appended when it is closed, or after a minute.

    reader: says the reader's scope or grant, when there is something to note.
    """

    def __init__(
        self, layout: Layout, modes: Modes, clock: Callable[[], float], reader: Callable[[], str]
    ) -> None:
        self._layout = layout
        self._modes = modes
        self._clock = clock
        self._reader = reader
        self._count = ReadCount()
        self._uses: dict[str, Use] = {}
        self._lock = Lock()
        self._held_since: float | None = None

    def note(self, digest: Digest, size: int, times: int = 1) -> None:
        """The object was read, or the document unfolded, and `size` bytes came back. times: 0 for more of the
        read that was noted before."""
        self._add(digest.hex, size, times)

    def note_all(self, read: ReadCount, document: Digest | None) -> None:
        """All of these objects were read. document: they are all that this one names; one line says so."""
        taken = read.take()
        if document is not None and taken:
            self._add(document.hex, sum(size for _, _, size in taken), 1)
            return
        for hex_digits, times, size in taken:
            self._add(hex_digits, size, times)

    def note_use(self, key: str, size: int) -> None:
        """The root with this key was used now, and `size` bytes came back. Counts as no read of an object."""
        now = self._clock()
        with self._lock:
            before = self._uses.get(key, Use(0, now, 0))
            self._uses[key] = Use(before.times + 1, max(before.last, now), before.bytes + size)
        self._held(now)

    def flush(self) -> None:
        """What was noted is in the file, if it can be written."""
        self._held_since = None
        with self._lock:
            used, self._uses = self._uses, {}
        if not self._count and not used:
            return
        try:
            self._append(self._count.take(), used)
        except (OSError, CastoreError):
            # Whoever reads has what it wanted; that nobody is told of it is no reason to fail.
            return

    # --- Helpers ---

    def _add(self, hex_digits: str, size: int, times: int) -> None:
        self._count.add(hex_digits, size, times)
        self._held(self._clock())

    def _held(self, now: float) -> None:
        if self._held_since is None:
            self._held_since = now
        is_full = self._count.is_full or len(self._uses) >= READS_HELD_MAX
        if is_full or now - self._held_since > READS_HELD_SECONDS_MAX:
            self.flush()

    def _append(self, taken: list[tuple[str, int, int]], used: dict[str, Use]) -> None:
        """One write: what several processes append does not mix."""
        day = time.strftime("%Y-%m-%d", time.gmtime(self._clock()))
        reader = self._reader()
        noted = [(hex_digits, Read(day, times, size)) for hex_digits, times, size in taken]
        noted += [(key, Read(_time_text(use.last), use.times, use.bytes)) for key, use in used.items()]
        text = b"".join(_line(reader, digest, read) for digest, read in noted)
        descriptor = self._opened()
        try:
            found = os.fstat(descriptor)
            # A planted pipe or device, or a second name of somebody's file, is not for us to write to.
            if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
                return
            os.write(descriptor, text)
        finally:
            os.close(descriptor)
        if found.st_size + len(text) > READS_BYTES_MAX:
            _compact(self._layout, self._mode)

    @property
    def _mode(self) -> int:
        return 0o660 if self._modes.is_shared else 0o600

    def _opened(self) -> int:
        path = self._layout.reads
        try:
            return os.open(path, _APPEND)
        except FileNotFoundError:
            descriptor = os.open(path, _APPEND | os.O_CREAT, self._mode)
            if self._modes.is_shared:
                os.fchmod(descriptor, self._mode)
            return descriptor


def noted(layout: Layout, is_told: Callable[[str], bool]) -> dict[str, Read]:
    """By digest, in hex (or OTHERS), what was read by the readers that the caller is told of."""
    return _merged((line for line in _lines(_file(layout)) if not _is_use(line[0])), is_told)


def uses(layout: Layout, is_told: Callable[[str], bool], keys: Collection[str]) -> dict[str, Use]:
    """Of these keys those that were used by readers that the caller is told of, and how."""
    lines = (line for line in _lines(_file(layout)) if line[2] in keys and _is_use(line[0]))
    return {
        key: Use(read.times, datetime.fromisoformat(read.day).timestamp(), read.bytes)
        for key, read in _merged(lines, is_told).items()
    }


# --- Helpers ---------------------------------------------------------------------------------------


def _file(layout: Layout) -> bytes:
    """Its content; nothing where it is not there, or not for us: then nothing is known, as ever may be."""
    try:
        descriptor = os.open(layout.reads, _READ)
    except OSError:
        return b""
    try:
        return _content(descriptor)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _content(descriptor: int) -> bytes:
    """The end of the file, which is the newest; nothing of what is no file of its own."""
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        return b""
    start = max(0, found.st_size - 2 * READS_BYTES_MAX)
    pieces = []
    while piece := os.pread(descriptor, min(1 << 20, found.st_size - start), start):
        pieces.append(piece)
        start += len(piece)
    return b"".join(pieces)


def _lines(data: bytes) -> Iterator[tuple[str, str, str, int, int]]:
    """Day (or time), reader, digest, times and bytes of each line."""
    import re

    for day, reader, digest, count, size in re.findall(_LINE, data, re.MULTILINE):
        if not _is_use(day) or _is_time(day.decode()):
            yield day.decode(), reader.decode(), digest.decode(), int(count), int(size)


def _is_use(day: str | bytes) -> bool:
    return len(day) > _DAY_CHARACTERS


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _time_text(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime(_TIME)


def _merged(
    lines: Iterable[tuple[str, str, str, int, int]], is_told: Callable[[str], bool]
) -> dict[str, Read]:
    told: dict[str, bool] = {}
    found: dict[str, Read] = {}
    for day, reader, digest, count, size in lines:
        if reader not in told:
            told[reader] = is_told(reader)
        if told[reader]:
            found[digest] = _sum(found.get(digest), Read(day, count, size))
    return found


def _sum(one: Read | None, other: Read) -> Read:
    if one is None:
        return other
    return Read(
        max(one.day, other.day),
        min(one.times + other.times, _COUNT_MAX),
        min(one.bytes + other.bytes, _COUNT_MAX),
    )


def _compact(layout: Layout, mode: int) -> None:
    """The file has half of its limit at most, and the same sums. Raises CastoreError, OSError.

    Not synced: after a power loss it may be empty. Of two that compact it at once one does; what others
    append while it is replaced goes with the old file.
    """
    import fcntl

    descriptor = os.open(layout.reads, _READ)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.fstat(descriptor), os.lstat(layout.reads)):
            return
        data = _content(descriptor)
        staged = layout.staged_file(f"reads-{os.getpid()}-{os.urandom(6).hex()}")
        durable.write_new(staged, [_compacted(data, READS_BYTES_MAX // 2)], mode)
        try:
            os.chmod(staged, mode)
            durable.rename(staged, layout.reads)
        except BaseException:
            durable.remove(staged)
            raise
    finally:
        os.close(descriptor)


def _compacted(data: bytes, length_max: int) -> bytes:
    """The same sums in `length_max` bytes at most: one line for each object and reader, and for each key and
    reader, the newest ones."""
    found: dict[tuple[str, str, bool], Read] = {}
    for day, reader, digest, count, size in _lines(data):
        which = (reader, digest, _is_use(day))
        found[which] = _sum(found.get(which), Read(day, count, size))
    newest = sorted(found.items(), key=lambda item: (item[1].day, item[0]), reverse=True)
    kept: list[bytes] = []
    rest: dict[tuple[str, bool], Read] = {}
    length = 0
    for (reader, digest, is_use), read in newest:
        line = _line(reader, digest, read)
        if digest == OTHERS or length + len(line) > length_max:
            rest[reader, is_use] = _sum(rest.get((reader, is_use)), read)
        else:
            kept.append(line)
            length += len(line)
    return b"".join([*(_line(reader, OTHERS, read) for (reader, _), read in rest.items()), *kept])


def _line(reader: str, digest: str, read: Read) -> bytes:
    times, size = min(read.times, _COUNT_MAX), min(read.bytes, _COUNT_MAX)
    return f"{read.day} {reader} {digest} {times} {size}\n".encode("ascii")
