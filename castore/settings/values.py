"""One value of config.toml, checked: each gives it as a Config has it, or raises InvalidConfig."""

from __future__ import annotations

from typing import Any

from castore.config import (
    STRATEGY_PATTERN,
    parse_duration,
    parse_grants,
    parse_name,
    parse_scope,
    parse_size,
)
from castore.errors import InvalidConfig, InvalidOption

__all__ = [
    "age",
    "grace",
    "granted",
    "integer",
    "most",
    "one_of",
    "preview",
    "quota",
    "remote_name",
    "scope",
    "seconds",
    "share",
    "strategy",
    "text",
    "tools",
    "yes_or_no",
]


def integer(key: str, value: Any, low: int, high: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise InvalidConfig(f"config key '{key}' must be an integer from {low} to {high}", key=key)
    return value


def share(key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidConfig(f"config key '{key}' must be a number from 0 to 1", key=key)
    return float(value)


def text(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidConfig(f"config key '{key}' must be a string", key=key)
    return value


def preview(key: str, value: Any) -> str:
    if value not in ("edges", "outliers", "none"):
        raise InvalidConfig(f"config key '{key}' must be 'edges', 'outliers' or 'none'", key=key)
    return str(value)


def scope(key: str, value: Any) -> str:
    try:
        return parse_scope(text(key, value))
    except InvalidOption as error:
        raise InvalidConfig(f"config key '{key}': {error.message}", key=key, hint=error.hint) from error


def grace(key: str, value: Any) -> int:
    try:
        return parse_duration(text(key, value))
    except InvalidOption as error:
        raise InvalidConfig(f"config key '{key}': {error.message}", key=key, hint=error.hint) from error


def quota(key: str, value: Any) -> int | None:
    try:
        return None if value == "none" else parse_size(text(key, value))
    except InvalidOption as error:
        raise InvalidConfig(f"config key '{key}': {error.message}", key=key, hint=error.hint) from error


def most(key: str, value: Any) -> int | None:
    return None if value == "none" else integer(key, value, 1, 1 << 40)


def age(key: str, value: Any) -> int | None:
    return None if value == "none" else grace(key, value)


def strategy(key: str, name: str) -> str:
    if STRATEGY_PATTERN.match(name) is None:
        raise InvalidConfig(f"config key '{key}': '{name[:80]}' can't be the name of a strategy", key=key)
    return name


def granted(key: str, value: Any) -> tuple[str, ...] | None:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise InvalidConfig(f"config key '{key}' must be a list of strings", key=key)
    try:
        found = tuple(grant for each in value for grant in parse_grants(each))
    except InvalidOption as error:
        raise InvalidConfig(f"config key '{key}': {error.message}", key=key, hint=error.hint) from error
    return found or None


def yes_or_no(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InvalidConfig(f"config key '{key}' must be true or false", key=key)
    return value


def one_of(key: str, value: Any, *words: str) -> str:
    if value not in words:
        raise InvalidConfig(f"config key '{key}' must be {' or '.join(map(repr, words))}", key=key)
    return str(value)


def seconds(key: str, value: Any) -> int:
    """Of a request to a remote. The times of sweeps and intents there (castore.remote.records) rely on it."""
    found = grace(key, value)
    if not 1 <= found <= 300:
        raise InvalidConfig(f"config key '{key}' must be from 1s to 5m", key=key)
    return found


def remote_name(key: str, name: str) -> str:
    try:
        return parse_name(name)
    except InvalidOption as error:
        raise InvalidConfig(f"config key '{key}': {error.message}", key=key, hint=error.hint) from error


def tools(key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(
        isinstance(each, str) and 0 < len(each) <= 100 for each in value
    ):
        raise InvalidConfig(f"config key '{key}' must be a list of names of tools", key=key)
    return tuple(sorted({each.lower() for each in value}))
