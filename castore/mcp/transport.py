"""stdio, as the SDK serves it, with an input that is bounded and can be left.

Laws: stdout carries messages alone: whatever else is written there goes to stderr. A message that can't be
read, because it is too long or no valid JSON, is answered by an error where its id can be told, so that its
sender does not wait for ever. Reading never keeps the process from ending.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, cast

from mcp.server.stdio import stdio_server
from mcp_types import jsonrpc_message_adapter

__all__ = ["MESSAGE_BYTES_MAX", "UNREADABLE", "stdio"]

logger = logging.getLogger(__name__)

MESSAGE_BYTES_MAX = 16 << 20
"""Longest message that is read."""

UNREADABLE = "castore/unreadable"
"""The method of the request that stands in for one that can't be read."""

_READ_BYTES = 1 << 16
_EDGE_BYTES = 300
_LINES_HELD = 2

# Where clients write the id: at the beginning, or at the very end.
_ID = rb'"id"\s*:\s*("[A-Za-z0-9_.:-]{1,100}"|-?[0-9]{1,18})\s*'
_AT_START = re.compile(rb'\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*' + _ID + rb",")
_AT_END = re.compile(rb'"jsonrpc"\s*:\s*"2\.0"\s*,\s*' + _ID + rb"\}\s*\Z")


@asynccontextmanager
async def stdio() -> AsyncIterator[Any]:
    """The streams of messages from and to the client, as Server.run takes them."""
    lines = _Lines(0)
    lines.start()
    # Only its lines are asked for, as of a file that is open for reading.
    async with stdio_server(stdin=cast("Any", lines)) as streams:
        yield streams


class _Lines:
    """The lines of a file, read by a thread that nobody waits for."""

    def __init__(self, descriptor: int) -> None:
        # What runs later and reads stdin finds nothing there.
        self._descriptor = os.dup(descriptor)
        nowhere = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._room = threading.Semaphore(_LINES_HELD)

    def start(self) -> None:
        threading.Thread(target=self._read_all, name="stdin", daemon=True).start()

    def __aiter__(self) -> _Lines:
        return self

    async def __anext__(self) -> str:
        line = await self._queue.get()
        self._room.release()
        if line is None:
            raise StopAsyncIteration
        return line

    def _read_all(self) -> None:
        try:
            for line in _readable(_lines(self._descriptor)):
                self._room.acquire()
                self._loop.call_soon_threadsafe(self._queue.put_nowait, line)
            self._loop.call_soon_threadsafe(self._queue.put_nowait, None)
        except RuntimeError:
            return  # The loop is closed: nobody reads any more.


def _lines(descriptor: int) -> Iterator[tuple[bytes, bool]]:
    """Each line, and whether that is all of it: of a longer one its edges."""
    line, is_whole = bytearray(), True
    while piece := _piece(descriptor):
        *ended, rest = piece.split(b"\n")
        for each in ended:
            yield bytes(line + each), is_whole and len(line) + len(each) <= MESSAGE_BYTES_MAX
            line, is_whole = bytearray(), True
        line += rest
        if len(line) > MESSAGE_BYTES_MAX:
            del line[_EDGE_BYTES:-_EDGE_BYTES]
            is_whole = False
    if line:
        yield bytes(line), is_whole


def _piece(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _READ_BYTES)
    except OSError:
        return b""  # A terminal that was hung up: the client is gone.


def _readable(lines: Iterator[tuple[bytes, bool]]) -> Iterator[str]:
    """The lines that the SDK can read, and a request in place of each other one whose id can be told."""
    for line, is_whole in lines:
        if not line.strip():
            continue
        problem = _problem(line) if is_whole else f"over {MESSAGE_BYTES_MAX:,} bytes"
        if problem is None:
            yield line.decode("utf-8", "replace")
            continue
        found = _AT_START.match(line[:_EDGE_BYTES]) or _AT_END.search(line[-_EDGE_BYTES:])
        logger.warning("a message can't be read: %s", problem)
        if found is not None:
            yield f'{{"jsonrpc":"2.0","id":{found[1].decode()},"method":"{UNREADABLE}"}}'


def _problem(line: bytes) -> str | None:
    try:
        jsonrpc_message_adapter.validate_json(line.decode("utf-8", "replace"), by_name=False)
    except ValueError:
        return "it is no message in JSON"
    return None
