"""The processes that answer the server's calls: started when they are needed, killed when a call must end.

Laws: a call is answered by one process alone; if it is cancelled or takes too long, that process and all that
it started are gone before the call ends, and no other call is touched. At most WORKERS_MAX run; more calls
wait. When the pool is closed none is left. A killed call may or may not have stored what it was to store, as
a killed command.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

import castore
from castore.mcp.calls import Place
from castore.mcp.failures import BUG, described, limit, text_of
from castore.mcp.worker import COMMAND, RETIRING, place_line

__all__ = ["CALLS_MAX", "WORKERS_MAX", "Pool"]

logger = logging.getLogger(__name__)

WORKERS_MAX = 4
"""Calls that are answered at once."""

_IDLE_MAX = 2
"""Processes that are kept for the next calls."""

CALLS_MAX = 200
"""Calls that are answered or wait: further ones are refused."""

_ANSWER_BYTES_MAX = 32 << 20
_CLOSING_SECONDS = 2.0
_ENDED = (anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError, anyio.ClosedResourceError)


class Pool:
    """seconds: what a call may take."""

    def __init__(self, place: Place, seconds: int) -> None:
        self._place = place
        self._seconds = seconds
        self._idle: list[_Worker] = []
        self._running = anyio.Semaphore(WORKERS_MAX)
        self._calls = 0

    async def __aenter__(self) -> Pool:
        """The first process is started: it loads what it needs while the client says hello."""
        self._idle.append(await _Worker.start(self._place))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        idle, self._idle = self._idle, []
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as group:
                for worker in idle:
                    group.start_soon(worker.close)

    async def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """As castore.mcp.calls.answer; also where the process dies, or must."""
        if self._calls >= CALLS_MAX:
            return _failed(
                request, limit(f"over {CALLS_MAX} calls wait", "wait for answers before asking more")
            )
        self._calls += 1
        try:
            async with self._running:
                return await self._ask(request)
        finally:
            self._calls -= 1

    async def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        try:
            worker = self._idle.pop() if self._idle else await _Worker.start(self._place)
        except OSError as error:
            return _failed(request, described(error))  # There are too many processes, or open files.
        is_kept = False
        try:
            with anyio.fail_after(self._seconds):
                found = await worker.ask({**request, "seconds": self._seconds})
            is_kept = not found.pop(RETIRING, False)
            return found
        except TimeoutError:
            message = f"the call took over {self._seconds:,} seconds, and was ended"
            return _failed(request, limit(message, "ask for less: fewer objects, a simpler pattern"))
        except _ENDED:
            logger.warning("the process that answered died: %s", await worker.ending())
            return _failed(request, _DIED)
        finally:
            if is_kept and len(self._idle) < _IDLE_MAX:
                self._idle.append(worker)
            else:
                with anyio.CancelScope(shield=True):
                    await worker.kill()


_DIED: dict[str, Any] = {
    "error": "internal",
    "message": "the process that answered died",
    "hint": "ask again; if it happens again, ask for a smaller part",
    "exit_code": BUG,
    "fields": {},
}


def _failed(request: Mapping[str, Any], failure: dict[str, Any]) -> dict[str, Any]:
    if "tool" in request:
        return {"structured": failure, "text": text_of(failure), "is_error": True}
    return {"failure": failure}


class _Worker:
    """One process, seen from the server."""

    def __init__(self, process: Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._requests = process.stdin
        self._answers = BufferedByteReceiveStream(process.stdout)

    @classmethod
    async def start(cls, place: Place) -> _Worker:
        folder = os.path.dirname(os.path.dirname(os.path.abspath(castore.__file__)))
        process = await anyio.open_process(
            [sys.executable, "-P", "-c", COMMAND, folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None,
            start_new_session=True,  # So that what it starts can be killed with it.
        )
        worker = cls(process)
        with suppress(*_ENDED):  # Who asks it next is told.
            await worker._requests.send(place_line(place))
        return worker

    async def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Raises one of _ENDED if it has ended."""
        line = json.dumps(request, separators=(",", ":")).encode("ascii") + b"\n"
        await self._requests.send(line)
        found: dict[str, Any] = json.loads(await self._answers.receive_until(b"\n", _ANSWER_BYTES_MAX))
        return found

    async def ending(self) -> str:
        """How it ended, in words; it ends if it has not."""
        with anyio.move_on_after(_CLOSING_SECONDS):
            code = await self._process.wait()
            return f"signal {-code}" if code < 0 else f"exit code {code}"
        return "it said nothing more"

    async def kill(self) -> None:
        """It is gone, and what it started too."""
        if self._process.returncode is None:  # Else its number may be another's by now.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.aclose()

    async def close(self) -> None:
        """It ends by itself, or is killed."""
        with anyio.move_on_after(_CLOSING_SECONDS), suppress(*_ENDED):
            await self._requests.aclose()
            await self._process.wait()
        await self.kill()
