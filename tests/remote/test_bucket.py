"""A bucket's laws, over each kind of one: in memory, in a folder, and on a server that honours conditions."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from obstore.exceptions import PreconditionError

from castore import durable
from castore.config import FRAME_BYTES
from castore.digest import Digest
from castore.errors import (
    ObjectDamaged,
    RemoteDamaged,
    RemoteDenied,
    RemoteMissing,
    RemoteUnavailable,
    RemoteUnconditional,
)
from castore.objects.database import ObjectDatabase
from castore.objects.memory import MemorySource
from castore.remote.bucket import Bucket, BucketSource, Entry
from castore.remote.checking import check
from castore.remote.cloud import Cloud
from castore.remote.connecting import connect, in_memory
from castore.remote.crew import mapped
from castore.remote.failures import read_failure
from castore.remote.keys import OBJECTS, intent_key, name_key, object_key, root_key
from castore.settings import RemoteSettings
from tests.remote.servers import SECRET, Place

KINDS = ["memory", "folder", "seaweed"]
OBJECT = object_key(Digest.of(b"x"))
SHARD = OBJECT.rpartition("/")[0]


def tree(folder: Path) -> dict[str, bytes]:
    """What lies in the folder, or the file's bytes."""
    files = [folder] if folder.is_file() else [each for each in folder.rglob("*") if each.is_file()]
    return {str(each): each.read_bytes() for each in files}


def folder_bucket(folder: Path) -> Bucket:
    return connect("folder", RemoteSettings(url=f"file://{folder}/bucket"))


@pytest.fixture(params=KINDS)
def bucket(request: pytest.FixtureRequest, fast_path: Path) -> Bucket:
    if request.param == "memory":
        return in_memory(workers=8)
    if request.param == "folder":
        return folder_bucket(fast_path)
    place: Place = request.getfixturevalue("seaweed")
    return place.bucket(workers=8)


def found(bucket: Bucket, key: str) -> tuple[bytes, Entry]:
    got = bucket.get(key)
    assert got is not None
    return got


class TestBytes:
    def test_what_was_put_is_there_whole_and_in_part(self, bucket: Bucket) -> None:
        bucket.put("objects/ab/x", b"0123456789")
        data, entry = found(bucket, "objects/ab/x")
        assert data == b"0123456789"
        assert (entry.key, entry.size) == ("objects/ab/x", 10)
        assert abs(entry.modified - time.time()) < 60
        assert bucket.head("objects/ab/x") == entry
        assert bucket.read("objects/ab/x", 3, 4) == b"3456"
        assert bucket.read("objects/ab/x", 8, 100) == b"89"
        assert bucket.read("objects/ab/x", 4) == b"456789"
        assert bucket.read("objects/ab/x", 0) == b"0123456789"

    @pytest.mark.parametrize(("start", "length"), [(10, 1), (10, None), (100, 5), (100, None), (3, 0)])
    def test_behind_the_end_is_nothing(self, bucket: Bucket, start: int, length: int | None) -> None:
        bucket.put("objects/ab/x", b"0123456789")
        assert bucket.read("objects/ab/x", start, length) == b""

    def test_what_is_empty_is_there(self, bucket: Bucket) -> None:
        bucket.put("objects/ab/empty", b"")
        assert found(bucket, "objects/ab/empty")[0] == b""
        assert bucket.read("objects/ab/empty", 0, 10) == b""

    @pytest.mark.parametrize(("start", "length"), [(0, None), (0, 5), (7, 5), (0, 0)])
    def test_absent_is_none(self, bucket: Bucket, start: int, length: int | None) -> None:
        assert bucket.get("objects/ab/none") is None
        assert bucket.head("objects/ab/none") is None
        assert bucket.read("objects/ab/none", start, length) is None

    def test_put_is_in_place_of_what_was_there(self, bucket: Bucket) -> None:
        bucket.put("format", b"old")
        before = bucket.head("format")
        bucket.put("format", b"new one")
        data, after = found(bucket, "format")
        assert data == b"new one"
        assert before is not None
        assert before.version != after.version

    def test_a_file_of_any_length(self, bucket: Bucket, tmp_path: Path) -> None:
        data = os.urandom(1 << 20) * 9
        (tmp_path / "file").write_bytes(data)
        bucket.put("objects/ab/file", tmp_path / "file")
        bucket.settle()
        assert found(bucket, "objects/ab/file")[0] == data
        assert bucket.read("objects/ab/file", len(data) - 3, 100) == data[-3:]

    def test_what_is_longer_than_asked_is_not_read(self, bucket: Bucket) -> None:
        bucket.put("roots/ab/x.json", b"x" * 100)
        with pytest.raises(RemoteDamaged, match="longer than 99 bytes"):
            bucket.get("roots/ab/x.json", 99)
        assert bucket.get("roots/ab/x.json", 100) is not None


