"""verify of a whole remote: what is wrong with a bucket is found, each time, and nothing else is."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from castore import api
from castore.digest import Digest
from castore.errors import RemoteMissing, ScopeDenied
from castore.objects.finding import Finding, FindingName
from castore.remote.bucket import Bucket
from castore.remote.choosing import choose
from castore.remote.connecting import connect
from castore.remote.forgetting import forget
from castore.remote.gc import collect
from castore.remote.keys import digest_of, root_id_of
from castore.remote.push import push
from castore.remote.spool import DigestSpool
from castore.remote.survey import BucketSurvey, survey
from castore.roots.model import RootDraft, RootKind
from castore.settings import RemoteSettings
from castore.store import Access, Store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "bucket"


@pytest.fixture
def bucket(folder: Path) -> Bucket:
    return connect("origin", RemoteSettings(url=folder.as_uri()))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store.init(tmp_path / "store")
    yield store
    store.close()


@pytest.fixture
def pushed(store: Store, bucket: Bucket) -> Store:
    """Of all kinds: a name that moved, a root with a base, a log, an object of several frames."""
    store.tag("first", str(api.put(store, b"one\n" * 200)))
    store.tag("second", str(api.put(store, random.Random(1).randbytes(3 << 20))))
    [base] = store.keep([RootDraft(RootKind.VIEW, (api.put(store, b"base " * 99),), source_name="v")])
    store.keep([RootDraft(RootKind.VIEW, (api.put(store, b"on it " * 99),), source_name="w", base=base.id)])
    for place in (1, 2, 3):
        objects = (api.put(store, b"record %d " % place * 90),)
        store.keep([RootDraft(RootKind.COLLAPSE, objects, source_name="session", place=place)])
    assert not push(store, bucket, choose(store, [], everything=True)).refused
    return store


def found(store: Store, bucket: Bucket, **options: bool) -> list[Finding]:
    return list(survey(store, bucket, **options))


def files(folder: Path, kind: str) -> list[Path]:
    return sorted(path for path in (folder / kind).rglob("*") if path.is_file())


def cut(path: Path) -> None:
    hurt(path, path.read_bytes()[:-9])


def changed(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    hurt(path, bytes(data))


def emptied(path: Path) -> None:
    hurt(path, b"")


def hurt(path: Path, data: bytes) -> None:
    path.chmod(0o600)
    path.write_bytes(data)


class TestNothingWrong:
    def test_is_no_finding(self, pushed: Store, bucket: Bucket) -> None:
        for whole in (False, True):
            told = BucketSurvey()
            assert list(survey(pushed, bucket, whole=whole, told=told)) == []
            objects = len(list(pushed.parts.source.digests()))
            assert (told.roots, told.names, told.objects) == (len(pushed.roots()), 2, objects)

    def test_what_a_killed_push_left_is_no_finding(self, pushed: Store, bucket: Bucket, folder: Path) -> None:
        [root] = pushed.named_roots("second")
        naming = {each.id for each in pushed.roots_naming(root.objects[0])}
        for path in [*files(folder, "roots"), *files(folder, "names")]:
            if path.stem in naming or b'"second"' in path.read_bytes():
                path.unlink()
        told = BucketSurvey()
        assert list(survey(pushed, bucket, told=told)) == []
        assert told.unnamed == 1

    def test_a_gc_beside_it_makes_no_finding(
        self, pushed: Store, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Names, then roots, then objects were read: before each, all that was read goes."""
        real = bucket.entries

        def entries(prefix: str) -> Iterator[object]:
            if prefix in ("roots/", "objects/00/") and prefix not in seen:
                seen.append(prefix)
                ids = [root.id for root in pushed.roots() if root.is_live(pushed.parts.clock())]
                forget(pushed, bucket, ids[len(seen) - 1 :: 2], at_once=True)
                pushed.parts.clock()
                monkeypatch.setattr(bucket, "entries", real)
                for _ in range(2):
                    collect(bucket, tmp=pushed.parts.layout.tmp, grace_seconds=0)
                monkeypatch.setattr(bucket, "entries", entries)
            return real(prefix)

        seen: list[str] = []
        monkeypatch.setattr(bucket, "entries", entries)
        assert found(pushed, bucket, whole=True) == []
        assert len(seen) == 2


