"""What the formats of API bodies share: a body while it is read.

Law: a value of the wrong type where the meaning hangs on it is refused with its line; whoever reads further
has what it says it has.
"""

from __future__ import annotations

from collections.abc import Callable

from castore.errors import InvalidOption, SessionInvalid
from castore.transcript.arguments import json_bytes
from castore.transcript.builder import Builder
from castore.transcript.formats import ReadOptions, session_error
from castore.transcript.formats.pairs import Pairs
from castore.transcript.formats.tools import tell_files
from castore.transcript.model import Api, Form, Role, TextBlock, Transcript
from castore.transcript.records import Records
from castore.transcript.values import Source, Value, read_json

__all__ = ["Reading", "quoted"]


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
        self.keeps_first_block = False
        """The first block that could leave has to stay: without it the body would be told as another's."""

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

    def block_form(self) -> Form:
        """The form of a block that tells whose body this is, in its way."""
        form = Form.FIXED if self.keeps_first_block else Form.BLOCK
        self.keeps_first_block = False
        return form

    def line(self, value: Value) -> int:
        """The line that a value begins on."""
        return self.records.line_of(value.start)

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
        # Where the body begins, and of no extent there: what stands between is of other messages.
        before = Value(self.body.source, self.body.start, self.body.start)
        self.builder.message(Role.SYSTEM, before if is_behind else value)

    def tell(self, at: Value, role: Role) -> None:
        """A message begins. What users say is a prompt."""
        is_prompt = role is Role.USER
        self.builder.message(role, at, is_prompt=is_prompt)
        if is_prompt:
            self.pairs.prompt()
        elif role is Role.ASSISTANT:
            self.pairs.reply()

    def sent(
        self,
        message: Value,
        role: Role,
        blocks: list[Value],
        *,
        is_result: Callable[[Value], bool],
        is_last: bool,
        tell: Callable[[Value], None],
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
                self.tell(block if at else message, wanted)
                told = wanted
            self.builder.goes_on(block)
            tell(block)
        if told is None:
            self.tell(message, role)

    def files(self, id: str, tool: str | None, arguments: Value | bytes, at: Value) -> None:
        """What files a call reads or writes. arguments: an object, or the text of one."""
        if tool is None:
            return
        if isinstance(arguments, bytes):
            start = len(arguments) - len(arguments.lstrip())
            arguments = Value(Source(arguments), start, len(arguments.rstrip()))
        tell_files(self.builder, id, tool, arguments, at=at)

    def json_text(self, literal: Value) -> tuple[Form, bytes | None]:
        """The form of arguments given as a string, and their text if it is that of an object.

        Models write malformed ones, and the API takes them: those stay as they are.
        """
        text = literal.text() or ""
        try:
            is_object = isinstance(read_json(text), dict)
        except (ValueError, RecursionError):
            is_object = False
        if not is_object:
            return Form.FIXED, None
        return Form.JSON_TEXT, json_bytes(text)


def quoted(value: Value) -> str:
    """A value's type with its article, for an error."""
    name = value.type_name
    return name if name == "null" else f"an {name}" if name[0] in "ao" else f"a {name}"
