"""What stands in the sections of a page: facts, cut to what a page holds, and their charts.

Laws: pure. The texts of all lists of all sources together take at most TEXTS_BYTES_MAX as they stand in the
page, markup and all; charts have fewer columns and tables fewer rows where there are many sources. What a
list leaves out is told by its `left_out`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TypeVar

from castore.report import text
from castore.report.figures import (
    KINDS,
    Chart,
    TurnRow,
    named,
    stability_chart,
    turn_chart,
    turn_rows,
    turns_text,
)
from castore.report.model import (
    BigValue,
    DocumentFacts,
    Listed,
    Moved,
    Pair,
    Payload,
    RepeatFacts,
    SessionFacts,
    Share,
    StabilityFacts,
    Stable,
)

__all__ = ["EXPLAINED", "Facts", "Section", "Totals", "beginning", "sections", "totals"]

TEXTS_BYTES_MAX = 2_200_000
"""Of all sources together. The rest of a page, with charts and short tables, is well below a megabyte, if
there are not very many sources."""

COLUMNS_MAX, COLUMNS_MIN, COLUMNS_OF_ALL = 150, 24, 600
"""Columns of a chart, and rows of the table beneath it: of a source, and of all together if that is more than
the least of each."""
ROWS_MAX, ROWS_MIN, ROWS_OF_ALL = 40, 8, 200
"""Rows of a table of the biggest."""
PAIRS_A_GROUP = 40
LONG_CHARACTERS, BEGINNING_CHARACTERS = 700, 280
"""A text of more characters is folded up, and this much of it shows."""

_SHORTER = (1500, LONG_CHARACTERS, BEGINNING_CHARACTERS)
"""Characters to which the texts of pairs are shortened, where all of them are too much."""

_ROW_BYTES, _PAIR_BYTES = 760, 420
"""What a row of the table of what moved, and a pair, take beside their texts."""

Facts = SessionFacts | DocumentFacts
T = TypeVar("T")

EXPLAINED: dict[str, str] = {
    Share.RESULTS: "what tools gave back",
    Share.CALLS: "arguments of tool calls",
    Share.THINKING: "what the model thought",
    Share.ASSISTANT: "what the model said",
    Share.USER: "what people said",
    Share.SYSTEM: "instructions",
    Share.SUMMARY: "what stands for turns that are gone",
    Share.MEDIA: "images, documents, sounds",
    Share.UNKNOWN: "blocks of a type that is not known",
    Share.AROUND: "ids, names, times, brackets",
    Share.UI: "for people alone; it never reaches the model",
    Share.OUTSIDE: "records that are not viewed: other branches, or before a compaction",
}


@dataclass(frozen=True, slots=True)
class PairGroup:
    name: str
    pairs: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class StabilityPart:
    """chart: None if all of each view stands in the next one. least: the turns after which the least does."""

    facts: StabilityFacts
    chart: Chart | None
    least: tuple[Stable, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """One source. Of a document all but `id` and `facts` is empty.

    kinds: those that the session has, as the charts stack them; sizes: bytes of each.
    """

    id: str
    facts: Facts
    kinds: tuple[str, ...] = ()
    sizes: Mapping[str, int] | None = None
    by_size: Chart | None = None
    by_tokens: Chart | None = None
    turn_rows: tuple[TurnRow, ...] = ()
    groups: tuple[PairGroup, ...] = ()
    stability: tuple[StabilityPart, ...] = ()

    @property
    def is_session(self) -> bool:
        return isinstance(self.facts, SessionFacts)


@dataclass(frozen=True, slots=True)
class Totals:
    """view_size: what is left with the view that each section tells of, or with a fold."""

    size: int
    tokens: int
    turns: int
    view_size: int
    is_estimated: bool


def sections(sources: Sequence[Facts]) -> list[Section]:
    return [_section(facts, f"s{number}", len(sources)) for number, facts in enumerate(sources, 1)]


def totals(sources: Sequence[Facts]) -> Totals:
    return Totals(
        sum(each.size for each in sources),
        sum(each.tokens for each in sources),
        sum(each.turns for each in sources if isinstance(each, SessionFacts)),
        sum(each.viewed.size if isinstance(each, SessionFacts) else each.fold.size for each in sources),
        any(each.is_estimated for each in sources),
    )


def beginning(words: str) -> str | None:
    """What shows of a text that is folded up; None: it is short enough to stand."""
    if len(words) <= LONG_CHARACTERS:
        return None
    return words[:BEGINNING_CHARACTERS].rstrip() + " …"


def _section(facts: Facts, id: str, sources: int) -> Section:
    """sources: how many share the page."""
    rows_max = max(ROWS_MIN, min(ROWS_MAX, ROWS_OF_ALL // sources))
    bytes_max = TEXTS_BYTES_MAX // sources * 4 // 9  # For each of the two long lists.
    if isinstance(facts, DocumentFacts):
        biggest = _within(_first(facts.biggest, rows_max), bytes_max, _bytes_of_excerpt)
        fold = replace(facts.fold, spans=_first(facts.fold.spans, rows_max))
        return Section(id, replace(facts, biggest=biggest, fold=fold))
    columns_max = max(COLUMNS_MIN, min(COLUMNS_MAX, COLUMNS_OF_ALL // sources))
    sizes = {str(each.kind): each.size for each in facts.kinds}
    kinds = tuple(key for key in KINDS if sizes.get(key))
    rows = tuple(turn_rows(facts.turn_facts, columns_max))
    pairs = _within(_shortened(_said(facts.pairs), bytes_max), bytes_max, _pair_bytes)
    return Section(
        id,
        replace(
            facts,
            moved=_within(facts.moved, bytes_max, _moved_bytes),
            pairs=pairs,
            payloads=_within(_first(facts.payloads, rows_max), bytes_max // 8, _bytes_of_excerpt),
            repeats=_within(_first(facts.repeats, rows_max), bytes_max // 8, _bytes_of_excerpt),
            tools=_first(facts.tools, rows_max),
            fold=facts.fold and replace(facts.fold, spans=_first(facts.fold.spans, rows_max)),
        ),
        kinds,
        sizes,
        turn_chart(rows, [row.sizes for row in rows], kinds, text.size_text, "bytes"),
        turn_chart(rows, [row.tokens for row in rows], kinds, text.short_count, "tokens"),
        rows,
        tuple(_grouped(pairs.shown)),
        tuple(
            StabilityPart(each, stability_chart(each, columns_max), _least(each, rows_max))
            for each in facts.stability
        ),
    )


# --- What fits -------------------------------------------------------------------------------------


def _first(listed: Listed[T], most: int) -> Listed[T]:
    return Listed(listed.shown[:most], listed.total)


def _least(facts: StabilityFacts, most: int) -> tuple[Stable, ...]:
    less = [each for each in facts.turns if each.kept < each.size]
    return tuple(sorted(less, key=lambda each: (each.kept / each.size, each.first))[:most])


def _within(listed: Listed[T], bytes_max: int, cost: Callable[[T], int]) -> Listed[T]:
    """The first of them that together cost no more."""
    costs = accumulate(map(cost, listed.shown))
    return _first(listed, sum(1 for total in costs if total <= bytes_max))


def _said(pairs: Listed[Pair]) -> Listed[Pair]:
    """Without those that say nothing."""
    shown = tuple(each for each in pairs.shown if each.characters)
    return Listed(shown, pairs.total - len(pairs.shown) + len(shown))


def _shortened(pairs: Listed[Pair], bytes_max: int) -> Listed[Pair]:
    """If all of them are too much, long texts have their beginnings, so that more of them are there."""
    shorter = pairs
    for most in _SHORTER:
        if sum(map(_pair_bytes, shorter.shown)) <= bytes_max:
            break
        shorter = Listed(tuple(_cut(each, most) for each in pairs.shown), pairs.total)
    return shorter


def _cut(pair: Pair, characters_max: int) -> Pair:
    return replace(pair, text=pair.text[:characters_max], shown=pair.shown and pair.shown[:characters_max])


def _moved_bytes(moved: Moved) -> int:
    return _ROW_BYTES + _bytes_of(moved.excerpt, *map(text.short_name, (moved.label, moved.tool or "")))


def _pair_bytes(pair: Pair) -> int:
    return _PAIR_BYTES + _bytes_of(
        *(words for each in (pair.text, pair.shown or "") for words in (each, beginning(each) or ""))
    )


def _bytes_of_excerpt(each: Payload | RepeatFacts | BigValue) -> int:
    path = None if isinstance(each, Payload) else each.path
    return _bytes_of(each.excerpt, text.short_name(path or ""))


def _bytes_of(*texts: str) -> int:
    return sum(map(text.shown_bytes, texts))


# --- Pairs -----------------------------------------------------------------------------------------


def _grouped(pairs: Sequence[Pair]) -> Iterator[PairGroup]:
    """About PAIRS_A_GROUP together; a turn is in one group, but for a very long one."""
    group: list[Pair] = []
    for pair in pairs:
        is_full = len(group) >= PAIRS_A_GROUP and pair.turn != group[-1].turn
        if is_full or len(group) >= 3 * PAIRS_A_GROUP:
            yield _group(group)
            group = []
        group.append(pair)
    if group:
        yield _group(group)


def _group(pairs: Sequence[Pair]) -> PairGroup:
    words = named(turns_text(pairs[0].turn, pairs[-1].turn)).capitalize()
    return PairGroup(f"{words}: {text.plural(len(pairs), 'part')}", tuple(pairs))
