"""The rules of OpenAI's Responses API, for `input` items. docs/validity.md lists them.

What a stored response holds is not seen: after an `item_reference`, results of calls that are not in the
list are taken to be of calls in there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from castore.transcript.validate.finding import Finding, named, type_name

__all__ = ["findings"]

# Tuples, not sets: what is looked for in them may be of any type.
_ROLES = ("user", "assistant", "system", "developer")
_SENT_BLOCKS = ("input_text", "input_image", "input_file", "input_audio")
_SAID_BLOCKS = ("output_text", "refusal")
_RESULT_BLOCKS = ("input_text", "input_image", "input_file")
_OUTPUT_OF = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "local_shell_call": "local_shell_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
    "computer_call": "computer_call_output",
}
_OUTPUTS = tuple(_OUTPUT_OF.values())
_TEXT_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_SERVER_CALLS = (
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_call",
    "mcp_list_tools",
    "mcp_approval_request",
    "tool_search_call",
)
_OTHERS = (
    "agent_message",
    "additional_tools",
    "compaction",
    "compaction_summary",
    "compaction_trigger",
    "context_compaction",
    "item_reference",
    "mcp_approval_response",
    "tool_search_output",
)
_TYPES = ("message", "reasoning", *_OUTPUT_OF, *_OUTPUTS, *_SERVER_CALLS, *_OTHERS)


def findings(messages: list[Any]) -> Iterator[Finding]:
    """Every rule that the items break."""
    if not messages:
        yield Finding("responses/no-items", "input", "there must be an item")
    for index, item in enumerate(messages):
        yield from _item(item, f"input[{index}]")
    items = [(f"input[{index}]", item) for index, item in enumerate(messages) if isinstance(item, dict)]
    yield from _pairs(items)
    yield from _reasoning(items)
    yield from _ids(items)


def _type(item: dict[str, Any]) -> str | None:
    """Messages may leave theirs out. None: it has none that is a string."""
    type = item.get("type")
    if type is None:
        return "message" if "role" in item else None
    return type if isinstance(type, str) else None


def _is_reply(item: dict[str, Any]) -> bool:
    type = _type(item)
    if type == "message":
        return item.get("role") == "assistant"
    return type in ("reasoning", "item_reference") or type in _OUTPUT_OF or type in _SERVER_CALLS


# --- Pairs and order -------------------------------------------------------------------------------


def _pairs(items: list[tuple[str, dict[str, Any]]]) -> Iterator[Finding]:
    """Every call has its result, after it; the calls of the reply that stands last may still wait."""
    waiting: dict[str, tuple[str, str]] = {}
    answered: set[str] = set()
    latest: set[str] = set()
    is_stored = is_reply = False
    for place, item in items:
        type, id = _type(item), item.get("call_id")
        is_stored = is_stored or type == "item_reference"
        goes_on = is_reply if _is_reply(item) else type in _OUTPUTS
        if not goes_on:
            latest = set()
        is_reply = _is_reply(item)
        if not isinstance(id, str):
            continue
        if type in _OUTPUT_OF:
            if id in waiting or id in answered:
                yield Finding("responses/duplicate-call", place, f"the id {named(id)} is another call's")
            waiting[id] = (place, type)
            latest.add(id)
        elif type in _OUTPUTS:
            call = waiting.pop(id, None)
            if call is not None:
                answered.add(id)
                # Codex answers its local shell with a function's output, and the API takes that.
                is_local = (call[1], type) == ("local_shell_call", "function_call_output")
                if type != _OUTPUT_OF[call[1]] and not is_local:
                    yield Finding("responses/result-type", place, f"no result of a {call[1]} is a {type}")
            elif id in answered:
                yield Finding(
                    "responses/duplicate-result", place, f"the call {named(id)} has a result already"
                )
            elif not is_stored:
                yield Finding("responses/orphan-result", place, f"there is no call {named(id)} before it")
    for id, (place, _) in waiting.items():
        if id not in latest:
            yield Finding("responses/unanswered", place, f"the call {named(id)} has no result")


def _reasoning(items: list[tuple[str, dict[str, Any]]]) -> Iterator[Finding]:
    """Reasoning is bound to what the model said after it."""
    alone: list[str] = []
    is_followed = False
    for place, item in reversed(items):
        if _type(item) != "reasoning":
            is_followed = _is_reply(item)
        elif not is_followed:
            alone.append(place)
    for place in reversed(alone):
        yield Finding("responses/reasoning-alone", place, "reasoning needs what the model said after it")


def _ids(items: list[tuple[str, dict[str, Any]]]) -> Iterator[Finding]:
    seen: set[str] = set()
    for place, item in items:
        id = item.get("id")
        if not isinstance(id, str) or _type(item) == "item_reference":
            continue
        if id in seen:
            yield Finding("responses/duplicate-id", place, f"the id {named(id)} is another item's")
        seen.add(id)


# --- Types -----------------------------------------------------------------------------------------


def _item(item: Any, place: str) -> Iterator[Finding]:
    if not isinstance(item, dict):
        yield Finding("responses/item-type", place, f"an item must be an object, not {type_name(item)}")
        return
    type = _type(item)
    if type not in _TYPES:
        yield Finding("responses/item-type", place, f"there is no item of type {named(item.get('type'))}")
    elif type == "message":
        yield from _message(item, place)
    elif type == "reasoning":
        if not isinstance(item.get("summary"), list):
            yield Finding(
                "responses/summary", place, "reasoning needs its summary, an array, if only an empty one"
            )
    elif type in _OUTPUT_OF or type in _OUTPUTS:
        yield from _call_or_result(item, type, place)


def _message(item: dict[str, Any], place: str) -> Iterator[Finding]:
    role, content = item.get("role"), item.get("content")
    if role not in _ROLES:
        yield Finding("responses/role", place, f"there is no role {named(role)}")
    elif isinstance(content, list):
        yield from _blocks(content, _SAID_BLOCKS if role == "assistant" else _SENT_BLOCKS, f"{place}.content")
    elif not isinstance(content, str):
        words = f"content must be a string or an array, not {type_name(content)}"
        yield Finding("responses/content", place, words)


def _blocks(blocks: list[Any], types: tuple[str, ...], place: str) -> Iterator[Finding]:
    for index, block in enumerate(blocks):
        here = f"{place}[{index}]"
        type = block.get("type") if isinstance(block, dict) else None
        if type not in types:
            what = named(type) if isinstance(block, dict) else type_name(block)
            yield Finding("responses/block-type", here, f"no block of type {what} may stand here")
        elif type in ("input_text", "output_text", "refusal"):
            name = "refusal" if type == "refusal" else "text"
            if not isinstance(block.get(name), str):
                yield Finding(
                    "responses/text", here, f"{name} must be a string, not {type_name(block.get(name))}"
                )
        elif type == "input_image" and not _has_string(block, "image_url", "file_id"):
            yield Finding("responses/image", here, "an image needs its image_url or its file_id")


def _call_or_result(item: dict[str, Any], type: str, place: str) -> Iterator[Finding]:
    is_local_shell = type.startswith("local_shell")
    if not (_has_string(item, "call_id") or (is_local_shell and _has_string(item, "id"))):
        yield Finding("responses/call-id", place, f"a {type} needs its call_id, a string")
    if type in ("function_call", "custom_tool_call"):
        if not _has_string(item, "name"):
            yield Finding("responses/name", place, f"a {type} needs the name of a tool")
        name = "arguments" if type == "function_call" else "input"
        if not isinstance(item.get(name), str):
            words = f"{name} must be a string, not {type_name(item.get(name))}"
            yield Finding("responses/arguments", place, words)
    elif type in _TEXT_OUTPUTS:
        output = item.get("output")
        if isinstance(output, list):
            yield from _blocks(output, _RESULT_BLOCKS, f"{place}.output")
        elif not isinstance(output, str):
            words = f"output must be a string or an array, not {type_name(output)}"
            yield Finding("responses/output", place, words)


def _has_string(item: dict[str, Any], *names: str) -> bool:
    return any(isinstance(item.get(name), str) and item[name] for name in names)
