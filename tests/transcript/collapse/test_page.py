"""The harness of docs/collapse.md runs as it stands: overflow, resume, and everything back."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import castore
from castore.store import StoreHandle

PAGE = (Path(__file__).parents[3] / "docs/collapse.md").read_text(encoding="utf-8")
HARNESS = re.findall(r"```python\n(.*?)```", PAGE, re.S)[0]


class ContextTooLong(Exception):
    """As an API's client raises it."""


class FakeModel:
    """It calls a tool after each prompt, then answers. It takes so many characters, and once fewer than the
    harness thinks."""

    def __init__(self, characters: int) -> None:
        self.characters = characters
        self.sizes: list[int] = []
        self.bodies: list[dict[str, Any]] = []
        self.overflows = 0

    def ask(self, body: dict[str, Any]) -> dict[str, Any]:
        size = len(json.dumps(body["messages"]))
        limit = self.characters * 2 // 3 if len(self.sizes) == 10 else self.characters
        if size > limit:
            self.overflows += 1
            self.sizes.append(0)
            raise ContextTooLong(f"prompt is too long: {size // 4} tokens > {limit // 4} maximum")
        self.sizes.append(size)
        self.bodies.append(body)
        number = len(self.sizes)
        if body["messages"][-1]["role"] == "tool":
            return {"role": "assistant", "content": f"Answer {number}: it is done. " + "As you asked. " * 5}
        function = {"name": "read", "arguments": json.dumps({"path": f"src/{number}.py"})}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}


def tool(call: dict[str, Any]) -> str:
    return f"what {call['function']['arguments']} holds\n" + "a line of the file, and another one\n" * 40


@pytest.fixture
def harness() -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(HARNESS, "docs/collapse.md", "exec"), names)
    return names


def test_forty_lines_never_overflow_and_go_on_where_they_were_killed(
    harness: dict[str, Any], fast_path: Path
) -> None:
    store = castore.open_store(fast_path / ".ctxstore", create=True)
    path = fast_path / "session.json"
    model = FakeModel(9000)
    told: list[Any] = []
    harness["go_on"](path, store, model.ask, tool, [f"Do number {n}." for n in range(12)], told.append)
    # Another process, with nothing but the files.
    harness["go_on"](path, store, model.ask, tool, [f"Do number {n}." for n in range(12, 20)], told.append)
    session = path.read_bytes()
    assert len(session) > 3 * max(model.sizes), "the session is far longer than what was ever sent"
    assert model.overflows > 0, "the model refused a prompt, and the harness went on"
    assert told[-1].collapsed_spans > 0
    view = castore.make_view(session, StoreHandle.of(store), harness["COLLAPSED"])
    assert castore.unfold_bytes(store, view.to_bytes()) == session
    sent = model.bodies[-1]["messages"]
    assert sent[0] == harness["SYSTEM"]
    assert any(str(message["content"]).startswith("[ctx ") for message in sent)
    store.close()


def test_what_is_not_about_the_length_is_raised(harness: dict[str, Any], fast_path: Path) -> None:
    store = castore.open_store(fast_path / ".ctxstore", create=True)

    def ask(body: dict[str, Any]) -> dict[str, Any]:
        raise TimeoutError("the request timed out")

    with pytest.raises(TimeoutError):
        harness["go_on"](fast_path / "session.json", store, ask, tool, ["Do it."])
    store.close()


def test_it_is_forty_lines_long() -> None:
    assert len(re.findall(r"^ +\S.*$", HARNESS.partition("def go_on")[2], re.M)) <= 40


def test_the_page_names_what_the_coordinator_has() -> None:
    table = PAGE.partition("| call | what it does |")[2].partition("\n\n")[0]
    for name in re.findall(r"`(\w+)[(`]", table):
        assert hasattr(castore.CollapseCoordinator, name) or name in ("is_enough", "spawn_tokens"), name
