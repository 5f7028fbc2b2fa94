"""`ctx`: main() is the one place where an error becomes text and an exit code.

Law: whatever happens, the process ends with one of the documented exit codes; nothing a user did prints a
traceback; stdout carries data only, and with `--json` an error is exactly one JSON line on stderr.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import Annotated, Any, NoReturn

import typer
from typer.main import get_command

from castore import __version__
from castore.cli import offline, output
from castore.cli.commands import HOOKS, CommandGroup, command_in
from castore.cli.failure import report

__all__ = ["main", "root_command", "run"]

_COMPLETION = "_CTX_COMPLETE"
"""Set by the shell's completion script; names what the shell asks for."""


def main() -> NoReturn:
    """Run the command line of this process and end it."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line; returns its exit code, having printed everything there is to say."""
    before_end = arguments[: arguments.index("--")] if "--" in arguments else arguments
    as_json = "--json" in before_end
    output.use_json(as_json)
    offline.forbid(False)
    try:
        code = _invoke(arguments)
        output.finish()
    except BaseException as error:  # noqa: BLE001 - here every error becomes an exit code
        if isinstance(error, SystemExit) and isinstance(error.code, int | None):
            return error.code or 0
        output.settle_stdout()
        command = command_in(arguments)
        code = report(error, as_json=as_json, command=command)
        if command in HOOKS:
            # A harness takes 2 for an order to stop what it does; 1 lets it go on.
            return 1
    return code


@cache
def root_command() -> Any:
    """`ctx` as typer sees it; made once."""
    app = typer.Typer(cls=CommandGroup, rich_markup_mode=None)
    app.callback(invoke_without_command=True)(_ctx)
    return get_command(app)


def _invoke(arguments: list[str]) -> int:
    command = root_command()
    if _COMPLETION in os.environ:
        command.main(arguments, prog_name="ctx", standalone_mode=False)
        return 0
    try:
        with command.make_context("ctx", arguments) as context:
            result = command.invoke(context)
    except typer.Exit as ended:
        return ended.exit_code
    return result if isinstance(result, int) else 0


def _print_version(wanted: bool) -> None:
    if wanted:
        output.line(f"ctx {__version__}")
        raise typer.Exit


def _ctx(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version."),
    ] = False,
    store: Annotated[
        str | None, typer.Option("--store", metavar="FOLDER", help="Use this .ctxstore folder.")
    ] = None,
) -> None:
    if context.invoked_subcommand is None:
        from castore.cli.help import program_map

        for words in program_map():
            output.line(words)
