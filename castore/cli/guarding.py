"""guard: a model's next call, before it is made; and markers that got into files (`verify --no-markers`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

import typer

from castore.cli import output
from castore.cli.files import open_source, placed_in, rereadable
from castore.cli.output import Record
from castore.cli.parameters import File, Json
from castore.digest import Digest
from castore.errors import InvalidOption
from castore.objects.finding import Finding, FindingName

__all__ = ["guard", "markers_in"]

_IS_REPEAT = 3


def guard(
    file: File = None,
    name: Annotated[str, typer.Option("--name", metavar="TOOL", help="The tool that is to be called.")] = "",
    arguments: Annotated[
        str, typer.Option("--arguments", metavar="JSON", help="What it is to be called with.")
    ] = "",
    format: Annotated[
        str | None, typer.Option("--format", metavar="NAME", help="Read the session as this format.")
    ] = None,
    as_json: Json = False,
) -> int:
    """0 if the call may be made. 3 if the session's last two calls are that very call, since its last
    prompt: then stdout says so, in words that a model can act on. The session is only read; one that is
    empty as yet has no calls."""
    from castore.transcript.formats import ReadOptions, read_transcript
    from castore.transcript.guard import RepeatGuard
    from castore.transcript.records import read_records

    if not name:
        raise InvalidOption("guard needs --name TOOL", option="--name", hint="as in --name read")
    value = _parsed(arguments)
    with open_source(file) as source, placed_in(file):
        data = source.read()
        if not data.strip():
            return 0
        transcript = read_transcript(read_records(data), ReadOptions(), format=format)
    repeats = RepeatGuard.of(transcript)
    message = repeats.message_for(name, value)
    if message is None:
        return 0
    facts = {"tool": name, "in_a_row": repeats.in_a_row(name, value), "message": message}
    output.table([Record((message,), facts)], as_json)
    return _IS_REPEAT


def _parsed(arguments: str) -> str:
    """The text to compare by: of JSON that is a string (a tool of free text) what it says."""
    import json

    try:
        value = json.loads(arguments, parse_int=float)
    except (ValueError, RecursionError) as error:
        raise InvalidOption(
            f"--arguments must be JSON, not '{arguments[:40]}'",
            option="--arguments",
            hint="""write the arguments as the model gave them, as in '{"path":"a.txt"}'""",
        ) from error
    return value if isinstance(value, str) else arguments


def markers_in(files: Iterable[str]) -> Iterator[Finding]:
    """A finding for each marker and reference in `files`, whatever they are, at FILE:LINE:COLUMN."""
    from castore.transcript.markers import find_in_stream

    for file, source in rereadable(files):
        for found in find_in_stream(source):
            is_whole = len(found.digest) == 64
            yield Finding(
                FindingName.MARKER,
                Digest.parse(f"sha256:{found.digest}") if is_whole else None,
                f"{file}:{found.line}:{found.column}",
                f"{'a reference' if found.is_reference else 'a marker'} of a view: {found.text}",
            )
