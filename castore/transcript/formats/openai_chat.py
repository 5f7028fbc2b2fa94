"""OpenAI Chat Completions: the body of a request, `{"model", "messages": […], "tools"?, …}`.

Law: arguments that are a string stay one, and stay as they are if they are no JSON object; what a backend
may want back (`reasoning_content` and its like) stays byte for byte. A body that holds roles and text alone
may be anyone's: it reads the same for all, and is read as one of this format.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from castore.transcript.formats import ReadOptions
from castore.transcript.formats.blocks import Reading, quoted
from castore.transcript.formats.dialects import (
    STAND_IN_NAME,
    Dialect,
    body_of,
    dialect_of_body,
    is_chat_anyway,
    is_thin,
)
from castore.transcript.formats.stand_in import object_of
from castore.transcript.model import Api, Form, Role, Transcript
from castore.transcript.records import Record, Records
from castore.transcript.values import Value

__all__ = ["FORMAT", "message_that_says", "tell_messages"]

_ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.RESULT,
    "function": Role.RESULT,
}
_PAIRS = ("tool_use", "tool_result")
"""Of Anthropic messages: passed over, a call would have no result."""
_REASONING = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks", "thinking")
_PAYLOADS = {
    "image_url": ("image_url", "url"),
    "input_audio": ("input_audio", "data"),
    "file": ("file", "file_data"),
    "video_url": ("video_url", "url"),
}
"""Block type -> the way to its bytes."""


class _Chat:
    name = "openai-chat"
    looked_for = (
        "one object with 'messages' and a 'model', tools of type 'function', messages with 'tool_calls' or "
        "of role 'system' or 'tool', or nothing but text"
    )
    is_body = True

    def recognizes(self, record: Record) -> bool:
        body = body_of(record)
        return body is not None and dialect_of_body(body) in (Dialect.CHAT, Dialect.PLAIN)

    def read(self, records: Records, options: ReadOptions) -> Transcript:
        reading = Reading(self.name, Api.CHAT, records, options)
        messages = reading.list_of("messages")
        reading.keeps_first_block = is_thin(reading.body)
        tell_messages(reading, messages)
        return reading.finish()

    def api_messages(self, transcript: Transcript) -> list[Any]:
        body = transcript.records.records[0].value
        messages = body.get("messages") if body is not None else None
        return list(messages.python()) if messages is not None else []

    def stand_in(self, transcript: Transcript, pieces: Sequence[tuple[int, int]], text: str) -> bytes:
        return message_that_says(text, is_told=is_chat_anyway(transcript.records))


FORMAT = _Chat()


def message_that_says(text: str, *, is_told: bool) -> bytes:
    """A user's message. is_told: the body says whose it is; else this one has a sign of Chat."""
    name = None if is_told else STAND_IN_NAME
    return object_of({"role": "user", "name": name, "content": text})


def tell_messages(reading: Reading, messages: list[Value]) -> None:
    """Tells the reading's builder what Chat messages hold. Raises SessionInvalid."""
    for index, message in enumerate(messages):
        role = reading.role(message, _ROLES)
        content = message.get("content")
        if content is not None and not (content.is_string or content.is_array or content.is_null):
            raise reading.refused(
                f"a message's content must be a string, a list of parts or null, not {quoted(content)}",
                content,
            )
        reading.tell(message, role)
        if role is Role.RESULT:
            _tell_result(reading, message, content)
            continue
        if role is Role.ASSISTANT:
            _tell_reply(reading, message, f"#{index}")
        if content is not None:
            _tell_content(reading, content)


def _tell_content(reading: Reading, content: Value) -> None:
    if content.is_string:
        reading.builder.prose(content)
        return
    for block in content.items():
        type = _type(reading, block)
        text = block.get(type) if type in ("text", "refusal") else None
        if text is not None and text.is_string:
            reading.builder.prose(text)
        else:
            _tell_other(reading, block, type)


def _type(reading: Reading, block: Value) -> str | None:
    return reading.string(block, "type", of="a part's") if block.is_object else None


