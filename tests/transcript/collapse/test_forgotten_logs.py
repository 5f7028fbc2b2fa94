"""A log is forgotten whole, and comes back whole or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from castore.errors import (
    LogMoved,
)
from castore.gc.sweep import sweep
from castore.gc.verify import verify
from castore.roots.model import STATE, Root, RootDraft, RootKind, log_root_id
from castore.store.keeping import RootChoice
from castore.transcript.collapse.model import Commit, Reset
from castore.transcript.collapse.persistence import LogState
from tests.transcript.collapse.conformance import SESSION, commit_of, health
from tests.transcript.collapse.places import DAY, InStore, filled


class TestForget:
    @pytest.mark.parametrize(
        "choice",
        [
            RootChoice(source=SESSION),
            RootChoice(source=SESSION[:8] + "*"),
            RootChoice(older_than_seconds=DAY),
            RootChoice(keep_last=0),
            RootChoice(roots=(log_root_id(RootKind.COLLAPSE, "default", SESSION, 2),)),
            RootChoice(roots=(log_root_id(RootKind.COLLAPSE, "default", SESSION, STATE),), source=SESSION),
        ],
        ids=repr,
    )
    def test_takes_a_log_whole_and_gives_it_back_whole(self, in_store: InStore, choice: RootChoice) -> None:
        state = filled(in_store)
        in_store.clock.now += 2 * DAY
        done = in_store.store().forget(choice)
        assert len(done.roots) == 6
        assert in_store.log().load() == LogState(first_number=6)
        assert len(in_store.store().remember(choice).roots) == 6
        assert in_store.log().load() == state

    @pytest.mark.parametrize(
        "choice",
        [
            RootChoice(older_than_seconds=DAY),
            RootChoice(keep_last=1),
            RootChoice(source="another"),
            RootChoice(references=(commit_of(3)[0].staged.summary.hex,)),
            RootChoice(references=(SESSION,)),
        ],
        ids=repr,
    )
    def test_takes_nothing_out_of_a_log(self, in_store: InStore, choice: RootChoice) -> None:
        """Its last record is young, and stands for all of it."""
        state = filled(in_store, 4)
        in_store.clock.now += 2 * DAY
        commit, texts = commit_of(9)
        state = in_store.log().save(state, [commit], health(9), texts)
        assert in_store.store().forget(choice).roots == ()
        assert in_store.log().load() == state

    def test_a_log_takes_the_place_of_nothing_else(self, in_store: InStore) -> None:
        """--keep-last 1 leaves the last of what was put under the session's name, and the log."""
        store = in_store.handle().get_or_create()
        with store.batch() as batch:
            put = RootDraft(RootKind.PUT, (batch.stage(b"of the session").digest,), source_name=SESSION)
            batch.commit(put)
        filled(in_store)
        assert in_store.store().forget(RootChoice(keep_last=1)).roots == ()

    def test_a_log_begun_anew_goes_on_behind_what_was_forgotten(self, in_store: InStore) -> None:
        filled(in_store)
        choice = RootChoice(source=SESSION)
        in_store.store().forget(choice)
        in_store.clock.now += 10
        commit, texts = commit_of(7)
        state = in_store.log().save(in_store.log().load(), [commit], health(7), texts)
        assert state.first_number == 6
        assert [type(each) for each in state.records] == [Reset, Commit]
        assert in_store.log().load() == state
        with pytest.raises(LogMoved, match="begun anew"):
            in_store.store().remember(choice)
        assert in_store.log().load() == state
        in_store.clock.now += 100 * DAY
        assert sweep(in_store.store()).roots == 5
        assert in_store.log().load() == state
        assert not list(verify(in_store.store()))

    def test_two_lives_that_come_back_together_are_the_second(self, in_store: InStore) -> None:
        filled(in_store)
        choice = RootChoice(source=SESSION)
        in_store.store().forget(choice)
        in_store.clock.now += 10
        commit, texts = commit_of(7)
        second = in_store.log().save(in_store.log().load(), [commit], health(7), texts)
        in_store.store().forget(choice)
        in_store.store().remember(choice)
        records = in_store.log().load().records
        assert records[-2:] == second.records
        assert len(records) == 7

    def test_a_log_that_is_gone_begins_at_one(self, in_store: InStore) -> None:
        filled(in_store)
        in_store.store().forget(RootChoice(source=SESSION), at_once=True)
        assert in_store.log().load() == LogState()
        filled(in_store, 2)
        assert in_store.log().load().first_number == 1
        assert len(in_store.log().load().records) == 2
        sweep(in_store.store())
        assert len(in_store.log().load().records) == 2

    def test_a_forget_that_was_killed_leaves_the_end_of_a_log(self, in_store: InStore) -> None:
        """And so does an undo: whatever the beginning is, a log is read."""
        state = filled(in_store)
        choice = RootChoice(source=SESSION)
        written: list[int | None] = []
        store = in_store.store()
        publish = store.parts.root_files.publish

        def noted(root: Root, **options: Any) -> Any:
            written.append(root.place)
            return publish(root, **options)

        store.parts.root_files.publish = noted  # type: ignore[method-assign]
        store.forget(choice)
        assert written == [1, 2, 3, 4, 5, STATE]
        written.clear()
        store.remember(choice)
        assert written == [STATE, 5, 4, 3, 2, 1]
        assert in_store.log().load() == state
