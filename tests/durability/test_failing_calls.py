"""L10: a system call that fails is a clear error, or of no account; nothing stored is lost or read wrong.

strace makes the K-th call of a name fail: on the store, OUT, stdout or stderr. A first run tells which calls
there are. The long version takes one call of each name on each kind of file, with every error that it may
have, for all commands; the short one takes one of each name for three.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from castore import api, durable
from castore.errors import CastoreError
from castore.gc.sweep import sweep
from castore.roots.model import RootDraft, RootKind
from castore.store import Store
from tests.durability.scenario import MORE, READING, SCENARIOS, Scenario
from tests.durability.sharing import SHARING
from tests.durability.shell import Shell
from tests.durability.test_many_at_once import findings, serious
from tests.durability.trace import CALLS, READS, Event, Traced, needs_strace, traced

pytestmark = needs_strace

_ALL = [*SCENARIOS, *MORE, *SHARING, *READING]
_SHORT = ("fold", "gc of an unnamed object")

_ERRORS = {
    "openat": ("EIO", "EACCES", "EMFILE", "ENOSPC"),
    "write": ("ENOSPC", "EIO"),
    "pwrite64": ("ENOSPC", "EIO"),
    "ftruncate": ("ENOSPC", "EIO"),
    "fsync": ("EIO", "ENOSPC"),
    "rename": ("EIO", "ENOSPC", "EACCES"),
    "mkdir": ("ENOSPC", "EIO", "EACCES"),
    "unlink": ("EACCES", "EIO"),
    "newfstatat": ("EACCES", "EIO"),
    "flock": ("ENOLCK", "EIO"),
    "mmap": ("ENOMEM",),
}
"""What each call may fail with; the others with EIO."""

_LISTS = ("ls", "log", "purge of what has a summary")
"""They print while they read, or what they are about to remove and who names it; the exit code says that
there is more, or that it was not done."""

_TWO_DAYS = 2 * 86_400
_FINDINGS, _LOCKED, _DAMAGED = 3, 11, 13


class Point(NamedTuple):
    call: str
    number: int
    kind: str
    """Of the file: its path without what is by chance in it, and whether it is made."""


class TestFailingCalls:
    @pytest.mark.parametrize("scenario", [each for each in _ALL if each.name in _SHORT], ids=repr)
    def test_some(self, ctx: Shell, scenario: Scenario) -> None:
        found = points(scenario, scenario.prepare(ctx, 0))
        firsts = {point.call: point for point in found}
        fail_at_each(ctx, scenario, [(point, errors_of(point)[0]) for point in firsts.values()])

    @pytest.mark.long
    @pytest.mark.parametrize("scenario", _ALL, ids=repr)
    def test_each_kind(self, ctx: Shell, scenario: Scenario) -> None:
        found = points(scenario, scenario.prepare(ctx, 0))
        firsts = {(point.call, point.kind): point for point in found}
        fail_at_each(
            ctx, scenario, [(point, error) for point in firsts.values() for error in errors_of(point)]
        )


def points(scenario: Scenario, shell: Shell) -> list[Point]:
    """Every call of the scenario on the store, on OUT, stdout and stderr."""
    done = run(scenario, shell, None)
    assert done.code == 0, done.err
    return [
        Point(event.call, event.number, kind_of(event, shell))
        for event in done.events
        if is_ours(event, str(shell.store), scenario.out_of(shell), scenario.places(shell))
    ]


def is_ours(event: Event, store: str, out: str | None, places: tuple[str, ...] = ()) -> bool:
    if event.call == "fcntl" and re.search(r", F_(?:GETFD|SETFD|GETFL|DUPFD)", event.flags):
        return False
    if event.descriptor in (1, 2):
        return event.call == "write"
    return any(path.startswith((store, out or "\0", *places)) for path in event.paths)


def kind_of(event: Event, shell: Shell) -> str:
    path = event.paths[-1].removeprefix(str(shell.folder)) if event.paths else ""
    path = re.sub(r"pipe:.*|(?<=/tmp/).*|[0-9a-f]{2}(?=/|$)|[0-9a-f]{32,}", "*", path)
    return path + (" made" if "O_CREAT" in event.flags else "")


def errors_of(point: Point) -> list[str]:
    """Opening a file that is there takes no room."""
    errors = _ERRORS.get(point.call, ("EIO",))
    is_full = point.call != "openat" or point.kind.endswith(" made")
    return [error for error in errors if error != "ENOSPC" or is_full]


def run(scenario: Scenario, shell: Shell, fail_at: tuple[str, int, str] | None) -> Traced:
    calls = f"{CALLS},{READS}" if fail_at is None else fail_at[0]
    return traced(
        scenario.command(shell),
        shell.folder,
        environment=shell.environment,
        stdin=scenario.stdin,
        calls=calls,
        fail_at=fail_at,
    )


def fail_at_each(ctx: Shell, scenario: Scenario, chosen: list[tuple[Point, str]]) -> None:
    wrong: list[str] = []
    failed = 0
    for seed, (point, error) in enumerate(chosen, start=1):
        shell = scenario.prepare(ctx, seed)
        wanted = shell.run(scenario.command(shell), scenario.stdin).out if scenario in READING else None
        done = run(scenario, shell, (point.call, point.number, error))
        if is_met(done, shell, scenario):
            failed += 1
            found = [*unclear(scenario, done, error), *untrue(scenario, done, wanted)]
            found += after(scenario, shell)
            wrong += [f"{done.injected} -> {done.code} {done.err!r}: {each}" for each in found]
        shutil.rmtree(shell.folder)
    assert not wrong, "\n".join(wrong)
    # Calls are counted for each thread, and threads take turns: a few may not be met again.
    assert failed >= 0.8 * len(chosen) > 0


def is_met(done: Traced, shell: Shell, scenario: Scenario) -> bool:
    """Another thread, or a forked process, may have made the call of that number, on something else."""
    ours = (str(shell.store), scenario.out_of(shell) or "\0", *scenario.places(shell), "(1<", "(2<")
    return any(each in done.injected for each in ours)


def unclear(scenario: Scenario, done: Traced, error: str) -> list[str]:
    """What the error should have said, or not."""
    found = []
    allowed = {0, 1, _LOCKED, *scenario.exit_codes}
    if scenario.arguments[0] == "verify":
        allowed.add(_FINDINGS)
    if error == "EIO" or "/.ctxstore/roots" in done.injected:
        # A medium that can't give the bytes back is damage, and so is not knowing what is kept.
        allowed.add(_DAMAGED)
    if done.code not in allowed:
        found.append(f"exit {done.code}")
    if "Traceback" in done.err:
        found.append("a traceback")
    said = [line for line in done.err.splitlines() if line.startswith(("error: ", '{"event":"error"'))]
    if done.code not in (0, _FINDINGS) and len(said) != 1 and "(2<" not in done.injected:
        found.append("not one error")
    return found


def untrue(scenario: Scenario, done: Traced, wanted: bytes | None) -> list[str]:
    """Output that should not have been. wanted: of a command that only reads."""
    if "(1<" in done.injected:
        return []
    if "(2<" in done.injected and scenario.name.startswith("summary "):
        return []  # All was stored and printed; that it was made, or a hit, could not be said.
    if done.code not in (0, _FINDINGS) and done.out and scenario.name not in _LISTS:
        return [f"printed {done.out[:80]!r} and failed"]
    # A list goes on, and says of an object that can't be read that it is damaged.
    if done.code == 0 and wanted is not None and done.out != wanted and b"damaged" not in done.out:
        return [f"printed {done.out[:80]!r}"]
    return []


def after(scenario: Scenario, shell: Shell) -> list[str]:
    """What is lost, or left behind, once the command was run again, and a gc two days later."""
    # What can't be read while an index is made anew has no row in it, until a gc; and a purge that failed is
    # told, until it is run again.
    told = ("unindexed", "purged") if scenario.arguments[0] == "purge" else ("unindexed",)
    found = [each for each in lost(scenario, shell) if not each.startswith(told)]
    found += scenario.wrong(shell, is_done=False)
    again = shell.run(scenario.command(shell), scenario.stdin)
    if again.code != 0:
        return [*found, f"again: {again.code} {again.err}"]
    found += [each for each in lost(scenario, shell) if not each.startswith("unindexed")]
    store = Store.open(shell.store)
    if scenario.stdin and scenario.arguments[0] == "fold":
        folded = (shell.folder / scenario.out).read_bytes() if scenario.out else again.out
        if api.unfold_bytes(store, folded) != scenario.stdin:
            found.append("again: unfolds to other bytes")
    late = Store.open(shell.store, clock=lambda: time.time() + _TWO_DAYS)
    sweep(late)
    found += [f"after gc: {each}" for each in findings(store)]
    found += [f"left: {each.name}" for each in (shell.store / "tmp").iterdir()]
    found += scenario.wrong(shell, is_done=True)
    beside = {each.name for each in shell.folder.iterdir()} - {".ctxstore", "kept.json", scenario.out}
    beside -= scenario.beside
    if not scenario.files:
        found += [f"left beside the store: {each}" for each in beside]
    late.close()
    store.close()
    return found


def lost(scenario: Scenario, shell: Shell) -> list[str]:
    if not shell.store.exists():
        return [] if not scenario.has_store else ["the store"]
    store = Store.open(shell.store)
    found = serious(findings(store))
    for folded, source in scenario.kept.items():
        try:
            if api.unfold_bytes(store, folded) != source:
                found.append("a kept document unfolds to other bytes")
        except CastoreError as error:
            found.append(f"a kept document: {error}")
    store.close()
    return found


class TestWrittenAgain:
    """Within one process too: after an error of the disk nothing is relied on that was written before it."""

    @pytest.mark.parametrize("at", range(5))
    def test_a_commit_tried_again_writes_anew(
        self, fast_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
    ) -> None:
        store = Store.init(fast_path / "store")
        api.put(store, b"so that there is an index")
        real, synced = durable.calls.fsync, list[str]()

        def fsync(descriptor: int) -> None:
            synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
            if len(synced) == at + 1:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            real(descriptor)

        monkeypatch.setattr(durable.calls, "fsync", fsync)
        with store.batch() as batch:
            staged = batch.stage(b"some bytes " * 20)
            draft = RootDraft(RootKind.PUT, (staged.digest,))
            with pytest.raises(CastoreError):
                batch.commit(draft)
            synced += [""] * 99
            batch.commit(draft)
            again = synced[synced.index("") + 99 :]
        in_tmp = [path for path in again if "/tmp/" in path]
        assert len(in_tmp) >= 2, "the object and its root are new files"
        assert not set(in_tmp) & set(synced[: synced.index("")])
        assert any(path.endswith(f"/objects/{staged.digest.hex[:2]}") for path in again)
        assert findings(store) == []
