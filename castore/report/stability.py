"""Stability: how much of each turn's view the next turn's view begins with, as a prompt cache needs it.

Law: what is said of a turn is said of the views that would have been made after it and after the next, had
the session ended there, with what is viewed today (so nothing before a compaction, and no other branch).
`kept` is never more than the views have in common.

It is about linear in the session. Decisions change only where the boundary between whole and moved moves on,
and then only for parts that it has not passed before; so those alone are decided and rendered again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, islice, zip_longest
from typing import Any, overload

from castore.report.model import TURNS_MAX, StabilityFacts, Stable
from castore.transcript.decision import boundary_turn
from castore.transcript.model import Message, Part, PartKind, Role, Transcript
from castore.transcript.read_backs import ReadBacks
from castore.transcript.render import ViewSplice, render
from castore.transcript.strategies import decide, find_strategies
from castore.transcript.strategies.tiered import edge_turn
from castore.transcript.view import ViewRequest

__all__ = ["is_turn_by_turn", "stability"]


def is_turn_by_turn(request: ViewRequest) -> bool:
    """Whether what its strategies decide of a part follows from its own turns, and not from a total."""
    names = {name.partition("@")[0] for name in request.strategies}
    is_total = request.budget is not None or request.options.max_prose is not None
    return not is_total and not names & {"cap", "collapse"}


def stability(strategy: str, transcript: Transcript, request: ViewRequest) -> StabilityFacts:
    """strategy: what it is called. request: one that `is_turn_by_turn`."""
    turns = list(_stable_turns(transcript, request))
    size, kept = sum(each.size for each in turns), sum(each.kept for each in turns)
    return StabilityFacts(strategy, kept / size if size else 1.0, tuple(_together(turns)))


def _stable_turns(transcript: Transcript, request: ViewRequest) -> Iterator[Stable]:
    keys = _Keys(transcript, request)
    growing = _Growing(transcript, request)
    before: _End | None = None
    for key, several in groupby(_ends(transcript), keys.of):
        group = list(several)
        earlier = growing.view
        growing.advance(group[-1], key)
        if before is not None:
            size = earlier.size(before.offset)
            yield Stable(before.turn, before.turn, size, growing.view.kept(earlier, before.offset))
        for end in group[:-1]:
            # Within a group each view begins with the one before it.
            size = growing.view.size(end.offset)
            yield Stable(end.turn, end.turn, size, size)
        before = group[-1]


def _together(turns: list[Stable]) -> Iterator[Stable]:
    several = -(-len(turns) // TURNS_MAX) or 1
    for at in range(0, len(turns), several):
        found = turns[at : at + several]
        size, kept = sum(each.size for each in found), sum(each.kept for each in found)
        yield Stable(found[0].first, found[-1].last, size, kept)


# --- Where turns end -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _End:
    """The session as it was after a turn: where the next one begins, and how much there was before that."""

    turn: int
    offset: int
    messages: int
    parts: int
    open_turn: int | None

    def of(self, transcript: Transcript) -> Transcript:
        return replace(
            transcript,
            messages=transcript.messages[: self.messages],
            parts=transcript.parts[: self.parts],
            turns=self.turn + 1,
            open_turn=self.open_turn,
        )


def _ends(transcript: Transcript) -> Iterator[_End]:
    messages = transcript.messages
    starts = [part.start for part in transcript.parts]
    loop = _Loop(transcript)
    for at, message in enumerate(messages):
        loop.take(message)
        is_last = at + 1 == len(messages)
        if not is_last and messages[at + 1].turn == message.turn:
            continue
        offset = len(transcript.source) if is_last else _line_start(transcript, messages[at + 1].position)
        open_turn = transcript.open_turn if is_last else loop.open_turn
        yield _End(message.turn, offset, at + 1, bisect_left(starts, offset), open_turn)


def _line_start(transcript: Transcript, position: int) -> int:
    return transcript.source.rfind(b"\n", 0, position) + 1 or position


class _Loop:
    """The tool loop that is open after so many messages: what a transcript that ends there would say."""

    def __init__(self, transcript: Transcript) -> None:
        self._parts = transcript.parts
        self._answered = {
            id: message.index for message in reversed(transcript.messages) for id in message.answers
        }
        """Call id -> the first message that answers it."""
        self._start = 0
        self._last: Message | None = None
        self._ended = False
        self._count = 0

    def take(self, message: Message) -> None:
        if message.is_prompt or self._ended:
            self._start = message.turn
        is_thinking = self._is_only_thinking(message)
        self._ended = message.role is Role.ASSISTANT and not message.calls and not is_thinking
        if message.is_prompt or message.answers or message.role in (Role.ASSISTANT, Role.RESULT):
            self._last = message
        self._count = message.index + 1

    @property
    def open_turn(self) -> int | None:
        last = self._last
        if last is None:
            return None
        is_result = last.role is Role.RESULT or (last.role is not Role.ASSISTANT and bool(last.answers))
        is_waiting = any(self._answered.get(id, self._count) >= self._count for id in last.calls)
        if is_result or (
            last.role is Role.ASSISTANT and (is_waiting or (not last.calls and self._is_only_thinking(last)))
        ):
            return self._start
        return None

    def _is_only_thinking(self, message: Message) -> bool:
        kinds = {self._parts[index].kind for index in message.parts}
        return kinds == {PartKind.THINKING}


# --- Views that grow -------------------------------------------------------------------------------

_Key = tuple[int, int]


class _Keys:
    """What decisions depend on besides a part and what stands before it."""

    def __init__(self, transcript: Transcript, request: ViewRequest) -> None:
        self._transcript = transcript
        self._options = request.options
        names = {name.partition("@")[0] for name in request.strategies}
        # What was read back stays until the boundary has passed it, whatever the strategy.
        reads = bool(ReadBacks(transcript, request.options).latest)
        self._is_bounded = reads or "transparent" in names
        self._is_edged = "tiered" in names

    def of(self, end: _End) -> _Key:
        then = end.of(self._transcript)
        edge = edge_turn(then, self._options) if self._is_edged else 0
        boundary = boundary_turn(then, self._options.step) if self._is_bounded else edge
        return boundary, edge if self._is_edged else boundary


class _Growing:
    """The view after one turn, and then after a later one."""

    def __init__(self, transcript: Transcript, request: ViewRequest) -> None:
        self._transcript = transcript
        self._options = request.options
        self._strategies = find_strategies(request.strategies)
        names = {name.partition("@")[0] for name in request.strategies}
        self._looks_back = "dedupe-reads" in names
        self._turns = [part.turn for part in transcript.parts]
        self._passed = 0
        """Nothing that is decided of parts of turns before this one changes any more."""
        self._whole = render(replace(transcript, parts=()), {}, request.options).splices
        """What leaves whatever is decided."""
        self._of_parts: list[ViewSplice] = []
        self.view = _Splices(self._whole)

    def advance(self, end: _End, key: _Key) -> None:
        first = 0 if self._looks_back else bisect_left(self._turns, self._passed)
        then = replace(end.of(self._transcript), leaves=(), collapsed=())
        window = replace(then, parts=_Window(then.parts, first))
        decisions = decide(window, self._strategies, self._options)
        splices = render(window, decisions, self._options).splices
        begin = self._transcript.parts[first].start if first < end.parts else end.offset
        self._of_parts = [*(each for each in self._of_parts if each.start < begin), *splices]
        self.view = _Splices([*self._whole, *self._of_parts])
        step = self._options.step
        self._passed = min(key) // step * step


class _Window(Sequence[Part]):
    """Parts of which the first are not looked through; each is still found by its index."""

    def __init__(self, parts: Sequence[Part], first: int) -> None:
        self._parts = parts
        self._first = first

    def __len__(self) -> int:
        return len(self._parts)

    @overload
    def __getitem__(self, index: int) -> Part: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Part]: ...
    def __getitem__(self, index: Any) -> Any:
        return self._parts[index]

    def __iter__(self) -> Iterator[Part]:
        return islice(self._parts, self._first, None)


class _Splices:
    """The splices of a view, in order, and what it is long up to anywhere."""

    def __init__(self, splices: Iterable[ViewSplice]) -> None:
        self._splices = sorted(splices, key=lambda each: each.start)
        self._starts = [each.start for each in self._splices]
        saved = (each.end - each.start - len(each.replacement) for each in self._splices)
        self._saved = list(accumulate(saved, initial=0))

    def size(self, offset: int) -> int:
        """Bytes of the view of what the session has before the offset."""
        return offset - self._saved[bisect_left(self._starts, offset)]

    def kept(self, earlier: _Splices, offset: int) -> int:
        """How many bytes of the earlier view, up to the offset, this one begins with, at least."""
        for one, other in zip_longest(self._before(offset), earlier._before(offset)):
            if one is None or other is None:
                return earlier.size((one or other).start)
            if (one.start, one.end, one.replacement) != (other.start, other.end, other.replacement):
                return earlier.size(min(one.start, other.start))
        return earlier.size(offset)

    def _before(self, offset: int) -> Iterator[ViewSplice]:
        return islice(self._splices, bisect_left(self._starts, offset))
