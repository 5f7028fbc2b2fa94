"""A page of hits: an answer of a bounded length, and how to go on.

Law: the lines of a page have at most `bytes_max` bytes together. What it leaves out is what the same search
gives with `next_skip`, nothing twice and nothing left out, as long as the store is as it was.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from castore.config import GREP_FEW_BYTES, GREP_FEW_READ_BYTES, GREP_HITS_FEW, PAGE_BYTES
from castore.digest import Digest
from castore.errors import CastoreError
from castore.retrieve.grep.pattern import GrepOptions
from castore.retrieve.grep.search import Hit, Search
from castore.store.store import Store

__all__ = ["GrepPage", "Pager", "grep_page", "hit_facts", "json_bytes"]

_LINE_BYTES_MIN = 24
"""No hit is told in less: so many more are never looked for than fit."""


@dataclass(frozen=True, slots=True)
class GrepPage:
    """hits: their facts, JSON values. objects: how many were searched, until the page was full.

    next_skip: what to skip in the next search; None: nothing was left out. problems: why objects could not
    be searched.
    """

    hits: tuple[dict[str, Any], ...]
    objects: int
    next_skip: int | None
    problems: tuple[CastoreError, ...]

    @property
    def left_out(self) -> str | None:
        """In words."""
        return None if self.next_skip is None else f"the hits after the first {self.next_skip:,}"


def hit_facts(hit: Hit, *, is_brief: bool) -> dict[str, Any]:
    """`digest`, `address`, `excerpt`, and, where asked for, `before` and `after`."""
    facts: dict[str, Any] = {
        "digest": str(hit.digest),
        "address": hit.words,
        "excerpt": hit.brief if is_brief else hit.excerpt,
    }
    if hit.before or hit.after:
        facts |= {"before": list(hit.before), "after": list(hit.after)}
    return facts


def json_bytes(facts: dict[str, Any]) -> int:
    """What they take as a line of JSON."""
    return len(json.dumps(facts, ensure_ascii=False, separators=(",", ":")).encode()) + 1


class Pager:
    """Hits of a search, as long as they fit. Afterwards `next_skip` says how to go on; None: they all did."""

    def __init__(
        self,
        search_of: Callable[[GrepOptions], Search],
        options: GrepOptions,
        bytes_max: int | None,
        *,
        is_frugal: bool,
    ) -> None:
        """is_frugal: where few hits are asked for, little is told: see GREP_FEW_BYTES."""
        self.next_skip: int | None = None
        self._options = options
        self._bytes_max = bytes_max
        self._is_few = is_frugal and options.hits_max is not None and options.hits_max <= GREP_HITS_FEW
        most = options.hits_max
        if bytes_max is not None:
            most = min(most if most is not None else bytes_max, bytes_max // _LINE_BYTES_MIN + 1)
        # One more is looked for than asked for, to know whether there is one.
        self.search = search_of(replace(options, hits_max=None if most is None else most + 1))

    def pages(self, length: Callable[[Hit, bool], int]) -> Iterator[tuple[Hit, bool]]:
        """Each hit that fits, and whether it is told in brief: all but the first, where few were asked for.

        length: the bytes that a hit takes.
        """
        options = self._options
        room, used = self._bytes_max, 0
        for count, hit in enumerate(self.search.hits()):
            is_brief = self._is_few and count > 0
            if self._is_few and not count:
                few = min(GREP_FEW_BYTES, GREP_FEW_READ_BYTES - hit.reads)
                room = few if room is None else min(few, room)
            used += length(hit, is_brief)
            is_full = room is not None and count > 0 and used > room
            if is_full or count == options.hits_max:
                self.next_skip = options.skip + count
                return
            yield hit, is_brief


def grep_page(
    store: Store,
    pattern: str,
    digests: Iterable[Digest] | None = None,
    options: GrepOptions | None = None,
    bytes_max: int = PAGE_BYTES,
) -> GrepPage:
    """The first page of the hits. Raises InvalidOption for a pattern that is none, LimitExceeded."""
    listed = None if digests is None else list(digests)
    pager = Pager(
        lambda wider: Search(store, pattern, listed, wider),
        options or GrepOptions(),
        bytes_max,
        is_frugal=True,
    )
    hits = tuple(
        hit_facts(hit, is_brief=is_brief)
        for hit, is_brief in pager.pages(lambda hit, is_brief: json_bytes(hit_facts(hit, is_brief=is_brief)))
    )
    return GrepPage(hits, pager.search.objects, pager.next_skip, tuple(pager.search.problems))
