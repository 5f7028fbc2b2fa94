"""Claude Code sessions: one record a line, the pieces of a message held together by ids.

Laws:
- A reply is the lines of one `message.id`, wherever they stand; a result belongs to its `tool_use_id`.
- `toolUseResult`, progress, attachments and the tool's own notes never are messages: their bulk is `ui`;
  their ids and flags stay, because other records point to them.
- What a user typed is prose, also what was queued while the agent worked and what a command printed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from castore.transcript.builder import Builder
from castore.transcript.formats import ReadOptions, session_error
from castore.transcript.formats.claude_tree import Line, Selection, select, selected
from castore.transcript.formats.pairs import Pairs
from castore.transcript.formats.stand_in import is_stand_in
from castore.transcript.formats.tools import tell_files
from castore.transcript.formats.ui import COLLAPSE_TYPES, tell_ui
from castore.transcript.model import Api, Form, Role, Transcript
from castore.transcript.records import Record, Records
from castore.transcript.values import Value

__all__ = ["FORMAT", "ClaudeCode"]

_CHAIN_TYPES = frozenset({"attachment", "progress", "system"}) | COLLAPSE_TYPES
_NOTES = frozenset({"file-history-snapshot", "last-prompt", "progress", "queue-operation"}) | COLLAPSE_TYPES
"""Records without a uuid that nothing needs but the tool's own screen."""
_SETTINGS = frozenset(
    {
        "agent-color",
        "agent-name",
        "agent-setting",
        "ai-title",
        "bridge-session",
        "custom-title",
        "mode",
        "permission-mode",
        "pr-link",
        "relocated",
        "summary",
        "system",
        "tag",
        "task-summary",
        "worktree-state",
    }
)
"""Records without a uuid that the tool reads when it resumes the session."""
_SPOKEN = frozenset({"message", "compactMetadata"})
_EXIT_CODE = re.compile(rb'"(?:Error: )?Exit code (\d{1,9})(?:\\n|")')


class ClaudeCode:
    name = "claude-code"
    looked_for = 'records {"type":"user"|"assistant","message":{"content":…}} with a uuid, sessionId or time'
    is_body = False

    def recognizes(self, record: Record) -> bool:
        value = record.value
        if value is None or not value.is_object or value.text("type") not in ("user", "assistant"):
            return False
        if value.get("message", "content") is None:
            return False
        signs = ("uuid", "sessionId", "timestamp")
        return is_stand_in(value) or any(value.text(name) is not None for name in signs)

    def read(self, records: Records, options: ReadOptions) -> Transcript:
        selection = select(records, options)
        records.once(("claude selection", selection.leaf), lambda records: selection)
        return _Reader(records, selection).read()

    def api_messages(self, transcript: Transcript) -> list[Any]:
        from castore.transcript.formats.claude_api import as_messages

        return as_messages(selected(transcript.records, transcript.leaf))

    def stand_in(self, transcript: Transcript, pieces: Sequence[tuple[int, int]], text: str) -> bytes:
        from castore.transcript.formats.claude_stand_in import stand_in

        return stand_in(transcript, pieces, text)


FORMAT = ClaudeCode()


