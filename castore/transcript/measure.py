"""What a view takes of a budget: bytes of the file, or tokens of what the model gets of it.

Laws: bytes are those of the view, all of them. Tokens of a body (one JSON value, which is what is sent) are
those of its bytes. Tokens of a session are those of its parts' texts as they stand in the view, but for what
never reaches the model, of what is said for collapsed turns, and MESSAGE_TOKENS a message and CALL_TOKENS a
call: the rest of a session's file (ids, times, what its tool shows to people) is not sent. System prompts and
tools that the file does not hold are not counted. An image counts as its base64 text, which is more than any
vendor charges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from castore.document.strings import decode_literal
from castore.transcript import tokens
from castore.transcript.formats import find_format
from castore.transcript.model import Part, PartKind, Transcript
from castore.transcript.render import Rendered

__all__ = ["CALL_TOKENS", "MESSAGE_TOKENS", "Measured", "Meter"]

MESSAGE_TOKENS = 4
"""For a message's role and its place."""
CALL_TOKENS = 8
"""For a call's name and id, and for what ties its result to it."""


@dataclass(frozen=True, slots=True)
class Measured:
    """size: bytes, or tokens. is_estimated: tokens that were not counted."""

    size: int
    is_tokens: bool = False
    is_estimated: bool = False

    def __str__(self) -> str:
        if not self.is_tokens:
            return f"{self.size:,} bytes"
        return f"about {self.size:,} tokens (estimated)" if self.is_estimated else f"{self.size:,} tokens"


class Meter:
    """Measures views of one transcript, with whatever is collapsed in them; of a part that stands as it was,
    the tokens are counted once."""

    def __init__(self, transcript: Transcript, *, is_tokens: bool) -> None:
        self.transcript = transcript
        self.is_tokens = is_tokens
        self._is_body = find_format(transcript.format).is_body
        self._counts: dict[int | bytes, int] = {}
        """Where a part stands -> tokens of its text; what stands in a part's place -> tokens of that."""

    def measure(self, rendered: Rendered) -> Measured:
        """What the view takes."""
        if not self.is_tokens:
            return Measured(rendered.size)
        count, is_exact = tokens.counter()
        if self._is_body:
            return Measured(count(b"".join(rendered.pieces())), True, not is_exact)
        size = sum(self._tokens(part, instead, count) for part, instead in _standing(rendered))
        transcript = rendered.transcript
        size += sum(count(each.text.encode("utf-8", "replace")) for each in transcript.collapsed)
        calls = sum(part.kind is PartKind.CALL for part in transcript.parts)
        size += MESSAGE_TOKENS * (len(transcript.messages) + len(transcript.collapsed)) + CALL_TOKENS * calls
        return Measured(size, True, not is_exact)

    def part_tokens(self, part: Part) -> int:
        """Of a part that stands as it was; none of what never reaches the model."""
        return 0 if part.kind is PartKind.UI else self._tokens(part, None, self._count)

    @cached_property
    def _count(self) -> Callable[[bytes], int]:
        return tokens.counter()[0]

    def bytes_a_token(self, rendered: Rendered, measured: Measured) -> float:
        """How many bytes of the view one token of its texts takes, on average. measured: what it takes."""
        if self._is_body:
            return rendered.size / max(measured.size, 1)
        count, _ = tokens.counter()
        size = tokens_in_all = 0
        for part, instead in _standing(rendered):
            size += part.size if instead is None else len(instead)
            tokens_in_all += self._tokens(part, instead, count)
        return size / max(tokens_in_all, 1)

    def _tokens(self, part: Part, instead: bytes | None, count: Callable[[bytes], int]) -> int:
        if instead == b"":
            return 0
        key = part.start if instead is None else instead
        found = self._counts.get(key)
        if found is None:
            literal = self.transcript.literal(part) if instead is None else instead
            found = self._counts[key] = count(_text(literal))
        return found


def _standing(rendered: Rendered) -> Iterator[tuple[Part, bytes | None]]:
    """Each part that reaches the model, and what stands in its place; None: it stands as it was."""
    instead = {each.part: each.replacement for each in rendered.splices if each.part is not None}
    runs = [(each.start, each.end) for each in rendered.splices if each.part is None]
    waiting = iter(runs)
    run = next(waiting, None)
    for part in rendered.transcript.parts:
        while run is not None and run[1] <= part.start:
            run = next(waiting, None)
        if part.kind is not PartKind.UI and (run is None or part.end <= run[0]):
            yield part, instead.get(part.index)


def _text(literal: bytes) -> bytes:
    """What a string says, and of anything else how it is written."""
    return decode_literal(literal).encode("utf-8", "replace") if literal[:1] == b'"' else literal
