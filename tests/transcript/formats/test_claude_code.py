"""Claude Code sessions: what belongs together, which branch is viewed, what is refused and what is odd."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from castore.errors import InvalidOption, SessionInvalid
from castore.transcript.formats import ReadOptions
from castore.transcript.formats.claude_code import FORMAT
from castore.transcript.model import Form, Part, PartKind, Reason, Role, Transcript
from castore.transcript.records import read_records
from castore.transcript.validate import check

FIXTURES = Path(__file__).parents[1] / "fixtures/claude-code"


def line(type: Any, uuid: Any, parent: Any, **members: Any) -> dict[str, Any]:
    common = {"parentUuid": parent, "isSidechain": False, "sessionId": "s-1", "type": type, "uuid": uuid}
    return {**common, "timestamp": "t", **members}


def user(uuid: Any, parent: Any, content: Any = "a prompt", **members: Any) -> dict[str, Any]:
    return line("user", uuid, parent, message={"role": "user", "content": content}, **members)


def reply(uuid: Any, parent: Any, id: Any, *blocks: Any, **members: Any) -> dict[str, Any]:
    message = {"id": id, "role": "assistant", "content": list(blocks)}
    return line("assistant", uuid, parent, message=message, **members)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(id: Any = "t1") -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}}


def result(uuid: Any, parent: Any, of: Any = "t1", content: Any = "out", **members: Any) -> dict[str, Any]:
    return user(uuid, parent, [{"type": "tool_result", "tool_use_id": of, "content": content}], **members)


def session(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def read(data: bytes, leaf: str | None = None, sidechain: str | None = None) -> Transcript:
    return FORMAT.read(read_records(data), ReadOptions(leaf=leaf, sidechain=sidechain))


def fixture(name: str, **options: Any) -> Transcript:
    return read((FIXTURES / name).read_bytes(), **options)


def prose(transcript: Transcript) -> list[str]:
    return [json.loads(transcript.literal(part)) for part in transcript.parts_of(PartKind.PROSE)]


def of_kind(transcript: Transcript, kind: PartKind) -> list[Part]:
    return list(transcript.parts_of(kind))


def codes(transcript: Transcript) -> list[str]:
    return [odd.code for odd in transcript.oddities]


def left(transcript: Transcript, reason: Reason) -> bytes:
    leaves = [leave for leave in transcript.leaves if leave.reason is reason]
    return b"".join(transcript.source[leave.start : leave.end] for leave in leaves)


def without_leaves(transcript: Transcript) -> bytes:
    shown = transcript.source
    for leave in reversed(transcript.leaves):
        shown = shown[: leave.start] + shown[leave.end :]
    return shown


class TestWhatBelongsTogether:
    """A reply is the lines of one message.id, a result is its call's, wherever they stand."""

    def test_a_reply_of_several_lines_is_one_message(self) -> None:
        transcript = fixture("parallel.jsonl")
        first = next(message for message in transcript.messages if message.role is Role.ASSISTANT)
        assert (first.id, first.calls) == ("msg_1", ("t1", "t2"))
        kinds = [transcript.parts[index].kind for index in first.parts]
        assert kinds == [PartKind.THINKING, PartKind.PROSE, PartKind.CALL, PartKind.CALL]

    def test_parallel_calls_are_no_branches(self) -> None:
        transcript = fixture("parallel.jsonl")
        assert not transcript.leaves
        assert [id for message in transcript.messages for id in message.answers] == ["t1", "t2", "t3"]

    def test_results_know_their_tool_and_flags(self) -> None:
        results = of_kind(fixture("parallel.jsonl"), PartKind.RESULT)
        told = [(part.call_id, part.tool, part.is_error, part.exit_code) for part in results]
        assert told == [
            ("t1", "Read", False, None),
            ("t2", "Task", False, None),
            ("t3", "Edit", True, 2),
        ]

    def test_files_read_and_written(self) -> None:
        transcript = fixture("parallel.jsonl")
        assert transcript.reads == {"t1": ["gate.txt"]}
        assert [write.path for write in transcript.writes] == ["weights.txt"]

    def test_lines_without_ids_follow_each_other(self) -> None:
        transcript = fixture("bare.jsonl")
        assert prose(transcript) == ["Fix the latch", "Looking.", "Fixed."]
        assert (transcript.leaf, codes(transcript)) == (None, [])


