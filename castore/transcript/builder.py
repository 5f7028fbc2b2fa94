"""Builder: how a format says what it found, so that turns, pairs and the open loop are counted once.

Law: `build` gives a transcript that keeps the laws of castore.transcript.model, whatever order the format
found things in; two parts that overlap are a bug of the format and raise AssertionError.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from castore.transcript.model import (
    Api,
    FileWrite,
    Form,
    Leave,
    Message,
    Oddity,
    Part,
    PartKind,
    Reason,
    Role,
    TextBlock,
    Transcript,
)
from castore.transcript.records import Record, Records
from castore.transcript.values import Value

__all__ = ["Builder"]

Span = Value | tuple[int, int]


@dataclass(slots=True)
class _Open:
    """A message while its parts are being told."""

    role: Role
    position: int
    end: int
    id: str | None
    is_prompt: bool
    parts: list[Part]
    calls: list[str]
    answers: list[str]

    @property
    def is_only_thinking(self) -> bool:
        """A reply that was interrupted, or of which the rest is still to come."""
        kinds = {part.kind for part in self.parts}
        return self.role is Role.ASSISTANT and kinds == {PartKind.THINKING} and not self.calls


class Builder:
    """Tell messages in the order in which the model gets them; parts belong to the latest one told."""

    def __init__(
        self, format: str, api: Api, records: Records, *, text_block: TextBlock | None = None
    ) -> None:
        self.format = format
        self.api = api
        self.records = records
        self.text_block = text_block or TextBlock()
        self.session: str | None = None
        self.leaf: str | None = None
        self.is_final = True
        """False if the last reply says of itself that more will follow it without a prompt."""
        self.splits_replies = False
        self._messages: list[_Open] = []
        self._replies: set[str] = set()
        """Ids of replies: most are told once, and need not be looked for among those before."""
        self._loose: list[Part] = []
        self._leaves: list[Leave] = []
        self._oddities: list[Oddity] = []
        self._boundaries: list[int] = []
        self._compactions: list[int] = []
        self._reads: dict[str, list[str]] = {}
        self._writes: list[FileWrite] = []
        self._tools: dict[str, str | None] = {}

    # --- What a format tells ---

    def message(
        self, role: Role, at: Value | Record, *, id: str | None = None, is_prompt: bool = False
    ) -> None:
        """A new message begins. A reply with the id of an earlier one goes on with that one."""
        if role is Role.ASSISTANT and id is not None:
            told = len(self._messages) if id in self._replies else 0
            self._replies.add(id)
            for index in range(told - 1, max(-1, told - 64), -1):
                found = self._messages[index]
                if found.role is role and found.id == id:
                    found.end = max(found.end, at.end)
                    self._messages.append(self._messages.pop(index))
                    return
        self._messages.append(_Open(role, at.start, at.end, id, is_prompt, [], [], []))

    def goes_on(self, at: Value | Record) -> None:
        """The latest message is told on here."""
        self._latest.end = max(self._latest.end, at.end)

    def prose(self, span: Span, *, form: Form = Form.TEXT, label: str | None = None) -> None:
        """Text of the latest message. span: of the string literal."""
        said = {Role.ASSISTANT: "assistant text", Role.SYSTEM: "system text", Role.SUMMARY: "summary"}
        self._add(PartKind.PROSE, span, form, label or said.get(self._latest.role, "user text"))

    def thinking(self, span: Span, *, form: Form, is_signed: bool = False) -> None:
        self._add(PartKind.THINKING, span, form, "thinking", is_signed=is_signed)

    def call(self, arguments: Span, *, id: str | None, tool: str | None, form: Form) -> None:
        """A call in the latest message. arguments: the span of its arguments alone."""
        if id is not None:
            self._latest.calls.append(id)
            self._tools[id] = tool
        self._add(PartKind.CALL, arguments, form, "arguments", call_id=id, tool=tool)

    def answer(self, id: str | None) -> None:
        """The latest message holds the result of this call (whatever parts it has)."""
        if id is not None:
            self._latest.answers.append(id)

    def result(
        self,
        span: Span,
        *,
        id: str | None,
        tool: str | None = None,
        form: Form = Form.TEXT,
        is_error: bool = False,
        exit_code: int | None = None,
    ) -> None:
        """A piece of a call's result. Say `answer` too, once a result."""
        self._add(
            PartKind.RESULT,
            span,
            form,
            "tool result",
            call_id=id,
            tool=tool,
            is_error=is_error,
            exit_code=exit_code,
        )

    def media(
        self,
        span: Span,
        *,
        payload: Value | None,
        media_type: str | None,
        form: Form = Form.BLOCK,
        id: str | None = None,
        tool: str | None = None,
        is_error: bool = False,
    ) -> None:
        """An image or the like. payload: the string literal of its base64 or data URI, inside the span.

        id, tool, is_error: as for a result that it is a piece of.
        """
        inside = None if payload is None else (payload.start, payload.end)
        self._add(
            PartKind.MEDIA,
            span,
            form,
            media_type or "media",
            payload=inside,
            call_id=id,
            tool=tool or self._tools.get(id or ""),
            is_error=is_error,
        )

    def unknown(
        self,
        span: Span,
        *,
        form: Form,
        label: str = "unknown block",
        id: str | None = None,
        tool: str | None = None,
        is_error: bool = False,
    ) -> None:
        """id, tool, is_error: as for a result that it is a piece of."""
        tool = tool or self._tools.get(id or "")
        self._add(PartKind.UNKNOWN, span, form, label, call_id=id, tool=tool, is_error=is_error)

    def ui(self, span: Span, *, form: Form = Form.EMPTY, label: str = "ui") -> None:
        """A value that never reaches the model; a whole record that does not is told with `ui_record`."""
        self._loose.append(_told(PartKind.UI, span, form, label))

    def ui_record(self, record: Record, label: str) -> None:
        """A whole record that never reaches the model and that nothing points to."""
        span = self.records.span_with_line_end(record)
        self._loose.append(_told(PartKind.UI, span, Form.NOTHING, label))

    def unknown_record(self, record: Record, label: str = "unknown record") -> None:
        span = self.records.span_with_line_end(record)
        self._loose.append(_told(PartKind.UNKNOWN, span, Form.NOTHING, label))

    def leave(self, record: Record, reason: Reason, *, replacement: bytes = b"") -> None:
        """The record is no part of what is viewed. replacement: a shorter record that takes its place."""
        start, end = self.records.span_with_line_end(record)
        if replacement:
            replacement += self.records.data[record.end : end]
        self._leaves.append(Leave(start, end, reason, replacement))

    def odd(self, line: int, code: str, words: str) -> None:
        self._oddities.append(Oddity(line, code, words))

    def boundary(self, at: Value | Record, *, is_compaction: bool) -> None:
        """A compaction or a rewind stands here: nothing after it is a repeat of anything before."""
        self._boundaries.append(at.start)
        if is_compaction:
            self._compactions.append(at.start)

    def reads_file(self, call_id: str, path: str) -> None:
        """The call reads this file; told once for each that it reads."""
        self._reads.setdefault(call_id, []).append(path)

    def writes_file(self, at: Value | Record, path: str, tool: str = "", *, is_known: bool = True) -> None:
        """A call of this tool, which writes files or (not is_known) may do so, names this path."""
        self._writes.append(FileWrite(at.start, path, tool, is_known))

    # --- What comes of it ---

    def build(self) -> Transcript:
        for record in self.records.records:
            if record.value is None:
                self.leave(record, Reason.CUT)
                self.odd(record.line, "not-json", f"a line that is not JSON: {record.why}")
        for before, record in pairwise(self.records.records):
            if self.records.data.find(b"\n", before.end, record.start) < 0:
                self.odd(record.line, "glued-records", "a record begins on the line of the one before it")
        self._oddities.sort(key=lambda odd: odd.line)
        messages, turns = self._number()
        for message in messages:
            if message.is_only_thinking:
                # Its tool may leave it out whole; with a marker in it, a text, it would be sent.
                for part in message.parts:
                    object.__setattr__(part, "form", Form.FIXED)
        parts = self._placed(messages, turns)
        last = turns[-1] + 1 if turns else 0
        return Transcript(
            format=self.format,
            api=self.api,
            records=self.records,
            messages=_with_parts(messages, turns, parts),
            parts=parts,
            turns=last,
            open_turn=self._open_turn(messages, turns),
            leaves=sorted(self._leaves, key=lambda leave: leave.start),
            oddities=self._oddities,
            text_block=self.text_block,
            splits_replies=self.splits_replies,
            session=self.session,
            leaf=self.leaf,
            boundaries=sorted(self._boundaries),
            compactions=sorted(self._compactions),
            reads=self._reads,
            writes=sorted(self._writes, key=lambda write: write.position),
        )

    @property
    def _latest(self) -> _Open:
        return self._messages[-1]

    def _add(self, kind: PartKind, span: Span, form: Form, label: str, **facts: Any) -> None:
        latest = self._latest
        latest.parts.append(_told(kind, span, form, label, role=latest.role, **facts))

    def _number(self) -> tuple[list[_Open], list[int]]:
        """The messages in order of the source, and the turn of each."""
        messages = sorted(self._messages, key=lambda message: message.position)
        turns: list[int] = []
        turn = -1
        has_reply = False
        for message in messages:
            if message.role is Role.ASSISTANT:
                if has_reply or turn < 0:
                    turn += 1
                has_reply = True
            elif message.role is not Role.RESULT and (has_reply or turn < 0):
                turn += 1
                has_reply = False
            turns.append(max(turn, 0))
            turn = max(turn, 0)
        return messages, turns

    def _placed(self, messages: list[_Open], turns: list[int]) -> list[Part]:
        """All parts in order of the source, numbered; each has the turn of what stands before it."""
        # Nobody has seen a part yet, so it may be changed: a second one in its place would be as much memory
        # again, at the peak.
        settle = object.__setattr__
        parts: list[Part] = []
        for index, message in enumerate(messages):
            for part in message.parts:
                settle(part, "message", index)
                settle(part, "turn", turns[index])
            parts += message.parts
        starts = [(message.position, turn) for message, turn in zip(messages, turns, strict=True)]
        at, turn = 0, -1
        for part in sorted(self._loose, key=lambda part: part.start):
            while at < len(starts) and starts[at][0] <= part.start:
                turn = starts[at][1]
                at += 1
            settle(part, "turn", turn)
            parts.append(part)
        parts.sort(key=lambda part: part.start)
        # A reply that is told in pieces, with results between them, must not take its turn along with it.
        high = -1
        end = 0
        for index, part in enumerate(parts):
            high = max(high, part.turn)
            assert end <= part.start, "parts of a transcript overlap"
            end = part.end
            settle(part, "index", index)
            if part.turn != high:
                settle(part, "turn", high)
        return parts

    def _open_turn(self, messages: list[_Open], turns: list[int]) -> int | None:
        """Where the tool loop began that is still open: a result, or a call without one, stands last."""
        # Notes (a skill's text, a command's output, a summary) neither end a loop nor begin one.
        own = (Role.ASSISTANT, Role.RESULT)
        last = next(
            (each for each in reversed(messages) if each.is_prompt or each.answers or each.role in own), None
        )
        if last is None:
            return None
        answered = {id for message in messages for id in message.answers}
        is_waiting = any(id not in answered for id in last.calls)
        is_result = last.role is Role.RESULT or (last.role is not Role.ASSISTANT and bool(last.answers))
        if not is_result and not is_waiting and self.is_final and not last.is_only_thinking:
            return None
        if not is_result and last.role is not Role.ASSISTANT:
            return None
        for index in range(len(messages) - 1, -1, -1):
            message = messages[index]
            if message.is_prompt:
                return turns[index]
            # A reply without a call ended the loop before this one, whoever made the model go on.
            is_end = message.role is Role.ASSISTANT and not message.calls and not message.is_only_thinking
            if is_end and message is not last:
                return turns[index + 1]
        return 0


def _told(kind: PartKind, span: Span, form: Form, label: str, **facts: Any) -> Part:
    """A part; where it stands among the others is not known before all are told."""
    start, end = span if isinstance(span, tuple) else (span.start, span.end)
    return Part(-1, kind, form, start, end, -1, -1, label, **facts)


def _with_parts(messages: list[_Open], turns: list[int], parts: list[Part]) -> list[Message]:
    own: list[list[int]] = [[] for _ in messages]
    for part in parts:
        if part.message >= 0:
            own[part.message].append(part.index)
    return [
        Message(
            index,
            message.role,
            turns[index],
            message.position,
            tuple(own[index]),
            message.id,
            message.is_prompt,
            tuple(message.calls),
            tuple(message.answers),
            message.end,
        )
        for index, message in enumerate(messages)
    ]
