"""Clip any text on its way to a model: the whole is stored, head and tail stand, a marker between them.

Law: what the marker names is on the disk before the clipped text is given out; a text within the limit comes
back as it is, and nothing is stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from castore.descriptor import Descriptor, Kind
from castore.document.preview import line_count
from castore.errors import DocumentInvalid, InvalidOption
from castore.roots.model import Content, RootDraft, RootKind
from castore.transcript.marker import clip_marker
from castore.transcript.strategies.clip import head_and_tail

if TYPE_CHECKING:
    from castore.store import StoreHandle

__all__ = ["clip_text"]

_NOTICE_CHARACTERS = 200


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
) -> bytes:
    """`data`, or at most `characters_max` characters of it and a marker. A root of kind put keeps the whole.

    Raises DocumentInvalid for what is not UTF-8 text, and what Store and Batch raise.
    """
    if characters_max < 1:
        raise InvalidOption(f"a limit must be at least 1, not {characters_max}")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise DocumentInvalid(
            f"not UTF-8 text at byte {error.start}", offset=error.start, hint="'ctx put' stores any file"
        ) from error
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
    head, tail = head_and_tail(characters_max)
    descriptor = Descriptor(Kind.TEXT, staged.digest, staged.size, lines=line_count(data))
    between = clip_marker(
        descriptor,
        "text",
        head=head,
        tail=tail,
        left_out=len(text) - head - tail,
        retrieve_with=retrieve_with,
    )
    end = "\n" + text[len(text) - tail :] if tail else "\n"
    return f"{text[:head]}\n{between}{end}".encode()
