"""collapse stage: turns of a session get a summary, and wait for a commit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from castore.cli import output
from castore.cli.collapse_session import note_entries, notes_on, open_session, span_record
from castore.cli.ending import children_end
from castore.cli.files import STANDARD, open_source
from castore.cli.locate import find_store
from castore.cli.output import plural
from castore.cli.parameters import (
    DryRun,
    Json,
    KeepTurns,
    Scope,
    Session,
    SessionName,
    StoreFolder,
    parse_count,
)
from castore.config import SUMMARY_BYTES_MAX, parse_duration
from castore.errors import InvalidOption

if TYPE_CHECKING:
    from castore.transcript.collapse.coordinator import CollapseCoordinator
    from castore.transcript.collapse.model import Staged
    from castore.transcript.collapse.spans import Messages, Region
    from castore.transcript.collapse.summarizer import Summarizer

__all__ = ["collapse_stage"]


def collapse_stage(
    file: Session = None,
    turns: Annotated[
        str | None,
        typer.Option("--turns", metavar="A:B", help="These turns: from 0, B not included, -1 is the last."),
    ] = None,
    first: Annotated[
        str | None, typer.Option("--first", metavar="ID", help="The turns from the one this message begins.")
    ] = None,
    last: Annotated[
        str | None, typer.Option("--last", metavar="ID", help="To the one that this message ends.")
    ] = None,
    summary: Annotated[
        str | None, typer.Option("--summary", metavar="TEXT", help="What stands for them.")
    ] = None,
    summary_file: Annotated[
        str | None,
        typer.Option("--summary-file", metavar="FILE", help="The same, from a file or stdin ('-')."),
    ] = None,
    summarizer: Annotated[
        str | None,
        typer.Option(
            "--summarizer", metavar="CMD", help="A program that reads the turns as text and prints a summary."
        ),
    ] = None,
    time_limit: Annotated[
        str | None,
        typer.Option("--time-limit", metavar="DUR", help="How long it may take (default: 60s)."),
    ] = None,
    turns_max: Annotated[
        str | None,
        typer.Option("--turns-max", metavar="N", help="Stage at most N turns in one span (default: 16)."),
    ] = None,
    repeat: Annotated[bool, typer.Option("--repeat", help="Stage until nothing is free any more.")] = False,
    session: SessionName = None,
    keep_turns: KeepTurns = None,
    scope: Scope = None,
    dry_run: DryRun = False,
    as_json: Json = False,
    store: StoreFolder = None,
) -> None:
    """Turns wait with a summary, and the view is what it was. No span: the oldest that are free; no summary:
    lines that stand in them. stdout has a line a span."""
    from castore.transcript.collapse.choose import TURNS_MAX
    from castore.transcript.collapse.spans import Messages
    from castore.transcript.collapse.staging import free_region, stage_free

    chosen = _chosen(turns, first, last)
    _refuse_idle(chosen, turns_max, repeat=repeat, is_given=summary is not None or summary_file is not None)
    maker = _maker(file, summary, summary_file, summarizer, time_limit)
    most = parse_count("--turns-max", turns_max)
    if most == 0:
        raise InvalidOption("--turns-max is at least 1", option="--turns-max")
    most = TURNS_MAX if most is None else most
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
    note_entries(coordinator.transcript)
    before = coordinator.staged
    messages = Messages(coordinator.transcript)
    is_planned = dry_run and summarizer is not None
    if is_planned:
        maker = _stand_in()
    if chosen is None:
        region = free_region(coordinator, messages, turns_max=most)
        made = stage_free(coordinator, messages, maker, turns_max=most, is_repeated=repeat)
    else:
        region, made = None, _stage_chosen(coordinator, messages, chosen, maker)
    if summarizer is not None and not dry_run and not (chosen is None and region is None):
        # Before the program is run: what it makes may cost money, and is to be kept.
        handle.require_writable(scope)
    staged = []
    with children_end(), output.working("summarizing"):
        for each in made:
            staged.append(each)
            record = span_record(messages, each, dry_run=dry_run, is_planned=is_planned)
            output.table([record], as_json)
    _note_swallowed(before, coordinator.staged, dry_run=dry_run)
    if not staged:
        output.note(_why_nothing(coordinator, messages, region))
    elif output.is_attended() and not as_json:
        verb = "would wait" if dry_run else "waits" if len(staged) == 1 else "wait"
        output.summary(f"{plural(len(staged), 'span')} {verb}: 'ctx collapse commit' hides what is staged")


# --- Helpers ---------------------------------------------------------------------------------------

_Chosen = slice | tuple[str, str]


def _chosen(turns: str | None, first: str | None, last: str | None) -> _Chosen | None:
    """The turns, or the ids of a first and a last message; None: those that are free."""
    if turns is not None:
        if first is not None or last is not None:
            raise InvalidOption("turns are named by --turns, or by --first and --last", option="--turns")
        return _slice(turns)
    if first is None and last is None:
        return None
    if first is None or last is None:
        raise InvalidOption("--first and --last are given together", option="--first")
    return first, last


def _slice(text: str) -> slice:
    begin, colon, end = text.partition(":")
    try:
        start = None if colon and not begin else int(begin)
        if colon:
            return slice(start, int(end) if end else None)
    except ValueError:
        raise InvalidOption(
            f"--turns must be as in 0:16, 3 or :-8, not '{text[:40]}'", option="--turns"
        ) from None
    assert start is not None
    return slice(start, start + 1 or None)


def _refuse_idle(chosen: _Chosen | None, turns_max: str | None, *, repeat: bool, is_given: bool) -> None:
    """An option that would do nothing, or never what was meant."""
    if chosen is not None and (turns_max is not None or repeat):
        option = "--repeat" if repeat else "--turns-max"
        raise InvalidOption(f"{option} is about turns that are free, not about a span", option=option)
    if repeat and is_given:
        raise InvalidOption(
            "one text is no summary of several spans", option="--repeat", hint="leave --repeat out"
        )


def _maker(
    file: str | None,
    summary: str | None,
    summary_file: str | None,
    summarizer: str | None,
    time_limit: str | None,
) -> Summarizer:
    from castore.transcript.collapse.summarizer import GivenText

    if sum(each is not None for each in (summary, summary_file, summarizer)) > 1:
        raise InvalidOption(
            "a summary comes from one place", hint="--summary, --summary-file or --summarizer"
        )
    if time_limit is not None and summarizer is None:
        raise InvalidOption("--time-limit is of a summarizer", option="--time-limit")
    if summary is not None:
        return GivenText(summary)
    if summary_file is not None:
        if summary_file == STANDARD and file in (None, STANDARD):
            raise InvalidOption("stdin is the session already", option="--summary-file")
        return GivenText(_text_in(summary_file))
    if summarizer is None:
        return _stand_in()
    from castore.transcript.collapse.command import Command

    return Command(summarizer, 60 if time_limit is None else parse_duration(time_limit))


def _stand_in() -> Summarizer:
    """Where nobody gives a summary, and where a dry run starts no program."""
    from castore.transcript.collapse.extract import Extract

    return Extract()


def _text_in(file: str) -> str:
    with open_source(file) as source:
        data = source.read(SUMMARY_BYTES_MAX + 1)
    if len(data) > SUMMARY_BYTES_MAX:
        raise InvalidOption(f"the summary has over {SUMMARY_BYTES_MAX:,} bytes", option="--summary-file")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InvalidOption(
            f"the summary is not UTF-8 (byte {error.start})", option="--summary-file"
        ) from error


def _stage_chosen(
    coordinator: CollapseCoordinator, messages: Messages, chosen: _Chosen, maker: Summarizer
) -> Iterator[Staged]:
    from castore.transcript.collapse.model import Span
    from castore.transcript.collapse.staging import span_of_turns, stage_span

    span = span_of_turns(messages, chosen) if isinstance(chosen, slice) else Span(*chosen)
    yield stage_span(coordinator, messages, span, maker)


def _note_swallowed(before: Sequence[Staged], after: Sequence[Staged], *, dry_run: bool) -> None:
    """Spans that were staged and gave way to one that holds them."""
    left = {each.collapse_id for each in after}
    gone = [each.collapse_id for each in before if each.collapse_id not in left]
    if gone:
        verb = "would give" if dry_run else "gives" if len(gone) == 1 else "give"
        spans = plural(len(gone), "staged span")
        output.note(f"{spans} {verb} way, as the new one holds all of it: {', '.join(gone[:_IDS_SHOWN])}")


_IDS_SHOWN = 3


def _why_nothing(coordinator: CollapseCoordinator, messages: Messages, region: Region | None) -> str:
    """region: the one that would have been staged."""
    from castore.transcript.collapse.staging import unfree_turns

    if region is None:
        return f"nothing is free: {'; '.join(unfree_turns(coordinator, messages))}"
    turns = f"turns {region.first_turn} to {region.last_turn}"
    if region.turns == 1:
        turns = f"turn {region.first_turn}"
    return f"nothing was staged: the summary of {turns} with its marker is no shorter than what it would hide"
