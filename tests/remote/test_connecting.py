"""From settings to a bucket: what a URL means, without a request and without a credential in anything."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from castore.errors import CastoreError, InvalidConfig
from castore.remote import connecting, remotes
from castore.remote.bucket import Bucket
from castore.remote.cloud import Cloud
from castore.remote.connecting import connect
from castore.settings import RemoteSettings, parse_config
from castore.store import Store


@pytest.fixture
def store(fast_path: Path) -> Iterator[Store]:
    with closing(Store.init(fast_path / "store")) as store:
        yield store


REPOSITORY = Path(__file__).parents[2]
SECRET = "a-secret-5ec2e7"


def opened(url: str, **settings: Any) -> Any:
    """The client library's store."""
    bucket: Bucket = connect("origin", RemoteSettings(url, **settings))
    service = bucket.service
    assert isinstance(service, Cloud)
    return service._store


class TestPlaces:
    def test_a_bucket_of_the_provider(self) -> None:
        store = opened("s3://things/a/b/")
        assert store.config["bucket"] == "things"
        assert store.prefix == "a/b"
        assert store.config["virtual_hosted_style_request"] in ("true", True)
        assert "endpoint" not in store.config

    def test_without_a_prefix(self) -> None:
        assert not opened("s3://things").prefix

    @pytest.mark.parametrize(
        ("settings", "endpoint", "is_virtual"),
        [
            ({}, "https://s3.example.com", False),
            ({"path_style": True}, "https://s3.example.com", False),
            ({"path_style": False}, "https://things.s3.example.com", True),
        ],
    )
    def test_where_the_bucket_stands(self, settings: Any, endpoint: str, is_virtual: bool) -> None:
        store = opened("s3://things/x", endpoint="https://s3.example.com/", **settings)
        assert store.config["endpoint"] == endpoint
        assert str(store.config["virtual_hosted_style_request"]).lower() == str(is_virtual).lower()

    def test_an_endpoint_that_names_the_bucket_already(self) -> None:
        store = opened("s3://things", endpoint="https://things.s3.example.com", path_style=False)
        assert store.config["endpoint"] == "https://things.s3.example.com"

    def test_a_region_is_needed_by_signatures_alone_where_there_is_an_endpoint(self) -> None:
        assert opened("s3://things", endpoint="https://s3.example.com").config["region"] == "us-east-1"
        assert opened("s3://things", endpoint="https://x.example", region="auto").config["region"] == "auto"
        assert opened("s3://things", region="eu-west-3").config["region"] == "eu-west-3"

    def test_plain_http_only_where_it_was_said(self) -> None:
        plain = opened("s3://things", endpoint="http://127.0.0.1:1")
        safe = opened("s3://things", endpoint="https://127.0.0.1:1")
        assert [each.client_options["allow_http"] for each in (plain, safe)] == ["true", "false"]

    def test_others(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "account")
        assert type(opened("gs://things/x")).__name__ == "GCSStore"
        assert opened("gs://things/x").prefix == "x"
        assert type(opened("az://container/x")).__name__ == "AzureStore"
        assert opened("az://container/x").prefix == "x"

    def test_a_folder_with_dots_is_the_one_that_they_mean(self, tmp_path: Path) -> None:
        connect("origin", RemoteSettings(f"file://localhost{tmp_path}/none/.././/b/")).put("format", b"x")
        assert (tmp_path / "b" / "format").read_bytes() == b"x"

    def test_a_folder_with_characters_of_urls(self, tmp_path: Path) -> None:
        connect("origin", RemoteSettings(f"file://{tmp_path}/a%20b")).put("format", b"x")
        assert (tmp_path / "a b" / "format").read_bytes() == b"x"