class TestConditions:
    def test_a_second_create_is_refused(self, bucket: Bucket) -> None:
        assert bucket.create("names/a.json", b"one")
        assert not bucket.create("names/a.json", b"two")
        assert found(bucket, "names/a.json")[0] == b"one"

    def test_a_replace_that_came_too_late_is_refused(self, bucket: Bucket) -> None:
        bucket.put("names/a.json", b"one")
        entry = found(bucket, "names/a.json")[1]
        assert bucket.replace("names/a.json", b"two", entry)
        assert not bucket.replace("names/a.json", b"three", entry)
        assert found(bucket, "names/a.json")[0] == b"two"

    def test_what_is_gone_is_not_replaced(self, bucket: Bucket) -> None:
        bucket.put("names/a.json", b"one")
        entry = found(bucket, "names/a.json")[1]
        bucket.delete(["names/a.json"])
        assert not bucket.replace("names/a.json", b"two", entry)
        assert bucket.get("names/a.json") is None

    def test_an_entry_of_a_listing_will_do(self, bucket: Bucket) -> None:
        bucket.put("names/a.json", b"one")
        (entry,) = bucket.entries("names/")
        assert entry.version == found(bucket, "names/a.json")[1].version
        assert bucket.replace("names/a.json", b"two", entry)

    def test_of_many_one_wins(self, bucket: Bucket) -> None:
        is_slow = bucket.service.is_far  # SeaweedFS lets who comes second wait for a second, or some.
        with ThreadPoolExecutor(8) as threads:
            for number in range(1 if is_slow else 5):
                key = f"names/{number}.json"
                assert sum(threads.map(lambda one, key=key: bucket.create(key, b"%d" % one), range(8))) == 1
                entry = found(bucket, key)[1]
                won = threads.map(
                    lambda one, key=key, entry=entry: bucket.replace(key, b"then %d" % one, entry), range(8)
                )
                assert sum(won) == 1

    def test_versions_in_a_folder_never_come_back(self, fast_path: Path) -> None:
        """The clock of files stands still for milliseconds, and what is gone leaves its number to others."""
        bucket = folder_bucket(fast_path)
        bucket.put("names/a.json", b"0000")
        versions = set()
        for number in range(300):
            entry = found(bucket, "names/a.json")[1]
            versions.add(entry.version)
            assert bucket.replace("names/a.json", b"%04d" % number, entry)
        assert len(versions) == 300


class TestProbe:
    def test_a_bucket_that_refuses_what_it_must_is_begun(self, bucket: Bucket) -> None:
        with pytest.raises(RemoteMissing, match="no castore"):
            bucket.require_format()
        bucket.require_conditions()
        bucket.require_format()
        assert found(bucket, "format")[0] == b"castore 1\n"
        bucket.requests.clear()
        bucket.require_conditions()
        assert bucket.requests == {"create": 1, "get": 1, "replace": 1}

    def test_what_another_version_wrote_is_left_alone(self, bucket: Bucket) -> None:
        bucket.put("format", b"castore 999\n")
        for require in (bucket.require_format, bucket.require_conditions):
            with pytest.raises(RemoteMissing, match="no castore of this version"):
                require()
        assert found(bucket, "format")[0] == b"castore 999\n"

    def test_each_property_is_held(self, bucket: Bucket) -> None:
        bucket.put("objects/ab/x", b"x")
        assert [each.what for each in check(bucket) if each.is_held] == [
            "list",
            "write",
            "read",
            "create",
            "replace",
            "delete",
        ]
        assert [each.key for each in bucket.entries("")] == ["objects/ab/x"]


