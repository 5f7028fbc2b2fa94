"""ctx view, by law: what is written, what is recorded, what is refused, and that failures leave nothing."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

from castore.digest import Digest
from castore.transcript.formats import FORMAT_NAMES
from castore.transcript.strategies import STRATEGY_NAMES
from tests.access.sessions import edited, pi_session, tailed
from tests.cli.conftest import Shell
from tests.cli.desk import SESSION, Desk, refused
from tests.cli.terminal import seen_on_terminal

ODD = (
    SESSION[:-1].replace(b'"stopReason"', b'"stopReason"', 1)
    + b'{"type":"label","id":"99","parentId":"98"}\n'
)
"""A glued record, whose parent is missing."""

BODY = json.dumps(
    {
        "system": "count",
        "messages": [
            {"role": "user", "content": "count"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "n", "input": {}}]},
            {"role": "user", "content": "well?"},
            {"role": "assistant", "content": "none"},
        ],
    }
).encode()
"""A call without a result: the session breaks its API's rules itself."""


@pytest.fixture
def desk(fast_path: Path) -> Desk:
    return Desk(fast_path)


class TestRoundTrip:
    def test_of_stdin_and_stdout(self, desk: Desk) -> None:
        for arguments in ([], ["-"]):
            told = desk("view", *arguments, stdin=SESSION)
            assert (told.code, len(told.out) < len(SESSION)) == (0, True)
            assert desk.back(told.out.encode()) == SESSION

    def test_of_files(self, desk: Desk) -> None:
        view = desk.made()
        assert desk("view", desk.session).out.encode() == view
        back = desk.folder / "back.jsonl"
        assert desk("unfold", desk.view, "-o", str(back)).code == 0
        assert back.read_bytes() == SESSION

    def test_out_may_be_the_input_and_keeps_its_mode(self, desk: Desk) -> None:
        os.chmod(desk.session, 0o640)
        assert desk("view", desk.session, "-o", desk.session).code == 0
        assert Path(desk.session).stat().st_mode & 0o777 == 0o640
        assert Path(desk.session).read_bytes() == desk("view", stdin=SESSION).out.encode()
        assert desk("unfold", desk.session, "-o", desk.session).code == 0
        assert Path(desk.session).read_bytes() == SESSION

    @pytest.mark.parametrize(
        "arguments",
        [
            *(["--strategy", name] for name in STRATEGY_NAMES if name != "cap"),
            ["--strategy", "cap", "--cap", "7000"],
            ["--cap", "5000", "--allow-prose"],
            ["--strategy", "transparent, clip", "--strategy", "dedupe-reads@2"],
            ["--step", "1", "--mark-thinking", "no", "--fold-arguments", "0"],
            ["--strategy", "tiered", "--window", "2"],
            ["--strategy", "clip", "--limit", "50"],
            ["--retrieve-with", "ctx cat"],
            ["--max-prose", "0"],
            ["--budget", "6kB"],
            ["--budget", "9kB", "--limit", "50", "--window", "3", "--allow-prose"],
            ["--strategy", "clip@2", "--limit", "50"],
            ["--strategy", "transparent,cap@2", "--cap", "5.5kB"],
        ],
        ids=" ".join,
    )
    def test_with(self, desk: Desk, arguments: list[str]) -> None:
        assert desk.back(desk.made(*arguments)) == SESSION

    def test_of_a_view_is_the_view(self, desk: Desk) -> None:
        view = desk.made("--step", "2")
        stored = {path for path in desk.kept() if path.startswith("objects")}
        again = desk("view", "--step", "2", stdin=view)
        assert (again.code, again.out.encode()) == (0, view)
        assert {path for path in desk.kept() if path.startswith("objects")} == stored

    def test_of_a_view_and_a_tail(self, desk: Desk) -> None:
        view = desk.made()
        grown = tailed(SESSION)
        assert desk.back(tailed(view)) == grown
        told = desk("view", stdin=tailed(view))
        assert told == desk("view", stdin=grown)
        assert desk.back(told.out.encode()) == grown

    def test_where_nothing_moves(self, desk: Desk) -> None:
        short = pi_session("figs", 1)
        told = desk("view", "--name", "short", stdin=short)
        assert (told.code, told.out.encode()) == (0, short)
        assert desk.kept() == {}
        assert not desk.store.exists()
        assert desk.back(short) == short
        assert not desk.store.exists()


