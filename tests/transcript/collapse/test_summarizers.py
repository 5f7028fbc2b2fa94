"""Summarizers: a summary that may be stored, or an error that says why; and nothing is left running."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from castore.config import SUMMARY_BYTES_MAX
from castore.errors import InvalidOption, SummarizerFailed
from castore.transcript.collapse.command import Command
from castore.transcript.collapse.extract import Extract
from castore.transcript.collapse.summarizer import (
    GivenText,
    Summarizer,
    checked_summary,
    summary_of,
    without_controls,
)

ANYTHING = st.text(alphabet=st.characters(codec=None) | st.sampled_from("\x1b[]m\n\r\t \x00\x9b\ud800\u200b"))


class Own:
    """A summarizer of somebody else's."""

    name = "own"
    version = 3
    strategy = "own@3"

    def __init__(self, gives: str) -> None:
        self.gives = gives

    def summarize(self, text: str) -> str:
        return self.gives


class TestEverySummary:
    @pytest.mark.parametrize(
        "blank", ["", " \n\t", "\u200b\u2028 \ufeff", "\x00\x07", "\x1b[31m\x1b[0m", "\ud800"]
    )
    def test_says_something(self, blank: str) -> None:
        with pytest.raises(SummarizerFailed, match="'own@3' gave nothing that can be read"):
            summary_of(Own(blank), "text")
        with pytest.raises(InvalidOption, match="the summary has nothing that can be read"):
            GivenText(blank)

    def test_is_no_longer_than_its_limit_in_utf_8(self) -> None:
        for most in ("x" * SUMMARY_BYTES_MAX, "é" * (SUMMARY_BYTES_MAX // 2)):
            assert summary_of(Own(most), "") == most
            assert summary_of(GivenText(most), "") == most
            with pytest.raises(SummarizerFailed, match="over 262,144 bytes"):
                summary_of(Own(most + "x"), "")
            with pytest.raises(InvalidOption, match="over 262,144 bytes"):
                GivenText(most + "x")

    def test_steers_no_terminal_and_is_utf_8(self) -> None:
        given = (
            "\x1b]0;title\x07\x1b[1;31mred\x1b[0m\r\nbell\x07 \x9b2Jnul\x00 half\ud800\rend\ttab \x1b(B\n\n"
        )
        assert checked_summary(given, by="x") == "red\nbell\ufffd nul\ufffd half\ufffd\nend\ttab"

    @given(ANYTHING)
    def test_stays_as_it_is_once_it_was_checked(self, text: str) -> None:
        try:
            summary = checked_summary(text, by="x")
        except SummarizerFailed:
            return
        assert checked_summary(summary, by="x") == summary
        assert summary.encode().decode() == summary == summary.strip()
        assert not any(each < " " and each not in "\n\t" for each in summary)

    def test_is_cleaned_in_time_linear_in_it(self) -> None:
        for piece in ("\x1b", "\x1b[", "\x1b]", "\x1b]x", "\x1b[0", "\x9b;", "\x1b  "):
            assert without_controls(piece * 100_000 + "\nend").endswith("end")

    @pytest.mark.parametrize("summarizer", [GivenText("x"), Command("cat"), Extract(), Own("x")])
    def test_is_of_a_maker_that_can_be_told(self, summarizer: Summarizer) -> None:
        assert summarizer.strategy.startswith(f"{summarizer.name}@{summarizer.version}")
        assert 0 < len(summarizer.strategy) <= 300
        assert summary_of(summarizer, "x") == "x"


PYTHON = shlex.quote(sys.executable)


def python(code: str) -> str:
    return f"{PYTHON} -c {shlex.quote(code)}"


def sh(code: str) -> str:
    return f"sh -c {shlex.quote(code)}"


def failure(
    line: str, *, text: str = "x", seconds: float = 60, output_bytes_max: int = 1000
) -> SummarizerFailed:
    with pytest.raises(SummarizerFailed) as caught:
        Command(line, seconds=seconds, output_bytes_max=output_bytes_max).summarize(text)
    return caught.value


def is_alive(pid: int) -> bool:
    """Whether it still runs; what is dead and not yet buried does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False


def ends(pid: int) -> bool:
    for _ in range(100):
        if not is_alive(pid):
            return True
        time.sleep(0.01)
    return False


class TestCommand:
    def test_gets_the_text_and_gives_the_summary(self) -> None:
        text = "Grüße 🙂\n" * 100_000
        assert Command("wc -c").summarize(text).split() == [str(len(text.encode()))]
        assert Command("cat").summarize("a\ud800b\n") == "a\ufffdb"

    def test_is_split_as_by_a_shell_but_none_runs_it(self, tmp_path: Path) -> None:
        made = tmp_path / "made"
        assert Command(f"printf '%s|' a 'b c' '$(touch {made})' ';' '>' {made}").summarize("x") == (
            f"a|b c|$(touch {made})|;|>|{made}|"
        )
        assert not made.exists()

    def test_need_not_read_all_of_it(self) -> None:
        assert Command("head -c 3").summarize("abc" * 2_000_000) == "abc"
        assert Command("echo done").summarize("x" * 2_000_000) == "done"

    def test_has_the_environment_and_folder_of_this_process(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SUMMARY_OF_A_TEST", "from here")
        assert Command(sh('echo "$SUMMARY_OF_A_TEST $PWD"')).summarize("x") == f"from here {os.getcwd()}"

    @pytest.mark.parametrize(
        ("line", "happened"),
        [
            ("false", "'false' ended with code 1"),
            (sh("exit 7"), "'sh' ended with code 7"),
            (sh("echo half; kill -9 $$"), "'sh' was killed by signal 9"),
            ("true", "'true' gave no summary"),
            ("echo", "'echo' gave no summary"),
            ("printf 'ok\\377'", r"'printf' gave what is not UTF-8 \(byte 2\)"),
            ("no-such-program-here", "'no-such-program-here' is not there"),
            ("/dev/null", "'null' can't be run: Permission denied"),
        ],
    )
    def test_that_fails_says_what_happened(self, line: str, happened: str) -> None:
        error = failure(line)
        assert error.exit_code == 1
        with pytest.raises(SummarizerFailed, match=happened):
            raise error

    def test_that_fails_shows_its_last_words_harmless_and_short(self) -> None:
        error = failure(sh("echo lost >&2; seq 5000 >&2; printf '\\033[31mno \\007key\\n' >&2; exit 3"))
        assert error.message.startswith("the summarizer 'sh' ended with code 3: …")
        assert error.message.endswith("4999 5000 no \ufffdkey")
        assert len(error.message) < 300
        assert error.fields["exit_code"] == 3

    @pytest.mark.parametrize(
        "line", ["head -c 5 '|' tr a b", "cat nowhere > there", "false ; true", "cat $X"]
    )
    def test_that_is_written_for_a_shell_is_told_that_there_is_none(self, line: str) -> None:
        assert "sh -c" in str(failure(line).hint)
        assert failure(sh("exit 3;")).hint is None
        assert failure("cat nowhere").hint is None

    def test_that_takes_too_long_is_killed(self) -> None:
        error = failure(sh("echo thinking >&2; sleep 60"), seconds=0.3)
        assert error.message == "the summarizer 'sh' took over 0.3 seconds: thinking"

    @pytest.mark.parametrize("closes", ["exec >&-", "exec >&- 2>&-", "exec <&-", "true"])
    def test_that_closes_its_pipes_is_not_taken_for_one_that_ended(self, closes: str) -> None:
        assert "took over" in failure(sh(f"{closes}; sleep 60"), seconds=0.1).message

    def test_that_writes_for_ever_is_killed(self) -> None:
        assert failure("yes").message == "the summarizer 'yes' gave over 1,000 bytes"
        assert "took over" in failure(sh("yes >&2"), seconds=0.2).message

    def test_that_leaves_children_with_its_pipes_does_not_hang(self) -> None:
        assert Command(sh("sleep 60 & echo done")).summarize("x") == "done"
        assert Command(sh("setsid sleep 1 & echo done")).summarize("x") == "done"

    def test_ends_with_all_that_it_started(self) -> None:
        started = Command(sh("sleep 60 & echo $!")).summarize("x")
        assert ends(int(started))
        error = failure(sh("sleep 60 & echo $$ $! >&2; wait"), seconds=0.3)
        assert all(ends(int(pid)) for pid in error.message.rpartition(": ")[2].split())

    def test_ends_with_an_interrupt(self, tmp_path: Path) -> None:
        """As by Ctrl-C, which goes to this process alone: the program has no terminal."""
        pids = tmp_path / "pids"
        waits = sh(f"sleep 60 & echo $$ $! > {pids}.new; mv {pids}.new {pids}; wait")
        code = (
            "import signal, sys\n"
            "from castore.transcript.collapse.command import Command\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
            "try:\n    Command(sys.argv[1]).summarize('x')\n"
            "except KeyboardInterrupt:\n    sys.exit(130)"
        )
        with subprocess.Popen([sys.executable, "-c", code, waits]) as caller:
            while not pids.exists() and caller.poll() is None:
                time.sleep(0.01)
            caller.send_signal(signal.SIGINT)
            assert caller.wait() == 130
        assert all(ends(int(pid)) for pid in pids.read_text().split())

    def test_ends_with_an_interrupt_that_came_while_it_was_started(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        start = subprocess.Popen._execute_child  # type: ignore[attr-defined]
        pids = []

        def interrupted(self: Any, *arguments: Any) -> None:
            start(self, *arguments)
            pids.append(self.pid)
            raise KeyboardInterrupt

        monkeypatch.setattr(subprocess.Popen, "_execute_child", interrupted)
        before = sorted(os.listdir("/dev/fd"))
        with pytest.raises(KeyboardInterrupt):
            Command("sleep 60").summarize("x")
        assert ends(pids[0])
        assert sorted(os.listdir("/dev/fd")) == before

    def test_whose_end_nobody_can_tell_has_failed(self) -> None:
        """Where another reaps this process's children the code is lost, and half a summary could pass."""
        code = (
            "import signal, sys\n"
            "from castore.transcript.collapse.command import Command\n"
            "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
            "Command(sys.argv[1]).summarize('x')"
        )
        line = sh("echo half; exit 1")
        done = subprocess.run([sys.executable, "-c", code, line], capture_output=True, text=True, check=False)
        assert "'sh' ended, and how is not known" in done.stderr.splitlines()[-1]

    def test_holds_memory_for_the_limits_alone(self) -> None:
        """Of a program that writes gigabytes to stderr no more is held than what is shown."""
        code = (
            "import resource, sys\n"
            "from castore.transcript.collapse.command import Command\n"
            "resource.setrlimit(resource.RLIMIT_DATA, (200 << 20, 200 << 20))\n"
            "print(Command(sys.argv[1]).summarize('x'))"
        )
        flood = sh("head -c 600000000 /dev/zero >&2; echo done")
        done = subprocess.run(
            [sys.executable, "-c", code, flood], capture_output=True, text=True, check=False
        )
        assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr

    def test_leaves_no_pipe_open(self) -> None:
        before = set(os.listdir("/proc/self/fd"))
        for line in ("cat", "no-such-program-here", "false"):
            try:
                Command(line).summarize("x")
            except SummarizerFailed:
                continue
        assert set(os.listdir("/proc/self/fd")) == before

    def test_is_told_by_its_program_and_line_but_not_by_its_secrets(self) -> None:
        one, two = Command("/opt/some where/llm --key hunter2"), Command("llm -m other")
        assert one.strategy.startswith("command@1 some ")
        assert two.strategy.split()[:2] == ["command@1", "llm"]
        assert "hunter2" not in one.strategy
        assert one.strategy != Command("/opt/some where/llm --key hunter3").strategy
        assert len(Command("x" * 5000).strategy) < 100

    @pytest.mark.parametrize("line", ["", "  ", "'open", "''", "a\0b", "a \ud800"])
    def test_line_that_names_no_program_is_refused(self, line: str) -> None:
        with pytest.raises(InvalidOption):
            Command(line)

    @pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
    def test_limits_are_limits(self, seconds: float) -> None:
        with pytest.raises(InvalidOption):
            Command("cat", seconds=seconds)
        with pytest.raises(InvalidOption):
            Command("cat", output_bytes_max=SUMMARY_BYTES_MAX + 1)


TURNS = """\
## context
<environment>here</environment>
## user
Make the parser faster.
It takes 3 s.
## assistant
I measure first.
call bash {"command":"python -m pytest\\n-q"}
call read {"path":"src/parser.py"}
## result of bash (error, exit code 2)
collecting
[100 of 4100 characters left out]
ERROR: no module named 'numpy'
2 errors
## result of read
def parse(): ...
## user
<local-command-stdout>ok</local-command-stdout>
## user
Use no new module.
## assistant
call edit {"path":"src/parser.py","edits":[]}
call apply_patch "*** Begin Patch\\n*** Update File: src/lexer.py\\n"
call Bash {"command":["make","test"]}
## result of edit
done
## assistant
It takes 0.2 s now.
\\## user
was a line of mine.
"""


class TestExtract:
    def test_tells_what_one_needs_who_goes_on(self) -> None:
        assert Extract().summarize(TURNS) == (
            "Asked:\n"
            "- Make the parser faster.\n"
            "  It takes 3 s.\n"
            "- Use no new module.\n"
            "Said last:\n"
            "It takes 0.2 s now.\n"
            "## user\n"
            "was a line of mine.\n"
            "Wrote:\n"
            "- src/parser.py\n"
            "- src/lexer.py\n"
            "Ran:\n"
            "- python -m pytest …\n"
            "- make test\n"
            "Failed:\n"
            "- bash: ERROR: no module named 'numpy'\n"
            "2 prompts, 5 calls (bash 1, read 1, edit 1, apply_patch 1, and 1 other), 1 failed"
        )

    def test_tells_the_summary_that_stands_in_the_turns(self) -> None:
        assert Extract().summarize("## summary\nThe parser was made.\n## user\nGo on.\n") == (
            "Summary of what was before:\nThe parser was made.\nAsked:\n- Go on.\n1 prompt"
        )

    def test_of_any_other_text_quotes_how_it_begins_and_ends(self) -> None:
        assert Extract().summarize("some notes") == "some notes"
        long = "begins " + "x" * 100_000 + " ends"
        summary = Extract(400).summarize(long)
        assert len(summary) <= 400
        assert "begins" in summary
        assert summary.endswith("ends")

    @pytest.mark.parametrize(
        "text", ["## result of ls\n", "## user\n", "call x {}", "## result of ls (error)\n", "## summary\n\n"]
    )
    def test_is_never_empty(self, text: str) -> None:
        assert Extract().summarize(text)

    def test_of_nothing_is_an_error(self) -> None:
        with pytest.raises(SummarizerFailed):
            Extract().summarize(" \n")

    def test_keeps_the_first_prompt_and_the_latest_of_all_else(self) -> None:
        turns = [
            f"## user\nprompt {turn} {'p' * 50}\n"
            f'## assistant\nsaid {turn}\ncall bash {{"command":"run {turn}"}}\n'
            f'call write {{"path":"file-{turn}"}}\n## result of bash (error)\nerror {turn}\n'
            for turn in range(300)
        ]
        summary = Extract(1500).summarize("".join(turns))
        for latest in (
            "prompt 0 ",
            "prompt 299 ",
            "prompt 298 ",
            "said 299",
            "- run 299",
            "- file-299",
            "bash: error 299",
        ):
            assert latest in summary
        assert "prompt 1 " not in summary
        assert "… 2" in summary
        assert "300 prompts, 600 calls (bash 300, write 300), 300 failed" in summary
        assert 1000 < len(summary) <= 1500

    def test_a_long_prompt_and_a_long_reply_share_the_room(self) -> None:
        summary = Extract(1000).summarize(f"## user\n{'p' * 5000}\n## assistant\n{'a' * 5000}\n")
        assert len(summary) <= 1000
        assert summary.count("p") > 350
        assert summary.count("a") > 350

    @given(
        st.lists(
            st.sampled_from(
                [*TURNS.splitlines(), "", "x" * 300, "## user", "## assistant", "## summary", "é" * 90]
            ),
            max_size=40,
        ),
        st.integers(400, 1200),
    )
    def test_is_bounded_and_the_same_each_time(self, lines: list[str], characters_max: int) -> None:
        text = "\n".join(lines)
        if not text.strip():
            return
        summary = Extract(characters_max).summarize(text)
        assert 0 < len(summary) <= characters_max
        assert Extract(characters_max).summarize(text) == summary == checked_summary(summary, by="x")

    @given(ANYTHING)
    def test_takes_any_text(self, text: str) -> None:
        try:
            assert len(Extract().summarize(text)) <= 2000
        except SummarizerFailed:
            with pytest.raises(SummarizerFailed):
                checked_summary(text, by="x")

    def test_steers_no_terminal(self) -> None:
        assert Extract().summarize("## user\n\x1b[2Jgo\x07\n") == "Asked:\n- go\ufffd\n1 prompt"

    def test_takes_time_linear_in_the_text(self) -> None:
        for piece in (
            "## user\n<a></a> ",
            '## assistant\ncall bash {"command":"x"}\n',
            "\n",
            "## result of x (error)\ny\n",
            "<a </a>",
        ):
            assert Extract().summarize(piece * (300_000 // len(piece)) + "x")

    @pytest.mark.parametrize("characters_max", [0, 399, SUMMARY_BYTES_MAX])
    def test_limit_is_one(self, characters_max: int) -> None:
        with pytest.raises(InvalidOption):
            Extract(characters_max)
