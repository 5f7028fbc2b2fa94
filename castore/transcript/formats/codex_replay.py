"""Replay of a Codex rollout: which of its items the model still gets, as Codex finds out when it resumes one.

Law (after codex-rs, `rollout_reconstruction.rs` and `history.rs`): items count in the order of the file. A
`compacted` record replaces all before it with its `replacement_history`; an old one, without that, leaves
what people wrote, and its `message`. `thread_rolled_back` takes away the latest prompts with all after them,
and what Codex had written right before each of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from castore.errors import SessionInvalid
from castore.transcript.formats import session_error
from castore.transcript.formats.blocks import quoted
from castore.transcript.formats.codex_text import is_developer_context, is_summary, is_user_context
from castore.transcript.formats.responses_items import ITEM_TYPES, item_type
from castore.transcript.model import Reason
from castore.transcript.records import Record, Records
from castore.transcript.values import Value

__all__ = ["Entry", "Replay", "bare_item", "is_old_header", "record_type", "replay"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One item that the model gets, or a text that Codex makes one of.

    is_turn: the model's loop begins again here. is_person: a person wrote it. is_context: Codex wrote it, for
    the turn after it. is_summary: a compaction's text.
    """

    record: Record
    item: Value | None
    text: Value | None = None
    is_turn: bool = False
    is_context: bool = False
    is_person: bool = False
    is_summary: bool = False


@dataclass(slots=True)
class Replay:
    """What is left at the end. fates: record index -> why it leaves. staying: rollbacks that must be read
    again by whoever reads the view, because what they take away stands inside another record."""

    header: Record | None = None
    live: list[Entry] = field(default_factory=list)
    fates: dict[int, Reason] = field(default_factory=dict)
    boundaries: list[Record] = field(default_factory=list)
    staying: set[int] = field(default_factory=set)


def replay(records: Records) -> Replay:
    """Raises SessionInvalid for values of the wrong type where the history hangs on them."""
    state = Replay()
    for record in records.objects:
        type = record_type(record)
        if type == "session_meta" or is_old_header(record):
            state.header = state.header or record
        elif type == "compacted":
            _compact(state, records, record)
        elif type == "event_msg":
            if _payload(record).text("type") == "thread_rolled_back":
                _roll_back(state, records, record)
        else:
            entry = _entry_of(record, type)
            if entry is not None:
                state.live.append(entry)
    return state


def record_type(record: Record) -> str | None:
    """The record's type if it has Codex's envelope. Raises SessionInvalid for a type that is no string."""
    value = record.value
    assert value is not None
    type = value.get("type")
    if type is None or value.get("payload") is None:
        return None
    if not type.is_string:
        raise session_error(f"a record's type must be a string, not {quoted(type)}", record.line)
    return type.text()


def is_old_header(record: Record) -> bool:
    """Rollouts of 2025 up to August begin with the bare members of today's session_meta."""
    members = record.value.members if record.value is not None else {}
    if "type" in members or "payload" in members or "instructions" not in members:
        return False
    return all(name in members and members[name].is_string for name in ("id", "timestamp"))


def bare_item(record: Record) -> Value | None:
    """The item that is the whole record, as in rollouts of 2025 up to August."""
    value = record.value
    if value is None or value.get("payload") is not None or value.get("type") is None:
        return None
    return value if item_type(value) in ITEM_TYPES else None


def _entry_of(record: Record, type: str | None) -> Entry | None:
    if type == "inter_agent_communication":
        text = _payload(record).get("content")
        is_said = text is not None and text.is_string
        return Entry(record, None, text, is_turn=True) if is_said else None
    item = bare_item(record) if type is None else None
    if type == "response_item":
        item = _payload(record)
    return _entry(record, item) if item is not None else None


def _entry(record: Record, item: Value) -> Entry | None:
    """None for what Codex keeps, and never sends."""
    type = item_type(item)
    if type not in ITEM_TYPES or type == "compaction_trigger":
        return None
    role = item.text("role") if type == "message" else None
    if role == "user":
        is_context = is_user_context(item)
        is_person = not is_context and not is_summary(item)
        return Entry(record, item, None, not is_context, is_context, is_person)
    if role == "developer":
        return Entry(record, item, is_context=is_developer_context(item))
    return Entry(record, item, is_turn=type == "agent_message")


def _compact(state: Replay, records: Records, record: Record) -> None:
    payload = _payload(record)
    history = payload.get("replacement_history")
    message = payload.get("message")
    if message is not None and not (message.is_string or message.is_null):
        raise session_error(f"a compaction's message must be a string, not {quoted(message)}", record.line)
    if history is None or history.is_null:
        state.live = [entry for entry in state.live if entry.is_person]
        kept = {entry.record.index for entry in state.live}
        if message is not None and message.is_string:
            state.live.append(Entry(record, None, message, is_turn=True, is_summary=True))
    elif history.is_array:
        kept = set()
        state.live = [entry for item in history.items() if (entry := _entry(record, item)) is not None]
    else:
        raise session_error(
            f"a compaction's replacement_history must be an array, not {quoted(history)}", record.line
        )
    state.boundaries.append(record)
    _leave(state, records, 0, record.index, Reason.OLDER, kept)


def _roll_back(state: Replay, records: Records, record: Record) -> None:
    turns = _payload(record).integer("num_turns")
    if turns is None or turns < 0:
        raise session_error("a rollback's num_turns must be a whole number", record.line)
    at = [index for index, entry in enumerate(state.live) if entry.is_turn]
    if not turns or not at:
        return
    cut = at[-turns] if turns < len(at) else at[0]
    while cut > at[0] and state.live[cut - 1].is_context:
        cut -= 1
    first = state.live[cut].record
    state.boundaries.append(record)
    if cut and state.live[cut - 1].record is first:
        # Items inside a compaction can't leave it one by one: all stays where it is, the rollback too, so
        # that whoever reads the view takes the same away.
        state.staying.add(record.index)
        state.live = state.live[:cut]
        return
    state.live = state.live[:cut]
    _leave(state, records, first.index, record.index + 1, Reason.OTHER_BRANCH, set())


def _leave(state: Replay, records: Records, start: int, stop: int, reason: Reason, kept: set[int]) -> None:
    """The records of these indices leave, but for the header, those kept, and lines that are none."""
    if state.header is not None:
        kept = kept | {state.header.index}
    for record in records.records[start:stop]:
        if record.value is not None and record.index not in kept:
            state.fates.setdefault(record.index, reason)


def _payload(record: Record) -> Value:
    payload = record.value.get("payload") if record.value is not None else None
    if payload is None or not payload.is_object:
        what = "missing" if payload is None else quoted(payload)
        raise _wrong_payload(record, what)
    return payload


def _wrong_payload(record: Record, what: str) -> SessionInvalid:
    return session_error(f"a record's payload must be an object, not {what}", record.line)