class TestDamage:
    @pytest.mark.parametrize("damage", [cut, changed, emptied])
    def test_of_any_key_is_found_and_told_with_it(
        self, pushed: Store, bucket: Bucket, folder: Path, damage: Callable[[Path], None]
    ) -> None:
        for kind in ("objects", "roots", "names"):
            for path in files(folder, kind):
                key = path.relative_to(folder).as_posix()
                before = path.read_bytes()
                damage(path)
                findings = found(pushed, bucket, whole=True)
                assert {FindingName.DAMAGED} == {each.name for each in findings if each.place == key}, key
                assert {each.digest for each in findings} == {digest_of(key)}
                hurt(path, before)
        assert found(pushed, bucket, whole=True) == []

    @pytest.mark.parametrize("whole", [False, True])
    def test_an_object_that_is_gone_is_told_with_a_root_that_names_it(
        self, pushed: Store, bucket: Bucket, folder: Path, whole: bool
    ) -> None:
        gone = files(folder, "objects")
        for path in gone:
            path.unlink()
        findings = found(pushed, bucket, whole=whole)
        assert {each.name for each in findings} == {FindingName.MISSING}
        assert [str(each.digest) for each in findings] == [f"sha256:{path.name}" for path in gone]
        for each in findings:
            root = pushed.root(str(root_id_of(str(each.place))))
            assert root is not None
            assert each.digest in root.objects

    def test_a_root_that_is_needed_and_gone_is_found(
        self, pushed: Store, bucket: Bucket, folder: Path
    ) -> None:
        """By a name, by what is based on it, by the log that goes on around it; no other can be told."""
        needed = {root.base for root in pushed.roots()} | {
            root.id for root in pushed.roots() if root.name is not None or root.place == 2
        }
        for path in files(folder, "roots"):
            before = path.read_bytes()
            path.unlink()
            names = [each.name for each in found(pushed, bucket)]
            assert names == [FindingName.MISSING] * (path.stem in needed), before
            path.write_bytes(before)

    def test_a_record_under_the_key_of_another_name(
        self, pushed: Store, bucket: Bucket, folder: Path
    ) -> None:
        first, second = files(folder, "names")
        hurt(second, first.read_bytes())
        [finding] = found(pushed, bucket)
        assert (finding.name, finding.place) == (FindingName.DAMAGED, f"names/{second.name}")

    @pytest.mark.parametrize("whole", [False, True])
    def test_what_is_no_file_is_told_and_keeps_nothing_from_being_looked_at(
        self, pushed: Store, bucket: Bucket, folder: Path, whole: bool
    ) -> None:
        fifo, linked, gone = files(folder, "objects")[:3]
        gone.unlink()
        fifo.unlink()
        os.mkfifo(fifo)
        data = linked.read_bytes()
        linked.unlink()
        (folder.parent / "elsewhere").write_bytes(data)
        linked.symlink_to(folder.parent / "elsewhere")
        findings = {str(each.digest): each.name for each in found(pushed, bucket, whole=whole)}
        assert findings == {
            f"sha256:{fifo.name}": FindingName.DAMAGED,
            f"sha256:{linked.name}": FindingName.DAMAGED,
            f"sha256:{gone.name}": FindingName.MISSING,
        }

    def test_a_folder_that_is_a_link(self, pushed: Store, bucket: Bucket, folder: Path) -> None:
        linked, *others = [path.parent for path in files(folder, "objects")]
        linked.rename(folder.parent / "elsewhere")
        linked.symlink_to(folder.parent / "elsewhere")
        files(others[-1], ".")[0].unlink()
        names = {each.name for each in found(pushed, bucket, whole=True)}
        assert names == {FindingName.DAMAGED, FindingName.MISSING}

    def test_records_that_hold_pushes_and_gcs_up(self, pushed: Store, bucket: Bucket, folder: Path) -> None:
        for kind in ("intents", "sweeps", "marks"):
            bucket.put(f"{kind}/x", b"{}")
        assert {(each.name, each.place) for each in found(pushed, bucket)} == {
            (FindingName.DAMAGED, f"{kind}/x") for kind in ("intents", "sweeps", "marks")
        }

    def test_keys_that_are_none_are_told_and_of_many_how_many(self, pushed: Store, bucket: Bucket) -> None:
        for number in range(130):
            bucket.put(f"objects/ab/{number}", b"x")
        bucket.put("roots/ab/x", b"")
        bucket.put("names/x", b"")
        findings = found(pushed, bucket)
        assert {each.name for each in findings} == {FindingName.STRAY}
        assert len(findings) == 103
        assert "30 more" in next(each for each in findings if each.place == "objects/ab/").words

    def test_more_that_is_missing_than_is_looked_at_at_once(
        self, pushed: Store, bucket: Bucket, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("castore.remote.survey._SUSPECTS_MAX", 2)
        gone = files(folder, "objects")
        for path in gone:
            path.unlink()
        assert len({each.digest for each in found(pushed, bucket)}) == len(gone) > 4


class TestWhoMay:
    def test_the_operator_of_all_of_it(self, pushed: Store, tmp_path: Path, folder: Path) -> None:
        narrow = connect("origin", RemoteSettings(url=folder.as_uri(), granted=("team/*",)))
        with pytest.raises(ScopeDenied):
            found(pushed, narrow)
        other = Store.open(tmp_path / "store", access=Access(("team/a",)))
        with pytest.raises(ScopeDenied):
            found(other, connect("origin", RemoteSettings(url=folder.as_uri())))
        other.close()

    def test_where_no_castore_is(self, store: Store, bucket: Bucket) -> None:
        with pytest.raises(RemoteMissing):
            found(store, bucket)


class TestOrder:
    def test_digests_of_a_shard_come_sorted_and_once_however_many(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("castore.remote.spool._CHUNK_BYTES", 320)
        monkeypatch.setattr("castore.remote.spool._LOADED_MAX", 40)
        rng = random.Random(5)
        added = [Digest(rng.choice(("ab", "abcd", "cd")) + os.urandom(32).hex()) for _ in range(900)]
        added = [Digest(each.hex[:64]) for each in added]
        with DigestSpool(str(tmp_path)) as spool:
            spool.add([*added, *added[:300]])
            for shard in ("ab", "cd", "ef"):
                expected = sorted({bytes.fromhex(each.hex) for each in added if each.hex[:2] == shard})
                assert list(spool.in_order(shard)) == expected
