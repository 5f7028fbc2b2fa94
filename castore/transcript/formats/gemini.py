"""Gemini: the body of a request, `{"contents": […], "systemInstruction"?, …}`, as REST or the SDK spell it.

Law: a part that carries a `thoughtSignature` stays byte for byte. A `response` stays an object and keeps
what is short in it, flags above all; what is long in it may be replaced by text, member by member.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from castore.transcript.formats import ReadOptions
from castore.transcript.formats.blocks import Reading, quoted
from castore.transcript.formats.stand_in import object_of
from castore.transcript.model import Api, Form, Role, TextBlock, Transcript
from castore.transcript.records import Record, Records
from castore.transcript.values import Value

__all__ = ["FORMAT", "TEXT_BLOCK", "as_api_contents", "content_that_says", "tell_contents"]

TEXT_BLOCK = TextBlock(b'{"text":', b"}")
_FLAGS_BYTES_MAX = 64

_ROLES = {"user": Role.USER, "model": Role.ASSISTANT, "function": Role.RESULT, "tool": Role.RESULT}
_SPELT = {
    "codeExecutionResult": "code_execution_result",
    "executableCode": "executable_code",
    "fileData": "file_data",
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "inlineData": "inline_data",
    "mimeType": "mime_type",
    "systemInstruction": "system_instruction",
    "thoughtSignature": "thought_signature",
}
"""As REST has it -> as the SDK for Python has it."""
_REST = {snake: camel for camel, snake in _SPELT.items()}


class _Gemini:
    name = "gemini"
    looked_for = "one object with 'contents', a list of objects with 'parts'"
    is_body = True

    def recognizes(self, record: Record) -> bool:
        value = record.value
        if value is None or value.get("type") is not None:
            return False
        contents = value.get("contents")
        items = contents.items() if contents is not None else []
        return bool(items) and items[0].get("parts") is not None

    def read(self, records: Records, options: ReadOptions) -> Transcript:
        reading = Reading(self.name, Api.GEMINI, records, options, text_block=TEXT_BLOCK)
        contents = reading.list_of("contents")
        system = _get(reading.body, "systemInstruction")
        config = reading.body.get("config")
        if system is None and config is not None:
            system = _get(config, "systemInstruction")
        if system is not None and not system.is_null:
            reading.system(system, contents[0] if contents else None)
            for part in _parts(reading, system):
                _tell_part(reading, "#system", part)
        tell_contents(reading, contents)
        return reading.finish()

    def api_messages(self, transcript: Transcript) -> list[Any]:
        body = transcript.records.records[0].value
        contents = body.get("contents") if body is not None else None
        return as_api_contents(contents.python() if contents is not None else [])

    def stand_in(self, transcript: Transcript, pieces: Sequence[tuple[int, int]], text: str) -> bytes:
        return content_that_says(text)


FORMAT = _Gemini()


def content_that_says(text: str) -> bytes:
    """A user's content."""
    return object_of({"role": "user", "parts": b"[" + object_of({"text": text}) + b"]"})


def as_api_contents(contents: list[Any]) -> list[Any]:
    """Contents as REST has them, whichever way they are spelt."""
    return [
        {**content, "role": content.get("role") or "user", "parts": _as_rest(_list(content["parts"]))}
        for content in contents
    ]


def _list(parts: Any) -> list[Any]:
    return parts if isinstance(parts, list) else [parts]


def _as_rest(value: Any, depth: int = 3) -> Any:
    """Names of parts and of what they hold; what stands deeper is data of a tool."""
    if isinstance(value, list):
        return [_as_rest(item, depth) for item in value]
    if isinstance(value, str) and depth == 3:
        return {"text": value}
    if not isinstance(value, dict) or depth == 1:
        return value
    return {
        _REST.get(name, name): member if name in ("args", "response") else _as_rest(member, depth - 1)
        for name, member in value.items()
    }


def tell_contents(reading: Reading, contents: list[Value]) -> None:
    """Tells the reading's builder what Gemini contents hold. Raises SessionInvalid."""
    for index, content in enumerate(contents):
        role = Role.USER
        if not content.is_object or content.get("role") is not None:
            role = reading.role(content, _ROLES)
        parts = _parts(reading, content)
        place = f"#{index}"
        if role is Role.ASSISTANT:
            reading.tell(content, role)
            for part in parts:
                _tell_part(reading, place, part)
        else:
            reading.sent(
                content,
                role,
                parts,
                is_result=_is_result,
                is_last=index == len(contents) - 1,
                tell=partial(_tell_part, reading, place),
            )


def _is_result(part: Value) -> bool:
    return _get(part, "functionResponse") is not None


def _parts(reading: Reading, content: Value) -> list[Value]:
    """The parts of a content, or of what may stand for one: a string, or a list of parts."""
    if content.is_string:
        return [content]
    parts = content if content.is_array else content.get("parts")
    if parts is None or not (parts.is_array or parts.is_object):
        given = "absent" if parts is None else quoted(parts)
        raise reading.refused(f"a content's 'parts' must be a list, not {given}", parts or content)
    return parts.items() if parts.is_array else [parts]


def _get(value: Value, name: str) -> Value | None:
    """A member under either of its names; null is as good as absent."""
    member = value.get(name) or value.get(_SPELT[name])
    return None if member is None or member.is_null else member


