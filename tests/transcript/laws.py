"""The laws of views, as functions over a session's bytes: run on fixtures, and on any folder of sessions.

    python -m tests.transcript.laws FOLDER…       each file of a known format, every strategy; one line a file

What a law finds wrong is raised as AssertionError with the law in its words.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from castore.api import open_store, unfold_bytes
from castore.errors import CastoreError, LimitExceeded
from castore.store import Store, StoreHandle
from castore.transcript.checking import check_view
from castore.transcript.decision import ViewOptions, boundary_turn
from castore.transcript.formats import ReadOptions, read_transcript
from castore.transcript.model import PartKind, Transcript
from castore.transcript.records import read_records
from castore.transcript.strategies.tiered import edge_turn
from castore.transcript.view import View, ViewRequest, make_view, plan_view

REQUESTS: dict[str, ViewRequest] = {
    "transparent": ViewRequest(),
    "transparent, step 1": ViewRequest(options=ViewOptions(step=1)),
    "silent thinking, arguments": ViewRequest(
        options=ViewOptions(step=2, mark_thinking=False, fold_arguments=300, retrieve_with="ctx cat")
    ),
    "max prose": ViewRequest(options=ViewOptions(step=2, max_prose=4000)),
    "tiered": ViewRequest(("tiered",), ViewOptions(step=2)),
    "dedupe-reads": ViewRequest(("dedupe-reads",)),
    "clip": ViewRequest(("clip",), ViewOptions(clip_characters=500)),
    "cap": ViewRequest(("cap",), ViewOptions(cap_bytes=20_000)),
    "cap with prose": ViewRequest(("cap",), ViewOptions(cap_bytes=5_000, cap_prose=True)),
    "all": ViewRequest(
        ("transparent", "dedupe-reads", "clip", "tiered", "cap"), ViewOptions(step=4, cap_bytes=30_000)
    ),
}

PROSE_STANDS = ("transparent", "transparent, step 1", "silent thinking, arguments", "dedupe-reads", "clip")


def transcript_of(data: bytes, format: str | None = None) -> Transcript:
    return read_transcript(read_records(data), ReadOptions(), format=format)


def hold_all(store: Store, data: bytes, name: str, request: ViewRequest) -> View:
    """Every law of one view."""
    view = make_view(data, StoreHandle.of(store), request, source_name=name)
    shown = view.to_bytes()
    assert unfold_bytes(store, shown) == data, "unfold(view) is the session"
    assert len(shown) <= len(data), "a view is no longer than its session"
    assert plan_view(data, request).to_bytes() == shown, "the same view again"
    again = make_view(shown, StoreHandle.of(store), request)
    assert again.to_bytes() == shown, "a view of a view is the view"
    hold_objects(store, view)
    hold_shape(view, prose_stands=request in [REQUESTS[each] for each in PROSE_STANDS])
    new, _ = check_view(view)
    assert not new, f"the view breaks rules that the session keeps: {new[:3]}"
    return view


def hold_objects(store: Store, view: View) -> None:
    """Every payload that left is an object, and no object holds more than what was replaced."""
    for splice in view.rendered.splices:
        data = store.read(splice.descriptor.digest)
        assert data == bytes(splice.data), "the object is what left"
        assert splice.end - splice.start >= len(splice.before) + len(splice.after)
        assert len(data) <= splice.end - splice.start, "no object is larger than the span"


def hold_shape(view: View, *, prose_stands: bool) -> None:
    """The view is a session of the same format, with the same ids, roles, pairs and flags."""
    before = view.transcript
    shown = view.to_bytes()
    after = transcript_of(shown, before.format)
    detected = transcript_of(shown) if shown.strip() else after
    assert detected.format == before.format, "the view is told to be of the same format"
    assert _spine(after) == _spine(before), "ids, roles and pairs are the same"
    assert _flags(after) == _flags(before), "names and flags are the same"
    if prose_stands:
        assert _prose(after) == _prose(before), "prose stands as it was"


def _spine(transcript: Transcript) -> list[tuple[object, ...]]:
    return [
        (str(message.role), message.id, message.is_prompt, message.turn, message.calls, message.answers)
        for message in transcript.messages
    ]


def _flags(transcript: Transcript) -> list[tuple[object, ...]]:
    """Of calls and results, once each: what pairs and flags them stands beside the spans that leave."""
    flags: dict[tuple[object, ...], None] = {}
    for part in transcript.parts:
        if part.call_id is not None:
            # An image or an unknown block in a result leaves a text, which is a result as well.
            is_call = part.kind is PartKind.CALL
            flags[is_call, part.call_id, part.tool, part.is_error] = None
    return list(flags)


def _prose(transcript: Transcript) -> list[bytes]:
    """Literals of prose. A block that left leaves a text block, which is a marker and no prose of theirs."""
    literals = (transcript.literal(part) for part in transcript.parts_of(PartKind.PROSE))
    return [literal for literal in literals if not literal.startswith(b'"[ctx ')]


def prefixes(data: bytes, transcript: Transcript) -> Iterator[bytes]:
    """The session as it was after each of its turns. For formats of one record a line."""
    starts: dict[int, int] = {}
    for message in transcript.messages:
        starts.setdefault(message.turn, message.position)
    for turn in sorted(starts)[1:]:
        cut = data.rfind(b"\n", 0, starts[turn]) + 1
        if 0 < cut < len(data):
            yield data[:cut]
    yield data


def hold_prefixes(data: bytes, request: ViewRequest, *, views_max: int = 1 << 30) -> tuple[int, int]:
    """Earlier views are prefixes of later ones, but at a step of the boundary, and up to it even then.

    Returns bytes of all views, and how many of them the next view began with.
    """
    transcript = transcript_of(data)
    cuts = list(prefixes(data, transcript))
    cuts = cuts[:: max(1, len(cuts) // views_max)]
    total = kept = 0
    before: tuple[View, bytes] | None = None
    for cut in cuts:
        try:
            view = plan_view(cut, request)
        except CastoreError:
            continue
        shown = view.to_bytes()
        if before is not None:
            earlier, earlier_bytes = before
            common = _common_bytes(earlier_bytes, shown)
            total += len(earlier_bytes)
            kept += common
            stable = _stable_bytes(earlier, view, request)
            assert common >= stable, f"{common} bytes stayed of {stable} that had to"
        before = view, shown
    return total, kept


def _stable_bytes(earlier: View, later: View, request: ViewRequest) -> int:
    """How much of the earlier view must stand in the later one: all of it, or up to where its edge was."""
    before, after = earlier.transcript, later.transcript
    if list(before.leaves) != list(after.leaves):
        return 0  # A compaction or a fork: another session is viewed.
    if [each.position for each in before.messages] != [
        each.position for each in after.messages[: len(before.messages)]
    ]:
        return 0
    old = _edge(before, request)
    if old == _edge(after, request):
        return earlier.rendered.size
    edges = [each.position for each in before.messages if each.turn >= old]
    edge = before.source.rfind(b"\n", 0, min(edges, default=0)) + 1
    gone = [each for each in earlier.rendered.splices if each.end <= edge]
    return edge - sum(each.end - each.start - len(each.replacement) for each in gone)


def _common_bytes(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _edge(transcript: Transcript, request: ViewRequest) -> int:
    """The first turn that no strategy of the request treats as old."""
    edges = [boundary_turn(transcript, request.options.step)]
    if "tiered" in request.strategies:
        edges.append(edge_turn(transcript, request.options))
    return min(edges) if edges[0] != edges[-1] else edges[0]


def main(folders: list[str]) -> int:
    """Every file of these folders; prints what was held, what was refused and what failed."""
    failed = held = refused = 0
    for path in sorted(each for folder in folders for each in Path(folder).rglob("*") if each.is_file()):
        data = path.read_bytes()
        try:
            transcript = transcript_of(data)
        except CastoreError as error:
            refused += 1
            print(f"refused  {path.name}: {error.message[:100]}")
            continue
        for label, request in REQUESTS.items():
            with tempfile.TemporaryDirectory() as folder:
                store = open_store(os.path.join(folder, "s"), create=True)
                started = time.perf_counter()
                try:
                    view = hold_all(store, data, path.name, request)
                    held += 1
                    saved = 100 - 100 * view.content.size // max(view.source.size, 1)
                    print(
                        f"held     {path.name} [{label}] {transcript.format} {view.source.size}"
                        f" -{saved}% {time.perf_counter() - started:.2f}s"
                    )
                except LimitExceeded as error:
                    print(f"limit    {path.name} [{label}] {error.message[:100]}")
                except Exception as error:  # noqa: BLE001 - a failure is counted, and the next is tried
                    failed += 1
                    print(f"FAILED   {path.name} [{label}] {type(error).__name__}: {str(error)[:300]}")
                finally:
                    store.close()
        if path.suffix == ".jsonl":
            try:
                total, kept = hold_prefixes(data, REQUESTS["transparent"], views_max=60)
                print(f"prefixes {path.name} {100 * kept / total if total else 100:.1f}%")
            except AssertionError as error:
                failed += 1
                print(f"FAILED   {path.name} [prefixes] {error}")
    print(f"{held} held, {refused} refused, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
