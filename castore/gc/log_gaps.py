"""What is missing of logs, as their roots tell (docs/format.md, Logs): for verify and repair.

Laws: a gap between records, and an end that the state knows of, are told; a beginning that is gone is none,
since what was forgotten is gone in that way, and nothing that lies before a record which begins its log anew.
What a record says otherwise is its kind's own and is not looked at.

Memory: some 100 bytes for each record of a log.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from castore.roots.model import ANEW, LAST, STATE, Root, RootKind, log_root_id

__all__ = ["LogGap", "Logs"]


class LogGap(NamedTuple):
    """Records of a log that are missing: those from `first` to `last`. root_id: of the first of them."""

    root_id: str
    first: int
    last: int
    kind: RootKind
    scope: str
    source_name: str

    @property
    def words(self) -> str:
        count = f"record {self.first:,} is" if self.first == self.last else self._range
        return (
            f"{count} missing in the {self.kind.value} log '{self.source_name}' of scope '{self.scope}': "
            f"'ctx {self.kind.value} reset' begins it anew"
        )

    @property
    def _range(self) -> str:
        return f"records {self.first:,} to {self.last:,} are"


@dataclass(slots=True)
class _Log:
    """live: the numbers of records that are neither forgotten nor expired. last: the highest that has not
    expired. anew: the highest that begins the log anew. told: how many records the live state tells of."""

    live: list[int] = field(default_factory=list)
    last: int = 0
    anew: int = 0
    told: int = 0


class Logs:
    """The logs of a store, of which roots are added in any order."""

    def __init__(self) -> None:
        self._logs: dict[tuple[RootKind, str, str], _Log] = {}

    def add(self, root: Root, now: float) -> None:
        """Nothing, for a root that is of no log, or has expired."""
        if root.place is None or root.source_name is None or root.is_expired(now):
            return
        log = self._logs.setdefault((root.kind, root.scope, root.source_name), _Log())
        if root.place == STATE:
            told = root.details.get(LAST)
            if root.is_live(now) and isinstance(told, int):
                log.told = told
            return
        log.last = max(log.last, root.place)
        if root.is_live(now):
            log.live.append(root.place)
            if root.details.get(ANEW) is True:
                log.anew = max(log.anew, root.place)

    def gaps(self) -> Iterator[LogGap]:
        for log, found in sorted(self._logs.items()):
            for first, last in _gaps(found):
                yield LogGap(log_root_id(*log, first), first, last, *log)


def _gaps(log: _Log) -> Iterator[tuple[int, int]]:
    if not log.live:
        if log.last < log.told:
            yield log.last + 1, log.told
        return
    live = sorted(log.live)
    before = max(log.anew, live[0]) - 1
    for number in live:
        if number > before + 1:
            yield before + 1, number - 1
        before = max(before, number)
    end = max(log.last, log.told)
    if before < end:
        yield before + 1, end
