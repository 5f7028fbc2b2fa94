"""Where a command reads from and writes to: FILE or stdin, OUT or stdout.

Laws: an input that can't be read is an error that names it, and a terminal is never waited on by mistake.
OUT is replaced as a whole or not at all (castore.durable); stdout gets what is written as it is written.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import BinaryIO

from castore.cli.failure import reason_of, report
from castore.cli.output import binary_stdout, is_terminal
from castore.config import STAGED_AGE_SECONDS_MAX
from castore.errors import CastoreError, InvalidOption, NotFound

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

_NAMES_LOOKED_AT_MAX = 10_000
"""Of the names beside OUT, so many are looked at for what killed commands left."""


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
    """OUT, replaced atomically when the block ends without an error; `-` or None is stdout.

    What killed commands left beside OUT more than a day ago goes.
    """
    if out is None or out == STANDARD:
        yield binary_stdout()
        return
    from castore.durable import replacing

    with replacing(out, sync=sync) as target:
        yield target
    _remove_left(out)


def _remove_left(out: str) -> None:
    """Only what has exactly such a name, is a file with one name and ours, and is older than OUT by a day.

    Best effort: where it can't be done, it is done after a later command. The time is that of the file
    system, which may be another one's.
    """
    from castore.durable import remove_leftover, temporary_names

    pattern, path = temporary_names(out), os.path.realpath(out)
    try:
        written = os.stat(path)
        if not stat.S_ISREG(written.st_mode):
            return  # A device or a pipe was written into, and nothing beside it.
        with os.scandir(os.path.dirname(path)) as entries:
            names = [entry for entry in islice(entries, _NAMES_LOOKED_AT_MAX) if pattern.match(entry.name)]
            left = [entry.path for entry in names if _is_left(entry.stat(follow_symlinks=False), written)]
    except OSError:
        return
    remove_leftover(left, ())


def _is_left(found: os.stat_result, written: os.stat_result) -> bool:
    is_ours = stat.S_ISREG(found.st_mode) and found.st_nlink == 1 and found.st_uid == written.st_uid
    return is_ours and found.st_mtime < written.st_mtime - STAGED_AGE_SECONDS_MAX


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
    """An error with a place inside the input says which input that is: `at folded.json: $.rows (byte 47)`;
    and one that a pull may help, that the pull is of this file, and so of all that is in it."""
    try:
        yield
    except CastoreError as error:
        if error.place is not None:
            error.place = f"{source_name(file) or 'stdin'}: {error.place}"
        if isinstance(error, NotFound) and error.pulled_from and file is not None and os.path.isfile(file):
            from castore.cli.reading import shell_words

            error.offer_pull(error.pulled_from, shell_words([file]))
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
