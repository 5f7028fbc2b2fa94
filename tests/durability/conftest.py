from __future__ import annotations

from pathlib import Path

import pytest

from castore.gc import verify
from tests.durability.shell import Shell


@pytest.fixture(autouse=True)
def _verify_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks again, later, at what a writer may be in the middle of. Here nobody writes meanwhile."""
    monkeypatch.setattr(verify, "_LOOK_AGAIN_SECONDS", ())


@pytest.fixture
def ctx(fast_path: Path) -> Shell:
    """No store yet; the first write makes it."""
    folder, home = fast_path / "here", fast_path / "home"
    folder.mkdir()
    home.mkdir()
    return Shell(folder.resolve(), home)
