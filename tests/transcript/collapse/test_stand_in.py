"""What stands in the place of turns that are hidden: the message, the ids, and the sign of the format."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from castore.transcript.collapse.spans import Messages
from castore.transcript.formats import Format, claude_stand_in, find_format, pi_stand_in
from castore.transcript.formats.ui import COLLAPSE_TYPES
from castore.transcript.model import Form, PartKind, Transcript
from tests.transcript.collapse.stand_ins import (
    TEXT,
    hold_all,
    hold_stand_in,
    line_end,
    pieces_of,
    regions,
    spliced,
)
from tests.transcript.formats.test_pi import call, entry, reply, result, session, user
from tests.transcript.laws import transcript_of
from tests.transcript.sessions import pi_session

FIXTURES = Path(__file__).parents[1] / "fixtures"
ALL = sorted(path for path in FIXTURES.rglob("*.json*"))
LINES = [path for path in ALL if path.suffix == ".jsonl"]


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def hide(data: bytes, first: int, last: int) -> tuple[list[dict[str, Any]], bytes]:
    """What stands in for these turns, as values, and the session with it; every law held."""
    transcript = transcript_of(data)
    messages = Messages(transcript)
    region = messages.region_of_turns(first, last)
    assert not isinstance(region, str), region
    shown = hold_stand_in(data, transcript, messages, region)
    standing = find_format(transcript.format).stand_in(transcript, pieces_of(messages, region), TEXT)
    return [json.loads(line) for line in standing.splitlines()], shown


def claude(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def line(uuid: str | None, parent: str | None, type: str = "user", **members: Any) -> dict[str, Any]:
    """A record of Claude Code."""
    common = {"sessionId": "s-1", "timestamp": f"t of {uuid}", "cwd": "/w", "version": "2.1.0"}
    circumstances = {"gitBranch": "main", "userType": "external", "isSidechain": False}
    ids = {} if uuid is None else {"parentUuid": parent, "uuid": uuid}
    return {**ids, "type": type, **common, **circumstances, **members}


def typed(uuid: str, parent: str | None, text: str = "a prompt") -> dict[str, Any]:
    return line(uuid, parent, message={"role": "user", "content": text})


def said(uuid: str, parent: str, *blocks: dict[str, Any], of: str = "") -> dict[str, Any]:
    content = list(blocks) or [{"type": "text", "text": "a reply"}]
    message = {"id": of or f"msg_{uuid}", "role": "assistant", "content": content}
    return line(uuid, parent, "assistant", message=message)


def gave(uuid: str, parent: str, of: str, **members: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": of, "content": "out"}
    return line(uuid, parent, message={"role": "user", "content": [block]}, **members)


def use(id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}}


class TestLaws:
    """Read again, all else is what it was, and one message more says the text; of the second span, too."""

    @pytest.mark.parametrize("path", ALL, ids=name)
    def test_of_every_format(self, path: Path) -> None:
        hold_all(path.read_bytes())

    def test_the_fixtures_have_spans_of_every_format(self) -> None:
        held = {path.parent.name for path in ALL if any(regions(Messages(transcript_of(path.read_bytes()))))}
        assert held == {path.parent.name for path in ALL}

    @pytest.mark.parametrize("path", LINES, ids=name)
    @pytest.mark.parametrize(
        "change",
        [
            lambda data: data.replace(b"\n", b"\r\n"),
            lambda data: data.rstrip(b"\n"),
            lambda data: data.replace(b"}\n{", b"}{"),
            lambda data: data.replace(b"\n", b"\n\n"),
        ],
        ids=["crlf", "no last newline", "glued", "blank lines"],
    )
    def test_of_odd_lines(self, path: Path, change: Callable[[bytes], bytes]) -> None:
        hold_all(change(path.read_bytes()))

    def test_line_ends_are_those_of_the_session(self) -> None:
        label = entry("l", "u2", "label", targetId="u1")
        data = session(user("u1", None), reply("a1", "u1"), user("u2", "a1"), label)
        found, shown = hide(data.replace(b"\n", b"\r\n"), 0, 0)
        assert len(found) == 2
        assert shown.count(b"\r\n") == shown.count(b"\n") == 5


class TestMessage:
    """It goes to the model as the user's; where the format can say so, no person has written it."""

    def test_of_pi(self) -> None:
        (row,), _ = hide(pi_session(6), 0, 3)
        assert row == {
            "type": "custom_message",
            "id": "00000008",
            "parentId": None,
            "timestamp": "2026-01-01T00:00:00Z",
            "customType": "castore.collapse",
            "content": TEXT,
            "display": True,
        }

    def test_of_claude_code(self) -> None:
        rows = [typed("u1", "before"), said("a1", "u1"), typed("u2", "a1"), said("a2", "u2")]
        (row,), _ = hide(claude(*rows), 0, 0)
        # The circumstances are those of the record whose uuid it takes.
        assert row == line(
            "a1",
            "before",
            isMeta=True,
            customType="castore.collapse",
            message={"role": "user", "content": TEXT},
        )

    def test_of_codex(self) -> None:
        (row,), _ = hide((FIXTURES / "codex/loop.jsonl").read_bytes(), 1, 2)
        assert row.pop("timestamp").startswith("2026")
        content = [{"type": "input_text", "text": TEXT}]
        assert row == {
            "type": "response_item",
            "customType": "castore.collapse",
            "payload": {"type": "message", "role": "user", "content": content},
        }

    def test_of_codex_before_it_had_envelopes(self) -> None:
        (row,), _ = hide((FIXTURES / "codex/bare.jsonl").read_bytes(), 0, 0)
        assert (row["type"], row["role"]) == ("message", "user")

    def test_nothing_in_it_decides_what_codex_takes_it_for(self) -> None:
        for text in ("<environment_context>x</environment_context>", "Another language model started to"):
            transcript = transcript_of((FIXTURES / "codex/loop.jsonl").read_bytes())
            messages = Messages(transcript)
            region = messages.region_of_turns(1, 2)
            assert not isinstance(region, str)
            pieces = pieces_of(messages, region)
            standing = find_format("codex").stand_in(transcript, pieces, text)
            splices = [(*piece, b"" if at else standing + b"\n") for at, piece in enumerate(pieces)]
            again = transcript_of(spliced(transcript.source, transcript, splices))
            mine = next(each for each in again.messages if text.encode() in literals(again, each))
            assert (mine.role, mine.is_prompt) == ("user", False)

    @pytest.mark.parametrize(
        ("fixture", "names"),
        [
            ("anthropic/loop.json", {"role", "content"}),
            ("openai-chat/loop.json", {"role", "content"}),
            ("openai-responses/body.json", {"type", "role", "content"}),
            ("gemini/loop.json", {"role", "parts"}),
        ],
    )
    def test_of_bodies(self, fixture: str, names: set[str]) -> None:
        (row,), _ = hide((FIXTURES / fixture).read_bytes(), 1, 2)
        assert row.keys() == names
        assert row["role"] == "user"


