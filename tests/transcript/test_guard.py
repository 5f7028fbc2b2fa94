"""The repeat guard: two identical calls are two too many, and what identical means."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from castore.errors import DocumentInvalid, InvalidOption
from castore.transcript.arguments import arguments_of
from castore.transcript.formats import ReadOptions, read_transcript
from castore.transcript.guard import RepeatGuard
from castore.transcript.model import PartKind, Transcript
from castore.transcript.records import read_records

FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("*/*.json*"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def fed(*calls: tuple[str, Any], times: int = 2) -> RepeatGuard:
    guard = RepeatGuard(times=times)
    for name, arguments in calls:
        guard.record(name, arguments)
    return guard


class TestRepeat:
    def test_of_two_identical_calls_is_stopped(self) -> None:
        guard = fed(("read", {"path": "a"}))
        assert guard.message_for("read", {"path": "a"}) is None
        guard.record("read", {"path": "a"})
        assert guard.message_for("read", {"path": "a"}) is not None
        assert guard.message_for("read", {"path": "b"}) is None
        assert guard.message_for("ls", {"path": "a"}) is None

    def test_must_be_of_the_latest_calls(self) -> None:
        same = ("read", {"path": "a"})
        assert fed(same, same, ("ls", {})).message_for(*same) is None
        assert fed(same, ("ls", {}), same).message_for(*same) is None
        assert fed(("ls", {}), same, same).message_for(*same) is not None

    def test_is_none_after_a_prompt(self) -> None:
        guard = fed(("ls", {}), ("ls", {}))
        guard.reset()
        assert guard.message_for("ls", {}) is None
        guard.record("ls", {})
        assert guard.message_for("ls", {}) is None

    @pytest.mark.parametrize("times", [1, 2, 3, 5])
    def test_is_of_as_many_as_were_asked_for(self, times: int) -> None:
        guard = RepeatGuard(times=times)
        for _ in range(times):
            assert guard.message_for("ls", {}) is None
            guard.record("ls", {})
        assert guard.message_for("ls", {}) is not None

    def test_of_no_calls_is_refused(self) -> None:
        with pytest.raises(InvalidOption):
            RepeatGuard(times=0)


class TestMessage:
    def test_says_what_how_often_and_what_to_do(self) -> None:
        message = fed(*[("read", '{"path": "notes.txt"}')] * 4).message_for("read", {"path": "notes.txt"})
        assert message is not None
        assert message.startswith(
            '\'read\' was called 4 times in a row with these very arguments, {"path":"notes.txt"}:'
        )
        for words in ("this call was not made", "change the arguments", "take another tool"):
            assert words in message
        assert "will be" not in message, "what the tool would say now, nobody knows"

    def test_is_one_short_line_whatever_was_called(self) -> None:
        text = "*** Begin\n" + "x" * 10_000
        message = fed(("patch", text), ("patch", text)).message_for("patch", text)
        assert message is not None
        assert "\n" not in message
        assert len(message) < 600


class TestIdentical:
    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ('{"a":1,"b":[2]}', '{ "b" : [2.0], "a" : 1e0 }'),
            ('{"a":"\\u00e9\\/"}', '{"a":"é/"}'),
            ('{"a":0.1}', '{"a":1e-1}'),
            ('{"a":-0.0}', '{"a":0}'),
            ('{"a":1}', {"a": 1}),
            ('{"a":1}', {"a": 1.0}),
            (b'{"a":1}', '{"a":1}'),
            ("", ""),
            ('{"a": ', '{"a": '),
            ("[" * 100_000, "[" * 100_000),
            ('{"a":1e999}', '{"a":1e999}'),
        ],
    )
    def test_are_arguments_of_one_value(self, first: Any, second: Any) -> None:
        assert fed(("f", first), ("f", first)).message_for("f", second) is not None

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ('{"a":1}', '{"a":"1"}'),
            ('{"a":1}', '{"a":true}'),
            ('{"a":9007199254740993}', '{"a":9007199254740992}'),
            ('{"a":1e999}', '{"a":1e998}'),
            ('{"a": ', '{"a":'),
            ('{"a":NaN}', '{"a":null}'),
            ("abc", '"abc"'),
            ("[1,2]", "[2,1]"),
        ],
    )
    def test_are_not_arguments_of_different_ones(self, first: Any, second: Any) -> None:
        assert fed(("f", first), ("f", first)).message_for("f", second) is None

    @given(JSON)
    def test_are_a_value_and_any_text_of_it(self, value: Any) -> None:
        guard = fed(("f", {"x": value}), ("f", json.dumps({"x": value}, indent=1)))
        assert guard.message_for("f", json.dumps({"x": value}, ensure_ascii=False)) is not None

    @pytest.mark.parametrize("value", [{1, 2}, float("nan"), {"a": object()}])
    def test_are_asked_of_json_alone(self, value: Any) -> None:
        with pytest.raises(InvalidOption):
            RepeatGuard().record("f", value)


# --- From a transcript -----------------------------------------------------------------------------


def session(*messages: dict[str, Any], **body: Any) -> Transcript:
    data = json.dumps({"model": "m", "max_tokens": 9, "messages": list(messages), **body}).encode()
    return read_transcript(read_records(data), ReadOptions())


def anthropic(*messages: dict[str, Any]) -> Transcript:
    return session(*messages, system="be brief", tools=[{"name": "read", "input_schema": {}}])


def prompt(words: str) -> dict[str, Any]:
    return {"role": "user", "content": words}


def uses(*inputs: dict[str, Any], at: str) -> dict[str, Any]:
    blocks = [
        {"type": "tool_use", "id": f"toolu_{at}{number}", "name": "read", "input": each}
        for number, each in enumerate(inputs)
    ]
    return {"role": "assistant", "content": blocks}


def results(count: int, at: str) -> dict[str, Any]:
    blocks = [
        {"type": "tool_result", "tool_use_id": f"toolu_{at}{number}", "content": "x"}
        for number in range(count)
    ]
    return {"role": "user", "content": blocks}


A, B = {"path": "a"}, {"path": "b"}


class TestTranscript:
    def test_of_two_identical_calls_stops_a_third(self) -> None:
        found = anthropic(prompt("go"), uses(A, at="x"), results(1, "x"), uses(A, at="y"), results(1, "y"))
        guard = RepeatGuard.of(found)
        assert guard.in_a_row("read", A) == 2
        assert guard.message_for("read", ' {"path" : "a"}') is not None
        assert guard.message_for("read", B) is None

    def test_counts_a_parallel_group_call_by_call(self) -> None:
        found = anthropic(prompt("go"), uses(A, A, at="x"), results(2, "x"))
        assert RepeatGuard.of(found).message_for("read", A) is not None
        found = anthropic(prompt("go"), uses(A, A, B, at="x"), results(3, "x"))
        assert RepeatGuard.of(found).message_for("read", A) is None

    def test_begins_anew_with_a_prompt(self) -> None:
        calls = uses(A, at="x"), results(1, "x"), uses(A, at="y"), results(1, "y")
        said = {"role": "assistant", "content": "done"}
        assert RepeatGuard.of(anthropic(prompt("go"), *calls, said, prompt("again"))).in_a_row("read", A) == 0
        last = uses(A, at="z"), results(1, "z")
        found = anthropic(prompt("go"), *calls, said, prompt("again"), *last)
        assert RepeatGuard.of(found).in_a_row("read", A) == 1

    def test_reads_arguments_that_are_strings(self) -> None:
        def calls(id: str, arguments: str) -> list[dict[str, Any]]:
            function = {"name": "read", "arguments": arguments}
            call = {"id": id, "type": "function", "function": function}
            return [
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": id, "content": "x"},
            ]

        found = session(prompt("go"), *calls("1", '{"path":"a"}'), *calls("2", '{ "path": "a" }'))
        assert RepeatGuard.of(found).message_for("read", A) is not None
        found = session(prompt("go"), *calls("1", '{"path":'), *calls("2", '{"path":'))
        assert RepeatGuard.of(found).message_for("read", '{"path":') is not None

    @pytest.mark.parametrize("path", FIXTURES, ids=lambda path: f"{path.parent.name}-{path.stem}")
    def test_of_any_format_is_as_if_fed_call_by_call(self, path: Path) -> None:
        try:
            found = read_transcript(read_records(path.read_bytes()), ReadOptions())
        except DocumentInvalid:
            pytest.skip("a fixture of what is refused")
        one = RepeatGuard()
        calls: list[tuple[str, str]] = []
        for message in found.messages:
            if message.is_prompt:
                one.reset()
            for part in (found.parts[index] for index in message.parts):
                if part.kind is PartKind.CALL:
                    calls.append((part.tool or "", arguments_of(found, part)))
                    one.record(*calls[-1])
        guard = RepeatGuard.of(found)
        assert [guard.in_a_row(*call) for call in calls] == [one.in_a_row(*call) for call in calls]

    def test_is_as_if_fed_call_by_call(self) -> None:
        found = anthropic(
            prompt("go"), uses(B, at="w"), results(1, "w"), uses(A, A, A, at="x"), results(3, "x")
        )
        one = fed(("read", B), ("read", A), ("read", A), ("read", A))
        assert RepeatGuard.of(found).message_for("read", A) == one.message_for("read", A)
        # It goes on from there.
        guard = RepeatGuard.of(found)
        guard.record("read", B)
        assert guard.in_a_row("read", A) == 0


def body(*calls: str) -> Transcript:
    """Gemini contents with these calls, each a part."""
    contents = [f'{{"role":"model","parts":[{{"functionCall":{call}}}]}}' for call in calls]
    data = '{"contents":[{"role":"user","parts":[{"text":"go"}]},' + ",".join(contents) + "]}"
    return read_transcript(read_records(data.encode()), ReadOptions())


class TestNumbers:
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("1e20", "100000000000000000000"),
            ("9007199254740992", "9007199254740992.0"),
            ("-0.0", "0"),
            ("1.50", "15e-1"),
        ],
    )
    def test_are_the_same_however_they_are_spelled(self, one: str, other: str) -> None:
        assert fed(("f", f'{{"n":{one}}}')).in_a_row("f", f'{{"n":{other}}}') == 1

    @pytest.mark.parametrize("digits", ["9007199254740993", "1" * 400, "1" * 5000])
    def test_whole_ones_are_apart_as_they_are_written(self, digits: str) -> None:
        guard = fed(("f", f'{{"n":{digits}}}'))
        assert guard.in_a_row("f", f'{{"n":{digits}}}') == 1
        assert guard.in_a_row("f", f'{{"n":{digits[:-1]}2}}') == 0


class TestNoArguments:
    @pytest.mark.parametrize("call", ['{"name":"f"}', '{"name":"f","args":null}', '{"id":"%d","name":"f"}'])
    def test_are_an_empty_object(self, call: str) -> None:
        found = body(*(call.replace("%d", str(at)) for at in range(2)))
        assert RepeatGuard.of(found).in_a_row("f", {}) == 2
        assert RepeatGuard.of(found).message_for("g", {}) is None

    def test_an_empty_text_is_none(self) -> None:
        assert fed(("f", "")).in_a_row("f", {}) == 1

    def test_arguments_that_look_like_a_call_are_arguments(self) -> None:
        found = body('{"name":"f","args":{"name":"f"}}', '{"name":"f","args":{"name":"f"}}')
        assert RepeatGuard.of(found).in_a_row("f", {"name": "f"}) == 2
        assert RepeatGuard.of(found).in_a_row("f", {}) == 0
