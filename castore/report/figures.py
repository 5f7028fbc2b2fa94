"""The charts of a session: what its turns brought, and how much of each view stands in the next one.

Law: pure. What a chart draws is told in words too, column by column, and in a table; turns that are drawn
together are told together there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from castore.report import charts, text
from castore.report.model import Share, StabilityFacts, TurnFacts

__all__ = ["KINDS", "Chart", "TurnRow", "named", "stability_chart", "turn_chart", "turn_rows", "turns_text"]

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
    Share.UI: "ui",
    Share.OUTSIDE: "outside",
}
"""How each kind is called on the page, in the order in which columns are stacked, the first at the bottom."""

_SHARES = tuple(text.percent_text(each, 100) for each in (100, 75, 50, 25, 0))


@dataclass(frozen=True, slots=True)
class Chart:
    """ticks: the words at the upright axis, from the top down; ends: at the other one, from the left on."""

    drawn: charts.Columns | charts.Curve
    ticks: tuple[str, ...]
    ends: tuple[str, ...]
    words: str


@dataclass(frozen=True, slots=True)
class TurnRow:
    """One column, and its row in the table. name: as `turns_text` has it."""

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


def turn_rows(turns: Sequence[TurnFacts], most: int) -> Iterator[TurnRow]:
    """At most `most`: of more turns neighbours are told together."""
    for group in charts.groups(len(turns), most):
        together = turns[group.start : group.stop]
        titles = [each.title for each in together if each.title]
        title = titles[0] if titles else ""
        if len(titles) > 1:
            title += f" (and {text.plural(len(titles) - 1, 'prompt')} more)"
        yield TurnRow(
            turns_text(together[0].first, together[-1].last),
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


def named(turns: str) -> str:
    """`turn 7`, `turns 3 to 9`, `before the first turn`, of what `turns_text` gave."""
    if turns == "before the first":
        return f"{turns} turn"
    return f"turn {turns}" if turns.isdigit() else f"turns {turns}"


def turn_chart(
    rows: Sequence[TurnRow],
    amounts: Sequence[Mapping[str, int]],
    kinds: Sequence[str],
    written: Callable[[float], str],
    of_what: str,
) -> Chart:
    """amounts: bytes or tokens of each row by kind; `written` says how one is written, `of_what` the word."""
    titles = [_title(row.name, each, kinds, written) for row, each in zip(rows, amounts, strict=True)]
    drawn = charts.columns(amounts, titles, kinds)
    sums = [sum(each.values()) for each in amounts]
    if not sums:
        return Chart(drawn, (), (), "There are no turns.")
    biggest = max(range(len(sums)), key=sums.__getitem__)
    most = max(kinds, key=lambda kind: amounts[biggest].get(kind, 0), default="")
    shown = dict.fromkeys((0, len(rows) // 2, len(rows) - 1) if len(rows) > 2 else range(len(rows)))
    return Chart(
        drawn,
        tuple(map(written, drawn.ticks)),
        tuple(named(rows[at].name) for at in shown),
        f"The most {of_what} came with {named(rows[biggest].name)}: {written(sums[biggest])}, "
        f"the greatest part of it {KINDS.get(most, 'of no kind')}.",
    )


def stability_chart(facts: StabilityFacts, most: int) -> Chart | None:
    """None if all of each view stands in the next one."""
    turns = facts.turns
    if all(each.kept == each.size for each in turns):
        return None
    names, shares, titles = [], [], []
    for group in charts.groups(len(turns), most):
        together = turns[group.start : group.stop]
        size, kept = sum(each.size for each in together), sum(each.kept for each in together)
        name = named(turns_text(together[0].first, together[-1].last))
        names.append(name)
        shares.append(kept / size if size else 1.0)
        titles.append(f"After {name}: {text.percent_text(kept, size)} of {text.size_text(size)} stands")
    least = titles[min(range(len(shares)), key=shares.__getitem__)]
    ends = (names[0], names[-1]) if len(names) > 1 else (names[0],)
    return Chart(charts.curve(shares, titles), _SHARES, ends, f"Least: {least[0].lower()}{least[1:]}.")


# --- Helpers ---------------------------------------------------------------------------------------


def _summed(amounts: Iterable[Mapping[Share, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for each in amounts:
        for kind, amount in each.items():
            found[str(kind)] = found.get(str(kind), 0) + amount
    return found


def _title(
    name: str, amounts: Mapping[str, int], kinds: Sequence[str], written: Callable[[float], str]
) -> str:
    parts = [f"{KINDS[kind]} {written(amounts[kind])}" for kind in kinds if amounts.get(kind)]
    return f"{named(name).capitalize()}: {written(sum(amounts.values()))} · {', '.join(parts) or 'nothing'}"
