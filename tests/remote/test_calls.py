"""The calls of sharing as a program makes them: what references may be, and what is public."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import castore
from castore.store import Access, Store


class Pair:
    """Two stores with one remote, `team`, a folder; and a folded document that `here` has, in a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.here = castore.open_store(folder / "here", create=True)
        self.there = castore.open_store(folder / "there", create=True)
        for store in (self.here, self.there):
            castore.add_remote(store, "team", (folder / "bucket").as_uri())
        self.file = folder / "orders"
        self.file.write_bytes(castore.fold_bytes(self.here, b'["' + b"a row of orders " * 500 + b'"]'))


@pytest.fixture
def pair(fast_path: Path) -> Iterator[Pair]:
    made = Pair(fast_path)
    yield made
    made.here.close()
    made.there.close()


class TestReferences:
    def test_a_path_is_a_file(self, pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
        """Also one that is called like something else: `orders` alone is a name."""
        castore.put(pair.here, b"other bytes", name="orders")
        monkeypatch.chdir(pair.folder)
        target = io.BytesIO()
        castore.create_bundle(pair.here, target, Path("orders"))
        assert len(castore.push(pair.here, Path("orders")).pushed) == 1
        assert len(castore.pull(pair.there, pair.file).imported) == 1
        assert castore.fetch(pair.there, Path("orders")).here == 1
        assert castore.unfold_bytes(pair.there, pair.file.read_bytes()).startswith(b'["a row')
        (forgotten,) = castore.forget_at_remote(pair.there, Path("orders"), dry_run=True)
        assert forgotten.name is None

    @pytest.mark.parametrize("given", [(), ([],), (3,), (["orders"],), (None,)], ids=repr)
    @pytest.mark.parametrize(
        "call",
        [
            castore.push,
            castore.pull,
            castore.fetch,
            castore.forget_at_remote,
            lambda store, *given: castore.create_bundle(store, io.BytesIO(), *given),
        ],
    )
    def test_nothing_and_no_reference_is_a_mistake(
        self, pair: Pair, call: Callable[..., Any], given: tuple[Any, ...]
    ) -> None:
        with pytest.raises(castore.InvalidOption) as caught:
            call(pair.here, *given)
        assert caught.value.hint
        assert not (pair.folder / "bucket").exists()

    @pytest.mark.parametrize("data", [b"\0\1\2 no JSON", b'{"no": "reference"}', b""])
    def test_a_file_whose_bytes_are_an_object_is_called_that(self, pair: Pair, data: bytes) -> None:
        digest = castore.put(pair.here, data)
        file = pair.folder / "f.bin"
        file.write_bytes(data)
        for call in (castore.push, lambda *given: castore.create_bundle(given[0], io.BytesIO(), given[1])):
            with pytest.raises(castore.DocumentInvalid) as caught:
                call(pair.here, file)
            assert digest.short in str(caught.value.hint)
        assert castore.push(pair.here, digest.short).objects_sent == 1

    def test_a_file_whose_bytes_the_caller_does_not_see_is_not(self, pair: Pair) -> None:
        data = b"\0\1\2 no JSON"
        castore.put(pair.here, data, scope="other")
        file = pair.folder / "f.bin"
        file.write_bytes(data)
        narrow = Store.open(pair.here.folder, access=Access(("mine",), None))
        with pytest.raises(castore.DocumentInvalid) as caught:
            castore.push(narrow, file)
        assert "is object" not in str(caught.value.hint)
        narrow.close()


class TestWhatIsPublic:
    def test_a_program_tends_remotes_by_castore_alone(self, pair: Pair) -> None:
        castore.push(pair.here, pair.file)
        assert all(check.is_held for check in castore.check_remote(pair.here))
        assert list(castore.list_remotes(pair.here)) == ["team"]
        ids, damaged = castore.roots_at_remote(pair.here, lambda root: root.id)
        assert (len(ids), damaged) == (1, [])
        assert list(castore.verify_at_remote(pair.here, full=True)) == []
        castore.forget_at_remote(pair.here, ids[0], at_once=True)
        assert castore.collect_remote(pair.here, grace_seconds=0, dry_run=True) is not None
        castore.remove_remote(pair.here, "team")
        assert list(castore.list_remotes(pair.here)) == []
        with pytest.raises(castore.InvalidOption):
            castore.remove_remote(pair.here, "team")

    def test_grants_of_a_remote_are_told_as_far_as_they_are_the_callers(self, pair: Pair) -> None:
        castore.add_remote(pair.here, "more", pair.folder.as_uri() + "/more", granted=("mine", "theirs"))
        narrow = Store.open(pair.here.folder, access=Access(("mine",), None))
        assert castore.list_remotes(narrow)["more"].granted == ("mine",)
        assert castore.list_remotes(pair.here)["more"].granted == ("mine", "theirs")
        narrow.close()
