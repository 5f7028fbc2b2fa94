"""collapse status and log: how a session stands, and what its log holds. Nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from castore.cli import output
from castore.cli.collapse_session import (
    note_entries,
    note_place,
    notes_on,
    open_session,
    span_cells,
    span_facts,
)
from castore.cli.locate import find_store
from castore.cli.output import Count, Moment, Record, Size
from castore.cli.parameters import Json, KeepTurns, ReadScope, Session, SessionName, StoreFolder
from castore.errors import NotFound

if TYPE_CHECKING:
    from castore.transcript.budget import Budget
    from castore.transcript.collapse.coordinator import CollapseCoordinator
    from castore.transcript.collapse.hidden import Hidden
    from castore.transcript.collapse.report import LogLine, Status, Taken

__all__ = ["collapse_log", "collapse_status"]


def collapse_status(
    file: Session = None,
    budget: Annotated[
        str | None,
        typer.Option("--budget", metavar="SIZE", help="Say how full it is: 150kB, or 30k-tokens."),
    ] = None,
    session: SessionName = None,
    keep_turns: KeepTurns = None,
    scope: ReadScope = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """stdout says what is collapsed and staged, what the view takes and would take, and how summarizers fare.
    Nothing is written."""
    from castore.transcript.budget import Budget
    from castore.transcript.collapse.report import status_of
    from castore.transcript.collapse.seen_log import log_place

    size = None if budget is None else Budget.parse(budget)
    handle = find_store(store, scope)
    coordinator = open_session(file, handle, session=session, keep_turns=keep_turns, is_only_read=True)
    place = log_place(handle, coordinator.log.session)
    note_place(place)
    note_entries(coordinator.transcript)
    with output.working("measuring"):
        status = status_of(coordinator)
    notes_on(status.unseen, is_rehearsed=True)
    if status.stats.warning is not None:
        output.note(status.stats.warning)
    facts = {**_facts(coordinator, status, size), "scope": place.scope}
    output.block(_lines(coordinator, status, size, place.scope), facts, as_json)
    if not as_json:
        output.table(map(_hidden_record, ("collapsed", "staged"), (status.hidden, status.staged)), as_json)
        output.table(_taken_records(status, size), as_json)


def collapse_log(
    file: Session = None,
    summaries: Annotated[bool, typer.Option("--summaries", help="Print the summaries too.")] = False,
    session: SessionName = None,
    scope: ReadScope = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """stdout lists the log's records, in order, and what became of each; then what is staged. Nothing is
    written."""
    from castore.transcript.collapse.report import log_lines
    from castore.transcript.collapse.seen_log import log_place

    handle = find_store(store, scope)
    coordinator = open_session(file, handle, session=session, keep_turns=None, is_only_read=True)
    note_place(log_place(handle, coordinator.log.session))
    note_entries(coordinator.transcript)
    first_number = coordinator.log.load().first_number
    lines = list(log_lines(coordinator, first_number))
    if not summaries or as_json:
        output.table((_record(coordinator, line, has_text=summaries) for line in lines), as_json)
        return
    for line in lines:
        output.table([_record(coordinator, line, has_text=False)], as_json=False)
        for words in (_summary(coordinator, line) or "").splitlines():
            output.line(f"    {output.printable(words)}")


# --- Helpers: the status ---------------------------------------------------------------------------


def _lines(
    coordinator: CollapseCoordinator, status: Status, budget: Budget | None, scope: str | None
) -> Iterator[tuple[str, Any]]:
    health = status.stats.health
    yield "session", coordinator.log.session
    yield "format", coordinator.transcript.format
    yield "scope", scope
    yield "log records", Count(status.records)
    yield "in use", not status.stats.is_idle
    yield "must wait", Count(status.stats.staged_spans - status.staged.spans, "staged span")
    yield "summarizers run", Count(health.spawns)
    yield "gave no span", Count(health.empty)
    yield "none in a row", Count(health.empty_in_a_row)
    yield "failed", Count(health.errors)
    yield "last failure", health.last_error
    yield "tokens", "estimated" if status.view.tokens.is_estimated else "counted"
    # Whoever keeps a reserve beside this would act on a context that is smaller than it thinks.
    yield "threshold", "this collapse's own; no other reserve is held back"
    if budget is not None:
        yield "budget", f"{budget.limit:,} tokens" if budget.is_tokens else Size(budget.limit)


def _hidden_record(what: str, hidden: Hidden) -> Record:
    cells = (
        what,
        Count(hidden.spans, "span"),
        Count(hidden.turns, "turn"),
        Count(hidden.messages, "message"),
        Size(hidden.bytes),
    )
    return Record(cells, {})


def _taken_records(status: Status, budget: Budget | None) -> Iterator[Record]:
    """What the session takes, its view, and that with all committed; and how full of the budget it is."""
    for what, taken in (
        ("session", status.before),
        ("view", status.view),
        ("all committed", status.all_committed),
    ):
        full = () if budget is None else (f"{_full(taken, budget)}%",)
        yield Record((what, Size(taken.bytes), Count(taken.tokens.size, "token"), *full), {})


def _facts(coordinator: CollapseCoordinator, status: Status, budget: Budget | None) -> dict[str, Any]:
    stats, health = status.stats, status.stats.health
    return {
        "session": coordinator.log.session,
        "format": coordinator.transcript.format,
        "turns": coordinator.transcript.turns,
        "messages": len(coordinator.transcript.messages),
        "collapsed": status.hidden.to_json(),
        "staged": status.staged.to_json(),
        "not_ready": stats.staged_spans - status.staged.spans,
        "before": _taken_facts(status.before),
        "view": _taken_facts(status.view),
        "all_committed": _taken_facts(status.all_committed),
        "is_estimated": status.view.tokens.is_estimated,
        "budget": budget and {"limit": budget.limit, "is_tokens": budget.is_tokens},
        "full_percent": budget and _full(status.view, budget),
        "full_percent_committed": budget and _full(status.all_committed, budget),
        "owns_threshold": coordinator.owns_threshold,
        "records": status.records,
        "spawns": health.spawns,
        "empty_spawns": health.empty,
        "empty_in_a_row": health.empty_in_a_row,
        "errors": health.errors,
        "last_error": health.last_error,
        "warning": stats.warning,
        "is_armed": stats.is_armed,
        "last_spawn_tokens": stats.last_spawn_tokens,
        "is_idle": stats.is_idle,
    }


def _taken_facts(taken: Taken) -> dict[str, int]:
    return {"bytes": taken.bytes, "tokens": taken.tokens.size}


def _full(taken: Taken, budget: Budget) -> int:
    """In hundredths, rounded up: what is over the budget is never 100."""
    size = taken.tokens.size if budget.is_tokens else taken.bytes
    return -(-100 * size // budget.limit)


# --- Helpers: the log ------------------------------------------------------------------------------


def _record(coordinator: CollapseCoordinator, line: LogLine, *, has_text: bool) -> Record:
    from castore.transcript.collapse.model import Boundary, Commit, Reset, Rewind, Staged

    record, staged = line.record, line.staged
    type = "staged" if isinstance(record, Staged) else record.type
    collapse_id = None if staged is None else staged.collapse_id
    strategy = None if staged is None else staged.strategy
    cells = (
        None if line.number is None else Count(line.number),
        Moment(record.created_at),
        type,
        str(line.state),
        *span_cells(line.region, line.size),
        strategy,
        collapse_id,
        line.words or None,
    )
    facts = {
        "number": line.number,
        "created": Moment(record.created_at),
        "type": type,
        "state": str(line.state),
        **span_facts(staged, line.region, line.size),
        "strategy": strategy,
        "dropped_ids": list(record.collapse_ids) if isinstance(record, Rewind) else None,
        "boundary_id": record.boundary_id if isinstance(record, Boundary) else None,
        "reason": record.reason if isinstance(record, Reset) else None,
        "placeholder": record.placeholder if isinstance(record, Commit) else None,
        "words": line.words or None,
        "text": _summary(coordinator, line) if has_text else None,
    }
    return Record(cells, facts)


def _summary(coordinator: CollapseCoordinator, line: LogLine) -> str | None:
    """The text; None, and a note, where it is gone: a commit that was dropped does not need it."""
    if line.staged is None:
        return None
    try:
        return coordinator.log.summary(line.staged.summary)
    except NotFound as error:
        output.note(f"the summary of '{line.staged.collapse_id}' can't be read: {error.message}")
        return None
