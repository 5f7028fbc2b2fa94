"""What a caller may use: scopes, globs, settings, CTX_SCOPE, and --scope, which never widens it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from castore import api
from castore.config import parse_grants
from castore.digest import Digest
from castore.errors import CastoreError, InvalidConfig, InvalidOption, ObjectMissing, ScopeDenied
from castore.index.seen import seen_clause
from castore.settings import change_setting, declare_scope
from castore.store import Access, Store
from castore.store.access import Granted, resolve_access
from tests.access.world import clock, ctx, truth

WORDS = st.text("ab", min_size=1, max_size=3)
SCOPES = st.lists(WORDS, min_size=1, max_size=3).map("/".join)
GLOBS = st.text("ab*/", min_size=1, max_size=5)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store of one scope, the default one."""
    store = Store.init(tmp_path / ".ctxstore", clock=clock)
    api.put(store, b"in the default scope")
    store.close()
    return tmp_path / ".ctxstore"


def put(folder: Path, data: bytes, scope: str) -> Digest:
    store = Store.open(folder, clock=clock, access=Access((scope,)))
    digest = api.put(store, data)
    store.close()
    return digest


def granted(folder: Path, *grants: str, scope: str | None = None) -> Granted:
    store = Store.open(folder, clock=clock, access=Access(grants or None, scope))
    try:
        return store.granted
    finally:
        store.close()


class TestSeveralSelected:
    """`Access.scopes`: all of these are seen, the first is written in, and none lies outside the grants."""

    def test_are_what_the_caller_may_use(self) -> None:
        found = resolve_access(Access(("team/*",), scopes=("team/b", "team/a")), None, "default", alone=False)
        assert found.seen == ("team/b", "team/a")
        assert found.writing_scope() == "team/b"
        assert found.writing_scope("team/a") == "team/a"
        with pytest.raises(ScopeDenied):
            found.writing_scope("team/c")

    @pytest.mark.parametrize("scopes", [("team/a", "other"), ("other",), ("*",), ("team/*",), ("a b",)])
    def test_never_widen_the_grants(self, scopes: tuple[str, ...]) -> None:
        for access in (Access(("team/*",), scopes=scopes), Access(None, scopes=scopes)):
            with pytest.raises((ScopeDenied, InvalidOption)):
                resolve_access(access, ("team/*",), "default", alone=False)

    def test_make_an_operator_of_none_but_the_operator(self) -> None:
        assert resolve_access(Access(("*",), scopes=("*",)), None, "default", alone=False).is_operator
        assert not resolve_access(Access(("*",), scopes=("team/a",)), None, "default", alone=True).is_operator
        assert not resolve_access(Access(None, scopes=("team/a",)), None, "team/a", alone=True).is_operator


class TestGlobs:
    @pytest.mark.parametrize(
        ("glob", "covered", "not_covered"),
        [
            ("team/*", ["team/a", "team/a/b"], ["team", "teammate", "a/team/b", "*"]),
            ("team*", ["team", "teammate", "team/a"], ["a/team", "*"]),
            ("**", ["team", "a/b"], ["*"]),
            ("*/a", ["team/a", "team/x/a"], ["a", "team/ab", "*"]),
            ("team", ["team"], ["team/a", "teammate", "*"]),
            ("*", ["team", "a/b", "*"], []),
        ],
    )
    def test_cover(self, glob: str, covered: list[str], not_covered: list[str]) -> None:
        found = Granted((glob,), "default")
        assert [each for each in (*covered, *not_covered) if found.covers(each)] == covered

    @example("a", ["**"])
    @example("a", ["b", "**"])
    @given(SCOPES, st.lists(GLOBS, min_size=1, max_size=3))
    def test_mean_the_same_in_python_and_in_the_index(self, scope: str, globs: list[str]) -> None:
        try:
            grants = tuple(grant for each in globs for grant in parse_grants(each))
        except InvalidOption:
            return
        connection = sqlite3.connect(":memory:")
        found = Granted(grants, "default")
        clause, values = seen_clause(found.seen)
        for each in (scope, "*"):
            query = f"SELECT {clause} FROM (SELECT ? AS scope)"
            # The clause comes first in the statement, so its values do too.
            assert bool(connection.execute(query, (*values, each)).fetchone()[0]) == found.covers(each)
        connection.close()


