"""L10: a process killed at any system call loses nothing that was stored, and the next run goes on.

strace kills ctx at the K-th call of a name. A first run, traced, tells which calls there are to be killed at:
those on the store, on OUT and on stdout. The short version takes some of each name; the long one all.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

import pytest

from castore import api
from castore.gc.sweep import sweep
from castore.store import Store, StoreHandle
from castore.transcript.collapse.opening import open_coordinator
from castore.transcript.view import ViewRequest, make_view
from tests.durability.scenario import MORE, SCENARIOS, Scenario
from tests.durability.sharing import SHARING
from tests.durability.shell import Shell
from tests.durability.test_many_at_once import findings, serious
from tests.durability.trace import Event, needs_strace, traced

pytestmark = needs_strace

_SHORT = (
    "fold",
    "gc of an unnamed object",
    "push",
    "pull",
)
"""Of these, the short version takes one call of each name."""

_LARGE = ("large fold", "put of many files")
"""Of these, the long version takes five: a hundred files more are the same again."""

_KILLED = (-signal.SIGKILL, 128 + signal.SIGKILL)
_TWO_DAYS = 2 * 86_400

Point = tuple[str, int]
Record = Callable[[str, object], None]


def points(scenario: Scenario, shell: Shell) -> list[Point]:
    """Every call on what matters that the scenario makes, by its name and number."""
    done = traced(scenario.command(shell), shell.folder, environment=shell.environment, stdin=scenario.stdin)
    assert done.code == 0, done.err
    ours = str(shell.folder)
    return [
        (event.call, event.number)
        for event in done.events
        if event.descriptor == 1 or any(path.startswith(ours) and is_change(event) for path in event.paths)
    ]


def is_change(event: Event) -> bool:
    return event.call != "openat" or "O_CREAT" in event.flags


def some_of(found: list[Point], each: int) -> list[Point]:
    """So many of each name, spread over the run."""
    taken = []
    for name in sorted({name for name, _ in found}):
        same = [point for point in found if point[0] == name]
        taken += same[:: max(1, len(same) // each)][-each:]
    return taken


def kill_and_check(scenario: Scenario, shell: Shell, point: Point) -> bool:
    """False if that call was not reached. Everything that must hold after a kill is asserted."""
    killed = traced(
        scenario.command(shell),
        shell.folder,
        environment=shell.environment,
        stdin=scenario.stdin,
        kill_at=point,
    )
    if killed.code not in _KILLED:
        assert killed.code == 0, killed.err
        return False
    before = check(scenario, shell)
    if before is not None:
        before.close()
    assert scenario.wrong(shell, is_done=False) == []
    again = shell.run(scenario.command(shell), scenario.stdin)
    assert again.code == 0, again.err
    store = check(scenario, shell)
    assert store is not None
    if scenario.stdin and scenario.arguments[0] == "fold":
        folded = (shell.folder / scenario.out).read_bytes() if scenario.out else again.out
        assert api.unfold_bytes(store, folded) == scenario.stdin
    if scenario.arguments[0] == "view":
        assert api.unfold_bytes(store, again.out) == scenario.session
    if scenario.arguments[0] == "put":
        for digest in again.out.decode().split():
            assert api.Digest.of(api.get(store, digest)) == api.Digest.parse(digest)
    late = Store.open(shell.store, clock=lambda: time.time() + _TWO_DAYS)
    sweep(late)
    assert findings(store) == []
    assert scenario.wrong(shell, is_done=True) == []
    assert list((shell.store / "tmp").iterdir()) == []
    late.close()
    store.close()
    return True


def check(scenario: Scenario, shell: Shell) -> Store | None:
    """What was there before is there, and nothing is worse than unnamed. None: there is no store yet."""
    if not shell.store.exists():
        assert not scenario.has_store
        return None
    store = Store.open(shell.store)
    # A purge that was killed is told as such; the next one ends it, and then nothing may be left.
    told = ("purged ",) if scenario.arguments[0] == "purge" else ()
    assert [each for each in serious(findings(store)) if not each.startswith(told)] == []
    for folded, source in scenario.kept.items():
        assert api.unfold_bytes(store, folded) == source
    if scenario.arguments[0] == "collapse":
        check_log(scenario, store)
    return store


def check_log(scenario: Scenario, store: Store) -> None:
    """The log opens; what was staged is staged or committed, and the view gives the session back."""
    coordinator = open_coordinator(scenario.session, StoreHandle.of(store))
    waiting = {each.collapse_id for each in coordinator.staged}
    committed = {each.collapse_id for each in coordinator.commits}
    assert not waiting & committed
    assert waiting | committed >= scenario.staged_ids
    view = make_view(scenario.session, StoreHandle.of(store), ViewRequest(("collapse",)))
    assert len(view.transcript.collapsed) == len(committed)
    assert api.unfold_bytes(store, view.to_bytes()) == scenario.session


class TestKilled:
    @pytest.mark.parametrize(
        "scenario", [each for each in (*SCENARIOS, *MORE, *SHARING) if each.name in _SHORT], ids=repr
    )
    def test_at_some_calls(self, ctx: Shell, scenario: Scenario, record_property: Record) -> None:
        self.kill_at_each(ctx, scenario, 1, record_property)

    @pytest.mark.long
    @pytest.mark.parametrize("scenario", [*SCENARIOS, *MORE, *SHARING], ids=repr)
    def test_at_every_call(self, ctx: Shell, scenario: Scenario, record_property: Record) -> None:
        self.kill_at_each(ctx, scenario, 5 if scenario.name in _LARGE else 1_000_000, record_property)

    def kill_at_each(self, ctx: Shell, scenario: Scenario, each: int, record_property: Record) -> None:
        found = some_of(points(scenario, scenario.prepare(ctx, 0)), each)
        killed = 0
        for seed, point in enumerate(found, start=1):
            killed += kill_and_check(scenario, scenario.prepare(ctx, seed), point)
        record_property("calls", len(found))
        record_property("killed", killed)
        # Calls are counted for each thread, and threads take turns: a few may not be met again.
        assert killed >= 0.8 * len(found) > 0
