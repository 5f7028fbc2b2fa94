"""Scopes as the command line has them: what CTX_SCOPE grants, what --scope selects, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Done, Shell

Run = Callable[..., Done]


def as_(ctx: Shell, grants: str) -> Run:
    """`ctx`, for somebody who was granted these scopes."""

    def run(*arguments: str, stdin: bytes = b"") -> Done:
        return ctx(*arguments, stdin=stdin, CTX_SCOPE=grants)

    return run


@pytest.fixture
def teams(ctx: Shell) -> Shell:
    """Two scopes: a has the folded document and a poem of its own, b another."""
    assert as_(ctx, "team/a")("fold", "in.json", "-o", "a.json", "--name", "outage").code == 0
    assert as_(ctx, "team/a")("put", "--name", "poem", stdin=b"of a\n").code == 0
    assert as_(ctx, "team/b")("put", "--name", "poem", stdin=b"of b\n").code == 0
    return ctx


READS = {
    "cat": ["cat", "poem"],
    "show": ["show", "poem"],
    "ls": ["ls"],
    "log": ["log"],
    "why": ["why", "poem"],
    "unfold": ["unfold", "a.json"],
    "verify": ["verify", "a.json"],
    "stats": ["stats"],
    "forget": ["forget", "poem", "--dry-run"],
}


class TestGrants:
    def test_each_sees_its_own(self, teams: Shell) -> None:
        a, b = as_(teams, "team/a"), as_(teams, "team/b")
        assert (a("cat", "poem").out, b("cat", "poem").out) == (b"of a\n", b"of b\n")
        assert (len(a("ls").lines), len(b("ls").lines)) == (3, 1)
        assert a("unfold", "a.json").code == 0
        assert b("unfold", "a.json").code == 12

    def test_what_is_not_granted_is_as_what_is_not_there(self, teams: Shell) -> None:
        hidden = next(line.split("\t")[0] for line in as_(teams, "team/a")("ls").lines)
        absent = "sha256:" + "0" * 63 + "1"
        b = as_(teams, "team/b")
        for command in ("cat", "show", "why"):
            seen, missing = b(command, hidden), b(command, absent)
            assert (seen.code, seen.out) == (missing.code, missing.out) == (12, b"")
            assert seen.err.replace(hidden[:23], "X") == missing.err.replace(absent[:23], "X")

    def test_globs_and_the_operator_see_all(self, teams: Shell) -> None:
        for grants in ("*", "team/*", "team/a team/b", "team/a,team/b"):
            assert len(as_(teams, grants)("ls").lines) == 4

    def test_without_a_grant_only_the_default_scope_is_there(self, teams: Shell) -> None:
        assert teams("ls").out == b""
        assert teams("log").out == b""
        assert teams("cat", "poem").code == 12

    def test_an_empty_grant_is_a_mistake(self, teams: Shell) -> None:
        for grants in ("", " , "):
            for arguments in (["ls"], ["put"], ["scope", "list"]):
                done = as_(teams, grants)(*arguments)
                assert (done.code, done.out) == (2, b"")
                assert "\nhint: " in done.err
        assert as_(teams, "Team A!")("ls").code == 2

    def test_the_setting_grants_where_nobody_else_does(self, teams: Shell) -> None:
        assert as_(teams, "*")("config", "scopes.granted", "team/b").code == 0
        assert teams("cat", "poem").out == b"of b\n"
        assert as_(teams, "team/a")("cat", "poem").out == b"of a\n"


class TestScopeOption:
    @pytest.mark.parametrize("name", READS)
    def test_selects_within_the_grant(self, teams: Shell, name: str) -> None:
        both, a = as_(teams, "team/*"), as_(teams, "team/a")
        selected, alone = both(*READS[name], "--scope", "team/a"), a(*READS[name])
        assert (selected.code, selected.out, selected.err) == (alone.code, alone.out, alone.err)
        assert selected.code == 0

    @pytest.mark.parametrize("name", READS)
    def test_never_widens_it(self, teams: Shell, name: str) -> None:
        """Whether or not there is such a scope."""
        b = as_(teams, "team/b")
        for scope in ("team/a", "team/none"):
            done = b(*READS[name], "--scope", scope)
            assert (done.code, done.out) == (14, b"")
            assert done.err.startswith(f"error: scope '{scope}' is not granted\nhint: ")

    def test_a_writer_writes_in_it(self, teams: Shell) -> None:
        both, b = as_(teams, "team/*"), as_(teams, "team/b")
        document = json.dumps(["x" * 5000] * 9).encode()
        for arguments in (["put"], ["fold"], ["tag", "x1", "outage"], ["keep", "outage"]):
            before = len(b("log").lines)
            assert both(*arguments, "--scope", "team/b", stdin=document).code == 0
            assert len(b("log").lines) == before + 1
            done = both(*arguments, "--scope", "other", stdin=document)
            assert (done.code, done.out) == (14, b"")

    def test_whole_store_is_not_one_scope(self, teams: Shell) -> None:
        assert as_(teams, "*")("verify").code == 0
        assert as_(teams, "*")("verify", "--scope", "team/a").code == 14


class TestOperator:
    ACTS = {  # noqa: RUF012 - it is read only
        "gc": ["gc"],
        "gc --dry-run": ["gc", "--dry-run"],
        "verify": ["verify"],
        "repair": ["repair"],
        "repair --dry-run": ["repair", "--dry-run"],
        "purge": ["purge", "0" * 64, "--reason", "x", "--yes"],
        "config": ["config", "store.grace", "1d"],
        "scope create": ["scope", "create", "team/c"],
    }

    @pytest.mark.parametrize("name", ACTS)
    def test_others_are_refused_with_a_way_out(self, teams: Shell, name: str) -> None:
        for run in (as_(teams, "team/*"), teams):
            done = run(*self.ACTS[name], "--json")
            assert (done.code, done.out) == (14, b"")
            assert done.error["name"] == "ScopeDenied"
            assert "CTX_SCOPE='*'" in done.error["hint"]

    def test_a_store_of_one_scope_has_its_owner_for_operator(self, ctx: Shell) -> None:
        for arguments in (["gc"], ["verify"], ["repair"], ["config", "store.grace", "1d"]):
            assert ctx(*arguments).code == 0


class TestScopeCommands:
    def test_alone_prints_its_commands(self, shell: Shell) -> None:
        done = shell("scope")
        assert (done.code, done.err) == (0, "")
        assert [line.split("  ")[1] for line in done.lines[:3]] == [
            "scope list",
            "scope create",
            "scope show",
        ]

    def test_a_near_miss_is_named(self, shell: Shell) -> None:
        done = shell("scope", "lst", "--json")
        assert (done.code, done.error["hint"]) == (2, "did you mean 'ctx scope list'?")
        done = shell("scope", "frobnicate")
        assert (
            done.err == "error: no command 'scope frobnicate'\nhint: 'ctx scope' alone lists the commands\n"
        )
        assert "ctx scope create --help" in shell("scope", "create").err
        done = shell("scope", "create", "Team A", "--store", str(shell.folder / "s"))
        assert (done.code, "can't be a scope" in done.err) == (2, True)

    def test_store_may_stand_before_either_word(self, teams: Shell, tmp_path: Path) -> None:
        store = str(teams.folder / ".ctxstore")
        for arguments in (
            ["--store", store, "scope", "list"],
            ["scope", "--store", store, "list"],
            ["scope", "list", "--store", store],
        ):
            done = teams(*arguments, cwd=tmp_path, CTX_SCOPE="team/b")
            assert (done.code, done.lines) == (0, ["team/b\t1\t1\t5\t-"])

    def test_list_is_of_what_is_granted(self, teams: Shell) -> None:
        def listed(grants: str) -> list[str]:
            return [row["scope"] for row in as_(teams, grants)("scope", "list", "--json").rows]

        assert as_(teams, "*")("scope", "create", "team/idle").code == 0
        assert listed("*") == ["default", "team/a", "team/b", "team/idle"]
        assert listed("team/*") == ["team/a", "team/b", "team/idle"]
        assert listed("team/b") == ["team/b"]
        assert listed("new") == ["new"]
        (row,) = as_(teams, "team/a")("scope", "list", "--json").rows
        assert (row["roots"], row["objects"], row["is_declared"]) == (2, 3, False)

    def test_list_needs_no_index(self, teams: Shell) -> None:
        before = as_(teams, "*")("scope", "list").out
        for name in ("index.sqlite", "index.sqlite-wal", "index.sqlite-shm"):
            (teams.folder / ".ctxstore" / name).unlink(missing_ok=True)
        assert as_(teams, "*")("scope", "list").out == before

    def test_show_outside_is_14_whether_or_not_it_is_there(self, teams: Shell) -> None:
        b = as_(teams, "team/b")
        assert b("scope", "show", "team/b").lines[0] == "scope\tteam/b"
        there, nowhere = b("scope", "show", "team/a"), b("scope", "show", "team/none")
        assert (there.code, there.out) == (nowhere.code, nowhere.out) == (14, b"")
        assert there.err == nowhere.err.replace("none", "a")

    def test_create_declares_and_its_quota_holds(self, ctx: Shell) -> None:
        done = ctx("scope", "create", "team/a", "--quota", "1kB", "--json")
        assert (done.code, done.rows[0]["quota_bytes"], done.rows[0]["is_declared"]) == (0, 1000, True)
        a = as_(ctx, "team/a")
        assert a("put", stdin=b"x" * 1000).code == 0
        refused = a("put", "--json", stdin=b"y")
        assert (refused.code, refused.error["name"]) == (17, "LimitExceeded")
        assert as_(ctx, "*")("scope", "create", "team/a", "--quota", "none").code == 0
        assert a("put", stdin=b"y").code == 0
        assert as_(ctx, "*")("scope", "create", "team/a", "--quota", "much").code == 2

    def test_create_again_keeps_the_quota_and_the_comments(self, ctx: Shell) -> None:
        path = ctx.folder / ".ctxstore/config.toml"
        before = path.read_text().splitlines()
        for arguments in (["--quota", "10GB"], []):
            assert as_(ctx, "*")("scope", "create", "team/a", *arguments).code == 0
            assert as_(ctx, "*")("scope", "show", "team/a", "--json").rows[0]["quota_bytes"] == 10**10
        assert set(before) <= set(path.read_text().splitlines())

    def test_first_other_scope_is_told_to_who_was_granted_nothing(self, ctx: Shell) -> None:
        done = ctx("scope", "create", "team/a")
        assert (done.code, done.err.startswith("note: the store has the scope 'team/a' now")) == (0, True)
        assert ctx("scope", "create", "team/b").code == 14


class TestSettingsOfOthers:
    def test_are_not_shown(self, teams: Shell) -> None:
        operator = as_(teams, "*")
        assert operator("config", "scopes.granted", "team/a, team/b").code == 0
        assert operator("scope", "create", "team/a", "--quota", "10GB").code == 0
        assert operator("config", "scopes.granted").lines == ["team/a team/b"]
        assert operator("config", "--json").rows[4]["value"] == ["team/a", "team/b"]
        shown = as_(teams, "team/b")("config")
        assert shown.code == 0
        assert b"team/a" not in shown.out
        assert "scopes.granted\tteam/b\tconfig.toml" in shown.lines
