"""Which collapse log a command works on: in which scope it lies, one that was forgotten, one in the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import castore
from tests.cli.test_collapse import SESSION, Sessions

CODEX = [
    {
        "timestamp": "2026-01-01T00:00:00.000Z",
        "type": "session_meta",
        "payload": {"id": "c-1", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/w"},
    },
    {
        "timestamp": "2026-01-01T00:00:00.000Z",
        "type": "response_item",
        "payload": {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "what does collapse-commit do?"}],
        },
    },
]


@pytest.fixture
def desk(fast_path: Path) -> Sessions:
    return Sessions(fast_path)


class TestWhichLog:
    """What is read of a log needs no scope to write in; what is written goes where all is written."""

    READS = (["collapse", "status"], ["collapse", "log"], ["view", "--strategy", "collapse", "--explain"])

    def test_a_read_finds_the_one_that_is_seen(self, desk: Sessions) -> None:
        assert desk.collapse("stage", scope="team/a").code == 0
        assert desk.collapse("commit", scope="team/a").code == 0
        alone = [desk(*read, desk.session, scope="team/a") for read in self.READS]
        for grants in ("team/*", "*", "team/b team/a", "team/*,other"):
            for read, before in zip(self.READS, alone, strict=True):
                told = desk(*read, desk.session, scope=grants)
                assert (told.code, told.out) == (0, before.out), (grants, read)
                if read[0] == "collapse":
                    words = "note: the log lies in scope 'team/a': to change it, say --scope team/a\n"
                    assert words in told.err
        assert desk.collapse("stage", "--scope", "team/a", scope="team/*").code == 0

    def test_one_that_is_not_seen_is_not_there(self, desk: Sessions) -> None:
        assert desk.collapse("stage", scope="team/a").code == 0
        for grants in ("team/b", "other/*", "default"):
            for read in self.READS:
                told = desk(*read, desk.session, scope=grants)
                assert told.code == 0
                assert "team/a" not in told.out + told.err
            assert desk.collapse("log", scope=grants).out == ""

    def test_of_several_one_is_chosen(self, desk: Sessions) -> None:
        for scope in ("team/a", "team/b"):
            assert desk.collapse("stage", scope=scope).code == 0
        for read in self.READS:
            told = desk(*read, desk.session, scope="team/*")
            assert (told.code, told.out) == (2, "")
            assert "error: several scopes have a log of 's-1': team/a, team/b\n" in told.err
            assert "hint: choose one with --scope\n" in told.err
            assert desk(*read, "--scope", "team/b", desk.session, scope="team/*").code == 0
            assert desk(*read, desk.session, scope="team/b").code == 0

    def test_a_write_goes_where_writes_go(self, desk: Sessions) -> None:
        assert desk.collapse("stage", scope="team/b").code == 0
        for command, more in (("stage", ["--dry-run"]), ("stage", []), ("commit", [])):
            told = desk.collapse(command, *more, scope="team/*")
            assert (told.code, told.out) == (14, ""), command
        assert "note: nothing is staged" in desk.collapse("commit", scope="team/a team/b").err
        assert desk.collapse("status", "--json", scope="team/a team/b").out.count('"scope":"team/b"') == 1

    def test_one_that_was_forgotten_may_come_back(self, desk: Sessions) -> None:
        desk.done("stage")
        desk.done("commit")
        view, lines = desk.collapsed(), desk.done("log")
        assert desk("forget", "--source", "s-1").code == 0
        undo = "ctx forget --undo --source s-1"
        for read in (*self.READS, ["view", "--strategy", "collapse"], ["collapse", "commit"]):
            told = desk(*read, desk.session)
            assert told.code == 0
            assert f"note: a log of this session is forgotten: '{undo}' brings it back" in told.err, read
        assert desk(*undo.split()[1:]).code == 0
        assert desk.done("log") == lines
        assert desk.collapsed() == view
        assert "forgotten" not in desk.collapse("status").err
        assert desk("forget", "--source", "s-1", "--now").code == 0
        assert "forgotten" not in desk.collapse("status").err

    def test_one_that_was_forgotten_in_another_scope(self, desk: Sessions) -> None:
        assert desk.collapse("stage", scope="team/a").code == 0
        assert desk("forget", "--source", "s-1", scope="team/a").code == 0
        undo = "ctx forget --undo --source s-1 --scope team/a"
        assert f"'{undo}' brings it back" in desk.collapse("status", scope="team/*").err
        assert f"'{undo}' brings it back" in desk.collapse("commit", "--scope", "team/a", scope="team/*").err
        for scope in ("team/b", "team/b team/a"):
            assert "forgotten" not in desk.collapse("commit", scope=scope).err
        assert "forgotten" not in desk.collapse("status", scope="team/b").err
        assert desk(*undo.split()[1:], scope="team/*").code == 0
        assert len(desk.collapse("log", scope="team/*").out.splitlines()) == 1

    def test_begun_anew_there_is_nothing_to_bring_back(self, desk: Sessions) -> None:
        desk.done("stage")
        assert desk("forget", "--source", "s-1").code == 0
        desk.done("stage")
        assert "forgotten" not in desk.collapse("status").err

    @pytest.mark.parametrize("is_pi", [True, False])
    def test_one_in_the_file_itself_is_told(self, desk: Sessions, is_pi: bool) -> None:
        source = SESSION if is_pi else b"".join(json.dumps(each).encode() + b"\n" for each in CODEX)
        Path(desk.session).write_bytes(source)
        for read in self.READS:
            assert "in the file itself" not in desk(*read, desk.session).err
        coordinator = castore.CollapseCoordinator(castore.TranscriptFile(desk.session).log("harness"))
        coordinator.restore(source)
        coordinator.reset("to have an entry")
        words = (
            "note: 2 entries of a collapse log stand in the file itself; 'ctx' works on the log in the store"
        )
        for read in (*self.READS, ["collapse", "stage", "--dry-run"]):
            assert words in desk(*read, desk.session).err, read
