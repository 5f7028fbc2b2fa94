"""stats FILE…: where the context of sessions went, and what other JSON consists of."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from castore.cli import output
from castore.cli.measuring import measured, view_request
from castore.cli.output import Count, Record, Size
from castore.cli.parameters import parse_count
from castore.cli.stats_tables import Path, document_head, document_tables, session_head, session_tables

if TYPE_CHECKING:
    from castore.report.model import DocumentFacts, SessionFacts

__all__ = ["stats_of_files"]

_ROWS = 10
_EXCERPT_CHARACTERS = 60
"""On a terminal; a pipe has all of it."""
_SUMMED = ("turns", "size", "tokens", "view_size", "view_tokens", "fold_size")


def stats_of_files(
    files: Sequence[str],
    *,
    limit: str | None,
    format: str | None,
    strategies: Sequence[str] | None,
    as_json: bool,
    scope: str | None,
    store: str | None,
) -> None:
    """stdout says what is in the files: of one all there is to say, of several a line each and their sum."""
    rows_max = parse_count("-n", limit)
    request = view_request(strategies, format)
    found = (measured(file, request, scope, store) for file in files)
    if as_json:
        output.table((Record((), _facts(each, rows_max)) for each in found), as_json)
    elif len(files) == 1:
        (facts,) = found
        _tell(facts, _ROWS if rows_max is None else rows_max)
    else:
        _tell_several(list(map(_row, found)))


# --- For programs ----------------------------------------------------------------------------------


def _facts(facts: SessionFacts | DocumentFacts, rows_max: int | None) -> dict[str, Any]:
    """All of them, but for what each part says; with `-n` at most so many in each list."""
    from castore.report.model import to_json

    told: dict[str, Any] = to_json(facts)
    told.pop("pairs", None)
    if rows_max is None:
        return told
    for each in (*told.values(), (told["fold"] or {}).get("spans")):
        if isinstance(each, dict) and "shown" in each:
            each["shown"] = each["shown"][:rows_max]
    if "turn_facts" in told:
        told["turn_facts"] = _biggest_turns(told["turn_facts"], rows_max)
        for each in told["stability"]:
            least = sorted(each["turns"], key=lambda turn: turn["kept"] - turn["size"])[:rows_max]
            each["turns"] = sorted(least, key=lambda turn: turn["first"])
    return told


def _biggest_turns(turns: list[dict[str, Any]], rows_max: int) -> list[dict[str, Any]]:
    biggest = sorted(turns, key=lambda turn: -sum(turn["tokens"].values()))[:rows_max]
    return sorted(biggest, key=lambda turn: turn["first"])


# --- For people ------------------------------------------------------------------------------------


def _tell(facts: SessionFacts | DocumentFacts, rows_max: int) -> None:
    from castore.report.model import SessionFacts

    if isinstance(facts, SessionFacts):
        head, tables = session_head(facts), session_tables(facts, rows_max)
    else:
        head, tables = document_head(facts), document_tables(facts, rows_max)
        if facts.why_no_session:
            output.note(f"read as JSON, for as a session: {facts.why_no_session}")
    output.block(head, {}, as_json=False)
    for headings, rows in tables:
        if rows:
            _table(headings, rows)


def _table(headings: Sequence[str], rows: list[Sequence[Any]]) -> None:
    if output.is_terminal(sys.stdout):
        output.line("")
        rows = [headings, *([_short(cell) for cell in row] for row in rows)]
    output.table((Record(row, {}) for row in rows), as_json=False)


def _short(cell: Any) -> Any:
    if not isinstance(cell, str) or len(cell) <= _EXCERPT_CHARACTERS:
        return cell
    if isinstance(cell, Path):
        return "…" + cell[1 - _EXCERPT_CHARACTERS :]
    return cell[: _EXCERPT_CHARACTERS - 1] + "…"


# --- Several files ---------------------------------------------------------------------------------


def _row(facts: SessionFacts | DocumentFacts) -> dict[str, Any]:
    """One file, in one line."""
    from castore.report.model import SessionFacts

    row: dict[str, Any] = {"name": facts.name, "size": facts.size, "tokens": facts.tokens}
    row["fold_size"] = None if facts.fold is None else facts.fold.size
    if isinstance(facts, SessionFacts):
        viewed = facts.viewed
        return row | {
            "format": facts.format,
            "turns": facts.turns,
            "view_size": viewed.size,
            "view_tokens": viewed.tokens,
        }
    return row | {"format": "json", "turns": None, "view_size": None, "view_tokens": None}


def _tell_several(rows: list[dict[str, Any]]) -> None:
    summed = {name: sum(row[name] or 0 for row in rows) for name in _SUMMED}
    rows.append({"name": "in all", "format": None, **summed})
    headings = ("file", "format", "turns", "bytes", "tokens", "bytes viewed", "tokens viewed", "bytes folded")
    _table(headings, [_several_cells(row) for row in rows])


def _several_cells(row: dict[str, Any]) -> Sequence[Any]:
    def cell(name: str, kind: type[Count] | type[Size]) -> Any:
        return None if row[name] is None else kind(row[name])

    return (
        row["name"],
        row["format"],
        cell("turns", Count),
        cell("size", Size),
        cell("tokens", Count),
        cell("view_size", Size),
        cell("view_tokens", Count),
        cell("fold_size", Size),
    )
