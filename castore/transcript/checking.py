"""Whether a view keeps the rules of its API, beside what its session breaks already."""

from __future__ import annotations

from collections import Counter

from castore.transcript.formats import ReadOptions, find_format, read_transcript
from castore.transcript.records import read_records
from castore.transcript.validate import Finding, check
from castore.transcript.view import View

__all__ = ["check_view"]


def check_view(view: View) -> tuple[list[Finding], list[Finding]]:
    """The findings in the view that its session does not have, and those that it has.

    They are told apart by their rule: of as many as the session has of one, none is the view's."""
    transcript = view.transcript
    form = find_format(transcript.format)
    before = check(transcript.api, form.api_messages(transcript))
    again = read_transcript(read_records(view.to_bytes()), ReadOptions(), format=transcript.format)
    known = Counter(finding.rule for finding in before)
    new, old = [], []
    for finding in check(again.api, form.api_messages(again)):
        if known[finding.rule] > 0:
            known[finding.rule] -= 1
            old.append(finding)
        else:
            new.append(finding)
    return new, old
