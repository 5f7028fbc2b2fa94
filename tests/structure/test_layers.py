"""The layers of docs/architecture.md: the contract in pyproject.toml, run by import-linter."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_layers_import_one_way() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    if not program.exists() and shutil.which("lint-imports") is None:
        pytest.skip("import-linter is not installed")
    command = str(program) if program.exists() else "lint-imports"
    done = subprocess.run(
        [command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_names_a_machine() -> None:
    """No committed file holds the paths of the machine it was written on."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a git checkout")
    home = "/" + "work" + "/"
    found = subprocess.run(
        ["git", "grep", "-lI", "-e", home], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert found.stdout == ""
