"""Programs that `ctx collapse stage` starts: they end when it does."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from castore.cli.ending import children_end
from tests.cli.conftest import Shell
from tests.transcript.sessions import pi_session

SIGNALS = {each.name: each for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT)}


@pytest.fixture
def staging(ctx: Shell) -> Shell:
    """A session beside the store."""
    (ctx.folder / "s.jsonl").write_bytes(pi_session(12))
    return ctx


def started(shell: Shell, pids: Path, *, before: str = "") -> subprocess.Popen[bytes]:
    """`ctx collapse stage`, when its summarizer and a child of that run; their ids are in `pids`."""
    waits = f"sleep 60 & echo $$ $! > {pids}.new; mv {pids}.new {pids}; wait"
    command = shell.command("collapse", "stage", "s.jsonl", "--summarizer", f"sh -c {shlex.quote(waits)}")
    process = subprocess.Popen(
        ["sh", "-c", f"{before} exec {shlex.join(command)}"],
        cwd=shell.folder,
        env=shell.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while not pids.exists() and process.poll() is None:
        time.sleep(0.01)
    return process


def are_gone(pids: Path) -> bool:
    for _ in range(200):
        if not any(is_alive(int(pid)) for pid in pids.read_text().split()):
            return True
        time.sleep(0.01)
    return False


def is_alive(pid: int) -> bool:
    """Whether it still runs; what is dead and not yet buried does not."""
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, check=False)
    return done.stdout.strip()[:1] not in (b"", b"Z")


class TestASummarizer:
    @pytest.mark.parametrize("name", SIGNALS)
    def test_ends_with_ctx(self, staging: Shell, name: str, tmp_path: Path) -> None:
        with started(staging, tmp_path / "pids") as process:
            process.send_signal(SIGNALS[name])
            out, err = process.communicate(timeout=30)
        told = b"error: interrupted\n" if name == "SIGINT" else b""
        code = 130 if name == "SIGINT" else -SIGNALS[name]
        assert (process.returncode, out, err) == (code, b"", told)
        assert are_gone(tmp_path / "pids")
        assert staging("collapse", "log", "s.jsonl").lines == []

    def test_goes_on_where_ctx_was_told_to_ignore_it(self, staging: Shell, tmp_path: Path) -> None:
        """As nohup has it."""
        with started(staging, tmp_path / "pids", before='trap "" HUP;') as process:
            process.send_signal(signal.SIGHUP)
            time.sleep(0.1)
            assert process.poll() is None
            process.terminate()
            process.communicate(timeout=30)
        assert are_gone(tmp_path / "pids")


class TestChildrenEnd:
    def test_leaves_signals_as_it_found_them(self) -> None:
        def mine(*_: object) -> None:
            raise AssertionError("it was sent to nobody")

        before = signal.signal(signal.SIGHUP, mine)
        try:
            with children_end():
                assert signal.getsignal(signal.SIGHUP) is mine
                assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
            assert signal.getsignal(signal.SIGHUP) is mine
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
            with pytest.raises(ZeroDivisionError), children_end():
                1 / 0  # noqa: B018
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        finally:
            signal.signal(signal.SIGHUP, before)

    def test_is_for_the_main_thread_and_no_hindrance_elsewhere(self) -> None:
        from threading import Thread

        done = []

        def work() -> None:
            with children_end():
                done.append(signal.getsignal(signal.SIGTERM))

        thread = Thread(target=work)
        thread.start()
        thread.join()
        assert done == [signal.getsignal(signal.SIGTERM)]

    def test_runs_what_is_to_be_done_though_the_signal_comes_twice(self, tmp_path: Path) -> None:
        code = (
            "import os, signal, sys\n"
            "from castore.cli.ending import children_end\n"
            "with children_end():\n"
            "    try:\n"
            "        os.kill(os.getpid(), signal.SIGTERM)\n"
            "    finally:\n"
            "        os.kill(os.getpid(), signal.SIGTERM)\n"
            "        os.kill(os.getpid(), signal.SIGHUP)\n"
            "        open(sys.argv[1], 'w').close()\n"
        )
        done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "done")], check=False)
        assert done.returncode == -signal.SIGTERM
        assert os.listdir(tmp_path) == ["done"]