class TestWithoutConditions:
    """A server that ignores them without a word."""

    def test_it_is_refused(self, rclone: Place) -> None:
        with pytest.raises(RemoteUnconditional) as caught:
            rclone.bucket().require_conditions()
        assert caught.value.hint is not None
        assert "ctx remote check origin" in caught.value.hint
        assert "conditions none" in caught.value.hint

    def test_also_where_a_castore_is_already(self, rclone: Place) -> None:
        rclone.bucket(conditions="none").require_conditions()
        with pytest.raises(RemoteUnconditional):
            rclone.bucket().require_conditions()

    def test_the_weaker_mode_looks_and_then_writes(self, rclone: Place) -> None:
        bucket = rclone.bucket(conditions="none")
        bucket.require_conditions()
        assert bucket.create("names/a.json", b"one")
        assert not bucket.create("names/a.json", b"two")
        entry = found(bucket, "names/a.json")[1]
        assert bucket.replace("names/a.json", b"three", entry)
        assert not bucket.replace("names/a.json", b"four", entry)
        assert found(bucket, "names/a.json")[0] == b"three"

    @pytest.mark.parametrize("conditions", ["required", "none"])
    def test_the_check_asks_the_server_not_the_settings(self, rclone: Place, conditions: str) -> None:
        checks = check(rclone.bucket(conditions=conditions))
        assert [each.what for each in checks if not each.is_held] == ["create", "replace"]

    def test_a_server_that_sends_the_whole_for_a_part(self, rclone: Place) -> None:
        bucket = rclone.bucket()
        data = os.urandom(1 << 20) * 2
        bucket.put("objects/ab/x", data)
        assert bucket.read("objects/ab/x", 700_000, 900_000) == data[700_000:1_600_000]
        assert bucket.read("objects/ab/x", len(data) - 5, 900) == data[-5:]
        assert bucket.read("objects/ab/x", len(data) + 5, 900) == b""


class TestGenerations:
    """GCS holds conditions by a number that listings don't tell."""

    class Store:
        """As obstore's: one key, by its generation."""

        def __init__(self) -> None:
            self.data, self.generation = b"one", 7

        def head(self, key: str) -> dict[str, object]:
            tag = f'"{Digest.of(self.data).hex}"'
            modified = datetime.fromtimestamp(0, UTC)
            facts = {"path": key, "size": 3, "e_tag": tag, "last_modified": modified}
            return {**facts, "version": str(self.generation)}

        def list(self, prefix: str, **options: object) -> Iterator[list[dict[str, object]]]:
            yield [{**self.head("names/a"), "version": None}]

        def put(self, key: str, data: bytes, *, mode: dict[str, str]) -> None:
            if mode["version"] != str(self.generation):
                raise PreconditionError
            self.data, self.generation = data, self.generation + 1

    def test_a_replace_asks_for_the_generation(self) -> None:
        store = self.Store()
        cloud = Cloud("gs", store, retry_seconds=1, deletes_max=1, is_far=False, has_generations=True)  # type: ignore[arg-type]
        bucket = Bucket("gs", RemoteSettings("gs://x", workers=1), cloud)
        (entry,) = bucket.entries("names/")
        assert bucket.head("names/a") == entry
        assert bucket.replace("names/a", b"two", entry)
        assert not bucket.replace("names/a", b"three", entry)
        assert store.data == b"two"

    def test_one_that_moves_between_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        store = self.Store()
        cloud = Cloud("gs", store, retry_seconds=1, deletes_max=1, is_far=False, has_generations=True)  # type: ignore[arg-type]
        entry = cloud.head("names/a")
        assert entry is not None
        honest = store.head

        def head(key: str) -> dict[str, object]:
            found = honest(key)
            store.data, store.generation = b"its", 8
            return found

        monkeypatch.setattr(store, "head", head)
        assert not cloud.replace("names/a", b"two", entry)
        assert store.data == b"its"


