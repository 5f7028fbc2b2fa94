"""Gemini bodies: what is recognized, where parts stand, what pairs, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from castore.errors import SessionInvalid
from castore.transcript.formats.gemini import FORMAT
from castore.transcript.model import Form, PartKind, Role
from castore.transcript.validate import check
from tests.transcript.formats.bodies import FIXTURES, codes, pairs, parts, prose, read, spine, told

OWN = FIXTURES / "gemini"
CALL = {"functionCall": {"name": "look", "args": {"path": "/a"}}}
LONG = "a shelf of kettles " * 9


def user(*given: Any) -> dict[str, Any]:
    return {"role": "user", "parts": list(given)}


def model(*given: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(given)}


def response(value: Any, **members: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": "look", "response": value, **members}}


def body(*contents: Any, **members: Any) -> dict[str, Any]:
    return {"contents": list(contents), **members}


HI = user({"text": "hi"})


class TestRecognition:
    @pytest.mark.parametrize("path", sorted(OWN.iterdir()), ids=lambda path: path.name)
    def test_fixtures_are_told(self, path: Path) -> None:
        assert told(path.read_bytes()) == "gemini"

    @pytest.mark.parametrize(
        "value",
        [
            {"contents": []},
            {"contents": "hi"},
            {"contents": [{"name": "a file"}]},
            {"history": [HI]},
            {"type": "recording", "contents": [HI]},
        ],
    )
    def test_other_contents_are_not(self, value: Any) -> None:
        with pytest.raises(SessionInvalid, match=r"no known session format; looked for .*gemini"):
            told(value)


class TestSpans:
    def test_a_signed_part_stays(self) -> None:
        signed = {"thoughtSignature": "c2ln"}
        found = read(
            FORMAT,
            body(
                HI,
                model(
                    {"text": "hm", "thought": True, **signed}, {"text": "ho", **signed}, {**CALL, **signed}
                ),
            ),
        )
        reply = [part for part in found.parts if part.role is Role.ASSISTANT]
        assert [part.kind for part in reply] == [PartKind.THINKING, PartKind.PROSE, PartKind.CALL]
        assert {part.form for part in reply} == {Form.FIXED}

    def test_an_unsigned_one_may_leave(self) -> None:
        thought = {"text": "hm", "thought": True}
        found = read(FORMAT, body(HI, model(thought, {"text": "ho"}, CALL), user(response({}))))
        assert parts(found, PartKind.THINKING) == [(Form.BLOCK, thought)]
        assert parts(found, PartKind.CALL) == [(Form.ARGUMENTS, {"path": "/a"})]
        assert prose(found) == ["hi", "ho"]

    def test_a_response_stays_an_object_and_keeps_its_flags(self) -> None:
        value = {"output": LONG, "ok": False, "exit_code": 1, "lines": [LONG], "range": [1, 2], "note": "x"}
        found = read(FORMAT, body(HI, model(CALL), user(response(value))))
        assert parts(found, PartKind.RESULT) == [(Form.TEXT, LONG), (Form.TEXT, [LONG]), (Form.TEXT, "x")]

    @pytest.mark.parametrize(
        ("error", "is_error"),
        [("broken", True), ({"code": 5}, True), (None, False), (False, False), ("", False)],
    )
    def test_an_error_is_what_the_response_says(self, error: Any, is_error: bool) -> None:
        found = read(FORMAT, body(HI, model(CALL), user(response({"error": error, "output": LONG}))))
        assert {part.is_error for part in found.parts_of(PartKind.RESULT)} == {is_error}

    def test_media_are_parts_with_their_payload(self) -> None:
        inline = {"inlineData": {"mimeType": "image/png", "data": "iVBO"}}
        by_name = {"fileData": {"fileUri": "https://example.org/a"}}
        found = read(FORMAT, body(user(inline, by_name), model(CALL), user(response({}, parts=[inline]))))
        first, inside = found.parts_of(PartKind.MEDIA)
        assert (first.form, inside.form) == (Form.BLOCK, Form.FIXED), (
            "no text may stand in a response's parts"
        )
        assert first.payload is not None
        assert found.source[slice(*first.payload)] == b'"iVBO"'

    def test_a_text_block_is_a_part_of_text(self) -> None:
        found = read(FORMAT, body(HI))
        assert (found.text_block.before, found.text_block.after) == (b'{"text":', b"}")

    def test_code_that_the_api_ran(self) -> None:
        found = read(FORMAT, (OWN / "code.json").read_bytes())
        [result] = (part for part in found.parts_of(PartKind.RESULT) if part.tool == "executableCode")
        assert (result.call_id, result.is_error, result.form) == ("#1.1", True, Form.TEXT)

    def test_the_sdks_spelling_reads_the_same(self) -> None:
        found = read(FORMAT, (OWN / "sdk.json").read_bytes())
        assert codes(found) == []
        assert found.messages[0].role is Role.SYSTEM
        assert any(part.is_signed or part.form is Form.FIXED for part in found.parts)
        assert list(found.parts_of(PartKind.MEDIA))
        assert check(found.api, FORMAT.api_messages(found)) == []


class TestTurns:
    def test_a_turn_is_an_exchange(self) -> None:
        found = read(
            FORMAT, body(HI, model(CALL), user(response({}), {"text": "stop"}), model({"text": "ok"}))
        )
        assert spine(found) == [
            (Role.USER, 0, True),
            (Role.ASSISTANT, 0, False),
            (Role.RESULT, 0, False),
            (Role.USER, 1, True),
            (Role.ASSISTANT, 1, False),
        ]

    def test_contents_without_a_role_are_the_users(self) -> None:
        assert spine(read(FORMAT, body({"parts": [{"text": "hi"}]}))) == [(Role.USER, 0, True)]


class TestPairs:
    def test_calls_without_ids_pair_by_name_and_order(self) -> None:
        found = read(FORMAT, (OWN / "loop.json").read_bytes())
        calls, answers = pairs(found)
        assert calls == answers
        assert len(set(calls)) == 45
        assert codes(found) == []
        assert check(found.api, FORMAT.api_messages(found)) == []

    def test_made_up_ids_do_not_hang_on_thinking(self) -> None:
        for before in ([], [{"text": "hm", "thought": True}]):
            found = read(FORMAT, body(HI, model(*before, CALL, CALL), user(response({}), response({}))))
            assert pairs(found) == (["#1.1", "#1.2"], ["#1.1", "#1.2"])

    def test_halves_are_told(self) -> None:
        assert codes(read(FORMAT, (OWN / "code.json").read_bytes())) == ["orphan-result", "unanswered-call"]


class TestRefusals:
    @pytest.mark.parametrize(
        ("content", "words"),
        [
            ({"role": 5, "parts": []}, "role must be a string, not a number"),
            (
                {"role": "assistant", "parts": []},
                "must be one of user, model, function, tool, not 'assistant'",
            ),
            ({"role": "user", "parts": 5}, "'parts' must be a list, not a number"),
            ({"role": "user"}, "'parts' must be a list, not absent"),
            (model({"functionCall": {"name": 5}}), "name must be a string, not a number"),
            (user({"functionResponse": {"name": "f", "id": 5}}), "id must be a string, not a number"),
            ("hi", "a message must be an object, not a string"),
        ],
    )
    def test_wrong_types_have_their_line(self, content: Any, words: str) -> None:
        with pytest.raises(SessionInvalid, match=words) as refused:
            read(FORMAT, json.dumps(body(HI, content), indent=1).encode())
        assert refused.value.fields["line"] >= 9
