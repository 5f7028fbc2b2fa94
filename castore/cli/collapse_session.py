"""What the commands of a collapse share: the session they work on, and how a span is told."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from glob import escape
from typing import TYPE_CHECKING, Any

from castore.cli import output
from castore.cli.files import open_source, placed_in
from castore.cli.output import Count, Record, Size
from castore.cli.parameters import parse_count
from castore.errors import InvalidOption

if TYPE_CHECKING:
    from castore.store import StoreHandle
    from castore.transcript.collapse.coordinator import CollapseCoordinator
    from castore.transcript.collapse.model import LogRecord, Staged
    from castore.transcript.collapse.seen_log import LogPlace
    from castore.transcript.collapse.spans import Messages, Region
    from castore.transcript.model import Transcript

__all__ = [
    "note_entries",
    "note_forgotten",
    "note_place",
    "notes_on",
    "open_session",
    "span_cells",
    "span_facts",
    "span_record",
    "turns_text",
]


def open_session(
    file: str | None,
    handle: StoreHandle,
    *,
    session: str | None,
    keep_turns: str | None,
    scope: str | None = None,
    is_rehearsed: bool = False,
    is_only_read: bool = False,
) -> CollapseCoordinator:
    """The session in FILE with its log; nothing is made. The rest is as of `open_coordinator`."""
    from castore.transcript.collapse.coordinator import KEEP_TURNS
    from castore.transcript.collapse.opening import open_coordinator

    counted = parse_count("--keep-turns", keep_turns)
    if counted == 0:
        raise InvalidOption(
            "the last turn is never collapsed: --keep-turns is at least 1", option="--keep-turns"
        )
    with output.working("reading the session"), open_source(file) as source, placed_in(file):
        return open_coordinator(
            source.read(),
            handle,
            name=session,
            scope=scope,
            keep_turns=KEEP_TURNS if counted is None else counted,
            is_rehearsed=is_rehearsed,
            is_only_read=is_only_read,
        )


def notes_on(records: Iterable[LogRecord], *, is_rehearsed: bool = False) -> None:
    """What the log says of the session since it was seen last; is_rehearsed: what it would say."""
    from castore.transcript.collapse.model import Boundary, Rewind

    records = list(records)
    if any(isinstance(record, Boundary) for record in records):
        verb = "would be dropped by the next change" if is_rehearsed else "is dropped"
        output.note(f"the session was compacted: what was collapsed or staged before that {verb}")
    gone = sum(len(record.collapse_ids) for record in records if isinstance(record, Rewind))
    if gone:
        verb = "would be dropped by the next change" if is_rehearsed else "dropped"
        output.note(f"turns were taken back: {output.plural(gone, 'span')} that had them {verb}")


def note_entries(transcript: Transcript) -> None:
    """A log that a harness keeps in the file itself is another one than the store's."""
    from castore.transcript.collapse.entries import count_in

    found = count_in(transcript.source)
    if found:
        entries = output.plural(found, "entry of a collapse log stands", "entries of a collapse log stand")
        output.note(f"{entries} in the file itself; 'ctx' works on the log in the store")


def note_place(place: LogPlace) -> None:
    """Where a log lies that is read, and one that could come back."""
    if place.scope is None:
        note_forgotten(place, place.forgotten)
    elif place.writing_scope != place.scope:
        scope = shlex.quote(place.scope)
        output.note(f"the log lies in scope '{place.scope}': to change it, say --scope {scope}")


def note_forgotten(place: LogPlace, scopes: Sequence[str]) -> None:
    """Of a session without a log: one that was forgotten in one of these scopes may come back."""
    for scope in scopes[:1]:
        select = "" if scope == place.writing_scope else f" --scope {shlex.quote(scope)}"
        undo = f"ctx forget --undo --source {shlex.quote(escape(place.session))}{select}"
        output.note(f"a log of this session is forgotten: '{undo}' brings it back, until one is begun anew")


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
