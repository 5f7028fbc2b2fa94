"""The rules of Anthropic Messages. docs/validity.md lists them, with where each comes from.

Neighbours of one role are one message for the API, so pairs are looked for after such have been merged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from castore.transcript.validate.finding import Finding, is_blank, named, type_name

__all__ = ["findings"]

_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_NAME_MAX = 200
# Tuples, not sets: what is looked for in them may be of any type.
_IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_THINKING = ("thinking", "redacted_thinking")
_SERVER_USES = ("server_tool_use", "mcp_tool_use")
_ANYWHERE = ("text", "compaction")
_OF_USER = ("image", "document", "search_result", "tool_result", "container_upload")
_OF_ASSISTANT = ("tool_use", *_SERVER_USES, *_THINKING)
_IN_RESULT = ("text", "image", "document", "search_result", "tool_reference")


@dataclass(slots=True)
class _Merged:
    """Neighbouring messages of one role, as the API reads them: one."""

    role: str
    place: str
    blocks: list[tuple[str, dict[str, Any]]] = field(default_factory=list)


def findings(messages: list[Any]) -> Iterator[Finding]:
    """Every rule that `messages` breaks."""
    if not messages:
        yield Finding("anthropic/no-messages", "messages", "there must be a message")
    merged: list[_Merged] = []
    for index, message in enumerate(messages):
        place = f"messages[{index}]"
        role = message.get("role") if isinstance(message, dict) else None
        if role not in ("user", "assistant"):
            what = named(role) if isinstance(message, dict) else type_name(message)
            yield Finding("anthropic/role", place, f"a message is of 'user' or 'assistant', not {what}")
            continue
        if not merged or merged[-1].role != role:
            merged.append(_Merged(role, place))
        yield from _content(message.get("content"), place, merged[-1], is_last=index == len(messages) - 1)
    if merged and merged[0].role != "user":
        yield Finding("anthropic/first-user", merged[0].place, "the first message must be the user's")
    yield from _ids(merged)
    for index, each in enumerate(merged):
        is_last = index == len(merged) - 1
        if each.role == "assistant":
            following = None if is_last else merged[index + 1]
            yield from _answers(each, following)
            yield from _server_tools(each, is_last=is_last)
            yield from _thinking(each, is_latest=index >= len(merged) - 2)
        else:
            yield from _results_first(each)
            if index == 0:
                yield from _orphans(each, set())


# --- One message, one block ------------------------------------------------------------------------


def _content(content: Any, place: str, into: _Merged, *, is_last: bool) -> Iterator[Finding]:
    """The content's own rules; its blocks go into the merged message."""
    place = f"{place}.content"
    may_be_empty = is_last and into.role == "assistant"
    if isinstance(content, str):
        if content.strip():
            into.blocks.append((place, {"type": "text", "text": content}))
        elif not may_be_empty:
            yield Finding("anthropic/empty-content", place, "the content is blank")
        return
    if not isinstance(content, list):
        words = f"the content must be a string or an array, not {type_name(content)}"
        yield Finding("anthropic/content", place, words)
        return
    if not content and not may_be_empty:
        yield Finding("anthropic/empty-content", place, "the content is empty")
    for index, block in enumerate(content):
        here = f"{place}[{index}]"
        if not isinstance(block, dict):
            yield Finding("anthropic/block-type", here, f"a block must be an object, not {type_name(block)}")
            continue
        into.blocks.append((here, block))
        yield from _block(block, here, into.role)


