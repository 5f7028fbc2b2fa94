"""How an object's bytes can stand inside other bytes, and whether they do: pure, and in bounded memory.

Spellings: the bytes as they are; if they are UTF-8, as the inside of a JSON string by each encoder that
fold knows (castore.document.strings); and in base64 without line breaks, at any place in what was encoded.

Laws: bytes that hold one of these are found, wherever it begins and however they come in pieces; what is
found is there. (A base64 spelling is told by its characters: that the text around it is base64 too is not
asked.) Of an object of fewer than BASE64_BYTES_MIN bytes only its own base64 is looked for.

Memory: ANCHOR_BYTES a spelling, and a piece. A longer spelling is found by how it begins, and then
compared to its end. Where that beginning is met over ATTEMPTS_MAX times in vain, it counts as held.
"""

from __future__ import annotations

import codecs
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from castore.descriptor import Escape
from castore.document.strings import encode_text

__all__ = ["Pieces", "Spelling", "named", "spelling_in", "spellings"]

ANCHOR_BYTES = 64 << 10
"""So many bytes of a spelling are searched for."""

ATTEMPTS_MAX = 64
"""How often a long spelling is compared to its end in vain before it counts as held: bytes that repeat
would take the square of their length."""

BASE64_BYTES_MIN = 8
"""Shorter ones have too few whole characters inside other base64."""

_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

Pieces = Callable[[], Iterable[bytes]]
"""Gives the bytes from their beginning, in pieces, each time it is called."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """words: how it is spelt. anchor: how it begins, which is all of it if it `is_whole`.

    before, after: bytes one of which must stand beside it; none: anything, or nothing.
    """

    words: str
    pieces: Pieces
    anchor: bytes
    is_whole: bool
    before: bytes = b""
    after: bytes = b""
    pattern: re.Pattern[bytes] = field(init=False)

    def __post_init__(self) -> None:
        sides = [b"[" + re.escape(side) + b"]" if side else b"" for side in (self.before, self.after)]
        text = re.escape(self.anchor).join(sides) if self.is_whole and any(sides) else b""
        object.__setattr__(self, "pattern", re.compile(text))


def spellings(read: Pieces) -> list[Spelling]:
    """Of the bytes that `read` gives, each spelling once; none of no bytes."""
    found = [_spelling("as they are", read)]
    if not found[0].anchor:
        return []
    seen = {_digest(read())}
    for escape in Escape:
        pieces = _as_json(read, escape)
        try:
            digest = _digest(pieces())
        except UnicodeDecodeError:
            break
        if digest not in seen:
            seen.add(digest)
            found.append(_spelling("as a JSON string", pieces))
    return [*found, *_in_base64(read)]


def named(name: bytes) -> Spelling:
    """What finds these few bytes alone."""
    return _spelling("by name", lambda: [name])


def spelling_in(container: Pieces, wanted: Sequence[Spelling]) -> Spelling | None:
    """The first of the spellings that was met in the container's bytes; None if it holds none of them."""
    if not wanted:
        return None
    kept = max(len(each.anchor) for each in wanted) + 2
    searches = [_Search(each, container) for each in wanted]
    window, origin = b"", 0
    for piece in container():
        window += piece
        for search in searches:
            if search.looks(window, origin):
                return search.spelling
        cut = max(0, len(window) - kept)
        window, origin = window[cut:], origin + cut
    return None


# --- Helpers ---------------------------------------------------------------------------------------


