"""L2: what a crash may have left unsynced is synced file by file, folder by folder, where syncfs is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from castore import api, durable
from castore.store import Store


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Paths that were synced, on a platform without syncfs."""
    found: set[str] = set()
    monkeypatch.setattr(durable.calls, "syncfs", lambda descriptor: False)
    monkeypatch.setattr(durable.calls, "fsync", lambda descriptor: found.add(path_of(descriptor)))
    return found


def path_of(descriptor: int) -> str:
    return os.readlink(f"/proc/self/fd/{descriptor}")


pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="open files can't be named here")


class TestWithoutSyncfs:
    def test_all_of_it_and_its_own_name(self, fast_path: Path, synced: set[str]) -> None:
        store = Store.init(fast_path / "store")
        api.put(store, b"some bytes")
        store.close()
        synced.clear()
        durable.sync_everything(store.folder)
        wanted = {str(fast_path), store.folder}
        for path, folders, files in os.walk(store.folder):
            wanted.update(f"{path}/{name}" for name in folders + files)
        assert synced == wanted

    def test_what_vanishes_meanwhile_is_no_error(self, fast_path: Path, synced: set[str]) -> None:
        store = Store.init(fast_path / "store")
        staged = fast_path / "store/tmp/staged"
        staged.write_text("gone before its turn")
        real = durable.calls.open

        def open_late(path: str, *values: int) -> int:
            staged.unlink(missing_ok=True)
            return real(path, *values)

        durable.calls.open = open_late  # type: ignore[method-assign, assignment]
        try:
            durable.sync_everything(store.folder)
        finally:
            del durable.calls.open
        assert not staged.exists()

    def test_no_link_is_followed_and_no_pipe_waited_for(self, fast_path: Path, synced: set[str]) -> None:
        store = Store.init(fast_path / "store")
        outside = fast_path / "outside"
        outside.write_text("not ours")
        os.symlink(outside, fast_path / "store/objects/link")
        os.mkfifo(fast_path / "store/objects/pipe")
        durable.sync_everything(store.folder)
        assert str(outside) not in synced
