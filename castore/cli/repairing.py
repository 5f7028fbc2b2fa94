"""repair: what verify finds is put right."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from castore.cli import output
from castore.cli.files import readable, rereadable
from castore.cli.locate import find_store
from castore.cli.output import Record, plural
from castore.cli.parameters import DryRun, Json, StoreFolder
from castore.store.remedies import remote_to_name

if TYPE_CHECKING:
    from castore.digest import Digest
    from castore.gc.mending import Act
    from castore.gc.repair import RepairReport, Sources
    from castore.objects.finding import Finding
    from castore.store import Store

__all__ = ["repair"]

_FINDINGS = 3


def repair(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE", help="As --from; and what a folded document names must be there afterwards."
        ),
    ] = None,
    sources: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Look for the bytes of lost objects in this file: a source, a backup; may be given again.",
        ),
    ] = None,
    remote: Annotated[
        str | None,
        typer.Option("--remote", metavar="NAME", help="Bring from this remote what is whole there."),
    ] = None,
    dry_run: DryRun = False,
    as_json: Json = False,
    store: StoreFolder = None,
) -> int:
    """stdout says what was done, one act a line, then what is still missing (3). Nothing is deleted."""
    opened = find_store(store).get()
    given = [*(sources or ()), *(files or ())]
    found = readable(given, as_json=as_json)
    with output.working("repairing"):
        asked = _asked([each for each in files or () if each in found])
        report = _repaired(opened, remote, rereadable(found), asked=asked, dry_run=dry_run)
    output.table((_act_record(act, dry_run) for act in report.acts), as_json)
    output.table((_finding_record(finding) for finding in report.remaining), as_json)
    for words in report.notes:
        output.note(words)
    if any(act.kind == "named" for act in report.acts) and opened.parts.has_mark:
        output.note("what no root named is the operator's alone; 'ctx keep FILE --scope SCOPE' hands it back")
    missing = sum(finding.digest is not None for finding in report.remaining)
    if missing:
        name = remote_to_name(opened.parts) if remote is None else None
        option = "--from FILE" if name is None else f"--remote {name}"
        output.note(f"{plural(missing, 'object')} missing: 'ctx repair {option}' heals them")
    baseless = sum(finding.name == "damaged" for finding in report.remaining)
    if baseless:
        words = "based on what is not there: restore its file from a copy, or forget them"
        output.note(f"{plural(baseless, 'root')} {words}")
    if as_json or output.is_attended():
        done = "would do" if dry_run else "did"
        words = f"{done} {plural(len(report.acts), 'act')}" if report.acts else "nothing to repair"
        output.summary(words, acts=len(report.acts), missing=len(report.remaining), dry_run=dry_run)
    return _FINDINGS if report.remaining or len(found) < len(given) else 0


def _repaired(opened: Store, remote: str | None, sources: Sources, **options: Any) -> RepairReport:
    from castore.gc.repair import repair as repair_store

    if remote is None:
        return repair_store(opened, sources, **options)
    from castore.cli.remoting import connected
    from castore.remote.mending import repair_from_remote

    # Before anything is told of remotes.
    opened.require_operator("repair")
    return repair_from_remote(opened, connected(opened, remote), sources, **options)


def _asked(files: Iterable[str]) -> dict[Digest, str]:
    """What the references of these files name, and which file does."""
    from castore.errors import DocumentInvalid, LimitExceeded
    from castore.gc.salvage import references_in

    asked: dict[Digest, str] = {}
    for name, source in rereadable([each for each in files if each != "-"]):
        try:
            asked |= {digest: name for digest in references_in(source) if digest not in asked}
        except (DocumentInvalid, LimitExceeded):
            continue  # It is no folded document, but may have the bytes.
    return asked


def _act_record(act: Act, dry_run: bool) -> Record:
    facts = {
        "event": str(act.kind),
        "digest": act.digest,
        "path": act.path or None,
        "damaged": act.target or None,
        "source": act.source or None,
        "root": act.root or None,
        "count": act.count or None,
        "dry_run": dry_run,
    }
    return Record((act.words(is_done=not dry_run),), facts)


def _finding_record(finding: Finding) -> Record:
    facts = {
        "event": "remaining",
        "name": str(finding.name),
        "digest": finding.digest,
        "place": finding.place,
        "words": finding.words,
    }
    return Record((str(finding),), facts)
