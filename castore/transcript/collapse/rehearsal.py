"""Rehearsal: a log in which everything may be tried, and nothing is written.

Law: it gives what the log gives, and what is saved on it is there for whoever has the rehearsal, and for
nobody else; the log is never written to. Where the log would refuse for its place (another process wrote, a
full disk), it does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from castore.digest import Digest
from castore.transcript.collapse.damage import anew
from castore.transcript.collapse.model import LogRecord, Snapshot
from castore.transcript.collapse.persistence import CollapseLog, LogState

__all__ = ["Rehearsal"]


class Rehearsal:
    """Of one log: what a plan, a report or a dry run is made on."""

    def __init__(self, log: CollapseLog) -> None:
        self._log = log
        self._state: LogState | None = None
        self._summaries: dict[Digest, str] = {}

    @property
    def session(self) -> str:
        return self._log.session

    def load(self) -> LogState:
        """As of CollapseLog, with what was tried since."""
        if self._state is None:
            self._state = self._log.load()
        return self._state

    def restart(self) -> LogState:
        """As of CollapseLog."""
        self._state = self._log.restart()
        return self._state

    def save(
        self,
        state: LogState,
        records: Sequence[LogRecord],
        snapshot: Snapshot,
        summaries: Mapping[Digest, str],
    ) -> LogState:
        """The state that would be; only this object knows of it."""
        added = anew(state, records)
        self._summaries.update(summaries)
        self._state = LogState((*state.records, *added), snapshot, state.first_number, state.version)
        return self._state

    def summary(self, digest: Digest) -> str:
        """As of CollapseLog."""
        text = self._summaries.get(digest)
        return self._log.summary(digest) if text is None else text
