"""Report: what a log holds, and how a session stands, as rows and numbers. Pure.

Laws: nothing is written for it, and what it says is what a view would show now. No reserve is kept back
beside the collapse: what the view takes is what counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from castore.transcript.collapse.coordinator import CollapseCoordinator, CollapseStats
from castore.transcript.collapse.hidden import Hidden
from castore.transcript.collapse.model import Boundary, Commit, LogRecord, Reset, Rewind, Staged
from castore.transcript.collapse.replay import holding_commits
from castore.transcript.collapse.spans import Messages, Region, shown
from castore.transcript.decision import ViewOptions
from castore.transcript.measure import Measured, Meter
from castore.transcript.render import Rendered, render

__all__ = ["LogLine", "State", "Status", "Taken", "log_lines", "size_of", "status_of"]


class State(StrEnum):
    """What became of a record."""

    HIDDEN = "hidden"
    """The view hides the span."""
    SWALLOWED = "swallowed"
    """A later commit holds the span whole, and is what the view shows."""
    DROPPED = "dropped"
    """A rewind, a compaction or a reset took it back."""
    NOT_THERE = "not there"
    """The session has no such turns, or they can't leave it any more."""
    NO_SHORTER = "no shorter"
    """What would stand there is no shorter than the turns, which stand."""
    STAGED = "staged"
    DONE = "done"
    """It is no commit: what it did is done."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """A record, or a span that is staged (number None). region, size: where the session has its turns, and
    their bytes; None: nowhere. words: what it says besides."""

    number: int | None
    record: LogRecord | Staged
    state: State
    region: Region | None
    size: int | None
    words: str

    @property
    def staged(self) -> Staged | None:
        """The span that it is about, if it is about one."""
        if isinstance(self.record, Staged):
            return self.record
        return self.record.staged if isinstance(self.record, Commit) else None


@dataclass(frozen=True, slots=True)
class Taken:
    """What something takes: bytes of the file, tokens of what the model gets."""

    bytes: int
    tokens: Measured


@dataclass(frozen=True, slots=True)
class Status:
    """How a session stands. before: with nothing collapsed. view: now. all_committed: if everything that
    is staged were committed. staged: what that would hide, of the spans that are ready. records: in the log.
    """

    stats: CollapseStats
    hidden: Hidden
    staged: Hidden
    before: Taken
    view: Taken
    all_committed: Taken
    records: int


def log_lines(coordinator: CollapseCoordinator, first_number: int = 1) -> Iterator[LogLine]:
    """A line a record, in order of the log; then those of what is staged. first_number: of the first record.

    Raises what reading a summary raises.
    """
    messages = Messages(coordinator.transcript)
    # Not by id: a span that was dropped may have been committed again.
    holding = {id(commit) for commit in holding_commits(coordinator.records)}
    showing = {id(commit) for commit, _ in shown(coordinator.commits, messages)}
    hiding = {each.collapse_id for each in coordinator.project(coordinator.transcript).collapsed}
    for number, record in enumerate(coordinator.records, first_number):
        if not isinstance(record, Commit):
            yield LogLine(number, record, State.DONE, None, None, _words(record))
            continue
        region, size, why_not = _place(messages, record.staged)
        if id(record) not in holding:
            state, words = State.DROPPED, record.placeholder
        elif region is None:
            state, words = State.NOT_THERE, why_not
        elif id(record) not in showing:
            state, words = State.SWALLOWED, record.placeholder
        else:
            state = State.HIDDEN if record.collapse_id in hiding else State.NO_SHORTER
            words = record.placeholder
        yield LogLine(number, record, state, region, size, words)
    for staged in coordinator.staged:
        region, size, why_not = _place(messages, staged)
        yield LogLine(None, staged, State.STAGED if region else State.NOT_THERE, region, size, why_not)


def status_of(coordinator: CollapseCoordinator) -> Status:
    """How the session stands. coordinator: on a rehearsal, for the session's own state is observed first, and
    what is staged is committed. Raises what its calls raise."""
    transcript = coordinator.transcript
    coordinator.observe(transcript)
    meter = Meter(transcript, is_tokens=True)
    stats, records = coordinator.stats(), len(coordinator.records)
    before = _taken(meter, render(transcript, {}, ViewOptions()))
    now = coordinator.render(transcript)
    coordinator.commit(transcript)
    then = coordinator.render(transcript)
    hidden = Hidden.of(now.transcript.collapsed)
    known = {each.collapse_id for each in now.transcript.collapsed}
    ready = Hidden.of(each for each in then.transcript.collapsed if each.collapse_id not in known)
    return Status(stats, hidden, ready, before, _taken(meter, now), _taken(meter, then), records)


def size_of(messages: Messages, region: Region) -> int:
    """Bytes of what leaves."""
    return sum(end - start for start, end, _ in messages.pieces(region))


# --- Helpers ---------------------------------------------------------------------------------------


def _place(messages: Messages, staged: Staged) -> tuple[Region | None, int | None, str]:
    """Where the span is, and its bytes; or in words why it is nowhere."""
    found = messages.find(staged.span)
    if isinstance(found, str):
        return None, None, found
    return found, size_of(messages, found), ""


def _words(record: LogRecord) -> str:
    if isinstance(record, Rewind):
        return f"drops {', '.join(record.collapse_ids)}"
    if isinstance(record, Boundary):
        return f"the session was compacted ({record.boundary_id})"
    assert isinstance(record, Reset)
    return record.reason


def _taken(meter: Meter, rendered: Rendered) -> Taken:
    return Taken(rendered.size, meter.measure(rendered))
