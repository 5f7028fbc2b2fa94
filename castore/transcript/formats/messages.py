"""A bare array of messages, without the request around it: of Anthropic, of OpenAI Chat, or of Gemini.

Law: whose messages they are is told from what stands in them, and they are read as that format reads them.
Arrays that say two things at once, or hold a role that no API has, are nobody's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from castore.transcript.formats import ReadOptions, anthropic, gemini, openai_chat, session_error
from castore.transcript.formats.blocks import Reading
from castore.transcript.formats.dialects import Dialect, dialect_of_list, is_chat_anyway
from castore.transcript.model import Api, Transcript
from castore.transcript.records import Record, Records

__all__ = ["FORMAT"]

_APIS = {
    Dialect.ANTHROPIC: Api.ANTHROPIC,
    Dialect.CHAT: Api.CHAT,
    Dialect.GEMINI: Api.GEMINI,
    Dialect.PLAIN: Api.CHAT,
}


class _Messages:
    name = "messages"
    looked_for = (
        "one array of objects that each have a 'role' of an API, and 'content', 'tool_calls' or 'parts'"
    )
    is_body = True

    def recognizes(self, record: Record) -> bool:
        return dialect_of_list(record) is not None

    def read(self, records: Records, options: ReadOptions) -> Transcript:
        dialect = dialect_of_list(records.records[0])
        if dialect is None:
            raise session_error(
                f"this is not {self.looked_for}, or it mixes the messages of several APIs",
                records.records[0].line,
            )
        api = _APIS[dialect]
        text_block = gemini.TEXT_BLOCK if api is Api.GEMINI else None
        reading = Reading(self.name, api, records, options, text_block=text_block)
        tell = {
            Api.ANTHROPIC: anthropic.tell_messages,
            Api.CHAT: openai_chat.tell_messages,
            Api.GEMINI: gemini.tell_contents,
        }[api]
        tell(reading, reading.body.items())
        return reading.finish()

    def api_messages(self, transcript: Transcript) -> list[Any]:
        value = transcript.records.records[0].value
        messages: list[Any] = value.python() if value is not None else []
        if transcript.api is Api.ANTHROPIC:
            return anthropic.as_api_messages(messages)
        return gemini.as_api_contents(messages) if transcript.api is Api.GEMINI else messages

    def stand_in(self, transcript: Transcript, pieces: Sequence[tuple[int, int]], text: str) -> bytes:
        if transcript.api is Api.ANTHROPIC:
            return anthropic.message_that_says(text, is_told=False)
        if transcript.api is Api.GEMINI:
            return gemini.content_that_says(text)
        return openai_chat.message_that_says(text, is_told=is_chat_anyway(transcript.records))


FORMAT = _Messages()
