"""transparent: prose stays verbatim, payloads move out (after Woolford 2026, transparent compaction).

Laws: every prose part stands, unless `max_prose` says less; calls stand with their ids, names and (but for
long ones, if asked) arguments; what moves was in a turn before the boundary, is no error, was not read back
(castore.transcript.read_backs), and is over four times its marker.
What a view shows before the boundary is the same in every later view of the session.
"""

from __future__ import annotations

from castore.document.strings import decode_literal
from castore.transcript.decision import (
    Act,
    Decision,
    Decisions,
    StrategyId,
    ViewOptions,
    boundary_turn,
    may_leave,
)
from castore.transcript.marker import least_bytes
from castore.transcript.model import Form, Part, PartKind, Reason, Transcript
from castore.transcript.read_backs import ReadBacks

__all__ = ["STRATEGY", "prose_to_leave"]

_REASONS = {
    PartKind.RESULT: Reason.TOOL_RESULT,
    PartKind.THINKING: Reason.THINKING,
    PartKind.MEDIA: Reason.MEDIA,
    PartKind.UI: Reason.UI,
    PartKind.UNKNOWN: Reason.UNKNOWN,
}

_PROSE_STEPS = 4
"""Prose over its limit leaves in quarters of the limit, so that what stands before changes rarely."""


class Transparent:
    id = StrategyId("transparent", 2)

    def decide(self, transcript: Transcript, options: ViewOptions, earlier: Decisions) -> dict[int, Decision]:
        boundary = boundary_turn(transcript, options.step)
        decisions = dict(earlier)
        kept = ReadBacks(transcript, options).kept()
        movable = [part for part in transcript.parts if may_leave(part, boundary) and part.index not in kept]
        for part in movable:
            if part.form is not Form.NOTHING and _moves(part, options):
                decisions[part.index] = self._decision(transcript, part, options)
        for record in _records_that_leave(movable, least_bytes(options.retrieve_with)):
            decisions[record.index] = Decision(Act.MOVE, _REASONS[record.kind], str(self.id))
        if options.max_prose is not None:
            for part in prose_to_leave(transcript, options.max_prose, boundary):
                decisions[part.index] = Decision(Act.MOVE, Reason.PROSE, str(self.id))
        return decisions

    def _decision(self, transcript: Transcript, part: Part, options: ViewOptions) -> Decision:
        reason = Reason.ARGUMENTS if part.kind is PartKind.CALL else _REASONS[part.kind]
        is_silent = (
            part.kind is PartKind.THINKING and not options.mark_thinking and _has_next(transcript, part)
        )
        return Decision(Act.DROP if is_silent else Act.MOVE, reason, str(self.id))


def _moves(part: Part, options: ViewOptions) -> bool:
    if part.form is Form.FIXED or part.is_error or part.size <= least_bytes(options.retrieve_with):
        return False
    if part.kind is PartKind.CALL:
        return options.fold_arguments is not None and part.size > options.fold_arguments
    return part.kind is not PartKind.PROSE


def _records_that_leave(parts: list[Part], least: int) -> list[Part]:
    """Whole records, by runs of neighbours in one turn: a run is worth it or not."""
    records = [part for part in parts if part.form is Form.NOTHING]
    runs: list[list[Part]] = []
    for part in records:
        if runs and runs[-1][-1].end == part.start and runs[-1][-1].turn == part.turn:
            runs[-1].append(part)
        else:
            runs.append([part])
    return [part for run in runs if run[-1].end - run[0].start > least for part in run]


def _has_next(transcript: Transcript, part: Part) -> bool:
    """Whether another part of the same message follows: a message is never left without a block."""
    message = transcript.messages[part.message]
    return any(index > part.index for index in message.parts)


def prose_to_leave(transcript: Transcript, characters_max: int, boundary: int) -> list[Part]:
    """The oldest prose parts, whole, until what is left has at most `characters_max`."""
    prose = [part for part in transcript.parts if part.kind is PartKind.PROSE]
    lengths = {part.index: len(decode_literal(transcript.literal(part))) for part in prose if _is_text(part)}
    over = sum(lengths.values()) - characters_max
    if over <= 0:
        return []
    quantum = max(characters_max // _PROSE_STEPS, 1)
    wanted = -(-over // quantum) * quantum
    leaving: list[Part] = []
    for part in prose:
        if wanted <= 0:
            break
        if may_leave(part, boundary) and _is_text(part) and part.size > least_bytes():
            leaving.append(part)
            wanted -= lengths[part.index]
    return leaving


def _is_text(part: Part) -> bool:
    return part.form is Form.TEXT


STRATEGY = Transparent()
