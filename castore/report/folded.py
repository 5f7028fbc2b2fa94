"""Folded: what `ctx fold` would make of a file. Planned; nothing is stored."""

from __future__ import annotations

import io

from castore.fold.fold import FoldedSpan, plan_stream
from castore.fold.policy import FoldPolicy
from castore.report.model import LISTED_MAX, FoldFacts, FoldSpan, Listed

__all__ = ["fold_facts"]


def fold_facts(data: bytes) -> FoldFacts:
    """With the default options. Raises DocumentInvalid, LimitExceeded."""
    report = plan_stream(io.BytesIO(data), FoldPolicy())
    spans = tuple(_span(each) for each in report.spans[:LISTED_MAX])
    return FoldFacts(
        report.document.size,
        report.folded_count,
        report.object_count,
        (len(data) - report.document.size) / len(data) if data else 0.0,
        Listed(spans, len(report.spans)),
    )


def _span(span: FoldedSpan) -> FoldSpan:
    return FoldSpan(
        span.path,
        span.offset,
        str(span.kind),
        span.literal_bytes,
        span.reference_bytes,
        str(span.digest),
        span.items,
        span.lines,
    )
