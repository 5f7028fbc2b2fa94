"""Staging: spans get their summaries, those that somebody names or the oldest that are free.

Laws: a span that can't be collapsed is refused before anything summarizes it. Where nothing is free and
nothing was ever staged, nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from castore.errors import SpanConflict
from castore.transcript.collapse.choose import TURNS_MAX, next_region
from castore.transcript.collapse.coordinator import CollapseCoordinator
from castore.transcript.collapse.model import Span, Staged
from castore.transcript.collapse.spans import Messages, Region
from castore.transcript.collapse.summarizer import GivenText, Summarizer

__all__ = ["free_region", "span_of_turns", "stage_free", "stage_span", "unfree_turns"]

_REASONS_SHOWN = 3


def span_of_turns(messages: Messages, turns: slice) -> Span:
    """The span of these turns, which count from 0, and with negative numbers from the end.

    Raises SpanConflict if there is none of them.
    """
    chosen = range(messages.transcript.turns)[turns]
    if not chosen:
        written = ":".join("" if each is None else str(each) for each in (turns.start, turns.stop))
        raise SpanConflict(f"there are no turns {written}: the session has {messages.transcript.turns}")
    return messages.span(chosen[0], chosen[-1])


def free_region(
    coordinator: CollapseCoordinator,
    messages: Messages,
    *,
    turns_max: int = TURNS_MAX,
    passed_over: Sequence[Region] = (),
) -> Region | None:
    """The turns that would be staged next; None if nothing is free. passed_over: those that are not meant."""
    if len(messages.turns) <= coordinator.keep_turns:
        return None
    taken = [*coordinator.standing.taken, *passed_over]
    return next_region(messages, taken, keep_turns=coordinator.keep_turns, turns_max=turns_max)


def stage_span(
    coordinator: CollapseCoordinator, messages: Messages, span: Span, summarizer: Summarizer
) -> Staged:
    """The span is staged with the summary that is made of it, which counts as a spawn, or that was given.
    Raises SpanConflict, SummarizerFailed, and what the coordinator's `spawn` and `stage` raise."""
    if isinstance(summarizer, GivenText):
        return coordinator.stage(span, summarizer.text)
    staged = coordinator.spawn(messages.transcript, summarizer, span=span)
    if staged is None:
        raise SpanConflict("the summary with its marker is no shorter than what it hides")
    return staged


def stage_free(
    coordinator: CollapseCoordinator,
    messages: Messages,
    summarizer: Summarizer,
    *,
    turns_max: int = TURNS_MAX,
    is_repeated: bool = False,
) -> Iterator[Staged]:
    """The oldest free turns are staged, as each is asked for; all of them if it is repeated.

    Turns whose summary would be no shorter are passed over, so that they are not in the way of those behind
    them; a summary that was given is of the oldest turns or of none. Where nothing is free from the
    beginning, that counts as an empty spawn. Raises what the coordinator's `spawn` raises.
    """
    passed_over: list[Region] = []

    def next_one() -> Region | None:
        return free_region(coordinator, messages, turns_max=turns_max, passed_over=passed_over)

    region = next_one()
    if region is None and not coordinator.stats().is_idle:
        coordinator.spawn(messages.transcript, summarizer, turns_max=turns_max)
    while region is not None:
        span = messages.span_of(region)
        staged = coordinator.spawn(messages.transcript, summarizer, span=span, turns_max=turns_max)
        if staged is not None:
            yield staged
            if not is_repeated:
                return
        elif isinstance(summarizer, GivenText):
            return
        else:
            passed_over.append(region)
        region = next_one()


def unfree_turns(coordinator: CollapseCoordinator, messages: Messages) -> list[str]:
    """Of a session in which nothing is free: in words, what keeps which turns."""
    turns = messages.turns
    if len(turns) <= coordinator.keep_turns:
        return [f"the session has {_plural(len(turns), 'turn')}, and the last {coordinator.keep_turns} stay"]
    standing = coordinator.standing
    last = set(turns[-coordinator.keep_turns :])
    prompts = {message.turn for message in messages.own if message.is_prompt}
    found = ["the last turn stays" if len(last) == 1 else f"the last {len(last)} turns stay"]
    left = [turn for turn in turns if turn not in last]
    if prompts and max(prompts) in left:
        left.remove(max(prompts))
        found.append(f"turn {max(prompts)} has the latest prompt")
    for what, regions in (
        ("collapsed", [region for _, region in standing.collapsed]),
        ("staged", [region for _, region in standing.staged]),
    ):
        taken = {turn for region in regions for turn in range(region.first_turn, region.last_turn + 1)}
        count = sum(turn in taken for turn in left)
        left = [turn for turn in left if turn not in taken]
        if count:
            found.append(f"{_plural(count, 'turn')} {'is' if count == 1 else 'are'} {what}")
    return [*found, *_immovable(messages, left)]


# --- Helpers ---------------------------------------------------------------------------------------


def _immovable(messages: Messages, turns: Sequence[int]) -> list[str]:
    """Why these turns can't leave; of turns side by side that can't leave together either, at once."""
    runs: list[tuple[int, int, str]] = []
    for turn in turns:
        if runs and runs[-1][1] == turn - 1:
            words = messages.region_of_turns(runs[-1][0], turn)
            if isinstance(words, str):
                runs[-1] = (runs[-1][0], turn, words)
                continue
        words = messages.region_of_turns(turn, turn)
        if isinstance(words, str):
            runs.append((turn, turn, words))
    reasons = [words for _, _, words in runs]
    if len(reasons) > _REASONS_SHOWN:
        reasons[_REASONS_SHOWN:] = [f"and {len(reasons) - _REASONS_SHOWN} more such"]
    return reasons


def _plural(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"
