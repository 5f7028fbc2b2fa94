"""A Config as keys and values, as `ctx config` lists them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from castore.config import duration_text, size_value
from castore.settings.keys import REMOTE_KEYS, policy_key
from castore.settings.model import Config, RemoteSettings, SummaryPolicy

__all__ = ["config_values", "remote_values"]


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
        values.update({f"remote.{remote}.{key}": value for key, value in remote_values(settings).items()})
    if asked is not None and policy_key(asked) is not None:
        values.setdefault(asked, "none")
    return values


def remote_values(settings: RemoteSettings) -> dict[str, str | int | float | list[str]]:
    """The url, and what differs from the defaults."""
    default = RemoteSettings(url="")
    values: dict[str, str | int | float | list[str]] = {}
    for key, (attribute, _) in REMOTE_KEYS.items():
        value = getattr(settings, attribute)
        if value != getattr(default, attribute):
            values[key] = _plain(attribute, value)
    return values


def _plain(attribute: str, value: Any) -> Any:
    if attribute.endswith("_seconds"):
        return duration_text(value)
    return list(value) if isinstance(value, tuple) else value


def _policy_values(policy: SummaryPolicy) -> dict[str, str | int]:
    return {
        "entries-max": "none" if policy.entries_max is None else policy.entries_max,
        "bytes-max": "none" if policy.bytes_max is None else size_value(policy.bytes_max),
        "age-max": "none" if policy.age_seconds_max is None else duration_text(policy.age_seconds_max),
    }
