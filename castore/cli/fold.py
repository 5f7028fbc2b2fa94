"""fold, unfold, verify: documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from castore.cli import output
from castore.cli.files import (
    is_private,
    lasting_place,
    open_source,
    open_target,
    placed_in,
    readable,
    rereadable,
    source_name,
)
from castore.cli.locate import find_store
from castore.cli.output import Record, Size, plural, size_text
from castore.cli.parameters import (
    AllowPurged,
    File,
    Json,
    KeepFor,
    Name,
    Out,
    ReadScope,
    Scope,
    StoreFolder,
    parse_count,
    parse_keep_for,
    parse_share,
)
from castore.cli.remedies import remedy
from castore.errors import InvalidOption
from castore.settings import FoldDefaults

if TYPE_CHECKING:
    from castore.api import FoldPolicy, FoldReport
    from castore.objects.finding import Finding
    from castore.store import StoreHandle

__all__ = ["finding_record", "fold", "unfold", "verify"]

_FINDINGS = 3


def fold(
    file: File = None,
    out: Out = None,
    bytes_over: Annotated[
        str | None,
        typer.Option("--bytes-over", metavar="N", help="Fold values longer than N bytes (default: 1024)."),
    ] = None,
    items_over: Annotated[
        str | None,
        typer.Option("--items-over", metavar="N", help="Fold arrays of more than N items (default: 8)."),
    ] = None,
    min_saving: Annotated[
        str | None,
        typer.Option(
            "--min-saving",
            metavar="SHARE",
            help="Fold only what a reference shortens by this share (default: 0.75).",
        ),
    ] = None,
    grow: Annotated[
        bool, typer.Option("--grow", help="Fold even where the reference is the longer one.")
    ] = False,
    fold_pattern: Annotated[
        list[str] | None,
        typer.Option(
            "--fold", metavar="PATTERN", help="Fold what matches, as in '$.rows'; may be given again."
        ),
    ] = None,
    keep_pattern: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            metavar="PATTERN",
            help="Leave what matches, and all around it; what is inside may still fold: '$.rows' leaves "
            "an array, '$.rows..*' all in it too; may be given again.",
        ),
    ] = None,
    objects: Annotated[bool, typer.Option("--objects", help="Fold large JSON objects too.")] = False,
    preview: Annotated[
        str | None,
        typer.Option(
            "--preview",
            metavar="edges|outliers|none",
            help="Show the first and last items or lines (default), or what stands apart.",
        ),
    ] = None,
    keep_for: KeepFor = None,
    name: Name = None,
    scope: Scope = None,
    allow_purged: AllowPurged = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List what would fold, biggest first; store and write nothing.")
    ] = False,
    stats: Annotated[bool, typer.Option("--stats", help="Sum it up in one line on stderr.")] = False,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """OUT or stdout holds the folded document, and everything it names is durable in the store."""
    from castore import api

    handle = find_store(store)
    policy = _policy(
        handle,
        bytes_over=parse_count("--bytes-over", bytes_over),
        items_over=parse_count("--items-over", items_over),
        min_saving=parse_share("--min-saving", min_saving),
        preview=preview,
        grow=grow,
        objects=objects,
        fold=tuple(fold_pattern or ()),
        keep=tuple(keep_pattern or ()),
    )
    if dry_run:
        with open_source(file) as source, placed_in(file):
            report = api.plan_stream(source, policy)
        output.table(_spans(report), as_json)
        _sum_up(report, "would fold")
        return
    keep_seconds = parse_keep_for(keep_for)
    with (
        output.working("folding"),
        open_source(file) as source,
        open_target(out, sync=True) as target,
        placed_in(file),
    ):
        report = api.fold_stream(
            source,
            target,
            handle,
            policy,
            source_name=source_name(file),
            name=name,
            scope=scope,
            keep_seconds=keep_seconds,
            allow_purged=allow_purged,
            file=lasting_place(out),
            is_private=is_private(out),
        )
    if name is not None and report.root is None:
        output.note(f"nothing folded, so no root has the name '{name}'")
    if stats or as_json or output.is_attended():
        _sum_up(report, "folded")


def unfold(
    file: File = None,
    out: Out = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="DIGEST|PATTERN",
            help="Expand only this and leave the rest; may be given again.",
        ),
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(
            "--source", metavar="NAME|DIGEST", help="Of several sessions with this view, the one meant."
        ),
    ] = None,
    scope: ReadScope = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """OUT or stdout holds what was folded, or the session of a view, byte for byte; or nothing."""
    from castore import api

    handle = find_store(store, scope)
    with (
        output.working("unfolding"),
        open_source(file) as source,
        open_target(out, sync=False) as target,
        placed_in(file),
    ):
        report = api.unfold_stream(
            source, target, handle, only=tuple(only or ()), session=session, is_private=is_private(out)
        )
    if only and not report.expanded:
        output.note("no reference matched --only, so nothing was expanded")


def verify(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE",
            help="Check the references in these files ('-' is stdin); none: the whole store.",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Check presence and sizes only, not every byte.")
    ] = False,
    no_markers: Annotated[
        bool,
        typer.Option(
            "--no-markers",
            help="Find markers and references that got into FILEs of any kind; needs no store.",
        ),
    ] = False,
    remote: Annotated[
        str | None,
        typer.Option(
            "--remote",
            metavar="NAME",
            help="Look at what this remote has of FILEs, or at all of it, instead of the store.",
        ),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="With --remote: read every byte, and digest it.")
    ] = False,
    scope: ReadScope = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> int:
    """stdout holds the findings, one a line; 0 if there is none, 3 if there is one. Nothing is written."""
    if remote is not None or full:
        from castore.cli.verifying import verify_at_remote

        if no_markers or (quick and full):
            raise InvalidOption("--remote goes with neither --no-markers nor --quick and --full at once")
        return verify_at_remote(files, remote, full=full, scope=scope, store=store, as_json=as_json)
    if no_markers and (not files or quick):
        raise InvalidOption(
            "--no-markers looks at files, and at nothing else of them",
            hint="name them, as in 'ctx verify --no-markers src/*.py'",
            option="--no-markers",
        )
    handle = None if no_markers else find_store(store, scope)
    checked = readable(files or (), as_json=as_json)
    if files and not checked:
        return 1
    at_remotes: Counter[str] = Counter()
    findings = _markers(checked) if handle is None else _findings(handle, checked, quick, at_remotes)
    found, names = 0, set()
    with output.working("verifying"):
        for found, finding in enumerate(findings, start=1):  # noqa: B007
            names.add(finding.name)
            output.table([finding_record(finding)], as_json)
    if found or as_json or output.is_attended():
        where = plural(len(checked), "file") if files else "the store"
        words = f"{plural(found, 'finding') if found else 'no findings'} in {where}"
        for name, count in sorted(at_remotes.items()):
            words += f", {plural(count, 'object')} at remote '{name}' alone"
        hint = None if handle is None else remedy(handle, names, is_whole=not files)
        output.summary(
            words if hint is None else f"{words}: {hint}",
            findings=found,
            files=len(checked),
            hint=hint,
            at_remotes=dict(at_remotes),
        )
    return _FINDINGS if found or len(checked) < len(files or ()) else 0


def _markers(files: list[str]) -> Iterator[Finding]:
    from castore.cli.guarding import markers_in

    return markers_in(files)


def _findings(
    handle: StoreHandle, files: list[str], quick: bool, at_remotes: Counter[str]
) -> Iterator[Finding]:
    """Of the files, or of the whole store."""
    from castore import api

    if files:
        return api.verify_documents(rereadable(files), handle, quick=quick)
    return api.verify_store(handle.get(), quick=quick, at_remotes=at_remotes)


def finding_record(finding: Finding) -> Record:
    facts = {
        "name": str(finding.name),
        "digest": finding.digest,
        "place": finding.place,
        "words": finding.words,
    }
    return Record((str(finding),), facts)


def _policy(handle: StoreHandle, **options: Any) -> FoldPolicy:
    """The options given; for those that were not (None), the store's settings if there is a store."""
    from castore.api import FoldPolicy

    defaults = handle.get().config.fold if handle.exists else FoldDefaults()
    return FoldPolicy(
        **{key: getattr(defaults, key) if value is None else value for key, value in options.items()}
    )


def _spans(report: FoldReport) -> Iterator[Record]:
    """A record a span that would fold, in the report's order: biggest first."""
    for span in report.spans:
        yield Record(
            (span.path, str(span.kind), Size(span.literal_bytes), Size(span.reference_bytes), span.digest),
            {
                "path": span.path,
                "offset": span.offset,
                "kind": str(span.kind),
                "literal_bytes": span.literal_bytes,
                "reference_bytes": span.reference_bytes,
                "digest": span.digest,
                "items": span.items,
                "lines": span.lines,
            },
        )


def _sum_up(report: FoldReport, verb: str) -> None:
    objects = plural(report.object_count, "object")
    already = f", {report.existing_count:,} already stored" if report.existing_count else ""
    output.summary(
        f"{verb} {report.folded_count:,} of {plural(report.long_count, 'long value')}: "
        f"{size_text(report.source.size)} -> {size_text(report.document.size)} ({objects}{already})",
        source={"digest": report.source.digest, "size": report.source.size},
        document={"digest": report.document.digest, "size": report.document.size},
        long_values=report.long_count,
        folded=report.folded_count,
        objects=report.object_count,
        already_stored=report.existing_count,
    )
