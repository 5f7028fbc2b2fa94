"""Tables of the facts of one file: rows of cells, with headings that only people see. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from castore.cli.output import Count, Size, plural
from castore.digest import Digest
from castore.report.figures import turns_text
from castore.report.model import Listed

if TYPE_CHECKING:
    from castore.report.model import DocumentFacts, FoldFacts, ReferenceFacts, SessionFacts

__all__ = ["Path", "Table", "document_head", "document_tables", "session_head", "session_tables"]

Table = tuple[Sequence[str], list[Sequence[Any]]]
"""Headings and rows. The first cell of a row says what it is about."""


class Path(str):
    """Its end says more than its beginning."""


def session_head(facts: SessionFacts) -> list[tuple[str, Any]]:
    open_turn = facts.open_turn
    return [
        ("session", facts.name),
        ("format", facts.format),
        ("turns", Count(facts.turns)),
        ("messages", Count(facts.messages)),
        ("bytes", Size(facts.size)),
        ("characters", Count(facts.characters)),
        ("tokens", Count(facts.tokens)),
        ("counted", "no: estimated" if facts.is_estimated else "yes"),
        ("open loop", None if open_turn is None else f"from turn {open_turn} on"),
        ("oddities", Count(facts.oddities.total)),
    ]


def session_tables(facts: SessionFacts, rows_max: int) -> Iterator[Table]:
    tokens = "~tokens" if facts.is_estimated else "tokens"
    whole = max(facts.size, 1)
    yield (
        ("kind", "", "parts", "bytes", "share", tokens),
        [
            (
                "kind",
                str(each.kind),
                Count(each.parts),
                Size(each.size),
                _percent(each.size / whole),
                Count(each.tokens),
            )
            for each in facts.kinds
        ],
    )
    yield _view_table(facts, tokens)
    yield (
        ("tool", "", "calls", "arguments", "results", "bytes", tokens, "failed"),
        [
            (
                "tool",
                each.tool,
                Count(each.calls),
                Size(each.call_size),
                Count(each.results),
                Size(each.result_size),
                Count(each.call_tokens + each.result_tokens),
                Count(each.errors),
            )
            for each in facts.tools.shown[:rows_max]
        ],
    )
    turns = sorted(facts.turn_facts, key=lambda turn: -sum(turn.tokens.values()))[:rows_max]
    yield (
        ("turn", "", "bytes", tokens, "most of it", "prompt"),
        [
            (
                "turn",
                turns_text(turn.first, turn.last),
                Size(turn.size),
                Count(sum(turn.tokens.values())),
                max(turn.tokens, key=lambda kind: turn.tokens[kind], default=None),
                turn.title or None,
            )
            for turn in sorted(turns, key=lambda turn: turn.first)
        ],
    )
    yield (
        ("payload", "turn", "line", "", "bytes", "share", tokens, "object", "begins"),
        [
            (
                "payload",
                turns_text(each.turn, each.turn),
                each.line,
                each.tool or each.label,
                Size(each.size),
                _percent(each.share),
                Count(each.tokens),
                each.digest and Digest.parse(each.digest),
                each.excerpt or None,
            )
            for each in facts.payloads.shown[:rows_max]
        ],
    )
    yield (
        ("repeat", "", "times", "bytes", "again", f"{tokens} again", "in turns"),
        [
            (
                "repeat",
                Path(each.path) if each.path else each.excerpt,
                Count(each.times),
                Size(each.size),
                Size(each.repeat_size),
                Count(each.repeat_tokens),
                _turns(each.turns, each.times),
            )
            for each in facts.repeats.shown[:rows_max]
        ],
    )
    yield _fold_table(facts.fold, facts.size, rows_max)
    yield _reference_table(facts.references)
    yield (
        ("oddity", "line", ""),
        [("oddity", each.line, each.words) for each in facts.oddities.shown[:rows_max]],
    )
    yield _more_table(
        rows_max,
        tool=facts.tools,
        turn=Listed(facts.turn_facts, len(facts.turn_facts)),
        payload=facts.payloads,
        repeat=facts.repeats,
        fold=Listed() if facts.fold is None else facts.fold.spans,
        oddity=facts.oddities,
    )


def _view_table(facts: SessionFacts, tokens: str) -> Table:
    kept = {each.strategy: each.kept for each in facts.stability}
    rows: list[Sequence[Any]] = [
        ("view", "(none)", Size(facts.size), None, Count(facts.tokens), None, None, None, None)
    ]
    for each in facts.strategies:
        parts = sum(each.parts.values())
        row = (
            "view",
            each.strategy,
            Size(each.size),
            _percent(each.saved),
            Count(each.tokens),
            _percent(1 - each.tokens / facts.tokens if facts.tokens else 0.0),
            Count(parts),
            Count(each.objects),
            _percent(kept[each.strategy]) if each.strategy in kept else None,
        )
        rows.append(row)
    return ("view", "", "bytes", "saved", tokens, "saved", "moved", "objects", "stays a turn later"), rows


def _fold_table(fold: FoldFacts | None, size: int, rows_max: int) -> Table:
    headings = ("fold", "", "line", "bytes", "then", "saved", "object")
    if fold is None:
        return headings, []
    rows: list[Sequence[Any]] = [
        ("fold", plural(fold.values, "value"), None, Size(size), Size(fold.size), _percent(fold.saved), None)
    ]
    rows += [
        (
            "fold",
            each.path,
            each.line,
            Size(each.size),
            Size(each.reference_size),
            _percent(1 - each.reference_size / each.size),
            Digest.parse(each.digest),
        )
        for each in fold.spans.shown[:rows_max]
    ]
    return headings, rows


def _reference_table(references: Listed[ReferenceFacts]) -> Table:
    rows: list[Sequence[Any]] = [
        (
            "reference",
            each.kind,
            Count(each.references),
            Count(each.objects),
            Size(each.size),
            None if each.missing is None else Count(each.missing),
        )
        for each in references.shown
    ]
    return ("reference", "", "times", "objects", "bytes", "missing"), rows


def document_head(facts: DocumentFacts) -> list[tuple[str, Any]]:
    return [
        ("document", facts.name),
        ("values", Count(facts.values)),
        ("bytes", Size(facts.size)),
        ("characters", Count(facts.characters)),
        ("tokens", Count(facts.tokens)),
        ("counted", "no: estimated" if facts.is_estimated else "yes"),
    ]


def document_tables(facts: DocumentFacts, rows_max: int) -> Iterator[Table]:
    whole = max(facts.size, 1)
    yield (
        ("kind", "", "values", "bytes", "share"),
        [
            ("kind", each.kind, Count(each.count), Size(each.size), _percent(each.size / whole))
            for each in facts.kinds
            if each.size
        ],
    )
    yield (
        ("biggest", "", "", "bytes", "share", "begins"),
        [
            ("biggest", Path(each.path), each.kind, Size(each.size), _percent(each.share), each.excerpt)
            for each in facts.biggest.shown[:rows_max]
        ],
    )
    yield _fold_table(facts.fold, facts.size, rows_max)
    yield _reference_table(facts.references)
    yield _more_table(rows_max, biggest=facts.biggest, fold=facts.fold.spans)


def _more_table(rows_max: int, **lists: Listed[Any]) -> Table:
    """Of each list that was cut how many rows stand, and how many there are."""
    headings = ("more", "", "shown", "of")
    rows: list[Sequence[Any]] = []
    for name, each in lists.items():
        shown = min(rows_max, len(each.shown))
        if shown < each.total:
            rows.append(("more", name, Count(shown), Count(each.total)))
    return headings, rows


# --- Words -----------------------------------------------------------------------------------------


def _percent(share: float) -> str:
    return f"{round(100 * share)}%"


def _turns(turns: Sequence[int], times: int) -> str:
    more = " …" if times > len(turns) else ""
    return ", ".join(turns_text(turn, turn) for turn in turns) + more