def _block(block: dict[str, Any], place: str, role: str) -> Iterator[Finding]:
    kind = block.get("type")
    of_role, of_other = (_OF_USER, _OF_ASSISTANT) if role == "user" else (_OF_ASSISTANT, _OF_USER)
    if not isinstance(kind, str):
        yield Finding("anthropic/block-type", place, f"a block's type must be a string, not {named(kind)}")
    elif kind in of_other or (role == "user" and _is_server_result(kind)):
        yield Finding("anthropic/block-place", place, f"{named(kind)} can't stand in a message of '{role}'")
    elif kind not in _ANYWHERE and kind not in of_role and not _is_server_result(kind):
        yield Finding("anthropic/block-type", place, f"there is no block type {named(kind)}")
    elif kind == "text":
        yield from _text(block, place)
    elif kind == "image":
        yield from _image(block, place)
    elif kind == "tool_use":
        yield from _tool_use(block, place)
    elif kind == "tool_result":
        yield from _tool_result(block, place)
    elif kind in _THINKING:
        yield from _signature(block, place)


def _text(block: dict[str, Any], place: str) -> Iterator[Finding]:
    text = block.get("text")
    if not isinstance(text, str):
        yield Finding("anthropic/text", place, f"the text must be a string, not {type_name(text)}")
    elif is_blank(text):
        yield Finding("anthropic/empty-text", place, "the text is blank")


def _image(block: dict[str, Any], place: str) -> Iterator[Finding]:
    source = block.get("source")
    kind = source.get("type") if isinstance(source, dict) else None
    if not isinstance(source, dict) or kind not in ("base64", "url", "file"):
        yield Finding("anthropic/image", place, "an image's source must be 'base64', 'url' or 'file'")
    elif kind == "base64" and source.get("media_type") not in _IMAGE_TYPES:
        words = f"an image must be png, jpeg, gif or webp, not {named(source.get('media_type'))}"
        yield Finding("anthropic/image", place, words)
    elif kind == "base64" and not (isinstance(source.get("data"), str) and source["data"]):
        yield Finding("anthropic/image", place, "an image's data must be a base64 string")


def _tool_use(block: dict[str, Any], place: str) -> Iterator[Finding]:
    name, arguments = block.get("name"), block.get("input")
    if not (isinstance(name, str) and 0 < len(name) <= _NAME_MAX):
        yield Finding("anthropic/name", place, f"a call needs the name of a tool, not {named(name)}")
    if not isinstance(arguments, dict):
        yield Finding("anthropic/input", place, f"the input must be an object, not {type_name(arguments)}")
    if not (isinstance(block.get("id"), str) and _ID.fullmatch(block["id"])):
        words = f"a call's id is 1 to 64 letters, digits, '_' and '-', not {named(block.get('id'))}"
        yield Finding("anthropic/id", place, words)


def _tool_result(block: dict[str, Any], place: str) -> Iterator[Finding]:
    content, flag = block.get("content"), block.get("is_error")
    if not isinstance(block.get("tool_use_id"), str):
        yield Finding("anthropic/id", place, "a result needs the id of its call")
    if flag is not None and not isinstance(flag, bool):
        yield Finding("anthropic/is-error", place, f"is_error must be a boolean, not {type_name(flag)}")
    if content is not None and not isinstance(content, str | list):
        words = f"a result's content must be a string or an array, not {type_name(content)}"
        yield Finding("anthropic/result-content", place, words)
        return
    if flag is True and not content:
        yield Finding("anthropic/error-content", place, "an error's content must not be empty")
    for index, inner in enumerate(content if isinstance(content, list) else ()):
        here = f"{place}.content[{index}]"
        kind = inner.get("type") if isinstance(inner, dict) else None
        if kind not in _IN_RESULT:
            yield Finding("anthropic/result-content", here, f"{named(kind)} can't stand in a result")
        elif flag is True and kind != "text":
            yield Finding("anthropic/error-content", here, f"an error holds text alone, not {named(kind)}")
        elif kind == "text" and not isinstance(inner.get("text"), str):
            yield Finding("anthropic/text", here, "the text must be a string")
        elif kind == "image":
            yield from _image(inner, here)


def _signature(block: dict[str, Any], place: str) -> Iterator[Finding]:
    if block["type"] == "redacted_thinking":
        if not isinstance(block.get("data"), str):
            yield Finding("anthropic/signature", place, "redacted thinking needs its data")
    elif not (isinstance(block.get("signature"), str) and block["signature"]):
        words = "thinking without a signature can only be sent as text, or left out"
        yield Finding("anthropic/signature", place, words)
    elif not isinstance(block.get("thinking"), str):
        yield Finding("anthropic/text", place, "the thinking must be a string")


