"""Bare arrays of messages: whose they are, and what is nobody's."""

from __future__ import annotations

import json
from typing import Any

import pytest

from castore.errors import SessionInvalid
from castore.transcript.formats import find_format
from castore.transcript.formats.messages import FORMAT
from castore.transcript.model import Api
from castore.transcript.validate import check
from tests.transcript.formats.bodies import FIXTURES, codes, pairs, read, spine, told

OWN = FIXTURES / "messages"
HI = {"role": "user", "content": "hi"}
CALLING = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]}
USING = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]}


class TestWhose:
    @pytest.mark.parametrize(
        ("name", "api"),
        [
            ("anthropic", Api.ANTHROPIC),
            ("chat", Api.CHAT),
            ("gemini", Api.GEMINI),
            ("plain", Api.CHAT),
        ],
    )
    def test_their_blocks_tell(self, name: str, api: Api) -> None:
        data = (OWN / f"{name}.json").read_bytes()
        found = read(FORMAT, data)
        assert told(data) == found.format == "messages"
        assert found.api is api
        assert codes(found) == []
        calls, answers = pairs(found)
        assert sorted(calls) == sorted(answers)
        assert check(api, FORMAT.api_messages(found)) == []

    @pytest.mark.parametrize(
        ("name", "body", "member"),
        [
            ("anthropic", "anthropic", "messages"),
            ("chat", "openai-chat", "messages"),
            ("gemini", "gemini", "contents"),
        ],
    )
    def test_they_read_as_in_their_body(self, name: str, body: str, member: str) -> None:
        messages = json.loads((OWN / f"{name}.json").read_bytes())
        inside = read(find_format(body), {"model": "m", member: messages})
        bare = read(FORMAT, messages)
        assert spine(bare) == spine(inside)
        assert pairs(bare) == pairs(inside)
        assert [bare.literal(part) for part in bare.parts] == [inside.literal(part) for part in inside.parts]


class TestNobodys:
    @pytest.mark.parametrize(
        "value",
        [
            [],
            [1, 2],
            [{"role": "admin", "content": "a row of users"}],
            [{"role": "user", "name": "a row of users"}],
            [HI, {"role": "toolResult", "content": []}],
            [HI, {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "c"}]}],
            [HI, {"role": "assistant", "tool_calls": [{"id": "c", "function": "f", "arguments": {}}]}],
            [HI, {"role": "assistant", "content": USING["content"], "tool_calls": CALLING["tool_calls"]}],
            [{"role": "user", "content": "hi", "type": "human"}],
            {"messages": [HI], "info": {}},
        ],
    )
    def test_other_arrays_are_refused(self, value: Any) -> None:
        with pytest.raises(SessionInvalid, match=r"no known session format; looked for .*messages"):
            told(value)

    def test_lines_of_messages_are_no_array(self) -> None:
        lines = b"".join(
            json.dumps(each).encode() + b"\n" for each in (HI, {"role": "assistant", "content": "x"})
        )
        with pytest.raises(SessionInvalid, match="no known session format"):
            told(lines)

    def test_forced_on_something_else(self) -> None:
        with pytest.raises(SessionInvalid, match="this is not one array of objects"):
            read(FORMAT, {"messages": [HI]})

    @pytest.mark.parametrize(
        ("messages", "words"),
        [([HI, USING, CALLING], "no 'tool_calls'"), ([HI, CALLING, USING], "no 'tool_use'")],
    )
    def test_two_apis_in_one_array(self, messages: Any, words: str) -> None:
        with pytest.raises(SessionInvalid, match=words) as refused:
            read(FORMAT, json.dumps(messages, indent=1).encode())
        assert refused.value.fields["line"] > 5
