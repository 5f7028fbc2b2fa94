"""castore.summary.making: one makes it, the others wait; and whoever dies leaves the whole entry or none."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Thread

import pytest

from castore.digest import Digest
from castore.errors import CastoreError, StoreLocked, SummarizerFailed
from castore.gc.sweep import sweep
from castore.gc.verify import verify
from castore.store import Access, Store, StoreHandle
from castore.summary.cache import SummaryCache
from castore.summary.making import alone
from castore.summary.strategy import NamedMaker
from tests.store.faults import Crash, Script, scripted
from tests.summary.caches import Caching, Clock, Marked

SOURCE = b"Returns within 7 days, except fresh food."

PROGRAM = """
import os, sys, time
from castore.errors import SummarizerFailed
from castore.store import Access, StoreHandle
from castore.summary.cache import SummaryCache

folder, mode = sys.argv[1:]
SOURCE = b"Returns within 7 days, except fresh food."

class Slow:
    name, version, options = "slow", 1, {}

    def summarize(self, source):
        with open(folder + "/../runs", "a") as file:
            file.write(str(os.getpid()) + "\\n")
        until = time.monotonic() + 30
        while mode != "quick" and not os.path.exists(folder + "/../go") and time.monotonic() < until:
            time.sleep(0.01)
        if mode == "failing":
            raise SummarizerFailed("no model today")
        return "seven days"

def told():
    print("waiting", flush=True)

handle = StoreHandle(folder, may_create=True, access=Access(("*",)))
made = SummaryCache(handle, on_wait=told).get(SOURCE, Slow())
print("hit" if made.is_hit else "made", made.text, flush=True)
handle.close()
"""


class Makers:
    """Processes that want the same summary; a maker of them waits until it may go on."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "s"
        self.started: list[subprocess.Popen[str]] = []

    def start(self, mode: str = "slow") -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(self.folder), mode],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def runs(self) -> list[int]:
        """The processes that began to make it, in order."""
        path = self.folder.parent / "runs"
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    def go_on(self) -> None:
        (self.folder.parent / "go").touch()

    def wait_for_run(self, process: subprocess.Popen[str]) -> None:
        deadline = time.monotonic() + 60
        while process.pid not in self.runs():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def cache(self) -> SummaryCache:
        return SummaryCache(StoreHandle(self.folder, may_create=False, access=Access(("*",))))


@pytest.fixture
def makers(fast_path: Path, interruptible: None) -> Iterator[Makers]:
    Store.init(fast_path / "s").close()
    found = Makers(fast_path)
    yield found
    for process in found.started:
        process.kill()
        process.communicate()