class TestHostile:
    def test_an_answer_longer_than_asked_for_is_not_waited_for(self, seaweed: Place) -> None:
        """Of a server that never ends: what was asked for is enough."""
        head = (
            b"HTTP/1.1 206 Partial Content\r\nContent-Length: 1073741824\r\n"
            b'Content-Range: bytes 0-9/1000\r\nETag: "x"\r\n'
            b"Last-Modified: Mon, 30 Nov 2026 21:00:00 GMT\r\n\r\n"
        )
        sent = 0

        def serve(server: socket.socket) -> None:
            nonlocal sent
            connection, _ = server.accept()
            with connection, suppress(OSError):
                connection.recv(1 << 16)
                connection.sendall(head)
                while sent < 1 << 30:
                    connection.sendall(bytes(1 << 16))
                    sent += 1 << 16

        with socket.create_server(("127.0.0.1", 0)) as server:
            thread = threading.Thread(target=serve, args=(server,), daemon=True)
            thread.start()
            bucket = seaweed.bucket(endpoint=f"http://127.0.0.1:{server.getsockname()[1]}")
            assert bucket.read("objects/ab/x", 0, 10) == bytes(10)
            thread.join(20)
            assert not thread.is_alive()
        assert sent < 1 << 28


class TestListing:
    def test_by_prefix_in_order_whole(self, bucket: Bucket) -> None:
        keys = [f"objects/{number % 16:02x}/{number:04x}" for number in range(1200)]
        for _ in bucket.map(lambda key: bucket.put(key, b"x"), [*keys, "roots/ab/r.json", "format"]):
            pass
        assert [each.key for each in bucket.entries("objects/")] == sorted(keys)
        assert [each.key for each in bucket.entries("objects/0a/")] == [
            each for each in sorted(keys) if each.startswith("objects/0a/")
        ]
        assert [each.key for each in bucket.entries("")] == sorted([*keys, "roots/ab/r.json", "format"])
        assert list(bucket.entries("intents/")) == []
        bucket.delete([*keys, "objects/00/none"])
        assert list(bucket.entries("objects/")) == []

    def test_deleting_what_is_absent_is_success(self, bucket: Bucket) -> None:
        bucket.delete([])
        bucket.delete(["objects/ab/none"])

    @pytest.mark.parametrize("keys", [["b", "a"], ["a", "a"], ["a", "elsewhere/x"]])
    def test_a_server_that_lists_otherwise_is_refused(self, keys: Sequence[str]) -> None:
        bucket = in_memory()

        def pages(prefix: str) -> Iterator[Sequence[Entry]]:
            yield [Entry(("/" in key and key) or prefix + key, 1, "v", 0.0) for key in keys]

        bucket.service.pages = pages  # type: ignore[method-assign]
        with pytest.raises(RemoteUnavailable, match="order"):
            list(bucket.entries("roots/"))


class TestMany:
    @pytest.mark.parametrize("workers", [1, 2, 7])
    def test_results_are_in_order(self, workers: int) -> None:
        def slow(number: int) -> int:
            time.sleep(0.001 * (number % 3))
            return number * 2

        bucket = in_memory(workers=workers)
        assert list(bucket.map(slow, range(100))) == [2 * number for number in range(100)]

    def test_a_bounded_number_is_ahead(self) -> None:
        taken: list[int] = []

        def items() -> Iterator[int]:
            for number in range(1000):
                taken.append(number)
                yield number

        results = mapped(lambda each: each, items(), 4)
        next(results)
        assert len(taken) <= 9
        results.close()  # type: ignore[attr-defined]

    def test_an_error_is_raised_when_no_call_is_under_way(self) -> None:
        running = 0
        lock = threading.Lock()

        def work(number: int) -> None:
            nonlocal running
            with lock:
                running += 1
            time.sleep(0.05)
            with lock:
                running -= 1
            if number == 3:
                raise RemoteUnavailable("origin", "gone")

        with pytest.raises(RemoteUnavailable, match="gone"):
            list(mapped(work, range(100), 4))
        assert running == 0

    def test_one_worker_is_the_caller(self) -> None:
        threads = set(in_memory().map(lambda _: threading.current_thread(), range(3)))
        assert threads == {threading.current_thread()}

    def test_no_thread_is_left(self) -> None:
        before = threading.active_count()
        assert sum(in_memory(workers=5).map(lambda each: each, range(20))) == 190
        assert threading.active_count() == before


