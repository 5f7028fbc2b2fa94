"""Spans: what messages are called, and which bytes of the source whole turns are. Pure.

Laws:
- A message's id is the same in every longer state of the session, and names no other message there; in
  another session, or where the message says something else, it names none.
- What a region hides can leave: no message, record, item or call is torn apart, and it lies after
  the session's last compaction. Everything else about it is SpanConflict, with words that say why.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import NamedTuple

from castore.errors import InvalidOption, SpanConflict
from castore.transcript.collapse.model import Commit, Span
from castore.transcript.formats import find_format
from castore.transcript.model import Message, Role, Transcript

__all__ = ["Messages", "Piece", "Region", "shown"]

_ID_CHARACTERS_MAX = 64
_LEAD_BYTES_MAX = 200
_MADE = re.compile(r"#([0-9]{1,9})-([0-9a-f]{8})")


class Piece(NamedTuple):
    """What a turn takes of the source, from `start` to `end`. lead: so many bytes of it stand before the turn
    itself: in the list of a body, the comma after the item before it."""

    start: int
    end: int
    turn: int
    lead: int


@dataclass(frozen=True, slots=True)
class Region:
    """Whole turns of one transcript. first, last: indices of messages, both included. first_turn, last_turn:
    likewise. start, end: of the source. messages: how many leave; system messages stay."""

    first: int
    last: int
    first_turn: int
    last_turn: int
    start: int
    end: int
    messages: int

    def holds(self, other: Region) -> bool:
        return self.first <= other.first and other.last <= self.last

    def meets(self, other: Region) -> bool:
        return self.first <= other.last and other.first <= self.last

    @property
    def turns(self) -> int:
        return self.last_turn - self.first_turn + 1


class Messages:
    """The messages of one transcript (with nothing collapsed yet): their ids, turns and places."""

    def __init__(self, transcript: Transcript) -> None:
        if transcript.collapsed:
            raise InvalidOption("the transcript is projected already: spans are of the session itself")
        self.transcript = transcript
        self.own = [message for message in transcript.messages if message.role is not Role.SYSTEM]
        """Those that may leave: instructions are for the whole session."""
        self._is_body = find_format(transcript.format).is_body
        self._said: dict[int, bytes] = {}
        self._contents: dict[tuple[int, int], str] = {}
        self._found: dict[Span, Region | str] = {}
        self._indices: dict[str, int] = {}
        for message in transcript.messages:
            if _is_usable(message.id):
                self._indices.setdefault(message.id, message.index)  # type: ignore[arg-type]

    # --- Ids ---

    def id_of(self, index: int) -> str:
        """The id of a message."""
        message = self.transcript.messages[index]
        if _is_usable(message.id) and self._indices[message.id] == index:  # type: ignore[index]
            return message.id  # type: ignore[return-value]
        return f"#{index}-{self._says(message).hex()[:8]}"

    def index_of(self, id: str) -> int | None:
        """The message of this id; None if there is none."""
        found = self._indices.get(id)
        if found is not None:
            return found
        made = _MADE.fullmatch(id)
        index = int(made[1]) if made else -1
        return index if 0 <= index < len(self.transcript.messages) and self.id_of(index) == id else None

    def boundary_id(self) -> str | None:
        """Which compaction is the latest one; None if the session has none."""
        offsets = self.transcript.compactions
        if not offsets:
            return None
        summary = next((each for each in self.own if each.position == self._floor), None)
        if summary is not None and self.id_of(summary.index) == summary.id:
            return summary.id
        end = self._record_end(offsets[-1])
        return sha256(memoryview(self.transcript.source)[offsets[-1] : end]).hexdigest()[:16]

    # --- Turns ---

    @cached_property
    def turns(self) -> list[int]:
        """The turns that have messages which may leave, in order."""
        return sorted({message.turn for message in self.own})

    def span(self, first_turn: int, last_turn: int) -> Span:
        """The span of these turns, both included. Raises SpanConflict if there is nothing in them."""
        low, high = self._range(first_turn, last_turn)
        if low == high:
            raise SpanConflict(f"turns {first_turn} to {last_turn} have no messages")
        return self._span(self.own[low].index, self.own[high - 1].index)

    def span_of(self, region: Region) -> Span:
        """The span of a region."""
        return self._span(region.first, region.last)

    def region(self, span: Span) -> Region:
        """Where the span is. Raises SpanConflict: an id is unknown, or the turns can't leave."""
        found = self.find(span)
        if isinstance(found, str):
            raise SpanConflict(found, first_archived_id=span.first_id, last_archived_id=span.last_id)
        return found

    def find(self, span: Span) -> Region | str:
        """As `region`; the words instead of the error."""
        found = self._found.get(span)
        if found is None:
            found = self._found[span] = self._find(span)
        return found

    def has(self, span: Span) -> bool:
        """Whether its messages are there and say what they said, though they may not be free to leave."""
        first, last = self.index_of(span.first_id), self.index_of(span.last_id)
        if first is None or last is None or last < first:
            return False
        return span.content in ("", self._content(first, last))

    def _find(self, span: Span) -> Region | str:
        first, last = self.index_of(span.first_id), self.index_of(span.last_id)
        for id, index in ((span.first_id, first), (span.last_id, last)):
            if index is None:
                return f"the branch that is viewed has no message '{id}'"
        assert first is not None
        assert last is not None
        if last < first:
            return f"message '{span.last_id}' stands before '{span.first_id}'"
        if span.content not in ("", self._content(first, last)):
            return f"what stands from message '{span.first_id}' to '{span.last_id}' is not what it was"
        messages = self.transcript.messages
        first_turn, last_turn = messages[first].turn, messages[last].turn
        low, high = self._range(first_turn, last_turn)
        if self.own[low : low + 1] != [messages[first]]:
            return f"message '{span.first_id}' does not begin a turn"
        if self.own[high - 1 : high] != [messages[last]]:
            return f"message '{span.last_id}' does not end a turn"
        return self._region(low, high)

    def region_of_turns(self, first_turn: int, last_turn: int) -> Region | str:
        """Of the turns from one to the other; or why they can't leave."""
        low, high = self._range(first_turn, last_turn)
        return self._region(low, high) if low < high else "there is no message in these turns"

    def size(self, region: Region) -> int:
        """Bytes of the turns that leave."""
        return sum(end - start - lead for start, end, _, lead in self.pieces(region))

    def pieces(self, region: Region) -> list[Piece]:
        """What leaves, in order, without what stays in between."""
        low, high = self._range(region.first_turn, region.last_turn)
        stop = self.own[high].index if high < len(self.own) else len(self.transcript.messages)
        staying = [
            self._unit(message)
            for message in self.transcript.messages[region.first : stop]
            if message.role is Role.SYSTEM
        ]
        pieces: list[Piece] = []
        at = low
        while at < high:
            turn = self.own[at].turn
            stop = at
            # Turns that are told in one record or item are one piece.
            while stop < high and (self.own[stop].turn == turn or self._ends[stop] > self._units[stop][0]):
                stop += 1
            start = self._units[at][0]
            if self._is_body:
                pieces += [Piece(*span, turn, 0) for span in _stretches(self._units[at:stop], staying)]
            else:
                # What is no message goes with the turn that it stands in or after, so that a turn is the same
                # bytes whatever span hides it.
                end = self._gap_end(stop) if stop < len(self.own) else region.end
                pieces += [Piece(*span, turn, 0) for span in _without(start, end, staying)]
            at = stop
        return _with_commas(pieces, staying) if self._is_body else pieces

    # --- Helpers ---

    def _span(self, first: int, last: int) -> Span:
        return Span(self.id_of(first), self.id_of(last), self._content(first, last))

    def _content(self, first: int, last: int) -> str:
        """Of what the messages from one to the other say; instructions are no part of a span."""
        known = self._contents.get((first, last))
        if known is None:
            whole = sha256()
            for message in self.transcript.messages[first : last + 1]:
                if message.role is not Role.SYSTEM:
                    whole.update(self._says(message))
            known = self._contents[(first, last)] = whole.hexdigest()[:16]
        return known

    def _says(self, message: Message) -> bytes:
        """A digest of the message's role and of what its parts say, without what stands around them."""
        found = self._said.get(message.index)
        if found is None:
            data = memoryview(self.transcript.source)
            whole = sha256(str(message.role).encode())
            for index in message.parts:
                part = self.transcript.parts[index]
                whole.update(f"\0{part.kind} {part.size}\0".encode())
                whole.update(data[part.start : part.end])
            found = self._said[message.index] = whole.digest()
        return found

    def _range(self, first_turn: int, last_turn: int) -> tuple[int, int]:
        """Where in `own` the messages of these turns are."""
        return bisect_right(self._own_turns, first_turn - 1), bisect_right(self._own_turns, last_turn)

    @cached_property
    def _own_turns(self) -> list[int]:
        return [message.turn for message in self.own]

    @cached_property
    def _units(self) -> list[tuple[int, int]]:
        """What of the source goes when a message of `own` goes."""
        return [self._unit(message) for message in self.own]

    @cached_property
    def _ends(self) -> list[int]:
        """Where what comes before a message of `own` ends; the first is where nothing stands before."""
        ends = [0]
        for _, end in self._units:
            ends.append(max(ends[-1], end))
        return ends

    @cached_property
    def _starts(self) -> list[int]:
        return [record.start for record in self.transcript.records.records]

    def _unit(self, message: Message) -> tuple[int, int]:
        if self._is_body:
            return message.position, message.end
        records = self.transcript.records
        first = records.records[bisect_right(self._starts, message.position) - 1]
        return first.start, self._record_end(max(message.position, message.end - 1))

    def _record_end(self, offset: int) -> int:
        records = self.transcript.records
        return records.span_with_line_end(records.records[bisect_right(self._starts, offset) - 1])[1]

    def _gap_end(self, at: int) -> int:
        """What is no message, behind the one before `at` of `own`, goes with that up to here: to the next
        message, or to records that leave for another reason, such as turns that were taken back."""
        leave = bisect_left(self._leaves, self._ends[at])
        start = self._units[at][0]
        return min(start, self._leaves[leave]) if leave < len(self._leaves) else start

    @cached_property
    def _leaves(self) -> list[int]:
        return [leave.start for leave in self.transcript.leaves]

    @cached_property
    def _floor(self) -> int:
        """Where the last compaction's summary begins: what begins there, or before, stays."""
        if not self.transcript.compactions:
            return -1
        offset = self.transcript.compactions[-1]
        summaries = (each.position for each in self.own if each.role is Role.SUMMARY)
        return next((position for position in summaries if position >= offset), offset)

    @cached_property
    def _partners(self) -> dict[int, list[tuple[int, str]]]:
        """Of messages with calls or results: where the other halves stand, and the calls' ids. A result is of
        the latest call before it that has its id, for some tools give the same ids again."""
        latest: dict[str, int] = {}
        found: dict[int, list[tuple[int, str]]] = {}
        for message in self.own:
            latest.update((call, message.index) for call in message.calls)
            for call in message.answers:
                if (made := latest.get(call)) is not None:
                    found.setdefault(message.index, []).append((made, call))
                    found.setdefault(made, []).append((message.index, call))
        return found

    def _region(self, low: int, high: int) -> Region | str:
        messages = self.own[low:high]
        first, last = messages[0], messages[-1]
        start, end = self._units[low][0], max(end for _, end in self._units[low:high])
        where = f"turns {first.turn} to {last.turn}" if first.turn < last.turn else f"turn {first.turn}"
        if start <= self._floor:
            verb = "hold" if first.turn < last.turn else "holds"
            lie = "lie" if first.turn < last.turn else "lies"
            return f"{where} {verb} the compaction that the session goes on from, or {lie} before it"
        if self._ends[low] > start or (high < len(self.own) and end > self._units[high][0]):
            return f"what belongs to {where} is mixed with other turns"
        for message in messages:
            for index, call in self._partners.get(message.index, ()):
                if index < first.index:
                    return f"the call '{call}' of a result in {where} stands outside"
                if index > last.index:
                    return f"the result of the call '{call}' stands outside of {where}"
        if high < len(self.own) and not self._is_body:
            end = self._gap_end(high)
        return Region(first.index, last.index, first.turn, last.turn, start, end, len(messages))


