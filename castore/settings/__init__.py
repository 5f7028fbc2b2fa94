"""config.toml: one store's settings, parsed once, at the edge.

Law: a Config that exists is valid. An unknown key or a value out of range is InvalidConfig and names
the key: a mistyped setting must never be a silent default. Nothing here is needed to read an object
back: how objects were compressed is written in the objects themselves.
"""

from __future__ import annotations

from castore.settings.changing import change_setting, declare_remote, declare_scope, keys_hint, remove_remote
from castore.settings.listing import config_values
from castore.settings.model import (
    Config,
    FoldDefaults,
    RemoteSettings,
    ScopeSettings,
    SummaryPolicy,
    ViewDefaults,
)
from castore.settings.parsing import parse_config
from castore.settings.template import CONFIG_TEMPLATE

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
