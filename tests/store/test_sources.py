"""The conformance suite: every law of an object source, over every source."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from castore.api import put
from castore.digest import Digest
from castore.errors import ObjectMissing
from castore.layout import Layout
from castore.objects.database import ObjectDatabase
from castore.objects.loose import LooseSource, Modes
from castore.objects.memory import MemorySource
from castore.objects.source import ObjectSource
from castore.remote.bucket import Bucket, BucketSource
from castore.remote.connecting import connect, in_memory
from castore.settings import RemoteSettings
from castore.store import Store

A, B, C = (Digest.of(data) for data in (b"a", b"b", b"c"))


@pytest.fixture(
    params=["memory", "loose", "shared", "bucket in memory", "bucket in a folder", "bucket in SeaweedFS"]
)
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ObjectSource]:
    if request.param == "memory":
        yield MemorySource()
    elif request.param.startswith("bucket"):
        yield BucketSource(_bucket(request, tmp_path), str(tmp_path))
    else:
        layout = Layout(str(tmp_path))
        for folder in (layout.objects, layout.tmp):
            Path(folder).mkdir()
        yield LooseSource(layout, Modes(is_shared=request.param == "shared"))


def _bucket(request: pytest.FixtureRequest, tmp_path: Path) -> Bucket:
    if request.param == "bucket in memory":
        return in_memory(workers=8)
    if request.param == "bucket in a folder":
        return connect("folder", RemoteSettings(url=f"file://{tmp_path}/bucket"))
    return request.getfixturevalue("seaweed").bucket()


def publish(source: ObjectSource, digest: Digest, *pieces: bytes, hold: bool = True) -> None:
    frames = source.stage(list(pieces), hold=hold)
    source.prepare([frames])
    source.publish([(digest, frames)])
    source.drop([frames])


class TestPublish:
    def test_what_is_staged_is_invisible_until_it_is_published(self, source: ObjectSource) -> None:
        frames = source.stage([b"one", b"two"])
        assert frames.stored_bytes == 6
        source.prepare([frames])
        assert source.stat(A) is None
        assert list(source.digests()) == []
        source.publish([(A, frames)])
        assert source.get(A) == b"onetwo"

    @pytest.mark.parametrize("hold", [True, False])
    def test_publishing_prepares_what_was_not(self, source: ObjectSource, hold: bool) -> None:
        source.publish([(A, source.stage([b"held"], hold=hold))])
        assert source.get(A) == b"held"

    def test_publishing_again_replaces_and_changes_the_stamp(self, source: ObjectSource) -> None:
        publish(source, A, b"old")
        before = source.stat(A)
        publish(source, A, b"new")
        after = source.stat(A)
        assert before is not None
        assert after is not None
        assert before.stamp != after.stamp
        assert source.get(A) == b"new"

    def test_many_at_once(self, source: ObjectSource) -> None:
        digests = [Digest.of(b"%d" % number) for number in range(150)]
        source.publish([(digest, source.stage([digest.raw])) for digest in digests])
        assert list(source.digests()) == sorted(digests)
        assert all(source.get(digest) == digest.raw for digest in digests)

    def test_a_stream_of_any_length(self, source: ObjectSource) -> None:
        frames = source.stage(bytes([number]) * 100_000 for number in range(20))
        assert frames.stored_bytes == 2_000_000
        source.publish([(B, frames)])
        assert source.get(B, 1_900_000) == bytes([19]) * 100_000

    def test_dropped_is_gone(self, source: ObjectSource) -> None:
        frames = source.stage([b"x"])
        source.prepare([frames])
        source.drop([frames])
        assert list(source.digests()) == []


class TestRead:
    def test_absent_is_none_or_missing(self, source: ObjectSource) -> None:
        assert source.stat(A) is None
        with pytest.raises(ObjectMissing):
            source.get(A)

    def test_ranges_stop_at_the_end(self, source: ObjectSource) -> None:
        publish(source, A, b"0123456789")
        assert source.get(A, 3, 4) == b"3456"
        assert source.get(A, 8, 100) == b"89"
        assert source.get(A, 100, 5) == b""
        assert source.get(A, 0, 0) == b""

    def test_digests_are_sorted_and_selected_by_their_beginning(self, source: ObjectSource) -> None:
        for digest in (C, A, B):
            publish(source, digest, b"x")
        assert list(source.digests()) == sorted([A, B, C])
        assert list(source.digests(A.hex[:6])) == [A]
        assert list(source.digests(A.hex[:1])) == [
            each for each in sorted([A, B, C]) if each.hex[0] == A.hex[0]
        ]
        assert list(source.digests("0" * 8)) == []


class TestDelete:
    def test_deleted_is_absent_and_deleting_again_says_so(self, source: ObjectSource) -> None:
        publish(source, A, b"x")
        assert source.delete(A)
        assert not source.delete(A)
        source.settle([A])
        assert source.stat(A) is None


class TestModes:
    @pytest.mark.parametrize(("is_shared", "file", "folder"), [(False, 0o400, 0o700), (True, 0o440, 0o2770)])
    def test_objects_are_read_only_and_private_or_the_groups(
        self, tmp_path: Path, is_shared: bool, file: int, folder: int
    ) -> None:
        layout = Layout(str(tmp_path))
        for each in (layout.objects, layout.tmp):
            Path(each).mkdir()
        publish(LooseSource(layout, Modes(is_shared=is_shared)), A, b"x")
        path = Path(layout.object_file(A.hex))
        assert path.stat().st_mode & 0o7777 == file
        assert path.parent.stat().st_mode & 0o7777 == folder


class TestReplacedMeanwhile:
    """A put replaces a file while it is read, encoded in another way: it is read again."""

    def test_a_file_of_other_frames(self, tmp_path: Path) -> None:
        data = os.urandom(1 << 20) + b"line\n" * 500_000
        store = Store.init(tmp_path / "s")
        digest = put(store, data)
        source, honest = store.parts.source, store.parts.source.get
        calls = 0

        def get(wanted: Digest, start: int = 0, length: int | None = None) -> bytes:
            nonlocal calls
            calls += 1
            if calls == 4:
                other = ObjectDatabase(source, level=lambda: 19)
                source.publish([(wanted, other.stage_chunks([data], look=lambda _: False).frames)])
            return honest(wanted, start, length)

        source.get = get  # type: ignore[method-assign]
        assert store.read(digest) == data
        assert calls > 4
