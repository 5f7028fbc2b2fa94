"""Scopes: which there are for a caller, what each holds, and how one is declared.

Laws: a scope is there because a root is in it, because config.toml declares it, or because it is granted
by its name or by default; nobody is told of one that they were not granted. The sizes are those that
quotas count (castore.store.quota). Declaring one is the operator's, and is on the disk when it returns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from castore.config import CONFIG_BYTES_MAX, OPERATOR, parse_scope
from castore.errors import InvalidConfig, LimitExceeded, ScopeDenied
from castore.settings import Config, ScopeSettings, change_setting, declare_scope
from castore.store import quota as quotas
from castore.store.access import Granted
from castore.store.folder import read_config, read_config_text
from castore.store.queries import Queries
from castore.store.transaction import Transactions

if TYPE_CHECKING:
    from sqlite3 import Connection

    from castore.index.scopes import ScopeRow

__all__ = ["ScopeFacts", "change_config", "create", "listed", "set_value", "shown"]

Check = Callable[["Connection", Config], None]


@dataclass(frozen=True, slots=True)
class ScopeFacts:
    """One scope. roots: forgotten ones included. bytes: the full size of its distinct objects.

    quota_bytes: None is any. is_declared: config.toml has a table for it.
    """

    name: str
    roots: int
    objects: int
    bytes: int
    quota_bytes: int | None
    is_declared: bool


def listed(parts: Transactions, queries: Queries, granted: Granted) -> list[ScopeFacts]:
    """The scopes that the caller sees, sorted by their names."""
    held = _held(parts, queries)
    names = {*held, *(each for each in granted.seen or () if "*" not in each)}
    names.update(each for each in (*_declared(parts), granted.default_scope) if granted.covers(each))
    return [_facts(parts, name, held) for name in sorted(names)]


def shown(parts: Transactions, queries: Queries, granted: Granted, name: str) -> ScopeFacts:
    """One scope, which may hold nothing. ScopeDenied if it is not granted, whether or not it exists."""
    if name != OPERATOR:
        parse_scope(name)
    if not granted.covers(name):
        raise ScopeDenied(f"scope '{name}' is not granted", subject=name)
    return _facts(parts, name, _held(parts, queries))


def create(parts: Transactions, granted: Granted, name: str, quota: str | None) -> None:
    """config.toml declares the scope, with this quota (`10GB`, `none`); None: the quota that it has.

    Raises ScopeDenied unless the caller is the operator; InvalidOption, InvalidConfig.
    """
    granted.require_operator("scope create")
    parse_scope(name)

    def check(connection: Connection, changed: Config) -> None:
        found = changed.scopes.get(name, ScopeSettings()).quota_bytes
        if quota is not None and found is not None:
            _note_used(parts, f"scope '{name}'", found, quotas.used_by_scope(connection, name, parts.clock()))

    change_config(parts, lambda text: declare_scope(text, name, quota), check)
    if granted.is_by_default and name != granted.default_scope:
        parts.note(
            f"the store has the scope '{name}' now: who is granted nothing has '{granted.default_scope}' "
            "alone, and CTX_SCOPE='*' is the operator"
        )


def set_value(parts: Transactions, key: str, value: str) -> None:
    """config.toml says that `key` is `value`, on the disk. A quota that is exceeded already is noted."""

    def check(connection: Connection, changed: Config) -> None:
        if key == "store.quota" and changed.quota_bytes is not None:
            _note_used(parts, "the store", changed.quota_bytes, quotas.used_by_store(connection))

    change_config(parts, lambda text: change_setting(text, key, value), check)


def change_config(parts: Transactions, change: Callable[[str], str], check: Check | None = None) -> None:
    """config.toml is what `change` makes of it, on the disk; of two that change it at once neither is lost.

    check: looks at the new settings, in the transaction that wrote them. Raises InvalidConfig,
    LimitExceeded, and what `change` raises; then it is as it was.
    """
    from castore.durable import replacing

    with parts.writing() as connection:
        read_config(parts.layout)  # What is wrong with it now is told with the file's name.
        changed = change(read_config_text(parts.layout)).encode()
        if len(changed) > CONFIG_BYTES_MAX:
            words = f"config.toml would be longer than {CONFIG_BYTES_MAX:,} bytes"
            raise LimitExceeded(words, limit="CONFIG_BYTES_MAX", hint="take out what it need not say")
        with replacing(parts.layout.config) as target:
            target.write(changed)
        if check is not None:
            check(connection, read_config(parts.layout))
    parts.__dict__.pop("config", None)  # It is read again when it is next needed.


# --- Helpers ---------------------------------------------------------------------------------------


def _note_used(parts: Transactions, whose: str, quota_bytes: int, used: int) -> None:
    if used > quota_bytes:
        parts.note(
            f"the quota of {whose} is {quota_bytes:,} bytes, and {used:,} are used: what adds to them is "
            "refused until less is used, or the quota is raised"
        )


def _facts(parts: Transactions, name: str, held: dict[str, ScopeRow]) -> ScopeFacts:
    from castore.index.scopes import ScopeRow

    declared = _declared(parts)
    row = held.get(name, ScopeRow(0, 0, 0))
    quota_bytes = declared.get(name, ScopeSettings()).quota_bytes
    return ScopeFacts(name, row.roots, row.objects, row.size, quota_bytes, name in declared)


def _declared(parts: Transactions) -> dict[str, ScopeSettings]:
    """None where the settings are invalid: those must not keep a reader from what it may see."""
    try:
        return dict(parts.config.scopes)
    except InvalidConfig:
        return {}


def _held(parts: Transactions, queries: Queries) -> dict[str, ScopeRow]:
    from castore.index import scopes

    def from_index(connection: Connection) -> dict[str, ScopeRow]:
        return scopes.by_scope(connection, queries.seen, parts.clock())

    return queries.ask(from_index, lambda: _held_in_files(parts, queries))


def _held_in_files(parts: Transactions, queries: Queries) -> dict[str, ScopeRow]:
    """As the index says it, from the root files and the headers of the objects that they name."""
    from castore.index.scopes import ScopeRow

    now = parts.clock()
    roots: dict[str, int] = {}
    sizes: dict[str, dict[str, int]] = {}
    for root in queries.newest():
        roots[root.scope] = roots.get(root.scope, 0) + 1
        named = sizes.setdefault(root.scope, {})
        for digest in () if root.is_expired(now) else root.objects:
            found = None if digest.hex in named else parts.database.stat(digest)
            if found is not None:
                named[digest.hex] = found.size
    return {
        scope: ScopeRow(count, len(sizes[scope]), sum(sizes[scope].values()))
        for scope, count in roots.items()
    }
