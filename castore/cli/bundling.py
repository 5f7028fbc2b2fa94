"""bundle create, bundle import: roots and their objects in one file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from castore.cli import output
from castore.cli.files import open_source, open_target
from castore.cli.locate import find_store
from castore.cli.output import Count, Identity, Record, plural, size_text
from castore.cli.parameters import Json, Out, StoreFolder
from castore.cli.roots import root_facts, root_title
from castore.errors import InvalidOption

if TYPE_CHECKING:
    from castore.roots.model import Root

__all__ = ["bundle_create", "bundle_import"]


def bundle_create(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE|REF", help="Folded documents or views in files, names, digests, ids of roots."
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every root that is granted.")] = False,
    out: Out = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """OUT or stdout holds a tar of the roots and all that they name, as they lie in the store."""
    from castore import api

    if not targets and not everything:
        raise InvalidOption("nothing says what to bundle", hint="name a FILE or a REF, or say --all")
    if out is None and output.is_terminal(sys.stdout):
        raise InvalidOption("a bundle is a tar, and stdout is a terminal", hint="say -o x.tar")
    opened = find_store(store).get()
    with output.working("bundling") as progress, open_target(out, sync=True) as target:
        done = api.create_bundle(opened, target, *(targets or ()), everything=everything, progress=progress)
    if output.is_attended() or as_json:
        output.summary(
            f"a bundle of {plural(done.roots, 'root')} and {plural(done.objects, 'object')}, "
            f"{size_text(done.size)}",
            roots=done.roots,
            objects=done.objects,
            size=done.size,
        )


def bundle_import(
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="Import this bundle; '-' or none is stdin.")
    ] = None,
    move: Annotated[
        bool, typer.Option("--move", help="Take names from what has them here, which is then forgotten.")
    ] = False,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """All that is in the bundle is in the store, each object digested again; or nothing is. stdout lists what
    is new."""
    from castore import api
    from castore.store.importing import Outcome

    with open_source(file) as source, output.working("importing") as progress:
        done = api.import_bundle(find_store(store).get_or_create(), source, move=move, progress=progress)
    new = [each.root for each in done.roots if each.outcome in (Outcome.NEW, Outcome.CHANGED)]
    same = sum(each.outcome is Outcome.SAME for each in done.roots)
    left = len(done.roots) - len(new) - same
    output.table(map(_record, new), as_json)
    if output.is_attended() or as_json:
        words = "nothing to import" + (f": {plural(same, 'root')} here already" if same else "")
        if new:
            words = f"imported {plural(len(new), 'root')}: {plural(done.objects_new, 'object')}"
            here = done.objects - done.objects_new
            words += f" ({here:,} here already)" if here else ""
        facts = {"objects": done.objects_new, "objects_here": done.objects - done.objects_new}
        output.summary(words, imported=len(new), same=same, left=left, **facts)
    if left:
        which = "1 root was" if left == 1 else f"{left:,} roots were"
        output.note(
            f"{which} forgotten here, or expired since, and left so: 'ctx forget --undo' undoes the first"
        )


def _record(root: Root) -> Record:
    cells = (
        "imported",
        str(root.kind),
        root_title(root),
        Count(len(root.objects), "object"),
        Identity(root.id),
    )
    return Record(cells, {"outcome": "imported", **root_facts(root)})
