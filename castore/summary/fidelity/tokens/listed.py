"""Lists of words, as they stand in the modules that need them."""

from __future__ import annotations

__all__ = ["listed"]


def listed(words: str) -> frozenset[str]:
    """The words, which white space parts."""
    return frozenset(words.split())
