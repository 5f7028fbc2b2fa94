"""Staging: spans get their summaries, those that somebody names or the oldest that are free.

Laws: a span that can't be collapsed is refused before anything summarizes it. Where nothing is free and
nothing was ever staged, nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterator

from castore.errors import SpanConflict
from castore.transcript.collapse.choose import TURNS_MAX, next_region
from castore.transcript.collapse.coordinator import CollapseCoordinator
from castore.transcript.collapse.model import Span, Staged
from castore.transcript.collapse.reading import text_of
from castore.transcript.collapse.spans import Messages, Region
from castore.transcript.collapse.summarizer import Summarizer, summary_of

__all__ = ["free_region", "span_of_turns", "stage_free", "stage_span"]


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
    coordinator: CollapseCoordinator, messages: Messages, *, turns_max: int = TURNS_MAX
) -> Region | None:
    """The turns that would be staged next; None if nothing is free."""
    if len(messages.turns) <= coordinator.keep_turns:
        return None
    taken = coordinator.standing.taken
    return next_region(messages, taken, keep_turns=coordinator.keep_turns, turns_max=turns_max)


def stage_span(
    coordinator: CollapseCoordinator, messages: Messages, span: Span, summarizer: Summarizer
) -> Staged:
    """The span is staged with the summary that is made of it. Raises SpanConflict, SummarizerFailed, and
    what the coordinator's `stage` raises."""
    region = coordinator.standing.region(span)
    text = text_of(messages.transcript, region.first, region.last + 1)
    return coordinator.stage(span, summary_of(summarizer, text), strategy=summarizer.strategy)


def stage_free(
    coordinator: CollapseCoordinator,
    messages: Messages,
    summarizer: Summarizer,
    *,
    turns_max: int = TURNS_MAX,
    is_repeated: bool = False,
) -> Iterator[Staged]:
    """The oldest free turns are staged, as each is asked for; all of them if it is repeated.

    Where the first finds nothing, that counts as an empty spawn. Raises what the coordinator's `spawn`
    raises.
    """
    if coordinator.stats().is_idle and free_region(coordinator, messages, turns_max=turns_max) is None:
        return
    while (staged := coordinator.spawn(messages.transcript, summarizer, turns_max=turns_max)) is not None:
        yield staged
        if not is_repeated or free_region(coordinator, messages, turns_max=turns_max) is None:
            return