class TestRefused:
    @pytest.mark.parametrize(
        ("url", "hint"),
        [
            ("s3:///x", "names no bucket"),
            ("gs:///x", "names no bucket"),
            ("s3://Castore_", "a to z"),
            ("s3://[b", "a to z"),
            ("s3://b:99999/p", "endpoint"),
            ("s3://a..b/p", "a to z"),
            ("az://a_b", "single '-'"),
            ("s3://things/../../p", "as s3://things/p"),
            ("s3://things//p", "as s3://things/p"),
            ("s3://things/a b", "%20"),
            ("file:///", "as file:///srv/castore"),
            ("file:////", "as file:///srv/castore"),
            ("file:///a/..", "as file:///srv/castore"),
            ("file:///a%00b", "as file:///srv/castore"),
            ("file:///%ff", "as file:///srv/castore"),
            ("file://host/folder", "as file:///host/folder"),
            ("file://team", "as file:///team"),
            ("file://localhost", "as file:///srv/castore"),
            ("ftp://things", ""),
        ],
    )
    def test_what_is_no_place(self, store: Store, url: str, hint: str) -> None:
        before = (Path(store.folder) / "config.toml").read_bytes()
        calls: list[Callable[[], object]] = [
            lambda: connect("origin", RemoteSettings(url)),
            lambda: remotes.add(store, "origin", RemoteSettings(url)),
            lambda: parse_config(f'[remote.origin]\nurl = "{url}"\n'),
        ]
        for call in calls:
            with pytest.raises(InvalidConfig) as caught:
                call()
            assert caught.value.fields["key"] == "remote.origin.url"
            assert hint in str(caught.value.hint or "")
        assert (Path(store.folder) / "config.toml").read_bytes() == before

    @pytest.mark.parametrize(
        "endpoint",
        [
            "http://[::1", "http://:80", "http://", "http://%41", "http://a|b", "http://a..b", "http://-a.example",
            "http://999.999.999.999", "http://1.2.3", "http://0x7f.1", "http://127.0.0.1:99999",
            "http://127.0.0.1:0", "http://[fe80::1%25eth0]", "http://xn--a", "http://" + "a" * 64,
            "http://a/../b", "http://a/b c", "127.0.0.1:9000", "ftp://a",
        ],
    )  # fmt: skip
    def test_what_is_no_endpoint(self, store: Store, endpoint: str) -> None:
        settings = RemoteSettings("s3://things", endpoint=endpoint)
        for call in (lambda: connect("origin", settings), lambda: remotes.add(store, "origin", settings)):
            with pytest.raises(InvalidConfig) as caught:
                call()
            assert caught.value.fields["key"] == "remote.origin.endpoint"

    @pytest.mark.parametrize("region", ["../x", "a b", "", "a/b", "x" * 100])
    def test_what_is_no_region(self, store: Store, region: str) -> None:
        settings = RemoteSettings("s3://things", region=region)
        for call in (lambda: connect("origin", settings), lambda: remotes.add(store, "origin", settings)):
            with pytest.raises(InvalidConfig) as caught:
                call()
            assert caught.value.fields["key"] == "remote.origin.region"

    @pytest.mark.parametrize(
        ("url", "endpoint"),
        [
            ("s3://a.b-c/x/y/", "https://s3.eu-central-1.example.com:8443/base/"),
            ("s3://things", "http://[::1]:9000"),
            ("s3://things", "http://127.0.0.1:9000"),
            ("s3://things", "http://minio_1:9000"),
            ("s3://things", "https://xn--bcher-kva.example"),
            ("gs://a_b.c", None),
        ],
    )
    def test_what_is_one(self, url: str, endpoint: str | None) -> None:
        connect("origin", RemoteSettings(url, endpoint=endpoint))

    @pytest.mark.parametrize(
        ("folder", "what"),
        [
            ("project/.ctxstore", "is a store of its own"),
            ("project/.ctxstore/objects", "lies in a store"),
            ("project/.ctxstore/new/deep", "lies in a store"),
            ("link/objects", "lies in a store"),
            ("project", "has this store in it"),
            (".", "has this store in it"),
        ],
    )
    def test_a_folder_in_or_around_a_store(self, fast_path: Path, folder: str, what: str) -> None:
        (fast_path / "project").mkdir()
        (fast_path / "link").symlink_to(fast_path / "project" / ".ctxstore")
        with closing(Store.init(fast_path / "project" / ".ctxstore")) as store:
            url = f"file://{fast_path}/{folder}".removesuffix("/.")
            with pytest.raises(InvalidConfig, match=what) as caught:
                remotes.add(store, "origin", RemoteSettings(url))
            right = str(caught.value.hint).partition("such as ")[2]
            remotes.add(store, "origin", RemoteSettings(right))
        if what != "has this store in it":
            with pytest.raises(InvalidConfig, match=what):
                connect("origin", RemoteSettings(url))

    def test_an_account_is_needed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("AZURE_STORAGE_ACCOUNT_NAME", raising=False)
        with pytest.raises(InvalidConfig) as caught:
            connect("origin", RemoteSettings("az://container/x"))
        assert caught.value.hint == "set AZURE_STORAGE_ACCOUNT_NAME"

    def test_without_the_extra(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setattr(connecting, "find_spec", lambda name: None)
        with pytest.raises(CastoreError) as caught:
            connect("origin", RemoteSettings("s3://things"))
        project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        (needed,) = project["optional-dependencies"]["remote"]
        assert caught.value.hint == f"pip install '{needed}'", "what is told works without a clone"
        connect("origin", RemoteSettings(f"file://{tmp_path}/folder")).require_conditions()

    def test_no_secret_of_the_environment_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"not a URL {SECRET}")
        monkeypatch.setenv("GOOGLE_SERVICE_ACCOUNT_KEY", SECRET)
        for url in ("s3://things", "gs://things"):
            settings = RemoteSettings(url, timeout_seconds=1, retry_seconds=1)
            with pytest.raises(CastoreError) as caught:
                connect("origin", settings).get("format")
            error = caught.value
            assert SECRET not in f"{error.message} {error.hint} {error.fields} {error.__cause__}"


class TestCost:
    def test_the_client_library_is_loaded_by_who_connects(self) -> None:
        script = (
            "import sys, castore.api, castore.cli.app, castore.remote.remotes, castore.remote.connecting\n"
            "from castore.settings import RemoteSettings\n"
            "castore.remote.connecting.connect('folder', RemoteSettings('file:///tmp/none'))\n"
            "assert 'obstore' not in sys.modules\n"
            "castore.remote.connecting.connect('origin', RemoteSettings('s3://none'))\n"
            "assert 'obstore' in sys.modules\n"
        )
        subprocess.run([sys.executable, "-c", script], check=True)
