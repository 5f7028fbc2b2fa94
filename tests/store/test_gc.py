"""gc removes what nothing keeps, and only that."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from castore.config import STAGED_AGE_SECONDS_MAX
from castore.digest import Digest
from castore.errors import Damaged, ObjectMissing
from castore.gc.sweep import plan, sweep
from castore.gc.verify import verify
from castore.store import Store
from castore.store.keeping import RootChoice

from .conftest import Clock, everything, file_of, put

ROOT = Path(__file__).parents[2]


class TestSweep:
    def test_nothing_that_a_root_names_is_removed(self, store: Store) -> None:
        put(store, *(b"%d" % number for number in range(100)))
        before = everything(Path(store.folder))
        assert plan(store).objects == sweep(store).objects == 0
        assert everything(Path(store.folder)) == before

    def test_what_expired_goes_and_what_is_shared_stays(self, store: Store, clock: Clock) -> None:
        put(store, b"shared", b"short" * 100, keep_seconds=10)
        put(store, b"shared", b"long")
        clock.now += 9
        assert sweep(store).roots == 0
        clock.now += 1
        planned = plan(store)
        assert (planned.roots, planned.objects) == (1, 1)
        assert sweep(store) == planned
        assert sorted(map(store.read, store.digests())) == [b"long", b"shared"]
        assert len(store.roots()) == 1
        assert list(verify(store)) == []

    def test_the_date_is_that_of_what_is_freed(self, store: Store, clock: Clock) -> None:
        """Roots that expire later and free nothing, because others keep what they name, do not count."""
        put(store, b"for ever")
        put(store, b"for ever", keep_seconds=900)
        put(store, b"twice", keep_seconds=100)
        put(store, b"twice", b"for ever", keep_seconds=300)
        put(store, b"once", keep_seconds=200)
        for told in (plan(store), sweep(store), plan(store, forgotten_now=True)):
            assert (told.later_objects, told.later_date) == (2, clock.now + 300)
        held = store.stats()
        assert (held.free_later.objects, held.free_later_date) == (2, clock.now + 300)
        clock.now += 300
        assert sweep(store).objects == 2
        assert (plan(store).later_objects, plan(store).later_date) == (0, None)
        assert store.stats().free_later_date is None

    def test_a_forgotten_root_goes_after_the_grace_or_at_once(self, store: Store, clock: Clock) -> None:
        (digest,) = put(store, b"x" * 500).objects
        store.forget(RootChoice(references=(digest.hex,)))
        report = plan(store)
        assert (report.objects, report.later_objects) == (0, 1)
        assert report.later_bytes == file_of(store, digest).stat().st_size
        assert report.later_date == clock.now + store.config.grace_seconds
        assert sweep(store).objects == 0
        assert plan(store, forgotten_now=True).objects == 1
        clock.now += store.config.grace_seconds
        assert sweep(store).objects == 1
        with pytest.raises(ObjectMissing):
            store.read(digest)
        assert sweep(store).objects == 0

    def test_an_object_without_a_row_or_a_root_goes_too(self, store: Store) -> None:
        (digest,) = put(store, b"x").objects
        stray = Digest("0" * 64)
        os.makedirs(store.parts.layout.object_folder("00"), exist_ok=True)
        file_of(store, stray).write_bytes(b"junk")
        assert plan(store).objects == sweep(store).objects == 1
        assert list(store.digests()) == [digest]

    def test_staged_files_go_after_a_day(self, store: Store, clock: Clock) -> None:
        clock.now = time.time()
        old, young = (Path(store.parts.layout.tmp) / name for name in ("old", "young"))
        for path in (old, young):
            path.write_bytes(b"x")
        os.utime(old, (1, clock.now - STAGED_AGE_SECONDS_MAX - 10))
        assert plan(store).staged_files == 1
        assert sweep(store).staged_files == 1
        assert (old.exists(), young.exists()) == (False, True)

    def test_a_plan_changes_nothing_with_or_without_an_index(self, store: Store, clock: Clock) -> None:
        put(store, b"x", keep_seconds=1)
        clock.now += 5
        expected = plan(store)
        store.close()
        for name in os.listdir(store.folder):
            if name.startswith("index.sqlite"):
                os.unlink(f"{store.folder}/{name}")
        before = everything(Path(store.folder))
        assert plan(Store.open(store.folder, clock=clock)) == expected
        assert everything(Path(store.folder)) == before
        assert "index.sqlite" not in os.listdir(store.folder)

    def test_a_clock_that_went_back_stops_it(self, store: Store, clock: Clock) -> None:
        put(store, b"x", keep_seconds=10)
        clock.now -= 100_000
        for act in (plan, sweep):
            with pytest.raises(Damaged):
                act(store)

    def test_everything_may_be_forgotten(self, store: Store) -> None:
        put(store, b"x", b"y")
        store.forget(RootChoice(source="*"), at_once=True)
        assert sweep(store).objects == 2
        assert sweep(store).objects == 0
        put(store, b"z")
        assert list(verify(store)) == []


WRITER = """
import os, sys, random
from castore.store.keeping import RootChoice
from castore.roots.model import RootDraft, RootKind
from castore.store import Store
store, number = Store.open(sys.argv[1]), int(sys.argv[2])
generator = random.Random(number)
for turn in range(40):
    with store.batch() as batch:
        picked = [b"%d" % generator.randrange(30) for _ in range(5)]
        digests = tuple(batch.stage(each).digest for each in picked)
        root = batch.commit(RootDraft(RootKind.PUT, digests, source_name=f"{number}-{turn}"))
    for digest, data in zip(digests, picked):
        assert store.read(digest) == data, "an acknowledged object is gone"
    if turn % 3:
        store.forget(RootChoice(source=f"{number}-{turn}"), at_once=True)
    else:
        print(root.id, flush=True)
"""
SWEEPER = """
import sys
from castore.gc.sweep import sweep
from castore.store import Store
store = Store.open(sys.argv[1])
for _ in range(25):
    sweep(store, forgotten_now=True)
"""


class TestBesideWriters:
    def test_no_object_of_a_kept_root_is_lost(self, tmp_path: Path) -> None:
        store = Store.init(tmp_path / "s")
        put(store, b"begin")
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        commands = [[WRITER, "1"], [WRITER, "2"], [WRITER, "3"], [SWEEPER, "0"]]
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", code, store.folder, number],
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
            )
            for code, number in commands
        ]
        outputs = [process.communicate(timeout=120)[0] for process in processes]
        assert [process.returncode for process in processes] == [0] * 4
        kept = {line for output in outputs for line in output.split()}
        roots = {root.id: root for root in store.roots()}
        assert kept <= roots.keys()
        assert len(kept) == 42
        for root_id in kept:
            for digest in roots[root_id].objects:
                store.read(digest)
        sweep(store, forgotten_now=True)
        assert list(verify(store)) == []
