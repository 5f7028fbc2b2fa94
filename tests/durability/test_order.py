"""L2: what is printed is durable first. The system calls of real commands, on the strictest disk there is.

Each check is also made to fail: with any one sync left out, the same trace breaks a promise.
"""

from __future__ import annotations

import signal

import pytest

from castore.config import SYNC_FILES_MAX
from tests.durability.model import KILLED, violations
from tests.durability.scenario import MORE, SCENARIOS, Scenario
from tests.durability.sharing import SHARING, Sharing
from tests.durability.shell import Shell, document
from tests.durability.trace import Event, Traced, needs_strace, traced

pytestmark = needs_strace


def trace(ctx: Shell, command: list[str], stdin: bytes = b"") -> Traced:
    return traced(command, ctx.folder, environment=ctx.environment, stdin=stdin)


def run(ctx: Shell, command: list[str], stdin: bytes = b"") -> Traced:
    done = trace(ctx, command, stdin)
    assert done.code == 0, done.err
    return done


def broken(scenario: Scenario, shell: Shell, done: Traced) -> list[str]:
    return violations(done.events, str(shell.store), out=scenario.out_of(shell))


KILLED_SHORT = ("fold", "gc")
REPEATED = [
    pytest.param(each, id=each.name, marks=[] if each.name in KILLED_SHORT else [pytest.mark.long])
    for each in SCENARIOS
]


FAILED = [
    pytest.param(each, id=each.name, marks=[] if each.name == "fold" else [pytest.mark.long])
    for each in (*SCENARIOS, *MORE)
    # An object whose removal is lost comes back as unnamed as it was, and the next gc removes it again.
    if not each.has_unnamed
]
SHARED_SHORT = ("push", "pull")
SHARED = [
    pytest.param(each, id=each.name, marks=[] if each.name in SHARED_SHORT else [pytest.mark.long])
    for each in SHARING
]
SYNCS = ("fsync", "fdatasync", "syncfs")


class TestOrder:
    @pytest.mark.parametrize("scenario", SCENARIOS, ids=repr)
    def test_nothing_is_promised_before_it_is_on_the_disk(self, ctx: Shell, scenario: Scenario) -> None:
        shell = scenario.prepare(ctx, 0)
        done = run(shell, scenario.command(shell), scenario.stdin)
        assert broken(scenario, shell, done) == []

    def test_a_small_fold_syncs_its_files_a_large_one_its_file_system(self, ctx: Shell) -> None:
        small = run(ctx, ctx.command("fold"), document("small"))
        large = run(ctx, ctx.command("fold"), document("large", SYNC_FILES_MAX + 20))
        assert calls(small, "syncfs") == []
        assert len(calls(large, "syncfs")) == 2, "one for the bytes, one for the names"

    def test_the_whole_order_of_a_small_fold(self, ctx: Shell) -> None:
        """As the docstring of castore/store/batch.py says it, step by step."""
        done = run(ctx, ctx.command("fold"), document("order", 1))
        names = steps(done.events, str(ctx.store))
        at = {name: place for place, name in enumerate(names[: names.index("stdout") + 1])}
        order = [
            "sync of a staged file",
            "sync of objects/",
            "rename into objects/ab",
            "sync of objects/ab",
            "sync of a staged root",
            "rename into roots/ab",
            "sync of roots/ab",
            "sync of the rows",
            "stdout",
        ]
        places = [at[name] for name in order]
        assert places == sorted(places), sorted(at, key=lambda name: at[name])

    def test_out_comes_last(self, ctx: Shell) -> None:
        (ctx.folder / "out").mkdir()
        done = run(ctx, ctx.command("fold", "-o", "out/out.json"), document("out", 1))
        names = steps(done.events, str(ctx.store), str(ctx.folder / "out/out.json"))
        committed = names[names.index("sync of roots/ab") + 1 :]
        first = committed.index("sync of OUT's bytes")
        assert set(committed[:first]) == {"sync of the rows"}
        assert committed[first : first + 3] == [
            "sync of OUT's bytes",
            "rename to OUT",
            "sync of OUT's folder",
        ]
        assert [name for name in names if "OUT" in name] == committed[first : first + 3]

    def test_out_is_replaced_in_memory_too(self, ctx: Shell) -> None:
        """A file in /dev/shm is a file, not an open one such as /dev/stdout."""
        for _ in range(2):
            assert ctx("fold", "-o", "out.json", stdin=document("out", 1)).code == 0
        assert ctx("unfold", "out.json").out == document("out", 1)


class TestSharing:
    """In a bucket that is a folder the order is the same: objects, roots that name them, stdout."""

    @pytest.mark.parametrize("scenario", SHARED)
    def test_nothing_is_promised_before_it_is_on_the_disk(self, ctx: Shell, scenario: Sharing) -> None:
        shell = scenario.prepare(ctx, 0)
        done = run(shell, scenario.command(shell))
        assert [violations(done.events, each) for each in (str(shell.store), *scenario.places(shell))] == [
            [],
            [],
        ]

    def test_without_syncs_it_is_seen(self, ctx: Shell) -> None:
        (push,) = (each for each in SHARING if each.name == "push")
        shell = push.prepare(ctx, 0)
        done = run(shell, push.unsynced(shell, "all"))
        found = violations(done.events, *push.places(shell))
        assert any("/roots/" in words and "before the sync of the bytes" in words for words in found)
        assert any(
            "/roots/" in words and "before the sync of the folder of bucket/objects/" in words
            for words in found
        )


