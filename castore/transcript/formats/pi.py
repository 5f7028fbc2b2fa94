"""Pi sessions (versions 1 to 3, and tools of its family): `{"type":"session"}` and entries after it.

Laws:
- One branch is viewed, from what its last compaction kept on; the summary stands where the file has it.
- Reasoning stays where the provider's API wants it back with what follows it; so do signed calls and texts.
- `details`, `data` and whatever else never reaches the model is `ui`; nothing is left out for its type alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from castore.errors import InvalidOption
from castore.transcript.builder import Builder
from castore.transcript.formats import ReadOptions, session_error
from castore.transcript.formats.pairs import Pairs
from castore.transcript.formats.pi_tree import ENTRY_TYPES, NO_ENTRY, Branch, select, selected
from castore.transcript.formats.stand_in import is_stand_in
from castore.transcript.formats.tools import tell_files
from castore.transcript.formats.ui import COLLAPSE_TYPES, UI_BYTES_MIN, tell_ui
from castore.transcript.model import Api, Form, Reason, Role, Transcript
from castore.transcript.records import Record, Records
from castore.transcript.values import Value

__all__ = ["FORMAT", "Pi"]

_OWN_ROLES = frozenset({"toolResult", "bashExecution", "hookMessage", "branchSummary", "compactionSummary"})
_STRUCTURE = frozenset({"type", "id", "parentId", "timestamp", "message", "summary", "content", "usage"})
_FIELD_NAME = re.compile(r"[a-z_]{1,40}")
_EXIT_CODE = re.compile(rb'(?:^"|\\n)Command exited with code (\d{1,9})"$')


class Pi:
    name = "pi"
    looked_for = 'a record {"type":"session","id":…,"timestamp":…} or messages of role toolResult'
    is_body = False

    def recognizes(self, record: Record) -> bool:
        value = record.value
        if value is None or not value.is_object:
            return False
        type = value.text("type")
        if type == "session":
            return value.text("id") is not None and value.get("timestamp") is not None
        if type in ("message", "custom_message") and is_stand_in(value):
            return type == "custom_message" or value.get("message") is not None
        return type == "message" and value.text("message", "role") in _OWN_ROLES

    def read(self, records: Records, options: ReadOptions) -> Transcript:
        if options.sidechain is not None:
            raise InvalidOption("a session of the format 'pi' has no --sidechain")
        branch = select(records, options.leaf)
        records.once(("pi branch", branch.leaf), lambda records: branch)
        return _Reader(records, branch).read()

    def api_messages(self, transcript: Transcript) -> list[Any]:
        from castore.transcript.formats.pi_api import as_messages

        return as_messages(selected(transcript.records, transcript.leaf))

    def stand_in(self, transcript: Transcript, pieces: Sequence[tuple[int, int]], text: str) -> bytes:
        from castore.transcript.formats.pi_stand_in import stand_in

        return stand_in(transcript, pieces, text)


FORMAT = Pi()


class _Reader:
    def __init__(self, records: Records, branch: Branch) -> None:
        self.branch = branch
        self.builder = Builder("pi", Api.ANTHROPIC, records)
        self.pairs = Pairs(self.builder)
        self.unnamed = 0

    def read(self) -> Transcript:
        branch, builder = self.branch, self.builder
        builder.leaf = branch.leaf
        if branch.header is not None and branch.header.value is not None:
            builder.session = branch.header.value.text("id")
        for record, reason in branch.leaves:
            builder.leave(record, reason)
        for odd in branch.oddities:
            builder.odd(odd.line, odd.code, odd.words)
        for record in branch.strays:
            self._stray(record)
        for record in branch.logs:
            self.builder.ui_record(record, "collapse log")
        for record in branch.older:
            self._emptied(record)
        for record in sorted(branch.viewed, key=lambda entry: entry.index):
            value = _value(record)
            self._entry(record, value)
            value.release()
        self.pairs.finish()
        return builder.build()

    # --- Entries ---

    def _entry(self, record: Record, value: Value) -> None:
        name = value.text("type")
        if name is None and (type := value.get("type")) is not None:
            raise session_error(f"an entry's type must be a string, not {_a(type)}", record.line)
        if name == "message":
            self._message(record, value)
        elif name == "compaction":
            self._compaction(record, value)
        elif name == "branch_summary":
            self.builder.message(Role.SUMMARY, record, id=value.text("id"))
            self._string(value, "summary", record)
            self.builder.boundary(record, is_compaction=False)
        elif name == "custom_message":
            self.builder.message(Role.USER, record, id=value.text("id"))
            self._user_content(value.get("content"), record)
        elif name not in ENTRY_TYPES and name not in COLLAPSE_TYPES:
            self.builder.odd(record.line, "unknown-record", f"an entry of the unknown type '{name}'")
            self._bulk(value, label="unknown record", keep=_STRUCTURE - {"summary", "content"})
            return
        self._bulk(value)

    def _bulk(self, value: Value, *, label: str = "ui", keep: frozenset[str] = _STRUCTURE) -> None:
        """What of an entry or message never reaches the model, if it is worth leaving."""
        for name, member in value.large_members(UI_BYTES_MIN):
            if name not in keep and (member.is_object or member.is_array or name in _UI_STRINGS):
                self._ui(member, label if label != "ui" else name)

    def _ui(self, value: Value | None, label: str) -> None:
        tell_ui(self.builder, value, label)

    def _stray(self, record: Record) -> None:
        self.builder.odd(record.line, "unknown-record", "a record that is no entry")
        if not self.branch.is_counted:
            self.builder.unknown_record(record)

    def _emptied(self, record: Record) -> None:
        """An older entry of a session that counts its entries: one that says nothing takes its place."""
        if record.end - record.start > len(NO_ENTRY):
            self.builder.leave(record, Reason.OLDER, replacement=NO_ENTRY)

    def _compaction(self, record: Record, value: Value) -> None:
        self.builder.boundary(record, is_compaction=True)
        if record is not self.branch.compaction:
            # The model gets the last summary alone.
            self._ui(value.get("summary"), "superseded summary")
            return
        self.builder.message(Role.SUMMARY, record, id=value.text("id"))
        self._string(value, "summary", record)

    # --- Messages ---

    def _message(self, record: Record, value: Value) -> None:
        message = value.get("message")
        if message is None:
            self.builder.odd(record.line, "no-content", "an entry without a message")
            return
        if not message.is_object:
            raise session_error(f"message must be an object, not {_a(message)}", record.line)
        name = message.text("role")
        if name is None and (role := message.get("role")) is not None:
            raise session_error(f"a message's role must be a string, not {_a(role)}", record.line)
        id = value.text("id")
        if name == "assistant":
            self._assistant(record, message, id)
        elif name == "toolResult":
            self._result(record, message, id)
        elif name == "bashExecution":
            self._bash(record, message, id)
        elif name in ("user", "custom", "hookMessage"):
            self.pairs.prompt()
            is_prompt = name == "user" and not is_stand_in(value)
            self.builder.message(Role.USER, record, id=id, is_prompt=is_prompt)
            self._user_content(message.get("content"), record)
        elif name == "system":
            self.builder.message(Role.SYSTEM, record, id=id)
            self._user_content(message.get("content"), record)
        elif name in ("branchSummary", "compactionSummary"):
            self.builder.message(Role.SUMMARY, record, id=id)
            self._string(message, "summary", record)
        else:
            self.builder.odd(record.line, "unknown-role", f"a message of the unknown role '{name}'")
            self._ui(message.get("content"), "unknown role")
        self._bulk(message)

    def _user_content(self, content: Value | None, record: Record) -> None:
        for block in self._blocks(content, record):
            self._said(block, record)

    def _assistant(self, record: Record, message: Value, id: str | None) -> None:
        self.builder.message(Role.ASSISTANT, record, id=id)
        self.pairs.reply()
        api = message.text("api") or ""
        for block in self._blocks(message.get("content"), record):
            type = block.text("type")
            if type == "thinking":
                self._thinking(block, api)
            elif type == "toolCall":
                self._call(block, record)
            else:
                self._said(block, record)

    def _said(self, block: Value, record: Record) -> None:
        """A block that is neither thinking nor a call."""
        type = block.text("type")
        text = block if block.is_string else block.get("text")
        if text is not None and text.is_string and (block.is_string or type == "text"):
            # A text that is signed goes back to the API as it came.
            is_signed = bool(block.text("textSignature"))
            self.builder.prose(text, form=Form.FIXED if is_signed else Form.TEXT)
        elif type == "image":
            self._image(block, None, is_error=False)
        else:
            if type == "text":
                self.builder.odd(record.line, "text-without-text", "a text block without a text")
            self.builder.unknown(block, form=Form.BLOCK)

    def _thinking(self, block: Value, api: str) -> None:
        signature = block.text("thinkingSignature") or ""
        is_signed = bool(signature) and _FIELD_NAME.fullmatch(signature) is None
        # The Responses APIs want an item of reasoning with the item after it; Gemini signs its parts.
        is_bound = "responses" in api or (is_signed and (api.startswith("google") or signature[:1] == "{"))
        self.builder.thinking(block, form=Form.FIXED if is_bound else Form.BLOCK, is_signed=is_signed)

    def _call(self, block: Value, record: Record) -> None:
        id = self._call_id(block.get("id"), record)
        tool = block.text("name")
        if id is None:
            self.unnamed += 1
            self.builder.odd(record.line, "no-call-id", "a call without an id")
        paired = self.pairs.call(id, made_up=f"call {self.unnamed}", tool=tool, line=record.line)
        arguments = block.get("arguments")
        if arguments is not None and arguments.is_object:
            form = Form.FIXED if block.text("thoughtSignature") else Form.ARGUMENTS
            self.builder.call(arguments, id=paired, tool=tool, form=form)
            tell_files(self.builder, paired, tool, arguments)
        else:
            self.builder.odd(record.line, "arguments-not-an-object", "a call whose arguments are no object")
            self.builder.call(arguments or block, id=paired, tool=tool, form=Form.FIXED)
        if arguments is not None:
            self._ui(block.get("partialJson"), "partialJson")

    def _result(self, record: Record, message: Value, id: str | None) -> None:
        self.builder.message(Role.RESULT, record, id=id)
        given = self._call_id(message.get("toolCallId"), record)
        tool = message.text("toolName")
        call_id = self.pairs.result(given, tool=tool, line=record.line)
        self.builder.answer(call_id)
        flag = message.get("isError")
        if flag is not None and flag.type_name != "boolean":
            self.builder.odd(record.line, "flag-not-boolean", f"isError is {_a(flag)}")
        is_error = message.flag("isError")
        blocks = self._blocks(message.get("content"), record)
        exit_code = _exit_code(message, blocks)
        for block in blocks:
            type = block.text("type")
            text = block if block.is_string else block.get("text")
            if text is not None and text.is_string and (block.is_string or type == "text"):
                self.builder.result(text, id=call_id, tool=tool, is_error=is_error, exit_code=exit_code)
            elif type == "image":
                self._image(block, call_id, is_error=is_error)
            else:
                self.builder.unknown(block, form=Form.BLOCK, id=call_id, tool=tool, is_error=is_error)

    def _bash(self, record: Record, message: Value, id: str | None) -> None:
        output = message.get("output")
        if message.flag("excludeFromContext"):
            self._ui(output, "command that the model does not see")
            return
        self.builder.message(Role.USER, record, id=id)
        self._string(message, "command", record)
        if output is not None and output.is_string:
            exit_code = message.integer("exitCode")
            self.builder.result(output, id=None, tool="bash", exit_code=exit_code)

    # --- Values ---

    def _blocks(self, content: Value | None, record: Record) -> list[Value]:
        """Content as a list of blocks; a string is the only one of its own."""
        if content is None or content.is_null:
            self.builder.odd(record.line, "no-content", "a message without content")
            return []
        if content.is_string:
            return [content]
        if not content.is_array:
            raise session_error(f"content must be a string or an array, not {_a(content)}", record.line)
        blocks = content.items()
        for block in blocks:
            if not block.is_object:
                words = f"{_a(block)} where a block should be"
                self.builder.odd(record.line, "not-a-block", words)
        return blocks

    def _string(self, value: Value, name: str, record: Record) -> None:
        text = value.get(name)
        if text is not None and text.is_string:
            self.builder.prose(text)
        else:
            self.builder.odd(record.line, "no-content", f"{name} is no string")

    def _call_id(self, id: Value | None, record: Record) -> str | None:
        if id is None or id.is_null:
            return None
        if not id.is_string:
            raise session_error(f"a call's id must be a string, not {_a(id)}", record.line)
        return id.text()

    def _image(self, block: Value, call_id: str | None, *, is_error: bool) -> None:
        data = block.get("data")
        self.builder.media(
            block,
            payload=data if data is not None and data.is_string else None,
            media_type=block.text("mimeType"),
            id=call_id,
            is_error=is_error,
        )


_UI_STRINGS = frozenset({"details", "data", "diagnostics", "note"})
"""Members that never reach the model even as strings."""


def _value(record: Record) -> Value:
    """The value of a record that was selected, so is JSON."""
    assert record.value is not None
    return record.value


def _a(value: Value) -> str:
    name = value.type_name
    return name if name == "null" else f"an {name}" if name[0] in "ao" else f"a {name}"


def _exit_code(message: Value, blocks: list[Value]) -> int | None:
    """What Pi's bash says in the last line of its output, or in its details."""
    told = message.integer("details", "exitCode")
    if told is not None or message.text("toolName") != "bash" or not blocks:
        return told
    last = blocks[-1] if blocks[-1].is_string else blocks[-1].get("text")
    if last is None:
        return None
    data = last.source.data
    found = _EXIT_CODE.search(data, max(last.start, last.end - 64), last.end)
    return int(found[1]) if found else None
