"""Formats: who wrote a session, told from its content, and how it is read. One file each.

Laws:
- A session is read as a format only if that is what its records say; two formats in one file, or none, are
  SessionInvalid with the line, and the error lists what was looked for. Never a guess.
- Reading is total on ragged files: what can be read is, what was odd is said (`Transcript.oddities`), and
  every byte is in a part, in a leave, or stays where it is.

Adding one: a module here with a `FORMAT`, its name in `_MODULES`, and its fixtures (docs/formats.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from castore.errors import InvalidOption, SessionInvalid
from castore.transcript.model import Transcript
from castore.transcript.records import Record, Records, collector_off

__all__ = [
    "FORMAT_NAMES",
    "Format",
    "ReadOptions",
    "detect",
    "find_format",
    "read_session",
    "read_transcript",
    "session_error",
]

_MODULES = {
    "pi": "pi",
    "claude-code": "claude_code",
    "codex": "codex",
    "anthropic": "anthropic",
    "openai-chat": "openai_chat",
    "openai-responses": "openai_responses",
    "gemini": "gemini",
    "messages": "messages",
}
"""Name -> module. The order is that of the error that lists them; it decides nothing."""

FORMAT_NAMES = tuple(_MODULES)

_UNTYPED = frozenset({"anthropic", "gemini", "messages", "openai-chat"})
"""Formats that recognize no record with a member `type`, so that they need not be asked of one."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """leaf: the id of the record that the branch ends with; None: the one the tool itself would resume.

    sidechain: the id of a sub-agent's transcript inside the session; None: the main one.
    """

    leaf: str | None = None
    sidechain: str | None = None


class Format(Protocol):
    """How one tool or API writes a session."""

    name: str
    looked_for: str
    """What a file of this format is told by, in one line, for the error that lists them all."""
    is_body: bool
    """One JSON value a file, not one record a line."""

    def recognizes(self, record: Record) -> bool:
        """Whether this record (a JSON object, or a body of any kind) is surely of this format.

        Of records that several formats may hold, or of types it does not know, it says no; a file is of a
        format if that recognizes some record and no other format recognizes one that it does not.
        """

    def read(self, records: Records, options: ReadOptions) -> Transcript:
        """The transcript. Raises SessionInvalid with the line for records that contradict each other or
        hold a value of the wrong type where this format's meaning hangs on it."""

    def stand_in(self, transcript: Transcript, pieces: Sequence[tuple[int, int]], text: str) -> bytes:
        """What may stand in the place of `pieces` so that the model gets `text`, as a user's message, instead
        of what they said: one or more records, with line ends between them and none after, or an item of a
        body's list. Read again, every other message is what it was.

        pieces: spans of the source in order, all of which leave: of whole records with their line ends, or of
        items; what stands between them stays. An id in them to which a record points that is viewed and
        stays, as its parent or otherwise, is one of a record that stands in for them. The same pieces and
        text, and the same records outside, give the same bytes; of what was not there before the call, such
        as a time, nothing is in it.
        """

    def api_messages(self, transcript: Transcript) -> list[Any]:
        """What the model's API would get for this (a view or a source), in the shape of `transcript.api`:
        plain Python values, for castore.transcript.validate."""


def find_format(name: str) -> Format:
    """Raises InvalidOption if there is none of this name."""
    module = _MODULES.get(name)
    if module is None:
        raise InvalidOption(
            f"there is no session format '{name}'", hint=f"the formats are: {', '.join(FORMAT_NAMES)}"
        )
    found: Format = import_module(f"castore.transcript.formats.{module}").FORMAT
    return found


def detect(records: Records) -> Format:
    """The one format that the records are of. Raises SessionInvalid."""
    formats = [find_format(name) for name in FORMAT_NAMES]
    typed = [each for each in formats if each.name not in _UNTYPED]
    candidate: Format | None = None
    for record in records.records:
        if record.value is None or (candidate is not None and candidate.recognizes(record)):
            continue
        asked = typed if "type" in record.value.names() else formats
        by = [each for each in asked if each is not candidate and each.recognizes(record)]
        if not by:
            continue
        if candidate is not None or len(by) > 1:
            names = [candidate.name] if candidate is not None else []
            raise _mixed(record, [*names, *(each.name for each in by)])
        candidate = by[0]
    if candidate is None:
        raise _unknown(formats)
    return candidate


@collector_off()
def read_transcript(records: Records, options: ReadOptions, *, format: str | None = None) -> Transcript:
    """The transcript of a session. format: the name of the one it must be. Raises SessionInvalid,
    InvalidOption."""
    chosen = detect(records) if format is None else find_format(format)
    if chosen.is_body and len(records.records) != 1:
        line = records.records[1].line if len(records.records) > 1 else 1
        raise session_error(f"a body of '{chosen.name}' is one JSON value, and there are more", line)
    transcript = chosen.read(records, options)
    records.release()
    return transcript


def read_session(data: bytes, *, format: str | None = None) -> Transcript:
    """The transcript of a session's bytes: the branch that its tool would resume. Raises SessionInvalid,
    DocumentInvalid, LimitExceeded."""
    from castore.transcript.records import read_records

    return read_transcript(read_records(data), ReadOptions(), format=format)


def session_error(message: str, line: int, *, hint: str | None = None) -> SessionInvalid:
    """SessionInvalid at a line of the session."""
    error = SessionInvalid(message, line=line, hint=hint)
    error.at(f"line {line}")
    return error


def _mixed(record: Record, names: Sequence[str]) -> SessionInvalid:
    return session_error(
        f"the file mixes session formats: {' and '.join(dict.fromkeys(names))}",
        record.line,
        hint="view each on its own; '--format NAME' reads it as one of them",
    )


def _unknown(formats: Sequence[Format]) -> SessionInvalid:
    looked = "; ".join(f"{each.name}: {each.looked_for}" for each in formats)
    return SessionInvalid(f"no known session format; looked for {looked}")
