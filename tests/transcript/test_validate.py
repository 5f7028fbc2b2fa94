"""The rules of the APIs: of each a list that breaks it, and lists of real shapes that break none."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from castore.transcript import validate
from castore.transcript.model import Api

ROOT = Path(__file__).parents[2]
RULES = ROOT / "castore/transcript/validate"


def rules_of(api: Api, messages: list[Any]) -> set[str]:
    return {finding.rule for finding in validate.check(api, messages)}


# --- Anthropic -------------------------------------------------------------------------------------


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content[0] if isinstance(content[0], str) else list(content)}


def reply(*content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content[0] if isinstance(content[0], str) else list(content)}


def text(words: Any) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(id: Any = "toolu_1", **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "read", "input": {"path": "a"}, **more}


def result(id: Any = "toolu_1", content: Any = "the text", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


def thinking(**more: Any) -> dict[str, Any]:
    return {"type": "thinking", "thinking": "hm", "signature": "c2ln", **more}


IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}

ANTHROPIC_GOOD: dict[str, list[Any]] = {
    "a question and its answer": [user("hi"), reply("hello")],
    "a prefilled answer that is still empty": [user("hi"), reply("")],
    "two calls, answered in the other order, text after them": [
        user(text("look"), IMAGE),
        reply(thinking(), text("I look"), use("a"), use("b")),
        user(result("b", [text("1"), IMAGE]), result("a", "", is_error=False), text("go on")),
        reply("done"),
    ],
    "an open tool loop": [user("go"), reply(thinking(thinking=""), use()), user(result())],
    "neighbours of one role are one message": [
        user("go"),
        reply(thinking(), use("a")),
        reply(use("b")),
        user(result("a")),
        user(result("b", [{"type": "tool_reference", "tool_name": "x"}])),
        user("and?"),
    ],
    "thinking left out of closed turns": [
        user("go"),
        reply("one"),
        user("and?"),
        reply(thinking(), text("two")),
    ],
    "a tool of the API's own": [user("go"), reply(SEARCH, FOUND, text("so"))],
    "a reply that paused on one": [user("go"), reply(text("so"), SEARCH)],
    "an error that says why": [user("go"), reply(use()), user(result(content=[text("no")], is_error=True))],
    "redacted thinking": [user("go"), reply({"type": "redacted_thinking", "data": "AAA="}, text("so"))],
}

ANTHROPIC_BAD: dict[str, list[list[Any]]] = {
    "anthropic/no-messages": [[]],
    "anthropic/role": [[user("hi"), {"role": "system", "content": "x"}], ["hi"], [{"content": "x"}]],
    "anthropic/first-user": [[reply("hello")]],
    "anthropic/content": [
        [{"role": "user", "content": None}],
        [{"role": "user", "content": {"type": "text"}}],
    ],
    "anthropic/empty-content": [
        [{"role": "user", "content": []}],
        [user(" \n")],
        [user("a"), {"role": "assistant", "content": []}, user("b")],
    ],
    "anthropic/block-type": [
        [user({"type": "video"})],
        [user(["text"])],
        [user({"text": "x"})],
        [user({"type": "toolResult"})],
    ],
    "anthropic/block-place": [
        [user(use())],
        [user("a"), reply(result())],
        [user("a"), reply(IMAGE)],
        [user(FOUND)],
    ],
    "anthropic/text": [
        [user(text(None))],
        [user("a"), reply(use()), user(result(content=[{"type": "text"}]))],
        [user("a"), reply(thinking(thinking=None), text("b"))],
    ],
    "anthropic/empty-text": [[user(text(""))], [user("a"), reply(text(" \n"))]],
    "anthropic/image": [
        [user({"type": "image", "source": {"type": "base64", "media_type": "image/tiff", "data": "AA=="}})],
        [user({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}})],
        [user({"type": "image", "data": "AA==", "mimeType": "image/png"})],
    ],
    "anthropic/name": [[user("a"), reply(use(name="")), user(result())]],
    "anthropic/input": [
        [user("a"), reply(use(input='{"path":"a"}')), user(result())],
        [user("a"), reply(use(input=None)), user(result())],
    ],
    "anthropic/id": [
        [user("a"), reply(use("call_x|fc_y")), user(result("call_x|fc_y"))],
        [user("a"), reply(use("x" * 65)), user(result("x" * 65))],
        [user("a"), reply(use(None)), user("b")],
        [user("a"), reply(use()), user(result(), result(None))],
    ],
    "anthropic/is-error": [[user("a"), reply(use()), user(result(is_error="true"))]],
    "anthropic/result-content": [
        [user("a"), reply(use()), user(result(content={"text": "x"}))],
        [user("a"), reply(use()), user(result(content=[use("b")]))],
    ],
    "anthropic/error-content": [
        [user("a"), reply(use()), user(result(content="", is_error=True))],
        [user("a"), reply(use()), user(result(content=[IMAGE], is_error=True))],
    ],
    "anthropic/signature": [
        [user("a"), reply(thinking(signature=""), text("b"))],
        [user("a"), reply({"type": "thinking", "thinking": "x"}, text("b"))],
        [user("a"), reply({"type": "redacted_thinking"}, text("b"))],
    ],
    "anthropic/duplicate-id": [
        [user("a"), reply(use(), use()), user(result())],
        [user("a"), reply(use()), user(result()), reply(use()), user(result())],
    ],
    "anthropic/unanswered": [
        [user("a"), reply(use())],
        [user("a"), reply(use("x"), use("y")), user(result("x"))],
        [user("a"), reply(use()), user("never mind")],
        [user("a"), reply(use()), user("never mind"), reply("well"), user(result())],
    ],
    "anthropic/orphan-result": [
        [user(result())],
        [user("a"), reply("b"), user(result())],
        [user("a"), reply(use()), user("never mind"), reply("well"), user(result())],
    ],
    "anthropic/duplicate-result": [[user("a"), reply(use()), user(result(), result())]],
    "anthropic/results-first": [
        [user("a"), reply(use()), user(text("here"), result())],
        [user("a"), reply(use("x"), use("y")), user(result("x"), text("and"), result("y"))],
    ],
    "anthropic/server-tool": [
        [user("a"), reply(FOUND, SEARCH, text("b"))],
        [user("a"), reply(SEARCH), user("b"), reply("c")],
    ],
    "anthropic/thinking-last": [[user("a"), reply(thinking())], [user("a"), reply(text("b"), thinking())]],
    "anthropic/thinking-first": [
        [user("a"), reply(text("b"), thinking(), use()), user(result())],
        [user("a"), reply(text("b"), thinking(), text("c"))],
    ],
}


# --- Chat ------------------------------------------------------------------------------------------


def call(id: Any = "call_1", **function: Any) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": "read", "arguments": "{}", **function}}


def calling(*calls: Any, content: Any = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def tool(id: Any = "call_1", content: Any = "the text") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


CHAT_GOOD: dict[str, list[Any]] = {
    "system, question, answer": [{"role": "system", "content": "be brief"}, user("hi"), reply("hello")],
    "two calls, answered in the other order": [
        user("go"),
        calling(call("a"), call("b"), content=""),
        tool("b", [text("1")]),
        tool("a", ""),
        reply("done"),
    ],
    "arguments that are no JSON": [user("go"), calling(call(arguments='{"a": ')), tool(), user("so?")],
    "an id used again in another reply": [user("go"), calling(call()), tool(), calling(call()), tool()],
    "a tool of free text": [
        user("go"),
        calling({"id": "c", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}),
        tool("c"),
    ],
    "an image": [
        user(text("see"), {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}})
    ],
    "reasoning that some vendors add": [user("go"), {**reply("so"), "reasoning_content": "hm"}],
    "the old way of calling": [
        user("go"),
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "1"},
    ],
}

CHAT_BAD: dict[str, list[list[Any]]] = {
    "chat/no-messages": [[]],
    "chat/role": [[{"role": "human", "content": "x"}], ["hi"], [{"role": ["user"], "content": "x"}]],
    "chat/id": [
        [user("a"), calling(call(None))],
        [user("a"), calling(call()), tool(), {"role": "tool", "content": "x"}],
    ],
    "chat/duplicate-id": [[user("a"), calling(call(), call()), tool()]],
    "chat/unanswered": [
        [user("a"), calling(call())],
        [user("a"), calling(call("x"), call("y")), tool("x"), reply("b")],
        [user("a"), calling(call()), user("wait"), tool()],
    ],
    "chat/orphan-result": [
        [user("a"), tool()],
        [user("a"), calling(call("x")), tool("x"), tool("y")],
        [user("a"), calling(call()), user("wait"), tool()],
    ],
    "chat/duplicate-result": [[user("a"), calling(call()), tool(), tool()]],
    "chat/tool-calls": [
        [user("a"), calling()],
        [user("a"), {"role": "assistant", "tool_calls": "x"}],
        [user("a"), calling("x")],
        [user("a"), calling({"id": "x", "type": "retrieval"}), tool("x")],
    ],
    "chat/name": [[user("a"), calling(call(name="")), tool()]],
    "chat/arguments": [
        [user("a"), calling(call(arguments={"path": "a"})), tool()],
        [user("a"), calling({"id": "call_1", "type": "function", "function": {"name": "x"}}), tool()],
    ],
    "chat/content": [
        [{"role": "user"}],
        [{"role": "user", "content": []}],
        [user("a"), {"role": "assistant", "content": None}],
        [user("a"), calling(call()), tool(content=None)],
        [user("a"), {"role": "assistant", "content": {"text": "x"}}],
    ],
    "chat/part-type": [
        [user({"type": "video"})],
        [user("x", "y") | {"content": ["x"]}],
        [user({"type": "text"})],
        [user({"type": "image_url", "image_url": {}})],
        [user("a"), reply({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}})],
    ],
    "chat/tool-content": [
        [user("a"), calling(call()), tool(content=[{"type": "image_url", "image_url": {"url": "data:,"}}])]
    ],
}


# --- Gemini ----------------------------------------------------------------------------------------


def said(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}


def model(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}


def asks(name: str = "read", **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {"path": "a"}, **more}}


def gives(name: str = "read", **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": {"output": "x"}, **more}}


SIGNED = {"thoughtSignature": "c2lnbmVk"}

GEMINI_GOOD: dict[str, list[Any]] = {
    "a question and its answer": [said("hi"), model("hello")],
    "a question without a role": [{"parts": [{"text": "hi"}]}],
    "two calls and their results": [
        said("go"),
        model({"text": "hm", "thought": True}, asks() | SIGNED, asks("ls")),
        said(gives(), gives("ls"), {"inlineData": {"mimeType": "image/png", "data": "AA=="}}),
        model(asks("ls", id="1") | SIGNED),
        said(gives("ls", id="1")),
        model("done", {"thoughtSignature": "c2k_ZW4-"}),
    ],
    "an earlier turn without signatures": [
        said("go"),
        model(asks()),
        said(gives()),
        model("done"),
        said("again"),
        model(asks() | SIGNED),
        said(gives()),
    ],
    "a call without arguments": [said("go"), model({"functionCall": {"name": "ls"}}), said(gives("ls"))],
}

GEMINI_BAD: dict[str, list[list[Any]]] = {
    "gemini/no-messages": [[]],
    "gemini/role": [[said("a"), {"role": "function", "parts": [gives()]}], ["hi"]],
    "gemini/first-user": [[model("hello")]],
    "gemini/parts": [[{"role": "user", "parts": []}], [{"role": "user", "parts": "hi"}], [{"role": "user"}]],
    "gemini/part-type": [
        [said({})],
        [said({"text": "a", "inlineData": {}})],
        [said({"text": None})],
        [said({"inlineData": "AA=="})],
        [said("a"), model({"functionCall": "ls"})],
        [{"role": "user", "parts": ["hi"]}],
    ],
    "gemini/part-place": [[said(asks()), said(gives())], [said("a"), model(asks()), model(gives())]],
    "gemini/name": [[said("a"), model({"functionCall": {"args": {}}}), said(gives())]],
    "gemini/args": [[said("a"), model(asks(args='{"path":"a"}')), said(gives())]],
    "gemini/response": [[said("a"), model(asks()), said(gives(response="x"))]],
    "gemini/signature": [[said("a"), model(asks() | {"thoughtSignature": "REDACTED?"}), said(gives())]],
    "gemini/call-after-user": [[said("a"), model("I read"), model(asks()), said(gives())]],
    "gemini/unanswered": [
        [said("a"), model(asks())],
        [said("a"), model(asks(), asks("ls")), said(gives())],
        [said("a"), model(asks()), said("never mind"), model("well")],
    ],
    "gemini/orphan-result": [
        [said(gives())],
        [said("a"), model("b"), said(gives())],
        [said("a"), model(asks()), said(gives(), gives())],
        [said("a"), model(asks()), said(gives("ls"))],
        [said("a"), model(asks(id="1")), said(gives(id="2"))],
    ],
    "gemini/signature-missing": [
        [said("a"), model(asks() | SIGNED), said(gives()), model(asks()), said(gives())],
        [said("a"), model(asks(), asks("ls") | SIGNED), said(gives(), gives("ls")), model(asks() | SIGNED)],
    ],
}

GOOD = {Api.ANTHROPIC: ANTHROPIC_GOOD, Api.CHAT: CHAT_GOOD, Api.GEMINI: GEMINI_GOOD}
BAD = {Api.ANTHROPIC: ANTHROPIC_BAD, Api.CHAT: CHAT_BAD, Api.GEMINI: GEMINI_BAD}


@pytest.mark.parametrize(
    ("api", "messages"),
    [pytest.param(api, each, id=f"{api}-{what}") for api, all in GOOD.items() for what, each in all.items()],
)
class TestValid:
    def test_messages_have_no_finding(self, api: Api, messages: list[Any]) -> None:
        assert validate.check(api, messages) == []

    def test_messages_are_left_as_they_are(self, api: Api, messages: list[Any]) -> None:
        before = copy.deepcopy(messages)
        validate.check(api, messages)
        assert messages == before


class TestInvalid:
    @pytest.mark.parametrize(
        ("api", "rule", "messages"),
        [
            pytest.param(api, rule, each, id=f"{rule}-{number}")
            for api, rules in BAD.items()
            for rule, all in rules.items()
            for number, each in enumerate(all)
        ],
    )
    def test_messages_break_the_rule(self, api: Api, rule: str, messages: list[Any]) -> None:
        found = [finding for finding in validate.check(api, messages) if finding.rule == rule]
        assert found
        for finding in found:
            assert re.match(r"(messages|contents)(\[\d+\](\.\w+(\[\d+\])?)*)?$", finding.place), finding
            assert not finding.words.endswith(".")

    def test_place_is_where_it_stands(self) -> None:
        (finding,) = validate.check(Api.ANTHROPIC, [user("a"), reply(text("b"), use())])
        assert (finding.rule, finding.place) == ("anthropic/unanswered", "messages[1].content[1]")
        assert finding.words == "the call 'toolu_1' has no result in the next message"
        (finding,) = validate.check(Api.CHAT, [user("a"), calling(call("x"), call("y")), tool("x")])
        assert finding.place == "messages[1].tool_calls[1]"

    def test_a_long_id_is_shown_short(self) -> None:
        (finding,) = validate.check(Api.CHAT, [user("a"), tool("x" * 5000)])
        assert len(finding.words) < 120

    @pytest.mark.parametrize("api", BAD)
    def test_fixtures_are_of_every_rule(self, api: Api) -> None:
        source = (RULES / f"{api.value}.py").read_text(encoding="utf-8")
        named = set(re.findall(rf'"({api.value}/[\w-]+)"', source))
        named |= {f"{api.value}/{each}" for each in ("args", "response") if "gemini/{member}" in source}
        assert named == set(BAD[api])

    def test_the_page_lists_every_rule(self) -> None:
        page = (ROOT / "docs/validity.md").read_text(encoding="utf-8")
        listed = set(re.findall(r"^\| `(\w+/[\w-]+)` \|", page, re.M))
        source = (RULES / "responses.py").read_text(encoding="utf-8")
        of_responses = set(re.findall(r'"(responses/[\w-]+)"', source))
        assert listed == {rule for rules in BAD.values() for rule in rules} | of_responses


KEYS = st.sampled_from(
    (
        *("role", "content", "type", "text", "id", "name", "input", "source", "data", "tool_use_id"),
        *("is_error", "signature", "thinking", "tool_calls", "tool_call_id", "function", "arguments"),
        *("parts", "functionCall", "functionResponse", "args", "response", "thoughtSignature"),
    )
)
WORDS = st.sampled_from(
    (
        *("user", "assistant", "model", "tool", "text", "tool_use", "tool_result", "thinking", "image"),
        *("function", "base64", "x"),
    )
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)


class TestAnything:
    @pytest.mark.parametrize("api", BAD)
    @given(messages=st.lists(ANYTHING, max_size=4))
    def test_is_checked_without_an_error(self, api: Api, messages: list[Any]) -> None:
        validate.check(api, messages)
