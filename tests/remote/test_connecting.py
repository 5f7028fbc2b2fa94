"""From settings to a bucket: what a URL means, without a request and without a credential in anything."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from castore.errors import CastoreError, InvalidConfig
from castore.remote import connecting
from castore.remote.bucket import Bucket
from castore.remote.cloud import Cloud
from castore.remote.connecting import connect
from castore.settings import RemoteSettings
from castore.store import Store

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

    def test_a_folder_with_characters_of_urls(self, tmp_path: Path) -> None:
        connect("origin", RemoteSettings(f"file://{tmp_path}/a%20b")).put("format", b"x")
        assert (tmp_path / "a b" / "format").read_bytes() == b"x"


class TestRefused:
    @pytest.mark.parametrize("url", ["s3:///x", "file://host/folder", "file:///", "file:///a%00b", "gs:///x"])
    def test_what_is_no_place(self, url: str) -> None:
        with pytest.raises(InvalidConfig) as caught:
            connect("origin", RemoteSettings(url))
        assert caught.value.fields["key"] == "remote.origin.url"

    def test_an_account_is_needed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("AZURE_STORAGE_ACCOUNT_NAME", raising=False)
        with pytest.raises(InvalidConfig) as caught:
            connect("origin", RemoteSettings("az://container/x"))
        assert caught.value.hint == "set AZURE_STORAGE_ACCOUNT_NAME"

    def test_a_store_is_no_bucket(self, tmp_path: Path) -> None:
        Store.init(tmp_path / "store").close()
        with pytest.raises(InvalidConfig, match="a store of its own"):
            connect("origin", RemoteSettings(f"file://{tmp_path}/store"))

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
