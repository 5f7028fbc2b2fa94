"""Connections to the index, and the write transaction that is the lock between put and sweep.

Laws:
- `writing` runs alone: no other writer or sweep of this store is inside it at the same time. What it
  wrote is on the disk when the block has ended (WAL, synchronous FULL), or nothing of it is.
- An index that is absent, damaged or of another schema is made anew by the next write; one of a newer
  schema is refused. The file is only ever replaced while no writer is inside `writing`: writers hold a
  shared lock on the folder `objects/`, and the replacer an exclusive one. (A lock on the index itself
  would be lost with the file.)
- `reading` takes no lock, waits for nobody, and is None where there is no index that can be trusted.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from urllib.parse import quote

from castore import durable
from castore.config import LOCK_TIMEOUT_SECONDS, ROOT_BYTES_MAX
from castore.errors import CastoreError, IndexDamaged, StoreLocked, UnknownStoreFormat
from castore.index.schema import APPLICATION_ID, FINGERPRINT, SCHEMA, SCHEMA_VERSION
from castore.layout import Layout

__all__ = ["IndexFile", "IndexUnreadable"]

IndexUnreadable = (sqlite3.DatabaseError, ValueError)
"""What a damaged index raises while it is read: read the files then."""

_Broken = (sqlite3.DatabaseError, UnicodeDecodeError)
"""What SQLite says of a broken file. Its words may quote bytes that are no text, which Python can't take."""

_ENDINGS = ("", "-wal", "-shm", "-journal")
"""Of the index's name: of itself, and of what SQLite keeps beside it."""

_LOCK_POLL_SECONDS = 0.005

_ERROR_NUMBERS = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    # The shared memory is a file of 32 kB: what fails is making room for it.
    sqlite3.SQLITE_IOERR_SHMSIZE: errno.ENOSPC,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_IOERR: errno.EIO,
}
"""What an error of SQLite's is, told as one of the system's."""


