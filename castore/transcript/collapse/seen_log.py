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


@dataclass(frozen=True, slots=True)
class LogPlace:
    """Where the log of a session lies. scope: None if there is none. forgotten: the scopes in which one was
    forgotten and may come back. writing_scope: where a change would be written; None: nowhere."""

    scope: str | None = None
    forgotten: tuple[str, ...] = ()
    writing_scope: str | None = None


def log_place(handle: StoreHandle, session: str) -> LogPlace:
    """Raises InvalidOption where several scopes have a log of the session, RootDamaged, StoreUnavailable."""
    if not handle.exists:
        return LogPlace()
    store = handle.get()
    found = store.log_scopes(RootKind.COLLAPSE, session)
    if len(found.live) > 1:
        raise InvalidOption(
            f"several scopes have a log of '{session}': {', '.join(found.live[:4])}"
            + (", …" if len(found.live) > 4 else ""),
            option="--scope",
            hint="choose one with --scope",
        )
    try:
        writing_scope = store.granted.writing_scope()
    except ScopeDenied:
        writing_scope = None
    return LogPlace(next(iter(found.live), None), found.forgotten, writing_scope)


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
