"""config.toml: one store's settings, parsed once, at the edge.

Law: a Config that exists is valid. An unknown key or a value out of range is InvalidConfig and names
the key: a mistyped setting must never be a silent default. Nothing here is needed to read an object
back: how objects were compressed is written in the objects themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from castore.config import (
    STRATEGY_PATTERN,
    duration_text,
    parse_duration,
    parse_grants,
    parse_name,
    parse_scope,
    parse_size,
    size_value,
)
from castore.errors import InvalidConfig, InvalidOption

__all__ = [
    "CONFIG_TEMPLATE",
    "Config",
    "FoldDefaults",
    "RemoteSettings",
    "ScopeSettings",
    "SummaryPolicy",
    "ViewDefaults",
    "change_setting",
    "config_values",
    "declare_remote",
    "declare_scope",
    "keys_hint",
    "parse_config",
    "remove_remote",
]

_NUMBER = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?\Z")


@dataclass(frozen=True, slots=True)
class FoldDefaults:
    """What `ctx fold` does where an option does not say otherwise."""

    bytes_over: int = 1024
    items_over: int = 8
    min_saving: float = 0.75
    preview: str = "edges"


@dataclass(frozen=True, slots=True)
class ViewDefaults:
    """What `ctx view` does where an option does not say otherwise. write_tools: in lower case, sorted."""

    step: int = 8
    write_tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScopeSettings:
    """What config.toml says of one scope. `quota_bytes`: full size of all objects it names; None: any."""

    quota_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class SummaryPolicy:
    """How long and how many summaries of one strategy a scope's cache holds; None: that says nothing.

    bytes_max: of their texts. age_seconds_max: an older one is made anew when it is asked for.
    """

    entries_max: int | None = None
    bytes_max: int | None = None
    age_seconds_max: int | None = None


@dataclass(frozen=True, slots=True)
class RemoteSettings:
    """A bucket by a name: where it is and how to speak to it; never a credential.

    url: `s3://BUCKET/PREFIX`, `gs://…`, `az://…` or `file:///FOLDER`. endpoint: of another server than the
    provider's; path_style: the bucket stands in the path of requests, not in the host's name; None: if there
    is an endpoint. fetch: `whole`, or `on-demand`: a pull brings roots, and reads bring objects. conditions:
    `required`, or `none` for a server without conditional writes, to which one store alone may push at a
    time. granted: scopes of it that may be used; None: all. timeout_seconds: of one request; retry_seconds:
    until no other try is made. workers: requests at once.
    """

    url: str
    endpoint: str | None = None
    region: str | None = None
    path_style: bool | None = None
    fetch: str = "whole"
    conditions: str = "required"
    granted: tuple[str, ...] | None = None
    timeout_seconds: int = 60
    retry_seconds: int = 60
    workers: int = 32


@dataclass(frozen=True, slots=True)
class Config:
    """One store's settings. `grace_seconds`: between forgetting a root and its expiry.

    quota_bytes: of all object files; None: any. granted: what a caller may use who was granted nothing;
    None: what castore.store.access says. scopes: those that have settings. summary: of strategies by name,
    those that have settings. remotes: by name.
    """

    compression_level: int = 3
    scope: str = "default"
    grace_seconds: int = 14 * 86_400
    quota_bytes: int | None = None
    granted: tuple[str, ...] | None = None
    fold: FoldDefaults = field(default_factory=FoldDefaults)
    view: ViewDefaults = field(default_factory=ViewDefaults)
    scopes: Mapping[str, ScopeSettings] = field(default_factory=dict)
    summary: Mapping[str, SummaryPolicy] = field(default_factory=dict)
    remotes: Mapping[str, RemoteSettings] = field(default_factory=dict)


CONFIG_TEMPLATE = """\
# castore: the settings of this store. Every key is shown with its default.

[store]
# zstd level of new objects, 1 to 19; objects already stored stay as they are.
# compression-level = 3
# The scope that roots are written in when no --scope is given.
# scope = "default"
# Time between forgetting a root and its expiry: an integer and s, m, h, d or w.
# grace = "14d"
# The most bytes that all object files may have: an integer and kB, MB, GB or TB; "none" is no limit.
# quota = "none"

