"""collapse: what the session's log hides has left before any strategy decides (castore.transcript.collapse).

Law: it stands first, and decides nothing more.
"""

from __future__ import annotations

from castore.transcript.decision import Decision, Decisions, StrategyId, ViewOptions
from castore.transcript.model import Transcript

__all__ = ["STRATEGY"]


class Collapse:
    id = StrategyId("collapse", 1)

    def decide(self, transcript: Transcript, options: ViewOptions, earlier: Decisions) -> dict[int, Decision]:
        return dict(earlier)


STRATEGY = Collapse()
