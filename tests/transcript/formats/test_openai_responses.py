"""Responses bodies and items: what is recognized, where parts stand, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from castore.errors import InvalidOption, SessionInvalid
from castore.transcript.formats import ReadOptions
from castore.transcript.formats.openai_responses import FORMAT
from castore.transcript.model import Form, PartKind, Role, Transcript
from castore.transcript.records import read_records
from castore.transcript.validate import check

FIXTURES = Path(__file__).parents[1] / "fixtures/openai-responses"
CALL = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "x"}


def read(value: Any) -> Transcript:
    return FORMAT.read(read_records(json.dumps(value).encode()), ReadOptions())


def fixture(name: str) -> Transcript:
    return FORMAT.read(read_records((FIXTURES / name).read_bytes()), ReadOptions())


def is_recognized(value: Any) -> bool:
    return FORMAT.recognizes(read_records(json.dumps(value).encode()).records[0])


def body(*items: Any, **members: Any) -> dict[str, Any]:
    return {"model": "m", "input": list(items), **members}


def parts(transcript: Transcript, kind: PartKind) -> list[tuple[Form, Any]]:
    return [(part.form, json.loads(transcript.literal(part))) for part in transcript.parts_of(kind)]


class TestRecognition:
    @pytest.mark.parametrize("path", sorted(FIXTURES.iterdir()), ids=lambda path: path.name)
    def test_fixtures_are_told(self, path: Path) -> None:
        assert FORMAT.recognizes(read_records(path.read_bytes()).records[0])

    @pytest.mark.parametrize(
        "value",
        [
            body({"role": "user", "content": "hi"}),
            [{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
            [CALL],
            [{"role": "user", "content": "hi"}, CALL, RESULT],
            [{"type": "reasoning", "summary": []}],
            {"model": "m", "input": "hi", "max_output_tokens": 5},
            {"input": [CALL, RESULT]},
        ],
    )
    def test_bodies_and_lists_are(self, value: Any) -> None:
        assert is_recognized(value)

    @pytest.mark.parametrize(
        "value",
        [
            {"model": "text-embedding", "input": "hi"},
            {"model": "text-embedding", "input": ["hi", "ho"]},
            {"model": "m", "input": []},
            {"input": [{"role": "user", "content": "hi"}], "ideal": "ho"},
            {"model": "m", "messages": [{"role": "user", "content": "hi"}]},
            [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}],
            [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
            [{"role": "user", "parts": [{"text": "hi"}]}],
            [{"type": "message", "id": "a", "message": {"role": "user"}}],
            [CALL, 5],
            [],
            {"object": "chat.completion", "output": []},
            {"output": [CALL]},
            "hi",
            5,
        ],
    )
    def test_others_are_not(self, value: Any) -> None:
        assert not is_recognized(value)


class TestSpans:
    def test_instructions_and_texts_are_prose(self) -> None:
        transcript = fixture("body.json")
        assert [text for _, text in parts(transcript, PartKind.PROSE)] == [
            "You are a careful gardener of code.",
            "Trees are numbered from the gate.",
            "Which tree is this?",
            "A pear.",
            "Its age I may not say.",
            "Patch the map, and search for it.",
            "It is on the map now.",
            "Thank you.",
        ]
        roles = [message.role for message in transcript.messages][:3]
        assert roles == [Role.SYSTEM, Role.SYSTEM, Role.USER]

    def test_calls_that_have_a_shape_of_their_own_are_fixed(self) -> None:
        found = [(part.tool, part.form) for part in fixture("body.json").parts_of(PartKind.CALL)]
        assert found == [
            ("read_file", Form.JSON_TEXT),
            ("read_file", Form.JSON_TEXT),
            ("apply_patch", Form.TEXT),
            ("shell", Form.FIXED),
            ("apply_patch", Form.FIXED),
            ("lookup", Form.FIXED),
            ("file_search", Form.FIXED),
        ]

    def test_results_have_their_tool_code_and_flag(self) -> None:
        found = [
            (part.call_id, part.tool, part.exit_code, part.is_error)
            for part in fixture("body.json").parts_of(PartKind.RESULT)
        ]
        assert found == [
            ("call_b", "read_file", None, False),
            ("call_a", "read_file", None, False),
            ("call_c", "apply_patch", None, False),
            ("call_d", "shell", 3, False),
            ("call_e", "apply_patch", None, True),
            ("mcp_1", "lookup", None, False),
            ("fs_1", "file_search", None, False),
        ]

    def test_media_are_blocks_but_where_only_data_may_stand(self) -> None:
        transcript = fixture("body.json")
        found = [(part.label, part.form) for part in transcript.parts_of(PartKind.MEDIA)]
        assert found == [
            ("image/png", Form.BLOCK),
            ("application/pdf", Form.BLOCK),
            ("image/png", Form.BLOCK),
            ("image", Form.EMPTY),
        ]

    def test_what_nobody_knows_moves_only_where_text_may_stand(self) -> None:
        found = [(form, value["type"]) for form, value in parts(fixture("body.json"), PartKind.UNKNOWN)]
        assert found == [
            (Form.BLOCK, "block_of_tomorrow"),
            (Form.BLOCK, "block_of_tomorrow"),
            (Form.FIXED, "item_of_tomorrow"),
        ]
        said = {"type": "message", "role": "assistant", "content": [{"type": "x", "data": "y"}]}
        assert parts(read(body(said)), PartKind.UNKNOWN) == [(Form.FIXED, {"type": "x", "data": "y"})]

    def test_a_text_alone_is_a_prompt(self) -> None:
        transcript = fixture("text.json")
        assert [text for _, text in parts(transcript, PartKind.PROSE)] == ["Count the apples.", "Be brief."]
        # Instructions stand before what is asked, wherever they stand in the file.
        assert [message.role for message in transcript.messages] == [Role.SYSTEM, Role.USER]

    def test_files_that_tools_read_and_write_are_known(self) -> None:
        transcript = fixture("body.json")
        assert transcript.reads == {"call_a": ["rows/second.txt"], "call_b": ["rows/third.txt"]}
        assert [write.path for write in transcript.writes] == [
            "rows/second.txt",
            "rows/eighth.txt",
            "map.txt",
        ]


class TestTurns:
    def test_a_reply_is_all_up_to_the_next_input(self) -> None:
        replies = [each for each in fixture("body.json").messages if each.role is Role.ASSISTANT]
        assert [each.calls for each in replies] == [
            ("call_a", "call_b"),
            (),
            ("call_c",),
            ("call_d",),
            ("call_e",),
            ("mcp_1", "fs_1"),
        ]

    def test_a_response_ends_with_an_open_loop(self) -> None:
        assert fixture("response.json").open_turn == 0
        assert not fixture("response.json").oddities


class TestPairs:
    def test_what_has_no_other_half_is_said(self) -> None:
        asked = {"role": "user", "content": "hi"}
        other = {**RESULT, "call_id": "c2"}
        transcript = read(body(asked, CALL, other, {**CALL, "call_id": "c3"}))
        assert sorted(odd.code for odd in transcript.oddities) == ["orphan-result", "unanswered-call"]

    @pytest.mark.parametrize(
        "members",
        [{"previous_response_id": "resp_1"}, {"conversation": "conv_1"}, {"conversation": {"id": "c"}}],
    )
    def test_a_remembered_call_has_its_result_here(self, members: dict[str, Any]) -> None:
        transcript = read(body(RESULT, {"role": "user", "content": "hi"}, **members))
        assert not transcript.oddities
        assert not check(transcript.api, FORMAT.api_messages(transcript))

    def test_a_reference_may_be_to_the_call(self) -> None:
        assert not read(body({"type": "item_reference", "id": "fc_1"}, RESULT)).oddities

    def test_ids_that_are_missing_are_said(self) -> None:
        transcript = read(body({**CALL, "call_id": None}, {"type": "function_call_output", "output": "x"}))
        assert [odd.code for odd in transcript.oddities] == ["no-call-id", "no-call-id"]


class TestRefusals:
    @pytest.mark.parametrize(
        ("value", "words"),
        [
            (body(5), "an item must be an object, not a number"),
            (body({"type": 5}), "an item's type must be a string"),
            (body({"role": "robot", "content": "x"}), "not 'robot'"),
            (body({"role": "user", "content": True}), "must be a string or an array, not a boolean"),
            (body({**CALL, "call_id": []}), "a call's call_id must be a string, not an array"),
            (body({**CALL, "name": 1}), "a call's name must be a string, not a number"),
            ({"model": "m", "input": 5}, "an input must be a string or an array, not a number"),
            ({"model": "m"}, "a body has no input"),
            (5, "a body must be an object or an array, not a number"),
        ],
    )
    def test_name_the_line(self, value: Any, words: str) -> None:
        with pytest.raises(SessionInvalid, match=words) as caught:
            read(value)
        assert caught.value.fields["line"] == 1

    def test_there_are_no_branches(self) -> None:
        with pytest.raises(InvalidOption):
            FORMAT.read(read_records(b"[]"), ReadOptions(sidechain="x"))


class TestWhatIsSent:
    @pytest.mark.parametrize("name", ["items.json", "text.json", "continued.json", "response.json"])
    def test_is_the_input(self, name: str) -> None:
        transcript = fixture(name)
        sent = FORMAT.api_messages(transcript)
        rules = {finding.rule for finding in check(transcript.api, sent)}
        # A block that nobody knows is none that the API knows today.
        assert rules <= {"responses/block-type"}
