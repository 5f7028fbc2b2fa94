"""Which store is used, what is said about it, and that reads never make one."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import DOCUMENT, Shell

NOTE = "note: using the user store; 'ctx init' makes one here"


def made(folder: Path) -> str:
    return f"note: made the store '{folder}'\n"


@pytest.fixture
def stored(shell: Shell) -> Shell:
    (shell.folder / "in.json").write_bytes(DOCUMENT)
    return shell


def digests(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "objects").glob("*/*"))


class TestOrder:
    def test_option_then_environment_then_nearest_then_user(self, stored: Shell, tmp_path: Path) -> None:
        option, variable = tmp_path / "option", tmp_path / "variable"
        nearest = stored.folder / ".ctxstore"
        assert stored("init").code == 0
        assert stored("fold", "in.json", "--store", option, CTX_STORE=str(variable)).err == made(option)
        assert stored("fold", "in.json", "--store", option).err == ""
        assert digests(option)
        assert not variable.exists()
        assert stored("put", "in.json", CTX_STORE=str(variable)).err == made(variable)
        assert stored("fold", "in.json", CTX_STORE=str(variable)).err == ""
        assert digests(variable)
        assert not digests(nearest)
        below = stored.folder / "a/b"
        below.mkdir(parents=True)
        assert stored("fold", "../../in.json", cwd=below).err == ""
        assert digests(nearest) == digests(option)

    def test_option_may_come_before_the_command(self, stored: Shell, tmp_path: Path) -> None:
        assert stored("--store", tmp_path / "first", "fold", "in.json").code == 0
        assert digests(tmp_path / "first")

    def test_an_empty_variable_is_none(self, ctx: Shell) -> None:
        assert ctx("fold", "in.json", CTX_STORE="").err == ""
        assert digests(ctx.folder / ".ctxstore")

    def test_a_file_called_ctxstore_is_no_store(self, stored: Shell) -> None:
        (stored.folder / ".ctxstore").write_text("")
        assert stored("fold", "in.json").err.startswith(NOTE + "\n")


class TestUserStore:
    def test_fold_works_with_no_set_up_and_says_where(self, stored: Shell) -> None:
        folded = stored("fold", "in.json")
        assert folded.code == 0
        first, second = folded.err.splitlines()
        assert first == NOTE
        assert second.startswith("note: made the store '")
        assert second.endswith("castore/.ctxstore'")
        back = stored("unfold", stdin=folded.out)
        assert (back.code, back.out, back.err.strip()) == (0, DOCUMENT, NOTE)

    def test_platform_data_folder_is_used(self, stored: Shell, tmp_path: Path) -> None:
        if sys.platform != "linux":
            pytest.skip("the data folder is elsewhere")
        stored("fold", "in.json", XDG_DATA_HOME=str(tmp_path / "data"))
        assert digests(tmp_path / "data/castore/.ctxstore")

    def test_an_error_as_json_stays_one_line(self, stored: Shell) -> None:
        stored("fold", "in.json")
        error = stored("cat", "--json", "absent").error
        assert error["code"] == 12
        assert error["fields"]["notes"] == [NOTE.removeprefix("note: ")]
        assert '"event":"note"' in stored("ls", "--json").err


class TestReadsMakeNothing:
    @pytest.mark.parametrize(
        "arguments",
        [["cat", "abcdef"], ["show", "abcdef"], ["ls"], ["log"], ["stats"], ["verify"], ["config"], ["gc"]],
        ids=" ".join,
    )
    @pytest.mark.parametrize("is_named", [True, False], ids=["CTX_STORE", "user"])
    def test_no_store_is_exit_10(
        self, shell: Shell, tmp_path: Path, arguments: list[str], is_named: bool
    ) -> None:
        named = {"CTX_STORE": str(tmp_path / "named")} if is_named else {}
        done = shell(*arguments, **named)
        assert (done.code, done.out) == (10, b"")
        assert "\nhint: 'ctx init' makes one; --store and CTX_STORE name the .ctxstore folder" in done.err
        assert not (tmp_path / "named").exists()
        assert not list((tmp_path / "home").iterdir())

    def test_nothing_folded_makes_no_store(self, shell: Shell, tmp_path: Path) -> None:
        done = shell("fold", stdin=b'{"a": [1, 2]}')
        assert (done.code, done.out, done.err) == (0, b'{"a": [1, 2]}', "")
        assert not list((tmp_path / "home").iterdir())

    def test_dry_run_makes_no_store(self, stored: Shell, tmp_path: Path) -> None:
        assert stored("fold", "--dry-run", "in.json").code == 0
        assert not list((tmp_path / "home").iterdir())


class TestAnotherUsersStore:
    @pytest.fixture
    def foreign(self, ctx: Shell) -> Shell:
        if not hasattr(os, "geteuid") or os.geteuid() != 0:
            pytest.skip("only root can give a folder away")
        os.chown(ctx.folder / ".ctxstore", 12345, 12345)
        return ctx

    def test_found_is_refused_with_a_hint(self, foreign: Shell) -> None:
        done = foreign("fold", "in.json")
        assert (done.code, done.out) == (10, b"")
        assert "belongs to another user" in done.err
        assert "hint: if you trust it, name it: --store" in done.err

    def test_named_is_used(self, foreign: Shell) -> None:
        assert foreign("fold", "in.json", "--store", ".ctxstore").code == 0

    def test_who_ran_sudo_is_trusted(self, foreign: Shell) -> None:
        assert foreign("fold", "in.json", SUDO_UID="12345").code == 0
        assert foreign("fold", "in.json", SUDO_UID="54321").code == 10


class TestInit:
    def test_makes_a_store_once(self, shell: Shell) -> None:
        assert shell("init", "sub").code == 1 or (shell.folder / "sub/.ctxstore/format").exists()
        assert shell("init").code == 0
        done = shell("init")
        assert done.code == 10
        assert "error: " in done.err

    def test_a_folder_that_is_no_store_is_not_said_to_be_ready(self, shell: Shell) -> None:
        (shell.folder / ".ctxstore").mkdir()
        (shell.folder / ".ctxstore/x").write_text("")
        done = shell("init")
        assert done.code == 10
        assert "is not a store\nhint: nothing in it was changed; move it away" in done.err

    def test_tracked_leaves_objects_to_git(self, shell: Shell) -> None:
        assert shell("init", "--tracked").code == 0
        ignored = (shell.folder / ".ctxstore/.gitignore").read_text()
        assert "index.sqlite" in ignored
        assert "*\n" not in ignored.splitlines(keepends=True)
        assert (shell.folder / ".ctxstore/.gitattributes").read_text() == "* binary\n"
