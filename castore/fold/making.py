"""Making a reference: everything that is done with one chosen value before the store sees it. Pure.

Law: what is made depends on the literal, on what stands beside it and on the options alone, so it may be
made anywhere, ahead of need, or twice.
"""

from __future__ import annotations

import marshal
from typing import NamedTuple

from castore.config import FRAME_BYTES, PREVIEW_BYTES_MAX
from castore.descriptor import Descriptor, Encoding, Escape, Kind
from castore.digest import Digest
from castore.document.grammar import Node
from castore.document.preview import PREVIEW_BYTES_MIN, preview
from castore.document.reference import write_reference
from castore.fold.literal import NO_DIGEST, object_of
from castore.fold.policy import FoldPolicy
from castore.objects.database import EncodedObject, encode_object

__all__ = ["Made", "Maker", "pack_job", "pack_made", "unpack_job", "unpack_made"]

_PREVIEW_MEMBER_BYTES = len(',"preview":')


class Made(NamedTuple):
    """reference: None if it did not meet the saving. encoded: the object as the store keeps it, or the
    object's plain bytes where it is too large to be one frame."""

    descriptor: Descriptor
    reference: bytes | None
    encoded: EncodedObject | bytes | memoryview | None


class Maker:
    def __init__(self, policy: FoldPolicy, compression_level: int) -> None:
        self._policy = policy
        self._level = compression_level

    def make(self, data: bytes | bytearray, node: Node, parent: Node | None) -> Made:
        descriptor, stored = object_of(data, node, parent)
        bytes_max = self._policy.reference_bytes_max(node.end - node.start)
        # With any digest the reference is as long, so that nothing is encoded in vain.
        bare = write_reference(descriptor, bytes_max)
        if bare is None:
            return Made(descriptor, None, None)
        shown = self._preview(descriptor, stored, node, bytes_max - len(bare) - _PREVIEW_MEMBER_BYTES)
        encoded: EncodedObject | bytes | memoryview = stored
        digest = NO_DIGEST
        if len(stored) < FRAME_BYTES:
            encoded = encode_object(stored, self._level)
            digest = encoded.digest
        descriptor = descriptor.stored_as(digest, shown)
        return Made(descriptor, write_reference(descriptor, bytes_max), encoded)

    def with_digest(self, made: Made, node: Node, digest: Digest) -> Made:
        """Of an object that the store has digested as it took it."""
        descriptor = made.descriptor.stored_as(digest, made.descriptor.preview)
        bytes_max = self._policy.reference_bytes_max(node.end - node.start)
        return Made(descriptor, write_reference(descriptor, bytes_max), None)

    def _preview(
        self, descriptor: Descriptor, stored: bytes | memoryview, node: Node, room: float
    ) -> str | None:
        """The longest preview that still meets the saving, if one does that says anything."""
        if self._policy.preview == "none" or room < PREVIEW_BYTES_MIN:
            return None
        most = int(min(PREVIEW_BYTES_MAX, room))
        if self._policy.preview == "outliers" and descriptor.kind is not Kind.BYTES:
            from castore.overview.short import short_outliers

            if (outliers := short_outliers(stored, most)) is not None:
                return outliers
        return preview(
            stored,
            descriptor.kind,
            most,
            items=node.items,
            last_comma=node.last_comma - node.start,
            lines=descriptor.lines or 0,
        )


# --- Jobs and answers as bytes, for another process of the same program ------------------------------


def pack_job(data: bytes | bytearray, nodes: list[Node]) -> list[bytes | memoryview]:
    """Values that need nothing of what stands around them."""
    heads = []
    literals: list[bytes | memoryview] = []
    view = memoryview(data)
    at = 0
    for node in nodes:
        size = node.end - node.start
        last_comma = node.last_comma - node.start + at if node.last_comma >= 0 else -1
        heads.append((at, at + size, node.kind, node.items, last_comma))
        literals.append(view[node.start : node.end])
        at += size
    head = marshal.dumps(heads)
    return [len(head).to_bytes(4, "little"), head, *literals]


def unpack_job(job: bytes) -> tuple[bytes, list[Node]]:
    length = int.from_bytes(job[:4], "little")
    return job[4 + length :], [Node(*each) for each in marshal.loads(job[4 : 4 + length])]


def pack_made(made: list[Made]) -> bytes:
    return marshal.dumps([_packed(each) for each in made])


def unpack_made(answer: bytes) -> list[Made]:
    return [_unpacked(*each) for each in marshal.loads(answer)]


def _packed(made: Made) -> tuple[object, ...]:
    descriptor, encoded = made.descriptor, made.encoded
    if encoded is not None and not isinstance(encoded, EncodedObject):
        raise ValueError("a large object is for the store to take")
    return (
        str(descriptor.kind),
        descriptor.digest.hex,
        descriptor.size,
        descriptor.escape and str(descriptor.escape),
        descriptor.encoding and str(descriptor.encoding),
        descriptor.media_type,
        descriptor.items,
        descriptor.lines,
        descriptor.preview,
        made.reference,
        encoded and (encoded.size, encoded.file, encoded.file_sha256),
    )


def _unpacked(
    kind: str,
    digest: str,
    size: int,
    escape: str | None,
    encoding: str | None,
    media_type: str | None,
    items: int | None,
    lines: int | None,
    shown: str | None,
    reference: bytes | None,
    encoded: tuple[int, bytes, bytes] | None,
) -> Made:
    descriptor = Descriptor(
        Kind(kind),
        Digest(digest),
        size,
        None if escape is None else Escape(escape),
        None if encoding is None else Encoding(encoding),
        media_type,
        items,
        lines,
        shown,
    )
    return Made(
        descriptor, reference, None if encoded is None else EncodedObject(descriptor.digest, *encoded)
    )