class TestWhatIsRecorded:
    def test_a_view_makes_the_store_and_unfold_does_not(self, desk: Desk) -> None:
        assert desk("unfold", stdin=SESSION).out.encode() == SESSION
        assert not desk.store.exists()
        told = desk("view", stdin=SESSION)
        assert told.err == "note: made the store 'STORE'\n"
        assert desk.store.is_dir()

    def test_name_expiry_scope_and_source(self, desk: Desk) -> None:
        desk.made("--name", "counted", "--for", "30d", "--scope", "team/a")
        (root,) = desk.roots("*")
        assert (root["kind"], root["name"], root["scope"]) == ("view", "counted", "team/a")
        assert root["source_name"] == desk.session
        assert root["expires"] is not None
        again = ["view", "--name", "counted", "--step", "1", "--scope", "team/a", desk.session]
        assert desk(*again, scope="team/a").code == 15
        assert len(desk.roots("*")) == 1

    def test_a_name_moves_to_the_latest_view(self, desk: Desk) -> None:
        named = ["--name", "latest", "--step", "1", "--move"]
        sessions = [pi_session("pears", turns) for turns in (4, 6, 8)]
        views = []
        for session in sessions:
            told = desk("view", *named, stdin=session)
            assert told.code == 0, told.err
            views.append(told.out.encode())
        assert desk("view", *named, stdin=sessions[-1]).out.encode() == views[-1]
        named_so = [each for each in desk.roots() if each["name"] == "latest"]
        (current,) = [each for each in named_so if each["forgotten"] is None]
        assert len(named_so) == 3
        assert current["source"] == str(Digest.of(sessions[-1]))
        assert desk("gc").code == 0
        for view, session in zip(views, sessions, strict=True):
            assert desk.back(view) == session
        assert desk("view", "--name", "latest", "--step", "1", stdin=sessions[0]).code == 15

    def test_a_dry_run_writes_nothing(self, desk: Desk) -> None:
        for option in ("--dry-run", "--explain"):
            told = desk("view", option, "-o", desk.view, desk.session)
            assert told.code == 0
            assert not desk.store.exists()
            assert not Path(desk.view).exists()
        assert "8 results" in desk("view", "--dry-run", desk.session).err

    def test_a_dry_run_knows_a_view(self, desk: Desk) -> None:
        view = desk.made()
        told = desk("view", "--dry-run", "--json", stdin=view)
        made = desk("view", "--json", stdin=view)
        assert {**desk.summary(told), "root": None} == {**desk.summary(made), "root": None}
        assert desk("view", "--dry-run", "--step", "1", stdin=view).code == 2