class TestWhatReachesTheModel:
    def test_what_a_user_said_while_the_agent_worked(self) -> None:
        transcript = fixture("parallel.jsonl")
        said = prose(transcript)
        assert "And weigh the medlars, please." in said
        assert any(words.startswith("<local-command-stdout>") for words in said)
        prompts = [message.id for message in transcript.messages if message.is_prompt]
        assert prompts == ["u1", "u2"]

    def test_copies_for_the_screen_do_not(self) -> None:
        transcript = fixture("parallel.jsonl")
        told = of_kind(transcript, PartKind.UI)
        words = b"".join(transcript.literal(part) for part in told)
        for what in (b"gate row", b"agent row", b"medlar row", b"after-every-stop", b"trackedFileBackups"):
            assert what in words
        assert {part.form for part in told} == {Form.EMPTY, Form.NOTHING}

    def test_ids_that_others_point_to_stay(self) -> None:
        transcript = fixture("parallel.jsonl")
        for part in of_kind(transcript, PartKind.UI):
            assert part.form is Form.EMPTY or b'"uuid"' not in transcript.literal(part)

    def test_flags_of_the_screen_copy_stay(self) -> None:
        shown = {"stdout": "s" * 90, "interrupted": True, "code": 1}
        transcript = read(session(reply("a1", None, "m1", call()), result("r1", "a1", toolUseResult=shown)))
        (part,) = of_kind(transcript, PartKind.UI)
        assert transcript.literal(part) == b'"' + b"s" * 90 + b'"'

    def test_an_image_in_a_result_is_its_base64(self) -> None:
        transcript = fixture("parallel.jsonl")
        (image,) = of_kind(transcript, PartKind.MEDIA)
        start, end = image.object_span
        assert transcript.source[start:end].startswith(b'"iVBOR')
        assert (image.label, image.call_id) == ("image/png", "t2")

    def test_results_of_the_api_itself_stay(self) -> None:
        use = {"type": "server_tool_use", "id": "st1", "name": "web_search", "input": {"query": "quince"}}
        found = {"type": "web_search_tool_result", "tool_use_id": "st1", "content": [{"type": "w"}]}
        transcript = read(session(user("u1", None), reply("a1", "u1", "m1", use, found)))
        (part,) = of_kind(transcript, PartKind.RESULT)
        assert (part.form, part.call_id) == (Form.FIXED, "st1")
        assert codes(transcript) == []


class TestBranch:
    """Only a prompt or another reply that is not on the way from the leaf begins an abandoned branch."""

    def test_edits_and_retries_leave(self) -> None:
        transcript = fixture("forked.jsonl")
        assert prose(transcript) == ["Paint the gate.", "Painted green.", "No, blue.", "Painted blue."]
        gone = left(transcript, Reason.OTHER_BRANCH)
        assert b"tried again" in gone
        assert b"No, red." in gone
        assert b"hook_progress" in gone

    def test_a_named_leaf_ends_the_branch(self) -> None:
        transcript = fixture("forked.jsonl", leaf="y2")
        assert prose(transcript) == ["Paint the gate.", "Painted green.", "No, red."]
        # The result of its call hangs on it and stays.
        assert transcript.messages[-1].answers == ("ty",)

    @pytest.mark.parametrize("leaf", ["u1", "a1", "r1", "x1", "a2", "y1", "y2", "u2", "a3", "a4", None])
    def test_without_what_left_it_is_read_the_same(self, leaf: str | None) -> None:
        transcript = fixture("forked.jsonl", leaf=leaf)
        again = read(without_leaves(transcript))
        assert not again.leaves
        assert prose(again) == prose(transcript)
        told = [(m.role, m.id, m.calls, m.answers, m.turn) for m in transcript.messages]
        assert [(m.role, m.id, m.calls, m.answers, m.turn) for m in again.messages] == told

    def test_a_leaf_that_is_no_record_is_an_option_error(self) -> None:
        with pytest.raises(InvalidOption):
            fixture("forked.jsonl", leaf="nowhere")

    def test_a_leaf_before_its_ancestors_is_refused(self) -> None:
        rows = (user("u2", "a1"), user("u1", None), reply("a1", "u1", "m1", text("said")))
        with pytest.raises(SessionInvalid) as caught:
            read(session(*rows), leaf="u2")
        assert caught.value.fields["line"] == 1

    def test_a_record_without_its_parent_goes_on_from_the_one_before(self) -> None:
        transcript = read(session(user("u1", None), reply("a1", "gone", "m1", text("said"))))
        assert (prose(transcript), codes(transcript)) == (["a prompt", "said"], ["missing-parent"])

    def test_a_cycle_is_refused_with_its_line(self) -> None:
        with pytest.raises(SessionInvalid) as caught:
            read(session(user("u1", "u2"), user("u2", "u1")))
        assert caught.value.fields["line"] in (1, 2)


class TestCompaction:
    """A boundary that its summary follows is honoured: what stands before leaves, but what it preserved."""

    def test_older_records_leave(self) -> None:
        transcript = fixture("compacted.jsonl")
        assert prose(transcript)[:3] == ["Fill it.", "Filling.", "The pond was dug; it is being filled."]
        assert b"Dig a pond." in left(transcript, Reason.OLDER)
        assert len(transcript.boundaries) == 1

    def test_the_summary_is_sent_first(self) -> None:
        messages = FORMAT.api_messages(fixture("compacted.jsonl"))
        assert messages[0]["content"][0]["text"].startswith("The pond was dug")
        assert messages[0]["content"][1]["text"] == "Fill it."

    def test_a_boundary_without_its_summary_is_odd(self) -> None:
        rows = (
            user("u1", None),
            line("system", "k1", None, subtype="compact_boundary", logicalParentUuid="u1"),
            reply("a1", "k1", "m1", text("said")),
        )
        transcript = read(session(*rows))
        assert (prose(transcript), codes(transcript)) == (
            ["a prompt", "said"],
            ["compaction-without-summary"],
        )

    def test_a_branch_from_before_it(self) -> None:
        rows = (
            user("u1", None, "one"),
            reply("a1", "u1", "m1", text("two")),
            line("system", "k1", None, subtype="compact_boundary", logicalParentUuid="a1"),
            user("k2", "k1", "summary", isCompactSummary=True),
            user("u2", "a1", "rewound"),
        )
        transcript = read(session(*rows))
        assert prose(transcript) == ["one", "two", "rewound"]
        assert b"compact_boundary" in left(transcript, Reason.OTHER_BRANCH)


