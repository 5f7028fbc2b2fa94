"""Sessions of hostile shapes: four times as much takes four times the work, counted in steps, not in time."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

import pytest

from castore.transcript import records as records_module
from castore.transcript.checking import check_view
from castore.transcript.explain import explain
from castore.transcript.model import Api
from castore.transcript.records import Records, read_records
from castore.transcript.validate import check
from castore.transcript.values import Source
from castore.transcript.view import ViewRequest, plan_view

FEW, MANY = 100, 400
GROWTH_MAX = 4.6
HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": "t", "cwd": "/"}
CODEX = {"timestamp": "t", "type": "session_meta", "payload": {"id": "x", "timestamp": "t"}}


def lines(records: Iterable[object]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def pi(at: int, parent: str | None, content: object = "hello") -> dict[str, Any]:
    message = {"role": "assistant" if isinstance(content, list) else "user", "content": content}
    return {"type": "message", "id": f"m{at}", "parentId": parent, "message": message}


def claude(at: int, parent: str | None, *, is_side: bool = False, type: str = "user") -> dict[str, Any]:
    return {
        "type": type,
        "subtype": "compact_boundary",
        "uuid": f"u{at}",
        "parentUuid": parent,
        "sessionId": "s",
        "timestamp": "t",
        "isSidechain": is_side,
        "message": {"role": "user", "content": "hello"},
    }


def codex(item: object) -> dict[str, Any]:
    return {"timestamp": "t", "type": "response_item", "payload": item}


def item(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def rolled_back(turns: int) -> dict[str, Any]:
    payload = {"type": "thread_rolled_back", "num_turns": turns}
    return {"timestamp": "t", "type": "event_msg", "payload": payload}


def compacted(*history: object) -> dict[str, Any]:
    payload: dict[str, Any] = {"message": "m"}
    if history:
        payload["replacement_history"] = list(history)
    return {"timestamp": "t", "type": "compacted", "payload": payload}


def gemini(calls: int) -> bytes:
    call = [{"functionCall": {"name": f"f{at}", "args": {}}} for at in range(calls)]
    answers = [{"functionResponse": {"name": "g", "response": {"r": 1}}}] * calls
    contents = [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": call},
        {"role": "user", "parts": answers},
    ]
    return json.dumps({"contents": contents}).encode()


def call_block(at: int) -> dict[str, Any]:
    return {"type": "toolCall", "id": f"c{at}:", "name": "f", "arguments": {}}


SHAPES: dict[str, Callable[[int], bytes]] = {
    "pi, missing parents": lambda n: lines([HEADER, *(pi(at, f"x{at}") for at in range(n))]),
    "pi, headers": lambda n: lines([*[HEADER] * n, pi(0, None)]),
    "pi, headers and entries": lambda n: lines(x for at in range(n) for x in (HEADER, pi(at, None))),
    "pi, parents by call": lambda n: lines(
        [HEADER, *(pi(at, f"c{at - 1}:" if at else None, [call_block(at)]) for at in range(n))]
    ),
    "gemini, names that do not match": gemini,
    "codex, compactions": lambda n: lines([CODEX, *[codex(item("a")), compacted(item("b"))] * n]),
    "codex, old compactions": lambda n: lines([CODEX, *[codex(item("a")), compacted()] * n]),
    "codex, rollbacks": lambda n: lines(
        [CODEX, *[codex(item("a"))] * n, *[rolled_back(1), codex(item("a"))] * n]
    ),
    "codex, rollbacks in a compaction": lambda n: lines(
        [CODEX, compacted(*[item("a")] * (n + 2)), *[rolled_back(1), compacted()] * n]
    ),
    "claude-code, a deep sidechain": lambda n: lines(
        claude(at, f"u{at - 1}" if at else None, is_side=True) for at in range(n)
    ),
    "claude-code, boundaries that fork": lambda n: lines(
        [claude(0, None), *(claude(at, "u0", type="system") for at in range(1, n)), claude(n, "u0")]
    ),
    "runs and parts": lambda n: lines(
        [HEADER, *(pi(2 * at + side, f"m{2 * at - 2}" if at else None) for at in range(n) for side in (1, 0))]
    ),
}


def steps(work: Callable[[], object]) -> int:
    """How many instructions of castore's own are run for it."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        if event == "call" and "castore" not in frame.f_code.co_filename:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


