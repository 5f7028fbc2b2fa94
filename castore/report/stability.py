"""Stability: how much of each turn's view the next turn's view begins with, as a prompt cache needs it.

Law: what is said of a turn is said of the views that would have been made after it and after the next, had
the session ended there, with what is viewed today (so nothing before a compaction, and no other branch).
`kept` is never more than the views have in common.

It is about linear in the session. Decisions change only where the boundary between whole and moved moves on,
and then only for parts that it has not passed before; so those alone are decided and rendered again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, zip_longest
from typing import Any, TypeVar, overload

from castore.report.model import TURNS_MAX, StabilityFacts, Stable
from castore.transcript.decision import boundary_turn
from castore.transcript.model import Message, PartKind, Role, Transcript
from castore.transcript.read_backs import ReadBacks
from castore.transcript.render import ViewSplice, render
from castore.transcript.strategies import decide, find_strategies
from castore.transcript.strategies.tiered import edge_turn
from castore.transcript.view import ViewRequest

__all__ = ["is_turn_by_turn", "stability"]

T = TypeVar("T")

_ALIKE_BYTES_MAX = 8192
"""No text that stands in a part's place begins like it for longer."""


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
        size = growing.view.size(before.offset) if before is not None else 0
        kept = growing.advance(group[-1], key, before.offset if before is not None else 0)
        if before is not None:
            yield Stable(before.turn, before.turn, size, kept)
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

    def of(self, transcript: Transcript, first: int = 0) -> Transcript:
        """The transcript of it; what looks through its parts begins with the one of index `first`."""
        return replace(
            transcript,
            messages=_PartOf(transcript.messages, self.messages),
            parts=_PartOf(transcript.parts, self.parts, first),
            turns=self.turn + 1,
            open_turn=self.open_turn,
            leaves=(),
            collapsed=(),
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
        offset = (
            len(transcript.source)
            if is_last
            else _line_start(transcript, message.position, messages[at + 1].position)
        )
        open_turn = transcript.open_turn if is_last else loop.open_turn
        yield _End(message.turn, offset, at + 1, bisect_left(starts, offset), open_turn)


def _line_start(transcript: Transcript, after: int, position: int) -> int:
    """Where the line of the position begins, or the position itself if that line holds what was before."""
    return transcript.source.rfind(b"\n", after, position) + 1 or position


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
        self._starts = [*(part.start for part in transcript.parts), len(transcript.source)]
        self._passed = -1
        """Nothing that is decided of parts of turns before this one changes any more."""
        whole = render(replace(transcript, parts=()), {}, request.options).splices
        self.view = _Splices(transcript.source, whole)

    def advance(self, end: _End, key: _Key, offset: int) -> int:
        """The view is that of the session as it was at this end. Gives how many bytes of what it was before,
        up to the offset, it begins with."""
        first = 0 if self._looks_back else bisect_left(self._turns, self._passed)
        window = end.of(self._transcript, first)
        decisions = decide(window, self._strategies, self._options)
        splices = render(window, decisions, self._options).splices
        begin = self._starts[first] if first else 0
        step = self._options.step
        self._passed = min(key) // step * step if min(key) > 0 else -1
        return self.view.become(begin, splices, offset)


class _PartOf(Sequence[T]):
    """The first of a list, so many, without a copy. Who looks through them begins at `first`; by its index
    each is found."""

    def __init__(self, whole: Sequence[T], stop: int, first: int = 0) -> None:
        self._whole = whole
        self._stop = stop
        self._first = first

    def __len__(self) -> int:
        return self._stop

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self._whole[at] for at in range(self._stop)[index]]
        return self._whole[range(self._stop)[index]]

    def __iter__(self) -> Iterator[T]:
        return (self._whole[at] for at in range(self._first, self._stop))

    def __reversed__(self) -> Iterator[T]:
        return (self._whole[at] for at in range(self._stop - 1, self._first - 1, -1))


class _Splices:
    """The splices of a view, in order, and what it is long up to anywhere. whole: what leaves it whatever is
    decided."""

    def __init__(self, source: bytes, whole: Sequence[ViewSplice]) -> None:
        self._source = source
        self._whole = whole
        self._whole_starts = [each.start for each in whole]
        self._splices: list[ViewSplice] = []
        self._starts: list[int] = []
        self._saved = [0]
        """Bytes that the first of them save, for each number of them."""

    def size(self, offset: int) -> int:
        """Bytes of the view of what the session has before the offset."""
        return offset - self._saved[bisect_left(self._starts, offset)]

    def become(self, begin: int, splices: Sequence[ViewSplice], offset: int) -> int:
        """From `begin` on the splices of parts are these. Gives how many bytes of what the view was, up to
        the offset, it still begins with, at least."""
        first = bisect_left(self._starts, begin)
        whole = self._whole[bisect_left(self._whole_starts, begin) :]
        later = sorted([*whole, *splices], key=lambda each: each.start) if whole else splices
        start, alike = _differ_at(self._source, self._splices[first:], later, offset)
        kept = self.size(start) + alike
        del self._splices[first:], self._starts[first:], self._saved[first + 1 :]
        self._splices += later
        for each in later:
            self._starts.append(each.start)
            self._saved.append(self._saved[-1] + each.end - each.start - len(each.replacement))
        return kept


def _differ_at(
    source: bytes, earlier: Sequence[ViewSplice], later: Sequence[ViewSplice], offset: int
) -> tuple[int, int]:
    """Where the first of them differ, or the offset, and how many bytes of what stands there are the same."""
    for one, other in zip_longest(earlier, later):
        start = min(each.start for each in (one, other) if each is not None)
        if start >= offset:
            return offset, 0
        if _what_stands(one) != _what_stands(other):
            return start, _alike(_standing(source, one, start), _standing(source, other, start))
    return offset, 0


def _what_stands(splice: ViewSplice | None) -> tuple[int, int, bytes] | None:
    return None if splice is None else (splice.start, splice.end, splice.replacement)


def _standing(source: bytes, splice: ViewSplice | None, start: int) -> bytes:
    if splice is None or splice.start != start:
        return source[start : start + _ALIKE_BYTES_MAX]
    return splice.replacement


def _alike(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
