"""What a collapse log holds: commits, rewinds, boundaries and resets; and what is not committed yet.

Laws:
- A record names messages by their ids and a summary by its digest; no text of the session is in it.
- Records are appended and never changed; the snapshot is replaced whole. From the session and the records
  follows the view, byte for byte; the snapshot decides nothing of it.
- `to_json` and `parse_record` (`Snapshot.parse`) are inverses; what is none of them is ValueError.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, ClassVar

from castore.digest import Digest
from castore.errors import InvalidOption

__all__ = [
    "RECORD_TYPES",
    "STAGED_MAX",
    "Boundary",
    "Commit",
    "Health",
    "LogRecord",
    "Reset",
    "Rewind",
    "Snapshot",
    "Span",
    "Staged",
    "parse_record",
]

_ID_CHARACTERS_MAX = 200
"""Of a message's id in a record: a longer one is told by its digest (castore.transcript.collapse.spans)."""
_TEXT_CHARACTERS_MAX = 300
_IDS_MAX = 4096
STAGED_MAX = 4096
"""Spans that wait at once."""
_COUNT_MAX = 2**53
_CONTENT = re.compile("[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Span:
    """Whole turns, by the ids of their first and last message, and 16 hex digits of what they all say: other
    turns between two such messages are another span. content empty: whatever they say
    (castore.transcript.collapse.spans)."""

    first_id: str
    last_id: str
    content: str = ""


@dataclass(frozen=True, slots=True)
class Staged:
    """A span with its summary, ready to be committed.

    collapse_id: 16 hex digits that follow from span, summary and strategy, so that the same thing staged
    again is the same. summary: digest of the summary's UTF-8. strategy: name and version of what made it.
    created_at: unix seconds.
    """

    span: Span
    summary: Digest
    strategy: str
    created_at: float
    collapse_id: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        span = self.span
        said = json.dumps([span.first_id, span.last_id, span.content, str(self.summary), self.strategy])
        object.__setattr__(self, "collapse_id", sha256(said.encode()).hexdigest()[:16])

    @property
    def summary_id(self) -> str:
        """What the summary's message is called where a harness needs an id: a UUID made of the collapse."""
        hex_digits = sha256(f"summary {self.collapse_id}".encode()).hexdigest()
        return "-".join(hex_digits[a:b] for a, b in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32)))

    def to_json(self) -> dict[str, Any]:
        return {
            "collapse_id": self.collapse_id,
            "summary_id": self.summary_id,
            "summary": str(self.summary),
            "first_archived_id": self.span.first_id,
            "last_archived_id": self.span.last_id,
            "content": self.span.content,
            "strategy": self.strategy,
            "created_at": self.created_at,
        }

    @classmethod
    def parse(cls, said: Any) -> Staged:
        """Raises ValueError for what is none; its ids must be those that follow from the rest. `summary_id`
        may be left out."""
        said = _object(said)
        staged = cls(
            Span(_id(said, "first_archived_id"), _id(said, "last_archived_id"), _content(said)),
            _digest(said, "summary"),
            _text(said, "strategy"),
            _time(said),
        )
        is_fitting = said.get("collapse_id") == staged.collapse_id
        if not is_fitting or ("summary_id" in said and said["summary_id"] != staged.summary_id):
            raise ValueError("its ids are not those of its span and summary")
        return staged


@dataclass(frozen=True, slots=True)
class Commit:
    """The span of `staged` is hidden behind its summary from now on. placeholder: what it hid when it was
    committed, in words; created_at: then."""

    type: ClassVar[str] = "commit"
    staged: Staged
    placeholder: str
    created_at: float

    @property
    def collapse_id(self) -> str:
        return self.staged.collapse_id

    @property
    def span(self) -> Span:
        return self.staged.span

    def to_json(self) -> dict[str, Any]:
        staged = self.staged.to_json()
        staged["staged_at"] = staged["created_at"]
        return {"type": self.type, **staged, "placeholder": self.placeholder, "created_at": self.created_at}


@dataclass(frozen=True, slots=True)
class Rewind:
    """Turns were taken back; the commits that named them are dropped. collapse_ids: theirs, sorted."""

    type: ClassVar[str] = "rewind"
    collapse_ids: tuple[str, ...]
    created_at: float

    def to_json(self) -> dict[str, Any]:
        return {"type": self.type, "collapse_ids": list(self.collapse_ids), "created_at": self.created_at}


@dataclass(frozen=True, slots=True)
class Boundary:
    """The whole session was compacted: every commit before this record is dropped. boundary_id: which
    compaction it was, as spans.py names it."""

    type: ClassVar[str] = "boundary"
    boundary_id: str
    created_at: float

    def to_json(self) -> dict[str, Any]:
        return {"type": self.type, "boundary_id": self.boundary_id, "created_at": self.created_at}


@dataclass(frozen=True, slots=True)
class Reset:
    """Somebody began anew: every record before this one counts for nothing. reason: in words."""

    type: ClassVar[str] = "reset"
    reason: str
    created_at: float

    def to_json(self) -> dict[str, Any]:
        return {"type": self.type, "reason": self.reason, "created_at": self.created_at}


