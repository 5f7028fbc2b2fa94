"""The arguments of a tool: one table says what a model is told of them, and what is taken.

Laws: `schema` describes exactly what `checked` takes, but that it is lenient where models err without harm
(a number where digits are meant, one text where a list of them is, null for nothing). What it returns has
the types of the table, and all else is InvalidOption that names the argument.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from castore.errors import InvalidOption

__all__ = ["Argument", "Flag", "Number", "Text", "Texts", "checked", "schema"]

_SHOWN_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class Argument:
    """description: what a model is told."""

    description: str
    is_required: bool = False

    def schema(self) -> dict[str, Any]:
        """JSON Schema of it."""
        raise AssertionError("an argument is of a kind")

    def checked(self, name: str, value: Any) -> Any:
        """The value as the tool takes it. Raises InvalidOption."""
        raise AssertionError("an argument is of a kind")


@dataclass(frozen=True, slots=True)
class Text(Argument):
    """choices: the only ones, if any are given."""

    characters_max: int = 1000
    choices: tuple[str, ...] = ()

    def schema(self) -> dict[str, Any]:
        limits: dict[str, Any] = {"enum": list(self.choices)} if self.choices else {}
        return {"type": "string", "description": self.description, **limits}

    def checked(self, name: str, value: Any) -> str:
        if isinstance(value, int) and not isinstance(value, bool) and not self.choices:
            value = _digits(name, value)
        if not isinstance(value, str):
            raise _wrong(name, "a text", value)
        if len(value) > self.characters_max:
            raise InvalidOption(
                f"'{name}' has {len(value):,} characters, over {self.characters_max:,}", option=name
            )
        if self.choices and value not in self.choices:
            raise _wrong(name, "one of " + ", ".join(self.choices), value)
        return value


@dataclass(frozen=True, slots=True)
class Texts(Argument):
    """Several texts."""

    count_max: int = 100
    characters_max: int = 1000

    def schema(self) -> dict[str, Any]:
        return {
            "type": "array",
            "items": {"type": "string"},
            "maxItems": self.count_max,
            "description": self.description,
        }

    def checked(self, name: str, value: Any) -> tuple[str, ...]:
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list):
            raise _wrong(name, "a list of texts", value)
        if len(values) > self.count_max:
            raise InvalidOption(f"'{name}' has {len(values):,} texts, over {self.count_max:,}", option=name)
        one = Text(self.description, characters_max=self.characters_max)
        return tuple(one.checked(name, each) for each in values)


@dataclass(frozen=True, slots=True)
class Number(Argument):
    """A whole number, both limits included. What is above the highest is the highest, as a page is."""

    lowest: int = 0
    highest: int = 1 << 53
    default: int | None = None
    is_capped: bool = False

    def schema(self) -> dict[str, Any]:
        limits = {} if self.is_capped else {"maximum": self.highest}
        known = {} if self.default is None else {"default": self.default}
        return {
            "type": "integer",
            "minimum": self.lowest,
            **limits,
            **known,
            "description": self.description,
        }

    def checked(self, name: str, value: Any) -> int:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 18:
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise _wrong(name, "a whole number", value)
        if self.is_capped:
            value = min(value, self.highest)
        if not self.lowest <= value <= self.highest:
            raise _wrong(name, f"from {self.lowest:,} to {self.highest:,}", value)
        return int(value)


@dataclass(frozen=True, slots=True)
class Flag(Argument):
    def schema(self) -> dict[str, Any]:
        return {"type": "boolean", "description": self.description}

    def checked(self, name: str, value: Any) -> bool:
        if not isinstance(value, bool):
            raise _wrong(name, "true or false", value)
        return value


def schema(arguments: Mapping[str, Argument]) -> dict[str, Any]:
    """JSON Schema of an object with these members and no other."""
    required = [name for name, each in arguments.items() if each.is_required]
    return {
        "type": "object",
        "properties": {name: each.schema() for name, each in arguments.items()},
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }


def checked(tool: str, arguments: Mapping[str, Argument], given: Mapping[str, Any]) -> dict[str, Any]:
    """What was given, by the table: only what is there and not null. Raises InvalidOption."""
    values: dict[str, Any] = {}
    for name, value in given.items():
        argument = arguments.get(name)
        if argument is None:
            raise InvalidOption(
                f"{tool} takes no argument '{name[:_SHOWN_CHARACTERS]}'",
                hint="it takes " + ", ".join(arguments),
                option=name[:_SHOWN_CHARACTERS],
            )
        if value is not None:
            values[name] = argument.checked(name, value)
    for name, argument in arguments.items():
        if name not in values:
            if argument.is_required:
                raise InvalidOption(f"{tool} needs the argument '{name}'", option=name)
            if isinstance(argument, Number) and argument.default is not None:
                values[name] = argument.default
    return values


def _digits(name: str, value: int) -> str:
    if not -(10**18) < value < 10**18:
        raise _wrong(name, "a text", value)
    return str(value)


def _wrong(name: str, wanted: str, value: Any) -> InvalidOption:
    if isinstance(value, str):
        shown = f"'{value[:_SHOWN_CHARACTERS]}'"
    elif isinstance(value, int) and abs(value) >= 1 << 63:
        shown = "a number of many digits"  # Python refuses to write the longest ones.
    elif isinstance(value, bool | int | float):
        shown = str(value).lower()
    else:
        shown = "a list" if isinstance(value, list) else "an object"
    return InvalidOption(f"'{name}' must be {wanted}, not {shown}", option=name)
