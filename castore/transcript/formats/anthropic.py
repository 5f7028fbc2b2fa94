"""Anthropic Messages: the body of a request, `{"model", "system"?, "messages": […], "tools"?, …}`.

Law: ids, names, `is_error`, `cache_control` and the order of blocks are in no part that can be replaced;
thinking leaves whole or not at all, and what the API holds against encrypted content stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from castore.transcript.formats import ReadOptions
from castore.transcript.formats.blocks import Reading, quoted
from castore.transcript.formats.dialects import Dialect, body_of, dialect_of_body, is_thin, is_told_by_body
from castore.transcript.formats.stand_in import object_of
from castore.transcript.model import Api, Form, Role, Transcript
from castore.transcript.records import Record, Records
from castore.transcript.values import Value

__all__ = ["FORMAT", "as_api_messages", "message_that_says", "tell_messages"]

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}
_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_RESULTS = frozenset({"tool_result", "mcp_tool_result"})
_MEDIA = frozenset({"image", "document"})


class _Anthropic:
    name = "anthropic"
    looked_for = (
        "one object with 'messages' and a 'system' beside them, tools with 'input_schema', or blocks such as "
        "tool_use, tool_result and thinking"
    )
    is_body = True

    def recognizes(self, record: Record) -> bool:
        body = body_of(record)
        return body is not None and dialect_of_body(body) is Dialect.ANTHROPIC

    def read(self, records: Records, options: ReadOptions) -> Transcript:
        reading = Reading(self.name, Api.ANTHROPIC, records, options)
        messages = reading.list_of("messages")
        reading.keeps_first_block = is_thin(reading.body)
        system = reading.body.get("system")
        if system is not None and not system.is_null:
            reading.system(system, messages[0] if messages else None)
            _tell_system(reading, system)
        tell_messages(reading, messages)
        return reading.finish()

    def api_messages(self, transcript: Transcript) -> list[Any]:
        body = transcript.records.records[0].value
        messages = body.get("messages") if body is not None else None
        return as_api_messages(messages.python() if messages is not None else [])

    def stand_in(self, transcript: Transcript, pieces: Sequence[tuple[int, int]], text: str) -> bytes:
        body = transcript.records.records[0].value
        return message_that_says(text, is_told=body is not None and is_told_by_body(body))


FORMAT = _Anthropic()


def message_that_says(text: str, *, is_told: bool) -> bytes:
    """A user's message. is_told: the body says whose it is; else this one has a sign of Anthropic."""
    if is_told:
        return object_of({"role": "user", "content": text})
    block = object_of({"type": "text", "text": text, "citations": b"null"})
    return object_of({"role": "user", "content": b"[" + block + b"]"})


def as_api_messages(messages: list[dict[str, Any]]) -> list[Any]:
    """Messages as the API has them when it has read them: content is always a list of blocks."""
    return [
        {
            "role": message["role"],
            "content": [{"type": "text", "text": message["content"]}]
            if isinstance(message["content"], str)
            else message["content"],
        }
        for message in messages
    ]


def tell_messages(reading: Reading, messages: list[Value]) -> None:
    """Tells the reading's builder what Anthropic messages hold. Raises SessionInvalid."""
    before: Role | None = None
    for index, message in enumerate(messages):
        role = reading.role(message, _ROLES)
        content = message.get("content")
        calls = message.get("tool_calls")
        if calls is not None and not calls.is_null:
            raise reading.refused("an Anthropic message has no 'tool_calls'", calls)
        if content is None or not (content.is_string or content.is_array):
            given = "absent" if content is None else quoted(content)
            raise reading.refused(
                f"a message's content must be a string or a list of blocks, not {given}", content or message
            )
        if role is Role.ASSISTANT or content.is_string:
            # Replies that follow one another are one reply to the API.
            if role is not Role.ASSISTANT or role is not before:
                reading.tell(message, role)
            else:
                reading.builder.goes_on(message)
            _tell_content(reading, content, f"#{index}")
        else:
            reading.sent(
                message,
                role,
                content.items(),
                is_result=lambda block: _type(reading, block) in _RESULTS,
                is_last=index == len(messages) - 1,
                tell=partial(_tell_block, reading, f"#{index}"),
            )
        before = role


def _tell_system(reading: Reading, system: Value) -> None:
    if not (system.is_string or system.is_array):
        raise reading.refused(f"'system' must be a string or a list of blocks, not {quoted(system)}", system)
    _tell_content(reading, system, "#system")


def _tell_content(reading: Reading, content: Value, place: str) -> None:
    """place: the made-up id of the message."""
    if content.is_string:
        reading.builder.prose(content)
    for block in content.items():
        _tell_block(reading, place, block)


