from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from castore.gc import verify
from tests.durability.shell import Shell

_IN_MEMORY = "/dev/shm"
"""Syncs cost nothing there, and are asked for all the same."""


@pytest.fixture(autouse=True)
def _verify_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks again, later, at what a writer may be in the middle of. Here nobody writes meanwhile."""
    monkeypatch.setattr(verify, "_LOOK_AGAIN_SECONDS", ())


@pytest.fixture
def fast_path(tmp_path: Path) -> Iterator[Path]:
    """A folder where syncing is cheap, if there is one: for tests that look at calls, not at disks."""
    if not os.access(_IN_MEMORY, os.W_OK):
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp(prefix="castore-test-", dir=_IN_MEMORY)).resolve()
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def ctx(fast_path: Path) -> Shell:
    """No store yet; the first write makes it."""
    folder, home = fast_path / "here", fast_path / "home"
    folder.mkdir()
    home.mkdir()
    return Shell(folder.resolve(), home)
