"""Loose objects: one file an object, `objects/ab/<64 hex>`, read-only.

Law: a file under `objects/` was written whole elsewhere, synced, and then renamed to its place; the
folder is synced before `publish` returns. After a crash it is there whole, or absent, and what was
staged stays in tmp/ until it is swept.

After an error of the disk nothing that was written is relied on: small objects are written again, from
the bytes that are held, and others must be staged again.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from threading import Lock

from castore import durable
from castore.config import HELD_BYTES_MAX, HELD_OBJECT_BYTES_MAX
from castore.digest import Digest
from castore.errors import CastoreError, ObjectDamaged, ObjectMissing
from castore.layout import OBJECT_NAME, SHARDS, Layout
from castore.objects.source import Frames, SourceStat

__all__ = ["LooseSource", "Modes"]

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
"""No links are followed, and a planted pipe can't make a reader wait."""


class Modes:
    """Permission bits of a private store, or of one that a group shares."""

    def __init__(self, *, is_shared: bool) -> None:
        self.is_shared = is_shared
        self.file = 0o440 if is_shared else 0o400
        self.folder = 0o2770 if is_shared else 0o700
        self.index = 0o660 if is_shared else 0o600


class LooseSource:
    """The objects of one store folder. Staged bytes of small objects are held in memory, up to a limit."""

    def __init__(self, layout: Layout, modes: Modes) -> None:
        self._layout = layout
        self._modes = modes
        self._lock = Lock()
        self._plain: set[str] = set()
        """Shards whose folder was seen to be one, and no link to another."""
        self._held_bytes = 0
        self._staged_count = 0
        self._staged_name = f"{os.getpid()}-{os.urandom(6).hex()}"

    # --- Writing ---

    def stage(self, pieces: Iterable[bytes], *, hold: bool = True) -> Frames:
        if hold and isinstance(pieces, list) and len(pieces) == 1 and self._may_hold(len(pieces[0])):
            return Frames(pieces, None, len(pieces[0]))
        path = self._new_path()
        return Frames(None, path, self._write(path, pieces))

    def prepare(self, staged: Sequence[Frames]) -> None:
        waiting = [each for each in staged if not each.is_durable]
        try:
            for each in waiting:
                if each.path is None:
                    if each.held is None:
                        raise CastoreError("what was staged was lost to an error; stage it again")
                    path = self._new_path()
                    self._write(path, each.held)
                    each.path = path
            durable.sync_files([each.path for each in waiting if each.path is not None], self._layout.folder)
        except BaseException:
            self._disown(waiting)
            raise
        for each in waiting:
            each.is_durable = True

    def publish(self, named: Sequence[tuple[Digest, Frames]], *, unproven: Collection[str] = ()) -> None:
        staged = [frames for _, frames in named]
        self.prepare(staged)
        prefix = self._layout.objects + "/"
        folders = sorted({prefix + digest.hex[:2] for digest, _ in named})
        try:
            # Before anything is in them: a folder whose name could not be synced is taken away again.
            durable.make_folders(folders, self._layout.objects, self._modes.folder, unproven=bool(unproven))
            for folder in folders:
                if not self._is_plain(folder[-2:]):
                    raise CastoreError(
                        f"'{folder}' is a link, or no folder", hint="remove the link: it is not castore's"
                    )
            for digest, frames in named:
                if frames.path is None:
                    raise AssertionError("prepare gives every staged object a file")
                durable.rename(frames.path, f"{prefix}{digest.hex[:2]}/{digest.hex}")
                frames.path = None
            durable.sync_folders(folders, self._layout.folder)
        finally:
            # Their files have names now. Should the caller's transaction fail, they are written again.
            self._disown(staged)

    def drop(self, staged: Iterable[Frames]) -> None:
        """Best effort for the files: gc sweeps what stays in tmp/."""
        for each in staged:
            self._disown([each])
            if each.held is not None:
                with self._lock:
                    self._held_bytes -= each.stored_bytes
                each.held = None

    def delete(self, digest: Digest) -> bool:
        return self._is_plain(digest.hex[:2]) and durable.remove(self._layout.object_file(digest.hex))

    def settle(self, digests: Iterable[Digest]) -> None:
        shards = sorted({digest.hex[:2] for digest in digests})
        folders = [self._layout.object_folder(shard) for shard in shards if self._is_plain(shard)]
        durable.sync_folders(folders, self._layout.folder)

    # --- Staging in a forked process ---

    def name_for_child(self) -> str:
        """A beginning of staged files' names that no other process uses."""
        with self._lock:
            self._staged_count += 1
            return f"{self._staged_name}-{self._staged_count}"

    def become_child(self, name: str) -> None:
        """Called once in the forked process: its staged files are told from the parent's."""
        self._lock = Lock()
        self._staged_name, self._staged_count, self._held_bytes = name, 0, 0

    def drop_child(self, name: str) -> None:
        """What a process of this name has staged is gone."""
        for each in os.listdir(self._layout.tmp):
            if each.startswith(name + "-"):
                durable.remove(f"{self._layout.tmp}/{each}")

    # --- Reading ---

    def stat(self, digest: Digest) -> SourceStat | None:
        if not self._is_plain(digest.hex[:2]):
            return None
        try:
            found = os.lstat(self._layout.object_file(digest.hex))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise _unreadable(digest, error) from error
        return SourceStat(found.st_size, (found.st_ino, found.st_size, found.st_mtime_ns))

    def get(self, digest: Digest, start: int = 0, length: int | None = None) -> bytes:
        if not self._is_plain(digest.hex[:2]):
            raise ObjectMissing(str(digest))
        try:
            descriptor = os.open(self._layout.object_file(digest.hex), _READ)
        except (FileNotFoundError, NotADirectoryError):
            raise ObjectMissing(str(digest)) from None
        except OSError as error:
            raise _unreadable(digest, error) from error
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise ObjectDamaged(str(digest), "it is not a regular file")
            left = max(0, found.st_size - start)
            if length is not None and length < left:
                left = length
            return _read(descriptor, start, left)
        except OSError as error:
            raise _unreadable(digest, error) from error
        finally:
            os.close(descriptor)

    def digests(self, prefix: str = "") -> Iterator[Digest]:
        shards = [prefix[:2]] if len(prefix) >= 2 else [each for each in SHARDS if each.startswith(prefix)]
        for shard in shards:
            for name in self.names(shard):
                if OBJECT_NAME.match(name) and name.startswith(prefix) and name[:2] == shard:
                    yield Digest(name)

    def names(self, shard: str) -> list[str]:
        """What lies in `objects/<shard>`, objects or not, sorted."""
        if not self._is_plain(shard):
            return []
        try:
            return sorted(os.listdir(self._layout.object_folder(shard)))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            folder = self._layout.object_folder(shard)
            raise CastoreError(f"can't list '{folder}': {error.strerror}", file=folder) from error

    def sizes(self, shard: str) -> dict[str, int]:
        """Stored bytes of every object in one shard, by its digest in hex."""
        if not self._is_plain(shard):
            return {}
        folder = self._layout.object_folder(shard)
        try:
            with os.scandir(folder) as entries:
                return {
                    entry.name: entry.stat(follow_symlinks=False).st_size
                    for entry in entries
                    if OBJECT_NAME.match(entry.name) and entry.name.startswith(shard)
                }
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            raise CastoreError(f"can't list '{folder}': {error.strerror}", file=folder) from error

    # --- Helpers ---

    def _disown(self, staged: Iterable[Frames]) -> None:
        """Their files are not used again."""
        for each in staged:
            if each.path is not None:
                with contextlib.suppress(CastoreError):
                    durable.remove(each.path)
            each.path = None
            each.is_durable = False

    def _is_plain(self, shard: str) -> bool:
        """The shard has a folder of its own; a link to another is as good as none, and verify tells of it."""
        if shard not in self._plain:
            try:
                if not stat.S_ISDIR(os.lstat(self._layout.object_folder(shard)).st_mode):
                    return False
            except (FileNotFoundError, NotADirectoryError):
                return False
            except OSError as error:
                folder = self._layout.object_folder(shard)
                raise CastoreError(f"can't read '{folder}': {error.strerror}", file=folder) from error
            self._plain.add(shard)
        return True

    def _may_hold(self, length: int) -> bool:
        if length > HELD_OBJECT_BYTES_MAX:
            return False
        with self._lock:
            if self._held_bytes + length > HELD_BYTES_MAX:
                return False
            self._held_bytes += length
            return True

    def _new_path(self) -> str:
        with self._lock:
            self._staged_count += 1
            return f"{self._layout.tmp}/{self._staged_name}-{self._staged_count}"

    def _write(self, path: str, pieces: Iterable[bytes]) -> int:
        length = durable.write_new(path, pieces, self._modes.file)
        if self._modes.is_shared:
            os.chmod(path, self._modes.file)
        return length


def _read(descriptor: int, start: int, length: int) -> bytes:
    data = os.pread(descriptor, length, start)
    if len(data) == length:
        return data
    pieces = [data]
    while data and (left := length - sum(map(len, pieces))):
        data = os.pread(descriptor, left, start + length - left)
        pieces.append(data)
    return b"".join(pieces)


def _unreadable(digest: Digest, error: OSError) -> CastoreError:
    import errno

    if error.errno in (errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE, errno.ENOMEM):
        return CastoreError(
            f"can't read object '{digest.abbreviated}': {error.strerror}",
            digest=str(digest),
            errno=error.errno,
        )
    return ObjectDamaged(str(digest), f"its file can't be read ({error.strerror})")
