"""The rules of OpenAI Chat Completions. docs/validity.md lists them, with where each comes from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from castore.transcript.validate.finding import Finding, named, type_name

__all__ = ["findings"]

# Tuples, not sets: what is looked for in them may be of any type.
_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_TEXT_ALONE = ("text",)
_PARTS = {"user": ("text", "image_url", "input_audio", "file"), "assistant": ("text", "refusal")}
_INSTEAD_OF_CONTENT = ("tool_calls", "function_call", "refusal", "audio")


def findings(messages: list[Any]) -> Iterator[Finding]:
    """Every rule that `messages` breaks."""
    if not messages:
        yield Finding("chat/no-messages", "messages", "there must be a message")
    waiting: dict[str, str] = {}
    answered: set[str] = set()
    for index, message in enumerate(messages):
        place = f"messages[{index}]"
        role = message.get("role") if isinstance(message, dict) else None
        if not isinstance(role, str) or role not in _ROLES:
            what = named(role) if isinstance(message, dict) else type_name(message)
            yield Finding("chat/role", place, f"there is no role {what}")
            continue
        if role == "tool":
            yield from _answer(message, place, waiting, answered)
        else:
            yield from _unanswered(waiting, place)
            waiting, answered = {}, set()
        yield from _content(message, role, place)
        if role == "assistant" and message.get("tool_calls") is not None:
            yield from _calls(message["tool_calls"], f"{place}.tool_calls", waiting)
    yield from _unanswered(waiting, None)


# --- Pairs and order -------------------------------------------------------------------------------


def _answer(
    message: dict[str, Any], place: str, waiting: dict[str, str], answered: set[str]
) -> Iterator[Finding]:
    """A tool message answers a call of the reply right before it and its fellows."""
    id = message.get("tool_call_id")
    if not isinstance(id, str):
        yield Finding("chat/id", place, f"a tool message needs the id of its call, not {named(id)}")
    elif id in waiting:
        del waiting[id]
        answered.add(id)
    elif id in answered:
        yield Finding("chat/duplicate-result", place, f"the call {named(id)} has a result already")
    else:
        words = f"there is no call {named(id)} in the reply right before"
        yield Finding("chat/orphan-result", place, words)


def _unanswered(waiting: dict[str, str], before: str | None) -> Iterator[Finding]:
    for id, place in waiting.items():
        where = f" before {before}" if before is not None else ""
        yield Finding("chat/unanswered", place, f"the call {named(id)} has no tool message{where}")


def _calls(calls: Any, place: str, waiting: dict[str, str]) -> Iterator[Finding]:
    if not isinstance(calls, list) or not calls:
        yield Finding("chat/tool-calls", place, "tool_calls must be an array that is not empty")
        return
    for index, call in enumerate(calls):
        here = f"{place}[{index}]"
        if not isinstance(call, dict):
            yield Finding("chat/tool-calls", here, f"a call must be an object, not {type_name(call)}")
            continue
        id = call.get("id")
        if not (isinstance(id, str) and id):
            yield Finding("chat/id", here, f"a call needs an id, not {named(id)}")
        elif id in waiting:
            yield Finding("chat/duplicate-id", here, f"the id {named(id)} is another call's of this reply")
        else:
            waiting[id] = here
        yield from _arguments(call, here)


def _arguments(call: dict[str, Any], place: str) -> Iterator[Finding]:
    """What is called, and its arguments: a string, whether JSON or not."""
    kind = call.get("type", "function")
    if kind not in ("function", "custom"):
        yield Finding("chat/tool-calls", place, f"there is no type of call {named(kind)}")
        return
    inner = call.get(kind)
    name = inner.get("name") if isinstance(inner, dict) else None
    if not (isinstance(name, str) and name):
        yield Finding("chat/name", place, f"a call needs the name of a tool, not {named(name)}")
    member = "arguments" if kind == "function" else "input"
    arguments = inner.get(member) if isinstance(inner, dict) else None
    if not isinstance(arguments, str):
        words = f"{member} must be a string, not {type_name(arguments)}"
        yield Finding("chat/arguments", place, words)


# --- Content ---------------------------------------------------------------------------------------


def _content(message: dict[str, Any], role: str, place: str) -> Iterator[Finding]:
    content = message.get("content")
    place = f"{place}.content"
    if content is None:
        has_other = role == "assistant" and any(message.get(each) for each in _INSTEAD_OF_CONTENT)
        if not has_other and role != "function":
            yield Finding("chat/content", place, f"a message of '{role}' needs content")
        return
    if isinstance(content, str):
        return
    if not isinstance(content, list) or not content:
        words = "the content must be a string, or an array of parts that is not empty"
        yield Finding("chat/content", place, words)
        return
    for index, part in enumerate(content):
        yield from _part(part, role, f"{place}[{index}]")


def _part(part: Any, role: str, place: str) -> Iterator[Finding]:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind not in _PARTS.get(role, _TEXT_ALONE):
        what = named(kind) if isinstance(part, dict) else type_name(part)
        rule = "chat/tool-content" if role == "tool" else "chat/part-type"
        yield Finding(rule, place, f"{what} can't stand in a message of '{role}'")
    elif kind in ("text", "refusal") and not isinstance(part.get(kind), str):
        yield Finding("chat/part-type", place, f"a part of type '{kind}' needs its string")
    elif kind == "image_url" and not _has_url(part.get("image_url")):
        yield Finding("chat/part-type", place, "an image needs its url")


def _has_url(image: Any) -> bool:
    return isinstance(image, dict) and isinstance(image.get("url"), str) and bool(image["url"])
