"""Many move one name at once: one wins, the others get 15, and no move is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from castore.remote.bucket import Bucket
from castore.remote.connecting import connect
from castore.remote.keys import name_key
from castore.remote.records import NameRecord, decode_name
from castore.remote.roots import RemoteRoots
from castore.settings import RemoteSettings
from tests.remote.laws import hold_bucket
from tests.remote.machine import Machine
from tests.remote.proxy import Proxy
from tests.remote.servers import Place

NAME = "newest"


def record(bucket: Bucket) -> NameRecord:
    key = name_key("default", NAME)
    found = bucket.get(key)
    assert found is not None
    return decode_name(found[0], "origin", key)


class Writers:
    """Machines that do everything at once, each in processes of its own."""

    def __init__(self, folder: Path, settings: RemoteSettings, count: int) -> None:
        self.machines = [Machine(folder / f"writer-{at}", settings) for at in range(count)]
        self.bucket = connect("origin", settings)
        self._pool = ThreadPoolExecutor(count)
        self._barrier = threading.Barrier(count)

    def each(self, work: Callable[[int, Machine], int]) -> list[int]:
        """What came of it for each, all begun at one moment."""

        def one(at: int) -> int:
            self._barrier.wait()
            return work(at, self.machines[at])

        return list(self._pool.map(one, range(len(self.machines))))

    def round(self, number: int) -> int:
        """All are at the same state, each moves the name, and all push. Which of them won."""

        def moves(at: int, machine: Machine) -> int:
            if number:
                machine.done("pull", "origin", NAME, "--move")
            digest = machine.done("put", stdin=f"round {number}, writer {at}\n".encode()).out.decode().strip()
            return machine.done("tag", NAME, digest, "--move").code

        self.each(moves)
        codes = self.each(lambda _, machine: machine("push", "origin", NAME).code)
        assert sorted(codes) == [0] + [15] * (len(codes) - 1), "one wins, and the others are told"
        return codes.index(0)

    def hold(self, rounds: int) -> None:
        with self.machines[0].store() as store:
            hold_bucket(self.bucket, store)
        for machine in self.machines:
            machine.hold()


def race(folder: Path, settings: RemoteSettings, *, writers: int, rounds: int) -> None:
    """Each round's winner is what the name means after it, and what it meant before is said there."""
    crew = Writers(folder, settings, writers)
    roots = RemoteRoots(crew.bucket)
    before: NameRecord | None = None
    for number in range(rounds):
        winner = crew.round(number)
        now = record(crew.bucket)
        found = roots.get(now.root)
        assert found is not None
        with crew.machines[winner].store() as store:
            said = store.read(found.root.objects[0])
        assert said == f"round {number}, writer {winner}\n".encode(), "the name means what its winner pushed"
        assert now.moves == (0 if before is None else before.moves + 1), "one move a round"
        assert now.was == (None if before is None else before.root), "from where the last winner left it"
        if before is not None:
            old = roots.get(before.root)
            assert old is not None
            assert old.root.forgotten is not None, "what had the name is forgotten"
        before = now
    crew.hold(rounds)


class TestOneWins:
    def test_of_some_writers(self, fast_path: Path, seaweed: Place) -> None:
        """Each write of the name comes a second late, when all have looked: the condition decides."""
        with Proxy.before(seaweed.server.endpoint) as proxy:
            proxy.delay_seconds = 1.0
            proxy.script("d", methods="PUT", part="names/")
            race(fast_path, replace(seaweed.settings, endpoint=proxy.endpoint), writers=3, rounds=2)
            assert proxy.hurt["d"] > 3

    @pytest.mark.long
    def test_of_eight_in_twenty_rounds(self, fast_path: Path, seaweed: Place) -> None:
        race(fast_path, seaweed.settings, writers=8, rounds=20)


class TestTheOthers:
    def test_a_loser_pulls_and_then_wins(self, fast_path: Path, seaweed: Place) -> None:
        """Nobody has to be forced: who pulls what the winner pushed may move the name from there."""
        crew = Writers(fast_path, seaweed.settings, 2)
        winner = crew.round(0)
        loser = crew.machines[1 - winner]
        assert loser("push", "origin", NAME).code == 15, "it stays so"
        loser.done("pull", "origin", NAME, "--move")
        digest = loser.done("put", stdin=b"afterwards\n").out.decode().strip()
        loser.done("tag", NAME, digest, "--move")
        loser.done("push", "origin", NAME)
        assert record(crew.bucket).moves == 1
        assert crew.machines[winner]("pull", "origin", NAME).code == 0
        assert crew.machines[winner].done("cat", NAME).out == b"afterwards\n"

    def test_by_force(self, fast_path: Path, seaweed: Place) -> None:
        """Both force it at once: one after another, and both moves are in the record, or one was told."""
        crew = Writers(fast_path, seaweed.settings, 2)
        crew.round(0)
        codes = crew.each(lambda _, machine: machine("push", "origin", NAME, "--move").code)
        assert set(codes) <= {0, 15}
        assert record(crew.bucket).moves <= 2
        crew.hold(1)
