"""push, pull, fetch: roots and their objects, to a remote and from one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from castore.cli import output
from castore.cli.failure import report
from castore.cli.locate import find_store
from castore.cli.offline import require_online
from castore.cli.output import Count, Identity, Record, plural, size_text
from castore.cli.parameters import DryRun, Json, StoreFolder
from castore.cli.roots import root_facts, root_title
from castore.digest import SHORT_HEX
from castore.errors import (
    CastoreError,
    Conflict,
    InvalidOption,
    NameMissing,
    NameTaken,
    ObjectMissing,
    RootsDiverged,
    StoreMissing,
)

if TYPE_CHECKING:
    from castore.remote.pull import PullReport
    from castore.remote.push import Pushed, PushReport
    from castore.roots.model import Root
    from castore.store import Store
    from castore.store.importing import Imported

__all__ = ["fetch", "pull", "push"]

_PARTLY = 3

_Targets = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME] FILE|REF",
        help="First a remote, unless it is the only one, or origin; then folded documents, views or "
        "collapsed sessions in files, names, digests, roots.",
    ),
]
_All = Annotated[bool, typer.Option("--all", help="Every root that is granted.")]


def push(
    targets: _Targets = None,
    everything: _All = False,
    move: Annotated[
        bool, typer.Option("--move", help="Take names there from what has them, which is then forgotten.")
    ] = False,
    anew: Annotated[
        bool, typer.Option("--anew", help="Send objects that are there, too, in case they are damaged.")
    ] = False,
    dry_run: DryRun = False,
    as_json: Json = False,
    store: StoreFolder = None,
) -> int:
    """The roots and all that they name are at the remote, durably. stdout lists what is new there, and what
    is refused (15) or damaged here, while the others are pushed."""
    from castore import api

    opened = find_store(store).get()
    name, texts = _meant(opened, targets, everything, "push")
    with _perhaps_a_remote(targets), output.working(f"pushing to {name}") as progress:
        done = api.push(
            opened,
            *texts,
            remote=name,
            everything=everything,
            move=move,
            anew=anew,
            dry_run=dry_run,
            progress=progress,
            on_wait=lambda: output.note(f"waits for a gc at '{name}' to end, 20 minutes at most"),
        )
    output.table(_push_records(done, dry_run), as_json)
    errors: list[CastoreError] = [each.error for each in done.refused]
    code = _reported(errors, as_json, is_partly=bool(done.pushed))
    _say_pushed(done, name, dry_run, as_json)
    return code


def pull(
    targets: _Targets = None,
    everything: _All = False,
    move: Annotated[
        bool, typer.Option("--move", help="Take names here from what has them, which is then forgotten.")
    ] = False,
    lazily: Annotated[
        bool, typer.Option("--lazily", help="Bring roots alone; what reads an object fetches it.")
    ] = False,
    as_json: Json = False,
    store: StoreFolder = None,
) -> int:
    """The roots and all that they name are here, each object digested again. stdout lists what is new here,
    and what is refused (15) or damaged there, while the others come."""
    from castore import api

    opened = _with_remotes(store)
    name, texts = _meant(opened, targets, everything, "pull")
    with _perhaps_a_remote(targets), output.working(f"pulling from {name}") as progress:
        done = api.pull(
            opened,
            *texts,
            remote=name,
            everything=everything,
            move=move,
            lazily=True if lazily else None,
            progress=progress,
        )
    return _told_of_pull(opened, done, name, as_json)


def fetch(
    refs: Annotated[
        list[str],
        typer.Argument(metavar="FILE|REF", help="A folded document or view in a file, a name, a digest."),
    ],
    remote: Annotated[
        str | None,
        typer.Option("--remote", metavar="NAME", help="Pull from it what means nothing here."),
    ] = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> int:
    """All objects that these name are here, from the remotes that their roots were pulled from."""
    from castore import api

    opened = _with_remotes(store)
    require_online(remote)
    try:
        with output.working("fetching"):
            done = api.fetch(opened, *refs, remote=remote)
    except (NameMissing, ObjectMissing) as error:
        if remote is None:
            error.hint = "'ctx pull' brings what no root here names; so does --remote NAME"
        raise
    code = 0
    if done.pulled is not None:
        code = _told_of_pull(opened, done.pulled, str(remote), as_json, sums_up=False)
    if as_json or output.is_attended():
        words = f"fetched {plural(done.objects, 'object')}" if done.objects else "nothing to fetch"
        output.summary(f"{words}, {done.here:,} here already", objects=done.objects, here=done.here)
    return code


# --- What is meant ---------------------------------------------------------------------------------


def _with_remotes(store: str | None) -> Store:
    """A store that is there: one that was made now would have no remote."""
    try:
        return find_store(store).get()
    except StoreMissing as error:
        error.hint = "'ctx init' makes one, and 'ctx remote add' tells it of a remote"
        raise


def _meant(opened: Store, targets: Sequence[str] | None, everything: bool, act: str) -> tuple[str, list[str]]:
    """The remote, and what to push or pull."""
    from castore.remote import remotes

    texts = list(targets or ())
    is_named = bool(texts) and texts[0] in remotes.listed(opened)
    name = texts.pop(0) if is_named else remotes.default(opened)
    if not texts and not everything:
        raise InvalidOption(f"nothing says what to {act}", hint="name a FILE or a REF, or say --all")
    require_online(name)
    return name, texts


@contextmanager
def _perhaps_a_remote(targets: Sequence[str] | None) -> Iterator[None]:
    """A first word that nothing is called was perhaps to be a remote."""
    try:
        yield
    except NameMissing as error:
        if targets and error.fields["subject"] == targets[0] and error.hint is not None:
            error.hint += "; 'ctx remote list' lists the remotes"
        raise


# --- What is told ----------------------------------------------------------------------------------


def _push_records(done: PushReport, dry_run: bool) -> Iterator[Record]:
    """What is new at the remote, and what was refused; what is there already is only counted."""
    for each in done.pushed:
        if _is_new(each):
            words = "new" if each.is_new else "changed" if each.is_changed else "named"
            words += ", name moved" if each.name == "moved" else ""
            yield _record("would push" if dry_run else "pushed", each.root, words)
    for refused in done.refused:
        yield _record("refused", refused.root, refused.error.message, refused.error)


def _is_new(pushed: Pushed) -> bool:
    """The root says more there than before, or its name means something else."""
    return pushed.is_changed or pushed.name not in (None, "same")


def _say_pushed(done: PushReport, name: str, dry_run: bool, as_json: bool) -> None:
    """`pushed 3 roots to 'origin': 12 objects, 1.2 MB (40 there already)`."""
    same = sum(not _is_new(each) for each in done.pushed)
    new = len(done.pushed) - same
    objects = plural(done.objects_sent, "object")
    objects += f", {size_text(done.sent_bytes)}" if done.sent_bytes else ""
    there = f"{plural(same, 'root')} there already"
    if new:
        words = f"{'would push' if dry_run else 'pushed'} {plural(new, 'root')} to '{name}': {objects}"
        words += f" ({done.objects_there:,} there already)" if done.objects_there else ""
    elif done.objects_sent:
        words = f"{'would send' if dry_run else 'sent'} {objects} to '{name}': {there}"
    else:
        words = f"nothing to push to '{name}'" + (f": {there}" if same else "")
    if dry_run or as_json or output.is_attended():
        output.summary(
            words,
            remote=name,
            pushed=new,
            same=same,
            refused=len(done.refused),
            left=len(done.left),
            objects_sent=done.objects_sent,
            objects_there=done.objects_there,
            sent_bytes=done.sent_bytes,
            dry_run=dry_run,
        )
    if done.left:
        which = "1 root is" if len(done.left) == 1 else f"{len(done.left):,} roots are"
        output.note(f"{which} forgotten at '{name}', and left so: a push that names one brings it back")


def _told_of_pull(opened: Store, done: PullReport, name: str, as_json: bool, *, sums_up: bool = True) -> int:
    """The exit code."""
    from castore.store.importing import Outcome

    errors = {
        each.root.id: error for each in done.imported if (error := _refusal(each, name, opened)) is not None
    }
    errors |= {each.root.id: each.error for each in done.lost}
    new = [each for each in done.imported if each.outcome in (Outcome.NEW, Outcome.CHANGED)]
    same = sum(each.outcome is Outcome.SAME for each in done.imported)
    roots = [*(each.root for each in done.imported), *(each.root for each in done.lost)]
    refused = [root for root in roots if root.id in errors]
    left = len(done.imported) + len(done.lost) + len(done.unnamed) - len(new) - same - len(refused)
    rows = [_record("pulled", each.root, str(each.outcome)) for each in new]
    rows += [_record("refused", root, errors[root.id].message, errors[root.id]) for root in refused]
    output.table(rows, as_json)
    told = [*errors.values(), *done.damaged]
    code = _reported(told, as_json, is_partly=bool(new or same))
    if sums_up and (as_json or output.is_attended()):
        words = f"nothing to pull from '{name}'" + (f": {plural(same, 'root')} here already" if same else "")
        if new:
            words = f"pulled {plural(len(new), 'root')} from '{name}': {plural(done.objects, 'object')}"
            words += f", {size_text(done.stored_bytes)}" if done.stored_bytes else ""
        output.summary(
            words,
            remote=name,
            pulled=len(new),
            same=same,
            refused=len(errors),
            left=left,
            objects=done.objects,
            bytes=done.stored_bytes,
        )
    forgotten = sum(
        each.outcome is Outcome.FORGOTTEN and each.root.forgotten is None for each in done.imported
    )
    if forgotten:
        which = "1 root is" if forgotten == 1 else f"{forgotten:,} roots are"
        output.note(f"{which} forgotten here, and left so: a pull that names one brings it back")
    return code


def _refusal(imported: Imported, name: str, opened: Store) -> CastoreError | None:
    """Why the root did not come; None if it is here, or was left as it is here on purpose."""
    from castore.store.importing import Outcome

    root = imported.root
    if imported.outcome is Outcome.NAME_TAKEN:
        taken = root.name or ""
        hint = f"look at both: what has it here may be pushed to '{name}', or pull with --move"
        here = next((each.id for each in opened.named_roots(taken) if each.scope == root.scope), None)
        if here is None:
            return NameTaken(taken, root.scope, hint=hint)
        words = f"name '{taken}' means another root here: {here[:SHORT_HEX]}"
        return NameTaken(taken, root.scope, message=words, hint=hint, root=here)
    if imported.outcome is Outcome.DIVERGED:
        return RootsDiverged(root.id, f"this store and '{name}' changed it apart")
    return None


def _reported(errors: Sequence[CastoreError], as_json: bool, *, is_partly: bool) -> int:
    """The exit code of what was refused, each told on stderr, while the others were done."""
    for each in errors:
        report(each, as_json=as_json)
    if any(isinstance(each, Conflict) for each in errors):
        return Conflict.exit_code
    if errors:
        return _PARTLY if is_partly else errors[0].exit_code
    return 0


def _record(outcome: str, root: Root, words: str, error: CastoreError | None = None) -> Record:
    """Outcome, kind, title, objects, id, what is new of it or why it was refused."""
    facts = {
        "outcome": outcome,
        "error": None if error is None else type(error).__name__,
        "words": words,
        **root_facts(root),
    }
    cells = (
        outcome,
        str(root.kind),
        root_title(root),
        Count(len(root.objects), "object"),
        Identity(root.id),
        words,
    )
    return Record(cells, facts)