class TestSelecting:
    def test_within_the_grants(self, folder: Path) -> None:
        assert granted(folder, "team/*", scope="team/a").seen == ("team/a",)
        assert granted(folder, "*", scope="team/a").seen == ("team/a",)
        assert granted(folder, "*", scope="*").seen is None

    @pytest.mark.parametrize("scope", ["team", "other", "default", "teammate"])
    def test_outside_is_denied_whether_or_not_it_is_there(self, folder: Path, scope: str) -> None:
        for _ in range(2):
            with pytest.raises(ScopeDenied) as caught:
                granted(folder, "team/*", scope=scope)
            assert caught.value.message == f"scope '{scope}' is not granted"
            put(folder, b"it is there", scope)

    def test_it_never_makes_an_operator(self, folder: Path) -> None:
        assert not granted(folder, "*", scope="team/a").is_operator
        with pytest.raises(ScopeDenied):
            granted(folder, "*", scope="team/a").require_operator("gc")

    @pytest.mark.parametrize("scope", ["*", "team/*", "team/**"])
    def test_a_glob_selects_nothing(self, folder: Path, scope: str) -> None:
        with pytest.raises(InvalidOption):
            granted(folder, "team/*", scope=scope)

    def test_by_commands(self, folder: Path) -> None:
        put(folder, b"theirs", "team/b")
        put(folder, b"ours", "team/a")
        for command in (["ls"], ["log"], ["stats"]):
            assert ctx(folder, *command, "--scope", "team/b", scope="team/a").code == 14
            assert ctx(folder, *command, "--scope", "team/a", scope="team/*").code == 0
        assert ctx(folder, "put", "--scope", "team/b", scope="team/a", stdin=b"x").code == 14
        assert ctx(folder, "forget", "--scope", "team/b", "--older-than", "0s", scope="team/a").code == 14


class TestWriting:
    @pytest.mark.parametrize(
        ("grants", "scope"),
        [
            (("team/a",), "team/a"),
            (("team/*", "team/b"), "team/b"),
            (("b", "a"), "b"),
            (("*",), "default"),
            (("def*",), "default"),
        ],
    )
    def test_goes_to_one_scope(self, grants: tuple[str, ...], scope: str) -> None:
        assert Granted(grants, "default").writing_scope() == scope

    def test_globs_alone_name_none(self) -> None:
        with pytest.raises(ScopeDenied):
            Granted(("team/*",), "default").writing_scope()
        assert Granted(("team/*",), "default").writing_scope("team/a") == "team/a"

    def test_not_beside_what_was_selected(self) -> None:
        with pytest.raises(ScopeDenied):
            Granted(("team/*",), "default", "team/a").writing_scope("team/b")


