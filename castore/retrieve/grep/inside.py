"""The hits in one object's bytes, or in a window of a long one.

Law: the hits are in the order of their places, each with another address: an item, a line or a value has one,
for the first match in it. Bytes that can't hold a match are not read as text.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple, Protocol

from castore.config import GREP_BRIEF_BYTES, GREP_EXCERPT_BYTES
from castore.retrieve.address import Address, Range
from castore.retrieve.grep.excerpts import around, beginning
from castore.retrieve.grep.pattern import GrepOptions, Needle
from castore.retrieve.grep.places import Place, places_in
from castore.retrieve.grep.said import Level, levels, said
from castore.retrieve.kinds import kind_of_bytes

__all__ = ["Inside", "Match", "distinct", "hits_in", "in_bytes", "matches_in", "placed"]

_JSON_BEGINS = ("[", "{", '"')


_ALIVE_HITS = 256


def _nothing() -> None:
    return None


@dataclass(frozen=True, slots=True)
class Inside:
    """A hit in an object. reads: bytes that the address gives, without what is beside it. excerpt: what is
    around the match; brief: less of it. before, after: the items or lines beside it, shortened."""

    address: Address
    reads: int
    excerpt: str
    brief: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


class Match(NamedTuple):
    """start, end: in characters of level 0. level: in which it was found, from `first` to `last` there."""

    start: int
    end: int
    level: Level
    first: int
    last: int

    @property
    def text(self) -> str:
        return self.level.text[self.first : self.last]


class Places(Protocol):
    def at(self, start: int, end: int) -> Place: ...


def hits_in(
    data: bytes,
    needle: Needle,
    options: GrepOptions,
    hits_max: int | None,
    alive: Callable[[], None] = _nothing,
) -> list[Inside]:
    """Those in a whole object. alive: is called every now and then."""
    if not needle.may_be_in(data):
        return []
    text, is_text = _as_text(data)
    found = matches_in(text, needle, is_text=is_text, is_json=text[:64].lstrip()[:1] in _JSON_BEGINS)
    first = next(found, None)
    if first is None:
        return []
    places = places_in(data, kind_of_bytes(data))
    hits = (
        placed(match, places, start, end, options)
        for match, start, end in in_bytes(chain([first], found), text)
    )
    return list(islice(distinct(hits, alive), hits_max))


def matches_in(text: str, needle: Needle, *, is_text: bool, is_json: bool) -> Iterator[Match]:
    """All of them, in order of where they begin, as the text stands and in what its strings say."""
    expression = needle.in_json if is_json else needle.expression
    found = [_matches(level, expression) for level in (levels(text) if is_text else (Level(0, text, None),))]
    last = (-1, -1)
    for match in heapq.merge(*found, key=lambda match: (match.start, match.level.number)):
        # What is found as it stands is found again in what is said.
        if (match.start, match.end) != last:
            yield match
        last = match.start, match.end


def in_bytes(matches: Iterable[Match], text: str) -> Iterator[tuple[Match, int, int]]:
    """Each with its place in the bytes of the text."""
    is_ascii = text.isascii()
    counted = at = 0
    for match in matches:
        if is_ascii:
            yield match, match.start, match.end
            continue
        at += _size(text[counted : match.start])
        counted = match.start
        yield match, at, at + _size(text[match.start : match.end])


def placed(match: Match, places: Places, start: int, end: int, options: GrepOptions) -> Inside:
    """The hit of a match at bytes [start, end) of what the places are of."""
    place = places.at(start, end)
    text, first, last = _seen(match, place.piece)
    excerpt = around(text, first, last, GREP_EXCERPT_BYTES)
    brief = around(text, first, last, GREP_BRIEF_BYTES)
    span = place.address.range
    if not options.context or place.beside is None or span is None or span.start is None:
        return Inside(place.address, len(place.piece), excerpt, brief)
    before, after = place.beside(options.context)
    stop = span.stop if span.stop is not None else span.start + 1
    wider = Range(span.unit, span.start - len(before), stop + len(after))
    return Inside(
        Address(place.address.selects, wider),
        len(place.piece),
        excerpt,
        brief,
        _shortened(before),
        _shortened(after),
    )


def distinct(hits: Iterable[Inside], alive: Callable[[], None] = _nothing) -> Iterator[Inside]:
    """The first hit of each address."""
    told: set[Address] = set()
    for number, hit in enumerate(hits):
        if number % _ALIVE_HITS == 0:
            alive()
        if hit.address not in told:
            told.add(hit.address)
            yield hit


# --- Helpers ---------------------------------------------------------------------------------------


def _matches(level: Level, expression: re.Pattern[str]) -> Iterator[Match]:
    for found in expression.finditer(level.text):
        first, last = found.span()
        if first < last:
            yield Match(level.origin(first), level.origin(last), level, first, last)


def _as_text(data: bytes) -> tuple[str, bool]:
    """Bytes that are no UTF-8 stand for themselves."""
    try:
        return data.decode(), True
    except UnicodeDecodeError:
        return data.decode("utf-8", "surrogateescape"), False


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogateescape"))


def _seen(match: Match, piece: bytes) -> tuple[str, int, int]:
    """The match in what the address reads, if it is there as it was found; else where it was found."""
    wanted = match.text
    text = piece.decode("utf-8", "surrogateescape").strip("\r\n")
    for _ in range(match.level.number + 1):
        at = text.find(wanted)
        if at >= 0:
            return text, at, at + len(wanted)
        text = said(text)
    return match.level.text, match.first, match.last


def _shortened(pieces: list[bytes]) -> tuple[str, ...]:
    return tuple(
        beginning(each.decode("utf-8", "replace").rstrip("\r\n"), GREP_EXCERPT_BYTES) for each in pieces
    )
