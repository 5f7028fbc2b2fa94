"""docs/sharing.md works as printed: each command of each machine, with the exit code that it says."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cli.conftest import Shell

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/sharing.md").read_text(encoding="utf-8")
SHARED = "file:///srv"
"""Where the page has its folders."""


class Step(NamedTuple):
    machine: str
    command: str
    code: int


def part(title: str) -> str:
    """The section of that title, with those below it."""
    level, _, rest = next(
        PAGE[match.start() :].partition(" ") for match in re.finditer(rf"(?m)^#+ {title}$", PAGE)
    )
    return re.split(rf"(?m)^#{{2,{len(level)}}} ", rest)[0]


def steps(text: str) -> list[Step]:
    """Those with a prompt."""
    found = []
    for machine, line in re.findall(r"(?m)^    (\w+)\$ (.+)$", text):
        command, _, comment = line.partition("  # ")
        said = re.match(r"exit (\d+)", comment.strip())
        found.append(Step(machine, command.strip(), int(said[1]) if said else 0))
    return found


def plain(text: str) -> list[str]:
    """Commands without a prompt."""
    lines = re.findall(r"(?m)^    ((?:ctx|sleep) .+)$", text)
    return [each for line in lines for each in line.partition("  #")[0].strip().split("; ")]


class Team:
    """Machines: a folder each, side by side, and what they share beside them."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell

    def folder(self, machine: str) -> Path:
        folder = self.shell.folder / machine
        if not folder.exists():
            folder.mkdir()
            if machine in ("ada", "a", "b"):
                shutil.copy(ROOT / "docs/example/incident.json", folder)
            if machine == "ada":
                shutil.copy(ROOT / "docs/example/session.jsonl", folder)
        return folder

    def run(self, machine: str, command: str) -> tuple[int, str]:
        """Its code, and what it printed. Commands of ctx, and a comparison of what one gives, are forks."""
        folder = self.folder(machine)
        command, _, same_as = command.replace(SHARED, self.shell.folder.as_uri()).partition(" | cmp - ")
        variables: dict[str, Any] = {}
        words = shlex.split(command)
        while "=" in words[0]:
            name, _, variables[name] = words.pop(0).partition("=")
        if words[0] != "ctx":
            ran = subprocess.run(words, cwd=folder, capture_output=True, check=False, timeout=60)
            return ran.returncode, ran.stderr.decode()
        done = self.shell(*words[1:], cwd=folder, **variables)
        if same_as:
            assert done.out == (folder / same_as).read_bytes()
        return done.code, done.out.decode() + done.err

    def log(self, machine: str) -> list[tuple[str, str | None]]:
        """The roots of the collapse log that is there, in order, and for what a reset was."""
        roots = []
        for row in self.shell("log", "--json", cwd=self.folder(machine)).rows:
            if row["kind"] == "collapse" and row["forgotten"] is None:
                file = self.folder(machine) / f".ctxstore/roots/{row['id'][:2]}/{row['id']}.json"
                said = json.loads(file.read_bytes())["details"]["collapse"].get("reason")
                roots.append((row["place"], row["id"], said))
        return [(root, said) for _, root, said in sorted(roots)]

    def do(self, found: list[Step]) -> None:
        for machine, command, code in found:
            done, told = self.run(machine, command)
            assert done == code, f"{machine}$ {command}\n{told}"


@pytest.fixture
def team(shell: Shell, fast_path: Path) -> Team:
    shell.folder = fast_path
    return Team(shell)


class TestAsPrinted:
    def test_days_of_work_and_sessions(self, team: Team) -> None:
        days, sessions = steps(part("Daily use")), steps(part("Sessions"))
        assert len(days) > 50
        assert len(sessions) > 5
        team.do(days + sessions)

    def test_two_teams(self, team: Team) -> None:
        found = steps(part("Two teams in one bucket"))
        assert len(found) > 15
        team.do(found)
        for machine, scope in (("a", "team/a"), ("b", "team/b")):
            rows = team.shell("log", "--json", cwd=team.folder(machine)).rows
            assert {each["scope"] for each in rows} == {scope}

    @pytest.mark.parametrize("kept", ["theirs", "ours"])
    def test_logs_that_two_went_on_with(self, team: Team, kept: str) -> None:
        """Either way out: both machines and the remote have the one log again, and go on."""
        begun, apart = part("Sessions").split("A log is one story")
        team.do(steps(part("Daily use"))[:5] + steps(begun))
        reset = "ctx collapse reset session.jsonl --reason"
        team.do([Step("ada", f"{reset} hers", 0), Step("ben", f"{reset} his", 0)])
        team.do([Step("ada", "ctx push --all", 0), Step("ben", "ctx push --all", 15)])
        team.do([Step("ben", "ctx pull --all", 15)])
        first, second = (plain(each) for each in apart.split("or, to keep"))
        assert (len(first), len(second)) == (3, 2)
        ((one, _), *_) = team.log("ben")
        ways = {"theirs": [("ben", first)], "ours": [("ben", second), ("ada", first)]}
        for machine, commands in ways[kept]:
            team.do([Step(machine, each.replace("ID", one), 0) for each in commands])
        assert team.log("ada") == team.log("ben")
        assert [said for _, said in team.log("ada") if said] == ["hers" if kept == "theirs" else "his"]
        team.do([Step("ben", f"{reset} again", 0), Step("ben", "ctx push --all", 0)])
        team.do([Step("ada", "ctx pull --all", 0)])
        assert team.log("ada") == team.log("ben")


class TestSetUp:
    def test_each_place_is_taken(self, team: Team) -> None:
        rows = re.findall(r"(?m)^\| [^|]+ \| `((?:s3|gs|az|file):[^`]+)`", PAGE)
        assert len(rows) == 7
        team.run("ada", "ctx init")
        for number, row in enumerate(rows):
            named = row.replace("PREFIX", "prefix").replace("BUCKET", "bucket").replace("CONTAINER", "box")
            named = named.replace("ACCOUNT", "account").replace("HOST", "host")
            named = named.replace("/FOLDER", "/srv/bucket")
            team.do([Step("ada", f"ctx remote add place{number} {named}", 0)])

    def test_the_policy_is_one(self) -> None:
        text = part("Least rights")
        block = "\n".join(re.findall(r"(?m)^    (.*)$", text))
        rights = {
            (action, each.partition("PREFIX/")[2])
            for statement in json.loads(block)["Statement"]
            for action in _listed(statement["Action"])
            for each in _listed(statement["Resource"])
        }
        assert ("s3:DeleteObject", "checks/*") in rights, "a check removes what it wrote"
        assert ("s3:DeleteObject", "intents/*") in rights
        assert ("s3:DeleteObject", "*") not in rights


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value
