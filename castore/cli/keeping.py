"""log, why, tag, keep, forget, gc: what is kept, and until when."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from castore.cli import output
from castore.cli.locate import find_store
from castore.cli.output import Moment, date_text, plural, size_text
from castore.cli.parameters import (
    DryRun,
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
from castore.cli.roots import root_facts, root_record
from castore.config import FIELD_CHARACTERS_MAX, parse_duration
from castore.digest import SHORT_HEX, Digest, parse_prefix
from castore.errors import InvalidOption, NameMissing

if TYPE_CHECKING:
    from castore.gc.plan import GcReport
    from castore.roots.model import Root
    from castore.store.keeping import Forgotten

__all__ = ["forget", "gc", "keep", "log", "tag", "why"]

_SHOWN = 5
"""Words, or roots, that one line lists."""


def log(
    limit: Limit = None,
    remote: Annotated[
        str | None,
        typer.Option(
            "--remote", metavar="NAME", help="List the roots at this remote, instead of the store's."
        ),
    ] = None,
    scope: ReadScope = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> int:
    """stdout lists the roots, the latest first, with those that are forgotten but not yet collected."""
    opened, count = find_store(store, scope).get(), parse_count("-n", limit)
    if remote is not None:
        from castore.cli.remote_log import log_of_remote

        return log_of_remote(opened, remote, limit=count, as_json=as_json)
    now = time.time()
    output.table((root_record(root, now) for root in opened.roots(count)), as_json)
    return 0


def why(ref: Reference, scope: ReadScope = None, as_json: Json = False, store: StoreFolder = None) -> None:
    """stdout lists the roots that name the object, or that keep the folded document, as `log` does."""
    opened = find_store(store, scope).get()
    found = opened.find(ref)
    roots = opened.roots_naming(found) if isinstance(found, Digest) else found
    now = time.time()
    output.table((root_record(root, now) for root in roots), as_json)
    if not roots:
        output.summary("no root names it", roots=0)


def tag(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A letter, then letters, digits and . _ -")],
    ref: Reference,
    move: Annotated[
        bool, typer.Option("--move", help="Take NAME from what has it, which is then forgotten.")
    ] = False,
    expected: Annotated[
        str | None,
        typer.Option("--expect", metavar="REF", help="With --move: only if NAME means this now, else 15."),
    ] = None,
    keep_for: KeepFor = None,
    scope: Scope = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """NAME means the object, or the folded document with all its objects, and keeps it. Taken: 15."""
    if expected is not None and not move:
        raise InvalidOption("--expect is about a move", hint="say --move too")
    opened, keep_seconds = find_store(store).get(), parse_keep_for(keep_for)
    try:
        root = opened.tag(name, ref, scope=scope, keep_seconds=keep_seconds, move=move, expected=expected)
    except NameMissing as error:
        from castore.fold.targets import is_regular

        if error.fields["subject"] == ref.strip() and is_regular(ref):
            error.hint = "it is a file: 'ctx keep FILE --name NAME' names the folded document in it"
        raise
    if as_json:
        output.block((), root_facts(root), as_json)


def keep(
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="REF|FILE", help="A digest, a name, a pasted reference; or the file of a folded document."
        ),
    ],
    keep_for: KeepFor = None,
    name: Name = None,
    scope: Scope = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """A root keeps each: an object, or a document with all its objects. All of them, or none."""
    from castore import api
    from castore.fold.targets import is_file, neither

    opened = find_store(store).get()
    files = [target for target in targets if is_file(opened, target)]
    references = [target for target in targets if target not in files]
    keep_seconds = parse_keep_for(keep_for)
    try:
        roots = api.keep(opened, *references, files=files, name=name, scope=scope, keep_seconds=keep_seconds)
    except NameMissing as error:
        raise neither(str(error.fields["subject"])) from None
    if as_json:
        for root in roots:
            output.block((), root_facts(root), as_json)
    elif output.is_attended():
        output.summary(f"kept by {plural(len(roots), 'root')}")


def forget(
    refs: Annotated[
        list[str] | None,
        typer.Argument(metavar="REF", help="Names, digests of folded documents, digests that put printed."),
    ] = None,
    root: Annotated[
        list[str] | None,
        typer.Option(
            "--root",
            metavar="ID",
            help="Forget this root alone, or the whole log that it is of; may be given again.",
        ),
    ] = None,
    older_than: Annotated[
        str | None, typer.Option("--older-than", metavar="DUR", help="Forget what is older, and has no name.")
    ] = None,
    keep_last: Annotated[
        str | None,
        typer.Option("--keep-last", metavar="N", help="Leave the last N of each source."),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="GLOB", help="Forget what came from files like 'logs/*'."),
    ] = None,
    dry_run: DryRun = False,
    undo: Annotated[bool, typer.Option("--undo", help="Keep it again, while gc has not freed it.")] = False,
    now: Annotated[bool, typer.Option("--now", help="Skip the grace time: the next gc frees it.")] = False,
    scope: Scope = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """The roots chosen expire when the grace time is over. None being chosen is no error, and is said."""
    from castore.store.keeping import RootChoice
    from castore.store.lookup import pasted

    if not refs and not root and older_than is None and source is None and keep_last is None:
        raise InvalidOption(
            "nothing says what to forget",
            hint="name a REF, or say --root ID, --older-than 30d, --source or --keep-last",
        )
    if undo and now:
        raise InvalidOption("--undo and --now contradict each other")
    choice = RootChoice(
        references=tuple(map(pasted, refs or ())),
        roots=tuple(root or ()),
        older_than_seconds=None if older_than is None else parse_duration(older_than),
        source=source,
        keep_last=parse_count("--keep-last", keep_last),
        scope=scope,
    )
    opened = find_store(store).get()
    if undo:
        done, verb = opened.remember(choice, dry_run=dry_run), "remember"
    else:
        done, verb = opened.forget(choice, at_once=now, dry_run=dry_run), "forget"
    _say_forgotten(done, verb, dry_run, as_json)
    # A policy that runs each night may well choose nothing.
    is_asked_for = undo or refs or root or as_json or output.is_attended()
    if (is_asked_for and not done.roots) or done.unmatched:
        output.summary(_nothing_words(done, verb), roots=len(done.roots))
    if done.still_kept:
        output.note(_still_kept_words(done.still_kept))


def _say_forgotten(done: Forgotten, verb: str, dry_run: bool, as_json: bool) -> None:
    """`would forget 12 roots; gc would free 48 MB after 2026-12-13`."""
    if as_json:
        facts = {
            "roots": [root_facts(root) for root in done.roots],
            "objects": done.objects,
            "stored_bytes": done.stored_bytes,
            "expires": None if done.expires is None else Moment(done.expires),
            "dry_run": dry_run,
            "unmatched": [output.clipped(each, FIELD_CHARACTERS_MAX) for each in done.unmatched],
            "still_kept": [root_facts(root) for root in done.still_kept],
        }
        output.block((), facts, as_json)
        return
    past = {"forget": "forgot", "remember": "remembered"}[verb]
    words = f"{'would ' + verb if dry_run else past} {plural(len(done.roots), 'root')}"
    if verb == "forget" and done.expires is not None:
        would = "would free" if dry_run else "frees"
        words += f"; gc {would} {size_text(done.stored_bytes)} after {date_text(done.expires)}"
    if dry_run:
        output.line(words)
    elif done.roots and output.is_attended():
        output.summary(words)


def _nothing_words(done: Forgotten, verb: str) -> str:
    """`nothing to forget: no root fits 'poem'`."""
    words = f"nothing to {'undo' if verb == 'remember' else verb}: "
    if done.unmatched:
        shown = ", ".join(f"'{each}'" for each in done.unmatched[:_SHOWN])
        more = f" and {len(done.unmatched) - _SHOWN:,} more" if len(done.unmatched) > _SHOWN else ""
        is_digest = any(parse_prefix(each) is not None for each in done.unmatched)
        hint = "; 'ctx why' lists the roots that name an object, and --root takes one" if is_digest else ""
        return output.brief(f"{words}no root fits {shown}{more}{hint}")
    if done.left:
        whose = "the root that fits is" if done.left == 1 else f"the {done.left:,} roots that fit are"
        return words + whose + (" not forgotten" if verb == "remember" else " forgotten already, or expired")
    return f"{words}no root fits"


def _still_kept_words(roots: Iterable[Root]) -> str:
    """`still kept by outage (tag) and 3f9ac01b77de5a10 (keep): forget those by name, or with --root`."""
    found = list(roots)
    shown = ", ".join(f"{root.name or root.id[:SHORT_HEX]} ({root.kind})" for root in found[:_SHOWN])
    more = f" and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
    return f"still kept by {shown}{more}: they are forgotten by name, or with --root"


def gc(
    dry_run: DryRun = False,
    now: Annotated[
        bool, typer.Option("--now", help="Free what was forgotten without waiting for the grace time.")
    ] = False,
    documents: Annotated[
        list[str] | None,
        typer.Option(
            "--documents",
            metavar="GLOB",
            help="First keep what these folded files name, as in '**/*.json'; may be given again.",
        ),
    ] = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """What no root names is gone from the disk, and nothing else. stdout says what was freed, or would be."""
    from castore import api

    opened = find_store(store).get()
    opened.require_operator("gc")
    with output.working("collecting"):
        files = _files(documents or (), opened.folder)
        collected = api.collect(opened, documents=files, forgotten_now=now, dry_run=dry_run)
    report = collected.report
    facts = {
        "roots": report.roots,
        "objects": report.objects,
        "stored_bytes": report.stored_bytes,
        "later_objects": report.later_objects,
        "later_bytes": report.later_bytes,
        "later_date": None if report.later_date is None else Moment(report.later_date),
        "staged_files": report.staged_files,
        "staged_bytes": report.staged_bytes,
        "documents": len(files),
        "kept_roots": len(collected.kept),
        "dry_run": dry_run,
    }
    if as_json:
        output.block((), facts, as_json)
    else:
        output.line(_gc_words(report, dry_run))


def _files(globs: Iterable[str], store_folder: str) -> list[str]:
    """Those of every glob, before anything is done: one that matches nothing was mistyped."""
    from castore.cli.globs import files_matching

    found = [path for glob in globs for path in files_matching(glob, without=store_folder)]
    return list(dict.fromkeys(found))


def _gc_words(report: GcReport, dry_run: bool) -> str:
    """`freed 3 objects, 1.2 MB (48 MB more after 2026-12-13)`."""
    freed = report.stored_bytes + report.staged_bytes
    if report.objects or report.staged_files:
        parts = [plural(report.objects, "object")] if report.objects else []
        parts += [plural(report.staged_files, "staged file")] if report.staged_files else []
        words = f"{'would free' if dry_run else 'freed'} {' and '.join(parts)}, {size_text(freed)}"
    else:
        words = "nothing to free"
    if report.later_objects and report.later_date is not None:
        more = " more" if freed else ""
        words += f" ({size_text(report.later_bytes)}{more} after {date_text(report.later_date)})"
    return words
