"""dedupe-reads: a result that already stands in full points to where it does.

Laws: the part that a marker points to stands in full, earlier in this view, with no compaction or rewind
between; and if the results are reads of a file, no call between them wrote to that file: then the later one
stands in full as well, whatever it says.
"""

from __future__ import annotations

import posixpath
from bisect import bisect_right
from hashlib import sha256

from castore.transcript.decision import Act, Decision, Decisions, StrategyId, ViewOptions
from castore.transcript.marker import least_bytes
from castore.transcript.model import Form, Part, PartKind, Reason, Transcript

__all__ = ["STRATEGY", "DedupeReads"]


class DedupeReads:
    id = StrategyId("dedupe-reads", 1)

    def __init__(self, lonely: frozenset[int] = frozenset()) -> None:
        self._lonely = lonely

    def without(self, lonely: frozenset[int]) -> DedupeReads:
        """The same, to which these parts are no repeats."""
        return DedupeReads(lonely)

    def decide(self, transcript: Transcript, options: ViewOptions, earlier: Decisions) -> dict[int, Decision]:
        decisions = dict(earlier)
        standing: dict[bytes, Part] = {}
        writes = _Writes(transcript, options.write_tools)
        least = least_bytes(options.retrieve_with)
        for part in transcript.parts_of(PartKind.RESULT):
            if part.size <= least or part.form is not Form.TEXT or part.index in decisions:
                continue
            digest = sha256(transcript.literal(part)).digest()
            first = standing.get(digest)
            may_repeat = first is not None and not part.is_error and part.index not in self._lonely
            if first is None or not may_repeat or not self._is_repeat(transcript, writes, first, part):
                standing[digest] = part
                continue
            decisions[part.index] = Decision(Act.SAME, Reason.REPEAT, str(self.id), same_as=first.index)
        return decisions

    def _is_repeat(self, transcript: Transcript, writes: _Writes, first: Part, part: Part) -> bool:
        boundaries = transcript.boundaries
        if bisect_right(boundaries, part.start) != bisect_right(boundaries, first.start):
            return False
        path = transcript.reads.get(part.call_id or "")
        return path is None or not writes.is_between(path, first.start, part.start)


class _Writes:
    """Where each file was written, by path."""

    def __init__(self, transcript: Transcript, write_tools: tuple[str, ...]) -> None:
        self._positions: dict[str, list[int]] = {}
        for write in transcript.writes:
            if not write.is_known and write.tool not in write_tools:
                continue
            self._positions.setdefault(_normal(write.path), []).append(write.position)

    def is_between(self, path: str, start: int, end: int) -> bool:
        found = self._positions.get(_normal(path), [])
        return bisect_right(found, end) != bisect_right(found, start)


def _normal(path: str) -> str:
    """The path as both a read and a write may spell it. Nothing is asked of the file system."""
    return posixpath.normpath(path.strip().replace("\\", "/").removeprefix("file://"))


STRATEGY = DedupeReads()
