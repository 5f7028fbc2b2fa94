"""What is not here, or no more, or damaged, in a store that has a remote: what the hint says does it."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.access.sessions import pi_session
from tests.cli.conftest import DOCUMENT, Shell
from tests.cli.test_remote import Desk, hurt

NOT_HERE = ["unfold out.json", "cat DIGEST", "cat SHORT", "cat outage", "cat out.json#$.log"]
READS = ["unfold out.json", "cat DIGEST", "cat SHORT"]


@pytest.fixture
def desk(shell: Shell) -> Desk:
    """`here` has pushed a folded document and a text with the name `outage`; `there` has the file."""
    desk = Desk(shell)
    assert desk.here("fold", "in.json", "-o", "out.json").code == 0
    assert desk.here("tag", "outage", digest_in(desk)).code == 0
    assert desk.here("push", "out.json", "outage").code == 0
    data = (desk.shell.folder / "here/out.json").read_bytes()
    (desk.shell.folder / "there/out.json").write_bytes(data)
    return desk


def digest_in(desk: Desk) -> str:
    document = json.loads((desk.shell.folder / "here/out.json").read_bytes())
    return str(document["log"]["$ctx"]["digest"])


def words(desk: Desk, command: str) -> list[str]:
    digest = digest_in(desk)
    return shlex.split(command.replace("DIGEST", digest).replace("SHORT", digest[7:15]))


def advised(hint: str) -> list[str]:
    """The first command that a hint names, without `ctx`."""
    found = re.search(r"'ctx ((?:[^']|'[^']*'(?=[ ']))+)'", hint)
    assert found is not None, hint
    return shlex.split(found[1])


def file_of(desk: Desk, machine: str) -> Path:
    digest = digest_in(desk).removeprefix("sha256:")
    return desk.shell.folder / machine / ".ctxstore/objects" / digest[:2] / digest


class TestWhatTheHintSaysDoesIt:
    @pytest.mark.parametrize("read", NOT_HERE)
    def test_what_was_never_here_is_pulled(self, desk: Desk, read: str) -> None:
        lost = desk.there(*words(desk, read), "--json")
        assert (lost.code, lost.out) == (12, b"")
        assert desk.there(*advised(lost.error["hint"])).code == 0
        assert desk.there(*words(desk, read)).code == 0

    def test_a_view_whose_record_is_not_here_is_pulled(self, desk: Desk) -> None:
        session = desk.shell.folder / "here/s.jsonl"
        session.write_bytes(pi_session("figs", 6))
        assert desk.here("view", "s.jsonl", "--step", "1", "-o", "small view.jsonl").code == 0
        view = desk.shell.folder / "here/small view.jsonl"
        assert desk.here("push", str(view)).code == 0
        other = desk.shell.folder / "there/small view.jsonl"
        other.write_bytes(view.read_bytes())
        lost = desk.there("unfold", other.name, "--json")
        assert lost.code == 12
        assert desk.there(*advised(lost.error["hint"])).code == 0
        assert desk.there("unfold", other.name).out == session.read_bytes()

    @pytest.mark.parametrize("is_damaged", [False, True])
    @pytest.mark.parametrize("read", READS)
    def test_what_was_lost_or_is_damaged_here_is_repaired(
        self, desk: Desk, read: str, is_damaged: bool
    ) -> None:
        path = file_of(desk, "here")
        if is_damaged:
            hurt(path, b"junk")
        else:
            path.unlink()
        if read == "cat SHORT" and not is_damaged:
            return  # Nothing that is here begins with these digits: told as what was never here.
        lost = desk.here(*words(desk, read), "--json")
        assert (lost.code, lost.out) == (13 if is_damaged else 12, b"")
        assert desk.here(*advised(lost.error["hint"])).code == 0
        assert desk.here(*words(desk, read)).code == 0

    def test_so_does_what_verify_says(self, desk: Desk) -> None:
        for files in (["out.json"], []):
            file_of(desk, "here").unlink()
            found = desk.here("verify", *files, "--json")
            assert found.code == 3
            hint = json.loads(found.err.splitlines()[-1])["hint"]
            assert "--remote team" in hint
            assert desk.here("repair", "--remote", "team").code == 0
            assert desk.here("verify", *files).code == 0


class TestTheHint:
    def test_asks_no_remote(self, desk: Desk) -> None:
        """It is given where the remote can't be reached, or may not be asked, and in a time of none."""
        hints = [desk.there(*words(desk, read), "--json").error["hint"] for read in NOT_HERE]
        assert all("'ctx pull team " in hint for hint in hints)
        assert desk.there("config", "remote.team.url", "file:///nowhere/at/all").code == 0
        again = [desk.there(*words(desk, read), "--json", CTX_OFFLINE="1").error["hint"] for read in NOT_HERE]
        assert again == hints

    def test_speaks_of_no_remote_where_there_is_none(self, desk: Desk) -> None:
        assert desk.there("remote", "remove", "team").code == 0
        for read in NOT_HERE:
            assert "pull" not in desk.there(*words(desk, read), "--json").error["hint"]

    def test_of_several_remotes_names_origin_or_none(self, desk: Desk) -> None:
        assert desk.there("remote", "add", "other", "file:///nowhere/at/all").code == 0
        assert "'ctx pull NAME out.json'" in desk.there("unfold", "out.json", "--json").error["hint"]
        assert desk.there("remote", "add", "origin", "file:///nowhere/at/all").code == 0
        assert "'ctx pull origin out.json'" in desk.there("unfold", "out.json", "--json").error["hint"]

    def test_settings_that_cant_be_read_hide_no_error(self, desk: Desk) -> None:
        hurt(desk.shell.folder / "here/.ctxstore/config.toml", b"junk")
        file_of(desk, "here").unlink()
        assert desk.here("cat", digest_in(desk)).code == 12

    def test_is_one_for_what_is_hidden_and_what_nobody_has(self, desk: Desk) -> None:
        assert desk.here("fold", "in.json", "--scope", "other").code == 0
        for digest in (digest_in(desk), "sha256:" + "0" * 64):
            done = desk.here("cat", digest, "--json", CTX_SCOPE="mine")
            assert done.code == 12
            assert done.error["hint"] == (
                f"'ctx pull team {digest[7:23]}' brings it if it was pushed; "
                "--store or CTX_STORE names another store"
            )

    def test_who_is_not_the_operator_is_sent_there_for_what_is_lost(self, desk: Desk) -> None:
        file_of(desk, "here").unlink()
        lost = desk.here("cat", digest_in(desk), "--json", CTX_SCOPE="default")
        assert "ask the store's operator to run 'ctx repair --remote team'" in lost.error["hint"]
        assert desk.here("repair", "--remote", "team").code == 0
        hurt(file_of(desk, "here"), b"junk")
        hurt_one = desk.here("cat", digest_in(desk), "--json", CTX_SCOPE="default")
        assert "ask the store's operator to run 'ctx repair --remote team'" in hurt_one.error["hint"]


class TestAPromiseOfARemoteThatWasRemoved:
    @pytest.mark.parametrize("read", ["unfold out.json", "cat DIGEST", "cat SHORT", "fetch out.json"])
    @pytest.mark.parametrize("environment", [{}, {"CTX_OFFLINE": "1"}], ids=str)
    def test_is_16_and_says_what_adds_it_again(
        self, desk: Desk, read: str, environment: dict[str, str]
    ) -> None:
        assert desk.there("pull", "--lazily", "out.json").code == 0
        assert desk.there("remote", "remove", "team").code == 0
        if read.startswith("fetch") and environment:
            return
        lost = desk.there(*words(desk, read), "--json", **environment)
        assert (lost.code, lost.error["name"], lost.out) == (16, "RemoteMissing", b"")
        assert lost.error["fields"]["remote"] == "team"
        assert desk.there(*(each.replace("URL", desk.url) for each in advised(lost.error["hint"]))).code == 0
        assert desk.there("unfold", "out.json").out == DOCUMENT
