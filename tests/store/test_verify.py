"""verify names every kind of damage, writes nothing, and finds nothing where nothing is wrong."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from castore.config import FRAME_BYTES, STAGED_AGE_SECONDS_MAX
from castore.digest import Digest
from castore.errors import ObjectDamaged
from castore.gc import workers
from castore.gc.verify import verify
from castore.objects.finding import Finding, FindingName
from castore.store import Store

from .conftest import Clock, everything, file_of, flip, overwrite, put


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

    def test_a_line_of_text(self) -> None:
        digest = Digest.of(b"")
        assert str(Finding(FindingName.MISSING, digest, "a.json:$.rows@4", "is not there")) == (
            f"missing {digest} a.json:$.rows@4 is not there"
        )
        assert str(Finding(FindingName.STRAY, None, "f", "is a stray")) == "stray - f is a stray"
