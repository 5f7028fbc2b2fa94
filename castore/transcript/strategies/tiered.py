"""tiered: what is older than a window is clipped hard, what is in it lightly.

Laws: a clip always leaves a notice that names what was cut and how to read on. How a part is clipped changes
once, when the window's edge passes it; the edge moves in steps of turns, and not into an open tool loop.
Within the window the limit is the part's own affair, so it is the same from the first view on. What was read
back stays whole (castore.transcript.read_backs).
"""

from __future__ import annotations

from castore.transcript.decision import Decision, Decisions, StrategyId, ViewOptions
from castore.transcript.model import Part, PartKind, Transcript
from castore.transcript.read_backs import ReadBacks
from castore.transcript.strategies.clip import clipped, text_length

__all__ = ["STRATEGY", "edge_turn"]

_KINDS = (PartKind.RESULT, PartKind.PROSE)


class Tiered:
    id = StrategyId("tiered", 2)

    def decide(self, transcript: Transcript, options: ViewOptions, earlier: Decisions) -> dict[int, Decision]:
        edge = edge_turn(transcript, options)
        kept = ReadBacks(transcript, options).kept(edge)
        decisions = dict(earlier)
        for part in transcript.parts:
            if part.kind in _KINDS and part.index not in decisions and part.index not in kept:
                limit = self._limit(part, edge, options)
                decision = clipped(part, text_length(transcript, part, limit), limit, str(self.id))
                if decision is not None:
                    decisions[part.index] = decision
        return decisions

    def _limit(self, part: Part, edge: int, options: ViewOptions) -> int:
        # What failed is what the model needs to see, so an error keeps the window's limit.
        if part.turn >= edge or part.is_error:
            return options.window_characters
        return options.result_characters if part.kind is PartKind.RESULT else options.prose_characters


def edge_turn(transcript: Transcript, options: ViewOptions) -> int:
    """The first turn within the window: of the last messages, back to a multiple of the step."""
    messages = transcript.messages
    first = len(messages) - options.window_messages
    if first <= 0:
        return 0
    turn = messages[first].turn if first < len(messages) else transcript.turns
    edge = turn // options.step * options.step
    return edge if transcript.open_turn is None else min(edge, transcript.open_turn)


STRATEGY = Tiered()
