"""ObjectDatabase: the one place that digests on write and checks on read, above any source.

Laws: what `stage` returns is named by the SHA-256 of its bytes, and its frames were decoded again and
compared. What `read` returns has the digest it was asked for; `chunks` says so after the last piece.
Anything else is ObjectMissing or ObjectDamaged: never other bytes, never a part of them in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import accumulate, chain, islice
from typing import NamedTuple

from castore import codec
from castore.config import FRAME_BYTES
from castore.digest import Bytes, Digest
from castore.errors import ObjectDamaged, ObjectMissing
from castore.objects.ahead import Ahead
from castore.objects.frames import FrameFacts, FrameMeter, NewNesting
from castore.objects.source import Frames, ObjectSource, SourceStat, Stamp

__all__ = [
    "CheckSize",
    "EncodedObject",
    "Look",
    "ObjectCheck",
    "ObjectDatabase",
    "ObjectParts",
    "ObjectStat",
    "Staged",
    "encode_object",
]


_AHEAD_FRAMES_MIN = 4
"""Objects of fewer frames are encoded and decoded in the caller's thread."""


@dataclass(frozen=True, slots=True)
class ObjectStat:
    """`size`: of the object's bytes, as its frames declare. `stored_bytes`: of its file."""

    digest: Digest
    size: int
    stored_bytes: int


@dataclass(frozen=True, slots=True)
class ObjectCheck:
    """What a whole read found right. `file_sha256`: of the stored file. `stamp`: of the file then.

    `frames`: what was measured, if it was asked for, of each frame of an object of FRAME_BYTES or more.
    """

    digest: Digest
    size: int
    stored_bytes: int
    file_sha256: bytes
    stamp: Stamp
    frames: tuple[FrameFacts, ...] = ()


@dataclass(slots=True)
class Staged:
    """An object that is encoded and checked, not yet published.

    `found`: the check of the object with this digest that was in the store already, if there was a good
    one. `is_new` is final once the batch has committed: whether this batch published it.
    `facts`: of each frame of an object of FRAME_BYTES or more.
    """

    digest: Digest
    size: int
    file_sha256: bytes
    frames: Frames
    found: ObjectCheck | None = None
    is_new: bool = True
    facts: tuple[FrameFacts, ...] = ()


class ObjectParts(NamedTuple):
    """The frames of an object's file. size: of the object. starts: of each frame in the file, and the end of
    the last. decoded: bytes of each."""

    found: SourceStat
    size: int
    starts: tuple[int, ...]
    decoded: list[int]


class EncodedObject(NamedTuple):
    """An object of one frame: its file, which was decoded again and compared, and the digests of both."""

    digest: Digest
    size: int
    file: bytes
    file_sha256: bytes


def encode_object(data: Bytes, level: int) -> EncodedObject:
    """`data`, which is shorter than FRAME_BYTES, digested and encoded. Pure."""
    file = codec.encode(data, level)
    return EncodedObject(Digest(sha256(data).hexdigest()), len(data), file, sha256(file).digest())


CheckSize = Callable[[int], None]
Look = Callable[[Digest], bool]


def _always(digest: Digest) -> bool:
    return True


