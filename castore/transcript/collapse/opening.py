"""Opening: a session's bytes become a coordinator that has restored everything, in its order."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from castore.digest import Digest
from castore.errors import InvalidOption, LogDamaged
from castore.transcript.collapse.coordinator import KEEP_TURNS, CollapseCoordinator
from castore.transcript.collapse.model import LogRecord, Reset, Snapshot
from castore.transcript.collapse.persistence import CollapseLog, LogState
from castore.transcript.collapse.rehearsal import Rehearsal
from castore.transcript.collapse.session import session_key, session_log
from castore.transcript.collapse.store_log import StoreLog
from castore.transcript.formats import ReadOptions, read_transcript
from castore.transcript.model import Transcript
from castore.transcript.recorded import session_bytes
from castore.transcript.records import read_records

if TYPE_CHECKING:
    from castore.store import StoreHandle

__all__ = ["begin_anew", "open_coordinator", "open_log"]

_REASON_CHARACTERS_MAX = 300


def open_coordinator(
    data: bytes,
    handle: StoreHandle,
    *,
    name: str | None = None,
    scope: str | None = None,
    keep_turns: int = KEEP_TURNS,
    is_rehearsed: bool = False,
    is_only_read: bool = False,
    clock: Callable[[], float] = time.time,
) -> CollapseCoordinator:
    """The collapse of a session whose log is in the store. data: the session, or a recorded view of it.

    name: as of session_key; scope: that is written in; clock: unix seconds. is_rehearsed: nothing that is
    done with it is written; is_only_read: likewise, and the log is the one that is seen, in whichever scope
    it lies, not that of the scope which is written in. Nothing is made by opening: no store, no log; but
    what a writer left that did not end is written again first, if anything is to be written. Raises
    SessionInvalid, InvalidOption, LogDamaged, and what reading the store, and writing in it, raises.
    """
    find = session_log if is_only_read else _written_log
    log: CollapseLog = _OwnLog(lambda: find(coordinator.transcript, handle, name, scope))
    coordinator = CollapseCoordinator(
        Rehearsal(log) if is_rehearsed or is_only_read else log, keep_turns=keep_turns, clock=clock
    )
    if handle.exists and not (is_rehearsed or is_only_read):
        # A call that finds everything done writes nothing, and is relied on all the same.
        store = handle.get()
        store.parts.settle(names_files=store.granted.is_operator)
    coordinator.restore(data, handle)
    return coordinator


def open_log(
    data: bytes, handle: StoreHandle, *, name: str | None = None, scope: str | None = None
) -> CollapseLog:
    """The log alone, of which nothing is read. Raises SessionInvalid, InvalidOption, and what reading a view
    back raises."""
    source = session_bytes(handle.get(), data) if handle.exists else data
    return _written_log(read_transcript(read_records(source), ReadOptions()), handle, name, scope)


def begin_anew(log: CollapseLog, reason: str, now: float) -> int | None:
    """Nothing is collapsed or staged any more, whatever the log held, also if that can't be read; the number
    of the record that says so, None if the log is empty, which needs none. reason: in words; now: unix
    seconds.

    Raises InvalidOption for what is no reason, LogMoved, and what reading and writing the log raise.
    """
    if not reason.strip() or len(reason) > _REASON_CHARACTERS_MAX or not reason.isprintable():
        raise InvalidOption(
            f"a reason is one line of 1 to {_REASON_CHARACTERS_MAX} printable characters", option="--reason"
        )
    try:
        state = log.load()
    except LogDamaged:
        # What is wrong with it counts for nothing behind a reset.
        state = log.restart()
    else:
        if state.next_number == 1 and state.snapshot == Snapshot():
            return None
    return log.save(state, [Reset(reason, now)], Snapshot(), {}).next_number - 1


def _written_log(
    transcript: Transcript, handle: StoreHandle, name: str | None, scope: str | None
) -> CollapseLog:
    """The log in the scope that is written in."""
    return StoreLog(handle, session_key(transcript, name), scope)


class _OwnLog:
    """The log of a session that is read only later: what it is called is not known before."""

    def __init__(self, find: Callable[[], CollapseLog]) -> None:
        self._find = find

    @cached_property
    def _log(self) -> CollapseLog:
        return self._find()

    @property
    def session(self) -> str:
        return self._log.session

    def load(self) -> LogState:
        return self._log.load()

    def restart(self) -> LogState:
        return self._log.restart()

    def save(
        self,
        state: LogState,
        records: Sequence[LogRecord],
        snapshot: Snapshot,
        summaries: Mapping[Digest, str],
    ) -> LogState:
        return self._log.save(state, records, snapshot, summaries)

    def summary(self, digest: Digest) -> str:
        return self._log.summary(digest)
