"""mcp: the server that agents read and write a store with."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from castore.cli.locate import find_store
from castore.cli.offline import is_offline
from castore.cli.output import note
from castore.cli.parameters import Json, StoreFolder
from castore.config import parse_duration, parse_scope
from castore.errors import CastoreError, InvalidOption

if TYPE_CHECKING:
    from castore.mcp.calls import Place
    from castore.store import StoreHandle

__all__ = ["mcp"]

_SECONDS = 60
_SECONDS_MAX = 3600


def mcp(
    scope: Annotated[
        list[str] | None,
        typer.Option(
            "--scope",
            metavar="SCOPE",
            help="Bind every call to this scope, one of those granted; may be given again: all are read, "
            "the first is written in.",
        ),
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Serve no tool that writes.")] = False,
    timeout: Annotated[
        str | None, typer.Option("--timeout", metavar="DUR", help="What a call may take (default: 60s).")
    ] = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """The client on stdin and stdout is served until it goes; stderr has logs."""
    if find_spec("mcp") is None:
        raise CastoreError(
            "the MCP server needs the package 'mcp', which is not installed",
            hint="pip install 'mcp>=2.3,<3'",
        )
    from castore.mcp.calls import Place

    seconds = _seconds(timeout)
    handle = find_store(store)
    grants = None if handle.access is None else handle.access.grants
    place = Place(
        handle.folder,
        may_create=handle.may_create,
        grants=grants,
        scopes=tuple(scope or ()),
        is_offline=is_offline(),
    )
    _check(handle, place)
    if sys.stdin is not None and sys.stdin.isatty():
        note("an MCP client is to start this, as by 'claude mcp add castore -- ctx mcp'; Ctrl-C ends it")
    if read_only or not _is_writable(handle):
        place = replace(place, may_create=False, may_write=False)
    from castore.mcp.serving import serve

    ended_by = serve(place, seconds=seconds)
    if ended_by == signal.SIGINT:
        raise KeyboardInterrupt
    if ended_by is not None:
        signal.signal(ended_by, signal.SIG_DFL)
        os.kill(os.getpid(), ended_by)


def _seconds(text: str | None) -> int:
    seconds = _SECONDS if text is None else parse_duration(text)
    if not 1 <= seconds <= _SECONDS_MAX:
        raise InvalidOption(f"--timeout must be from 1s to 1h, not '{text}'", option="--timeout")
    return seconds


def _check(handle: StoreHandle, place: Place) -> None:
    """What every call would meet is told before the first: a store of another format, a scope not granted."""
    from castore.store.access import resolve_access

    for each in place.scopes:
        if each != "*":
            parse_scope(each)
    if handle.exists:
        handle.get()  # It says so if it is the user's own.
        opened = place.handle().get()
        try:
            _ = opened.granted
        finally:
            opened.close()
    else:
        resolve_access(place.access, None, "default", alone=True)


def _is_writable(handle: StoreHandle) -> bool:
    """Whether the folders of the store can be written in; where there is none, whether one can be made."""
    from castore.layout import Layout

    layout = Layout(handle.folder)
    if handle.exists:
        folders = [layout.folder, layout.roots, layout.tmp, layout.objects]
        return all(os.access(each, os.W_OK) for each in folders if os.path.lexists(each))
    folder = handle.folder
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    return handle.may_create and os.access(folder, os.W_OK)
