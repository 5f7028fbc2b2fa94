"""Replay of a Codex rollout: which of its items the model still gets, as Codex finds out when it resumes one.

Law (after codex-rs, `rollout_reconstruction.rs` and `history.rs`): items count in the order of the file. A
`compacted` record replaces all before it with its `replacement_history`; an old one, without that, leaves
what people wrote, and its `message`. `thread_rolled_back` takes away the latest prompts with all after them,
and what Codex had written right before each of them.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from castore.errors import SessionInvalid
from castore.transcript.formats import session_error
from castore.transcript.formats.blocks import quoted
from castore.transcript.formats.codex_text import is_developer_context, is_summary, is_user_context
from castore.transcript.formats.responses_items import ITEM_TYPES, item_type
from castore.transcript.formats.stand_in import is_stand_in
from castore.transcript.model import Reason
from castore.transcript.records import Record, Records
from castore.transcript.values import Value

__all__ = ["Entry", "Replay", "bare_item", "is_hiding", "is_old_header", "record_type", "replay"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One item that the model gets, or a text that Codex makes one of.

    is_turn: the model's loop begins again here. is_person: a person wrote it. is_context: Codex wrote it, for
    the turn after it. is_summary: a compaction's text. is_stand_in: it stands for turns that are hidden.
    """

    record: Record
    item: Value | None
    text: Value | None = None
    is_turn: bool = False
    is_context: bool = False
    is_person: bool = False
    is_summary: bool = False
    is_stand_in: bool = False


@dataclass(slots=True)
class Replay:
    """What is left at the end. fates: record index -> why it leaves. staying: rollbacks that must be read
    again by whoever reads the view, because what they take away stands inside another record.

    The rest is for the replay itself, so that nothing is looked at again with every compaction or rollback.
    turns: places in `live` where the model's loop begins. persons: so many of `live`, from the first on, are
    of persons. standing: indices of the records before `seen` that have no fate. settled: so many of those,
    from the first on, are the header or of those persons.
    """

    header: Record | None = None
    live: list[Entry] = field(default_factory=list)
    fates: dict[int, Reason] = field(default_factory=dict)
    boundaries: list[Record] = field(default_factory=list)
    staying: set[int] = field(default_factory=set)
    turns: list[int] = field(default_factory=list)
    persons: int = 0
    standing: list[int] = field(default_factory=list)
    seen: int = 0
    settled: int = 0

    def add(self, entry: Entry) -> None:
        if entry.is_turn:
            self.turns.append(len(self.live))
        self.live.append(entry)

    def cut(self, length: int) -> None:
        """Entries from this place on are gone."""
        del self.live[length:]
        while self.turns and self.turns[-1] >= length:
            self.turns.pop()
        self.persons = min(self.persons, length)

    def look_up_to(self, records: Records, stop: int) -> None:
        """The records before this index have been read; lines that are none have their fate already."""
        while self.seen < stop:
            if records.records[self.seen].value is not None:
                self.standing.append(self.seen)
            self.seen += 1


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
                state.add(entry)
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


def is_hiding(value: Value) -> bool:
    """Whether the record stands in the place of turns that are hidden."""
    if not is_stand_in(value):
        return False
    item = value if value.get("payload") is None else value.get("payload")
    return item is not None and item.text("type") == "message" and item.get("content") is not None


def _entry_of(record: Record, type: str | None) -> Entry | None:
    if type == "inter_agent_communication":
        text = _payload(record).get("content")
        is_said = text is not None and text.is_string
        return Entry(record, None, text, is_turn=True) if is_said else None
    item = bare_item(record) if type is None else None
    if type == "response_item":
        item = _payload(record)
    if item is None:
        return None
    if record.value is not None and is_hiding(record.value):
        # Codex takes it for what a person wrote, whatever it says. No rollback that stands in the session
        # reached into what it hides, so none may reach it.
        return Entry(record, item, is_person=True, is_stand_in=True)
    return _entry(record, item)


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
        newer = state.live[state.persons :]
        state.cut(state.persons)
        for entry in newer:
            if entry.is_person:
                state.add(entry)
        state.persons = len(state.live)
        _leave_older(state, records, record.index)
        if message is not None and message.is_string:
            state.add(Entry(record, None, message, is_turn=True, is_summary=True))
    elif history.is_array:
        state.cut(0)
        state.settled = 0
        _leave_older(state, records, record.index)
        for item in history.items():
            if (made := _entry(record, item)) is not None:
                state.add(made)
    else:
        raise session_error(
            f"a compaction's replacement_history must be an array, not {quoted(history)}", record.line
        )
    state.boundaries.append(record)


def _roll_back(state: Replay, records: Records, record: Record) -> None:
    turns = _payload(record).integer("num_turns")
    if turns is None or turns < 0:
        raise session_error("a rollback's num_turns must be a whole number", record.line)
    at = state.turns
    if not turns or not at:
        return
    cut, begin = at[-turns] if turns < len(at) else at[0], at[0]
    while cut > begin and state.live[cut - 1].is_context:
        cut -= 1
    first = state.live[cut].record
    state.boundaries.append(record)
    if cut and state.live[cut - 1].record is first:
        # Items inside a compaction can't leave it one by one: all stays where it is, the rollback too, so
        # that whoever reads the view takes the same away.
        state.staying.add(record.index)
        state.cut(cut)
        # Records of what was taken away stand, until a compaction.
        state.settled = min(state.settled, bisect_right(state.standing, first.index))
        return
    state.cut(cut)
    _leave_from(state, records, first.index, record.index + 1)


def _leave_older(state: Replay, records: Records, stop: int) -> None:
    """Of the records before this index the header and those of live entries stay."""
    state.look_up_to(records, stop)
    newer = state.standing[state.settled :]
    del state.standing[state.settled :]
    since = newer[0] if newer else stop
    kept = {-1 if state.header is None else state.header.index}
    for entry in reversed(state.live):
        if entry.record.index < since:
            break
        kept.add(entry.record.index)
    for index in newer:
        if index in kept:
            state.standing.append(index)
        else:
            state.fates[index] = Reason.OLDER
    state.settled = len(state.standing)


def _leave_from(state: Replay, records: Records, start: int, stop: int) -> None:
    """The records of these indices are of another branch, but for the header."""
    state.look_up_to(records, stop)
    header: list[int] = []
    while state.standing and state.standing[-1] >= start:
        index = state.standing.pop()
        if state.header is not None and index == state.header.index:
            header.append(index)
        else:
            state.fates[index] = Reason.OTHER_BRANCH
    state.standing += header
    state.settled = min(state.settled, len(state.standing))


def _payload(record: Record) -> Value:
    payload = record.value.get("payload") if record.value is not None else None
    if payload is None or not payload.is_object:
        what = "missing" if payload is None else quoted(payload)
        raise _wrong_payload(record, what)
    return payload


def _wrong_payload(record: Record, what: str) -> SessionInvalid:
    return session_error(f"a record's payload must be an object, not {what}", record.line)
