"""What the entries of a text are: rows of JSON or markup that stand in it, its lines, or, of a text of one
line, its pieces.

Law: of what has a line of its own the place is the line, of other entries which characters they are.
"""

from __future__ import annotations

from castore.overview.markup import markup_rows
from castore.overview.pieces import piece_rows
from castore.overview.records import record_rows
from castore.overview.tables import Table, read_table
from castore.overview.tails import tail_rows
from castore.overview.wrapped import wrapped_rows

__all__ = ["entries_of"]

_LINES_MIN = 6
_PIECES_CHARACTERS_MIN = 500


def entries_of(text: str) -> Table | None:
    """None of a text that has none."""
    table = read_table(text) if text.count("\n") >= _LINES_MIN else None
    if table is not None and table.format == "jsonl":
        return table
    is_plain = table is not None and table.format == "lines"
    if table is not None and is_plain and (tailed := tail_rows(table)) is not None:
        return tailed
    wrapped = markup_rows(text) or wrapped_rows(text)
    if table is not None and is_plain and wrapped is None:
        return record_rows(table) or table
    if wrapped is not None or table is not None:
        return wrapped or table
    return piece_rows(text) if len(text) >= _PIECES_CHARACTERS_MIN else None
