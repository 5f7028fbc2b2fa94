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


def fewest(count: int, fits: Callable[[int], bool], *, is_falling: bool) -> int | None:
    """The fewest of 0 to `count` that fit; None if none do.

    is_falling: more fit wherever fewer do, so that not all need be asked in turn. A span that swallows
    another may make the view longer.
    """
    if not is_falling:
        return next((each for each in range(count + 1) if fits(each)), None)
    if fits(0):
        return 0
    low, high = 0, 1
    while not fits(high):
        if high == count or count == 0:
            return None
        low, high = high, min(2 * high, count)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


# --- Helpers ---------------------------------------------------------------------------------------


def _free_turns(messages: Messages, taken: Sequence[Region], keep_turns: int) -> list[int | None]:
    """The turns in order; None for those that may not be chosen."""
    turns = messages.turns
    prompts = [message.turn for message in messages.own if message.is_prompt]
    kept = {*turns[len(turns) - keep_turns :], *prompts[-1:]}
    for region in taken:
        kept.update(range(region.first_turn, region.last_turn + 1))
    return [None if turn in kept else turn for turn in turns]