class TestInterrupt:
    @pytest.mark.parametrize("call", ["bucket.get('x')", "list(bucket.map(bucket.get, map(str, range(99))))"])
    def test_it_does_not_wait_for_an_answer(self, seaweed: Place, interruptible: None, call: str) -> None:
        script = f"""
            from castore.remote.connecting import connect
            from castore.settings import RemoteSettings
            import socket, sys
            silent = socket.create_server(("127.0.0.1", 0))
            endpoint = "http://127.0.0.1:%d" % silent.getsockname()[1]
            bucket = connect("silent", RemoteSettings("s3://bucket", endpoint=endpoint, workers=4))
            print("begun", flush=True)
            try:
                {call}
            except KeyboardInterrupt:
                print("interrupted", flush=True)
        """
        with subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "begun\n"
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            try:
                rest, _ = process.communicate(timeout=20)
            finally:
                process.kill()
        assert rest == "interrupted\n"
        assert process.returncode == 0


class TestErrors:
    """What a server says is told in few words of ours, and never a credential."""

    def test_wrong_credentials(self, seaweed: Place, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another-secret")
        bucket = seaweed.bucket()
        for call in (
            lambda: bucket.get("format"),
            lambda: bucket.read("format", 0, 5),
            lambda: bucket.head("format"),
            lambda: bucket.put("format", b"x"),
            lambda: bucket.create("format", b"x"),
            lambda: bucket.delete(["format"]),
            lambda: list(bucket.entries("roots/")),
            lambda: check(bucket),
        ):
            with pytest.raises(RemoteDenied) as caught:
                call()
            told = f"{caught.value.message} {caught.value.hint} {caught.value.fields}"
            assert "another-secret" not in told
            assert SECRET not in told
            assert len(caught.value.message) < 200

    def test_a_bucket_that_is_not_there(self, seaweed: Place) -> None:
        bucket = seaweed.bucket(url="s3://castore-none/x")
        with pytest.raises(RemoteMissing, match="bucket of remote 'origin' is not there"):
            bucket.get("format")
        with pytest.raises(RemoteMissing):
            list(bucket.entries("roots/"))
        with pytest.raises(RemoteMissing):
            bucket.require_format()

    def test_nobody_listens(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            endpoint = f"http://127.0.0.1:{nobody.getsockname()[1]}"
            begun = time.monotonic()
            with pytest.raises(RemoteUnavailable, match="can't be reached"):
                connect("gone", RemoteSettings("s3://bucket", endpoint=endpoint, retry_seconds=1)).get(
                    "format"
                )
            assert time.monotonic() - begun < 20

    def test_somebody_listens_and_says_nothing(self, seaweed: Place) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
            bucket = seaweed.bucket(endpoint=endpoint, timeout_seconds=1, retry_seconds=1)
            with pytest.raises(RemoteUnavailable, match="in time"):
                bucket.put("format", b"x")

    @pytest.mark.parametrize(
        ("name", "text", "operation", "kind", "is_passing"),
        [
            ("GenericError", "x - Server returned non-2xx status code: 500 Internal", "get", "failed", True),
            ("GenericError", "status code: 503 Slow: <Code>SlowDown</Code>", "put", "failed", True),
            ("GenericError", "status code: 400 Bad: <Code>InvalidRequest</Code>", "put", "failed", False),
            ("GenericError", "status code: 403 F: <Code>AccessDenied</Code>", "list", "denied", False),
            ("PermissionDeniedError", "status code: 403 Forbidden: ", "head", "denied", False),
            ("UnauthenticatedError", "status code: 401", "get", "denied", False),
            ("GenericError", "status code: 400: <Code>ExpiredToken</Code>", "get", "denied", False),
            ("GenericError", "PUT http://169.254.169.254/latest/api/token", "get", "no credentials", False),
            ("FileNotFoundError", "status code: 404: <Code>NoSuchBucket</Code>", "get", "no bucket", False),
            ("GenericError", "status code: 404 Not Found", "list", "no bucket", False),
            ("GenericError", "status code: 501: <Code>NotImplemented</Code>", "create", "unsupported", False),
            ("NotSupportedError", "no", "replace", "unsupported", False),
            ("GenericError", "HTTP error\n\nDebug source:\nkind: Timeout", "get", "timeout", True),
            ("GenericError", "HTTP error: error sending request", "get", "unreachable", True),
            ("GenericError", "error decoding\n\nDebug source: reqwest::Error", "get", "unreachable", True),
            ("OSError", "the answer ended early", "get", "unreachable", True),
            ("GenericError", "Content-Length Header missing from response", "get", "strange", False),
            ("GenericError", "", "get", "strange", False),
        ],
    )
    def test_texts(self, name: str, text: str, operation: str, kind: str, is_passing: bool) -> None:
        secret = "https://h/x?X-Amz-Signature=5ec2e7&X-Amz-Credential=AKIA5EC2E7 <Message>5ec2e7</Message>"
        failure = read_failure(name, f"{text} {secret}" if text else "", operation=operation)
        assert (failure.kind, failure.is_passing) == (kind, is_passing)
        error = failure.error("origin", operation, "objects/ab/x")
        told = f"{error.message} {error.hint} {error.fields}".lower()
        assert "5ec2e7" not in told
        assert "origin" in told
        assert error.exit_code == 16


class TestSource:
    def database(self, source: BucketSource | MemorySource) -> ObjectDatabase:
        return ObjectDatabase(source, level=lambda: 3)

    def stored(self, bucket: Bucket, data: bytes, tmp: Path) -> Digest:
        database = self.database(BucketSource(bucket, str(tmp)))
        staged = database.stage(data, look=lambda _: False)
        database.source.publish([(staged.digest, staged.frames)])
        database.source.drop([staged.frames])
        return staged.digest

    def test_a_small_object_takes_one_request(self, bucket: Bucket, tmp_path: Path) -> None:
        data = os.urandom(9_000)
        digest = self.stored(bucket, data, tmp_path)
        database = self.database(BucketSource(bucket, str(tmp_path)))
        for read in (
            lambda: database.read(digest),
            lambda: b"".join(database.chunks(digest)),
            lambda: database.check(digest),
            lambda: database.transfer(digest, MemorySource()),
        ):
            bucket.requests.clear()
            read()
            assert bucket.requests == {"get": 1}

    def test_a_large_one_is_read_by_its_frames(self, bucket: Bucket, tmp_path: Path) -> None:
        data = os.urandom(5 * FRAME_BYTES + 17)
        digest = self.stored(bucket, data, tmp_path)
        database = self.database(BucketSource(bucket, str(tmp_path)))
        bucket.requests.clear()
        assert database.read(digest) == data
        assert bucket.requests["get"] <= 12
        assert list(tmp_path.iterdir()) in ([], [tmp_path / "bucket"])

    def test_nothing_is_kept_of_what_was_read(self, bucket: Bucket, tmp_path: Path) -> None:
        digest = self.stored(bucket, b"before", tmp_path)
        source = BucketSource(bucket, str(tmp_path))
        assert self.database(source).read(digest) == b"before"
        bucket.delete([object_key(digest)])
        assert source.stat(digest) is None

    def test_what_is_held_of_many_is_bounded(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("castore.remote.bucket._HEADS_BYTES_MAX", 100_000)
        bucket = in_memory()
        source = BucketSource(bucket, str(tmp_path))
        digests = [Digest.of(b"%d" % number) for number in range(20)]
        for digest in digests:
            bucket.put(object_key(digest), bytes(20_000))
            source.stat(digest)
        bucket.requests.clear()
        for digest in digests:
            assert len(source.get(digest)) == 20_000
        assert bucket.requests["get"] >= 15

    def test_what_is_staged_over_the_limit_lies_in_a_file(self, tmp_path: Path) -> None:
        source = BucketSource(in_memory(), str(tmp_path))
        small = source.stage([b"x" * 1000])
        large = source.stage(b"y" * (1 << 18) for _ in range(6))
        assert small.path is None
        assert large.path is not None
        assert Path(large.path).stat().st_mode & 0o777 == 0o600
        source.publish([(Digest.of(b"a"), small), (Digest.of(b"b"), large)])
        source.drop([small, large])
        assert list(tmp_path.iterdir()) == []
        assert source.get(Digest.of(b"b")) == b"y" * (6 << 18)


class TestFolder:
    def test_bytes_are_on_the_disk_before_their_name(
        self, fast_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bucket = folder_bucket(fast_path)
        bucket.put("objects/ab/first", b"x")
        bucket.settle()
        order: list[str] = []
        for name in ("fsync", "rename", "link"):
            honest = getattr(durable.calls, name)

            def call(*arguments: object, name: str = name, honest: object = honest) -> object:
                order.append(name)
                return honest(*arguments)  # type: ignore[operator]

            monkeypatch.setattr(durable.calls, name, call)
        bucket.put("objects/ab/x", b"x")
        assert order == ["fsync", "rename"]
        bucket.settle()
        assert order == ["fsync", "rename", "fsync"]
        order.clear()
        assert bucket.create("objects/ab/y", b"y")
        assert order == ["fsync", "link", "fsync"]
        order.clear()
        entry = bucket.head("objects/ab/y")
        assert entry is not None
        assert bucket.replace("objects/ab/y", b"z", entry)
        assert order == ["fsync", "rename", "fsync"]

    def test_it_is_made_but_not_what_it_lies_in(self, fast_path: Path) -> None:
        bucket = connect("folder", RemoteSettings(url=f"file://{fast_path}/a/bucket"))
        with pytest.raises(RemoteMissing):
            bucket.require_format()
        with pytest.raises(RemoteMissing, match="nor the one it would lie in"):
            bucket.put("format", b"x")
        (fast_path / "a").mkdir()
        bucket.put("format", b"x")
        assert (fast_path / "a" / "bucket" / "format").read_bytes() == b"x"

    @pytest.mark.parametrize("link", ["objects", SHARD, OBJECT, "tmp"])
    def test_no_part_of_a_path_is_a_link_that_is_followed(self, fast_path: Path, link: str) -> None:
        first = folder_bucket(fast_path)
        first.put(OBJECT, b"x")
        first.put("format", b"y")
        inside, outside = fast_path / "bucket" / link, fast_path / "outside"
        # What lay there lies outside now: whoever follows the link finds all as it was.
        inside.rename(outside)
        inside.symlink_to(outside)
        mine = outside if link == OBJECT else outside / "1-0123456789ab-1"
        mine.write_bytes(b"mine")
        os.utime(mine, (1, 1))
        before = tree(outside)
        bucket = folder_bucket(fast_path)
        calls: list[Callable[[], object]] = [lambda: bucket.put(f"{SHARD}/new", b"new")]
        if link != "tmp":
            entry = Entry(OBJECT, 1, "", 0.0)
            calls = [lambda: bucket.get(OBJECT), lambda: bucket.head(OBJECT)]
            calls.append(lambda: bucket.replace(OBJECT, b"new", entry))
        if link in ("objects", SHARD):
            calls.append(lambda: list(bucket.entries(OBJECTS)))
            calls.append(lambda: bucket.put(OBJECT, b"new"))
            calls.append(lambda: bucket.create(f"{SHARD}/new", b"new"))
            calls.append(lambda: bucket.create(f"{SHARD}/deep/new", b"new"))
            calls.append(lambda: bucket.delete([OBJECT]))
        for call in calls:
            with pytest.raises(RemoteDamaged, match=r"link|not a regular file"):
                call()
        if link == OBJECT:
            assert [each.key for each in bucket.entries(OBJECTS)] == [OBJECT]
            bucket.delete([OBJECT])
            assert not inside.is_symlink()
        assert tree(outside) == before

    def test_the_folder_itself_may_be_a_link(self, fast_path: Path) -> None:
        (fast_path / "elsewhere").mkdir()
        (fast_path / "bucket").symlink_to(fast_path / "elsewhere")
        folder_bucket(fast_path).put(OBJECT, b"x")
        assert (fast_path / "elsewhere" / OBJECT).read_bytes() == b"x"

    @pytest.mark.parametrize("key", [OBJECT, root_key("a" * 32), name_key("s", "n"), intent_key("5" * 32)])
    @pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
    def test_what_is_no_file_is_damage_of_its_key_alone(self, fast_path: Path, key: str, kind: str) -> None:
        bucket = folder_bucket(fast_path)
        bucket.put(key, b"x")
        neighbour = key[:-6] + "0" + key[-5:] if key.endswith(".json") else key[:-1] + "0"
        bucket.put(neighbour, b"y")
        file = fast_path / "bucket" / key
        file.unlink()
        if kind == "link":
            file.symlink_to("/etc")
        else:
            os.mkfifo(file) if kind == "pipe" else file.mkdir()
        assert {each.key for each in bucket.entries("")} == {key, neighbour}
        for read in (lambda: bucket.get(key), lambda: bucket.head(key)):
            with pytest.raises(RemoteDamaged) as caught:
                read()
            assert "remove it there" in str(caught.value.hint)
        assert found(bucket, neighbour)[0] == b"y"

    def test_an_object_that_is_no_file_is_a_damaged_object(self, fast_path: Path) -> None:
        source = BucketSource(folder_bucket(fast_path), str(fast_path))
        digest = Digest.of(b"x")
        (fast_path / "bucket" / object_key(digest)).mkdir(parents=True)
        for read in (source.stat, source.get):
            with pytest.raises(ObjectDamaged, match="not a regular file"):
                read(digest)

    def test_what_a_killed_writer_staged_is_no_object_and_goes(self, fast_path: Path) -> None:
        folder_bucket(fast_path).put("format", b"x")
        staging = fast_path / "bucket" / "tmp"
        names = {"1-0123456789ab-1": 90_000, "2-0123456789ab-1": 10, "my thesis": 90_000}
        for name, age in names.items():
            (staging / name).write_bytes(b"half")
            os.utime(staging / name, (time.time() - age,) * 2)
        bucket = folder_bucket(fast_path)
        bucket.put("objects/ab/x", b"x")
        assert [each.key for each in bucket.entries("")] == ["format", "objects/ab/x"]
        assert {each.name for each in staging.iterdir()} == {"2-0123456789ab-1", "my thesis"}, "only its own"

    def test_devices_are_left_out_and_depth_is_bounded(self, fast_path: Path) -> None:
        bucket = folder_bucket(fast_path)
        bucket.put("objects/ab/x", b"x")
        os.mkfifo(fast_path / "bucket" / "objects" / "ab" / "pipe")
        deep = fast_path / "bucket" / "objects" / ("a/" * 20)
        deep.mkdir(parents=True)
        (deep / "file").write_bytes(b"x")
        assert [each.key for each in bucket.entries("objects/")] == ["objects/ab/x"]
        with pytest.raises(RemoteDamaged):
            bucket.get("objects/ab/pipe")

    def test_what_is_no_format_is_no_castore(self, fast_path: Path) -> None:
        bucket = folder_bucket(fast_path)
        (fast_path / "bucket").mkdir()
        os.mkfifo(fast_path / "bucket" / "format")
        with pytest.raises(RemoteMissing, match="no castore of this version"):
            bucket.require_format()

    def test_a_full_disk_is_the_remotes(self, fast_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        bucket = folder_bucket(fast_path)

        def full(descriptor: int, data: bytes) -> int:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(durable.calls, "write", full)
        with pytest.raises(RemoteUnavailable, match="No space left"):
            bucket.put("objects/ab/x", b"x")
        monkeypatch.undo()
        assert list(bucket.entries("")) == []
        assert list((fast_path / "bucket" / "tmp").iterdir()) == []
