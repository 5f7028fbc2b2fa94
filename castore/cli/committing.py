"""collapse commit, recover, reset: what is staged leaves the view, and all of it comes back."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from castore.cli import output
from castore.cli.collapse_session import note_forgotten, notes_on, open_session, span_record
from castore.cli.files import open_source, placed_in
from castore.cli.locate import find_store
from castore.cli.output import plural, size_text
from castore.cli.parameters import DryRun, Json, KeepTurns, Scope, Session, SessionName, StoreFolder
from castore.errors import InvalidOption, LimitExceeded

if TYPE_CHECKING:
    from castore.store import StoreHandle
    from castore.transcript.budget import Budget
    from castore.transcript.collapse.coordinator import Applied, CollapseCoordinator, Require
    from castore.transcript.collapse.model import Staged
    from castore.transcript.measure import Measured

__all__ = ["collapse_commit", "collapse_recover", "collapse_reset"]

_BUDGET_HELP = (
    "What the view may take: bytes of the file (200000, 150kB), or tokens of what the model gets of it "
    "(30k-tokens)."
)

_REQUIRE_HELP = (
    "Commit no summary that keeps a smaller share of the facts in its turns: number=1.0,condition=0.9, of "
    "the kinds of 'ctx summary check', or of all; or that invents more than invented=0. May be given several "
    "times."
)

_ID_DIGITS_MIN = 6


def collapse_commit(
    file: Session = None,
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="COLLAPSE_ID", help="Only these spans; their first six digits will do."),
    ] = None,
    budget: Annotated[str | None, typer.Option("--budget", metavar="SIZE", help=_BUDGET_HELP)] = None,
    require: Annotated[
        list[str] | None, typer.Option("--require", metavar="KIND=SHARE", help=_REQUIRE_HELP)
    ] = None,
    session: SessionName = None,
    keep_turns: KeepTurns = None,
    scope: Scope = None,
    dry_run: DryRun = False,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """The view hides what is staged: all of it; or with a budget the oldest spans until it fits, and 17 if it
    does not. If a summary falls short of what is required, 3, and nothing is committed. stdout has a line a
    span."""
    from castore.transcript.budget import Budget
    from castore.transcript.measure import Measured

    look = _look(require)
    size = None if budget is None else Budget.parse(budget)
    if size is not None and ids:
        raise InvalidOption("a budget chooses the spans", option="--budget", hint="name spans, or a budget")
    handle = find_store(store)
    coordinator = open_session(
        file,
        handle,
        session=session,
        scope=scope,
        keep_turns=keep_turns,
        is_rehearsed=dry_run,
    )
    transcript = coordinator.transcript
    notes_on(coordinator.observe(transcript), is_rehearsed=dry_run)
    _note_forgotten(coordinator, handle, scope)
    before = coordinator.staged
    if size is not None:
        applied = coordinator.apply_if_needed(transcript, size, require=look)
        _tell_applied(coordinator, applied, size, dry_run=dry_run, as_json=as_json)
        return
    commits = coordinator.commit(transcript, _whole_ids(before, ids) if ids else None, require=look)
    # Summaries are read for that: where they can't be, nothing is told but why.
    takes = Measured(coordinator.render(transcript).size) if as_json or output.is_attended() else None
    _tell(coordinator, [each.staged for each in commits], dry_run=dry_run, as_json=as_json)
    left = len(before) - len(commits)
    if not before:
        output.note("nothing is staged: 'ctx collapse stage' begins")
    elif left and not ids:
        last = plural(coordinator.keep_turns, "turn")
        output.note(f"{plural(left, 'span reaches', 'spans reach')} into the last {last}, and must wait")
    if takes is not None:
        _sum_up(len(commits), takes, None, dry_run=dry_run, as_json=as_json)


def collapse_recover(
    budget: Annotated[str, typer.Option("--budget", metavar="SIZE", help=_BUDGET_HELP)],
    file: Session = None,
    session: SessionName = None,
    keep_turns: KeepTurns = None,
    scope: Scope = None,
    dry_run: DryRun = False,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """After the API refused a prompt as too long: the view hides everything that is staged. 17 if it is over
    the budget all the same: then stage more, or compact the session."""
    from castore.transcript.budget import Budget

    size = Budget.parse(budget)
    handle = find_store(store)
    coordinator = open_session(
        file,
        handle,
        session=session,
        scope=scope,
        keep_turns=keep_turns,
        is_rehearsed=dry_run,
    )
    notes_on(coordinator.observe(coordinator.transcript), is_rehearsed=dry_run)
    _note_forgotten(coordinator, handle, scope)
    applied = coordinator.recover_from_overflow(coordinator.transcript, size)
    _tell_applied(coordinator, applied, size, is_refused=True, dry_run=dry_run, as_json=as_json)


def collapse_reset(
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for the log.")],
    file: Session = None,
    session: SessionName = None,
    scope: Scope = None,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """Nothing is collapsed or staged any more; a log that is damaged is begun anew. What was hidden stands in
    the view again."""
    from castore.transcript.collapse.opening import begin_anew, open_log

    handle = find_store(store)
    with open_source(file) as source, placed_in(file):
        log = open_log(source.read(), handle, name=session, scope=scope)
    number = begin_anew(log, reason, time.time())
    if as_json:
        output.block((), {"session": log.session, "number": number, "reason": reason}, as_json)
    elif number is None:
        output.note("the log is empty: there is nothing to reset")
    elif output.is_attended():
        output.summary(f"nothing is collapsed or staged any more: record {number:,} of the log says so")


# --- Helpers ---------------------------------------------------------------------------------------


def _look(require: Sequence[str] | None) -> Require | None:
    """What looks at each summary before it is committed; None if nothing is required of them."""
    if not require:
        return None
    from castore.summary.fidelity.requirements import fidelity_check, parse_requirements

    return fidelity_check(parse_requirements(require))


def _note_forgotten(coordinator: CollapseCoordinator, handle: StoreHandle, scope: str | None) -> None:
    """Where nothing is in the log that is written in, what was may come back."""
    from castore.transcript.collapse.seen_log import log_place

    if not (coordinator.records or coordinator.staged):
        place = log_place(handle, coordinator.log.session)
        note_forgotten(place, [each for each in place.forgotten if each == (scope or place.writing_scope)])


def _what_next(coordinator: CollapseCoordinator, *, is_refused: bool) -> str:
    """What there is to do when the view with all committed is too large. is_refused: by an API."""
    from castore.transcript.collapse.spans import Messages
    from castore.transcript.collapse.staging import free_region

    steps = []
    if free_region(coordinator, Messages(coordinator.transcript)) is not None:
        steps.append("'ctx collapse stage' makes more ready")
    if coordinator.staged:
        waiting = plural(len(coordinator.staged), "staged span waits", "staged spans wait")
        steps.append(f"{waiting} in the last {plural(coordinator.keep_turns, 'turn')}, see --keep-turns")
    steps.append("'ctx view --strategy collapse,transparent' moves payloads")
    if is_refused:
        steps.append("else compact the session")
    return "; ".join(steps)


def _whole_ids(staged: Sequence[Staged], given: Sequence[str]) -> list[str]:
    """The id of the one span that each means; where it means none or several, what was given, which the
    coordinator refuses."""
    known = [each.collapse_id for each in staged]
    found = []
    for text in given:
        meant = [each for each in known if len(text) >= _ID_DIGITS_MIN and each.startswith(text)]
        found.append(meant[0] if len(meant) == 1 else text)
    return found


def _tell(
    coordinator: CollapseCoordinator, staged: Sequence[Staged], *, dry_run: bool, as_json: bool
) -> None:
    from castore.transcript.collapse.spans import Messages

    messages = Messages(coordinator.transcript)
    output.table([span_record(messages, each, dry_run=dry_run) for each in staged], as_json)


def _tell_applied(
    coordinator: CollapseCoordinator,
    applied: Applied,
    budget: Budget,
    *,
    is_refused: bool = False,
    dry_run: bool,
    as_json: bool,
) -> None:
    """The spans, and what the view takes. Raises LimitExceeded if that is over the budget: what was committed
    stays so."""
    _tell(coordinator, [each.staged for each in applied.committed], dry_run=dry_run, as_json=as_json)
    if not applied.is_enough:
        raise LimitExceeded(
            f"with all committed the view takes {applied.measured}; the budget is {budget.limit:,}",
            limit="budget",
            hint=_what_next(coordinator, is_refused=is_refused),
            needed=applied.measured.size,
            is_estimated=applied.measured.is_estimated,
            committed=len(applied.committed),
        )
    if not applied.committed:
        output.note(_why_none(coordinator, is_refused=is_refused))
    _sum_up(len(applied.committed), applied.measured, budget, dry_run=dry_run, as_json=as_json)


def _why_none(coordinator: CollapseCoordinator, *, is_refused: bool) -> str:
    """Of a view that is within the budget with nothing committed."""
    if not is_refused:
        return "the view fits the budget as it is: nothing is committed"
    return "nothing is staged that could be committed" if coordinator.staged else "nothing is staged"


def _sum_up(count: int, takes: Measured, budget: Budget | None, *, dry_run: bool, as_json: bool) -> None:
    if not (as_json or output.is_attended()):
        return
    verb = "would be committed" if dry_run else "committed"
    size = str(takes) if takes.is_tokens else size_text(takes.size)
    of = (
        ""
        if budget is None
        else f" of a budget of {size_text(budget.limit) if not budget.is_tokens else f'{budget.limit:,}'}"
    )
    output.summary(
        f"{plural(count, 'span')} {verb}: the view takes {size}{of}",
        committed=count,
        size=takes.size,
        is_tokens=takes.is_tokens,
        is_estimated=takes.is_estimated,
        budget=budget and budget.limit,
        dry_run=dry_run,
    )
