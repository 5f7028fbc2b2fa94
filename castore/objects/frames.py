"""What is known of each frame of a large object: its own digest, and what was counted in it.

Law: all of it follows from the object's bytes. With the digests a frame can be checked without the others;
with the counts a line, a character or an item of an array is found without reading what is before it.

How deep arrays are nested is told by a pass that is handed in: objects know no JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import Any, NamedTuple, Protocol

__all__ = ["NONE", "FrameFacts", "FrameMeter", "Measured", "NewNesting", "fingerprint"]

NONE = -1
"""Commas, depth and state in an object that is no array."""

_CONTINUATION = bytes(range(0x80, 0xC0))


class FrameFacts(NamedTuple):
    """Of one frame. sha256: of its bytes. newlines: line feeds. characters: bytes that begin one in UTF-8.

    commas: between items of the array that the object is, in this frame. depth: arrays and objects that are
    open at its beginning. state: of its first byte: 0 outside strings, 1 inside one, 2 after a backslash in
    one. These three are NONE where the object is no array.
    """

    sha256: bytes
    newlines: int
    characters: int
    commas: int
    depth: int
    state: int


class Nesting(Protocol):
    """As `castore.document.nesting`."""

    @property
    def is_array(self) -> bool: ...

    def begin(self, piece: bytes) -> Callable[[], Any]: ...

    def add(self, shape: Any) -> tuple[int, int, int]: ...


NewNesting = Callable[[bool], Nesting]
"""Makes the pass over one object; of many frames or not."""


Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""As the built-in `map`: results in order."""


class Measured(NamedTuple):
    """Of one frame, apart from those before it."""

    sha256: bytes
    newlines: int
    characters: int
    shape: Any


class FrameMeter:
    """Measures the frames of one object: `begin` and `add` in their order, what `begin` gives anywhere.

    new_nesting: None where nobody asks for arrays. is_long: of many frames.
    """

    def __init__(self, new_nesting: NewNesting | None, *, is_long: bool) -> None:
        self._nesting = None if new_nesting is None else new_nesting(is_long)
        self._facts: list[FrameFacts] = []

    def begin(self, frame: bytes) -> Callable[[], Measured]:
        """What is to be done with the frame, which is not empty."""
        work = None if self._nesting is None else self._nesting.begin(frame)

        def measure() -> Measured:
            shape = None if work is None else work()
            return Measured(sha256(frame).digest(), _newlines(frame), _characters(frame), shape)

        return measure

    def add(self, measured: Measured) -> None:
        """The frame is the next one."""
        place = (NONE,) * 3 if self._nesting is None else self._nesting.add(measured.shape)
        self._facts.append(FrameFacts(*measured[:3], *place))

    def encoding(self, map_frames: Map) -> Map:
        """As `map_frames`, of work on frames; each is measured where it is worked on."""

        def measuring(encode: Callable[[Any], Any], frames: Iterable[Any]) -> Iterator[Any]:
            def work(begun: tuple[bytes, Callable[[], Measured]]) -> tuple[Any, Measured]:
                return encode(begun[0]), begun[1]()

            taken = (bytes(frame) for frame in frames)
            for encoded, measured in map_frames(work, ((frame, self.begin(frame)) for frame in taken)):
                self.add(measured)
                yield encoded

        return measuring

    def measured(
        self, frames: Iterator[tuple[bytes, bytes]], map_frames: Map
    ) -> Iterator[tuple[bytes, bytes]]:
        """The same frames, as stored and as decoded, and those of any bytes measured."""

        def work(begun: tuple[bytes, bytes, Callable[[], Measured] | None]) -> tuple[bytes, bytes, Any]:
            stored, data, measure = begun
            return stored, data, None if measure is None else measure()

        begun = ((stored, data, self.begin(data) if data else None) for stored, data in frames)
        for stored, data, measured in map_frames(work, begun):
            if measured is not None:
                self.add(measured)
            yield stored, data

    def facts(self) -> tuple[FrameFacts, ...]:
        """Of all that was added, which is the whole object."""
        if self._nesting is None or self._nesting.is_array:
            return tuple(self._facts)
        return tuple(each._replace(commas=NONE, depth=NONE, state=NONE) for each in self._facts)


def fingerprint(facts: Iterable[FrameFacts]) -> bytes:
    """The same for the same facts, in the same order, alone."""
    whole = sha256()
    for each in facts:
        whole.update(each.sha256 + b" %d %d %d %d %d\n" % each[1:])
    return whole.digest()


def _newlines(frame: bytes) -> int:
    # Many objects have none, which a search tells in a tenth of the time that counting takes.
    return frame.count(b"\n") if b"\n" in frame else 0


def _characters(frame: bytes) -> int:
    return len(frame) if frame.isascii() else len(frame.translate(None, _CONTINUATION))
