"""Sessions with the SDK's own client over real stdio, which checks every result against its tool's schema."""

from __future__ import annotations

import base64
import json
import os
import random
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from mcp.shared.exceptions import MCPError

from castore import api
from castore.digest import Digest
from castore.mcp.calls import Place, answer
from castore.mcp.tools import TOOLS
from castore.store import Store
from tests.mcp.agent import LEGACY, MODERN, Agent, processes_of
from tests.mcp.conftest import ROWS, SAMPLES, filled

CATASTROPHE = {"pattern": "(x+x+)+y", "refs": ["xs"]}


def with_xs(folder: Path) -> Path:
    """What a pattern can get lost in."""
    store = Store.open(folder)
    # All that the pattern needs is there, but in the wrong order: no look at the letters alone helps.
    api.put(store, b"y " + b"x" * 5000, name="xs")
    store.close()
    return folder


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class TestEras:
    @pytest.mark.parametrize("mode", [MODERN, LEGACY])
    def test_every_tool(self, folder: Path, mode: str) -> None:
        with Agent(folder, mode=mode) as agent:
            told = agent.portal.call(agent.client.list_tools).tools
            assert [each.name for each in told] == list(TOOLS)
            for each in told:
                jsonschema.Draft202012Validator.check_schema(each.input_schema)
                assert each.output_schema == dict(TOOLS[each.name].output)
                assert each.annotations.read_only_hint is not TOOLS[each.name].writes
                assert each.annotations.destructive_hint is False
            assert "ctx_show" in agent.client.instructions
            row = json.loads(ROWS)[1234]
            assert json.loads(agent.ask("ctx_read", ref="rows", items="1234")["text"]) == row
            (hit,) = agent.ask("ctx_grep", pattern="row 1234", refs=["rows"])["hits"]
            assert json.loads(agent.ask("ctx_read", **hit["read"])["text"]) == row
            assert "1234" in agent.ask("ctx_show", ref="rows")["text"]
            assert len(agent.ask("ctx_list")["entries"]) == len(SAMPLES)
            ref = agent.ask("ctx_put", text="stored")["ref"]
            assert agent.ask("ctx_read", ref=ref)["text"] == "stored"
            assert agent.ask("ctx_fold", document=json.dumps(list(range(2000))))["folded"] == 1
            assert agent.fail("ctx_read", ref="nope")["error"] == "not_found"
            self.resources(agent)
            assert agent.log == ""

    def resources(self, agent: Agent) -> None:
        listed = agent.portal.call(agent.client.list_resources).resources
        assert set(SAMPLES) <= {each.name for each in listed}
        (template,) = agent.portal.call(agent.client.list_resource_templates).resource_templates
        assert template.uri_template == "ctx://{digest}"
        uris = {each.name: each.uri for each in listed}
        (contents,) = agent.portal.call(agent.client.read_resource, uris["rows"]).contents
        assert contents.text.encode() == ROWS
        (contents,) = agent.portal.call(agent.client.read_resource, uris["raw"]).contents
        assert base64.b64decode(contents.blob) == SAMPLES["raw"]
        for uri in ("ctx://deadbeef", "ctx://", "file:///etc/passwd", "ctx://../../etc/passwd"):
            with pytest.raises(MCPError):
                agent.portal.call(agent.client.read_resource, uri)

    def test_no_such_tool(self, agent: Agent) -> None:
        for name in ("ctx_purge", "", "ctx_read\x00"):
            with pytest.raises(MCPError, match="no tool"):
                agent.result(name, {})


class TestWhatIsNoText:
    def test_is_told_all_the_same(self, agent: Agent) -> None:
        """Neither bytes that are no UTF-8 nor halves of characters in what is asked spoil an answer."""
        found = agent.ask("ctx_grep", pattern="ABC", refs=["raw"], max_hits=2)
        assert found["hits"]
        assert agent.ask("ctx_read", **found["hits"][0]["read"])["base64"]
        assert agent.ask("ctx_read", ref="controls", max_bytes=700)["left_out"]
        assert agent.ask("ctx_show", ref="raw")["kind"] == "bytes"
        assert agent.log == ""


