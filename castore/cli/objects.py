"""put, cat, show, ls: objects."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from castore.cli import output
from castore.cli.failure import report
from castore.cli.files import STANDARD, standard_input
from castore.cli.locate import find_store
from castore.cli.output import Count, Record, Size, size_text
from castore.cli.parameters import (
    AllowPurged,
    Json,
    KeepFor,
    Limit,
    Name,
    ReadScope,
    Reference,
    Scope,
    StoreFolder,
    parse_count,
    parse_keep_for,
)
from castore.cli.roots import life_facts, life_words, root_facts, root_lines, root_words
from castore.digest import Digest
from castore.errors import ObjectDamaged, RootDamaged

if TYPE_CHECKING:
    from castore.objects.database import Staged
    from castore.roots.model import Root
    from castore.store import Store
    from castore.store.life import Listed

__all__ = ["ls", "put", "show"]

_PARTLY = 3
_EDGE_BYTES = 150
_OBJECTS_SHOWN = 20


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


def show(ref: Reference, scope: ReadScope = None, as_json: Json = False, store: StoreFolder = None) -> None:
    """stdout says what the object is, how it begins and ends, and what keeps it. Its bytes are checked.

    Of a folded document, a root, or a name of several objects: what it is, and which objects it keeps.
    """
    opened = find_store(store, scope).get()
    found = opened.find(ref)
    if isinstance(found, Digest):
        _show_object(opened, found, as_json)
    else:
        for root in found:
            _show_root(opened, root, as_json)


def _show_object(opened: Store, digest: Digest, as_json: bool) -> None:
    from castore.store.reads import ReadCount

    with output.working("checking"):
        # Looking at an object is no use of it: the read is noted nowhere.
        size, lines, preview = _look_through(opened.chunks(digest, count=ReadCount()))
    found, life = opened.stat(digest), opened.life(digest)
    stored_bytes = found.stored_bytes if found is not None else 0
    roots = opened.roots_naming(digest)
    ratio = f" ({size / stored_bytes:.1f}x)" if stored_bytes else ""
    shown = [
        ("digest", str(digest)),
        ("size", Size(size)),
        ("stored", f"{size_text(stored_bytes)}{ratio}"),
        ("lines", Count(lines)),
        ("state", life_words(life)),
        ("roots", Count(life.roots)),
        ("last read", life.last_read),
        ("preview", preview),
        *(("named by", root_words(root, time.time())) for root in roots),
    ]
    facts = {
        "digest": digest,
        "size": size,
        "stored_bytes": stored_bytes,
        "lines": lines,
        **life_facts(life),
        "preview": preview,
        "named_by": [root_facts(root) for root in roots],
    }
    output.block(shown, facts, as_json)


def _show_root(opened: Store, root: Root, as_json: bool) -> None:
    objects = list(map(_list_record, opened.lives(root.objects[:_OBJECTS_SHOWN])))
    more = len(root.objects) - len(objects)
    facts = {
        **root_facts(root),
        "folded_size": None if root.document is None else root.document.size,
        "first_objects": [each.facts for each in objects],
        "more_objects": more,
    }
    output.block(root_lines(root, time.time()), facts, as_json)
    if not as_json:
        output.table((Record(("object", *each.cells), {}) for each in objects), as_json)
        if more:
            output.block([("more", Count(more, "object"))], {}, as_json)


def ls(
    limit: Limit = None, scope: ReadScope = None, as_json: Json = False, store: StoreFolder = None
) -> None:
    """stdout lists the objects that are there, in order of their digests."""
    most = parse_count("-n", limit)
    opened = find_store(store, scope).get()
    output.table(map(_list_record, _listed(opened, most)), as_json)


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


def _list_record(listed: Listed) -> Record:
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


def _look_through(pieces: Iterator[bytes]) -> tuple[int, int, str]:
    """Bytes, lines, and the edges of the object, in one pass that checks the whole."""
    size, feeds, first, last = 0, 0, b"", b""
    for piece in pieces:
        size += len(piece)
        feeds += piece.count(b"\n")
        if len(first) < _EDGE_BYTES:
            first += piece[: _EDGE_BYTES - len(first)]
        last = (last + piece)[-_EDGE_BYTES:]
    lines = feeds + (1 if size and not last.endswith(b"\n") else 0)
    return size, lines, _edges(first, last, size)


def _edges(first: bytes, last: bytes, size: int) -> str:
    """The beginning and the end as text on one line; bytes that are no text as hex digits."""
    text = first[:_EDGE_BYTES].decode("utf-8", "replace").rstrip("\ufffd")
    if "\ufffd" in text or "\x00" in text:
        return "bytes " + first[:16].hex(" ") + (" …" if size > 16 else "")
    if size <= _EDGE_BYTES:
        return " ".join(text.split())
    end = last[-_EDGE_BYTES // 3 :].decode("utf-8", "replace").lstrip("\ufffd")
    return f"{' '.join(text[: _EDGE_BYTES * 2 // 3].split())} … {' '.join(end.split())}"
