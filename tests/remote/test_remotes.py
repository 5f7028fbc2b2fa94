"""Which remotes a store has: tables of config.toml, which the operator changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from castore.errors import InvalidConfig, InvalidOption, ScopeDenied
from castore.remote import remotes
from castore.settings import RemoteSettings
from castore.store import Access, Store

S3 = RemoteSettings("s3://things/x", endpoint="https://s3.example.com", path_style=False, granted=("team/*",))
FOLDER = RemoteSettings("file:///srv/castore", fetch="on-demand", conditions="none", timeout_seconds=90)


@pytest.fixture
def store(fast_path: Path) -> Iterator[Store]:
    with closing(Store.init(fast_path / "store")) as store:
        yield store


class TestAdded:
    def test_what_was_said_is_there_for_whoever_opens_the_store(self, store: Store) -> None:
        remotes.add(store, "origin", S3)
        remotes.add(store, "folder", FOLDER)
        assert remotes.get(store, "origin") == S3
        with closing(Store.open(store.folder)) as other:
            assert dict(remotes.listed(other)) == {"folder": FOLDER, "origin": S3}
            assert list(remotes.listed(other)) == ["folder", "origin"]

    def test_comments_and_other_settings_stay(self, store: Store) -> None:
        config = Path(store.folder) / "config.toml"
        config.write_text("# mine\n[fold]\nbytes-over = 77\n")
        with closing(Store.open(store.folder)) as other:
            remotes.add(other, "origin", S3)
            remotes.remove(other, "origin")
            assert "# mine" in config.read_text()
            assert other.config.fold.bytes_over == 77

    def test_a_name_in_use_is_refused(self, store: Store) -> None:
        remotes.add(store, "origin", S3)
        with pytest.raises(InvalidOption, match="there is a remote 'origin' already"):
            remotes.add(store, "origin", FOLDER)
        assert remotes.get(store, "origin") == S3

    @pytest.mark.parametrize("url", ["s3://key:secret-7@things", "s3://things?key=secret-7", "ftp://things"])
    def test_a_url_with_a_secret_is_refused(self, store: Store, url: str) -> None:
        before = (Path(store.folder) / "config.toml").read_bytes()
        with pytest.raises(InvalidConfig) as caught:
            remotes.add(store, "origin", RemoteSettings(url))
        assert "secret-7" not in f"{caught.value.message} {caught.value.hint} {caught.value.fields}"
        assert (Path(store.folder) / "config.toml").read_bytes() == before

    def test_a_name_that_is_none(self, store: Store) -> None:
        with pytest.raises(InvalidOption):
            remotes.add(store, "a\nb", S3)


class TestRemoved:
    def test_it_is_not_known_any_more(self, store: Store) -> None:
        remotes.add(store, "origin", S3)
        remotes.remove(store, "origin")
        assert dict(remotes.listed(store)) == {}
        with pytest.raises(InvalidOption, match="no remote 'origin'") as caught:
            remotes.get(store, "origin")
        assert caught.value.hint == "'ctx remote list' lists them"
        with pytest.raises(InvalidOption, match="no remote 'origin'"):
            remotes.remove(store, "origin")


class TestMeant:
    def test_the_only_one_or_origin(self, store: Store) -> None:
        with pytest.raises(InvalidOption, match="no remote"):
            remotes.default(store)
        remotes.add(store, "first", S3)
        assert remotes.default(store) == "first"
        remotes.add(store, "second", FOLDER)
        with pytest.raises(InvalidOption, match="which remote is meant"):
            remotes.default(store)
        remotes.add(store, "origin", FOLDER)
        assert remotes.default(store) == "origin"


class TestOperator:
    def test_others_read_and_change_nothing(self, store: Store) -> None:
        remotes.add(store, "origin", S3)
        with closing(Store.open(store.folder, access=Access(grants=("default",)))) as other:
            assert remotes.get(other, "origin") == S3
            with pytest.raises(ScopeDenied):
                remotes.add(other, "second", FOLDER)
            with pytest.raises(ScopeDenied):
                remotes.remove(other, "origin")
