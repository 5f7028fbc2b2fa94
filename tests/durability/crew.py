"""Several workers on one store, as processes that can be killed and begun again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

from tests.durability.shell import Shell
from tests.durability.worker import Claims

__all__ = ["Crew"]

_WORKER = Path(__file__).with_name("worker.py")


class Crew:
    """`logs`: a folder that survives whatever happens to the store."""

    def __init__(self, shell: Shell, logs: Path, names: tuple[str, ...]) -> None:
        self._shell = shell
        self._logs = logs
        self._names = names
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        """Every worker that is not running does, after the last document it wrote down."""
        for name in self._names:
            if name not in self._running:
                self._running[name] = self._start(name)

    def kill(self, name: str) -> None:
        """kill -9."""
        worker = self._running.pop(name)
        worker.kill()
        worker.communicate()

    def stop(self) -> list[str]:
        """All are gone; what those said on stderr that had ended by themselves."""
        said = []
        for name, worker in self._running.items():
            has_ended = worker.poll() is not None
            if not has_ended:
                worker.kill()
            _, errors = worker.communicate()
            if has_ended:
                assert worker.returncode != -signal.SIGKILL
                said.append(f"{name}: {errors.decode()}")
        self._running.clear()
        return said

    @property
    def claims(self) -> Claims:
        return Claims(line for name in self._names for line in self._lines(name))

    def _start(self, name: str) -> subprocess.Popen[bytes]:
        numbers = [json.loads(line)["number"] for line in self._lines(name)]
        # A killed worker may have folded one document more than it wrote down.
        first = max(numbers, default=-2) + 2
        return subprocess.Popen(
            [sys.executable, str(_WORKER), str(self._shell.store), str(self._log(name)), name, str(first)],
            env=self._shell.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def _log(self, name: str) -> Path:
        return self._logs / f"{name}.log"

    def _lines(self, name: str) -> list[str]:
        path = self._log(name)
        return path.read_text().splitlines() if path.exists() else []
