"""The hooks of .pre-commit-hooks.yaml, run by the real pre-commit program: in a repository, and in a clone.

The hooks' own `language: python` would build an environment from a package index; here it is overridden by
`system`, so that everything else of the hooks file is what users get, without a network.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import DOCUMENT, Shell

ROOT = Path(__file__).parents[2]
MARKER = b"[ctx 3f9ac01b77de5a10: tool result, 48213 bytes, 812 lines]"

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("pre_commit") is None, reason="pre-commit is not installed"),
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed"),
]

CONFIG = """\
repos:
  - repo: {hooks}
    rev: {revision}
    hooks:
      - id: ctx-verify
        language: system
      - id: ctx-verify-store
        language: system
"""

NO_MARKERS = """\
repos:
  - repo: {hooks}
    rev: {revision}
    hooks:
      - id: ctx-no-markers
        language: system
"""


class Repository:
    """A git repository whose pre-commit runs castore's hooks."""

    def __init__(self, shell: Shell, home: Path) -> None:
        self.shell = shell
        self.folder = shell.folder
        programs = home / "bin"
        programs.mkdir()
        ctx = programs / "ctx"
        ctx.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m castore "$@"\n')
        ctx.chmod(0o755)
        self.environment = shell.environment | {
            "PATH": f"{programs}:{shell.environment['PATH']}",
            "PRE_COMMIT_HOME": str(home / "pre-commit"),
            "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
            "GIT_CONFIG_SYSTEM": "/dev/null",
        }
        (home / "gitconfig").write_text(
            "[user]\n\tname = A\n\temail = a@example.org\n[init]\n\tdefaultBranch = main\n"
            '[protocol "file"]\n\tallow = always\n'
        )

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        return subprocess.run(
            ["git", *arguments],
            cwd=cwd or self.folder,
            env=self.environment,
            capture_output=True,
            check=True,
            text=True,
            timeout=60,
        ).stdout

    def precommit(self, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pre_commit", "run", "--all-files", "--color", "never", "--verbose"],
            cwd=cwd or self.folder,
            env=self.environment,
            capture_output=True,
            check=False,
            text=True,
            timeout=120,
        )

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "-qm", "x")


def set_up(shell: Shell, tmp_path: Path, config: str) -> Repository:
    """A git repository with the hooks that `config` names, from a repository of their own."""
    found = Repository(shell, tmp_path / "home")
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", hooks)
    found.git("init", "-q", cwd=hooks)
    found.git("add", "--all", cwd=hooks)
    found.git("commit", "-qm", "hooks", cwd=hooks)
    revision = found.git("rev-parse", "HEAD", cwd=hooks).strip()
    found.git("init", "-q")
    (found.folder / ".pre-commit-config.yaml").write_text(config.format(hooks=hooks, revision=revision))
    return found


@pytest.fixture
def repository(shell: Shell, tmp_path: Path) -> Repository:
    """A tracked store, a folded document, and a JSON file with comments that is none of ours."""
    found = set_up(shell, tmp_path, CONFIG)
    (found.folder / "tsconfig.json").write_text('{\n  // comments\n  "strict": true,\n}\n')
    assert shell("init", "--tracked").code == 0
    (found.folder / "folded.json").write_bytes(shell("fold", stdin=DOCUMENT).out)
    found.commit()
    return found


def an_object(folder: Path) -> Path:
    return next((folder / ".ctxstore/objects").glob("*/*"))


class TestHooks:
    def test_pass_when_every_reference_resolves(self, repository: Repository) -> None:
        done = repository.precommit()
        assert done.returncode == 0, done.stdout
        assert done.stdout.count("Passed") == 2

    def test_do_not_look_for_references_in_the_store(self, repository: Repository) -> None:
        """Root files are JSON, and what is in them is nobody's reference."""
        stray = repository.folder / ".ctxstore/roots/x.json"
        stray.write_text('{"$ctx": "not a reference"}')
        repository.commit()
        done = repository.precommit()
        assert "malformed" not in done.stdout
        assert "stray" in done.stdout

    def test_fail_when_an_object_is_missing(self, repository: Repository) -> None:
        an_object(repository.folder).unlink()
        repository.commit()
        done = repository.precommit()
        assert done.returncode != 0
        assert "missing sha256:" in done.stdout
        assert "folded.json:$." in done.stdout

    def test_fail_when_an_object_is_damaged(self, repository: Repository) -> None:
        path = an_object(repository.folder)
        path.chmod(0o600)
        path.write_bytes(path.read_bytes()[:-1])
        repository.commit()
        done = repository.precommit()
        assert done.returncode != 0
        assert done.stdout.count("Failed") == 2
        assert "damaged sha256:" in done.stdout


class TestNoMarkers:
    def test_fails_with_the_place_where_a_model_copied_one(self, shell: Shell, tmp_path: Path) -> None:
        found = set_up(shell, tmp_path, NO_MARKERS)
        assert shell("init", "--tracked").code == 0
        (found.folder / "notes.md").write_text("see `ctx cat 3f9ac01b77de5a10`\n")
        (found.folder / "shot.png").write_bytes(b"\x89PNG\0" + MARKER)
        (found.folder / ".ctxstore/tmp/x.txt").write_bytes(MARKER)
        found.git("add", "--force", ".ctxstore/tmp/x.txt")
        found.commit()
        done = found.precommit()
        assert done.returncode == 0, done.stdout
        (found.folder / "app.py").write_bytes(b"import os\n\nDATA = '" + MARKER + b"'\n")
        found.commit()
        done = found.precommit()
        assert done.returncode != 0
        assert "marker - app.py:3:9 a marker of a view: [ctx 3f9ac01b77de5a10: tool result" in done.stdout
        assert done.stdout.count("marker - ") == 1


class TestClone:
    def test_of_a_tracked_store_passes_without_an_index(self, repository: Repository, tmp_path: Path) -> None:
        clone = tmp_path / "clone"
        repository.git("clone", "-q", str(repository.folder), str(clone))
        assert not (clone / ".ctxstore/index.sqlite").exists()
        done = repository.precommit(clone)
        assert done.returncode == 0, done.stdout
        assert not (clone / ".ctxstore/index.sqlite").exists()
        assert repository.git("status", "--porcelain", cwd=clone) == ""

    def test_unfolds_and_folds(self, repository: Repository, tmp_path: Path) -> None:
        clone = tmp_path / "clone"
        repository.git("clone", "-q", str(repository.folder), str(clone))
        assert repository.shell("unfold", "folded.json", cwd=clone).out == DOCUMENT
        assert repository.shell("fold", stdin=DOCUMENT, cwd=clone).code == 0
        assert repository.shell("verify", cwd=clone).code == 0
