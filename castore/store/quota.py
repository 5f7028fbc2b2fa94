"""Quotas: checked before anything is published, so that what does not fit leaves nothing half-written.

Laws: a scope's quota is on the full size of every distinct object that its roots name, forgotten ones
included until they expire; what it shares with other scopes counts whole, so that the quota tells nothing
of them. The store's is on the bytes of all object files; how many those are is told to the operator alone.

Costs a look at every object of the scope (or store) that has a quota; nothing where there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from castore.digest import Digest
from castore.errors import LimitExceeded
from castore.settings import Config

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["Needs", "check", "used_by_scope", "used_by_store"]


class Needs(NamedTuple):
    """sizes: by scope, the full size of every object that is to be named, by raw digest.

    stored_bytes: of the files that are to be published as new.
    """

    sizes: Mapping[str, Mapping[bytes, int]]
    stored_bytes: int


def check(connection: Connection, config: Config, needs: Needs, now: float, *, is_operator: bool) -> None:
    """What is needed fits. Raises LimitExceeded."""
    for scope, sizes in needs.sizes.items():
        settings = config.scopes.get(scope)
        if settings is None or settings.quota_bytes is None:
            continue
        used = used_by_scope(connection, scope, now)
        more = sum(size for digest, size in sizes.items() if not _is_counted(connection, digest, scope, now))
        if more and used + more > settings.quota_bytes:
            whose = f"scope '{scope}'"
            raise _exceeded(whose, "scope.quota", settings.quota_bytes, used, more, is_operator=is_operator)
    if config.quota_bytes is not None and needs.stored_bytes:
        used = used_by_store(connection)
        if used + needs.stored_bytes > config.quota_bytes:
            told = used if is_operator else None
            raise _exceeded(
                "the store",
                "store.quota",
                config.quota_bytes,
                told,
                needs.stored_bytes,
                is_operator=is_operator,
            )


def used_by_scope(connection: Connection, scope: str, now: float) -> int:
    """Bytes that count against the quota of a scope."""
    from castore.index import seen

    return seen.total(connection, (scope,), now).size


def used_by_store(connection: Connection) -> int:
    """Bytes that count against the quota of the store."""
    from castore.index import objects

    return objects.total(connection).stored_bytes


def _is_counted(connection: Connection, digest: bytes, scope: str, now: float) -> bool:
    """Whether the object is in what the scope uses: what is promised counts once it is here."""
    from castore.index import objects, seen

    is_named = seen.is_named_raw(connection, digest, (scope,), now)
    return is_named and objects.one(connection, Digest.from_raw(digest)) is not None


def _exceeded(
    whose: str, limit: str, quota: int, used: int | None, more: int, *, is_operator: bool
) -> LimitExceeded:
    """used: None if the writer may not know."""
    taken = "" if used is None else f"{used:,} are used, and "
    hint = "forget what is not needed ('ctx forget --now', then 'ctx gc'), or raise the quota"
    if not is_operator:
        hint = (
            "forget what is not needed ('ctx forget --now'), or ask the store's operator for a higher quota"
        )
    return LimitExceeded(
        f"the quota of {whose} is {quota:,} bytes: {taken}{more:,} more are needed",
        limit=limit,
        hint=hint,
        quota=quota,
        **({} if used is None else {"used": used}),
        needed=more,
    )
