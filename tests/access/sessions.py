"""Sessions that our own scope, the others, both or nobody viewed; and what a caller may hold of each."""

from __future__ import annotations

import json
from pathlib import Path

from castore import api
from castore.digest import Digest
from castore.store import Store, StoreHandle
from castore.store.keeping import RootChoice
from castore.transcript.collapse.opening import open_coordinator
from castore.transcript.collapse.spans import Messages
from castore.transcript.collapse.staging import span_of_turns, stage_span
from castore.transcript.collapse.summarizer import GivenText
from castore.transcript.view import ViewRequest, plan_view

TURNS = 10


def pi_session(word: str, turns: int = TURNS, *, detail: str = "shown to a person") -> bytes:
    """Lines of Pi; a call and its long result a turn. detail: what no model sees, so no view tells of it."""
    lines: list[dict[str, object]] = [
        {
            "type": "session",
            "version": 3,
            "id": f"s-{word}",
            "timestamp": "2026-01-01T00:00:00.000Z",
            "cwd": "/w",
        }
    ]

    def say(**message: object) -> None:
        parent = lines[-1]["id"] if len(lines) > 1 else None
        own = f"{len(lines):08x}"
        lines.append({"type": "message", "id": own, "parentId": parent, "message": message})

    say(role="user", content=f"Count the {word}.")
    for turn in range(turns):
        call = {"type": "toolCall", "id": f"c{turn}", "name": "read", "arguments": {"path": f"{turn}.txt"}}
        say(role="assistant", content=[call], api="anthropic-messages", stopReason="toolUse")
        text = {"type": "text", "text": f"{word}, row {turn}\n" * 20}
        details = {"text": f"{detail}, {turn}. " * 20} if turn < 8 else {}
        say(role="toolResult", toolCallId=f"c{turn}", content=[text], isError=False, details=details)
    say(role="assistant", content=[{"type": "text", "text": f"All {word}."}], stopReason="stop")
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


SESSIONS = {
    "own": pi_session("apples"),
    "both": pi_session("pears"),
    "other": pi_session("plums"),
    "other, of our view": pi_session("apples", detail="shown to somebody else"),
    "other, ours grown": pi_session("apples", TURNS + 8),
    "theirs grown": pi_session("plums", TURNS + 8),
    "own expired": pi_session("figs"),
    "none": pi_session("quinces"),
}
VIEWS = {what: plan_view(session, ViewRequest()).to_bytes() for what, session in SESSIONS.items()}

assert VIEWS["own"] == VIEWS["other, of our view"] != SESSIONS["own"]


def edited(view: bytes) -> bytes:
    """Changed after what stands for its first splice."""
    return view.replace(b'"stop"', b'"halt"')


def tailed(view: bytes) -> bytes:
    """As a harness that goes on from the view."""
    record = {"type": "message", "id": "99999999", "parentId": "00000001"}
    return view + json.dumps({**record, "message": {"role": "user", "content": "And?"}}).encode() + b"\n"


def others_view(store: Store) -> None:
    for what, session in SESSIONS.items():
        if what.startswith(("other", "both", "own expired")):
            api.view_bytes(store, session, source_name=f"{what}.jsonl")
    for what in ("both", "other"):
        collapse(store, what, slice(2, 5), "What the others say of it.")


def we_view(store: Store) -> None:
    for what in ("own", "both", "own expired"):
        api.view_bytes(store, SESSIONS[what], source_name="mine.jsonl")
    for what in ("own", "both"):
        collapse(store, what, slice(1, 4), "What we say of it.")
    expired = Digest.of(VIEWS["own expired"])
    store.forget(RootChoice(references=(str(expired),)), at_once=True)


def collapse(store: Store, what: str, turns: slice, summary: str) -> None:
    """These turns of the session are collapsed, and the next one is staged."""
    coordinator = open_coordinator(SESSIONS[what], StoreHandle.of(store), clock=store.parts.clock)
    messages = Messages(coordinator.transcript)
    stage_span(coordinator, messages, span_of_turns(messages, turns), GivenText(summary))
    coordinator.commit(coordinator.transcript)
    following = span_of_turns(messages, slice(turns.stop, turns.stop + 1))
    stage_span(coordinator, messages, following, GivenText(f"{summary} And more."))


def write_files(folder: Path) -> None:
    """What a caller has of each: the session, its view, that view edited, and that view gone on from."""
    for what, session in SESSIONS.items():
        view = VIEWS[what]
        for kind, data in (
            ("session", session),
            ("view", view),
            ("edited", edited(view)),
            ("tailed", tailed(view)),
        ):
            (folder / f"{what}.{kind}.jsonl").write_bytes(data)
