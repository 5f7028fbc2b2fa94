"""What a REF of a command that reads means: one object, or those that a document has at some places.

Law: `FILE#PATTERN` means the objects of the references and markers in the folded document (or view) FILE
whose path fits the pattern, in the order in which they stand, each once. Anything else is what
`Store.resolve` makes of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from castore.digest import Digest
from castore.document import path
from castore.document.grammar import value_end
from castore.document.pattern import parse_pattern
from castore.document.reference import Reference
from castore.document.scan import Segment, segments
from castore.document.splice import unfold_parts
from castore.document.strings import decode_literal
from castore.errors import CastoreError, NotFound
from castore.store.lookup import pasted
from castore.store.store import Store

__all__ = ["is_place", "resolve", "resolve_all"]

_NO_NODES = 1 << 62
_MARKER = b'"[ctx '
_TOLD_MAX = 3
"""Places of references that are told to who looked elsewhere."""


def is_place(text: str) -> bool:
    """It is `FILE#PATTERN`, with a file that is there."""
    file, sign, _ = text.partition("#$")
    return bool(sign) and os.path.lexists(file)


def resolve(store: Store, text: str) -> list[Digest]:
    """The objects that `text` means, at least one.

    Raises what `Store.resolve` raises; of `FILE#PATTERN` NotFound where nothing there fits, DocumentInvalid,
    LimitExceeded, InvalidOption, and CastoreError for a file that can't be read.
    """
    if not is_place(text):
        return [store.resolve(text)]
    file, _, pattern = text.partition("#$")
    wanted = parse_pattern("$" + pattern)
    found: list[Digest] = []
    others: list[str] = []
    try:
        with open(file, "rb") as document:
            for segment in segments(document.read, _NO_NODES):
                for steps, digest in _in_segment(segment):
                    if wanted.matches(steps):
                        found += [digest if isinstance(digest, Digest) else store.resolve(digest)]
                    elif len(others) <= _TOLD_MAX:
                        others.append(path.write_path(steps))
    except CastoreError as error:
        error.place = file if error.place is None else f"{file}: {error.place}"
        raise
    except OSError as error:
        raise CastoreError(f"can't read '{file}': {error.strerror}", file=file) from error
    if not found:
        raise NotFound(
            f"no reference in '{file}' is at '${pattern}'",
            hint=_where(list(dict.fromkeys(others))),
            subject=text,
        )
    return list(dict.fromkeys(found))


def resolve_all(store: Store, text: str) -> list[Digest]:
    """As `resolve`; of a name of several objects, a folded document's digest or a root's id all its objects.

    Raises what `resolve` and `Store.find` raise.
    """
    if "#$" in text and os.path.lexists(text.partition("#$")[0]):
        return resolve(store, text)
    found = store.find(text)
    if isinstance(found, Digest):
        return [found]
    named = (digest for root in found for each in store.based_chain(root) for digest in each.objects)
    return list(dict.fromkeys(named))


def _where(others: list[str]) -> str:
    """Where references are, for who looked elsewhere."""
    if not others:
        return "it has no reference and no marker; 'ctx fold' and 'ctx view' write files that have some"
    more = ", …" if len(others) > _TOLD_MAX else ""
    return f"references are at {', '.join(others[:_TOLD_MAX])}{more}"


def _in_segment(segment: Segment) -> Iterator[tuple[list[path.Step], Digest | str]]:
    """Where its references and markers are, and what each names: of a marker the words."""
    data = segment.data
    references = {part.start: part for part in unfold_parts(data) if isinstance(part, Reference)}
    if not references and _MARKER not in data:
        return
    for at, steps in path.values(data):
        if at in references:
            yield steps, references[at].descriptor.digest
        elif data.startswith(_MARKER, at):
            marker = decode_literal(bytes(data[at : value_end(data, at)]))
            if pasted(marker) != marker:
                yield steps, marker
