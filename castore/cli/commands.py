"""The map of commands: what there is, in groups, and the group that loads one command at a time.

Law: naming a command imports its module and no other; `ctx`, `ctx --help` and shell completion of
command names import none. The one-line help and the example of a command are written here, once, and are
what the map, `--help` and docs/cli.md show.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command

from castore.cli.parameters import PlainCommand, take_plain
from castore.errors import InvalidOption

__all__ = ["COMMANDS", "CommandGroup", "Entry", "load"]


class Entry(NamedTuple):
    group: str
    module: str
    summary: str
    example: str


COMMANDS: dict[str, Entry] = {
    "fold": Entry(
        "documents",
        "castore.cli.fold",
        "Move long values of a JSON document into the store, and leave references",
        "ctx fold incident.json > folded.json",
    ),
    "unfold": Entry(
        "documents",
        "castore.cli.fold",
        "Give a folded document back, byte for byte",
        "ctx unfold folded.json | cmp - incident.json",
    ),
    "verify": Entry(
        "documents",
        "castore.cli.fold",
        "Check every reference in files; without files, check the whole store",
        "ctx verify folded.json",
    ),
    "put": Entry(
        "objects",
        "castore.cli.objects",
        "Store files as objects and print their digests in input order",
        "ctx put shot.png build.log",
    ),
    "cat": Entry(
        "objects",
        "castore.cli.objects",
        "Write an object's bytes to stdout",
        "ctx cat 3f9ac01b77de > rows.json",
    ),
    "show": Entry(
        "objects",
        "castore.cli.objects",
        "Show an object's facts, a preview and its roots, or a root's facts and objects",
        "ctx show 3f9ac01b77de",
    ),
    "ls": Entry(
        "objects",
        "castore.cli.objects",
        "List objects in order of their digests",
        "ctx ls -n 20",
    ),
    "log": Entry(
        "keeping",
        "castore.cli.keeping",
        "List roots, newest first: what was stored, when, and until when it is kept",
        "ctx log -n 10",
    ),
    "tag": Entry(
        "keeping",
        "castore.cli.keeping",
        "Give an object or a folded document a name, which also keeps it",
        "ctx tag outage-88123 3f9ac01b77de",
    ),
    "forget": Entry(
        "keeping",
        "castore.cli.keeping",
        "Let roots expire after the grace time, so that gc frees what only they named",
        "ctx forget --older-than 30d --dry-run",
    ),
    "gc": Entry(
        "keeping",
        "castore.cli.keeping",
        "Free what no root names, and only that",
        "ctx gc --dry-run",
    ),
    "init": Entry(
        "store",
        "castore.cli.stores",
        "Make a store in a folder",
        "ctx init",
    ),
    "stats": Entry(
        "store",
        "castore.cli.stores",
        "Show how much the store holds and how small it is stored",
        "ctx stats --json",
    ),
    "config": Entry(
        "store",
        "castore.cli.stores",
        "List the store's settings, or show or set one",
        "ctx config fold.bytes-over 4096",
    ),
}


def load(name: str) -> Any:
    """The typer command called `name`, from its own module."""
    entry = COMMANDS[name]
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    function = getattr(import_module(entry.module), name)
    app.command(name, cls=PlainCommand, help=f"{entry.summary}.", epilog=f"Example: {entry.example}")(
        function
    )
    return get_command(app)


class CommandGroup(TyperGroup):
    """`ctx` itself. A `--store` given before the command is handed on to the command."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        return list(COMMANDS)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]
        return load(cmd_name) if cmd_name in COMMANDS else None

    def get_params(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        return take_plain(super().get_params(ctx))

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]
        if args[0] not in COMMANDS:
            raise _unknown(args[0])
        store = ctx.params.get("store")
        handed_on = ["--store", store] if store is not None else []
        return args[0], load(args[0]), handed_on + args[1:]

    def format_help(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        from castore.cli.help import options_lines, program_map

        formatter.write("\n".join([*program_map(), "", *options_lines(self, ctx)]) + "\n")

    def shell_complete(self, ctx: typer.Context, incomplete: str) -> Any:  # type: ignore[override]
        from typer._click.shell_completion import CompletionItem

        names = [name for name in COMMANDS if name.startswith(incomplete)]
        options = super().shell_complete(ctx, incomplete) if incomplete.startswith("-") else []
        return [CompletionItem(name, help=COMMANDS[name].summary) for name in names] + list(options)


def _unknown(name: str) -> InvalidOption:
    from difflib import get_close_matches

    close = get_close_matches(name, COMMANDS, n=1)
    hint = f"did you mean 'ctx {close[0]}'?" if close else "'ctx' alone lists the commands"
    return InvalidOption(f"no command '{name}'", hint=hint, subject=name)