# --- Pairs and order -------------------------------------------------------------------------------


def _ids(merged: list[_Merged]) -> Iterator[Finding]:
    seen: set[str] = set()
    for each in merged:
        for place, block in each.blocks:
            id = block.get("id")
            if block.get("type") == "tool_use" and isinstance(id, str):
                if id in seen:
                    yield Finding("anthropic/duplicate-id", place, f"the id {named(id)} is a call's before")
                seen.add(id)


def _answers(reply: _Merged, following: _Merged | None) -> Iterator[Finding]:
    """Every call has its result in the next message, and that has no result of another call."""
    calls = {
        block["id"]: place
        for place, block in reply.blocks
        if block.get("type") == "tool_use" and isinstance(block.get("id"), str)
    }
    if following is not None:
        yield from _orphans(following, set(calls))
    answered = {id for _, block in _results(following) if isinstance(id := block.get("tool_use_id"), str)}
    for id, place in calls.items():
        if id not in answered:
            words = f"the call {named(id)} has no result in the next message"
            yield Finding("anthropic/unanswered", place, words)


def _orphans(message: _Merged, calls: set[str]) -> Iterator[Finding]:
    seen: set[str] = set()
    for place, block in _results(message):
        id = block.get("tool_use_id")
        if not isinstance(id, str):
            continue
        if id not in calls:
            words = f"there is no call {named(id)} in the message before"
            yield Finding("anthropic/orphan-result", place, words)
        elif id in seen:
            yield Finding("anthropic/duplicate-result", place, f"the call {named(id)} has a result already")
        seen.add(id)


def _results_first(message: _Merged) -> Iterator[Finding]:
    other: str | None = None
    for place, block in message.blocks:
        if block.get("type") != "tool_result":
            other = other or named(block.get("type"))
        elif other is not None:
            words = f"results come first in a message; {other} stands before this one"
            yield Finding("anthropic/results-first", place, words)
            return


def _results(message: _Merged | None) -> list[tuple[str, dict[str, Any]]]:
    blocks = message.blocks if message is not None else []
    return [(place, block) for place, block in blocks if block.get("type") == "tool_result"]


def _server_tools(reply: _Merged, *, is_last: bool) -> Iterator[Finding]:
    """What the API itself ran is paired inside one message; a reply that paused may wait as the last."""
    waiting: dict[str, str] = {}
    for place, block in reply.blocks:
        kind = block.get("type")
        if kind in _SERVER_USES and isinstance(block.get("id"), str):
            waiting[block["id"]] = place
        elif isinstance(kind, str) and _is_server_result(kind):
            id = block.get("tool_use_id")
            if not isinstance(id, str) or waiting.pop(id, None) is None:
                words = f"there is no call {named(id)} before this result in its message"
                yield Finding("anthropic/server-tool", place, words)
    for id, place in waiting.items():
        if not is_last:
            yield Finding(
                "anthropic/server-tool", place, f"the call {named(id)} has no result in its message"
            )


def _thinking(reply: _Merged, *, is_latest: bool) -> Iterator[Finding]:
    """A reply never ends with thinking; the latest one, if it has any, begins with it."""
    kinds = [block.get("type") for _, block in reply.blocks]
    if kinds and kinds[-1] in _THINKING:
        yield Finding("anthropic/thinking-last", reply.blocks[-1][0], "a reply can't end with thinking")
    if is_latest and any(kind in _THINKING for kind in kinds) and kinds[0] not in _THINKING:
        words = f"a reply with thinking begins with it, not with {named(kinds[0])}"
        yield Finding("anthropic/thinking-first", reply.blocks[0][0], words)


def _is_server_result(kind: str) -> bool:
    return kind.endswith("_tool_result")
