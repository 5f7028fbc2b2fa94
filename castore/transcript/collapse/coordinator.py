"""CollapseCoordinator: a session's collapse, as a harness drives it.

Laws:
- What `project` gives follows from the transcript and the log alone, in this process or the next; it writes
  nothing. Asked before all was restored it raises NotRestored: never a wrong view.
- What changes the log is on the disk when the call returns, and a crash before leaves the log as it was or
  with a beginning of what was to be appended. So may a disk that fails; what is refused has changed nothing.
- Subscribers are told after a change, when no lock is held and no transaction is open.
- One thread at a time. Of two processes that change one log the slower gets LogMoved, with the log read anew,
  but for a span that can be staged on what is there then.

The order of restoring: the messages; the views that are recorded of them, since what lies there may be a view
of the session; the log; then the first projection.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from castore.digest import Digest
from castore.errors import CastoreError, InvalidOption, LogMoved, NotRestored, SpanConflict, ViewMissing
from castore.transcript.budget import Budget
from castore.transcript.collapse.choose import TURNS_MAX, fewest, next_region
from castore.transcript.collapse.model import (
    STAGED_MAX,
    Commit,
    LogRecord,
    Reset,
    Snapshot,
    Span,
    Staged,
    parse_record,
)
from castore.transcript.collapse.persistence import CollapseLog, LogState
from castore.transcript.collapse.placeholder import facts_of
from castore.transcript.collapse.reading import text_of
from castore.transcript.collapse.replay import holding_commits
from castore.transcript.collapse.spans import Messages, Region
from castore.transcript.collapse.standing import CollapseStats, Standing
from castore.transcript.collapse.summarizer import GivenText, Summarizer, checked_summary
from castore.transcript.collapse.views import Views
from castore.transcript.decision import ViewOptions
from castore.transcript.formats import read_session
from castore.transcript.marker import collapsed_in
from castore.transcript.measure import Measured
from castore.transcript.model import Transcript
from castore.transcript.recorded import session_bytes
from castore.transcript.render import Rendered

if TYPE_CHECKING:
    from castore.store import StoreHandle

__all__ = ["KEEP_TURNS", "Applied", "CollapseCoordinator", "Require"]

KEEP_TURNS = 4
"""The last turns that no span reaches into, unless somebody says otherwise."""

Require = Callable[[str, str], None]
"""Is called with a summary and the turns that it is of, as text (castore.transcript.collapse.reading), before
it is committed; what it raises refuses it. castore.summary.fidelity.requirements makes one."""

_ERROR_CHARACTERS = 300
_TRIES = 5
"""How often a span is staged anew where other processes write in the log."""


@dataclass(frozen=True)
class Applied:
    """What came of a change. committed: now, oldest first. transcript: projected after it, and what its view
    takes; is_enough: of the budget."""

    committed: tuple[Commit, ...]
    transcript: Transcript = field(repr=False)
    measured: Measured
    is_enough: bool


class _Phase(IntEnum):
    NOTHING = 0
    MESSAGES = 1
    VIEWS = 2
    READY = 3


class CollapseCoordinator:
    """The collapse of one session. See the module for its laws.

    log: where it is kept. keep_turns: the last turns that stay whole. strategies, options: of the views that
    the harness makes after the collapse, which are what budgets are held against. spawn_tokens: a summarizer
    is due when the context has grown by so many since the last one. clock: unix seconds.
    """

    def __init__(
        self,
        log: CollapseLog,
        *,
        is_enabled: bool = True,
        keep_turns: int = KEEP_TURNS,
        strategies: Sequence[str] = (),
        options: ViewOptions | None = None,
        spawn_tokens: int = 20_000,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if keep_turns < 1:
            raise InvalidOption("the last turn is never collapsed: keep-turns must be at least 1")
        self.log = log
        self.is_enabled = is_enabled
        self.keep_turns = keep_turns
        self.spawn_tokens = spawn_tokens
        self._views = Views(strategies, options)
        self._clock = clock
        self._phase = _Phase.NOTHING
        self._source = b""
        self._messages: Messages | None = None
        self._state = LogState()
        self._subscribers: list[Callable[[CollapseStats], None]] = []
        self._passed: list[Span] = []
        """Free turns whose summary was no shorter: others come next."""
        self._standing: tuple[tuple[Messages, LogState, int], Standing] | None = None

    # --- Restoring ---

    def restore(self, source: bytes, handle: StoreHandle | None = None) -> Transcript:
        """All of it, in order; the session's transcript, with nothing collapsed. handle: where views of the
        session are recorded. Raises what reading the session, the views and the log raises."""
        self.restore_messages(source)
        self.restore_views(handle)
        self.restore_log()
        return self.transcript

    def restore_messages(self, source: bytes) -> None:
        """First: the bytes that the harness has of the session, which may be a view of it."""
        self._phase = _Phase.MESSAGES
        self._messages = None
        self._source = source

    def restore_views(self, handle: StoreHandle | None = None) -> None:
        """Then: what earlier views moved out of these bytes is back. Raises ViewMissing for a collapsed view
        that is not recorded there, SessionInvalid, and what reading a view back raises."""
        self._require(_Phase.MESSAGES, "restore the messages first")
        if handle is not None and handle.exists:
            self._source = session_bytes(handle.get(), self._source)
        marker = collapsed_in(self._source)
        if marker is not None:
            raise ViewMissing(marker)
        self._see(read_session(self._source))
        self._phase = _Phase.VIEWS

    def restore_log(self) -> None:
        """Last: the commits and the snapshot, as the log has them. Raises LogDamaged."""
        self._require(_Phase.VIEWS, "restore the messages and the views first")
        self._take(self.log.load())

    def restore_from_entries(self, commits: Iterable[Any], snapshot: Any | None) -> None:
        """As `restore_log`, for a harness that read the entries of its transcript itself. commits: the
        record entries, in order; snapshot: the latest snapshot entry. Raises LogDamaged."""
        from castore.transcript.collapse.entries import state_from_entries

        self._require(_Phase.VIEWS, "restore the messages and the views first")
        state, summaries = state_from_entries(self.log.session, commits, snapshot)
        self._views.remember(summaries)
        self._take(state)

    @property
    def transcript(self) -> Transcript:
        """The session as it was seen last, with nothing collapsed."""
        return self._seen.transcript

    # --- What it says ---

    @property
    def owns_threshold(self) -> bool:
        """Whether the context is kept small here, so that another limit that acts early gives way."""
        return self.is_enabled and self._phase is _Phase.READY

    @property
    def standing(self) -> Standing:
        """How the session that was seen last, and its log, stand to each other."""
        self._require_ready()
        asked = (self._seen, self._state, self.keep_turns)
        if self._standing is None or not all(map(operator.is_, self._standing[0], asked)):
            self._standing = asked, Standing(*asked)
        return self._standing[1]

    @property
    def commits(self) -> list[Commit]:
        """Those that hold, in order of the log."""
        return self.standing.commits

    @property
    def staged(self) -> tuple[Staged, ...]:
        """What waits to be committed, in order of the session."""
        self._require_ready()
        return self._state.snapshot.staged

    @property
    def records(self) -> tuple[LogRecord, ...]:
        """The log, from the first record that is left of it."""
        self._require_ready()
        return self._state.records

    def stats(self) -> CollapseStats:
        """How the session that was seen last stands."""
        return self.standing.stats()

    def project(self, transcript: Transcript) -> Transcript:
        """The session as the model gets it: pure. Raises NotRestored, and what reading a summary raises."""
        self._require_ready()
        if not self.is_enabled:
            return transcript
        return self._views.project(self._messages_of(transcript), self.commits, self.log)

    def render(self, transcript: Transcript) -> Rendered:
        """The view of the session: projected, then by the strategies. Nothing is recorded of it."""
        return self._views.render(self.project(transcript))

    def measure(self, transcript: Transcript, budget: Budget) -> Measured:
        """What the view takes, in the budget's unit."""
        return self._views.measure(self.render(transcript), transcript, budget)

    def should_spawn(self, transcript: Transcript) -> bool:
        """Whether a summarizer is due: the view takes `spawn_tokens`, and that much more than when the last
        one was started, unless something was committed since."""
        self._require_ready()
        if not self.is_enabled:
            return False
        snapshot = self._state.snapshot
        since = 0 if snapshot.is_armed else snapshot.last_spawn_tokens
        return self._tokens(transcript) >= since + self.spawn_tokens

    def is_withheld(self, error: object) -> bool:
        """Whether this is a prompt that was too long, and there is something to commit for it: then the
        harness calls `recover_from_overflow` before it tells anybody."""
        from castore.transcript.collapse.overflow import is_overflow

        return self.owns_threshold and bool(self.staged) and is_overflow(error)

    def subscribe(self, callback: Callable[[CollapseStats], None]) -> Callable[[], None]:
        """The callback is called after each change. Call what is returned to end that."""
        self._subscribers.append(callback)

        def unsubscribe() -> None:
            if callback in self._subscribers:
                self._subscribers.remove(callback)

        return unsubscribe

    # --- What it does ---

    def observe(self, transcript: Transcript) -> tuple[LogRecord, ...]:
        """The session is this now. Where it was compacted or turns were taken back since, the log says so,
        and what named them is dropped. The calls that change the log do it by themselves."""
        self._require_ready()
        self._see(transcript)
        records, snapshot = self.standing.seen(self._clock())
        if records:
            self._change(records, snapshot)
        return tuple(records)

    def stage(self, span: Span, summary: str, *, strategy: str | None = None) -> Staged:
        """The span waits with its summary; the view is what it was. Staged spans that it holds whole give
        way to it. strategy: what made the summary, if not somebody by hand.

        Where another process wrote meanwhile, it is tried again on what is there then. Raises SpanConflict,
        InvalidOption for a summary by hand that is none, SummarizerFailed for another's, LogMoved.
        """
        self._require_enabled()
        if strategy is None:
            given = GivenText(summary)
            summary, strategy = given.text, given.strategy
        text = checked_summary(summary, by=strategy)
        for _ in range(_TRIES - 1):
            try:
                return self._stage(span, text, strategy)
            except LogMoved:
                continue  # The log was read anew.
        return self._stage(span, text, strategy)

    def _stage(self, span: Span, text: str, strategy: str) -> Staged:
        self.observe(self.transcript)
        standing = self.standing
        if not self._views.is_shorter(self._seen, standing.region(span), text):
            raise SpanConflict("the summary with its marker is no shorter than what it hides")
        digest = Digest.of(text.encode())
        staged, snapshot = standing.with_staged(span, digest, strategy, self._clock())
        if snapshot is not self._state.snapshot:
            self._change(standing.boundary(self._clock()), snapshot, {digest: text})
        return staged

    def spawn(
        self,
        transcript: Transcript,
        summarizer: Summarizer,
        *,
        span: Span | None = None,
        turns_max: int = TURNS_MAX,
    ) -> Staged | None:
        """The span, or the oldest turns that are free, are summarized and staged. None, an empty spawn, if no
        turns are, or if the summary would be no shorter than they are.

        Raises SpanConflict for a span that can't be staged, before it is summarized; SummarizerFailed, and
        whatever else the summarizer raises, which is noted in the log; and what `stage` raises.
        """
        self._require_enabled()
        if turns_max < 1:
            raise InvalidOption("a span has at least one turn")
        strategy = _strategy_of(summarizer)
        self.observe(transcript)
        if span is not None:
            region: Region | None = self.standing.region(span)
        else:
            passed = [self._seen.find(each) for each in self._passed]
            taken = self.standing.taken + [each for each in passed if isinstance(each, Region)]
            region = next_region(self._seen, taken, keep_turns=self.keep_turns, turns_max=turns_max)
        tokens = self._tokens(transcript)
        if region is None:
            self._note_spawn(tokens, is_empty=True)
            return None
        text = text_of(transcript, region.first, region.last + 1)
        try:
            summary = checked_summary(summarizer.summarize(text), by=strategy)
        except Exception as error:
            self._note_spawn(tokens, error=str(error).strip() or type(error).__name__)
            raise
        is_empty = not self._views.is_shorter(self._seen, region, summary)
        self._note_spawn(tokens, is_empty=is_empty)
        if is_empty:
            self._passed.append(self._seen.span_of(region))
            return None
        return self.stage(self._seen.span_of(region), summary, strategy=strategy)

    def apply_if_needed(
        self, transcript: Transcript, budget: Budget, *, require: Require | None = None
    ) -> Applied:
        """Staged spans are committed, the oldest first, until the view fits; none if it fits already, all if
        it never does. require: as of `commit`."""
        self._require_enabled()
        self.observe(transcript)
        ready = self.standing.ready

        def fits(count: int) -> bool:
            planned = self._planned(transcript, ready[:count])
            return self._views.measure(planned, transcript, budget).size <= budget.limit

        count = fewest(len(ready), fits, is_falling=not self.standing.swallows)
        return self._apply(transcript, ready if count is None else ready[:count], budget, require)

    def recover_from_overflow(
        self, transcript: Transcript, budget: Budget, *, require: Require | None = None
    ) -> Applied:
        """After the API refused a prompt as too long: everything that is staged is committed at once. Where
        that `is_enough` is False, the caller compacts the whole session. require: as of `commit`."""
        self._require_enabled()
        self.observe(transcript)
        return self._apply(transcript, self.standing.ready, budget, require)

    def commit(
        self,
        transcript: Transcript,
        collapse_ids: Sequence[str] | None = None,
        *,
        require: Require | None = None,
    ) -> tuple[Commit, ...]:
        """The staged spans of these ids, or all, are committed. require: looks at each summary first.

        Raises SpanConflict for one that is not staged or reaches into the last turns, and what making the
        view, reading a summary and `require` raise: then none of them is committed, and all stay staged.
        """
        self._require_enabled()
        self.observe(transcript)
        ready = self.standing.ready
        for collapse_id in collapse_ids or ():
            if collapse_id not in [each.collapse_id for each in ready]:
                raise SpanConflict(f"no span '{collapse_id}' is staged and ready to be committed")
        if collapse_ids is not None:
            ready = [each for each in ready if each.collapse_id in collapse_ids]
        self._planned(transcript, ready)
        self._look_at(ready, require)
        return self._commit(ready)

    def reset(self, reason: str) -> None:
        """Nothing is collapsed or staged any more. reason: in words, for the log."""
        self._require_ready()
        self._change([Reset(reason, self._clock())], Snapshot())

    # --- Helpers: views ---

    def _messages_of(self, transcript: Transcript) -> Messages:
        return self._seen if transcript is self.transcript else Messages(transcript)

    def _planned(self, transcript: Transcript, staged: Sequence[Staged]) -> Rendered:
        """The view as it would be with these committed."""
        commits = [*self.commits, *(Commit(each, "planned", each.created_at) for each in staged)]
        return self._views.render(self._views.project(self._messages_of(transcript), commits, self.log))

    def _tokens(self, transcript: Transcript) -> int:
        return self.measure(transcript, Budget(1, is_tokens=True)).size

    # --- Helpers: the log ---

    def _apply(
        self, transcript: Transcript, staged: Sequence[Staged], budget: Budget, require: Require | None
    ) -> Applied:
        # Before anything is written: a view that can't be made would leave the session without one.
        rendered = self._planned(transcript, staged)
        measured = self._views.measure(rendered, transcript, budget)
        self._look_at(staged, require)
        committed = self._commit(staged)
        return Applied(committed, rendered.transcript, measured, measured.size <= budget.limit)

    def _look_at(self, staged: Sequence[Staged], require: Require | None) -> None:
        """Raises what `require` raises for the first summary that it refuses."""
        if require is None:
            return
        for each in staged:
            region = self._seen.region(each.span)
            turns = text_of(self.transcript, region.first, region.last + 1)
            try:
                require(self._views.summary(each.summary, self.log), turns)
            except CastoreError as error:
                error.at(f"span {each.collapse_id}")
                raise

    def _commit(self, staged: Sequence[Staged]) -> tuple[Commit, ...]:
        now = self._clock()
        commits = []
        for each in staged:
            region = self._seen.region(each.span)
            commits.append(Commit(each, facts_of(region, self._seen.size(region)), now))
        if commits:
            left = self._state.snapshot.without([each.collapse_id for each in commits])
            self._change(commits, replace(left, is_armed=True))
        return tuple(commits)

    def _note_spawn(self, tokens: int, *, is_empty: bool = False, error: str | None = None) -> None:
        snapshot = self._state.snapshot
        health = snapshot.health
        noted = replace(
            health,
            spawns=health.spawns + 1,
            empty=health.empty + is_empty,
            empty_in_a_row=health.empty_in_a_row + 1 if is_empty else 0,
            errors=health.errors + (error is not None),
            last_error=health.last_error if error is None else error[:_ERROR_CHARACTERS],
        )
        self._change([], replace(snapshot, health=noted, is_armed=False, last_spawn_tokens=tokens))

    def _change(
        self,
        records: Sequence[LogRecord],
        snapshot: Snapshot,
        summaries: Mapping[Digest, str] | None = None,
    ) -> None:
        """It is written; then subscribers are told, all of them, whatever one of them raises.

        When writing fails, part of the records may be there: the log must be restored before anything else.
        """
        summaries = summaries or {}
        _check(records, self._state.snapshot, snapshot)
        self._views.remember(summaries)
        try:
            self._state = self.log.save(self._state, records, snapshot, summaries)
        except LogMoved:
            self._take(self.log.load())
            raise
        except BaseException:
            self._phase = _Phase.VIEWS
            raise
        stats = self.stats()
        with ExitStack() as calls:
            # Each is called, whatever another one raises; the caller gets that when all were.
            for callback in reversed(self._subscribers):
                calls.callback(callback, stats)

    def _take(self, state: LogState) -> None:
        """The log is this. What was committed before a crash that the snapshot did not outlive is not staged
        any more."""
        committed = [each.collapse_id for each in holding_commits(state.records)]
        self._state = replace(state, snapshot=state.snapshot.without(committed))
        self._phase = _Phase.READY

    # --- Helpers: order ---

    def _see(self, transcript: Transcript) -> None:
        if self._messages is None or self._messages.transcript is not transcript:
            self._messages = Messages(transcript)

    @property
    def _seen(self) -> Messages:
        if self._messages is None:
            raise NotRestored("no messages were restored yet")
        return self._messages

    def _require(self, phase: _Phase, words: str) -> None:
        if self._phase < phase:
            raise NotRestored(words)

    def _require_ready(self) -> None:
        self._require(_Phase.READY, "the session was not restored: its log is not known yet")

    def _require_enabled(self) -> None:
        self._require_ready()
        if not self.is_enabled:
            raise InvalidOption("collapse is not enabled for this session")


# --- Helpers ---------------------------------------------------------------------------------------


def _strategy_of(summarizer: Summarizer) -> str:
    """Raises InvalidOption for what is no summarizer."""
    strategy = getattr(summarizer, "strategy", None)
    if not isinstance(strategy, str) or not callable(getattr(summarizer, "summarize", None)):
        raise InvalidOption(
            f"a {type(summarizer).__name__} is no summarizer",
            hint="it has a name, a version, a strategy and summarize(text)",
        )
    return strategy


def _check(records: Sequence[LogRecord], before: Snapshot, after: Snapshot) -> None:
    """What is written can be read again. Raises InvalidOption: a reason or a strategy is empty or too long,
    the clock tells no time, too much is staged."""
    known = frozenset(each.collapse_id for each in before.staged)
    new = tuple(each for each in after.staged if each.collapse_id not in known)
    try:
        for record in records:
            parse_record(record.to_json())
        Snapshot.parse(replace(after, staged=new).to_json())
        if len(after.staged) > STAGED_MAX:
            raise ValueError(f"at most {STAGED_MAX:,} spans may be staged")
    except ValueError as error:
        raise InvalidOption(f"no log can hold that: {error}") from error
