"""docs/mcp.md: its set-up lines start a server that answers, and its tables say what there is."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from castore.mcp import failures, pool, reading, transport
from castore.mcp.tools import ANSWER_BYTES_MAX, ANSWER_BYTES_MIN, SHOWN_BYTES, TOOLS
from tests.mcp.agent import Agent

PAGE = (Path(__file__).parents[2] / "docs/mcp.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.M | re.S)


def commands() -> dict[str, list[str]]:
    """What each set-up would start, by where it stands."""
    found: dict[str, list[str]] = {}
    for language, text in BLOCKS:
        if language == "json":
            entry: dict[str, Any] = json.loads(text)["mcpServers"]["castore"]
            assert entry.get("type", "stdio") == "stdio"
            found[f"json {len(found)}"] = [entry["command"], *entry["args"]]
        elif language == "toml":
            entry = tomllib.loads(text)["mcp_servers"]["castore"]
            assert entry.keys() <= {"command", "args", "startup_timeout_sec", "tool_timeout_sec"}
            found["toml"] = [entry["command"], *entry["args"]]
    for line in re.findall(r"(?:claude|codex) mcp add castore -- [^`\n]+", PAGE):
        words = shlex.split(line)
        found[words[0]] = words[words.index("--") + 1 :]
    return found


class TestSetUp:
    def test_each_is_there(self) -> None:
        assert list(commands()) == ["json 0", "toml", "json 2", "claude", "codex"]
        assert set(map(tuple, commands().values())) == {("ctx", "mcp")}

    def test_the_command_starts_a_server_on_the_store_of_the_project(self, folder: Path) -> None:
        """As a client would: found by PATH, in a folder below the one that holds the store."""
        inside = folder.parent / "src" / "deep"
        inside.mkdir(parents=True)
        path = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
        (command,) = set(map(tuple, commands().values()))
        with Agent(folder, command=command, variables={"PATH": path}, cwd=inside) as agent:
            assert agent.ask("ctx_read", ref="rows", items="0")["kind"] == "array"
            agent.ask("ctx_put", text="of the project", name="project")
            assert agent.log == ""
        assert len(list(folder.parent.iterdir())) == 2


class TestPage:
    def test_names_every_tool_and_its_arguments(self) -> None:
        rows = dict(re.findall(r"^\| `(ctx_\w+)` \| .* \| (.+) \|$", PAGE, re.M))
        assert {name: re.findall(r"`(\w+)`", words) for name, words in rows.items()} == {
            name: list(tool.arguments) for name, tool in TOOLS.items()
        }

    def test_names_every_code(self) -> None:
        part = PAGE.partition("| `error` |")[2].partition("\n\n")[0]
        codes = re.findall(r"^\| `(\w+)` \|", part, re.M)
        assert set(codes) == {*failures.CODES.values(), "failed", "internal"}
        assert len(codes) == len(set(codes))

    @pytest.mark.parametrize(
        "number", [ANSWER_BYTES_MAX, ANSWER_BYTES_MIN, SHOWN_BYTES, reading.RESOURCE_BYTES_MAX]
    )
    def test_says_the_limits(self, number: int) -> None:
        assert f"{number:,}" in PAGE
        assert transport.MESSAGE_BYTES_MAX == 16 << 20
        assert pool.WORKERS_MAX == 4
