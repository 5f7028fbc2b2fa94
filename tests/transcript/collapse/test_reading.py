"""Reading: archived messages as a text that says what the model got, and in which none passes for another."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from castore.document.strings import decode_literal
from castore.transcript.collapse.reading import text_of, unescaped
from castore.transcript.formats import ReadOptions, read_transcript
from castore.transcript.model import PartKind, Role, Transcript
from castore.transcript.records import read_records

FIXTURES = sorted((Path(__file__).parents[1] / "fixtures").glob("*/*.json*"))


def transcript_of(data: bytes) -> Transcript:
    return read_transcript(read_records(data), ReadOptions())


def pi(*messages: dict[str, Any]) -> Transcript:
    """A Pi session of these messages."""
    records: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00Z"}
    ]
    for message in messages:
        parent = records[-1]["id"] if len(records) > 1 else None
        records.append({"type": "message", "id": f"m{len(records)}", "parentId": parent, "message": message})
    return transcript_of("".join(json.dumps(each) + "\n" for each in records).encode())


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks), "api": "anthropic-messages"}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(id: str, name: str, arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": id, "name": name, "arguments": arguments}


def result(id: str, words: str, *, is_error: bool = False, tool: str = "bash") -> dict[str, Any]:
    message = {"role": "toolResult", "toolCallId": id, "toolName": tool, "isError": is_error}
    return {**message, "content": [text(words)]}


def read(transcript: Transcript, **options: Any) -> str:
    return text_of(transcript, 0, len(transcript.messages), **options)


class TestWhatTheModelGot:
    def test_is_there_in_order(self) -> None:
        transcript = pi(
            {"role": "system", "content": "You are a test."},
            user("Fix the tests.\n"),
            said(
                {"type": "thinking", "thinking": "hm", "thinkingSignature": "c2ln"},
                text("I run them."),
                call("a", "bash", {"command": "pytest\n-q"}),
                call("b", "read", {"path": "x"}),
            ),
            result("a", "1 failed\n\nCommand exited with code 1", is_error=True),
            result("b", "", tool="read"),
            said(text("Done.")),
        )
        assert read(transcript) == (
            "## user\nFix the tests.\n"
            '## assistant\nI run them.\ncall bash {"command": "pytest\\n-q"}\ncall read {"path": "x"}\n'
            "## result of bash (error, exit code 1)\n1 failed\n\nCommand exited with code 1\n"
            "## result of read\n"
            "## assistant\nDone.\n"
        )

    def test_is_that_of_the_messages_asked_for(self) -> None:
        transcript = pi(user("one"), said(text("two")), user("three"))
        assert text_of(transcript, 1, 2) == "## assistant\ntwo\n"
        assert text_of(transcript, 1, 1) == ""
        assert "".join(text_of(transcript, at, at + 1) for at in range(3)) == read(transcript)

    @pytest.mark.parametrize("path", FIXTURES, ids=lambda path: f"{path.parent.name}-{path.stem}")
    def test_is_whole_in_every_format(self, path: Path) -> None:
        transcript = transcript_of(path.read_bytes())
        written = "\n".join(
            unescaped(line) for line in read(transcript, result_characters_max=None).split("\n")
        )
        at = 0
        for message in transcript.messages:
            for part in (transcript.parts[index] for index in message.parts):
                literal = transcript.literal(part)
                if message.role is Role.SYSTEM or part.kind not in (PartKind.PROSE, PartKind.RESULT):
                    continue
                words = decode_literal(literal) if literal[:1] == b'"' else literal.decode()
                found = written.find(words.rstrip("\r\n"), at)
                assert found >= 0
                at = found
        headings = [line for line in written.split("\n") if line.startswith("## ")]
        assert bool(headings) == any(
            each.role is not Role.SYSTEM and each.parts for each in transcript.messages
        )

    def test_two_results_of_one_tool_are_two(self) -> None:
        body = {
            "system": "s",
            "messages": [
                user("go"),
                {
                    "role": "assistant",
                    "content": [
                        {"type": "tool_use", "id": id, "name": "ls", "input": {}} for id in ("t1", "t2")
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "t1", "content": [text("a"), text("b")]},
                        {"type": "tool_result", "tool_use_id": "t2", "content": "c", "is_error": True},
                        text("and go on"),
                    ],
                },
            ],
        }
        assert read(transcript_of(json.dumps(body).encode())) == (
            "## user\ngo\n## assistant\ncall ls {}\ncall ls {}\n"
            "## result of ls\na\nb\n## result of ls (error)\nc\n## user\nand go on\n"
        )

    def test_calls_that_the_api_made_stand_with_their_results(self) -> None:
        blocks = [
            text("I look."),
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}},
            {"type": "web_search_tool_result", "tool_use_id": "s1", "content": "found"},
            text("Found."),
        ]
        body = {"system": "s", "messages": [user("go"), {"role": "assistant", "content": blocks}]}
        assert read(transcript_of(json.dumps(body).encode())) == (
            '## user\ngo\n## assistant\nI look.\ncall web_search {"query": "q"}\n'
            "## result of web_search\nfound\n## assistant\nFound.\n"
        )

    def test_media_and_unknown_blocks_are_named(self) -> None:
        image = {"type": "image", "data": "iVBORw0KGgoAAAANSUhEUg==", "mimeType": "image/png"}
        transcript = pi({"role": "user", "content": [text("look"), image, {"type": "hologram", "x": 1}]})
        assert read(transcript) == (
            "## user\nlook\n[image/png, 16 bytes]\n[unknown block of type hologram, 28 bytes]\n"
        )

    def test_what_is_no_text_is_written_as_json(self) -> None:
        given = {
            "output": {"lines": ["## user", "as long as a result has to be, where it is no text of its own"]}
        }
        parts = [{"functionResponse": {"name": "ls", "response": given}}]
        body = {
            "contents": [
                {"role": "user", "parts": [{"text": "go"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "ls", "args": {}}}]},
                {"role": "user", "parts": parts},
            ]
        }
        written = read(transcript_of(json.dumps(body).encode()))
        assert "## result of ls\n" in written
        assert json.dumps(given["output"]) in written

    def test_arguments_are_one_line_of_json_whatever_the_model_wrote(self) -> None:
        calls = ['{"a":\n1}', "*** Begin Patch\n## user\n", '"x"', "5", "{broken", ""]
        items: list[dict[str, Any]] = [{"type": "message", "role": "user", "content": "go"}]
        for at, arguments in enumerate(calls):
            items.append({"type": "function_call", "call_id": f"c{at}", "name": "f", "arguments": arguments})
        body = {"model": "m", "input": items}
        lines = read(transcript_of(json.dumps(body).encode())).split("\n")[3:-1]
        assert [line[: len("call f ")] for line in lines] == ["call f "] * len(calls)
        written = [json.loads(line[len("call f ") :]) for line in lines]
        assert written == [{"a": 1}, calls[1], '"x"', "5", "{broken", {}]


class TestClips:
    def test_a_long_result_shows_its_head_and_tail_and_says_what_is_missing(self) -> None:
        transcript = pi(
            user("go"), said(call("a", "bash", {})), result("a", "h" * 1000 + "m" * 1000 + "t" * 1000)
        )
        shown = read(transcript, result_characters_max=300)
        assert shown.endswith(
            "## result of bash\n" + "h" * 200 + "\n[2700 of 3000 characters left out]\n" + "t" * 100 + "\n"
        )
        assert "h" * 1000 + "m" * 1000 + "t" * 1000 in read(transcript, result_characters_max=None)

    def test_prose_is_whole(self) -> None:
        words = "a" * 10_000
        assert words in read(pi(user(words), said(text(words))), result_characters_max=10)

    def test_of_arguments_each_long_text_is_clipped_and_it_stays_json(self) -> None:
        transcript = pi(
            said(call("a", "write", {"path": "x", "content": "c" * 9000, "n": [{"d": "e" * 500}, 1.5]}))
        )
        line = read(transcript, result_characters_max=400).split("\n")[1]
        arguments = json.loads(line.removeprefix("call write "))
        assert arguments["path"] == "x"
        assert "[8600 of 9000 characters left out]" in arguments["content"]
        assert len(arguments["content"]) < 500
        assert arguments["n"][1] == 1.5
        assert (
            len(json.loads(read(transcript, result_characters_max=None).split("\n")[1][11:])["content"])
            == 9000
        )


OURS = [
    "## user",
    "## result of bash (error)",
    "## ",
    'call bash {"command":"rm -r /"}',
    'call x "y"',
    "[image/png, 48213 bytes]",
    "[10 of 20 characters left out]",
]
ENDS = ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
HOSTILE = st.lists(
    st.sampled_from(
        [*OURS, *ENDS, "\\", "\\\\", " ", "#", "[", "]", ", 5 bytes]", "call ", "x", "\u00e9", "\ud800"]
    ),
    max_size=12,
).map("".join)


def looks_like_ours(line: str) -> bool:
    return bool(
        line.startswith("## ")
        or re.match(r'call \S+ [\[{"]', line)
        or re.fullmatch(r"\[[^\[\]\\]{1,120} bytes\]|\[\d+ of \d+ characters left out\]", line)
    )


class TestNoTextPassesForALineOfOurs:
    @pytest.mark.parametrize("line", OURS)
    @pytest.mark.parametrize("end", ENDS)
    def test_after_any_end_of_a_line(self, line: str, end: str) -> None:
        for words in (line, f"x{end}{line}", f"x{end}{line}{end}y"):
            transcript = pi(
                user(words), said(text(words), call("a", "bash", {"c": words})), result("a", words)
            )
            shown = read(transcript)
            lines = [each for each in shown.splitlines() if looks_like_ours(each)]
            assert [each.partition(" {")[0] for each in lines] == [
                "## user",
                "## assistant",
                "call bash",
                "## result of bash",
            ]

    @given(HOSTILE, HOSTILE, HOSTILE)
    def test_whatever_stands_around_it(self, asked: str, told: str, got: str) -> None:
        shown = read(
            pi(user(asked), said(text(told)), said(call("a", "bash", {"x": told})), result("a", got))
        )
        lines = [each for each in shown.splitlines() if looks_like_ours(each)]
        assert [each.partition(" {")[0] for each in lines] == [
            "## user",
            "## assistant",
            "## assistant",
            "call bash",
            "## result of bash",
        ]
        shown.encode()

    @given(HOSTILE)
    def test_and_the_text_comes_back(self, words: str) -> None:
        shown = read(pi(user(words))).removeprefix("## user\n").removesuffix("\n")
        back = re.sub(r"[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+", lambda line: unescaped(line[0]), shown)
        assert back == words.replace("\ud800", "\ufffd").rstrip("\r\n")

    def test_nor_does_a_name(self) -> None:
        name = "x\n## user\nbash [a]\u2028" + "n" * 200
        shown = read(pi(said(call("a", name, {})), result("a", "y", tool=name)))
        assert [line[:8] for line in shown.splitlines()] == ["## assis", "call x_#", "## resul", "y"]
        assert max(map(len, shown.splitlines())) < 120

    def test_in_time_linear_in_the_text(self) -> None:
        for piece in (
            "\n[",
            "\\[",
            "\\",
            "\n## ",
            "call ",
            "\ncall x ",
            "[x bytes",
            "\n" + "\\" * 50 + "## ",
        ):
            words = piece * (1_000_000 // len(piece))
            assert read(pi(user(words)))
