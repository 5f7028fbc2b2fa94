"""Items of the Responses API, wherever they stand: in a body's `input`, or one a record in Codex rollouts.

Law: an item is told in the order in which it stands. Everything that the model said up to the next input
(reasoning, text, calls) is one message; a result is a message of its own. Reasoning is bound to the item
after it and to its own bytes, so it is fixed; so is what a server's tool did, but for the text it found.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from castore.transcript.formats.blocks import Reading, quoted
from castore.transcript.formats.codex_text import CONTEXT_LABEL, is_summary, is_user_context, outcome_of
from castore.transcript.formats.tools import patched_paths
from castore.transcript.model import Form, Role, TextBlock
from castore.transcript.values import Value

__all__ = ["ITEM_TYPES", "TEXT_BLOCK", "ItemReader", "item_type"]

TEXT_BLOCK = TextBlock(b'{"type":"input_text","text":')
"""A text block of what is sent; the model's own messages have another type, so no block moves there."""

_WORTH_BYTES = 64
"""What is no longer is never worth a part of its own where a part is a choice."""

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM, "developer": Role.SYSTEM}
_TEXTS = {"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal"}
_MEDIA = {"input_image": ("image_url",), "input_file": ("file_data",), "input_audio": ("input_audio", "data")}
_DATA_URI = re.compile(rb'"data:([A-Za-z0-9.+-]+/[A-Za-z0-9.+-]+)[;,]')


def item_type(item: Value) -> str | None:
    """The item's type; messages may leave theirs out. None: it has none that is a string."""
    type = item.get("type")
    if type is None or type.is_null:
        return "message" if item.get("role") is not None else None
    return type.text()


