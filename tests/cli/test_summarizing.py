"""Programs that `ctx collapse stage` starts: they end when it does, and none runs for nothing."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from castore.cli.ending import children_end
from tests.cli.conftest import Done, Shell
from tests.transcript.sessions import pi_session

SIGNALS = {each.name: each for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT)}


@pytest.fixture
def staging(ctx: Shell) -> Shell:
    """A session beside the store."""
    (ctx.folder / "s.jsonl").write_bytes(pi_session(12))
    return ctx


def _with_all_signals() -> None:
    """Whoever runs the tests in the background, or with nohup, has some of them ignored."""
    for each in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(each, signal.SIG_DFL)


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
        preexec_fn=_with_all_signals,
    )
    while not pids.exists() and process.poll() is None:
        time.sleep(0.01)
    assert process.returncode is None, process.communicate()
    return process


def are_gone(pids: Path) -> bool:
    for _ in range(200):
        if not any(is_alive(int(pid)) for pid in pids.read_text().split()):
            return True
        time.sleep(0.01)
    return False


def is_alive(pid: int) -> bool:
    """Whether it still runs; what is dead and not yet buried does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False


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


class TestAStoreThatCannotBeWritten:
    """It is found before the summarizer runs, which may cost money. One that is read-only:
    tests/durability/test_read_only.py."""

    def refused(self, shell: Shell, code: int, *arguments: str, **environment: str) -> Done:
        done = shell("collapse", "stage", "s.jsonl", "--summarizer", "touch ran", *arguments, **environment)
        assert (done.code, done.out) == (code, b""), done
        assert not (shell.folder / "ran").exists()
        return done

    @pytest.mark.parametrize("span", [[], ["--repeat"], ["--turns", "0:4"]], ids=" ".join)
    def test_where_a_folder_is_none(self, staging: Shell, span: list[str]) -> None:
        tmp = staging.folder / ".ctxstore/tmp"
        if tmp.is_dir():
            tmp.rmdir()
        tmp.touch()
        assert "tmp'" in self.refused(staging, 1, *span).err

    def test_where_what_is_kept_is_not_known(self, staging: Shell) -> None:
        assert staging("put", "in.json").code == 0
        shutil.rmtree(staging.folder / ".ctxstore/roots")
        self.refused(staging, 13)

    def test_where_the_scope_is_not_granted(self, staging: Shell) -> None:
        self.refused(staging, 14, "--scope", "b", CTX_SCOPE="a")

    def test_where_none_can_be_made(self, staging: Shell) -> None:
        (staging.folder / "file").touch()
        assert "file'" in self.refused(staging, 1, "--store", "file/below/.ctxstore").err

    def test_where_none_is_and_none_may_be_made(self, staging: Shell) -> None:
        shutil.rmtree(staging.folder / ".ctxstore")
        (staging.folder / ".ctxstore").mkdir()
        self.refused(staging, 10)

    def test_is_no_hindrance_where_nothing_is_started(self, staging: Shell) -> None:
        tmp = staging.folder / ".ctxstore/tmp"
        if tmp.is_dir():
            tmp.rmdir()
        tmp.touch()
        done = staging("collapse", "stage", "s.jsonl", "--summarizer", "touch ran", "--dry-run")
        assert done.code == 0
        (staging.folder / "s.jsonl").write_bytes(pi_session(1))
        assert staging("collapse", "stage", "s.jsonl", "--summarizer", "touch ran").code == 0


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
