"""The process as a shell sees it: closed pipes, interrupts, closed streams, start-up, completion, the map."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time

import pytest

from castore import __version__
from castore.cli.commands import COMMANDS
from castore.cli.help import WORDS
from tests.cli.conftest import DOCUMENT, Shell
from tests.cli.terminal import seen_on_terminal

FIRST_WORDS = list(dict.fromkeys(name.partition(" ")[0] for name in COMMANDS))


class TestMap:
    def test_alone_prints_every_command_in_groups(self, shell: Shell) -> None:
        done = shell()
        assert (done.code, done.err) == (0, "")
        for group in ("documents", "objects", "keeping", "sessions", "sharing", "store"):
            assert group in done.lines
        for name in COMMANDS:
            word = name.partition(" ")[0]
            shown = word if word in WORDS else name
            assert sum(line.startswith(f"  {shown} ") for line in done.lines) == 1
        assert len(done.lines) <= 52
        assert max(map(len, done.lines)) <= 110

    def test_help_adds_the_options(self, shell: Shell) -> None:
        done = shell("--help")
        assert done.code == 0
        assert done.lines[: len(shell().lines)] == shell().lines
        assert any("--install-completion" in line for line in done.lines)

    @pytest.mark.parametrize("name", COMMANDS)
    def test_each_command_explains_itself(self, shell: Shell, name: str) -> None:
        done = shell.afresh(*name.split(), "--help")
        assert (done.code, done.err) == (0, "")
        text = " ".join(done.out.decode().split())
        assert COMMANDS[name].summary in text
        assert f"Example: {COMMANDS[name].example}" in text
        assert "--json" in text

    def test_version(self, shell: Shell) -> None:
        assert shell.afresh("--version").out.decode() == f"ctx {__version__}\n"


class TestStartUp:
    """Nothing heavy is imported for nothing: each of these costs 5 to 100 ms."""

    HEAVY = (
        *("numpy", "pydantic", "rich", "filelock", "tomlkit", "platformdirs", "multiprocessing", "asyncio"),
        "obstore",
    )

    def imported(self, shell: Shell, *arguments: str) -> set[str]:
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "castore", *arguments],
            cwd=shell.folder,
            env=shell.environment,
            capture_output=True,
            check=True,
            timeout=60,
        )
        names = (line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines())
        return {name.partition(".")[0] for name in names if name.split(".")[0]}

    def test_version_needs_typer_alone(self, shell: Shell) -> None:
        found = self.imported(shell, "--version")
        assert not found & {*self.HEAVY, "sqlite3", "zstandard", "msgspec", "tomllib"}

    @pytest.mark.parametrize(
        "arguments", [["fold", "in.json", "-o", "out.json"], ["put", "in.json"], ["ls"]], ids=" ".join
    )
    def test_small_work_needs_nothing_heavy(self, ctx: Shell, arguments: list[str]) -> None:
        assert ctx("remote", "add", "origin", "s3://bucket").code == 0
        assert not self.imported(ctx, *arguments) & set(self.HEAVY)


class TestCompletion:
    def test_names_of_commands(self, shell: Shell) -> None:
        done = shell(_CTX_COMPLETE="complete_bash", COMP_WORDS="ctx un", COMP_CWORD="1")
        assert (done.code, done.lines) == (0, ["unfold"])

    def test_options_of_a_command(self, shell: Shell) -> None:
        done = shell(_CTX_COMPLETE="complete_bash", COMP_WORDS="ctx fold --by", COMP_CWORD="2")
        assert (done.code, done.lines) == (0, ["--bytes-over"])

    def test_help_goes_with_the_names(self, shell: Shell) -> None:
        done = shell(_CTX_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS="ctx ")
        assert done.code == 0
        for word, line in zip(FIRST_WORDS, done.lines, strict=True):
            assert f'"{word}":"' in line

    def test_second_words(self, shell: Shell) -> None:
        done = shell(_CTX_COMPLETE="complete_bash", COMP_WORDS="ctx scope ", COMP_CWORD="2")
        assert (done.code, done.lines) == (0, ["list", "create", "show"])
        done = shell(_CTX_COMPLETE="complete_bash", COMP_WORDS="ctx scope create --q", COMP_CWORD="3")
        assert (done.code, done.lines) == (0, ["--quota"])

    @pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
    def test_script_for_each_shell(self, shell: Shell, name: str) -> None:
        done = shell.afresh("--show-completion", name, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
        assert done.code == 0
        assert b"_CTX_COMPLETE=complete_" + name.encode() in done.out


class TestClosedPipe:
    @pytest.mark.parametrize("arguments", [["cat", "big"], ["ls"], ["ls", "--json"]], ids=" ".join)
    def test_is_141_without_a_word(self, ctx: Shell, arguments: list[str]) -> None:
        assert ctx("put", "--name", "big", stdin=os.urandom(1 << 20)).code == 0
        read, write = os.pipe()
        os.close(read)
        try:
            done = subprocess.run(
                ctx.command(*arguments),
                cwd=ctx.folder,
                env=ctx.environment,
                stdin=subprocess.DEVNULL,
                stdout=write,
                stderr=subprocess.PIPE,
                check=False,
                timeout=60,
            )
        finally:
            os.close(write)
        assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.usefixtures("interruptible")
class TestInterrupt:
    @pytest.mark.parametrize("arguments", [["fold"], ["put"], ["unfold"]], ids=" ".join)
    def test_is_130_and_leaves_nothing(self, ctx: Shell, arguments: list[str]) -> None:
        process = subprocess.Popen(
            ctx.command(*arguments, "-"),
            cwd=ctx.folder,
            env=ctx.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdin is not None
        process.stdin.write(DOCUMENT[:-1])
        process.stdin.flush()
        time.sleep(0.7)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        assert process.returncode == 130
        assert out == b""
        assert err == b"error: interrupted\n"
        assert not list((ctx.folder / ".ctxstore/objects").glob("*/*"))


class TestStreams:
    @pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
    def test_a_closed_one_is_no_traceback(self, ctx: Shell, closed: str) -> None:
        command = " ".join(ctx.command("fold"))
        done = subprocess.run(
            ["sh", "-c", f"{command} {closed}"],
            cwd=ctx.folder,
            env=ctx.environment,
            input=DOCUMENT,
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert b"Traceback" not in done.stderr
        assert done.returncode == (0 if closed == "2>&-" else 1)

    def test_stdin_that_is_a_terminal_is_not_waited_on(self, ctx: Shell) -> None:
        master, slave = pty.openpty()
        try:
            done = subprocess.run(
                ctx.command("fold"),
                cwd=ctx.folder,
                env=ctx.environment,
                stdin=slave,
                capture_output=True,
                check=False,
                timeout=30,
            )
        finally:
            os.close(master)
            os.close(slave)
        assert done.returncode == 2
        assert done.stderr.startswith(b"error: no input: stdin is a terminal\nhint: ")

    def test_a_current_folder_that_is_gone(self, ctx: Shell) -> None:
        gone = ctx.folder / "gone"
        gone.mkdir()
        command = " ".join(ctx.command("ls"))
        done = subprocess.run(
            ["sh", "-c", f"rmdir {gone} && {command}"],
            cwd=gone,
            env=ctx.environment,
            capture_output=True,
            check=False,
            timeout=30,
        )
        assert done.returncode == 10
        assert b"Traceback" not in done.stderr


class TestTerminal:
    """stderr and stdout on a pseudo-terminal: what a person sees."""

    def run(self, shell: Shell, *arguments: str, **environment: str) -> str:
        return seen_on_terminal(
            shell.command(*arguments),
            shell.folder,
            shell.environment | {"TERM": "xterm", "COLUMNS": "120"} | environment,
        )

    def test_tables_are_aligned_and_sizes_are_for_people(self, ctx: Shell) -> None:
        ctx("put", stdin=b"x" * 4096)
        (line,) = self.run(ctx, "ls").splitlines()
        digest, size, _ = line.split("  ", 2)
        assert len(digest) == 16
        assert size.strip() == "4.1 kB"

    def test_pipes_get_exact_integers_and_whole_digests(self, ctx: Shell) -> None:
        digest = ctx("put", stdin=b"x" * 4096).lines[0]
        (line,) = ctx("ls").lines
        assert line.split("\t")[:2] == [digest, "4096"]

    def test_colour_is_for_terminals_that_want_it(self, ctx: Shell) -> None:
        assert self.run(ctx, "cat", "absent").startswith("\x1b[1;31merror:\x1b[0m no object")
        assert self.run(ctx, "cat", "absent", NO_COLOR="1").startswith("error: no object")
        assert self.run(ctx, "cat", "absent", TERM="dumb").startswith("error: no object")
        assert "\x1b" not in ctx("cat", "absent").err

    def test_long_work_shows_that_it_goes_on(self, ctx: Shell) -> None:
        """Its input comes late; the bar is on stderr only, and gone at the end."""
        read, write = os.pipe()
        with (
            subprocess.Popen(["sh", "-c", "sleep 2.5; echo '[]'"], stdout=write),
            open(os.devnull, "wb") as null,
        ):
            os.close(write)
            seen = seen_on_terminal(
                ctx.command("fold"),
                ctx.folder,
                ctx.environment | {"TERM": "xterm", "COLUMNS": "100"},
                stdin=read,
                stdout=null.fileno(),
            )
        os.close(read)
        assert "folding" in seen
        assert "0:00:0" in seen

    def test_fold_sums_up_for_a_person_only(self, ctx: Shell) -> None:
        assert "folded 2 of 2 long values: " in self.run(ctx, "fold", "in.json", "-o", "out.json")
        assert ctx("fold", "in.json", "-o", "out.json").err == ""
        assert "folded 2 of 2 long values: " in ctx("fold", "in.json", "-o", "out.json", "--stats").err
