"""docs/repair.md works as printed: a store that lost roots and index, and the recipe, line for line."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Shell

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/repair.md").read_text(encoding="utf-8")


def steps() -> list[tuple[str, str]]:
    """Each command of the recipe with all that it prints. Repair from a remote is another one, of a store
    that has one (tests/remote/test_mending.py)."""
    found: list[tuple[str, str]] = []
    for line in re.findall(r"(?m)^    (.*)$", PAGE.partition("## Handing back")[2]):
        if line.startswith("$ "):
            found.append((line[2:], ""))
        else:
            command, printed = found[-1]
            found[-1] = command, f"{printed}{line}\n"
    return found


@pytest.fixture
def lost(shell: Shell, tmp_path: Path) -> Shell:
    """team/a has a folded document and an object, and nothing says so any more. `ctx` is on the PATH."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "ctx").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m castore "$@"\n')
    (programs / "ctx").chmod(0o755)
    shell.environment["PATH"] = f"{programs}:{shell.environment['PATH']}"
    shutil.copy(ROOT / "docs/example/incident.json", shell.folder)
    assert shell("init").code == 0
    assert shell("fold", "incident.json", "-o", "folded.json", CTX_SCOPE="team/a").code == 0
    assert shell("put", "incident.json", CTX_SCOPE="team/a").code == 0
    store = shell.folder / ".ctxstore"
    shutil.rmtree(store / "roots")
    for path in store.glob("index.sqlite*"):
        path.unlink()
    return shell


def run(shell: Shell, command: str) -> str:
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=shell.folder,
        env=shell.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=True,
        timeout=60,
    )
    return done.stdout.decode()


def test_recipe(lost: Shell) -> None:
    assert lost("unfold", "folded.json", CTX_SCOPE="team/a").code == 12
    assert len(steps()) == 6
    for command, printed in steps():
        # The day on which the grace is over varies.
        said = re.sub(r" \(.* after \d{4}-\d\d-\d\d\)", "", run(lost, command))
        notes = [line for line in said.splitlines() if line.startswith("note: what no root named")]
        assert "".join(f"{line}\n" for line in said.splitlines() if line not in notes) == printed, command
    assert lost("verify", CTX_SCOPE="*").code == 0
    assert lost("cat", "2a846b", CTX_SCOPE="team/a").out == (lost.folder / "incident.json").read_bytes()


def test_repair_says_how_to_hand_back_where_there_are_scopes(lost: Shell) -> None:
    """And only there: the owner of a store of one scope sees what was recovered."""
    assert "'ctx keep FILE --scope SCOPE'" in lost("repair", CTX_SCOPE="*").err


def test_the_owner_of_one_scope_has_it_at_once(ctx: Shell) -> None:
    assert ctx("fold", "in.json", "-o", "folded.json").code == 0
    store = ctx.folder / ".ctxstore"
    shutil.rmtree(store / "roots")
    for path in store.glob("index.sqlite*"):
        path.unlink()
    done = ctx("repair")
    assert (done.code, "ctx keep" in done.err) == (0, False)
    assert ctx("unfold", "folded.json").out == (ctx.folder / "in.json").read_bytes()
