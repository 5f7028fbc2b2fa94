"""A store in a folder, and `ctx` run there as an agent runs it."""

from __future__ import annotations

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

    def put(self, data: bytes) -> str:
        """Store `data`; returns the short digest."""
        said = self._said(["put", "-"], data)
        return said.strip().removeprefix("sha256:")[:16]

    def run(self, arguments: list[str]) -> str:
        """What a command prints. 1 is how `grep` ends that finds nothing."""
        return self._said(arguments, are_fine=(0, 1) if arguments[0] == "grep" else (0,))

    def _said(self, arguments: list[str], stdin: bytes = b"", are_fine: tuple[int, ...] = (0,)) -> str:
        ended = forked.run(arguments, stdin=stdin, folder=self._folder, environment=self._environment)
        assert ended.code in are_fine, f"ctx {arguments}: {ended.code}, {ended.err.decode(errors='replace')}"
        return ended.out.decode("utf-8", "surrogateescape")