class TestWhatIsTold:
    def test_the_summary(self, desk: Desk) -> None:
        assert desk("view", desk.session, "--dry-run").err.startswith(
            "kept 2 prose parts, 10 calls, last 3 turns whole; moved 8 results, 8 ui: 11 kB -> "
        )
        desk.made()
        assert desk("view", desk.session).err == ""
        assert desk("view", desk.session, "--stats").err.startswith("kept 2 prose parts")

    def test_to_a_person(self, shell: Shell) -> None:
        (shell.folder / "s.jsonl").write_bytes(SESSION)
        seen = seen_on_terminal(
            shell.command("view", "s.jsonl", "-o", "v.jsonl"), shell.folder, shell.environment
        )
        assert "kept 2 prose parts" in seen

    def test_oddities(self, desk: Desk) -> None:
        told = desk("view", stdin=ODD)
        assert told.code == 0
        assert "note: line 22: " in told.err or "note: line 23: " in told.err
        assert desk.back(told.out.encode()) == ODD
        assert {each["code"] for each in desk.summary(desk("view", "--json", stdin=ODD))["oddities"]} >= {
            "glued-records"
        }

    def test_many_oddities_in_few_lines(self, desk: Desk) -> None:
        odd = SESSION + b"".join(
            b'{"type":"label","id":"9%d","parentId":"8%d"}\n' % (at, at) for at in range(7)
        )
        told = desk("view", "--dry-run", stdin=odd)
        notes = [line for line in told.err.splitlines() if line.startswith("note: ")]
        listed = desk.summary(desk("view", "--dry-run", "--json", stdin=odd))["oddities"]
        assert len(listed) > 3
        assert [f"note: line {each['line']}: {each['words']}" for each in listed[:2]] == notes[:2]
        assert notes[2] == f"note: … and {len(listed) - 2} more oddities: --json lists them all"
        # A missing parent cuts off what stands before it, and that is no small thing.
        assert [note for note in notes[3:] if "left as of other branches" in note] == notes[3:] != []

    def test_that_prose_is_incomplete(self, desk: Desk) -> None:
        long = SESSION.replace(b"Count the apples.", b"Count the apples. " * 40)
        told = desk("view", "--max-prose", "100", stdin=long)
        assert "note: some prose left: what stands of it is incomplete" in told.err
        assert (
            desk.summary(desk("view", "--max-prose", "100", "--json", stdin=long))["prose_complete"] is False
        )
        assert "some prose left" not in desk("view", stdin=long).err

    def test_the_verb_stands_in_markers(self, desk: Desk) -> None:
        long = SESSION.replace(b", row", b", a long row of many")
        view = desk("view", "--retrieve-with", "read it with: ctx cat", stdin=long).out.encode()
        assert view.count(b"; read it with: ctx cat ") == 8

    def test_the_table(self, desk: Desk) -> None:
        told = desk("view", "--explain", desk.session)
        rows = [line.split("\t") for line in told.out.splitlines()]
        assert [row[4] for row in rows].count("moved") == 16
        assert {row[6] == "-" for row in rows if row[4] == "whole"} == {True}
        facts = [
            json.loads(line) for line in desk("view", "--explain", "--json", desk.session).out.splitlines()
        ]
        assert [str(each["bytes"]) for each in facts] == [row[3] for row in rows]
        for each in facts:
            if each["decision"] == "moved":
                assert each["digest"].startswith("sha256:")
                assert each["view_bytes"] < each["bytes"]

    def test_check(self, desk: Desk) -> None:
        assert desk("view", "--check", "-o", desk.view, desk.session).code == 0
        told = desk("view", "--check", stdin=BODY)
        assert told.code == 3
        assert told.out.encode() == BODY
        assert "note: the session itself has: " in told.err
        (finding,) = desk.summary(desk("view", "--check", "--json", stdin=BODY))["findings"]
        assert finding.pop("inherited") is True
        assert all(each in told.err for each in finding.values())
        assert desk.summary(desk("view", "--json", stdin=BODY))["findings"] is None
        assert desk.summary(desk("view", "--check", "--json", desk.session))["findings"] == []

    def test_check_tells_what_is_new(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        from castore.transcript import checking
        from castore.transcript.validate import Finding

        def check_view(view: object) -> tuple[list[Finding], list[Finding]]:
            return [Finding("new-rule", "messages[1]", "is new")], [
                Finding("old", f"messages[{at}]", "was") for at in (3, 4)
            ]

        monkeypatch.setattr(checking, "check_view", check_view)
        told = desk("view", "--check", "--dry-run", desk.session)
        assert told.code == 3
        assert [line for line in told.err.splitlines() if line.startswith("note: ")] == [
            "note: new-rule at messages[1]: is new",
            "note: the session itself has: old at messages[3]: was",
            "note: the session itself has: old at messages[4]: was",
        ]
        found = desk.summary(desk("view", "--check", "--dry-run", "--json", desk.session))["findings"]
        assert [each["inherited"] for each in found] == [False, True, True]


class TestBudgets:
    def test_a_budget_that_is_met_at_once(self, desk: Desk) -> None:
        told = desk("view", "--budget", "1MB", stdin=SESSION)
        assert "to fit the budget" not in told.err
        assert told.out == desk("view", stdin=SESSION).out

    @pytest.mark.parametrize(("budget", "size"), [("5500", 5500), ("5.6kB", 5600)])
    def test_bytes(self, desk: Desk, budget: str, size: int) -> None:
        told = desk("view", "--budget", budget, stdin=SESSION)
        assert told.code == 0
        assert len(told.out) <= size
        assert "note: to fit the budget: transparent@2, dedupe-reads@2" in told.err

    def test_tokens(self, desk: Desk) -> None:
        told = desk("view", "--budget", "600-tokens", stdin=SESSION)
        assert told.code == 0
        assert desk.back(told.out.encode()) == SESSION
        assert told.out != desk("view", stdin=SESSION).out

    def test_an_estimate_is_called_one(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "toktok", None)
        told = desk("view", "--budget", "600-tokens", "--stats", stdin=SESSION)
        summary = desk.summary(desk("view", "--budget", "600-tokens", "--json", stdin=SESSION))
        assert summary["is_estimated"] is True
        words = f"about {summary['tokens']:,} tokens (estimated)"
        assert f"; it takes {words}\n" in told.err
        assert f"less), {words}\n" in told.err
        assert (
            "tokens (estimated) with all that may leave gone"
            in desk("view", "--budget", "50-tokens", stdin=SESSION).err
        )

    def test_a_count_is_called_one(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        module = types.ModuleType("toktok")
        module.batch_count = lambda texts, encoding, threads: [7]  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "toktok", module)
        told = desk("view", "--budget", "1M-tokens", "--dry-run", stdin=SESSION)
        assert re.search(r"less\), [0-9]+ tokens\n", told.err)
        summary = desk.summary(desk("view", "--budget", "1M-tokens", "--dry-run", "--json", stdin=SESSION))
        assert summary["is_estimated"] is False
        summary = desk.summary(desk("view", "--budget", "1MB", "--dry-run", "--json", stdin=SESSION))
        assert (summary["tokens"], summary["is_estimated"]) == (None, None)

    @pytest.mark.parametrize("budget", ["300", "50-tokens"])
    def test_what_cannot_fit(self, desk: Desk, budget: str) -> None:
        told = refused(desk, 17, "view", "--budget", budget, desk.session)
        assert "--allow-prose" in told.err
        error = json.loads(desk("view", "--budget", budget, "--json", desk.session).err)
        assert error["fields"]["limit"] == "budget"
        assert error["fields"]["needed"] > 50

    def test_prose_leaves_only_if_allowed(self, desk: Desk) -> None:
        long = SESSION.replace(b"Count the apples.", b"Count the apples. " * 400)
        assert desk("view", "--budget", "9kB", stdin=long).code == 17
        told = desk("view", "--budget", "9kB", "--allow-prose", stdin=long)
        assert told.code == 0
        assert "some prose left" in told.err
        assert desk.back(told.out.encode()) == long


USAGE = [
    ["--strategy", "shrink"],
    ["--strategy", "transparent@9"],
    ["--strategy", ""],
    ["--strategy", "clip,clip"],
    ["--strategy", "cap"],
    ["--step", "0"],
    ["--step", "-1"],
    ["--limit", "0"],
    ["--max-prose", "many"],
    ["--mark-thinking", "maybe"],
    ["--retrieve-with", "two\nlines"],
    ["--retrieve-with", "a ] bracket"],
    ["--budget", "big"],
    ["--budget", "0"],
    ["--format", "word"],
    ["--limit", "9"],
    ["--window", "3"],
    ["--allow-prose"],
    ["--strategy", "tiered", "--limit", "9"],
    ["--strategy", "clip", "--window", "3"],
    ["--strategy", "clip", "--allow-prose"],
    ["--cap", "0"],
    ["--cap", "big"],
    ["--cap", "3k-tokens"],
    ["--strategy", "clip@2,clip"],
    ["--budget", "9" * 400],
    ["--move"],
    ["--leaf", "nowhere"],
    ["--sidechain", "nobody"],
    ["--for", "soon"],
]


class TestRefused:
    """Every failure: nothing on stdout, OUT untouched, nothing made."""

    @pytest.mark.parametrize("options", USAGE, ids=" ".join)
    def test_usage(self, desk: Desk, options: list[str]) -> None:
        refused(desk, 2, "view", *options, desk.session)

    @pytest.mark.parametrize("options", [["--name", "no name"], ["--scope", "a//b"]], ids=" ".join)
    def test_what_only_a_store_refuses(self, desk: Desk, options: list[str]) -> None:
        assert desk("init", str(desk.folder)).code == 0
        refused(desk, 2, "view", *options, desk.session)

    @pytest.mark.parametrize("data", [b"", b" \n", b'{"a":1}', b"[1,2]", b"null", b"[]", b"{}"])
    def test_no_session(self, desk: Desk, data: bytes) -> None:
        told = refused(desk, 18, "view", stdin=data)
        assert "no known session format; looked for " in told.err
        for name in FORMAT_NAMES:
            assert f"{name}: " in told.err

    @pytest.mark.parametrize("data", [b"\xff\x00\x01", b"\x00", b"\x89PNG", b"not JSON", b'{"a":'])
    def test_no_json(self, desk: Desk, data: bytes) -> None:
        assert "\nat stdin: " in refused(desk, 18, "view", stdin=data).err

    def test_odd_sessions_if_strict(self, desk: Desk) -> None:
        assert desk("view", "--strict", desk.session).code == 0
        told = refused(desk, 18, "view", "--strict", stdin=ODD)
        assert "\nat stdin: line " in told.err

    def test_files_that_cannot_be_read(self, desk: Desk) -> None:
        for file in (str(desk.folder), str(desk.folder / "missing.jsonl")):
            assert file in refused(desk, 1, "view", file).err

    def test_a_place_that_cannot_be_written(self, desk: Desk) -> None:
        told = desk("view", desk.session, "-o", str(desk.folder / "no" / "where.jsonl"))
        assert (told.code, told.out) == (1, "")
        assert not desk.store.exists()
        assert desk("view", desk.session, "-o", str(desk.folder)).code == 1
        assert not desk.store.exists()

    def test_a_view_with_other_options(self, desk: Desk) -> None:
        view = desk.made()
        clipped = ["--strategy", "transparent,clip", "--limit", "9"]
        for options in (["--step", "1"], ["--strategy", "tiered"], ["--budget", "9kB"], clipped):
            assert "it is a view already" in refused(desk, 2, "view", *options, stdin=view).err

    def test_a_view_that_was_edited(self, desk: Desk) -> None:
        view = edited(desk.made())
        assert "was changed since" in refused(desk, 18, "unfold", stdin=view).err
        refused(desk, 18, "view", stdin=view)

    def test_a_scope_that_was_not_granted(self, desk: Desk) -> None:
        told = desk("view", "--scope", "team/b", desk.session, scope="team/a")
        assert (told.code, told.out) == (14, "")
        assert desk.roots() == []


class TestTwoSessionsWithOneView:
    OTHER = pi_session("apples", detail="shown to somebody else")

    def test_are_told_apart_by_source(self, desk: Desk) -> None:
        view = desk.made()
        assert desk("view", stdin=self.OTHER).out.encode() == view
        told = refused(desk, 12, "unfold", stdin=view)
        assert "choose one with --source" in told.err
        for source, back in ((desk.session, SESSION),):
            assert desk.back(view, "--source", source) == back
        candidates = json.loads(desk("unfold", "--json", stdin=view).err)["fields"]["candidates"]
        assert {desk.back(view, "--source", each) for each in candidates} == {SESSION, self.OTHER}
        refused(desk, 12, "unfold", "--source", "nobody", stdin=view)


class TestPayloads:
    def first(self, desk: Desk) -> str:
        told = desk("view", "--explain", "--json", desk.session)
        rows = [json.loads(line) for line in told.out.splitlines()]
        return next(str(row["digest"]) for row in rows if row["decision"] == "moved")

    def test_one_that_was_purged(self, desk: Desk) -> None:
        view, digest = desk.made(), self.first(desk)
        assert desk("purge", digest, "--reason", "a secret", "--yes").code == 0
        assert "was purged on " in refused(desk, 12, "unfold", stdin=view).err
        # The view itself is recorded again only if that is allowed.
        told = desk("view", stdin=SESSION)
        assert (told.code, told.out) == (12, "")
        assert desk("view", "--allow-purged", stdin=SESSION).out.encode() == view
        assert desk.back(view) == SESSION

    def test_one_that_is_damaged(self, desk: Desk) -> None:
        view, digest = desk.made(), self.first(desk)
        path = desk.store / "objects" / digest[7:9] / digest[7:]
        path.chmod(0o600)
        path.write_bytes(path.read_bytes()[:-3] + b"rot")
        told = refused(desk, 13, "unfold", stdin=view)
        assert digest[:23] in told.err
        # To view the session again heals it.
        assert desk("view", stdin=SESSION).out.encode() == view
        assert desk.back(view) == SESSION


class TestProcess:
    def test_a_closed_pipe(self, shell: Shell) -> None:
        (shell.folder / "s.jsonl").write_bytes(pi_session("pears", 2000))
        process = subprocess.Popen(
            shell.command("view", "s.jsonl"),
            cwd=shell.folder,
            env=shell.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read().count(b"error") == 0
        assert process.wait(timeout=60) == 141
        process.stderr.close()

    def test_a_full_device(self, shell: Shell) -> None:
        if not Path("/dev/full").exists():
            pytest.skip("there is no /dev/full")
        (shell.folder / "s.jsonl").write_bytes(SESSION)
        done = shell("view", "s.jsonl", "-o", "/dev/full")
        assert (done.code, done.out) == (1, b"")
        assert "No space left" in done.err
