"""clip: a long text on its way to a model."""

from __future__ import annotations

from typing import Annotated

import typer

from castore.cli import output
from castore.cli.files import open_source, open_target, source_name
from castore.cli.locate import find_store
from castore.cli.parameters import (
    AllowPurged,
    File,
    Json,
    KeepFor,
    Out,
    RetrieveWith,
    Scope,
    StoreFolder,
    parse_count,
    parse_keep_for,
)
from castore.errors import CastoreError

__all__ = ["clip"]


def clip(
    file: File = None,
    out: Out = None,
    limit: Annotated[
        str | None,
        typer.Option("--limit", metavar="N", help="Characters that stand, head and tail (default: 4000)."),
    ] = None,
    retrieve_with: RetrieveWith = None,
    keep_for: KeepFor = None,
    scope: Scope = None,
    allow_purged: AllowPurged = False,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """OUT or stdout holds the text, or its head and tail with a marker between; the whole is stored. If it
    can't be, it stands there whole, and the exit code says why."""
    from castore.transcript.clipping import check_clip, clip_text

    counted = parse_count("--limit", limit)
    characters_max = 4000 if counted is None else counted
    keep_seconds = parse_keep_for(keep_for)
    check_clip(characters_max, retrieve_with)
    failure: CastoreError | OSError | None = None
    with open_source(file) as source, open_target(out, sync=True) as target:
        shown = source.read()
        try:
            shown = clip_text(
                shown,
                find_store(store),
                characters_max=characters_max,
                source_name=source_name(file),
                scope=scope,
                keep_seconds=keep_seconds,
                allow_purged=allow_purged,
                retrieve_with=retrieve_with,
            )
        except (CastoreError, OSError) as error:
            failure = error
        target.write(shown)
        target.flush()
    if failure is not None:
        output.note("the text was not clipped, for it can't be stored: it went out whole")
        raise failure