def _tell_other(
    reading: Reading, block: Value, type: str | None, *, id: str | None = None, tool: str | None = None
) -> None:
    """A part that is no text."""
    if type in _PAIRS:
        raise reading.refused(f"a Chat message has no '{type}' in its content", block)
    if type not in _PAYLOADS:
        if not block.is_object:
            reading.odd(block, "not-a-block", f"{quoted(block)} where a part should be")
        elif type == "text":
            reading.odd(block, "text-without-text", "a text block without a text")
        form = Form.BLOCK if block.is_object else Form.FIXED
        reading.builder.unknown(block, form=form, id=id, tool=tool)
        return
    # Some backends take the address itself in the place of the object that names it.
    outer, inner = _PAYLOADS[type]
    payload = block.get(outer, inner) or block.get(outer)
    if payload is None or not payload.is_string:
        return
    media_type = type.partition("_")[0]
    if type == "input_audio":
        media_type = f"audio/{block.text('input_audio', 'format') or 'basic'}"
    else:
        head = payload.literal[:128]
        if not head.startswith(b'"data:'):
            return
        media_type = head[6:].partition(b";")[0].decode("ascii", "replace") or media_type
    form = reading.block_form()
    reading.builder.media(block, payload=payload, media_type=media_type, form=form, id=id, tool=tool)


def _tell_result(reading: Reading, message: Value, content: Value | None) -> None:
    builder = reading.builder
    given = reading.string(message, "tool_call_id", of="a tool message's")
    name = reading.string(message, "name", of="a message's") or message.text("tool_name")
    id = reading.pairs.result(given, tool=name, line=reading.line(message))
    builder.answer(id)
    tool = reading.pairs.tool(id) or name
    if content is None or content.is_null:
        return
    if content.is_string:
        builder.result(content, id=id, tool=tool)
        return
    for block in content.items():
        type = _type(reading, block)
        text = block.get("text") if type == "text" else None
        if text is not None and text.is_string:
            builder.result(text, id=id, tool=tool)
        else:
            _tell_other(reading, block, type, id=id, tool=tool)


def _tell_reply(reading: Reading, message: Value, place: str) -> None:
    """What a reply holds beside its content."""
    builder = reading.builder
    for name in _REASONING:
        value = message.get(name)
        if value is not None and not value.is_null:
            builder.thinking(value, form=Form.FIXED)
    refusal = message.get("refusal")
    if refusal is not None and refusal.is_string:
        builder.prose(refusal)
    calls = message.get("tool_calls")
    if calls is not None and not calls.is_array and not calls.is_null:
        raise reading.refused(f"'tool_calls' must be a list, not {quoted(calls)}", calls)
    for call in calls.items() if calls is not None else []:
        function = call.get("function") or call.get("custom")
        if function is None or not function.is_object:
            raise reading.refused("a call must have an object 'function' or 'custom'", call)
        _tell_call(reading, call, function, place)
    legacy = message.get("function_call")
    if legacy is not None and legacy.is_object:
        _tell_call(reading, legacy, legacy, place)


def _tell_call(reading: Reading, call: Value, function: Value, place: str) -> None:
    tool = reading.string(function, "name", of="a call's")
    given = reading.string(call, "id", of="a call's")
    id = reading.pairs.call(given, made_up=place, tool=tool, line=reading.line(call))
    free_text = function.get("input")
    if free_text is not None and free_text.is_string and call.text("type") == "custom":
        reading.builder.call(free_text, id=id, tool=tool, form=Form.TEXT)
        return
    arguments = function.get("arguments")
    if arguments is not None and arguments.is_object:
        # Some backends have them as an object.
        reading.builder.call(arguments, id=id, tool=tool, form=Form.ARGUMENTS)
        reading.files(id, tool, arguments, call)
    elif arguments is not None and arguments.is_string:
        form, text = reading.json_text(arguments)
        reading.builder.call(arguments, id=id, tool=tool, form=form)
        if text is not None:
            reading.files(id, tool, text, call)
    else:
        reading.odd(call, "arguments-not-a-string", f"the arguments of the call '{id}' are no string")
        reading.builder.call(arguments or function, id=id, tool=tool, form=Form.FIXED)
