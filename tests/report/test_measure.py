"""The facts of sessions: sums, views, tools, repeats, and what is listed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from castore.digest import Digest
from castore.report.measure import STRATEGIES, measure
from castore.report.model import (
    EXCERPT_CHARACTERS_MAX,
    PROSE_CHARACTERS_MAX,
    Listed,
    Payload,
    SessionFacts,
    Share,
    to_json,
)
from castore.store import Store, StoreHandle
from castore.transcript.decision import ViewOptions
from castore.transcript.formats import find_format
from castore.transcript.measure import Meter
from castore.transcript.render import Rendered
from castore.transcript.view import ViewRequest, make_view, plan_view, session_transcript
from tests.transcript.growing import session
from tests.transcript.sessions import pi_session

FIXTURES = sorted(
    path for path in (Path(__file__).parents[1] / "transcript" / "fixtures").rglob("*") if path.is_file()
)
NAMES = {"ids": lambda path: f"{path.parent.name}-{path.stem}"}


def facts_of(data: bytes, request: ViewRequest | None = None) -> SessionFacts:
    facts = measure(data, "it", request)
    assert isinstance(facts, SessionFacts)
    return facts


def hold_sums(data: bytes, facts: SessionFacts) -> None:
    assert sum(each.size for each in facts.kinds) == facts.size == len(data)
    assert sum(each.tokens for each in facts.kinds) == facts.tokens
    assert all(each.size >= 0 and each.tokens >= 0 for each in facts.kinds)
    turns = facts.turn_facts
    assert [each.first for each in turns] == sorted(each.first for each in turns)
    for each in facts.kinds:
        if each.kind is Share.OUTSIDE:
            assert not any(each.kind in turn.sizes for turn in turns)
        else:
            assert sum(turn.sizes.get(each.kind, 0) for turn in turns) == each.size
            assert sum(turn.tokens.get(each.kind, 0) for turn in turns) == each.tokens


def hold_views(data: bytes, facts: SessionFacts) -> None:
    for each in facts.strategies:
        view = plan_view(data, ViewRequest(each.strategy))
        shown = view.to_bytes()
        assert each.size == len(shown)
        assert each.characters == len(shown.decode("utf-8", "replace"))
        assert each.saved == pytest.approx((len(data) - len(shown)) / len(data))
        assert each.tokens == Meter(view.transcript, is_tokens=True).measure(view.rendered).size
        assert each.objects == len({splice.descriptor.digest for splice in view.rendered.splices})


class TestSumsAgree:
    @pytest.mark.parametrize("path", FIXTURES, **NAMES)
    def test_of_fixtures(self, path: Path) -> None:
        data = path.read_bytes()
        facts = facts_of(data)
        hold_sums(data, facts)
        hold_views(data, facts)
        json.dumps(to_json(facts))

    @pytest.mark.parametrize("tool", ["pi", "claude-code"])
    def test_of_sessions_that_grow(self, tool: str) -> None:
        for turns in (1, 2, 9, 40):
            data = session(turns, tool)
            hold_sums(data, facts_of(data))

    @settings(max_examples=60, deadline=None)
    @given(
        st.lists(
            st.tuples(
                st.sampled_from(("user", "assistant", "system")),
                st.text(st.characters(), max_size=300),
            ),
            min_size=1,
            max_size=12,
        ),
        st.booleans(),
        st.sampled_from((None, 1)),
    )
    def test_of_any_texts(self, said: list[tuple[str, str]], is_ascii: bool, indent: int | None) -> None:
        messages = [{"role": role, "content": text} for role, text in said]
        text = json.dumps({"model": "gpt-4o", "messages": messages}, ensure_ascii=is_ascii, indent=indent)
        data = text.encode("utf-8", "surrogatepass" if is_ascii else "replace")
        facts = facts_of(data, ViewRequest(format="openai-chat"))
        hold_sums(data, facts)
        json.dumps(to_json(facts))

    @pytest.mark.parametrize("path", FIXTURES, **NAMES)
    def test_tokens_are_those_of_a_budget(self, path: Path) -> None:
        data = path.read_bytes()
        transcript = session_transcript(data, ViewRequest())
        measured = Meter(transcript, is_tokens=True).measure(Rendered(transcript, ())).size
        facts = facts_of(data)
        if find_format(transcript.format).is_body:
            assert facts.tokens >= measured
        else:
            assert facts.tokens == measured


class TestStrategies:
    def test_those_that_say_something_without_more(self) -> None:
        assert [each.strategy for each in facts_of(session(9)).strategies] == list(STRATEGIES)

    def test_what_is_asked_for_is_compared_too_and_told_part_by_part(self) -> None:
        data = session(20)
        facts = facts_of(data, ViewRequest("transparent,clip", ViewOptions(step=2)))
        assert facts.view == facts.viewed.strategy == facts.strategies[0].strategy == "transparent,clip"
        view = plan_view(data, ViewRequest("transparent,clip", ViewOptions(step=2)))
        assert facts.viewed.size == view.rendered.size
        assert facts.moved.total == len(view.rendered.splices)

    def test_what_moved_is_what_a_store_gets(self, fast_path: Path) -> None:
        data = session(20)
        store = Store.init(fast_path / "s")
        make_view(data, StoreHandle.of(store), ViewRequest())
        facts = facts_of(data)
        assert facts.moved.total == len(facts.moved.shown) > 10
        for each in facts.moved.shown:
            assert len(store.read(Digest.parse(each.digest))) == each.object_size
            assert each.words == ("cat", each.digest[7:23])
        assert sum(each.size - each.view_size for each in facts.moved.shown) == facts.size - facts.viewed.size
        store.close()


class TestPayloads:
    def test_the_biggest_come_first_with_the_digest_they_would_have(self) -> None:
        data = pi_session(12)
        facts = facts_of(data)
        sizes = [each.size for each in facts.payloads.shown]
        assert sizes == sorted(sizes, reverse=True)
        moved = {each.part: each for each in facts.moved.shown}
        first = next(each for each in facts.payloads.shown if each.part in moved)
        transcript = session_transcript(data, ViewRequest())
        text = json.loads(transcript.literal(transcript.parts[first.part]))
        assert first.excerpt == " ".join(text.split())[: EXCERPT_CHARACTERS_MAX - 1] + "…"
        assert first.kind is Share.RESULTS
        assert data.splitlines()[first.line - 1].find(b"what the tool gave back") > 0
        assert first.digest == moved[first.part].digest == str(Digest.of(text.encode()))

    def test_an_excerpt_never_cuts_a_character(self) -> None:
        for text in ("\U0001f600" * 4000, "\\n\n\t" * 4000, "中" * 4000, "\ud83d" * 4000):
            data = json.dumps({"messages": [{"role": "user", "content": text}]}).encode()
            for each in (data, json.dumps(json.loads(data), ensure_ascii=False).encode("utf-8", "replace")):
                (payload,) = facts_of(each, ViewRequest(format="openai-chat")).payloads.shown
                whole = json.loads(each)["messages"][0]["content"]
                assert " ".join(whole.split()).startswith(payload.excerpt.removesuffix("…"))
                assert len(payload.excerpt) <= EXCERPT_CHARACTERS_MAX


class TestThinking:
    @pytest.mark.parametrize("is_ascii", [True, False])
    @pytest.mark.parametrize(
        "thought", ['The "row" is odd', "中\U0001f600\ud83d" * 900, "", '{"thinking": "x"}', "a\\" * 500]
    )
    def test_its_excerpt_is_what_was_thought(self, thought: str, is_ascii: bool) -> None:
        block = {"type": "thinking", "signature": "c2ln" * 90, "thinking": thought}
        said = [{"role": "assistant", "content": [block, {"type": "text", "text": "done"}]}]
        body = {"messages": [{"role": "user", "content": "go"}, *said]}
        data = json.dumps(body, ensure_ascii=is_ascii).encode("utf-8", "replace")
        facts = facts_of(data, ViewRequest(format="anthropic"))
        whole = " ".join(json.loads(data)["messages"][1]["content"][0]["thinking"].split())
        for each in (*facts.payloads.shown, *facts.pairs.shown):
            if each.kind is Share.THINKING:
                told = each.excerpt if isinstance(each, Payload) else each.text
                assert whole.startswith(told.removesuffix("…"))
                assert len(told) >= min(len(whole), EXCERPT_CHARACTERS_MAX - 2)


class TestTools:
    def test_calls_and_results(self) -> None:
        (tool,) = facts_of(pi_session(5)).tools.shown
        assert (tool.tool, tool.calls, tool.results, tool.errors) == ("bash", 5, 5, 0)
        assert tool.call_size == sum(len(json.dumps({"command": f"make {turn}"})) for turn in range(5))

    def test_failures(self) -> None:
        data = pi_session(5).replace(b'"isError": false', b'"isError": true', 2)
        (tool,) = facts_of(data).tools.shown
        assert (tool.results, tool.errors) == (5, 2)


class TestRepeats:
    def test_results_that_are_the_same(self) -> None:
        facts = facts_of(pi_session(4, result="the very same line of output\n" * 30))
        (repeat,) = facts.repeats.shown
        assert (repeat.times, repeat.turns, repeat.path) == (4, (0, 2, 4, 6), None)
        assert repeat.repeat_size * 4 == repeat.size * 3

    def test_files_that_are_read_again(self) -> None:
        facts = facts_of(session(40, "claude-code"))
        by_path = {each.path: each for each in facts.repeats.shown if each.path}
        assert set(by_path) >= {"src/cache.py"}
        assert all(each.times > 1 and each.size > each.repeat_size > 0 for each in by_path.values())
        sizes = [each.repeat_size for each in facts.repeats.shown]
        assert sizes == sorted(sizes, reverse=True)

    def test_short_results_are_no_repeats(self) -> None:
        assert facts_of(pi_session(4, result="ok")).repeats == Listed()


class TestPairs:
    def test_prose_stands_and_what_moved_is_a_marker(self) -> None:
        facts = facts_of(pi_session(12))
        shown = {each.part: each for each in facts.pairs.shown}
        for each in shown.values():
            if each.kind in (Share.USER, Share.ASSISTANT):
                assert each.shown is None
        for moved in facts.moved.shown:
            if moved.part is not None:
                assert (shown[moved.part].shown or "").startswith(f"[ctx {moved.digest[7:23]}")

    def test_long_prose_is_cut_and_its_length_said(self) -> None:
        data = json.dumps({"messages": [{"role": "user", "content": "word " * 5000}]}).encode()
        (pair,) = facts_of(data, ViewRequest(format="openai-chat")).pairs.shown
        assert (len(pair.text), pair.characters) == (PROSE_CHARACTERS_MAX, 25_000)


class TestBounds:
    def test_lists_end_and_say_how_long_they_are(self, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = facts_of(session(30))
        for module, name, limit in (
            ("payloads", "LISTED_MAX", 3),
            ("viewed", "MOVED_MAX", 4),
            ("viewed", "PAIRS_MAX", 5),
            ("folded", "LISTED_MAX", 2),
        ):
            monkeypatch.setattr(f"castore.report.{module}.{name}", limit)
        facts = facts_of(session(30))
        assert len(facts.payloads.shown) == 3
        assert facts.payloads.total == whole.payloads.total == 3 + facts.payloads.left_out
        assert (len(facts.moved.shown), facts.moved.total) == (4, whole.moved.total)
        assert (len(facts.pairs.shown), facts.pairs.total) == (5, whole.pairs.total)
        assert facts.fold is not None
        assert len(facts.fold.spans.shown) == 2

    def test_many_turns_are_told_together(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("castore.report.sizes.TURNS_MAX", 7)
        data = session(30)
        facts = facts_of(data)
        assert len(facts.turn_facts) <= 7
        assert facts.turn_facts[-1].last == facts.turns - 1
        hold_sums(data, facts)


class TestDeterministic:
    def test_the_same_facts_again(self) -> None:
        data = FIXTURES[0].read_bytes()
        assert measure(data, "it") == measure(data, "it")
