"""What can be read of a log whose records may be missing or damaged: the one rule, wherever it is kept.

Laws: a reset says that all before it counts for nothing, so what is wrong before the last reset is nothing
to anybody. What is wrong after it is LogDamaged: a view without a record that was there is another view. So a
log begins with its first record, or with a reset.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from castore.errors import LogDamaged
from castore.transcript.collapse.model import LogRecord, Reset
from castore.transcript.collapse.persistence import LogState

__all__ = ["anew", "whole_records"]


def whole_records(
    session: str, found: Iterable[tuple[int, LogRecord | str]]
) -> tuple[int, tuple[LogRecord, ...]]:
    """The records in a row that count, and the number of the first of them, 1 if there are none.

    found: in order, each with its number; in words, what is wrong with one that can't be read.
    Raises LogDamaged.
    """
    first, records, wrong = 1, list[LogRecord](), ""
    for number, record in found:
        if isinstance(record, str):
            wrong = f"record {number:,} {record}"
            first, records = number + 1, []
            continue
        if records and number != first + len(records):
            wrong = f"record {first + len(records):,} is missing"
            records = []
        if not records:
            first = number
            if number != 1 and not wrong:
                wrong = f"record {number - 1:,} is missing"
        records.append(record)
        if isinstance(record, Reset):
            wrong = ""
    if wrong:
        raise LogDamaged(f"the log of '{session}' is damaged: {wrong}", subject=session)
    return first, tuple(records)


def anew(state: LogState, records: Sequence[LogRecord]) -> Sequence[LogRecord]:
    """`records`; in a log that lost all that it had, behind a reset: should that come back, it counts for
    nothing."""
    if state.records or state.first_number == 1 or not records or isinstance(records[0], Reset):
        return records
    return [Reset("the log was begun anew", records[0].created_at), *records]
