"""The items of an array, found in its bytes as they come, from any place whose depth is known.

Law: an item is what stands between two commas of the array's own, or its brackets, without the white space
around it. Memory: one piece, whatever the length of an item.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

__all__ = ["Commas", "item_pieces"]

_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:(")|(\\?)\Z)|[\[\]{},]', re.DOTALL)
_REST = re.compile(rb'(?:[^"\\]++|\\.)*+(?:(")|(\\?)\Z)', re.DOTALL)
_SPACE = b" \t\r\n"

OUTSIDE, INSIDE, ESCAPED = 0, 1, 2
"""Where a place is: outside strings, inside one, just after a backslash in one."""


class Commas:
    """Fed with the bytes of an array, piece after piece, it finds the ends of its items.

    depth: brackets that are open before the first byte, 0 before the array's own. state: OUTSIDE, …
    """

    def __init__(self, depth: int, state: int) -> None:
        self.depth = depth
        self.state = state

    def ends(self, piece: bytes) -> Iterator[int]:
        """The offsets in `piece` of the array's own commas, and of the bracket that closes it."""
        at = self._rest_of_string(piece)
        if at < 0:
            return
        for token in _TOKEN.finditer(piece, at):
            byte = piece[token.start()]
            if byte == 0x22:
                if token[1] is None:
                    self.state = ESCAPED if token[2] else INSIDE
            elif byte in b"[{":
                self.depth += 1
            elif byte == 0x2C:
                if self.depth == 1:
                    yield token.start()
            else:
                self.depth -= 1
                if self.depth == 0:
                    yield token.start()
                    return

    def _rest_of_string(self, piece: bytes) -> int:
        """The offset after the string that was open before `piece`; -1 if it is open after it, too."""
        if self.state == OUTSIDE:
            return 0
        start = 1 if self.state == ESCAPED else 0
        if start > len(piece) or not piece:
            return -1
        self.state = INSIDE
        found = _REST.match(piece, start)
        if found is None or found[1] is None:
            self.state = ESCAPED if found is not None and found[2] else INSIDE
            return -1
        self.state = OUTSIDE
        return found.end()


def item_pieces(pieces: Iterable[bytes], count: int) -> Iterator[tuple[bytes, bool]]:
    """Pieces of the next `count` items, each with whether it ends its item; none for an item without bytes.

    pieces: of the array, from inside its bracket, or after one of its own commas.
    """
    commas = Commas(1, OUTSIDE)
    held = b""
    """White space that is the item's own only if more of it follows."""
    is_begun = False
    left = count
    for piece in pieces:
        start = 0
        for end in commas.ends(piece):
            literal = held + piece[start:end] if is_begun else piece[start:end].lstrip(_SPACE)
            literal = literal.rstrip(_SPACE)
            if literal or is_begun:
                yield literal, True
            held, is_begun, start = b"", False, end + 1
            left -= 1
            if not left or commas.depth == 0:
                return
        tail = held + piece[start:] if is_begun else piece[start:].lstrip(_SPACE)
        body = tail.rstrip(_SPACE)
        if body:
            is_begun, held = True, tail[len(body) :]
            yield body, False
        else:
            held = tail if is_begun else b""
