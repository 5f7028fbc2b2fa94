"""What the commands of a collapse share: the session they work on, and how a span is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from castore.cli import output
from castore.cli.files import open_source, placed_in
from castore.cli.locate import find_store
from castore.cli.output import Count, Record, Size
from castore.cli.parameters import parse_count
from castore.errors import InvalidOption

if TYPE_CHECKING:
    from castore.transcript.collapse.coordinator import CollapseCoordinator
    from castore.transcript.collapse.model import LogRecord, Staged
    from castore.transcript.collapse.spans import Messages, Region

__all__ = ["notes_on", "open_session", "span_cells", "span_facts", "span_record", "turns_text"]


def open_session(
    file: str | None,
    store: str | None,
    *,
    session: str | None,
    scope: str | None,
    keep_turns: str | None,
    is_rehearsed: bool,
    selects_scope: bool = False,
) -> CollapseCoordinator:
    """The session in FILE with its log; nothing is made. selects_scope: the scope is looked at alone."""
    from castore.transcript.collapse.coordinator import KEEP_TURNS
    from castore.transcript.collapse.opening import open_coordinator

    counted = parse_count("--keep-turns", keep_turns)
    if counted == 0:
        raise InvalidOption(
            "the last turn is never collapsed: --keep-turns is at least 1", option="--keep-turns"
        )
    handle = find_store(store, scope if selects_scope else None)
    with output.working("reading the session"), open_source(file) as source, placed_in(file):
        return open_coordinator(
            source.read(),
            handle,
            name=session,
            scope=None if selects_scope else scope,
            keep_turns=KEEP_TURNS if counted is None else counted,
            is_rehearsed=is_rehearsed,
        )


def notes_on(records: tuple[LogRecord, ...]) -> None:
    """What the log says of the session since it was seen last."""
    from castore.transcript.collapse.model import Boundary, Rewind

    for record in records:
        if isinstance(record, Boundary):
            output.note("the session was compacted: what was collapsed or staged before that is dropped")
        elif isinstance(record, Rewind):
            gone = output.plural(len(record.collapse_ids), "span")
            output.note(f"turns were taken back: {gone} that had them dropped")


def turns_text(region: Region | None) -> str | None:
    """As --turns takes them."""
    return None if region is None else f"{region.first_turn}:{region.last_turn + 1}"


def span_cells(region: Region | None, size: int | None) -> tuple[Any, ...]:
    """Turns, messages, bytes."""
    if region is None or size is None:
        return (None, None, None)
    return (turns_text(region), Count(region.messages, "message"), Size(size))


def span_facts(staged: Staged | None, region: Region | None, size: int | None) -> dict[str, Any]:
    """What there is of it, for programs."""
    return {
        "collapse_id": staged and staged.collapse_id,
        "summary_id": staged and staged.summary_id,
        "summary": staged and staged.summary,
        "first_archived_id": staged and staged.span.first_id,
        "last_archived_id": staged and staged.span.last_id,
        "first_turn": region and region.first_turn,
        "last_turn": region and region.last_turn,
        "turns": region and region.turns,
        "messages": region and region.messages,
        "bytes": size,
    }


def span_record(messages: Messages, staged: Staged, *, dry_run: bool, is_planned: bool = False) -> Record:
    """A span that was staged or committed. is_planned: its summary is not made yet, so that nothing is known
    that follows from it."""
    from castore.transcript.collapse.report import size_of

    region = messages.region(staged.span)
    size = size_of(messages, region)
    facts = span_facts(staged, region, size)
    if is_planned:
        facts |= {"collapse_id": None, "summary_id": None, "summary": None}
    strategy = None if is_planned else staged.strategy
    cells = (facts["collapse_id"], *span_cells(region, size), strategy)
    return Record(cells, {**facts, "strategy": strategy, "dry_run": dry_run})
