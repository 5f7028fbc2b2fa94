"""The text of a config.toml with something changed. Pure: comments and all else stay; what results parses."""

from __future__ import annotations

import re
from typing import Any

from castore.config import parse_scope, size_value
from castore.errors import InvalidConfig
from castore.settings.keys import REMOTE_KEYS, SUMMARY_KEYS, TABLES, policy_key
from castore.settings.listing import config_values, remote_values
from castore.settings.model import Config, RemoteSettings, ScopeSettings
from castore.settings.parsing import parse_config

__all__ = ["change_setting", "declare_remote", "declare_scope", "keys_hint", "remove_remote"]

_NUMBER = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?\Z")


def change_setting(text: str, key: str, value: str) -> str:
    """The config.toml `text` with `key` (`fold.bytes-over`) set to what `value` says; comments stay.

    Pure; the result parses. Raises InvalidConfig for an unknown key or a value that the key can't have.
    """
    policy = policy_key(key)
    if policy is not None:
        strategy, name = policy
        is_count = name == "entries-max" and _NUMBER.match(value) is not None and "." not in value
        return _changed(text, ["summary", strategy], name, int(value) if is_count else value)
    remote = _remote_key(key)
    if remote is not None:
        settings = parse_config(text).remotes.get(remote[0])
        if settings is None:
            raise InvalidConfig(f"no remote '{remote[0]}'", key=key, hint="'ctx remote list' lists them")
        return _changed(text, ["remote", remote[0]], remote[1], _remote_value(remote[1], value))
    table, _, name = key.partition(".")
    if name not in TABLES.get(table, {}):
        raise InvalidConfig(f"unknown config key '{key}'", key=key, hint=keys_hint(key))
    default = config_values(Config())[key]
    if isinstance(default, list):
        return _changed(text, [table], name, value.replace(",", " ").split())
    if isinstance(default, str):
        return _changed(text, [table], name, value)
    number = _NUMBER.match(value)
    return _changed(text, [table], name, (float(value) if number[1] else int(value)) if number else value)


def _remote_key(key: str) -> tuple[str, str] | None:
    """Of `remote.origin.fetch` the name and the last word; None: it is no such key."""
    table, _, rest = key.partition(".")
    name, _, last = rest.rpartition(".")
    return (name, last) if table == "remote" and name and last in REMOTE_KEYS else None


def _remote_value(name: str, value: str) -> Any:
    if name == "path-style" and value in ("true", "false"):
        return value == "true"
    if name == "workers" and _NUMBER.match(value) and "." not in value:
        return int(value)
    return value.replace(",", " ").split() if name == "granted" else value


def keys_hint(key: str) -> str:
    """Where to look for the key that was meant."""
    if key.split(".")[0] != "summary":
        return "'ctx config' lists the keys"
    names = ", ".join(SUMMARY_KEYS)
    return f"the keys are summary.NAME.KEY, for summaries made by NAME of any version, with KEY of {names}"


def declare_scope(text: str, scope: str, quota: str | None) -> str:
    """The config.toml `text` with a table for `scope`, and its quota; None: as it is. Pure; it parses."""
    declared = parse_config(text).scopes.get(parse_scope(scope), ScopeSettings())
    if quota is None:
        quota = "none" if declared.quota_bytes is None else size_value(declared.quota_bytes)
    return _changed(text, ["scope", scope], "quota", quota)


def declare_remote(text: str, name: str, settings: RemoteSettings) -> str:
    """The config.toml `text` with a table for the remote: what differs from the defaults. Pure; it parses."""
    import tomlkit

    parse_config(text)
    document = tomlkit.parse(text)
    table = tomlkit.table()
    for key, value in remote_values(settings).items():
        table[key] = value
    if "remote" not in document:
        document["remote"] = tomlkit.table(is_super_table=True)
    document["remote"][name] = table
    changed = tomlkit.dumps(document)
    parse_config(changed)
    return changed


def remove_remote(text: str, name: str) -> str:
    """The config.toml `text` without the remote, which is there. Pure; it parses."""
    import tomlkit

    document = tomlkit.parse(text)
    del document["remote"][name]
    changed = tomlkit.dumps(document)
    parse_config(changed)
    return changed


def _changed(text: str, tables: list[str], name: str, value: Any) -> str:
    import tomlkit

    parse_config(text)
    document = tomlkit.parse(text)
    at: Any = document
    for depth, each in enumerate(tables):
        if each not in at:
            at[each] = tomlkit.table(is_super_table=depth < len(tables) - 1)
        at = at[each]
    at[name] = value
    changed = tomlkit.dumps(document)
    parse_config(changed)
    return changed
