"""Sessions and bodies of every format in which calls are made, one a turn: for what is said of read-backs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["FORMATS", "Call", "session_of"]


@dataclass(frozen=True)
class Call:
    """A call, and what its tool gave back."""

    tool: str
    arguments: dict[str, Any]
    text: str
    is_error: bool = False


def session_of(format: str, calls: Sequence[Call], *, calls_a_prompt: int = 1) -> bytes:
    """A prompt before each so many calls, and a word after them."""
    return _MAKERS[format](calls, calls_a_prompt)


def _lines(records: Sequence[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(each) + "\n" for each in records).encode()


def _is_first(at: int, of: int) -> bool:
    return at % of == 0


def _is_last(at: int, of: int) -> bool:
    return at % of == of - 1


def _pi(calls: Sequence[Call], of: int) -> bytes:
    records: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "s-1", "timestamp": "t", "cwd": "/"}
    ]

    def say(message: dict[str, Any]) -> None:
        parent = records[-1]["id"] if len(records) > 1 else None
        records.append(
            {
                "type": "message",
                "id": f"{len(records):08x}",
                "parentId": parent,
                "timestamp": "t",
                "message": message,
            }
        )

    for at, call in enumerate(calls):
        if _is_first(at, of):
            say({"role": "user", "content": f"prompt {at}", "timestamp": at})
        use = {"type": "toolCall", "id": f"c{at}", "name": call.tool, "arguments": call.arguments}
        say({"role": "assistant", "content": [use], "api": "anthropic-messages", "stopReason": "toolUse"})
        content = [{"type": "text", "text": call.text}]
        say(
            {
                "role": "toolResult",
                "toolCallId": f"c{at}",
                "toolName": call.tool,
                "isError": call.is_error,
                "content": content,
            }
        )
        if _is_last(at, of):
            said = [{"type": "text", "text": f"done {at}"}]
            say({"role": "assistant", "content": said, "api": "anthropic-messages", "stopReason": "stop"})
    return _lines(records)


def _anthropic_messages(calls: Sequence[Call], of: int) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for at, call in enumerate(calls):
        if _is_first(at, of):
            messages.append({"role": "user", "content": f"prompt {at}"})
        use = {"type": "tool_use", "id": f"c{at}", "name": call.tool, "input": call.arguments}
        messages.append({"role": "assistant", "content": [use]})
        result: dict[str, Any] = {"type": "tool_result", "tool_use_id": f"c{at}", "content": call.text}
        if call.is_error:
            result["is_error"] = True
        messages.append({"role": "user", "content": [result]})
        if _is_last(at, of):
            messages.append({"role": "assistant", "content": [{"type": "text", "text": f"done {at}"}]})
    return messages


def _anthropic(calls: Sequence[Call], of: int) -> bytes:
    body = {"model": "claude-x", "max_tokens": 9, "system": "be kind"}
    return json.dumps({**body, "messages": _anthropic_messages(calls, of)}).encode()


def _claude_code(calls: Sequence[Call], of: int) -> bytes:
    records: list[dict[str, Any]] = []
    for at, message in enumerate(_anthropic_messages(calls, of)):
        before = records[-1]["uuid"] if records else None
        records.append(
            {
                "type": message["role"],
                "uuid": f"u{at}",
                "parentUuid": before,
                "sessionId": "s",
                "message": {**message, "id": f"m{at}"} if message["role"] == "assistant" else message,
            }
        )
    return _lines(records)


def _openai_chat(calls: Sequence[Call], of: int) -> bytes:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "be kind"}]
    for at, call in enumerate(calls):
        if _is_first(at, of):
            messages.append({"role": "user", "content": f"prompt {at}"})
        function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
        used = [{"id": f"c{at}", "type": "function", "function": function}]
        messages.append({"role": "assistant", "content": None, "tool_calls": used})
        messages.append({"role": "tool", "tool_call_id": f"c{at}", "content": call.text})
        if _is_last(at, of):
            messages.append({"role": "assistant", "content": f"done {at}"})
    return json.dumps({"model": "gpt-x", "messages": messages}).encode()


def _response_items(calls: Sequence[Call], of: int) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []

    def say(role: str, text: str) -> None:
        kind = "output_text" if role == "assistant" else "input_text"
        items.append({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})

    for at, call in enumerate(calls):
        if _is_first(at, of):
            say("user", f"prompt {at}")
        arguments = json.dumps(call.arguments)
        items.append(
            {"type": "function_call", "call_id": f"c{at}", "name": call.tool, "arguments": arguments}
        )
        items.append({"type": "function_call_output", "call_id": f"c{at}", "output": call.text})
        if _is_last(at, of):
            say("assistant", f"done {at}")
    return items


def _openai_responses(calls: Sequence[Call], of: int) -> bytes:
    return json.dumps({"model": "gpt-x", "input": _response_items(calls, of)}).encode()


def _codex(calls: Sequence[Call], of: int) -> bytes:
    meta = {
        "id": "5",
        "timestamp": "t",
        "cwd": "/",
        "originator": "o",
        "cli_version": "0.1",
        "instructions": None,
    }
    records: list[dict[str, Any]] = [{"timestamp": "t", "type": "session_meta", "payload": meta}]
    records += [
        {"timestamp": "t", "type": "response_item", "payload": item} for item in _response_items(calls, of)
    ]
    return _lines(records)


def _gemini(calls: Sequence[Call], of: int) -> bytes:
    contents: list[dict[str, Any]] = []
    for at, call in enumerate(calls):
        if _is_first(at, of):
            contents.append({"role": "user", "parts": [{"text": f"prompt {at}"}]})
        used = {"functionCall": {"id": f"c{at}", "name": call.tool, "args": call.arguments}}
        contents.append({"role": "model", "parts": [used]})
        said = {"functionResponse": {"id": f"c{at}", "name": call.tool, "response": {"output": call.text}}}
        contents.append({"role": "user", "parts": [said]})
        if _is_last(at, of):
            contents.append({"role": "model", "parts": [{"text": f"done {at}"}]})
    return json.dumps({"contents": contents}).encode()


_MAKERS: dict[str, Callable[[Sequence[Call], int], bytes]] = {
    "anthropic": _anthropic,
    "claude-code": _claude_code,
    "codex": _codex,
    "gemini": _gemini,
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
    "pi": _pi,
}

FORMATS = tuple(_MAKERS)
