"""Report: what a log holds, and how a session stands, as rows and numbers. Pure.

Laws: nothing is written for it, and what it says is what a view would show now. No reserve is kept back
beside the collapse: what the view takes is what counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from castore.errors import NotFound
from castore.transcript.collapse.coordinator import CollapseCoordinator
from castore.transcript.collapse.hidden import Hidden
from castore.transcript.collapse.model import Boundary, Commit, LogRecord, Reset, Rewind, Staged
from castore.transcript.collapse.project import collapsed_region
from castore.transcript.collapse.spans import Messages, Region, shown
from castore.transcript.collapse.standing import CollapseStats
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
    their bytes; None: nowhere. words: what it says besides; of a span that is nowhere why, or what it hid."""

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
    unseen: what the next change would append first, of a compaction or of turns that are gone.
    """

    stats: CollapseStats
    hidden: Hidden
    staged: Hidden
    before: Taken
    view: Taken
    all_committed: Taken
    records: int
    unseen: tuple[LogRecord, ...]


def log_lines(coordinator: CollapseCoordinator, first_number: int = 1) -> Iterator[LogLine]:
    """A line a record, in order of the log; then those of what is staged. first_number: that of the first."""
    messages = Messages(coordinator.transcript)
    # Not by what they are called: a span that was dropped may have been committed again.
    holding = {id(commit) for commit in coordinator.commits}
    showing = {id(commit) for commit, _ in shown(coordinator.commits, messages)}
    for number, record in enumerate(coordinator.records, first_number):
        if not isinstance(record, Commit):
            yield LogLine(number, record, State.DONE, None, None, _words(record))
            continue
        region, size, words = _place(messages, record.staged)
        if id(record) not in holding:
            state, words = State.DROPPED, "" if region is not None else record.placeholder
        elif region is None:
            state = State.NOT_THERE
        elif id(record) not in showing:
            state = State.SWALLOWED
        else:
            state, words = _hidden(coordinator, messages, record, region)
        yield LogLine(number, record, state, region, size, words)
    for staged in coordinator.staged:
        region, size, why_not = _place(messages, staged)
        yield LogLine(None, staged, State.STAGED if region else State.NOT_THERE, region, size, why_not)


def status_of(coordinator: CollapseCoordinator) -> Status:
    """How the session stands. coordinator: restored, on a rehearsal, for the session's own state is observed
    first, and what is staged is committed. Raises what its calls raise."""
    transcript = coordinator.transcript
    records = len(coordinator.records)
    unseen = coordinator.observe(transcript)
    meter = Meter(transcript, is_tokens=True)
    stats = coordinator.stats()
    before = _taken(meter, render(transcript, {}, ViewOptions()))
    now = coordinator.render(transcript)
    coordinator.commit(transcript)
    then = coordinator.render(transcript)
    hidden = Hidden.of(now.transcript.collapsed)
    known = {each.collapse_id for each in now.transcript.collapsed}
    ready = Hidden.of(each for each in then.transcript.collapsed if each.collapse_id not in known)
    return Status(stats, hidden, ready, before, _taken(meter, now), _taken(meter, then), records, unseen)


def size_of(messages: Messages, region: Region) -> int:
    """Bytes of what leaves."""
    return messages.size(region)


# --- Helpers ---------------------------------------------------------------------------------------


def _place(messages: Messages, staged: Staged) -> tuple[Region | None, int | None, str]:
    """Where the span is, and its bytes; or in words why it is nowhere."""
    found = messages.find(staged.span)
    if isinstance(found, str):
        return None, None, found
    return found, size_of(messages, found), ""


def _hidden(
    coordinator: CollapseCoordinator, messages: Messages, commit: Commit, region: Region
) -> tuple[State, str]:
    """Of a commit that is shown: whether it hides anything; and what is the matter with its summary."""
    try:
        summary = coordinator.log.summary(commit.staged.summary)
    except NotFound as error:
        # No view can be made then, and the log is where one looks why.
        return State.HIDDEN, f"its summary can't be read: {error.message}"
    is_shorter = collapsed_region(messages, region, commit.collapse_id, summary) is not None
    return State.HIDDEN if is_shorter else State.NO_SHORTER, ""


def _words(record: LogRecord) -> str:
    if isinstance(record, Rewind):
        return f"drops {', '.join(record.collapse_ids)}"
    if isinstance(record, Boundary):
        return f"the session was compacted ({record.boundary_id})"
    assert isinstance(record, Reset)
    return record.reason


def _taken(meter: Meter, rendered: Rendered) -> Taken:
    return Taken(rendered.size, meter.measure(rendered))
