"""What stands in the place of a span: words for the model, and the contents by which it is read. Pure.

Law: the words say how much is hidden and how it is read, and follow from what the source holds; the contents
name each turn by the digest of its bytes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from castore.descriptor import Descriptor, Kind
from castore.digest import Digest
from castore.document.strings import decode_literal
from castore.transcript.collapse.spans import Messages, Region
from castore.transcript.marker import collapse_marker
from castore.transcript.model import ArchivedTurn, Form, PartKind

__all__ = ["contents_of", "facts_of", "message_text"]

_BEGINS_CHARACTERS = 80


def facts_of(region: Region, size: int) -> str:
    """How much is hidden. size: bytes of the pieces."""
    where = f"turn {region.first_turn}"
    if region.turns > 1:
        where = f"turns {region.first_turn} to {region.last_turn}"
    turns = "1 turn" if region.turns == 1 else f"{region.turns} turns"
    messages = "1 message" if region.messages == 1 else f"{region.messages} messages"
    return f"{where} collapsed, {turns}, {messages}, {size} bytes"


def contents_of(messages: Messages, region: Region, pieces: Sequence[ArchivedTurn]) -> bytes:
    """A JSON line a piece, in order: its turn, digest and bytes, how many messages, and how it begins: with
    what is said first in it, else with its first call."""
    transcript = messages.transcript
    counts: dict[int, int] = {}
    begins: dict[int, str] = {}
    calls: dict[int, str] = {}
    for message in transcript.messages[region.first : region.last + 1]:
        counts[message.turn] = counts.get(message.turn, 0) + 1
        for index in message.parts:
            part = transcript.parts[index]
            if part.kind is PartKind.PROSE and part.form is Form.TEXT and message.turn not in begins:
                text = decode_literal(transcript.literal(part))
                if text.strip():
                    begins[message.turn] = text
            elif part.kind is PartKind.CALL and message.turn not in calls:
                arguments = transcript.literal(part)[: 4 * _BEGINS_CHARACTERS].decode("utf-8", "replace")
                calls[message.turn] = f"call {part.tool or ''} {arguments}"
    begins = {**calls, **begins}
    lines = []
    for piece in pieces:
        said = {
            "turn": piece.turn,
            "messages": counts.get(piece.turn, 0),
            "bytes": piece.size,
            "digest": str(piece.digest),
            "begins": " ".join(begins.get(piece.turn, "")[: 4 * _BEGINS_CHARACTERS].split())[
                :_BEGINS_CHARACTERS
            ],
        }
        lines.append(json.dumps(said, ensure_ascii=True, separators=(",", ":")) + "\n")
    return "".join(lines).encode()


def message_text(facts: str, contents: bytes, summary: str, retrieve_with: str | None) -> str:
    """What the model gets: a marker on a line of its own, then the summary."""
    descriptor = Descriptor(Kind.TEXT, Digest.of(contents), len(contents))
    return f"{collapse_marker(descriptor, facts, retrieve_with)}\n{summary}"
