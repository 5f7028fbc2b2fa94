"""Splices: replacing spans of bytes, and putting back what was there. The one place where documents are cut.

Laws: the spans of a list of splices are disjoint and in order; `apply` copies every byte outside them
once and in place, but for the escape of a user's own `$ctx` members (castore.document.reference), which
`parts` takes away again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from castore.document.reference import Reference, members, parse_reference

__all__ = ["Splice", "escape_members", "fold_parts", "unfold_parts"]

Splice = tuple[int, int, bytes]
"""start, end, replacement."""

Pieces = Iterator[bytes | memoryview]


def escape_members(data: bytes | bytearray, start: int = 0, end: int | None = None) -> Pieces:
    """The bytes of [start, end) with one `$` more in every user's `$…ctx` member."""
    view = memoryview(data)
    stop = len(data) if end is None else end
    done = start
    for name_at, *_ in members(data, start, stop):
        yield view[done : name_at + 1]
        yield b"$"
        done = name_at + 1
    yield view[done:stop]


def fold_parts(data: bytes | bytearray, splices: Iterable[Splice]) -> Pieces:
    """The folded form of `data`: what stands outside the spans, escaped, and the replacements."""
    done = 0
    for start, end, replacement in splices:
        yield from escape_members(data, done, start)
        yield replacement
        done = end
    yield from escape_members(data, done, len(data))


def unfold_parts(data: bytes | bytearray) -> Iterator[bytes | memoryview | Reference]:
    """The pieces of a folded document: bytes of the source (unescaped), and references in their places.

    Raises DocumentInvalid for a `$ctx` member that is not a well-formed reference.
    """
    view = memoryview(data)
    done = 0
    for member in members(data):
        name_at, after_dollar, dollars, _ = member
        if name_at < done:
            continue  # It stands inside a reference, as one of the members nobody knows.
        if dollars > 1:
            yield view[done : name_at + 1]
            done = after_dollar
            continue
        reference = parse_reference(data, member)
        yield view[done : reference.start]
        yield reference
        done = reference.end
    yield view[done:]
