"""Quotas: checked before anything is published, so that what does not fit leaves nothing half-written.

Laws: a scope's quota is on the full size of every distinct object that its roots name, forgotten ones
included until they expire; what it shares with other scopes counts whole, so that the quota tells nothing
of them. The store's is on the bytes of all object files.

Costs a look at every object of the scope (or store) that has a quota; nothing where there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from castore.errors import LimitExceeded
from castore.settings import Config

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["Needs", "check"]


class Needs(NamedTuple):
    """sizes: by scope, the full size of every object that is to be named, by raw digest.

    stored_bytes: of the files that are to be published as new.
    """

    sizes: Mapping[str, Mapping[bytes, int]]
    stored_bytes: int


def check(connection: Connection, config: Config, needs: Needs, now: float) -> None:
    """What is needed fits. Raises LimitExceeded."""
    from castore.index import objects, seen

    for scope, sizes in needs.sizes.items():
        settings = config.scopes.get(scope)
        if settings is None or settings.quota_bytes is None:
            continue
        used = seen.total(connection, (scope,), now).size
        more = sum(
            size for digest, size in sizes.items() if not seen.is_named_raw(connection, digest, (scope,), now)
        )
        _check(f"scope '{scope}'", "scope.quota", used, more, settings.quota_bytes)
    if config.quota_bytes is not None and needs.stored_bytes:
        used = objects.total(connection).stored_bytes
        _check("the store", "store.quota", used, needs.stored_bytes, config.quota_bytes)


def _check(whose: str, limit: str, used: int, more: int, quota: int) -> None:
    if more and used + more > quota:
        raise LimitExceeded(
            f"the quota of {whose} is {quota:,} bytes: {used:,} are used, and {more:,} more are needed",
            limit=limit,
            hint="forget what is not needed ('ctx forget --now', then 'ctx gc'), or raise the quota",
            quota=quota,
            used=used,
            needed=more,
        )
