"""L10: on a full disk every command works or says what to do, and nothing that was stored is lost."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.durability.shell import Shell

_UNSHARE = ["unshare", "--user", "--map-root-user", "--mount"]


def why_not() -> str | None:
    """Why no disk can be mounted here; None if one can."""
    if shutil.which("unshare") is None:
        return "there is no unshare"
    tried = [*_UNSHARE, "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", "/tmp"]
    done = subprocess.run(tried, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stderr.strip() or "unshare failed"


class TestFullDisk:
    @pytest.mark.parametrize("options", ["size=256k", "size=1m,nr_inodes=20"])
    def test_nothing_is_lost_and_gc_works(self, ctx: Shell, tmp_path: Path, options: str) -> None:
        """256 kB, and 20 files and folders: small enough that each command meets the end of it."""
        if reason := why_not():
            pytest.skip(f"no disk can be mounted here: {reason}")
        folder, home = tmp_path / "disk", tmp_path / "home"
        folder.mkdir()
        home.mkdir()
        done = subprocess.run(
            [*_UNSHARE, sys.executable, "-m", "tests.durability.full_disk", options, str(folder), str(home)],
            cwd=Path(__file__).parents[2],
            env=ctx.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        assert not done.stdout, done.stdout
