"""The file `scopes`: damage neither shows a caller more, nor takes from the owner of a store of one scope."""

from __future__ import annotations

from pathlib import Path

import pytest

from castore.errors import ObjectMissing
from castore.gc.sweep import sweep
from castore.roots.model import RootDraft, RootKind
from castore.store import Access, Store
from castore.store.keeping import RootChoice


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    Store.init(tmp_path / ".ctxstore").close()
    return tmp_path / ".ctxstore"


def put(folder: Path, data: bytes, scope: str | None = None) -> object:
    store = Store.open(folder, access=Access(("*",)))
    with store.batch() as batch:
        digest = batch.stage(data).digest
        batch.commit(RootDraft(RootKind.PUT, (digest,), scope=scope))
    store.close()
    return digest


def ruin(folder: Path, *, roots: bool) -> None:
    for file in folder.glob("index.sqlite*"):
        file.unlink()
    for root in folder.glob("roots/*/*.json"):
        root.chmod(0o600)
        if roots:
            root.write_bytes(b"")


class TestMark:
    def test_is_there_with_the_first_root_of_another_scope(self, folder: Path) -> None:
        put(folder, b"ours")
        assert not (folder / "scopes").exists()
        put(folder, b"theirs", "team/a")
        assert (folder / "scopes").exists()

    def test_damage_makes_nobody_the_operator(self, folder: Path) -> None:
        digest = put(folder, b"theirs", "team/a")
        ruin(folder, roots=True)
        store = Store.open(folder)
        assert not store.granted.is_operator
        with pytest.raises(ObjectMissing):
            store.read(digest)  # type: ignore[arg-type]

    def test_damage_takes_nothing_from_the_owner_of_one_scope(self, folder: Path) -> None:
        digest = put(folder, b"ours")
        ruin(folder, roots=True)
        store = Store.open(folder)
        assert store.granted.is_operator
        assert store.read(digest) == b"ours"  # type: ignore[arg-type]

    def test_comes_with_roots_that_came_by_other_hands(self, folder: Path) -> None:
        put(folder, b"theirs", "team/a")
        ruin(folder, roots=False)
        (folder / "scopes").unlink()
        assert not Store.open(folder).granted.is_operator
        put(folder, b"ours")
        assert (folder / "scopes").exists()

    def test_goes_once_the_last_root_of_other_scopes_is_collected(self, folder: Path) -> None:
        put(folder, b"theirs", "team/a")
        operator = Store.open(folder, access=Access(("*",)))
        operator.forget(RootChoice(older_than_seconds=-1, scope="team/a"), at_once=True)
        sweep(operator)
        assert not (folder / "scopes").exists()
        assert list(operator.digests()) == []
        assert Store.open(folder).granted.is_operator
