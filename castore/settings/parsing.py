"""From the text of a config.toml to a Config."""

from __future__ import annotations

from typing import Any

from castore.errors import InvalidConfig
from castore.settings.keys import REMOTE_KEYS, SCOPE_KEYS, SUMMARY_KEYS, TABLES, Keys
from castore.settings.model import (
    Config,
    FoldDefaults,
    RemoteSettings,
    ScopeSettings,
    SummaryPolicy,
    ViewDefaults,
)
from castore.settings.values import remote_name, scope, strategy

__all__ = ["parse_config"]


def parse_config(text: str) -> Config:
    """The Config written in a config.toml; raises InvalidConfig naming the key that is unknown or wrong."""
    import tomllib

    try:
        tables = tomllib.loads(text)
    except RecursionError:
        raise InvalidConfig("it is nested too deep") from None
    except ValueError as error:  # Also what Python says of a number of 5,000 digits.
        raise InvalidConfig(f"it is not TOML: {error}") from error
    values: dict[str, dict[str, Any]] = {
        table: _parse_table(table, tables.pop(table, {}), keys) for table, keys in TABLES.items()
    }
    scopes = {
        scope(f"scope.{name}", name): ScopeSettings(**_parse_table(f"scope.{name}", entries, SCOPE_KEYS))
        for name, entries in _tables_in(tables, "scope").items()
    }
    summary = {
        strategy("summary", name): SummaryPolicy(**_parse_table(f"summary.{name}", entries, SUMMARY_KEYS))
        for name, entries in _tables_in(tables, "summary").items()
    }
    remotes = {
        remote_name("remote", name): _remote(name, entries)
        for name, entries in _tables_in(tables, "remote").items()
    }
    if tables:
        unknown = next(iter(tables))
        raise InvalidConfig(f"unknown config key '{unknown}'", key=unknown)
    return Config(
        **values["store"],
        **values["scopes"],
        fold=FoldDefaults(**values["fold"]),
        view=ViewDefaults(**values["view"]),
        scopes=scopes,
        summary=summary,
        remotes=remotes,
    )


def _tables_in(tables: dict[str, Any], name: str) -> dict[str, Any]:
    """The tables of which each has a name of its own, taken out of `tables`."""
    found = tables.pop(name, {})
    if not isinstance(found, dict):
        raise InvalidConfig(f"config key '{name}' must be a table of tables", key=name)
    return found


def _parse_table(table: str, entries: Any, keys: Keys) -> dict[str, Any]:
    if not isinstance(entries, dict):
        raise InvalidConfig(f"config key '{table}' must be a table", key=table)
    values: dict[str, Any] = {}
    for key, value in entries.items():
        if key not in keys:
            raise InvalidConfig(f"unknown config key '{table}.{key}'", key=f"{table}.{key}")
        attribute, check = keys[key]
        values[attribute] = check(f"{table}.{key}", value)
    return values


def _remote(name: str, entries: Any) -> RemoteSettings:
    values = _parse_table(f"remote.{name}", entries, REMOTE_KEYS)
    if "url" not in values:
        raise InvalidConfig(f"config key 'remote.{name}.url' is absent", key=f"remote.{name}.url")
    return RemoteSettings(**values)