class TestReadOnly:
    def test_tools_that_write_are_not_there(self, samples: Path) -> None:
        with Agent(samples, "--read-only") as agent:
            names = {each.name for each in agent.portal.call(agent.client.list_tools).tools}
            assert names == {name for name, tool in TOOLS.items() if not tool.writes}
            for name in TOOLS.keys() - names:
                with pytest.raises(MCPError, match="no tool"):
                    agent.result(name, {"text": "x", "document": "[]"})
            assert agent.ask("ctx_read", ref="rows", items="0")

    def test_nor_where_the_store_can_not_be_written(self, folder: Path) -> None:
        if os.geteuid() == 0:
            pytest.skip("root writes everywhere")
        for each in (folder, folder / "objects", folder / "roots", folder / "tmp"):
            each.chmod(0o500)
        with Agent(folder) as agent:
            assert len(agent.portal.call(agent.client.list_tools).tools) == 4


class TestScopes:
    def test_bind_every_call(self, folder: Path) -> None:
        variables = {"CTX_SCOPE": "team/*,default"}
        with Agent(folder, "--scope", "team/b", "--scope", "team/a", variables=variables) as agent:
            assert agent.ask("ctx_list")["entries"] == []
            hidden = agent.fail("ctx_read", ref=Digest.of(ROWS).hex)
            nothing = agent.fail("ctx_read", ref=Digest.of(b"nothing").hex)
            assert hidden["message"].replace(Digest.of(ROWS).short, "") == nothing["message"].replace(
                Digest.of(b"nothing").short, ""
            )
            agent.ask("ctx_put", text="of team b", name="mine")
            assert agent.ask("ctx_list")["entries"][0]["scope"] == "team/b"
        found = answer(
            Place(str(folder), grants=("team/a",)), {"tool": "ctx_read", "arguments": {"ref": "mine"}}
        )
        assert found["structured"]["error"] == "not_found"


class TestManyCalls:
    def test_a_thousand_mixed_ones(self, folder: Path) -> None:
        """In bounded memory; none of them is lost, and what fails fails as it should."""
        chance = random.Random(1)
        with Agent(folder, variables={"PYTHONWARNINGS": "error"}) as agent:
            server = agent.server
            calls = [self.mixed(chance, number) for number in range(1000)]
            peak = 0
            for at in range(0, len(calls), 50):
                agent.portal.call(self.together, agent, calls[at : at + 50])
                sizes = [resident_bytes(each) for each in [server, *processes_of(server)]]
                peak = max(peak, *sizes)
                assert len(sizes) <= 1 + 4 * 3
            assert peak < 250 << 20
            assert agent.log == ""
        store = Store.open(folder)
        assert store.read(Digest.of(b"text 0"))
        store.close()

    @staticmethod
    async def together(agent: Agent, calls: list[tuple[str, dict[str, Any], bool]]) -> None:
        async def one(tool: str, arguments: dict[str, Any], fails: bool) -> None:
            found = await agent.client.call_tool(tool, arguments)
            assert found.is_error is fails, (tool, arguments, found.structured_content)
            assert len(found.content[0].text) < 70_000
            if fails:
                assert found.structured_content["error"] not in ("internal", "limit")

        async with anyio.create_task_group() as group:
            for each in calls:
                group.start_soon(one, *each)

    @staticmethod
    def mixed(chance: random.Random, number: int) -> tuple[str, dict[str, Any], bool]:
        """A call, and whether it fails."""
        name = chance.choice([each for each in SAMPLES if each != "empty"])
        return chance.choice(
            [
                ("ctx_read", {"ref": name, "max_bytes": chance.choice([700, 8000, 10**12])}, False),
                ("ctx_read", {"ref": "rows", "items": f"{chance.randrange(3000)}:"}, False),
                ("ctx_read", {"ref": name, "bytes": str(chance.randrange(-9, 9))}, False),
                ("ctx_read", {"ref": "rows", "select": ["$[7].note"]}, False),
                ("ctx_read", {"ref": "log", "lines": f"-{number}:"}, False),
                ("ctx_show", {"ref": name}, False),
                ("ctx_list", {"limit": 1 + number % 9}, False),
                ("ctx_grep", {"pattern": f"row {number}", "refs": ["rows"]}, False),
                ("ctx_put", {"text": f"text {number % 50}"}, False),
                ("ctx_put", {"text": "text 0", "name": "text-0"}, False),
                ("ctx_fold", {"document": json.dumps([list(range(500 + number % 9))])}, False),
                ("ctx_read", {"ref": chance.choice(["nope", "../..", "\x07", "a" * 64, ""])}, True),
                ("ctx_read", {"ref": "rows", "items": chance.choice(["1:2:3", "--", "9" * 40, {}])}, True),
                ("ctx_grep", {"pattern": chance.choice(["(", "[", "*", "(?P<n>", "a" * 5000])}, True),
                ("ctx_put", {"text": {"not": "text"}}, True),
                ("ctx_list", {"after": "nothing"}, True),
                ("ctx_show", {"ref": "rows", "max_bytes": -5}, True),
            ]
        )

    def test_two_clients_at_once(self, folder: Path) -> None:
        """Each sees at once what the other, or a command, stored."""

        def work(agent: Agent, mine: str, others: str) -> None:
            for number in range(20):
                agent.ask("ctx_put", text=f"{mine} {number}", name=f"{mine}-{number}")
                until = time.monotonic() + 30
                while agent.result("ctx_read", {"ref": f"{others}-{number}"}).is_error:
                    assert time.monotonic() < until
                assert agent.ask("ctx_read", ref=f"{others}-{number}")["text"] == f"{others} {number}"

        with Agent(folder) as one, Agent(folder, mode=LEGACY) as other, ThreadPoolExecutor() as pool:
            done = [pool.submit(work, one, "one", "other"), pool.submit(work, other, "other", "one")]
            for each in done:
                each.result()
            store = Store.open(folder)
            api.put(store, b"late", name="late")
            store.close()
            assert one.ask("ctx_read", ref="late")["text"] == "late"
            assert (one.log, other.log) == ("", "")


