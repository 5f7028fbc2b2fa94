"""`ctx`: main() is the one place where an error becomes text and an exit code.

Law: whatever happens, the process ends with one of the documented exit codes; nothing a user did prints a
traceback; stdout carries data only, and with `--json` an error is exactly one JSON line on stderr.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any, NoReturn

import typer
from typer.main import get_command

from castore import __version__
from castore.cli import output
from castore.cli.commands import CommandGroup
from castore.cli.failure import BUG, CLOSED_PIPE, Failure, describe

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
    try:
        code = _invoke(arguments)
        output.finish()
    except BaseException as error:  # noqa: BLE001 - here every error becomes an exit code
        if isinstance(error, SystemExit) and isinstance(error.code, int | None):
            return error.code or 0
        code = _report(describe(error), error, as_json)
    return code


def root_command() -> Any:
    """`ctx` as typer sees it."""
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


def _report(failure: Failure, error: BaseException, as_json: bool) -> int:
    """Print `failure` on stderr, as one JSON line or as lines for people; returns its exit code."""
    output.settle_stdout()
    if failure.code == CLOSED_PIPE or sys.stderr is None:
        return failure.code
    try:
        if as_json:
            _report_json(failure, error)
        else:
            _report_text(failure, error)
        sys.stderr.flush()
    except OSError:
        return failure.code  # Nobody reads stderr; the code still tells.
    return failure.code


def _report_json(failure: Failure, error: BaseException) -> None:
    fields = dict(failure.fields)
    if failure.place is not None:
        fields["place"] = failure.place
    if failure.causes:
        fields["causes"] = list(failure.causes)
    notes = output.take_notes()
    if notes:
        fields["notes"] = notes
    if failure.is_bug:
        fields["traceback"] = _traceback(error)
    output.event(
        "error",
        code=failure.code,
        name=failure.name,
        message=failure.message,
        hint=failure.hint,
        fields=fields,
    )


def _report_text(failure: Failure, error: BaseException) -> None:
    def say(text: str) -> None:
        output.line(output.printable(text), sys.stderr)

    if failure.code == BUG:
        sys.stderr.write(_traceback(error))
    output.line(f"{output.red('error:')} {output.printable(failure.message)}", sys.stderr)
    if failure.place is not None:
        say(f"at {failure.place}")
    for cause in failure.causes:
        say(f"caused by: {cause}")
    if failure.hint is not None:
        say(f"hint: {failure.hint}")


def _traceback(error: BaseException) -> str:
    import traceback

    return "".join(traceback.format_exception(error))
