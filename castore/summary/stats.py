"""What the caches of the scopes that the caller sees hold, for `ctx stats`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from castore.summary.listing import listed

if TYPE_CHECKING:
    from castore.store import Store

__all__ = ["SummaryStats", "summary_stats"]


@dataclass(frozen=True, slots=True)
class SummaryStats:
    """entries: live ones. bytes: of their texts. superseded, old: of these, those of contents that their
    sources had once, and those past their age. hits: how often they were served, as far as the caller is
    told."""

    entries: int = 0
    bytes: int = 0
    superseded: int = 0
    old: int = 0
    hits: int = 0


def summary_stats(store: Store) -> SummaryStats:
    """Costs a query where there are none. Raises RootDamaged, InvalidConfig."""
    entries = listed(store, None)
    return SummaryStats(
        entries=len(entries),
        bytes=sum(each.entry.summary.size for each in entries),
        superseded=sum(each.is_superseded for each in entries),
        old=sum(each.is_old for each in entries),
        hits=sum(each.hits for each in entries),
    )
