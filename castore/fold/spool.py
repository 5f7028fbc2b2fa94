"""Spool: what is held back until everything has resolved. Nothing of it is seen before `release`.

Memory is bounded: beyond a size it goes on in an unnamed temporary file, which a crash leaves nothing of.
"""

from __future__ import annotations

from hashlib import sha256
from types import TracebackType
from typing import IO, BinaryIO

from castore.digest import Bytes, Digest
from castore.roots.model import Content

__all__ = ["Spool"]

_MEMORY_BYTES_MAX = 16 << 20
_COPY_BYTES = 1 << 20


class Spool:
    """Write to it as to a file; `release` writes it all to `target`. A context manager.

    is_private: `target` is seen by nobody until its owner says so (a file to be renamed), so nothing need
    be held back.
    """

    def __init__(self, target: BinaryIO, *, is_private: bool = False) -> None:
        self._target = target
        self._is_private = is_private
        self._pieces: list[Bytes] = []
        self._held = 0
        self._file: IO[bytes] | None = None
        self._digest = sha256()
        self._size = 0

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pieces.clear()
        if self._file is not None:
            self._file.close()

    @property
    def content(self) -> Content:
        """Digest and size of what was written so far."""
        return Content(Digest(self._digest.hexdigest()), self._size)

    def write(self, piece: Bytes) -> None:
        """`piece` must not change any more."""
        self._digest.update(piece)
        self._size += len(piece)
        if self._is_private:
            self._target.write(piece)
        elif self._file is not None:
            self._file.write(piece)
        else:
            self._pieces.append(piece)
            self._held += len(piece)
            if self._held > _MEMORY_BYTES_MAX:
                self._move_to_file()

    def release(self) -> None:
        """All that was written is written to the target, in order."""
        if self._file is not None:
            self._file.seek(0)
            while block := self._file.read(_COPY_BYTES):
                self._target.write(block)
        for piece in self._pieces:
            self._target.write(piece)
        self._target.flush()

    def _move_to_file(self) -> None:
        import tempfile

        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__
        for piece in self._pieces:
            self._file.write(piece)
        self._pieces.clear()