class TestSidechains:
    """Sub-agents are transcripts of their own."""

    def test_they_are_not_in_the_main_one(self) -> None:
        transcript = fixture("sidechains.jsonl")
        assert prose(transcript) == ["Have two helpers look.", "Water the south."]
        assert b"North is well" in left(transcript, Reason.OTHER_BRANCH)

    @pytest.mark.parametrize(("id", "said"), [("n1", "North is well."), ("s1", "South is dry.")])
    def test_one_is_viewed_by_its_root(self, id: str, said: str) -> None:
        transcript = fixture("sidechains.jsonl", sidechain=id)
        assert prose(transcript)[1:] == [said]
        assert prose(read(without_leaves(transcript))) == prose(transcript)
        assert check(transcript.api, FORMAT.api_messages(transcript)) == []

    def test_a_file_of_one_sub_agent(self) -> None:
        assert prose(fixture("agent.jsonl")) == ["Look east.", "East is well."]
        assert prose(fixture("agent.jsonl", sidechain="ag-7")) == ["Look east.", "East is well."]

    def test_several_and_nothing_else_must_be_chosen_from(self) -> None:
        rows = (user("u1", None, isSidechain=True), user("v1", None, isSidechain=True))
        with pytest.raises(InvalidOption) as caught:
            read(session(*rows))
        assert "u1, v1" in str(caught.value.hint)

    def test_one_that_is_not_there_is_an_option_error(self) -> None:
        with pytest.raises(InvalidOption):
            fixture("forked.jsonl", sidechain="n1")


class TestRagged:
    def test_what_can_be_read_is(self) -> None:
        transcript = fixture("ragged.jsonl")
        assert sorted(codes(transcript)) == [
            "glued-records",
            "missing-parent",
            "not-json",
            "orphan-result",
            "repeated-record",
            "unanswered-call",
            "unknown-record",
            "unknown-record",
            "unknown-record",
        ]
        assert prose(transcript)[-2:] == ["Thanks.", "Gladly."]

    def test_of_a_repeated_record_the_later_counts(self) -> None:
        transcript = fixture("ragged.jsonl")
        assert b"once-more" not in left(transcript, Reason.OLDER)
        assert b'"uuid":"r1"' in left(transcript, Reason.OLDER)

    def test_two_records_of_one_uuid_are_refused_with_the_line(self) -> None:
        with pytest.raises(SessionInvalid) as caught:
            read(session(user("u1", None, "one"), user("u1", None, "two")))
        assert caught.value.fields["line"] == 2

    def test_notes_after_a_result_leave_its_loop_open(self) -> None:
        transcript = fixture("open-loop.jsonl")
        assert (transcript.open_turn, codes(transcript)) == (0, [])

    @pytest.mark.parametrize(
        "row",
        [
            user(7, None),
            user("u1", 7),
            user("u1", None, 7),
            line(7, "u1", None),
            line("user", "u1", None, message="error"),
            line("user", "u1", None, message={"role": 7, "content": "x"}),
            reply("a1", None, "m1", call(7)),
            result("r1", None, of=7),
        ],
    )
    def test_a_wrong_type_is_refused_with_its_line(self, row: dict[str, Any]) -> None:
        with pytest.raises(SessionInvalid) as caught:
            read(session(user("u0", None), row))
        assert caught.value.fields["line"] == 2
        assert "must be" in caught.value.message


class TestWhatIsSent:
    def test_fixtures_are_valid(self) -> None:
        for path in sorted(FIXTURES.iterdir()):
            transcript = read(path.read_bytes())
            found = check(transcript.api, FORMAT.api_messages(transcript))
            # A block that the API does not know either stays what it is.
            has_unknown = any(part.form is Form.BLOCK for part in of_kind(transcript, PartKind.UNKNOWN))
            assert {each.rule for each in found} == ({"anthropic/block-type"} if has_unknown else set())

    def test_errors_of_the_api_are_not_sent(self) -> None:
        assert "overloaded" not in json.dumps(FORMAT.api_messages(fixture("ragged.jsonl")))

    def test_a_missing_result_is_said(self) -> None:
        sent = json.dumps(FORMAT.api_messages(fixture("ragged.jsonl")))
        assert '"tool_use_id": "t0"' in sent
        assert '"tool_use_id": "t9"' not in sent

    def test_an_open_call_waits(self) -> None:
        messages = FORMAT.api_messages(read(session(user("u1", None), reply("a1", "u1", "m1", call()))))
        assert [message["role"] for message in messages] == ["user", "assistant"]
