"""The laws of collapsed views, as functions over a session's bytes: run on fixtures, and on any folder.

    python -m tests.transcript.collapse.laws FOLDER…      each file of a known format; one line a file

What a law finds wrong is raised as AssertionError with the law in its words.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path

from castore.api import init_store, unfold_bytes
from castore.errors import CastoreError
from castore.store import Store, StoreHandle
from castore.transcript.checking import check_view
from castore.transcript.collapse.coordinator import CollapseCoordinator
from castore.transcript.collapse.extract import Extract
from castore.transcript.collapse.spans import Messages, shown
from castore.transcript.collapse.store_log import StoreLog
from castore.transcript.model import Message, Transcript
from castore.transcript.view import View, ViewRequest, make_view
from tests.transcript.laws import transcript_of

KEEP_TURNS = 2
REQUESTS = (
    ViewRequest(("collapse",), session="law"),
    ViewRequest(("collapse", "transparent", "dedupe-reads"), session="law"),
)


def hold_all(store: Store, data: bytes) -> tuple[int, int]:
    """Every law of a session that is collapsed step by step. How many spans there were, and bytes at last."""
    handle = StoreHandle.of(store)
    coordinator = CollapseCoordinator(StoreLog(handle, "law"), keep_turns=KEEP_TURNS)
    transcript = coordinator.restore(data, handle)
    views: list[View] = []
    turns_max = 1
    while coordinator.spawn(transcript, Extract(400), turns_max=turns_max) is not None:
        turns_max = min(2 * turns_max, 64)
        if len(coordinator.staged) < 3:
            continue
        coordinator.commit(transcript)
        views.append(hold_views(store, data, coordinator))
    coordinator.commit(transcript)
    views.append(hold_views(store, data, coordinator))
    for earlier, later in pairwise(views):
        hold_prefix(earlier, later)
    hold_swallowed(store, data, coordinator, transcript)
    return len(shown(coordinator.commits, Messages(transcript))), views[-1].rendered.size


def hold_views(store: Store, data: bytes, coordinator: CollapseCoordinator) -> View:
    """By every request; the view with nothing but the collapse."""
    made = [hold_view(store, data, request, coordinator) for request in REQUESTS]
    return made[0]


def hold_view(store: Store, data: bytes, request: ViewRequest, coordinator: CollapseCoordinator) -> View:
    handle = StoreHandle.of(store)
    view = make_view(data, handle, request)
    bytes_now = view.to_bytes()
    assert unfold_bytes(store, bytes_now) == data, "unfold(view) is the session"
    assert len(bytes_now) <= len(data), "a view is no longer than its session"
    assert make_view(bytes_now, handle, request).to_bytes() == bytes_now, "a view of a view is the view"
    if len(request.strategies) == 1:
        rendered = coordinator.render(coordinator.transcript)
        assert b"".join(rendered.pieces()) == bytes_now, "the coordinator's view is the command's"
    again = CollapseCoordinator(StoreLog(handle, "law"), keep_turns=KEEP_TURNS)
    again.restore(bytes_now, handle)
    assert again.transcript.source == data, "a view that is restored is its session"
    hold_messages(view)
    hold_contents(store, view)
    new, _ = check_view(view)
    assert not new, f"the view breaks rules that the session keeps: {new[:3]}"
    return view


def hold_messages(view: View) -> None:
    """Read again, the view has the messages that stand, and one for each span that is hidden."""
    before, after = view.transcript, transcript_of(view.to_bytes(), view.transcript.format)
    texts = [each.text for each in before.collapsed]
    told = [message for message in after.messages if any(_is_said(after, message.parts, t) for t in texts)]
    assert len(told) == len(texts), "each span has one message in its place"
    assert not any(message.is_prompt for message in told) or before.format not in ("pi", "claude-code")
    ours = {message.index for message in told}
    left = [message for message in after.messages if message.index not in ours]
    assert _shape(left) == _shape(before.messages), "what is not hidden is as it was"
    assert after.leaf == before.leaf or before.leaf is None, "the view ends where the session does"


def hold_contents(store: Store, view: View) -> None:
    """What a marker names lists what is hidden, turn by turn, and each turn's digest gives its bytes."""
    source = view.transcript.source
    for each in view.transcript.collapsed:
        listed = [json.loads(line) for line in store.read(store.resolve(each.text[5:21])).splitlines()]
        assert [line["turn"] for line in listed] == [piece.turn for piece in each.pieces]
        for line, piece in zip(listed, each.pieces, strict=True):
            assert store.read(store.resolve(line["digest"])) == source[piece.start + piece.lead : piece.end]


