"""What happened to each part of a view, and why: rows for people and programs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from castore.transcript.collapse.hidden import Hidden
from castore.transcript.decision import Act, boundary_turn
from castore.transcript.marker import least_bytes
from castore.transcript.model import Form, Part, PartKind, Reason
from castore.transcript.read_backs import ReadBacks
from castore.transcript.render import ViewSplice
from castore.transcript.view import View

__all__ = ["Counted", "Explained", "count", "explain"]


@dataclass(frozen=True, slots=True)
class Explained:
    """One part, or one run of whole records, or what is hidden of one turn (part None). size, view_size:
    bytes in session and view."""

    part: int | None
    turn: int | None
    kind: str
    line: int
    size: int
    view_size: int
    decision: str
    reason: str
    strategy: str | None
    digest: str | None


@dataclass(slots=True)
class Counted:
    """prose, calls: parts that stand whole. moved: what -> how many parts left. whole_turns: words.

    collapsed: the turns that left whole, of which `moved` has none.
    """

    prose: int = 0
    calls: int = 0
    collapsed: Hidden = field(default_factory=Hidden)
    moved: dict[str, int] = field(default_factory=dict)
    whole_turns: str = ""


def explain(view: View) -> Iterator[Explained]:
    """A row for each part, each run of records that left, and each turn that is hidden, in order of the
    session. A turn of which something stands in between has a row a piece."""
    transcript = view.transcript
    hidden = {piece.start: piece.turn for each in transcript.collapsed for piece in each.pieces}
    splices = {splice.part: splice for splice in view.rendered.splices if splice.part is not None}
    waiting = (splice for splice in view.rendered.splices if splice.part is None)
    run = next(waiting, None)
    line, counted = 1, 0
    source = transcript.source

    def line_of(offset: int) -> int:
        nonlocal line, counted
        line += source.count(b"\n", counted, offset)
        counted = offset
        return line

    boundary = boundary_turn(transcript, 1)
    read_back = ReadBacks(transcript, view.options).kept()
    covered = 0
    for part in transcript.parts:
        while run is not None and run.start <= part.start:
            yield _of_run(run, line_of(run.start), hidden)
            covered = run.end
            run = next(waiting, None)
        if part.start < covered:
            continue
        yield _of_part(view, part, splices.get(part.index), line_of(part.start), boundary, read_back)
    while run is not None:
        yield _of_run(run, line_of(run.start), hidden)
        run = next(waiting, None)


def count(view: View) -> Counted:
    """For the one line that sums a view up."""
    parts, collapsed = view.transcript.parts, view.transcript.collapsed
    counted = Counted(collapsed=Hidden.of(collapsed))
    left = {splice.part for splice in view.rendered.splices}
    for part in parts:
        if part.index not in left:
            counted.prose += part.kind is PartKind.PROSE
            counted.calls += part.kind is PartKind.CALL
    # Whole records are counted one by one, though neighbours leave as one object.
    reasons = [splice.reason for splice in view.rendered.splices if splice.reason not in _LEAVES]
    reasons += [leave.reason for leave in view.transcript.leaves]
    for reason in reasons:
        what = _NAMES.get(str(reason), str(reason))
        counted.moved[what] = counted.moved.get(what, 0) + 1
    turns = [parts[splice.part].turn for splice in view.rendered.splices if splice.part is not None]
    turns += [piece.turn for each in collapsed for piece in each.pieces]
    whole = view.transcript.turns - (max(turns) + 1 if turns else 0)
    counted.whole_turns = f"last {whole:,} turns whole" if whole != 1 else "last turn whole"
    return counted


_LEAVES = (Reason.OLDER, Reason.OTHER_BRANCH, Reason.CUT, Reason.COLLAPSED)
"""Of these a splice is no part."""

_NAMES = {
    "tool_result": "results",
    "thinking": "thinking",
    "media": "media",
    "arguments": "arguments",
    "repeat": "repeats",
    "clipped": "clipped",
    "prose": "prose",
    "ui": "ui",
    "unknown": "unknown",
    "older": "older",
    "other branch": "other branch",
    "cut": "cut",
}


def _of_part(
    view: View, part: Part, splice: ViewSplice | None, line: int, boundary: int, read_back: Collection[int]
) -> Explained:
    decision = view.decisions.get(part.index)
    if splice is not None and decision is not None:
        return Explained(
            part.index,
            part.turn,
            str(part.kind),
            line,
            part.size,
            len(splice.replacement),
            _ACTS[decision.act],
            str(decision.reason),
            decision.strategy,
            str(splice.descriptor.digest),
        )
    return Explained(
        part.index,
        part.turn,
        str(part.kind),
        line,
        part.size,
        part.size,
        "whole",
        _why_whole(part, decision is not None, boundary, read_back),
        None,
        None,
    )


_ACTS = {Act.MOVE: "moved", Act.DROP: "dropped", Act.CLIP: "clipped", Act.SAME: "same as before"}


def _why_whole(part: Part, was_decided: bool, boundary: int, read_back: Collection[int]) -> str:
    if was_decided:
        return "no shorter"
    if part.kind is PartKind.PROSE:
        return "prose"
    if part.form is Form.FIXED:
        return "the API wants it back"
    if part.is_error:
        return "error"
    if part.size <= least_bytes():
        return "small"
    if part.index in read_back:
        return "read back"
    if part.turn >= boundary:
        return "last turn or open loop"
    return "call" if part.kind is PartKind.CALL else "recent"


def _of_run(run: ViewSplice, line: int, hidden: Mapping[int, int]) -> Explained:
    """hidden: where a piece of a turn that is hidden begins -> the turn."""
    is_hidden = run.reason is Reason.COLLAPSED
    return Explained(
        None,
        hidden[run.start] if is_hidden else None,
        "turn" if is_hidden else "records",
        line,
        run.end - run.start,
        len(run.replacement),
        "collapsed" if is_hidden else "moved",
        str(run.reason),
        None,
        str(run.descriptor.digest),
    )
