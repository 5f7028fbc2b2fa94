"""The strategies by their names: what `NAME[@V]` and options on a command line mean.

Law: what is made here has options that are all its own: an unknown name, version or option is InvalidOption
that says what there is, never passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from castore.errors import InvalidOption
from castore.summary.fidelity.tree import parse_fields
from castore.summary.key import OptionValue, check_strategy, checked_options
from castore.summary.strategies.command import CommandStrategy
from castore.summary.strategies.extract import CHARACTERS_DEFAULT, ExtractStrategy
from castore.summary.strategies.fields import FieldsStrategy
from castore.summary.strategy import SummaryStrategy
from castore.transcript.collapse.command import Command

__all__ = ["STRATEGIES", "make_strategy"]


class _Known(NamedTuple):
    options: tuple[str, ...]
    make: Callable[[Mapping[str, OptionValue]], SummaryStrategy]


def _extract(options: Mapping[str, OptionValue]) -> SummaryStrategy:
    characters = _count("characters", options.get("characters", CHARACTERS_DEFAULT))
    return ExtractStrategy(characters, _text(options, "question"))


def _fields(options: Mapping[str, OptionValue]) -> SummaryStrategy:
    given = options.get("fields", ())
    fields = given if isinstance(given, tuple) else parse_fields(_text(options, "fields") or "")
    return FieldsStrategy(tuple(fields), _text(options, "template"))


STRATEGIES: dict[str, dict[int, _Known]] = {
    "extract": {1: _Known(("characters", "question"), _extract)},
    "fields": {1: _Known(("fields", "template"), _fields)},
}
"""Those that castore has: by name, by version."""


def make_strategy(
    name: str,
    version: int | None = None,
    options: Mapping[str, OptionValue] | None = None,
    *,
    command: Command | None = None,
) -> SummaryStrategy:
    """The strategy of that name; without a version the latest. options: as somebody wrote them (`"250"`), or
    as keys have them (`250`, a list of fields).

    command: a program of the user's, which may have any name but those of castore's own; without a version it
    is 1. Raises InvalidOption.
    """
    check_strategy(name, 1 if version is None else version)
    options = checked_options({} if options is None else options)
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


def _text(options: Mapping[str, OptionValue], option: str) -> str | None:
    given = options.get(option)
    if given is not None and not isinstance(given, str):
        raise InvalidOption(f"option '{option}' is a text, not {given!r:.80}", option=option)
    return given


def _count(option: str, written: OptionValue) -> int:
    if isinstance(written, int) and not isinstance(written, bool):
        return written
    if not isinstance(written, str):
        raise InvalidOption(f"option '{option}' is a number, not {written!r:.80}", option=option)
    if not (written.isascii() and written.isdigit() and len(written) < 12):
        raise InvalidOption(f"option '{option}' is a number, not '{written[:80]}'", option=option)
    return int(written)
