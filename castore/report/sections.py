"""What stands in the sections of a page: facts, cut to what a page holds, and the charts of them.

Law: pure. The texts of all lists of all sources together take at most TEXTS_BYTES_MAX as they stand in the
page, markup and all; what a list leaves out is told by its `left_out`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TypeVar

from castore.report import charts, text
from castore.report.model import (
    DocumentFacts,
    Listed,
    Moved,
    Pair,
    SessionFacts,
    Share,
    StabilityFacts,
    TurnFacts,
)

__all__ = ["EXPLAINED", "KINDS", "Facts", "Section", "beginning", "sections", "totals"]

TEXTS_BYTES_MAX = 2_200_000
"""Of all sources together. The rest of a page, with charts and short tables, is well below a megabyte."""

COLUMNS_MAX = 150
"""Columns of a chart, and rows of the table beneath it: of more turns neighbours are drawn together."""
PAIRS_A_GROUP = 40
ROWS_MAX = 40
"""Rows of tables that tell the biggest."""
LONG_CHARACTERS, BEGINNING_CHARACTERS = 700, 280
"""A text of more characters is folded up, and this much of it shows."""

_SHORTER = (1500, LONG_CHARACTERS, BEGINNING_CHARACTERS)
"""Characters to which the texts of pairs are shortened, where all of them are too much."""

_ROW_BYTES, _PAIR_BYTES = 760, 420
"""What a row of the table of what moved, and a pair, take beside their texts."""

_SHARES = tuple(text.percent_text(each, 100) for each in (100, 75, 50, 25, 0))

Facts = SessionFacts | DocumentFacts
T = TypeVar("T")

KINDS: dict[str, str] = {
    Share.RESULTS: "results",
    Share.CALLS: "calls",
    Share.THINKING: "thinking",
    Share.ASSISTANT: "assistant",
    Share.USER: "user",
    Share.SYSTEM: "system prompt",
    Share.SUMMARY: "summaries",
    Share.MEDIA: "media",
    Share.UNKNOWN: "unknown",
    Share.AROUND: "around",
    Share.UI: "not sent",
    Share.OUTSIDE: "outside",
}
"""How each kind is called on the page, in the order in which columns are stacked."""

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
class Chart:
    """ticks: the words at the upright axis, from the top down; ends: at the other one, from the left on."""

    drawn: charts.Columns | charts.Curve
    ticks: tuple[str, ...]
    ends: tuple[str, ...]
    words: str


@dataclass(frozen=True, slots=True)
class TurnRow:
    name: str
    title: str
    sizes: Mapping[str, int]
    tokens: Mapping[str, int]

    @property
    def size(self) -> int:
        return sum(self.sizes.values())

    @property
    def token_count(self) -> int:
        return sum(self.tokens.values())


@dataclass(frozen=True, slots=True)
class PairGroup:
    name: str
    pairs: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class StabilityPart:
    """chart: None if all of each view stands in the next one."""

    facts: StabilityFacts
    chart: Chart | None


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
    size: int
    tokens: int
    turns: int
    view_size: int


def sections(sources: Sequence[Facts]) -> list[Section]:
    bytes_max = TEXTS_BYTES_MAX // max(len(sources), 1)
    return [_section(facts, f"s{number}", bytes_max) for number, facts in enumerate(sources, 1)]


def totals(sources: Sequence[Facts]) -> Totals:
    """view_size: what is left with the view that each section tells of, or with a fold."""
    return Totals(
        sum(each.size for each in sources),
        sum(each.tokens for each in sources),
        sum(each.turns for each in sources if isinstance(each, SessionFacts)),
        sum(each.viewed.size if isinstance(each, SessionFacts) else each.fold.size for each in sources),
    )


def beginning(words: str) -> str | None:
    """What shows of a text that is folded up; None: it is short enough to stand."""
    if len(words) <= LONG_CHARACTERS:
        return None
    return words[:BEGINNING_CHARACTERS].rsplit(None, 1)[0] + " …"


def _section(facts: Facts, id: str, bytes_max: int) -> Section:
    if isinstance(facts, DocumentFacts):
        fold = replace(facts.fold, spans=_first(facts.fold.spans, ROWS_MAX))
        return Section(id, replace(facts, biggest=_first(facts.biggest, ROWS_MAX), fold=fold))
    sizes = {str(each.kind): each.size for each in facts.kinds}
    kinds = tuple(key for key in KINDS if sizes.get(key))
    rows = tuple(_turn_rows(facts.turn_facts))
    moved = _within(facts.moved, bytes_max // 2, _moved_bytes)
    pairs = _within(_shortened(facts.pairs, bytes_max // 2), bytes_max // 2, _pair_bytes)
    cut_facts = replace(
        facts,
        moved=moved,
        pairs=pairs,
        payloads=_first(facts.payloads, ROWS_MAX),
        repeats=_first(facts.repeats, ROWS_MAX),
        tools=_first(facts.tools, ROWS_MAX),
        fold=facts.fold and replace(facts.fold, spans=_first(facts.fold.spans, ROWS_MAX)),
    )
    return Section(
        id,
        cut_facts,
        kinds,
        sizes,
        _turn_chart(rows, [row.sizes for row in rows], kinds, text.size_text, "bytes"),
        _turn_chart(rows, [row.tokens for row in rows], kinds, text.short_count, "tokens"),
        rows,
        tuple(_grouped(pairs.shown)),
        tuple(StabilityPart(each, _stability_chart(each)) for each in facts.stability),
    )


# --- What fits -------------------------------------------------------------------------------------


def _first(listed: Listed[T], most: int) -> Listed[T]:
    return Listed(listed.shown[:most], listed.total)


def _within(listed: Listed[T], bytes_max: int, cost: Callable[[T], int]) -> Listed[T]:
    """The first of them that together cost no more."""
    costs = accumulate(map(cost, listed.shown))
    count = sum(1 for total in costs if total <= bytes_max)
    return Listed(listed.shown[:count], listed.total)


def _shortened(pairs: Listed[Pair], bytes_max: int) -> Listed[Pair]:
    """If all of them are too much, long texts have their beginnings, so that more of them are there."""
    shorter = pairs
    for most in _SHORTER:
        if sum(map(_pair_bytes, shorter.shown)) <= bytes_max:
            break
        shown = (replace(each, text=each.text[:most], shown=each.shown and each.shown[:most]) for each in pairs.shown)
        shorter = Listed(tuple(shown), pairs.total)
    return shorter


def _moved_bytes(moved: Moved) -> int:
    return _ROW_BYTES + _bytes_of(moved.excerpt, moved.label, moved.tool or "")


def _pair_bytes(pair: Pair) -> int:
    return _PAIR_BYTES + _bytes_of(pair.text, beginning(pair.text) or "", pair.shown or "", pair.label)


def _bytes_of(*texts: str) -> int:
    return sum(len(text.shown(each).encode()) for each in texts)


# --- Turns -----------------------------------------------------------------------------------------


def _turn_rows(turns: Sequence[TurnFacts]) -> Iterator[TurnRow]:
    for group in charts.groups(len(turns), COLUMNS_MAX):
        together = turns[group.start : group.stop]
        first, last = together[0].first, together[-1].last
        titles = [each.title for each in together if each.title]
        title = titles[0] if titles else ""
        if len(titles) > 1:
            title += f" (and {text.plural(len(titles) - 1, 'prompt')} more)"
        yield TurnRow(
            turns_text(first, last),
            title,
            _summed(each.sizes for each in together),
            _summed(each.tokens for each in together),
        )


def turns_text(first: int, last: int) -> str:
    """`7`, `3 to 9`; -1 is what stands before the first turn."""
    if last == -1:
        return "before the first"
    if first == last:
        return f"{first}"
    return f"up to {last}" if first == -1 else f"{first} to {last}"


def _named(name: str) -> str:
    """`turn 7`, `turns 3 to 9`, `before the first turn`."""
    if name == "before the first":
        return f"{name} turn"
    return f"turn {name}" if name.isdigit() else f"turns {name}"


def _summed(amounts: Iterable[Mapping[Share, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for each in amounts:
        for kind, amount in each.items():
            found[str(kind)] = found.get(str(kind), 0) + amount
    return found


def _turn_chart(
    rows: Sequence[TurnRow],
    amounts: Sequence[Mapping[str, int]],
    kinds: Sequence[str],
    written: Callable[[float], str],
    of_what: str,
) -> Chart:
    titles = [_turn_title(row.name, each, kinds, written) for row, each in zip(rows, amounts, strict=True)]
    drawn = charts.columns(amounts, titles, kinds)
    sums = [sum(each.values()) for each in amounts]
    if not sums:
        return Chart(drawn, (), (), "There are no turns.")
    biggest = max(range(len(sums)), key=sums.__getitem__)
    most = max(kinds, key=lambda kind: amounts[biggest].get(kind, 0), default="")
    middle = (rows[len(rows) // 2].name,) if len(rows) > 2 else ()
    ends = (rows[0].name, *middle, rows[-1].name) if len(rows) > 1 else (rows[0].name,)
    return Chart(
        drawn,
        tuple(map(written, drawn.ticks)),
        tuple(map(_named, ends)),
        f"The most {of_what} came with {_named(rows[biggest].name)}: {written(sums[biggest])}, "
        f"the greatest part of it {KINDS.get(most, 'of no kind')}.",
    )


def _turn_title(
    name: str, amounts: Mapping[str, int], kinds: Sequence[str], written: Callable[[float], str]
) -> str:
    parts = [f"{KINDS[kind]} {written(amounts[kind])}" for kind in kinds if amounts.get(kind)]
    return f"{_named(name).capitalize()}: {written(sum(amounts.values()))} · {', '.join(parts) or 'nothing'}"


def _stability_chart(facts: StabilityFacts) -> Chart | None:
    turns = facts.turns
    if all(each.kept == each.size for each in turns):
        return None
    names, shares, titles = [], [], []
    for group in charts.groups(len(turns), COLUMNS_MAX):
        together = turns[group.start : group.stop]
        size, kept = sum(each.size for each in together), sum(each.kept for each in together)
        name = turns_text(together[0].first, together[-1].last)
        names.append(name)
        shares.append(kept / size if size else 1.0)
        titles.append(f"After {_named(name)}: {text.percent_text(kept, size)} of {text.size_text(size)} stands")
    drawn = charts.curve(shares, titles)
    lowest = min(range(len(shares)), key=shares.__getitem__)
    ends = (_named(names[0]), _named(names[-1])) if len(names) > 1 else (_named(names[0]),)
    return Chart(drawn, _SHARES, ends, f"Least: {titles[lowest][0].lower()}{titles[lowest][1:]}.")


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
    first, last = pairs[0].turn, pairs[-1].turn
    name = turns_text(first, last)
    return PairGroup(f"{_named(name).capitalize()}: {text.plural(len(pairs), 'part')}", tuple(pairs))
