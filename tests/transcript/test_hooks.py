"""Claude Code's hooks: what an answer changes of a result, what it leaves alone, and what is kept.

Laws: the shape of a result is as it was, and only long texts are other; what left stands in the store, whole,
before the answer is given; all that stands is about as long as was asked for; what was read back, what tools
that write echo, and images are left alone; and a session's end keeps what its transcript names.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from castore.api import open_store
from castore.errors import CastoreError, DocumentInvalid, InvalidOption
from castore.roots.model import RootKind
from castore.store import Store, StoreHandle
from castore.transcript.hooks.answering import KEEP_SECONDS, HookOptions, answer
from castore.transcript.hooks.claude_code import Payload, length_each, parse_event, payloads

LONG = "".join(f"line {n} of what the tool printed\n" for n in range(2000))
BASH = {"stdout": LONG, "stderr": "", "interrupted": False, "isImage": False}
READ = {
    "type": "text",
    "file": {"filePath": "/a.py", "content": LONG, "numLines": 2000, "startLine": 1, "totalLines": 2000},
}
GLOB = {"filenames": [f"/folder/of/many/files/number-{n}.py" for n in range(2000)], "numFiles": 2000}
TASK = {"content": [{"type": "text", "text": LONG}], "prompt": LONG, "status": "completed"}
MCP = [{"type": "text", "text": LONG}, {"type": "text", "text": LONG[:9000]}]


def event(tool: str, result: Any, name: str = "PostToolUse", **more: Any) -> bytes:
    told = {"hook_event_name": name, "session_id": "5e55", "tool_use_id": "toolu_1", "tool_name": tool}
    return json.dumps({**told, "tool_input": {}, "tool_response": result, **more}).encode()


@pytest.fixture
def store(fast_path: Path) -> Iterator[Store]:
    opened = open_store(fast_path / "store", create=True)
    yield opened
    opened.close()


def answered(store: Store, data: bytes, **options: Any) -> dict[str, Any] | None:
    told = answer(parse_event(data), StoreHandle.of(store), HookOptions(**options))
    if told is None:
        return None
    assert list(told) == ["hookSpecificOutput"]
    specific: dict[str, Any] = told["hookSpecificOutput"]
    assert specific.pop("hookEventName") == "PostToolUse"
    return specific


def replaced(store: Store, data: bytes, **options: Any) -> Any:
    told = answered(store, data, **options)
    assert told is not None
    assert list(told) == ["updatedToolOutput"]
    return told["updatedToolOutput"]


def shape(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: shape(each) for name, each in value.items()}
    if isinstance(value, list):
        kinds = [shape(each) for each in value]
        return [kinds[0]] if kinds and all(each == kinds[0] for each in kinds) else kinds
    return type(value).__name__


def read_back(store: Store, text: str) -> bytes:
    """The object that the marker in the text names."""
    (digits,) = re.findall(r"\[ctx ([0-9a-f]{16}): tool result, ", text)
    return store.read(store.resolve(digits))


class TestWhatIsReplaced:
    @pytest.mark.parametrize(
        ("tool", "result", "path"),
        [
            ("Bash", BASH, ["stdout"]),
            ("Bash", {**BASH, "stdout": "", "stderr": LONG}, ["stderr"]),
            ("Read", READ, ["file", "content"]),
            ("Grep", {"mode": "content", "content": LONG, "filenames": [], "numFiles": 0}, ["content"]),
            ("Task", TASK, ["content", 0, "text"]),
            ("WebFetch", {"bytes": 9, "code": 200, "result": LONG, "url": "https://a"}, ["result"]),
            ("mcp__rows__query", MCP, [0, "text"]),
            ("mcp__files__write_file", [{"type": "text", "text": LONG}], [0, "text"]),
            ("mcp__rows__query", LONG, []),
        ],
    )
    def test_a_long_text_and_nothing_else(
        self, store: Store, tool: str, result: Any, path: list[Any]
    ) -> None:
        other = replaced(store, event(tool, result))
        assert shape(other) == shape(result)
        text, before = other, result
        for step in path:
            text, before = text[step], before[step]
        assert before == LONG
        assert read_back(store, text) == LONG.encode()
        assert text.startswith(LONG[:1000])
        assert len(json.dumps(other)) < 6000 + len(json.dumps({"prompt": TASK["prompt"]})) * (tool == "Task")
        assert json.dumps(result) != json.dumps(other)

    def test_a_long_list_of_texts(self, store: Store) -> None:
        other = replaced(store, event("Glob", GLOB))
        assert shape(other) == shape(GLOB)
        assert other["filenames"][:40] == GLOB["filenames"][:40]  # type: ignore[index]
        assert other["filenames"][-20:] == GLOB["filenames"][-20:]  # type: ignore[index]
        (marked,) = [each for each in other["filenames"] if each.startswith("[ctx ")]
        assert read_back(store, marked).decode().split("\n") == GLOB["filenames"]

    def test_what_gets_line_numbers_has_no_tail(self, store: Store) -> None:
        text = replaced(store, event("Read", READ))["file"]["content"]
        head, _, behind = text.partition("\n[ctx ")
        assert LONG.startswith(head)
        assert behind.endswith(("]\n", "]"))

    def test_short_texts_beside_long_ones_stand(self, store: Store) -> None:
        other = replaced(store, event("Bash", {**BASH, "stderr": "a warning\n" * 30}))
        assert other["stderr"] == "a warning\n" * 30

    def test_an_output_that_is_in_a_file_is_read_whole(self, store: Store, fast_path: Path) -> None:
        file = fast_path / "output.txt"
        file.write_text(LONG + "the end\n")
        kept = {"persistedOutputPath": str(file), "persistedOutputSize": 9}
        other = replaced(store, event("Bash", {**BASH, "stdout": LONG[:500], **kept}))
        assert set(other) == set(BASH)
        assert read_back(store, other["stdout"]) == file.read_bytes()
        assert len(other["stdout"]) < 2300
        # Another tool's word for a path is not believed.
        assert answered(store, event("mcp__a__b", {"stdout": LONG[:500], **kept})) is None
        with pytest.raises(CastoreError, match="can't read the output"):
            answered(store, event("Bash", {**BASH, "persistedOutputPath": str(fast_path / "none")}))
        with pytest.raises(CastoreError, match="is no file"):
            answered(store, event("Bash", {**BASH, "persistedOutputPath": "/dev/zero"}))

    def test_beside_leaves_it_as_it_is(self, store: Store) -> None:
        told = answered(store, event("Bash", BASH), is_replacing=False)
        assert told is not None
        assert list(told) == ["additionalContext"]
        assert read_back(store, told["additionalContext"]) == LONG.encode()
        assert len(told["additionalContext"]) < 300

    def test_the_words_to_read_on_are_chosen(self, store: Store) -> None:
        assert "read on: ctx cat --max-bytes 8000 " in replaced(store, event("Bash", BASH))["stdout"]
        text = replaced(store, event("Bash", BASH), retrieve_with="call ctx_read with")["stdout"]
        assert re.search(r"; call ctx_read with [0-9a-f]{16}\]", text)


class TestWhatIsLeftAlone:
    @pytest.mark.parametrize(
        ("tool", "result", "more"),
        [
            ("Bash", {**BASH, "stdout": LONG[:19_000]}, {}),
            ("Edit", {"filePath": "/a", "originalFile": LONG, "oldString": "a", "newString": "b"}, {}),
            ("Write", {"filePath": "/a", "content": LONG, "type": "create"}, {}),
            ("Read", {"type": "image", "file": {"base64": "A" * 99_999, "type": "image/png"}}, {}),
            ("Bash", {**BASH, "isImage": True}, {}),
            ("mcp__a__b", [{"type": "image", "data": "A" * 99_999, "mimeType": "image/png"}], {}),
            ("Bash", BASH, {"tool_input": {"command": "ctx cat 3f9ac01b77de5a10 | head -c 90000"}}),
            ("mcp__castore__ctx_read", MCP, {"tool_input": {"refs": ["3f9ac01b77de5a10"]}}),
            ("Bash", BASH, {"hook_event_name": "PreToolUse"}),
            ("Bash", BASH, {"hook_event_name": "PostToolUseFailure"}),
            ("Bash", None, {}),
            ("Bash", 3, {}),
            ("Bash", {**BASH, "stdout": "\ud83d" + LONG}, {}),
        ],
    )
    def test_no_answer_and_nothing_stored(
        self, store: Store, tool: str, result: Any, more: dict[str, Any]
    ) -> None:
        assert answered(store, event(tool, result, **more)) is None
        assert list(store.roots()) == []

    def test_an_echo_of_the_call_stands(self, store: Store) -> None:
        assert replaced(store, event("Task", TASK))["prompt"] == LONG

    def test_very_deep_results(self, store: Store) -> None:
        deep = b'{"hook_event_name":"PostToolUse","tool_name":"a","tool_response":%b"%b"%b}'
        assert answered(store, deep % (b"[" * 400, b"x" * 30_000, b"]" * 400)) is not None
        with pytest.raises(DocumentInvalid):
            parse_event(deep % (b"[" * 99_999, b"x", b"]" * 99_999))

    @pytest.mark.parametrize(
        "data", [b"", b"{", b"[]", b"null", b'{"tool_name":"Bash"}', b"\xff", b'{"hook_event_name":1}']
    )
    def test_what_is_no_hook_is_refused(self, data: bytes) -> None:
        with pytest.raises(DocumentInvalid, match="no JSON of a hook"):
            parse_event(data)

    def test_options_are_checked(self) -> None:
        for options in ({"characters_max": 0}, {"characters_shown": 0}, {"retrieve_with": "a ] b"}):
            with pytest.raises(InvalidOption):
                HookOptions(**options)  # type: ignore[arg-type]


class TestShares:
    @given(
        lengths=some.lists(some.integers(201, 30_000), min_size=1, max_size=9),
        shown=some.integers(2_000, 9_000),
    )
    def test_all_together_are_as_long_as_was_asked_for(self, lengths: list[int], shown: int) -> None:
        found = [Payload("x" * length, None, None) for length in lengths]
        each = length_each(found, shown)
        stands = sum(min(length, each) for length in lengths)
        assert stands <= max(shown, 200 * len(lengths))
        if any(length > each for length in lengths):
            assert stands > shown - len(lengths) - 1 or each == 200

    def test_many_that_are_short_alone_are_long_together(self, store: Store) -> None:
        blocks = [{"type": "text", "text": LONG[at : at + 3000]} for at in range(0, 30_000, 3000)]
        other = replaced(store, event("mcp__a__b", blocks), characters_shown=5000)
        assert sum(len(each["text"]) for each in other) < 5000 + 10 * 250
        assert [read_back(store, each["text"]).decode() for each in other] == [
            each["text"] for each in blocks
        ]

    @given(
        result=some.recursive(
            some.none() | some.booleans() | some.integers() | some.text(max_size=600),
            lambda inner: (
                some.lists(inner, max_size=12) | some.dictionaries(some.text(max_size=5), inner, max_size=4)
            ),
            max_leaves=20,
        )
    )
    def test_payloads_are_of_the_result(self, result: Any) -> None:
        told = parse_event(event("mcp__a__b", result))
        found = payloads(told, 300)
        assert sum(len(each.text) for each in found) > 300 or not found
        for each in found:
            at = each.holder[each.key]
            assert ("\n".join(at) if each.is_list else at) == each.text


class TestWhatIsKept:
    def test_a_result_for_as_long_as_was_asked_for(self, store: Store) -> None:
        for seconds in (KEEP_SECONDS, 60, None):
            answered(store, event("Bash", {**BASH, "stdout": LONG + str(seconds)}), keep_seconds=seconds)
        found = sorted(
            -1 if root.expires is None else round(root.expires - root.created) for root in store.roots()
        )
        assert found == [-1, 60, KEEP_SECONDS]
        assert {root.source_name for root in store.roots()} == {"claude-code/5e55/toolu_1"}

    def test_ids_that_are_none_are_no_names(self, store: Store) -> None:
        answered(store, event("Bash", BASH, session_id="../x\n", tool_use_id=3))
        assert {root.source_name for root in store.roots()} == {"claude-code/unknown/unknown"}

    @pytest.mark.parametrize("name", ["SessionEnd", "Stop", "SubagentStop"])
    def test_the_end_keeps_what_the_transcript_names(self, store: Store, fast_path: Path, name: str) -> None:
        text = replaced(store, event("Bash", BASH), keep_seconds=60)["stdout"]
        transcript = fast_path / "transcript.jsonl"
        quoted = "[ctx 0123456789abcdef: tool result, 9 bytes]"
        transcript.write_text(json.dumps({"a": text, "b": quoted}) + "\n")
        ended = {"hook_event_name": name, "session_id": "5e55", "transcript_path": str(transcript)}
        assert answered(store, json.dumps(ended).encode()) is None
        (kept,) = [root for root in store.roots() if root.kind is RootKind.KEEP]
        assert kept.source_name == "claude-code/5e55"
        assert kept.expires == pytest.approx(kept.created + KEEP_SECONDS)
        (digest,) = kept.objects
        assert store.read(digest) == LONG.encode()
        answered(store, json.dumps(ended).encode())
        assert len([root for root in store.roots() if root.kind is RootKind.KEEP]) == 1

    def test_a_transcript_without_end_is_not_waited_for(self, store: Store, fast_path: Path) -> None:
        os.mkfifo(fast_path / "pipe")
        for path in ("/dev/zero", str(fast_path / "pipe"), str(fast_path)):
            ended = {"hook_event_name": "SessionEnd", "transcript_path": path}
            with pytest.raises(CastoreError):
                answered(store, json.dumps(ended).encode())

    def test_a_transcript_that_names_nothing_keeps_nothing(self, store: Store, fast_path: Path) -> None:
        (fast_path / "t").write_text("{}")
        for path in (str(fast_path / "t"), None, 3, ""):
            ended = {"hook_event_name": "SessionEnd", "transcript_path": path}
            assert answered(store, json.dumps(ended).encode()) is None
        assert list(store.roots()) == []
        with pytest.raises(CastoreError, match="can't read the transcript"):
            answered(store, b'{"hook_event_name":"SessionEnd","transcript_path":"/none/at/all"}')
