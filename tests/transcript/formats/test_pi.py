"""Pi sessions: which branch is viewed, what of it reaches the model, what is refused and what is odd."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from castore.errors import InvalidOption, SessionInvalid
from castore.transcript.formats import ReadOptions
from castore.transcript.formats.pi import FORMAT
from castore.transcript.model import Form, Part, PartKind, Reason, Role, Transcript
from castore.transcript.records import read_records
from castore.transcript.validate import check

FIXTURES = Path(__file__).parents[1] / "fixtures/pi"
HEADER: dict[str, Any] = {"type": "session", "version": 3, "id": "s-1", "timestamp": "t", "cwd": "/w"}


def entry(id: Any, parent: Any, type: Any = "message", **members: Any) -> dict[str, Any]:
    return {"type": type, "id": id, "parentId": parent, "timestamp": "t", **members}


def user(id: Any, parent: Any, content: Any = "a prompt") -> dict[str, Any]:
    return entry(id, parent, message={"role": "user", "content": content})


def reply(id: Any, parent: Any, *blocks: Any, **members: Any) -> dict[str, Any]:
    return entry(id, parent, message={"role": "assistant", "content": list(blocks), **members})


def call(id: Any = "c1", **members: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": id, "name": "bash", "arguments": {"command": "ls"}, **members}


def result(id: Any, parent: Any, of: Any = "c1", text: str = "out", **members: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return entry(
        id,
        parent,
        message={"role": "toolResult", "toolCallId": of, "toolName": "bash", "content": content, **members},
    )


def session(*rows: dict[str, Any], header: dict[str, Any] | None = HEADER) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in ([header] if header else []) + list(rows))


def read(data: bytes, leaf: str | None = None) -> Transcript:
    return FORMAT.read(read_records(data), ReadOptions(leaf=leaf))


def fixture(name: str, leaf: str | None = None) -> Transcript:
    return read((FIXTURES / name).read_bytes(), leaf)


def prose(transcript: Transcript) -> list[str]:
    return [json.loads(transcript.literal(part)) for part in transcript.parts_of(PartKind.PROSE)]


def of_kind(transcript: Transcript, kind: PartKind) -> list[Part]:
    return list(transcript.parts_of(kind))


def codes(transcript: Transcript) -> list[str]:
    return [odd.code for odd in transcript.oddities]


def left(transcript: Transcript, reason: Reason) -> bytes:
    leaves = [leave for leave in transcript.leaves if leave.reason is reason]
    return b"".join(transcript.source[leave.start : leave.end] for leave in leaves)


class TestBranch:
    """The way from the leaf to its root is viewed; the leaf is the last entry or the one that is named."""

    def test_the_last_entry_is_the_leaf(self) -> None:
        transcript = fixture("tree.jsonl")
        assert transcript.leaf == "a5"
        assert "Burn it." not in prose(transcript)
        assert b"Burn it." in left(transcript, Reason.OTHER_BRANCH)

    def test_a_named_leaf_ends_the_branch(self) -> None:
        transcript = fixture("tree.jsonl", leaf="x2")
        assert prose(transcript)[-2:] == ["Burn it.", "I would rather not."]
        assert b"Copy it out" in left(transcript, Reason.OTHER_BRANCH)

    def test_a_leaf_entry_moves_the_end(self) -> None:
        rows = (user("u1", None), reply("a1", "u1"), user("u2", "a1", "left"))
        moved = read(session(*rows, entry("l", "u2", "leaf", targetId="a1")))
        assert moved.leaf == "a1"
        assert "left" not in prose(moved)
        # The entry that says so stays, or the view would end elsewhere.
        assert b'"leaf"' not in left(moved, Reason.OTHER_BRANCH)

    def test_a_leaf_entry_without_its_target_is_odd(self) -> None:
        transcript = read(session(user("u1", None), entry("l", "u1", "leaf", targetId="gone")))
        assert codes(transcript) == ["missing-leaf"]
        assert transcript.leaf == "u1"

    def test_a_leaf_that_is_no_entry_is_an_option_error(self) -> None:
        with pytest.raises(InvalidOption):
            fixture("tree.jsonl", leaf="nowhere")
        with pytest.raises(InvalidOption):
            fixture("version-1.jsonl", leaf="u1")

    def test_a_missing_parent_is_a_root(self) -> None:
        transcript = read(session(user("u0", None, "before"), user("u1", "gone", "after")))
        assert prose(transcript) == ["after"]
        assert codes(transcript) == ["missing-parent"]

    def test_parents_of_the_family(self) -> None:
        transcript = fixture("kin.jsonl")
        assert codes(transcript) == [
            "parent-is-header",
            "parent-is-header",
            "parent-is-call",
            "unknown-record",
        ]
        assert prose(transcript)[0] == "How is the well?"

    def test_a_cycle_is_refused_with_its_line(self) -> None:
        with pytest.raises(SessionInvalid) as caught:
            read(session(user("u1", None), user("u2", "u3"), user("u3", "u2")))
        assert caught.value.fields["line"] in (3, 4)

    def test_a_duplicate_id_is_refused_with_its_line(self) -> None:
        with pytest.raises(SessionInvalid) as caught:
            read(session(user("u1", None), reply("a1", "u1"), user("u1", "a1")))
        assert caught.value.fields["line"] == 4

    def test_an_entry_before_its_parent_is_odd(self) -> None:
        transcript = read(session(user("u2", "a1"), user("u1", None), reply("a1", "u1"), reply("a2", "u2")))
        assert codes(transcript) == ["out-of-order"]

    def test_a_leaf_before_its_ancestors_is_refused(self) -> None:
        rows = (user("u2", "a1"), user("u1", None), reply("a1", "u1"))
        with pytest.raises(SessionInvalid) as caught:
            read(session(*rows), leaf="u2")
        assert caught.value.fields["line"] == 2


class TestSessions:
    """The last session of a file is viewed; a header that is written again begins no other one."""

    def test_the_last_session(self) -> None:
        transcript = fixture("two-sessions.jsonl")
        assert transcript.session == "p-4"
        assert prose(transcript)[0] == "Another day."
        assert b"An earlier day." in left(transcript, Reason.OLDER)
        assert codes(transcript) == ["second-session", "repeated-header"]

    def test_a_session_written_anew_under_its_header(self) -> None:
        rows = [user("u1", None, "first copy"), HEADER, user("u1", None, "second copy")]
        assert prose(read(session(*rows))) == ["second copy"]

    def test_no_header(self) -> None:
        transcript = read(session(user("u1", None), header=None))
        assert codes(transcript) == ["no-header"]
        assert transcript.session is None


class TestCompaction:
    """What stands before the first kept entry of the last compaction leaves; the summary is prose."""

    def test_older_entries_leave(self) -> None:
        transcript = fixture("compacted.jsonl")
        assert prose(transcript)[0] == "Now the second."
        assert b"Prune the first row." in left(transcript, Reason.OLDER)
        summaries = [message.id for message in transcript.messages if message.role is Role.SUMMARY]
        assert summaries == ["k2"]

    def test_without_what_left_nothing_is_odd(self) -> None:
        source = (FIXTURES / "compacted.jsonl").read_bytes()
        transcript = read(source)
        shown = source
        for leave in reversed(transcript.leaves):
            shown = shown[: leave.start] + shown[leave.end :]
        again = read(shown)
        assert prose(again) == prose(transcript)
        assert not again.leaves
        assert not again.oddities

    def test_a_superseded_summary_does_not_reach_the_model(self) -> None:
        summary = "an old summary that is long enough to leave, because it says a lot of things"
        rows = (
            user("u1", None),
            entry("k1", "u1", "compaction", summary=summary, firstKeptEntryId="u1"),
            user("u2", "k1"),
            entry("k2", "u2", "compaction", summary="new", firstKeptEntryId="u1"),
        )
        transcript = read(session(*rows))
        assert summary not in prose(transcript)
        assert [part.label for part in of_kind(transcript, PartKind.UI)] == ["superseded summary"]
        assert len(transcript.boundaries) == 2

    def test_a_compaction_that_keeps_nothing_known(self) -> None:
        rows = (user("u1", None), entry("k1", "u1", "compaction", summary="s", firstKeptEntryId="gone"))
        transcript = read(session(*rows))
        assert codes(transcript) == ["missing-kept-entry"]
        assert prose(transcript) == ["s"]

    def test_counted_entries_leave_something_in_their_place(self) -> None:
        source = (FIXTURES / "version-1.jsonl").read_bytes()
        transcript = read(source)
        assert [leave.reason for leave in transcript.leaves] == [Reason.OLDER] * 5
        shown = source
        for leave in reversed(transcript.leaves):
            shown = shown[: leave.start] + leave.replacement + shown[leave.end :]
        assert shown.count(b"\n") == source.count(b"\n")
        again = read(shown)
        assert prose(again) == prose(transcript)
        assert not again.leaves


class TestParts:
    """Each part's span is the value that may leave, and its form says what may stand there."""

    def test_results_keep_their_flags(self) -> None:
        transcript = fixture("compacted.jsonl")
        (part,) = of_kind(transcript, PartKind.RESULT)
        assert (part.call_id, part.tool, part.is_error, part.exit_code) == ("c2", "bash", True, 3)
        assert transcript.literal(part).startswith(b'"second row 0')

    def test_reasoning_of_the_responses_api_is_fixed(self) -> None:
        forms = [part.form for part in of_kind(fixture("tree.jsonl"), PartKind.THINKING)]
        assert forms == [Form.BLOCK, Form.FIXED]

    @pytest.mark.parametrize(
        ("api", "signature", "form", "is_signed"),
        [
            ("anthropic-messages", "c2ln", Form.BLOCK, True),
            ("anthropic-messages", "", Form.BLOCK, False),
            ("openai-completions", "reasoning_content", Form.BLOCK, False),
            ("openai-responses", '{"id":"rs_1"}', Form.FIXED, True),
            ("openai-codex-responses", "", Form.FIXED, False),
            ("google-gemini-cli", "c2ln", Form.FIXED, True),
            ("google-gemini-cli", "", Form.BLOCK, False),
        ],
    )
    def test_thinking(self, api: str, signature: str, form: Form, is_signed: bool) -> None:
        block = {"type": "thinking", "thinking": "so", "thinkingSignature": signature}
        said = {"type": "text", "text": "and so"}
        (part,) = of_kind(read(session(reply("a1", None, block, said, api=api))), PartKind.THINKING)
        assert (part.form, part.is_signed) == (form, is_signed)

    def test_thinking_alone_is_fixed(self) -> None:
        block = {"type": "thinking", "thinking": "so", "thinkingSignature": "c2ln"}
        (part,) = of_kind(
            read(session(reply("a1", None, block, api="anthropic-messages"))), PartKind.THINKING
        )
        assert part.form is Form.FIXED

    def test_signed_calls_and_texts_are_fixed(self) -> None:
        signed = {"type": "text", "text": "said", "textSignature": "x"}
        transcript = read(session(reply("a1", None, signed, call(thoughtSignature="x"))))
        assert [part.form for part in transcript.parts] == [Form.FIXED, Form.FIXED]

    def test_an_image_is_its_base64(self) -> None:
        transcript = fixture("tree.jsonl")
        (image,) = of_kind(transcript, PartKind.MEDIA)
        start, end = image.object_span
        assert transcript.literal(image).startswith(b'{"type":"image"')
        assert transcript.source[start:end].startswith(b'"iVBOR')
        assert (image.label, image.call_id) == ("image/png", "c3")

    def test_what_never_reaches_the_model(self) -> None:
        transcript = fixture("tree.jsonl")
        told = b"".join(transcript.literal(part) for part in of_kind(transcript, PartKind.UI))
        for what in (b"+copy", b"hit row", b"secret row", b"copy copy"):
            assert what in told
        assert all(part.form is Form.EMPTY for part in of_kind(transcript, PartKind.UI))

    def test_flags_of_details_stay(self) -> None:
        details = {"exitCode": 4, "truncation": {"content": "c" * 90, "truncated": False}, "cancelled": False}
        transcript = read(session(reply("a1", None, call()), result("r1", "a1", details=details)))
        (part,) = of_kind(transcript, PartKind.UI)
        assert transcript.literal(part) == b'"' + b"c" * 90 + b'"'
        assert of_kind(transcript, PartKind.RESULT)[0].exit_code == 4

    def test_a_command_of_the_user_has_no_call(self) -> None:
        transcript = fixture("tree.jsonl")
        (part,) = [part for part in of_kind(transcript, PartKind.RESULT) if part.call_id is None]
        assert (part.exit_code, part.role, part.is_error) == (2, Role.USER, False)
        assert not transcript.messages[part.message].is_prompt
        assert "npm run weigh" in prose(transcript)

    def test_files_read_and_written(self) -> None:
        transcript = fixture("tree.jsonl")
        assert transcript.reads == {"c1": ["ledger.txt"], "c3": ["seal.png"]}
        assert [write.path for write in transcript.writes] == ["copy.txt"]


