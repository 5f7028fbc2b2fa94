"""Roots that come from elsewhere: all of them with all of their objects, or refused one by one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from castore.config import FRAME_BYTES
from castore.digest import Digest
from castore.errors import (
    BaseMissing,
    LimitExceeded,
    ObjectDamaged,
    ObjectMissing,
    RootDamaged,
    ScopeDenied,
)
from castore.gc.sweep import sweep
from castore.gc.verify import verify
from castore.roots.model import LAST, PURGED, REMOTE, STATE, Content, Root, RootDraft, RootKind, forgotten
from castore.store import Access, Store
from castore.store.batch import NameMove
from castore.store.importing import Imported, Outcome
from castore.store.keeping import RootChoice

from .conftest import NOW, Clock, everything, file_of, overwrite, put
from .keyed import made


@pytest.fixture
def there(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    other = Store.init(tmp_path / "there", clock=clock)
    yield other
    other.close()


def come(store: Store, there: Store, *roots: Root, **how: object) -> list[Imported]:
    """The roots are imported with all that they name that is needed."""
    with store.importing() as importing:
        for digest in importing.needed(roots, lazily="lazily" in how):
            importing.bring(there.parts.database, digest)
        return importing.commit(roots, **how)  # type: ignore[arg-type]


def outcomes(store: Store, there: Store, *roots: Root, **how: object) -> list[Outcome]:
    return [each.outcome for each in come(store, there, *roots, **how)]


def commit(store: Store, *drafts: RootDraft) -> list[Root]:
    with store.batch() as batch:
        return batch.commit_all(list(drafts))


def logged(store: Store, place: int, text: bytes, **draft: object) -> Root:
    """A record of a log, or its state."""
    with store.batch() as batch:
        objects = (batch.stage(text).digest,)
        whole = RootDraft(RootKind.COLLAPSE, objects, source_name="s", place=place, **draft)  # type: ignore[arg-type]
        return batch.commit(whole)


class TestRoundTrip:
    def test_a_root_comes_with_its_bytes(self, store: Store, there: Store, clock: Clock) -> None:
        pieces = [b"", b"small", os.urandom(FRAME_BYTES * 2 + 5), b"[" + b"1," * FRAME_BYTES + b"1]"]
        root = put(there, *pieces, source_name="from there")
        clock.now += 50
        (done,) = come(store, there, root)
        assert done.outcome is Outcome.NEW
        assert {store.read(each) for each in done.root.objects} == set(pieces)
        assert done.root == replace(root, sequence=done.root.sequence)
        assert done.root.created == NOW
        for digest in root.objects:
            assert file_of(store, digest).read_bytes() == file_of(there, digest).read_bytes()
        # The rows, with those of frames, are what they would be had it been put here.
        assert list(verify(store)) == []
        assert store.ranged(Digest.of(pieces[3])).is_array

    def test_again_there_is_nothing_to_do(self, store: Store, there: Store) -> None:
        root = put(there, b"a", b"b", name="n")
        come(store, there, root)
        before = everything(Path(store.folder))
        assert outcomes(store, there, root) == [Outcome.SAME]
        assert everything(Path(store.folder)) == before

    def test_numbers_follow_when_roots_were_created(self, store: Store, there: Store, clock: Clock) -> None:
        roots = []
        for number in range(4):
            clock.now += 1
            roots.append(put(there, b"%d" % number))
        own = put(store, b"own")
        come(store, there, *reversed(roots))
        assert [root.id for root in store.roots()] == [*(root.id for root in reversed(roots)), own.id]

    def test_what_was_not_committed_leaves_nothing(self, store: Store, there: Store) -> None:
        root = put(there, b"a", os.urandom(200_000), os.urandom(FRAME_BYTES + 9))
        before = everything(Path(store.folder))
        with store.importing() as importing:
            for digest in root.objects:
                importing.bring(there.parts.database, digest)
        assert everything(Path(store.folder)) == before
        assert os.listdir(store.parts.layout.tmp) == []


class TestWhatIsNotThere:
    def test_an_object_that_was_not_brought(self, store: Store, there: Store) -> None:
        root = put(there, b"a", b"b")
        before = everything(Path(store.folder))
        with store.importing() as importing:
            importing.bring(there.parts.database, root.objects[0])
            with pytest.raises(ObjectMissing):
                importing.commit([root])
        assert everything(Path(store.folder)) == before

    @pytest.mark.parametrize("size", [9, FRAME_BYTES + 9])
    def test_damaged_bytes_do_not_come_in(self, store: Store, there: Store, size: int) -> None:
        root = put(there, os.urandom(size))
        other = put(there, os.urandom(size))
        overwrite(file_of(there, root.objects[0]), file_of(there, other.objects[0]).read_bytes())
        before = everything(Path(store.folder))
        with store.importing() as importing, pytest.raises(ObjectDamaged):
            importing.bring(there.parts.database, root.objects[0])
        assert everything(Path(store.folder)) == before
        assert os.listdir(store.parts.layout.tmp) == []

    def test_what_was_lost_here_comes_again(self, store: Store, there: Store) -> None:
        root = put(there, b"a", b"b")
        come(store, there, root)
        file_of(store, root.objects[0]).unlink()
        assert outcomes(store, there, root) == [Outcome.SAME]
        assert list(verify(store)) == []

    def test_an_id_that_is_not_its_own(self, store: Store, there: Store) -> None:
        mine = put(store, b"mine", name="mine")
        with pytest.raises(RootDamaged):
            come(store, there, replace(put(there, b"a"), id=mine.id))
        assert store.root(mine.id) == mine


class TestBases:
    def based(self, there: Store) -> tuple[Root, Root]:
        base = put(there, b"base")
        return base, put(there, b"more", base=base.id)

    def test_they_come_first(self, store: Store, there: Store) -> None:
        base, root = self.based(there)
        assert outcomes(store, there, root, base) == [Outcome.NEW, Outcome.NEW]
        assert [each.id for each in store.based_chain(store.root(root.id))] == [root.id, base.id]  # type: ignore[arg-type]

    def test_one_that_is_nowhere(self, store: Store, there: Store) -> None:
        _, root = self.based(there)
        with pytest.raises(BaseMissing):
            come(store, there, root)
        assert store.roots() == []

    def test_one_that_is_forgotten_there_lasts_as_long_as_it_must(
        self, store: Store, there: Store, clock: Clock
    ) -> None:
        base, root = self.based(there)
        there.forget(RootChoice(roots=(base.id,)), at_once=True)
        base = there.root(base.id)  # type: ignore[assignment]
        assert outcomes(store, there, base, root) == [Outcome.NEW, Outcome.NEW]
        clock.now += 10**9
        sweep(store)
        assert store.read(base.objects[0]) == b"base"
        assert list(verify(store)) == []

    def test_a_circle_is_no_base(self, store: Store, there: Store) -> None:
        one, other = put(there, b"1"), put(there, b"2")
        with pytest.raises(BaseMissing):
            come(store, there, replace(one, base=other.id), replace(other, base=one.id))

    def test_with_a_base_that_is_refused_goes_what_is_based_on_it(self, store: Store, there: Store) -> None:
        base, root = self.based(there)
        put(store, b"base", source_name="here")
        store.purge(Digest.of(b"base"), "because")
        other = put(there, b"other")
        found = outcomes(store, there, base, root, other)
        assert found == [Outcome.PURGED, Outcome.PURGED, Outcome.NEW]


class TestForgotten:
    def test_here_it_stays_so_unless_it_is_to_be_restored(self, store: Store, there: Store) -> None:
        root = put(there, b"a")
        come(store, there, root)
        store.forget(RootChoice(roots=(root.id,)))
        before = everything(Path(store.folder))
        assert outcomes(store, there, root) == [Outcome.FORGOTTEN]
        assert everything(Path(store.folder)) == before
        assert outcomes(store, there, root, restore=True) == [Outcome.CHANGED]
        assert store.root(root.id).is_live(NOW)  # type: ignore[union-attr]

    def test_there_it_is_left_out(self, store: Store, there: Store, clock: Clock) -> None:
        gone, root = put(there, b"a"), put(there, b"b", keep_seconds=5)
        gone = forgotten(gone, now=NOW, grace_seconds=100)
        clock.now += 9
        assert outcomes(store, there, gone, root) == [Outcome.FORGOTTEN] * 2
        assert store.roots() == []

    def test_what_has_expired_here_is_new(self, store: Store, there: Store) -> None:
        root = put(there, b"a")
        come(store, there, root)
        store.forget(RootChoice(roots=(root.id,)), at_once=True)
        assert outcomes(store, there, root) == [Outcome.NEW]


class TestNames:
    def test_one_that_is_taken_here_is_refused_or_moved(self, store: Store, there: Store) -> None:
        mine, theirs = put(store, b"mine", name="n"), put(there, b"theirs", name="n")
        other = put(there, b"other")
        assert outcomes(store, there, theirs, other) == [Outcome.NAME_TAKEN, Outcome.NEW]
        assert [root.id for root in store.named_roots("n")] == [mine.id]
        assert outcomes(store, there, theirs, moves=[theirs.id]) == [Outcome.NEW]
        assert [root.id for root in store.named_roots("n")] == [theirs.id]
        lost = store.root(mine.id)
        assert lost is not None
        assert lost.expires == NOW + store.config.grace_seconds

    def test_of_two_that_come_with_one_name_one_has_it(
        self, store: Store, there: Store, clock: Clock
    ) -> None:
        one = put(there, b"one", name="n")
        clock.now += 1
        with there.batch() as batch:
            other = batch.commit(RootDraft(RootKind.TAG, tuple(one.objects), name="n"), move=NameMove())
        assert outcomes(store, there, one, other) == [Outcome.NEW, Outcome.NAME_TAKEN]
        assert outcomes(store, there, one, other, moves=[other.id]) == [Outcome.SAME, Outcome.NEW]
        assert [root.id for root in store.named_roots("n")] == [other.id]
        assert list(verify(store)) == []

    def test_a_name_that_moves_back_is_its_again(self, store: Store, there: Store) -> None:
        one = put(there, b"one", name="n")
        come(store, there, one)
        put(store, b"x", source_name="y")
        store.tag("n", str(Digest.of(b"x")), move=True)
        assert outcomes(store, there, one) == [Outcome.FORGOTTEN]
        assert outcomes(store, there, one, moves=[one.id]) == [Outcome.CHANGED]
        assert [root.id for root in store.named_roots("n")] == [one.id]


class TestLogs:
    def test_what_goes_on_is_added(self, store: Store, there: Store) -> None:
        roots = [logged(there, place, b"%d" % place) for place in (1, 2, 3)]
        state = logged(there, STATE, b"state", details={LAST: 3})
        come(store, there, *roots[:2])
        found = outcomes(store, there, state, *reversed(roots))
        assert found == [Outcome.NEW, Outcome.NEW, Outcome.SAME, Outcome.SAME]
        log = store.log(RootKind.COLLAPSE, "s")
        assert [root.place for root in log.records] == [1, 2, 3]
        assert log.state is not None
        assert list(verify(store)) == []

    def test_from_where_it_says_something_else_nothing_is_taken(self, store: Store, there: Store) -> None:
        roots = [logged(there, place, b"%d" % place) for place in (1, 2, 3)]
        state = logged(there, STATE, b"state", details={LAST: 3})
        come(store, there, roots[0])
        logged(store, 2, b"another 2")
        found = outcomes(store, there, *roots, state)
        assert found == [Outcome.SAME, *[Outcome.DIVERGED] * 3]
        assert len(store.log(RootKind.COLLAPSE, "s").records) == 2

    def test_a_gap_is_not_made(self, store: Store, there: Store) -> None:
        roots = [logged(there, place, b"%d" % place) for place in (1, 2, 3)]
        come(store, there, roots[0])
        assert outcomes(store, there, roots[2]) == [Outcome.DIVERGED]

    def test_of_two_states_the_one_that_tells_of_more(self, store: Store, there: Store) -> None:
        first = logged(there, 1, b"1")
        old = logged(there, STATE, b"state", details={LAST: 1})
        come(store, there, first, old)
        second = logged(there, 2, b"2")
        new = logged(there, STATE, b"new state", details={LAST: 2}, replaces=old.sequence)
        here = store.log(RootKind.COLLAPSE, "s").state
        assert outcomes(store, there, second, new) == [Outcome.NEW, Outcome.CHANGED]
        state = store.log(RootKind.COLLAPSE, "s").state
        assert state is not None
        assert here is not None
        assert state.objects == new.objects
        assert state.sequence > here.sequence
        # What the old one named can be had back until the grace is over.
        assert store.read(old.objects[0]) == b"state"
        assert outcomes(store, there, old) == [Outcome.SAME]

    def test_one_that_is_forgotten_here_stays_so(self, store: Store, there: Store) -> None:
        roots = [logged(there, place, b"%d" % place) for place in (1, 2)]
        come(store, there, *roots)
        store.forget(RootChoice(source="s"))
        roots.append(logged(there, 3, b"3"))
        assert outcomes(store, there, *roots) == [Outcome.FORGOTTEN] * 3
        assert outcomes(store, there, *roots, restore=True) == [Outcome.CHANGED, Outcome.CHANGED, Outcome.NEW]


class TestKeys:
    def test_what_is_here_stays(self, store: Store, there: Store) -> None:
        mine, theirs = made(store, b"mine"), made(there, b"theirs")
        assert mine.id == theirs.id
        assert outcomes(store, there, theirs) == [Outcome.SAME]
        store.forget(RootChoice(roots=(mine.id,)), at_once=True)
        assert outcomes(store, there, theirs) == [Outcome.NEW]
        assert store.read(Digest.of(b"theirs")) == b"theirs"


class TestPurged:
    def test_what_was_purged_here_does_not_come_back(self, store: Store, there: Store) -> None:
        root, other = put(there, b"a", b"b"), put(there, b"c")
        come(store, there, root)
        store.purge(Digest.of(b"a"), "because")
        # The root is here, purged of it, and stays so.
        assert outcomes(store, there, root, other) == [Outcome.SAME, Outcome.NEW]
        assert not file_of(store, Digest.of(b"a")).exists()
        again = put(there, b"a")
        assert outcomes(store, there, again) == [Outcome.PURGED]
        assert not file_of(store, Digest.of(b"a")).exists()

    def test_what_was_purged_there_is_named_no_more_and_kept_for_the_grace(
        self, store: Store, there: Store
    ) -> None:
        root = put(there, b"a", b"b")
        come(store, there, root)
        there.purge(Digest.of(b"a"), "because")
        root = there.root(root.id)  # type: ignore[assignment]
        assert outcomes(store, there, root) == [Outcome.CHANGED]
        mine = store.root(root.id)
        assert mine is not None
        assert mine.objects == (Digest.of(b"b"),)
        assert mine.details[PURGED] == [str(Digest.of(b"a"))]
        assert store.naming(Digest.of(b"a")).expires == NOW + store.config.grace_seconds


class TestScopesAndQuotas:
    def test_a_root_of_a_scope_that_is_not_granted(self, store: Store, there: Store) -> None:
        mine, other = put(there, b"a", scope="team/a"), put(there, b"b", scope="team/b")
        limited = Store.open(store.folder, access=Access(grants=("team/a",)))
        with pytest.raises(ScopeDenied):
            come(limited, there, mine, other)
        assert limited.roots() == []
        assert outcomes(limited, there, mine) == [Outcome.NEW]
        limited.close()

    def test_nobody_gets_at_bytes_by_naming_them(self, store: Store, there: Store) -> None:
        put(store, b"secret", scope="team/b")
        root = put(there, b"secret", scope="team/a")
        limited = Store.open(store.folder, access=Access(grants=("team/a",)))
        for lazily in (None, "origin"):
            with limited.importing() as importing, pytest.raises(ObjectMissing):
                importing.commit([root], lazily=lazily)
        with limited.importing() as importing:
            assert importing.needed([root], lazily=True) == list(root.objects)
        limited.close()
        # Nor by a promise that the operator takes for them.
        with store.importing() as importing:
            assert importing.needed([root], lazily=True) == list(root.objects)
            with pytest.raises(ObjectMissing):
                importing.commit([root], lazily="origin")

    def test_what_does_not_fit_leaves_nothing(self, store: Store, there: Store) -> None:
        store.create_scope("team/a", quota="100B")
        store.close()
        store = Store.open(store.folder, access=Access(grants=("*",)))
        root = put(there, b"a" * 101, scope="team/a")
        before = everything(Path(store.folder) / "objects")
        with pytest.raises(LimitExceeded):
            come(store, there, root)
        assert everything(Path(store.folder) / "objects") == before
        store.close()


class TestJoined:
    def test_the_longer_expiry(self, store: Store, there: Store) -> None:
        put(store, b"a", keep_seconds=10)
        root = put(there, b"a", keep_seconds=99)
        assert outcomes(store, there, root) == [Outcome.CHANGED]
        assert store.root(root.id).expires == NOW + 99  # type: ignore[union-attr]

    def test_a_document_that_was_folded_otherwise_has_the_objects_of_both(
        self, store: Store, there: Store
    ) -> None:
        document = Content(Digest.of(b"document"), 8)
        for each, data in ((store, b"here"), (there, b"there")):
            with each.batch() as batch:
                root = batch.commit(
                    RootDraft(RootKind.DOCUMENT, (batch.stage(data).digest,), document=document)
                )
        assert outcomes(store, there, root) == [Outcome.CHANGED]
        assert {store.read(each) for each in store.root(root.id).objects} == {b"here", b"there"}  # type: ignore[union-attr]

    def test_the_detail_of_another_store_is_not_taken(self, store: Store, there: Store) -> None:
        root = put(there, b"a")
        (done,) = come(store, there, replace(root, details={REMOTE: "theirs"}))
        assert REMOTE not in done.root.details
