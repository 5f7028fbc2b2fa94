"""Which entries are of contents that their sources had once: told by the names that they are tied to.

Laws:
- The content of a name is the source of the entry that was tied to it last. An entry is superseded once every
  name that it is tied to has another content; one without a name never is.
- Tying goes by numbers, not by the clock: of a name, each tie has a higher one than those before it. Of two
  that were tied at the same moment the later root counts.
- Nothing is written to supersede: who puts a content back, or takes a forget back, has it current again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from castore.config import SUMMARY_NAMES_MAX
from castore.digest import Digest
from castore.errors import LimitExceeded
from castore.summary.entry import Entry

__all__ = ["contents", "is_superseded", "superseded", "tied"]


def contents(entries: Iterable[Entry]) -> dict[tuple[str, str], Digest]:
    """By scope and name of a source, the content that it has now."""
    latest: dict[tuple[str, str], Entry] = {}
    for entry in entries:
        for name, number in entry.names.items():
            other = latest.setdefault((entry.scope, name), entry)
            if (number, entry.sequence) > (other.names[name], other.sequence):
                latest[entry.scope, name] = entry
    return {place: entry.source.digest for place, entry in latest.items()}


def is_superseded(entry: Entry, current: Mapping[tuple[str, str], Digest]) -> bool:
    """current: as `contents` tells it of all entries of the scope."""
    return bool(entry.names) and all(
        current.get((entry.scope, name), entry.source.digest) != entry.source.digest for name in entry.names
    )


def superseded(entries: Iterable[Entry]) -> frozenset[str]:
    """The keys of those that are, among all live entries of their scopes."""
    known = list(entries)
    current = contents(known)
    return frozenset(entry.key.hex for entry in known if is_superseded(entry, current))


def tied(entry: Entry, name: str, others: Iterable[Entry]) -> Entry:
    """The entry, whose source is what `name` has as its content now; the very same if that was so already.

    others: all live entries of its scope. Raises LimitExceeded.
    """
    of_name = [other for other in others if name in other.names and other.scope == entry.scope]
    content = contents(of_name).get((entry.scope, name))
    last = max((other.names[name] for other in of_name), default=0)
    if name in entry.names and content == entry.source.digest:
        return entry
    if name not in entry.names and len(entry.names) >= SUMMARY_NAMES_MAX:
        raise LimitExceeded(
            f"the entry is tied to {SUMMARY_NAMES_MAX} names already",
            limit="SUMMARY_NAMES_MAX",
            hint="forget it, and make it anew with the names that it is to have",
        )
    return replace(entry, names=MappingProxyType({**entry.names, name: last + 1}))
