"""A shell in miniature: `ctx("fold", …)` runs a process in a folder and a home of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import forked

ROWS = [{"id": number, "status": 200, "note": f"row {number} of the table"} for number in range(60)]
DOCUMENT = json.dumps({"question": "why?", "rows": ROWS, "log": "a line of the log\n" * 90}).encode()


@dataclass(frozen=True)
class Done:
    code: int
    out: bytes
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.decode().splitlines()

    @property
    def rows(self) -> list[Any]:
        return [json.loads(line) for line in self.lines]

    @property
    def error(self) -> dict[str, Any]:
        """The one JSON line of an error."""
        (line,) = self.err.splitlines()
        found: dict[str, Any] = json.loads(line)
        assert found["event"] == "error"
        return found


class Shell:
    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        self.environment = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("CTX_", "_CTX", "XDG_", "NO_COLOR", "SUDO_"))
        }
        self.environment |= {"HOME": str(home), "PYTHONPATH": str(Path(__file__).parents[2])}

    def command(self, *arguments: str | os.PathLike[str]) -> list[str]:
        return [sys.executable, "-m", "castore", *map(os.fspath, arguments)]

    def __call__(
        self,
        *arguments: str | os.PathLike[str],
        stdin: bytes = b"",
        cwd: Path | None = None,
        **environment: str,
    ) -> Done:
        done = forked.run(
            [*map(os.fspath, arguments)],
            stdin=stdin,
            folder=cwd or self.folder,
            environment=self.environment | environment,
        )
        return Done(done.code, done.out, done.err.decode())

    def afresh(self, *arguments: str, **environment: str) -> Done:
        """The same in a new interpreter, which has loaded nothing."""
        done = subprocess.run(
            self.command(*arguments),
            stdin=subprocess.DEVNULL,
            cwd=self.folder,
            env=self.environment | environment,
            capture_output=True,
            check=False,
            timeout=60,
        )
        return Done(done.returncode, done.stdout, done.stderr.decode())


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """No store anywhere above, an empty home."""
    folder, home = tmp_path / "here", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    return Shell(folder, home)


@pytest.fixture
def ctx(shell: Shell) -> Shell:
    """As `shell`, with a store in the folder and a document to fold."""
    assert shell("init").code == 0
    (shell.folder / "in.json").write_bytes(DOCUMENT)
    return shell
