"""put, cat, show, ls: objects."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from castore.cli import output
from castore.cli.files import STANDARD, standard_input
from castore.cli.locate import find_store
from castore.cli.output import Count, Moment, Record, Size, size_text
from castore.cli.parameters import (
    Json,
    KeepFor,
    Limit,
    Name,
    Scope,
    StoreFolder,
    parse_count,
    parse_keep_for,
)
from castore.digest import Digest

if TYPE_CHECKING:
    from castore.roots.model import Root
    from castore.store import Store

__all__ = ["cat", "ls", "put", "show"]

Reference = Annotated[
    str,
    typer.Argument(metavar="REF", help="A digest or its first digits, a name, or a reference pasted in."),
]

_PARTLY = 3
_HELD_BYTES_MAX = 64 << 20
_PREVIEW_BYTES = 2048


def put(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE]...", help="Store these files; '-' or none is stdin.")
    ] = None,
    stdin_paths: Annotated[
        bool, typer.Option("--stdin-paths", help="Read the paths of the files from stdin, one a line.")
    ] = False,
    keep_for: KeepFor = None,
    name: Name = None,
    scope: Scope = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> int:
    """Every file that could be read is an object, named by one root, durable before a digest is printed.

    3 if some could not be read; they are named on stderr.
    """
    from castore import api

    paths = list(files or ())
    if stdin_paths:
        paths += [os.fsdecode(path) for path in standard_input(is_asked_for=True).read().splitlines()]
    with output.working("storing"):
        results = api.put_files(
            find_store(store).get_or_create(),
            paths if paths or stdin_paths else [STANDARD],
            stdin=standard_input(is_asked_for=STANDARD in paths) if not stdin_paths else None,
            name=name,
            scope=scope,
            keep_seconds=parse_keep_for(keep_for),
        )
    output.table(
        (
            Record(
                (str(each.digest),),
                {"path": each.path, "digest": each.digest, "size": each.size, "is_new": each.is_new},
            )
            for each in results.stored
        ),
        as_json,
    )
    return _PARTLY if results.failed else 0


def cat(ref: Reference, as_json: Json = False, store: StoreFolder = None) -> None:
    """stdout has the object's bytes, all of them and checked, or nothing."""
    opened = find_store(store).get()
    digest = opened.resolve(ref)
    target = output.binary_stdout()
    found = opened.stat(digest)
    if found is None or found.size <= _HELD_BYTES_MAX:
        target.write(opened.read(digest))
        return
    import shutil
    import tempfile

    with output.working("checking"), tempfile.TemporaryFile() as spool:
        for piece in opened.chunks(digest):
            spool.write(piece)
        spool.seek(0)
        shutil.copyfileobj(spool, target, 1 << 20)


def show(ref: Reference, as_json: Json = False, store: StoreFolder = None) -> None:
    """stdout says what the object is, how it begins, and what keeps it."""
    opened = find_store(store).get()
    digest = opened.resolve(ref)
    found = opened.stat(digest)
    if found is None:
        opened.read(digest)  # It raises ObjectMissing.
    ...


def ls(limit: Limit = None, as_json: Json = False, store: StoreFolder = None) -> None:
    """stdout lists the objects on disk in order of their digests."""
    opened = find_store(store).get()