class TestEverySyncIsNeeded:
    """The mutation test: whichever sync is left out, the check above fails."""

    @pytest.mark.parametrize("scenario", SCENARIOS, ids=repr)
    def test_any_one_left_out_is_seen(self, ctx: Shell, scenario: Scenario) -> None:
        number, asked = 0, 1
        while number < asked:
            shell = scenario.prepare(ctx, number)
            which = str(number) if number else "none"
            done = run(shell, scenario.unsynced(shell, which), scenario.stdin)
            found = broken(scenario, shell, done)
            assert bool(found) == (number > 0), f"sync {number} of {asked} left out: {found}"
            asked = int(shell.count_file.read_text())
            number += 1
        assert asked >= 2

    @pytest.mark.parametrize("scenario", SCENARIOS, ids=repr)
    def test_those_of_the_index_are_too(self, ctx: Shell, scenario: Scenario) -> None:
        shell = scenario.prepare(ctx, 0)
        done = run(shell, scenario.unsynced(shell, "index"), scenario.stdin)
        assert any("index.sqlite" in words for words in broken(scenario, shell, done))


class TestAfterAKill:
    """What a killed writer left without its sync, the next one does not rely on before it has synced it."""

    @pytest.mark.parametrize("scenario", REPEATED)
    def test_doing_it_again_syncs_what_the_killed_one_did_not(self, ctx: Shell, scenario: Scenario) -> None:
        found: dict[int, list[str]] = {}
        for number in range(1, 100):
            shell = scenario.prepare(ctx, number)
            killed = trace(shell, scenario.unsynced(shell, f"kill-{number}"), scenario.stdin)
            if killed.code == 0:
                break
            assert killed.code in (-signal.SIGKILL, 128 + signal.SIGKILL)
            again = run(shell, scenario.command(shell), scenario.stdin)
            events = [*killed.events, KILLED, *again.events]
            if broken_promises := violations(events, str(shell.store), out=scenario.out_of(shell)):
                found[number] = broken_promises
        assert found == {}
        assert number > 2


class TestAfterAFailedSync:
    """What a sync that failed should have written is lost, and later syncs say nothing of it: the next run
    writes it again. (But for the name of a new store in its folder, which nobody can give it twice.)
    """

    @pytest.mark.parametrize("scenario", FAILED)
    def test_doing_it_again_writes_what_was_lost(self, ctx: Shell, scenario: Scenario) -> None:
        first = scenario.prepare(ctx, 0)
        done = run(first, scenario.command(first), scenario.stdin)
        syncs = [
            (event.call, event.number)
            for event in done.events
            if event.call in SYNCS and event.paths[0].startswith(str(first.folder) + "/")
        ]
        found: list[str] = []
        for seed, (call, number) in enumerate(syncs, start=1):
            shell = scenario.prepare(ctx, seed)
            failed = traced(
                scenario.command(shell),
                shell.folder,
                environment=shell.environment,
                stdin=scenario.stdin,
                fail_at=(call, number, "EIO"),
            )
            assert failed.injected
            again = run(shell, scenario.command(shell), scenario.stdin)
            events = [*failed.events, KILLED, *again.events]
            broken_promises = violations(
                events, str(shell.store), out=scenario.out_of(shell), in_steps=scenario.in_steps
            )
            found += [f"{failed.injected}: {each}" for each in broken_promises]
        assert not found, "\n".join(found)
        assert len(syncs) > 2


def calls(done: Traced, name: str) -> list[Event]:
    return [event for event in done.events if event.call == name]


def steps(events: list[Event], store: str, out: str = "\0") -> list[str]:
    """The names of the steps that a trace took, each time it took them; of stdout only the first."""
    found: list[str] = []
    for event in events:
        path = event.paths[-1] if event.paths else ""
        is_sync = event.call in ("fsync", "fdatasync")
        if event.descriptor == 1 and "stdout" not in found:
            found.append("stdout")
        elif is_sync and path.startswith(store + "/tmp/root-"):
            found.append("sync of a staged root")
        elif is_sync and path.startswith(store + "/tmp/"):
            found.append("sync of a staged file")
        elif is_sync and path == store + "/objects":
            found.append("sync of objects/")
        elif is_sync and path.startswith((store + "/objects/", store + "/roots/")):
            found.append(f"sync of {path[len(store) + 1 :].split('/')[0]}/ab")
        elif event.call.startswith("rename") and path.startswith((store + "/objects/", store + "/roots/")):
            found.append(f"rename into {path[len(store) + 1 :].split('/')[0]}/ab")
        elif is_sync and path == store + "/index.sqlite-wal":
            found.append("sync of the rows")
        elif is_sync and path.startswith(out + "."):
            found.append("sync of OUT's bytes")
        elif is_sync and path == out.rpartition("/")[0]:
            found.append("sync of OUT's folder")
        elif event.call.startswith("rename") and path == out:
            found.append("rename to OUT")
    return found
