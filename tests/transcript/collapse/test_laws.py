"""Collapsed views: exact, valid, stored once, and the same bytes before each point of change."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import castore
from castore.errors import CastoreError
from castore.store import Store, StoreHandle
from castore.transcript.collapse.coordinator import CollapseCoordinator
from castore.transcript.collapse.spans import Messages
from castore.transcript.collapse.store_log import StoreLog
from castore.transcript.formats import read_session
from castore.transcript.view import ViewRequest, make_view
from tests.transcript.collapse import laws
from tests.transcript.collapse.talks import TALKS
from tests.transcript.growing import session

FIXTURES = sorted((Path(__file__).parents[1] / "fixtures").rglob("*.json*"))
GROWN = {f"{tool} of 40 turns": session(40, tool) for tool in ("pi", "claude-code")}


@pytest.fixture
def store(fast_path: Path) -> Store:
    return castore.init_store(fast_path / "store")


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_hold_for_every_fixture(path: Path, store: Store) -> None:
    data = path.read_bytes()
    try:
        read_session(data)
    except CastoreError:
        pytest.skip("it is refused as a session")
    laws.hold_all(store, data)
    store.close()


@pytest.mark.parametrize("name", GROWN)
def test_hold_for_a_session_of_some_length(name: str, store: Store) -> None:
    spans, size = laws.hold_all(store, GROWN[name])
    assert spans > 1
    assert size < len(GROWN[name]) / 2
    store.close()


@pytest.mark.parametrize("tool", ["pi", "claude-code", "codex"])
def test_a_session_that_goes_on_has_the_view_that_it_had_and_more(tool: str, store: Store) -> None:
    talk = TALKS[tool]()
    handle = StoreHandle.of(store)
    before = b""
    for turn in range(12):
        talk.turn(prompt=True, call=True)
        talk.turn(prompt=False, call=False)
        coordinator = CollapseCoordinator(StoreLog(handle, "talk-1"), keep_turns=1)
        transcript = coordinator.restore(talk.source(), handle)
        now = make_view(talk.source(), handle, ViewRequest("collapse")).to_bytes()
        assert now.startswith(before), "what was sent stays as it was sent"
        before = now
        if turn % 4 == 3:
            span = Messages(transcript).span(turn - 2, turn)
            coordinator.stage(span, f"What happened up to {turn}.")
            coordinator.commit(transcript)
            after = make_view(talk.source(), handle, ViewRequest("collapse")).to_bytes()
            at = Messages(transcript).region(span).start
            same = 0
            while same < len(after) and after[same] == before[same]:
                same += 1
            assert before[same - 40 : same] in talk.source()[: at + 200], "it differs where the span begins"
            before = after
    store.close()


@pytest.mark.parametrize("tool", TALKS)
def test_every_state_of_a_session_comes_back_from_its_view(tool: str, store: Store) -> None:
    """Also where turns were taken back at the end, so that the next state begins as a view did."""
    for seed in range(3):
        chance, talk = random.Random(seed), TALKS[tool]()
        views: dict[bytes, bytes] = {}
        for _ in range(9):
            lengths = [each for each in range(len(talk.said)) if talk.may_rewind_to(each)]
            if lengths and chance.random() < 0.4:
                talk.rewind(chance.choice(lengths))
            else:
                talk.turn(prompt=True, call=False)
            for strategies in ("transparent", "collapse"):
                request = ViewRequest(strategies, session="talk-1" if strategies == "collapse" else None)
                made = make_view(talk.source(), StoreHandle.of(store), request).to_bytes()
                assert castore.unfold_bytes(store, made) == talk.source()
                views[made] = talk.source()
        for made, source in views.items():
            assert castore.unfold_bytes(store, made) == source, "an earlier view gives what it was of"
    store.close()


def test_a_read_whose_first_copy_was_taken_back_stands_in_full(store: Store) -> None:
    """Nothing of a rewind is remembered: reads are compared with what the session has now."""
    text = "what the file holds, line after line\n" * 40
    lines: list[dict[str, object]] = [
        {"type": "session", "version": 3, "id": "s", "timestamp": "t", "cwd": "/"}
    ]

    def say(id: str, parent: str | None, message: dict[str, object]) -> None:
        lines.append({"type": "message", "id": id, "parentId": parent, "timestamp": "t", "message": message})

    def read(number: int, parent: str) -> None:
        call = {"type": "toolCall", "id": f"call_{number}", "name": "read", "arguments": {"path": "a.py"}}
        say(f"r{number}", parent, {"role": "assistant", "content": [call], "stopReason": "toolUse"})
        block = [{"type": "text", "text": text}]
        result = {"role": "toolResult", "toolCallId": f"call_{number}", "toolName": "read", "content": block}
        say(f"t{number}", f"r{number}", result)
        stop = {"role": "assistant", "content": [{"type": "text", "text": "Read."}], "stopReason": "stop"}
        say(f"e{number}", f"t{number}", stop)

    def view() -> bytes:
        data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        request = ViewRequest(("collapse", "dedupe-reads"))
        made = make_view(data, StoreHandle.of(store), request).to_bytes()
        assert castore.unfold_bytes(store, made) == data
        return made

    say("p0", None, {"role": "user", "content": "Begin."})
    read(1, "p0")
    say("p2", "e1", {"role": "user", "content": "Again."})
    read(2, "p2")
    literal = json.dumps(text).encode()
    assert view().count(literal) == 1, "the second read points to the first"
    say("p3", "p0", {"role": "user", "content": "Otherwise."})
    read(3, "p3")
    assert view().count(literal) == 1, "the third is the only one now"
    assert b"same tool result" not in view()
    store.close()


def test_a_marker_never_points_into_what_is_collapsed(store: Store) -> None:
    talk = TALKS["pi"]()
    handle = StoreHandle.of(store)
    same = "the same output each time\n" * 30
    for _ in range(6):
        talk.turn(prompt=True, call=True)
        talk.lines[-1] = talk.lines[-1].replace(
            json.dumps(talk.said[-1].text).encode(), json.dumps(same).encode()
        )
    coordinator = CollapseCoordinator(StoreLog(handle, "talk-1"), keep_turns=1)
    transcript = coordinator.restore(talk.source(), handle)
    coordinator.stage(Messages(transcript).span(0, 1), "The first two.")
    coordinator.commit(transcript)
    shown = make_view(talk.source(), handle, ViewRequest(("collapse", "dedupe-reads"))).to_bytes()
    assert b"as of call call_2," not in shown
    assert shown.count(json.dumps(same).encode()) == 1, "the first that stands is in full"
    store.close()