LogRecord = Commit | Rewind | Boundary | Reset

RECORD_TYPES = (Commit.type, Rewind.type, Boundary.type, Reset.type)


def parse_record(said: Any) -> LogRecord:
    """Raises ValueError for what no record says."""
    said = _object(said)
    type = said.get("type")
    if type == Commit.type:
        staged = Staged.parse({**said, "created_at": said.get("staged_at")})
        return Commit(staged, _text(said, "placeholder"), _time(said))
    if type == Rewind.type:
        return Rewind(tuple(_ids(said, "collapse_ids")), _time(said))
    if type == Boundary.type:
        return Boundary(_id(said, "boundary_id"), _time(said))
    if type == Reset.type:
        return Reset(_text(said, "reason"), _time(said))
    raise ValueError(f"no record of a collapse log has the type {type!r:.40}")


@dataclass(frozen=True, slots=True)
class Health:
    """How the summarizers fared. spawns: how often one was started; empty: that gave nothing to stage;
    empty_in_a_row: the latest ones. errors: that failed; last_error: in words."""

    spawns: int = 0
    empty: int = 0
    empty_in_a_row: int = 0
    errors: int = 0
    last_error: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "spawns": self.spawns,
            "empty": self.empty,
            "empty_in_a_row": self.empty_in_a_row,
            "errors": self.errors,
            "last_error": self.last_error,
        }

    @classmethod
    def parse(cls, said: Any) -> Health:
        said = _object(said)
        spawns, empty, in_a_row, errors = (
            _count(said, name) for name in ("spawns", "empty", "empty_in_a_row", "errors")
        )
        last = None if said.get("last_error") is None else _text(said, "last_error")
        return cls(spawns, empty, in_a_row, errors, last)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What is not committed. staged: in order of the session. is_armed: a summarizer may be started when the
    context has grown enough. last_spawn_tokens: tokens of the context when one was started last."""

    staged: tuple[Staged, ...] = ()
    is_armed: bool = True
    last_spawn_tokens: int = 0
    health: Health = field(default_factory=Health)

    def to_json(self) -> dict[str, Any]:
        return {
            "staged": [each.to_json() for each in self.staged],
            "is_armed": self.is_armed,
            "last_spawn_tokens": self.last_spawn_tokens,
            "health": self.health.to_json(),
        }

    @classmethod
    def parse(cls, said: Any) -> Snapshot:
        """Raises ValueError for what is none."""
        said = _object(said)
        staged = said.get("staged")
        if not isinstance(staged, Sequence) or isinstance(staged, str) or len(staged) > STAGED_MAX:
            raise ValueError("staged must be a list")
        if not isinstance(said.get("is_armed"), bool):
            raise ValueError("is_armed must be true or false")
        return cls(
            tuple(Staged.parse(each) for each in staged),
            said["is_armed"],
            _count(said, "last_spawn_tokens"),
            Health.parse(said.get("health")),
        )

    def without(self, collapse_ids: Sequence[str]) -> Snapshot:
        """What is left once these are not staged any more."""
        gone = frozenset(collapse_ids)
        return replace(self, staged=tuple(each for each in self.staged if each.collapse_id not in gone))


# --- Helpers ---------------------------------------------------------------------------------------


def _object(said: Any) -> Mapping[str, Any]:
    if not isinstance(said, Mapping):
        raise ValueError("it must be an object")
    return said


def _text(said: Mapping[str, Any], name: str, characters_max: int = _TEXT_CHARACTERS_MAX) -> str:
    value = said.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= characters_max:
        raise ValueError(f"{name} must be a text of 1 to {characters_max} characters")
    return value


def _id(said: Mapping[str, Any], name: str) -> str:
    return _text(said, name, _ID_CHARACTERS_MAX)


def _ids(said: Mapping[str, Any], name: str) -> list[str]:
    value = said.get(name)
    if not isinstance(value, list) or len(value) > _IDS_MAX:
        raise ValueError(f"{name} must be a list")
    for each in value:
        if not isinstance(each, str) or not 0 < len(each) <= _ID_CHARACTERS_MAX:
            raise ValueError(f"{name} must hold ids")
    return value


def _content(said: Mapping[str, Any]) -> str:
    value = said.get("content")
    if not isinstance(value, str) or _CONTENT.fullmatch(value) is None:
        raise ValueError("content must be 16 hex digits")
    return value


def _count(said: Mapping[str, Any], name: str) -> int:
    value = said.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _COUNT_MAX:
        raise ValueError(f"{name} must be a count")
    return value


def _time(said: Mapping[str, Any]) -> float:
    value = said.get("created_at")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 2e11:
        raise ValueError("created_at must be a time")
    return value


def _digest(said: Mapping[str, Any], name: str) -> Digest:
    value = said.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a digest")
    try:
        return Digest.parse(value)
    except InvalidOption as error:
        raise ValueError(f"{name} must be a digest") from error