class ItemReader:
    """Tells a Reading's builder one item after another. is_continued: the server remembers what went before,
    so a result may be of a call in there."""

    def __init__(self, reading: Reading, *, is_continued: bool = False) -> None:
        self._reading = reading
        self._builder = reading.builder
        self._pairs = reading.pairs
        self._is_in_reply = False
        self._is_continued = is_continued
        self._calls: set[str] = set()

    def tell(self, item: Value) -> None:
        """One item. Raises SessionInvalid."""
        if not item.is_object:
            raise self._reading.refused(f"an item must be an object, not {quoted(item)}", item)
        type = item_type(item)
        if type is None:
            raise self._reading.refused("an item's type must be a string", item)
        self._builder.is_final = True
        tell = _TELL.get(type)
        if tell is not None:
            tell(self, item)
        else:
            self._unknown(item, type)

    def summary(self, text: Value) -> None:
        """What a compaction left, as text on its own."""
        self._is_in_reply = False
        self._builder.message(Role.SUMMARY, text)
        self._builder.prose(text)

    def prompt(self, text: Value) -> None:
        """What another agent says to this one, as text on its own."""
        self._is_in_reply = False
        self._pairs.prompt()
        self._builder.message(Role.USER, text, is_prompt=True)
        self._builder.prose(text)

    # --- Messages ---

    def message(self, item: Value) -> None:
        said = self._reading.string(item, "role", of="a message's")
        if said not in _ROLES:
            known = ", ".join(_ROLES)
            raise self._reading.refused(f"a message's role must be one of {known}, not '{said}'", item)
        role = _ROLES[said]
        content = item.get("content")
        label = None
        if role is Role.ASSISTANT:
            self._reply(item)
            # Codex says of a message that it is not the last of its turn.
            self._builder.is_final = item.text("phase") != "commentary"
        else:
            if role is Role.USER and is_summary(item):
                role = Role.SUMMARY
            is_context = role is Role.USER and is_user_context(item)
            label = CONTEXT_LABEL if is_context else None
            self._sent(role, item, is_prompt=role is Role.USER and not is_context)
        if content is None or content.is_null:
            self._reading.odd(item, "no-content", "a message without content")
            return
        if content.is_string:
            self._builder.prose(content, label=label)
        elif content.is_array:
            for block in content.items():
                self._block(block, is_reply=role is Role.ASSISTANT, label=label)
        else:
            raise self._reading.refused(
                f"a message's content must be a string or an array, not {quoted(content)}", content
            )

    def note(self, item: Value) -> None:
        """A user's message that no person wrote."""
        self._sent(Role.USER, item)
        content = item.get("content")
        for block in content.items() if content is not None else []:
            self._block(block, is_reply=False)

    def agent_message(self, item: Value) -> None:
        """What another agent says to this one: it stands where a person's prompt would."""
        self._sent(Role.USER, item, is_prompt=True)
        content = item.get("content")
        for block in content.items() if content is not None else []:
            self._block(block, is_reply=False)

    def _block(self, block: Value, *, is_reply: bool, label: str | None = None) -> None:
        type = block.text("type")
        text = block.get(_TEXTS.get(type or "", ""))
        if text is not None and text.is_string:
            self._builder.prose(text, label=label)
        elif type in _MEDIA:
            self._media(block, type, form=Form.FIXED if is_reply else Form.BLOCK)
        elif type == "encrypted_content":
            self._builder.thinking(block, form=Form.FIXED, is_signed=True)
        elif type not in _TEXTS:
            self._builder.unknown(block, form=Form.FIXED if is_reply else Form.BLOCK)

    def _media(
        self, block: Value, type: str, *, form: Form, id: str | None = None, is_error: bool = False
    ) -> None:
        """A block whose data stands in the session; one that only points somewhere is no part."""
        data = block.get(*_MEDIA[type])
        if data is None or not data.is_string:
            return
        uri = _DATA_URI.match(data.source.data, data.start, data.end)
        payload = data if uri is not None or type != "input_image" else None
        media_type = uri[1].decode() if uri is not None else type.removeprefix("input_")
        self._builder.media(
            block, payload=payload, media_type=media_type, form=form, id=id, is_error=is_error
        )

    # --- What the model said ---

    def reasoning(self, item: Value) -> None:
        self._reply(item)
        is_signed = bool(item.text("encrypted_content"))
        says = [each for name in ("summary", "content") if (each := item.get(name)) is not None]
        if is_signed or any(len(each) > 2 and not each.is_null for each in says):
            self._builder.thinking(item, form=Form.FIXED, is_signed=is_signed)

    def compaction(self, item: Value) -> None:
        """What went before, encrypted: nobody but the API reads it."""
        self._sent(Role.SUMMARY, item)
        self._builder.boundary(item, is_compaction=True)
        if item.text("encrypted_content"):
            self._builder.thinking(item, form=Form.FIXED, is_signed=True)

    def function_call(self, item: Value) -> None:
        id, tool = self._call(item, self._reading.string(item, "name", of="a call's"))
        arguments = item.get("arguments")
        if arguments is None:
            self._reading.odd(item, "no-arguments", "a call without arguments")
            self._builder.call(item, id=id, tool=tool, form=Form.FIXED)
            return
        form, text = Form.FIXED, None
        if arguments.is_string:
            form, text = self._reading.json_text(arguments)
        elif arguments.is_object:
            form = Form.ARGUMENTS
        self._builder.call(arguments, id=id, tool=tool, form=form)
        if text is not None and id is not None:
            self._reading.files(id, tool, text, item)

    def custom_tool_call(self, item: Value) -> None:
        id, tool = self._call(item, self._reading.string(item, "name", of="a call's"))
        text = item.get("input")
        if text is None:
            self._reading.odd(item, "no-arguments", "a call without arguments")
            self._builder.call(item, id=id, tool=tool, form=Form.FIXED)
            return
        self._builder.call(text, id=id, tool=tool, form=Form.TEXT if text.is_string else Form.FIXED)
        if tool == "apply_patch":
            for path in patched_paths(text.text() or ""):
                self._builder.writes_file(item, path)

    def action_call(self, item: Value) -> None:
        """A call whose arguments have a shape of their own, which the API checks."""
        id, tool = self._call(item, (item_type(item) or "").removesuffix("_call"))
        for name in ("action", "operation", "arguments"):
            action = item.get(name)
            if action is not None:
                self._builder.call(action, id=id, tool=tool, form=Form.FIXED)
                break
        path = item.text("operation", "path")
        if path is not None:
            self._builder.writes_file(item, path)

    def server_call(self, item: Value) -> None:
        """A call that the server has answered itself: call and result in one item."""
        type = item_type(item) or ""
        self._reply(item)
        id = self._reading.string(item, "id", of="an item's")
        tool = item.text("name") or type.removesuffix("_call")
        error = item.get("error")
        is_error = (error is not None and not error.is_null) or item.text("status") == "failed"
        asked = item.get("arguments") or item.get("code") or item.get("action") or item.get("queries")
        if asked is not None:
            self._builder.call(asked, id=id, tool=tool, form=Form.FIXED)
            self._builder.answer(id)
        found = [item.get("output")]
        for name in ("outputs", "results"):
            for each in self._items(item, name):
                found.extend((each.get("text"), each.get("logs")))
        for text in found:
            if text is not None and text.is_string:
                self._builder.result(text, id=id, tool=tool, is_error=is_error)
        image = item.get("result")
        if type == "image_generation_call" and image is not None and image.is_string and len(image) > 2:
            # No text may stand for the image: the API takes its data, or none.
            self._builder.media(image, payload=None, media_type="image", form=Form.EMPTY)

    def reference(self, item: Value) -> None:
        """Items that the server remembers: which ones is not seen here."""
        self._is_continued = True

    def bare(self, item: Value) -> None:
        """An item that says nothing of its own."""

    # --- Results ---

    def output(self, item: Value) -> None:
        id, tool = self._answer(item)
        output = item.get("output")
        if output is None:
            return
        success = item.get("output", "success") if output.is_object else None
        is_error = (success is not None and success.literal == b"false") or item.text("status") == "failed"
        code, says_error = outcome_of(output)
        is_error = is_error or says_error
        if output.is_string:
            self._builder.result(output, id=id, tool=tool, is_error=is_error, exit_code=code)
        elif output.is_array:
            for block in output.items():
                self._result_block(block, id, tool, is_error, code)
        else:
            for name, member in output.members.items():
                is_text = member.is_string or member.is_array or member.is_object
                if is_text and name != "type" and len(member) > _WORTH_BYTES:
                    self._builder.result(member, id=id, tool=tool, is_error=is_error, exit_code=code)

    def _result_block(
        self, block: Value, id: str | None, tool: str | None, is_error: bool, code: int | None
    ) -> None:
        type = block.text("type")
        text = block.get(_TEXTS.get(type or "", ""))
        if text is not None and text.is_string:
            self._builder.result(text, id=id, tool=tool, is_error=is_error, exit_code=code)
        elif type in _MEDIA:
            self._media(block, type, form=Form.BLOCK, id=id, is_error=is_error)
        elif type == "encrypted_content":
            self._builder.result(block, id=id, tool=tool, form=Form.FIXED, is_error=is_error)
        elif type is None and block.get("outcome") is not None:
            outcome = block.get("outcome", "exit_code")
            exit_code = outcome.integer() if outcome is not None else code
            for name in ("stdout", "stderr"):
                stream = block.get(name)
                if stream is not None and stream.is_string and len(stream) > 2:
                    self._builder.result(stream, id=id, tool=tool, exit_code=exit_code)
        elif type not in _TEXTS:
            self._builder.unknown(block, form=Form.BLOCK, id=id, tool=tool, is_error=is_error)

    def fixed_output(self, item: Value) -> None:
        """A result that the API takes in no other shape: a screenshot, the tools that a search found."""
        id, tool = self._answer(item)
        found = item.get("output") or item.get("tools")
        if found is not None and len(found) > _WORTH_BYTES:
            self._builder.result(found, id=id, tool=tool, form=Form.FIXED)

    # --- Common to them ---

    def _reply(self, item: Value) -> None:
        """The item is one of the model's: it goes on with the reply, or begins one."""
        if self._is_in_reply:
            self._builder.goes_on(item)
            return
        self._pairs.reply()
        self._builder.message(Role.ASSISTANT, item)
        self._is_in_reply = True

    def _sent(self, role: Role, item: Value, *, is_prompt: bool = False) -> None:
        self._is_in_reply = False
        if is_prompt:
            self._pairs.prompt()
        self._builder.message(role, item, id=item.text("id"), is_prompt=is_prompt)

    def _call(self, item: Value, tool: str | None) -> tuple[str | None, str | None]:
        self._reply(item)
        id = self._id(item, "a call")
        if id is not None:
            self._calls.add(id)
            self._pairs.call(id, made_up=id, tool=tool, line=self._reading.line(item))
        return id, tool

    def _answer(self, item: Value) -> tuple[str | None, str | None]:
        self._is_in_reply = False
        id = self._id(item, "a result")
        self._builder.message(Role.RESULT, item, id=item.text("id"))
        if id is None:
            return None, None
        if id in self._calls or not self._is_continued:
            self._pairs.result(id, tool=None, line=self._reading.line(item))
        self._builder.answer(id)
        return id, self._pairs.tool(id)

    def _id(self, item: Value, what: str) -> str | None:
        id = self._reading.string(item, "call_id", of=f"{what}'s")
        if id is None and (item_type(item) or "").startswith("local_shell"):
            id = self._reading.string(item, "id", of=f"{what}'s")
        if id is None and (item_type(item) or "") not in ("tool_search_call", "tool_search_output"):
            self._reading.odd(item, "no-call-id", f"{what} without an id")
        return id

    def _items(self, item: Value, name: str) -> list[Value]:
        member = item.get(name)
        return member.items() if member is not None else []

    def _unknown(self, item: Value, type: str) -> None:
        """It stays: what the API wants of it nobody knows. A long text that a tool gave back may move."""
        self._reading.odd(item, "unknown-item", f"an item of the unknown type '{type}'")
        if not type.endswith("_output"):
            self._reply(item)
            self._builder.unknown(item, form=Form.FIXED, label="unknown item")
            return
        self._is_in_reply = False
        self._builder.message(Role.RESULT, item)
        id = item.text("call_id")
        self._builder.answer(id)
        output = item.get("output")
        if output is not None and output.is_string:
            self._builder.unknown(output, form=Form.TEXT, label="unknown result")


