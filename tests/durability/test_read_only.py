"""L10: a store that can't be written: every read works, every write refuses with a clear error.

By mode (with root's right to ignore modes dropped), and on a disk that is mounted read-only.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

import pytest

from castore import api
from tests.durability.scenario import VIEWED
from tests.durability.shell import Done, Shell, document
from tests.forked import Server
from tests.transcript.sessions import pi_session

_NO_RIGHTS = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"]
_MOUNTED = [
    *("unshare", "--user", "--map-root-user", "--mount", "sh", "-c"),
    'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"',
    "sh",
]
_OBJECT = b"an object that was put " * 100

READS = {
    "unfold": ("unfold", "kept.json"),
    "unfold a view": ("unfold", "view.jsonl"),
    "collapse log": ("collapse", "log", "session.jsonl"),
    "cat": ("cat", "OBJECT"),
    "show": ("show", "OBJECT"),
    "ls": ("ls",),
    "log": ("log", "--json"),
    "stats": ("stats", "--json"),
    "verify": ("verify",),
    "verify a file": ("verify", "kept.json"),
    "gc that only says": ("gc", "--dry-run"),
}
WRITES = {
    "put": ("put", "-"),
    "fold": ("fold",),
    "fold to OUT": ("fold", "-o", "out.json"),
    "tag": ("tag", "again", "OBJECT"),
    "forget": ("forget", "kept"),
    "gc": ("gc",),
    "view": ("view", "session.jsonl", "--strategy", "clip", "--limit", "100"),
    "collapse stage": ("collapse", "stage", "session.jsonl", "--summarizer", "touch ran"),
}


def _no_rights() -> list[str]:
    return _NO_RIGHTS if os.geteuid() == 0 else []


class ReadOnly:
    """A store, and commands that can't write to it."""

    def __init__(self, shell: Shell, how: str, without_rights: Callable[[], Server]) -> None:
        self.shell = shell
        self._without_rights = without_rights
        self.how = how
        self.digest = str(api.Digest.of(_OBJECT))

    def __call__(self, *arguments: str, stdin: bytes = b"") -> Done:
        done = self.server.run(
            [self.digest if each == "OBJECT" else each for each in arguments],
            stdin,
            self.shell.folder,
            self.shell.environment,
        )
        return Done(done.code, done.out, done.err.decode())

    @cached_property
    def server(self) -> Server:
        """All its forks have no more rights than itself, and see the disk as it does."""
        if self.how == "mode":
            return self._without_rights()
        return Server(self.shell.environment, self._prefix())

    def close(self) -> None:
        if self.how == "mount":
            self.server.close()

    def _prefix(self) -> list[str]:
        if self.how == "mode":
            return _no_rights()
        return [*_MOUNTED, str(self.shell.store)]

    def why_not(self) -> str | None:
        """Why this can't be tried here; None if it can."""
        program = "setpriv" if self.how == "mode" else "unshare"
        if shutil.which(program) is None and (self.how == "mount" or os.geteuid() == 0):
            return f"there is no {program}"
        tried = [*self._prefix(), "touch", str(self.shell.store / "tmp/written")]
        done = subprocess.run(tried, capture_output=True, text=True, check=False)
        if done.returncode != 0 and ("Read-only" in done.stderr or "denied" in done.stderr):
            return None
        return f"the store can still be written, or not mounted: {done.stderr.strip()}"


@pytest.fixture(params=["mode", "mount"])
def how(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def without_rights() -> Iterator[Callable[[], Server]]:
    """The one that may not write where the mode says so; started when it is asked for."""
    servers: list[Server] = []

    def started() -> Server:
        if not servers:
            servers.append(Server(os.environ, _no_rights()))
        return servers[0]

    yield started
    for each in servers:
        each.close()


@pytest.fixture(params=["an index", "no index", "an index that a killed writer left"])
def read_only(
    ctx: Shell, how: str, request: pytest.FixtureRequest, without_rights: Callable[[], Server]
) -> Iterator[ReadOnly]:
    whole = ctx.folder / "whole"
    store = api.init_store(whole)
    ctx.folder.joinpath("kept.json").write_bytes(api.fold_bytes(store, document("kept"), name="kept"))
    api.put(store, _OBJECT)
    ctx.folder.joinpath("session.jsonl").write_bytes(pi_session(6))
    ctx.folder.joinpath("view.jsonl").write_bytes(api.view_bytes(store, pi_session(6), VIEWED))
    if request.param == "an index that a killed writer left":
        shutil.copytree(whole, ctx.store, symlinks=True)
        assert (ctx.store / "index.sqlite-wal").stat().st_size > 0
        store.close()
    else:
        store.close()
        shutil.copytree(whole, ctx.store, symlinks=True)
    if request.param == "no index":
        (ctx.store / "index.sqlite").unlink()
    folders = [Path(path) for path, _, _ in os.walk(ctx.store)]
    if how == "mode":
        for path in ctx.store.rglob("*"):
            path.chmod(0o500 if path.is_dir() else 0o400)
        ctx.store.chmod(0o500)
    made = ReadOnly(ctx, how, without_rights)
    if reason := made.why_not():
        pytest.skip(f"no store is read-only here: {reason}")
    yield made
    made.close()
    for folder in folders:
        folder.chmod(0o700)


class TestReadOnly:
    def test_every_read_works(self, read_only: ReadOnly) -> None:
        shell = read_only.shell
        done = {name: read_only(*arguments) for name, arguments in READS.items()}
        assert {name: each for name, each in done.items() if each.code} == {}
        assert done["unfold"].out == document("kept")
        assert done["unfold a view"].out == pi_session(6)
        assert done["cat"].out == _OBJECT
        assert {name: each.err for name, each in done.items() if each.err} == {}
        assert read_only("cat", read_only.digest[:20]).out == _OBJECT
        assert read_only.digest[7:23].encode() in done["ls"].out + done["show"].out
        assert b'"kept"' in done["log"].out
        assert not list((shell.store / "tmp").iterdir())

    def test_every_write_refuses(self, read_only: ReadOnly) -> None:
        shell = read_only.shell
        before = {path: path.stat().st_mtime_ns for path in shell.store.rglob("*")}
        for name, arguments in WRITES.items():
            done = read_only(*arguments, stdin=document("new"))
            assert done.code == 1, (name, done)
            lines = done.err.splitlines()
            assert [line for line in lines if line.startswith("error: ")] == lines[:1], (name, done)
            assert any(line.startswith("hint: ") for line in lines), (name, done)
            assert "Traceback" not in done.err
            assert done.out == b"", name
        assert not (shell.folder / "out.json").exists()
        assert not (shell.folder / "ran").exists(), "no program is run of which nothing can be kept"
        assert {path: path.stat().st_mtime_ns for path in shell.store.rglob("*")} == before
