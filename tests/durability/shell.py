"""Real `ctx` processes with an environment of their own, and documents to give them."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests import forked

__all__ = ["Done", "Shell", "document"]

_REPOSITORY = Path(__file__).parents[2]
_UNSYNCED = Path(__file__).with_name("unsynced.py")


@dataclass(frozen=True)
class Done:
    code: int
    out: bytes
    err: str


class Shell:
    """Runs ctx in `folder`; `store` is the store's folder, whether it is there or not."""

    def __init__(self, folder: Path, home: Path, store: Path | None = None) -> None:
        self.folder = folder
        self.store = store or folder / ".ctxstore"
        self.environment = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("CTX_", "_CTX", "XDG_", "NO_COLOR", "SUDO_"))
        }
        self.environment |= {
            "HOME": str(home),
            "PYTHONPATH": str(_REPOSITORY),
            "PYTHONDONTWRITEBYTECODE": "1",
            "CTX_STORE": str(self.store),
        }

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "castore", *arguments]

    def unsynced(self, which: str, *arguments: str) -> list[str]:
        """ctx without the syncs that `unsynced.py` calls `which`."""
        return [sys.executable, str(_UNSYNCED), which, str(self.count_file), *arguments]

    @property
    def count_file(self) -> Path:
        return self.folder.parent / "sync-count"

    def run(self, command: list[str], stdin: bytes = b"") -> Done:
        done = subprocess.run(
            command,
            input=stdin,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            check=False,
            timeout=120,
        )
        return Done(done.returncode, done.stdout, done.stderr.decode())

    def __call__(self, *arguments: str, stdin: bytes = b"") -> Done:
        done = forked.run([*arguments], stdin=stdin, folder=self.folder, environment=self.environment)
        return Done(done.code, done.out, done.err.decode())


def document(seed: object, values: int = 3, value_bytes: int = 2000) -> bytes:
    """A document of so many long strings; the same seed gives the same bytes."""
    source = random.Random(repr(seed))
    members = {
        f"value {number}": f"{seed} {number} " + source.randbytes(value_bytes // 2).hex()
        for number in range(values)
    }
    return json.dumps(members).encode()
