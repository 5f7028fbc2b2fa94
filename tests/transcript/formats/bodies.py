"""What the tests of body formats share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from castore.transcript.formats import Format, ReadOptions, detect
from castore.transcript.model import Form, PartKind, Role, Transcript
from castore.transcript.records import read_records

FIXTURES = Path(__file__).parents[1] / "fixtures"


def read(format: Format, value: Any, options: ReadOptions | None = None) -> Transcript:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return format.read(read_records(data), options or ReadOptions())


def told(value: Any) -> str:
    """The name of the format that a body is told as."""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return detect(read_records(data)).name


def parts(transcript: Transcript, kind: PartKind) -> list[tuple[Form, Any]]:
    return [(part.form, json.loads(transcript.literal(part))) for part in transcript.parts_of(kind)]


def prose(transcript: Transcript) -> list[Any]:
    return [value for _form, value in parts(transcript, PartKind.PROSE)]


def spine(transcript: Transcript) -> list[tuple[Role, int, bool]]:
    return [(message.role, message.turn, message.is_prompt) for message in transcript.messages]


def codes(transcript: Transcript) -> list[str]:
    return [odd.code for odd in transcript.oddities]


def pairs(transcript: Transcript) -> tuple[list[str], list[str]]:
    """Ids of calls, ids of results, in order."""
    return (
        [id for message in transcript.messages for id in message.calls],
        [id for message in transcript.messages for id in message.answers],
    )
