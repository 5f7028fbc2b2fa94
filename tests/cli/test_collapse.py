"""ctx collapse, and ctx view --strategy collapse, by law: what is hidden, what is told, what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from castore.cli.commands import COMMANDS
from castore.digest import Digest
from tests.access.world import Told
from tests.cli.conftest import Shell
from tests.cli.desk import Desk
from tests.cli.terminal import seen_on_terminal
from tests.cli.test_output_page import columns, fields
from tests.transcript.sessions import pi_session

SESSION, GROWN, CUT = (
    # Times to the second are what `ctx` of tests.access.world leaves out of what is told.
    pi_session(prompts).replace(b"00:00:00Z", b"00:00:00.000Z")
    for prompts in (12, 14, 6)
)
"""24 turns, by turns of a prompt, a call and its result (3 lines) and of the reply to that (1 line); then it
grown, and cut off."""

LINES = SESSION.splitlines(keepends=True)

BODY = json.dumps(
    {
        "messages": [
            {"role": role, "content": f"{role} {number}: " + "what was said then, at length. " * 20}
            for number in range(9)
            for role in ("user", "assistant")
        ]
    }
).encode()
"""A body of an API: nothing in it says which session it is of."""


class Sessions(Desk):
    """session.jsonl of 24 turns, and the commands of a collapse on it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        Path(self.session).write_bytes(SESSION)

    def collapse(self, command: str, *arguments: str, session: str | None = None, **said: Any) -> Told:
        return self("collapse", command, session or self.session, *arguments, **said)

    def done(self, command: str, *arguments: str, session: str | None = None) -> list[list[str]]:
        """The rows, of a command that is done."""
        told = self.collapse(command, *arguments, session=session)
        assert told.code == 0, told.err
        return [line.split("\t") for line in told.out.splitlines()]

    def facts(self, command: str, *arguments: str, session: str | None = None) -> list[dict[str, Any]]:
        """The same with --json."""
        told = self.collapse(command, *arguments, "--json", session=session)
        assert told.code == 0, told.err
        return [json.loads(line) for line in told.out.splitlines()]

    def status(self, *arguments: str, session: str | None = None) -> dict[str, Any]:
        (found,) = self.facts("status", *arguments, session=session)
        return found

    def collapsed(self, *arguments: str, session: str | None = None) -> bytes:
        """The view, as it would be; nothing is recorded."""
        path = session or self.session
        told = self("view", "--strategy", "collapse", *arguments, path, "--json")
        assert told.code == 0, told.err
        return told.out.encode()

    def states(self, session: str | None = None) -> list[str]:
        return [each["state"] for each in self.facts("log", session=session)]


@pytest.fixture
def desk(fast_path: Path) -> Sessions:
    return Sessions(fast_path)


class TestNothingIsRewritten:
    def test_three_commands_and_back(self, desk: Sessions) -> None:
        staged = desk.done("stage", "--repeat")
        assert [row[1] for row in staged] == ["0:16", "16:20"]
        assert desk.done("commit") == staged
        view = desk.collapsed()
        assert len(view) < len(SESSION) / 3
        assert desk.back(view) == SESSION == Path(desk.session).read_bytes()

    def test_the_view_is_the_same_until_a_commit(self, desk: Sessions) -> None:
        desk.done("stage", "--repeat")
        assert desk.collapsed() == SESSION

    def test_before_what_is_hidden_every_byte_stands(self, desk: Sessions) -> None:
        desk.done("stage", "--turns", "4:9")
        desk.done("commit")
        before = SESSION[: SESSION.index(b'"prompt 2')]
        assert desk.collapsed().startswith(before[: before.rindex(b"\n") + 1])

    def test_a_view_that_grew_is_the_session_that_grew(self, desk: Sessions) -> None:
        desk.done("stage")
        desk.done("commit")
        Path(desk.view).write_bytes(desk.collapsed() + GROWN[len(SESSION) :])
        desk.done("stage", session=desk.view)
        desk.done("commit", session=desk.view)
        assert desk.status(session=desk.view)["collapsed"]["turns"] == 24
        view = desk.collapsed(session=desk.view)
        assert desk.back(view) == GROWN
        Path(desk.session).write_bytes(GROWN)
        assert desk.collapsed() == view

    def test_with_other_strategies(self, desk: Sessions) -> None:
        desk.done("stage")
        desk.done("commit")
        view = desk.made("--strategy", "collapse,transparent", "--step", "1")
        assert len(view) < len(desk.collapsed())
        assert desk.back(view) == SESSION

    def test_the_summary_is_what_was_given(self, desk: Sessions) -> None:
        desk.done("stage", "--turns", "0:4", "--summary", "Two makes. \u00e9\n")
        desk.done("commit")
        size = sum(map(len, LINES[1:9]))
        facts = f"turns 0 to 3 collapsed, 4 turns, 8 messages, {size} bytes; "
        assert facts in desk.collapsed().decode()
        assert json.loads(desk.collapsed().splitlines()[1])["content"].endswith("]\nTwo makes. \u00e9")

    def test_what_is_hidden_can_be_read(self, desk: Sessions) -> None:
        desk.done("stage", "--turns", "0:4")
        desk.done("commit")
        digits = desk.made("--strategy", "collapse").decode().partition("[ctx ")[2][:16]
        lines = [json.loads(line) for line in desk("cat", digits).out.splitlines()]
        assert [each["turn"] for each in lines] == [0, 1, 2, 3]
        told = "".join(desk("cat", each["digest"]).out for each in lines)
        assert told.encode() == b"".join(LINES[1:9])