def literals(transcript: Transcript, message: Any) -> bytes:
    return b"".join(transcript.literal(transcript.parts[at]) for at in message.parts)


class TestChain:
    """An id to which a record that stays points is one of a record that stands in; each is the next one's
    parent."""

    def test_without_a_pointer_it_takes_the_last_id(self) -> None:
        rows = [typed("u1", None), said("a1", "u1"), typed("u2", None), said("a2", "u2")]
        (row,), _ = hide(claude(*rows), 0, 0)
        assert (row["uuid"], row["parentUuid"]) == ("a1", None)

    def test_of_pi(self) -> None:
        rows = [
            user("u1", None),
            reply("a1", "u1", call()),
            result("r1", "a1"),
            reply("a2", "r1"),
            user("u2", "a2"),
            entry("n1", "u2", "label", targetId="u1", label="here"),
            entry("n2", "n1", "branch_summary", fromId="a1", summary="gone"),
            user("u3", "n2"),
        ]
        found, _ = hide(session(*rows), 0, 1)
        assert [(row["type"], row["id"], row["parentId"]) for row in found] == [
            ("custom", "u1", None),
            ("custom", "a1", "u1"),
            ("custom_message", "a2", "a1"),
        ]

    def test_a_call_that_is_a_parent(self) -> None:
        rows = [user("u1", None), reply("a1", "u1", call("c1")), result("r1", "a1"), user("u2", "c1")]
        (row,), _ = hide(session(*rows), 0, 0)
        assert (row["id"], row["parentId"]) == ("c1", None)

    def test_what_stands_between_keeps_its_place(self) -> None:
        system = entry("s1", "a1", message={"role": "system", "content": "Be brief."})
        rows = [
            user("u1", None),
            reply("a1", "u1"),
            system,
            user("u2", "s1"),
            reply("a2", "u2"),
            user("u3", "a2"),
        ]
        found, shown = hide(session(*rows), 0, 1)
        assert [(row["id"], row["parentId"]) for row in found] == [("a1", None), ("a2", "s1")]
        assert not transcript_of(shown).oddities

    def test_of_claude_code(self) -> None:
        rows = [
            typed("u1", None),
            said("a1", "u1", use("c1")),
            gave("r1", "a1", "c1"),
            said("a2", "r1"),
            typed("u2", "a2") | {"sourceToolAssistantUUID": "a1"},
            line(None, None, "summary", summary="s", leafUuid="u1"),
            said("a3", "u2"),
        ]
        found, _ = hide(claude(*rows), 0, 1)
        assert [(row["type"], row["uuid"], row["parentUuid"]) for row in found] == [
            ("system", "u1", None),
            ("system", "a1", "u1"),
            ("user", "a2", "a1"),
        ]
        assert [row["timestamp"] for row in found] == ["t of u1", "t of a1", "t of a2"]

    def test_parallel_results_hang_on_one_chain(self) -> None:
        rows = [
            typed("u1", None),
            said("a1", "u1", use("c1"), of="m"),
            said("a2", "a1", use("c2"), of="m"),
            gave("r1", "a1", "c1"),
            gave("r2", "a2", "c2"),
            line("p1", "r1", "progress", data={"type": "hook_progress"}),
            said("a3", "r2"),
            typed("u2", "a3"),
            line("n1", "p1", "system", subtype="informational", content="x"),
        ]
        found, _ = hide(claude(*rows), 0, 1)
        assert [(row["type"], row["uuid"], row["parentUuid"]) for row in found] == [
            ("system", "p1", None),
            ("user", "a3", "p1"),
        ]

    def test_what_hangs_on_the_leaf_hangs_on_it(self) -> None:
        note = line("n1", "r1", isMeta=True, message={"role": "user", "content": "a note"})
        rows = [typed("u1", None), said("a1", "u1", use("c1")), gave("r1", "a1", "c1"), note]
        found, _ = hide(claude(*rows), 0, 0)
        assert [(row["type"], row["uuid"]) for row in found] == [("user", "r1")]

    def test_a_preserved_segment_is_found(self) -> None:
        kept = {"preservedSegment": {"headUuid": "a1", "anchorUuid": "k2", "tailUuid": "u2"}}
        boundary = line("k1", None, "system", subtype="compact_boundary", compactMetadata=kept)
        rows = [
            typed("u1", None),
            said("a1", "u1"),
            typed("u2", "a1"),
            boundary | {"logicalParentUuid": "u2"},
            line("k2", "k1", isCompactSummary=True, message={"role": "user", "content": "summary"}),
            typed("u3", "k2"),
            said("a3", "u3"),
        ]
        transcript = transcript_of(claude(*rows))
        a1 = transcript.records.records[1]
        standing = find_format("claude-code").stand_in(
            transcript, [transcript.records.span_with_line_end(a1)], TEXT
        )
        assert json.loads(standing)["uuid"] == "a1"

    def test_a_session_that_counts_its_entries_has_as_many(self) -> None:
        rows = [
            user(None, None),
            reply(None, None, call()),
            result(None, None),
            reply(None, None),
            user(None, None),
        ]
        bare = [{name: row[name] for name in ("type", "timestamp", "message")} for row in rows]
        found, _ = hide(session(*bare), 0, 0)
        assert [row["type"] for row in found] == ["custom", "custom", "message"]
        assert found[-1]["message"] == {"role": "user", "content": TEXT}

    def test_without_ids_there_are_none(self) -> None:
        rows = [
            {"type": type, "sessionId": "s", "message": {"role": type, "content": type}}
            for type in ("user", "assistant") * 2
        ]
        (row,), _ = hide(claude(*rows), 0, 0)
        assert "uuid" not in row

    @pytest.mark.parametrize(("module", "format"), [(pi_stand_in, "pi"), (claude_stand_in, "claude-code")])
    def test_is_looked_at_once_for_all_spans(
        self, module: Any, format: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        built: list[object] = []
        build = module._chain

        def count(*given: Any) -> Any:
            built.append(given)
            return build(*given)

        monkeypatch.setattr(module, "_chain", count)
        turns = [[typed(f"u{n}", f"a{n - 1}" if n else None), said(f"a{n}", f"u{n}")] for n in range(40)]
        data = pi_session(40) if format == "pi" else claude(*(row for turn in turns for row in turn))
        transcript = transcript_of(data)
        messages = Messages(transcript)
        for turn in range(30):
            region = messages.region_of_turns(turn, turn + 1)
            assert not isinstance(region, str)
            find_format(format).stand_in(transcript, pieces_of(messages, region), TEXT)
        assert len(built) == 1


class TestSign:
    """A body is told as what it was, though all that it was told by is hidden."""

    PAIR: tuple[dict[str, Any], ...] = (
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "n", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "out"}]},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "thanks"},
        {"role": "assistant", "content": "welcome"},
    )
    CALL: tuple[dict[str, Any], ...] = (
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "t", "type": "function", "function": {"name": "n", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "t", "content": "out"},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "thanks"},
        {"role": "assistant", "content": "welcome"},
    )

    @pytest.mark.parametrize(
        ("body", "format"),
        [
            ({"model": "x", "messages": [*PAIR]}, "anthropic"),
            ([*PAIR], "messages"),
            (
                [*PAIR, {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}],
                "messages",
            ),
            ({"model": "claude-3", "messages": [*CALL]}, "openai-chat"),
            (
                {"model": "x", "messages": [*CALL, {"role": "user", "content": "x", "type": "y"}]},
                "openai-chat",
            ),
            ([*CALL], "messages"),
        ],
    )
    def test_stays(self, body: Any, format: str) -> None:
        data = json.dumps(body).encode()
        assert transcript_of(data).format == format
        _, shown = hide(data, 0, 0)
        again, before = transcript_of(shown), transcript_of(data)
        assert (again.format, again.api) == (before.format, before.api)
        assert hold_all(data)

    def test_is_there_only_where_it_is_needed(self) -> None:
        told = {"model": "x", "messages": [*self.PAIR], "tools": [{"name": "n", "input_schema": {}}]}
        (row,), _ = hide(json.dumps(told).encode(), 0, 0)
        assert row == {"role": "user", "content": TEXT}
        (row,), _ = hide(json.dumps({"model": "x", "messages": [*self.CALL]}).encode(), 0, 0)
        assert row == {"role": "user", "content": TEXT}

    @pytest.mark.parametrize("kind", ["pi", "claude-code", "codex"])
    def test_a_session_of_nothing_else_is_told(self, kind: str) -> None:
        """The header and all that is surely of the tool may be missing or hidden."""
        path = {
            "pi": "pi/open-loop.jsonl",
            "claude-code": "claude-code/bare.jsonl",
            "codex": "codex/bare.jsonl",
        }
        transcript = transcript_of((FIXTURES / path[kind]).read_bytes())
        messages = Messages(transcript)
        first, last = messages.own[0], messages.own[-1]
        records = transcript.records
        spans = [
            records.span_with_line_end(record)
            for record in records.records
            if first.position < record.end and record.start < last.end
        ]
        standing = find_format(kind).stand_in(transcript, spans, TEXT)
        assert transcript_of(standing).format == kind


