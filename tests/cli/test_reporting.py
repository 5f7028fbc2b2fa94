"""`ctx report`: one page, whole or not at all, and nothing besides."""

from __future__ import annotations

import json
import subprocess

import pytest

from castore.cli.reporting import FILES_MAX
from tests.access.sessions import pi_session
from tests.cli.conftest import Shell
from tests.cli.terminal import seen_on_terminal


@pytest.fixture
def told(shell: Shell) -> Shell:
    (shell.folder / "session.jsonl").write_bytes(pi_session("apples"))
    (shell.folder / "rows.json").write_text(json.dumps([{"id": each} for each in range(300)]))
    return shell


class TestThePage:
    def test_of_files(self, told: Shell) -> None:
        done = told("report", "session.jsonl", "rows.json", "-o", "report.html")
        assert (done.code, done.out, done.err) == (0, b"", "")
        page = (told.folder / "report.html").read_text(encoding="utf-8")
        assert page.startswith("<!doctype html>")
        assert "session.jsonl" in page
        assert "rows.json" in page

    def test_on_stdout_and_from_stdin_it_is_the_same_but_for_the_name(self, told: Shell) -> None:
        named = told("report", "session.jsonl").out
        piped = told("report", stdin=pi_session("apples")).out
        assert piped.replace(b"stdin", b"session.jsonl") == named
        assert told("report", "session.jsonl").out == named

    def test_nothing_is_stored(self, told: Shell) -> None:
        before = sorted(told.folder.iterdir())
        assert told("report", "session.jsonl", "-o", "report.html").code == 0
        assert sorted(told.folder.iterdir()) == sorted([*before, told.folder / "report.html"])

    def test_the_view_is_the_one_that_is_asked_for(self, told: Shell) -> None:
        page = told("report", "--strategy", "transparent, clip", "session.jsonl").out
        assert b"What leaves with <code>transparent,clip</code>" in page

    def test_references_are_looked_for_in_the_store_there_is(self, ctx: Shell) -> None:
        assert ctx("fold", "in.json", "-o", "out.json").code == 0
        assert b"not looked for" not in ctx("report", "out.json").out
        assert b"not looked for" in ctx("report", "out.json", "--store", "nowhere").out


class TestNoPage:
    @pytest.mark.parametrize("bad", ["nothing.jsonl", "bad.json", "."])
    def test_where_one_of_them_cannot_be_read(self, told: Shell, bad: str) -> None:
        (told.folder / "bad.json").write_bytes(b'{"a": ')
        (told.folder / "report.html").write_bytes(b"the last one")
        done = told("report", "session.jsonl", bad, "-o", "report.html")
        assert done.code in (1, 18)
        assert bad in done.err
        assert "Traceback" not in done.err
        assert (told.folder / "report.html").read_bytes() == b"the last one"

    def test_of_too_many(self, told: Shell) -> None:
        done = told("report", *["session.jsonl"] * (FILES_MAX + 1))
        assert (done.code, done.out) == (2, b"")
        assert "make several pages" in done.err

    @pytest.mark.parametrize("strategy", ["cap", "collapse", "nonsense"])
    def test_of_strategies_that_need_more_said(self, told: Shell, strategy: str) -> None:
        assert told("report", "session.jsonl", "--strategy", strategy).code == 2

    def test_on_a_terminal(self, told: Shell) -> None:
        command = told.command("report", "session.jsonl")
        seen = seen_on_terminal(command, told.folder, told.environment)
        assert "stdout is a terminal" in seen
        assert "say -o report.html" in seen
        assert "<html" not in seen

    @pytest.mark.parametrize("options", [[], ["--json"]])
    def test_where_the_library_is_not_installed(self, told: Shell, options: list[str]) -> None:
        hidden = told.folder / "hidden"
        hidden.mkdir()
        for name in ("jinja2", "markupsafe"):
            (hidden / f"{name}.py").write_text(f"raise ModuleNotFoundError('{name}')")
        command = told.command("report", "session.jsonl", "-o", "report.html", *options)
        environment = told.environment | {"PYTHONPATH": str(hidden)}
        done = subprocess.run(command, cwd=told.folder, env=environment, capture_output=True, check=False)
        assert (done.returncode, done.stdout) == (1, b"")
        assert b"needs the package 'jinja2'" in done.stderr
        assert b"pip install jinja2" in done.stderr
        assert b"Traceback" not in done.stderr
        if options:
            assert json.loads(done.stderr)["hint"] == "pip install jinja2"
        assert not (told.folder / "report.html").exists()

    def test_of_a_session_of_another_format(self, told: Shell) -> None:
        assert told("report", "session.jsonl", "--format", "codex").code == 18
