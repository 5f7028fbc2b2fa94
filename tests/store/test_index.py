"""The index is derived: whatever becomes of it, nothing is lost, and what it says is what the files say."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from castore.errors import IndexDamaged, RootDamaged, StoreLocked, UnknownStoreFormat
from castore.gc.sweep import sweep
from castore.gc.verify import verify
from castore.index.connection import IndexFile
from castore.roots.model import Root, RootDraft, RootKind
from castore.store import Store, StoreHandle

from .conftest import everything, file_of, put

ROOT = Path(__file__).parents[2]


def remove_index(folder: str) -> None:
    for name in os.listdir(folder):
        if name.startswith("index.sqlite"):
            os.unlink(os.path.join(folder, name))


def rewrite(data: bytes) -> Callable[[Path], None]:
    def act(path: Path) -> None:
        path.write_bytes(data)

    return act


def set_version(number: int) -> Callable[[Path], None]:
    def act(path: Path) -> None:
        connection = sqlite3.connect(path)
        connection.execute(f"PRAGMA user_version={number}")
        connection.commit()
        connection.close()

    return act


def scribble(path: Path) -> None:
    with open(path, "r+b") as file:
        for page in range(0, path.stat().st_size, 4096):
            file.seek(page + 3000)
            file.write(b"\xff" * 900)


class TestWithoutIndex:
    def test_every_question_has_the_same_answer(self, store: Store) -> None:
        put(store, b"one", b"two", source_name="a")
        put(store, b"two", name="mine", keep_seconds=50)

        def answers(asked: Store) -> list[object]:
            roots = asked.roots()
            digests = list(asked.digests())
            return [
                roots,
                asked.roots(limit=1),
                [
                    replace(root, objects=tuple(root.objects))
                    for digest in digests
                    for root in asked.roots_naming(digest)
                ],
                asked.named_roots("mine"),
                asked.find(roots[0].id[:9]),
                replace(asked.stats(), read_bytes=0),  # What the first run reads, the second is told of.
                [asked.read(digest) for digest in digests],
            ]

        with_index = answers(store)
        store.close()
        remove_index(store.folder)
        other = Store.open(store.folder, clock=store.parts.clock)
        assert answers(other) == with_index
        assert not os.path.exists(store.parts.layout.index)
        assert list(verify(other)) == []

    @pytest.mark.parametrize(
        "harm",
        [
            os.unlink,
            rewrite(b""),
            rewrite(b"not a database" * 999),
            set_version(0),
            set_version(1 << 20),
            scribble,
        ],
    )
    def test_reading_works_and_writing_makes_it_anew(
        self, store: Store, harm: Callable[[Path], None]
    ) -> None:
        root = put(store, b"one", b"two" * 500)
        store.close()
        harm(Path(store.parts.layout.index))
        other = Store.open(store.folder)
        assert [each.id for each in other.roots()] == [root.id]
        if "newer" in (other.parts.index.problem() or ""):
            with pytest.raises(UnknownStoreFormat):
                put(other, b"three")
            return
        put(other, b"three")
        assert len(other.roots()) == 2
        other.close()
        again = Store.open(store.folder)
        assert list(verify(again)) == []
        assert sweep(again).objects == 0
        assert sorted(again.digests()) == sorted({*root.objects, *again.roots()[0].objects})


class TestDamagedIndex:
    @pytest.mark.parametrize("apart", [4, pytest.param(1, marks=pytest.mark.long)])
    def test_any_page_of_it(self, store: Store, tmp_path: Path, apart: int) -> None:
        """apart: every so manyth page; the first, which says what the others are, always."""
        kept = put(store, *(b"%d" % number for number in range(300)))
        put(store, b"x", name="mine")
        store.close()
        index = Path(store.parts.layout.index)
        good = index.read_bytes()
        for page in range(0, len(good) // 4096, apart):
            for start, junk in ((0, b"\xff" * 4096), (2000, b"\xee" * 64), (0, b"\x0d" + bytes(40))):
                bad = bytearray(good)
                bad[page * 4096 + start : page * 4096 + start + len(junk)] = junk
                for ending in ("-wal", "-shm"):
                    Path(f"{index}{ending}").unlink(missing_ok=True)
                index.write_bytes(bad)
                self.use(Store.open(store.folder), kept)

    def use(self, store: Store, kept: Root) -> None:
        store.stats()
        assert [root.objects for root in store.roots() if root.id == kept.id] == [kept.objects]
        assert {finding.place for finding in verify(store)} <= {store.parts.layout.index, None}
        for attempt in range(3):
            try:
                put(store, b"more", source_name=f"{attempt}")
                assert sweep(store).objects == 0
                break
            except IndexDamaged:
                assert attempt < 2
        assert list(verify(store)) == []
        store.close()


class TestFilesWin:
    def test_a_root_that_came_or_went_by_hand(self, store: Store, tmp_path: Path) -> None:
        first = put(store, b"one")
        second = put(store, b"two")
        file = Path(store.parts.layout.root_file(first.id))
        kept = tmp_path / "kept"
        shutil.move(file, kept)
        assert [root.id for root in store.roots()] == [second.id]
        put(store, b"three")
        assert {root.id for root in store.roots()} == {second.id, store.roots()[0].id}
        shutil.move(kept, file)
        assert first.id in {root.id for root in store.roots()}
        put(store, b"four")
        assert first.id in {root.id for root in store.roots()}
        assert list(verify(store)) == []
        assert sweep(store).objects == 0

    def test_objects_and_roots_of_another_store_are_taken_in(self, store: Store, tmp_path: Path) -> None:
        other = Store.init(tmp_path / "other")
        root = put(other, b"theirs" * 100)
        put(store, b"ours")
        for part in ("objects", "roots"):
            shutil.copytree(f"{other.folder}/{part}", f"{store.folder}/{part}", dirs_exist_ok=True)
        assert {each.id for each in store.roots()} >= {root.id}
        put(store, b"more")
        assert list(verify(store)) == []
        assert store.parts.reading() is not None

    def test_a_root_file_that_is_damaged_stops_writing_and_gc(self, store: Store) -> None:
        root = put(store, b"one")
        path = Path(store.parts.layout.root_file(root.id))
        data = path.read_bytes()
        path.unlink()
        path.write_bytes(data.replace(b'"scope":"default"', b'"scope":"defaulT"'))
        for act in (lambda: put(store, b"two"), lambda: sweep(store)):
            with pytest.raises(RootDamaged) as failure:
                act()
            assert failure.value.exit_code == 13
        assert store.read(root.objects[0]) == b"one"

    def test_roots_gone_stops_writing_and_gc(self, store: Store) -> None:
        root = put(store, b"one")
        shutil.rmtree(store.parts.layout.roots)
        for act in (lambda: put(store, b"two"), lambda: sweep(store)):
            with pytest.raises(RootDamaged):
                act()
        os.mkdir(store.parts.layout.roots)
        with pytest.raises(RootDamaged):
            sweep(store)
        assert store.read(root.objects[0]) == b"one"

    def test_of_two_that_claim_a_name_the_later_has_it(self, store: Store, tmp_path: Path) -> None:
        other = Store.init(tmp_path / "other")
        put(other, b"a")
        put(other, b"theirs", name="mine")
        put(store, b"ours", name="mine")
        for part in ("objects", "roots"):
            shutil.copytree(f"{other.folder}/{part}", f"{store.folder}/{part}", dirs_exist_ok=True)
        assert store.read(store.resolve("mine")) == b"theirs"
        put(store, b"more")
        assert store.read(store.resolve("mine")) == b"theirs"


class TestClone:
    def test_a_clone_of_a_tracked_store_has_all_but_the_index(self, tmp_path: Path) -> None:
        original = Store.init(tmp_path / "work" / ".ctxstore", tracked=True)
        root = put(original, b"one", b"two" * 3000)
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(tmp_path / "work")]
        for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
            subprocess.run([*git, *arguments], check=True)
        subprocess.run(["git", "clone", "-q", str(tmp_path / "work"), str(tmp_path / "clone")], check=True)
        clone = Store.open(tmp_path / "clone" / ".ctxstore")
        assert "index.sqlite" not in os.listdir(clone.folder)
        assert list(verify(clone)) == []
        assert [each.id for each in clone.roots()] == [root.id]
        assert clone.read(root.objects[0]) in (b"one", b"two" * 3000)
        put(clone, b"three")
        assert sweep(clone).objects == 0
        assert list(verify(clone)) == []

    def test_an_empty_tracked_store_can_be_written_after_a_clone(self, tmp_path: Path) -> None:
        made = Store.init(tmp_path / "s", tracked=True)
        for name in ("objects", "roots", "tmp"):
            os.rmdir(f"{made.folder}/{name}")
        assert Store.open(made.folder).roots() == []
        assert list(verify(Store.open(made.folder))) == []
        put(Store.open(made.folder), b"x")


class TestReadOnly:
    @pytest.mark.skipif(os.geteuid() != 0 or sys.platform != "linux", reason="needs a bind mount, as root")
    def test_reading_needs_no_write_access(self, store: Store, tmp_path: Path) -> None:
        root = put(store, b"one", name="mine")
        store.close()
        view = tmp_path / "view"
        view.mkdir()
        mounted = subprocess.run(["mount", "--bind", store.folder, str(view)], check=False).returncode == 0
        if not mounted:
            pytest.skip("bind mounts are not allowed here")
        try:
            subprocess.run(["mount", "-o", "remount,ro,bind", str(view)], check=True)
            reader = Store.open(view)
            assert [each.id for each in reader.roots()] == [root.id]
            assert reader.read(reader.resolve("mine")) == b"one"
            assert list(verify(reader)) == []
            with pytest.raises(Exception, match="Read-only file system"):
                put(reader, b"two")
            reader.close()
        finally:
            subprocess.run(["umount", str(view)], check=True)

    def test_reading_creates_nothing(self, store: Store) -> None:
        before = sorted(os.listdir(store.folder))
        reader = Store.open(store.folder)
        assert reader.roots() == []
        assert list(verify(reader)) == []
        assert (
            sorted(os.listdir(store.folder))
            == before
            == sorted({*everything(Path(store.folder)), "objects", "roots", "tmp"})
        )


class TestLock:
    def test_a_writer_waits_and_then_gives_up(self, store: Store, tmp_path: Path) -> None:
        put(store, b"one")
        impatient = Store.open(store.folder)
        impatient.parts._index = IndexFile(store.parts.layout, mode=0o600, timeout_seconds=0.2)
        with store.parts.writing(), pytest.raises(StoreLocked) as failure:
            put(impatient, b"two")
        assert failure.value.exit_code == 11
        put(impatient, b"two")

    def test_an_index_replaced_under_a_writer_locks_it_out_of_nothing(self, store: Store) -> None:
        put(store, b"one")
        remove_index(store.folder)
        other = Store.open(store.folder)
        put(other, b"two")
        put(store, b"three")
        assert len(store.roots()) == len(other.roots()) == 3
        assert list(verify(other)) == []


class TestCreation:
    def test_init_twice_is_an_error_and_leaves_the_first(self, store: Store, tmp_path: Path) -> None:
        from castore.errors import StoreExists

        before = everything(Path(store.folder))
        with pytest.raises(StoreExists):
            Store.init(store.folder)
        (tmp_path / "full").mkdir()
        (tmp_path / "full" / "x").write_bytes(b"")
        with pytest.raises(StoreExists):
            Store.init(tmp_path / "full")
        assert everything(Path(store.folder)) == before
        assert sorted(os.listdir(tmp_path)) == ["full", "s"]

    def test_many_processes_make_one_store(self, tmp_path: Path) -> None:
        code = (
            "import sys\nfrom castore.store import StoreHandle\nfrom castore.roots.model import *\n"
            "handle = StoreHandle(sys.argv[1], may_create=True)\nstore = handle.get_or_create()\n"
            "with store.batch() as batch:\n"
            "    batch.commit(RootDraft(RootKind.PUT, (batch.stage(sys.argv[2].encode()).digest,)))\n"
        )
        folder = tmp_path / "a" / ".ctxstore"
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", code, str(folder), str(number)],
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
            for number in range(6)
        ]
        assert [process.wait(60) for process in processes] == [0] * 6
        store = Store.open(folder)
        assert {store.read(root.objects[0]) for root in store.roots()} == {
            b"%d" % number for number in range(6)
        }
        assert list(verify(store)) == []
        assert os.listdir(tmp_path / "a") == [".ctxstore"]

    def test_reading_never_makes_one(self, tmp_path: Path) -> None:
        from castore.errors import StoreMissing

        for may_create in (True, False):
            handle = StoreHandle(tmp_path / "x", may_create=may_create)
            assert not handle.exists
            with pytest.raises(StoreMissing):
                handle.get()
        with pytest.raises(StoreMissing):
            StoreHandle(tmp_path / "x", may_create=False).get_or_create()
        assert os.listdir(tmp_path) == []

    def test_an_unknown_format_is_refused(self, store: Store) -> None:
        Path(store.parts.layout.format).write_text("castore 99\n")
        with pytest.raises(UnknownStoreFormat):
            Store.open(store.folder)

    def test_a_group_may_share_it(self, tmp_path: Path) -> None:
        umask = os.umask(0o077)
        try:
            store = Store.init(tmp_path / "s", shared=True)
            (digest,) = put(store, b"x").objects
        finally:
            os.umask(umask)
        assert file_of(store, digest).stat().st_mode & 0o7777 == 0o440
        assert Path(store.parts.layout.tmp).stat().st_mode & 0o7777 == 0o2770
        assert Path(store.parts.layout.index).stat().st_mode & 0o777 == 0o660
        assert Store.open(store.folder).parts.modes.is_shared

    def test_a_setting_that_is_not_known_is_named(self, store: Store) -> None:
        from castore.errors import InvalidConfig

        Path(store.parts.layout.config).write_text("[store]\ncompresion-level = 4\n")
        with pytest.raises(InvalidConfig, match="compresion-level"):
            _ = Store.open(store.folder).config
        Path(store.parts.layout.config).write_text("[store]\ncompression-level = 19\n")
        with Store.open(store.folder).batch() as batch:
            batch.commit(RootDraft(RootKind.PUT, (batch.stage(b"x" * 999).digest,)))
