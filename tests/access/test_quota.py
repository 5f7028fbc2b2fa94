"""Quotas: what does not fit is 17, with nothing half-written; what one scope has is no other's business."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from castore import api
from castore.digest import Digest
from castore.errors import LimitExceeded
from castore.gc.sweep import sweep
from castore.settings import change_setting, declare_scope
from castore.store import Access, Store
from castore.store.keeping import RootChoice
from tests.access.world import ctx, operator, truth, unchanged

NOW = 1_700_000_000.0
SIZE = 1000


def data(number: int, size: int = SIZE) -> bytes:
    return (b"%06d " % number * size)[:size]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """`small` may name 3,500 bytes; `free` anything."""
    Store.init(tmp_path / ".ctxstore", clock=lambda: NOW).close()
    config = tmp_path / ".ctxstore" / "config.toml"
    config.write_text(declare_scope(config.read_text(), "small", "3500B"))
    return tmp_path / ".ctxstore"


def opened(folder: Path, *grants: str) -> Store:
    return Store.open(folder, clock=lambda: NOW, access=Access(grants))


DOCUMENT = json.dumps({"rows": list(range(1200))}).encode()

ACTS: dict[str, Callable[[Store], Any]] = {
    "put": lambda store: api.put(store, data(9)),
    "fold": lambda store: api.fold_bytes(store, DOCUMENT),
    "tag": lambda store: store.tag("x", Digest.of(data(7)).hex),
    "keep": lambda store: api.keep(store, Digest.of(data(7)).hex),
    "keep many": lambda store: api.keep(store, *(Digest.of(data(each)).hex for each in (0, 7))),
}


class TestScope:
    @pytest.mark.parametrize("act", list(ACTS))
    def test_what_does_not_fit_leaves_nothing(self, folder: Path, act: str) -> None:
        free = opened(folder, "free")
        api.put(free, data(7))
        free.close()
        store = opened(folder, "small", "free")
        for number in range(3):
            api.put(store, data(number))
        with unchanged(folder), pytest.raises(LimitExceeded) as caught:
            ACTS[act](store)
        assert caught.value.exit_code == 17
        assert caught.value.fields["used"] == 3 * SIZE
        store.close()

    def test_named_twice_counts_once_and_shared_counts_whole(self, folder: Path) -> None:
        free, store = opened(folder, "free"), opened(folder, "small")
        for number in range(3):
            api.put(free, data(number))
            api.put(store, data(number))
            api.put(store, data(number), name=f"again-{number}")
        with pytest.raises(LimitExceeded):
            api.put(store, data(3))
        api.put(store, data(3, 500))
        free.close()
        store.close()

    def test_the_exact_quota_fits(self, folder: Path) -> None:
        store = opened(folder, "small")
        for number in range(3):
            api.put(store, data(number))
        api.put(store, data(3, 500))
        with pytest.raises(LimitExceeded):
            api.put(store, b"x")
        store.close()

    def test_many_roots_of_one_call_count_together(self, folder: Path) -> None:
        free = opened(folder, "free")
        for number in range(4):
            api.put(free, data(number))
        free.close()
        store = opened(folder, "small", "free")
        with unchanged(folder), pytest.raises(LimitExceeded):
            api.keep(store, *(Digest.of(data(number)).hex for number in range(4)))
        store.close()

    def test_forgetting_at_once_gives_room_and_undoing_takes_it(self, folder: Path) -> None:
        store = opened(folder, "small")
        for number in range(3):
            api.put(store, data(number))
        choice = RootChoice(references=(Digest.of(data(0)).hex,))
        store.forget(choice)
        with pytest.raises(LimitExceeded):
            api.put(store, data(3))
        store.forget(choice, at_once=True)
        api.put(store, data(3))
        with unchanged(folder), pytest.raises(LimitExceeded):
            store.remember(choice)
        owner = operator(folder)
        sweep(owner)
        assert len(list(store.digests())) == 3
        owner.close()
        store.close()

    def test_an_object_that_an_unfinished_writer_left_counts(self, folder: Path) -> None:
        free = opened(folder, "free")
        api.put(free, data(7, 4000))
        with free.parts.writing() as connection:
            connection.execute("DELETE FROM objects")
        free.close()
        store = opened(folder, "small", "free")
        with pytest.raises(LimitExceeded):
            store.tag("x", Digest.of(data(7, 4000)).hex)
        store.close()

    def test_of_several_at_once_no_more_pass_than_fit(self, folder: Path) -> None:
        passed: list[int] = []

        def write(number: int) -> None:
            store = opened(folder, "small")
            try:
                api.put(store, data(number))
                passed.append(number)
            except LimitExceeded:
                pass
            finally:
                store.close()

        threads = [Thread(target=write, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(passed) == 3
        store = opened(folder, "small")
        assert sum(len(store.read(each)) for each in store.digests()) == 3 * SIZE
        store.close()


class TestStore:
    @pytest.fixture
    def full(self, folder: Path) -> Path:
        """No other file fits, and who is not the operator sees none of those that are there."""
        free = opened(folder, "free")
        api.put(free, bytes(range(256)) * 4)
        used = free.parts.source.stat(Digest.of(bytes(range(256)) * 4))
        assert used is not None
        free.close()
        config = folder / "config.toml"
        config.write_text(change_setting(config.read_text(), "store.quota", f"{used.stored_bytes + 10}B"))
        return folder

    def test_counts_the_bytes_of_files(self, full: Path) -> None:
        store = opened(full, "free")
        with unchanged(full), pytest.raises(LimitExceeded):
            api.put(store, bytes(range(255, 0, -1)))
        api.put(store, bytes(range(256)) * 4, name="again")
        store.close()

    def test_what_others_use_is_told_to_the_operator_alone(self, full: Path) -> None:
        told = {}
        for grant in ("other", "*"):
            store = opened(full, grant)
            with pytest.raises(LimitExceeded) as caught:
                api.put(store, bytes(range(255, 0, -1)))
            told[grant] = caught.value
            store.close()
        assert "used" not in told["other"].fields
        assert "are used" not in told["other"].message
        assert "used" in told["*"].fields

    def test_bytes_that_others_hold_need_room_as_new_ones_do(self, full: Path) -> None:
        store = opened(full, "other")
        with unchanged(full), pytest.raises(LimitExceeded):
            api.put(store, bytes(range(256)) * 4)
        store.close()


class TestBelowWhatIsUsed:
    """A quota that is exceeded when it is set is said so; then it holds."""

    def test_of_a_scope(self, folder: Path) -> None:
        store = opened(folder, "small")
        for number in range(3):
            api.put(store, data(number))
        store.close()
        told = ctx(folder, "scope", "create", "small", "--quota", "2kB", scope="*")
        assert told.code == 0
        assert told.err == (
            "note: the quota of scope 'small' is 2,000 bytes, and 3,000 are used: what adds to them is "
            "refused until less is used, or the quota is raised\n"
        )
        assert ctx(folder, "put", scope="small", stdin=b"more").code == 17
        assert ctx(folder, "put", scope="small", stdin=data(1)).code == 0
        for quiet in (["--quota", "3kB"], ["--quota", "none"], []):
            assert ctx(folder, "scope", "create", "small", *quiet, scope="*").err == ""

    def test_of_the_store(self, folder: Path) -> None:
        store = opened(folder, "free")
        api.put(store, data(1))
        store.close()
        told = ctx(folder, "config", "store.quota", "1B", scope="*")
        assert (told.code, told.err.startswith("note: the quota of the store is 1 bytes, and ")) == (0, True)
        (event,) = ctx(folder, "config", "store.quota", "1B", "--json", scope="*").err.splitlines()
        assert json.loads(event)["event"] == "note"
        assert ctx(folder, "put", scope="free", stdin=b"more").code == 17
        for line in (["store.quota", "1MB"], ["store.grace", "1d"]):
            assert ctx(folder, "config", *line, scope="*").err == ""


class TestCommand:
    def test_it_is_17_and_says_what_to_do(self, folder: Path) -> None:
        before = truth(folder)
        told = ctx(folder, "put", scope="small", stdin=b"x" * 4000)
        assert told.code == 17
        assert "scope 'small'" in told.err
        assert "hint: " in told.err
        assert truth(folder) == before
