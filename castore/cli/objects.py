"""put, ls: objects."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from castore.cli import output
from castore.cli.failure import report
from castore.cli.files import STANDARD, standard_input
from castore.cli.locate import find_store
from castore.cli.output import Count, Record, Size
from castore.cli.parameters import (
    AllowPurged,
    Json,
    KeepFor,
    Limit,
    Name,
    ReadScope,
    Scope,
    StoreFolder,
    parse_count,
    parse_keep_for,
)
from castore.cli.roots import life_facts, life_words
from castore.errors import ObjectDamaged, RootDamaged

if TYPE_CHECKING:
    from castore.objects.database import Staged
    from castore.store import Store
    from castore.store.life import Listed

__all__ = ["list_record", "ls", "put"]

_PARTLY = 3


def put(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE", help="Store these files; '-' or none is stdin.")
    ] = None,
    stdin_paths: Annotated[
        bool, typer.Option("--stdin-paths", help="Read the paths of the files from stdin, one a line.")
    ] = False,
    keep_for: KeepFor = None,
    name: Name = None,
    scope: Scope = None,
    allow_purged: AllowPurged = False,
    as_json: Json = False,
    store: StoreFolder = None,
) -> int:
    """Every file that could be read is an object, named by one root, durable before a digest is printed.

    3 if some could not be read; they are named on stderr.
    """
    from castore.cli.intake import put_files
    from castore.roots.model import RootDraft, RootKind

    draft = RootDraft(RootKind.PUT, (), scope=scope, name=name, keep_seconds=parse_keep_for(keep_for))
    paths = list(files or ())
    if stdin_paths:
        paths += map(os.fsdecode, standard_input(is_asked_for=True).read().splitlines())
    elif not paths:
        standard_input()
        paths = [STANDARD]
    with output.working("storing"):
        opened = find_store(store).get_or_create()
        stored, unread = put_files(opened, paths, draft, allow_purged=allow_purged)
    output.table((_put_record(path, staged) for path, staged in stored), as_json)
    for each in unread:
        report(each, as_json=as_json)
    return 0 if not unread else _PARTLY if stored else 1


def _put_record(path: str, staged: Staged) -> Record:
    facts = {"path": path, "digest": staged.digest, "size": staged.size, "is_new": staged.is_new}
    return Record((str(staged.digest),), facts)


def ls(
    limit: Limit = None, scope: ReadScope = None, as_json: Json = False, store: StoreFolder = None
) -> None:
    """stdout lists the objects that are there, in order of their digests."""
    most = parse_count("-n", limit)
    opened = find_store(store, scope).get()
    output.table(map(list_record, _listed(opened, most)), as_json)


def _listed(opened: Store, most: int | None) -> Iterator[Listed]:
    """Each object with what keeps it, as far as that is known: of a damaged root file it is not."""
    listed = opened.lives(islice(opened.digests(), most))
    try:
        first = next(listed, None)
    except RootDamaged as error:
        output.note(f"what keeps the objects is not known: {error.message}")
        yield from _without_life(opened, most)
        return
    if first is not None:
        yield first
        yield from listed


def _without_life(opened: Store, most: int | None) -> Iterator[Listed]:
    from castore.store.life import Listed

    for digest in islice(opened.digests(), most):
        try:
            found = opened.stat(digest)
        except ObjectDamaged:
            found = None  # It is listed too: the command that checks is verify.
        yield Listed(digest, found, None)


def list_record(listed: Listed) -> Record:
    """Digest, size, size of the file, state, how many roots name it, the day it was last read."""
    found, life = listed.stat, listed.life
    size = Size(found.size) if found is not None else None
    stored_bytes = Size(found.stored_bytes) if found is not None else None
    is_unknown = life is None and found is not None
    cells = (
        listed.digest,
        size,
        stored_bytes,
        None if is_unknown else life_words(life),
        None if is_unknown else Count(life.roots if life is not None else 0, "root"),
        life.last_read if life is not None else None,
    )
    unknown = {"state": None, "roots": None, "expires": None, "last_read": None}
    facts = {
        "digest": listed.digest,
        "size": size,
        "stored_bytes": stored_bytes,
        **(unknown if is_unknown else life_facts(life)),
    }
    return Record(cells, facts)