class TestRagged:
    def test_what_can_be_read_is(self) -> None:
        transcript = fixture("ragged.jsonl")
        assert sorted(codes(transcript)) == [
            "glued-records",
            "missing-parent",
            "no-content",
            "not-a-block",
            "not-a-block",
            "not-json",
            "orphan-result",
            "text-without-text",
            "unanswered-call",
            "unknown-record",
        ]
        assert prose(transcript)[:2] == ["Mend the fence.", "Mending."]

    def test_an_open_loop_is_not_odd(self) -> None:
        transcript = fixture("open-loop.jsonl")
        assert (transcript.open_turn, codes(transcript)) == (0, [])

    @pytest.mark.parametrize(
        "row",
        [
            user(7, None),
            user("u1", 7),
            user("u1", None, 7),
            entry("u1", None, message="text"),
            entry("u1", None, message={"role": 7, "content": "x"}),
            entry("u1", None, 7),
            reply("a1", None, call(7)),
            result("r1", None, of=7),
        ],
    )
    def test_a_wrong_type_is_refused_with_its_line(self, row: dict[str, Any]) -> None:
        with pytest.raises(SessionInvalid) as caught:
            read(session(row))
        assert caught.value.fields["line"] == 2
        assert "must be" in caught.value.message


class TestWhatIsSent:
    def test_fixtures_are_valid(self) -> None:
        for path in sorted(FIXTURES.iterdir()):
            transcript = read(path.read_bytes())
            found = check(transcript.api, FORMAT.api_messages(transcript))
            # A result without a call is sent as it is, and the API refuses it.
            assert bool(found) == ("orphan-result" in codes(transcript)), path.name

    def test_the_summary_goes_first(self) -> None:
        messages = FORMAT.api_messages(fixture("compacted.jsonl"))
        assert "the shears are blunt" in messages[0]["content"][0]["text"]
        assert messages[0]["content"][1]["text"] == "Now the second."

    def test_replies_that_failed_are_left_out(self) -> None:
        messages = FORMAT.api_messages(fixture("ragged.jsonl"))
        assert "Mending." not in json.dumps(messages)
        assert "c1" not in json.dumps(messages)

    def test_ids_stay_apart(self) -> None:
        ids = [f"call_{'x' * 70}|fc_{n}" for n in range(2)]
        rows = (reply("a1", None, *(call(id) for id in ids)), *(result(id, None, of=id) for id in ids))
        rows[1]["parentId"], rows[2]["parentId"] = "a1", ids[0]
        sent = FORMAT.api_messages(read(session(user("u0", None), *rows)))
        used = [
            block["id"] for message in sent for block in message["content"] if block["type"] == "tool_use"
        ]
        assert len(set(used)) == 2
        assert all(len(id) <= 64 for id in used)
