"""A root with a key goes with what it was made of, when that is removed on purpose, and stays gone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from castore.digest import Digest
from castore.errors import NotFound, ObjectMissing, ObjectPurged
from castore.gc.sweep import sweep
from castore.gc.verify import verify
from castore.roots.model import Root, RootKind
from castore.store import Access, Store
from castore.store.keeping import RootChoice
from tests.access.world import ctx

from .conftest import NOW, put
from .faults import Crash, Script, scripted
from .keyed import KEY, OTHER_KEY, SOURCE, TEXT, current, made, reopened, replaced_of

SECRET, SUMMARY = Digest.of(SOURCE), Digest.of(TEXT)


def of_a_view(store: Store) -> tuple[Root, Root]:
    """A root that names its text alone, based on one that is based on one which names the source."""
    first = put(store, SOURCE)
    second = put(store, b"what else it has", base=first.id)
    return first, made(store, with_source=False, base=second.id)


def no_summary(folder: str, scope: str = "default") -> bool:
    """Nobody in the scope is served the text, nor finds the root."""
    store = Store.open(folder, clock=lambda: NOW, access=Access((scope,)))
    try:
        store.read(SUMMARY)
    except (ObjectMissing, ObjectPurged):
        return current(store) is None and store.keyed_roots(RootKind.SUMMARY) == []
    finally:
        store.close()
    return False


class TestWithItsSource:
    @pytest.mark.parametrize("purged", [SECRET, SUMMARY])
    def test_it_is_over_at_once(self, store: Store, purged: Digest) -> None:
        root = made(store)
        done = store.purge(purged, "a secret")
        (over,) = done.over
        assert done.roots == done.over
        assert (over.id, over.expires, over.forgotten) == (root.id, NOW, NOW)
        assert current(store) is None
        assert no_summary(store.folder)
        assert (sweep(store).roots, list(store.digests())) == (1, [])
        assert list(verify(store)) == []

    def test_so_is_what_was_replaced_and_kept_for_the_grace(self, store: Store) -> None:
        first = made(store)
        made(store, b"new", replaces=first.sequence)
        assert len(replaced_of(store)) == 1
        assert len(store.purge(SECRET, "a secret").over) == 2
        assert no_summary(store.folder)
        sweep(store)
        assert list(store.digests()) == []

    def test_so_is_what_is_based_on_a_root_that_names_it(self, store: Store) -> None:
        first, root = of_a_view(store)
        done = store.purge(SECRET, "a secret")
        assert [each.id for each in done.over] == [root.id]
        assert [each.id for each in done.roots] == [first.id]
        assert no_summary(store.folder)
        sweep(store)
        assert store.root(first.id) is not None, "only what is bound to its source goes with it"
        assert list(verify(store)) == []

    def test_others_stay(self, store: Store) -> None:
        made(store)
        other = made(store, b"of another", b"another source", key=OTHER_KEY)
        tag = put(store, TEXT, name="mine")
        store.purge(SECRET, "a secret")
        assert current(store, OTHER_KEY) == other
        assert store.root(tag.id) == tag, "what somebody keeps by name is theirs to forget"

    def test_of_every_scope(self, store: Store) -> None:
        for scope in ("team/a", "team/b"):
            made(store, scope=scope)
        assert len(store.purge(SECRET, "a secret").over) == 2
        assert no_summary(store.folder, "team/a")
        assert no_summary(store.folder, "team/b")


class TestStaysGone:
    """Nothing that undoes a forget brings it back, whenever it was forgotten."""

    def undone(self, store: Store, root: Root) -> None:
        with pytest.raises(NotFound, match="purged"):
            store.remember(RootChoice(roots=(root.id,)))
        assert store.remember(RootChoice(source="*")).roots == ()
        assert no_summary(store.folder)

    def test_by_its_id_or_by_policies(self, store: Store) -> None:
        root = made(store)
        store.purge(SECRET, "a secret")
        self.undone(store, root)

    def test_nor_by_a_base(self, store: Store) -> None:
        _, root = of_a_view(store)
        store.purge(SECRET, "a secret")
        self.undone(store, root)

    @pytest.mark.parametrize("at_once", [False, True])
    def test_one_that_was_forgotten_before(self, store: Store, at_once: bool) -> None:
        root = made(store)
        store.forget(RootChoice(roots=(root.id,)), at_once=at_once)
        assert len(store.purge(SECRET, "a secret").over) == (0 if at_once else 1)
        self.undone(store, root)

    def test_nor_by_what_takes_its_place(self, store: Store) -> None:
        first = made(store)
        store.purge(SECRET, "a secret")
        second = made(store, b"of another source", b"another source")
        assert store.remember(RootChoice(source="*")).roots == ()
        with pytest.raises(NotFound):
            store.remember(RootChoice(roots=(replaced_of(store)[0].id,)))
        assert (second.id, current(store)) == (first.id, second)
        with pytest.raises(ObjectMissing):
            Store.open(store.folder, clock=store.parts.clock, access=Access(("default",))).read(SUMMARY)

    def test_the_source_is_refused_as_purged(self, store: Store) -> None:
        made(store)
        store.purge(SECRET, "a secret")
        with pytest.raises(ObjectPurged):
            made(store)


class TestKilled:
    """A purge that was killed anywhere is ended by whoever writes next, and by the same purge."""

    @pytest.mark.parametrize("call", ["rename", "unlink", "fsync"])
    @pytest.mark.parametrize("make", [made, of_a_view])
    def test_no_summary_is_left(self, fast_path: Path, call: str, make: object) -> None:
        for number, folder in enumerate(_crashed(fast_path, call, make)):
            store = Store.open(folder, clock=lambda: NOW, access=Access(("*",)))
            if (folder / "tombstones" / f"{SECRET.hex}.json").exists():
                put(store, b"a write of somebody else")
                assert no_summary(str(folder)), number
            store.purge(SECRET, "a secret")
            assert no_summary(str(folder)), number
            sweep(store)
            assert list(verify(store)) == []
            store.close()


def _crashed(folder: Path, call: str, make: object) -> Iterator[Path]:
    """A store for each call of this name, at which the purge ended; until it ended by itself."""
    for number in range(40):
        store = Store.init(folder / str(number), clock=lambda: NOW)
        make(store)  # type: ignore[operator]
        store.close()
        store = reopened(store)
        try:
            with scripted({call: Script("." * number + "X")}):
                store.purge(SECRET, "a secret")
            assert number > 0
            return
        except Crash:
            yield folder / str(number)
        finally:
            store.close()
    raise AssertionError("it never ended")


class TestSaid:
    """`ctx purge` says how many summaries go, before and after; `ctx show` and `ctx log` what they are."""

    def test_by_purge(self, store: Store) -> None:
        of_a_view(store)
        made(store, key=OTHER_KEY)
        store.close()
        folder = Path(store.folder)
        words = ("purge", SECRET.hex, "--reason", "a secret")
        planned = ctx(folder, *words, "--dry-run", scope="*")
        assert "; 2 summaries would go with it\n" in planned.out
        facts = json.loads(ctx(folder, *words, "--yes", "--json", scope="*").out)
        assert sorted(root["key"] for root in facts["summaries"]) == [KEY, OTHER_KEY]

    def test_nothing_where_there_is_none(self, store: Store) -> None:
        put(store, SOURCE)
        store.close()
        done = ctx(Path(store.folder), "purge", SECRET.hex, "--reason", "a secret", "--yes", scope="*")
        assert "purged" in done.out
        assert "summar" not in done.out

    def test_by_show_and_log(self, store: Store) -> None:
        root = made(store, source_name="policy.md")
        store.close()
        shown = ctx(Path(store.folder), "show", root.id, scope="default")
        assert f"key {KEY}" in " ".join(shown.out.split())
        listed = ctx(Path(store.folder), "log", scope="default")
        assert "summary" in listed.out
        assert "policy.md" in listed.out
