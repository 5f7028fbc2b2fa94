"""Persistence: where a session's collapse log is kept, as its coordinator sees it.

Laws, of every implementation (tests/transcript/collapse/conformance.py holds them to it):
- `load` gives what the last `save` gave, in any process. After a crash in a save it gives a beginning of the
  records that were to be appended, and the old snapshot or the new one; never half a record.
- Of two that save on the same state one does, and the other gets LogMoved (15) or StoreLocked (11) and has
  changed nothing. Nothing is ever written between two records of one save.
- A summary that a record or the snapshot names can be read for as long as it is named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from castore.digest import Digest
from castore.transcript.collapse.model import LogRecord, Snapshot

__all__ = ["CollapseLog", "LogState"]


@dataclass(frozen=True, slots=True)
class LogState:
    """A log as it was read. records: in order; the first has the number `first_number`, 1 unless those before
    it were forgotten. version: what the snapshot that was read is told by, 0 if there was none."""

    records: tuple[LogRecord, ...] = ()
    snapshot: Snapshot = field(default_factory=Snapshot)
    first_number: int = 1
    version: int = 0

    @property
    def next_number(self) -> int:
        return self.first_number + len(self.records)


class CollapseLog(Protocol):
    """The log of one session. session: how it is called."""

    @property
    def session(self) -> str: ...

    def load(self) -> LogState:
        """The log as it is now; an empty one if nothing was ever saved. Raises LogDamaged where records are
        missing between others or say what can't be, and what reading the place raises."""

    def restart(self) -> LogState:
        """An empty log that stands where this one ends, whatever is in it: what a Reset is saved on where
        `load` raises LogDamaged. Raises what reading the place raises."""

    def save(
        self,
        state: LogState,
        records: Sequence[LogRecord],
        snapshot: Snapshot,
        summaries: Mapping[Digest, str],
    ) -> LogState:
        """`records` follow those of `state`, and `snapshot` is in place of its own; all of it is on the disk
        when this returns, the records first. Gives the state that is then.

        summaries: the texts of those that were not saved before. Raises LogMoved if the log is not at `state`
        any more, and then has changed nothing; and what writing to the place raises: of a disk that fails
        a beginning of the records may be there, as after a crash, and the log must be loaded anew.
        """

    def summary(self, digest: Digest) -> str:
        """The text of a summary that the log names. Raises what reading the place raises."""