class IndexFile:
    """The index of one store folder. Not for several threads at once."""

    def __init__(self, layout: Layout, *, mode: int, timeout_seconds: float = LOCK_TIMEOUT_SECONDS) -> None:
        self._layout = layout
        self._mode = mode
        self._timeout_seconds = timeout_seconds
        self._writer: sqlite3.Connection | None = None
        self._reader: sqlite3.Connection | None = None
        self._inode = 0
        self.notes: list[str] = []

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, alone. Raises StoreLocked, IndexDamaged, UnknownStoreFormat.

        If the block raises, the index is as it was.
        """
        deadline = time.monotonic() + self._timeout_seconds
        lock = self._lock(exclusive=False, deadline=deadline)
        is_damaged = False
        try:
            while (connection := self._begin()) is None:
                self._unlock(lock)
                lock = self._lock(exclusive=True, deadline=deadline)
                self._make_anew()
                self._unlock(lock)
                lock = self._lock(exclusive=False, deadline=deadline)
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException as error:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                if isinstance(error, (sqlite3.Error, UnicodeDecodeError)):
                    failure = self._failed(error)
                    is_damaged = isinstance(failure, IndexDamaged)
                    raise failure from error
                raise
        finally:
            self._unlock(lock)
            if is_damaged:
                self._discard(deadline)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """No writer is inside `writing`, and none gets in, until the block has ended. Raises StoreLocked."""
        self.close()
        lock = self._lock(exclusive=True, deadline=time.monotonic() + self._timeout_seconds)
        try:
            yield
        finally:
            self._unlock(lock)

    def remove(self, why: str) -> None:
        """There is no index; the next write makes it anew. Called inside `alone`. why: becomes a note."""
        self._remove(why)

    def discard_unsound(self) -> None:
        """An index that contradicts itself is gone, so that the next write makes it anew.

        For whoever is about to remove what the index says is not kept. Reads the whole index.
        """
        connection = self.reading()
        if connection is None:
            return
        try:
            found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
        except _Broken as error:
            if _is_busy(error):
                raise self._failed(error) from error
            found = str(error)
        if found != "ok":
            self._discard(time.monotonic() + self._timeout_seconds)

    def reading(self) -> sqlite3.Connection | None:
        """A connection for reading, or None if the index is absent, incomplete, damaged or not ours."""
        if self._writer is not None:
            return self._writer
        if self._reader is None:
            self._reader = self._open_reader()
        return self._reader

    def problem(self) -> str | None:
        """What is wrong with the index that is there, in words; None if nothing is. Changes nothing."""
        if not _is_plain(self._layout.index):
            return "the index, or a file beside it, is no file of its own"
        try:
            with closing(self._connect_for_reading()) as connection:
                version = connection.execute("PRAGMA user_version").fetchone()[0]
                if version > SCHEMA_VERSION:
                    return "the index was written by a newer castore"
                found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
                return None if found == "ok" else f"the index is damaged ({found})"
        except _Broken as error:
            if isinstance(error, sqlite3.Error) and (_is_busy(error) or _is_unopenable(error)):
                return None
            return f"the index is damaged ({error})"

    def close(self) -> None:
        for connection in (self._writer, self._reader):
            if connection is not None:
                connection.close()
        self._writer = self._reader = None

    def __del__(self) -> None:
        self.close()

    # --- Helpers ---

    def _begin(self) -> sqlite3.Connection | None:
        """A connection inside its transaction, to the file that has the index's name; None: make it anew."""
        while True:
            connection = self._writer
            try:
                if connection is None:
                    connection = self._open_writer()
                    if connection is None:
                        return None
                connection.execute("BEGIN IMMEDIATE")
                if self._is_current(connection):
                    return connection
                connection.execute("ROLLBACK")
            except sqlite3.OperationalError as error:
                if _is_busy(error):
                    raise StoreLocked(f"the store is locked for over {self._timeout_seconds:g} s") from error
                raise self._failed(error) from error
            except _Broken:
                # Not a database, or a broken one. It holds nothing that can't be derived.
                self.close()
                return None
            self.close()

    def _open_writer(self) -> sqlite3.Connection | None:
        try:
            self._inode = os.lstat(self._layout.index).st_ino
        except FileNotFoundError:
            return None
        if not _is_plain(self._layout.index):
            return None
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        self._writer = connection = sqlite3.connect(
            _uri(self._layout.index, "mode=rw"),
            uri=True,
            timeout=self._timeout_seconds,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=64,
        )
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > SCHEMA_VERSION:
            self.close()
            raise UnknownStoreFormat(f"the index '{self._layout.index}' was written by a newer castore")
        connection.execute("PRAGMA synchronous=FULL")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, ROOT_BYTES_MAX)
        if not _is_ours(connection, version):
            self.close()
            return None
        return connection

    def _is_current(self, connection: sqlite3.Connection) -> bool:
        """Checked inside the transaction: a file that was replaced meanwhile locks nobody out."""
        try:
            return os.lstat(self._layout.index).st_ino == self._inode
        except FileNotFoundError:
            return False

    def _make_anew(self) -> None:
        """There is an empty index of our schema. Called under the exclusive lock."""
        path = self._layout.index
        try:
            if self._open_writer() is not None:
                return
        except _Broken:
            self.close()
        if os.path.lexists(path):
            self._remove()
        for ending in _ENDINGS[1:]:
            durable.remove(path + ending)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, self._mode))
        os.chmod(path, self._mode)
        try:
            connection = sqlite3.connect(path, isolation_level=None, timeout=self._timeout_seconds)
            try:
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("BEGIN")
                for statement in SCHEMA:
                    connection.execute(statement)
                connection.execute(
                    "INSERT INTO facts VALUES ('fingerprint', ?), ('complete', 0)", (FINGERPRINT,)
                )
                connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
                connection.execute("COMMIT")
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise self._failed(error) from error

    def _discard(self, deadline: float) -> None:
        """There is no index. It is derived, and what it said can't be trusted."""
        self.close()
        lock = self._lock(exclusive=True, deadline=deadline)
        try:
            self._remove()
        finally:
            self._unlock(lock)

    def _remove(self, why: str = "the index was not usable and is built anew") -> None:
        self.notes.append(why)
        for ending in _ENDINGS:
            durable.remove(self._layout.index + ending)

    def _open_reader(self) -> sqlite3.Connection | None:
        path = self._layout.index
        if not os.path.lexists(path) or not _is_plain(path):
            return None
        connection = None
        try:
            connection = self._connect_for_reading()
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if _is_ours(connection, version) and _is_complete(connection):
                return connection
        except (sqlite3.Error, UnicodeDecodeError):
            # Derived facts that can't be read are as good as none: the files are read instead.
            pass
        if connection is not None:
            connection.close()
        return None

    def _connect_for_reading(self) -> sqlite3.Connection:
        path = self._layout.index
        options = "mode=ro"
        if not os.access(self._layout.folder, os.W_OK):
            # An ordinary open of a WAL database must write beside it. Without a WAL it can't change.
            if os.path.exists(path + "-wal") and os.path.getsize(path + "-wal"):
                raise sqlite3.OperationalError("the index has a WAL, and the folder can't be written")
            options += "&immutable=1"
        connection = sqlite3.connect(
            _uri(path, options), uri=True, timeout=1.0, isolation_level=None, check_same_thread=False
        )
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, ROOT_BYTES_MAX)
        return connection

    def _lock(self, *, exclusive: bool, deadline: float) -> int:
        """An open descriptor of objects/ that holds the lock. Raises StoreLocked after the deadline."""
        import fcntl

        try:
            descriptor = os.open(self._layout.objects, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise CastoreError(f"can't open '{self._layout.objects}': {error.strerror}") from error
        how = (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB
        while True:
            try:
                fcntl.flock(descriptor, how)
                return descriptor
            except BlockingIOError:
                if time.monotonic() > deadline:
                    os.close(descriptor)
                    raise StoreLocked(f"the store is locked for over {self._timeout_seconds:g} s") from None
                time.sleep(_LOCK_POLL_SECONDS)

    @staticmethod
    def _unlock(lock: int) -> None:
        os.close(lock)

    def _failed(self, error: sqlite3.Error | UnicodeDecodeError) -> CastoreError:
        if _is_busy(error):
            return StoreLocked(f"the store is locked for over {self._timeout_seconds:g} s")
        unread = sqlite3.SQLITE_CORRUPT if isinstance(error, UnicodeDecodeError) else 0
        code = getattr(error, "sqlite_errorcode", unread) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_TOOBIG):
            return IndexDamaged(
                f"the index '{self._layout.index}' is damaged: {error}",
                hint="it is derived, and was removed: run this again, and it is built anew",
            )
        number = _ERROR_NUMBERS.get(getattr(error, "sqlite_errorcode", 0)) or _ERROR_NUMBERS.get(code)
        if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR):
            # What SQLite does not say.
            number = durable.why_unwritable(self._layout.folder) or number
        words = str(error) if number is None else os.strerror(number)
        return CastoreError(
            f"can't write the index '{self._layout.index}': {words}", file=self._layout.index, errno=number
        )


