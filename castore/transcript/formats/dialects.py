"""Whose messages are these? Told from the names and types in them, never from what they say.

Law: signs that contradict each other, and shapes of other tools that happen to have a `role`, are nobody's:
no format of bodies recognizes them. A view is told as its source is: what tells it never leaves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from castore.transcript.records import Record, Records
from castore.transcript.values import Value

__all__ = [
    "STAND_IN_NAME",
    "Dialect",
    "body_of",
    "dialect_of_body",
    "dialect_of_list",
    "is_chat_anyway",
    "is_thin",
    "is_told_by_body",
]

STAND_IN_NAME = "castore"
"""The name of a user's message in Chat that stands for others. Anthropic's has a text block with citations
that are null: what they were told by may have left with them."""


class Dialect(StrEnum):
    """Whose messages. PLAIN: role and text alone, which all read alike."""

    ANTHROPIC = "anthropic"
    CHAT = "chat"
    GEMINI = "gemini"
    PLAIN = "plain"


_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function", "model"})
_ANTHROPIC_PAIRS = frozenset(
    {"mcp_tool_result", "mcp_tool_use", "server_tool_use", "tool_result", "tool_use"}
    | {f"{tool}_tool_result" for tool in ("web_search", "web_fetch", "code_execution")}
)
_ANTHROPIC_BLOCKS = frozenset({"container_upload", "redacted_thinking", "search_result", "thinking"})
_CHAT_BLOCKS = frozenset({"file", "image_url", "input_audio", "refusal", "video_url"})
_OTHER_BLOCKS = frozenset(
    {"input_file", "input_image", "input_text", "output_text", "tool-call", "tool-result", "toolCall"}
)
"""Of Responses items, of the AI SDK's messages and of Pi's: shapes of their own."""
_CLAUDE = re.compile(r"^(?:[a-z]{2,6}\.)?(?:anthropic\.)?claude")
"""How Anthropic and those who host its API name its models; with a vendor in front (`anthropic/…`) it
is Chat."""
_BODY_MEMBERS = frozenset(
    {
        "anthropic_beta",
        "anthropic_version",
        "frequency_penalty",
        "logit_bias",
        "logprobs",
        "max_completion_tokens",
        "max_tokens",
        "messages",
        "metadata",
        "model",
        "n",
        "parallel_tool_calls",
        "presence_penalty",
        "reasoning_effort",
        "response_format",
        "seed",
        "service_tier",
        "stop",
        "stop_sequences",
        "store",
        "stream",
        "stream_options",
        "system",
        "temperature",
        "thinking",
        "tool_choice",
        "tools",
        "top_k",
        "top_p",
        "user",
    }
)


@dataclass(slots=True)
class _Signs:
    """What was seen. firm: what stays in every view; thin: blocks that a text block may stand in for."""

    firm_anthropic: bool = False
    firm_chat: bool = False
    thin_anthropic: bool = False
    thin_chat: bool = False
    chat_roles: bool = False
    parts: bool = False
    is_other: bool = False
    is_claude: bool = False

    def dialect(self, *, with_thin: bool = True) -> Dialect | None:
        if self.is_other or self.firm_anthropic + self.firm_chat + self.parts > 1:
            return None
        if self.parts:
            return Dialect.GEMINI
        if self.firm_anthropic:
            return Dialect.ANTHROPIC
        if self.firm_chat:
            return Dialect.CHAT
        if with_thin and self.thin_anthropic:
            return None if self.thin_chat else Dialect.ANTHROPIC
        if self.chat_roles or (with_thin and self.thin_chat):
            return Dialect.CHAT
        return Dialect.ANTHROPIC if self.is_claude else Dialect.PLAIN

    @property
    def is_thin(self) -> bool:
        """Whether it would be told as somebody else's without the blocks that may leave."""
        plain = {Dialect.PLAIN: Dialect.CHAT}
        told, left = self.dialect(), self.dialect(with_thin=False)
        return told is not None and plain.get(told, told) != plain.get(left or told, left)


def body_of(record: Record) -> Value | None:
    """The record's value if it can be a request body with `messages`, whoever's."""
    value = record.value
    if value is None or not value.is_object or value.get("type") is not None:
        return None
    messages = value.get("messages")
    if messages is None or not messages.is_array:
        return None
    if value.text("model") is None and not value.members.keys() <= _BODY_MEMBERS:
        return None
    items = messages.items()
    # What is not right in a message is said with its line by who reads it; the first must look like one.
    return value if not items or items[0].get("role") is not None else None


def dialect_of_body(body: Value) -> Dialect | None:
    """Whose body; None if it contradicts itself or is another tool's."""
    return _signs_of(body).dialect()


