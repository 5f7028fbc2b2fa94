"""Standing: how a session and its log stand to each other, and what may be done next. Pure.

Laws: a span that may be staged or committed is of whole turns that are there, reaches into none of the last
ones, and overlaps another only where it holds all of it. What a compaction or a rewind took away is told as
records of the log, in the order in which they are appended.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from castore.digest import Digest
from castore.errors import SpanConflict, ViewMissing
from castore.transcript.collapse.choose import reaches_into_last
from castore.transcript.collapse.model import (
    Boundary,
    Commit,
    Health,
    LogRecord,
    Rewind,
    Snapshot,
    Span,
    Staged,
)
from castore.transcript.collapse.persistence import LogState
from castore.transcript.collapse.replay import holding_commits, latest_boundary
from castore.transcript.collapse.spans import Messages, Region, shown
from castore.transcript.marker import whole_marker

__all__ = ["CollapseStats", "Standing"]

EMPTY_SPAWNS_MAX = 3
"""After so many in a row that gave nothing, the stats have a warning."""

_IDS_A_RECORD = 40
"""More than so many spans that are dropped at once are told in several records."""


@dataclass(frozen=True, slots=True)
class CollapseStats:
    """How the session stands. collapsed_messages, collapsed_turns: of the spans that the view hides.

    warning: in words, if something is amiss. is_idle: nothing is collapsed or staged, and no summarizer was
    started.
    """

    collapsed_spans: int
    collapsed_turns: int
    collapsed_messages: int
    staged_spans: int
    health: Health
    is_armed: bool
    last_spawn_tokens: int

    @property
    def is_idle(self) -> bool:
        return not (self.collapsed_spans or self.staged_spans or self.health.spawns)

    @property
    def warning(self) -> str | None:
        if self.health.empty_in_a_row < EMPTY_SPAWNS_MAX:
            return None
        return f"the last {self.health.empty_in_a_row} summarizers gave nothing that could be staged"


@dataclass(frozen=True)
class Standing:
    """One session, as it is now, and its log. keep_turns: the last turns that no span reaches into."""

    messages: Messages
    state: LogState
    keep_turns: int

    @cached_property
    def commits(self) -> list[Commit]:
        """Those that hold, in order of the log."""
        return holding_commits(self.state.records)

    @cached_property
    def collapsed(self) -> list[tuple[Commit, Region]]:
        """What the view hides, in order of the session."""
        return shown(self.commits, self.messages)

    @cached_property
    def staged(self) -> list[tuple[Staged, Region]]:
        """What is staged and there, in order of the session."""
        found = [(each, self.messages.find(each.span)) for each in self.state.snapshot.staged]
        return [(each, region) for each, region in found if isinstance(region, Region)]

    @property
    def taken(self) -> list[Region]:
        """The spans that are collapsed or staged."""
        return [region for _, region in self.collapsed] + [region for _, region in self.staged]

    @property
    def ready(self) -> list[Staged]:
        """What is staged and may be committed."""
        return [each for each, region in self.staged if not self._is_recent(region)]

    @property
    def swallows(self) -> bool:
        """Whether something is staged that holds what is collapsed."""
        return any(region.meets(other) for _, region in self.staged for _, other in self.collapsed)

    def region(self, span: Span) -> Region:
        """Where the span is, if it may be staged. Raises SpanConflict."""
        region = self.messages.region(span)
        if self._is_recent(region):
            raise SpanConflict(f"it reaches into the last {self.keep_turns} turns, which stay whole")
        for commit, other in self.collapsed:
            _refuse_overlap(region, other, commit.collapse_id, "collapsed")
        for staged, other in self.staged:
            _refuse_overlap(region, other, staged.collapse_id, "staged")
        return region

    def with_staged(self, span: Span, summary: Digest, strategy: str, now: float) -> tuple[Staged, Snapshot]:
        """The span is staged too; those that it holds whole give way to it. Raises SpanConflict."""
        region = self.region(span)
        staged = Staged(self.messages.span_of(region), summary, strategy, now)
        snapshot = self.state.snapshot
        for other in snapshot.staged:
            if other.collapse_id == staged.collapse_id:
                return other, snapshot
        given_way = {other.collapse_id for other, at in self.staged if region.meets(at)}
        kept = [other for other in snapshot.staged if other.collapse_id not in given_way]
        index_of = self.messages.index_of
        ordered = sorted([*kept, staged], key=lambda each: index_of(each.span.first_id) or 0)
        return staged, replace(snapshot, staged=tuple(ordered))

    def boundary(self, now: float) -> list[LogRecord]:
        """The record of a compaction that the log does not know of yet."""
        boundary_id = self.messages.boundary_id()
        if boundary_id is None or boundary_id == latest_boundary(self.state.records):
            return []
        return [Boundary(boundary_id, now)]

    def seen(self, now: float) -> tuple[list[LogRecord], Snapshot]:
        """What the log should say of a compaction and of turns that are gone; the snapshot once it does.

        Raises ViewMissing where they may be gone for another reason."""
        snapshot = self.state.snapshot
        if not (self.commits or snapshot.staged):
            return [], snapshot
        records = self.boundary(now)
        if records:
            # A compaction drops them all.
            return records, replace(snapshot, staged=())
        has = self.messages.has
        gone = {each.collapse_id for each in self.commits if not has(each.span)}
        gone |= {each.collapse_id for each in snapshot.staged if not has(each.span)}
        if gone and (marker := whole_marker(self.messages.transcript.source)) is not None:
            # It may be a view whose record is not here: its turns are not gone, they are hidden.
            raise ViewMissing(marker)
        ids = sorted(gone)
        records = [
            Rewind(tuple(ids[at : at + _IDS_A_RECORD]), now) for at in range(0, len(ids), _IDS_A_RECORD)
        ]
        return records, snapshot.without(ids)

    def stats(self) -> CollapseStats:
        snapshot = self.state.snapshot
        regions = [region for _, region in self.collapsed]
        return CollapseStats(
            len(regions),
            sum(region.turns for region in regions),
            sum(region.messages for region in regions),
            len(snapshot.staged),
            snapshot.health,
            snapshot.is_armed,
            snapshot.last_spawn_tokens,
        )

    # --- Helpers ---

    def _is_recent(self, region: Region) -> bool:
        return reaches_into_last(self.messages, region, self.keep_turns)


def _refuse_overlap(region: Region, other: Region, collapse_id: str, what: str) -> None:
    if region.meets(other) and not region.holds(other):
        raise SpanConflict(f"it overlaps the span '{collapse_id}', which is {what}")
