"""Command lines in processes with little time and memory, started quickly.

`Limited` is the test's side. Run as a program, this file waits for command lines on stdin, one JSON line
each, and runs every one in a fork of itself, where the modules are loaded already: hundreds of hostile
stores are tried so in the time of a few dozen starts.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

__all__ = ["CODES", "Done", "Limited"]

CPU_SECONDS = 20
WALL_SECONDS = 40
MEMORY_BYTES = 1 << 30

CODES = {0, 1, 2, 3, 10, 11, 12, 13, 14, 15, 17, 18}
"""Every way to end but a bug (70), a signal, and a reader that went away."""

_REPOSITORY = Path(__file__).parents[2]


class Done(NamedTuple):
    """How a command ended. `code`: negative for a signal, as SIGXCPU (CPU time) and SIGALRM (it hung)."""

    code: int
    out: bytes
    err: str
    peak_bytes: int


class Limited:
    """Runs command lines, each within the limits."""

    def __init__(self, home: Path) -> None:
        environment = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("CTX_", "XDG_", "NO_COLOR"))
        }
        environment |= {"HOME": str(home), "PYTHONPATH": str(_REPOSITORY), "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.store.limited"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            cwd=home,
            text=True,
        )

    def __call__(self, store: Path, *arguments: str) -> Done:
        pipe_in, pipe_out = self._process.stdin, self._process.stdout
        assert pipe_in is not None
        assert pipe_out is not None
        pipe_in.write(json.dumps({"store": str(store), "arguments": arguments}) + "\n")
        pipe_in.flush()
        code, out, err, peak_bytes = json.loads(pipe_out.readline())
        return Done(code, bytes.fromhex(out), err, peak_bytes)

    def close(self) -> None:
        self._process.communicate()


# --- The program -----------------------------------------------------------------------------------


def main() -> None:
    from castore import api  # noqa: F401 - loaded here, once
    from castore.cli import app, commands
    from castore.gc import verify

    # It looks again, later, at what a writer may be in the middle of. Here nobody writes meanwhile.
    verify._LOOK_AGAIN_SECONDS = ()
    app.root_command()
    for name in commands.COMMANDS:
        commands.load(name)
    for line in sys.stdin:
        request = json.loads(line)
        answer = json.dumps(_forked(lambda request=request: _ctx(app.run, request)))
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()


def _ctx(run: Callable[[list[str]], int], request: dict[str, object]) -> int:
    os.environ["CTX_STORE"] = str(request["store"])
    arguments = request["arguments"]
    assert isinstance(arguments, list)
    return run(arguments)


def _forked(act: Callable[[], int]) -> tuple[int, str, str, int]:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        pid = os.fork()
        if pid == 0:
            _child(act, out.fileno(), err.fileno())
        _, status, usage = os.wait4(pid, 0)
        out.seek(0)
        err.seek(0)
        code = os.waitstatus_to_exitcode(status)
        return code, out.read().hex(), err.read().decode(), usage.ru_maxrss * 1024


def _child(act: Callable[[], int], out: int, err: int) -> None:
    code = 99
    try:
        os.setpgid(0, 0)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        signal.alarm(WALL_SECONDS)
        code = act()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
