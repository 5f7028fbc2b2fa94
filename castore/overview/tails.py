"""Lines that end in JSON: `2026-05-01 06:00:00 INFO row {"id": 1}`. What the JSON says is a row.

Laws: every line is an entry, and its place is the line; one that does not end so stays the string it is.
"""

from __future__ import annotations

from typing import Any

from castore.overview.tables import REST, STAMP, Table, read_json

__all__ = ["tail_rows"]

_SAMPLE = 60
_PREFIX_MAX = 400
_SHARE = 0.8


def tail_rows(table: Table) -> Table | None:
    """The same lines with the JSON in them read; None if most have none."""
    texts = table.texts
    sample = texts[:: max(1, len(texts) // _SAMPLE)]
    if sum(isinstance(_row(text), dict) for text in sample) < _SHARE * len(sample):
        return None
    return Table("json at the end", [_row(text) for text in texts], range(len(texts)), texts)


def _row(text: str) -> Any:
    """The members of the JSON, and what stands before it as REST; a moment at the beginning as `time`."""
    at = text.find("{", 0, _PREFIX_MAX)
    if at < 1 or not text.rstrip().endswith("}"):
        return text
    value = read_json(text[at:])
    if not isinstance(value, dict):
        return text
    row = {**value, REST: text[:at].strip()}
    if "time" not in row and (stamp := STAMP.match(text)) is not None:
        row["time"] = stamp[1].replace(",", ".")
        row[REST] = text[stamp.end() : at].strip()
    return row
