from __future__ import annotations

from pathlib import Path

import pytest

from tests.durability.shell import Shell


@pytest.fixture
def ctx(tmp_path: Path) -> Shell:
    """No store yet; the first write makes it."""
    folder, home = tmp_path / "here", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    return Shell(folder.resolve(), home)
