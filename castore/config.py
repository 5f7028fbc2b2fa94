"""Every limit and default, named with its unit; and config.toml, parsed once, at the edge.

Law: a Config that exists is valid. An unknown key or a value out of range is InvalidConfig and names
the key: a mistyped setting must never be a silent default. Nothing here is needed to read an object
back: how objects were compressed is written in the objects themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

from castore.errors import InvalidConfig, InvalidOption

__all__ = [
    "CLOCK_SKEW_SECONDS_MAX",
    "CONFIG_BYTES_MAX",
    "CONFIG_TEMPLATE",
    "COUNT_MAX",
    "DEPTH_MAX",
    "DURATION_SECONDS_MAX",
    "FRAME_BYTES",
    "HELD_BYTES_MAX",
    "HELD_OBJECT_BYTES_MAX",
    "LOCK_TIMEOUT_SECONDS",
    "NAME_PATTERN",
    "OBJECT_BYTES_MAX",
    "PREVIEW_BYTES_MAX",
    "REFERENCE_BYTES_MAX",
    "ROOT_BYTES_MAX",
    "ROOT_VALUES_MAX",
    "SCOPE_PATTERN",
    "STAGED_AGE_SECONDS_MAX",
    "STAGING_PROCESSES_MAX",
    "SYNC_FILES_MAX",
    "TIME_MAX",
    "Config",
    "FoldDefaults",
    "change_setting",
    "config_values",
    "duration_text",
    "parse_config",
    "parse_duration",
    "parse_name",
    "parse_scope",
]

# --- Documents -------------------------------------------------------------------------------------

DEPTH_MAX = 512
"""Deepest nesting of arrays and objects in a document."""

PREVIEW_BYTES_MAX = 160
"""Longest preview, as written in the document, quotes included."""

REFERENCE_BYTES_MAX = 4096
"""Longest reference that unfold reads; one that fold writes is under 600 bytes."""

# --- Objects ---------------------------------------------------------------------------------------

FRAME_BYTES = 1 << 20
"""Decoded bytes a frame of a large object holds; a shorter object is one frame and nothing else."""

OBJECT_BYTES_MAX = 1 << 40
"""Largest object that is stored."""

HELD_OBJECT_BYTES_MAX = 64 << 10
"""Staged objects of up to this many encoded bytes are held in memory until the batch commits."""

HELD_BYTES_MAX = 32 << 20
"""Encoded bytes of one batch held in memory; above it they are staged in tmp/."""

# --- The store -------------------------------------------------------------------------------------

ROOT_BYTES_MAX = 256 << 20
"""Largest root file: one that names three and a half million objects."""

ROOT_VALUES_MAX = 1 << 22
"""Commas and brackets in a root file: reading one takes some 500 MB at most."""

COUNT_MAX = 1 << 53
"""Largest size or sequence number in a root: every reader of JSON has it exactly."""

TIME_MAX = 200_000_000_000
"""Latest time in a root, unix seconds: in the year 8307, which calendars still have."""

DURATION_SECONDS_MAX = 31_557_600_000
"""Longest duration that an option or a setting can say: 1,000 years."""

SYNC_FILES_MAX = 64
"""Up to this many staged files are synced one by one; above it the whole file system is, at once."""

LOCK_TIMEOUT_SECONDS = 30.0
"""How long a writer waits for another before it gives up (exit 11)."""

STAGED_AGE_SECONDS_MAX = 86_400
"""Staged files older than this are what a crash left, and are swept."""

CONFIG_BYTES_MAX = 64 << 10
"""Longest config.toml."""

CLOCK_SKEW_SECONDS_MAX = 300
"""gc refuses to run on a clock that stands further than this before the store's newest record."""

STAGING_PROCESSES_MAX = 8
"""Processes that stage the files of one call together."""

OPERATOR = "*"
"""The grant of whoever runs the store, and the scope of roots that only they see. No name of a scope."""

NAME_PATTERN = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,99}\Z")
_HEX_PREFIX = re.compile(r"[0-9a-fA-F]{6,64}\Z")
SCOPE_PATTERN = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}(?:/[a-z0-9][a-z0-9._-]{0,63}){0,7}\Z")

_NUMBER = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?\Z")
_DURATION = re.compile(r"([0-9]{1,9})([smhdw])\Z")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


@dataclass(frozen=True, slots=True)
class FoldDefaults:
    """What `ctx fold` does where an option does not say otherwise."""

    bytes_over: int = 1024
    items_over: int = 8
    min_saving: float = 0.75
    preview: str = "edges"


@dataclass(frozen=True, slots=True)
class Config:
    """One store's settings. `grace_seconds`: between forgetting a root and its expiry."""

    compression_level: int = 3
    scope: str = "default"
    grace_seconds: int = 14 * 86_400
    fold: FoldDefaults = field(default_factory=FoldDefaults)


CONFIG_TEMPLATE = """\
# castore: the settings of this store. Every key is shown with its default.

[store]
# zstd level of new objects, 1 to 19; objects already stored stay as they are.
# compression-level = 3
# The scope that roots are written in when no --scope is given.
# scope = "default"
# Time between forgetting a root and its expiry: an integer and s, m, h, d or w.
# grace = "14d"

[fold]
# Values whose literal is longer than this many bytes fold.
# bytes-over = 1024
# Arrays fold if they have more items than this, too.
# items-over = 8
# The share of a value's bytes that its reference must save, 0 to 1.
# min-saving = 0.75
# What a reference shows of its object: "edges" or "none".
# preview = "edges"
"""


