"""dedupe-reads: a result that already stands in full points to where it does.

Laws: the part that a marker points to stands in full, earlier in this view, with no compaction or rewind
between; and if the results are reads of files, no call between them wrote to one of those files: then the
later one stands in full as well, whatever it says. A read lasts from its call to its result, and a write
counts from its call on, for calls of one reply are made at once. Paths are compared as they are spelled, and
by their last component alone if one of them is relative: nobody knows to what. What was read back stands in
full itself (castore.transcript.read_backs): who fetched it wanted it here.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from hashlib import sha256

from castore.transcript.decision import Act, Decision, Decisions, StrategyId, ViewOptions
from castore.transcript.marker import least_bytes
from castore.transcript.model import Form, Part, PartKind, Reason, Transcript
from castore.transcript.read_backs import ReadBacks

__all__ = ["STRATEGY", "DedupeReads"]


class DedupeReads:
    id = StrategyId("dedupe-reads", 2)

    def __init__(self, lonely: frozenset[int] = frozenset()) -> None:
        self._lonely = lonely

    def without(self, lonely: frozenset[int]) -> DedupeReads:
        """The same, to which these parts are no repeats."""
        return DedupeReads(lonely)

    def decide(self, transcript: Transcript, options: ViewOptions, earlier: Decisions) -> dict[int, Decision]:
        decisions = dict(earlier)
        standing: dict[bytes, Part] = {}
        calls = _first_calls(transcript)
        writes = _Writes(transcript, options.write_tools)
        least = least_bytes(options.retrieve_with)
        kept = ReadBacks(transcript, options).kept()
        for part in transcript.parts_of(PartKind.RESULT):
            if part.size <= least or part.form is not Form.TEXT or part.index in decisions:
                continue
            digest = sha256(transcript.literal(part)).digest()
            first = standing.get(digest)
            if part.index in kept:
                standing.setdefault(digest, part)
                continue
            may_repeat = first is not None and not part.is_error and part.index not in self._lonely
            if first is None or not may_repeat or not self._is_repeat(transcript, writes, calls, first, part):
                standing[digest] = part
                continue
            decisions[part.index] = Decision(Act.SAME, Reason.REPEAT, str(self.id), same_as=first.index)
        return decisions

    def _is_repeat(
        self, transcript: Transcript, writes: _Writes, calls: dict[str, int], first: Part, part: Part
    ) -> bool:
        boundaries = transcript.boundaries
        if bisect_right(boundaries, part.start) != bisect_right(boundaries, first.start):
            return False
        start = min(first.start, calls.get(first.call_id or "", first.start))
        read = [transcript.reads.get(each.call_id or "", []) for each in (first, part)]
        return not writes.are_between(read, start, part.start)


def _first_calls(transcript: Transcript) -> dict[str, int]:
    """Call id -> where it was called, the first time if it was several times."""
    found: dict[str, int] = {}
    for call in transcript.parts_of(PartKind.CALL):
        found.setdefault(call.call_id or "", call.start)
    return found


class _Writes:
    """Where each file was written, by its path, and by its last component: of all, and of relative paths."""

    def __init__(self, transcript: Transcript, write_tools: tuple[str, ...]) -> None:
        self._all: list[int] = []
        self._by_path: dict[str, list[int]] = {}
        self._by_name: dict[str, list[int]] = {}
        self._relative: dict[str, list[int]] = {}
        for write in transcript.writes:
            if not write.is_known and write.tool not in write_tools:
                continue
            path = _normal(write.path)
            name = posixpath.basename(path)
            self._all.append(write.position)
            self._by_path.setdefault(path, []).append(write.position)
            self._by_name.setdefault(name, []).append(write.position)
            if not _is_absolute(path):
                self._relative.setdefault(name, []).append(write.position)

    def are_between(self, paths: list[list[str]], start: int, end: int) -> bool:
        """Whether one of the files was written there; or any, if they are too many to ask for each."""
        lists: Iterable[list[int]] = (self._all,)
        if sum(map(len, paths)) <= _PATHS_MAX:
            lists = (found for several in paths for path in several for found in self._of(_normal(path)))
        return any(bisect_right(found, end) != bisect_right(found, start) for found in lists)

    def _of(self, path: str) -> Iterator[list[int]]:
        """The writes to the file, and to the folders that it is in, for those may be moved or deleted."""
        name = posixpath.basename(path)
        yield (self._relative if _is_absolute(path) else self._by_name).get(name, [])
        for cut in [len(path), *(found.start() for found in _SLASH.finditer(path, 1))][:_LEVELS_MAX]:
            yield self._by_path.get(path[:cut], [])


_SLASH = re.compile("/")
_LEVELS_MAX = 64
_PATHS_MAX = 64
_ABSOLUTE = re.compile(r"/|[A-Za-z]:/|[a-zA-Z][a-zA-Z0-9+.-]*:/")


def _is_absolute(path: str) -> bool:
    return _ABSOLUTE.match(path) is not None


def _normal(path: str) -> str:
    """The path as both a read and a write may spell it. Nothing is asked of the file system."""
    path = path.strip()
    if path.startswith("file:"):
        from urllib.parse import unquote

        path = unquote(path.removeprefix("file:").removeprefix("//"))
    return posixpath.normpath(path.replace("\\", "/"))


STRATEGY = DedupeReads()
