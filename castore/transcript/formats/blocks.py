"""What the formats of API bodies share: a body while it is read, and what tells whose messages these are.

Law: `survey` looks at names and types alone. Signs that contradict each other, and shapes of other tools
that happen to have a `role`, are nobody's: no format of bodies recognizes them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from castore.errors import InvalidOption, SessionInvalid
from castore.transcript.builder import Builder
from castore.transcript.formats import ReadOptions, session_error
from castore.transcript.formats.pairs import Pairs
from castore.transcript.formats.tools import READ_TOOLS, WRITE_TOOLS, tell_files
from castore.transcript.model import Api, Form, Role, TextBlock, Transcript
from castore.transcript.records import Record, Records
from castore.transcript.values import Source, Value

__all__ = ["Dialect", "Reading", "body_of", "dialect_of_body", "dialect_of_list", "has_other_shape", "quoted"]


class Dialect(StrEnum):
    """Whose messages. PLAIN: role and text alone, which all read alike."""

    ANTHROPIC = "anthropic"
    CHAT = "chat"
    GEMINI = "gemini"
    PLAIN = "plain"


class Reading:
    """A body while it is read: what its reader tells, its pairs, and its lines."""

    def __init__(
        self,
        format: str,
        api: Api,
        records: Records,
        options: ReadOptions,
        *,
        text_block: TextBlock | None = None,
    ) -> None:
        """Raises InvalidOption: a body has neither branches nor sidechains."""
        for name in ("leaf", "sidechain"):
            if getattr(options, name) is not None:
                raise InvalidOption(f"a session of the format '{format}' has no --{name}")
        self.records = records
        self.builder = Builder(format, api, records, text_block=text_block)
        self.pairs = Pairs(self.builder)
        self._counted = (0, 1)

    @property
    def body(self) -> Value:
        """The one value of the session."""
        value = self.records.records[0].value
        assert value is not None, "what is not JSON is refused before a body is read"
        return value

    def list_of(self, name: str) -> list[Value]:
        """The items of a member of the body that must be a list. Raises SessionInvalid."""
        member = self.body.get(name)
        if member is None or not member.is_array:
            what = "there is none" if member is None else f"it is {quoted(member)}"
            raise self.refused(f"a body of this format has a list '{name}', and {what}", member or self.body)
        return member.items()

    def finish(self) -> Transcript:
        self.pairs.finish()
        return self.builder.build()

    def line(self, value: Value) -> int:
        """The line that a value begins on. Cheap if asked in order of the source."""
        offset, line = self._counted
        if value.start < offset:
            return self.records.line_of(value.start)
        line += self.records.data.count(b"\n", offset, value.start)
        self._counted = (value.start, line)
        return line

    def refused(self, message: str, value: Value) -> SessionInvalid:
        """The error for a value of the wrong type where the meaning hangs on it."""
        return session_error(message, self.line(value))

    def odd(self, value: Value, code: str, words: str) -> None:
        self.builder.odd(self.line(value), code, words)

    def string(self, value: Value, name: str, *, of: str) -> str | None:
        """A member that must be a string or absent (null counts as absent). Raises SessionInvalid."""
        member = value.get(name)
        if member is None or member.is_null:
            return None
        if not member.is_string:
            raise self.refused(f"{of} {name} must be a string, not {quoted(member)}", member)
        return member.text()

    def role(self, message: Value, roles: dict[str, Role]) -> Role:
        """What the message's `role` says. Raises SessionInvalid."""
        if not message.is_object:
            raise self.refused(f"a message must be an object, not {quoted(message)}", message)
        role = self.string(message, "role", of="a message's")
        if role is None:
            raise self.refused("a message has no role", message)
        if role not in roles:
            known = ", ".join(roles)
            raise self.refused(f"a message's role must be one of {known}, not '{role}'", message)
        return roles[role]

    def system(self, value: Value, first: Value | None) -> None:
        """A system prompt beside the messages goes before them, wherever it stands in the file."""
        is_behind = first is not None and first.start < value.start
        self.builder.message(Role.SYSTEM, self.records.records[0] if is_behind else value)

    def sent(
        self,
        message: Value,
        role: Role,
        blocks: list[Value],
        *,
        is_result: Callable[[Value], bool],
        is_last: bool,
        tell: Callable[[int, Value], None],
    ) -> None:
        """A message to the model: its results, and what else stands with them, are told as two messages.

        So a prompt that came with the results of calls begins a turn, as any prompt does. In the last message
        they are one: an API that wants the thinking before the results of an unfinished loop back wants it
        whatever text goes along with them.
        """
        is_own = [is_result(block) for block in blocks]
        told: Role | None = None
        for at, block in enumerate(blocks):
            wanted = Role.RESULT if is_own[at] or (is_last and any(is_own)) else role
            if wanted is not told:
                self._sent(block if at else message, wanted)
                told = wanted
            tell(at, block)
        if told is None:
            self._sent(message, role)

    def _sent(self, at: Value, role: Role) -> None:
        is_prompt = role is Role.USER
        self.builder.message(role, at, is_prompt=is_prompt)
        if is_prompt:
            self.pairs.prompt()

    def files(self, id: str, tool: str | None, arguments: Value | bytes, at: Value) -> None:
        """What files a call reads or writes. arguments: an object, or the text of one."""
        if tool is None or tool.lower() not in READ_TOOLS | WRITE_TOOLS:
            return
        if isinstance(arguments, bytes):
            start = len(arguments) - len(arguments.lstrip())
            arguments = Value(Source(arguments, {}), start, len(arguments.rstrip()))
        tell_files(self.builder, id, tool, arguments, at=at)

    def json_text(self, literal: Value) -> tuple[Form, bytes | None]:
        """The form of arguments given as a string, and their text if it is that of an object.

        Models write malformed ones, and the API takes them: those stay as they are.
        """
        text = literal.text() or ""
        try:
            is_object = isinstance(json.loads(text), dict)
        except (ValueError, RecursionError):
            is_object = False
        if not is_object:
            return Form.FIXED, None
        return Form.JSON_TEXT, text.encode("utf-8", "surrogatepass")


