"""The coordinator: what it refuses out of order, when it tells whom, and what it says of itself."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

import castore
from castore.digest import Digest
from castore.errors import (
    CastoreError,
    FidelityShort,
    InvalidOption,
    LogMoved,
    NotRestored,
    SpanConflict,
    SummarizerFailed,
    ViewMissing,
)
from castore.store import Store, StoreHandle
from castore.summary.fidelity.requirements import fidelity_check
from castore.transcript.budget import Budget
from castore.transcript.collapse.coordinator import CollapseCoordinator
from castore.transcript.collapse.extract import Extract
from castore.transcript.collapse.model import Snapshot, Span
from castore.transcript.collapse.persistence import LogState
from castore.transcript.collapse.reading import text_of
from castore.transcript.collapse.store_log import StoreLog
from castore.transcript.decision import ViewOptions
from castore.transcript.formats import read_session
from castore.transcript.view import ViewRequest, make_view
from tests.transcript.collapse.talks import PiTalk
from tests.transcript.collapse.test_replay import MemoryLog


def talk_of(turns: int) -> PiTalk:
    talk = PiTalk()
    for _ in range(turns):
        talk.turn(prompt=True, call=True)
        talk.turn(prompt=False, call=False)
    return talk


SESSION = talk_of(8).source()


class Failing:
    """A summarizer that fails, or gives what is no summary."""

    name, version, strategy = "failing", 1, "failing@1"

    def __init__(self, gives: str | None = None) -> None:
        self.gives = gives

    def summarize(self, text: str) -> str:
        if self.gives is None:
            raise SummarizerFailed("the program ended with the code 1")
        return self.gives


def restored(log: MemoryLog | StoreLog | None = None, **more: object) -> CollapseCoordinator:
    coordinator = CollapseCoordinator(log or MemoryLog(), keep_turns=2, **more)  # type: ignore[arg-type]
    coordinator.restore(SESSION)
    return coordinator


class TestOrder:
    def test_nothing_is_projected_before_all_was_restored(self) -> None:
        coordinator = CollapseCoordinator(MemoryLog())
        transcript = read_session(SESSION)
        for restore in (
            lambda: None,
            lambda: coordinator.restore_messages(SESSION),
            lambda: coordinator.restore_views(),
        ):
            restore()
            with pytest.raises(NotRestored):
                coordinator.project(transcript)
            with pytest.raises(NotRestored):
                coordinator.stats()
            assert not coordinator.owns_threshold
        coordinator.restore_log()
        assert coordinator.project(transcript) is transcript
        assert coordinator.owns_threshold

    def test_the_log_comes_after_the_views_and_they_after_the_messages(self) -> None:
        coordinator = CollapseCoordinator(MemoryLog())
        with pytest.raises(NotRestored):
            coordinator.restore_log()
        with pytest.raises(NotRestored):
            coordinator.restore_views()
        coordinator.restore_messages(SESSION)
        with pytest.raises(NotRestored):
            coordinator.restore_log()
        with pytest.raises(NotRestored):
            coordinator.restore_from_entries([], None)

    def test_other_messages_are_restored_from_the_beginning(self) -> None:
        coordinator = restored()
        coordinator.restore_messages(talk_of(9).source())
        with pytest.raises(NotRestored):
            coordinator.render(read_session(SESSION))

    def test_a_view_that_is_restored_is_its_session(self, fast_path: Path) -> None:
        store = castore.init_store(fast_path / "store")
        handle = StoreHandle.of(store)
        moved = make_view(SESSION, handle, ViewRequest()).to_bytes()
        first = CollapseCoordinator(StoreLog(handle, "talk-1"), keep_turns=2)
        first.restore(SESSION, handle)
        first.spawn(first.transcript, Extract(400))
        first.commit(first.transcript)
        second = CollapseCoordinator(StoreLog(handle, "talk-1"), keep_turns=2)
        second.restore(moved, handle)
        assert moved != SESSION
        assert _bytes(second) == _bytes(first), "its ids are the session's"
        store.close()


class TestTelling:
    def test_after_each_change_with_the_change_made(self) -> None:
        log = MemoryLog()
        coordinator = restored(log)
        told: list[int] = []
        coordinator.subscribe(lambda stats: told.append(stats.staged_spans))
        coordinator.subscribe(lambda stats: told.append(len(log.snapshot.staged)))
        coordinator.stage(coordinator.standing.messages.span(0, 1), "The first two turns.")
        assert told == [1, 1]
        coordinator.commit(coordinator.transcript)
        assert told == [1, 1, 0, 0]
        coordinator.commit(coordinator.transcript)
        assert told == [1, 1, 0, 0], "where nothing changed nobody is told"

    def test_when_no_transaction_is_open(self, fast_path: Path) -> None:
        """Another thread, with a store of its own, writes in the same log meanwhile."""
        store = castore.init_store(fast_path / "store")
        coordinator = restored(StoreLog(StoreHandle.of(store), "talk-1"))
        done: list[str] = []

        def other() -> None:
            with_own = Store.open(fast_path / "store")
            castore.put(with_own, b"written while the subscriber runs")
            done.append("written")
            with_own.close()

        def callback(_: object) -> None:
            thread = threading.Thread(target=other)
            thread.start()
            thread.join(10)

        coordinator.subscribe(callback)
        coordinator.stage(coordinator.standing.messages.span(0, 1), "The first two turns.")
        assert done == ["written"]
        store.close()

    def test_all_of_them_whatever_one_raises(self) -> None:
        coordinator = restored()
        told: list[str] = []

        def raising(_: object) -> None:
            told.append("first")
            raise RuntimeError("of the subscriber")

        unsubscribe = coordinator.subscribe(raising)
        coordinator.subscribe(lambda _: told.append("second"))
        with pytest.raises(RuntimeError, match="of the subscriber"):
            coordinator.stage(coordinator.standing.messages.span(0, 1), "The first two turns.")
        assert told == ["first", "second"]
        assert len(coordinator.staged) == 1, "the change stands"
        unsubscribe()
        unsubscribe()
        coordinator.reset("again")
        assert told == ["first", "second", "second"]

    def test_it_may_call_back(self) -> None:
        coordinator = restored()
        seen: list[int] = []
        coordinator.subscribe(lambda _: seen.append(len(coordinator.render(coordinator.transcript).splices)))
        coordinator.spawn(coordinator.transcript, Extract(400))
        coordinator.commit(coordinator.transcript)
        assert seen[-1] > 0


class TestOverflow:
    TOO_LONG = "prompt is too long: 208656 tokens > 200000 maximum"

    def test_is_withheld_if_something_is_staged_for_it(self) -> None:
        coordinator = CollapseCoordinator(MemoryLog(), keep_turns=2)
        assert not coordinator.is_withheld(Exception(self.TOO_LONG)), "before it was restored"
        coordinator.restore(SESSION)
        assert not coordinator.is_withheld(Exception(self.TOO_LONG)), "nothing is staged"
        coordinator.spawn(coordinator.transcript, Extract(400))
        assert coordinator.is_withheld(Exception(self.TOO_LONG))
        assert not coordinator.is_withheld(Exception("rate limit reached: 200000 tokens per minute"))
        coordinator.is_enabled = False
        assert not coordinator.is_withheld(Exception(self.TOO_LONG))

    def test_everything_staged_is_committed_and_it_says_whether_that_was_enough(self) -> None:
        coordinator = restored()
        while coordinator.spawn(coordinator.transcript, Extract(400), turns_max=4):
            pass
        staged = coordinator.staged
        assert len(staged) > 1
        applied = coordinator.recover_from_overflow(coordinator.transcript, Budget(10))
        assert [each.staged for each in applied.committed] == list(staged)
        assert not applied.is_enough
        again = coordinator.recover_from_overflow(coordinator.transcript, Budget(applied.measured.size))
        assert again.committed == ()
        assert again.is_enough

    def test_a_larger_budget_never_commits_more(self) -> None:
        sizes = []
        for limit in range(2_000, len(SESSION) + 1_000, 1_500):
            coordinator = restored()
            while coordinator.spawn(coordinator.transcript, Extract(400), turns_max=2):
                pass
            applied = coordinator.apply_if_needed(coordinator.transcript, Budget(limit))
            sizes.append(len(applied.committed))
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[0] > sizes[-1] == 0


class TestHealth:
    def test_whatever_a_summarizer_does_counts(self) -> None:
        class Raising(Failing):
            def summarize(self, text: str) -> str:
                raise KeyError("of the summarizer")

        class Nothing(Failing):
            def summarize(self, text: str) -> str:
                return None  # type: ignore[return-value]

        class Silent(Failing):
            def summarize(self, text: str) -> str:
                raise SummarizerFailed("")

        log = MemoryLog()
        coordinator = restored(log)
        for summarizer, error in (
            (Raising(), KeyError),
            (Nothing(), SummarizerFailed),
            (Silent(), SummarizerFailed),
        ):
            with pytest.raises(error):
                coordinator.spawn(coordinator.transcript, summarizer)
        assert restored(log).stats().health.errors == 3
        with pytest.raises(InvalidOption, match="no summarizer"):
            coordinator.spawn(coordinator.transcript, object())  # type: ignore[arg-type]

    def test_a_span_that_is_named_is_refused_before_it_is_summarized(self) -> None:
        coordinator = restored()
        with pytest.raises(SpanConflict):
            coordinator.spawn(coordinator.transcript, Failing(), span=Span("nobody", "nobody"))
        assert coordinator.stats().health.spawns == 0
        span = coordinator.standing.messages.span(1, 2)
        staged = coordinator.spawn(coordinator.transcript, Extract(400), span=span)
        assert staged is not None
        assert staged.span == span

    def test_a_summarizer_that_fails_is_an_entry_and_no_summary(self) -> None:
        log = MemoryLog()
        coordinator = restored(log)
        for gives in (None, "", " \n"):
            with pytest.raises(SummarizerFailed):
                coordinator.spawn(coordinator.transcript, Failing(gives))
        health = restored(log).stats().health
        assert (health.spawns, health.errors, health.empty) == (3, 3, 0)
        assert health.last_error is not None
        assert coordinator.staged == ()

    def test_three_that_gave_nothing_in_a_row_are_a_warning(self) -> None:
        coordinator = CollapseCoordinator(MemoryLog(), keep_turns=100)
        coordinator.restore(SESSION)
        assert coordinator.stats().is_idle
        for count in range(1, 4):
            assert coordinator.stats().warning is None
            assert coordinator.spawn(coordinator.transcript, Extract(400)) is None
            assert coordinator.stats().health.empty_in_a_row == count
        assert coordinator.stats().warning is not None
        assert not coordinator.stats().is_idle
        coordinator.keep_turns = 2
        coordinator.spawn(coordinator.transcript, Extract(400))
        assert coordinator.stats().warning is None, "the next one gave something"

    def test_turns_whose_summary_is_no_shorter_are_in_nobodys_way(self) -> None:
        class Growing(Failing):
            strategy = "growing@1"

            def summarize(self, text: str) -> str:
                return "word " * 2_000 if "user 1 of pi" in text else "What happened."

        coordinator = restored()
        assert coordinator.spawn(coordinator.transcript, Growing(), turns_max=2) is None
        staged = coordinator.spawn(coordinator.transcript, Growing(), turns_max=2)
        assert staged is not None
        assert staged.span == coordinator.standing.messages.span(2, 3)

    def test_a_summarizer_is_due_when_the_view_has_grown(self) -> None:
        coordinator = restored(spawn_tokens=1_000)
        assert coordinator.should_spawn(coordinator.transcript)
        coordinator.spawn(coordinator.transcript, Extract(400))
        assert not coordinator.should_spawn(coordinator.transcript), "it has not grown since"
        grown = read_session(talk_of(20).source())
        assert coordinator.should_spawn(grown)

    def test_counts_what_the_view_hides(self) -> None:
        coordinator = restored()
        coordinator.stage(coordinator.standing.messages.span(0, 3), "The first four turns.")
        coordinator.commit(coordinator.transcript)
        stats = coordinator.stats()
        hidden = coordinator.project(coordinator.transcript).collapsed
        assert (stats.collapsed_spans, stats.collapsed_turns) == (len(hidden), 4)
        assert stats.collapsed_messages == sum(each.messages for each in hidden)


class TestRefusals:
    @pytest.mark.parametrize(
        ("first", "last"), [("nobody", "nobody"), ("00000001", "nobody"), ("00000004", "00000001")]
    )
    def test_ids_that_name_no_span(self, first: str, last: str) -> None:
        log = MemoryLog()
        with pytest.raises(SpanConflict):
            restored(log).stage(Span(first, last), "What happened.")
        assert log.version == 0, "nothing was written"

    def test_a_summary_that_is_none(self) -> None:
        coordinator = restored()
        with pytest.raises(InvalidOption):
            coordinator.stage(coordinator.standing.messages.span(0, 1), " ")

    def test_a_summary_that_is_no_shorter(self) -> None:
        coordinator = restored()
        with pytest.raises(SpanConflict, match="no shorter"):
            coordinator.stage(coordinator.standing.messages.span(0, 0), "word " * 2_000)

    def test_the_last_turn_is_never_free(self) -> None:
        with pytest.raises(InvalidOption):
            CollapseCoordinator(MemoryLog(), keep_turns=0)

    def test_what_is_not_enabled_hides_and_changes_nothing(self) -> None:
        log = MemoryLog()
        coordinator = restored(log)
        coordinator.spawn(coordinator.transcript, Extract(400))
        coordinator.commit(coordinator.transcript)
        off = restored(log, is_enabled=False)
        assert off.project(off.transcript) is off.transcript
        assert not off.owns_threshold
        assert not off.should_spawn(off.transcript)
        with pytest.raises(InvalidOption):
            off.spawn(off.transcript, Extract(400))

    def test_who_comes_second_is_told_and_has_the_log_anew(self) -> None:
        log = MemoryLog()
        first, second = restored(log), restored(log)
        first.stage(first.standing.messages.span(0, 1), "As the first one says.")
        with pytest.raises(LogMoved):
            second.reset("as the second one says")
        assert len(second.staged) == 1
        second.reset("as the second one says")
        assert log.snapshot.staged == ()

    def test_a_span_is_staged_on_what_another_process_wrote_if_it_can_be(self) -> None:
        log = MemoryLog()
        first, second = restored(log), restored(log)
        first.stage(first.standing.messages.span(0, 1), "As the first one says.")
        second.stage(second.standing.messages.span(2, 3), "As the second one says.")
        assert [log.texts[each.summary] for each in log.snapshot.staged] == [
            "As the first one says.",
            "As the second one says.",
        ]
        with pytest.raises(SpanConflict):
            first.stage(first.standing.messages.span(1, 2), "It overlaps what was staged meanwhile.")

    @pytest.mark.parametrize("act", ["reason", "long reason", "strategy", "time"])
    def test_what_no_log_can_hold_is_refused_before_it_is_written(self, act: str) -> None:
        log = MemoryLog()
        clock = float("nan") if act == "time" else 1_700_000_000.0
        coordinator = restored(log, clock=lambda: clock)
        span = coordinator.standing.messages.span(0, 1)
        acts = {
            "reason": lambda: coordinator.reset(""),
            "long reason": lambda: coordinator.reset("x" * 301),
            "strategy": lambda: coordinator.stage(span, "What happened.", strategy=""),
            "time": lambda: coordinator.stage(span, "What happened."),
        }
        with pytest.raises(InvalidOption):
            acts[act]()
        assert log.version == 0
        assert restored(log).stats().is_idle

    def test_after_a_write_that_failed_the_log_is_restored_before_anything_else(self) -> None:
        class Full(MemoryLog):
            def save(self, *_: object) -> LogState:
                raise CastoreError("no space left on device")

        coordinator = restored(Full())
        with pytest.raises(CastoreError, match="no space"):
            coordinator.stage(coordinator.standing.messages.span(0, 1), "What happened.")
        with pytest.raises(NotRestored):
            coordinator.project(coordinator.transcript)
        coordinator.restore_log()
        assert coordinator.staged == ()

    def test_where_no_view_could_be_made_nothing_is_committed(self) -> None:
        log = MemoryLog()
        coordinator = restored(log)
        coordinator.stage(coordinator.standing.messages.span(0, 1), "The first two turns.")
        coordinator.commit(coordinator.transcript)
        coordinator.stage(coordinator.standing.messages.span(2, 3), "The next two turns.")
        log.texts.clear()
        again = restored(log)
        for act in (
            lambda: again.commit(again.transcript),
            lambda: again.apply_if_needed(again.transcript, Budget(1)),
            lambda: again.recover_from_overflow(again.transcript, Budget(1)),
        ):
            with pytest.raises(KeyError):
                act()
        assert len(log.records) == 1
        assert len(restored(log).staged) == 1

    def test_what_is_projected_is_no_session(self) -> None:
        coordinator = restored()
        coordinator.spawn(coordinator.transcript, Extract(400))
        coordinator.commit(coordinator.transcript)
        with pytest.raises(InvalidOption):
            coordinator.project(coordinator.project(coordinator.transcript))

    def test_a_view_that_is_recorded_elsewhere_is_refused_and_drops_nothing(self, fast_path: Path) -> None:
        store, other = castore.init_store(fast_path / "store"), castore.init_store(fast_path / "other")
        handle = StoreHandle.of(store)
        coordinator = CollapseCoordinator(log_of(store), keep_turns=2)
        coordinator.restore(SESSION, handle)
        coordinator.spawn(coordinator.transcript, Extract(400))
        coordinator.commit(coordinator.transcript)
        collapsed = make_view(SESSION, handle, ViewRequest("collapse")).to_bytes()
        again = CollapseCoordinator(log_of(store), keep_turns=2)
        with pytest.raises(ViewMissing):
            again.restore(collapsed, StoreHandle.of(other))
        request = ViewRequest(options=ViewOptions(step=1))
        again.restore(make_view(SESSION, StoreHandle.of(other), request).to_bytes(), handle)
        with pytest.raises(ViewMissing):
            again.observe(again.transcript)
        assert len(log_of(store).load().records) == 1
        store.close()
        other.close()

    def test_a_span_that_can_not_leave_just_now_stays_staged(self) -> None:
        """A result that comes late ties its turns to others; none of them was taken back."""
        talk, log = talk_of(8), MemoryLog()
        late = talk.lines.pop(3)
        before = CollapseCoordinator(log, keep_turns=2)
        before.restore(b"".join(talk.lines).replace(b'"parentId":"00000003"', b'"parentId":"00000002"'))
        span = before.standing.messages.span(0, 1)
        before.stage(span, "What was not answered yet.")
        again = CollapseCoordinator(log, keep_turns=2)
        lines = [*talk.lines, late.replace(b'"parentId":"00000002"', b'"parentId":"00000020"')]
        again.restore(b"".join(lines).replace(b'"parentId":"00000003"', b'"parentId":"00000002"'))
        assert isinstance(again.standing.messages.find(span), str), "its result stands elsewhere"
        again.stage(again.standing.messages.span(4, 5), "Others.")
        assert again.staged[0].span == span
        assert again.commit(again.transcript)[0].span != span

    def test_a_span_staged_again_is_the_same(self) -> None:
        log = MemoryLog()
        coordinator = restored(log)
        once = coordinator.stage(coordinator.standing.messages.span(0, 1), "The same.")
        again = coordinator.stage(coordinator.standing.messages.span(0, 1), "The same.")
        assert once == again
        assert len(coordinator.staged) == 1


class TestRequire:
    """What looks at summaries before they are committed."""

    def staged(self, log: MemoryLog) -> CollapseCoordinator:
        coordinator = restored(log)
        for first, summary in ((0, "It costs $40."), (2, "It costs $50.")):
            coordinator.stage(coordinator.standing.messages.span(first, first + 1), summary)
        return coordinator

    def test_gets_each_summary_and_the_text_of_its_turns(self) -> None:
        coordinator = self.staged(MemoryLog())
        transcript = coordinator.transcript
        looked: list[tuple[str, str]] = []
        coordinator.commit(transcript, require=lambda *texts: looked.append(texts))
        regions = [region for _, region in coordinator.standing.collapsed]
        assert looked == [
            (summary, text_of(transcript, region.first, region.last + 1))
            for summary, region in zip(("It costs $40.", "It costs $50."), regions, strict=True)
        ]

    def test_what_it_refuses_is_not_committed_nor_is_anything_else_of_the_call(self) -> None:
        def require(summary: str, source: str) -> None:
            if "$50" in summary:
                raise FidelityShort("the summary keeps nothing")

        log = MemoryLog()
        coordinator = self.staged(log)
        transcript, (_, second) = coordinator.transcript, coordinator.staged
        for act in (
            lambda: coordinator.commit(transcript, require=require),
            lambda: coordinator.commit(transcript, [second.collapse_id], require=require),
            lambda: coordinator.apply_if_needed(transcript, Budget(1), require=require),
            lambda: coordinator.recover_from_overflow(transcript, Budget(1), require=require),
        ):
            with pytest.raises(FidelityShort) as raised:
                act()
            assert raised.value.place == f"span {second.collapse_id}"
            assert not log.records
            assert len(coordinator.staged) == len(restored(log).staged) == 2

    def test_only_what_is_to_be_committed_is_looked_at(self) -> None:
        coordinator = self.staged(MemoryLog())
        looked: list[str] = []
        first = coordinator.staged[0].collapse_id

        def require(summary: str, source: str) -> None:
            looked.append(summary)

        coordinator.apply_if_needed(coordinator.transcript, Budget(10_000_000), require=require)
        coordinator.commit(coordinator.transcript, [first], require=require)
        assert looked == ["It costs $40."]

    def test_a_share_of_facts_can_be_required(self) -> None:
        coordinator = self.staged(MemoryLog())
        text = text_of(coordinator.transcript, 0, 4)
        check_kept = fidelity_check({"all": 1.0})
        check_kept(text, text)
        with pytest.raises(FidelityShort, match="all=1 asked"):
            coordinator.commit(coordinator.transcript, require=check_kept)


class LosingLog(MemoryLog):
    """A log whose snapshot did not outlive the crash that followed the records."""

    def save(
        self,
        state: LogState,
        records: object,
        snapshot: Snapshot,
        summaries: Mapping[Digest, str],
    ) -> LogState:
        kept = self.snapshot
        super().save(state, records, snapshot, summaries)  # type: ignore[arg-type]
        if records:
            self.snapshot = kept
        return self.load()


def test_what_was_committed_is_not_staged_any_more_whatever_the_snapshot_says() -> None:
    log = LosingLog()
    coordinator = restored(log)
    coordinator.stage(coordinator.standing.messages.span(0, 1), "The first two turns.")
    coordinator.commit(coordinator.transcript)
    assert len(log.snapshot.staged) == 1
    again = restored(log)
    assert again.staged == ()
    assert again.stats().collapsed_spans == 1


def log_of(store: Store) -> StoreLog:
    return StoreLog(StoreHandle.of(store), "talk-1")


def _bytes(coordinator: CollapseCoordinator) -> bytes:
    return b"".join(coordinator.render(coordinator.transcript).pieces())
