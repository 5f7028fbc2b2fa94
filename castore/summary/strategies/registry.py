"""The strategies by their names: what `NAME[@V]` and options on a command line mean.

Law: what is made here has options that are all its own: an unknown name, version or option is InvalidOption
that says what there is, never passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from castore.errors import InvalidOption
from castore.summary.fidelity.tree import parse_fields
from castore.summary.strategies.command import CommandStrategy
from castore.summary.strategies.extract import CHARACTERS_DEFAULT, ExtractStrategy
from castore.summary.strategies.fields import FieldsStrategy
from castore.summary.strategy import SummaryStrategy
from castore.transcript.collapse.command import Command

__all__ = ["STRATEGIES", "make_strategy"]


class _Known(NamedTuple):
    options: tuple[str, ...]
    make: Callable[[Mapping[str, str]], SummaryStrategy]


def _extract(options: Mapping[str, str]) -> SummaryStrategy:
    characters = _count("characters", options.get("characters", str(CHARACTERS_DEFAULT)))
    return ExtractStrategy(characters, options.get("question"))


def _fields(options: Mapping[str, str]) -> SummaryStrategy:
    fields = parse_fields(options["fields"]) if "fields" in options else ()
    return FieldsStrategy(tuple(fields), options.get("template"))


STRATEGIES: dict[str, dict[int, _Known]] = {
    "extract": {1: _Known(("characters", "question"), _extract)},
    "fields": {1: _Known(("fields", "template"), _fields)},
}
"""Those that castore has: by name, by version."""


def make_strategy(
    name: str, version: int | None, options: Mapping[str, str], *, command: Command | None = None
) -> SummaryStrategy:
    """The strategy of that name; without a version the latest. options: as somebody wrote them.

    command: a program of the user's, which may have any name but those of castore's own; without a version it
    is 1. Raises InvalidOption.
    """
    known = STRATEGIES.get(name)
    if command is not None:
        if known is not None:
            raise InvalidOption(
                f"'{name}' is a strategy of castore's own, which runs no program",
                hint="call what the program does by another name",
            )
        return CommandStrategy(command, name, 1 if version is None else version, dict(options))
    if known is None or (version is not None and version not in known):
        there = ", ".join(f"{each}@{number}" for each, numbers in STRATEGIES.items() for number in numbers)
        written = name if version is None else f"{name}@{version}"
        raise InvalidOption(
            f"no strategy '{written[:80]}'",
            hint=f"there are {there}; any other name takes a program, --with CMD",
            subject=written[:80],
        )
    chosen = known[max(known) if version is None else version]
    for option in options:
        if option not in chosen.options:
            raise InvalidOption(
                f"the strategy '{name}' has no option '{option[:80]}'",
                hint=f"it has {' and '.join(chosen.options)}",
                option=option[:80],
            )
    return chosen.make(options)


# --- Helpers ---------------------------------------------------------------------------------------


def _count(option: str, written: str) -> int:
    if not (written.isascii() and written.isdigit() and len(written) < 12):
        raise InvalidOption(f"option '{option}' is a number, not '{written[:80]}'", option=option)
    return int(written)
