"""What gc would do: pure, so that `--dry-run` prints the very decisions that the sweep carries out.

Laws: an object is removed only if no root names it that has not expired. Roots are removed only when
they have expired; a forgotten root has an expiry, and with `forgotten_now` that is now. What a root that
stays is based on stays, whatever it says itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

__all__ = ["ExpiringRoot", "GcReport", "ShardPlan", "expired_roots", "plan_shard"]


@dataclass(frozen=True, slots=True)
class ExpiringRoot:
    """A root that has an expiry. `number`: its number in the index."""

    number: int
    id: str
    expires: float
    is_forgotten: bool


@dataclass(frozen=True, slots=True)
class ShardPlan:
    """`removed`: digests, in hex, of objects that go now.

    removed_later: how many go once the last root that names them has expired; later_date: when the last of
    these does.
    """

    removed: tuple[str, ...]
    removed_bytes: int
    removed_later: int
    removed_later_bytes: int
    later_date: float | None


@dataclass(frozen=True, slots=True)
class GcReport:
    """What gc has done, or would do. Bytes are of files.

    later_objects, later_bytes: what is freed besides, once every root that has an expiry has expired; the
    last of it by `later_date`. staged_files: what a crash left in tmp/, over a day old.
    """

    roots: int = 0
    objects: int = 0
    stored_bytes: int = 0
    later_objects: int = 0
    later_bytes: int = 0
    later_date: float | None = None
    staged_files: int = 0
    staged_bytes: int = 0

    def with_shard(self, shard: ShardPlan) -> GcReport:
        return replace(
            self,
            objects=self.objects + len(shard.removed),
            stored_bytes=self.stored_bytes + shard.removed_bytes,
            later_objects=self.later_objects + shard.removed_later,
            later_bytes=self.later_bytes + shard.removed_later_bytes,
            later_date=_later_of(self.later_date, shard.later_date),
        )


def expired_roots(
    expiring: Iterable[ExpiringRoot], bases: Mapping[str, str], *, now: float, forgotten_now: bool
) -> tuple[list[ExpiringRoot], list[ExpiringRoot]]:
    """Those that have expired, and those that will, or that others need.

    bases: by the id of each root that is based on one: the id of that one.
    """
    gone: dict[str, ExpiringRoot] = {}
    later = []
    for root in expiring:
        if root.expires <= now or (forgotten_now and root.is_forgotten):
            gone[root.id] = root
        else:
            later.append(root)
    for root_id, base in bases.items():
        if root_id in gone:
            continue
        # Each is kept once, so that a circle ends.
        at: str | None = base
        while at is not None and at in gone:
            later.append(gone.pop(at))
            at = bases.get(at)
    return list(gone.values()), later


def plan_shard(stored_bytes: Mapping[str, int], named: Mapping[bytes, float | None]) -> ShardPlan:
    """Which of the objects in a shard's folder go.

    stored_bytes: every object file there, by its digest in hex. named: digests that a root names which
    has not expired, and when the last of these roots does; None: one never does.
    """
    removed, later, dates = [], [], []
    for name in sorted(stored_bytes):
        digest = bytes.fromhex(name)
        if digest not in named:
            removed.append(name)
        elif (expires := named[digest]) is not None:
            later.append(name)
            dates.append(expires)
    return ShardPlan(
        tuple(removed),
        sum(stored_bytes[name] for name in removed),
        len(later),
        sum(stored_bytes[name] for name in later),
        max(dates, default=None),
    )


def _later_of(one: float | None, other: float | None) -> float | None:
    return max((each for each in (one, other) if each is not None), default=None)