class TestNothingGranted:
    def test_is_the_operator_while_there_is_one_scope(self, folder: Path) -> None:
        assert granted(folder).is_operator
        put(folder, b"theirs", "team/b")
        assert granted(folder).seen == ("default",)

    def test_a_declared_scope_is_enough(self, folder: Path) -> None:
        config = folder / "config.toml"
        config.write_text(declare_scope(config.read_text(), "team/b", None))
        assert granted(folder).seen == ("default",)

    def test_settings_say_what(self, folder: Path) -> None:
        config = folder / "config.toml"
        config.write_text(change_setting(config.read_text(), "scopes.granted", "team/* b"))
        assert granted(folder).seen == ("team/*", "b")
        assert granted(folder, "team/c").seen == ("team/c",)
        assert ctx(folder, "gc", scope=None).code == 14

    @pytest.mark.parametrize("has_index", [True, False])
    def test_damage_to_a_root_of_others_makes_nobody_the_operator(
        self, folder: Path, has_index: bool
    ) -> None:
        digest = put(folder, b"theirs", "team/b")
        for path in folder.glob("roots/*/*.json"):
            if b'"scope":"team/b"' in path.read_bytes():
                path.chmod(0o600)
                path.write_bytes(b"")
        if not has_index:
            for path in folder.glob("index.sqlite*"):
                path.unlink()
        assert not granted(folder).is_operator
        store = Store.open(folder, clock=clock)
        with pytest.raises(ObjectMissing):
            store.read(digest)
        store.close()

    def test_damage_to_a_root_of_the_default_scope_leaves_its_owner_the_operator(self, folder: Path) -> None:
        for path in folder.glob("roots/*/*.json"):
            path.chmod(0o600)
            path.write_bytes(path.read_bytes()[:-20])
        for path in folder.glob("index.sqlite*"):
            path.unlink()
        assert granted(folder).is_operator

    @pytest.mark.parametrize(
        "text", ['[scopes]\ngranted = ["team/a"]\nx = 1', '[scope."team/a"]\nquota = 1', "scope = {a = 1}"]
    )
    def test_broken_settings_that_speak_of_scopes_close_the_store(self, folder: Path, text: str) -> None:
        (folder / "config.toml").write_text(text)
        with pytest.raises(InvalidConfig):
            _ = granted(folder).seen
        assert granted(folder, "default").seen == ("default",)

    def test_others_do_not(self, folder: Path) -> None:
        (folder / "config.toml").write_text("[fold]\nbites-over = 3  # granted\n")
        assert granted(folder).is_operator


class TestCopies:
    def test_a_copy_of_a_store_shows_what_the_store_did(self, folder: Path, tmp_path: Path) -> None:
        """The index is copied with it, and its rows are about other files."""
        import shutil

        digest = put(folder, b"ours", "team/a")
        copy = Path(shutil.copytree(folder, tmp_path / "copy"))
        store = Store.open(copy, clock=clock, access=Access(("team/a",)))
        assert store.read(digest) == b"ours"
        store.close()
        store = Store.open(copy, clock=clock, access=Access(("team/b",)))
        with pytest.raises(ObjectMissing):
            store.read(digest)
        store.close()


BAD = [
    "../x",
    "/etc",
    "a/../b",
    "a\0b",
    "a" * 10_000,
    "a/" * 5_000,
    "UPPER",
    "",
    " ",
    "a//b",
    "/a",
    "ä",
    "a b",
]


class TestWords:
    @pytest.mark.parametrize("text", BAD, ids=[ascii(each[:12]) for each in BAD])
    def test_what_is_no_scope_is_an_error_of_usage(self, folder: Path, tmp_path: Path, text: str) -> None:
        before = truth(tmp_path)
        for line in (
            ["put", "--scope", text],
            ["fold", "--scope", text],
            ["tag", "--scope", text, "n", "0" * 64],
            ["ls", "--scope", text],
            ["scope", "show", text],
            ["scope", "create", text],
        ):
            code = ctx(folder, *line, scope="*", stdin=b'"' + b"x" * 3000 + b'"').code
            assert code == (12 if line[0] == "tag" else 2), line
        assert truth(tmp_path) == before

    @pytest.mark.parametrize("text", ["", " ", ",", "../x", "A", "a" * 10_000, "team/[ab]", "team/?"])
    def test_what_grants_nothing_is_too(self, folder: Path, text: str) -> None:
        assert ctx(folder, "ls", scope=text).code == 2

    @pytest.mark.parametrize("grants", [("team/?",), ("[a-z]*",), ("A",), ("../x",)])
    def test_a_program_is_held_to_the_same(self, grants: tuple[str, ...]) -> None:
        with pytest.raises(InvalidOption):
            resolve_access(Access(grants), None, "default", alone=False)

    def test_errors_are_ours(self, folder: Path) -> None:
        with pytest.raises(CastoreError):
            granted(folder, "a", scope="\udcff")
