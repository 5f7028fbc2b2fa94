"""remote forget, remote gc: what goes from a bucket, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from castore.cli import output
from castore.cli.locate import find_store
from castore.cli.offline import require_online
from castore.cli.output import Moment, date_text, plural, size_text
from castore.cli.parameters import DryRun, Json, StoreFolder
from castore.cli.remoting import RemoteName
from castore.cli.roots import root_facts
from castore.config import parse_duration
from castore.errors import InvalidOption

if TYPE_CHECKING:
    from castore.remote.gc import GcReport

__all__ = ["remote_forget", "remote_gc"]


def remote_forget(
    name: RemoteName,
    refs: Annotated[
        list[str],
        typer.Argument(metavar="FILE|REF", help="As of pull: files of documents, names, digests, roots."),
    ],
    now: Annotated[
        bool, typer.Option("--now", help="Skip the grace time of this store: the next gc there frees it.")
    ] = False,
    dry_run: DryRun = False,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """The roots there that these mean expire when the grace time of this store is over. Those here stay."""
    from castore import api

    opened = find_store(store).get()
    require_online(name)
    with output.working(f"forgetting at {name}"):
        roots = api.forget_at_remote(opened, *refs, remote=name, at_once=now, dry_run=dry_run)
    expiries = [root.expires for root in roots if root.expires is not None]
    if as_json:
        facts = {
            "remote": name,
            "roots": [root_facts(root) for root in roots],
            "expires": Moment(max(expiries)) if expiries else None,
            "dry_run": dry_run,
        }
        output.block((), facts, as_json)
        return
    words = f"{'would forget' if dry_run else 'forgot'} {plural(len(roots), 'root')} at '{name}'"
    if expiries:
        words += f"; a gc there takes {'it' if len(roots) == 1 else 'them'} after {date_text(max(expiries))}"
    if dry_run:
        output.line(words)
    elif output.is_attended():
        output.summary(words)


def remote_gc(
    name: RemoteName,
    grace: Annotated[
        str | None,
        typer.Option(
            "--grace", metavar="DUR", help="How long an object must have been unnamed (default: 1d)."
        ),
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for the grace, and free what is found unnamed now, too.")
    ] = False,
    shard: Annotated[
        str | None,
        typer.Option(
            "--shard", metavar="AB", help="Objects alone whose digests begin so; several machines may share."
        ),
    ] = None,
    dry_run: DryRun = False,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """What no root there names for the grace is gone, and so are roots that have expired. Pushes go on."""
    from castore import api

    opened = find_store(store).get()
    opened.require_operator("remote gc")
    require_online(name)
    if shard is not None and (len(shard) != 2 or set(shard) - set("0123456789abcdef")):
        raise InvalidOption(f"--shard must be two hex digits, not '{shard[:40]}'", option="--shard")
    grace_seconds = {} if grace is None else {"grace_seconds": parse_duration(grace)}
    with output.working(f"collecting at {name}") as progress:
        report = api.collect_remote(
            opened,
            remote=name,
            wait=wait,
            shard=shard,
            dry_run=dry_run,
            progress=progress,
            **grace_seconds,
        )
    facts = {
        "remote": name,
        "roots": report.roots,
        "objects": report.objects,
        "stored_bytes": report.object_bytes,
        "roots_removed": report.roots_removed,
        "names_removed": report.names_removed,
        "freed_objects": report.ready if dry_run else report.deleted_objects,
        "freed_bytes": report.ready_bytes if dry_run else report.deleted_bytes,
        "kept_back": report.kept_back,
        "later_objects": report.marked,
        "later_bytes": report.marked_bytes,
        "later_date": None if report.later is None else Moment(report.later),
        "strays": report.strays,
        "dry_run": dry_run,
    }
    if as_json:
        output.block((), facts, as_json)
    else:
        output.line(_words(report, dry_run))
    if report.strays:
        output.note(f"{plural(report.strays, 'key')} among the objects at '{name}' are none: left alone")
    if report.kept_back:
        output.note(f"{plural(report.kept_back, 'object')} kept back for pushes that are under way")


def _words(report: GcReport, dry_run: bool) -> str:
    """`freed 12 objects, 1.2 MB, and 3 roots (48 MB more after 2026-12-13)`."""
    objects = report.ready if dry_run else report.deleted_objects
    freed_bytes = report.ready_bytes if dry_run else report.deleted_bytes
    parts = [f"{plural(objects, 'object')}, {size_text(freed_bytes)}"] if objects else []
    parts += [plural(report.roots_removed, "root")] if report.roots_removed else []
    words = f"{'would free' if dry_run else 'freed'} {', and '.join(parts)}" if parts else "nothing to free"
    if report.marked and report.later is not None:
        more = " more" if objects else ""
        words += f" ({size_text(report.marked_bytes)}{more} after {date_text(report.later)})"
    return words
