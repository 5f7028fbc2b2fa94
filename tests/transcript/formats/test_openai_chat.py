"""Chat bodies: what is recognized, where parts stand, what pairs, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from castore.errors import SessionInvalid
from castore.transcript.formats.openai_chat import FORMAT
from castore.transcript.model import Form, PartKind, Role
from castore.transcript.validate import check
from tests.transcript.formats.bodies import FIXTURES, codes, pairs, parts, prose, read, spine, told

OWN = FIXTURES / "openai-chat"
HI = {"role": "user", "content": "hi"}


def body(*messages: Any, **members: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages), **members}


def calling(*calls: Any, **members: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **members}


def call(arguments: Any, id: Any = "call_1", name: Any = "shell") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(content: Any = "out", id: Any = "call_1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


class TestRecognition:
    @pytest.mark.parametrize("path", sorted(OWN.iterdir()), ids=lambda path: path.name)
    def test_fixtures_are_told(self, path: Path) -> None:
        assert told(path.read_bytes()) == "openai-chat"

    @pytest.mark.parametrize(
        "value",
        [
            body({"role": "system", "content": "be brief"}, HI),
            body(HI, calling(call("{}")), model="claude-x"),
            body(HI, tools=[{"type": "function", "function": {"name": "t"}}]),
            body({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,x"}}]}),
            body(HI),
            body(HI, model="vendor/claude-x"),
            body(),
            {"messages": [HI, {"role": "assistant", "content": "ho"}], "stream": False},
        ],
    )
    def test_a_sign_tells_and_so_does_nothing_but_text(self, value: Any) -> None:
        assert told(value) == "openai-chat"

    @pytest.mark.parametrize(
        "value",
        [
            {"info": {}, "messages": [HI], "trajectory_format": "x"},
            body({"role": "toolResult", "content": "x"}),
            body(HI, calling({"id": "c", "function": "shell", "arguments": {}})),
            body({"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c"}]}),
            body({"type": "message", "role": "user", "content": "hi"}),
            body({"text": "no message of an API"}),
        ],
    )
    def test_other_tools_messages_are_nobodys(self, value: Any) -> None:
        with pytest.raises(SessionInvalid, match=r"no known session format; looked for .*openai-chat"):
            told(value)

    def test_two_bodies_are_no_body(self) -> None:
        from castore.transcript.formats import ReadOptions, read_transcript
        from castore.transcript.records import read_records

        data = json.dumps(body(HI)).encode() * 2
        with pytest.raises(SessionInvalid, match="is one JSON value, and there are more"):
            read_transcript(read_records(data), ReadOptions())


class TestSpans:
    def test_content_is_text_by_text(self) -> None:
        content = [{"type": "text", "text": "one"}, {"type": "refusal", "refusal": "no"}]
        found = read(FORMAT, body(HI, {"role": "assistant", "content": content, "refusal": "never"}))
        assert sorted(prose(found)) == ["hi", "never", "no", "one"]

    @pytest.mark.parametrize(
        ("arguments", "form"),
        [
            ('{"path": "/a"}', Form.JSON_TEXT),
            (' {"path" : "/a"}\n', Form.JSON_TEXT),
            ('{"path": "/a', Form.FIXED),
            ("", Form.FIXED),
            ("[]", Form.FIXED),
            ("[" * 100_000, Form.FIXED),
            ({"path": "/a"}, Form.ARGUMENTS),
            (None, Form.FIXED),
        ],
        ids=str,
    )
    def test_arguments_stay_what_they_are(self, arguments: Any, form: Form) -> None:
        found = read(FORMAT, body(HI, calling(call(arguments, name="read_file")), result()))
        [part] = found.parts_of(PartKind.CALL)
        assert (part.form, part.call_id, part.tool) == (form, "call_1", "read_file")
        assert json.loads(found.literal(part)) == arguments
        assert found.reads == ({} if form is Form.FIXED else {"call_1": ["/a"]})

    def test_a_custom_call_is_free_text(self) -> None:
        custom = {"id": "call_1", "type": "custom", "custom": {"name": "note", "input": "words"}}
        found = read(FORMAT, body(HI, calling(custom), result()))
        assert parts(found, PartKind.CALL) == [(Form.TEXT, "words")]

    def test_what_a_backend_may_want_back_stays(self) -> None:
        reply = {"role": "assistant", "content": "ho", "reasoning_content": "hm", "reasoning_details": [{}]}
        found = read(FORMAT, body(HI, reply))
        assert {form for form, _ in parts(found, PartKind.THINKING)} == {Form.FIXED}
        assert len(parts(found, PartKind.THINKING)) == 2

    def test_media_are_blocks_with_their_payload(self) -> None:
        content = [
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}},
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            {"type": "image_url", "image_url": "data:image/gif;base64,R0lG"},
            {"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBE"}},
            {"type": "file", "file": {"file_id": "file_1"}},
        ]
        found = read(FORMAT, body({"role": "user", "content": content}))
        media = list(found.parts_of(PartKind.MEDIA))
        assert [part.label for part in media] == ["image/png", "image/gif", "audio/wav", "application/pdf"]
        payloads = [json.loads(found.source[slice(*(part.payload or (0, 0)))]) for part in media]
        assert [payload[-4:] for payload in payloads] == ["iVBO", "R0lG", "UklG", "JVBE"]

    def test_unknown_blocks_move_out_as_blocks(self) -> None:
        found = read(FORMAT, body({"role": "user", "content": [{"type": "hologram", "data": "x"}]}))
        assert parts(found, PartKind.UNKNOWN) == [(Form.BLOCK, {"type": "hologram", "data": "x"})]


class TestTurns:
    def test_a_loop_of_tools_is_turns(self) -> None:
        found = read(
            FORMAT, body(HI, calling(call("{}")), result(), {"role": "assistant", "content": "done"})
        )
        assert spine(found) == [
            (Role.USER, 0, True),
            (Role.ASSISTANT, 0, False),
            (Role.RESULT, 0, False),
            (Role.ASSISTANT, 1, False),
        ]

    def test_results_that_stand_last_leave_the_loop_open(self) -> None:
        found = read(FORMAT, (OWN / "open-loop.json").read_bytes())
        assert found.open_turn == [message.turn for message in found.messages if message.is_prompt][-1]
        assert codes(found) == [], "a call of the open loop may wait for its result"


class TestPairs:
    def test_parallel_calls_pair_in_any_order(self) -> None:
        found = read(FORMAT, (OWN / "loop.json").read_bytes())
        calls, answers = pairs(found)
        assert calls != answers
        assert sorted(calls) == sorted(answers)
        assert codes(found) == []
        assert check(found.api, FORMAT.api_messages(found)) == []

    def test_the_tool_of_a_result_is_its_calls(self) -> None:
        found = read(FORMAT, body(HI, calling(call("{}")), result()))
        [part] = found.parts_of(PartKind.RESULT)
        assert (part.call_id, part.tool) == ("call_1", "shell")

    @pytest.mark.parametrize("name", ["legacy.json", "objects.json"])
    def test_calls_without_ids_pair_by_their_tool(self, name: str) -> None:
        found = read(FORMAT, (OWN / name).read_bytes())
        calls, answers = pairs(found)
        assert sorted(calls) == sorted(answers)
        tools = {part.call_id: part.tool for part in found.parts_of(PartKind.CALL)}
        assert all(part.tool == tools[part.call_id] for part in found.parts_of(PartKind.RESULT))
        assert codes(found) == []

    def test_ragged_ones_are_told(self) -> None:
        found = read(FORMAT, (OWN / "ragged.json").read_bytes())
        assert sorted(codes(found)) == [
            "arguments-not-a-string",
            "duplicate-call-id",
            "orphan-result",
            "text-without-text",
            "unanswered-call",
        ]


class TestRefusals:
    @pytest.mark.parametrize(
        ("message", "words"),
        [
            ({"role": True, "content": "x"}, "role must be a string, not a boolean"),
            ({"role": "model", "content": "x"}, "must be one of .*, not 'model'"),
            ({"role": "user", "content": {}}, "content must be .*, not an object"),
            (result(id=5), "tool_call_id must be a string, not a number"),
            (calling(call("{}", id=5)), "id must be a string, not a number"),
            (calling(call("{}", name=[])), "name must be a string, not an array"),
            (
                {"role": "assistant", "content": "", "tool_calls": {}},
                "'tool_calls' must be a list, not an object",
            ),
            (calling({"id": "c"}), "must have an object 'function' or 'custom'"),
            ({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}, "no 'tool_result'"),
        ],
    )
    def test_wrong_types_have_their_line(self, message: Any, words: str) -> None:
        data = json.dumps(body({"role": "system", "content": "s"}, message), indent=1).encode()
        with pytest.raises(SessionInvalid, match=words) as refused:
            read(FORMAT, data)
        assert refused.value.fields["line"] >= 7