LOG = [{"type": type, "collapse_id": "0" * 16, "note": "n" * 90} for type in sorted(COLLAPSE_TYPES)]


class TestOwnLog:
    """Records of our own log in a harness's transcript are what never reaches the model, and never odd."""

    @pytest.mark.parametrize("path", LINES, ids=name)
    def test_among_others(self, path: Path) -> None:
        data = path.read_bytes()
        before = transcript_of(data)
        rows = data.splitlines(keepends=True)
        rows[-1] = rows[-1].rstrip(b"\n") + b"\n"
        log = [json.dumps(row).encode() + b"\n" for row in LOG]
        # Where entries are counted, one that was written among them is counted as well.
        at = 3 if name(path) != "pi/version-1.jsonl" else len(rows)
        after = transcript_of(b"".join([*rows[:at], *log[:2], *rows[at:], *log[2:]]))
        assert after.format == before.format
        assert [odd.code for odd in after.oddities] == [odd.code for odd in before.oddities]
        assert after.leaf == before.leaf
        assert [message.id for message in after.messages] == [message.id for message in before.messages]
        left = [leave for leave in after.leaves if b'"collapse-' in after.source[leave.start : leave.end]]
        ui = [part for part in after.parts_of(PartKind.UI) if b"n" * 90 in after.literal(part)]
        assert len(left) + len(ui) == len(LOG)

    def test_leave_whole_where_nothing_counts_them(self) -> None:
        transcript = transcript_of(pi_session(2) + b"".join(json.dumps(r).encode() + b"\n" for r in LOG))
        forms = [part.form for part in transcript.parts_of(PartKind.UI)]
        assert forms == [Form.NOTHING] * len(LOG)

    def test_an_id_of_theirs_makes_no_tree(self) -> None:
        bare = [{"type": "message", "timestamp": "t", "message": {"role": "user", "content": "x"}}]
        transcript = transcript_of(
            session(*bare, {"type": "collapse-commit", "id": "c"}, header=None) + session()
        )
        assert transcript.messages == []
        one = transcript_of(session(*bare, {"type": "collapse-commit", "id": "c"}))
        assert len(one.messages) == 1

    def test_custom_entries_of_pi(self) -> None:
        log = [
            entry(f"k{n}", f"k{n - 1}" if n else "u1", "custom", customType="castore.collapse", data=row)
            for n, row in enumerate(LOG)
        ]
        transcript = transcript_of(session(user("u1", None), *log, reply("a1", f"k{len(log) - 1}")))
        assert not transcript.oddities
        assert len(transcript.messages) == 2


