"""The log of a session for whoever reads it alone: in whichever scope that is seen it lies.

Laws: nothing is written, and no scope to write in is needed. What is told is of scopes that the caller sees;
where several of them have a log of the session, none is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from castore.digest import Digest
from castore.errors import InvalidOption, ScopeDenied
from castore.roots.model import RootKind
from castore.transcript.collapse.model import LogRecord, Snapshot
from castore.transcript.collapse.persistence import LogState
from castore.transcript.collapse.store_log import StoreLog

if TYPE_CHECKING:
    from castore.store import StoreHandle

__all__ = ["LogPlace", "SeenLog", "log_place"]

_SCOPES_SHOWN = 4


@dataclass(frozen=True, slots=True)
class LogPlace:
    """Where the logs of a session lie. session: what they are called. live: the scopes that have one;
    forgotten: those in which one was forgotten and may come back. writing_scope: where a change would be
    written if nobody names a scope; None: nowhere."""

    session: str
    live: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    writing_scope: str | None = None

    @property
    def scope(self) -> str | None:
        """Of the one that is read; None if there is none. Raises InvalidOption if there are several."""
        if len(self.live) > 1:
            listed = ", ".join(self.live[:_SCOPES_SHOWN]) + (", …" if len(self.live) > _SCOPES_SHOWN else "")
            raise InvalidOption(
                f"several scopes have a log of '{self.session}': {listed}",
                option="--scope",
                hint="choose one with --scope",
            )
        return next(iter(self.live), None)


def log_place(handle: StoreHandle, session: str) -> LogPlace:
    """Raises RootDamaged, StoreUnavailable."""
    if not handle.exists:
        return LogPlace(session)
    store = handle.get()
    try:
        writing_scope = store.granted.writing_scope()
    except ScopeDenied:
        writing_scope = None
    return LogPlace(session, *store.log_scopes(RootKind.COLLAPSE, session), writing_scope)


class SeenLog:
    """The one log of this session that the caller sees; an empty one if there is none."""

    def __init__(self, handle: StoreHandle, session: str) -> None:
        self._handle = handle
        self._session = session

    @property
    def session(self) -> str:
        return self._session

    def load(self) -> LogState:
        """As of StoreLog. Raises InvalidOption where several scopes have one."""
        log = self._log()
        return LogState() if log is None else log.load()

    def restart(self) -> LogState:
        """As of StoreLog. Raises InvalidOption where several scopes have one."""
        log = self._log()
        return LogState() if log is None else log.restart()

    def save(
        self,
        state: LogState,
        records: Sequence[LogRecord],
        snapshot: Snapshot,
        summaries: Mapping[Digest, str],
    ) -> LogState:
        """Raises ScopeDenied: it was asked for to be read."""
        raise ScopeDenied("this log is read alone", hint="name the scope to write in", subject=self._session)

    def summary(self, digest: Digest) -> str:
        """As of StoreLog."""
        return StoreLog(self._handle, self._session).summary(digest)

    # --- Helpers ---

    def _log(self) -> StoreLog | None:
        scope = log_place(self._handle, self._session).scope
        return None if scope is None else StoreLog(self._handle, self._session, scope)