def _tell_part(reading: Reading, place: str, part: Value) -> None:
    """place: makes up the id of a call that has none."""
    builder = reading.builder
    if part.is_string:
        builder.prose(part)
        return
    is_signed = _get(part, "thoughtSignature") is not None
    text = part.get("text")
    call = _get(part, "functionCall")
    response = _get(part, "functionResponse")
    data = _get(part, "inlineData")
    if call is not None:
        _tell_call(reading, part, call, place, is_signed=is_signed)
    elif response is not None:
        _tell_response(reading, response, is_signed=is_signed)
    elif data is not None:
        payload = data.get("data")
        builder.media(
            part,
            payload=payload if payload is not None and payload.is_string else None,
            media_type=data.text("mimeType") or data.text("mime_type"),
            form=Form.FIXED if is_signed else Form.BLOCK,
        )
    elif text is not None and text.is_string:
        if part.flag("thought"):
            form = Form.FIXED if is_signed else Form.BLOCK
            builder.thinking(part, form=form, is_signed=is_signed)
        else:
            builder.prose(text, form=Form.FIXED if is_signed else Form.TEXT)
    elif _get(part, "fileData") is None:
        _tell_other(reading, part, place, is_signed=is_signed)


def _tell_call(reading: Reading, part: Value, call: Value, made_up: str, *, is_signed: bool) -> None:
    tool = reading.string(call, "name", of="a function call's")
    given = reading.string(call, "id", of="a function call's")
    id = reading.pairs.call(given, made_up=made_up, tool=tool, line=reading.line(part))
    arguments = call.get("args")
    if arguments is None or arguments.is_null:
        # A function without arguments.
        reading.builder.call(call, id=id, tool=tool, form=Form.FIXED)
    elif not arguments.is_object:
        reading.odd(part, "arguments-not-an-object", f"the arguments of the call '{id}' are no object")
        reading.builder.call(arguments, id=id, tool=tool, form=Form.FIXED)
    else:
        # The signature is over what the model wrote, which is the arguments.
        form = Form.FIXED if is_signed else Form.ARGUMENTS
        reading.builder.call(arguments, id=id, tool=tool, form=form)
        reading.files(id, tool, arguments, part)


def _tell_response(reading: Reading, response: Value, *, is_signed: bool) -> None:
    builder = reading.builder
    name = reading.string(response, "name", of="a function response's")
    given = reading.string(response, "id", of="a function response's")
    id = reading.pairs.result(given, tool=name, line=reading.line(response))
    builder.answer(id)
    tool = reading.pairs.tool(id) or name
    form = Form.FIXED if is_signed else Form.TEXT
    told: list[tuple[Value, Form]] = []
    content = response.get("response")
    is_error = False
    if content is not None and content.is_object:
        error = content.get("error")
        is_error = error is not None and error.literal not in (b"null", b"false", b'""')
        for member in content.members.values():
            # A short list or object may be flags; a string is a result however short, as in a view of it.
            is_long = len(member) > _FLAGS_BYTES_MAX and (member.is_array or member.is_object)
            if member.is_string or is_long:
                told.append((member, form))
    elif content is not None and not content.is_null:
        reading.odd(content, "response-not-an-object", f"the response of '{tool}' is no object")
        told.append((content, Form.FIXED))
    for value, its_form in told:
        builder.result(value, id=id, tool=tool, form=its_form, is_error=is_error)
    parts = response.get("parts")
    for part in parts.items() if parts is not None else []:
        data = _get(part, "inlineData")
        payload = data.get("data") if data is not None else None
        if data is not None and payload is not None and payload.is_string:
            # Nothing but media may stand there, so a text could not stand in for it.
            media_type = data.text("mimeType") or data.text("mime_type")
            builder.media(part, payload=payload, media_type=media_type, form=Form.FIXED, id=id, tool=tool)


def _tell_other(reading: Reading, part: Value, made_up: str, *, is_signed: bool) -> None:
    """Code that the API ran, what it gave, and what nobody knows."""
    builder = reading.builder
    code = _get(part, "executableCode")
    result = _get(part, "codeExecutionResult")
    form = Form.FIXED if is_signed else Form.TEXT
    if code is not None:
        id = reading.pairs.call(None, made_up=made_up, tool="executableCode", line=reading.line(part))
        text = code.get("code")
        if text is not None and text.is_string:
            builder.call(text, id=id, tool="executableCode", form=form)
        else:
            builder.call(code, id=id, tool="executableCode", form=Form.FIXED)
    elif result is not None:
        answered = reading.pairs.result(None, tool="executableCode", line=reading.line(part))
        builder.answer(answered)
        outcome = result.text("outcome") or ""
        output = result.get("output")
        if output is not None and output.is_string:
            is_error = outcome not in ("", "OUTCOME_OK", "OUTCOME_UNSPECIFIED")
            builder.result(output, id=answered, tool="executableCode", form=form, is_error=is_error)
    else:
        if not part.is_object:
            reading.odd(part, "not-a-block", f"{quoted(part)} where a part should be")
        builder.unknown(part, form=Form.FIXED if is_signed or not part.is_object else Form.BLOCK)