def shown(commits: Iterable[Commit], messages: Messages) -> list[tuple[Commit, Region]]:
    """The commits that the view shows, in order of the session: of two that overlap the later one, which held
    the earlier one whole when it was made.

    Those whose turns are not there, or can't leave, are passed over.
    """
    chosen: list[tuple[Commit, Region]] = []
    for commit in reversed(list(commits)):
        region = messages.find(commit.span)
        if isinstance(region, Region) and not any(region.meets(other) for _, other in chosen):
            chosen.append((commit, region))
    return sorted(chosen, key=lambda pair: pair[1].first)


def _is_usable(id: str | None) -> bool:
    """Whether a message may be called as its format calls it."""
    is_short = id is not None and 0 < len(id) <= _ID_CHARACTERS_MAX
    return is_short and id[0] != "#" and id.isascii() and id.isprintable()  # type: ignore[index, union-attr]


def _without(start: int, end: int, staying: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """What of [start, end) is in none of these."""
    left: list[tuple[int, int]] = []
    for stays_from, stays_until in sorted(staying):
        if stays_until <= start or end <= stays_from:
            continue
        if start < stays_from:
            left.append((start, stays_from))
        start = stays_until
    if start < end:
        left.append((start, end))
    return left


def _stretches(
    items: Sequence[tuple[int, int]], staying: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """From the first of the items to the last, but for where one that stays stands between two of them."""
    begin, end = items[0]
    for start, stop in items[1:]:
        if any(end <= stays_from < start for stays_from, _ in staying):
            yield begin, end
            begin = start
        end = max(end, stop)
    yield begin, end


def _with_commas(pieces: Sequence[Piece], staying: Sequence[tuple[int, int]]) -> list[Piece]:
    """The pieces of a body's list: each but the first begins behind the item before it."""
    ends = sorted([piece.end for piece in pieces] + [end for _, end in staying])
    found = list(pieces[:1])
    for piece in pieces[1:]:
        start = ends[bisect_right(ends, piece.start) - 1]
        lead = piece.start - start
        # With a lot of white space before it, that is of the turn.
        lead = lead if lead <= _LEAD_BYTES_MAX else 0
        found.append(Piece(start, piece.end, piece.turn, lead))
    return found
