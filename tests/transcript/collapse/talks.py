"""Sessions that live: they grow, are taken back and are compacted, as the tools write them.

Each keeps beside its bytes what the model should get of it: its messages in order, by what they say. Nothing
here knows castore.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["TALKS", "Said", "Talk"]


@dataclass(frozen=True)
class Said:
    """One message. role: `user`, `assistant`, `result` or `summary`; text: of it alone in the session."""

    role: str
    text: str


class Talk(ABC):
    """A session. said: what the model gets. compacted: how many of those are before the last compaction, the
    one that stands among them included."""

    tool = ""

    def __init__(self) -> None:
        self.said: list[Said] = []
        self.compacted = 0
        self.compactions = 0
        self.count = 0

    # --- What happens ---

    def turn(self, *, prompt: bool, call: bool) -> None:
        """A prompt or none, a reply, and the result of its call if it has one."""
        if prompt:
            self._say("user")
        self._say("assistant", call=call)
        if call:
            self._say("result")

    def rewind(self, length: int) -> None:
        """Only the first `length` messages were said; what comes next follows them."""
        self._rewind(length)
        del self.said[length:]

    def compact(self) -> None:
        """A summary takes the place of all that was said."""
        self.count += 1
        self.compactions += 1
        kept = self._compact(self._text("summary"))
        self.said = [*self.said[len(self.said) - kept :], Said("summary", self._text("summary"))]
        self.compacted = len(self.said)

    @abstractmethod
    def source(self) -> bytes: ...

    def may_rewind_to(self, length: int) -> bool:
        """Whether the tool could take it back to there: the last message stands whole, and nothing hangs."""
        if not max(self.compacted, 1) <= length < len(self.said):
            return False
        last, following = self.said[length - 1], self.said[length]
        is_open = last.role == "user" or following.role == "result"
        return not is_open

    # --- How a tool writes it ---

    def _say(self, role: str, *, call: bool = False) -> None:
        self.count += 1
        said = Said(role, self._text(role))
        self._write(said, call=call)
        self.said.append(said)

    def _text(self, role: str) -> str:
        words = f"{role} {self.count} of {self.tool} says at some length what there is to say. "
        return words + "And so on, and on. " * 20

    @abstractmethod
    def _write(self, said: Said, *, call: bool) -> None: ...

    @abstractmethod
    def _rewind(self, length: int) -> None: ...

    @abstractmethod
    def _compact(self, text: str) -> int:
        """How many of the last messages stay whole."""


class _Lines(Talk):
    """A session of one record a line."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[bytes] = []
        self.parents: list[str | None] = [None]
        """The record after which each message would be said; of the next one at the end."""

    def source(self) -> bytes:
        return b"".join(self.lines)

    def add(self, record: dict[str, object]) -> None:
        self.lines.append(json.dumps(record, separators=(",", ":")).encode() + b"\n")

    @property
    def call_id(self) -> str:
        """Of the latest call: the reply's number."""
        return f"call_{self.count if not self.said or self.said[-1].role != 'assistant' else self.count - 1}"


class PiTalk(_Lines):
    tool = "pi"

    def __init__(self) -> None:
        super().__init__()
        self.add({"type": "session", "version": 3, "id": "talk-1", "timestamp": _TIME, "cwd": "/w"})

    def _entry(self, type: str, **more: object) -> None:
        id = f"{len(self.lines):08x}"
        self.add({"type": type, "id": id, "parentId": self.parents[-1], "timestamp": _TIME, **more})
        self.parents.append(id)

    def _write(self, said: Said, *, call: bool) -> None:
        if said.role == "user":
            self._entry("message", message={"role": "user", "content": said.text, "timestamp": 1})
        elif said.role == "assistant":
            blocks: list[dict[str, object]] = [{"type": "text", "text": said.text}]
            if call:
                arguments = {"command": "make"}
                blocks.append(
                    {"type": "toolCall", "id": f"call_{self.count}", "name": "bash", "arguments": arguments}
                )
            stop = "toolUse" if call else "stop"
            message = {"role": "assistant", "content": blocks, "api": "anthropic-messages"}
            self._entry("message", message={**message, "stopReason": stop})
        else:
            block = {"type": "text", "text": said.text}
            message = {"role": "toolResult", "toolCallId": self.call_id, "toolName": "bash"}
            self._entry("message", message={**message, "content": [block], "isError": False})

    def _rewind(self, length: int) -> None:
        del self.parents[length + 1 :]

    def _compact(self, text: str) -> int:
        kept = 1 if self.said and self.said[-1].role == "assistant" else 0
        first = self.parents[-1] if kept else None
        self._entry("compaction", summary=text, firstKeptEntryId=first or "none", tokensBefore=1)
        self.parents = [
            *self.parents[len(self.parents) - 2 - kept : len(self.parents) - 2],
            *self.parents[-2:],
        ]
        return kept


