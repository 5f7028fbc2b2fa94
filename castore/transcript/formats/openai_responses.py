"""OpenAI Responses: request bodies with `input`, response objects with `output`, and bare lists of items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from castore.transcript.formats import ReadOptions
from castore.transcript.formats.blocks import Reading, quoted
from castore.transcript.formats.responses_items import ITEM_TYPES, TEXT_BLOCK, ItemReader, item_type
from castore.transcript.formats.stand_in import object_of
from castore.transcript.model import Api, Role, Transcript
from castore.transcript.records import Record, Records
from castore.transcript.values import Value

__all__ = ["FORMAT"]

_OWN_MEMBERS = frozenset(
    {
        "background",
        "conversation",
        "include",
        "instructions",
        "max_output_tokens",
        "max_tool_calls",
        "parallel_tool_calls",
        "previous_response_id",
        "reasoning",
        "store",
        "text",
        "tool_choice",
        "tools",
        "truncation",
    }
)
"""Of a body whose `input` is one text: other bodies (embeddings, speech) have that too, and none of these."""

_OWN_BLOCKS = frozenset({"input_text", "output_text", "input_image", "input_file"})


class ResponsesFormat:
    name = "openai-responses"
    looked_for = (
        "an object with a model and an input of Responses items (or of text, with a member of that API), "
    )
    looked_for += "a response object with its output, or an array of such items"
    is_body = True

    def recognizes(self, record: Record) -> bool:
        value = record.value
        if value is None:
            return False
        if value.is_array:
            items = value.items()
            return all(_may_be_item(item) for item in items) and any(_is_item(item) for item in items)
        if not value.is_object or value.get("messages") is not None:
            return False
        given = value.get("input")
        if given is None:
            output = value.get("output")
            return value.text("object") == "response" and output is not None and output.is_array
        if given.is_string:
            return value.text("model") is not None and not _OWN_MEMBERS.isdisjoint(value.members)
        items = given.items()
        if not items or not all(_may_be_item(item) for item in items):
            return False
        return value.text("model") is not None or any(_is_item(item) for item in items)

    def read(self, records: Records, options: ReadOptions) -> Transcript:
        reading = Reading("openai-responses", Api.RESPONSES, records, options, text_block=TEXT_BLOCK)
        _read_body(reading, reading.body)
        return reading.finish()

    def api_messages(self, transcript: Transcript) -> list[Any]:
        body = transcript.records.records[0].value
        given = body if body is None or body.is_array else body.get("input") or body.get("output")
        if body is None or given is None:
            return []
        if given.is_string:
            return [{"role": "user", "content": given.python()}]
        before = (
            body.text("previous_response_id") or body.text("conversation") or body.text("conversation", "id")
        )
        # What the server remembers stands before the items: results may be of calls in there.
        stored = [] if before is None else [{"type": "item_reference", "id": before}]
        items = given.python()
        return [*stored, *items] if isinstance(items, list) else stored

    def stand_in(self, transcript: Transcript, pieces: Sequence[tuple[int, int]], text: str) -> bytes:
        said = object_of({"type": "input_text", "text": text})
        return object_of({"type": "message", "role": "user", "content": b"[" + said + b"]"})


FORMAT = ResponsesFormat()


def _read_body(reading: Reading, body: Value) -> None:
    if body.is_array:
        _read_items(ItemReader(reading), body)
        return
    if not body.is_object:
        raise reading.refused(f"a body must be an object or an array, not {quoted(body)}", body)
    given = body.get("input") or body.get("output")
    if given is None:
        raise reading.refused("a body has no input", body)
    instructions = body.get("instructions")
    if instructions is not None and instructions.is_string and len(instructions) > 2:
        reading.system(instructions, given)
        reading.builder.prose(instructions)
    if given.is_string:
        reading.builder.message(Role.USER, given, is_prompt=True)
        reading.builder.prose(given)
    elif given.is_array:
        is_continued = any(body.get(name) is not None for name in ("previous_response_id", "conversation"))
        _read_items(ItemReader(reading, is_continued=is_continued), given)
    else:
        raise reading.refused(f"an input must be a string or an array, not {quoted(given)}", given)


def _read_items(reader: ItemReader, items: Value) -> None:
    for item in items.items():
        reader.tell(item)


# --- Is it one? ---


def _may_be_item(value: Value) -> bool:
    """Whether it has the outer shape of an item; messages of all APIs have."""
    if not value.is_object:
        return False
    type = value.get("type")
    if type is None:
        return value.get("role") is not None and value.get("parts") is None
    return type.is_string


def _is_item(value: Value) -> bool:
    """Whether no other API has this: an item by its type and what it must hold, or a block of this API."""
    type = item_type(value)
    if type == "message":
        content = value.get("content")
        blocks = content.items() if content is not None else []
        return any(block.text("type") in _OWN_BLOCKS for block in blocks)
    if type == "reasoning":
        summary = value.get("summary")
        return summary is not None and summary.is_array
    if type in ("function_call", "custom_tool_call"):
        return value.get("call_id") is not None and value.get("name") is not None
    if type in ("function_call_output", "custom_tool_call_output"):
        return value.get("call_id") is not None and value.get("output") is not None
    return type in ITEM_TYPES and (value.text("id") is not None or value.text("call_id") is not None)
