"""Whatever call fails, or is the last one: what was stored stays whole, and the next run succeeds."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from castore.digest import Digest
from castore.errors import CastoreError
from castore.gc.sweep import sweep
from castore.gc.verify import verify
from castore.objects.database import ObjectDatabase
from castore.objects.finding import FindingName
from castore.objects.memory import MemorySource
from castore.roots.model import RootDraft, RootKind, merged
from castore.store import Store
from castore.store.keeping import RootChoice

from .conftest import put
from .faults import Crash, Script, scripted

OLD, NEW = b"old" * 100, b"new" * 100
MANY = [b"%d" % number for number in range(80)]


def act_put(store: Store) -> None:
    put(store, NEW, OLD)


def act_put_many(store: Store) -> None:
    put(store, *MANY)


def act_forget(store: Store) -> None:
    store.forget(RootChoice(references=(Digest.of(b"gone").hex,)), at_once=True)


def act_gc(store: Store) -> None:
    sweep(store, forgotten_now=True)


def act_move_name(store: Store) -> None:
    store.tag("name", Digest.of(OLD).hex, move=True)


def act_rebuild(store: Store) -> None:
    for name in os.listdir(store.folder):
        if name.startswith("index.sqlite"):
            (Path(store.folder) / name).unlink()
    put(store, NEW)


def elsewhere(*pieces: bytes) -> ObjectDatabase:
    """Objects that lie in another place."""
    database = ObjectDatabase(MemorySource(), level=lambda: 3)
    staged = map(database.stage, pieces)
    database.source.publish([(each.digest, each.frames) for each in staged])
    return database


def act_import(store: Store) -> None:
    """Two roots come, one based on the other."""
    there = elsewhere(b"base", NEW)
    base = merged(RootDraft(RootKind.PUT, (Digest.of(b"base"),)), "default", None, now=1.0, sequence=1)
    draft = RootDraft(RootKind.PUT, (Digest.of(NEW), Digest.of(OLD)), name="theirs", base=base.id)
    roots = [merged(draft, "default", None, now=2.0, sequence=2), base]
    with store.importing() as importing:
        for digest in importing.needed(roots):
            importing.bring(there, digest)
        importing.commit(roots)
    assert store.read(Digest.of(NEW)) == NEW


def act_fetch(store: Store) -> None:
    """A root promises, and a part of that comes."""
    there = elsewhere(b"first", b"second")
    objects = Digest.of(b"first"), Digest.of(b"second")
    root = merged(RootDraft(RootKind.PUT, objects), "default", None, now=1.0, sequence=1)
    with store.importing() as importing:
        importing.commit([root], lazily="origin")
    with store.importing() as importing:
        importing.bring(there, objects[0])
        importing.commit_objects()
    assert store.read(objects[0]) == b"first"


ACTS: list[Callable[[Store], None]] = [
    act_put,
    act_put_many,
    act_forget,
    act_gc,
    act_move_name,
    act_rebuild,
    act_import,
    act_fetch,
]


def prepared(folder: Path) -> None:
    store = Store.init(folder)
    put(store, OLD)
    put(store, b"gone", b"gone too")
    (other,) = put(store, b"other").objects
    store.tag("name", other.hex)
    store.forget(RootChoice(references=(Digest.of(b"gone").hex, Digest.of(b"gone too").hex)))
    store.close()


def check(folder: Path) -> None:
    """What was kept before is there; nothing is wrong but what a crash leaves; and all is well after gc."""
    store = Store.open(folder)
    assert store.read(Digest.of(OLD)) == OLD
    assert store.resolve("name") in (Digest.of(OLD), Digest.of(b"other"))
    allowed = {FindingName.STRAY, FindingName.UNNAMED}
    findings = list(verify(store))
    assert {finding.name for finding in findings} <= allowed, list(map(str, findings))
    put(store, NEW, OLD)
    assert store.read(Digest.of(NEW)) == NEW
    sweep(store)
    assert list(verify(store)) == []
    store.close()


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("letter", "XEF")
@pytest.mark.parametrize("call", ["open", "write", "fsync", "syncfs", "rename", "unlink", "mkdir"])
def test_a_fault_at_every_call(
    tmp_path: Path, act: Callable[[Store], None], letter: str, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("castore.gc.verify._LOOK_AGAIN_SECONDS", ())
    for before in [*range(8), 20, 79, 80, 81]:
        folder = tmp_path / f"{before}"
        prepared(folder)
        store = Store.open(folder)
        script = Script("." * before + letter)
        error: BaseException | None = None
        with scripted({call: script}):
            try:
                act(store)
            except (Crash, CastoreError) as caught:
                error = caught
        store.close()
        check(folder)
        if script.count <= before:
            break
        assert letter != "X" or isinstance(error, Crash)


class TestSettle:
    """Who writes nothing makes sure of what it read: what an unfinished writer left is written again."""

    @pytest.mark.parametrize("at", range(12))
    def test_what_a_crash_left(self, fast_path: Path, at: int) -> None:
        prepared(fast_path / "store")
        store = Store.open(fast_path / "store")
        before = {root.id for root in store.parts.root_files.all()}
        try:
            with scripted({"fsync": Script("." * at + "X")}):
                act_put(store)
        except Crash:
            pass
        again = Store.open(fast_path / "store")
        left = {root.id for root in again.parts.root_files.all()} - before
        is_behind = again.parts.reading() is None
        with scripted({}) as log:
            again.parts.settle()
        renamed = {path.rpartition("/")[2] for name, path in log if name == "rename" and "/roots/" in path}
        assert renamed == ({f"{root_id}.json" for root_id in left} if is_behind else set())
        assert again.parts.reading() is not None
        with scripted({}) as log:
            again.parts.settle()
        assert log == []
        again.close()

    def test_nothing_is_made_where_nothing_was_written(self, fast_path: Path) -> None:
        store = Store.init(fast_path / "store")
        with scripted({}) as log:
            store.parts.settle()
        assert [name for name, _ in log if name in ("rename", "write")] == []
        store.close()
