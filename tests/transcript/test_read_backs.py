"""What was read back stays: the latest read of an address is whole in every view, but where a cap forces it.

Laws: no strategy moves, clips or replaces the latest result of a read; an earlier one leaves only if the
later came within its step; views of a grown session begin as before, but at a step; all that in every
format. `addresses_of` tells what reads back, by tool, by resource and by command.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from castore.api import open_store, unfold_bytes
from castore.errors import InvalidOption
from castore.store import Store, StoreHandle
from castore.transcript.budget import Budget
from castore.transcript.decision import StrategyId, ViewOptions
from castore.transcript.explain import explain
from castore.transcript.model import PartKind, Transcript
from castore.transcript.read_backs import ReadBacks, addresses_of
from castore.transcript.strategies.transparent import STRATEGY
from castore.transcript.view import View, ViewRequest, make_view, plan_view
from tests.transcript.laws import REQUESTS, hold_all, hold_prefixes
from tests.transcript.reading_back import FORMATS, Call, session_of

A, B = "3f9ac01b77de5a10", "00aa11bb22cc33dd"
OPTIONS = ViewOptions(step=1, clip_characters=300)
CAT, LINES = f"ctx cat {A}", f"ctx cat {A} --lines 3:9"


def shell(command: str, text: str = "") -> Call:
    return Call("bash", {"command": command}, text or f"what {command} printed, on a long line\n" * 60)


def make(number: int) -> Call:
    return shell(f"make {number}")


def read(**arguments: Any) -> Call:
    return Call("mcp__castore__ctx_read", arguments, f"what {arguments} gave, on a long line\n" * 60)


def standing(view: View) -> list[str]:
    """The commands of the calls whose results stand whole."""
    transcript = view.transcript
    left = {splice.part for splice in view.rendered.splices}
    return [_said(transcript, part.call_id) for part in _results(transcript) if part.index not in left]


def _results(transcript: Transcript) -> list[Any]:
    return list(transcript.parts_of(PartKind.RESULT))


def _said(transcript: Transcript, call_id: str | None) -> str:
    from castore.transcript.arguments import arguments_of

    calls = (part for part in transcript.parts_of(PartKind.CALL) if part.call_id == call_id)
    arguments = json.loads(arguments_of(transcript, next(calls)))
    command = arguments.get("command")
    return command if isinstance(command, str) else json.dumps(arguments)


@pytest.fixture
def store(fast_path: Path) -> Iterator[Store]:
    opened = open_store(fast_path / "store", create=True)
    yield opened
    opened.close()


class TestTheLatestReadStands:
    SESSION = (make(0), shell(CAT), make(1), shell(LINES), *map(make, range(2, 20)))

    @pytest.mark.parametrize("format", FORMATS)
    @pytest.mark.parametrize("strategy", ["transparent", "tiered", "clip", "dedupe-reads"])
    def test_in_every_format_and_strategy(self, format: str, strategy: str) -> None:
        stands = standing(plan_view(session_of(format, self.SESSION), ViewRequest((strategy,), OPTIONS)))
        assert CAT in stands
        assert LINES in stands
        assert strategy == "dedupe-reads" or "make 1" not in stands

    @pytest.mark.parametrize("format", FORMATS)
    @pytest.mark.parametrize("request_name", REQUESTS)
    def test_every_law_of_views_holds(self, store: Store, format: str, request_name: str) -> None:
        session = session_of(format, (*self.SESSION[:12], shell(CAT), make(40)))
        hold_all(store, session, "session", REQUESTS[request_name])

    def test_two_addresses_of_one_digest_both_stand(self) -> None:
        calls = [shell(CAT), shell(LINES), shell(CAT + " | head -3"), *map(make, range(20))]
        view = plan_view(session_of("pi", calls), ViewRequest(options=ViewOptions(step=8)))
        assert {CAT, LINES, CAT + " | head -3"} <= set(standing(view))

    def test_what_stands_before_is_no_reason_to_replace_it(self) -> None:
        text = "the same words each time, and many of them\n" * 60
        calls = [shell("make", text), shell(CAT, text), make(1), shell("make again", text), make(2)]
        stands = standing(plan_view(session_of("pi", calls), ViewRequest(("dedupe-reads",), OPTIONS)))
        assert stands == ["make", CAT, "make 1", "make 2"]

    def test_what_comes_later_may_point_to_it(self) -> None:
        text = "the same words each time, and many of them\n" * 60
        calls = [shell(CAT, text), make(1), shell("make again", text), make(2)]
        view = plan_view(session_of("pi", calls), ViewRequest(("dedupe-reads",), OPTIONS))
        assert standing(view) == [CAT, "make 1", "make 2"]

    def test_explain_says_so(self) -> None:
        view = plan_view(session_of("pi", self.SESSION), ViewRequest(options=OPTIONS))
        rows = [row for row in explain(view) if row.kind == "result" and row.reason == "read back"]
        assert len(rows) == 2
        assert {row.decision for row in rows} == {"whole"}


class TestAnEarlierRead:
    def test_leaves_if_the_later_came_within_its_step(self) -> None:
        calls = [shell(CAT), make(0), shell(CAT), *map(make, range(1, 9))]
        view = plan_view(session_of("pi", calls), ViewRequest(options=ViewOptions(step=8)))
        parts = _results(view.transcript)
        assert parts[0].index in view.decisions
        assert parts[2].index not in view.decisions

    def test_stands_as_long_as_its_step_lasts(self) -> None:
        calls = [shell(CAT), make(0), shell(CAT), make(1)]
        for strategy in ("clip", "transparent", "tiered"):
            view = plan_view(session_of("pi", calls), ViewRequest((strategy,), ViewOptions(step=8)))
            assert standing(view).count(CAT) == 2, strategy

    def test_stands_if_the_later_came_after_its_step(self) -> None:
        calls = [shell(CAT), *map(make, range(6)), shell(CAT), *map(make, range(6, 12))]
        view = plan_view(session_of("pi", calls), ViewRequest(options=ViewOptions(step=4)))
        assert standing(view).count(CAT) == 2

    def test_a_failed_read_is_no_later_one(self) -> None:
        failed = Call("bash", {"command": CAT}, "no such object\n" * 40, is_error=True)
        calls = [shell(CAT), failed, *map(make, range(9))]
        view = plan_view(session_of("pi", calls), ViewRequest(options=ViewOptions(step=4)))
        assert _results(view.transcript)[0].index not in view.decisions


class TestGrowth:
    CALLS = some.lists(
        some.sampled_from([shell(CAT), shell(LINES), read(ref=A), shell(f"ctx show {B} {A}"), make(1)]),
        min_size=1,
        max_size=14,
    )

    @given(
        calls=CALLS,
        step=some.integers(1, 5),
        prompts=some.integers(1, 4),
        strategies=some.sampled_from(
            [("transparent",), ("clip",), ("tiered",), ("dedupe-reads", "transparent"), ("dedupe-reads",)]
        ),
    )
    def test_earlier_views_are_prefixes(
        self, calls: list[Call], step: int, prompts: int, strategies: tuple[str, ...]
    ) -> None:
        session = session_of("pi", calls, calls_a_prompt=prompts)
        options = ViewOptions(step=step, clip_characters=300)
        hold_prefixes(session, ViewRequest(strategies, options))

    def test_tiered_has_an_edge_of_its_own(self) -> None:
        for turns in range(2, 9):
            for step in range(1, 5):
                session = session_of("pi", [shell(CAT)] * turns, calls_a_prompt=2)
                hold_prefixes(session, ViewRequest(("tiered",), ViewOptions(step=step)))

    @given(calls=CALLS, step=some.integers(1, 5))
    def test_the_latest_of_each_stands(self, calls: list[Call], step: int) -> None:
        for strategy in ("transparent", "clip", "tiered", "dedupe-reads"):
            view = plan_view(session_of("pi", calls), ViewRequest((strategy,), ViewOptions(step=step)))
            latest = ReadBacks(view.transcript, view.options).latest
            assert not latest & view.decisions.keys()


class TestCaps:
    CALLS = (shell(CAT), *map(make, range(6)), shell(CAT))

    def test_take_what_was_read_back_last_of_all(self) -> None:
        session = session_of("pi", self.CALLS)
        sizes = [session_of("pi", self.CALLS[:at]) for at in range(len(self.CALLS) + 1)]
        seen = []
        for cap in range(len(sizes[-1]), 2_000, -700):
            view = plan_view(session, ViewRequest(("cap",), ViewOptions(step=1, cap_bytes=cap)))
            stands = standing(view)
            seen.append(stands)
            assert not stands or stands[-1] == CAT, "the latest read is the last that leaves"
            assert stands.count(CAT) < 2 or len(stands) == len(self.CALLS), "an earlier read is as any other"
        assert [] in seen
        assert [CAT] in seen

    def test_a_budget_may_take_it(self) -> None:
        session = session_of("pi", self.CALLS)
        view = plan_view(session, ViewRequest(budget=Budget(7_500)))
        assert view.rendered.size <= 7_500
        assert standing(view) == []
        view = plan_view(session, ViewRequest(budget=Budget(12_000)))
        assert standing(view) == [CAT]


class TestCommands:
    @pytest.mark.parametrize(
        "command",
        [
            f"ctx cat {A}",
            f"cd /project && ctx cat {A}",
            f"cd /project; timeout 10s ctx cat sha256:{A}{'0' * 48}",
            f"CTX_STORE=.ctxstore /usr/local/bin/ctx cat '{A}'",
            f"ctx cat \\\n  {A}",
            f'ctx cat "[ctx {A}: tool result, 1111 bytes, 24 lines]"',
            f'ctx cat \'{{"$ctx":{{"kind":"array","digest":"sha256:{A}{"0" * 48}","size":9}}}}\'',
            f"if true; then uv run ctx cat {A}; fi",
            f"echo $(date)\nctx cat {A} && make",
        ],
    )
    def test_of_one_address(self, command: str) -> None:
        assert addresses_of("Bash", json.dumps({"command": command})) == {("cat", A)}

    @pytest.mark.parametrize(
        ("command", "address"),
        [
            (f"ctx cat {A} --items 3:9", ("cat", A, "--items", "3:9")),
            (f"ctx cat --items 3:9 {A}", ("cat", A, "--items", "3:9")),
            (f"ctx cat {A} 2>&1 | head -50", ("cat", A, "2>&1", "|", "head", "-50")),
            (f"ctx grep -i 'time out' {A}", ("grep", A, "-i", "time out")),
            (f"ctx show {A}", ("show", A)),
            ("ctx cat build.log", ("cat", "build.log")),
        ],
    )
    def test_the_words_are_the_address(self, command: str, address: tuple[str, ...]) -> None:
        assert addresses_of("shell", json.dumps({"cmd": command})) == {address}
        assert addresses_of("shell", json.dumps({"command": ["bash", "-lc", command]})) == {address}

    def test_of_several(self) -> None:
        command = f"ctx cat {A} {B} --lines 3 && ctx show {A}"
        assert addresses_of("bash", json.dumps({"command": command})) == {
            ("cat", A, "--lines", "3"),
            ("cat", B, "--lines", "3"),
            ("show", A),
        }
        assert addresses_of("shell", json.dumps({"command": ["ctx", "cat", A]})) == {("cat", A)}

    @pytest.mark.parametrize(
        "command",
        [
            f"echo ctx cat {A}",
            f"# ctx cat {A}",
            f"git log {A}",
            f"ctx put {A}",
            "ctx show",
            f"grep 'ctx cat {A}' notes",
            f"notctx cat {A}",
            f"ctx fold cat {A}",
            "",
            "'" * 999 + '"' * 999 + "\\",
        ],
    )
    def test_what_reads_nothing_back(self, command: str) -> None:
        assert addresses_of("Bash", json.dumps({"command": command})) == frozenset()

    def test_hostile_arguments_are_no_reads(self) -> None:
        for arguments in (
            "[" * 50_000,
            "ctx",
            "null",
            '{"command": 3}',
            '{"command": ["bash", 1]}',
            '{"cmd": []}',
        ):
            assert addresses_of("Bash", arguments) == frozenset()
        long = json.dumps({"command": f"ctx cat {A} " + "'\\" * 40_000})
        assert addresses_of("Bash", long) == frozenset()
        assert addresses_of("Bash", json.dumps({"command": f"ctx cat {A} " + "\"\\'" * 9_000}))

    def test_what_retrieve_with_says(self) -> None:
        command = json.dumps({"command": f"cd x && sh fetch.sh {A} | head"})
        assert addresses_of("bash", command) == frozenset()
        assert addresses_of("bash", command, "sh fetch.sh") == {("read", A, "|", "head")}
        digest = json.dumps({"id": A})
        assert addresses_of("read_context", digest) == frozenset()
        assert len(addresses_of("read_context", digest, "call read_context with")) == 1
        assert addresses_of("bash", digest, "call read_context with") == frozenset()


class TestTools:
    @pytest.mark.parametrize(
        "tool", ["ctx_read", "mcp__castore__ctx_read", "castore.ctx_read", "castore_ctx_read", "CTX:ctx_read"]
    )
    def test_by_whatever_server(self, tool: str) -> None:
        whole = {"refs": [f"sha256:{A}{'0' * 48}"], "items": "3:9"}
        short = {"items": "3:9", "refs": [A]}
        assert len(addresses_of(tool, json.dumps(whole))) == 1
        assert addresses_of(tool, json.dumps(whole)) == addresses_of("ctx_read", json.dumps(short))
        assert addresses_of(tool, json.dumps(whole)) != addresses_of(tool, json.dumps({"refs": [A]}))

    @pytest.mark.parametrize("tool", ["ctx_put", "ctx_list", "ctx_reader", "xctx_read", "Read"])
    def test_others_are_none(self, tool: str) -> None:
        assert addresses_of(tool, json.dumps({"ref": A})) == frozenset()

    def test_resources(self) -> None:
        assert len(addresses_of("ReadMcpResourceTool", json.dumps({"server": "c", "uri": f"ctx://{A}"}))) == 1
        assert addresses_of("Read", json.dumps({"uri": "file:///a"})) == frozenset()

    @pytest.mark.parametrize("format", FORMATS)
    def test_stand_in_every_format(self, format: str) -> None:
        calls = [read(ref=A), *map(make, range(12))]
        view = plan_view(session_of(format, calls), ViewRequest(options=OPTIONS))
        assert json.dumps({"ref": A}) in standing(view)
        assert len(standing(view)) < 5


class TestEarlierVersions:
    def test_a_view_of_version_1_unfolds_and_is_told_from_one_of_2(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        session = session_of("pi", TestTheLatestReadStands.SESSION)
        with monkeypatch.context() as patched:
            patched.setattr(STRATEGY, "id", StrategyId("transparent", 1))
            patched.setattr("castore.transcript.strategies.transparent.ReadBacks.kept", lambda self: ())
            earlier = make_view(session, StoreHandle.of(store), ViewRequest(options=OPTIONS))
        assert CAT not in standing(earlier)
        assert unfold_bytes(store, earlier.to_bytes()) == session
        with pytest.raises(InvalidOption, match="--strategy was transparent@1, now transparent@2") as raised:
            make_view(earlier.to_bytes(), StoreHandle.of(store), ViewRequest(options=OPTIONS))
        assert "unfold it first" in (raised.value.hint or "")
        later = make_view(session, StoreHandle.of(store), ViewRequest(options=OPTIONS))
        assert CAT in standing(later)
        assert unfold_bytes(store, later.to_bytes()) == session
