"""Where a command reads from and writes to: FILE or stdin, OUT or stdout.

Laws: an input that can't be read is an error that names it, and a terminal is never waited on by mistake.
OUT is replaced as a whole or not at all (castore.durable); stdout gets what is written as it is written.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from castore.cli.failure import reason_of, report
from castore.cli.output import binary_stdout, is_terminal
from castore.errors import CastoreError, InvalidOption

__all__ = [
    "STANDARD",
    "is_private",
    "lasting_place",
    "open_source",
    "open_target",
    "placed_in",
    "readable",
    "rereadable",
    "source_name",
    "standard_input",
    "unreadable",
]

STANDARD = "-"


@contextmanager
def open_source(file: str | None) -> Iterator[BinaryIO]:
    """The bytes of FILE; `-` or None is stdin. Raises CastoreError if they can't be had."""
    if file is None or file == STANDARD:
        yield standard_input(is_asked_for=file is not None)
        return
    try:
        source = open(file, "rb")  # noqa: SIM115 - it is closed below, and only its opening is guarded
    except (OSError, ValueError) as error:
        raise unreadable(file, error) from error
    with source:
        yield source


@contextmanager
def open_target(out: str | None, *, sync: bool) -> Iterator[BinaryIO]:
    """OUT, replaced atomically when the block ends without an error; `-` or None is stdout."""
    if out is None or out == STANDARD:
        yield binary_stdout()
        return
    from castore.durable import replacing

    with replacing(out, sync=sync) as target:
        yield target


def is_private(out: str | None) -> bool:
    """What is written to OUT is seen by nobody before the block of `open_target` has ended."""
    return out is not None and out != STANDARD


def lasting_place(out: str | None) -> str | None:
    """The absolute path of OUT, if a file is what it will be: for a root to remember its document by.

    None for stdout, and for a device, a pipe or an open file (/dev/stdout), which hold nothing afterwards.
    """
    if out is None or out == STANDARD:
        return None
    from castore.durable import is_replaceable

    return os.path.abspath(out) if is_replaceable(out) else None


def standard_input(*, is_asked_for: bool = False) -> BinaryIO:
    """stdin's bytes. A terminal is refused unless `-` asked for it."""
    if sys.stdin is None:
        raise CastoreError("standard input is closed", hint="name a FILE")
    if is_terminal(sys.stdin) and not is_asked_for:
        raise InvalidOption(
            "no input: stdin is a terminal", hint="name a FILE, pipe a document in, or give '-' to type one"
        )
    return sys.stdin.buffer


@contextmanager
def placed_in(file: str | None) -> Iterator[None]:
    """An error with a place inside the input says which input that is: `at folded.json: $.rows (byte 47)`."""
    try:
        yield
    except CastoreError as error:
        if error.place is not None:
            error.place = f"{source_name(file) or 'stdin'}: {error.place}"
        raise


def source_name(file: str | None) -> str | None:
    """The name a root remembers its source by: the path as it was typed, tidied; None for stdin.

    It is text for people: bytes that are none are written as `\\xe9`.
    """
    if file is None or file == STANDARD:
        return None
    return os.fsencode(os.path.normpath(file)).decode("utf-8", "backslashreplace")


def readable(files: Iterable[str], *, as_json: bool) -> list[str]:
    """Those of `files` that can be opened, `-` being one; each of the others is reported on stderr."""
    found = []
    for file in files:
        if file == STANDARD:
            found.append(file)
            continue
        try:
            open(file, "rb").close()
            found.append(file)
        except (OSError, ValueError) as error:
            report(unreadable(file, error), as_json=as_json)
    return found


def rereadable(files: Iterable[str]) -> Iterator[tuple[str, BinaryIO]]:
    """Each of `files`, open, with its name, to be read more than once: what stdin holds is copied to an
    unnamed temporary file."""
    for file in files:
        if file != STANDARD:
            with open(file, "rb") as source:
                yield file, source
            continue
        import shutil
        import tempfile

        with tempfile.TemporaryFile() as spool:
            shutil.copyfileobj(standard_input(is_asked_for=True), spool, 1 << 20)
            spool.seek(0)
            yield "stdin", spool


def unreadable(file: str, error: OSError | ValueError) -> CastoreError:
    reason = reason_of(error) if isinstance(error, OSError) else str(error)
    return CastoreError(f"can't read '{file}': {reason}", path=file, errno=getattr(error, "errno", None))