def said(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out


class TestOneMakesIt:
    def test_the_others_wait_and_find_it(self, makers: Makers) -> None:
        first = makers.start()
        makers.wait_for_run(first)
        others = [makers.start(), makers.start()]
        for other in others:
            assert other.stdout is not None
            assert other.stdout.readline() == "waiting\n"
        makers.go_on()
        assert said(first) == "made seven days\n"
        assert [said(other) for other in others] == ["hit seven days\n"] * 2
        assert makers.runs() == [first.pid]
        assert os.listdir(makers.folder / "tmp") == []

    def test_one_that_waits_takes_over_from_a_killed_maker(self, makers: Makers) -> None:
        first = makers.start()
        makers.wait_for_run(first)
        other = makers.start()
        assert other.stdout is not None
        assert other.stdout.readline() == "waiting\n"
        first.send_signal(signal.SIGKILL)
        makers.wait_for_run(other)
        assert makers.cache().entries() == []
        makers.go_on()
        assert said(other) == "made seven days\n"
        assert makers.runs() == [first.pid, other.pid]
        assert len(makers.cache().entries()) == 1

    def test_or_from_one_that_failed(self, makers: Makers) -> None:
        first = makers.start("failing")
        makers.wait_for_run(first)
        other = makers.start("quick")
        assert other.stdout is not None
        assert other.stdout.readline() == "waiting\n"
        makers.go_on()
        first.communicate(timeout=60)
        assert first.returncode == 1
        assert said(other) == "made seven days\n"

    def test_waiting_can_be_interrupted(self, makers: Makers) -> None:
        first = makers.start()
        makers.wait_for_run(first)
        other = makers.start()
        assert other.stdout is not None
        assert other.stdout.readline() == "waiting\n"
        other.send_signal(signal.SIGINT)
        _, err = other.communicate(timeout=60)
        assert "KeyboardInterrupt" in err
        makers.go_on()
        assert said(first) == "made seven days\n"

    def test_other_keys_wait_for_nobody(self, caching: Caching) -> None:
        key = caching.cache.key(SOURCE, Marked()) if caching.store else None
        assert key is not None
        with alone(caching.store, key.hex):
            assert not caching.cache.get(b"another source", Marked()).is_hit
            assert not caching.cache.get(SOURCE, Marked("other")).is_hit
            caching.cache.put(SOURCE, "by hand", NamedMaker("marked"))
            assert caching.cache.get(SOURCE, Marked()).is_hit

    def test_no_longer_than_one_wants_to(self, caching: Caching) -> None:
        key = caching.cache.key(SOURCE, Marked()) if caching.store else None
        assert key is not None
        told: list[int] = []
        cache = SummaryCache(caching.handle, on_wait=lambda: told.append(1), wait_seconds_max=0.2)
        with alone(caching.store, key.hex), pytest.raises(StoreLocked):
            cache.get(SOURCE, Marked())
        assert told == [1]
        assert not cache.get(SOURCE, Marked()).is_hit


class TestTheLockSavesWorkAlone:
    """Whatever becomes of its file, a key has one entry, and everybody gets the text of that."""

    def test_what_a_killed_maker_left_keeps_nobody_out(self, caching: Caching) -> None:
        key = caching.cache.key(SOURCE, Marked()) if caching.store else None
        assert key is not None
        left = Path(caching.store.parts.layout.staged_file(f"summary-{key.hex}.lock"))
        left.write_bytes(b"")
        assert not caching.cache.get(SOURCE, Marked()).is_hit
        assert not left.exists()

    def test_gc_sweeps_it_after_a_day(self, caching: Caching) -> None:
        left = Path(caching.store.parts.layout.staged_file(f"summary-{'0' * 64}.lock"))
        left.write_bytes(b"")
        os.utime(left, (caching.clock.now, caching.clock.now))
        sweep(caching.store)
        assert left.exists()
        caching.clock.now += 90_000
        sweep(caching.store)
        assert not left.exists()

    @pytest.mark.parametrize("act", ["remove", "replace"])
    def test_one_that_is_lost_costs_work(self, caching: Caching, act: str) -> None:
        """Two make it then; the first to write counts, and the other serves what that wrote."""
        other = caching.other("*")

        class First(Marked):
            def summarize(self, source: bytes) -> str:
                (lock,) = (caching.folder / "tmp").glob("summary-*.lock")
                lock.unlink()
                if act == "replace":
                    lock.write_bytes(b"")
                second = Marked()
                second.summarize = lambda source: "the second's"  # type: ignore[method-assign]
                assert not other.get(SOURCE, second).is_hit
                return "the first's"

        made = caching.cache.get(SOURCE, First())
        assert (made.is_hit, made.text) == (True, "the second's")
        assert [caching.cache.text(each.entry) for each in caching.cache.entries()] == ["the second's"]
        assert list((caching.folder / "tmp").iterdir()) == []

    def test_a_file_that_is_not_at_the_path_any_more_is_no_lock(
        self, caching: Caching, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Between opening and locking it, its owner may have gone, and another may have made a new one."""
        import fcntl

        path = Path(caching.store.parts.layout.staged_file(f"summary-{'0' * 64}.lock"))
        honest, calls = fcntl.flock, []

        def late(descriptor: int, operation: int) -> None:
            if not calls:
                path.unlink()
                path.write_bytes(b"")
            calls.append(operation)
            honest(descriptor, operation)

        monkeypatch.setattr(fcntl, "flock", late)
        with alone(caching.store, "0" * 64):
            assert len(calls) == 2
            with pytest.raises(StoreLocked), alone(caching.store, "0" * 64, wait_seconds_max=0):
                raise AssertionError("two are alone")

    def test_the_lock_of_another_is_left_to_it(self, caching: Caching) -> None:
        path = Path(caching.store.parts.layout.staged_file(f"summary-{'0' * 64}.lock"))
        with alone(caching.store, "0" * 64):
            path.unlink()
            path.write_bytes(b"")
        assert path.exists()

    def test_a_put_meanwhile_counts(self, caching: Caching) -> None:
        other = caching.other("*")

        class Slow(Marked):
            def summarize(self, source: bytes) -> str:
                other.put(SOURCE, "by hand", NamedMaker("marked"))
                return "made"

        assert caching.cache.get(SOURCE, Slow()).text == "by hand"

    def test_a_lock_that_is_no_file_is_told(self, caching: Caching) -> None:
        key = caching.cache.key(SOURCE, Marked()) if caching.store else None
        assert key is not None
        path = caching.store.parts.layout.staged_file(f"summary-{key.hex}.lock")
        os.mkfifo(path)
        with pytest.raises(CastoreError):
            caching.cache.get(SOURCE, Marked())
        os.unlink(path)
        os.symlink(caching.folder / "config.toml", path)
        with pytest.raises(CastoreError):
            caching.cache.get(SOURCE, Marked())
        os.unlink(path)
        assert not caching.cache.get(SOURCE, Marked()).is_hit

    def test_the_group_of_a_shared_store_can_lock_too(self, fast_path: Path) -> None:
        before = os.umask(0o077)
        try:
            store = Store.init(fast_path / "s", shared=True)
            with alone(store, "0" * 64):
                (lock,) = (fast_path / "s/tmp").iterdir()
                assert stat.S_IMODE(lock.stat().st_mode) == 0o660
            store.close()
        finally:
            os.umask(before)

    def test_threads_wait_as_processes_do(self, caching: Caching) -> None:
        store, order = caching.store, []
        with ExitStack() as stack:
            stack.enter_context(alone(store, "0" * 64))
            thread = Thread(target=lambda: [order.append("in") for _ in [0] if _enter(store)])
            thread.start()
            time.sleep(0.1)
            order.append("out")
        thread.join(30)
        assert order == ["out", "in"]


class TestAKillAtAnyMoment:
    """Source, summary and root are there, or the entry is not; the next one makes it."""

    @pytest.mark.parametrize("name", ["open", "write", "fsync", "rename", "unlink", "mkdir"])
    def test_leaves_the_whole_entry_or_none(self, fast_path: Path, clock: Clock, name: str) -> None:
        counts = set()
        for at in range(40):
            caching = Caching(fast_path / f"{at}", clock)
            caching.put(b"so that there is a store")
            script = Script("." * at + "X")
            try:
                with scripted({name: script}):
                    caching.cache.get(SOURCE, Marked(), names=["policy.md"])
            except Crash:
                pass
            caching.close()
            after = Caching(caching.folder, clock)
            entries = after.cache.entries()
            counts.add(len(entries))
            for each in entries:
                assert after.store.read(each.entry.source.digest) == SOURCE
                assert after.cache.text(each.entry).startswith("marked@1")
            assert after.cache.get(SOURCE, Marked()).is_hit == bool(entries)
            assert [each.entry.source.digest for each in after.cache.entries()] == [Digest.of(SOURCE)]
            assert [each for each in verify(after.store) if each.name.value != "unindexed"] == []
            after.close()
            if script.count <= at:
                break
        else:
            raise AssertionError("it makes more calls than were tried")
        assert 0 in counts or name in ("unlink", "mkdir")
        assert 1 in counts


class TestAFailureStoresNothing:
    def test_of_the_strategy(self, caching: Caching) -> None:
        class Failing(Marked):
            def summarize(self, source: bytes) -> str:
                raise SummarizerFailed("no model today")

        with pytest.raises(SummarizerFailed):
            caching.cache.get(SOURCE, Failing())
        assert caching.store.roots() == []
        assert os.listdir(caching.folder / "tmp") == []
        assert not caching.cache.get(SOURCE, Marked()).is_hit

    @pytest.mark.parametrize("letter", ["E", "F"])
    def test_of_the_disk(self, caching: Caching, letter: str) -> None:
        caching.put(b"so that there is a store")
        with scripted({"write": Script(letter)}), pytest.raises(CastoreError):
            caching.cache.get(SOURCE, Marked())
        assert caching.cache.entries() == []
        assert not caching.cache.get(SOURCE, Marked()).is_hit


def _enter(store: Store) -> bool:
    with alone(store, "0" * 64):
        return True