@pytest.fixture(scope="module")
def lost(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    """A client of a server that may have to end calls."""
    with Agent(with_xs(filled(tmp_path_factory.mktemp("lost") / ".ctxstore"))) as agent:
        yield agent


class TestEndingCalls:
    def test_one_that_is_cancelled_ends_and_others_go_on(self, lost: Agent) -> None:
        assert lost.portal.call(self.cancelled, lost, lost.server)
        assert lost.ask("ctx_read", ref="rows", items="0")

    async def cancelled(self, agent: Agent, server: int) -> bool:
        """While it runs others are answered; once it is cancelled, nothing works on it any more."""
        scope = anyio.CancelScope()

        async def lost() -> None:
            with scope:
                await agent.client.call_tool("ctx_grep", CATASTROPHE)

        async with anyio.create_task_group() as group:
            group.start_soon(lost)
            with anyio.fail_after(30):
                while not any(map(self.is_busy, processes_of(server))):
                    await agent.client.call_tool("ctx_read", {"ref": "rows", "items": "0"})
            scope.cancel()
            with anyio.fail_after(30):
                while any(map(self.is_busy, processes_of(server))):
                    await anyio.sleep(0.02)
        return True

    def test_one_that_takes_too_long_is_a_limit(self, folder: Path) -> None:
        with Agent(with_xs(folder), "--timeout", "1s") as agent:
            failure = agent.fail("ctx_grep", **CATASTROPHE)
            assert (failure["error"], failure["exit_code"]) == ("limit", 17)
            assert agent.ask("ctx_read", ref="rows", items="0")
            assert not [each for each in processes_of(agent.server) if self.is_busy(each)]

    def test_a_process_that_dies_costs_its_call_alone(self, lost: Agent) -> None:
        failure = lost.portal.call(self.killed, lost, lost.server)
        assert failure["error"] in ("internal", "failed")
        assert lost.ask("ctx_read", ref="rows", items="0")
        assert "died" in lost.log or failure["error"] == "failed"

    async def killed(self, agent: Agent, server: int) -> Any:
        found: list[Any] = []

        async def lost() -> None:
            result = await agent.client.call_tool("ctx_grep", CATASTROPHE)
            assert result.is_error
            found.append(result.structured_content)

        async with anyio.create_task_group() as group:
            group.start_soon(lost)
            with anyio.fail_after(30):
                while not (busy := [each for each in processes_of(server) if self.is_busy(each)]):
                    await anyio.sleep(0.02)
            os.kill(busy[0], signal.SIGKILL)
        return found[0]

    @staticmethod
    def is_busy(pid: int) -> bool:
        """Whether it is in a search that does not end: no other call takes so much."""
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return False
        return fields[0] == "R" and int(fields[11]) / os.sysconf("SC_CLK_TCK") > 0.7
