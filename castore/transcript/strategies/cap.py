"""cap: a total over the whole view. The oldest results leave first, then thinking, then prose if allowed.

Laws: nothing leaves that need not; what leaves does so in quarters of the cap, so that earlier views stay
prefixes for a while. The last turn and an open tool loop give their results only when nothing else is left,
and their thinking never; after them goes what was read back (castore.transcript.read_backs).
If the cap can't be reached, all that may leave has left.
"""

from __future__ import annotations

from collections.abc import Iterator

from castore.transcript.decision import (
    Act,
    Decision,
    Decisions,
    StrategyId,
    ViewOptions,
    boundary_turn,
)
from castore.transcript.marker import least_bytes
from castore.transcript.model import Form, Part, PartKind, Reason, Transcript
from castore.transcript.read_backs import ReadBacks
from castore.transcript.render import render

__all__ = ["STRATEGY"]

_STEPS = 8
"""What is over the cap leaves in eighths of it."""

_REASONS = {
    PartKind.RESULT: Reason.TOOL_RESULT,
    PartKind.MEDIA: Reason.MEDIA,
    PartKind.UI: Reason.UI,
    PartKind.UNKNOWN: Reason.UNKNOWN,
    PartKind.THINKING: Reason.THINKING,
    PartKind.PROSE: Reason.PROSE,
}


class Cap:
    id = StrategyId("cap", 2)

    def decide(self, transcript: Transcript, options: ViewOptions, earlier: Decisions) -> dict[int, Decision]:
        decisions = dict(earlier)
        if options.cap_bytes is None:
            return decisions
        over = render(transcript, decisions, options).size - options.cap_bytes
        if over <= 0:
            return decisions
        quantum = max(options.cap_bytes // _STEPS, 1)
        wanted = -(-over // quantum) * quantum
        for part in _in_order(transcript, options):
            if wanted <= 0:
                break
            before = decisions.get(part.index)
            if before is not None and before.act is not Act.CLIP:
                continue
            decisions[part.index] = Decision(Act.MOVE, _REASONS[part.kind], str(self.id))
            wanted -= _saved(transcript, part, before)
        return decisions


def _in_order(transcript: Transcript, options: ViewOptions) -> Iterator[Part]:
    """What may leave, the first to leave first."""
    last = boundary_turn(transcript, 1)
    least = least_bytes(options.retrieve_with)
    parts = [part for part in transcript.parts if part.form not in (Form.FIXED, Form.NOTHING)]
    parts = [part for part in parts if part.size > least]
    latest = ReadBacks(transcript, options).latest
    read_back = [part for part in parts if part.index in latest]
    parts = [part for part in parts if part.index not in latest]
    payloads = (PartKind.RESULT, PartKind.MEDIA, PartKind.UI, PartKind.UNKNOWN)
    yield from (part for part in parts if part.kind in payloads and part.turn < last)
    yield from (part for part in parts if part.kind is PartKind.THINKING and part.turn < last)
    yield from (part for part in parts if part.kind in payloads and part.turn >= last)
    yield from read_back
    if options.cap_prose:
        yield from (part for part in parts if part.kind is PartKind.PROSE and part.form is Form.TEXT)


def _saved(transcript: Transcript, part: Part, before: Decision | None) -> int:
    """About how many bytes the view loses: a little less than it does, so that the cap is met."""
    stood = part.size
    if before is not None:
        stood = min(stood, before.head + before.tail)
    return max(stood - least_bytes() // 2, 0)


STRATEGY = Cap()
