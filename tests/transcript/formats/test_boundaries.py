"""Compactions and rewinds, as each tool records them: what the builder makes of both, and where messages end.

A compaction that is honoured is in `compactions` and in `boundaries`; a rewind is no compaction, and what it
took back is no message.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from pathlib import Path
from typing import Any

import pytest

from castore.transcript.model import Message, Role, Transcript
from tests.transcript.formats import test_claude_code as claude
from tests.transcript.formats import test_codex as codex
from tests.transcript.formats import test_pi as pi
from tests.transcript.laws import transcript_of

FOLDER = Path(__file__).parents[1] / "fixtures"
FIXTURES = sorted(FOLDER.rglob("*.json*"))


def said(transcript: Transcript) -> list[str]:
    """What the messages say, but for what tools gave back."""
    return pi.prose(transcript)


def at(transcript: Transcript, offsets: Any) -> list[str]:
    """What stands at these offsets, up to the end of the record."""
    records = {record.start: record for record in transcript.records.records}
    return [transcript.source[records[offset].start : records[offset].end].decode() for offset in offsets]


class TestPi:
    ROWS = (
        pi.user("u1", None, "first"),
        pi.reply("a1", "u1", {"type": "text", "text": "one"}),
        pi.user("u2", "a1", "second"),
        pi.reply("a2", "u2", {"type": "text", "text": "two"}),
    )

    def test_a_compaction_with_entries_that_it_kept(self) -> None:
        compaction = pi.entry("k1", "a2", "compaction", summary="so far", firstKeptEntryId="u2")
        transcript = pi.read(pi.session(*self.ROWS, compaction, pi.user("u3", "k1", "third")))
        assert said(transcript) == ["second", "two", "so far", "third"]
        assert transcript.compactions == transcript.boundaries
        (record,) = at(transcript, transcript.compactions)
        assert json.loads(record)["id"] == "k1"
        (summary,) = [message for message in transcript.messages if message.role is Role.SUMMARY]
        assert summary.position == transcript.compactions[0]

    def test_a_compaction_by_place(self) -> None:
        transcript = transcript_of((FOLDER / "pi/version-1.jsonl").read_bytes())
        (record,) = at(transcript, transcript.compactions)
        assert json.loads(record)["type"] == "compaction"

    def test_a_compaction_on_another_branch_is_none(self) -> None:
        compaction = pi.entry("k1", "a2", "compaction", summary="so far", firstKeptEntryId="u2")
        transcript = pi.read(pi.session(*self.ROWS, compaction, pi.user("u3", "a2", "third")))
        assert said(transcript) == ["first", "one", "second", "two", "third"]
        assert not transcript.compactions
        assert not transcript.boundaries

    def test_a_branch_takes_turns_back(self) -> None:
        transcript = pi.read(pi.session(*self.ROWS, pi.user("u3", "a1", "third")))
        assert said(transcript) == ["first", "one", "third"]
        assert not transcript.compactions

    def test_a_leaf_takes_turns_back(self) -> None:
        leaf = pi.entry("l1", "a2", "leaf", targetId="a1")
        assert said(pi.read(pi.session(*self.ROWS, leaf))) == ["first", "one"]
        assert not pi.read(pi.session(*self.ROWS, leaf)).compactions

    def test_a_branch_with_its_summary_is_no_compaction(self) -> None:
        summary = pi.entry("b1", "a1", "branch_summary", fromId="a2", summary="tried a second")
        transcript = pi.read(pi.session(*self.ROWS, summary, pi.user("u3", "b1", "third")))
        assert said(transcript) == ["first", "one", "tried a second", "third"]
        assert not transcript.compactions
        (record,) = at(transcript, transcript.boundaries)
        assert json.loads(record)["id"] == "b1"


class TestClaudeCode:
    ROWS = (
        claude.user("u1", None, "first"),
        claude.reply("a1", "u1", "m1", claude.text("one")),
        claude.user("u2", "a1", "second"),
        claude.reply("a2", "u2", "m2", claude.text("two")),
    )

    def boundary(self, **metadata: Any) -> dict[str, Any]:
        members = {"subtype": "compact_boundary", "logicalParentUuid": "a2", "compactMetadata": metadata}
        return claude.line("system", "k1", None, **members)

    SUMMARY = claude.user("k2", "k1", "so far", isCompactSummary=True)

    def test_a_boundary_with_its_summary(self) -> None:
        rows = [*self.ROWS, self.boundary(trigger="auto"), self.SUMMARY, claude.user("u3", "k2", "third")]
        transcript = claude.read(claude.session(*rows))
        assert said(transcript) == ["so far", "third"]
        assert transcript.compactions == transcript.boundaries
        (record,) = at(transcript, transcript.compactions)
        assert json.loads(record)["uuid"] == "k1"

    def test_a_boundary_without_a_summary_took_nothing_away(self) -> None:
        rows = [*self.ROWS, self.boundary(trigger="auto"), claude.user("u3", "k1", "third")]
        transcript = claude.read(claude.session(*rows))
        assert said(transcript) == ["first", "one", "second", "two", "third"]
        assert not transcript.compactions
        assert len(transcript.boundaries) == 1
        assert claude.codes(transcript) == ["compaction-without-summary"]

    def test_a_boundary_that_preserved_a_segment(self) -> None:
        segment = {"headUuid": "u2", "anchorUuid": "k2", "tailUuid": "a2"}
        rows = [
            *self.ROWS,
            self.boundary(preservedSegment=segment),
            self.SUMMARY,
            claude.user("u3", "k2", "third"),
        ]
        transcript = claude.read(claude.session(*rows))
        assert said(transcript) == ["second", "two", "so far", "third"]
        (record,) = at(transcript, transcript.compactions)
        assert json.loads(record)["uuid"] == "k1"

    def test_a_summary_that_is_a_root(self) -> None:
        rows = [*self.ROWS, self.SUMMARY | {"parentUuid": None}, claude.user("u3", "k2", "third")]
        transcript = claude.read(claude.session(*rows))
        assert said(transcript) == ["so far", "third"]
        (record,) = at(transcript, transcript.compactions)
        assert json.loads(record)["uuid"] == "k2"

    def test_a_fork_takes_turns_back(self) -> None:
        transcript = claude.read(claude.session(*self.ROWS, claude.user("u3", "a1", "third")))
        assert said(transcript) == ["first", "one", "third"]
        assert not transcript.compactions

    def test_a_fork_from_before_a_compaction_takes_it_back(self) -> None:
        rows = [*self.ROWS, self.boundary(), self.SUMMARY, claude.user("u3", "a1", "third")]
        transcript = claude.read(claude.session(*rows))
        assert said(transcript) == ["first", "one", "third"]
        assert not transcript.compactions


class TestCodex:
    ROWS = (codex.user("first"), codex.reply("one"), codex.user("second"), codex.reply("two"))

    def test_a_compaction_with_its_history(self) -> None:
        history = [row["payload"] for row in (codex.user("first"), codex.user("second"))]
        compacted = codex.compacted(message="so far", replacement_history=history)
        transcript = codex.read(codex.rollout(*self.ROWS, compacted, codex.user("third")))
        assert said(transcript) == ["first", "second", "third"]
        assert transcript.compactions == transcript.boundaries
        (record,) = at(transcript, transcript.compactions)
        assert json.loads(record)["type"] == "compacted"
        # Its messages stand in it, so none of them leaves without it.
        assert transcript.messages[0].position > transcript.compactions[0]

    def test_an_old_one(self) -> None:
        compacted = codex.compacted(message="so far")
        transcript = codex.read(codex.rollout(*self.ROWS, compacted, codex.user("third")))
        assert said(transcript) == ["first", "second", "so far", "third"]
        assert len(transcript.compactions) == 1

    def test_the_last_of_several(self) -> None:
        rows = [*self.ROWS, codex.compacted(message="a"), codex.reply("x"), codex.compacted(message="b")]
        transcript = codex.read(codex.rollout(*rows, codex.user("third")))
        (record,) = at(transcript, transcript.compactions)
        assert json.loads(record)["payload"] == {"message": "b"}
        assert transcript.boundaries == transcript.compactions

    def test_a_rollback_takes_turns_back(self) -> None:
        back = codex.event("thread_rolled_back", num_turns=1)
        transcript = codex.read(codex.rollout(*self.ROWS, back, codex.user("third")))
        assert said(transcript) == ["first", "one", "third"]
        assert not transcript.compactions
        (record,) = at(transcript, transcript.boundaries)
        assert json.loads(record)["payload"]["type"] == "thread_rolled_back"

    def test_a_rollback_into_a_compaction(self) -> None:
        history = [row["payload"] for row in (codex.user("first"), codex.user("second"))]
        compacted = codex.compacted(message="so far", replacement_history=history)
        back = codex.event("thread_rolled_back", num_turns=2)
        rows = [*self.ROWS, compacted, codex.user("third"), codex.reply("three"), back, codex.user("fourth")]
        transcript = codex.read(codex.rollout(*rows))
        assert said(transcript) == ["first", "fourth"]
        assert len(transcript.compactions) == 1
        assert len(transcript.boundaries) == 2


class TestResponses:
    def body(self, *items: dict[str, Any]) -> Transcript:
        return transcript_of(json.dumps({"model": "m", "input": items}).encode())

    @pytest.mark.parametrize("type", ["compaction", "compaction_summary", "context_compaction"])
    def test_an_item_of_a_compaction(self, type: str) -> None:
        item = {"type": type, "id": "cmp_1", "encrypted_content": "x" * 40}
        user = {"role": "user", "content": [{"type": "input_text", "text": "first"}]}
        transcript = self.body(user, item, user)
        assert transcript.compactions == transcript.boundaries
        assert transcript.source[transcript.compactions[0] :].startswith(b'{"type": "' + type.encode())
        assert [message.role for message in transcript.messages] == [Role.USER, Role.SUMMARY, Role.USER]


class TestEnds:
    """`[position, end)` of a message holds all of it, and nothing beyond the records or item that told it."""

    @pytest.mark.parametrize("path", FIXTURES, ids=lambda path: f"{path.parent.name}/{path.name}")
    def test_of_every_format(self, path: Path) -> None:
        transcript = transcript_of(path.read_bytes())
        records = transcript.records.records
        starts = [record.start for record in records]
        for message in transcript.messages:
            first, last = (records[bisect_right(starts, offset) - 1] for offset in place(message))
            assert first.start <= message.position <= message.end <= last.end
            parts = [transcript.parts[index] for index in message.parts]
            is_behind = message.position == message.end
            assert is_behind or all(message.position <= part.start for part in parts)
            assert is_behind or all(part.end <= message.end for part in parts)

    def test_a_reply_of_several_records_ends_with_the_last(self) -> None:
        rows = [
            claude.user("u1", None),
            claude.reply("a1", "u1", "m1", claude.call("t1")),
            claude.result("r1", "a1", "t1"),
            claude.reply("a2", "a1", "m1", claude.call("t2")),
            claude.result("r2", "a2", "t2"),
        ]
        transcript = claude.read(claude.session(*rows))
        reply, records = transcript.messages[1], transcript.records.records
        assert place(reply) == (records[1].start, records[3].end - 1)

    def test_a_reply_of_several_items_ends_with_the_last(self) -> None:
        rows = [
            codex.user("u"),
            codex.reply("a"),
            codex.event("token_count"),
            codex.call(),
            codex.result("r"),
        ]
        transcript = codex.read(codex.rollout(*rows))
        reply, records = transcript.messages[1], transcript.records.records
        assert records[2].start < reply.position < reply.end == records[4].end - 1

    def test_replies_that_follow_one_another_end_with_the_last(self) -> None:
        replies = [{"role": "assistant", "content": text} for text in ("one", "two")]
        body = {"system": "s", "messages": [{"role": "user", "content": "go"}, *replies]}
        transcript = transcript_of(json.dumps(body).encode())
        reply = transcript.messages[-1]
        assert json.loads(b"[" + transcript.source[reply.position : reply.end] + b"]") == replies

    def test_of_an_item_that_is_told_as_two_the_first_ends_where_the_item_does(self) -> None:
        item = {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": "out"},
                {"type": "text", "text": "and"},
                {"type": "text", "text": "now"},
            ],
        }
        call = {"type": "tool_use", "id": "t", "name": "n", "input": {}}
        reply = {"role": "assistant", "content": [call]}
        messages = [{"role": "user", "content": "go"}, reply, item, {"role": "assistant", "content": "done"}]
        transcript = transcript_of(json.dumps({"system": "s", "messages": messages}).encode())
        result, prompt = transcript.messages[3:5]
        assert json.loads(transcript.source[result.position : result.end]) == item
        assert (
            json.loads(b"[" + transcript.source[prompt.position : prompt.end] + b"]") == item["content"][1:]
        )

    def test_a_system_prompt_behind_the_messages_has_no_extent(self) -> None:
        body = {"messages": [{"role": "user", "content": "go"}], "system": "s"}
        transcript = transcript_of(json.dumps(body).encode())
        assert (transcript.messages[0].role, place(transcript.messages[0])) == (Role.SYSTEM, (0, 0))


def place(message: Message) -> tuple[int, int]:
    """Of the first and the last byte."""
    return message.position, max(message.position, message.end - 1)
