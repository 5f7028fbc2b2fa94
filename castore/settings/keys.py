"""Which keys config.toml may have: of each the attribute of a Config, and what checks its value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from castore.config import STRATEGY_PATTERN
from castore.settings.places import endpoint, region, url
from castore.settings.values import (
    age,
    grace,
    granted,
    integer,
    most,
    one_of,
    preview,
    quota,
    scope,
    seconds,
    share,
    tools,
    yes_or_no,
)

__all__ = [
    "REMOTE_KEYS",
    "SCOPE_KEYS",
    "SUMMARY_KEYS",
    "TABLES",
    "Keys",
    "policy_key",
]

Keys = dict[str, tuple[str, Callable[[str, Any], Any]]]

_STORE_KEYS: Keys = {
    "compression-level": ("compression_level", lambda key, value: integer(key, value, 1, 19)),
    "scope": ("scope", scope),
    "grace": ("grace_seconds", grace),
    "quota": ("quota_bytes", quota),
}
_SCOPES_KEYS: Keys = {"granted": ("granted", granted)}
SCOPE_KEYS: Keys = {"quota": ("quota_bytes", quota)}
_FOLD_KEYS: Keys = {
    "bytes-over": ("bytes_over", lambda key, value: integer(key, value, 0, 1 << 40)),
    "items-over": ("items_over", lambda key, value: integer(key, value, 0, 1 << 40)),
    "min-saving": ("min_saving", share),
    "preview": ("preview", preview),
}


_VIEW_KEYS: Keys = {
    "step": ("step", lambda key, value: integer(key, value, 1, 1 << 20)),
    "write-tools": ("write_tools", tools),
}


SUMMARY_KEYS: Keys = {
    "entries-max": ("entries_max", most),
    "bytes-max": ("bytes_max", quota),
    "age-max": ("age_seconds_max", age),
}


REMOTE_KEYS: Keys = {
    "url": ("url", url),
    "endpoint": ("endpoint", endpoint),
    "region": ("region", region),
    "path-style": ("path_style", yes_or_no),
    "fetch": ("fetch", lambda key, value: one_of(key, value, "whole", "on-demand")),
    "conditions": ("conditions", lambda key, value: one_of(key, value, "required", "none")),
    "granted": ("granted", granted),
    "timeout": ("timeout_seconds", seconds),
    "retry": ("retry_seconds", seconds),
    "workers": ("workers", lambda key, value: integer(key, value, 1, 1000)),
}


TABLES: dict[str, Keys] = {
    "store": _STORE_KEYS,
    "scopes": _SCOPES_KEYS,
    "fold": _FOLD_KEYS,
    "view": _VIEW_KEYS,
}


def policy_key(key: str) -> tuple[str, str] | None:
    """Of `summary.extract.entries-max` the strategy and the last word; None: it is no such key."""
    table, _, rest = key.partition(".")
    strategy, _, name = rest.rpartition(".")
    if table != "summary" or name not in SUMMARY_KEYS or STRATEGY_PATTERN.match(strategy) is None:
        return None
    return strategy, name
