"""The life of an object, and of what is kept as a whole: it follows from roots, files and notes."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from castore.api import fold_bytes, unfold_bytes
from castore.digest import Digest
from castore.errors import ObjectMissing
from castore.gc.sweep import plan, sweep
from castore.roots.model import RootDraft, RootKind
from castore.store import Access, Store
from castore.store.keeping import RootChoice
from castore.store.life import Life, LifeState
from tests.store.conftest import NOW, Clock, file_of, overwrite, put

DAY = 86_400
ABSENT = Digest("0" * 64)


def opened(store: Store, *grants: str) -> Store:
    return Store.open(store.folder, clock=store.parts.clock, access=Access(grants))


def remove_index(store: Store) -> None:
    store.close()
    for file in Path(store.folder).glob("index.sqlite*"):
        file.unlink()


@pytest.fixture(params=["index", "files"])
def ask(request: pytest.FixtureRequest, store: Store) -> object:
    """The store as it is, or without its index: every answer is the same."""

    def asked(*grants: str) -> Store:
        if request.param == "files":
            remove_index(store)
        return opened(store, *(grants or ("*",)))

    return asked


class TestState:
    """kept, expiring, unnamed, damaged, purged: over the roots that have not expired."""

    def test_kept_for_ever_if_one_root_is(self, store: Store, ask) -> None:  # type: ignore[no-untyped-def]
        put(store, b"x", keep_seconds=50)
        digest = put(store, b"x", name="a").objects[0]
        assert ask().life(digest) == Life(LifeState.KEPT, 2, None, None)

    def test_expiring_until_the_last_root_does(self, store: Store, ask, clock: Clock) -> None:  # type: ignore[no-untyped-def]
        put(store, b"x", keep_seconds=50)
        digest = put(store, b"x", name="a", keep_seconds=90).objects[0]
        assert ask().life(digest) == Life(LifeState.EXPIRING, 2, NOW + 90, None)
        clock.now += 60
        assert ask().life(digest) == Life(LifeState.EXPIRING, 1, NOW + 90, None)

    def test_forgotten_is_expiring(self, store: Store, ask) -> None:  # type: ignore[no-untyped-def]
        digest = put(store, b"x", source_name="s").objects[0]
        store.forget(RootChoice(source="s"))
        assert ask().life(digest) == Life(LifeState.EXPIRING, 1, NOW + 14 * DAY, None)

    def test_unnamed_once_all_have_expired(self, store: Store, ask, clock: Clock) -> None:  # type: ignore[no-untyped-def]
        digest = put(store, b"x", keep_seconds=50).objects[0]
        clock.now += 50
        assert ask().life(digest) == Life(LifeState.UNNAMED, 0, None, None)
        with pytest.raises(ObjectMissing):
            ask("default").life(digest)

    @pytest.mark.parametrize("data", [b"", b"\xff" * 40])
    def test_damaged_if_its_header_is(self, store: Store, ask, data: bytes) -> None:  # type: ignore[no-untyped-def]
        digest = put(store, b"x", keep_seconds=50).objects[0]
        ready = ask()
        overwrite(file_of(store, digest), data)
        assert ready.life(digest) == Life(LifeState.DAMAGED, 1, NOW + 50, None)

    def test_purged_for_those_who_are_told(self, store: Store, ask) -> None:  # type: ignore[no-untyped-def]
        digest = put(store, b"x", scope="a").objects[0]
        opened(store, "*").purge(digest, "a secret")
        assert ask("a").life(digest) == ask().life(digest) == Life(LifeState.PURGED, 0, None, None)
        with pytest.raises(ObjectMissing):
            ask("b").life(digest)

    def test_purged_here_and_put_there(self, store: Store, ask) -> None:  # type: ignore[no-untyped-def]
        digest = put(store, b"x", scope="a").objects[0]
        opened(store, "*").purge(digest, "a secret")
        put(opened(store, "b"), b"x", scope="b")
        assert ask("a").life(digest).state is LifeState.PURGED
        assert ask("b").life(digest).state is LifeState.KEPT

    def test_of_what_is_not_there_is_none(self, store: Store, ask) -> None:  # type: ignore[no-untyped-def]
        digest = put(store, b"x").objects[0]
        os.unlink(file_of(store, digest))
        for absent in (ABSENT, digest):
            with pytest.raises(ObjectMissing):
                ask().life(absent)


class TestScopes:
    """Roots of other scopes neither count nor show."""

    def test_each_counts_its_own(self, store: Store, ask) -> None:  # type: ignore[no-untyped-def]
        put(store, b"x", scope="a")
        digest = put(store, b"x", scope="b", keep_seconds=50).objects[0]
        assert ask("a").life(digest) == Life(LifeState.KEPT, 1, None, None)
        assert ask("b").life(digest) == Life(LifeState.EXPIRING, 1, NOW + 50, None)
        assert ask().life(digest) == Life(LifeState.KEPT, 2, None, None)
        with pytest.raises(ObjectMissing):
            ask("c").life(digest)

    def test_a_file_that_is_damaged_shows_to_nobody_else(self, store: Store, ask) -> None:  # type: ignore[no-untyped-def]
        digest = put(store, b"x", scope="a").objects[0]
        ready = ask("b")
        overwrite(file_of(store, digest), b"")
        with pytest.raises(ObjectMissing):
            ready.life(digest)


class TestMany:
    """Many at once are as many ones, in the order they were asked for."""

    def test_are_as_one_by_one(self, store: Store, ask, clock: Clock) -> None:  # type: ignore[no-untyped-def]
        pieces = [b"%d" % each for each in range(1100)]
        for start, draft in ((0, {}), (300, {"keep_seconds": 9}), (600, {"keep_seconds": 99})):
            put(store, *pieces[start : start + 500], **draft)
        clock.now += 9
        digests = list(store.digests())
        asked = ask()
        found = list(asked.lives([*digests, ABSENT, digests[0]]))
        assert [each.digest for each in found] == [*digests, ABSENT, digests[0]]
        assert found[-2].life is None
        assert all(each.stat == store.stat(each.digest) for each in found)
        assert {each.life.state for each in found if each.life} == {"kept", "expiring", "unnamed"}
        for each in found[::97]:
            assert each.life is None or each.life == asked.life(each.digest)

    def test_take_a_statement_for_hundreds(self, store: Store) -> None:
        put(store, *(b"%d" % each for each in range(1200)))
        connection = store.parts.reading()
        assert connection is not None
        digests = list(store.digests())
        asked: list[str] = []
        connection.set_trace_callback(asked.append)
        assert len(list(store.lives(digests))) == 1200
        assert len([each for each in asked if "root_objects" in each]) == 3

    def test_those_that_others_see_are_absent(self, store: Store, ask) -> None:  # type: ignore[no-untyped-def]
        mine = put(store, b"x", scope="a").objects[0]
        other = put(store, b"y", scope="b").objects[0]
        assert [each.life is None for each in ask("a").lives([mine, other, ABSENT])] == [False, True, True]
        assert next(ask("a").lives([other])).stat is None


def put_lives(store: Store, clock: Clock) -> None:
    """Objects of every kind of life: 1 unnamed now, 2 expired, 3 expiring, 1 of them kept all the same."""
    put(store, b"one", keep_seconds=10)
    put(store, b"gone 1", b"gone 2", keep_seconds=20)
    put(store, b"later 1", b"later 22", b"kept", keep_seconds=500)
    put(store, b"kept", b"one more")
    clock.now += 20
    put(store, b"kept", scope="b")
    put(store, b"later 1", scope="b")


class TestWhatGcFrees:
    """stats says what gc would do, for the operator; for others, what their own roots come to."""

    def test_is_what_gc_plans_and_does(self, store: Store, ask, clock: Clock) -> None:  # type: ignore[no-untyped-def]
        put_lives(store, clock)
        held = ask().stats()
        planned = plan(opened(store, "*"))
        assert (held.free_now.objects, held.free_now.stored_bytes) == (planned.objects, planned.stored_bytes)
        assert held.free_now.objects == 3
        assert (held.free_later.objects, held.free_later.stored_bytes) == (
            planned.later_objects,
            planned.later_bytes,
        )
        assert held.free_later.objects == 1
        assert held.free_later_date == planned.later_date == NOW + 500
        assert sweep(opened(store, "*")).objects == 3
        assert ask().stats().free_now.objects == 0
        clock.now = NOW + 500
        assert ask().stats().free_now == held.free_later

    def test_of_other_callers_knows_nothing_of_other_roots(self, store: Store, ask, clock: Clock) -> None:  # type: ignore[no-untyped-def]
        put_lives(store, clock)
        held = ask("default").stats()
        # That another scope keeps `later 1` is not for this one to know.
        assert (held.free_now.objects, held.free_later.objects) == (3, 2)
        assert held.free_later_date == NOW + 500
        other = ask("b").stats()
        assert (other.free_now.objects, other.free_later.objects, other.free_later_date) == (0, 0, None)


class TestDocuments:
    DOCUMENT = b'{"a": "%s", "b": "%s"}' % (b"x" * 2000, b"y" * 3000)

    def recorded(self, store: Store, path: object, **draft: object) -> bytes:
        """A folded document whose root says that it was written to `path`."""
        folded = fold_bytes(store, self.DOCUMENT, source_name="in.json", **draft)  # type: ignore[arg-type]
        root = next(each for each in store.roots() if each.document)
        store.keep(
            [
                RootDraft(
                    RootKind.KEEP,
                    tuple(root.objects),
                    document=root.document,
                    source_name="out.json",
                    details={"file": path},
                    scope=root.scope,
                )
            ]
        )
        return folded

    def test_are_counted_once_each(self, store: Store, ask, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
        self.recorded(store, str(tmp_path / "out.json"))
        (tmp_path / "out.json").write_bytes(b"")
        store.tag("mine", str(store.roots()[0].document.digest))  # type: ignore[union-attr]
        held = ask().stats()
        assert (held.documents, held.documents_gone) == (1, 0)
        (use,) = held.biggest_documents
        assert (use.file, use.is_gone) == (str(tmp_path / "out.json"), False)

    def test_whose_file_is_gone(self, store: Store, ask, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
        self.recorded(store, str(tmp_path / "out.json"))
        held = ask().stats()
        assert (held.documents, held.documents_gone) == (1, 1)
        assert held.biggest_documents[0].is_gone

    @pytest.mark.parametrize("path", [7, "out.json", None, ["/x"], {"file": "/x"}])
    def test_whose_file_is_not_known(self, store: Store, ask, path: object) -> None:  # type: ignore[no-untyped-def]
        self.recorded(store, path)
        held = ask().stats()
        assert (held.documents, held.documents_gone) == (1, 0)
        assert held.biggest_documents[0].is_gone is None

    @pytest.mark.parametrize("path", ["/\0", "/" + "x" * 5000, "/dev/null/x"])
    def test_whose_file_can_not_be(self, store: Store, ask, path: str) -> None:  # type: ignore[no-untyped-def]
        self.recorded(store, path)
        assert ask().stats().documents == 1

    def test_say_what_was_read_back(self, store: Store, ask) -> None:  # type: ignore[no-untyped-def]
        folded = fold_bytes(store, self.DOCUMENT, source_name="in.json")
        put(store, b"of no document")
        (use,) = ask().stats().biggest_documents
        assert (use.read_bytes, use.last_read) == (0, None)
        assert use.saved_bytes == len(self.DOCUMENT) - len(folded)
        assert use.object_bytes == 5000
        reader = opened(store, "default")
        unfold_bytes(reader, folded)
        reader.read(next(digest for digest in store.digests() if store.stat(digest).size == 2000))  # type: ignore[union-attr]
        reader.read(next(digest for digest in store.digests() if store.stat(digest).size < 2000))  # type: ignore[union-attr]
        reader.close()
        held = ask().stats()
        (use,) = held.biggest_documents
        assert (use.read_bytes, use.last_read) == (7000, "2023-11-14")
        assert held.read_bytes == 7014

    def test_of_other_scopes_are_not_told(self, store: Store, ask) -> None:  # type: ignore[no-untyped-def]
        self.recorded(store, "/nowhere", scope="a")
        held = ask("b").stats()
        assert held == replace(ask("c").stats())
        assert (held.documents, held.documents_gone, held.biggest_documents) == (0, 0, ())
        assert ask("a").stats().documents_gone == 1

    def test_details_of_any_length_are_read(self, store: Store, ask) -> None:  # type: ignore[no-untyped-def]
        self.recorded(store, "/" + json.dumps(["x"] * 999))
        assert ask().stats().documents_gone in (0, 1)