class _Reader:
    def __init__(self, records: Records, selection: Selection) -> None:
        self.selection = selection
        self.builder = Builder("claude-code", Api.ANTHROPIC, records)
        self.builder.splits_replies = True
        self.pairs = Pairs(self.builder)
        self.reply: str | None = None
        self.unnamed = 0

    def read(self) -> Transcript:
        selection, builder = self.selection, self.builder
        builder.leaf = selection.leaf
        for record, reason in selection.leaves:
            builder.leave(record, reason)
        for odd in selection.oddities:
            builder.odd(odd.line, odd.code, odd.words)
        for record in selection.strays:
            builder.odd(record.line, "unknown-record", "a record that is no object")
            builder.unknown_record(record)
        for record in selection.floating:
            self._floating(record)
        for line in selection.viewed:
            if builder.session is None:
                builder.session = line.value.text("sessionId")
            self._line(line)
            line.value.release()
        self.pairs.finish()
        return builder.build()

    # --- Records ---

    def _floating(self, record: Record) -> None:
        assert record.value is not None
        type = record.value.text("type")
        if type in _NOTES:
            self.builder.ui_record(record, type or "note")
        elif type in _SETTINGS:
            tell_ui(self.builder, record.value, type or "setting", keep=_KEPT)
        else:
            self.builder.odd(record.line, "unknown-record", f"a record of the unknown type '{type}'")
            self.builder.unknown_record(record)

    def _line(self, line: Line) -> None:
        value = line.value
        if line.type == "assistant":
            self._assistant(line)
        elif line.type == "user":
            self._user(line)
        elif line.type == "attachment" and value.text("attachment", "type") == "queued_command":
            self._queued(line)
        elif line.type == "system" and value.text("subtype") == "local_command":
            self._command_output(line)
        elif line.type == "progress":
            # Whole messages of sub-agents, each line repeating those before: one piece, not its parts.
            tell_ui(self.builder, value, "progress", keep=_KEPT, levels=2)
        elif line.type in _CHAIN_TYPES:
            tell_ui(self.builder, value, line.type or "", keep=_KEPT)
        else:
            self.builder.odd(
                line.record.line, "unknown-record", f"a record of the unknown type '{line.type}'"
            )
            tell_ui(self.builder, value, "unknown record", keep=_KEPT)
        is_start = line is self.selection.start
        if line.is_boundary or is_start:
            # One that no summary follows took nothing away.
            self.builder.boundary(line.record, is_compaction=is_start)

    def _user(self, line: Line) -> None:
        blocks = self._blocks(line)
        is_result = [block.text("type") == "tool_result" for block in blocks]
        role = Role.SUMMARY if line.is_summary else Role.USER
        if blocks and all(is_result):
            role = Role.RESULT
        is_prompt = line.is_prompt or line.is_summary
        if is_prompt:
            self.pairs.prompt()
        self.builder.message(role, line.record, id=line.uuid, is_prompt=is_prompt)
        for block in blocks:
            if block.text("type") == "tool_result":
                self._result(block, line)
            else:
                self._said(block, line)
        tell_ui(self.builder, line.value, "ui", keep=_KEPT)

    def _assistant(self, line: Line) -> None:
        blocks = self._blocks(line)
        id = line.reply or line.uuid
        self.builder.message(Role.ASSISTANT, line.record, id=id)
        if id is None or id != self.reply:
            self.pairs.reply()
        self.reply = id
        for block in blocks:
            type = block.text("type") or ""
            if type in ("thinking", "redacted_thinking"):
                is_signed = bool(block.text("signature") or block.text("data"))
                self.builder.thinking(block, form=Form.BLOCK, is_signed=is_signed)
            elif type in ("tool_use", "server_tool_use", "mcp_tool_use"):
                self._call(block, line)
            elif type.endswith("_tool_result"):
                self._server_result(block, line)
            else:
                self._said(block, line)
        tell_ui(self.builder, line.value, "ui", keep=_KEPT)

    def _queued(self, line: Line) -> None:
        """What the user typed while the agent worked: it goes to the model inside the loop."""
        prompt = line.value.get("attachment", "prompt")
        self.builder.message(Role.USER, line.record, id=line.uuid)
        for block in [] if prompt is None else [prompt] if prompt.is_string else prompt.items():
            self._said(block, line)

    def _command_output(self, line: Line) -> None:
        content = line.value.get("content")
        if content is not None and content.is_string:
            self.builder.message(Role.USER, line.record, id=line.uuid)
            self.builder.prose(content)

    # --- Blocks ---

    def _blocks(self, line: Line) -> list[Value]:
        """The message's content as a list of blocks; a string is the only one of its own."""
        message = line.value.get("message")
        if message is None:
            self.builder.odd(line.record.line, "no-content", "a record without a message")
            return []
        if not message.is_object:
            raise session_error(f"message must be an object, not {_a(message)}", line.record.line)
        role = message.get("role")
        if role is not None and not role.is_string:
            raise session_error(f"a message's role must be a string, not {_a(role)}", line.record.line)
        content = message.get("content")
        if content is None or content.is_null:
            self.builder.odd(line.record.line, "no-content", "a message without content")
            return []
        if content.is_string:
            return [content]
        if not content.is_array:
            given = _a(content)
            raise session_error(f"content must be a string or an array, not {given}", line.record.line)
        blocks = content.items()
        for block in blocks:
            if not block.is_object:
                words = f"{_a(block)} where a block should be"
                self.builder.odd(line.record.line, "not-a-block", words)
        return blocks

    def _said(self, block: Value, line: Line) -> None:
        """A block that is neither thinking nor part of a call."""
        type = block.text("type")
        text = block if block.is_string else block.get("text")
        if text is not None and text.is_string and (block.is_string or type == "text"):
            self.builder.prose(text)
        elif type in ("image", "document"):
            self._media(block, None, is_error=False)
        else:
            if type == "text":
                self.builder.odd(line.record.line, "text-without-text", "a text block without a text")
            self.builder.unknown(block, form=Form.BLOCK)

    def _call(self, block: Value, line: Line) -> None:
        tool = block.text("name")
        id = self._call_id(block.get("id"), line)
        if id is None:
            self.unnamed += 1
            self.builder.odd(line.record.line, "no-call-id", "a call without an id")
        paired = self.pairs.call(id, made_up=f"call {self.unnamed}", tool=tool, line=line.record.line)
        arguments = block.get("input")
        if arguments is not None and arguments.is_object:
            self.builder.call(arguments, id=paired, tool=tool, form=Form.ARGUMENTS)
            tell_files(self.builder, paired, tool, arguments)
        else:
            words = "a call whose input is no object"
            self.builder.odd(line.record.line, "arguments-not-an-object", words)
            self.builder.call(arguments or block, id=paired, tool=tool, form=Form.FIXED)

    def _result(self, block: Value, line: Line) -> None:
        given = self._call_id(block.get("tool_use_id"), line)
        id = self.pairs.result(given, tool=None, line=line.record.line)
        tool = self.pairs.tool(id)
        self.builder.answer(id)
        flag = block.get("is_error")
        if flag is not None and flag.type_name not in ("boolean", "null"):
            self.builder.odd(line.record.line, "flag-not-boolean", f"is_error is {_a(flag)}")
        is_error = block.flag("is_error")
        content = block.get("content")
        if content is None or content.is_null:
            return
        pieces = [content] if not content.is_array else content.items()
        exit_code = _exit_code(pieces) if is_error else None
        for piece in pieces:
            type = piece.text("type")
            text = piece if piece.is_string else piece.get("text")
            if text is not None and text.is_string and (piece.is_string or type == "text"):
                self.builder.result(text, id=id, tool=tool, is_error=is_error, exit_code=exit_code)
            elif type in ("image", "document"):
                self._media(piece, id, is_error=is_error)
            elif type != "tool_reference":
                # A reference to a tool is what the API loads it by: small, and it stays.
                form = Form.BLOCK if content.is_array else Form.FIXED
                self.builder.unknown(piece, form=form, id=id, tool=tool, is_error=is_error)

    def _server_result(self, block: Value, line: Line) -> None:
        """The result of a call that the API itself made stands in the reply, and is checked against it."""
        id = self.pairs.result(
            self._call_id(block.get("tool_use_id"), line), tool=None, line=line.record.line
        )
        self.builder.answer(id)
        content = block.get("content")
        if content is not None:
            self.builder.result(content, id=id, tool=self.pairs.tool(id), form=Form.FIXED)

    def _media(self, block: Value, call_id: str | None, *, is_error: bool) -> None:
        source = block.get("source")
        data = None if source is None or source.text("type") != "base64" else source.get("data")
        self.builder.media(
            block,
            payload=data if data is not None and data.is_string else None,
            media_type=None if source is None else source.text("media_type"),
            id=call_id,
            is_error=is_error,
        )

    def _call_id(self, id: Value | None, line: Line) -> str | None:
        if id is None or id.is_null:
            return None
        if not id.is_string:
            raise session_error(f"a call's id must be a string, not {_a(id)}", line.record.line)
        return id.text()


_KEPT = _SPOKEN | {
    "agentId",
    "cwd",
    "gitBranch",
    "leafUuid",
    "logicalParentUuid",
    "parentToolUseID",
    "parentUuid",
    "requestId",
    "sessionId",
    "slug",
    "sourceToolAssistantUUID",
    "sourceToolUseID",
    "subtype",
    "summary",
    "customTitle",
    "aiTitle",
    "timestamp",
    "toolUseID",
    "type",
    "uuid",
    "version",
}
"""Members of a record that are read elsewhere, or that the tool finds its way by."""


def _a(value: Value) -> str:
    name = value.type_name
    return name if name == "null" else f"an {name}" if name[0] in "ao" else f"a {name}"


def _exit_code(pieces: list[Value]) -> int | None:
    """What the tool puts before the output of a command that failed."""
    if not pieces:
        return None
    text = pieces[0] if pieces[0].is_string else pieces[0].get("text")
    found = None if text is None else _EXIT_CODE.match(text.source.data, text.start, text.end)
    return int(found[1]) if found else None
