"""Entry: one summary of a cache, as a root of kind `summary` that has a key. docs/summary.md, An entry.

Laws:
- An entry names its source and its summary, and what its chain rests on, so that gc keeps all of it or
  nothing. A root of which one of the two was purged, or that says what can't be, is no entry: it is never
  served.
- What an entry is of follows from its root alone: the key that its details give must be the root's own.
- Its age counts from when the text was made or put; tying it to one more name makes it no younger.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from castore.config import (
    COUNT_MAX,
    SOURCE_NAME_BYTES_MAX,
    SUMMARY_NAMES_MAX,
    SUMMARY_STEPS_MAX,
    TIME_MAX,
)
from castore.digest import Digest
from castore.errors import CastoreError, InvalidOption, LimitExceeded
from castore.roots.model import Content, Root, RootDraft, RootKind
from castore.summary.key import SummaryKey

__all__ = ["BY_GET", "BY_PUT", "DETAIL", "NAMES_PATH", "Entry", "Step", "checked_name", "entry_of"]

DETAIL = "summary"
"""The detail of the root that holds what only an entry says."""

NAMES_PATH = f"$.{DETAIL}.names"
"""Where in the details of a root the names stand that its entry is tied to."""

BY_GET, BY_PUT = "get", "put"
"""Who made the text: a strategy that the cache ran; somebody else, who stored it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step back from a derived text: what it was made of, and by what.

    by: `extract@1` and the like for a summary, `view`, or `collapse`. digest: of what it was made of; of a
    collapse None: it is turns of a session. name: the source's or the session's, if it has one.
    """

    by: str
    digest: Digest | None = None
    name: str | None = None

    def to_json(self) -> dict[str, str]:
        said = {"by": self.by}
        if self.digest is not None:
            said["digest"] = str(self.digest)
        if self.name is not None:
            said["name"] = self.name
        return said

    @classmethod
    def parse(cls, value: Any) -> Step:
        """Raises ValueError, InvalidOption."""
        if not isinstance(value, dict):
            raise ValueError("a step must be an object")
        by, digest, name = value.get("by"), value.get("digest"), value.get("name")
        if not isinstance(by, str) or not isinstance(name, str | None):
            raise ValueError("what a step says must be strings")
        return cls(by, None if digest is None else _digest(digest), name)


@dataclass(frozen=True, slots=True)
class Entry:
    """One cached summary. source: digest and size of the source's bytes; summary: of the text.

    names: the named sources that it is tied to, each with the number of its tie
    (castore.summary.superseding). chain: the steps from the source back to the first source, where
    that is derived itself. keeps: what else its root names, for the chain; base: the root of a view that the
    chain rests on. source_name: what people know the source by, if it is tied to none. made: when the text
    was made or put, unix seconds. root_id, sequence: of its root as it was read; of an entry that is not
    stored yet, the id and 0.
    """

    key: SummaryKey
    source: Content
    summary: Content
    made_by: str
    made: float
    names: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    chain: tuple[Step, ...] = ()
    keeps: tuple[Digest, ...] = ()
    base: str | None = None
    source_name: str | None = None
    root_id: str = ""
    sequence: int = 0

    @property
    def scope(self) -> str:
        return self.key.scope

    def draft(self, *, replaces: int) -> RootDraft:
        """The root that is this entry. replaces: the sequence of the live root that it is in place of."""
        latest = max(self.names, key=lambda name: (self.names[name], name), default=None)
        said: dict[str, Any] = {
            "text": {"digest": str(self.summary.digest), "size": self.summary.size},
            "strategy": self.key.strategy,
            "version": self.key.version,
            "options": {
                name: list(value) if isinstance(value, tuple) else value
                for name, value in self.key.options.items()
            },
            "names": dict(self.names),
            "made_by": self.made_by,
            "made": self.made,
        }
        if self.chain:
            said["chain"] = [step.to_json() for step in self.chain]
        return RootDraft(
            RootKind.SUMMARY,
            tuple(sorted({self.source.digest, self.summary.digest, *self.keeps})),
            scope=self.scope,
            source_name=latest or self.source_name,
            source=self.source,
            details={DETAIL: said},
            base=self.base,
            key=self.key.hex,
            replaces=replaces,
        )


def entry_of(root: Root) -> Entry | None:
    """The entry that the root is; None if it is none, or names its source or its summary no more."""
    if root.kind is not RootKind.SUMMARY or root.key is None:
        return None
    try:
        entry = _parsed(root)
    except (ValueError, CastoreError):
        return None
    named = set(root.objects)
    whole = entry.source.digest in named and entry.summary.digest in named
    return entry if whole and entry.key.hex == root.key else None


def checked_name(name: str) -> str:
    """The name of a source, which is any text that says something. Raises InvalidOption, LimitExceeded."""
    if not isinstance(name, str):
        raise InvalidOption(f"the name of a source is a str, not a {type(name).__name__}")
    try:
        length = len(name.encode())
    except UnicodeEncodeError as error:
        raise InvalidOption("the name of a source is not Unicode") from error
    if not name.strip() or "\x00" in name:
        raise InvalidOption("a source must have a name that can be read", hint="is a variable empty?")
    if length > SOURCE_NAME_BYTES_MAX:
        words = f"the name of a source is longer than {SOURCE_NAME_BYTES_MAX:,} bytes"
        raise LimitExceeded(words, limit="SOURCE_NAME_BYTES_MAX")
    return name


# --- Helpers ---------------------------------------------------------------------------------------


def _parsed(root: Root) -> Entry:
    """Raises ValueError, InvalidOption, LimitExceeded for what no cache wrote."""
    said = root.details.get(DETAIL)
    if not isinstance(said, dict) or root.source is None:
        raise ValueError("it says nothing of a summary")
    options = said.get("options")
    if not isinstance(options, dict):
        raise ValueError("options must be an object")
    strategy, version = said.get("strategy"), said.get("version")
    if not isinstance(strategy, str) or not isinstance(version, int):
        raise ValueError("a strategy has a name and a version")
    key = SummaryKey(root.source.digest, root.scope, strategy, version, options)
    summary = _content(said.get("text"))
    made_by, made = said.get("made_by"), said.get("made")
    if made_by not in (BY_GET, BY_PUT) or isinstance(made, bool) or not isinstance(made, int | float):
        raise ValueError("it must say who made it, and when")
    if not 0 <= made <= TIME_MAX:
        raise ValueError("it was made at no time")
    own = {root.source.digest, summary.digest}
    return Entry(
        key=key,
        source=root.source,
        summary=summary,
        made_by=made_by,
        made=made,
        names=_names(said.get("names")),
        chain=_chain(said.get("chain", [])),
        keeps=tuple(digest for digest in root.objects if digest not in own),
        base=root.base,
        source_name=root.source_name,
        root_id=root.id,
        sequence=root.sequence,
    )


def _content(value: Any) -> Content:
    if not isinstance(value, dict):
        raise ValueError("the text must be an object")
    size = value.get("size")
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size <= COUNT_MAX:
        raise ValueError("the text must have a size")
    return Content(_digest(value.get("digest")), size)


def _digest(value: Any) -> Digest:
    if not isinstance(value, str):
        raise ValueError("a digest must be a string")
    return Digest.parse(value)


def _names(value: Any) -> Mapping[str, int]:
    if not isinstance(value, dict) or len(value) > SUMMARY_NAMES_MAX:
        raise ValueError("names must be an object of a few")
    for name, number in value.items():
        if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= COUNT_MAX:
            raise ValueError("the number of a name must be one")
        checked_name(name)
    return MappingProxyType(dict(value))


def _chain(value: Any) -> tuple[Step, ...]:
    if not isinstance(value, list) or len(value) > SUMMARY_STEPS_MAX:
        raise ValueError("a chain must be a list of a few steps")
    return tuple(Step.parse(each) for each in value)
