"""ctx hook claude-code: the answer on stdout, exit codes that never stop an agent, and nothing lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.desk import Desk

LONG = "".join(f"line {n} of what the tool printed\n" for n in range(2000))
RESULT = {"stdout": LONG, "stderr": "", "interrupted": False, "isImage": False}
AFTER = {
    "hook_event_name": "PostToolUse",
    "session_id": "5e55",
    "tool_use_id": "toolu_1",
    "tool_name": "Bash",
    "tool_input": {"command": "make"},
    "tool_response": RESULT,
}


@pytest.fixture
def desk(fast_path: Path) -> Desk:
    return Desk(fast_path)


def said(value: Any) -> bytes:
    return json.dumps(value).encode()


class TestAnswers:
    def test_the_result_comes_back_by_the_words_of_its_marker(self, desk: Desk) -> None:
        told = desk("hook", "claude-code", stdin=said(AFTER))
        assert told.code == 0
        text = json.loads(told.out)["hookSpecificOutput"]["updatedToolOutput"]["stdout"]
        command = text.partition("; read on: ctx ")[2].partition("]")[0].split()
        assert LONG.startswith(desk(*command).out)
        assert desk("cat", command[-1]).out == LONG
        assert len(text) < 4_300

    def test_limits(self, desk: Desk) -> None:
        assert desk("hook", "claude-code", "--limit", "100000", stdin=said(AFTER)).out == ""
        assert desk.kept() == {}
        told = desk("hook", "claude-code", "--show", "500", stdin=said(AFTER))
        assert len(json.loads(told.out)["hookSpecificOutput"]["updatedToolOutput"]["stdout"]) < 800

    def test_for(self, desk: Desk) -> None:
        for duration in ("2d", "ever"):
            assert desk("hook", "claude-code", "--for", duration, stdin=said(AFTER)).code == 0
        assert [root["expires"] for root in desk.roots()] == [None]

    def test_the_end_of_a_session(self, desk: Desk) -> None:
        told = desk("hook", "claude-code", stdin=said(AFTER))
        (desk.folder / "t.jsonl").write_text(told.out)
        ended = {
            "hook_event_name": "SessionEnd",
            "session_id": "5e55",
            "transcript_path": str(desk.folder / "t.jsonl"),
        }
        told = desk("hook", "claude-code", stdin=said(ended))
        assert (told.code, told.out, told.err) == (0, "", "")
        assert sorted(root["kind"] for root in desk.roots()) == ["keep", "put"]
        assert desk("forget", "--source", "claude-code/5e55*").code == 0
        assert all(root["forgotten"] for root in desk.roots())


class TestNothingStopsTheAgent:
    """An exit code of 2 would; what is on stdout with any other than 0 is not read."""

    @pytest.mark.parametrize(
        ("arguments", "stdin"),
        [
            ([], b""),
            ([], b"{"),
            ([], b"[" * 99_999),
            (["--limit", "many"], said(AFTER)),
            (["--limit", "0"], said(AFTER)),
            (["--for", "long"], said(AFTER)),
            (["--no-such-option"], said(AFTER)),
            (["--scope", "No Scope!"], said(AFTER)),
            (["--retrieve-with", "]"], said(AFTER)),
            (["nothing.json"], b""),
            ([], said({"hook_event_name": "SessionEnd", "transcript_path": "/none/at/all"})),
        ],
    )
    def test_what_goes_wrong_is_1(self, desk: Desk, arguments: list[str], stdin: bytes) -> None:
        desk("put", desk.session)
        told = desk("hook", "claude-code", *arguments, stdin=stdin)
        assert (told.code, told.out) == (1, "")
        assert told.err.startswith("error: ")
        assert "Traceback" not in told.err

    @pytest.mark.parametrize("words", [["hook", "claude-coda"], ["hook", "--nothing"]])
    def test_also_where_the_command_is_misspelt(self, desk: Desk, words: list[str]) -> None:
        assert desk(*words, stdin=said(AFTER)).code == 1

    def test_a_store_that_cant_be_written(self, desk: Desk) -> None:
        desk.store.write_text("no folder")
        told = desk("hook", "claude-code", stdin=said(AFTER))
        assert (told.code, told.out) == (1, "")
        assert desk.store.read_text() == "no folder"

    def test_a_quota(self, desk: Desk) -> None:
        assert desk("put", desk.session).code == 0
        assert desk("config", "store.quota", "9kB", scope="*").code == 0
        told = desk(
            "hook", "claude-code", stdin=said({**AFTER, "tool_response": {**RESULT, "stdout": _noise()}})
        )
        assert (told.code, told.out) == (1, "")
        assert "quota" in told.err

    def test_what_was_purged_is_shown_as_it_is(self, desk: Desk) -> None:
        assert desk("hook", "claude-code", stdin=said(AFTER)).code == 0
        (row,) = [json.loads(line) for line in desk("ls", "--json").out.splitlines()]
        assert desk("purge", row["digest"], "--reason", "a secret", "--yes", scope="*").code == 0
        told = desk("hook", "claude-code", stdin=said(AFTER))
        assert (told.code, told.out) == (1, "")


def _noise() -> str:
    from hashlib import sha256

    return "".join(sha256(str(n).encode()).hexdigest() for n in range(600))
