"""Codex rollouts: one record a line, `{timestamp, type, payload}`; no ids between them, order is all.

What reaches the model are the Responses items of `response_item`, or of the last compaction. The rest of a
rollout is what the program showed (`event_msg`, the larger half), and what it needs to resume.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from castore.transcript.formats import ReadOptions, session_error
from castore.transcript.formats.blocks import Reading, quoted
from castore.transcript.formats.codex_replay import (
    Entry,
    Replay,
    bare_item,
    is_hiding,
    is_old_header,
    record_type,
    replay,
)
from castore.transcript.formats.responses_items import ITEM_TYPES, TEXT_BLOCK, ItemReader, item_type
from castore.transcript.formats.stand_in import COLLAPSE_MARK, Members, copied, object_of, records_in
from castore.transcript.formats.ui import COLLAPSE_TYPES
from castore.transcript.model import Api, Role, Transcript
from castore.transcript.records import Record, Records
from castore.transcript.values import Value

__all__ = ["FORMAT"]

_SURE_TYPES = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted"})
_UI_TYPES = frozenset({"world_state", "inter_agent_communication_metadata"})
_STAYING_TYPES = frozenset({"rollout_reference"})
_UI_ITEMS = frozenset({"ghost_snapshot", "compaction_trigger"})
_UI_MEMBERS = ("user_instructions", "developer_instructions", "base_instructions")
"""Of a turn_context. Codex never sends them from there: what it sent of them stands in a message."""
_UI_BYTES_MIN = 64


class CodexFormat:
    name = "codex"
    looked_for = (
        "records of type session_meta, turn_context, response_item, event_msg or compacted, with a payload"
    )
    is_body = False

    def recognizes(self, record: Record) -> bool:
        value = record.value
        if value is None or not value.is_object:
            return False
        type = value.text("type")
        if type is None:
            is_state = value.get("record_type") is not None and len(value.members) == 1
            return is_state or is_old_header(record)
        if is_hiding(value):
            return True
        payload = value.get("payload")
        return type in _SURE_TYPES and payload is not None and value.get("timestamp") is not None

    def read(self, records: Records, options: ReadOptions) -> Transcript:
        return _Reader(records, options).transcript()

    def api_messages(self, transcript: Transcript) -> list[Any]:
        items: list[Any] = []
        for entry in replay(transcript.records).live:
            if entry.item is not None:
                items.append(entry.item.python())
            elif entry.text is not None:
                items.append({"type": "message", "role": "user", "content": entry.text.python()})
        return _as_sent(items)

    def stand_in(self, transcript: Transcript, pieces: Sequence[tuple[int, int]], text: str) -> bytes:
        said = object_of({"type": "input_text", "text": text})
        item: Members = {"type": "message", "role": "user", "content": b"[" + said + b"]"}
        values = [record.value for record in records_in(transcript.records, pieces) if record.is_object]
        enveloped = [value for value in values if value is not None and value.get("payload") is not None]
        if not enveloped:
            # As all records of 2025 up to August.
            return object_of({**item, "customType": COLLAPSE_MARK})
        time = next((found for value in enveloped if (found := copied(value, ["timestamp"]))), {})
        # Codex passes over members that it does not know, so the mark stands beside its own.
        envelope: Members = {**time, "type": "response_item", "customType": COLLAPSE_MARK}
        return object_of({**envelope, "payload": object_of(item)})


FORMAT = CodexFormat()


class _Reader:
    def __init__(self, records: Records, options: ReadOptions) -> None:
        self._records = records
        self._reading = Reading("codex", Api.RESPONSES, records, options, text_block=TEXT_BLOCK)
        self._builder = self._reading.builder
        self._items = ItemReader(self._reading)
        self._replay: Replay = replay(records)
        self._live: dict[int, list[Entry]] = {}
        for entry in self._replay.live:
            self._live.setdefault(entry.record.index, []).append(entry)

    def transcript(self) -> Transcript:
        for record in self._records.records:
            fate = self._replay.fates.get(record.index)
            if fate is not None:
                self._builder.leave(record, fate)
            elif record.is_object:
                self._record(record)
                record.release()
            elif record.value is not None:
                self._unknown(record, "a record that is no object")
        if self._replay.header is None:
            self._builder.odd(1, "no-header", "the session has no header")
        for record in self._replay.boundaries:
            is_compaction = record_type(record) == "compacted"
            if not (is_compaction and record.index in self._replay.fates):
                self._builder.boundary(record, is_compaction=is_compaction)
        return self._reading.finish()

    def _record(self, record: Record) -> None:
        value = record.value
        assert value is not None
        type = record_type(record)
        if value.text("type") in COLLAPSE_TYPES:
            self._builder.ui_record(record, "collapse log")
        elif type == "session_meta" or is_old_header(record):
            self._header(record, value if type is None else _payload(value, record))
        elif type == "turn_context":
            self._ui_members(_payload(value, record), _UI_MEMBERS, "turn context")
        elif type == "event_msg":
            self._event(record, _payload(value, record))
        elif type == "compacted":
            self._compacted(record, _payload(value, record))
        elif type == "response_item":
            self._item(record, _payload(value, record))
        elif type == "inter_agent_communication" or (type is None and bare_item(record) is not None):
            self._tell(record)
        elif type in _UI_TYPES or value.get("record_type") is not None:
            self._builder.ui_record(record, type or "state")
        elif type not in _STAYING_TYPES:
            named = (
                f"a record of the unknown type '{type}'" if type is not None else "a record without a type"
            )
            self._unknown(record, named)

    def _header(self, record: Record, payload: Value) -> None:
        id = payload.get("id")
        if id is not None and not (id.is_string or id.is_null):
            raise session_error(f"a session's id must be a string, not {quoted(id)}", record.line)
        base = payload.get("base_instructions")
        texts = [
            base.get("text") if base is not None and base.is_object else base,
            payload.get("instructions"),
        ]
        prompts = [text for text in texts if text is not None and text.is_string and len(text) > 2]
        if record is not self._replay.header:
            # The first header is the session's; later ones are of resumptions, or of what it was forked from.
            self._builder.odd(record.line, "repeated-header", "the session's header once more")
            for text in prompts:
                if len(text) > _UI_BYTES_MIN:
                    self._builder.ui(text, label="repeated header")
            self._ui_members(payload, ("dynamic_tools",), "repeated header")
            return
        self._builder.session = id.text() if id is not None else None
        if prompts:
            self._builder.message(Role.SYSTEM, record)
        for text in prompts:
            self._builder.prose(text)

    def _event(self, record: Record, payload: Value) -> None:
        if record.index not in self._replay.staying:
            self._builder.ui_record(record, payload.text("type") or "event")

    def _compacted(self, record: Record, payload: Value) -> None:
        self._tell(record)
        history, message = payload.get("replacement_history"), payload.get("message")
        if history is not None and history.is_array and message is not None and len(message) > _UI_BYTES_MIN:
            self._builder.ui(message, label="repeated summary")

    def _item(self, record: Record, item: Value) -> None:
        if record.index in self._live:
            self._tell(record)
        elif item_type(item) in _UI_ITEMS:
            self._builder.ui_record(record, item_type(item) or "item")
        elif item_type(item) not in ITEM_TYPES:
            # Codex reads an item of a type that it does not know, and sends none of it.
            self._unknown(record, f"an item of the unknown type '{item_type(item)}'")

    def _tell(self, record: Record) -> None:
        for entry in self._live.get(record.index, []):
            if entry.item is not None and entry.is_stand_in:
                self._items.note(entry.item)
            elif entry.item is not None:
                self._items.tell(entry.item)
            elif entry.text is not None and entry.is_summary:
                self._items.summary(entry.text)
            elif entry.text is not None:
                self._items.prompt(entry.text)

    def _unknown(self, record: Record, words: str) -> None:
        self._builder.unknown_record(record)
        self._builder.odd(record.line, "unknown-record", words)

    def _ui_members(self, payload: Value, names: tuple[str, ...], label: str) -> None:
        found = [payload.get(name) for name in names]
        for value in found:
            if value is not None and len(value) > _UI_BYTES_MIN:
                self._builder.ui(value, label=label)


def _payload(value: Value, record: Record) -> Value:
    payload = value.get("payload")
    if payload is None or not payload.is_object:
        what = "missing" if payload is None else quoted(payload)
        raise session_error(f"a record's payload must be an object, not {what}", record.line)
    return payload


# --- What Codex sends ---

_OUTPUT_OF = {
    "function_call": "function_call_output",
    "local_shell_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
}
_CALL_OF = {
    "function_call_output": ("function_call", "local_shell_call"),
    "custom_tool_call_output": ("custom_tool_call",),
}

_PAIRED = (*_OUTPUT_OF, *_CALL_OF)


def _as_sent(items: list[Any]) -> list[Any]:
    """Codex gives each call without a result one that says so, drops results without a call, and keeps
    system messages to itself."""
    calls = {(item.get("type"), item.get("call_id")) for item in items if item.get("type") in _PAIRED}
    sent: list[Any] = []
    for item in items:
        type, id = item.get("type"), item.get("call_id")
        if type in _CALL_OF and not any((call, id) in calls for call in _CALL_OF[type]):
            continue
        if type == "message" and item.get("role") == "system":
            continue
        sent.append(item)
        output = _OUTPUT_OF.get(type)
        if output is not None and (output, id) not in calls:
            sent.append({"type": output, "call_id": id, "output": "aborted"})
    return sent
