"""Codex rollouts: what of one reaches the model, where it stands, and what is said when it is odd."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from castore.errors import InvalidOption, SessionInvalid
from castore.transcript.formats import ReadOptions
from castore.transcript.formats.codex import FORMAT
from castore.transcript.model import Form, Part, PartKind, Reason, Role, Transcript
from castore.transcript.records import read_records
from castore.transcript.validate import check

FIXTURES = Path(__file__).parents[1] / "fixtures/codex"
HEADER: dict[str, Any] = {"type": "session_meta", "payload": {"id": "s-1", "cwd": "/w"}}


def item(type: str, **members: Any) -> dict[str, Any]:
    return {"type": "response_item", "payload": {"type": type, **members}}


def user(text: str) -> dict[str, Any]:
    return item("message", role="user", content=[{"type": "input_text", "text": text}])


def reply(text: str, **members: Any) -> dict[str, Any]:
    return item("message", role="assistant", content=[{"type": "output_text", "text": text}], **members)


def call(id: Any = "c1", arguments: Any = "{}") -> dict[str, Any]:
    return item("function_call", name="exec_command", call_id=id, arguments=arguments)


def result(output: Any, id: str = "c1") -> dict[str, Any]:
    return item("function_call_output", call_id=id, output=output)


def event(type: str, **members: Any) -> dict[str, Any]:
    return {"type": "event_msg", "payload": {"type": type, **members}}


def compacted(**members: Any) -> dict[str, Any]:
    return {"type": "compacted", "payload": members}


def rollout(*records: dict[str, Any], header: bool = True) -> bytes:
    rows = [HEADER, *records] if header else list(records)
    return b"".join(json.dumps({"timestamp": "t", **row}).encode() + b"\n" for row in rows)


def read(data: bytes) -> Transcript:
    return FORMAT.read(read_records(data), ReadOptions())


def fixture(name: str) -> Transcript:
    return read((FIXTURES / name).read_bytes())


def of_kind(transcript: Transcript, kind: PartKind) -> list[Part]:
    return list(transcript.parts_of(kind))


def prose(transcript: Transcript) -> list[str]:
    return [json.loads(transcript.literal(part)) for part in transcript.parts_of(PartKind.PROSE)]


def codes(transcript: Transcript) -> list[tuple[int, str]]:
    return [(odd.line, odd.code) for odd in transcript.oddities]


class TestRecognition:
    @pytest.mark.parametrize("path", sorted(FIXTURES.iterdir()), ids=lambda path: path.name)
    def test_first_record_is_told(self, path: Path) -> None:
        assert FORMAT.recognizes(read_records(path.read_bytes()).records[0])

    @pytest.mark.parametrize(
        "row",
        [
            {"type": "session", "id": "x", "version": 3},
            {"type": "message", "timestamp": "t", "message": {"role": "user"}},
            {"type": "user", "uuid": "x", "message": {"role": "user", "content": "hi"}},
            {"type": "event_msg", "timestamp": "t"},
            {"type": "response_item", "payload": {}},
            {"timestamp": "t", "type": "world_state", "payload": {}},
            {"id": "x", "timestamp": 1, "instructions": None},
            [1],
        ],
    )
    def test_others_are_not(self, row: Any) -> None:
        assert not FORMAT.recognizes(read_records(json.dumps(row).encode()).records[0])


class TestSpans:
    def test_prose_is_each_text_as_it_is_spelt(self) -> None:
        data = rollout(user("the first"), reply('a \u00e9 "quoted" reply'))
        transcript = read(data)
        assert prose(transcript) == ["the first", 'a \u00e9 "quoted" reply']
        for part in transcript.parts_of(PartKind.PROSE):
            assert part.form is Form.TEXT
            assert transcript.literal(part)[:1] == transcript.literal(part)[-1:] == b'"'

    def test_base_instructions_are_the_systems(self) -> None:
        header = {"type": "session_meta", "payload": {"id": "s", "base_instructions": {"text": "Prune."}}}
        (part,) = of_kind(read(rollout(header, header=False)), PartKind.PROSE)
        assert part.role is Role.SYSTEM

    def test_calls_are_their_arguments(self) -> None:
        calls = of_kind(fixture("loop.jsonl"), PartKind.CALL)
        assert [(each.tool, each.call_id, each.form) for each in calls] == [
            ("exec_command", "call_a", Form.JSON_TEXT),
            ("exec_command", "call_b", Form.JSON_TEXT),
            ("apply_patch", "call_c", Form.TEXT),
            ("apply_patch", "call_d", Form.TEXT),
            ("exec_command", "call_e", Form.JSON_TEXT),
            ("view_image", "call_f", Form.FIXED),  # It is no JSON, and stays as the model wrote it.
        ]

    def test_reasoning_is_fixed_with_everything_in_it(self) -> None:
        transcript = fixture("loop.jsonl")
        for part in transcript.parts_of(PartKind.THINKING):
            assert (part.form, part.is_signed) == (Form.FIXED, True)
            assert json.loads(transcript.literal(part))["type"] == "reasoning"

    def test_reasoning_that_was_stripped_is_no_part(self) -> None:
        stripped = item("reasoning", summary=[], content=None, encrypted_content=None)
        assert not of_kind(read(rollout(user("a"), stripped, reply("b"))), PartKind.THINKING)

    def test_an_image_is_a_block_with_its_data(self) -> None:
        transcript = fixture("loop.jsonl")
        sent, got = of_kind(transcript, PartKind.MEDIA)
        assert (sent.role, got.role) == (Role.USER, Role.RESULT)
        assert sent.label == got.label == "image/png"
        assert json.loads(transcript.literal(sent))["type"] == "input_image"
        assert sent.payload is not None
        assert transcript.source[sent.payload[0] : sent.payload[1]].startswith(b'"data:image/png;base64,')

    def test_a_result_that_is_an_object_keeps_its_flags(self) -> None:
        output = {"content": "x" * 80, "success": False, "note": "short", "more": ["y" * 80]}
        transcript = read(rollout(user("a"), call(), result(output)))
        parts = of_kind(transcript, PartKind.RESULT)
        assert [json.loads(transcript.literal(part)) for part in parts] == ["x" * 80, ["y" * 80]]
        assert all(part.is_error for part in parts)

    def test_what_was_only_shown_is_ui(self) -> None:
        transcript = fixture("loop.jsonl")
        whole = [part for part in transcript.parts_of(PartKind.UI) if part.form is Form.NOTHING]
        assert len(whole) == transcript.source.count(b'"type":"event_msg"')
        assert all(transcript.literal(part).endswith(b"\n") for part in whole)
        values = [part for part in transcript.parts_of(PartKind.UI) if part.form is Form.EMPTY]
        assert [part.label for part in values] == ["turn context", "turn context"]


class TestOutcome:
    @pytest.mark.parametrize(
        ("output", "code"),
        [
            ("Chunk ID: 1a2b\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nx", 0),
            ("Chunk ID: 1a2b\nWall time: 0.1 seconds\nProcess exited with code 127\nOutput:\nx", 127),
            ("Process exited with code -1\nOutput:\n", -1),
            ("Exit code: 2\nWall time: 0 seconds\nOutput:\nx", 2),
            (json.dumps({"output": "x", "metadata": {"exit_code": 1, "duration_seconds": 0.1}}), 1),
            ([{"type": "input_text", "text": "Exit code: 3\nOutput:\n"}], 3),
            ("Wall time: 1 seconds\nProcess running with session ID 7\nOutput:\n", None),
            ("the log says\nProcess exited with code 1\n", None),
            (json.dumps({"output": json.dumps({"metadata": {"exit_code": 1}})}), None),
            ('{"exit_code', None),
            ('{"metadata": {"exit_code": true}}', None),
        ],
    )
    def test_exit_code_is_read_where_codex_writes_it(self, output: Any, code: int | None) -> None:
        (part,) = of_kind(read(rollout(user("a"), call(), result(output))), PartKind.RESULT)
        assert part.exit_code == code
        assert part.is_error == (code not in (None, 0))

    def test_a_marker_still_says_that_it_was_an_error(self) -> None:
        for text in (
            "[ctx 3f9ac01b77de5a10: error result, 4821 bytes, 8 lines]",
            "Exit\n[ctx 3f9ac01b77de5a10: error result, 4821 bytes; first 4 characters stand here]",
        ):
            (part,) = of_kind(read(rollout(user("a"), call(), result(text))), PartKind.RESULT)
            assert part.is_error
        (part,) = of_kind(
            read(rollout(user("a"), call(), result("say [ctx 3f9ac01b77de5a10: error result, 1"))),
            PartKind.RESULT,
        )
        assert not part.is_error


class TestTurns:
    def test_what_the_model_says_in_one_go_is_one_message(self) -> None:
        transcript = fixture("loop.jsonl")
        replies = [message for message in transcript.messages if message.role is Role.ASSISTANT]
        assert [message.calls for message in replies] == [
            ("call_a", "call_b"),
            ("call_c",),
            ("call_d",),
            (),
            ("call_e",),
            ("call_f",),
            (),
        ]
        assert transcript.turns == 7
        assert transcript.open_turn is None
        assert not transcript.oddities

    def test_prompts_are_what_people_wrote(self) -> None:
        transcript = fixture("loop.jsonl")
        assert [message.turn for message in transcript.messages if message.is_prompt] == [0, 4]

    @pytest.mark.parametrize(
        "text",
        [
            "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>",
            "<environment_context>x</environment_context>",
            "  <turn_aborted>\nx\n</turn_aborted>\n",
            "[ctx 3f9ac01b77de5a10: context text, 4821 bytes]",
        ],
    )
    def test_what_codex_wrote_is_no_prompt(self, text: str) -> None:
        (message,) = read(rollout(user(text))).messages
        assert (message.role, message.is_prompt) == (Role.USER, False)

    def test_a_person_may_begin_like_codex(self) -> None:
        (message,) = read(rollout(user("<environment_context> is what?"))).messages
        assert message.is_prompt

    def test_a_call_without_a_result_at_the_end_is_an_open_loop(self) -> None:
        transcript = fixture("open-loop.jsonl")
        assert transcript.open_turn == 0
        assert not transcript.oddities

    def test_a_comment_at_the_end_leaves_the_loop_open(self) -> None:
        records = [user("a"), call(), result("x"), reply("I look.", phase="commentary")]
        assert read(rollout(*records)).open_turn == 0
        records[-1] = reply("Done.", phase="final_answer")
        assert read(rollout(*records)).open_turn is None


class TestFiles:
    def test_a_patch_writes_each_file_it_names(self) -> None:
        paths = [write.path for write in fixture("loop.jsonl").writes]
        assert paths == ["rows/second.txt", "rows/eighth.txt", "rows/ninth.txt", "rows/eighth.txt"]

    def test_a_read_tool_reads_its_path(self) -> None:
        asked = item("function_call", name="read_file", call_id="c1", arguments='{"path":"a.txt"}')
        assert read(rollout(user("a"), asked, result("x"))).reads == {"c1": ["a.txt"]}


class TestCompaction:
    def test_the_last_history_stands_for_all_before_it(self) -> None:
        transcript = fixture("compacted.jsonl")
        said = prose(transcript)
        assert "Go on." not in said
        assert said.count("Which apple trees stand in the second row?") == 1
        assert said[-1] == "With pleasure."
        assert {leave.reason for leave in transcript.leaves} == {Reason.OLDER}
        header, last = transcript.records.records[0], transcript.records.records[11]
        assert all(header.end < leave.start < last.start for leave in transcript.leaves)
        assert last.start in transcript.boundaries

    def test_its_summary_is_a_summary(self) -> None:
        roles = [message.role for message in fixture("compacted.jsonl").messages]
        assert roles[:6] == [Role.SYSTEM, Role.SYSTEM, Role.USER, Role.USER, Role.SUMMARY, Role.SUMMARY]

    def test_an_encrypted_summary_is_fixed(self) -> None:
        (part,) = of_kind(fixture("compacted.jsonl"), PartKind.THINKING)
        assert part.form is Form.FIXED

    def test_an_old_one_keeps_what_people_wrote(self) -> None:
        transcript = fixture("old-compacted.jsonl")
        assert prose(transcript)[1:] == [
            "Which apple trees stand in the second row?",
            "Swap one.",
            "The second row has two apples; one was swapped.",
            "And the third?",
            "Only pears.",
        ]
        assert len(FORMAT.api_messages(transcript)) == 5

    def test_a_summary_is_still_one_when_it_has_left(self) -> None:
        row = {"type": "message", "role": "user", "content": "[ctx 3f9ac01b77de5a10: summary, 4821 bytes]"}
        (message,) = read(rollout(compacted(message="", replacement_history=[row]))).messages
        assert message.role is Role.SUMMARY


class TestRollback:
    def test_takes_prompts_with_all_after_them_and_what_codex_wrote_before(self) -> None:
        transcript = fixture("rolled-back.jsonl")
        said = prose(transcript)
        assert "Plant a plum." in said
        assert "Water the oak." in said
        for gone in ("Fell the oak.", "No!", "Felled.", "<collaboration_mode># Plan</collaboration_mode>"):
            assert gone not in said
        assert {leave.reason for leave in transcript.leaves} == {Reason.OTHER_BRANCH}
        assert not any(b"rolled_back" in transcript.literal(part) for part in transcript.parts)

    def test_of_more_than_there_is_keeps_what_stood_before_the_first(self) -> None:
        data = rollout(
            user("<user_instructions>x</user_instructions>"),
            user("a"),
            reply("b"),
            event("thread_rolled_back", num_turns=9),
        )
        assert prose(read(data)) == ["<user_instructions>x</user_instructions>"]

    def test_of_none_changes_nothing(self) -> None:
        assert prose(read(rollout(user("a"), event("thread_rolled_back", num_turns=0)))) == ["a"]
        assert not read(rollout(event("thread_rolled_back", num_turns=1))).leaves

    def test_into_a_compaction_leaves_all_where_it_stands(self) -> None:
        transcript = fixture("rolled-back-into-compaction.jsonl")
        assert prose(transcript)[1:] == [
            prose(transcript)[1],
            "Which apple trees stand in the second row?",
            "Water it.",
            "Watered.",
        ]
        assert not transcript.leaves
        rollback = transcript.records.records[3]
        assert not any(part.start <= rollback.start < part.end for part in transcript.parts)


class TestOldRollouts:
    def test_items_stand_bare(self) -> None:
        transcript = fixture("bare.jsonl")
        assert transcript.session == "0198bbbb-0000-7000-8000-000000000002"
        assert prose(transcript) == ["Trees are numbered from the gate.", "Count the apples.", "Twelve."]
        assert [part.exit_code for part in transcript.parts_of(PartKind.RESULT)] == [0]
        assert not transcript.oddities


class TestRaggedFiles:
    def test_are_read_and_what_is_odd_is_said(self) -> None:
        assert codes(fixture("ragged.jsonl")) == [
            (3, "unanswered-call"),
            (6, "repeated-header"),
            (18, "unknown-record"),
            (19, "orphan-result"),
            (20, "unknown-record"),
            (23, "glued-records"),
            (25, "not-json"),
        ]

    def test_a_header_once_more_gives_its_prompt_no_second_time(self) -> None:
        transcript = fixture("ragged.jsonl")
        assert transcript.session == "0199aaaa-0000-7000-8000-000000000001"
        assert sum("gardener" in text for text in prose(transcript)) == 1

    def test_what_nobody_knows_may_leave_whole(self) -> None:
        transcript = fixture("ragged.jsonl")
        unknown = [transcript.literal(part) for part in transcript.parts_of(PartKind.UNKNOWN)]
        assert [b"tool_of_tomorrow" in each or b"record_of_tomorrow" in each for each in unknown] == [
            True,
            True,
        ]

    def test_another_agent_prompts(self) -> None:
        transcript = fixture("ragged.jsonl")
        said = {prose_of(transcript, message.parts): message.is_prompt for message in transcript.messages}
        assert said["Say how many there are, in one word."]
        assert said["Now."]

    def test_a_file_without_its_head_is_read(self) -> None:
        assert codes(read(rollout(user("a"), header=False))) == [(1, "no-header")]


def prose_of(transcript: Transcript, parts: tuple[int, ...]) -> str:
    each = [transcript.parts[index] for index in parts if transcript.parts[index].kind is PartKind.PROSE]
    return "".join(json.loads(transcript.literal(part)) for part in each)


class TestRefusals:
    @pytest.mark.parametrize(
        ("record", "words"),
        [
            ({"type": 5, "payload": {}}, "a record's type must be a string, not a number"),
            ({"type": "event_msg", "payload": []}, "a record's payload must be an object, not an array"),
            ({"type": "response_item", "payload": "x"}, "a record's payload must be an object, not a string"),
            (item("message", role=5, content="x"), "a message's role must be a string, not a number"),
            (item("message", role="user", content=5), "must be a string or an array, not a number"),
            (item("message", role="robot", content="x"), "not 'robot'"),
            (call(id=7), "a call's call_id must be a string, not a number"),
            (compacted(message=3), "a compaction's message must be a string, not a number"),
            (compacted(message="", replacement_history="x"), "must be an array, not a string"),
            (event("thread_rolled_back", num_turns="x"), "must be a whole number"),
            ({"type": "session_meta", "payload": {"id": 1}}, "a session's id must be a string, not a number"),
        ],
    )
    def test_name_the_line(self, record: dict[str, Any], words: str) -> None:
        with pytest.raises(SessionInvalid, match=words) as caught:
            read(rollout(user("a"), record))
        assert caught.value.fields["line"] == 3

    def test_there_are_no_branches(self) -> None:
        with pytest.raises(InvalidOption):
            FORMAT.read(read_records(rollout()), ReadOptions(leaf="x"))


class TestWhatIsSent:
    @pytest.mark.parametrize("name", ["loop.jsonl", "compacted.jsonl", "rolled-back.jsonl", "bare.jsonl"])
    def test_is_what_the_api_takes(self, name: str) -> None:
        transcript = fixture(name)
        rules = {finding.rule for finding in check(transcript.api, FORMAT.api_messages(transcript))}
        # The result that is an object is of an old program, for an API of then.
        assert rules <= {"responses/output"}

    def test_calls_without_a_result_get_one_and_orphans_go(self) -> None:
        data = rollout(user("a"), call("c1"), call("c2"), result("x", "c2"), result("y", "c3"), user("b"))
        sent = FORMAT.api_messages(read(data))
        assert [(each["type"], each.get("call_id")) for each in sent] == [
            ("message", None),
            ("function_call", "c1"),
            ("function_call_output", "c1"),
            ("function_call", "c2"),
            ("function_call_output", "c2"),
            ("message", None),
        ]
