"""A collapse log as roots of a store: docs/format.md, Collapse log.

Laws: those of castore.transcript.collapse.persistence. A record is a root of kind `collapse` that has the
record's number, and the snapshot is the state of that log (castore.store.logs); each names the summaries
that it says, so that gc can't take them. Records are written first, each at once, then the snapshot.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from castore.digest import Digest
from castore.errors import InvalidOption, LogDamaged, ObjectPurged
from castore.roots.model import ANEW, LAST, STATE, Root, RootDraft, RootKind
from castore.store.reads import ReadCount
from castore.transcript.collapse.damage import anew, whole_records
from castore.transcript.collapse.model import Commit, LogRecord, Reset, Snapshot, parse_record
from castore.transcript.collapse.persistence import LogState

if TYPE_CHECKING:
    from castore.store import Store, StoreHandle
    from castore.store.batch import Batch
    from castore.store.logs import LogRoots

__all__ = ["StoreLog"]

COLLAPSE = "collapse"
"""The detail that holds the record, or the snapshot."""

_WRITER_SECONDS = 0.05
"""Until the log is read again that was found damaged."""


class StoreLog:
    """The log of one session in a store. scope: that it lies in; None: the one that the caller writes in.

    The store is made by the first `save`, if the handle may make one; nothing else makes or changes anything.
    Raises InvalidOption for a session without a name.
    """

    def __init__(self, handle: StoreHandle, session: str, scope: str | None = None) -> None:
        if not session:
            raise InvalidOption("a session must have a name")
        self._handle = handle
        self._session = session
        self._scope = scope

    @property
    def session(self) -> str:
        return self._session

    def load(self) -> LogState:
        """As of CollapseLog. Raises LogDamaged, RootDamaged, ScopeDenied, StoreUnavailable."""
        if not self._handle.exists:
            return LogState()
        before: list[tuple[str, int]] | None = None
        while True:
            log = self._log(self._handle.get())
            try:
                return self._state(log)
            except LogDamaged:
                # A writer may have been in the middle of it. What is damaged is so twice.
                now = [(root.id, root.sequence) for root in log.records]
                if now == before:
                    raise
                before = now
                time.sleep(_WRITER_SECONDS)

    def restart(self) -> LogState:
        """As of CollapseLog. Raises RootDamaged, ScopeDenied, StoreUnavailable."""
        if not self._handle.exists:
            return LogState()
        log = self._log(self._handle.get())
        return LogState(first_number=log.last + 1, version=log.state.sequence if log.state is not None else 0)

    def save(
        self,
        state: LogState,
        records: Sequence[LogRecord],
        snapshot: Snapshot,
        summaries: Mapping[Digest, str],
    ) -> LogState:
        """As of CollapseLog. Raises LogMoved, StoreLocked, ObjectMissing for a summary that is neither given
        nor there, ObjectPurged for one that is given and was purged; what `Batch.commit_all` raises; and
        InvalidOption for a text that is not the one of its digest."""
        records = anew(state, records)
        drafts = [
            self._draft(state.next_number + at, _details(record), _summaries_of([record]))
            for at, record in enumerate(records)
        ]
        count = state.next_number + len(records) - 1
        drafts.append(
            self._draft(
                STATE,
                {COLLAPSE: _short_snapshot(snapshot), LAST: count},
                {staged.summary for staged in snapshot.staged},
                replaces=state.version,
            )
        )
        store = self._handle.get_or_create()
        with store.batch() as batch:
            named = {digest for draft in drafts for digest in draft.objects}
            for digest in named & summaries.keys():
                if batch.stage(_encoded(digest, summaries[digest])).digest != digest:
                    raise InvalidOption(f"'{digest.abbreviated}' is not the digest of its summary")
            done = _commit(batch, drafts, frozenset(summaries))
        return LogState((*state.records, *records), snapshot, state.first_number, done[-1].sequence)

    def summary(self, digest: Digest) -> str:
        """As of CollapseLog. Raises ObjectMissing, ObjectPurged, ObjectDamaged, StoreMissing; LogDamaged for
        an object that is no text."""
        # A view is no use of the object that anybody asked for: it is noted nowhere.
        data = self._handle.get().read(digest, count=ReadCount())
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise LogDamaged(f"summary '{digest.abbreviated}' is not UTF-8", subject=self._session) from error

    # --- Helpers ---

    def _state(self, log: LogRoots) -> LogState:
        first, records = whole_records(
            self._session, ((root.place or 0, _record(root)) for root in log.records)
        )
        if not records:
            first = log.last + 1
        snapshot, count = self._snapshot(log.state)
        if log.last < count or first + len(records) <= log.last:
            raise LogDamaged(
                f"the log of '{self._session}' is damaged: its last records are missing",
                subject=self._session,
            )
        return LogState(records, snapshot, first, log.state.sequence if log.state is not None else 0)

    def _log(self, store: Store) -> LogRoots:
        return store.log(RootKind.COLLAPSE, self._session, scope=self._scope)

    def _snapshot(self, state: Root | None) -> tuple[Snapshot, int]:
        """The snapshot, and how many records there were at least."""
        if state is None:
            return Snapshot(), 0
        try:
            count = state.details.get(LAST)
            if not isinstance(count, int) or isinstance(count, bool) or count < 0:
                raise ValueError("records must be a count")
            return Snapshot.parse(state.details.get(COLLAPSE)), count
        except ValueError as error:
            raise LogDamaged(
                f"the log of '{self._session}' is damaged: its snapshot says what can't be: {error}",
                subject=self._session,
            ) from error

    def _draft(
        self,
        place: int,
        details: Mapping[str, Any],
        objects: Iterable[Digest],
        *,
        replaces: int = 0,
    ) -> RootDraft:
        return RootDraft(
            RootKind.COLLAPSE,
            tuple(sorted(objects)),
            scope=self._scope,
            source_name=self._session,
            details=details,
            place=place,
            replaces=replaces,
        )


def _details(record: LogRecord) -> dict[str, Any]:
    """What the record's root says of it; of a reset, what the store needs to know, too."""
    said = {COLLAPSE: _short(record.to_json())}
    return {**said, ANEW: True} if isinstance(record, Reset) else said


def _short_snapshot(snapshot: Snapshot) -> dict[str, Any]:
    return {**snapshot.to_json(), "staged": [_short(each.to_json()) for each in snapshot.staged]}


def _short(said: Mapping[str, Any]) -> dict[str, Any]:
    """Without what follows from the rest: a record and its root are to take under 1 kB."""
    return {key: value for key, value in said.items() if key != "summary_id"}


def _record(root: Root) -> LogRecord | str:
    try:
        return parse_record(root.details.get(COLLAPSE))
    except ValueError as error:
        return f"says what can't be: {error}"


def _summaries_of(records: Iterable[LogRecord]) -> set[Digest]:
    return {record.staged.summary for record in records if isinstance(record, Commit)}


def _encoded(digest: Digest, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidOption(f"summary '{digest.abbreviated}' is not Unicode") from error


def _commit(batch: Batch, drafts: Sequence[RootDraft], given: frozenset[Digest]) -> list[Root]:
    """The roots are there. None names a summary that was purged, and that nobody gives again: the log goes
    on, and who reads the summary is told."""
    from dataclasses import replace

    left_out: set[str] = set()
    while True:
        now = [
            replace(draft, objects=tuple(each for each in draft.objects if str(each) not in left_out))
            for draft in drafts
        ]
        try:
            return batch.commit_all(now)
        except ObjectPurged as error:
            refused = set(error.refused)
            if refused & {str(each) for each in given} or refused <= left_out:
                raise
            left_out |= refused