def is_thin(body: Value) -> bool:
    """Whether it is told by nothing but blocks that may leave: the first of them has to stay then."""
    return _signs_of(body).is_thin


def is_told_by_body(body: Value) -> bool:
    """Whether what stands beside the messages says firmly whose they are."""
    signs = _signs_beside(body)
    return signs.firm_anthropic or signs.firm_chat


def is_chat_anyway(records: Records) -> bool:
    """Whether a body or an array of Chat messages is told as that whichever of them leave."""
    return records.once("is chat anyway", _is_chat_anyway)


def _is_chat_anyway(records: Records) -> bool:
    value = records.records[0].value
    if value is None:
        return False
    signs = _Signs() if value.is_array else _signs_beside(value)
    if signs.firm_chat:
        return True
    _survey(value.items() if value.is_array else _items(value, "messages"), signs, is_whole=True)
    return not (
        signs.is_other or signs.is_claude or signs.parts or signs.firm_anthropic or signs.thin_anthropic
    )


def _signs_of(body: Value) -> _Signs:
    signs = _signs_beside(body)
    if not (signs.firm_anthropic or signs.firm_chat):
        _survey(_items(body, "messages"), signs)
    # Gemini's contents have another name.
    signs.is_other = signs.is_other or signs.parts
    return signs


def _signs_beside(body: Value) -> _Signs:
    """Those that stand beside the messages."""
    signs = _Signs()
    signs.is_claude = _CLAUDE.search(body.text("model") or "") is not None
    if body.get("system") is not None or body.get("anthropic_version") is not None:
        signs.firm_anthropic = True
    for tool in _items(body, "tools"):
        if tool.get("input_schema") is not None:
            signs.firm_anthropic = True
        elif tool.text("type") == "function":
            signs.firm_chat = True
    return signs


def dialect_of_list(record: Record) -> Dialect | None:
    """Whose messages, if the record is an array of messages; else None."""
    value = record.value
    if value is None or not value.is_array:
        return None
    messages = value.items()
    if not messages or messages[0].text("role") not in _ROLES:
        return None
    first = messages[0].members
    if not first.keys() & {"content", "parts", "tool_calls"}:
        return None
    signs = _Signs()
    _survey(messages, signs)
    return signs.dialect()


def _has_other_shape(message: Value) -> bool:
    """Whether a message has the members of a tool's own shape, though its role is one of the API's."""
    for call in _items(message, "tool_calls"):
        members = call.members
        function = members.get("function") or members.get("custom")
        if function is None or not function.is_object:
            return True
    return False


def _survey(messages: Iterable[Value], signs: _Signs, *, is_whole: bool = False) -> None:
    """Looks up to the first message that says it firmly (is_whole: at all of them); what contradicts it later
    its reader refuses."""
    for message in messages:
        role = message.text("role")
        if (role is not None and role not in _ROLES) or message.get("type") is not None:
            # An item of the Responses API has a type; a message of the others has none.
            signs.is_other = True
        elif role in ("tool", "function"):
            signs.firm_chat = True
        elif role in ("system", "developer"):
            signs.chat_roles = True
        elif role == "user":
            _look_for_stand_in(message, signs)
        for name in ("tool_calls", "function_call"):
            value = message.get(name)
            if value is not None and not value.is_null:
                signs.firm_chat = True
                signs.is_other = signs.is_other or _has_other_shape(message)
        if message.get("parts") is not None and message.get("content") is None:
            signs.parts = True
        for block in _items(message, "content"):
            _look_at(block, signs)
        is_told = signs.is_other or signs.firm_anthropic or signs.firm_chat or signs.parts
        if is_told and not is_whole:
            break


def _look_for_stand_in(message: Value, signs: _Signs) -> None:
    """What stands in for messages that left says whose they were."""
    if message.text("name") == STAND_IN_NAME:
        signs.firm_chat = True
    blocks = _items(message, "content")
    if len(blocks) == 1 and blocks[0].text("type") == "text":
        citations = blocks[0].get("citations")
        signs.firm_anthropic = signs.firm_anthropic or (citations is not None and citations.is_null)


def _look_at(block: Value, signs: _Signs) -> None:
    type = block.text("type")
    if type in _ANTHROPIC_PAIRS:
        signs.firm_anthropic = True
    elif type in _ANTHROPIC_BLOCKS or (type in ("image", "document") and block.get("source") is not None):
        signs.thin_anthropic = True
    elif type in _CHAT_BLOCKS:
        signs.thin_chat = True
    elif type in _OTHER_BLOCKS:
        signs.is_other = True


def _items(message: Value, name: str) -> list[Value]:
    value = message.get(name)
    return value.items() if value is not None else []
