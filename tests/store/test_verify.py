"""verify names every kind of damage, writes nothing, and finds nothing where nothing is wrong."""

from __future__ import annotations

import os
import stat
import time
from dataclasses import replace
from pathlib import Path

import pytest

from castore.config import FRAME_BYTES, STAGED_AGE_SECONDS_MAX
from castore.digest import Digest
from castore.errors import ObjectDamaged
from castore.gc import workers
from castore.gc.verify import verify
from castore.objects.finding import Finding, FindingName
from castore.roots.files import encode_root
from castore.store import Store
from castore.store.access import Access
from castore.store.tombstones import Tombstone

from .conftest import Clock, everything, file_of, flip, overwrite, put
from .damages import DAMAGES, prepared


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("castore.gc.verify._LOOK_AGAIN_SECONDS", (0.0,))


def names(store: Store, **options: bool) -> list[tuple[str, Digest | None]]:
    before = everything(Path(store.folder))
    found = [(finding.name.value, finding.digest) for finding in verify(store, **options)]
    assert everything(Path(store.folder)) == before
    return found


class TestObjects:
    @pytest.mark.parametrize("size", [0, 40, 900])
    def test_every_flipped_bit_is_reported(self, store: Store, size: int) -> None:
        data = os.urandom(size // 2) + b"x" * (size - size // 2)
        (digest,) = put(store, data).objects
        file = file_of(store, digest)
        original = file.read_bytes()
        for bit in range(0, 8 * len(original), 1 if size < 100 else 7):
            flip(file, bit)
            assert names(store) == [("damaged", digest)]
            try:
                assert store.read(digest) == data
            except ObjectDamaged as error:
                assert error.fields["digest"] == str(digest)  # noqa: PT017
            overwrite(file, original)
        assert names(store) == []

    def test_flipped_bits_of_a_large_object_are_reported(self, store: Store) -> None:
        data = os.urandom(FRAME_BYTES) + b"row " * (FRAME_BYTES // 2)
        (digest,) = put(store, data).objects
        file = file_of(store, digest)
        length = 8 * len(file.read_bytes())
        for bit in [0, 9, 80, length // 3, length // 2, *range(length - 8 * 34, length, 5)]:
            flip(file, bit)
            assert names(store) == [("damaged", digest)], bit
            flip(file, bit)
        assert names(store) == []

    def test_swapped_cut_missing_and_foreign(self, store: Store) -> None:
        first, second = put(store, b"first" * 50, b"second" * 50).objects
        one, two = file_of(store, first), file_of(store, second)
        good = one.read_bytes()
        overwrite(one, two.read_bytes())
        assert names(store) == [("damaged", first)]
        overwrite(one, good[:-3])
        assert names(store) == [("damaged", first)]
        assert names(store, quick=True) == [("mismatch", first)]
        one.unlink()
        assert names(store) == names(store, quick=True) == [("missing", first)]
        two.unlink()
        assert sorted(names(store)) == sorted([("missing", first), ("missing", second)])

    def test_an_object_that_no_root_names(self, store: Store) -> None:
        root = put(store, b"x")
        put(store, b"y")
        os.unlink(store.parts.layout.root_file(root.id))
        assert names(store) == [("missing", None), ("unnamed", root.objects[0])]

    def test_a_file_without_a_row(self, store: Store) -> None:
        (digest,) = put(store, b"x").objects
        with store.parts.index.writing() as connection:
            connection.execute("DELETE FROM objects")
        assert names(store) == [("unindexed", digest)]

    def test_a_row_that_says_something_else(self, store: Store) -> None:
        (digest,) = put(store, b"x").objects
        with store.parts.index.writing() as connection:
            connection.execute("UPDATE objects SET size=7")
        assert names(store) == [("mismatch", digest)]

    @pytest.mark.parametrize("processes", [1, 2, 5])
    @pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
    def test_the_findings_do_not_depend_on_how_many_work(
        self, store: Store, processes: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(workers, "processes_for", lambda listed: processes)
        root = put(store, *(b"%d" % number for number in range(300)))
        for digest in root.objects[::7]:
            overwrite(file_of(store, digest), b"junk")
        assert names(store) == [("damaged", digest) for digest in root.objects[::7]]


class TestItWritesNothing:
    """Nor does SQLite, in a folder that says that it can't be written."""

    @pytest.mark.parametrize("damage", [None, *DAMAGES])
    def test_where_nothing_can_be_written(
        self, tmp_path: Path, clock: Clock, damage: str | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store = prepared(tmp_path / "s", clock)
        if damage is not None:
            DAMAGES[damage](store)
        store.close()
        findings = set(verify(Store.open(tmp_path / "s", clock=clock, access=Access(("*",)))))
        for ending in ("-wal", "-shm"):
            Path(f"{store.parts.layout.index}{ending}").unlink(missing_ok=True)
        for path in (tmp_path / "s").rglob("*"):
            if not path.is_symlink():
                path.chmod(path.stat().st_mode & ~0o222)
        monkeypatch.setattr("castore.index.connection.os.access", lambda *_: False)
        before = self.everything(tmp_path / "s")
        assert set(verify(Store.open(tmp_path / "s", clock=clock, access=Access(("*",))))) == findings
        assert self.everything(tmp_path / "s") == before

    def everything(self, folder: Path) -> dict[str, object]:
        """Names, bytes, modes, inodes and times."""
        found: dict[str, object] = {}
        for path in [folder, *folder.rglob("*")]:
            seen = path.lstat()
            is_file = stat.S_ISREG(seen.st_mode)
            found[str(path)] = (
                path.read_bytes() if is_file else None,
                seen.st_mode,
                seen.st_ino,
                seen.st_mtime_ns,
            )
        return found


class TestEverythingElse:
    def test_a_damaged_root_file(self, store: Store) -> None:
        root = put(store, b"x")
        path = Path(store.parts.layout.root_file(root.id))
        flip(path, 300)
        (finding,) = verify(store)
        assert (finding.name, finding.place) == (FindingName.DAMAGED, str(path))

    def test_strays(self, store: Store, clock: Clock, tmp_path: Path) -> None:
        (digest,) = put(store, b"x").objects
        clock.now = time.time()
        folder = file_of(store, digest).parent
        old = Path(store.parts.layout.tmp) / "old"
        strays = [folder / "notes.txt", folder.parent / "zz", folder.parent / "file", folder / "sub"]
        strays[0].write_bytes(b"x")
        strays[1].mkdir()
        strays[2].write_bytes(b"x")
        strays[3].mkdir()
        old.write_bytes(b"x")
        os.utime(old, (1, clock.now - STAGED_AGE_SECONDS_MAX - 10))
        (Path(store.parts.layout.tmp) / "young").write_bytes(b"x")
        found = [(finding.name, finding.place) for finding in verify(store)]
        assert sorted(found) == sorted((FindingName.STRAY, str(path)) for path in (*strays, old))

    def test_a_link_or_another_name_of_an_object(self, store: Store, tmp_path: Path) -> None:
        (digest,) = put(store, b"x").objects
        file = file_of(store, digest)
        os.link(file, tmp_path / "other")
        assert names(store) == [("stray", None)]
        os.unlink(tmp_path / "other")
        os.rename(file, tmp_path / "moved")
        os.symlink(tmp_path / "moved", file)
        assert ("damaged", digest) in names(store)

    def test_a_damaged_index(self, store: Store) -> None:
        put(store, b"x")
        store.close()
        Path(store.parts.layout.index).write_bytes(b"junk" * 5000)
        (finding,) = verify(Store.open(store.folder))
        assert (finding.name, finding.place) == (FindingName.DAMAGED, store.parts.layout.index)

    def test_a_root_that_the_index_has_and_whose_file_is_gone(self, store: Store, clock: Clock) -> None:
        root = put(store, b"x")
        put(store, b"y", keep_seconds=5)
        for each in store.roots():
            os.unlink(store.parts.layout.root_file(each.id))
        clock.now += 10
        lost = [each for each in verify(store) if each.name is FindingName.MISSING]
        assert [each.place for each in lost] == [store.parts.layout.root_file(root.id)]
        # Files win: the next write follows them.
        put(store, b"z")
        assert {each.name for each in verify(store)} == {FindingName.UNNAMED}

    def test_a_root_that_lost_its_name_is_not_missing(self, store: Store) -> None:
        first, second = put(store, b"x", b"y").objects
        old = store.tag("name", first.hex)
        stale = Path(store.parts.layout.root_file(old.id)).read_bytes()
        store.tag("name", second.hex, move=True)
        path = Path(store.parts.layout.root_file(old.id))
        path.write_bytes(stale)
        with store.parts.writing():
            pass  # The index has both, as where a name move was killed.
        path.unlink()
        assert names(store) == []

    def test_rows_that_say_something_else_of_a_root(self, store: Store) -> None:
        root = put(store, b"x")
        with store.parts.index.writing() as connection:
            connection.execute("UPDATE roots SET created=created+1")
        (finding,) = verify(store)
        assert (finding.name, finding.place) == (
            FindingName.UNINDEXED,
            store.parts.layout.root_file(root.id),
        )

    def test_a_root_file_that_was_written_into(self, store: Store) -> None:
        root = put(store, b"x")
        path = Path(store.parts.layout.root_file(root.id))
        overwrite(path, encode_root(replace(root, created=root.created + 1)))
        assert [each.name for each in verify(store)] == [FindingName.UNINDEXED]

    def test_a_purged_object_that_a_root_names(self, store: Store, clock: Clock) -> None:
        (digest,) = put(store, b"x").objects
        store.parts.tombstones.publish(Tombstone(digest, clock.now, "a secret", ("default",)))
        for _ in range(2):  # A purge that was killed left its file, or not.
            (finding,) = verify(store)
            assert (finding.name, finding.digest) == (FindingName.PURGED, digest)
            assert "a secret" in finding.words
            file_of(store, digest).unlink(missing_ok=True)

    def test_a_damaged_tombstone(self, store: Store, clock: Clock) -> None:
        (digest,) = put(store, b"x").objects
        store.parts.tombstones.publish(Tombstone(digest, clock.now, "a secret", ("default",)))
        path = store.parts.layout.tombstone(digest.hex)
        flip(Path(path), 200)
        (finding,) = verify(store)
        assert (finding.name, finding.place) == (FindingName.DAMAGED, path)

    def test_which_digest_a_foreign_file_has(self, store: Store) -> None:
        first, second = put(store, b"first" * 50, b"second" * 50).objects
        overwrite(file_of(store, first), file_of(store, second).read_bytes())
        (finding,) = verify(store)
        assert second.abbreviated in finding.words

    def test_shards_and_an_index_that_are_no_folder_or_file(self, store: Store, tmp_path: Path) -> None:
        root = put(store, b"x")
        store.close()
        layout = store.parts.layout
        (tmp_path / "elsewhere").mkdir()
        shard = Path(layout.root_folder(root.id))
        shard.rename(tmp_path / "shard")
        shard.symlink_to(tmp_path / "shard")
        Path(layout.index).unlink()
        Path(layout.index).mkdir()
        found = {(each.name, each.place) for each in verify(Store.open(store.folder, access=Access(("*",))))}
        assert {
            (FindingName.DAMAGED, str(shard)),
            (FindingName.STRAY, str(shard)),
            (FindingName.DAMAGED, layout.index),
        } <= found

    def test_a_line_of_text(self) -> None:
        digest = Digest.of(b"")
        assert str(Finding(FindingName.MISSING, digest, "a.json:$.rows@4", "is not there")) == (
            f"missing {digest} a.json:$.rows@4 is not there"
        )
        assert str(Finding(FindingName.STRAY, None, "f", "is a stray")) == "stray - f is a stray"