[scopes]
# What a caller may use that was granted nothing (by CTX_SCOPE, say): scopes, and globs such as "team/*";
# "*" is everything, and the operator's commands. []: "*" while the store has no scope but the one above,
# else that scope. A scope with a quota has a table of its own, written by 'ctx scope create'.
# granted = []

[fold]
# Values whose literal is longer than this many bytes fold.
# bytes-over = 1024
# Arrays fold if they have more items than this, too.
# items-over = 8
# The share of a value's bytes that its reference must save, 0 to 1.
# min-saving = 0.75
# What a reference shows of its object: "edges", "outliers" or "none".
# preview = "edges"

[view]
# Turns by which the boundary between what stands whole and what moved advances.
# step = 8
# More tools that write the file that their arguments name: a read after one of them is no repeat.
# write-tools = []

# What 'ctx summary' caches is kept until somebody forgets it. A table for a strategy bounds that in each
# scope; whichever went unused for the longest goes first. "none" is no bound.
#   [summary.extract]
#   entries-max = 1000
#   bytes-max = "10MB"
#   age-max = "30d"

# A bucket that 'ctx push' and 'ctx pull' speak to has a table, written by 'ctx remote add'. No credential
# stands here: they come from the environment, or from the provider's own chain (docs/sharing.md).
#   [remote.origin]
#   url = "s3://bucket/prefix"
#   endpoint = "https://objects.example.org"
#   region = "eu-central-1"
#   path-style = true
#   fetch = "on-demand"
#   conditions = "none"
#   granted = ["team/*"]
#   timeout = "60s"
#   retry = "60s"
#   workers = 32
"""


def _integer(key: str, value: Any, low: int, high: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise InvalidConfig(f"config key '{key}' must be an integer from {low} to {high}", key=key)
    return value


def _share(key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidConfig(f"config key '{key}' must be a number from 0 to 1", key=key)
    return float(value)


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidConfig(f"config key '{key}' must be a string", key=key)
    return value


def _preview(key: str, value: Any) -> str:
    if value not in ("edges", "outliers", "none"):
        raise InvalidConfig(f"config key '{key}' must be 'edges', 'outliers' or 'none'", key=key)
    return str(value)


def _scope(key: str, value: Any) -> str:
    try:
        return parse_scope(_text(key, value))
    except InvalidOption as error:
        raise InvalidConfig(f"config key '{key}': {error.message}", key=key, hint=error.hint) from error


def _grace(key: str, value: Any) -> int:
    try:
        return parse_duration(_text(key, value))
    except InvalidOption as error:
        raise InvalidConfig(f"config key '{key}': {error.message}", key=key, hint=error.hint) from error


def _quota(key: str, value: Any) -> int | None:
    try:
        return None if value == "none" else parse_size(_text(key, value))
    except InvalidOption as error:
        raise InvalidConfig(f"config key '{key}': {error.message}", key=key, hint=error.hint) from error


def _most(key: str, value: Any) -> int | None:
    return None if value == "none" else _integer(key, value, 1, 1 << 40)


def _age(key: str, value: Any) -> int | None:
    return None if value == "none" else _grace(key, value)


def _strategy(key: str, name: str) -> str:
    if STRATEGY_PATTERN.match(name) is None:
        raise InvalidConfig(f"config key '{key}': '{name[:80]}' can't be the name of a strategy", key=key)
    return name


def _granted(key: str, value: Any) -> tuple[str, ...] | None:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise InvalidConfig(f"config key '{key}' must be a list of strings", key=key)
    try:
        found = tuple(grant for each in value for grant in parse_grants(each))
    except InvalidOption as error:
        raise InvalidConfig(f"config key '{key}': {error.message}", key=key, hint=error.hint) from error
    return found or None


_REMOTE_URL = re.compile(r"(?:s3|gs|az|file)://[!-~]+\Z")
_ENDPOINT = re.compile(r"https?://[!-~]+\Z")
_SECRET = re.compile(r"://[^/]*@|[?#]")


def _no_secret(key: str, value: str) -> str:
    """Settings are read by others and kept in git: who may use a bucket is not said there."""
    if _SECRET.search(value):
        raise InvalidConfig(
            f"config key '{key}' has a user, a query or a fragment",
            key=key,
            hint="credentials come from the environment or the provider's own chain",
        )
    return value


def _url(key: str, value: Any) -> str:
    if not _REMOTE_URL.match(_text(key, value)):
        raise InvalidConfig(f"config key '{key}' must be an s3://, gs://, az:// or file:// URL", key=key)
    return _no_secret(key, value)


def _endpoint(key: str, value: Any) -> str:
    if not _ENDPOINT.match(_text(key, value)):
        raise InvalidConfig(f"config key '{key}' must be an http:// or https:// URL", key=key)
    return _no_secret(key, value)


def _yes_or_no(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InvalidConfig(f"config key '{key}' must be true or false", key=key)
    return value


def _one_of(key: str, value: Any, *words: str) -> str:
    if value not in words:
        raise InvalidConfig(f"config key '{key}' must be {' or '.join(map(repr, words))}", key=key)
    return str(value)


def _seconds(key: str, value: Any) -> int:
    """Of a request to a remote. The times of sweeps and intents there (castore.remote.records) rely on it."""
    found = _grace(key, value)
    if not 1 <= found <= 300:
        raise InvalidConfig(f"config key '{key}' must be from 1s to 5m", key=key)
    return found


def _remote_name(key: str, name: str) -> str:
    try:
        return parse_name(name)
    except InvalidOption as error:
        raise InvalidConfig(f"config key '{key}': {error.message}", key=key, hint=error.hint) from error


def _remote(name: str, entries: Any) -> RemoteSettings:
    values = _parse_table(f"remote.{name}", entries, _REMOTE_KEYS)
    if "url" not in values:
        raise InvalidConfig(f"config key 'remote.{name}.url' is absent", key=f"remote.{name}.url")
    return RemoteSettings(**values)


def _tools(key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(
        isinstance(each, str) and 0 < len(each) <= 100 for each in value
    ):
        raise InvalidConfig(f"config key '{key}' must be a list of names of tools", key=key)
    return tuple(sorted({each.lower() for each in value}))


_Keys = dict[str, tuple[str, Callable[[str, Any], Any]]]

_STORE_KEYS: _Keys = {
    "compression-level": ("compression_level", lambda key, value: _integer(key, value, 1, 19)),
    "scope": ("scope", _scope),
    "grace": ("grace_seconds", _grace),
    "quota": ("quota_bytes", _quota),
}
_SCOPES_KEYS: _Keys = {"granted": ("granted", _granted)}
_SCOPE_KEYS: _Keys = {"quota": ("quota_bytes", _quota)}
_FOLD_KEYS: _Keys = {
    "bytes-over": ("bytes_over", lambda key, value: _integer(key, value, 0, 1 << 40)),
    "items-over": ("items_over", lambda key, value: _integer(key, value, 0, 1 << 40)),
    "min-saving": ("min_saving", _share),
    "preview": ("preview", _preview),
}


_VIEW_KEYS: _Keys = {
    "step": ("step", lambda key, value: _integer(key, value, 1, 1 << 20)),
    "write-tools": ("write_tools", _tools),
}


_SUMMARY_KEYS: _Keys = {
    "entries-max": ("entries_max", _most),
    "bytes-max": ("bytes_max", _quota),
    "age-max": ("age_seconds_max", _age),
}


_REMOTE_KEYS: _Keys = {
    "url": ("url", _url),
    "endpoint": ("endpoint", _endpoint),
    "region": ("region", _text),
    "path-style": ("path_style", _yes_or_no),
    "fetch": ("fetch", lambda key, value: _one_of(key, value, "whole", "on-demand")),
    "conditions": ("conditions", lambda key, value: _one_of(key, value, "required", "none")),
    "granted": ("granted", _granted),
    "timeout": ("timeout_seconds", _seconds),
    "retry": ("retry_seconds", _seconds),
    "workers": ("workers", lambda key, value: _integer(key, value, 1, 1000)),
}


_TABLES: dict[str, _Keys] = {
    "store": _STORE_KEYS,
    "scopes": _SCOPES_KEYS,
    "fold": _FOLD_KEYS,
    "view": _VIEW_KEYS,
}


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
        table: _parse_table(table, tables.pop(table, {}), keys) for table, keys in _TABLES.items()
    }
    scopes = {
        _scope(f"scope.{name}", name): ScopeSettings(**_parse_table(f"scope.{name}", entries, _SCOPE_KEYS))
        for name, entries in _tables_in(tables, "scope").items()
    }
    summary = {
        _strategy("summary", name): SummaryPolicy(**_parse_table(f"summary.{name}", entries, _SUMMARY_KEYS))
        for name, entries in _tables_in(tables, "summary").items()
    }
    remotes = {
        _remote_name("remote", name): _remote(name, entries)
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


def _parse_table(table: str, entries: Any, keys: _Keys) -> dict[str, Any]:
    if not isinstance(entries, dict):
        raise InvalidConfig(f"config key '{table}' must be a table", key=table)
    values: dict[str, Any] = {}
    for key, value in entries.items():
        if key not in keys:
            raise InvalidConfig(f"unknown config key '{table}.{key}'", key=f"{table}.{key}")
        attribute, check = keys[key]
        values[attribute] = check(f"{table}.{key}", value)
    return values


def change_setting(text: str, key: str, value: str) -> str:
    """The config.toml `text` with `key` (`fold.bytes-over`) set to what `value` says; comments stay.

    Pure; the result parses. Raises InvalidConfig for an unknown key or a value that the key can't have.
    """
    policy = _policy_key(key)
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
    if name not in _TABLES.get(table, {}):
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
    return (name, last) if table == "remote" and name and last in _REMOTE_KEYS else None


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
    names = ", ".join(_SUMMARY_KEYS)
    return f"the keys are summary.NAME.KEY, for summaries made by NAME of any version, with KEY of {names}"


def _policy_key(key: str) -> tuple[str, str] | None:
    """Of `summary.extract.entries-max` the strategy and the last word; None: it is no such key."""
    table, _, rest = key.partition(".")
    strategy, _, name = rest.rpartition(".")
    if table != "summary" or name not in _SUMMARY_KEYS or STRATEGY_PATTERN.match(strategy) is None:
        return None
    return strategy, name


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
    default = RemoteSettings(url="")
    for key, (attribute, _) in _REMOTE_KEYS.items():
        value = getattr(settings, attribute)
        if value != getattr(default, attribute):
            table[key] = duration_text(value) if attribute.endswith("_seconds") else _plain(value)
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


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


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


def config_values(config: Config, asked: str | None = None) -> dict[str, str | int | float | list[str]]:
    """Every setting by its key in config.toml, in the template's order; those of single scopes left out, and
    of single strategies those that are at their default, but for the one that is asked for."""
    values: dict[str, str | int | float | list[str]] = {
        "store.compression-level": config.compression_level,
        "store.scope": config.scope,
        "store.grace": duration_text(config.grace_seconds),
        "store.quota": "none" if config.quota_bytes is None else size_value(config.quota_bytes),
        "scopes.granted": list(config.granted or ()),
    }
    for each in fields(config.fold):
        values["fold." + each.name.replace("_", "-")] = getattr(config.fold, each.name)
    values["view.step"] = config.view.step
    values["view.write-tools"] = list(config.view.write_tools)
    for strategy, policy in sorted(config.summary.items()):
        for name, value in _policy_values(policy).items():
            if value != "none":
                values[f"summary.{strategy}.{name}"] = value
    for remote, settings in sorted(config.remotes.items()):
        values.update({f"remote.{remote}.{key}": value for key, value in _remote_values(settings).items()})
    if asked is not None and _policy_key(asked) is not None:
        values.setdefault(asked, "none")
    return values


def _remote_values(settings: RemoteSettings) -> dict[str, str | int | float | list[str]]:
    """The url, and what differs from the defaults."""
    default = RemoteSettings(url="")
    values: dict[str, str | int | float | list[str]] = {}
    for key, (attribute, _) in _REMOTE_KEYS.items():
        value = getattr(settings, attribute)
        if value != getattr(default, attribute):
            values[key] = duration_text(value) if attribute.endswith("_seconds") else _plain(value)
    return values


def _policy_values(policy: SummaryPolicy) -> dict[str, str | int]:
    return {
        "entries-max": "none" if policy.entries_max is None else policy.entries_max,
        "bytes-max": "none" if policy.bytes_max is None else size_value(policy.bytes_max),
        "age-max": "none" if policy.age_seconds_max is None else duration_text(policy.age_seconds_max),
    }
