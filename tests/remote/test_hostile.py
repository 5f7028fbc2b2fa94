"""Servers that answer as no object storage does: bounded, told as the remote's, never taken for an answer."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from castore.errors import CastoreError, RemoteDenied, RemoteUnavailable
from castore.remote import checking
from castore.remote.bucket import Bucket
from castore.remote.checking import check
from castore.remote.connecting import connect
from castore.settings import RemoteSettings

Reply = tuple[int, bytes]
Answer = Callable[[str, str], Reply]

KEY = "castore-test-key"
SECRET = "castore-test-secret-90bd"
ABSENT = 404, b"<Error><Code>NoSuchKey</Code></Error>"
DENIED = 403, b"<Error><Code>AccessDenied</Code><Message>no</Message></Error>"
FORMAT = 200, b"castore 1\n"
MANY = tuple(f"roots/{number:04}" for number in range(1000))
_ROW = "<Contents><Key>p/{}</Key><LastModified>2026-01-02T03:04:05Z</LastModified><Size>3</Size></Contents>"


def page(*keys: str, more: bool = False) -> Reply:
    rows = "".join(map(_ROW.format, keys))
    token = "<NextContinuationToken>again</NextContinuationToken>" if more else ""
    words = f"<IsTruncated>{str(more).lower()}</IsTruncated>{token}{rows}"
    return 200, f"<ListBucketResult>{words}</ListBucketResult>".encode()


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)


@contextmanager
def answering(answer: Answer, **settings: Any) -> Iterator[tuple[Bucket, list[str]]]:
    """A bucket of a server that answers so, with what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            told = self.rfile.read(int(self.headers.get("content-length") or 0))
            asked.append(f"{self.command} {self.path}")
            status, body = answer(self.command, self.path)
            if self.command == "POST":
                body = body.replace(b"KEY", re.findall(rb"<Key>(.*?)</Key>", told)[0])
            self.send_response(status)
            self.send_header("Last-Modified", "Fri, 02 Jan 2026 03:04:05 GMT")
            self.send_header("ETag", '"0"')
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_PUT = do_HEAD = do_POST = do_DELETE = do_GET  # noqa: N815

        def log_message(self, *arguments: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        endpoint = f"http://127.0.0.1:{server.server_address[1]}"
        wanted = {"timeout_seconds": 1, "retry_seconds": 1, **settings}
        yield connect("origin", RemoteSettings("s3://bucket/p", endpoint=endpoint, **wanted)), asked
    finally:
        server.shutdown()
        server.server_close()


def is_list(path: str) -> bool:
    return "list-type=2" in path


class TestListing:
    @pytest.mark.parametrize("keys", [(), pytest.param(MANY, marks=pytest.mark.long)])
    def test_one_that_never_goes_on_ends_in_time(self, keys: tuple[str, ...]) -> None:
        def answer(method: str, path: str) -> Reply:
            is_first = "continuation-token" not in path and "start-after" not in path
            return page(*(keys if is_first else ()), more=True)

        with answering(answer) as (bucket, asked):
            with pytest.raises(RemoteUnavailable, match="in time"):
                list(bucket.entries("roots/"))
            time.sleep(0.1)
            before = len(asked)
            time.sleep(0.2)
            assert len(asked) == before, "nothing is asked any more"

    @pytest.mark.parametrize("body", [b"<Error><Code>SlowDown</Code></Error>", b"<html></html>"])
    def test_what_is_none_is_not_taken_for_an_empty_one(self, body: bytes) -> None:
        with (
            answering(lambda method, path: (200, body) if is_list(path) else FORMAT) as (bucket, _),
            pytest.raises(RemoteUnavailable, match="does not list what is there"),
        ):
            list(bucket.entries("roots/"))

    def test_an_empty_one_is_believed_of_a_server_that_lists(self) -> None:
        def answer(method: str, path: str) -> Reply:
            if not is_list(path):
                return FORMAT
            return page("format") if "start-after" in path else page()

        with answering(answer) as (bucket, asked):
            assert list(bucket.entries("sweeps/")) == []
            before = len(asked)
            assert list(bucket.entries("roots/")) == []
            assert len(asked) == before + 1, "it is asked for once"

    def test_where_nothing_was_begun_an_empty_one_is_one(self) -> None:
        with answering(lambda method, path: page() if is_list(path) else ABSENT) as (bucket, _):
            assert list(bucket.entries("roots/")) == []


class TestDenied:
    def test_what_one_may_not_do_is_told_step_by_step(self) -> None:
        def answer(method: str, path: str) -> Reply:
            if is_list(path):
                return page("roots/ab/x")
            if method == "POST":  # Many deletes at once are answered so.
                key = "<Key>KEY</Key><Code>AccessDenied</Code><Message>no</Message>"
                return 200, f"<DeleteResult><Error>{key}</Error></DeleteResult>".encode()
            return DENIED if method == "PUT" else ABSENT

        with answering(answer) as (bucket, _):
            found = {each.what: each for each in check(bucket)}
        assert [what for what, each in found.items() if each.is_held] == ["list"]
        for what in ("write", "create", "delete"):
            assert "refuses the credentials" in found[what].words

    def test_a_part_of_credentials_is_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for absent in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            with monkeypatch.context() as patched:
                patched.delenv(absent)
                with pytest.raises(RemoteDenied, match="only a part") as caught:
                    connect("origin", RemoteSettings("s3://bucket"))
            assert absent in str(caught.value.hint)


class TestUnreachable:
    def test_where_and_why_is_told(self) -> None:
        with answering(lambda method, path: ABSENT) as (bucket, _):
            endpoint = str(bucket.settings.endpoint)
        with pytest.raises(RemoteUnavailable) as caught:
            bucket.get("format")
        error = caught.value
        assert f"{endpoint.removeprefix('http://')}: nobody listens there" in error.message
        assert "endpoint" in str(error.hint)

    def test_how_to_give_up_sooner_is_told_who_waited_long(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with answering(lambda method, path: ABSENT, retry_seconds=60) as (bucket, _):
            pass
        monkeypatch.setattr("castore.remote.cloud._BACKOFF_SECONDS", 100)
        with pytest.raises(RemoteUnavailable, match="nobody listens") as caught:
            bucket.get("format")
        assert "remote.origin.retry" in str(caught.value.hint)

    def test_who_checks_waits_for_seconds(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[RemoteSettings] = []

        def connected(remote: str, settings: RemoteSettings) -> Bucket:
            asked.append(settings)
            return connect(remote, settings)

        monkeypatch.setattr(checking, "connect", connected)
        refusing = answering(lambda method, path: DENIED, retry_seconds=300)
        with refusing as (bucket, _), pytest.raises(RemoteDenied):
            check(bucket)
        assert [each.retry_seconds for each in asked] == [5]

    def test_a_client_library_that_fails_is_told_as_ours(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """It does over an endpoint of the environment, which no setting says."""
        for endpoint in ("http://[::1", "http://127.0.0.1:99999", "http://%41", "::", f"http://{SECRET} x"):
            monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
            with pytest.raises(CastoreError) as caught:
                connect("origin", RemoteSettings("s3://bucket", retry_seconds=1)).get("format")
            assert caught.value.exit_code in (2, 16)
            assert SECRET not in f"{caught.value.message} {caught.value.hint} {caught.value.fields}"
