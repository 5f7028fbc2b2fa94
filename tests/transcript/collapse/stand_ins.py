"""The laws of what stands in for turns that are hidden, as functions over a session's bytes: run on fixtures,
and on any folder of sessions.

    python -m tests.transcript.collapse.stand_ins FOLDER…     each file of a known format; one line a file
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from castore.errors import CastoreError
from castore.transcript.collapse.spans import Messages, Region
from castore.transcript.formats import find_format
from castore.transcript.formats.stand_in import records_in
from castore.transcript.model import Message, Role, Transcript
from castore.transcript.validate import check
from tests.transcript.laws import transcript_of

TEXT = '[ctx 3f9ac01b77de5a10: turns 3 to 40 collapsed]\nThe "summary",\u2028all of it: \\ é\ud83d 日本\x00.'

TELLING = ("pi", "claude-code", "codex")
"""Formats that can say of a user's message that no person wrote it."""


def choices(turns: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Some spans of these turns: short and long ones, at the beginning, in the middle, up to the end."""
    last = len(turns) - 1
    for low, high in (
        (0, 0),
        (0, last // 2),
        (last // 3, 2 * last // 3),
        (1, last - 1),
        (last - 1, last - 1),
    ):
        if 0 <= low <= high < last:
            yield turns[low], turns[high]


def regions(messages: Messages) -> Iterator[Region]:
    seen: set[tuple[int, int]] = set()
    for first, last in choices(messages.turns):
        # What can't leave together may do so with a neighbour.
        for more in range(4):
            found = messages.region_of_turns(first, last + more)
            if (
                isinstance(found, Region)
                and found.last_turn < messages.turns[-1]
                and not _summary(found, messages)
            ):
                if (found.first, found.last) not in seen:
                    seen.add((found.first, found.last))
                    yield found
                break


def _summary(region: Region, messages: Messages) -> bool:
    """Whether a compaction's summary is in it, which stays."""
    within = messages.transcript.messages[region.first : region.last + 1]
    return any(message.role is Role.SUMMARY for message in within)


def pieces_of(messages: Messages, region: Region) -> list[tuple[int, int]]:
    """What leaves: of a body, runs of items, each but the first with the comma before it."""
    transcript = messages.transcript
    if not find_format(transcript.format).is_body:
        return _records_of(transcript, region)
    pieces: list[tuple[int, int]] = []
    before = is_in_run = 0
    for message in transcript.messages[region.first : region.last + 1]:
        if message.end <= before:
            continue  # Told in the same item as the one before it.
        is_staying = message.role is Role.SYSTEM
        if not is_staying and is_in_run:
            pieces[-1] = (pieces[-1][0], message.end)
        elif not is_staying:
            pieces.append((before if pieces else message.position, message.end))
        is_in_run, before = not is_staying, message.end
    return pieces


def _records_of(transcript: Transcript, region: Region) -> list[tuple[int, int]]:
    staying = [message.position for message in transcript.messages if message.role is Role.SYSTEM]
    pieces: list[tuple[int, int]] = []
    for record in records_in(transcript.records, [(region.start, region.end)]):
        start, end = transcript.records.span_with_line_end(record)
        if any(start <= position < end for position in staying):
            continue
        if pieces and pieces[-1][1] == start:
            pieces[-1] = (pieces[-1][0], end)
        else:
            pieces.append((start, end))
    return pieces


def hold_stand_in(data: bytes, transcript: Transcript, messages: Messages, region: Region) -> bytes:
    """Every law of one span; what the session is with the span hidden."""
    format = find_format(transcript.format)
    pieces = pieces_of(messages, region)
    standing = format.stand_in(transcript, pieces, TEXT)
    assert format.stand_in(transcript, pieces, TEXT) == standing, "the same bytes again"
    assert not standing.endswith(b"\n"), "no line end after the last"
    end = b"" if format.is_body else line_end(data, pieces[0])
    splices = [(*piece, b"" if number else standing + end) for number, piece in enumerate(pieces)]
    shown = spliced(data, transcript, splices)
    again = transcript_of(shown)
    base = transcript_of(spliced(data, transcript, []), transcript.format)
    assert again.format == transcript.format, "the same format is told"
    hold_messages(transcript, again, region)
    new = Counter(odd.code for odd in again.oddities) - Counter(odd.code for odd in base.oddities)
    new -= Counter(odd.code for odd in transcript.oddities)
    assert not new or not is_paired(transcript), f"nothing is odd that was not: {dict(new)}"
    inside = records_in(transcript.records, pieces)
    own = [each.value.text(name) for each in inside if each.value is not None for name in ("id", "uuid")]
    hides_leaf = transcript.leaf in own
    assert hides_leaf or again.leaf == transcript.leaf, "the leaf is the same"
    assert again.session == transcript.session, "the session is the same"
    assert len(again.leaves) <= len(base.leaves), "nothing leaves that stood"
    broken = rules(again) - rules(transcript)
    # What lacks its other half may stand beside something else than it did.
    assert not broken or not is_paired(transcript), f"no rule is broken that was not: {broken}"
    if transcript.format == "pi" and not any(b'"id"' in literal for literal in entries(transcript)):
        assert len(entries(again)) == len(entries(base)), "entries that are counted are as many"
    return shown


def hold_messages(transcript: Transcript, again: Transcript, region: Region) -> None:
    staying = [
        message
        for message in transcript.messages
        if not region.first <= message.index <= region.last or message.role is Role.SYSTEM
    ]
    expected = told(transcript, staying)
    place = next(i for i in range(len(staying) + 1) if i == len(staying) or staying[i].index > region.first)
    found = list(again.messages)
    assert len(found) == len(staying) + 1, f"one message more than {len(staying)}: {len(found)}"
    mine = found.pop(place)
    assert told(again, found) == expected, "messages outside are what they were"
    assert prose(again, mine) == [TEXT], "it says the text"
    assert mine.role is Role.USER
    assert not mine.calls
    assert not mine.answers
    assert not (mine.is_prompt and transcript.format in TELLING), "nobody prompted"


def told(transcript: Transcript, messages: Sequence[Message]) -> list[tuple[object, ...]]:
    """What they say; ids of calls that were made up are told by their order."""
    names: dict[str, str] = {}

    def name(id: str) -> str:
        is_made = id[:1] == "#" or id.startswith("call ")
        return names.setdefault(id, f"made {len(names)}") if is_made else id

    return [
        (
            message.role,
            message.id,
            message.is_prompt,
            [name(id) for id in message.calls],
            [name(id) for id in message.answers],
            [(transcript.parts[at].kind, transcript.literal(transcript.parts[at])) for at in message.parts],
        )
        for message in messages
    ]


def prose(transcript: Transcript, message: Message) -> list[str]:
    return [json.loads(transcript.literal(transcript.parts[at])) for at in message.parts]


def rules(transcript: Transcript) -> set[str]:
    messages = find_format(transcript.format).api_messages(transcript)
    return {finding.rule for finding in check(transcript.api, messages)}


def is_paired(transcript: Transcript) -> bool:
    """Whether each call has its result, and an id of its own."""
    odd = {odd.code for odd in transcript.oddities}
    return odd.isdisjoint(("duplicate-call-id", "orphan-result", "unanswered-call"))


def entries(transcript: Transcript) -> list[bytes]:
    return [record.value.literal for record in transcript.records.records if record.value is not None]


def spliced(data: bytes, transcript: Transcript, pieces: Sequence[tuple[int, int, bytes]]) -> bytes:
    """The session with these spans replaced, and without what is not viewed."""
    splices = list(pieces)
    for leave in transcript.leaves:
        if not any(start <= leave.start < end for start, end, _ in pieces):
            splices.append((leave.start, leave.end, leave.replacement))
    for start, end, replacement in sorted(splices, reverse=True):
        data = data[:start] + replacement + data[end:]
    return data


def line_end(data: bytes, piece: tuple[int, int]) -> bytes:
    last = data[piece[0] : piece[1]]
    return b"\r\n" if last.endswith(b"\r\n") else b"\n" if last.endswith(b"\n") else b""


def hold_all(data: bytes) -> int:
    """All spans that are tried, and on each once more; how many there were."""
    held = 0
    transcript = transcript_of(data)
    messages = Messages(transcript)
    for region in regions(messages):
        shown = hold_stand_in(data, transcript, messages, region)
        held += 1
        again = transcript_of(shown)
        second = Messages(again)
        for other in list(regions(second))[:3]:
            hold_stand_in(shown, again, second, other)
            held += 1
    return held


def main(folders: list[str]) -> int:
    failed = 0
    for path in sorted(each for folder in folders for each in Path(folder).rglob("*") if each.is_file()):
        data = path.read_bytes()
        try:
            format = transcript_of(data).format
        except CastoreError as error:
            sys.stdout.write(f"refused  {path.name}: {error.message[:80]}\n")
            continue
        started = time.perf_counter()
        try:
            held = hold_all(data)
            sys.stdout.write(
                f"held     {path.name} {format} {held} spans {time.perf_counter() - started:.2f}s\n"
            )
        except (AssertionError, CastoreError) as error:
            failed += 1
            sys.stdout.write(f"FAILED   {path.name} {format} {type(error).__name__}: {str(error)[:600]}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
