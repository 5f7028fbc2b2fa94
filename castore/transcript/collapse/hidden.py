"""Hidden: how much of a session is collapsed, in numbers. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from castore.transcript.model import Collapsed

__all__ = ["Hidden"]


@dataclass(frozen=True, slots=True)
class Hidden:
    """What leaves. bytes: of the source, without what stands in its place."""

    spans: int = 0
    turns: int = 0
    messages: int = 0
    bytes: int = 0

    @classmethod
    def of(cls, collapsed: Iterable[Collapsed]) -> Hidden:
        """All of them together; a turn that left in pieces counts once."""
        total = cls()
        for each in collapsed:
            total += cls(
                1,
                len({piece.turn for piece in each.pieces}),
                each.messages,
                sum(piece.size for piece in each.pieces),
            )
        return total

    def __add__(self, other: Hidden) -> Hidden:
        return Hidden(
            self.spans + other.spans,
            self.turns + other.turns,
            self.messages + other.messages,
            self.bytes + other.bytes,
        )

    def to_json(self) -> dict[str, int]:
        return {
            "spans": self.spans,
            "turns": self.turns,
            "messages": self.messages,
            "bytes": self.bytes,
        }
