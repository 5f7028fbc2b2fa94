"""Replay: which commits hold, once all records of a log have been read in order. Pure.

Law: the same records give the same commits, in whatever process; a record only adds its own commit or takes
earlier ones away, so a log that lost its end in a crash says what it said before that end was written.
"""

from __future__ import annotations

from collections.abc import Iterable

from castore.transcript.collapse.model import Boundary, Commit, LogRecord, Reset, Rewind

__all__ = ["holding_commits", "latest_boundary"]


def holding_commits(records: Iterable[LogRecord]) -> list[Commit]:
    """Those that nothing dropped, in order of the log. A span may be in one twice; the later one is shown
    (castore.transcript.collapse.spans), and the earlier one again if a rewind takes the later one away."""
    holding: dict[str, Commit] = {}
    for record in records:
        if isinstance(record, Commit):
            # The same again, after all: it stands where it was said last.
            holding.pop(record.collapse_id, None)
            holding[record.collapse_id] = record
        elif isinstance(record, Rewind):
            for collapse_id in record.collapse_ids:
                holding.pop(collapse_id, None)
        else:
            holding.clear()
    return list(holding.values())


def latest_boundary(records: Iterable[LogRecord]) -> str | None:
    """The compaction that the log knows of; None if it knows of none since it was begun anew."""
    latest: str | None = None
    for record in records:
        if isinstance(record, Boundary):
            latest = record.boundary_id
        elif isinstance(record, Reset):
            latest = None
    return latest