_TELL: dict[str, Callable[..., None]] = {
    "message": ItemReader.message,
    "agent_message": ItemReader.agent_message,
    "reasoning": ItemReader.reasoning,
    "compaction": ItemReader.compaction,
    "compaction_summary": ItemReader.compaction,
    "context_compaction": ItemReader.compaction,
    "function_call": ItemReader.function_call,
    "custom_tool_call": ItemReader.custom_tool_call,
    "local_shell_call": ItemReader.action_call,
    "shell_call": ItemReader.action_call,
    "apply_patch_call": ItemReader.action_call,
    "computer_call": ItemReader.action_call,
    "tool_search_call": ItemReader.action_call,
    "function_call_output": ItemReader.output,
    "custom_tool_call_output": ItemReader.output,
    "local_shell_call_output": ItemReader.output,
    "shell_call_output": ItemReader.output,
    "apply_patch_call_output": ItemReader.output,
    "computer_call_output": ItemReader.fixed_output,
    "tool_search_output": ItemReader.fixed_output,
    "web_search_call": ItemReader.server_call,
    "file_search_call": ItemReader.server_call,
    "code_interpreter_call": ItemReader.server_call,
    "image_generation_call": ItemReader.server_call,
    "mcp_call": ItemReader.server_call,
    "mcp_list_tools": ItemReader.bare,
    "mcp_approval_request": ItemReader.bare,
    "mcp_approval_response": ItemReader.bare,
    "item_reference": ItemReader.reference,
    "additional_tools": ItemReader.bare,
    "compaction_trigger": ItemReader.bare,
}

ITEM_TYPES = frozenset(_TELL)
"""The types of items that the API takes."""
