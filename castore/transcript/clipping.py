"""Clip any text on its way to a model: the whole is stored, head and tail stand, a marker between them.

Law: what the marker names is on the disk before the clipped text is given out; a text within the limit comes
back as it is, and nothing is stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from castore.descriptor import Descriptor, Kind
from castore.document.preview import line_count
from castore.errors import InvalidOption
from castore.roots.model import Content, RootDraft, RootKind
from castore.transcript.decision import ViewOptions
from castore.transcript.marker import clip_marker, marker
from castore.transcript.strategies.clip import head_and_tail

if TYPE_CHECKING:
    from castore.store import StoreHandle

__all__ = ["check_clip", "clip_text"]

_NOTICE_CHARACTERS = 200


def check_clip(characters_max: int, retrieve_with: str | None) -> None:
    """Raises InvalidOption for what `clip_text` would not take, before there is a text to lose."""
    if characters_max < 1:
        raise InvalidOption(f"a limit must be at least 1, not {characters_max}")
    ViewOptions(retrieve_with=retrieve_with)


def clip_text(
    data: bytes,
    handle: StoreHandle,
    *,
    characters_max: int = 4000,
    source_name: str | None = None,
    scope: str | None = None,
    keep_seconds: int | None = None,
    allow_purged: bool = False,
    retrieve_with: str | None = None,
    label: str = "text",
    has_tail: bool = True,
    is_marker_alone: bool = False,
) -> bytes:
    """`data`, or at most `characters_max` characters of it and a marker. A root of kind put keeps the whole.

    label: what the marker calls it. has_tail: two thirds of what stands are its head, and a third its tail;
    else all is head. is_marker_alone: nothing stands but the marker.

    Of UTF-8 no character is cut; of anything else (the marker says `bytes`, not `text`) each byte that is no
    part of a character counts as one. Raises InvalidOption, and what Store and Batch raise.
    """
    check_clip(characters_max, retrieve_with)
    # A byte that is no text decodes to half a character that stands for it, and is encoded back to that byte.
    text = data.decode("utf-8", "surrogateescape")
    if len(text) <= characters_max + _NOTICE_CHARACTERS:
        return data
    with handle.get_or_create().batch() as batch:
        staged = batch.stage(data)
        batch.commit(
            RootDraft(
                RootKind.PUT,
                (staged.digest,),
                scope=scope,
                source_name=source_name,
                keep_seconds=keep_seconds,
                source=Content(staged.digest, staged.size),
            ),
            allow_purged=allow_purged,
        )
    is_text = _is_text(text)
    described = Descriptor(Kind.SPAN, staged.digest, staged.size)
    if is_text:
        described = Descriptor(Kind.TEXT, staged.digest, staged.size, lines=line_count(data))
    name = label if is_text or label != "text" else "bytes"
    if is_marker_alone:
        return marker(described, name, retrieve_with or "ctx cat").encode()
    head, tail = head_and_tail(characters_max) if has_tail else (characters_max, 0)
    between = clip_marker(
        described,
        name,
        head=head,
        tail=tail,
        left_out=len(text) - head - tail,
        retrieve_with=retrieve_with,
    )
    end = "\n" + text[len(text) - tail :] if tail else "\n"
    return f"{text[:head]}\n{between}{end}".encode("utf-8", "surrogateescape")


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
