"""Bodies with anything anywhere: read, or refused with a typed error; never another exception."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from castore.errors import SessionInvalid
from castore.transcript.formats import ReadOptions, find_format
from castore.transcript.model import Transcript
from castore.transcript.records import read_records
from castore.transcript.validate import check
from tests.transcript.formats.bodies import FIXTURES

FORMATS = ("anthropic", "openai-chat", "gemini", "messages")
VALUES: list[Any] = [
    None,
    True,
    -1.5,
    "",
    "words",
    [],
    {},
    [[]],
    ["words"],
    {"type": "text"},
    {"type": "text", "text": "words"},
    {"type": "tool_use"},
    {"type": "image", "source": {"type": "base64", "data": "iVBO"}},
    {"type": "image_url", "image_url": "data:;base64,iVBO"},
    {"functionCall": {}},
    {"functionResponse": {"response": []}},
]
NAMES = ["content", "id", "name", "parts", "role", "source", "text", "thoughtSignature", "tool_calls", "type"]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container with a key or index of it."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


def spoil(value: Any, chance: random.Random) -> Any:
    value = copy.deepcopy(value)
    for _ in range(chance.choice([1, 1, 2, 4])):
        found = list(places(value))
        if not found:
            break
        holder, key = chance.choice(found)
        how = chance.randrange(4)
        if how == 0:
            del holder[key]
        elif how == 1 and isinstance(holder, list):
            holder.insert(key, copy.deepcopy(chance.choice([*VALUES, holder[key]])))
        elif how == 2 and isinstance(holder, dict):
            holder[chance.choice(NAMES)] = copy.deepcopy(chance.choice(VALUES))
        else:
            holder[key] = copy.deepcopy(chance.choice(VALUES))
    return value


def hold(transcript: Transcript) -> None:
    """What every transcript keeps (castore.transcript.model)."""
    at, turn = 0, -1
    for part in transcript.parts:
        assert at <= part.start <= part.end
        assert part.turn >= turn
        json.loads(transcript.literal(part))
        at, turn = part.end, part.turn
        if part.payload is not None:
            assert part.start <= part.payload[0] <= part.payload[1] <= part.end


class TestAnythingAnywhere:
    @pytest.mark.parametrize(
        "path",
        sorted(path for name in FORMATS for path in (FIXTURES / name).iterdir()),
        ids=lambda path: f"{path.parent.name}/{path.name}",
    )
    def test_is_read_or_refused(self, path: Path) -> None:
        chance = random.Random(path.name)
        sound = json.loads(path.read_bytes())
        format = find_format(path.parent.name)
        lines = set()
        read = 0
        for _ in range(60):
            records = read_records(json.dumps(spoil(sound, chance)).encode())
            format.recognizes(records.records[0])
            try:
                transcript = format.read(records, ReadOptions())
            except SessionInvalid as refused:
                lines.add(refused.fields["line"])
                continue
            hold(transcript)
            check(transcript.api, format.api_messages(transcript))
            read += 1
        assert read > 10
        assert lines <= {1}
