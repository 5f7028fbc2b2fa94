"""docs/agents.md: the loops run with recorded replies, and the hooks by exactly the commands that it says.

The replies have the shapes of the two APIs. What is sent is looked at as the API would: it breaks no rule, it
is short, a later body begins as the earlier one, and what was read back stands in it whole.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import castore
from castore.config import PAGE_BYTES, SHOWN_BYTES
from castore.transcript.validate import check

PAGE = (Path(__file__).parents[2] / "docs/agents.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.S)
(SETTINGS,) = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.S)]

ROWS = [{"id": number, "status": 500 if number == 470 else 200, "note": "shipped"} for number in range(900)]
LOG = "".join(f"{n} the worker took an order off the queue\n" for n in range(900))
TOOLS: dict[str, Callable[..., str]] = {"orders": lambda: json.dumps(ROWS), "log": lambda: LOG}
SCHEMA = {"name": "orders", "description": "All orders.", "input_schema": {"type": "object"}}
FUNCTION = {"name": "log", "description": "The log.", "parameters": {"type": "object"}}

Script = list[tuple[str, dict[str, Any]] | str]
SCRIPT: Script = [
    ("orders", {}),
    ("ctx_read", {"ref": "REF", "items": "470"}),
    "order 470 failed",
    ("log", {}),
    ("ctx_read", {"ref": "REF", "lines": "-1"}),
    ("ctx_read", {"ref": "ffffffffffffffff"}),
    "the last line says so",
    *(each for n in range(6) for each in [("ctx_read", {"ref": "REF", "lines": f"{n}:900"}), f"seen {n}"]),
]
"""What the model says, call by call. REF: the digits of the reference, then of the clip, that were shown."""


class Recorded:
    """A model whose replies are settled. bodies: what was sent."""

    def __init__(self, say: Callable[[int, tuple[str, dict[str, Any]] | str], dict[str, Any]]) -> None:
        self.say = say
        self.bodies: list[dict[str, Any]] = []
        self._ref = ""

    def __call__(self, **body: Any) -> dict[str, Any]:
        said = SCRIPT[len(self.bodies)]
        self.bodies.append(json.loads(json.dumps(body)))
        told = json.dumps(body["messages"])
        for pattern in (r"sha256:([0-9a-f]{16})", r"\[ctx ([0-9a-f]{16}): text"):
            if (found := re.findall(pattern, told)) and (pattern.startswith(r"\[") or not self._ref):
                self._ref = found[-1]
        if not isinstance(said, str):
            said = said[0], {name: self._ref if value == "REF" else value for name, value in said[1].items()}
        return self.say(len(self.bodies), said)


def anthropic(number: int, said: tuple[str, dict[str, Any]] | str) -> dict[str, Any]:
    """A message of the Messages API."""
    content: dict[str, Any] = {"type": "text", "text": said}
    if not isinstance(said, str):
        content = {"type": "tool_use", "id": f"toolu_{number:02d}", "name": said[0], "input": said[1]}
    return {
        "id": f"msg_{number:02d}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [content],
        "stop_reason": "end_turn" if isinstance(said, str) else "tool_use",
        "usage": {"input_tokens": 9, "output_tokens": 9},
    }


def openai(number: int, said: tuple[str, dict[str, Any]] | str) -> dict[str, Any]:
    """A chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": said}
    if not isinstance(said, str):
        function = {"name": said[0], "arguments": json.dumps(said[1])}
        calls = [{"id": f"call_{number:02d}", "type": "function", "function": function}]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
    reason = "stop" if isinstance(said, str) else "tool_calls"
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {"id": f"chatcmpl-{number}", "object": "chat.completion", "model": "gpt-5", "choices": [choice]}


