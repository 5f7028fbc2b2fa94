"""view: a session on its way to a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from castore.cli import output
from castore.cli.collapse_session import note_entries, note_forgotten
from castore.cli.files import is_private, lasting_place, open_source, open_target, placed_in, source_name
from castore.cli.locate import find_store
from castore.cli.output import Record, Size, plural, size_text
from castore.cli.parameters import (
    AllowPurged,
    DryRun,
    File,
    Json,
    KeepFor,
    Name,
    Out,
    RetrieveWith,
    Scope,
    SessionName,
    StoreFolder,
    parse_count,
    parse_keep_for,
)
from castore.digest import Digest
from castore.errors import InvalidOption
from castore.settings import ViewDefaults

if TYPE_CHECKING:
    from castore.transcript.collapse.persistence import CollapseLog
    from castore.transcript.validate import Finding
    from castore.transcript.view import View, ViewRequest

__all__ = ["view"]

_FINDINGS = 3

_STRATEGY_HELP = (
    "transparent (default), tiered, dedupe-reads, clip, cap, and before those collapse; several are joined "
    "by commas, or given again."
)


def view(
    file: File = None,
    out: Out = None,
    strategy: Annotated[
        list[str] | None, typer.Option("--strategy", metavar="NAME[,NAME]", help=_STRATEGY_HELP)
    ] = None,
    format: Annotated[
        str | None, typer.Option("--format", metavar="NAME", help="Read the session as this format.")
    ] = None,
    leaf: Annotated[
        str | None,
        typer.Option("--leaf", metavar="ID", help="View the branch that ends there (default: the latest)."),
    ] = None,
    sidechain: Annotated[
        str | None, typer.Option("--sidechain", metavar="ID", help="View this sub-agent's transcript.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse a session with oddities.")] = False,
    session: SessionName = None,
    step: Annotated[
        str | None,
        typer.Option("--step", metavar="TURNS", help="Let what moves advance by so many turns (default: 8)."),
    ] = None,
    fold_arguments: Annotated[
        str | None,
        typer.Option(
            "--fold-arguments", metavar="N", help="Of calls over N bytes, move the long arguments too."
        ),
    ] = None,
    mark_thinking: Annotated[
        str | None,
        typer.Option("--mark-thinking", metavar="yes|no", help="Leave a marker for thinking (default: yes)."),
    ] = None,
    max_prose: Annotated[
        str | None,
        typer.Option("--max-prose", metavar="N", help="Let the oldest prose leave over N characters."),
    ] = None,
    retrieve_with: RetrieveWith = None,
    window: Annotated[
        str | None,
        typer.Option(
            "--window", metavar="N", help="tiered: clip lightly in the last N messages (default: 6)."
        ),
    ] = None,
    limit: Annotated[
        str | None,
        typer.Option("--limit", metavar="N", help="clip: characters that a result shows (default: 4000)."),
    ] = None,
    cap: Annotated[
        str | None,
        typer.Option("--cap", metavar="SIZE", help="cap: bytes that the view may take: 30000 or 30kB."),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="SIZE",
            help="Add strategies until it fits: bytes of the file (200000, 150kB), or tokens of what the "
            "model gets of it (30k-tokens).",
        ),
    ] = None,
    allow_prose: Annotated[
        bool, typer.Option("--allow-prose", help="Let prose leave for a cap or budget.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print what happens to each part, and why, instead of the view.")
    ] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Check the view by its API's rules; findings, also the session's own, exit 3."
        ),
    ] = False,
    keep_for: KeepFor = None,
    name: Name = None,
    move: Annotated[
        bool, typer.Option("--move", help="Take NAME from what has it, which is then forgotten.")
    ] = False,
    scope: Scope = None,
    allow_purged: AllowPurged = False,
    dry_run: DryRun = False,
    stats: Annotated[bool, typer.Option("--stats", help="Sum it up on stderr.")] = False,
    as_json: Json = False,
    store: StoreFolder = None,
) -> int:
    """OUT or stdout holds the session as the model should see it; `ctx unfold` of that gives it back."""
    from castore.store.batch import NameMove
    from castore.transcript.collapse.seen_log import log_place
    from castore.transcript.collapse.session import session_log
    from castore.transcript.decision import ViewOptions
    from castore.transcript.view import ViewRequest, make_view, plan_view

    handle = find_store(store)
    settings = handle.get().config.view if handle.exists else ViewDefaults()
    defaults = {"step": settings.step, "write_tools": settings.write_tools}
    given: dict[str, Any] = {
        "step": parse_count("--step", step),
        "fold_arguments": parse_count("--fold-arguments", fold_arguments),
        "mark_thinking": _yes_or_no("--mark-thinking", mark_thinking),
        "max_prose": parse_count("--max-prose", max_prose),
        "retrieve_with": retrieve_with,
        "window_messages": parse_count("--window", window),
        "clip_characters": parse_count("--limit", limit),
        "cap_bytes": _cap_bytes(cap),
        "cap_prose": allow_prose or None,
    }
    strategies = _strategies(strategy, cap)
    if budget is None:
        _refuse_idle(strategies, limit=limit, window=window, allow_prose=allow_prose)
    if move and name is None:
        raise InvalidOption("--move is about a name", option="--move", hint="say --name NAME too")
    request = ViewRequest(
        strategies=strategies,
        options=ViewOptions(
            **{**defaults, **{key: value for key, value in given.items() if value is not None}}
        ),
        format=format,
        leaf=leaf,
        sidechain=sidechain,
        is_strict=strict,
        session=session,
        budget=budget,
        allow_prose=allow_prose,
    )
    keep_seconds = parse_keep_for(keep_for)
    if dry_run or explain:
        with output.working("viewing"), open_source(file) as source, placed_in(file):
            made = plan_view(source.read(), request, handle, scope=scope)
        if explain:
            output.table(_explained(made), as_json)
    else:
        with (
            output.working("viewing"),
            open_source(file) as source,
            open_target(out, sync=True) as target,
            placed_in(file),
        ):
            made = make_view(
                source.read(),
                handle,
                request,
                source_name=source_name(file),
                name=name,
                scope=scope,
                keep_seconds=keep_seconds,
                allow_purged=allow_purged,
                move=NameMove() if move else None,
                file=lasting_place(out),
                target=target,
                is_private=is_private(out),
            )
    if request.is_collapsed:
        log = session_log(made.transcript, handle, session, scope)
        _tell_waiting(made, log, stats=stats or explain)
        note_entries(made.transcript)
        if not made.transcript.collapsed and scope is None:
            place = log_place(handle, log.session)
            note_forgotten(place, place.forgotten)
    found = _found(made) if check else None
    _tell(made, request, found, stats=stats or dry_run or as_json or (explain and output.is_attended()))
    return _FINDINGS if found else 0


# --- Helpers ---------------------------------------------------------------------------------------


def _strategies(given: list[str] | None, cap: str | None) -> tuple[str, ...]:
    names = [name.strip() for each in given or ["transparent"] for name in each.split(",")]
    if cap is not None and not _is_among("cap", names):
        names.append("cap")
    if cap is None and _is_among("cap", names):
        raise InvalidOption("the strategy 'cap' needs --cap SIZE", option="--cap")
    return tuple(names)


def _is_among(strategy: str, names: Sequence[str]) -> bool:
    """With or without its version."""
    return any(name.partition("@")[0] == strategy for name in names)


def _refuse_idle(
    strategies: tuple[str, ...], *, limit: str | None, window: str | None, allow_prose: bool
) -> None:
    """An option of a strategy that was not asked for would do nothing."""
    if limit is not None and not _is_among("clip", strategies):
        raise InvalidOption(
            "--limit is of the strategy 'clip'", option="--limit", hint="say --strategy clip too"
        )
    if window is not None and not _is_among("tiered", strategies):
        raise InvalidOption(
            "--window is of the strategy 'tiered'", option="--window", hint="say --strategy tiered too"
        )
    if allow_prose and not _is_among("cap", strategies):
        raise InvalidOption(
            "--allow-prose is about a cap or a budget",
            option="--allow-prose",
            hint="say --cap SIZE or --budget SIZE too; --max-prose N lets prose leave without one",
        )


def _cap_bytes(text: str | None) -> int | None:
    """Written as a budget is, in bytes."""
    from castore.transcript.budget import Budget

    if text is None:
        return None
    try:
        size = Budget.parse(text)
    except InvalidOption as error:
        raise InvalidOption(
            f"--cap must be a size of at least one byte, not '{text[:40]}'",
            option="--cap",
            hint="as in 30000 or 30kB",
        ) from error
    if size.is_tokens:
        raise InvalidOption("--cap is in bytes", option="--cap", hint="--budget takes tokens")
    return size.limit


def _yes_or_no(option: str, text: str | None) -> bool | None:
    if text is None:
        return None
    if text not in ("yes", "no"):
        raise InvalidOption(f"{option} must be yes or no, not '{text[:40]}'", option=option)
    return text == "yes"


def _explained(view: View) -> Iterator[Record]:
    """A record a part, and one a run of records that left."""
    from castore.transcript.explain import explain

    for row in explain(view):
        digest = None if row.digest is None else Digest.parse(row.digest)
        yield Record(
            (row.part, row.turn, row.kind, Size(row.size), row.decision, row.reason, digest),
            {
                "part": row.part,
                "turn": row.turn,
                "kind": row.kind,
                "line": row.line,
                "bytes": row.size,
                "view_bytes": row.view_size,
                "decision": row.decision,
                "reason": row.reason,
                "strategy": row.strategy,
                "digest": row.digest,
            },
        )


_BEGINS = "'ctx collapse stage' begins"


def _tell_waiting(view: View, log: CollapseLog, *, stats: bool) -> None:
    """What could be collapsed and is not."""
    staged = len(log.load().snapshot.staged)
    waiting = f"{plural(staged, 'span is', 'spans are')} staged, and 'ctx collapse commit' hides what is"
    if not view.transcript.collapsed:
        output.note(f"nothing is collapsed: {waiting if staged else _BEGINS}")
    elif staged and (stats or output.is_attended()):
        output.note(waiting)


def _tell(view: View, request: ViewRequest, found: list[tuple[Finding, bool]] | None, *, stats: bool) -> None:
    """What was odd, what left, what it saved, and what the check found."""
    from castore.transcript.explain import count
    from castore.transcript.marker import whole_marker
    from castore.transcript.model import PartKind, Reason
    from castore.transcript.strategies import find_strategies

    transcript = view.transcript
    for odd in transcript.oddities[:_ODDITIES_SHOWN]:
        output.note(f"line {odd.line}: {odd.words}")
    if len(transcript.oddities) > _ODDITIES_SHOWN:
        more = plural(len(transcript.oddities) - _ODDITIES_SHOWN, "more oddity", "more oddities")
        output.note(f"… and {more}: --json lists them all")
    if view.root is not None and (marker := whole_marker(transcript.source)) is not None:
        output.note(f"markers stand in it, as '{marker}': it may be a view whose record is elsewhere")
    forked = sum(leave.reason is Reason.OTHER_BRANCH for leave in transcript.leaves)
    if forked and transcript.oddities:
        output.note(f"{plural(forked, 'record')} left as of other branches: see what is odd above")
    # Of what is collapsed the summary tells; this is about the prose of turns that stand.
    parts = (splice.part for splice in view.rendered.splices if splice.part is not None)
    if any(transcript.parts[part].kind is PartKind.PROSE for part in parts):
        output.note("some prose left: what stands of it is incomplete")
    asked_for = tuple(str(each.id) for each in find_strategies(request.strategies))
    measured = view.measured
    if measured is not None and view.taken != asked_for:
        takes = f"; it takes {measured}" if measured.is_tokens else ""
        output.note(f"to fit the budget: {', '.join(view.taken)}{takes}")
    cap = request.options.cap_bytes
    if cap is not None and view.rendered.size > cap:
        output.note(f"the cap can't be met: without all that may leave, {view.rendered.size:,} bytes stand")
    for finding, is_inherited in found or ():
        whose = "the session itself has: " if is_inherited else ""
        output.note(f"{whose}{finding.rule} at {finding.place}: {finding.words}")
    if not (stats or output.is_attended() or found == []):
        return
    counted = count(view)
    before, after = view.source.size, view.content.size
    moved = ", ".join(f"{number:,} {what}" for what, number in counted.moved.items()) or "nothing"
    saved = f"{100 * (before - after) / before:.0f}% less" if before else "empty"
    takes = f", {measured}" if measured is not None and measured.is_tokens else ""
    kept = f"{plural(counted.prose, 'prose part')}, {plural(counted.calls, 'call')}, {counted.whole_turns}"
    hidden = counted.collapsed
    collapsed = ""
    if hidden.spans:
        collapsed = (
            f"; collapsed {plural(hidden.spans, 'span')} ({plural(hidden.turns, 'turn')}, "
            f"{plural(hidden.messages, 'message')}, {size_text(hidden.bytes)})"
        )
    sound = f"; sound by the rules of {transcript.api}" if found == [] else ""
    output.summary(
        f"kept {kept}{collapsed}; moved {moved}: {size_text(before)} -> {size_text(after)} ({saved}){takes}"
        f"{sound}",
        source={"digest": view.source.digest, "size": before},
        view={"digest": view.content.digest, "size": after},
        format=transcript.format,
        strategies=list(view.taken),
        turns=transcript.turns,
        prose=counted.prose,
        calls=counted.calls,
        moved=counted.moved,
        collapsed=hidden.to_json() if request.is_collapsed else None,
        tokens=measured.size if measured is not None and measured.is_tokens else None,
        is_estimated=measured.is_estimated if measured is not None and measured.is_tokens else None,
        oddities=[{"line": odd.line, "code": odd.code, "words": odd.words} for odd in transcript.oddities],
        findings=None if found is None else [_finding_facts(*each) for each in found],
        prose_complete=view.prose_is_complete,
        root=view.root.id if view.root is not None else None,
    )


_ODDITIES_SHOWN = 2


def _found(view: View) -> list[tuple[Finding, bool]]:
    """What is wrong with the view by its API's rules, and whether the session has that itself."""
    from castore.transcript.checking import check_view

    new, old = check_view(view)
    return [*((each, False) for each in new), *((each, True) for each in old)]


def _finding_facts(finding: Finding, is_inherited: bool) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "place": finding.place,
        "words": finding.words,
        "inherited": is_inherited,
    }
