"""What makes summaries of sources: the interface, which the cache and every strategy know.

Laws, for whoever writes one:
- What a strategy makes follows from the source and from what its name, version and options say; whatever else
  it rests on (a model, a program, a prompt) is among the options, by its name or its digest. Else a cache
  serves what was made with something else.
- What changes for the same options gets a new version.
- It stores nothing and reads no store, so that it may be run again after any failure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from castore.summary.key import OptionValue

__all__ = ["Maker", "NamedMaker", "SummaryStrategy"]


class Maker(Protocol):
    """By whom a summary is made, as keys have it. name: a word of lower case and hyphens. version: from 1.

    options: JSON values (castore.summary.key).
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> int: ...

    @property
    def options(self) -> Mapping[str, OptionValue]: ...


class SummaryStrategy(Maker, Protocol):
    def summarize(self, source: bytes) -> str:
        """A summary of the source, which says something. Raises SummarizerFailed, InvalidOption,
        DocumentInvalid: then nothing is cached."""


@dataclass(frozen=True, slots=True)
class NamedMaker:
    """A maker that is somewhere else: its summaries are put, and found again."""

    name: str
    version: int = 1
    options: Mapping[str, OptionValue] = field(default_factory=dict)
