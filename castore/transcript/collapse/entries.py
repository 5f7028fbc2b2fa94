"""A collapse log as entries of a harness's own transcript: docs/format.md, Collapse log.

Laws: those of castore.transcript.collapse.persistence, as far as what appends writes whole entries in order.
- An entry is one JSON object. What one of them says is held against its `check`, so that one that was cut or
  edited is told; members that others add to it, and how they spell it, count for nothing.
- The text of a summary stands in each entry that stages or commits it: the records and the latest snapshot
  are all that is needed, whatever else of the transcript is gone.
- Entries of other sessions are passed over, as a fork has those of the session that it came from; an entry
  that stands twice in the same words counts once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from castore.config import COUNT_MAX
from castore.digest import Digest
from castore.errors import InvalidOption, LimitExceeded, LogDamaged, LogMoved, ObjectMissing
from castore.transcript.collapse.damage import anew, whole_records
from castore.transcript.collapse.model import (
    RECORD_TYPES,
    Commit,
    LogRecord,
    Snapshot,
    parse_record,
)
from castore.transcript.collapse.persistence import LogState

__all__ = [
    "CUSTOM_TYPE",
    "EntryLog",
    "count_in",
    "is_entry",
    "record_entry",
    "snapshot_entry",
    "state_from_entries",
]

CUSTOM_TYPE = "castore.collapse"
"""What a `custom` entry of Pi is called that has one of ours as its `data`."""

_PREFIX = "collapse-"
_SNAPSHOT = "collapse-snapshot"
_TYPES = frozenset([*(_PREFIX + each for each in RECORD_TYPES), _SNAPSHOT])
_CHECK_HEX = 32
_SIGN = _PREFIX.encode()


def record_entry(session: str, number: int, record: LogRecord, text: str | None = None) -> dict[str, Any]:
    """A record as an entry. text: the summary of a commit."""
    said = record.to_json()
    entry = {**said, "type": _PREFIX + record.type, "session": session, "number": number}
    if text is not None:
        entry["text"] = text
    return {**entry, "check": _check(entry)}


def snapshot_entry(
    session: str, version: int, snapshot: Snapshot, texts: Mapping[Digest, str], records: int
) -> dict[str, Any]:
    """A snapshot as an entry. version: one more than the one that it is in place of; records: how many there
    are; texts: of its summaries."""
    said = snapshot.to_json()
    for staged, each in zip(snapshot.staged, said["staged"], strict=True):
        if staged.summary in texts:
            each["text"] = texts[staged.summary]
    entry = {**said, "type": _SNAPSHOT, "session": session, "version": version, "records": records}
    return {**entry, "check": _check(entry)}


class EntryLog:
    """The log of one session among the entries of a transcript that a harness owns.

    append: the entries are in the transcript, on the disk, whole and in this order, when it returns. entries:
    all that are there, of whatever kind, in order. alone: in it nobody else appends; without it two that save
    at once are told apart only by what they read before.
    Raises InvalidOption for a session without a name.
    """

    def __init__(
        self,
        session: str,
        append: Callable[[list[dict[str, Any]]], None],
        entries: Callable[[], Iterable[Any]],
        alone: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        if not session:
            raise InvalidOption("a session must have a name")
        self._session = session
        self._append = append
        self._entries = entries
        self._alone = alone
        self._texts: dict[Digest, str] = {}

    @property
    def session(self) -> str:
        return self._session

    def load(self) -> LogState:
        """As of CollapseLog. Raises LogDamaged, and what reading the entries raises."""
        return _state(self._read())

    def restart(self) -> LogState:
        """As of CollapseLog. Raises what reading the entries raises."""
        found = self._read()
        return LogState(first_number=found.last + 1, version=found.version)

    def save(
        self,
        state: LogState,
        records: Sequence[LogRecord],
        snapshot: Snapshot,
        summaries: Mapping[Digest, str],
    ) -> LogState:
        """As of CollapseLog. Raises LogMoved, InvalidOption for a text that is not the one of its digest,
        LimitExceeded, and what `append` and reading the entries raise."""
        for digest, text in summaries.items():
            _check_text(digest, text)
        records = anew(state, records)
        with self._alone():
            found = self._read()
            if (state.next_number, state.version) != (found.last + 1, found.version):
                raise LogMoved(f"somebody else wrote in the log of '{self._session}'", subject=self._session)
            self._texts.update(summaries)
            count = state.next_number + len(records) - 1
            if max(count, found.version) >= COUNT_MAX:
                raise LimitExceeded(f"a log has over {COUNT_MAX:,} records", limit="COUNT_MAX")
            new = [
                record_entry(self._session, state.next_number + at, record, self._text_of(record))
                for at, record in enumerate(records)
            ]
            new.append(snapshot_entry(self._session, found.version + 1, snapshot, self._texts, count))
            self._append(new)
        return LogState((*state.records, *records), snapshot, state.first_number, found.version + 1)

    def summary(self, digest: Digest) -> str:
        """As of CollapseLog. Raises ObjectMissing, and what reading the entries raises."""
        if digest not in self._texts:
            self._read()
        if digest not in self._texts:
            raise ObjectMissing(str(digest), hint="no entry of the transcript has this summary")
        return self._texts[digest]

    # --- Helpers ---

    def _read(self) -> _Found:
        found = _found(self._session, self._entries())
        self._texts.update(found.texts)
        return found

    def _text_of(self, record: LogRecord) -> str | None:
        return self._texts.get(record.staged.summary) if isinstance(record, Commit) else None


def state_from_entries(
    session: str, commits: Iterable[Any], snapshot: Any | None
) -> tuple[LogState, dict[Digest, str]]:
    """What the entries of a log come to, and the texts of its summaries.

    commits: the entries of its records, in order; snapshot: the latest snapshot's. Raises LogDamaged.
    """
    entries = [*commits, *([] if snapshot is None else [snapshot])]
    found = _found(session, entries)
    return _state(found), found.texts


def is_entry(value: Any) -> bool:
    """Whether it is an entry of a collapse log, of any session and good or not."""
    return _unwrapped(value) is not None


def count_in(source: bytes) -> int:
    """How many lines of a session's bytes are entries of collapse logs."""
    if _SIGN not in source:
        return 0
    return sum(_is_entry_line(line) for line in source.split(b"\n") if _SIGN in line)


