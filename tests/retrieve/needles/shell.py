"""A store in a folder, and `ctx` run there as an agent runs it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests import forked

__all__ = ["Shell"]


class Shell:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environment = {
            "HOME": str(folder),
            "PATH": "/usr/bin:/bin",
            "LC_ALL": "C.UTF-8",
            "NO_COLOR": "1",
        }
        self._said(["init"])

    def put(self, objects: Sequence[bytes]) -> list[str]:
        """Store these in one call; returns their short digests."""
        files = [self._folder / f"{number}.payload" for number in range(len(objects))]
        for file, data in zip(files, objects, strict=True):
            file.write_bytes(data)
        said = self._said(["put", *(each.name for each in files)])
        return [line.removeprefix("sha256:")[:16] for line in said.splitlines()]

    def run(self, arguments: list[str]) -> str:
        """What a command prints. 1 is how `grep` ends that finds nothing."""
        return self._said(arguments, are_fine=(0, 1) if arguments[0] == "grep" else (0,))

    def _said(self, arguments: list[str], are_fine: tuple[int, ...] = (0,)) -> str:
        ended = forked.run(arguments, stdin=b"", folder=self._folder, environment=self._environment)
        assert ended.code in are_fine, f"ctx {arguments}: {ended.code}, {ended.err.decode(errors='replace')}"
        return ended.out.decode("utf-8", "surrogateescape")
