"""hook claude-code: what Claude Code tells of a tool's result, and the answer that shortens it."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from castore.cli import output
from castore.cli.files import open_source
from castore.cli.locate import find_store
from castore.cli.parameters import File, Json, RetrieveWith, Scope, StoreFolder, parse_count
from castore.config import HOOK_BYTES_MAX, parse_duration
from castore.errors import LimitExceeded

__all__ = ["hook_claude_code"]

_FOR_EVER = "ever"


def hook_claude_code(
    file: File = None,
    limit: Annotated[
        str | None,
        typer.Option("--limit", metavar="N", help="Shorten results over N characters (default: 20000)."),
    ] = None,
    show: Annotated[
        str | None,
        typer.Option("--show", metavar="N", help="Characters of one that stand (default: 4000)."),
    ] = None,
    beside: Annotated[
        bool,
        typer.Option(
            "--beside", help="Leave results as they are, and say beside them where they are stored."
        ),
    ] = False,
    retrieve_with: RetrieveWith = None,
    keep_for: Annotated[
        str | None,
        typer.Option("--for", metavar="DUR", help="Keep results this long, or 'ever' (default: 30d)."),
    ] = None,
    scope: Scope = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """The hook's JSON comes on stdin. After a call whose result is long, the result is stored and the answer
    is on stdout; at the end of a session what its transcript names is kept. Whatever goes wrong, the exit
    code is 1 and the agent goes on with the result as it was."""
    from castore.transcript.hooks.answering import KEEP_SECONDS, HookOptions, answer
    from castore.transcript.hooks.claude_code import parse_event

    options = HookOptions(
        **{
            name: value
            for name, value in (
                ("characters_max", parse_count("--limit", limit)),
                ("characters_shown", parse_count("--show", show)),
            )
            if value is not None
        },
        keep_seconds=KEEP_SECONDS if keep_for is None else _seconds(keep_for),
        is_replacing=not beside,
        retrieve_with=retrieve_with,
        scope=scope,
    )
    handle = find_store(store)
    with open_source(file) as source:
        data = source.read(HOOK_BYTES_MAX + 1)
    if len(data) > HOOK_BYTES_MAX:
        raise LimitExceeded(f"the hook's JSON is over {HOOK_BYTES_MAX:,} bytes", limit="HOOK_BYTES_MAX")
    told = answer(parse_event(data), handle, options)
    if told is not None:
        output.line(json.dumps(told, separators=(",", ":")))


def _seconds(keep_for: str) -> int | None:
    return None if keep_for == _FOR_EVER else parse_duration(keep_for)
