"""Payloads: the biggest parts of a session, and what came more than once. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256

from castore.report.excerpts import beginning, excerpt_of_part
from castore.report.model import LISTED_MAX, Listed, Payload, RepeatFacts
from castore.report.sizes import Sizes, share_of
from castore.transcript.marker import least_bytes
from castore.transcript.model import Part, PartKind, Transcript

__all__ = ["payloads", "repeats"]

_TURNS_MAX = 20


def payloads(transcript: Transcript, sizes: Sizes, digests: Mapping[int, str]) -> Listed[Payload]:
    """Parts that reach the model, the biggest first. digests: of the objects that parts become, by index."""
    parts = [part for part in transcript.parts if part.kind is not PartKind.UI]
    parts.sort(key=lambda part: (-part.size, part.index))
    whole = max(len(transcript.source), 1)
    found = (
        Payload(
            part.index,
            part.turn,
            transcript.records.line_of(part.start),
            share_of(transcript, part),
            part.label,
            part.tool,
            part.size,
            sizes.tokens[part.index],
            part.size / whole,
            part.is_error,
            digests.get(part.index),
            excerpt_of_part(transcript, part),
        )
        for part in parts[:LISTED_MAX]
    )
    return Listed(tuple(found), len(parts))


def repeats(transcript: Transcript, sizes: Sizes) -> Listed[RepeatFacts]:
    """Files that were read more than once, and other results that came more than once with the same bytes;
    what their repeats took most first. A result counts for one of them."""
    results = [part for part in transcript.parts_of(PartKind.RESULT) if not part.is_error]
    calls = {part.call_id: part for part in transcript.parts_of(PartKind.CALL) if part.call_id}
    found: list[RepeatFacts] = []
    counted: set[int] = set()
    for path, reads in _by_path(transcript, results).items():
        if len(reads) > 1:
            counted.update(part.index for read in reads for part in read)
            found.append(_facts(transcript, sizes, reads, calls, path))
    for same in _by_text(transcript, [part for part in results if part.index not in counted]):
        if len(same) > 1:
            found.append(_facts(transcript, sizes, [[part] for part in same], calls, None))
    found.sort(key=lambda each: (-each.repeat_size, each.path or "", each.turns))
    return Listed(tuple(found[:LISTED_MAX]), len(found))


# --- Helpers ---------------------------------------------------------------------------------------


def _by_path(transcript: Transcript, results: list[Part]) -> dict[str, list[list[Part]]]:
    """What was read -> the results of each call that read it. A call of several files read them together."""
    by_call: dict[str, list[Part]] = {}
    for part in results:
        if part.call_id in transcript.reads:
            by_call.setdefault(part.call_id, []).append(part)
    found: dict[str, list[list[Part]]] = {}
    for call_id, parts in by_call.items():
        found.setdefault(", ".join(transcript.reads[call_id]), []).append(parts)
    return found


def _by_text(transcript: Transcript, results: list[Part]) -> Iterator[list[Part]]:
    """Results of the same bytes, but for those too short to matter."""
    found: dict[bytes, list[Part]] = {}
    least = least_bytes()
    for part in results:
        if part.size > least:
            found.setdefault(sha256(transcript.literal(part)).digest(), []).append(part)
    yield from found.values()


def _facts(
    transcript: Transcript,
    sizes: Sizes,
    times: list[list[Part]],
    calls: Mapping[str, Part],
    path: str | None,
) -> RepeatFacts:
    """times: the parts of each time, the first time first."""
    first, *again = times
    call = calls.get(first[0].call_id or "")
    again_size = sum(part.size for parts in again for part in parts)
    return RepeatFacts(
        first[0].tool or (call.tool if call is not None else None),
        None if path is None else beginning(path),
        len(times),
        sum(part.size for part in first) + again_size,
        again_size,
        sum(sizes.tokens[part.index] for parts in again for part in parts),
        tuple(parts[0].turn for parts in times[:_TURNS_MAX]),
        excerpt_of_part(transcript, first[0]),
    )