@pytest.fixture(params=["anthropic", "openai"])
def told(request: pytest.FixtureRequest, fast_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The page's program, run with a model of this shape: its API, the model, the messages, the names."""
    monkeypatch.chdir(fast_path)
    names: dict[str, Any] = {}
    for number, block in enumerate(BLOCKS):
        exec(compile(block, f"docs/agents.md, block {number}", "exec"), names)
    is_anthropic = request.param == "anthropic"
    model = Recorded(anthropic if is_anthropic else openai)
    ask = names["ask_anthropic" if is_anthropic else "ask_openai"]
    schemas = [SCHEMA if is_anthropic else FUNCTION]
    messages: list[dict[str, Any]] = []
    answers = [ask(messages, f"question {n}", model, TOOLS, schemas) for n in range(8)]
    assert answers == [each for each in SCRIPT if isinstance(each, str)]
    yield request.param, model, messages, names
    names["store"].close()


def results(api: str, messages: list[dict[str, Any]]) -> list[str]:
    if api == "openai":
        return [each["content"] for each in messages if each["role"] == "tool"]
    blocks = (block for each in messages if isinstance(each["content"], list) for block in each["content"])
    return [block["content"] for block in blocks if block["type"] == "tool_result"]


class TestLoops:
    def test_the_model_finds_what_was_moved_out(self, told: Any) -> None:
        api, _, messages, _ = told
        orders, order, log, last, missing, *_ = results(api, messages)
        assert json.loads(orders)["$ctx"]["items"] == 900
        assert json.loads(order) == ROWS[470]
        assert len(log) < 2300
        assert last == LOG.splitlines(keepends=True)[-1]
        assert missing.startswith("no object")

    def test_a_page_says_how_to_go_on(self, told: Any) -> None:
        api, _, messages, _ = told
        page = results(api, messages)[5]
        assert len(page.encode()) < 4200
        words = re.search(r"next: lines (\d+:900)\)$", page)
        assert words is not None
        assert LOG.startswith(page.rpartition("\n(left out")[0])

    def test_what_is_sent_breaks_no_rule_and_is_short(self, told: Any) -> None:
        api, model, messages, _ = told
        assert len(json.dumps(messages)) > 25_000
        for body in model.bodies:
            assert check("anthropic" if api == "anthropic" else "chat", body["messages"]) == []
        assert len(json.dumps(model.bodies[6])) < 9_000

    def test_what_was_read_back_stands_and_the_rest_leaves(self, told: Any) -> None:
        api, model, messages, _ = told
        sent, had = results(api, model.bodies[-1]["messages"]), results(api, messages)
        assert sent[1] == had[1]
        assert sent[3] == had[3]
        assert sent[2] != had[2]
        assert sent[2].startswith("[ctx ")
        assert "call ctx_read with" in sent[2]

    def test_bodies_begin_as_the_ones_before_but_at_a_step(self, told: Any) -> None:
        _, model, _, _ = told
        stayed = 0
        for earlier, later in zip(model.bodies, model.bodies[1:], strict=False):
            stayed += later["messages"][: len(earlier["messages"])] == earlier["messages"]
        assert stayed > len(model.bodies) * 2 // 3

    def test_every_body_comes_back(self, told: Any) -> None:
        _, model, messages, names = told
        for body in (model.bodies[6], model.bodies[-1]):
            back = json.loads(castore.unfold_bytes(names["store"], json.dumps(body).encode()))
            said = [each for each in back["messages"] if each["role"] != "system"]
            assert said == messages[: len(said)]


LINES = "".join(
    json.dumps({"at": n, "level": "info", "words": f"took order {n}"}) + "\n" for n in range(5000)
)
LONG = {
    "JSON Lines": LINES,
    "numbers": "1 2 3 4 " * 9000,
    "many short members": json.dumps({f"name {n}": n for n in range(5000)}),
    "one long value": json.dumps("word " * 9000),
    "rows": json.dumps(ROWS),
    "a log": LOG,
    "JSON that ends too soon": json.dumps(ROWS)[:-9],
    "half a character": "\ud800" + LOG,
    "nested too deeply": "[" * 9000 + "]" * 9000,
}


@pytest.fixture
def names(fast_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What the page's program defines."""
    monkeypatch.chdir(fast_path)
    found: dict[str, Any] = {}
    exec(compile(BLOCKS[0], "docs/agents.md", "exec"), found)
    yield found
    found["store"].close()


class TestResults:
    @pytest.mark.parametrize("text", LONG.values(), ids=LONG)
    def test_no_long_one_stands_whole_and_each_is_stored(self, names: dict[str, Any], text: str) -> None:
        short = names["call"]("tool", {}, {"tool": lambda: text})
        assert len(short) <= names["LIMIT"] + 300
        store, kept = names["store"], text.encode(errors="replace")
        if (clipped := re.search(r"\[ctx ([0-9a-f]{16}): text", short)) is not None:
            assert store.read(store.resolve(clipped[1])) == kept
        else:
            assert castore.unfold_bytes(store, short.encode()) == kept

    def test_what_stands_apart_is_seen_at_once(self, names: dict[str, Any]) -> None:
        assert "500" in json.loads(names["shorter"](json.dumps(ROWS)))["$ctx"]["preview"]

    def test_a_short_one_stands(self, names: dict[str, Any]) -> None:
        for text in ("", "done", json.dumps({"$ctx": 1})):
            assert names["call"]("tool", {}, {"tool": lambda text=text: text}) == text


class TestCallsThatCannotBeMade:
    @pytest.mark.parametrize(
        ("name", "arguments", "words"),
        [
            ("ctx_read", {"ref": "ffffffff", "line": 5}, "unexpected keyword argument 'line'"),
            ("ctx_read", {"line": 5}, "missing a required argument: 'ref'"),
            ("ctx_read", {}, "missing a required argument: 'ref'"),
            ("ctx_read", {"ref": 5}, "no object"),
            ("ctx_read", {"ref": ["a"], "items": {}}, "items must be a range"),
            ("ctx_read", {"ref": "ffffffff", "lines": True}, "lines must be a range"),
            ("ctx_read", {"ref": "ffffffff", "items": "1", "lines": "1"}, "items and lines can't"),
            ("ctx_read", '{"ref": ', "was not called"),
            ("ctx_read", "[1]", "was not called"),
            ("orders", {"page": 2}, "unexpected keyword argument 'page'"),
            ("nothing", {}, "there is no tool nothing"),
        ],
    )
    def test_the_model_is_told_why(
        self, names: dict[str, Any], name: str, arguments: Any, words: str
    ) -> None:
        told = names["call"](name, arguments, TOOLS)
        assert words in told
        assert re.search(r"\bctx [a-z]|--", told) is None

    def test_numbers_are_taken_for_digits(self, names: dict[str, Any]) -> None:
        ref = castore.put(names["store"], LOG.encode()).hex
        assert names["call"]("ctx_read", {"ref": ref, "lines": 5}, TOOLS) == LOG.splitlines(True)[5]


class TestSettings:
    def commands(self) -> dict[str, str]:
        found = {}
        for event, matchers in SETTINGS["hooks"].items():
            ((hook,),) = [each["hooks"] for each in matchers]
            assert hook["type"] == "command"
            found[event] = hook["command"]
        return found

    def run(self, folder: Path, command: str, said: dict[str, Any]) -> subprocess.CompletedProcess[bytes]:
        program = folder / "bin" / "ctx"
        if not program.exists():
            program.parent.mkdir()
            program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m castore "$@"\n')
            program.chmod(0o755)
        environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(folder)}
        for name in [name for name in environment if name.startswith(("CTX_", "XDG_"))]:
            del environment[name]
        return subprocess.run(
            ["sh", "-c", command],
            input=json.dumps(said).encode(),
            cwd=folder,
            env=environment,
            capture_output=True,
            check=False,
        )

    def test_the_commands_do_what_the_page_says(self, fast_path: Path) -> None:
        commands = self.commands()
        assert set(commands) == {"PostToolUse", "SessionEnd"}
        common = {"session_id": "5e55", "transcript_path": str(fast_path / "t.jsonl"), "cwd": str(fast_path)}
        result = {"stdout": LOG, "stderr": "", "interrupted": False, "isImage": False}
        call = {"tool_name": "Bash", "tool_input": {"command": "cat log"}, "tool_use_id": "toolu_1"}
        after = {**common, "hook_event_name": "PostToolUse", **call, "tool_response": result}
        done = self.run(fast_path, commands["PostToolUse"], after)
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)["hookSpecificOutput"]
        assert told["hookEventName"] == "PostToolUse"
        stdout = told["updatedToolOutput"]["stdout"]
        assert {**told["updatedToolOutput"], "stdout": LOG} == result
        assert 4000 < len(stdout) < 4300
        (fast_path / "t.jsonl").write_text(json.dumps({"toolUseResult": told["updatedToolOutput"]}) + "\n")
        end = {**common, "hook_event_name": "SessionEnd", "reason": "other"}
        ended = self.run(fast_path, commands["SessionEnd"], end)
        assert (ended.returncode, ended.stdout) == (0, b""), ended.stderr
        listed = self.run(fast_path, "ctx log --json", {})
        kinds = [json.loads(line)["kind"] for line in listed.stdout.splitlines()]
        assert sorted(kinds) == ["keep", "put"]
        words = stdout.partition("read on: ")[2].partition("]")[0]
        assert LOG.encode().startswith(self.run(fast_path, words, {}).stdout)

    def test_a_result_that_is_short_takes_no_answer(self, fast_path: Path) -> None:
        after = {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_response": {"stdout": "ok"}}
        done = self.run(fast_path, self.commands()["PostToolUse"], after)
        assert (done.returncode, done.stdout) == (0, b"")


class TestWords:
    def test_the_numbers_are_those_of_the_program(self) -> None:
        assert f"A page has {PAGE_BYTES:,} bytes" in PAGE
        assert f"`ctx show` has {SHOWN_BYTES}" in PAGE

    def test_three_lines_for_the_model(self) -> None:
        assert len(re.findall(r"^> ", PAGE, re.M)) == 3
