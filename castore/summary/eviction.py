"""Which entries of a cache go, by the policies of their strategy. Pure.

Laws:
- Without a policy nothing goes. The entry that was just made never does, whatever it does to a bound.
- What is past its age goes. Of the rest, while there are too many, or their texts have too many bytes, the
  superseded go first, and among them, as among the others, those that were made or used longest ago.
- No more go than have to: what is left after the last one is within the bounds, and was not before.
- The policies are of one strategy, all its versions, in one scope: entries of others are not counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from castore.settings import SummaryPolicy
from castore.summary.entry import Entry

__all__ = ["Evicted", "Standing", "evicted", "is_old"]


@dataclass(frozen=True, slots=True)
class Standing:
    """An entry as a policy looks at it. last_used: when it was made, tied to a name or used last, unix
    seconds."""

    entry: Entry
    last_used: float
    is_superseded: bool = False


@dataclass(frozen=True, slots=True)
class Evicted:
    """An entry that goes, and by which policy: `age-max`, `entries-max` or `bytes-max`."""

    entry: Entry
    policy: str


def is_old(entry: Entry, policy: SummaryPolicy, now: float) -> bool:
    """Whether it is past its age: it is not served any more."""
    return policy.age_seconds_max is not None and entry.made + policy.age_seconds_max <= now


def evicted(
    standings: Iterable[Standing], policy: SummaryPolicy, *, now: float, just_made: str | None = None
) -> list[Evicted]:
    """Those of one strategy and scope that go, in this order. just_made: the key of the entry that stays."""
    gone: list[Evicted] = []
    left: list[Standing] = []
    for each in standings:
        if is_old(each.entry, policy, now) and each.entry.key.hex != just_made:
            gone.append(Evicted(each.entry, "age-max"))
        else:
            left.append(each)
    count, size = len(left), sum(each.entry.summary.size for each in left)
    for each in sorted(left, key=_last_first):
        if policy.entries_max is not None and count > policy.entries_max:
            reason = "entries-max"
        elif policy.bytes_max is not None and size > policy.bytes_max:
            reason = "bytes-max"
        else:
            break
        if each.entry.key.hex != just_made:
            gone.append(Evicted(each.entry, reason))
            count -= 1
            size -= each.entry.summary.size
    return gone


def _last_first(standing: Standing) -> tuple[bool, float, int]:
    return not standing.is_superseded, standing.last_used, standing.entry.sequence
