"""docs/output.md says what every command prints: its columns in a pipe, its fields with `--json`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from castore.cli.commands import COMMANDS
from tests.access.sessions import pi_session
from tests.cli.conftest import Shell
from tests.cli.test_guarding import GUARD, REPEATING

PAGE = (Path(__file__).parents[2] / "docs/output.md").read_text(encoding="utf-8")
COLUMNS_PART, _, FIELDS_PART = PAGE.partition("## Fields with --json")

Fields = dict[tuple[str, str], set[str]]


def columns() -> dict[str, list[str]]:
    rows = re.findall(r"^\| (`.+?`) \| ([^`]+?) \|$", COLUMNS_PART, re.M)
    return {
        command: cells.split(";")[0].split(", ")
        for commands, cells in rows
        for command in re.findall(r"`([^`]+)`", commands)
    }


def fields() -> Fields:
    found: Fields = {}
    for commands, what, names in re.findall(r"^\| (`.+?`) \| (.*?)\| ((?:.*)`.*) \|$", FIELDS_PART, re.M):
        for command in re.findall(r"`([^`]+)`", commands):
            found[command, what.strip()] = set(re.findall(r"`(\w+)`", names))
    found["show", "a root"] |= found["log", "a root"]
    return found


def summary(err: str) -> dict[str, Any]:
    (event,) = [each for line in err.splitlines() if (each := json.loads(line))["event"] == "summary"]
    del event["event"]
    return dict(event)


@pytest.fixture
def filled(ctx: Shell) -> Shell:
    """A document, a named object, one lost and one to be adopted, and a scope."""
    ctx.environment["CTX_SCOPE"] = "*"
    assert ctx("fold", "in.json", "-o", "out.json", "--name", "outage").code == 0
    assert ctx("put", "--name", "poem", stdin=b"a line\n").code == 0
    (ctx.folder / "session.jsonl").write_bytes(pi_session("apples"))
    return ctx


def lose_one(ctx: Shell) -> None:
    digest = ctx("show", "outage", "--json").rows[0]["first_objects"][0]["digest"]
    path = ctx.folder / ".ctxstore/objects" / digest[7:9] / digest[7:]
    path.chmod(0o600)
    path.write_bytes(b"x")


ON_STDOUT: dict[tuple[str, str], list[str]] = {
    ("log", "a root"): ["log"],
    ("why", "a root"): ["why", "poem"],
    ("tag", "a root"): ["tag", "verse", "poem"],
    ("keep", "a root"): ["keep", "poem"],
    ("ls", "an object"): ["ls"],
    ("cat", "a page"): ["cat", "poem"],
    ("grep", "a hit"): ["grep", "row 5 of"],
    ("put", "a file"): ["put", "in.json"],
    ("show", "an object"): ["show", "poem"],
    ("show", "a root"): ["show", "outage"],
    ("fold --dry-run", "a value"): ["fold", "--dry-run", "in.json"],
    ("view --explain", "a part"): ["view", "--explain", "session.jsonl"],
    ("forget", ""): ["forget", "poem"],
    ("gc", ""): ["gc"],
    ("purge", ""): ["purge", "DIGEST", "--reason", "x", "--yes"],
    ("init", ""): ["init", "elsewhere"],
    ("stats", ""): ["stats"],
    ("stats", "a session"): ["stats", "session.jsonl"],
    ("stats", "a document"): ["stats", "in.json"],
    ("scope list", "a scope"): ["scope", "list"],
    ("scope create", "a scope"): ["scope", "create", "team/a"],
    ("scope show", "a scope"): ["scope", "show", "default"],
    ("config", "a setting"): ["config"],
}
ON_STDERR: dict[tuple[str, str], list[str]] = {
    ("fold", "the summary"): ["fold", "in.json"],
    ("view", "the summary"): ["view", "session.jsonl"],
    ("grep", "the summary"): ["grep", "-m", "1", "row 5"],
    ("report", "the summary"): ["report", "session.jsonl"],
    ("verify", "the summary"): ["verify"],
    ("repair", "the summary"): ["repair"],
    ("bundle create", "the summary"): ["bundle", "create", "poem", "-o", "x.tar"],
}
OF_A_REPEAT = {("guard", "a repeat")}
OF_DIFFERENCES = {("diff", "a difference"), ("diff", "the summary")}
"""These are held to the page elsewhere."""
ELSEWHERE = ("collapse ", "summary ", "remote ", "push", "pull", "fetch", "bundle import")
"""So is what these print: tests/cli/test_collapse.py, test_summary.py, test_remote.py and test_bundle.py."""
OF_DAMAGE = {("verify", "a finding"), ("repair", "an act"), ("repair", "what remains")}


def told(ctx: Shell, arguments: list[str]) -> list[str]:
    """DIGEST is that of the poem."""
    return [
        ctx("show", "poem", "--json").rows[0]["digest"] if each == "DIGEST" else each for each in arguments
    ]


class TestFields:
    def test_every_command_is_on_the_page(self) -> None:
        on_page = {command for command, _ in fields()}
        on_page -= {"ctx", "fold --dry-run", "verify --remote", "view --explain", "summary check --shares"}
        assert on_page == set(COMMANDS) - {"unfold", "clip", "hook claude-code", "mcp"}
        here = {row for row in fields() if not row[0].startswith(ELSEWHERE) and "--remote" not in row[0]}
        assert here == {
            *ON_STDOUT,
            *ON_STDERR,
            *OF_DAMAGE,
            *OF_A_REPEAT,
            *OF_DIFFERENCES,
            ("ctx", "an error"),
        }

    @pytest.mark.parametrize("row", ON_STDOUT, ids=" ".join)
    def test_on_stdout(self, filled: Shell, row: tuple[str, str]) -> None:
        done = filled(*told(filled, ON_STDOUT[row]), "--json")
        assert done.code == 0
        assert done.rows
        for each in done.rows:
            assert set(each) == fields()[row]

    @pytest.mark.parametrize("row", ON_STDERR, ids=" ".join)
    def test_summaries(self, filled: Shell, row: tuple[str, str]) -> None:
        assert set(summary(filled(*ON_STDERR[row], "--json").err)) == fields()[row]

    def test_of_damage(self, filled: Shell) -> None:
        lose_one(filled)
        for each in filled("verify", "--json").rows:
            assert set(each) == fields()["verify", "a finding"]
        rows = filled("repair", "--json").rows
        assert {set(each) == fields()["repair", "what remains"] for each in rows} == {True, False}
        for each in rows:
            what = "what remains" if each["event"] == "remaining" else "an act"
            assert set(each) == fields()["repair", what]

    def test_of_a_repeat(self, shell: Shell) -> None:
        (row,) = shell(*GUARD, "--json", stdin=REPEATING).rows
        assert set(row) == fields()["guard", "a repeat"]

    def test_of_differences(self, filled: Shell) -> None:
        done = filled("diff", "in.json", "out.json", "--json")
        assert done.code == 1
        assert {frozenset(each) for each in done.rows} == {frozenset(fields()["diff", "a difference"])}
        assert set(summary(done.err)) == fields()["diff", "the summary"]

    def test_of_an_error(self, filled: Shell) -> None:
        assert set(filled("cat", "nothing", "--json").error) == fields()["ctx", "an error"]

    def test_of_what_is_inside(self, filled: Shell) -> None:
        (shown,) = filled("show", "poem", "--json").rows
        assert set(shown["named_by"][0]) == fields()["log", "a root"]
        (shown,) = filled("show", "outage", "--json").rows
        assert set(shown["first_objects"][0]) == fields()["ls", "an object"]
        (stats,) = filled("stats", "--json").rows
        (purged,) = filled(*told(filled, ["purge", "DIGEST", "--reason", "x", "--dry-run"]), "--json").rows
        assert set(purged["roots"][0]) == fields()["log", "a root"]
        words = " ".join(PAGE.split())
        for name, value in (
            ("biggest", stats["biggest"][0]),
            ("biggest_documents", stats["biggest_documents"][0]),
            ("free_later", stats["free_later"]),
            ("summaries", stats["summaries"]),
        ):
            sentence = re.search(rf"`{name}` holds? (.*?)[;.] ?", words) or re.search(
                rf"`{name}` (`document`.*?)\. ", words
            )
            assert sentence is not None
            assert set(re.findall(r"`(\w+)`", sentence[1])) == set(value), name


class TestColumns:
    RUNS = {  # noqa: RUF012 - it is read only
        "put": ["put", "in.json"],
        "grep": ["grep", "a line"],
        "ls": ["ls"],
        "log": ["log"],
        "why": ["why", "poem"],
        "fold --dry-run": ["fold", "--dry-run", "in.json"],
        "view --explain": ["view", "--explain", "session.jsonl"],
        "diff": ["diff", "in.json", "out.json"],
        "scope list": ["scope", "list"],
        "config": ["config"],
        "purge --dry-run": ["purge", "DIGEST", "--reason", "x", "--dry-run"],
    }

    def test_every_table_is_run(self) -> None:
        assert {each for each in columns() if not each.startswith(ELSEWHERE)} == set(self.RUNS)

    @pytest.mark.parametrize("command", RUNS)
    def test_are_those_of_the_page(self, filled: Shell, command: str) -> None:
        copied = b'{"it": "' + b"a line" + b'\\n"}'
        filled("put", stdin=copied)
        lines = filled(*told(filled, self.RUNS[command])).lines
        if command == "purge --dry-run":
            lines.pop()
        assert lines
        assert {len(line.split("\t")) for line in lines} == {len(columns()[command])}
