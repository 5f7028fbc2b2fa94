"""Decisions: what happens to a part, and why. What strategies give and render takes; nothing else is known.

Law: decisions are a map from a part's index to one decision; a part without one stands as it is. They
depend on the transcript and the options alone, so the same session always gives the same view (L8).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from castore.errors import InvalidOption
from castore.transcript.model import Part, Reason, Transcript

__all__ = [
    "Act",
    "Decision",
    "Decisions",
    "Strategy",
    "StrategyId",
    "ViewOptions",
    "boundary_turn",
    "may_leave",
]


class Act(StrEnum):
    MOVE = "move"
    """A marker stands in its place; for forms that take none (`empty`, `nothing`) what the form says."""
    DROP = "drop"
    """Nothing stands in its place: a block leaves its list."""
    CLIP = "clip"
    """Its head and tail stand, with a marker between them."""
    SAME = "same"
    """A marker that points to an equal part that stands in full before it."""


@dataclass(frozen=True, slots=True)
class Decision:
    """strategy: name and version, `transparent@2`. head, tail: characters that a clip leaves. same_as: index
    of the part that stands in full."""

    act: Act
    reason: Reason
    strategy: str
    head: int = 0
    tail: int = 0
    same_as: int | None = None


Decisions = Mapping[int, Decision]


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """What can be said of a view. Sizes are characters where they are about text, bytes of the view for cap.

    step: turns by which the boundary between whole and moved advances. fold_arguments: arguments longer
    than this many bytes move too. mark_thinking: moved thinking leaves a marker. max_prose: characters of
    prose that stand at most. retrieve_with: the words that a marker ends with, before its digest.
    window_messages, window_characters, result_characters, prose_characters: of `tiered`. clip_characters: of
    `clip`. cap_bytes, cap_prose: of `cap`. write_tools: names, in lower case, of more tools that write the
    file they name, for `dedupe-reads`.
    """

    step: int = 8
    fold_arguments: int | None = None
    mark_thinking: bool = True
    max_prose: int | None = None
    retrieve_with: str | None = None
    window_messages: int = 6
    window_characters: int = 900
    result_characters: int = 180
    prose_characters: int = 220
    clip_characters: int = 4000
    cap_bytes: int | None = None
    cap_prose: bool = False
    write_tools: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        for name in ("step", "window_characters", "result_characters", "prose_characters", "clip_characters"):
            if getattr(self, name) < 1:
                raise InvalidOption(f"{name.replace('_', ' ')} must be at least 1, not {getattr(self, name)}")
        for name in ("fold_arguments", "max_prose", "window_messages", "cap_bytes"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise InvalidOption(f"{name.replace('_', ' ')} can't be negative")
        words = self.retrieve_with
        if words is not None and not (
            words.isascii() and words.isprintable() and words.strip() == words != ""
        ):
            raise InvalidOption("what a marker says must be one line of printable ASCII")
        if words is not None and ("]" in words or "[" in words or len(words) > 100):
            raise InvalidOption("what a marker says must be at most 100 characters without brackets")

    def said(self) -> dict[str, Any]:
        """What differs from the defaults, as JSON values: what a view's root remembers."""
        default = ViewOptions.__dataclass_fields__
        found: dict[str, Any] = {}
        for name, each in default.items():
            value = getattr(self, name)
            if value != each.default:
                found[name] = list(value) if isinstance(value, tuple) else value
        return found


@dataclass(frozen=True, slots=True)
class StrategyId:
    """Its name and version; another version may decide otherwise."""

    name: str
    version: int

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"


class Strategy(Protocol):
    """A pure function: transcript and options -> decisions, on top of those that earlier ones made."""

    id: StrategyId

    def decide(self, transcript: Transcript, options: ViewOptions, earlier: Decisions) -> dict[int, Decision]:
        """All decisions: the earlier ones, and its own, which may replace them."""


def boundary_turn(transcript: Transcript, step: int) -> int:
    """Parts of turns before this one may leave: it grows by `step` at a time, and never reaches the last
    turn or an open tool loop."""
    boundary = max(transcript.turns - 1, 0) // step * step
    if transcript.open_turn is not None:
        # Within a loop's first turns the boundary may stand in the loop already, for what came before it.
        boundary = min(boundary, transcript.open_turn)
    return boundary


def may_leave(part: Part, boundary: int) -> bool:
    return part.turn < boundary
