"""Digest: the name of an object, and the only way a hash is written, read or compared.

Law: a Digest always holds 64 lower-case hex digits, the SHA-256 of an object's literal bytes.
Past the edge of the program nothing passes a bare hex string.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import NamedTuple

from castore.errors import InvalidOption

__all__ = ["DIGEST_HEX", "PREFIX_HEX_MIN", "SHORT_HEX", "Bytes", "Digest", "is_short_prefix", "parse_prefix"]

Bytes = bytes | bytearray | memoryview

DIGEST_HEX = 64
"""Digits of a whole digest."""

SHORT_HEX = 16
"""Digits shown in text, tables and markers."""

PREFIX_HEX_MIN = 6
"""Fewest digits taken as an abbreviated digest."""

_ALGORITHM = "sha256:"
_FULL = re.compile(r"(?:sha256:)?([0-9a-f]{64})\Z")
_SHORT_PREFIX = re.compile(r"(?:sha256:[0-9a-fA-F]{1,5}|[0-9a-fA-F]{4,5})\Z")
_PREFIX = re.compile(rf"(?:sha256:)?([0-9a-fA-F]{{{PREFIX_HEX_MIN},64}})\Z")


class Digest(NamedTuple):
    """`sha256:<64 hex>` of an object's bytes. Orders and compares as its hex digits do."""

    hex: str

    @classmethod
    def parse(cls, text: str) -> Digest:
        """The digest written in `text`, in full, lower case; raises InvalidOption for anything else."""
        match = _FULL.match(text)
        if match is None:
            raise InvalidOption(f"'{text[:80]}' is not a digest", subject=text[:80])
        return cls(match[1])

    @classmethod
    def of(cls, data: Bytes) -> Digest:
        return cls(sha256(data).hexdigest())

    @classmethod
    def from_raw(cls, raw: bytes) -> Digest:
        """Of 32 bytes; raises ValueError for any other number of them."""
        if len(raw) != 32:
            raise ValueError("a digest has 32 bytes")
        return cls(raw.hex())

    @property
    def raw(self) -> bytes:
        return bytes.fromhex(self.hex)

    @property
    def short(self) -> str:
        """The 16 digits written in text and markers."""
        return self.hex[:SHORT_HEX]

    @property
    def abbreviated(self) -> str:
        """`sha256:` and 16 digits, as messages for people name an object."""
        return _ALGORITHM + self.hex[:SHORT_HEX]

    def __str__(self) -> str:
        return _ALGORITHM + self.hex


def parse_prefix(text: str) -> str | None:
    """The lower-case hex digits of an abbreviated or full digest, or None if `text` is not one."""
    match = _PREFIX.match(text)
    return match[1].lower() if match else None


def is_short_prefix(text: str) -> bool:
    """Whether `text` is likely meant as an abbreviated digest, with fewer digits than one takes."""
    return _SHORT_PREFIX.match(text) is not None
