"""show: what an object is and what stands apart in it; what a root is and which objects it keeps."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from castore.cli import output
from castore.cli.locate import find_store
from castore.cli.objects import list_record
from castore.cli.output import Count, Record
from castore.cli.parameters import Json, ReadScope, StoreFolder, parse_max_bytes, place_words
from castore.cli.roots import life_facts, root_facts, root_lines
from castore.config import COUNT_MAX, SHOWN_BYTES, SHOWN_JSON_BYTES
from castore.digest import Digest

if TYPE_CHECKING:
    from castore.roots.model import Root
    from castore.store import Store

__all__ = ["show"]

_OBJECTS_SHOWN = 20


def show(
    ref: Annotated[
        str,
        typer.Argument(
            metavar="REF",
            help="A digest or its first digits, a name, a reference pasted in, or FILE#PATTERN.",
        ),
    ],
    max_bytes: Annotated[
        str | None,
        typer.Option(
            "--max-bytes",
            metavar="N",
            help=f"Say it in at most N bytes (default: {SHOWN_BYTES}; --json: {SHOWN_JSON_BYTES}; 0: all).",
        ),
    ] = None,
    scope: ReadScope = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """stdout says what the object is, what stands apart in it, its members, how it begins and ends, and what
    names it. Its bytes are checked; of a very large object those that were looked at.

    Of a folded document, a root, or a name of several objects: what it is, and which objects it keeps.
    """
    bytes_max = parse_max_bytes(max_bytes, SHOWN_JSON_BYTES if as_json else SHOWN_BYTES) or COUNT_MAX
    opened = find_store(store, scope).get()
    for each in _found(opened, ref):
        if isinstance(each, Digest):
            _show_object(opened, each, bytes_max, place_words(scope, store), as_json)
        else:
            _show_root(opened, each, as_json)


def _found(opened: Store, ref: str) -> Sequence[Digest | Root]:
    from castore.retrieve.references import is_place, resolve

    if is_place(ref):
        return resolve(opened, ref)
    found = opened.find(ref)
    return [found] if isinstance(found, Digest) else found


def _show_object(opened: Store, digest: Digest, bytes_max: int, places: Sequence[str], as_json: bool) -> None:
    """places: the words that look at the same scope and store again."""
    from castore.cli.reading import shell_words
    from castore.retrieve.showing import NAMED_MAX, show

    again = ["show", digest.short, *places]

    def onwards(wanted: int) -> tuple[str, str]:
        more = ["--max-bytes", str(wanted)]
        return f"ctx {shell_words([*again, *more])}", shell_words(more)

    with output.working("checking"):
        shown = show(opened, digest, bytes_max=bytes_max, now=time.time(), onwards=onwards)
    if not as_json:
        output.block(shown.lines, {}, as_json=False)
        return
    from castore.retrieve.shortening import shortened

    facts = {
        **shown.facts,
        **life_facts(shown.life),
        "named_by": [root_facts(root) for root in shown.named[:NAMED_MAX]],
    }
    told = shortened(
        facts,
        bytes_max,
        lambda value: len(output.json_text(value).encode()) + 1,
        lambda wanted: [*again, "--json", "--max-bytes", str(wanted)],
    )
    output.block((), told, as_json=True)


def _show_root(opened: Store, root: Root, as_json: bool) -> None:
    objects = list(map(list_record, opened.lives(root.objects[:_OBJECTS_SHOWN])))
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
