"""Serving over stdio, from the first message until the client is gone or a signal ends it.

Laws: when the client closes its end, the server ends, with every process that it started; so it does at once
when a signal says so. What was answered is done: nothing waits in the server to be written to the store.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading

import anyio
from anyio.abc import TaskStatus

from castore.mcp.calls import Place
from castore.mcp.pool import Pool
from castore.mcp.server import make_server
from castore.mcp.transport import stdio

__all__ = ["serve"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_ENDING_SECONDS = 2.0
"""A client that reads no more can hold up the end; then the process is ended as if nobody had caught the
signal."""


def serve(place: Place, *, seconds: int) -> int | None:
    """Serve one client. seconds: what a call may take. The signal that ended it; None: the client is gone."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="ctx mcp: %(message)s")
    try:
        return anyio.run(_serve, place, seconds)
    except BaseExceptionGroup as group:
        raise _first_of(group) from group


async def _serve(place: Place, seconds: int) -> int | None:
    caught: list[int] = []
    async with anyio.create_task_group() as group:
        await group.start(_watch, group.cancel_scope, caught)
        try:
            async with Pool(place, seconds) as pool, stdio() as (requests, answers):
                server = make_server(pool, may_write=place.may_write)
                await server.run(requests, answers, server.create_initialization_options())
        except* (BrokenPipeError, ConnectionResetError):
            pass  # The client reads no more: it is gone.
        group.cancel_scope.cancel()
    return caught[0] if caught else None


def _first_of(group: BaseExceptionGroup) -> BaseException:
    """What went wrong: of tasks that run together each error comes in a group."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def _watch(
    scope: anyio.CancelScope, caught: list[int], *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    """Cancel the scope at the first signal that is not ignored in this process."""
    heeded = [each for each in _SIGNALS if signal.getsignal(each) is not signal.SIG_IGN]
    with anyio.open_signal_receiver(*heeded) as signals:
        task_status.started()
        async for number in signals:
            caught.append(number)
            break
    last = threading.Timer(_ENDING_SECONDS, os.kill, (os.getpid(), signal.SIGTERM))
    last.daemon = True
    last.start()
    scope.cancel()
