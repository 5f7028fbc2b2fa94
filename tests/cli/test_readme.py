"""README.md works as printed: its commands' output, line for line, and the Python example."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Shell
from tests.cli.terminal import seen_on_terminal

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")

VARIES = re.compile(
    r"(?m)^(?:made the store|last read ) .*\n|, stored in [^(]*\([0-9.]+x\)"
    r"|(?<=origin': 2 objects), .*$"
)
"""Lines that differ between machines: a path, what another zstd makes of the same bytes, a day."""


def commands(begin: str, end: str) -> list[tuple[str, str]]:
    """Each command between these words, with its output."""
    text = README.partition(f"{begin}\n")[2].partition(end)[0]
    lines = [line.removeprefix("    ") for line in text.partition("    $ ")[2].rstrip().splitlines()]
    lines[0] = f"$ {lines[0]}"
    steps: list[tuple[str, str]] = []
    for line in lines:
        if line.startswith("$ "):
            steps.append((line[2:], ""))
        else:
            command, output = steps[-1]
            steps[-1] = command, f"{output}{line}\n"
    return steps


@pytest.fixture
def person(shell: Shell, tmp_path: Path) -> Shell:
    """A folder with the example in it, and `ctx` on the PATH."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "ctx").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m castore "$@"\n')
    (programs / "ctx").chmod(0o755)
    for name in ("incident.json", "session.jsonl", "returns.md", "short.md"):
        shutil.copy(ROOT / "docs/example" / name, shell.folder)
    shell.environment |= {
        "PATH": f"{programs}:{shell.environment['PATH']}",
        "COLUMNS": "120",
        "TERM": "xterm",
    }
    return shell


@pytest.mark.skipif(sys.platform != "linux", reason="the commands use the programs of Linux")
@pytest.mark.parametrize(
    ("begin", "end", "count"),
    [
        ("## A session", "And when", 9),
        ("## Reading back", "Ranges are", 7),
        ("## Sessions", "A model reads", 7),
        ("## A long session", "Here the summaries", 5),
        ("## Summaries", "The exit code", 2),
        ("## Share", "There `--store`", 8),
    ],
)
def test_commands(person: Shell, begin: str, end: str, count: int) -> None:
    if begin != "## A session":
        assert person("init").code == 0
    steps = commands(begin, end)
    assert len(steps) >= count
    for command, expected in steps:
        seen = seen_on_terminal(["sh", "-c", command], person.folder, person.environment)
        assert VARIES.sub("", seen).strip() == VARIES.sub("", expected).strip(), command


def test_python_example(person: Shell) -> None:
    example = README.partition("```python\n")[2].partition("```")[0]
    assert len(example.splitlines()) == 4
    subprocess.run(
        [sys.executable, "-c", example], cwd=person.folder, env=person.environment, check=True, timeout=60
    )
    assert (person.folder / ".ctxstore/objects").is_dir()


def test_exclude_of_the_hook_has_the_hooks_own_in_it() -> None:
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    own = re.findall(r"(?m)^  exclude: '(.+)'$", hooks.partition("- id: ctx-no-markers\n")[2])
    shown = re.findall(r"(?m)^ +exclude: '(.+)'$", README)
    assert [each.partition("|^")[0] for each in shown] == own
    (pattern,) = (re.compile(each) for each in shown)
    assert pattern.search(".ctxstore/roots/x.json")
    assert pattern.search("folded/a.json")
    assert not pattern.search("src/folded/a.json")


def test_links_lead_to_pages_that_are_there() -> None:
    links = re.findall(r"\]\(([^)]+)\)", README)
    assert {
        "docs/collapse.md",
        "docs/transcripts.md",
        "docs/formats.md",
        "docs/validity.md",
        "docs/security.md",
    } <= set(links)
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_first_command_folds_a_file_that_is_there() -> None:
    (path,) = re.findall(r"\.venv/bin/ctx fold (\S+)", README)
    assert (ROOT / path).is_file()
