"""Clients of `ctx mcp`: the SDK's own, and a raw one that says what the SDK's never would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

__all__ = ["LEGACY", "MODERN", "Agent", "Raw", "environment", "processes_of", "server_command"]

MODERN, LEGACY = "auto", "legacy"


def server_command(folder: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "castore", "mcp", "--store", str(folder), *options]


def environment(**ours: str) -> dict[str, str]:
    """Of the variables that castore reads, these alone."""
    theirs = {key: value for key, value in os.environ.items() if not key.startswith(("CTX_", "_CTX"))}
    return {**theirs, **ours}


def processes_of(pid: int) -> list[int]:
    """Its children, and theirs."""
    parents = {}
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                parents[int(each.name)] = int((each / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue  # It has ended.
    ours = [pid]
    for each in ours:
        ours += [child for child, parent in parents.items() if parent == each]
    return ours[1:]


def _words(pid: int) -> list[str]:
    """Its command line."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except OSError:
        return []


class Agent:
    """The SDK's client, and a server of its own; every result is checked against the tool's schema by it."""

    def __init__(
        self,
        folder: Path,
        *options: str,
        mode: str = MODERN,
        command: Sequence[str] | None = None,
        variables: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        self._folder = folder
        program, *arguments = command or server_command(folder, *options)
        self._parameters = StdioServerParameters(
            command=program, args=arguments, env=environment(**(variables or {})), cwd=cwd
        )
        self._mode = mode
        self._stack = ExitStack()
        self.portal: BlockingPortal
        self.client: Client

    def __enter__(self) -> Agent:
        with ExitStack() as stack:
            self._log = stack.enter_context(tempfile.TemporaryFile("w+"))
            self.portal = stack.enter_context(start_blocking_portal())
            client = Client(stdio_client(self._parameters, errlog=self._log), mode=self._mode)
            self.client = stack.enter_context(self.portal.wrap_async_context_manager(client))
            self.portal.call(self.client.list_tools)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    @property
    def server(self) -> int:
        """Its process."""
        (found,) = (each for each in processes_of(os.getpid()) if str(self._folder) in _words(each))
        return found

    @property
    def log(self) -> str:
        """What the server wrote on stderr until now."""
        self._log.seek(0)
        return self._log.read()

    def result(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        return self.portal.call(self.client.call_tool, tool, dict(arguments))

    def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a call that succeeds."""
        found = self.result(tool, arguments)
        assert not found.is_error, found.structured_content
        content: dict[str, Any] = found.structured_content
        return content

    def fail(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a call that fails."""
        found = self.result(tool, arguments)
        assert found.is_error, found.structured_content
        content: dict[str, Any] = found.structured_content
        assert found.content[0].text.startswith(f"error ({content['error']}): ")
        return content


class Raw:
    """Lines to and from a server, whatever they are."""

    def __init__(self, folder: Path, *options: str, **variables: str) -> None:
        self.process = subprocess.Popen(
            server_command(folder, *options),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(**variables),
        )
        self._last = 0

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        for each in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert each is not None
            try:
                each.close()
            except BrokenPipeError:
                continue
        self.process.wait()

    def hello(self) -> dict[str, Any]:
        found = self.request(
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "raw", "version": "1"},
        )
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        return found

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def start(self, method: str, **params: Any) -> int:
        """Send a request; its id."""
        self._last += 1
        message = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}
        self.send(json.dumps(message).encode() + b"\n")
        return self._last

    def answer(self, number: int | str) -> dict[str, Any]:
        """The response with this id; others are passed over."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            found: dict[str, Any] = json.loads(line)
            if found.get("id") == number:
                return found
        raise AssertionError("the server said no more")

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        return self.answer(self.start(method, **params))

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        found: dict[str, Any] = self.request("tools/call", name=tool, arguments=arguments)["result"]
        return found

    def end(self) -> tuple[int, bytes]:
        """The client goes. The exit code, and what was said on stderr."""
        assert self.process.stdin is not None
        assert self.process.stderr is not None
        self.process.stdin.close()
        timer = threading.Timer(30, self.process.kill)
        timer.start()
        said = self.process.stderr.read()
        code = self.process.wait()
        timer.cancel()
        return code, said
