"""What to do next is said, to who can do it: after damage, in a scope, and where roots/ is gone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from castore.cli import guidance
from tests.cli.conftest import Shell

READS_OF_ROOTS = [["log"], ["ls"], ["stats"], ["unfold", "folded.json"], ["scope", "list"]]


@pytest.fixture
def folded(ctx: Shell) -> Shell:
    """As `ctx`, with the document folded."""
    assert ctx("fold", "in.json", "-o", "folded.json").code == 0
    return ctx


def digest_in(shell: Shell) -> str:
    document = json.loads((shell.folder / "folded.json").read_bytes())
    return str(document["rows"]["$ctx"]["digest"])


def lose_object(shell: Shell) -> str:
    digest = digest_in(shell)
    (shell.folder / ".ctxstore/objects" / digest[7:9] / digest[7:]).unlink()
    return digest


def lose_roots(shell: Shell) -> None:
    shutil.rmtree(shell.folder / ".ctxstore/roots")


class TestRootsAreGone:
    @pytest.mark.parametrize("has_index", [True, False])
    @pytest.mark.parametrize("arguments", READS_OF_ROOTS, ids=" ".join)
    def test_is_said_once_with_what_to_do(self, folded: Shell, arguments: list[str], has_index: bool) -> None:
        lose_roots(folded)
        if not has_index:
            (folded.folder / ".ctxstore/index.sqlite").unlink()
        done = folded(*arguments)
        assert done.code == 0
        assert done.err.count("note: roots/ is missing") == 1
        assert "'ctx repair'" in done.err
        note = json.loads(folded(*arguments, "--json").err.splitlines()[-1])
        assert (note["event"], "'ctx repair'" in note["message"]) == ("note", True)

    def test_who_sees_nothing_any_more_is_sent_to_the_operator(self, folded: Shell) -> None:
        """Whether or not there is an object, or others have one."""
        lose_roots(folded)
        for arguments in (
            ["unfold", "folded.json"],
            ["cat", digest_in(folded)],
            ["cat", "sha256:" + "0" * 64],
        ):
            done = folded(*arguments, CTX_SCOPE="team/a")
            assert done.code == 12
            assert "hint: roots/ is missing, so nothing is seen: ask the store's operator" in done.err
        assert "ask the store's operator to run 'ctx repair'" in folded("log", CTX_SCOPE="team/a").err

    def test_an_empty_store_needs_no_repair(self, ctx: Shell) -> None:
        lose_roots(ctx)
        assert (ctx("log").err, ctx("ls").err) == ("", "")


class TestWhatIsMissing:
    def test_repair_is_named(self, folded: Shell) -> None:
        digest = lose_object(folded)
        for arguments in (["unfold", "folded.json"], ["cat", digest], ["verify", "folded.json"], ["verify"]):
            done = folded(*arguments)
            assert done.code in (3, 12)
            assert "'ctx repair" in done.err.splitlines()[-1]
            assert "--from FILE" in done.err.splitlines()[-1]
        assert folded("repair", "--from", "in.json").code == 0
        assert folded("verify").err == ""

    def test_verify_names_what_acts_on_each_finding(self, folded: Shell) -> None:
        lose_roots(folded)
        summary = json.loads(folded("verify", "--json").err.splitlines()[-1])
        assert summary["event"] == "summary"
        assert summary["hint"].startswith("'ctx repair' puts right what can be")
        assert folded("repair").code == 0
        assert json.loads(folded("verify", "--json").err)["hint"] is None

    def test_repair_says_before_which_root_it_makes(self, folded: Shell) -> None:
        lose_roots(folded)
        (folded.folder / ".ctxstore/index.sqlite").unlink()
        planned, done = folded("repair", "--dry-run"), folded("repair")
        root = folded("log", "--json").rows[0]["id"]
        assert f"would name 2 objects by {root}" in planned.lines
        assert f"named 2 objects by {root}" in done.lines


class TestOthersThanTheOperator:
    """What is refused to them is not what they are told to run."""

    @pytest.fixture
    def team(self, ctx: Shell) -> Shell:
        assert ctx("fold", "in.json", "-o", "folded.json", CTX_SCOPE="team/a").code == 0
        return ctx

    def test_of_what_is_missing_or_damaged(self, team: Shell) -> None:
        digest = digest_in(team)
        path = team.folder / ".ctxstore/objects" / digest[7:9] / digest[7:]
        path.chmod(0o600)
        path.write_bytes(b"rotten")
        for arguments in (["cat", digest], ["unfold", "folded.json"], ["show", digest]):
            done = team(*arguments, CTX_SCOPE="team/a")
            assert done.code == 13
            assert "\nhint: put its bytes again, or ask the store's operator to run" in done.err
        path.unlink()
        for arguments in (["cat", digest], ["unfold", "folded.json"], ["cat", "sha256:" + "0" * 64]):
            done = team(*arguments, CTX_SCOPE="team/a")
            assert done.code == 12
            assert "\nhint: ask the store's operator to run 'ctx verify'; " in done.err
        done = team("verify", "folded.json", CTX_SCOPE="team/a")
        assert (done.code, "the store's operator can heal objects" in done.err) == (3, True)

    def test_of_a_damaged_root(self, team: Shell) -> None:
        root: Path = next((team.folder / ".ctxstore/roots").glob("*/*.json"))
        root.chmod(0o600)
        root.write_bytes(b"{}")
        (team.folder / ".ctxstore/index.sqlite").unlink()
        done = team("put", stdin=b"more", CTX_SCOPE="team/a")
        assert (done.code, "\nhint: ask the store's operator to run 'ctx repair'" in done.err) == (13, True)

    def test_of_a_quota(self, ctx: Shell) -> None:
        assert ctx("scope", "create", "team/a", "--quota", "1kB").code == 0
        done = ctx("put", stdin=b"x" * 2000, CTX_SCOPE="team/a")
        assert (done.code, "'ctx gc'" in done.err, "operator" in done.err) == (17, False, True)
        assert "'ctx gc'" in ctx("put", "--scope", "team/a", stdin=b"x" * 2000, CTX_SCOPE="*").err


class TestNewScope:
    NOTE = "note: scope 'team/x' is new in this store\n"

    def test_is_told_to_its_first_writer_alone(self, ctx: Shell) -> None:
        for grants in ("team/x", "team/*", "*"):
            done = ctx("put", "--scope", "team/x", stdin=grants.encode(), CTX_SCOPE=grants)
            assert (done.code, done.err) == (0, self.NOTE if grants == "team/x" else "")

    def test_is_told_alike_whatever_others_have(self, ctx: Shell) -> None:
        assert ctx("put", stdin=b"1", CTX_SCOPE="other").code == 0
        assert ctx("put", stdin=b"1", CTX_SCOPE="team/x").err == self.NOTE

    def test_not_of_one_that_was_declared_or_is_the_default(self, ctx: Shell) -> None:
        assert ctx("put", stdin=b"1").err == ""
        assert ctx("scope", "create", "team/x").code == 0
        assert ctx("put", stdin=b"2", CTX_SCOPE="team/x").err == ""
        assert ctx("put", stdin=b"3", CTX_SCOPE="default").err == ""


class TestAFileIsNoName:
    """A hint for who names a file where an object is meant; its exit code is that of any other word."""

    @pytest.mark.parametrize("command", [["cat"], ["show"], ["grep", "502"]])
    def test_what_to_do_with_a_file(self, folded: Shell, command: list[str]) -> None:
        done = folded(*command, "folded.json")
        assert done.code == 12
        assert "it is a file" in done.err
        assert "'ctx put folded.json'" in done.err
        assert ("--doc folded.json" if command[0] == "grep" else "'folded.json#$.path'") in done.err
        assert json.loads(folded(*command, "folded.json", "--json").err)["name"] == "NameMissing"

    def test_a_place_that_is_not_written_as_one(self, folded: Shell) -> None:
        for written, meant in (("rows", "$.rows"), (".rows", "$.rows"), ("[0]", "$[0]"), ("", "$")):
            done = folded("cat", f"folded.json#{written}")
            assert (done.code, f"begins with $: 'folded.json#{meant}'\n" in done.err) == (12, True), done.err
        assert "no file 'none.json'" in folded("cat", "none.json#$.rows").err

    def test_other_words_have_the_hint_of_names(self, folded: Shell) -> None:
        for word in ("nothing", "nothing#1"):
            assert "hint: 'ctx log' lists the names in use" in folded("cat", word).err
        assert "it is a file" not in folded("forget", "in.json").err


class TestOptionsOfOtherTools:
    @pytest.mark.parametrize(
        ("option", "words"), [("-c", "wc -l"), ("-v", "grep -v"), ("-o", "160 bytes"), ("-A3", "-C N")]
    )
    def test_what_does_it_here(self, folded: Shell, option: str, words: str) -> None:
        done = folded("grep", option, "row")
        assert (done.code, words in done.err) == (2, True)
        assert "'ctx grep --help'" in done.err

    def test_each_that_is_told_of_is_no_option_here(self, ctx: Shell) -> None:
        for command, option in guidance.OPTIONS:
            done = ctx(command, option, "x", "y")
            assert (done.code, f"no such option: {option}" in done.err) == (2, True), (command, option)
            assert str(guidance.option_hint(command, option)) in done.err


class TestCommandsOfOtherTools:
    def test_each_is_none_here_and_says_what_does_it(self, ctx: Shell) -> None:
        for command, words in guidance.COMMANDS.items():
            done = ctx(*command.split(), "x", "y")
            assert (done.code, words in done.err) == (2, True), command
