"""Positions: the lists of a transcript whose items stay where they are, so that what is in them folds.

Laws: whether a list is one follows from its own bytes alone, and every item has a say: a list that mixes
messages with rows is rows. Of a member given twice the last counts, as for most readers. Most arrays are told
by their first item; large values are passed over by their ends, so that lists within lists cost no more than
they are long.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any

from castore.document.grammar import OBJECT, SPACE, STRING, STRING_END, Node, value_end
from castore.document.strings import decode_literal

__all__ = ["Ends", "begins_message_list", "is_message_list"]

Ends = Mapping[int, int]
"""Where the large values of a document begin -> where they end."""

_WALKED_BYTES_MAX = 64 << 10
_COMMA, _CLOSE_ARRAY, _CLOSE_OBJECT = 0x2C, 0x5D, 0x7D

_CALLS = ("function", "custom_tool", "tool_search", "local_shell", "shell", "apply_patch", "computer")
_SERVER_CALLS = ("web_search", "file_search", "code_interpreter", "image_generation", "mcp")

_TYPES: dict[str, tuple[str, ...]] = {
    # Content blocks. Others use these words as well, so a block also has the member that its type is about.
    **dict.fromkeys(("text", "input_text", "output_text"), ("text",)),
    "refusal": ("refusal",),
    "thinking": ("thinking",),
    "redacted_thinking": ("data",),
    **dict.fromkeys(("tool_use", "server_tool_use", "mcp_tool_use"), ("input",)),
    "tool_result": ("tool_use_id",),
    **dict.fromkeys(("web_search_tool_result", "web_fetch_tool_result"), ("tool_use_id",)),
    **dict.fromkeys(("code_execution_tool_result", "mcp_tool_result"), ("tool_use_id",)),
    "toolCall": ("arguments",),
    "image": ("source", "data"),
    "document": ("source",),
    "image_url": ("image_url",),
    "input_image": ("image_url", "file_id"),
    "input_audio": ("input_audio",),
    "file": ("file",),
    "input_file": ("file_data", "file_id", "file_url"),
    # A call in `tool_calls`; what declares a tool has no id.
    "function": ("id",),
    # Items of the Responses API. Messages among them have a role.
    **{f"{call}_call": () for call in (*_CALLS, *_SERVER_CALLS)},
    **{f"{call}_call_output": () for call in _CALLS},
    "tool_search_output": (),
    "reasoning": ("summary",),
    **dict.fromkeys(("compaction", "compaction_summary", "context_compaction"), ("encrypted_content",)),
    **dict.fromkeys(("mcp_list_tools", "mcp_approval_request", "mcp_approval_response"), ()),
    "item_reference": ("id",),
}
"""Type -> members one of which the object has as well; none: the type says enough."""

_PART_DATA = frozenset({"functionCall", "functionResponse", "inlineData"})
_PART_MEMBERS = _PART_DATA | {"text", "thought", "thoughtSignature"}
"""A Gemini part has no type, and no members but these."""
_PART_NAMES = tuple(name.encode() for name in sorted(_PART_DATA))


class _Item(Enum):
    OTHER = 0
    POSITION = 1
    TEXT_PART = 2
    """A Gemini part with nothing but text. Rows look like that, so not all items may."""


def begins_message_list(data: bytes | bytearray, node: Node, ends: Ends) -> bool:
    """Whether the first item of an array (which has one, and it has ended) surely has a position to keep."""
    return _first_item(data, node, ends) is _Item.POSITION


def is_message_list(data: bytes | bytearray, node: Node, ends: Ends) -> bool:
    """Whether all items of an array (which has one) are messages, items of the Responses API, content
    blocks, calls or Gemini parts: then what is inside them folds instead."""
    first = _first_item(data, node, ends)
    if first is _Item.OTHER:
        return False
    if first is _Item.TEXT_PART and not _may_hold_parts(data, node):
        return False
    if node.end - node.start > _WALKED_BYTES_MAX and _is_surely_one(memoryview(data)[node.start : node.end]):
        return True
    seen = set()
    at = node.start
    while data[at] != _CLOSE_ARRAY:
        at = SPACE.match(data, at + 1).end()  # type: ignore[union-attr]
        if data[at] != OBJECT:
            return False
        item, at = _item(data, at, ends)
        if item is _Item.OTHER:
            return False
        seen.add(item)
        at = SPACE.match(data, at).end()  # type: ignore[union-attr]
    return _Item.POSITION in seen


def _first_item(data: bytes | bytearray, node: Node, ends: Ends) -> _Item:
    at = SPACE.match(data, node.start + 1).end()  # type: ignore[union-attr]
    return _item(data, at, ends)[0] if data[at] == OBJECT else _Item.OTHER


def _may_hold_parts(data: bytes | bytearray, node: Node) -> bool:
    """Whether the walk is worth while: a name of a part's data stands in the array, or an escape that may
    spell one."""
    return any(data.find(name, node.start, node.end) >= 0 for name in (*_PART_NAMES, b"\\u"))


def _item(data: bytes | bytearray, at: int, ends: Ends) -> tuple[_Item, int]:
    """What the object at `at` is; and the offset after it."""
    members: dict[str, int] = {}
    at = SPACE.match(data, at + 1).end()  # type: ignore[union-attr]
    while data[at] != _CLOSE_OBJECT:
        name_end = STRING_END.match(data, at + 1).end()  # type: ignore[union-attr]
        name = _text(data, at, name_end)
        at = SPACE.match(data, name_end).end() + 1  # type: ignore[union-attr]
        at = SPACE.match(data, at).end()  # type: ignore[union-attr]
        members[name] = at
        at = ends.get(at) or value_end(data, at)
        at = SPACE.match(data, at).end()  # type: ignore[union-attr]
        if data[at] == _COMMA:
            at = SPACE.match(data, at + 1).end()  # type: ignore[union-attr]
    return _told(data, members), at + 1


def _told(data: bytes | bytearray, members: dict[str, int]) -> _Item:
    """members: name -> where its value begins."""
    role, type = members.get("role"), members.get("type")
    if role is not None and data[role] == STRING:
        return _Item.POSITION
    if type is not None and data[type] == STRING:
        type_end = STRING_END.match(data, type + 1).end()  # type: ignore[union-attr]
        needed = _TYPES.get(_text(data, type, type_end))
        says_enough = needed is not None and (not needed or any(name in members for name in needed))
        return _Item.POSITION if says_enough else _Item.OTHER
    if not members.keys() <= _PART_MEMBERS:
        return _Item.OTHER
    if not _PART_DATA.isdisjoint(members):
        return _Item.POSITION
    return _Item.TEXT_PART if "text" in members else _Item.OTHER


def _text(data: bytes | bytearray, start: int, end: int) -> str:
    literal = bytes(data[start:end])
    return decode_literal(literal) if b"\\" in literal else literal[1:-1].decode()


def _is_surely_one(literal: memoryview) -> bool:
    """A fast reader's yes, in which all have a role or all have a type; where it says no, look closer."""
    import msgspec

    for item_type in _item_types():
        try:
            msgspec.json.decode(literal, type=list[item_type])  # type: ignore[valid-type]
        except msgspec.DecodeError:
            continue
        return True
    return False


@cache
def _item_types() -> tuple[Any, ...]:
    """What the fast reader takes for an item. A `role` or `type` that is given twice must be right twice."""
    from functools import reduce
    from operator import or_

    import msgspec

    message = msgspec.defstruct("Message", [("role", str)])
    typed = (
        msgspec.defstruct(f"Typed{at}", [(name, Any) for name in needed], tag_field="type", tag=type)
        for at, (type, needed) in enumerate(_TYPES.items())
        if len(needed) < 2
    )
    return message, reduce(or_, typed)
