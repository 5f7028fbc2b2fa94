"""Finding: one thing that verify found wrong. It is a line on stdout, and a JSON object for programs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from castore.digest import Digest

__all__ = ["Finding", "FindingName"]


class FindingName(StrEnum):
    MISSING = "missing"
    """Named by a root, a row or a reference, and not there."""
    DAMAGED = "damaged"
    """There, and not what its name says."""
    MISMATCH = "mismatch"
    """Good bytes, and something said of them that is not so."""
    MALFORMED = "malformed"
    """Not in the form that it must have."""
    STRAY = "stray"
    """A file that nobody owns."""
    UNINDEXED = "unindexed"
    """A file without its row in the index, or a row that says something else."""
    UNNAMED = "unnamed"
    """An object that no root names."""
    PURGED = "purged"
    """Removed on purpose."""
    MARKER = "marker"
    """A marker or a reference where none should stand."""


@dataclass(frozen=True, slots=True)
class Finding:
    """`place`: FILE, FILE:PATH@OFFSET in a document, FILE:LINE:COLUMN in any text. `words`: for people."""

    name: FindingName
    digest: Digest | None
    place: str | None
    words: str

    def __str__(self) -> str:
        """`NAME DIGEST [PLACE] words`; a dash where no digest can be told."""
        parts = [self.name.value, str(self.digest) if self.digest else "-"]
        if self.place:
            parts.append(self.place)
        return " ".join([*parts, self.words])
