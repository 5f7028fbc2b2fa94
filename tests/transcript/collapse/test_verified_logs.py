"""`verify` and a log: silent of what ordinary use leaves, and as strict of damage as who opens the log."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from castore.digest import Digest
from castore.errors import LogDamaged, NotFound
from castore.gc.repair import repair
from castore.gc.sweep import sweep
from castore.gc.verify import verify
from castore.roots.model import STATE, RootKind
from castore.store.keeping import RootChoice
from castore.transcript.collapse.model import Commit, Reset, Snapshot
from castore.transcript.collapse.persistence import LogState
from tests.store.faults import Crash, Script, scripted
from tests.transcript.collapse.conformance import SESSION, commit_of, staged
from tests.transcript.collapse.places import DAY, NOW, InStore, filled

GRACE = 14 * DAY


@pytest.fixture(autouse=True)
def nobody_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """What looks wrong is looked at again, without a wait."""
    monkeypatch.setattr("castore.gc.verify._LOOK_AGAIN_SECONDS", (0,))


def findings(place: InStore) -> list[str]:
    return [str(each) for each in verify(place.store())]


def waiting(place: InStore, *numbers: int) -> LogState:
    """These spans are staged, in place of what was."""
    log, made = place.log(), [staged(number) for number in numbers]
    snapshot = Snapshot(tuple(span for span, _ in made))
    return log.save(log.load(), [], snapshot, {span.summary: text for span, text in made})


def dropped(place: InStore) -> list[list[Digest]]:
    """What each of the roots names that keep what was dropped."""
    return [list(root.objects) for root in place.store().roots() if root.kind is RootKind.SUMMARY]


class TestWhatAStateDropped:
    def test_is_kept_for_the_grace_and_then_freed(self, in_store: InStore) -> None:
        waiting(in_store, 1, 2)
        waiting(in_store, 3)
        (first, text), (second, _), (third, _) = staged(1), staged(2), staged(3)
        assert dropped(in_store) == [sorted([first.summary, second.summary])]
        assert findings(in_store) == []
        in_store.clock.now += GRACE - 1
        assert sweep(in_store.store()).objects == 0
        assert in_store.log().summary(first.summary) == text
        in_store.clock.now += 2
        assert sweep(in_store.store()).objects == 2
        with pytest.raises(NotFound):
            in_store.log().summary(first.summary)
        in_store.log().summary(third.summary)
        assert findings(in_store) == []

    def test_is_freed_at_once_if_gc_is_to(self, in_store: InStore) -> None:
        waiting(in_store, 1)
        waiting(in_store)
        assert sweep(in_store.store(), forgotten_now=True).objects == 1
        assert findings(in_store) == []

    def test_a_reset_drops_it_too(self, in_store: InStore) -> None:
        state = waiting(in_store, 1)
        in_store.log().save(state, [Reset("because", NOW)], Snapshot(), {})
        assert len(dropped(in_store)) == 1
        assert findings(in_store) == []

    def test_what_is_committed_is_kept_by_its_record_alone(self, in_store: InStore) -> None:
        state = waiting(in_store, 1, 2)
        (first, _), (second, _) = staged(1), staged(2)
        in_store.log().save(state, [Commit(first, "x", NOW)], Snapshot((second,)), {})
        assert dropped(in_store) == []
        assert findings(in_store) == []

    def test_a_log_that_is_begun_anew_drops_what_was_staged_before(self, in_store: InStore) -> None:
        waiting(in_store, 1)
        in_store.store().forget(RootChoice(source=SESSION))
        in_store.clock.now += 10
        waiting(in_store, 2)
        assert len(dropped(in_store)) == 1
        assert findings(in_store) == []

    def test_what_expired_before_is_freed_by_the_next_gc(self, in_store: InStore) -> None:
        """Records and the state of a log whose time is over, when no gc ran since, give their places up."""
        state = waiting(in_store, 1)
        made, text = staged(2)
        in_store.log().save(state, [Commit(made, "x", NOW)], state.snapshot, {made.summary: text})
        in_store.store().forget(RootChoice(source=SESSION))
        in_store.clock.now += 2 * GRACE
        filled(in_store, 1)
        assert len(dropped(in_store)) == 2
        assert findings(in_store) == []
        assert sweep(in_store.store()).objects == 2
        assert findings(in_store) == []

    def test_again_and_again_is_one_root(self, in_store: InStore) -> None:
        for _ in range(3):
            waiting(in_store, 1)
            waiting(in_store)
            in_store.clock.now += DAY
        assert len(dropped(in_store)) == 1
        in_store.clock.now += GRACE - DAY - 1
        assert sweep(in_store.store()).objects == 0, "it is kept from when it was dropped last"
        in_store.clock.now += 2
        assert sweep(in_store.store()).objects == 1

    def test_a_purged_summary_is_not_kept(self, in_store: InStore) -> None:
        state = waiting(in_store, 1)
        in_store.store().purge(staged(1)[0].summary, "a secret")
        in_store.log().save(state, [], Snapshot(), {})
        assert dropped(in_store) == []
        assert findings(in_store) == []

    def test_each_drop_takes_under_1_kb(self, in_store: InStore) -> None:
        waiting(in_store, 1)
        before = _size(in_store.folder)
        waiting(in_store)
        assert _size(in_store.folder) - before < 1000

    def test_a_crash_between_leaves_no_finding(self, in_store: InStore) -> None:
        waiting(in_store, 1)
        for at in range(20):
            waiting(in_store, 1)
            try:
                with scripted({"rename": Script("." * at + "X")}):
                    waiting(in_store)
            except Crash:
                assert findings(in_store) == []
                continue
            break
        assert at > 1


class TestDamage:
    @pytest.mark.parametrize("number", [2, 4, 5])
    def test_a_missing_record_is_told_and_a_reset_ends_it(self, in_store: InStore, number: int) -> None:
        filled(in_store)
        lose(in_store, number)
        (found,) = (each for each in findings(in_store) if each.startswith("missing"))
        assert str(in_store.file(number)) in found
        assert f"record {number} is missing in the collapse log '{SESSION}'" in found
        report = repair(in_store.store())
        assert [str(each) for each in report.remaining] == [found]
        assert findings(in_store) == [found]
        in_store.log().save(in_store.log().restart(), [Reset("damaged", NOW)], Snapshot(), {})
        assert findings(in_store) == []

    def test_several_in_a_row_are_told_as_one(self, in_store: InStore) -> None:
        filled(in_store, 6)
        lose(in_store, 2, 3, 4)
        assert any("records 2 to 4 are missing" in each for each in findings(in_store))

    def test_what_the_index_has_is_told_once_and_restored(self, in_store: InStore) -> None:
        state = filled(in_store)
        in_store.file(3).unlink()
        assert len([each for each in findings(in_store) if each.startswith("missing")]) == 1
        assert repair(in_store.store()).remaining == ()
        assert (findings(in_store), in_store.log().load()) == ([], state)

    def test_a_huge_count_is_told_at_once(self, in_store: InStore) -> None:
        filled(in_store, 1)
        details = {**in_store.root(STATE).details, "records": 2**53}
        in_store.rewrite(STATE, details=details)
        forget_index(in_store)
        assert any("records 2 to 9,007,199,254,740,992 are" in each for each in findings(in_store))

    def test_of_a_forgotten_log_nothing_is_told(self, in_store: InStore) -> None:
        filled(in_store)
        in_store.store().forget(RootChoice(source=SESSION))
        lose(in_store, 3)
        assert [each for each in findings(in_store) if each.startswith("missing")] == []

    @pytest.mark.parametrize("seed", range(6))
    def test_it_says_what_who_opens_the_log_says(self, in_store: InStore, seed: int) -> None:
        """Whichever files are gone, of a log with resets in it, and of one that was begun anew."""
        chance = random.Random(seed)
        log, state = in_store.log(), in_store.log().load()
        for number in range(9):
            if chance.random() < 0.2:
                state = log.save(state, [Reset("because", NOW)], Snapshot(), {})
            commit, texts = commit_of(number)
            state = log.save(state, [commit], Snapshot(), texts)
            if number == 4 and seed % 2:
                in_store.store().forget(RootChoice(source=SESSION))
                in_store.clock.now += 10
                state = log.load()
        gone = chance.sample(range(state.next_number), chance.randint(1, 3))
        lose(in_store, *gone)
        try:
            in_store.log().load()
            is_damaged = False
        except LogDamaged:
            is_damaged = True
        told = [each for each in findings(in_store) if each.startswith("missing")]
        assert bool(told) == is_damaged, (gone, told)


def lose(place: InStore, *numbers: int) -> None:
    """The files of these roots, and the index that knows of them."""
    for number in numbers:
        place.file(number).unlink()
    forget_index(place)


def forget_index(place: InStore) -> None:
    for path in place.folder.glob("index.sqlite*"):
        path.unlink()


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("roots/*/*.json"))