class _Search:
    """One spelling in one container, whose bytes come in windows that overlap by more than the anchor."""

    def __init__(self, spelling: Spelling, container: Pieces) -> None:
        self.spelling = spelling
        self._container = container
        self._next = 0
        """Where in the container the anchor may begin next."""
        self._attempts = 0

    def looks(self, window: bytes, origin: int) -> bool:
        spelling = self.spelling
        at = max(self._next - origin, 0)
        while (at := window.find(spelling.anchor, at)) >= 0:
            if spelling.is_whole:
                return self._beside(window, origin, at)
            self._attempts += 1
            if self._is_at(window, origin, at) or self._attempts > ATTEMPTS_MAX:
                return True
            at += 1
        self._next = origin + max(len(window) - len(spelling.anchor) + 1, 0)
        return False

    def _beside(self, window: bytes, origin: int, at: int) -> bool:
        """Whether the anchor stands somewhere from `at` on between the bytes that must be beside it."""
        spelling = self.spelling
        if not spelling.before and not spelling.after:
            return True
        if spelling.pattern.search(window, max(at - len(spelling.before[:1]), 0)):
            return True
        # At the end of the window the byte after it is still to come.
        self._next = origin + max(len(window) - len(spelling.anchor), 0)
        return False

    def _is_at(self, window: bytes, origin: int, at: int) -> bool:
        """Whether all of a long spelling stands there."""
        spelling = self.spelling
        if spelling.before and (at == 0 or window[at - 1] not in spelling.before):
            return False
        theirs = _Reader(self._container(), origin + at)
        if any(theirs.take(len(mine)) != mine for mine in spelling.pieces()):
            return False
        return not spelling.after or theirs.take(1) in _each(spelling.after)


class _Reader:
    """Bytes taken from pieces, from `start` on."""

    def __init__(self, pieces: Iterable[bytes], start: int) -> None:
        self._pieces = iter(pieces)
        self._held = b""
        while start and (piece := next(self._pieces, None)) is not None:
            cut = min(start, len(piece))
            self._held, start = piece[cut:], start - cut

    def take(self, size: int) -> bytes:
        """`size` bytes, or those that are left."""
        while len(self._held) < size and (piece := next(self._pieces, None)) is not None:
            self._held += piece
        taken, self._held = self._held[:size], self._held[size:]
        return taken


def _spelling(words: str, pieces: Pieces, before: bytes = b"", after: bytes = b"") -> Spelling:
    head = b""
    is_whole = True
    for piece in pieces():
        head += piece
        if len(head) > ANCHOR_BYTES:
            is_whole = False
            break
    return Spelling(words, pieces, head[:ANCHOR_BYTES], is_whole, before, after)


def _digest(pieces: Iterable[bytes]) -> bytes:
    whole = sha256()
    for piece in pieces:
        whole.update(piece)
    return whole.digest()


def _as_json(read: Pieces, escape: Escape) -> Pieces:
    """The encoders take a character at a time, so pieces can be spelt one by one."""

    def pieces() -> Iterator[bytes]:
        decoder = codecs.getincrementaldecoder("utf-8")()
        for piece in read():
            yield encode_text(decoder.decode(piece), escape)[1:-1]
        decoder.decode(b"", True)

    return pieces


def _in_base64(read: Pieces) -> Iterator[Spelling]:
    """By how many bytes, of three, stand before the object in what was encoded.

    A character holds six bits. Those at both ends hold bits of the neighbours too, and are told by theirs.
    """
    size, first, last = 0, b"", b""
    for piece in read():
        size += len(piece)
        first = first or piece[:1]
        last = (last + piece)[-2:]
    if size < BASE64_BYTES_MIN:
        whole = b64encode(b"".join(read()))
        yield _spelling("in base64", lambda: [whole])
        return
    for shift in range(3):
        before = after = b""
        if shift:
            bits = 6 - 2 * shift  # 4, then 2: of the first byte, in a character that begins before it.
            before = bytes(
                c for value, c in enumerate(_ALPHABET) if value % (1 << bits) == first[0] >> 8 - bits
            )
        over = (shift + size) % 3
        if over:
            free = 6 - 2 * over  # 4, then 2: bits of the last character that belong to the next byte.
            known = last[-1] % (1 << 6 - free)
            after = bytes(c for value, c in enumerate(_ALPHABET) if value >> free == known)
        yield _spelling("in base64", _base64_pieces(read, shift), before, after)


def _base64_pieces(read: Pieces, shift: int) -> Pieces:
    """The characters that are the object's alone."""

    def pieces() -> Iterator[bytes]:
        held = bytes(shift)
        foreign = shift + 1 if shift else 0
        for piece in read():
            held += piece
            cut = len(held) - len(held) % 3
            yield b64encode(held[:cut])[foreign:]
            foreign = max(0, foreign - cut // 3 * 4)
            held = held[cut:]
        # Of one byte that is left over one character is whole, of two bytes two.
        yield b64encode(held)[: len(held)][foreign:]

    return pieces


def _each(values: bytes) -> set[bytes]:
    return {bytes((value,)) for value in values}