def quoted(value: Value) -> str:
    """A value's type with its article, for an error."""
    name = value.type_name
    return name if name == "null" else f"an {name}" if name[0] in "ao" else f"a {name}"


# --- Whose messages are these? ---

_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function", "model"})
_ANTHROPIC_BLOCKS = frozenset(
    {
        "container_upload",
        "mcp_tool_result",
        "mcp_tool_use",
        "redacted_thinking",
        "search_result",
        "server_tool_use",
        "thinking",
        "tool_result",
        "tool_use",
        "web_search_tool_result",
        "web_fetch_tool_result",
    }
)
_CHAT_BLOCKS = frozenset({"file", "image_url", "input_audio", "refusal", "video_url"})
_OTHER_BLOCKS = frozenset(
    {"input_file", "input_image", "input_text", "output_text", "tool-call", "tool-result", "toolCall"}
)
"""Of Responses items, of the AI SDK's messages and of Pi's: shapes of their own."""
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
    """What the messages were seen to hold. calls: by members, as Chat has it; blocks: as Anthropic has it."""

    has_blocks: bool = False
    has_calls: bool = False
    has_chat_roles: bool = False
    has_chat_blocks: bool = False
    has_parts: bool = False
    is_other: bool = False

    @property
    def dialect(self) -> Dialect | None:
        chat = self.has_calls or self.has_chat_blocks
        if self.is_other or (self.has_blocks and chat) or (self.has_parts and (self.has_blocks or chat)):
            return None
        if self.has_parts:
            return Dialect.GEMINI
        if self.has_blocks:
            return Dialect.ANTHROPIC
        return Dialect.CHAT if chat or self.has_chat_roles else Dialect.PLAIN


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
    messages = body.get("messages")
    signs = _survey(messages.items() if messages is not None else [])
    if signs.is_other or signs.has_parts:
        return None
    tools = body.get("tools")
    for tool in tools.items() if tools is not None else []:
        if tool.get("input_schema") is not None:
            signs.has_blocks = True
        elif tool.text("type") == "function":
            signs.has_calls = True
    if body.get("system") is not None or body.get("anthropic_version") is not None:
        signs.has_blocks = True
    return signs.dialect


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
    signs = _survey(messages)
    if signs.is_other or any(_is_item(message) for message in messages):
        return None
    return signs.dialect


def has_other_shape(message: Value) -> bool:
    """Whether a message has the members of a tool's own shape, though its role is one of the API's."""
    for call in _items(message, "tool_calls"):
        members = call.members
        function = members.get("function") or members.get("custom")
        if function is None or not function.is_object:
            return True
    return False


def _is_item(message: Value) -> bool:
    """An item of the Responses API has a type; a message of the others has none."""
    return message.get("type") is not None


def _survey(messages: Iterable[Value]) -> _Signs:
    signs = _Signs()
    for message in messages:
        members = message.members
        role = message.text("role")
        if role is not None and role not in _ROLES:
            signs.is_other = True
        elif role in ("tool", "function"):
            signs.has_calls = True
        elif role in ("system", "developer"):
            signs.has_chat_roles = True
        for name in ("tool_calls", "function_call"):
            value = members.get(name)
            if value is not None and not value.is_null:
                signs.has_calls = True
                signs.is_other = signs.is_other or has_other_shape(message)
        if "parts" in members and "content" not in members:
            signs.has_parts = True
        for block in _items(message, "content"):
            _look_at(block, signs)
        if signs.is_other:
            break
    return signs


def _look_at(block: Value, signs: _Signs) -> None:
    type = block.text("type")
    if type in _ANTHROPIC_BLOCKS or (type in ("image", "document") and block.get("source") is not None):
        signs.has_blocks = True
    elif type in _CHAT_BLOCKS:
        signs.has_chat_blocks = True
    elif type in _OTHER_BLOCKS:
        signs.is_other = True


def _items(message: Value, name: str) -> list[Value]:
    value = message.get(name)
    return value.items() if value is not None else []