class TestHidingTwice:
    def test_several_spans_stand_side_by_side(self) -> None:
        """Each is made from the session alone, and they fit together."""
        for path in (FIXTURES / "claude-code/parallel.jsonl", FIXTURES / "codex/loop.jsonl"):
            hold_side_by_side(path.read_bytes(), 1)
        hold_side_by_side(pi_session(20), 3)


def hold_side_by_side(data: bytes, turns: int) -> None:
    transcript = transcript_of(data)
    format: Format = find_format(transcript.format)
    messages = Messages(transcript)
    splices: list[tuple[int, int, bytes]] = []
    hidden = spans = 0
    for turn in range(1, transcript.turns - turns, turns):
        region = messages.region_of_turns(turn, turn + turns - 1)
        if isinstance(region, str):
            continue
        pieces = pieces_of(messages, region)
        standing = format.stand_in(transcript, pieces, TEXT) + line_end(data, pieces[0])
        splices += [(*piece, b"" if at else standing) for at, piece in enumerate(pieces)]
        hidden += region.messages
        spans += 1
    again = transcript_of(spliced(data, transcript, splices))
    assert spans > 1
    assert len(again.messages) == len(transcript.messages) - hidden + spans
    assert (again.leaf, again.leaves) == (transcript.leaf, [])
