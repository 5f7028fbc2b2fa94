"""Each place of a collapse log is held to the laws of them all, by one process and by several."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from castore.store import StoreHandle
from castore.transcript.collapse.model import Commit, LogRecord, Reset, Rewind, Snapshot
from castore.transcript.collapse.persistence import CollapseLog, LogState
from castore.transcript.collapse.store_log import StoreLog
from castore.transcript.collapse.transcript_file import TranscriptFile
from tests.transcript.collapse.conformance import SESSION, LogLaws, Place
from tests.transcript.collapse.places import HEADERS, InFile, InMemory, InStore


class TestStoreLog(LogLaws):
    @pytest.fixture
    def place(self, in_store: InStore) -> Place:
        return in_store


class TestEntriesInMemory(LogLaws):
    @pytest.fixture
    def place(self) -> Place:
        return InMemory()


class TestEntriesInAFile(LogLaws):
    @pytest.fixture(params=list(HEADERS))
    def place(self, fast_path: Path, request: pytest.FixtureRequest) -> Place:
        return InFile(fast_path / "session.jsonl", request.param)


# --- Several processes -----------------------------------------------------------------------------

_WORKER = """
import sys
from castore.errors import LogMoved, StoreLocked
from castore.store import StoreHandle
from castore.transcript.collapse.model import Commit, Reset, Rewind, Snapshot
from castore.transcript.collapse.store_log import StoreLog
from castore.transcript.collapse.transcript_file import TranscriptFile
from tests.transcript.collapse.conformance import SESSION, commit_of, health, staged

place, path, name, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
if place == "store":
    log = StoreLog(StoreHandle(path, may_create=True), SESSION)
else:
    log = TranscriptFile(path).log(SESSION)
done = 0
sys.stdout.write("ready\\n")
sys.stdout.flush()
sys.stdin.readline()
while done < count:
    commit, texts = commit_of(hash((name, done)) % 10**9)
    waiting, text = staged(done)
    state = log.load()
    try:
        log.save(
            state,
            [commit, Rewind((name, str(done)), 1), Reset(name, done)],
            Snapshot((waiting,), last_spawn_tokens=done),
            {**texts, waiting.summary: text},
        )
    except (LogMoved, StoreLocked) as error:
        assert error.exit_code in (11, 15)
        continue
    done += 1
    sys.stdout.write(f"{done}\\n")
    sys.stdout.flush()
"""


def _started(place: str, path: Path, name: str, count: int) -> subprocess.Popen[str]:
    worker = subprocess.Popen(
        [sys.executable, "-c", _WORKER, place, str(path), name, str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert worker.stdout is not None
    assert worker.stdout.readline() == "ready\n"
    return worker


def _go(worker: subprocess.Popen[str]) -> None:
    assert worker.stdin is not None
    worker.stdin.write("go\n")
    worker.stdin.flush()


def _check(log: CollapseLog, claims: dict[str, int]) -> LogState:
    """Each save stands there whole, in a row, and all that were claimed do; but for the last, which a kill
    may have cut short behind any of its records."""
    state = log.load()
    saves = [state.records[at : at + 3] for at in range(0, len(state.records), 3)]
    for save in saves:
        assert [type(each) for each in save] == [Commit, Rewind, Reset][: len(save)]
        assert len(save) == 3 or save is saves[-1]
    done = [(save[2].reason, int(save[2].created_at)) for save in saves if len(save) == 3]  # type: ignore[union-attr]
    for save in saves:
        if len(save) == 3 and save[2].reason != "end":  # type: ignore[union-attr]
            assert save[1].collapse_ids == (save[2].reason, str(int(save[2].created_at)))  # type: ignore[union-attr]
        assert log.summary(save[0].staged.summary).startswith("The summary")  # type: ignore[union-attr]
    for name, count in claims.items():
        assert [number for each, number in done if each == name][:count] == list(range(count))
    for waiting in state.snapshot.staged:
        assert log.summary(waiting.summary)
    return state


@pytest.mark.parametrize("place", ["store", "file"])
class TestProcesses:
    def _path(self, folder: Path, place: str) -> Path:
        path = folder / ("session.jsonl" if place == "file" else ".ctxstore")
        if place == "file":
            path.write_text("{}\n")
        return path

    def _log(self, place: str, path: Path) -> CollapseLog:
        if place == "store":
            return StoreLog(StoreHandle(path, may_create=False), SESSION)
        return TranscriptFile(path).log(SESSION)

    def test_two_that_append_at_once_never_mix(self, fast_path: Path, place: str) -> None:
        path = self._path(fast_path, place)
        workers = {name: _started(place, path, name, 12) for name in ("one", "two")}
        for worker in workers.values():
            _go(worker)
        for worker in workers.values():
            worker.communicate(timeout=120)
            assert worker.returncode == 0
        state = _check(self._log(place, path), {"one": 12, "two": 12})
        assert len(state.records) == 2 * 12 * 3

    def test_killed_at_any_moment(self, fast_path: Path, place: str) -> None:
        """What was claimed is there; of the save that was cut short, a beginning."""
        path = self._path(fast_path, place)
        chosen = random.Random(5)
        claims: dict[str, int] = {}
        for name in "abcd":
            # What an earlier kill cut short is ended first, so that saves stand three by three.
            log = self._log(place, path)
            left = len(log.load().records) % 3 if path.exists() and claims else 0
            if left:
                rest: list[LogRecord] = [Rewind(("end", "0"), 1), Reset("end", 0)]
                log.save(log.load(), rest[left - 1 :], Snapshot(), {})
            worker = _started(place, path, name, 10_000)
            assert worker.stdout is not None
            _go(worker)
            assert worker.stdout.readline() == "1\n"
            time.sleep(chosen.random() / 10)
            worker.send_signal(signal.SIGKILL)
            told = worker.stdout.read().splitlines()
            worker.wait()
            assert worker.stdin is not None
            worker.stdin.close()
            worker.stdout.close()
            claims[name] = int(told[-1]) if told and told[-1].isdigit() else 1
            _check(self._log(place, path), claims)
