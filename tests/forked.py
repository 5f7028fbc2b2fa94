"""`ctx` in a process of its own, started quickly: a fork of one that has loaded the modules already.

`run` is the test's side, and is used like `subprocess.run` with `python -m castore`. Run as a program, this
file waits for command lines on a socket; each comes with the three files that are to be its stdin, stdout and
stderr, and runs in a fork, which ends as the interpreter would: with its exit code, or by its signal.

What it can't show is that a command starts by itself: tests/cli/test_process.py starts each one afresh.
"""

from __future__ import annotations

import atexit
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn

__all__ = ["Ended", "Server", "run"]

WALL_SECONDS = 120
_REPOSITORY = Path(__file__).parents[1]
_REQUEST_BYTES_MAX = 1 << 20
_OF_PYTHON = ("PYTHON", "LC_", "LANG", "OPENBLAS_")
"""Variables that an interpreter reads when it starts: whoever sets others gets a process of that kind."""

_idle: dict[str, list[Server]] = {}
"""Those that run nothing now, by these variables."""


class Ended(NamedTuple):
    """code: negative for a signal."""

    code: int
    out: bytes
    err: bytes


def run(arguments: list[str], *, stdin: bytes, folder: Path, environment: Mapping[str, str]) -> Ended:
    """One command line of ctx, in `folder` and with this environment alone; it has WALL_SECONDS."""
    idle = _idle.setdefault(json.dumps(_of_python(environment), sort_keys=True), [])
    server = idle.pop() if idle else Server(environment)
    ended = server.run(arguments, stdin, folder, environment)
    idle.append(server)
    return ended


def _of_python(environment: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in environment.items() if key.startswith(_OF_PYTHON)}


class Server:
    """A process that forks, and runs one command at a time.

    environment: what an interpreter reads of it holds for all commands. prefix: a command that runs it.
    """

    def __init__(self, environment: Mapping[str, str], prefix: Sequence[str] = ()) -> None:
        others = {key: value for key, value in os.environ.items() if not key.startswith(_OF_PYTHON)}
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            # Its own streams are pipes, as those of its commands are: what Python asks of one is true of all.
            self._process = subprocess.Popen(
                [*prefix, sys.executable, str(Path(__file__)), str(theirs.fileno())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=others | _of_python(environment),
                cwd=_REPOSITORY,
                pass_fds=[theirs.fileno()],
            )
        atexit.register(self.close)

    def run(self, arguments: list[str], stdin: bytes, folder: Path, environment: Mapping[str, str]) -> Ended:
        request = {"arguments": arguments, "folder": str(folder), "environment": dict(environment)}
        (its_in, our_in), (our_out, its_out), (our_err, its_err) = [os.pipe() for _ in range(3)]
        try:
            _send(self._ours, json.dumps(request).encode(), [its_in, its_out, its_err])
        finally:
            for each in (its_in, its_out, its_err):
                os.close(each)
        out, err = _talk(stdin, our_in, our_out, our_err)
        answer = self._ours.recv(100)
        if not answer:
            raise RuntimeError(f"the server died: {self._process.communicate()}")
        code = int(answer)
        if code == -signal.SIGALRM:
            raise subprocess.TimeoutExpired(["ctx", *arguments], WALL_SECONDS, out, err)
        return Ended(code, out, err)

    def close(self) -> None:
        """It ends; if nobody says so, when Python does."""
        atexit.unregister(self.close)
        self._ours.close()
        self._process.communicate()


def _send(target: socket.socket, data: bytes, files: list[int]) -> None:
    assert len(data) < _REQUEST_BYTES_MAX
    socket.send_fds(target, [len(data).to_bytes(4, "big")], files)
    target.sendall(data)


def _talk(stdin: bytes, our_in: int, our_out: int, our_err: int) -> tuple[bytes, bytes]:
    """Give it `stdin`, and take what it says until it says no more."""
    said: dict[int, bytearray] = {our_out: bytearray(), our_err: bytearray()}
    left = memoryview(stdin)
    with selectors.DefaultSelector() as ready:
        for each in said:
            ready.register(each, selectors.EVENT_READ)
        if left:
            os.set_blocking(our_in, False)
            ready.register(our_in, selectors.EVENT_WRITE)
        else:
            os.close(our_in)
        while ready.get_map():
            for key, _ in ready.select():
                file = key.fd
                if file == our_in:
                    left = _written(file, left)
                    is_done = not left
                else:
                    piece = os.read(file, 1 << 16)
                    said[file] += piece
                    is_done = not piece
                if is_done:
                    ready.unregister(file)
                    os.close(file)
    return bytes(said[our_out]), bytes(said[our_err])


def _written(file: int, data: memoryview) -> memoryview:
    """What is left of `data`; nothing, if nobody reads it."""
    try:
        return data[os.write(file, data[: 1 << 16]) :]
    except BrokenPipeError:
        return data[:0]


# --- The program -----------------------------------------------------------------------------------


def main() -> None:
    _load_all()
    with socket.socket(fileno=int(sys.argv[1])) as control:
        os.set_inheritable(control.fileno(), False)
        while True:
            head, files, _, _ = socket.recv_fds(control, 4, 3)
            if not head:
                return
            request = json.loads(_received(control, int.from_bytes(head, "big")))
            pid = os.fork()
            if pid == 0:
                control.close()
                _become(request, files)
            for each in files:
                os.close(each)
            _, status = os.waitpid(pid, 0)
            control.sendall(str(os.waitstatus_to_exitcode(status)).encode())


def _received(source: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = source.recv(size - len(data))
        assert piece
        data += piece
    return data


def _load_all() -> None:
    """Every module of castore, with what it imports, and what typer makes of each command."""
    import gc
    import pkgutil

    sys.path[0] = str(_REPOSITORY)
    import castore

    for each in pkgutil.walk_packages(castore.__path__, "castore."):
        __import__(each.name)
    from castore.cli import app, commands

    app.root_command()
    for name in commands.COMMANDS:
        commands.load(name)
    gc.freeze()  # A fork that looks for cycles would otherwise copy all of it.


def _become(request: dict[str, Any], files: list[int]) -> NoReturn:
    """Be the process that `python -m castore` would be with this request; returns never."""
    for number, each in enumerate(files):
        os.dup2(each, number)
        os.close(each)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = ["castore", *request["arguments"]]
    signal.alarm(WALL_SECONDS)
    code: Any = 1
    try:
        from castore.__main__ import start

        start()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int | None) else 1
    except BaseException:  # noqa: BLE001 - an interpreter prints it
        import traceback

        traceback.print_exc()
    os._exit(_finished(code or 0))


def _finished(code: int) -> int:
    """What an interpreter does last."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if not _is_flushed(stream):
            return 120
    return code


def _is_flushed(stream: IO[str] | None) -> bool:
    try:
        if stream is not None and not stream.closed:
            stream.flush()
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main()
