"""A purge that was killed: verify tells it, and whatever writes next ends it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from castore import durable
from castore.digest import Digest
from castore.errors import ObjectPurged
from castore.gc.repair import repair
from castore.gc.sweep import sweep
from castore.gc.verify import verify
from castore.roots.model import RootDraft, RootKind
from castore.store import Access, Store


class Killed(BaseException):
    """The process ends here."""


def operator(folder: Path) -> Store:
    return Store.open(folder, access=Access(("*",)))


def put(store: Store, data: bytes, scope: str | None = None, *, allow_purged: bool = False) -> Digest:
    with store.batch() as batch:
        digest = batch.stage(data).digest
        batch.commit(RootDraft(RootKind.PUT, (digest,), scope=scope), allow_purged=allow_purged)
    return digest


def kill_purge(folder: Path, digest: Digest, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Purge, up to its first call of `step` after the tombstone is there."""
    honest = getattr(durable.calls, step)

    def call(*arguments: str) -> object:
        if (folder / "tombstones" / f"{digest.hex}.json").exists():
            raise Killed
        return honest(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(durable.calls, step, call)
        with pytest.raises(Killed):
            operator(folder).purge(digest, "a secret")


def by_gc(store: Store) -> None:
    sweep(store)


def by_repair(store: Store) -> None:
    assert [str(act) for act in repair(store).acts if "purged" in str(act)] != []


def by_a_put(store: Store) -> None:
    put(store, b"something else")


def by_a_purge(store: Store) -> None:
    (name,) = os.listdir(store.parts.layout.tombstones)
    assert store.purge(Digest(name.removesuffix(".json")), "another reason").tombstone.reason == "a secret"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    Store.init(tmp_path / ".ctxstore").close()
    return tmp_path / ".ctxstore"


class TestKilledPurge:
    @pytest.mark.parametrize("step", ["unlink", "write"])
    @pytest.mark.parametrize("end", [by_gc, by_repair, by_a_put, by_a_purge])
    def test_is_told_and_ended(
        self, folder: Path, step: str, end: Callable[[Store], None], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        digest = put(operator(folder), b"hunter2")
        kill_purge(folder, digest, step, monkeypatch)
        assert [finding.name.value for finding in verify(operator(folder))] == ["purged"]
        end(operator(folder))
        assert list(verify(operator(folder))) == []
        with pytest.raises(ObjectPurged, match="a secret"):
            operator(folder).read(digest)
        assert not os.path.exists(operator(folder).parts.layout.object_file(digest.hex))

    def test_leaves_what_another_scope_has_put_since(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        digest = put(operator(folder), b"hunter2", "team/a")
        operator(folder).purge(digest, "a secret")
        put(operator(folder), b"hunter2", "team/b")
        for end in (by_gc, by_a_put):
            end(operator(folder))
            assert Store.open(folder, access=Access(("team/b",))).read(digest) == b"hunter2"
        with pytest.raises(ObjectPurged):
            Store.open(folder, access=Access(("team/a",))).read(digest)

    @pytest.mark.parametrize("end", [by_gc, by_a_put])
    def test_an_allowed_put_is_no_killed_purge(self, folder: Path, end: Callable[[Store], None]) -> None:
        digest = put(operator(folder), b"hunter2")
        operator(folder).purge(digest, "a secret")
        put(operator(folder), b"hunter2", allow_purged=True)
        end(operator(folder))
        assert operator(folder).read(digest) == b"hunter2"
        assert list(verify(operator(folder))) == []
