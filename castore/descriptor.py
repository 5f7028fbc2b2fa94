"""Descriptor: the only way one thing points at another. It says what stood here and how to rebuild it.

The same four facts (kind, digest, size, and the encoder where the kind needs one) are written in a
document as a reference, in a view as a marker, and in a root as a splice.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from castore.digest import Digest

__all__ = ["Descriptor", "Encoding", "Escape", "Kind"]


class Kind(StrEnum):
    """What the object's bytes are, and so how the literal is rebuilt from them."""

    ARRAY = "array"
    """The literal JSON text of an array."""
    OBJECT = "object"
    """The literal JSON text of an object."""
    STRING = "string"
    """The literal JSON text of a string, quotes included."""
    TEXT = "text"
    """The decoded text of a JSON string, UTF-8; `escape` names the encoder that gives the literal back."""
    BYTES = "bytes"
    """The decoded bytes of a base64 JSON string; `encoding` says how they were written."""
    SPAN = "span"
    """The source's bytes as they stood, whatever they are. Of a view's splices alone: no reference has it."""


class Escape(StrEnum):
    """The string encoders that give a JSON string literal back from its text, each fixed to the byte."""

    MINIMAL = "minimal"
    ASCII = "ascii"
    GO = "go"


class Encoding(StrEnum):
    BASE64 = "base64"
    DATA_URI = "data-uri"


@dataclass(frozen=True, slots=True)
class Descriptor:
    """`kind`, `digest` and `size` rebuild the literal (with `escape`, `encoding` or `media_type` where
    the kind needs it); `items`, `lines` and `preview` are for the reader only.

    size: bytes of the object. items: of an array. lines: line feeds, plus one if the last byte is
    not one. preview: text, at most 160 bytes as written in the document.
    """

    kind: Kind
    digest: Digest
    size: int
    escape: Escape | None = None
    encoding: Encoding | None = None
    media_type: str | None = None
    items: int | None = None
    lines: int | None = None
    preview: str | None = None

    def stored_as(self, digest: Digest, preview: str | None = None) -> Descriptor:
        """The same, of an object that has been digested, with its preview."""
        return Descriptor(
            self.kind,
            digest,
            self.size,
            self.escape,
            self.encoding,
            self.media_type,
            self.items,
            self.lines,
            preview,
        )
