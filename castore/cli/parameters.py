"""Options that several commands share, and how the text of an option becomes a value.

Law: the value of an option reaches its command as the text that was typed, and is checked once, here or
below, with an error that names the option. (Typer would have pydantic check that text is text, which costs
each run 70 ms of imports.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Annotated, Any

import typer
from typer.core import TyperCommand
from typer.main import get_command

from castore.cli import offline
from castore.config import parse_duration
from castore.errors import InvalidOption

__all__ = [
    "AllowPurged",
    "DryRun",
    "File",
    "Json",
    "KeepFor",
    "KeepTurns",
    "Limit",
    "MaxBytes",
    "Name",
    "Out",
    "PlainCommand",
    "Question",
    "ReadScope",
    "ReadingCommand",
    "Reference",
    "Require",
    "RetrieveWith",
    "Scope",
    "Session",
    "SessionName",
    "StoreFolder",
    "parse_count",
    "parse_keep_for",
    "parse_max_bytes",
    "parse_share",
    "place_words",
    "take_plain",
]

File = Annotated[str | None, typer.Argument(metavar="FILE", help="Read this file; '-' or none is stdin.")]
Out = Annotated[
    str | None,
    typer.Option("-o", "--output", metavar="OUT", help="Replace OUT atomically; it may be the input."),
]
StoreFolder = Annotated[
    str | None,
    typer.Option("--store", metavar="FOLDER", help="Use this .ctxstore folder."),
]
Json = Annotated[bool, typer.Option("--json", help="Print facts and errors as JSON lines.")]
Name = Annotated[str | None, typer.Option("--name", metavar="NAME", help="Name the root.")]
Scope = Annotated[
    str | None,
    typer.Option("--scope", metavar="SCOPE", help="Write in this scope, one of those granted."),
]
ReadScope = Annotated[
    str | None,
    typer.Option("--scope", metavar="SCOPE", help="Look at this scope alone, one of those granted."),
]
AllowPurged = Annotated[
    bool, typer.Option("--allow-purged", help="Store bytes again that were purged from the scope.")
]
KeepFor = Annotated[
    str | None,
    typer.Option("--for", metavar="DUR", help="Keep it this long, as in 30d (default: for ever)."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")]
Reference = Annotated[
    str,
    typer.Argument(metavar="REF", help="A digest or its first digits, a name, or a reference pasted in."),
]
RetrieveWith = Annotated[
    str | None,
    typer.Option("--retrieve-with", metavar="TEXT", help="End markers with TEXT and the digest."),
]
Session = Annotated[
    str | None, typer.Argument(metavar="SESSION", help="Read this session; '-' or none is stdin.")
]
SessionName = Annotated[
    str | None,
    typer.Option("--session", metavar="NAME", help="The log's name (default: the session's own id)."),
]
KeepTurns = Annotated[
    str | None,
    typer.Option(
        "--keep-turns", metavar="N", help="Turns at the end that stay whole, at least 1 (default: 4)."
    ),
]
Require = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        metavar="KIND=SHARE",
        help="The share of the source's facts of a kind ('all': of all) that must be kept; 'invented=N': how "
        "many facts may be invented.",
    ),
]
Question = Annotated[
    str | None, typer.Option("--question", metavar="TEXT", help="What bears on this question comes first.")
]
MaxBytes = Annotated[
    str | None,
    typer.Option(
        "--max-bytes", metavar="N", help="Print at most N bytes (0: all), and say what is left out."
    ),
]
Limit = Annotated[str | None, typer.Option("-n", metavar="N", help="Print at most N lines.")]


def parse_count(option: str, text: str | None) -> int | None:
    """The whole number written in `text`, or None if there is none; raises InvalidOption naming `option`."""
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise InvalidOption(f"{option} must be a whole number, not '{text[:40]}'", option=option)
    return int(text)


def parse_max_bytes(text: str | None, default: int | None) -> int | None:
    """The bound of `--max-bytes N`, None for none: `0` is no bound, in every command. Not given: `default`.

    Raises InvalidOption.
    """
    bytes_max = parse_count("--max-bytes", text)
    return default if bytes_max is None else bytes_max or None


def parse_share(option: str, text: str | None) -> float | None:
    """The number from 0 to 1 written in `text`, or None if there is none; raises InvalidOption."""
    if text is None:
        return None
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise InvalidOption(f"{option} must be a number from 0 to 1, not '{text[:40]}'", option=option)
    return share


def parse_keep_for(text: str | None) -> int | None:
    """The seconds of `--for DUR`; None is for ever."""
    return None if text is None else parse_duration(text)


def place_words(scope: str | None, store: str | None) -> list[str]:
    """The words that look at the same scope and store again."""
    scoped = ["--scope", scope] if scope is not None else []
    return scoped + (["--store", store] if store is not None else [])


class PlainCommand(TyperCommand):
    """A command whose options are text, flags, or lists of text."""

    def get_params(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        return take_plain(super().get_params(ctx))


class ReadingCommand(PlainCommand):
    """One that reads objects, which may lie at a remote."""

    def get_params(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        *own, helping = super().get_params(ctx)
        return [*own, *take_plain([_offline_option()]), helping]


@cache
def _offline_option() -> Any:
    """--offline, which no command takes: it is noted where `find_store` looks."""

    def given(
        offline: Annotated[
            bool, typer.Option("--offline", help="Fetch nothing from a remote (CTX_OFFLINE=1 does so too).")
        ] = False,
    ) -> None: ...

    app = typer.Typer(add_completion=False)
    app.command()(given)
    option = get_command(app).params[0]
    option.expose_value = False
    option.callback = lambda context, parameter, value: offline.forbid(value)
    return option


def take_plain(parameters: Iterable[Any]) -> list[Any]:
    """The same parameters, each now passing text and flags through as they are, and named plainly in help."""
    parameters = list(parameters)
    for parameter in parameters:
        if "process_value" not in vars(parameter):
            parameter.process_value = _passing(parameter, parameter.process_value)
            parameter.get_help_record = _without_type(parameter.get_help_record)
    return parameters


def _passing(parameter: Any, typers_own: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def process_value(context: Any, value: Any) -> Any:
        if value is None and (parameter.multiple or parameter.nargs == -1):
            value = ()
        if parameter.required and value in (None, ()):
            return typers_own(context, value)  # It raises the error of a missing argument.
        if parameter.callback is not None:
            return parameter.callback(context, parameter, value)
        return value

    return process_value


def _without_type(typers_own: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Help names an argument FILE, not `FILE <list[str]>`: the type is Python's, not the reader's."""

    def get_help_record(context: Any) -> Any:
        record = typers_own(context)
        return record and (record[0].partition(" <")[0], record[1])

    return get_help_record
