"""Markers: a reference as text, for a model and whoever reads over its shoulder.

Law: a marker is one line of ASCII without a quote or a backslash, so it is the same in every string literal;
it names its object by exactly 16 hex digits, and it is never read to take a view back.

    [ctx 3f9ac01b77de5a10: tool result, 48213 bytes, 812 lines]
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import BinaryIO

from castore.descriptor import Descriptor, Kind

__all__ = [
    "NOMINAL_BYTES",
    "MarkerWatch",
    "clip_marker",
    "collapse_marker",
    "collapsed_in",
    "least_bytes",
    "marker",
    "same_marker",
    "whole_marker",
]

LABELS = frozenset(
    {
        "arguments",
        "assistant text",
        "context text",
        "error result",
        "summary",
        "system text",
        "text",
        "thinking",
        "tool result",
        "unknown block",
        "unknown item",
        "unknown record",
        "unknown result",
        "user text",
    }
)
"""What parts are called, but for media, which have their type."""

_MEDIA_TYPE = re.compile(r"[a-z]+/[a-zA-Z0-9.+-]{1,60}")

_SHORT_HEX = 16

# A JSON string that is a marker and nothing else: what stands for a part that moved.
_BEGINS = b'"[ctx '
# Or on a line of its own, between the head and the tail of a clipped text.
_BEGINS_LINE = b"\\n[ctx "
_CLIPPED = re.compile(
    rb"\\n(\[ctx ([0-9a-f]{16}): [ !#-\[\]-~]{1,200}; first [0-9]+(?: and last [0-9]+)? characters"
    rb" stand here, [0-9]+ left out[ !#-\[\]-~]{0,150}\])(?=\\n|\")"
)
_WHOLE = re.compile(rb'(?<!\\)"(\[ctx ([0-9a-f]{16}): [ !#-\[\]-~]{1,400}\])"')
# Or the first line of a text, before the summary of what it hides.
_COLLAPSED = re.compile(
    rb'(?<!\\)"(\[ctx ([0-9a-f]{16}): turns? [0-9]+(?: to [0-9]+)? collapsed, [ !#-\[\]-~]{1,350}\])\\n'
)
_WHOLE_BYTES_MAX = 450

NOMINAL_BYTES = 60
"""About what a marker takes, with the quotes of its literal: what is meant by `four times its marker`."""


def least_bytes(retrieve_with: str | None = None) -> int:
    """Nothing of up to this many bytes leaves: four times its marker."""
    verb = 0 if retrieve_with is None else len(retrieve_with) + len("; ") + _SHORT_HEX + 1
    return 4 * (NOMINAL_BYTES + verb)


def marker(descriptor: Descriptor, label: str, retrieve_with: str | None = None) -> str:
    """label: what it was; letters, digits and `/ . + -` of it are shown."""
    return f"[ctx {_short(descriptor)}: {_facts(descriptor, label)}{_verb(descriptor, retrieve_with)}]"


def same_marker(descriptor: Descriptor, label: str, call_id: str | None, retrieve_with: str | None) -> str:
    """It points to an equal text that stands in full before it."""
    where = f" as of call {_plain(call_id)}" if call_id else " as one above"
    return (
        f"[ctx {_short(descriptor)}: same {_plain(label)}{where}, {descriptor.size} bytes"
        f"{_verb(descriptor, retrieve_with)}]"
    )


def clip_marker(
    descriptor: Descriptor, label: str, *, head: int, tail: int, left_out: int, retrieve_with: str | None
) -> str:
    """It stands between a head and a tail of so many characters, and says how to read on."""
    verb = _verb(descriptor, retrieve_with) or f"; read on: ctx cat {_short(descriptor)}"
    around = f"first {head} and last {tail}" if tail else f"first {head}"
    return (
        f"[ctx {_short(descriptor)}: {_facts(descriptor, label)}; {around} characters stand here, "
        f"{left_out} left out{verb}]"
    )


def collapse_marker(contents: Descriptor, facts: str, retrieve_with: str | None) -> str:
    """It names what lists the turns that are hidden, and says how to read that."""
    verb = _verb(contents, retrieve_with) or f"; ctx cat {_short(contents)} lists them"
    return f"[ctx {_short(contents)}: {facts}{verb}]"


def collapsed_in(data: bytes) -> str | None:
    """The first marker that stands before the summary of what is collapsed; None if there is none."""
    found = _COLLAPSED.search(data) if _BEGINS in data else None
    return None if found is None else found[1].decode()


def whole_marker(data: bytes, known: Collection[str] = ()) -> str | None:
    """The first marker that is a whole string of `data`, or stands between a clip's head and tail, or before
    the summary of what is collapsed; None if there is none.

    known: 16 digits of those that are passed over. A session may well quote a marker, but hardly as a string
    of its own.
    """
    for begins, pattern in ((_BEGINS, _WHOLE), (_BEGINS_LINE, _CLIPPED), (_BEGINS, _COLLAPSED)):
        if begins in data:
            found = (match for match in pattern.finditer(data) if match[2].decode() not in known)
            for match in found:
                return match[1].decode()
    return None


class MarkerWatch:
    """A stream that is looked through as it is read. found: the first marker that is a whole string of it."""

    def __init__(self, source: BinaryIO, head: bytes = b"") -> None:
        """head: what was read of it before, which comes first."""
        self._source = source
        self._head = head
        self._before = b""
        self.found: str | None = None

    def read(self, size: int = -1) -> bytes:
        piece = self._next(size)
        if self.found is None:
            joined = self._before + piece
            self.found = whole_marker(joined)
            self._before = joined[-_WHOLE_BYTES_MAX:]
        return piece

    def _next(self, size: int) -> bytes:
        if not self._head:
            return self._source.read(size)
        piece = self._head if size < 0 else self._head[:size]
        self._head = self._head[len(piece) :]
        return piece + self._source.read() if size < 0 else piece


def _short(descriptor: Descriptor) -> str:
    return descriptor.digest.hex[:_SHORT_HEX]


def _facts(descriptor: Descriptor, label: str) -> str:
    facts = [_plain(label), f"{descriptor.size} bytes"]
    if descriptor.kind is Kind.TEXT and descriptor.lines and descriptor.lines > 1:
        facts.append(f"{descriptor.lines} lines")
    if descriptor.kind is Kind.ARRAY and descriptor.items is not None:
        facts.append(f"{descriptor.items} items")
    return ", ".join(facts)


def _verb(descriptor: Descriptor, retrieve_with: str | None) -> str:
    return f"; {retrieve_with} {_short(descriptor)}" if retrieve_with else ""


def _plain(text: str) -> str:
    """What a session says of itself may hold anything: a marker shows no more than a word of it, and nothing
    that needs an escape anywhere."""
    if text in LABELS or _MEDIA_TYPE.fullmatch(text):
        return text
    kept = "".join(c for c in text[:80] if c.isascii() and (c.isalnum() or c in "/.+-_|#"))
    return kept or "part"
