"""Choose: which turns get a summary next, and how many spans are committed. Pure.

Laws: the last `keep_turns` turns, and the turn of the latest prompt, are never chosen; the oldest turns that
can leave come first. The same session and log give the same choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from castore.transcript.collapse.spans import Messages, Region

__all__ = ["TURNS_MAX", "fewest", "next_region", "reaches_into_last"]

TURNS_MAX = 16
"""Turns that one summary is asked to stand for."""


def next_region(
    messages: Messages, taken: Sequence[Region], *, keep_turns: int, turns_max: int = TURNS_MAX
) -> Region | None:
    """The oldest turns that can leave and are not in `taken`: at most `turns_max` side by side. None if there
    are none."""
    free = _free_turns(messages, taken, keep_turns)
    at = 0
    while at < len(free):
        run = 1
        while run < turns_max and at + run < len(free) and free[at + run] is not None:
            if free[at] is None:
                break
            run += 1
        first = free[at]
        if first is None:
            at += 1
            continue
        for length in range(run, 0, -1):
            last = free[at + length - 1]
            assert last is not None
            found = messages.region_of_turns(first, last)
            if isinstance(found, Region):
                return found
        at += 1
    return None


def reaches_into_last(messages: Messages, region: Region, keep_turns: int) -> bool:
    """Whether one of the last turns is in it."""
    return region.last_turn in messages.turns[-keep_turns:]


def fewest(count: int, fits: Callable[[int], bool]) -> int | None:
    """The fewest of 0 to `count` that fit; None if none do. All are asked in turn: a span that swallows
    another may make the view longer, so that more need not fit where fewer do."""
    return next((each for each in range(count + 1) if fits(each)), None)


# --- Helpers ---------------------------------------------------------------------------------------


def _free_turns(messages: Messages, taken: Sequence[Region], keep_turns: int) -> list[int | None]:
    """The turns in order; None for those that may not be chosen."""
    turns = messages.turns
    prompts = [message.turn for message in messages.own if message.is_prompt]
    kept = {*turns[len(turns) - keep_turns :], *prompts[-1:]}
    for region in taken:
        kept.update(range(region.first_turn, region.last_turn + 1))
    return [None if turn in kept else turn for turn in turns]
