"""SummaryKey: all that a cached summary depends on, and so what it is found by.

Laws:
- Two keys are the same if and only if the bytes of the source, the scope, the strategy's name and version and
  every option are: new text under an old version misses, and so does another scope, strategy or setting.
- What the options mean is the strategy's affair, their spelling is not: `1`, `1.0`, `true` and `"1"` differ.
- A key that exists is valid: its canonical JSON has SUMMARY_KEY_BYTES_MAX bytes at most, and any reader of
  JSON has the same.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from types import MappingProxyType
from typing import Any

from castore.config import (
    COUNT_MAX,
    STRATEGY_PATTERN,
    STRATEGY_VERSION_MAX,
    SUMMARY_KEY_BYTES_MAX,
    SUMMARY_OPTIONS_MAX,
    parse_scope,
)
from castore.digest import Digest
from castore.errors import InvalidOption, LimitExceeded

__all__ = [
    "OptionValue",
    "SummaryKey",
    "canonical",
    "check_strategy",
    "checked_options",
    "parse_strategy",
]

OptionValue = str | int | float | bool | tuple[str, ...]
"""What an option may be: JSON has all of them."""


@dataclass(frozen=True, slots=True, eq=False)
class SummaryKey:
    """source: digest of the source's bytes. strategy, version: what makes the summary, and in which way.

    options: by name; lists may be given as any sequence of strings. Raises InvalidOption, LimitExceeded.
    """

    source: Digest
    scope: str
    strategy: str
    version: int
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    hex: str = field(init=False)
    """64 hex digits: the SHA-256 of the canonical JSON. They are the `key` of the entry's root."""

    def __post_init__(self) -> None:
        parse_scope(self.scope)
        check_strategy(self.strategy, self.version)
        options = checked_options(self.options)
        object.__setattr__(self, "options", options)
        text = canonical(
            {
                "options": options,
                "scope": self.scope,
                "source": str(self.source),
                "strategy": self.strategy,
                "version": self.version,
            }
        )
        if len(text) > SUMMARY_KEY_BYTES_MAX:
            raise LimitExceeded(
                f"the options of '{self.strategy}' are longer than {SUMMARY_KEY_BYTES_MAX:,} bytes",
                limit="SUMMARY_KEY_BYTES_MAX",
                hint="give a file's digest instead of what is in it",
            )
        object.__setattr__(self, "hex", sha256(text).hexdigest())

    def __eq__(self, other: object) -> bool:
        # By the digits: to Python `1`, `1.0` and `True` are one.
        return isinstance(other, SummaryKey) and self.hex == other.hex

    def __hash__(self) -> int:
        return hash(self.hex)

    @property
    def maker(self) -> str:
        """`extract@1`, as commands take and show it."""
        return f"{self.strategy}@{self.version}"


def parse_strategy(text: str) -> tuple[str, int | None]:
    """Name and version of `extract@1`; of `extract`, no version. Raises InvalidOption."""
    name, at, digits = text.partition("@")
    version: int | None = None
    if at:
        if not re.match(r"[1-9][0-9]{0,9}\Z", digits):
            raise InvalidOption(f"'{text[:80]}' has no version", hint="a strategy is NAME or NAME@VERSION")
        version = int(digits)
    check_strategy(name, 1 if version is None else version)
    return name, version


def check_strategy(name: str, version: int) -> None:
    """Raises InvalidOption for what can't be the name and the version of a strategy."""
    if not isinstance(name, str) or not STRATEGY_PATTERN.match(name):
        raise InvalidOption(
            f"'{str(name)[:80]}' can't be the name of a strategy",
            hint="up to 40 characters of a-z, 0-9 and '-', the first a letter",
        )
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= STRATEGY_VERSION_MAX:
        raise InvalidOption(f"the version of '{name}' must be an integer from 1 to {STRATEGY_VERSION_MAX:,}")


def checked_options(options: Mapping[str, Any]) -> Mapping[str, OptionValue]:
    """The options, sorted by name, lists as tuples; nobody can change them. Raises InvalidOption."""
    if not isinstance(options, Mapping):
        raise InvalidOption(f"options are a mapping, not a {type(options).__name__}")
    if len(options) > SUMMARY_OPTIONS_MAX:
        raise InvalidOption(f"a strategy takes {SUMMARY_OPTIONS_MAX} options at most")
    for name in options:
        if not isinstance(name, str) or not STRATEGY_PATTERN.match(name):
            raise InvalidOption(
                f"'{str(name)[:80]}' can't be the name of an option",
                hint="up to 40 characters of a-z, 0-9 and '-', the first a letter",
            )
    return MappingProxyType({name: _checked(name, options[name]) for name in sorted(options)})


def canonical(value: Mapping[str, Any]) -> bytes:
    """JSON of these bytes alone: members sorted, no spaces, all in ASCII."""
    members = {
        name: dict(each) if isinstance(each, Mapping) else each for name, each in sorted(value.items())
    }
    text = json.dumps(members, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.encode("ascii")


# --- Helpers ---------------------------------------------------------------------------------------


def _checked(name: str, value: Any) -> OptionValue:
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        if abs(value) <= COUNT_MAX:
            return value
        raise InvalidOption(f"option '{name}' is a number that not every reader has exactly")
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        raise InvalidOption(f"option '{name}' is not a number")
    if isinstance(value, str):
        return _text(name, value)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        if all(isinstance(each, str) for each in value):
            return tuple(_text(name, each) for each in value)
        raise InvalidOption(f"option '{name}' is a list of other things than strings")
    raise InvalidOption(
        f"option '{name}' is neither a string, a number, true or false, nor a list of strings"
    )


def _text(name: str, value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidOption(f"option '{name}' is not Unicode") from error
    return value
