"""The rules of Gemini's `contents`. docs/validity.md lists them, with where each comes from.

A signature's presence is asked for by some models alone, and the contents do not say which model they go to:
where one step of the current turn has a signature, the others must have theirs.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

from castore.transcript.validate.finding import Finding, named, type_name

__all__ = ["findings"]

_OBJECTS = {"functionCall": "args", "functionResponse": "response"}
_DATA = (
    "text",
    "functionCall",
    "functionResponse",
    "inlineData",
    "fileData",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
)
"""A part holds exactly one of these; beside it may stand `thought`, `thoughtSignature` and the like."""


def findings(messages: list[Any]) -> Iterator[Finding]:
    """Every rule that `messages` (the `contents`) breaks."""
    if not messages:
        yield Finding("gemini/no-messages", "contents", "there must be a content")
    kept: list[tuple[str, str, list[tuple[str, dict[str, Any]]]]] = []
    for index, content in enumerate(messages):
        place = f"contents[{index}]"
        role = content.get("role", "user") if isinstance(content, dict) else None
        if role not in ("user", "model"):
            what = named(role) if isinstance(content, dict) else type_name(content)
            yield Finding("gemini/role", place, f"a content is of 'user' or 'model', not {what}")
            continue
        parts: list[tuple[str, dict[str, Any]]] = []
        yield from _parts(content.get("parts"), role, place, parts)
        kept.append((role, place, parts))
    if kept and kept[0][0] != "user":
        yield Finding("gemini/first-user", kept[0][1], "the first content must be the user's")
    yield from _pairs(kept)
    yield from _signatures(kept)


# --- One part --------------------------------------------------------------------------------------


def _parts(parts: Any, role: str, place: str, into: list[tuple[str, dict[str, Any]]]) -> Iterator[Finding]:
    if not isinstance(parts, list) or not parts:
        yield Finding("gemini/parts", place, "the parts must be an array that is not empty")
        return
    for index, part in enumerate(parts):
        here = f"{place}.parts[{index}]"
        if not isinstance(part, dict):
            yield Finding("gemini/part-type", here, f"a part must be an object, not {type_name(part)}")
            continue
        into.append((here, part))
        yield from _part(part, role, here)


def _part(part: dict[str, Any], role: str, place: str) -> Iterator[Finding]:
    held = [name for name in _DATA if name in part]
    if len(held) != 1 and not (not held and "thoughtSignature" in part):
        words = f"a part holds exactly one kind of data, not {' and '.join(held) or 'none'}"
        yield Finding("gemini/part-type", place, words)
    for name in held:
        if name == "text":
            if not isinstance(part[name], str):
                yield Finding("gemini/part-type", place, "the text must be a string")
        elif name in _OBJECTS:
            yield from _call_or_response(part[name], name, role, place)
        elif not isinstance(part[name], dict):
            yield Finding("gemini/part-type", place, f"{name} must be an object")
    signature = part.get("thoughtSignature")
    if signature is not None and not _is_base64(signature):
        yield Finding("gemini/signature", place, "thoughtSignature must be base64")


def _call_or_response(value: Any, name: str, role: str, place: str) -> Iterator[Finding]:
    member = _OBJECTS[name]
    if not isinstance(value, dict):
        yield Finding("gemini/part-type", place, f"{name} must be an object, not {type_name(value)}")
        return
    if (role == "model") != (name == "functionCall"):
        yield Finding("gemini/part-place", place, f"{name} can't stand in a content of '{role}'")
    if not (isinstance(value.get("name"), str) and value["name"]):
        yield Finding("gemini/name", place, f"{name} needs the name of a tool")
    if member in value and not isinstance(value[member], dict):
        words = f"{member} must be an object, not {type_name(value[member])}"
        yield Finding(f"gemini/{member}", place, words)


def _is_base64(text: Any) -> bool:
    """Google's own bytes are of the standard alphabet or of the one for addresses; the API takes both."""
    if not isinstance(text, str):
        return False
    try:
        b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


# --- Pairs and order -------------------------------------------------------------------------------

Content = tuple[str, str, list[tuple[str, dict[str, Any]]]]


def _pairs(contents: list[Content]) -> Iterator[Finding]:
    """Calls come right after the user, and their results right after them, as many."""
    for index, (_, place, parts) in enumerate(contents):
        calls, responses = _named(parts, "functionCall"), _named(parts, "functionResponse")
        before = contents[index - 1] if index else None
        after = contents[index + 1] if index + 1 < len(contents) else None
        if calls and before is not None and before[0] != "user":
            yield Finding("gemini/call-after-user", place, "calls must come right after a content of 'user'")
        answers = _named(after[2], "functionResponse") if after is not None else []
        if calls and len(answers) < len(calls):
            words = f"{len(calls)} calls have {len(answers)} results in the next content"
            yield Finding("gemini/unanswered", place, words)
        if responses:
            yield from _orphans(_named(before[2], "functionCall") if before else [], responses)


def _orphans(
    calls: list[tuple[str, dict[str, Any]]], responses: list[tuple[str, dict[str, Any]]]
) -> Iterator[Finding]:
    """Results beyond the calls right before, or of an id or a name that none of them has."""
    for place, _ in responses[len(calls) :]:
        words = f"there are {len(calls)} calls in the content before, and more results"
        yield Finding("gemini/orphan-result", place, words)
    for member in ("id", "name"):
        asked = {each for _, call in calls if isinstance(each := call.get(member), str)}
        if any(not isinstance(call.get(member), str) for _, call in calls):
            continue
        for place, response in responses[: len(calls)]:
            given = response.get(member)
            if isinstance(given, str) and given not in asked:
                words = f"there is no call of the {member} {named(given)} in the content before"
                yield Finding("gemini/orphan-result", place, words)


def _named(parts: list[tuple[str, dict[str, Any]]], name: str) -> list[tuple[str, dict[str, Any]]]:
    return [(place, part[name]) for place, part in parts if isinstance(part.get(name), dict)]


def _signatures(contents: list[Content]) -> Iterator[Finding]:
    """In the current turn, which began with the latest content that is no result, a step's first call is
    signed if that of another step is."""
    begin = 0
    for index, (role, _, parts) in enumerate(contents):
        if role == "user" and not _named(parts, "functionResponse"):
            begin = index
    firsts = [
        next(((place, part) for place, part in parts if "functionCall" in part), None)
        for role, _, parts in contents[begin:]
        if role == "model"
    ]
    steps = [each for each in firsts if each is not None]
    if any("thoughtSignature" in part for _, part in steps):
        for place, part in steps:
            if "thoughtSignature" not in part:
                words = "the first call of a step has no thoughtSignature, though another step's has"
                yield Finding("gemini/signature-missing", place, words)
