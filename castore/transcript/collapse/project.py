"""Project: a session and the commits of its log become the session as the model gets it. Pure.

Laws:
- The same session, commits, summaries and options give the same view, byte for byte; what lies before the
  first span that is hidden is the session's own.
- Each turn that is hidden is one object, whatever span it is hidden by. A span whose stand-in would be no
  shorter than what it hides stands as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from castore.digest import Digest
from castore.transcript.collapse.model import Commit
from castore.transcript.collapse.placeholder import contents_of, facts_of, message_text
from castore.transcript.collapse.spans import Messages, Region, shown
from castore.transcript.formats import find_format
from castore.transcript.model import ArchivedTurn, Collapsed, Leave, Message, Part, Transcript
from castore.transcript.records import collector_off

__all__ = ["collapsed_region", "project"]

Summaries = Callable[[Digest], str]
T = TypeVar("T")


def project(
    transcript: Transcript,
    commits: Iterable[Commit],
    summaries: Summaries,
    *,
    retrieve_with: str | None = None,
    messages: Messages | None = None,
) -> Transcript:
    """The transcript with what the commits hide collapsed; the transcript itself if they hide nothing.

    commits: those that hold, in order of the log. summaries: gives the text of one; what it raises is raised.
    messages: those of the transcript, if they are known.
    """
    with collector_off():
        messages = messages or Messages(transcript)
        collapsed: list[Collapsed] = []
        for commit, region in shown(commits, messages):
            text = summaries(commit.staged.summary)
            made = collapsed_region(messages, region, commit.collapse_id, text, retrieve_with=retrieve_with)
            if made is not None:
                collapsed.append(made)
        return _without(transcript, collapsed) if collapsed else transcript


def collapsed_region(
    messages: Messages, region: Region, collapse_id: str, summary: str, *, retrieve_with: str | None = None
) -> Collapsed | None:
    """What hides the region; None if it would be no shorter."""
    transcript = messages.transcript
    data = memoryview(transcript.source)
    pieces = tuple(
        ArchivedTurn(start, end, turn, Digest.of(data[start + lead : end]), lead)
        for start, end, turn, lead in messages.pieces(region)
    )
    size = sum(piece.end - piece.start for piece in pieces)
    contents = contents_of(messages, region, pieces)
    text = message_text(
        facts_of(region, sum(piece.size for piece in pieces)), contents, summary, retrieve_with
    )
    spans = [(piece.start, piece.end) for piece in pieces]
    replacement = find_format(transcript.format).stand_in(transcript, spans, text)
    replacement += _line_end(transcript, pieces[0])
    if len(replacement) >= size:
        return None
    return Collapsed(collapse_id, pieces, replacement, text, contents, region.messages)


# --- Helpers ---------------------------------------------------------------------------------------


def _line_end(transcript: Transcript, piece: ArchivedTurn) -> bytes:
    """What a piece of whole records ends with, after the last of them."""
    if find_format(transcript.format).is_body:
        return b""
    data = transcript.source[max(piece.start, piece.end - 2) : piece.end]
    return b"\r\n" if data == b"\r\n" else b"\n" if data[-1:] == b"\n" else b""


def _without(transcript: Transcript, collapsed: Sequence[Collapsed]) -> Transcript:
    """The transcript without what is hidden: its messages, parts and leaves, and a boundary where it ends."""
    gone = [(piece.start, piece.end) for each in collapsed for piece in each.pieces]
    kept_parts: list[Part] = []
    places: dict[int, int] = {}
    kept_messages: list[Message] = []
    message_places: dict[int, int] = {}
    for message in _outside(transcript.messages, gone, lambda message: message.position):
        message_places[message.index] = len(message_places)
        kept_messages.append(message)
    for part in _outside(transcript.parts, gone, lambda part: part.start):
        index, message_index = len(kept_parts), message_places.get(part.message, -1)
        places[part.index] = index
        if (part.index, part.message) != (index, message_index):
            part = replace(part, index=index, message=message_index)
        kept_parts.append(part)
    moved = [
        replace(
            message,
            index=message_places[message.index],
            parts=tuple(places[index] for index in message.parts),
        )
        for message in kept_messages
    ]
    ends = [each.pieces[-1].end for each in collapsed]
    leaves: list[Leave] = list(_outside(transcript.leaves, gone, lambda leave: leave.start))
    return replace(
        transcript,
        messages=moved,
        parts=kept_parts,
        leaves=leaves,
        boundaries=sorted({*transcript.boundaries, *ends}),
        collapsed=tuple(collapsed),
    )


def _outside(each: Iterable[T], gone: Sequence[tuple[int, int]], place: Callable[[T], int]) -> Iterable[T]:
    at = 0
    for one in each:
        while at < len(gone) and gone[at][1] <= place(one):
            at += 1
        if at == len(gone) or place(one) < gone[at][0]:
            yield one
