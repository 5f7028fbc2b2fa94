"""Anthropic bodies: what is recognized, where parts stand, what pairs, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from castore.errors import InvalidOption, SessionInvalid
from castore.transcript.formats import ReadOptions
from castore.transcript.formats.anthropic import FORMAT
from castore.transcript.model import Form, PartKind, Role
from castore.transcript.validate import check
from tests.transcript.formats.bodies import FIXTURES, codes, pairs, parts, prose, read, spine, told

OWN = FIXTURES / "anthropic"
USE = {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "/a"}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "the text"}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}


def body(*messages: Any, **members: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 1, "messages": list(messages), **members}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def reply(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


class TestRecognition:
    @pytest.mark.parametrize("path", sorted(OWN.iterdir()), ids=lambda path: path.name)
    def test_fixtures_are_told(self, path: Path) -> None:
        assert told(path.read_bytes()) == "anthropic"

    @pytest.mark.parametrize(
        "value",
        [
            body({"role": "user", "content": "hi"}, system="be brief"),
            body({"role": "user", "content": "hi"}, tools=[{"name": "t", "input_schema": {}}]),
            body(user(text("hi")), reply(THOUGHT)),
            body(user(text("hi")), reply(USE), user(RESULT)),
            body({"role": "system", "content": "be brief"}, user(text("hi")), reply(USE)),
            {"messages": [{"role": "user", "content": "hi"}], "model": "claude-x"},
            {"messages": [{"role": "user", "content": "hi"}], "model": "us.anthropic.claude-x"},
            {"messages": [user(text("hi")), reply(USE)], "max_tokens": 1},
        ],
    )
    def test_a_sign_tells(self, value: Any) -> None:
        assert told(value) == "anthropic"

    @pytest.mark.parametrize(
        "value",
        [
            body({"role": "user", "content": "hi"}, system="s", tools=[{"type": "function"}]),
            body({"role": "user", "content": "hi"}, system="s", type="recording"),
            {"messages": [user(text("hi")), reply(USE)], "session": "no parameter of the API"},
            body("hi", system="s"),
        ],
    )
    def test_contradictions_and_other_shapes_are_nobodys(self, value: Any) -> None:
        with pytest.raises(SessionInvalid, match=r"no known session format; looked for .*anthropic"):
            told(value)

    def test_a_body_that_only_blocks_tell_keeps_one_of_them(self) -> None:
        """Else its view would be told as a body of OpenAI Chat."""
        forms = [form for form, _ in parts(read(FORMAT, (OWN / "only-thinking.json").read_bytes()), THINKING)]
        assert forms[0] is Form.FIXED
        assert set(forms[1:]) == {Form.BLOCK}


THINKING = PartKind.THINKING


class TestSpans:
    def test_text_is_its_literal_alone(self) -> None:
        found = read(
            FORMAT, body(user({**text("hi"), "cache_control": {"type": "ephemeral"}}), system="brief")
        )
        assert parts(found, PartKind.PROSE) == [(Form.TEXT, "hi"), (Form.TEXT, "brief")]

    def test_a_call_is_its_arguments(self) -> None:
        found = read(FORMAT, body(user(text("hi")), reply(USE), user(RESULT)))
        [call] = found.parts_of(PartKind.CALL)
        assert json.loads(found.literal(call)) == {"file_path": "/a"}
        assert (call.form, call.call_id, call.tool) == (Form.ARGUMENTS, "toolu_1", "Read")

    def test_a_result_is_text_by_text(self) -> None:
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}}
        blocks = [text("one"), image, text("two"), {"type": "hologram"}, {"type": "tool_reference"}]
        result = {**RESULT, "content": blocks, "is_error": True}
        found = read(FORMAT, body(user(text("hi")), reply(USE), user(result)))
        assert parts(found, PartKind.RESULT) == [(Form.TEXT, "one"), (Form.TEXT, "two")]
        assert parts(found, PartKind.UNKNOWN) == [(Form.BLOCK, {"type": "hologram"})]
        [media] = found.parts_of(PartKind.MEDIA)
        assert media.payload is not None
        assert found.source[slice(*media.payload)] == b'"iVBO"'
        assert media.label == "image/png"
        kinds = (PartKind.RESULT, PartKind.MEDIA, PartKind.UNKNOWN)
        assert all(
            (part.call_id, part.tool, part.is_error) == ("toolu_1", "Read", True)
            for part in found.parts
            if part.kind in kinds
        )

    def test_thinking_is_the_whole_block(self) -> None:
        secret = {"type": "redacted_thinking", "data": "c2Vj"}
        found = read(FORMAT, body(user(text("hi")), reply(THOUGHT, secret, USE), user(RESULT), system="s"))
        assert parts(found, THINKING) == [(Form.BLOCK, THOUGHT), (Form.BLOCK, secret)]
        assert all(part.is_signed for part in found.parts_of(THINKING))

    def test_media_by_address_is_no_part(self) -> None:
        found = read(
            FORMAT,
            body(
                user(
                    {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
                    {"type": "document", "source": {"type": "file", "file_id": "file_1"}},
                ),
                system="s",
            ),
        )
        assert not list(found.parts_of(PartKind.MEDIA))

    def test_results_of_the_apis_own_tools(self) -> None:
        found = read(FORMAT, (OWN / "server-tools.json").read_bytes())
        results = {part.call_id: part for part in found.parts_of(PartKind.RESULT)}
        assert results["srvtoolu_1"].form is Form.FIXED, "what a search found is encrypted, and wanted back"
        code = [part for part in found.parts_of(PartKind.RESULT) if part.call_id == "srvtoolu_2"]
        assert [(part.form, part.exit_code) for part in code] == [(Form.TEXT, 3), (Form.TEXT, 3)]
        assert results["mcptoolu_3"].form is Form.TEXT
        assert results["srvtoolu_4"].form is Form.TEXT
        assert codes(found) == []


class TestTurns:
    def test_a_turn_is_an_exchange(self) -> None:
        found = read(
            FORMAT, body(user(text("hi")), reply(USE), user(RESULT), reply(text("done")), user(text("more")))
        )
        assert spine(found) == [
            (Role.USER, 0, True),
            (Role.ASSISTANT, 0, False),
            (Role.RESULT, 0, False),
            (Role.ASSISTANT, 1, False),
            (Role.USER, 2, True),
        ]
        assert found.open_turn is None

    def test_a_prompt_that_comes_with_results_begins_a_turn(self) -> None:
        found = read(
            FORMAT, body(user(text("hi")), reply(USE), user(RESULT, text("stop")), reply(text("ok")))
        )
        assert spine(found)[2:4] == [(Role.RESULT, 0, False), (Role.USER, 1, True)]

    def test_text_beside_the_last_results_leaves_the_loop_open(self) -> None:
        found = read(FORMAT, (OWN / "open-loop.json").read_bytes())
        assert found.messages[-1].role is Role.RESULT
        prompts = [message.turn for message in found.messages if message.is_prompt]
        assert found.open_turn == prompts[-1]

    def test_replies_that_follow_one_another_are_one(self) -> None:
        found = read(FORMAT, body(user(text("hi")), reply(THOUGHT), reply(text("a"), USE), user(RESULT)))
        assert spine(found)[1:] == [(Role.ASSISTANT, 0, False), (Role.RESULT, 0, False)]

    def test_a_system_prompt_behind_the_messages_is_no_turn(self) -> None:
        found = read(FORMAT, body(user(text("hi")), reply(USE), user(RESULT), system="brief"))
        assert found.messages[0].role is Role.SYSTEM
        assert (found.turns, found.open_turn) == (1, 0)


class TestPairs:
    def test_all_of_a_loop_pair(self) -> None:
        found = read(FORMAT, (OWN / "loop.json").read_bytes())
        calls, answers = pairs(found)
        assert calls == answers
        assert len(calls) == 30
        assert codes(found) == []
        assert check(found.api, FORMAT.api_messages(found)) == []

    def test_ragged_ones_are_told(self) -> None:
        found = read(FORMAT, (OWN / "ragged.json").read_bytes())
        assert sorted(codes(found)) == [
            "arguments-not-an-object",
            "duplicate-call-id",
            "not-a-block",
            "orphan-result",
            "repeated-result",
            "text-without-text",
            "unanswered-call",
        ]

    def test_reads_and_writes_of_files(self) -> None:
        found = read(FORMAT, (OWN / "loop.json").read_bytes())
        assert found.reads["toolu_00a"] == ["/shelf/0.txt"]
        assert {write.path for write in found.writes} == {"/shelf/1.txt"}

    def test_a_call_without_an_id_gets_one_that_thinking_does_not_change(self) -> None:
        bare = {"type": "tool_use", "name": "t", "input": {}}
        for blocks in ([THOUGHT, bare, bare], [bare, bare]):
            found = read(FORMAT, body(user(text("hi")), reply(*blocks), system="s"))
            assert pairs(found)[0] == ["#1.1", "#1.2"]


class TestRefusals:
    @pytest.mark.parametrize(
        ("message", "words"),
        [
            ({"role": 5, "content": "x"}, "role must be a string, not a number"),
            ({"content": "x"}, "has no role"),
            ({"role": "tool", "content": "x"}, "must be one of user, assistant, system, not 'tool'"),
            ({"role": "user", "content": 5}, "content must be a string or a list of blocks, not a number"),
            ({"role": "user", "content": None}, "not null"),
            ({"role": "user"}, "not absent"),
            ("hi", "a message must be an object, not a string"),
            (reply({"type": ["text"]}), "type must be a string, not an array"),
            (reply({**USE, "id": 7}), "id must be a string, not a number"),
            (user({**RESULT, "tool_use_id": {}}), "tool_use_id must be a string, not an object"),
            (user({**RESULT, "content": 7}), "content must be a string or a list of blocks, not a number"),
            ({"role": "assistant", "content": "x", "tool_calls": []}, "has no 'tool_calls'"),
        ],
    )
    def test_wrong_types_have_their_line(self, message: Any, words: str) -> None:
        data = json.dumps(body({"role": "user", "content": "hi"}, message, system="s"), indent=1).encode()
        with pytest.raises(SessionInvalid, match=words) as refused:
            read(FORMAT, data)
        assert refused.value.fields["line"] >= 8

    def test_a_body_without_messages(self) -> None:
        with pytest.raises(SessionInvalid, match="a list 'messages', and there is none"):
            read(FORMAT, {"model": "m"})

    @pytest.mark.parametrize("options", [ReadOptions(leaf="x"), ReadOptions(sidechain="x")])
    def test_there_are_no_branches(self, options: ReadOptions) -> None:
        with pytest.raises(InvalidOption, match="has no --"):
            read(FORMAT, body(), options)


class TestApiMessages:
    def test_content_is_a_list_of_blocks(self) -> None:
        found = read(FORMAT, body({"role": "user", "content": "hi"}, reply(text("ho")), system="s"))
        assert FORMAT.api_messages(found) == [user(text("hi")), reply(text("ho"))]
        assert prose(found) == ["hi", "ho", "s"]