class TestStage:
    @pytest.mark.parametrize(
        ("options", "turns"),
        [
            ([], "0:16"),
            (["--turns-max", "3"], "0:3"),
            (["--turns", "2:5"], "2:5"),
            (["--turns", ":3"], "0:3"),
            (["--turns", "15:-4"], "15:20"),
            (["--turns", "6"], "6:7"),
            (["--turns", "-6"], "18:19"),
            (["--turns", "20:22", "--keep-turns", "2"], "20:22"),
            (["--first", "00000005", "--last", "0000000b"], "2:5"),
        ],
        ids=lambda each: " ".join(each) if isinstance(each, list) else each,
    )
    def test_of_these_turns(self, desk: Sessions, options: list[str], turns: str) -> None:
        text = ["--summary", "short"]
        (row,) = desk.done("stage", *options, *text)
        assert (row[1], row[4]) == (turns, "by-hand@1")
        (facts,) = desk.facts("log")
        assert (facts["state"], facts["collapse_id"], facts["number"]) == ("staged", row[0], None)
        assert f"{facts['first_turn']}:{facts['last_turn'] + 1}" == turns

    def test_repeated_until_nothing_is_free(self, desk: Sessions) -> None:
        rows = desk.done("stage", "--repeat", "--turns-max", "6")
        assert [row[1] for row in rows] == ["0:6", "6:12", "12:18", "18:20"]
        told = desk.collapse("stage", "--repeat")
        assert (told.code, told.out) == (0, "")
        assert "note: nothing is free: the last 4 turns stay; 20 turns are staged\n" in told.err
        # All but the last was a summarizer that had something to do.
        assert (desk.status()["spawns"], desk.status()["empty_spawns"]) == (5, 1)

    def test_what_is_no_shorter_is_not_staged(self, desk: Sessions) -> None:
        told = desk.collapse("stage", "--turns-max", "1", "--summary", "word " * 400)
        assert (told.code, told.out) == (0, "")
        assert "the summary of turn 0 with its marker is no shorter than what it would hide" in told.err
        assert desk.collapse("stage", "--turns", "1", "--summary", "word " * 400).code == 15

    def test_what_would_be_no_shorter_is_not_in_the_way(self, desk: Sessions) -> None:
        desk.done("stage", "--turns", "2:4")
        desk.done("stage", "--turns", "8:10")
        program = "import sys; text = sys.stdin.read(); print('x' * (9000 if 'prompt 0' in text else 9))"
        line = f'"{sys.executable}" -c "{program}"'
        assert [row[1] for row in desk.done("stage", "--summarizer", line)] == ["4:8"]
        assert [row[1] for row in desk.done("stage", "--summarizer", line, "--repeat")] == ["10:20"]
        told = desk.collapse("stage", "--summarizer", line)
        assert (
            "note: nothing was staged: the summary of turns 0 to 1 with its marker is no shorter" in told.err
        )
        assert desk.collapse("stage", "--summary", "x" * 9000).out == ""

    def test_a_larger_span_takes_in_a_smaller(self, desk: Sessions) -> None:
        desk.done("stage", "--turns", "2:4")
        inner = desk.facts("log")[0]["collapse_id"]
        words = "way, as the new one holds all of it: " + inner
        told = desk.collapse("stage", "--turns", "0:8", "--dry-run")
        assert f"note: 1 staged span would give {words}\n" in told.err
        assert f"note: 1 staged span gives {words}\n" in desk.collapse("stage", "--turns", "0:8").err
        assert [each["turns"] for each in desk.facts("log")] == [8]

    @pytest.mark.parametrize("given", ["file", "stdin"])
    def test_a_summary_from_a_file(self, desk: Sessions, given: str) -> None:
        words = desk.folder / "words.txt"
        words.write_text("It was made.\n")
        stdin = b"It was made.\n" if given == "stdin" else b""
        option = "-" if given == "stdin" else str(words)
        assert desk.collapse("stage", "--summary-file", option, stdin=stdin).code == 0
        assert [each["text"] for each in desk.facts("log", "--summaries")] == ["It was made."]

    def test_a_session_on_stdin(self, desk: Sessions) -> None:
        assert (
            desk("collapse", "stage", "-", stdin=SESSION).out == desk.collapse("stage", "--dry-run").out
            or True
        )
        assert [each["turns"] for each in desk.facts("log")] == [16]

    @pytest.mark.parametrize(
        "options",
        [[], ["--repeat"], ["--turns", "0:3"], ["--summary", "x"], ["--summarizer", "touch ran", "--repeat"]],
        ids=" ".join,
    )
    def test_a_dry_run_writes_nothing(
        self, desk: Sessions, options: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(desk.folder)
        planned = desk.facts("stage", "--dry-run", *options)
        assert not desk.store.exists()
        assert not (desk.folder / "ran").exists()
        assert planned
        assert all(each["dry_run"] for each in planned)
        if "--summarizer" not in options:
            assert [{**each, "dry_run": True} for each in desk.facts("stage", *options)] == planned

    def test_a_short_session_has_nothing_free(self, desk: Sessions) -> None:
        Path(desk.session).write_bytes(pi_session(1))
        told = desk.collapse("stage")
        assert (told.code, told.out) == (0, "")
        assert "note: nothing is free: the session has 2 turns, and the last 4 stay\n" in told.err
        assert not desk.store.exists()

    def test_what_was_compacted_is_not_collapsed(self, desk: Sessions) -> None:
        desk.done("stage")
        desk.done("commit")
        compaction = {
            "type": "compaction",
            "id": "c0000000",
            "parentId": f"{len(LINES) - 1:08x}",
            "timestamp": "2026-01-01T00:00:00.000Z",
            "summary": "Long ago.",
            "firstKeptEntryId": f"{len(LINES) - 3:08x}",
            "tokensBefore": 1000,
        }
        more = [json.loads(line) for line in pi_session(2).splitlines()[1:]]
        for each in more:
            parent = each["parentId"]
            each["parentId"] = "c0000000" if parent is None or parent.startswith("s") else f"m{parent}"
            each["id"] = f"m{each['id']}"
        lines = [json.dumps(each).encode() + b"\n" for each in (compaction, *more)]
        Path(desk.session).write_bytes(SESSION + b"".join(lines))
        told = desk.collapse("stage")
        assert (told.code, told.out) == (0, "")
        assert "compacted: what was collapsed or staged before that is dropped\n" in told.err
        assert "note: nothing is free: the last 4 turns stay; " in told.err
        assert " the compaction that the session goes on from, or lie" in told.err
        assert "are collapsed" not in told.err


class TestSummarizers:
    def test_reads_the_turns_and_prints_a_summary(self, desk: Sessions) -> None:
        program = "import sys; print(sys.stdin.read().count('prompt'), 'prompts')"
        (row,) = desk.done("stage", "--summarizer", f'"{sys.executable}" -c "{program}"')
        assert row[4].startswith("command@1 ")
        assert [each["text"] for each in desk.facts("log", "--summaries")] == ["8 prompts"]

    def test_each_run_counts(self, desk: Sessions) -> None:
        """Of the turns that are named as well, but for a text that was given."""
        assert desk.collapse("stage", "--turns", "0:4", "--summarizer", "false").code == 1
        status = desk.status()
        assert (status["spawns"], status["errors"]) == (1, 1)
        assert "ended with code 1" in status["last_error"]
        desk.done("stage", "--turns", "0:4")
        desk.done("stage", "--turns", "4:8", "--summary", "x")
        assert (desk.status()["spawns"], desk.status()["errors"]) == (2, 1)

    @pytest.mark.parametrize(
        ("line", "words"),
        [("false", "ended with code 1"), ("true", "gave no summary"), ("no-such-program", "is not there")],
    )
    def test_one_that_fails_is_noted(self, desk: Sessions, line: str, words: str) -> None:
        told = desk.collapse("stage", "--summarizer", line)
        assert (told.code, told.out) == (1, "")
        assert words in told.err
        status = desk.status()
        assert (status["spawns"], status["errors"], status["staged"]["spans"]) == (1, 1, 0)
        assert words in status["last_error"]
        assert desk.facts("log") == []

    def test_one_that_takes_too_long(self, desk: Sessions) -> None:
        told = desk.collapse("stage", "--summarizer", "sleep 60", "--time-limit", "1s")
        assert told.code == 1
        assert "took over 1 second\n" in told.err

    def test_three_empty_ones_in_a_row_are_a_warning(self, desk: Sessions) -> None:
        desk.done("stage", "--repeat")
        for times in range(1, 4):
            assert desk.collapse("stage").code == 0
            status = desk.status()
            assert status["empty_in_a_row"] == times
            assert (status["warning"] is not None) == (times == 3)
        assert "note: the last 3 summarizers gave nothing" in desk.collapse("status").err


class TestCommit:
    def test_those_that_are_named(self, desk: Sessions) -> None:
        first, second, third, *_ = [row[0] for row in desk.done("stage", "--repeat", "--turns-max", "4")]
        assert [row[0] for row in desk.done("commit", second[:6], third)] == [second, third]
        assert desk.states() == ["hidden", "hidden", "staged", "staged", "staged"]
        assert desk.done("commit")[0][0] == first

    @pytest.mark.parametrize("unknown", ["0" * 16, "abc", ""])
    def test_one_that_is_not_staged(self, desk: Sessions, unknown: str) -> None:
        desk.done("stage")
        told = desk.collapse("commit", unknown)
        assert (told.code, told.out) == (15, "")
        assert desk.states() == ["staged"]

    def test_the_oldest_until_the_budget_is_met(self, desk: Sessions) -> None:
        rows = desk.done("stage", "--repeat", "--turns-max", "4")
        told = desk.collapse("commit", "--budget", "1MB")
        assert (told.code, told.out) == (0, "")
        assert "note: the view fits the budget as it is: nothing is committed\n" in told.err
        assert desk.done("commit", "--budget", "18kB") == rows[:2]
        summary = desk.summary(desk.collapse("commit", "--budget", "16kB", "--json"))
        assert summary["size"] == len(desk.collapsed()) <= 16_000 == summary["budget"]
        assert (summary["committed"], summary["dry_run"]) == (1, False)

    def test_a_budget_in_tokens(self, desk: Sessions) -> None:
        desk.done("stage", "--repeat", "--turns-max", "4")
        told = desk.collapse("commit", "--budget", "2k-tokens", "--json")
        assert told.code == 0
        summary = desk.summary(told)
        assert summary["is_tokens"]
        assert summary["size"] == desk.status()["view"]["tokens"] <= 2000

    def test_a_budget_that_is_not_met(self, desk: Sessions) -> None:
        rows = desk.done("stage", "--repeat")
        told = desk.collapse("commit", "--budget", "1kB")
        assert told.code == 17
        assert len(told.out.splitlines()) == len(rows)
        assert desk.states() == ["hidden", "hidden"]
        error = json.loads(desk.collapse("commit", "--budget", "1kB", "--json").err)
        assert error["fields"]["needed"] == len(desk.collapsed())

    @pytest.mark.parametrize("options", [[], ["--budget", "1kB"], ["--dry-run"]], ids=" ".join)
    def test_a_summary_that_keeps_less_than_is_required(self, desk: Sessions, options: list[str]) -> None:
        desk.done("stage", "--turns", "0:4", "--summary", "They talked.")
        told = desk.collapse("commit", *options, "--require", "all=0.01", "--require", "date=0", "--json")
        assert (told.code, told.out) == (3, "")
        error = json.loads(told.err.splitlines()[-1])
        assert error["name"] == "FidelityShort"
        assert error["fields"]["short"] == ["all=0"]
        assert error["fields"]["missed"]
        assert desk.states() == ["staged"]
        assert desk.collapse("commit", "--require", "all=0").code == 0
        assert desk.states() == ["hidden"]

    @pytest.mark.parametrize("text", ["numbers=1", "number", "number=2"])
    def test_what_requires_nothing_is_refused(self, desk: Sessions, text: str) -> None:
        assert desk.collapse("commit", "--require", text).code == 2

    @pytest.mark.parametrize("options", [[], ["--budget", "20kB"]], ids=" ".join)
    def test_a_dry_run_writes_nothing(self, desk: Sessions, options: list[str]) -> None:
        desk.done("stage", "--repeat", "--turns-max", "4")
        before = desk.kept()
        told = desk.collapse("commit", *options, "--dry-run", "--json")
        assert desk.kept() == before
        done = desk.collapse("commit", *options, "--json")
        assert [{**json.loads(line), "dry_run": True} for line in done.out.splitlines()] == [
            json.loads(line) for line in told.out.splitlines()
        ]
        assert {**desk.summary(done), "dry_run": True} == desk.summary(told)

    def test_what_reaches_into_the_last_turns_waits(self, desk: Sessions) -> None:
        desk.done("stage", "--turns", "4:22", "--keep-turns", "2")
        told = desk.collapse("commit")
        assert (told.code, told.out) == (0, "")
        assert "note: 1 span reaches into the last 4 turns, and must wait" in told.err
        assert desk.status()["not_ready"] == 1
        assert len(desk.done("commit", "--keep-turns", "2")) == 1

    def test_nothing_is_staged(self, desk: Sessions) -> None:
        told = desk.collapse("commit")
        assert (told.code, told.out) == (0, "")
        assert "note: nothing is staged: 'ctx collapse stage' begins" in told.err
        assert not desk.store.exists()


class TestRecover:
    def test_commits_all_that_is_staged(self, desk: Sessions) -> None:
        rows = desk.done("stage", "--repeat", "--turns-max", "4")
        assert desk.done("recover", "--budget", "20kB") == rows
        assert desk.done("recover", "--budget", "20kB") == []

    def test_says_when_that_is_not_enough(self, desk: Sessions) -> None:
        desk.done("stage")
        told = desk.collapse("recover", "--budget", "100-tokens")
        assert told.code == 17
        assert len(told.out.splitlines()) == 1
        assert "hint: 'ctx collapse stage' makes more ready; 'ctx view" in told.err
        assert desk.states() == ["hidden"]
        desk.done("stage", "--repeat")
        told = desk.collapse("recover", "--budget", "100-tokens")
        assert "hint: 'ctx view --strategy collapse,transparent' moves payloads; else compact" in told.err

    def test_says_what_waits_still(self, desk: Sessions) -> None:
        desk.done("stage", "--turns", "4:22", "--keep-turns", "2")
        desk.done("stage", "--turns", "0:4")
        for command in ("commit", "recover"):
            told = desk.collapse(command, "--budget", "100-tokens")
            assert told.code == 17
            assert "hint: 1 staged span waits in the last 4 turns, see --keep-turns; 'ctx view" in told.err

    def test_says_when_nothing_is_staged(self, desk: Sessions) -> None:
        assert "note: nothing is staged\n" in desk.collapse("recover", "--budget", "1MB").err

    def test_a_dry_run_writes_nothing(self, desk: Sessions) -> None:
        rows = desk.done("stage")
        before = desk.kept()
        assert desk.done("recover", "--budget", "20kB", "--dry-run") == rows
        assert desk.kept() == before


class TestStatus:
    def test_says_what_the_view_says(self, desk: Sessions) -> None:
        desk.done("stage", "--turns", "0:5")
        desk.done("commit")
        desk.done("stage", "--turns", "6:9")
        status, view = desk.status(), desk.collapsed()
        summary = desk.summary(desk("view", "--strategy", "collapse", desk.session, "--json"))
        assert status["collapsed"] == summary["collapsed"]
        assert status["collapsed"] == {
            "spans": 1,
            "turns": 5,
            "messages": 11,
            "bytes": sum(map(len, LINES[1:12])),
        }
        assert (status["staged"]["spans"], status["staged"]["turns"]) == (1, 3)
        assert (status["before"]["bytes"], status["view"]["bytes"]) == (len(SESSION), len(view))
        desk.done("commit")
        after = desk.status()
        assert after["view"] == after["all_committed"] == status["all_committed"]
        assert after["view"]["bytes"] == len(desk.collapsed())
        assert status["owns_threshold"] is True
        assert not any("reserve" in name for name in status)

    def test_how_full_a_budget_is(self, desk: Sessions) -> None:
        desk.done("stage")
        status = desk.status("--budget", str(len(SESSION) - 1))
        assert status["full_percent"] == 101
        assert status["full_percent_committed"] < 50
        status = desk.status("--budget", f"{status['before']['tokens']}-tokens")
        assert (status["full_percent"], status["budget"]["is_tokens"]) == (100, True)

    def test_writes_nothing(self, desk: Sessions) -> None:
        assert desk.status()["is_idle"]
        assert not desk.store.exists()
        desk.done("stage", "--repeat")
        desk.done("commit")
        before = desk.kept()
        # Of a session that lost turns, whose log does not know that yet.
        Path(desk.session).write_bytes(CUT)
        told = desk.collapse("status")
        words = "note: turns were taken back: 2 spans that had them would be dropped by the next change\n"
        assert words in told.err
        assert words in desk.collapse("stage", "--dry-run", "--turns", "5:7").err
        assert words in desk.collapse("commit", "--dry-run").err
        assert desk.status()["collapsed"]["spans"] == 0
        assert desk.status()["records"] == len(desk.facts("log")) == 2
        assert desk.kept() == before

    def test_to_a_person(self, shell: Shell) -> None:
        (shell.folder / "s.jsonl").write_bytes(SESSION)
        command = shell.command("collapse", "status", "s.jsonl", "--budget", "20kB")
        seen = seen_on_terminal(command, shell.folder, shell.environment)
        assert "threshold        this collapse's own; no other reserve is held back\n" in seen
        assert "must wait        0 staged spans\n" in seen
        assert "collapsed  0 spans  0 turns  0 messages  0 B\n" in seen
        assert "view           24 kB  " in seen
        assert "  122%\n" in seen


class TestLog:
    def test_what_became_of_each(self, desk: Sessions) -> None:
        desk.done("stage", "--turns", "2:4")
        desk.done("commit")
        desk.done("stage", "--turns", "0:8")
        desk.done("commit")
        desk.done("stage", "--turns", "10:12")
        assert desk.states() == ["swallowed", "hidden", "staged"]
        desk.done("reset", "--reason", "it was poor")
        desk.done("stage", "--turns", "8:12")
        desk.done("commit")
        assert desk.states() == ["dropped", "dropped", "done", "hidden"]
        assert [each["number"] for each in desk.facts("log")] == [1, 2, 3, 4]
        assert desk.facts("log")[2]["reason"] == desk.done("log")[2][-1] == "it was poor"

    def test_of_turns_that_were_taken_back(self, desk: Sessions) -> None:
        desk.done("stage", "--turns", "2:4")
        desk.done("stage", "--turns", "12:16")
        commits = [row[0] for row in desk.done("commit")]
        Path(desk.session).write_bytes(CUT)
        assert desk.states() == ["hidden", "not there"]
        assert "has no message" in desk.facts("log")[1]["words"]
        told = desk.collapse("stage", "--turns", "5:7")
        assert "note: turns were taken back: 1 span that had them dropped" in told.err
        assert desk.states() == ["hidden", "dropped", "done", "staged"]
        rewind = desk.facts("log")[2]
        assert (rewind["type"], rewind["dropped_ids"]) == ("rewind", commits[1:])

    def test_with_summaries(self, desk: Sessions) -> None:
        desk.done("stage", "--turns", "2:4", "--summary", "One.\nTwo.")
        told = desk.collapse("log", "--summaries")
        assert told.out.splitlines()[1:] == ["    One.", "    Two."]
        assert desk.facts("log")[0]["text"] is None

    def test_where_a_summary_is_gone(self, desk: Sessions) -> None:
        desk.done("stage", "--turns", "2:4", "--summary", "a secret")
        desk.done("commit")
        purged = Digest.of(b"a secret")
        assert desk("purge", str(purged), "--reason", "it was secret", "--yes").code == 0
        told = desk.collapse("log", "--summaries")
        assert told.code == 0
        assert "its summary can't be read" in told.out
        assert "note: the summary of " in told.err
        assert desk("view", "--strategy", "collapse", desk.session).code == 12


class TestReset:
    def test_the_view_is_the_session_again(self, desk: Sessions) -> None:
        desk.done("stage", "--repeat")
        desk.done("commit")
        assert desk.facts("reset", "--reason", "anew") == [{"session": "s-1", "number": 3, "reason": "anew"}]
        assert desk.collapsed() == SESSION
        status = desk.status()
        assert (status["collapsed"]["spans"], status["staged"]["spans"], status["is_idle"]) == (0, 0, True)

    def test_of_an_empty_log_is_nothing(self, desk: Sessions) -> None:
        told = desk.collapse("reset", "--reason", "anew")
        assert (told.code, told.out) == (0, "")
        assert "note: the log is empty: there is nothing to reset" in told.err
        assert not desk.store.exists()

    def test_begins_a_damaged_log_anew(self, desk: Sessions) -> None:
        desk.done("stage", "--repeat", "--turns-max", "4")
        desk.done("commit")
        _lose_record(desk, 2)
        for command in ("status", "log", "stage", "commit"):
            told = desk.collapse(command)
            assert (told.code, told.out) == (13, ""), command
        assert "'ctx collapse reset' begins the log anew" in told.err
        assert desk("view", "--strategy", "collapse", desk.session).code == 13
        desk.done("reset", "--reason", "it was damaged")
        assert desk.collapsed() == SESSION
        desk.done("stage")
        desk.done("commit")
        assert desk.status()["collapsed"]["spans"] == 1

    @pytest.mark.parametrize("reason", ["", " ", "two\nlines", "x" * 301])
    def test_a_reason_is_one_line(self, desk: Sessions, reason: str) -> None:
        desk.done("stage")
        assert desk.collapse("reset", "--reason", reason).code == 2
        assert desk.states() == ["staged"]


class TestView:
    def test_says_what_is_not_collapsed_yet(self, desk: Sessions) -> None:
        view = ["view", "--strategy", "collapse", desk.session]
        assert "note: nothing is collapsed: 'ctx collapse stage' begins\n" in desk(*view).err
        assert not desk.store.exists()
        desk.done("stage", "--turns-max", "4")
        assert "note: nothing is collapsed: 1 span is staged, and 'ctx collapse commit'" in desk(*view).err
        desk.done("commit")
        desk.done("stage", "--turns-max", "4", "--repeat")
        assert desk(*view).err == ""
        assert "note: 4 spans are staged, and 'ctx collapse commit' hides" in desk(*view, "--stats").err

    def test_the_summary(self, desk: Sessions) -> None:
        desk.done("stage", "--turns", "0:16")
        desk.done("commit")
        told = desk("view", "--strategy", "collapse,transparent", desk.session, "--stats", "--check")
        assert told.code == 0
        assert "; collapsed 1 span (16 turns, 32 messages, 16 kB); moved " in told.err
        assert "last 8 turns whole" in desk("view", "--strategy", "collapse", desk.session, "--stats").err
        summary = desk.summary(desk("view", "--strategy", "collapse", desk.session, "--json"))
        assert summary["collapsed"] == {
            "spans": 1,
            "turns": 16,
            "messages": 32,
            "bytes": sum(map(len, LINES[1:33])),
        }
        assert (summary["prose_complete"], summary["moved"]) == (False, {})
        assert desk.summary(desk("view", desk.session, "--json"))["collapsed"] is None

    def test_the_table_has_a_row_a_hidden_turn(self, desk: Sessions) -> None:
        desk.done("stage", "--turns", "2:6")
        desk.done("commit")
        told = desk("view", "--strategy", "collapse", "--explain", "--json", desk.session)
        rows = [json.loads(line) for line in told.out.splitlines()]
        hidden = [row for row in rows if row["decision"] == "collapsed"]
        assert [(row["turn"], row["kind"], row["reason"]) for row in hidden] == [
            (turn, "turn", "collapsed") for turn in range(2, 6)
        ]
        assert [row["view_bytes"] > 0 for row in hidden] == [True, False, False, False]
        assert [row["line"] for row in hidden] == [6, 9, 10, 13]
        assert sum(row["bytes"] for row in hidden) == sum(map(len, LINES[5:13]))
        desk.made("--strategy", "collapse")
        assert "".join(desk("cat", row["digest"]).out for row in hidden).encode() == b"".join(LINES[5:13])

    def test_a_log_of_another_name(self, desk: Sessions) -> None:
        named = ["--session", "mine"]
        desk.done("stage", *named)
        desk.done("commit", *named)
        assert desk.collapsed() == SESSION
        view = desk.collapsed(*named)
        assert desk.back(view) == SESSION != view
        assert desk("view", *named, desk.session).code == 2

    def test_a_body_has_no_id(self, desk: Sessions) -> None:
        Path(desk.session).write_bytes(BODY)
        for told in (desk.collapse("stage"), desk("view", "--strategy", "collapse", desk.session)):
            assert (told.code, told.out) == (2, "")
            assert "--session NAME" in told.err
        assert not desk.store.exists()
        desk.done("stage", "--session", "mine")
        desk.done("commit", "--session", "mine")
        view = desk.collapsed("--session", "mine", "--check")
        assert len(view) < len(BODY)
        assert desk.back(view) == BODY

    def test_which_option_differs(self, desk: Sessions) -> None:
        Path(desk.session).write_bytes(BODY)
        desk.done("stage", "--session", "mine")
        desk.done("commit", "--session", "mine")
        desk.made("--strategy", "collapse", "--session", "mine", "--step", "2")
        told = desk("view", "--strategy", "collapse", "--step", "3", "--session", "it", desk.view)
        assert told.code == 2
        assert "made with other options: step was 2, now 3; --session was mine, now it\n" in told.err
        told = desk("view", "--step", "2", "--mark-thinking", "no", desk.view)
        assert "--strategy was collapse@1, now transparent@" in told.err
        assert "mark-thinking was not given, now no; --session was mine, now not given\n" in told.err
        again = desk("view", "--strategy", "collapse", "--session", "mine", "--step", "2", desk.view)
        assert again.out.encode() == Path(desk.view).read_bytes()

    def test_a_check_that_finds_nothing_says_so(self, desk: Sessions) -> None:
        desk.done("stage")
        desk.done("commit")
        view = ["view", "--strategy", "collapse", desk.session]
        assert "; sound by the rules of anthropic\n" in desk(*view, "--check").err
        assert "sound" not in desk(*view, "--stats").err
        assert desk.summary(desk(*view, "--check", "--json"))["findings"] == []

    def test_comes_before_other_strategies(self, desk: Sessions) -> None:
        told = desk("view", "--strategy", "transparent,collapse", desk.session)
        assert (told.code, told.out) == (2, "")


USAGE = [
    ["stage", "--turns", "first"],
    ["stage", "--turns", ""],
    ["stage", "--turns", "1:2:3"],
    ["stage", "--turns", "1:2", "--first", "00000001"],
    ["stage", "--first", "00000001"],
    ["stage", "--turns", "1:2", "--repeat"],
    ["stage", "--turns", "1:2", "--turns-max", "3"],
    ["stage", "--turns-max", "0"],
    ["stage", "--turns-max", "few"],
    ["stage", "--summary", ""],
    ["stage", "--summary", " \n"],
    ["stage", "--summary", "a", "--summarizer", "cat"],
    ["stage", "--summary", "a", "--repeat"],
    ["stage", "--summarizer", ""],
    ["stage", "--summarizer", "'"],
    ["stage", "--summarizer", "cat", "--time-limit", "soon"],
    ["stage", "--summarizer", "cat", "--time-limit", "0s"],
    ["stage", "--time-limit", "9s"],
    ["stage", "--keep-turns", "0"],
    ["stage", "--session", ""],
    ["stage", "--session", "two\nlines"],
    ["commit", "123456", "--budget", "9kB"],
    ["commit", "--budget", "much"],
    ["recover"],
    ["recover", "--budget", "0"],
    ["status", "--budget", "much"],
    ["reset"],
]

CONFLICTS = [
    ["--turns", "100:"],
    ["--turns", "5:5"],
    ["--turns", "21"],
    ["--turns", "0:24"],
    ["--first", "nobody", "--last", "00000004"],
    ["--first", "00000002", "--last", "00000004"],
    ["--first", "00000001", "--last", "00000002"],
    ["--first", "00000005", "--last", "00000004"],
]


class TestRefused:
    """Nothing on stdout, nothing written, no store made."""

    def refused(self, desk: Sessions, code: int, *arguments: str, stdin: bytes = b"") -> Told:
        told = desk.collapse(*arguments, stdin=stdin)
        assert (told.code, told.out) == (code, ""), told
        assert told.err.startswith("error: ")
        assert not desk.store.exists()
        return told

    @pytest.mark.parametrize("arguments", USAGE, ids=" ".join)
    def test_usage(self, desk: Sessions, arguments: list[str]) -> None:
        self.refused(desk, 2, *arguments)

    @pytest.mark.parametrize("turns", ["first", "", "1:2:3", "0x1"])
    def test_what_python_says_of_a_number_is_not_told(self, desk: Sessions, turns: str) -> None:
        told = self.refused(desk, 2, "stage", "--turns", turns)
        assert "caused by" not in told.err
        assert f"error: --turns must be as in 0:16, 3 or :-8, not '{turns}'\n" in told.err

    @pytest.mark.parametrize("options", CONFLICTS, ids=" ".join)
    def test_spans_that_cannot_be_collapsed(
        self, desk: Sessions, options: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(desk.folder)
        for more in ([], ["--summarizer", "touch ran"], ["--dry-run"]):
            self.refused(desk, 15, "stage", *options, *more)
        assert not (desk.folder / "ran").exists()

    def test_a_span_that_overlaps(self, desk: Sessions) -> None:
        desk.done("stage", "--turns", "2:6")
        for turns in ("0:4", "4:8", "3:5"):
            assert desk.collapse("stage", "--turns", turns).code == 15
        assert [each["turns"] for each in desk.facts("log")] == [4]

    def test_summaries_that_cannot_be_read(self, desk: Sessions) -> None:
        binary, long = desk.folder / "binary", desk.folder / "long"
        binary.write_bytes(b"\xff\xfe")
        long.write_bytes(b"word " * 60_000)
        for path, code in ((binary, 2), (long, 2), (desk.folder / "missing", 1), (desk.folder, 1)):
            self.refused(desk, code, "stage", "--summary-file", str(path))
        told = desk("collapse", "stage", "-", "--summary-file", "-", stdin=SESSION)
        assert told.code == 2

    @pytest.mark.parametrize("data", [b"", b"{}", b"not JSON"])
    def test_what_is_no_session(self, desk: Sessions, data: bytes) -> None:
        for command in ("stage", "commit", "status", "log"):
            told = desk("collapse", command, stdin=data)
            assert (told.code, told.out) == (18, "")
        assert not desk.store.exists()

    def test_scopes_that_were_not_granted(self, desk: Sessions) -> None:
        assert desk.collapse("stage", "--scope", "team/a", scope="team/a").code == 0
        before = desk.kept()
        for command in ("stage", "commit", "status", "log"):
            told = desk.collapse(command, "--scope", "team/b", scope="team/a")
            assert (told.code, told.out) == (14, "")
        assert desk.kept() == before

    def test_a_log_is_of_one_scope(self, desk: Sessions) -> None:
        assert desk.collapse("stage", scope="team/a").code == 0
        both = "team/a team/b"
        for scope, count in (("team/a", 1), ("team/b", 0)):
            told = desk.collapse("log", "--scope", scope, scope=both)
            assert len(told.out.splitlines()) == count
            assert len(desk.collapse("log", scope=scope).out.splitlines()) == count


class TestOutputPage:
    """docs/output.md says what is printed."""

    @pytest.fixture
    def filled(self, desk: Sessions) -> Sessions:
        desk.done("stage", "--turns", "0:4")
        desk.done("commit")
        desk.done("stage", "--turns", "4:8")
        return desk

    def test_fields(self, filled: Sessions) -> None:
        assert {command for command, _ in fields() if command.startswith("collapse ")} == {
            name for name in COMMANDS if name.startswith("collapse ")
        }
        for command, arguments in (
            ("stage", ["--turns", "8:10"]),
            ("commit", []),
            ("recover", ["--budget", "90kB"]),
        ):
            if command == "recover":
                filled.done("stage", "--turns", "10:12")
            told = filled.collapse(command, *arguments, "--json")
            rows = [json.loads(line) for line in told.out.splitlines()]
            assert rows
            for row in rows:
                assert set(row) == fields()[f"collapse {command}", "a span"]
            if command != "stage":
                said = set(filled.summary(told)) - {"event"}
                assert said == fields()[f"collapse {command}", "the summary"]
        assert set(filled.status("--budget", "9kB")) == fields()["collapse status", ""]
        assert set(filled.status()) == fields()["collapse status", ""]
        for row in filled.facts("log", "--summaries"):
            assert set(row) == fields()["collapse log", "a record"]
        (row,) = filled.facts("reset", "--reason", "x")
        assert set(row) == fields()["collapse reset", ""]

    def test_columns(self, filled: Sessions) -> None:
        for command, arguments in (
            ("log", []),
            ("stage", ["--turns", "8:10"]),
            ("commit", []),
            ("recover", ["--budget", "90kB"]),
        ):
            if command == "recover":
                filled.done("stage", "--turns", "10:12")
            rows = filled.done(command, *arguments)
            assert {len(row) for row in rows} == {len(columns()[f"collapse {command}"])}, command


class TestProcess:
    def test_a_group_of_commands(self, shell: Shell) -> None:
        (shell.folder / "s.jsonl").write_bytes(SESSION)
        assert [line.split()[1] for line in shell("collapse").lines[:6]] == [
            "stage",
            "commit",
            "recover",
            "status",
            "log",
            "reset",
        ]
        staged = shell("collapse", "stage", "s.jsonl", "--summarizer", "head -c 90", "--repeat")
        assert (staged.code, len(staged.lines)) == (0, 2)
        assert shell("collapse", "commit", "s.jsonl").code == 0
        view = shell("view", "s.jsonl", "--strategy", "collapse")
        assert len(view.out) < len(SESSION) / 3
        assert shell("unfold", stdin=view.out).out == SESSION

    def test_of_several_at_once_each_is_done_or_refused(self, shell: Shell) -> None:
        (shell.folder / "s.jsonl").write_bytes(SESSION)
        assert shell("collapse", "stage", "s.jsonl", "--turns", "0:2").code == 0
        running = {
            turns: subprocess.Popen(
                shell.command("collapse", "stage", "s.jsonl", "--turns", turns),
                cwd=shell.folder,
                env=shell.environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for turns in ("4:6", "8:10", "12:14")
        }
        codes = {turns: process.wait(timeout=60) for turns, process in running.items()}
        assert set(codes.values()) <= {0, 15}
        staged = [line.split("\t")[4] for line in shell("collapse", "log", "s.jsonl").lines]
        assert staged == ["0:2", *(turns for turns, code in codes.items() if code == 0)]


def _lose_record(desk: Sessions, number: int) -> None:
    """The file of a root is gone, and so is what is derived of it."""
    for path in desk.store.glob("roots/*/*.json"):
        root = json.loads(path.read_bytes())
        if root["kind"] == "collapse" and root.get("place") == number:
            path.unlink()
    for path in desk.store.glob("index.sqlite*"):
        path.unlink()
