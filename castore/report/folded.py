"""Folded: what `ctx fold` would make of a file. Planned; nothing is stored."""

from __future__ import annotations

import io
from collections.abc import Sequence

from castore.fold.fold import FoldedSpan, plan_stream
from castore.fold.policy import FoldPolicy
from castore.report.model import LISTED_MAX, FoldFacts, FoldSpan, Listed

__all__ = ["fold_facts"]


def fold_facts(data: bytes) -> FoldFacts:
    """With the default options. Raises DocumentInvalid, LimitExceeded."""
    report = plan_stream(io.BytesIO(data), FoldPolicy())
    biggest = report.spans[:LISTED_MAX]
    lines = _lines_at(data, [each.offset for each in biggest])
    spans = tuple(_span(each, lines[each.offset]) for each in biggest)
    return FoldFacts(
        report.document.size,
        report.folded_count,
        report.object_count,
        (len(data) - report.document.size) / len(data) if data else 0.0,
        Listed(spans, len(report.spans)),
    )


def _lines_at(data: bytes, offsets: Sequence[int]) -> dict[int, int]:
    """The line, from 1, of each offset; every line end is counted once."""
    lines, at, line = {}, 0, 1
    for offset in sorted(offsets):
        line += data.count(b"\n", at, offset)
        lines[offset], at = line, offset
    return lines


def _span(span: FoldedSpan, line: int) -> FoldSpan:
    return FoldSpan(
        span.path,
        line,
        span.offset,
        str(span.kind),
        span.literal_bytes,
        span.reference_bytes,
        str(span.digest),
        span.items,
        span.lines,
    )