def _uri(path: str, options: str) -> str:
    return f"file:{quote(path)}?{options}"


def _is_busy(error: Exception) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _is_unopenable(error: sqlite3.Error) -> bool:
    """A read-only folder or a full disk, say: then nothing can be told of the index, nor is it damaged."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None or code in (sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_SHMOPEN):
        return True
    return code & 0xFF in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL)


def _is_plain(path: str) -> bool:
    """The index and what SQLite keeps beside it, as far as they are there, are files with one name.

    A link would have SQLite write into somebody's file, and a pipe would have it wait. A second name, as a
    copy by hard links has, would share the pages and not the log.
    """
    for ending in _ENDINGS:
        try:
            found = os.lstat(path + ending)
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
            return False
    return True


def _is_ours(connection: sqlite3.Connection, version: int) -> bool:
    """It has our tables, and nothing else: a view or a trigger could make any statement do anything."""
    if version != SCHEMA_VERSION:
        return False
    statements = connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL LIMIT 100")
    if sorted(str(row[0]) for row in statements) != sorted(SCHEMA):
        return False
    row = connection.execute("SELECT value FROM facts WHERE name='fingerprint'").fetchone()
    return row is not None and row[0] == FINGERPRINT


def _is_complete(connection: sqlite3.Connection) -> bool:
    row = connection.execute("SELECT value FROM facts WHERE name='complete'").fetchone()
    return row is not None and row[0] == 1
