"""A root may be based on another: what a live root needs is there, and what none needs is gone."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from castore.config import ROOT_CHAIN_MAX
from castore.digest import Digest
from castore.errors import BaseMissing, CastoreError, LimitExceeded, RootDamaged
from castore.gc.plan import ExpiringRoot, expired_roots
from castore.gc.repair import repair
from castore.gc.sweep import plan, sweep
from castore.gc.verify import verify
from castore.index import bases
from castore.objects.finding import FindingName
from castore.roots.files import encode_root
from castore.roots.model import PURGED, Content, Root, RootDraft, RootKind
from castore.store import Store
from castore.store.access import Access
from castore.store.keeping import RootChoice

from .conftest import NOW, Clock, overwrite
from .faults import Crash, Script, scripted

DAY = 86_400
GRACE = 14 * DAY


def view(
    store: Store,
    number: int,
    base: Root | str | None = None,
    pieces: tuple[bytes, ...] | None = None,
    **draft: object,
) -> Root:
    """The view with this number, which adds one object (or these pieces) to what it is based on."""
    data = b"view %d" % number
    with store.batch() as batch:
        digests = tuple(batch.stage(piece).digest for piece in (pieces or (data,)))
        document = Content(Digest.of(b"the document of " + data), 1)
        made = RootDraft(
            RootKind.VIEW,
            digests,
            document=document,
            base=base.id if isinstance(base, Root) else base,
            **draft,  # type: ignore[arg-type]
        )
        return batch.commit(made)


def chain_of(store: Store, count: int, **draft: object) -> list[Root]:
    """So many views, each based on the one before."""
    made: list[Root] = []
    for number in range(count):
        made.append(view(store, number, made[-1] if made else None, **draft))
    return made


def choice(*chosen: Root) -> RootChoice:
    return RootChoice(roots=tuple(root.id for root in chosen))


def now_of(store: Store, root: Root) -> Root | None:
    return store.root(root.id)


def expiry(store: Store, root: Root) -> float | None:
    found = store.root(root.id)
    assert found is not None
    return found.expires


def root_file(store: Store, root: Root) -> Path:
    return Path(store.parts.layout.root_file(root.id))


def lose_index(store: Store) -> None:
    store.close()
    for name in os.listdir(store.folder):
        if name.startswith("index.sqlite"):
            os.unlink(f"{store.folder}/{name}")


def reopened(store: Store) -> Store:
    """The same store, by a process that knows nothing of the other."""
    return Store.open(store.folder, clock=store.parts.clock)


# --- Any sequence of acts, held to a model ---------------------------------------------------------


@dataclass
class Expected:
    """One root of the model. own: its expiry without those that are based on it."""

    own: float | None
    base: int | None
    forgotten: bool = False
    before: float | None = None


class BasedRootsAgainstModel(RuleBasedStateMachine):
    """Views by number; the model knows of each what was asked for, and works the rest out by walking."""

    NUMBERS = st.integers(0, 7)

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp()
        self.clock = Clock()
        self.store = Store.init(self.folder + "/s", clock=self.clock)
        self.ids: dict[int, str] = {}
        self.model: dict[int, Expected] = {}
        self.purged: set[int] = set()

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.folder)

    # --- The model ---

    def until(self, number: int) -> float:
        """When the root expires: with the last of those that are based on it."""
        root = self.model[number]
        mine = float("inf") if root.own is None else root.own
        return max([mine, *(self.until(each) for each, one in self.model.items() if one.base == number)])

    def is_expired(self, number: int) -> bool:
        return self.until(number) <= self.clock.now

    def chain(self, number: int) -> list[int]:
        found: list[int] = []
        at: int | None = number
        while at is not None:
            found.append(at)
            at = self.model[at].base
        return found

    # --- The acts ---

    @rule(number=NUMBERS, base=st.none() | NUMBERS, seconds=st.none() | st.integers(0, 40))
    def commit(self, number: int, base: int | None, seconds: int | None) -> None:
        old = self.model.get(number)
        is_there = old is not None and not self.is_expired(number)
        base_id = None if base is None else self.ids.get(base, "0" * 32)
        must_fail = base is not None and not is_there
        if must_fail and base in self.model and not self.is_expired(base):
            must_fail = number in self.chain(base)
        draft = {"keep_seconds": seconds}
        if number in self.purged:
            return
        if must_fail:
            with pytest.raises(BaseMissing):
                view(self.store, number, base_id, **draft)
            return
        root = view(self.store, number, base_id, **draft)
        self.ids[number] = root.id
        own = None if seconds is None else self.clock.now + seconds
        if is_there and old is not None:
            before = old.before if old.forgotten else old.own
            own = None if own is None or before is None else max(own, before)
            base = old.base
        self.model[number] = Expected(own, base)

    @rule(number=NUMBERS, at_once=st.booleans())
    def forget(self, number: int, at_once: bool) -> None:
        if number not in self.model:
            return
        self.store.forget(RootChoice(roots=(self.ids[number],)), at_once=at_once)
        root = self.model[number]
        if self.is_expired(number) or (root.forgotten and not at_once):
            return
        limit = self.clock.now + (0 if at_once else GRACE)
        if not root.forgotten:
            root.before = root.own
        root.forgotten = True
        root.own = limit if root.own is None else min(root.own, limit)

    @rule(number=NUMBERS)
    def undo(self, number: int) -> None:
        if number not in self.model:
            return
        self.store.remember(RootChoice(roots=(self.ids[number],)))
        root = self.model[number]
        if root.forgotten:
            root.own, root.forgotten = root.before, False

    @rule(seconds=st.sampled_from([1, 7, 30, GRACE // 2, GRACE]))
    def wait(self, seconds: int) -> None:
        self.clock.now += seconds

    @rule(now=st.booleans())
    def gc(self, now: bool) -> None:
        told = plan(self.store, forgotten_now=now)
        done = sweep(self.store, forgotten_now=now)
        assert (told.roots, told.objects) == (done.roots, done.objects)
        while gone := {number for number in self.model if self.goes(number, now)}:
            self.model = {number: root for number, root in self.model.items() if number not in gone}
        there = {number for number in self.model if number not in self.purged}
        assert {root.id for root in self.store.roots()} == {self.ids[number] for number in self.model}
        assert set(self.store.digests()) == {Digest.of(b"view %d" % number) for number in there}

    def goes(self, number: int, now: bool) -> bool:
        needs = [each for each, root in self.model.items() if root.base == number]
        is_over = self.is_expired(number) or (now and self.model[number].forgotten)
        return is_over and all(self.goes(each, now) for each in needs)

    @rule(number=NUMBERS)
    def purge(self, number: int) -> None:
        if number in self.model and number not in self.purged and not self.is_expired(number):
            self.store.purge(Digest.of(b"view %d" % number), "a secret")
            self.purged.add(number)

    @rule()
    def lose_the_index(self) -> None:
        lose_index(self.store)

    # --- What must hold ---

    @invariant()
    def what_a_live_root_needs_is_there(self) -> None:
        for number in self.model:
            if self.is_expired(number):
                continue
            root = self.store.root(self.ids[number])
            assert root is not None
            found = self.store.based_chain(root)
            assert [each.id for each in found] == [self.ids[each] for each in self.chain(number)]
            for each in self.chain(number):
                if each not in self.purged:
                    assert self.store.read(Digest.of(b"view %d" % each)) == b"view %d" % each

    @invariant()
    def nothing_is_kept_for_longer_than_it_must(self) -> None:
        for number in self.model:
            root = self.store.root(self.ids[number])
            assert root is not None
            assert (float("inf") if root.expires is None else root.expires) == self.until(number)
            assert (root.forgotten is not None) == self.model[number].forgotten

    @precondition(lambda self: self.model)
    @rule()
    def verify_finds_nothing(self) -> None:
        assert list(map(str, verify(self.store))) == []


BasedRootsAgainstModel.TestCase.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
TestBasedRootsAgainstModel = BasedRootsAgainstModel.TestCase


# --- One law at a time -----------------------------------------------------------------------------


class TestCommit:
    def test_a_base_lasts_as_long_as_what_is_based_on_it(self, store: Store) -> None:
        first, second, third = chain_of(store, 3, keep_seconds=10)
        view(store, 2, second, keep_seconds=50)
        assert [expiry(store, root) for root in (first, second, third)] == [NOW + 50] * 3
        view(store, 2, second)
        assert [expiry(store, root) for root in (first, second, third)] == [None] * 3

    def test_the_id_does_not_say_on_what_it_is_based(self, tmp_path: Path, store: Store) -> None:
        first, second = chain_of(store, 2)
        other = Store.init(tmp_path / "other", clock=store.parts.clock)
        assert view(other, 1).id == second.id
        assert second.base == first.id
        other.close()

    @pytest.mark.parametrize("why", ["missing", "expired", "another scope"])
    def test_what_can_be_no_base_is_named_and_nothing_is_written(
        self, store: Store, clock: Clock, why: str
    ) -> None:
        base = view(store, 0, keep_seconds=10, scope="team" if why == "another scope" else None)
        clock.now += 10 if why == "expired" else 0
        base_id = "0" * 32 if why == "missing" else base.id
        files = sorted(Path(store.folder, "objects").rglob("*"))
        with pytest.raises(BaseMissing) as failure:
            view(store, 1, base_id)
        assert failure.value.fields["base"] == base_id
        assert failure.value.exit_code == 12
        assert sorted(Path(store.folder, "objects").rglob("*")) == files
        assert [root.id for root in store.roots()] == [base.id]

    def test_a_chain_has_a_limit_and_then_a_whole_root_is_written(self, store: Store) -> None:
        made = chain_of(store, ROOT_CHAIN_MAX)
        found = store.based_chain(made[-1])
        assert [root.id for root in found] == [root.id for root in reversed(made)]
        with pytest.raises(LimitExceeded):
            view(store, ROOT_CHAIN_MAX, made[-1])
        assert view(store, ROOT_CHAIN_MAX).base is None
        assert list(verify(store)) == []

    def test_a_root_that_is_there_keeps_its_base_and_details(self, store: Store) -> None:
        first, second = chain_of(store, 2, keep_seconds=10, details={"splices": "few"})
        pieces = (b"view 0", b"view 1")
        again = view(store, 1, None, pieces, keep_seconds=20, details={"splices": "all"})
        assert again == replace(second, expires=NOW + 20)
        assert expiry(store, first) == NOW + 20
        other = view(store, 7)
        assert view(store, 1, other, keep_seconds=20).base == first.id
        assert view(store, 1, "0" * 32, keep_seconds=20).base == first.id

    def test_a_root_whose_base_is_lost_is_whole_once_it_is_written_whole(self, store: Store) -> None:
        first, second = chain_of(store, 2, details={"splices": "few"})
        root_file(store, first).unlink()
        lose_index(store)
        again = view(store, 1, None, (b"view 0", b"view 1"), details={"splices": "all"})
        assert (again.id, again.base, again.details) == (second.id, None, {"splices": "all"})
        assert len(again.objects) == 2
        assert list(verify(store)) == []

    def test_nothing_new_is_based_on_what_a_base_of_has_expired_by_its_file(
        self, store: Store, clock: Clock
    ) -> None:
        first, second = chain_of(store, 2)
        overwrite(root_file(store, first), encode_root(replace(first, expires=NOW + 1)))
        lose_index(store)
        clock.now += 1
        with pytest.raises(BaseMissing):
            view(store, 2, second)
        assert view(store, 1, None, (b"view 0", b"view 1")).base is None
        assert view(store, 2, second).base == second.id

    def test_what_the_bases_were_purged_of_is_named_when_it_is_put_again(self, store: Store) -> None:
        _, second = chain_of(store, 2)
        digest = Digest.of(b"view 0")
        store.purge(digest, "a secret")
        with store.batch() as batch:
            objects = (batch.stage(b"view 0").digest, batch.stage(b"view 1").digest)
            draft = RootDraft(RootKind.VIEW, objects, document=second.document)
            again = batch.commit(draft, allow_purged=True)
        assert again.base == second.base
        assert store.read(digest) == b"view 0"
        lose_index(store)
        sweep(store)
        assert store.read(digest) == b"view 0"

    def test_committing_again_what_is_there_writes_nothing(self, store: Store) -> None:
        first, second = chain_of(store, 2)
        before = [root_file(store, root).stat().st_ino for root in (first, second)]
        view(store, 0)
        view(store, 1, first)
        assert [root_file(store, root).stat().st_ino for root in (first, second)] == before

    def test_a_name_that_moves_from_the_base_leaves_it(self, store: Store) -> None:
        base = view(store, 0, name="latest")
        with store.batch() as batch:
            from castore.store.batch import NameMove

            digest = batch.stage(b"more").digest
            draft = RootDraft(RootKind.VIEW, (digest,), name="latest", base=base.id)
            root = batch.commit(draft, move=NameMove())
        assert [each.id for each in store.named_roots("latest")] == [root.id]
        found = now_of(store, base)
        assert found is not None
        assert found.forgotten is not None
        assert (found.expires, found.expires_alone) == (None, NOW + GRACE)

    def test_a_tag_of_a_root_names_what_its_bases_name(self, store: Store) -> None:
        made = chain_of(store, 3)
        tagged = store.tag("name", made[-1].id)
        assert set(tagged.objects) == {Digest.of(b"view %d" % number) for number in range(3)}


class TestForget:
    def test_a_forgotten_base_is_hidden_and_lives_on(self, store: Store, clock: Clock) -> None:
        first, _ = chain_of(store, 2)
        store.forget(choice(first), at_once=True)
        clock.now += 10 * GRACE
        sweep(store)
        found = now_of(store, first)
        assert found is not None
        assert not found.is_live(clock.now)
        assert store.read(Digest.of(b"view 0")) == b"view 0"

    def test_once_nothing_needs_it_it_has_the_expiry_that_was_asked_for(
        self, store: Store, clock: Clock
    ) -> None:
        first, second = chain_of(store, 2)
        store.forget(choice(first))
        assert expiry(store, first) is None
        clock.now += DAY
        done = store.forget(choice(second))
        assert (done.objects, done.expires) == (2, NOW + DAY + GRACE)
        assert expiry(store, first) == NOW + DAY + GRACE
        store.forget(choice(second), at_once=True)
        assert expiry(store, first) == NOW + GRACE

    def test_a_dry_run_tells_what_is_done(self, store: Store) -> None:
        first, second = chain_of(store, 2)
        for chosen in (choice(first), choice(second)):
            told = store.forget(chosen, dry_run=True)
            assert store.forget(chosen) == told
        assert told.objects == 2

    def test_nothing_is_freed_while_another_root_needs_it(self, store: Store) -> None:
        first, _ = chain_of(store, 2)
        done = store.forget(choice(first))
        assert (done.objects, done.expires) == (0, None)

    def test_undo_restores_both(self, store: Store, clock: Clock) -> None:
        first, second = chain_of(store, 2)
        store.forget(choice(first, second), at_once=True)
        clock.now += 1
        store.remember(choice(second))
        assert now_of(store, second) == second
        found = now_of(store, first)
        assert found is not None
        assert (found.forgotten, found.expires) == (NOW, None)
        store.remember(choice(first))
        assert now_of(store, first) == first

    def test_undo_of_a_root_whose_base_was_collected_is_refused(self, store: Store, clock: Clock) -> None:
        first, second = chain_of(store, 2)
        store.forget(choice(first, second), at_once=True)
        clock.now += 1
        root_file(store, first).unlink()
        with pytest.raises(BaseMissing):
            store.remember(choice(second))
        assert {finding.name for finding in verify(store)} == {FindingName.UNNAMED}
        sweep(store)
        assert store.roots() == []

    def test_purge_leaves_the_base(self, store: Store) -> None:
        first, second = chain_of(store, 2)
        store.purge(Digest.of(b"view 0"), "a secret")
        found = now_of(store, first)
        assert found is not None
        assert (list(found.objects), list(found.details)) == ([], [PURGED])
        assert [root.id for root in store.based_chain(second)] == [second.id, first.id]


class TestCollect:
    def test_the_grace_is_skipped_for_all_that_is_forgotten_and_for_no_base_of_a_live_root(
        self, store: Store
    ) -> None:
        made = chain_of(store, 4)
        store.forget(choice(made[0], made[1], made[3]))
        assert sweep(store, forgotten_now=True).roots == 1
        assert {root.id for root in store.roots()} == {root.id for root in made[:3]}
        store.forget(choice(made[2]))
        assert sweep(store, forgotten_now=True).roots == 3

    def test_the_plan_keeps_what_a_root_that_stays_is_based_on(self) -> None:
        roots = [ExpiringRoot(number, f"{number}", NOW, False) for number in range(5)]
        links = {"live": "2", "2": "1", "1": "0", "3": "4", "4": "3"}
        gone, later = expired_roots(roots, links, now=NOW, forgotten_now=False)
        assert [root.id for root in gone] == ["3", "4"]
        assert {root.id for root in later} == {"0", "1", "2"}

    @pytest.mark.parametrize("index", ["there", "gone"])
    def test_a_base_that_expires_too_early_by_its_file_is_kept_and_told(
        self, store: Store, clock: Clock, index: str
    ) -> None:
        first, _, _ = chain_of(store, 3)
        found = now_of(store, first)
        assert found is not None
        overwrite(root_file(store, first), encode_root(replace(found, expires=NOW - 1)))
        if index == "gone":
            lose_index(store)
        clock.now += 1
        plan(store)
        assert "another one is based on it" in " ".join(store.notes)
        sweep(store)
        assert store.read(Digest.of(b"view 0")) == b"view 0"
        assert expiry(store, first) is None
        assert list(verify(store)) == []

    def test_without_room_for_an_index_it_goes_the_same(
        self, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from castore.gc import sweep as module

        first, second = chain_of(store, 2)
        store.forget(choice(first), at_once=True)
        clock.now += 1

        def full(*_: object, **__: object) -> None:
            raise CastoreError("no room", errno=28)

        monkeypatch.setattr(module, "_sweep", full)
        assert sweep(store).roots == 0
        store.forget(choice(second), at_once=True)
        clock.now += 1
        assert sweep(store).roots == 2
        assert list(store.digests()) == []


class TestHostileFiles:
    def link(self, store: Store, root: Root, **changes: object) -> None:
        """The root's file says something else, as an earlier backup or somebody's hand made it."""
        found = now_of(store, root)
        assert found is not None
        overwrite(root_file(store, root), encode_root(replace(found, **changes)))  # type: ignore[arg-type]

    def test_a_circle_is_refused_and_ends(self, store: Store, clock: Clock) -> None:
        made = chain_of(store, 3)
        self.link(store, made[0], base=made[2].id)
        lose_index(store)
        other = reopened(store)
        with pytest.raises(RootDamaged):
            other.based_chain(replace(made[2]))
        assert {finding.name for finding in verify(other)} == {FindingName.DAMAGED}
        with pytest.raises(BaseMissing):
            view(other, 9, made[2])
        sweep(other)
        assert {finding.place for finding in verify(other)} == {str(root_file(other, root)) for root in made}
        store.forget(choice(*made), at_once=True)
        other.close()

    def test_a_chain_that_is_too_long_is_told(self, store: Store) -> None:
        made = chain_of(store, ROOT_CHAIN_MAX)
        more = view(store, 100)
        self.link(store, made[0], base=more.id)
        lose_index(store)
        assert [finding.place for finding in verify(store)] == [str(root_file(store, made[-1]))]
        with pytest.raises(RootDamaged):
            store.based_chain(made[-1])
        assert len(store.based_chain(made[-2])) == ROOT_CHAIN_MAX

    def test_a_base_of_another_scope_is_refused(self, store: Store) -> None:
        base = view(store, 0, scope="team")
        root = view(store, 1)
        self.link(store, root, base=base.id)
        lose_index(store)
        with pytest.raises(BaseMissing):
            store.based_chain(replace(root, base=base.id))
        assert [finding.place for finding in verify(store)] == [str(root_file(store, root))]

    @pytest.mark.parametrize("base", ["itself", "", "../../x", "0" * 31, "0" * 33, "A" * 32])
    def test_what_is_no_id_is_a_damaged_root(self, store: Store, base: str) -> None:
        root = view(store, 0)
        self.link(store, root, base=root.id if base == "itself" else base)
        with pytest.raises(RootDamaged):
            store.parts.root_files.read(root.id)

    def test_an_expiry_alone_that_is_not_earlier_is_a_damaged_root(self, store: Store) -> None:
        root = view(store, 0, keep_seconds=10)
        self.link(store, root, expires_alone=NOW + 10)
        with pytest.raises(RootDamaged):
            store.parts.root_files.read(root.id)


class TestVerifyAndRepair:
    @pytest.mark.parametrize("damage", ["gone", "junk"])
    def test_a_lost_base_is_restored_from_the_index(self, store: Store, damage: str) -> None:
        made = chain_of(store, 3)
        store.forget(choice(made[1]), at_once=True)
        if damage == "gone":
            root_file(store, made[1]).unlink()
        else:
            overwrite(root_file(store, made[1]), b"junk")
        assert str(root_file(store, made[2])) in {finding.place for finding in verify(store)}
        before = store.parts.clock()
        assert repair(store).remaining == ()
        assert before == store.parts.clock()
        assert list(verify(store)) == []
        assert len(store.based_chain(made[2])) == 3

    @pytest.mark.parametrize("damage", ["gone", "junk"])
    def test_one_that_nothing_can_restore_is_told_and_no_object_is_lost(
        self, store: Store, clock: Clock, damage: str
    ) -> None:
        made = chain_of(store, 3)
        if damage == "gone":
            root_file(store, made[1]).unlink()
        else:
            overwrite(root_file(store, made[1]), b"junk")
        lose_index(store)
        report = repair(store)
        assert [finding.place for finding in report.remaining] == [str(root_file(store, made[2]))]
        assert repair(store).acts == ()
        clock.now += 10 * GRACE
        sweep(store, forgotten_now=True)
        for number in range(3):
            assert store.read(Digest.of(b"view %d" % number)) == b"view %d" % number
        with pytest.raises(BaseMissing):
            store.based_chain(made[2])
        assert [finding.place for finding in verify(store)] == [str(root_file(store, made[2]))]

    def test_what_only_a_damaged_root_needs_is_not_lost(self, store: Store, clock: Clock) -> None:
        made = chain_of(store, 3)
        store.forget(choice(*made[:2]), at_once=True)
        overwrite(root_file(store, made[2]), b"junk")
        lose_index(store)
        repair(store)
        assert repair(store).acts == ()
        clock.now += 10 * GRACE
        sweep(store, forgotten_now=True)
        for number in range(3):
            assert store.read(Digest.of(b"view %d" % number)) == b"view %d" % number

    def test_a_root_restored_without_an_index_does_not_shorten_what_others_need(
        self, store: Store, clock: Clock
    ) -> None:
        first, second = chain_of(store, 2)
        store.forget(choice(first), at_once=True)
        lose_index(store)
        # A second name of the file: repair writes it anew before it has rows of the root based on it.
        os.link(root_file(store, first), f"{store.folder}/elsewhere")
        assert repair(store).acts != ()
        assert expiry(store, first) is None
        clock.now += 10 * GRACE
        sweep(store)
        assert len(store.based_chain(second)) == 2

    def test_a_base_that_lost_its_name_to_another_root_is_restored(self, store: Store) -> None:
        base = view(store, 0, name="latest")
        root = view(store, 1, base)
        store.tag("latest", root.id, move=True)
        root_file(store, base).unlink()
        assert repair(store).remaining == ()
        assert [each.id for each in store.based_chain(root)] == [root.id, base.id]


class TestScopes:
    def test_who_sees_the_root_sees_its_bases_and_others_see_neither(self, store: Store) -> None:
        made = chain_of(store, 2, scope="team")
        team = Store.open(store.folder, clock=store.parts.clock, access=Access(grants=("team",)))
        others = Store.open(store.folder, clock=store.parts.clock, access=Access(grants=("other",)))
        found = team.root(made[1].id)
        assert found is not None
        assert [root.id for root in team.based_chain(found)] == [made[1].id, made[0].id]
        assert others.root(made[1].id) is None
        assert team.root(made[1].id[:31]) is None
        with pytest.raises(BaseMissing):
            view(others, 5, made[1], scope="other")
        team.close()
        others.close()


# --- Crashes ---------------------------------------------------------------------------------------


def prepare(folder: Path, clock: Clock) -> list[Root]:
    """Three views; the last one is for a while, the first one is forgotten."""
    store = Store.init(folder, clock=clock)
    made = chain_of(store, 2, keep_seconds=DAY)
    made.append(view(store, 2, made[1], keep_seconds=2 * DAY))
    store.forget(choice(made[0]), at_once=True)
    store.close()
    return made


def act_commit(store: Store, made: list[Root]) -> None:
    view(store, 3, made[2])


def act_forget(store: Store, made: list[Root]) -> None:
    """After a crash and a sweep some of them are collected already."""
    left = [root for root in made[1:] if store.root(root.id)]
    if left:
        store.forget(choice(*left), at_once=True)


def act_undo(store: Store, made: list[Root]) -> None:
    store.remember(choice(made[0]))


def act_collect(store: Store, made: list[Root]) -> None:
    act_forget(store, made)
    sweep(store)


def law_holds(folder: str) -> dict[str, Root]:
    """In the files: what a root is based on is there, and does not expire before it. Gives the roots."""
    store = Store.open(folder)
    found = {root.id: root for root in store.parts.root_files.all()}
    store.close()
    for root in found.values():
        if root.base is not None:
            base = found[root.base]
            assert base.expires is None or (root.expires is not None and root.expires <= base.expires)
    return found


def outcome(folder: Path, clock: Clock) -> list[tuple[str, float | None, float | None]]:
    """After a sweep: every root, with its expiry."""
    store = Store.open(folder, clock=clock)
    sweep(store)
    found = sorted((root.id, root.expires, root.expires_alone) for root in store.roots())
    with store.parts.writing() as connection:
        assert bases.unsettled(connection) == []
    assert list(verify(store)) == []
    store.close()
    return found


@pytest.mark.parametrize("act", [act_commit, act_forget, act_undo, act_collect])
@pytest.mark.parametrize(
    ("call", "letter"),
    [("write", "X"), ("fsync", "X"), ("rename", "X"), ("unlink", "X"), ("fsync", "E"), ("rename", "E")],
)
def test_a_crash_leaves_bases_that_live_too_long_at_most(
    tmp_path: Path,
    act: Callable[[Store, list[Root]], None],
    letter: str,
    call: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("castore.gc.verify._LOOK_AGAIN_SECONDS", ())
    clock = Clock()
    made = prepare(tmp_path / "done", clock)
    done = Store.open(tmp_path / "done", clock=clock)
    act(done, made)
    done.close()
    expected = outcome(tmp_path / "done", clock)
    for before in range(100):
        folder = tmp_path / f"{before}"
        made = prepare(folder, clock)
        store = Store.open(folder, clock=clock)
        script = Script("." * before + letter)
        with scripted({call: script}), contextlib.suppress(Crash, CastoreError):
            act(store, made)
        store.close()
        law_holds(str(folder))
        outcome(folder, clock)
        again = Store.open(folder, clock=clock)
        act(again, made)
        again.close()
        assert outcome(folder, clock) == expected
        if script.count <= before:
            break
    else:
        pytest.fail("over 100 calls")
