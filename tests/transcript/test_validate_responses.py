"""The rules of the Responses API: of each a list that breaks it, and lists of real shapes that break none."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from castore.transcript import validate
from castore.transcript.model import Api

ROOT = Path(__file__).parents[2]


def user(content: Any = "hi") -> dict[str, Any]:
    return {"role": "user", "content": content}


def said(content: Any = "so", **more: Any) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": content, **more}


def call(call_id: Any = "c1", **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": "f", "arguments": "{}", **more}


def result(id: Any = "c1", output: Any = "x", **more: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id, "output": output, **more}


def reasoning(**more: Any) -> dict[str, Any]:
    return {"type": "reasoning", "summary": [], "encrypted_content": "e", **more}


IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="}
PATCH = {"type": "custom_tool_call", "call_id": "c1", "name": "apply_patch", "input": "*** Begin Patch"}
PATCHED = {"type": "custom_tool_call_output", "call_id": "c1", "output": "done"}

GOOD: dict[str, list[Any]] = {
    "a question and its answer": [user(), said([{"type": "output_text", "text": "so"}])],
    "all roles": [{"role": "system", "content": "a"}, {"role": "developer", "content": "b"}, user()],
    "reasoning twice, then calls, answered in the other order": [
        user(),
        reasoning(id="rs_1"),
        reasoning(id="rs_2"),
        said("I look", id="msg_1"),
        call("a", id="fc_1"),
        call("b", id="fc_2"),
        result("b", [{"type": "input_text", "text": "x"}, IMAGE]),
        result("a", ""),
        said(),
    ],
    "the last reply's calls may wait": [user(), call("a"), result("a"), call("b"), call("c"), result("c")],
    "a custom tool": [user(), PATCH, PATCHED],
    "Codex's own shell": [
        user(),
        {"type": "local_shell_call", "call_id": "c1", "status": "completed", "action": {"type": "exec"}},
        result(),
    ],
    "tools of the server": [
        user(),
        reasoning(),
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        said(),
    ],
    "a call that the server remembers": [{"type": "item_reference", "id": "fc_1"}, result()],
    "an image and a file": [user([IMAGE, {"type": "input_image", "file_id": "f"}, {"type": "input_file"}])],
    "a refusal": [user(), said([{"type": "refusal", "refusal": "no"}])],
}

BAD: dict[str, list[Any]] = {
    "responses/no-items": [],
    "responses/item-type": [user(), {"type": "toolCall"}],
    "responses/role": [{"role": "tool", "content": "x"}],
    "responses/content": [user(None)],
    "responses/block-type": [user([{"type": "output_text", "text": "x"}])],
    "responses/text": [user([{"type": "input_text", "text": None}])],
    "responses/image": [user([{"type": "input_image", "image_url": None}])],
    "responses/summary": [user(), reasoning(summary=None), said()],
    "responses/call-id": [user(), call(None)],
    "responses/name": [user(), call(name=None), result()],
    "responses/arguments": [user(), call(arguments={}), result()],
    "responses/output": [user(), call(), result(output={"a": 1})],
    "responses/unanswered": [user(), call(), user("and?")],
    "responses/orphan-result": [user(), result(), call()],
    "responses/duplicate-call": [user(), call(), result(), call(), result("c1")],
    "responses/duplicate-result": [user(), call(), result(), result()],
    "responses/result-type": [user(), call(), PATCHED],
    "responses/reasoning-alone": [user(), reasoning(), user("and?")],
    "responses/duplicate-id": [user(), said(id="msg_1"), user(), said(id="msg_1")],
}


def rules_of(items: list[Any]) -> set[str]:
    return {finding.rule for finding in validate.check(Api.RESPONSES, items)}


class TestRules:
    @pytest.mark.parametrize("items", GOOD.values(), ids=GOOD)
    def test_what_the_api_takes_breaks_none(self, items: list[Any]) -> None:
        assert not validate.check(Api.RESPONSES, items)

    @pytest.mark.parametrize("rule", BAD)
    def test_each_has_a_list_that_breaks_it_alone(self, rule: str) -> None:
        assert rules_of(BAD[rule]) == {rule}

    def test_fixtures_are_of_every_rule(self) -> None:
        source = (ROOT / "castore/transcript/validate/responses.py").read_text(encoding="utf-8")
        assert set(re.findall(r'"(responses/[\w-]+)"', source)) == set(BAD)

    def test_the_page_lists_every_rule(self) -> None:
        page = (ROOT / "docs/validity.md").read_text(encoding="utf-8")
        assert set(re.findall(r"^\| `(responses/[\w-]+)` \|", page, re.M)) == set(BAD)

    def test_place_is_where_it_stands(self) -> None:
        (finding,) = validate.check(Api.RESPONSES, [user(), call(), user([IMAGE])])
        assert (finding.rule, finding.place) == ("responses/unanswered", "input[1]")
        (finding,) = validate.check(Api.RESPONSES, [user(["x"])])
        assert finding.place == "input[0].content[0]"

    def test_reasoning_at_the_very_end_is_alone(self) -> None:
        assert rules_of([user(), reasoning()]) == {"responses/reasoning-alone"}


NAMES = st.sampled_from(["role", "type", "content", "call_id", "id", "output", "summary"])
WORDS = st.sampled_from(["user", "message", "reasoning", "function_call", "function_call_output"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=20,
)


class TestAnything:
    @given(items=st.lists(ANYTHING, max_size=4))
    def test_is_checked_without_an_error(self, items: list[Any]) -> None:
        validate.check(Api.RESPONSES, items)