class TestSteps:
    @pytest.mark.parametrize("shape", SHAPES)
    def test_of_a_view_grow_as_its_session(self, shape: str) -> None:
        def work(size: int) -> Callable[[], object]:
            session = SHAPES[shape](size)

            def view() -> None:
                planned = plan_view(session, ViewRequest(("dedupe-reads", "transparent")))
                check_view(planned)
                list(explain(planned))

            view()  # Imports and caches are not of the work.
            return view

        assert steps(work(MANY)) < GROWTH_MAX * steps(work(FEW))


class TestBytes:
    @pytest.mark.parametrize("size", [0, 300, 5000])
    @pytest.mark.parametrize("cut", [b"{cut", b'{"cut":', b'{"cut":[1,'])
    def test_of_a_session_of_bad_lines_are_scanned_a_few_times(
        self, size: int, cut: bytes, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        session = lines([HEADER]) + (json.dumps({"a": "x" * size}).encode() + b"\n" + cut + b"\n") * 300
        scanned = 0
        scan = records_module._scan

        def counted(data: bytes, start: int, end: int, ends: dict[int, int]) -> None:
            nonlocal scanned
            scanned += end - start
            scan(data, start, end, ends)

        monkeypatch.setattr(records_module, "_scan", counted)
        assert sum(record.value is None for record in read_records(session).records) == 300
        assert scanned < 6 * len(session) + 300 * 600

    def test_are_not_counted_anew_for_each_line_that_is_asked_for(self) -> None:
        data = b"x\n" * 50_000

        class Counting(bytes):
            total = 0

            def count(self, *arguments: Any) -> int:
                Counting.total += arguments[2] - arguments[1]
                return bytes.count(self, *arguments)

        found = Records(Source(Counting(data)), [])
        asked = [*range(0, len(data), 997), len(data)]
        for offset in (*asked, *reversed(asked)):
            assert found.line_of(offset) == offset // 2 + 1
        assert Counting.total < 15 * len(data)


class Id(str):
    """Counts how often it is compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Id.compared += 1
        return str.__eq__(self, other) is True


class TestRules:
    def test_of_anthropic_compare_each_id_a_few_times(self) -> None:
        many = range(500)
        calls = [{"type": "tool_use", "id": Id(f"t{at}"), "name": "f", "input": {}} for at in many]
        answers = [{"type": "tool_result", "tool_use_id": Id(f"t{at}"), "content": "x"} for at in many]
        messages = [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": calls},
            {"role": "user", "content": answers},
        ]
        Id.compared = 0
        assert check(Api.ANTHROPIC, messages) == []
        assert Id.compared < 20 * len(many)

    def test_of_gemini_compare_each_name_a_few_times(self) -> None:
        many = range(500)
        calls = [{"functionCall": {"name": Id(f"f{at}"), "args": {}}} for at in many]
        answers = [{"functionResponse": {"name": Id(f"f{at}"), "response": {}}} for at in reversed(many)]
        contents = [
            {"role": "user", "parts": [{"text": "go"}]},
            {"role": "model", "parts": calls},
            {"role": "user", "parts": answers},
        ]
        Id.compared = 0
        assert check(Api.GEMINI, contents) == []
        assert Id.compared < 20 * len(many)

    @pytest.mark.parametrize("is_followed", [True, False])
    def test_of_responses_look_at_each_item_a_few_times(self, is_followed: bool) -> None:
        def items(count: int) -> list[Any]:
            thought: list[Any] = [{"type": "reasoning", "id": f"r{at}", "summary": []} for at in range(count)]
            role = "assistant" if is_followed else "user"
            return [*thought, {"role": role, "content": "x"}]

        alone = [] if is_followed else [f"input[{at}]" for at in range(MANY)]
        assert [found.place for found in check(Api.RESPONSES, items(MANY))] == alone
        few, many = items(FEW), items(MANY)
        few_steps = steps(lambda: check(Api.RESPONSES, few))
        assert steps(lambda: check(Api.RESPONSES, many)) < GROWTH_MAX * few_steps