class ObjectDatabase:
    """Objects over one source. Safe from several threads.

    new_nesting: makes the pass that tells how deep arrays are nested (castore.objects.frames).
    """

    def __init__(
        self, source: ObjectSource, *, level: Callable[[], int], new_nesting: NewNesting | None = None
    ) -> None:
        self.source = source
        self._level = level
        self._new_nesting = new_nesting
        self._ahead = Ahead()

    def stage(self, data: Bytes, *, hold: bool = True, look: Look = _always) -> Staged:
        """`data` is encoded and checked. If the object is there already, that one is read and checked.

        look: of a digest, whether to look if it is there; if not, the bytes are as new.
        """
        if len(data) >= FRAME_BYTES:
            return self.stage_chunks([data], look=look)
        return self.stage_encoded(encode_object(data, self._level()), hold=hold, look=look)

    def stage_encoded(self, encoded: EncodedObject, *, hold: bool = True, look: Look = _always) -> Staged:
        """As `stage`, for what `encode_object` made."""
        frames = self.source.stage([encoded.file], hold=hold)
        staged = Staged(encoded.digest, encoded.size, encoded.file_sha256, frames)
        return self.looked_for(staged) if look(staged.digest) else staged

    def stage_chunks(self, pieces: Iterable[Bytes], *, look: Look = _always) -> Staged:
        """As `stage`, for any length of bytes, holding a few frames of them."""
        whole, file_digest, size = sha256(), sha256(), 0
        frames_of = _frames_of(pieces)
        begun = list(islice(frames_of, _AHEAD_FRAMES_MIN))
        is_long = len(begun) == _AHEAD_FRAMES_MIN
        meter = self._meter(is_long=is_long) if begun and len(begun[0]) == FRAME_BYTES else None

        def counted() -> Iterator[Bytes]:
            nonlocal size
            for frame in chain(begun, frames_of):
                whole.update(frame)
                size += len(frame)
                yield frame

        def stored() -> Iterator[bytes]:
            map_frames: codec.Map = self._ahead.map if is_long else map
            map_frames = map_frames if meter is None else meter.encoding(map_frames)
            for piece in codec.encode_pieces(counted(), self._level(), map_frames=map_frames):
                file_digest.update(piece)
                yield piece

        frames = self.source.stage(stored())
        staged = Staged(Digest(whole.hexdigest()), size, file_digest.digest(), frames)
        staged.facts = () if meter is None else meter.facts()
        return self.looked_for(staged) if look(staged.digest) else staged

    def looked_for(self, staged: Staged) -> Staged:
        """`staged`, with the check of the object that is there already, if that is a good one."""
        if self.source.stat(staged.digest) is not None:
            try:
                staged.found = self.check(staged.digest)
                staged.is_new = False
            except (ObjectDamaged, ObjectMissing):
                # Damaged bytes are replaced by the staged ones, and what vanished is written again.
                staged.found = None
        return staged

    def read(self, digest: Digest, check_size: CheckSize | None = None) -> bytes:
        """The object's bytes. Raises ObjectMissing, ObjectDamaged.

        check_size: of an object of several frames, is given the size that its file declares before any of
        them is decoded, so that a size that is not expected costs nothing.
        """
        while True:
            found = self._found(digest)
            try:
                return self._read(digest, found, check_size)
            except ObjectDamaged:
                # A put may have replaced the file between two pieces of it: then it is read again.
                now = self.source.stat(digest)
                if now is None or now.stamp == found.stamp:
                    raise

    def _read(self, digest: Digest, found: SourceStat, check_size: CheckSize | None) -> bytes:
        if found.stored_bytes <= codec.SINGLE_STORED_MAX:
            file = self.source.get(digest)
            if codec.declared_size(digest, file) < FRAME_BYTES:
                data = codec.decode(digest, file)
                if sha256(data).hexdigest() != digest.hex:
                    raise _other_digest(digest, sha256(data).hexdigest())
                return data
        if check_size is not None:
            check_size(self._table(digest, found).size)
        return b"".join(self.chunks(digest))

    def chunks(self, digest: Digest) -> Iterator[bytes]:
        """The object's bytes in pieces of at most FRAME_BYTES; ends only if they were all right.

        Raises ObjectMissing, ObjectDamaged: perhaps after pieces were given, so the caller keeps them
        back until the end.
        """
        found = self._found(digest)
        whole = sha256()
        for _, data in self._frames(digest, found, self._table(digest, found)):
            whole.update(data)
            if data:
                yield data
        if whole.hexdigest() != digest.hex:
            raise _other_digest(digest, whole.hexdigest())

    def stat(self, digest: Digest) -> ObjectStat | None:
        """Presence and sizes, without the bytes. Raises ObjectDamaged if the seek table is not readable."""
        found = self.source.stat(digest)
        if found is None:
            return None
        try:
            table = self._table(digest, found)
        except ObjectMissing:
            return None
        return ObjectStat(digest, table.size, found.stored_bytes)

    def check(self, digest: Digest, *, alone: bool = True, measure: bool = False) -> ObjectCheck:
        """Every byte was read, decoded and digested, and is right. Raises ObjectMissing, ObjectDamaged.

        alone: False if all cores have work, so that helping threads are of no use. measure: the frames too.
        """
        found = self._found(digest)
        whole, file_digest, size = sha256(), sha256(), 0
        meter, frames = self._checked_frames(digest, found, alone=alone, measure=measure)
        for stored, data in frames:
            file_digest.update(stored)
            whole.update(data)
            size += len(data)
        if whole.hexdigest() != digest.hex:
            raise _other_digest(digest, whole.hexdigest())
        facts = () if meter is None else meter.facts()
        return ObjectCheck(digest, size, found.stored_bytes, file_digest.digest(), found.stamp, facts)

    def restage(self, digest: Digest) -> Staged:
        """The object that is there, staged to be published again: the same file, every byte checked.

        For one that an unfinished writer left: that its bytes can be read does not say that they are on
        the disk. Raises ObjectMissing, ObjectDamaged.
        """
        return self.transfer(digest, self.source)

    def transfer(
        self, digest: Digest, target: ObjectSource, *, new_nesting: NewNesting | None = None
    ) -> Staged:
        """The object, staged in `target`, to be published there: the same file, every byte checked.

        Frames are not encoded anew. A few of them are held, whatever the object's size. If an error is
        raised, nothing is staged that `target` would publish.
        new_nesting: how `target` tells how deep arrays are nested; None: as this database does.
        Raises ObjectMissing, ObjectDamaged, and what either source does.
        """
        found = self._found(digest)
        whole, file_digest, size = sha256(), sha256(), 0
        meter, checked = self._checked_frames(digest, found, measure=True, new_nesting=new_nesting)

        def stored() -> Iterator[bytes]:
            nonlocal size
            for piece, data in checked:
                file_digest.update(piece)
                whole.update(data)
                size += len(data)
                yield piece
            if whole.hexdigest() != digest.hex:
                raise _other_digest(digest, whole.hexdigest())

        is_small = found.stored_bytes <= codec.SINGLE_STORED_MAX
        frames = target.stage(list(stored()) if is_small else stored())
        facts = () if meter is None else meter.facts()
        return Staged(digest, size, file_digest.digest(), frames, facts=facts)

    def stored(self, digest: Digest) -> tuple[int, Iterator[bytes]]:
        """How long the object's file is, and its bytes in pieces, every byte checked.

        A short file was checked when this returns. Of another the pieces end without an error only if they
        were all right, so the caller keeps them back until the end. Raises ObjectMissing, ObjectDamaged.
        """
        while True:
            found = self._found(digest)
            pieces = self._stored_pieces(digest, found)
            if found.stored_bytes > codec.SINGLE_STORED_MAX:
                return found.stored_bytes, pieces
            try:
                return found.stored_bytes, iter(list(pieces))
            except ObjectDamaged:
                # A put may have replaced the file meanwhile, as in `read`.
                now = self.source.stat(digest)
                if now is None or now.stamp == found.stamp:
                    raise

    def _stored_pieces(self, digest: Digest, found: SourceStat) -> Iterator[bytes]:
        whole = sha256()
        for piece, data in self._frames(digest, found, self._table(digest, found)):
            whole.update(data)
            yield piece
        if whole.hexdigest() != digest.hex:
            raise _other_digest(digest, whole.hexdigest())

    # --- Parts of an object ---

    def parts(self, digest: Digest) -> ObjectParts:
        """Where the frames of the object lie. Raises ObjectMissing, ObjectDamaged (its table only)."""
        found = self._found(digest)
        table = self._table(digest, found)
        return ObjectParts(found, table.size, tuple(accumulate(table.stored, initial=0)), table.decoded)

    def frame(self, digest: Digest, parts: ObjectParts, number: int) -> bytes:
        """The bytes of one frame, as they decode: whoever asks checks them. Raises as `parts`."""
        start, end = parts.starts[number : number + 2]
        return codec.decode_at(digest, self._get(digest, start, end - start), parts.decoded[number])

    def is_same(self, digest: Digest, parts: ObjectParts) -> bool:
        """Whether the file is still the one that `parts` is about."""
        now = self.source.stat(digest)
        return now is not None and now.stamp == parts.found.stamp

    # --- Helpers ---

    def _found(self, digest: Digest) -> SourceStat:
        found = self.source.stat(digest)
        if found is None:
            raise ObjectMissing(str(digest))
        return found

    def _meter(self, *, is_long: bool, new_nesting: NewNesting | None = None) -> FrameMeter:
        return FrameMeter(new_nesting or self._new_nesting, is_long=is_long)

    def _checked_frames(
        self,
        digest: Digest,
        found: SourceStat,
        *,
        alone: bool = True,
        measure: bool,
        new_nesting: NewNesting | None = None,
    ) -> tuple[FrameMeter | None, Iterator[tuple[bytes, bytes]]]:
        """As `_frames`; and the meter to which each is given, if any."""
        table = self._table(digest, found)
        frames = self._frames(digest, found, table, alone=alone)
        if not measure or table.size < FRAME_BYTES:
            return None, frames
        is_long = len(table.stored) >= _AHEAD_FRAMES_MIN
        meter = self._meter(is_long=is_long, new_nesting=new_nesting)
        return meter, meter.measured(frames, self._ahead.map if is_long and alone else map)

    def _table(self, digest: Digest, found: SourceStat) -> codec.FrameTable:
        return codec.read_table(
            digest, found.stored_bytes, lambda start, length: self._get(digest, start, length)
        )

    def _get(self, digest: Digest, start: int, length: int) -> bytes:
        data = self.source.get(digest, start, length)
        if len(data) != length:
            raise ObjectDamaged(str(digest), "its file is cut off")
        return data

    def _frames(
        self, digest: Digest, found: SourceStat, table: codec.FrameTable, *, alone: bool = True
    ) -> Iterator[tuple[bytes, bytes]]:
        """Each frame as stored and decoded; at last the seek table as stored, with no bytes."""
        if table.size < FRAME_BYTES:
            file = self._get(digest, 0, found.stored_bytes)
            yield file, codec.decode(digest, file)
            return
        starts = list(accumulate(table.stored, initial=0))

        def decoded(place: tuple[int, int, int]) -> tuple[bytes, bytes]:
            start, stored_bytes, size = place
            frame = self._get(digest, start, stored_bytes)
            return frame, codec.decode_at(digest, frame, size)

        places = zip(starts, table.stored, table.decoded, strict=False)
        is_long = alone and len(table.stored) >= _AHEAD_FRAMES_MIN
        yield from self._ahead.map(decoded, places) if is_long else map(decoded, places)
        yield self._get(digest, starts[-1], found.stored_bytes - starts[-1]), b""


def _other_digest(digest: Digest, actual: str) -> ObjectDamaged:
    return ObjectDamaged(str(digest), f"its bytes have digest '{Digest(actual).abbreviated}'")


def _frames_of(pieces: Iterable[Bytes]) -> Iterator[Bytes]:
    """The same bytes cut anew: FRAME_BYTES each, but for the last."""
    held = bytearray()
    for piece in pieces:
        if not held and len(piece) == FRAME_BYTES and isinstance(piece, bytes):
            yield piece
            continue
        view = memoryview(piece)
        if held:
            taken = min(FRAME_BYTES - len(held), len(view))
            held += view[:taken]
            view = view[taken:]
            if len(held) == FRAME_BYTES:
                yield bytes(held)
                held.clear()
        while len(view) >= FRAME_BYTES:
            yield view[:FRAME_BYTES]
            view = view[FRAME_BYTES:]
        held += view
    if held:
        yield bytes(held)
