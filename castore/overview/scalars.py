"""Scalars in a few characters, and the names of types."""

from __future__ import annotations

from typing import Any

from castore.overview.words import plain, visible

__all__ = ["NAMES", "value_text"]

NAMES: dict[type, str] = {
    type(None): "null",
    bool: "bool",
    int: "int",
    float: "float",
    str: "str",
    list: "array",
    dict: "object",
}
_VALUE_CHARACTERS = 24


def value_text(value: Any) -> str:
    """A scalar in a few characters; of a container, what it is."""
    if isinstance(value, str):
        short = value[: _VALUE_CHARACTERS * 2]
        short = visible(short) if len(short) <= _VALUE_CHARACTERS else plain(short)
        return f"'{short[:_VALUE_CHARACTERS]}…'" if len(short) > _VALUE_CHARACTERS else f"'{short}'"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, list):
        return f"[{len(value)}]"
    if isinstance(value, dict):
        return f"{{{len(value)}}}"
    if isinstance(value, int) and abs(value) >= 10**24:
        return "huge"
    return f"{value:.12g}" if isinstance(value, float) else str(value)
