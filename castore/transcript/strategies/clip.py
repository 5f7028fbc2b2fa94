"""clip: one exit for all results. What is longer than a limit shows its head and its tail.

Laws: whether and how a result is clipped follows from that result alone, so it is the same in every view;
but what was read back stays whole (castore.transcript.read_backs).
"""

from __future__ import annotations

from castore.document.strings import decode_literal
from castore.transcript.decision import Act, Decision, Decisions, StrategyId, ViewOptions
from castore.transcript.model import Form, Part, PartKind, Reason, Transcript
from castore.transcript.read_backs import ReadBacks

__all__ = ["STRATEGY", "clipped", "head_and_tail", "text_length"]

_NOTICE_CHARACTERS = 200
"""What a notice may take; a text that is over its limit by less would hardly get shorter."""


class Clip:
    id = StrategyId("clip", 2)

    def decide(self, transcript: Transcript, options: ViewOptions, earlier: Decisions) -> dict[int, Decision]:
        decisions = dict(earlier)
        limit = options.clip_characters
        kept = ReadBacks(transcript, options).kept()
        for part in transcript.parts_of(PartKind.RESULT):
            if part.index not in decisions and part.index not in kept:
                decision = clipped(part, text_length(transcript, part, limit), limit, str(self.id))
                if decision is not None:
                    decisions[part.index] = decision
        return decisions


def clipped(part: Part, length: int, limit: int, strategy: str) -> Decision | None:
    """None if the part, a text of `length` characters, is short enough or may not be cut."""
    if part.form is not Form.TEXT or length <= limit + _NOTICE_CHARACTERS:
        return None
    head, tail = head_and_tail(limit)
    return Decision(Act.CLIP, Reason.CLIPPED, strategy, head, tail)


def head_and_tail(limit: int) -> tuple[int, int]:
    """How many of `limit` characters stand before and after the notice: the end says how it went."""
    tail = limit // 3
    return limit - tail, tail


def text_length(transcript: Transcript, part: Part, limit: int) -> int:
    """Characters of the part's text; for one that can't be over `limit`, at most its bytes."""
    if part.size - 2 <= limit:
        return part.size - 2
    literal = transcript.literal(part)
    return len(decode_literal(literal)) if literal[:1] == b'"' else len(literal.decode())


STRATEGY = Clip()