def hold_prefix(earlier: View, later: View) -> None:
    """What lies before the first span that is hidden anew stays as it was."""
    before, after = earlier.transcript.collapsed, later.transcript.collapsed
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    starts = [each[same].pieces[0].start for each in (before, after) if len(each) > same]
    saved = sum(
        sum(piece.end - piece.start for piece in each.pieces) - len(each.replacement)
        for each in before[:same]
    )
    leaves = [
        s for s in earlier.rendered.splices if s.reason != "collapsed" and starts and s.end <= min(starts)
    ]
    saved += sum(each.end - each.start - len(each.replacement) for each in leaves)
    size = min(starts) - saved if starts else later.rendered.size
    assert earlier.to_bytes()[:size] == later.to_bytes()[:size], "the view before a commit point stays"
    assert size > 0


def hold_swallowed(
    store: Store, data: bytes, coordinator: CollapseCoordinator, transcript: Transcript
) -> None:
    """One span that holds others: their turns are not stored again."""
    messages = Messages(transcript)
    regions = [region for _, region in shown(coordinator.commits, messages)]
    runs = [(a, b) for a, b in pairwise(regions) if a.last_turn + 1 == b.first_turn]
    if not runs:
        return
    first, second = runs[0]
    before = set(store.digests())
    coordinator.stage(messages.span(first.first_turn, second.last_turn), "Both of them, in short.")
    coordinator.commit(transcript)
    view = make_view(data, StoreHandle.of(store), REQUESTS[0])
    new = [digest for digest in store.digests() if digest not in before]
    hidden = {piece.digest for each in view.transcript.collapsed for piece in each.pieces}
    assert not hidden & set(new), "a turn that was hidden before is not stored again"
    assert unfold_bytes(store, view.to_bytes()) == data


def _shape(messages: Sequence[Message]) -> list[object]:
    """Roles and pairs. Calls without ids are called by their place, which is another in a view."""
    names: dict[str, int] = {}

    def numbers(ids: tuple[str, ...]) -> list[int]:
        return [names.setdefault(id, len(names)) for id in ids]

    return [(each.role, numbers(each.calls), numbers(each.answers)) for each in messages]


def _is_said(transcript: Transcript, parts: tuple[int, ...], text: str) -> bool:
    from castore.document.strings import decode_literal

    spoken = [transcript.parts[index] for index in parts]
    return any(part.kind == "prose" and decode_literal(transcript.literal(part)) == text for part in spoken)


def main(folders: list[str]) -> int:
    counts = {"held": 0, "refused": 0, "failed": 0}
    for folder in folders:
        for path in sorted(Path(folder).rglob("*")):
            if not path.is_file():
                continue
            data = path.read_bytes()
            started = time.perf_counter()
            with tempfile.TemporaryDirectory() as temporary:
                try:
                    with closing(init_store(Path(temporary) / "store")) as store:
                        spans, size = hold_all(store, data)
                    what, words = "held", f"{spans} spans, {len(data)} -> {size}"
                except CastoreError as error:
                    what, words = "refused", f"{type(error).__name__}: {error.message[:90]}"
                except AssertionError as error:
                    what, words = "failed", str(error)[:300]
            counts[what] += 1
            sys.stdout.write(f"{what:8} {time.perf_counter() - started:6.2f}s {path.name}: {words}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{counts}\n")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