def parse_duration(text: str) -> int:
    """Seconds in `30d`, `12h`, `0s`: an integer and s, m, h, d or w. Raises InvalidOption."""
    match = _DURATION.match(text)
    if match is None:
        raise InvalidOption(
            f"'{text[:40]}' is not a duration",
            hint="write an integer and s, m, h, d or w, as in 30d",
            subject=text[:40],
        )
    seconds = int(match[1]) * _SECONDS[match[2]]
    if seconds > DURATION_SECONDS_MAX:
        raise InvalidOption(
            f"'{text}' is over 1,000 years", hint="what has no duration is kept for ever", subject=text
        )
    return seconds


def duration_text(seconds: int) -> str:
    """What `parse_duration` reads as `seconds`, in the longest unit up to days that is exact: `14d`."""
    for unit in "dhm":
        if seconds and seconds % _SECONDS[unit] == 0:
            return f"{seconds // _SECONDS[unit]}{unit}"
    return f"{seconds}s"


def parse_name(text: str) -> str:
    """`text` if it may name a root: a letter, then `A-Za-z0-9._-`, 100 at most, not a digest's beginning."""
    if NAME_PATTERN.match(text) is None or _HEX_PREFIX.match(text):
        raise InvalidOption(
            f"'{text[:80]}' can't be a name",
            hint="a name is a letter and up to 99 of A-Z a-z 0-9 . _ - and does not read as a digest",
            subject=text[:80],
        )
    return text


def parse_scope(text: str) -> str:
    """`text` if it is a scope: lower-case words joined by `/`. Raises InvalidOption. Never used as a path."""
    if SCOPE_PATTERN.match(text) is None:
        raise InvalidOption(
            f"'{text[:80]}' can't be a scope",
            hint="a scope is up to 8 words of a-z 0-9 . _ - joined by '/'",
            subject=text[:80],
        )
    return text


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
    if value not in ("edges", "none"):
        raise InvalidConfig(f"config key '{key}' must be 'edges' or 'none'", key=key)
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


_Keys = dict[str, tuple[str, Callable[[str, Any], Any]]]

_STORE_KEYS: _Keys = {
    "compression-level": ("compression_level", lambda key, value: _integer(key, value, 1, 19)),
    "scope": ("scope", _scope),
    "grace": ("grace_seconds", _grace),
}
_FOLD_KEYS: _Keys = {
    "bytes-over": ("bytes_over", lambda key, value: _integer(key, value, 0, 1 << 40)),
    "items-over": ("items_over", lambda key, value: _integer(key, value, 0, 1 << 40)),
    "min-saving": ("min_saving", _share),
    "preview": ("preview", _preview),
}


def parse_config(text: str) -> Config:
    """The Config written in a config.toml; raises InvalidConfig naming the key that is unknown or wrong."""
    import tomllib

    try:
        tables = tomllib.loads(text)
    except RecursionError as error:
        raise InvalidConfig("it is nested too deep") from error
    except ValueError as error:  # Also what Python says of a number of 5,000 digits.
        raise InvalidConfig(f"it is not TOML: {error}") from error
    values: dict[str, Any] = {}
    fold_values: dict[str, Any] = {}
    for table, keys, into in (("store", _STORE_KEYS, values), ("fold", _FOLD_KEYS, fold_values)):
        entries = tables.pop(table, {})
        if not isinstance(entries, dict):
            raise InvalidConfig(f"config key '{table}' must be a table", key=table)
        for key, value in entries.items():
            if key not in keys:
                raise InvalidConfig(f"unknown config key '{table}.{key}'", key=f"{table}.{key}")
            attribute, check = keys[key]
            into[attribute] = check(f"{table}.{key}", value)
    if tables:
        unknown = next(iter(tables))
        raise InvalidConfig(f"unknown config key '{unknown}'", key=unknown)
    return Config(**values, fold=FoldDefaults(**fold_values))


def change_setting(text: str, key: str, value: str) -> str:
    """The config.toml `text` with `key` (`fold.bytes-over`) set to what `value` says; comments stay.

    Pure; the result parses. Raises InvalidConfig for an unknown key or a value that the key can't have.
    """
    import tomlkit

    table, _, name = key.partition(".")
    if name not in {"store": _STORE_KEYS, "fold": _FOLD_KEYS}.get(table, {}):
        raise InvalidConfig(f"unknown config key '{key}'", key=key, hint="'ctx config' lists the keys")
    parse_config(text)
    document = tomlkit.parse(text)
    typed: str | int | float = value
    if not isinstance(config_values(Config())[key], str):
        number = _NUMBER.match(value)
        typed = (float(value) if number[1] else int(value)) if number else value
    if table not in document:
        document[table] = tomlkit.table()
    document[table][name] = typed
    changed = tomlkit.dumps(document)
    parse_config(changed)
    return changed


def config_values(config: Config) -> dict[str, str | int | float]:
    """Every setting by its key in config.toml, in the template's order."""
    values: dict[str, str | int | float] = {
        "store.compression-level": config.compression_level,
        "store.scope": config.scope,
        "store.grace": duration_text(config.grace_seconds),
    }
    for each in fields(config.fold):
        values["fold." + each.name.replace("_", "-")] = getattr(config.fold, each.name)
    return values
