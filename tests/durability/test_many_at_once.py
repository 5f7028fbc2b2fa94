"""L5: writers, a sweep and kills at once lose nothing that was acknowledged. Real processes."""

from __future__ import annotations

import random
import subprocess
import time
from pathlib import Path

import pytest

from castore import api
from castore.gc.sweep import sweep
from castore.gc.verify import verify
from castore.store import Store
from tests.durability.crew import Crew
from tests.durability.shell import Shell, document

LEFT_BY_A_KILL = {"stray", "unnamed"}
"""The findings that a killed writer may leave."""


def findings(store: Store) -> list[str]:
    return [str(each) for each in verify(store)]


def serious(found: list[str]) -> list[str]:
    return [each for each in found if each.split()[0] not in LEFT_BY_A_KILL]


class TestAtOnce:
    def test_folds_that_all_make_the_store(self, ctx: Shell) -> None:
        """The same document and others, and no store before: one is made, and all is in it."""
        sources = [document("same"), document("same"), document("one"), document("other")]
        running = [
            subprocess.Popen(
                ctx.command("fold"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=ctx.environment,
                cwd=ctx.folder,
            )
            for _ in sources
        ]
        for process, source in zip(running, sources, strict=True):
            assert process.stdin is not None
            process.stdin.write(source)
            process.stdin.close()
            process.stdin = None
        outcomes = [process.communicate() for process in running]
        assert [process.returncode for process in running] == [0] * len(sources), outcomes
        store = Store.open(ctx.store)
        assert [api.unfold_bytes(store, out) for out, _ in outcomes] == sources
        assert findings(store) == []
        assert [each.name for each in ctx.folder.iterdir()] == [".ctxstore"]

    @pytest.mark.parametrize("seconds", [4, pytest.param(60, marks=pytest.mark.long)])
    def test_fold_tag_and_forget_beside_gc(self, ctx: Shell, tmp_path: Path, seconds: float) -> None:
        Store.init(ctx.store)
        crew = Crew(ctx, tmp_path, ("one", "two", "gc"))
        crew.start()
        time.sleep(seconds)
        assert crew.stop() == []
        store = Store.open(ctx.store)
        claims = crew.claims
        assert claims.broken(store) == []
        assert serious(findings(store)) == []
        assert claims.done >= 4

    @pytest.mark.parametrize("seconds", [5, pytest.param(60, marks=pytest.mark.long)])
    def test_and_kill_9_at_random(self, ctx: Shell, tmp_path: Path, seconds: float) -> None:
        Store.init(ctx.store)
        crew = Crew(ctx, tmp_path, ("one", "two", "gc"))
        chance = random.Random(seconds)
        deadline = time.monotonic() + seconds
        kills = 0
        while time.monotonic() < deadline:
            crew.start()
            time.sleep(0.3 + chance.random() * 0.4)
            crew.kill(chance.choice(["one", "two", "gc"]))
            kills += 1
        assert crew.stop() == []
        store = Store.open(ctx.store)
        claims = crew.claims
        assert claims.broken(store) == []
        assert serious(findings(store)) == []
        self.check_gc_cleans_up(ctx, store)
        assert crew.claims.broken(store) == []
        assert kills >= 3
        assert claims.done >= 2

    @pytest.mark.parametrize("seconds", [8, pytest.param(90, marks=pytest.mark.long)])
    def test_eight_writers_four_readers_moving_names_and_gc_under_kills(
        self, ctx: Shell, tmp_path: Path, seconds: float
    ) -> None:
        Store.init(ctx.store)
        writers = tuple(f"writer-{number}" for number in range(8))
        readers = tuple(f"reader-{number}" for number in range(4))
        everybody = (*writers, *readers, "mover", "gc")
        crew = Crew(ctx, tmp_path, everybody)
        chance = random.Random(seconds)
        deadline = time.monotonic() + seconds
        kills = 0
        crew.start()
        while time.monotonic() < deadline:
            time.sleep(0.5 + chance.random())
            # Each of the four kinds of work is killed as often as another.
            kind = chance.choice([writers, readers, ("mover",), ("gc",)])
            crew.kill(chance.choice(kind))
            kills += 1
            crew.start()
        assert crew.stop() == []
        store = Store.open(ctx.store)
        claims = crew.claims
        assert claims.broken(store) == []
        assert serious(findings(store)) == []
        self.check_gc_cleans_up(ctx, store)
        assert crew.claims.broken(store) == []
        assert kills >= 5
        assert claims.done >= 8
        assert claims.read >= 4
        assert claims.tagged

    def check_gc_cleans_up(self, ctx: Shell, store: Store) -> None:
        """The next run succeeds, and after a day gc leaves nothing of what the kills left."""
        assert ctx("fold", stdin=document("after")).code == 0
        sweep(Store.open(ctx.store, clock=lambda: time.time() + 2 * 86_400), forgotten_now=True)
        assert findings(store) == []
        assert list((ctx.store / "tmp").iterdir()) == []
