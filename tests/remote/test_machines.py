"""Two machines push what overlaps at once, killed at any moment and started again: the bucket's law holds,
and a third machine gets everything exactly.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from castore.remote.connecting import connect
from castore.settings import RemoteSettings
from tests.remote.laws import hold_bucket
from tests.remote.machine import Machine, document
from tests.remote.proxy import Proxy
from tests.remote.servers import Place


@pytest.fixture
def proxy(seaweed: Place) -> Iterator[Proxy]:
    """It hurts nothing: it counts requests, so that what is killed is in the middle of its work."""
    with Proxy.before(seaweed.server.endpoint) as proxy:
        yield proxy


def killed_at(process: subprocess.Popen[bytes], proxy: Proxy, requests: int) -> bool:
    """The process is killed when so many requests have begun. False: it had ended by itself."""
    while proxy.begun < requests and process.poll() is None:
        time.sleep(0.002)
    process.kill()
    return process.wait(60) != 0


def run(
    folder: Path, settings: RemoteSettings, proxy: Proxy, *, rounds: int, documents: int, seed: int
) -> None:
    chance = Random(seed)
    kills = 0
    behind = replace(settings, endpoint=proxy.endpoint)
    machines = [Machine(folder / name, behind) for name in ("one", "two")]
    bucket = connect("origin", settings)
    sources: dict[str, bytes] = {}
    for number in range(rounds):
        for at, machine in enumerate(machines):
            for each in range(documents):
                # Every other document is both machines' own, and all have some values in common.
                seed_of_it = 1000 * number + 2 * each + (at if each % 2 else 0)
                path = f"{number}-{each}.json"
                sources[str(machine.folder / path)] = data = document(seed_of_it, objects=30)
                machine.fold(data, path)
        killed = machines[number % 2]
        proxy.script(".")
        processes = {machine: machine.started("push", "origin", "--all") for machine in machines}
        kills += killed_at(processes.pop(killed), proxy, chance.randrange(4, 50 * documents))
        assert [process.wait(60) for process in processes.values()] == [0]
        with killed.store() as store:
            hold_bucket(bucket, store)
        killed.hold(was_killed=True)
    assert kills
    for machine in machines:
        machine.done("push", "origin", "--all")
        machine.hold(was_killed=True)
    third = Machine(folder / "third", settings)
    third.done("pull", "origin", "--all")
    for path, data in sources.items():
        assert third.done("unfold", path).out == data
    third.hold()
    with third.store() as store:
        assert hold_bucket(bucket, store) == len(store.roots())


class TestKilledAndResumed:
    def test_a_few_times(self, fast_path: Path, seaweed: Place, proxy: Proxy) -> None:
        run(fast_path, seaweed.settings, proxy, rounds=2, documents=2, seed=1)

    @pytest.mark.long
    @pytest.mark.parametrize("seed", range(4))
    def test_many_times(self, fast_path: Path, seaweed: Place, proxy: Proxy, seed: int) -> None:
        run(fast_path, seaweed.settings, proxy, rounds=12, documents=4, seed=seed)


class TestKilledPull:
    def test_it_goes_on_where_it_was(self, fast_path: Path, seaweed: Place, proxy: Proxy) -> None:
        one = Machine(fast_path / "one", seaweed.settings)
        two = Machine(fast_path / "two", replace(seaweed.settings, endpoint=proxy.endpoint))
        sources = {one.fold(document(seed, 60), f"{seed}.json"): document(seed, 60) for seed in range(3)}
        one.done("push", "origin", "--all")
        kills = 0
        for requests in (10, 60, 150):
            proxy.script(".")
            kills += killed_at(two.started("pull", "origin", "--all"), proxy, requests)
            two.hold(was_killed=True)
        assert kills
        two.done("pull", "origin", "--all")
        for path, data in sources.items():
            assert two.done("unfold", str(one.folder / path)).out == data
        two.hold(was_killed=True)
