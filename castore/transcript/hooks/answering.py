"""Answering Claude Code's hooks: long results are stored before a model sees them shortened.

Laws: what an answer names is on the disk before the answer is given; an error means that there is none, and
the model sees the result as it was. At the end of a session a root keeps what its transcript names for as
long again: an object that is gone, or that a caller may not see, is passed over.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from castore.config import HOOK_BYTES_MAX
from castore.digest import Digest
from castore.errors import CastoreError, NotFound
from castore.roots.model import RootDraft, RootKind
from castore.transcript.clipping import check_clip, clip_text
from castore.transcript.hooks import claude_code
from castore.transcript.hooks.claude_code import Event, Payload
from castore.transcript.markers import find_in_stream

if TYPE_CHECKING:
    from castore.store import StoreHandle

__all__ = ["KEEP_SECONDS", "HookOptions", "answer"]

KEEP_SECONDS = 30 * 86_400
"""As long as Claude Code keeps its transcripts, unless it is told otherwise."""

_READ_ON = "read on: ctx cat --max-bytes 8000"
"""A page of it, which says how the next one is read: all of it would be as long as what was left out."""

_NAME = "claude-code/"
"""What the names of the sources of these roots begin with: `ctx forget --source 'claude-code/*'`."""


@dataclass(frozen=True, slots=True)
class HookOptions:
    """characters_max: a longer result is shortened; characters_shown: of it, that stand. keep_seconds None:
    for ever. is_replacing: it is shortened; else what is said of it stands beside it. Raises InvalidOption.
    """

    characters_max: int = 20_000
    characters_shown: int = 4_000
    keep_seconds: int | None = KEEP_SECONDS
    is_replacing: bool = True
    retrieve_with: str | None = None
    scope: str | None = None

    def __post_init__(self) -> None:
        check_clip(min(self.characters_max, self.characters_shown), self.retrieve_with)


def answer(event: Event, handle: StoreHandle, options: HookOptions) -> dict[str, Any] | None:
    """What to tell Claude Code; None: nothing. Raises what Store and Batch raise; CastoreError for a
    transcript or output that can't be read."""
    if event.name in claude_code.AT_END:
        _keep(event, handle, options)
        return None
    found = claude_code.payloads(event, options.characters_max, options.retrieve_with)
    each = claude_code.length_each(found, min(options.characters_shown, options.characters_max))
    texts = []
    for payload in found:
        text = _stored(event, payload, claude_code.length_of(payload, each), handle, options)
        if text is not None:
            texts.append((payload, text))
    if not texts:
        return None
    if options.is_replacing:
        return claude_code.replaced(event, texts)
    return claude_code.beside(event, [text.strip("\n") for _, text in texts])


# --- Helpers ---------------------------------------------------------------------------------------


def _stored(
    event: Event, payload: Payload, characters_max: int, handle: StoreHandle, options: HookOptions
) -> str | None:
    """What stands in the payload's place, or beside it; None if it is short enough."""
    data = payload.text.encode() if payload.file is None else _read(payload.file)
    shown = clip_text(
        data,
        handle,
        characters_max=characters_max,
        source_name=f"{_NAME}{event.session}/{event.call}",
        scope=options.scope,
        keep_seconds=options.keep_seconds,
        retrieve_with=options.retrieve_with or _READ_ON,
        label="tool result",
        has_tail=claude_code.has_tail(event),
        is_marker_alone=not options.is_replacing,
    )
    return None if shown == data else shown.decode("utf-8", "replace")


def _read(path: str) -> bytes:
    """A whole output that Claude Code wrote to a file. Raises CastoreError."""
    try:
        with _opened(path) as source:
            if os.fstat(source.fileno()).st_size > HOOK_BYTES_MAX:
                raise CastoreError(f"'{path}' is no file of up to {HOOK_BYTES_MAX:,} bytes", path=path)
            return source.read()
    except (OSError, ValueError) as error:
        raise CastoreError(f"can't read the output '{path}': {error}", path=path) from error


def _opened(path: str) -> BinaryIO:
    """A file. What has no end, or is waited for, is none: a device, a pipe. Raises CastoreError, OSError."""
    source = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    if stat.S_ISREG(os.fstat(source.fileno()).st_mode):
        return source
    source.close()
    raise CastoreError(f"'{path}' is no file", path=path)


def _keep(event: Event, handle: StoreHandle, options: HookOptions) -> None:
    """A root names all that the transcript names, and that is here."""
    if event.transcript is None or not handle.exists:
        return
    try:
        with _opened(event.transcript) as source:
            named = {found.digest for found in find_in_stream(source)}
    except (OSError, ValueError) as error:
        raise CastoreError(
            f"can't read the transcript '{event.transcript}': {error}", path=event.transcript
        ) from error
    store = handle.get()
    digests: set[Digest] = set()
    for digits in named:
        try:
            digests.add(store.resolve(digits))
        except NotFound:
            continue  # It was quoted from elsewhere, or is gone.
    if digests:
        draft = RootDraft(
            RootKind.KEEP,
            tuple(sorted(digests)),
            scope=options.scope,
            source_name=_NAME + event.session,
            keep_seconds=options.keep_seconds,
        )
        store.keep([draft])
