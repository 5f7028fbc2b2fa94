"""A process that answers calls, one after another, so that one that must end can be killed.

Laws: it reads a line of JSON for each request on its stdin and writes a line of JSON for its answer; it ends
when its stdin does. A call that takes longer than it may ends it, whatever that call is doing, also when
nobody is left who would kill it.

Why a process: Python holds its lock while it looks for a regular expression, so a thread that is lost in one
stops the whole server, and nothing can end it.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import signal
import sys
from collections.abc import Mapping
from typing import Any, BinaryIO

from castore.mcp.calls import Place, answer

__all__ = ["COMMAND", "RETIRING", "main", "place_line"]

COMMAND = "import sys; sys.path.append(sys.argv[1]); from castore.mcp.worker import main; main()"
"""What runs it, given the folder that castore lies in: that is looked at last, and the current folder
never."""

RETIRING = "retiring"
"""In an answer, true: it was the last one."""

_PEAK_BYTES_MAX = 512 << 20
"""A process that once held more than this is not kept: the memory would stay with it."""

_GRACE_SECONDS = 5
"""After the limit of a call, until the process ends by itself: the server is to end it first."""


def place_line(place: Place) -> bytes:
    """The first line that it is given: where the store is, and what is granted."""
    return _line(
        {
            "folder": place.folder,
            "may_create": place.may_create,
            "grants": None if place.grants is None else list(place.grants),
            "scopes": list(place.scopes),
            "may_write": place.may_write,
            "is_offline": place.is_offline,
        }
    )


def main() -> None:
    """Answer until stdin ends. The streams are taken out of the way of whatever else would read or write
    them."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="ctx mcp: %(message)s")
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    os.dup2(2, 1)
    try:
        _serve(requests, answers)
    except BrokenPipeError:
        pass  # The server is gone, and with it who asked.
    finally:
        _close(answers)


def _serve(requests: BinaryIO, answers: BinaryIO) -> None:
    first = requests.readline()
    if not first:
        return
    place = _place(json.loads(first))
    _load()
    for line in requests:
        request = json.loads(line)
        signal.alarm(request.pop("seconds") + _GRACE_SECONDS)
        found = answer(place, request)
        signal.alarm(0)
        is_last = _peak_bytes() > _PEAK_BYTES_MAX
        answers.write(_line({**found, RETIRING: True} if is_last else found))
        answers.flush()
        if is_last:
            return


def _place(told: Mapping[str, Any]) -> Place:
    grants = told["grants"]
    return Place(
        told["folder"],
        may_create=told["may_create"],
        grants=None if grants is None else tuple(grants),
        scopes=tuple(told["scopes"]),
        may_write=told["may_write"],
        is_offline=told["is_offline"],
    )


def _load() -> None:
    """What the first call would load, while nobody waits."""
    import castore.mcp.listing
    import castore.mcp.searching
    import castore.mcp.storing
    import castore.retrieve.showing  # noqa: F401


def _peak_bytes() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _line(value: Mapping[str, Any]) -> bytes:
    """Halves of characters, which some texts hold and UTF-8 can't, become question marks."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace") + b"\n"


def _close(answers: BinaryIO) -> None:
    try:
        answers.close()
    except BrokenPipeError:
        return  # As above.