# --- Helpers ---------------------------------------------------------------------------------------


def _is_entry_line(line: bytes) -> bool:
    try:
        return is_entry(json.loads(line))
    except (ValueError, RecursionError):
        return False


@dataclass(slots=True)
class _Found:
    """What entries say of one session. records: in order, each with its number; in words what is wrong with
    one. snapshot: the latest; in words what is wrong with it. last: the highest number of a good record;
    count: how many records there were when the snapshot was written."""

    session: str
    records: list[tuple[int, LogRecord | str]] = field(default_factory=list)
    snapshot: Snapshot | str | None = None
    version: int = 0
    count: int = 0
    last: int = 0
    texts: dict[Digest, str] = field(default_factory=dict)


def _state(found: _Found) -> LogState:
    first, records = whole_records(found.session, found.records)
    if not records:
        first = found.last + 1
    if isinstance(found.snapshot, str):
        raise LogDamaged(
            f"the log of '{found.session}' is damaged: its snapshot {found.snapshot}", subject=found.session
        )
    if found.last < found.count or first + len(records) <= found.last:
        raise LogDamaged(
            f"the log of '{found.session}' is damaged: its last records are missing", subject=found.session
        )
    return LogState(records, found.snapshot or Snapshot(), first, found.version)


def _found(session: str, entries: Iterable[Any]) -> _Found:
    found = _Found(session)
    checks: dict[int, Any] = {}
    for entry in _ours(session, entries):
        if entry["type"] == _SNAPSHOT:
            _take_snapshot(found, entry)
            continue
        try:
            number, record = _parse_record(found, entry)
        except ValueError as error:
            found.records.append((found.last + 1, f"says what can't be: {error}"))
            continue
        if number in checks:
            if checks[number] != entry["check"]:
                found.records.append((number, "is there twice, in different words"))
            continue
        checks[number] = entry["check"]
        found.records.append((number, record))
        found.last = max(found.last, number)
    return found


def _ours(session: str, entries: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    """The entries of the session's log, as they stand or inside an entry of Pi."""
    for each in entries:
        entry = _unwrapped(each)
        if entry is not None and entry.get("session") == session:
            yield entry


def _unwrapped(entry: Any) -> Mapping[str, Any] | None:
    if isinstance(entry, Mapping) and entry.get("type") == "custom":
        entry = entry.get("data") if entry.get("customType") == CUSTOM_TYPE else None
    type = entry.get("type") if isinstance(entry, Mapping) else None
    return entry if isinstance(type, str) and type in _TYPES else None


def _parse_record(found: _Found, entry: Mapping[str, Any]) -> tuple[int, LogRecord]:
    """Raises ValueError."""
    number = _count(entry, "number")
    if number == 0:
        raise ValueError("number must be from 1")
    record = parse_record({**entry, "type": entry["type"].removeprefix(_PREFIX)})
    text = entry.get("text") if isinstance(record, Commit) else None
    texts = _texts([(record.staged.summary, text)] if isinstance(record, Commit) else [])
    if record_entry(found.session, number, record, text)["check"] != entry.get("check"):
        raise ValueError("its check does not fit")
    found.texts.update(texts)
    return number, record


def _take_snapshot(found: _Found, entry: Mapping[str, Any]) -> None:
    try:
        version, count = _count(entry, "version"), _count(entry, "records")
        snapshot = Snapshot.parse(entry)
        said = zip(snapshot.staged, entry["staged"], strict=True)
        texts = _texts((staged.summary, each.get("text")) for staged, each in said)
        if snapshot_entry(found.session, version, snapshot, texts, count)["check"] != entry.get("check"):
            raise ValueError("its check does not fit")
    except ValueError as error:
        found.snapshot = f"says what can't be: {error}"
        return
    found.texts.update(texts)
    found.snapshot, found.version, found.count = snapshot, version, count


def _texts(said: Iterable[tuple[Digest, Any]]) -> dict[Digest, str]:
    """The summaries that stand there. Raises ValueError for one that is not of its digest."""
    texts = {}
    for digest, text in said:
        if text is None:
            continue
        if not isinstance(text, str):
            raise ValueError("text must be a text")
        try:
            _check_text(digest, text)
        except InvalidOption as error:
            raise ValueError(error.message) from error
        texts[digest] = text
    return texts


def _check_text(digest: Digest, text: str) -> None:
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise InvalidOption(f"summary '{digest.abbreviated}' is not Unicode") from error
    if Digest.of(data) != digest:
        raise InvalidOption(f"'{digest.abbreviated}' is not the digest of its summary")


def _count(entry: Mapping[str, Any], name: str) -> int:
    value = entry.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= COUNT_MAX:
        raise ValueError(f"{name} must be a count")
    return value


def _check(entry: Mapping[str, Any]) -> str:
    """Of what the entry says, however its JSON is spelt."""
    said = json.dumps(_plain(entry), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return sha256(said.encode("ascii")).hexdigest()[:_CHECK_HEX]


def _plain(value: Any) -> Any:
    """A whole number is one however it is written: other languages write 5.0 as 5."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