def _type(reading: Reading, block: Value) -> str | None:
    return reading.string(block, "type", of="a block's") if block.is_object else None


def _tell_block(reading: Reading, place: str, block: Value) -> None:
    """place: makes up the id of a call that has none."""
    builder = reading.builder
    type = _type(reading, block)
    if type == "text":
        text = block.get("text")
        if text is not None and text.is_string:
            builder.prose(text)
        else:
            reading.odd(block, "text-without-text", "a text block without a text")
    elif type == "thinking":
        builder.thinking(block, form=reading.block_form(), is_signed=bool(block.text("signature")))
    elif type == "redacted_thinking":
        builder.thinking(block, form=reading.block_form(), is_signed=True)
    elif type in _CALLS:
        _tell_call(reading, block, place)
    elif type in _RESULTS:
        _tell_result(reading, block)
    elif type is not None and type.endswith("_tool_result"):
        _tell_server_result(reading, block)
    elif type in _MEDIA:
        _tell_media(reading, block)
    else:
        if not block.is_object:
            reading.odd(block, "not-a-block", f"{quoted(block)} where a block should be")
        builder.unknown(block, form=reading.block_form() if block.is_object else Form.FIXED)


def _tell_call(reading: Reading, block: Value, place: str) -> None:
    tool = reading.string(block, "name", of="a call's")
    id = reading.string(block, "id", of="a call's")
    id = reading.pairs.call(id, made_up=place, tool=tool, line=reading.line(block))
    arguments = block.get("input")
    if arguments is None or not arguments.is_object:
        reading.odd(block, "arguments-not-an-object", f"the arguments of the call '{id}' are no object")
        reading.builder.call(arguments or block, id=id, tool=tool, form=Form.FIXED)
        return
    reading.builder.call(arguments, id=id, tool=tool, form=Form.ARGUMENTS)
    reading.files(id, tool, arguments, block)


def _tell_result(reading: Reading, block: Value) -> None:
    builder = reading.builder
    id = _answered(reading, block)
    tool = reading.pairs.tool(id)
    is_error = block.flag("is_error")
    content = block.get("content")
    if content is None or content.is_null:
        return
    if content.is_string:
        builder.result(content, id=id, tool=tool, is_error=is_error)
        return
    if not content.is_array:
        raise reading.refused(
            f"a result's content must be a string or a list of blocks, not {quoted(content)}", content
        )
    for item in content.items():
        type = _type(reading, item)
        text = item.get("text")
        if type == "text" and text is not None and text.is_string:
            builder.result(text, id=id, tool=tool, is_error=is_error)
        elif type in _MEDIA:
            _tell_media(reading, item, id=id, tool=tool, is_error=is_error)
        elif type != "tool_reference":
            # A reference to a tool is what the API loads it by: small, and it stays.
            builder.unknown(item, form=Form.BLOCK, id=id, tool=tool, is_error=is_error)


def _tell_server_result(reading: Reading, block: Value) -> None:
    """The result of a tool that the API itself ran. Text may be replaced where it is a plain string;
    lists of findings carry what the API wants back as it was."""
    builder = reading.builder
    id = _answered(reading, block)
    tool = reading.pairs.tool(id)
    content = block.get("content")
    if content is None or content.is_null:
        return
    if not content.is_object:
        form = Form.TEXT if content.is_string else Form.FIXED
        builder.result(content, id=id, tool=tool, form=form)
        return
    is_error = (content.text("type") or "").endswith("_error")
    code = content.integer("return_code")
    texts = [content.get(name) for name in ("stdout", "stderr", "content")]
    if content.text("content", "source", "type") == "text":
        texts.append(content.get("content", "source", "data"))
    found = [text for text in texts if text is not None and text.is_string]
    for text in sorted(found, key=lambda text: text.start):
        builder.result(text, id=id, tool=tool, is_error=is_error, exit_code=code)


def _answered(reading: Reading, block: Value) -> str | None:
    given = reading.string(block, "tool_use_id", of="a result's")
    id = reading.pairs.result(given, tool=None, line=reading.line(block))
    reading.builder.answer(id)
    return id


def _tell_media(
    reading: Reading,
    block: Value,
    *,
    id: str | None = None,
    tool: str | None = None,
    is_error: bool = False,
) -> None:
    """An image or a document. One that is only named, by its address or a file's id, is no payload."""
    type = block.text("source", "type")
    if type in ("url", "file"):
        return
    data = block.get("source", "data")
    payload = data if data is not None and data.is_string else None
    media_type = block.text("source", "media_type") or block.text("type")
    reading.builder.media(
        block,
        payload=payload,
        media_type=media_type,
        form=reading.block_form(),
        id=id,
        tool=tool,
        is_error=is_error,
    )