class ClaudeCodeTalk(_Lines):
    tool = "claude-code"

    def _line(self, type: str, **more: object) -> None:
        uuid = f"{len(self.lines):08x}-uuid"
        common = {"parentUuid": self.parents[-1], "isSidechain": False, "userType": "external", "cwd": "/w"}
        named = {"sessionId": "talk-1", "version": "2.0.1", "type": type, "uuid": uuid, "timestamp": _TIME}
        self.add({**common, **named, **more})
        self.parents.append(uuid)

    def _write(self, said: Said, *, call: bool) -> None:
        if said.role == "user":
            self._line("user", message={"role": "user", "content": said.text})
        elif said.role == "assistant":
            blocks: list[dict[str, object]] = [{"type": "text", "text": said.text}]
            if call:
                use = {"type": "tool_use", "id": f"call_{self.count}", "name": "Bash"}
                blocks.append({**use, "input": {"command": "make"}})
            message = {"id": f"msg_{self.count}", "type": "message", "role": "assistant", "content": blocks}
            self._line("assistant", message=message)
        else:
            block = {"type": "tool_result", "tool_use_id": self.call_id, "content": said.text}
            self._line("user", message={"role": "user", "content": [block]}, toolUseResult={"stdout": "x"})

    def _rewind(self, length: int) -> None:
        del self.parents[length + 1 :]

    def _compact(self, text: str) -> int:
        last = self.parents[-1]
        uuid = f"{len(self.lines):08x}-uuid"
        boundary = {"parentUuid": None, "logicalParentUuid": last, "isSidechain": False, "type": "system"}
        meta = {"trigger": "auto", "preTokens": 1}
        self.add(
            {**boundary, "subtype": "compact_boundary", "compactMetadata": meta, "sessionId": "talk-1"}
            | {"uuid": uuid, "timestamp": _TIME}
        )
        self.parents = [uuid]
        self._line("user", message={"role": "user", "content": text}, isCompactSummary=True)
        return 0


class CodexTalk(_Lines):
    tool = "codex"

    def __init__(self) -> None:
        super().__init__()
        self._record("session_meta", id="talk-1", timestamp=_TIME, cwd="/w", cli_version="0.50.0")

    def _record(self, kind: str, **payload: object) -> None:
        self.add({"timestamp": _TIME, "type": kind, "payload": payload})

    def _write(self, said: Said, *, call: bool) -> None:
        if said.role == "user":
            content = [{"type": "input_text", "text": said.text}]
            self._record("response_item", type="message", role="user", content=content)
        elif said.role == "assistant":
            content = [{"type": "output_text", "text": said.text}]
            self._record("response_item", type="message", role="assistant", content=content)
            if call:
                id = f"call_{self.count}"
                self._record("response_item", type="function_call", name="shell", arguments="{}", call_id=id)
        else:
            self._record("response_item", type="function_call_output", call_id=self.call_id, output=said.text)

    def may_rewind_to(self, length: int) -> bool:
        # It counts prompts: what is taken back begins with one.
        return super().may_rewind_to(length) and self.said[length].role == "user"

    def _rewind(self, length: int) -> None:
        prompts = sum(said.role == "user" for said in self.said[length:])
        self._record("event_msg", type="thread_rolled_back", num_turns=prompts)

    def _compact(self, text: str) -> int:
        history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}]
        self._record("compacted", message="", replacement_history=history)
        return 0


class ChatTalk(Talk):
    """The body of a request: the whole list, each time."""

    tool = "openai-chat"

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[dict[str, object]] = []

    def source(self) -> bytes:
        system = {"role": "system", "content": "You are an agent."}
        return json.dumps({"model": "gpt-5", "messages": [system, *self.messages]}).encode()

    def _write(self, said: Said, *, call: bool) -> None:
        if said.role == "result":
            id = f"call_{self.count - 1}"
            self.messages.append({"role": "tool", "tool_call_id": id, "content": said.text})
            return
        message: dict[str, object] = {"role": said.role, "content": said.text}
        if call:
            function = {"name": "shell", "arguments": '{"command":"make"}'}
            message["tool_calls"] = [{"id": f"call_{self.count}", "type": "function", "function": function}]
        self.messages.append(message)

    def _rewind(self, length: int) -> None:
        del self.messages[length:]

    def compact(self) -> None:
        """A body has no record of one."""

    def _compact(self, text: str) -> int:
        raise AssertionError("a body has no record of a compaction")


TALKS: dict[str, type[Talk]] = {each.tool: each for each in (PiTalk, ClaudeCodeTalk, CodexTalk, ChatTalk)}

_TIME = "2026-01-01T00:00:00.000Z"


def texts(said: Iterable[Said]) -> list[str]:
    return [each.text for each in said]
