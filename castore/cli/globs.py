"""Which files a glob names, for what must not overlook one.

Laws: `**` is any folders, also none, and follows no links; hidden files and folders match like others. A
folder that can't be listed is an error, and so is a glob that names no file: Python's own glob leaves out
the first and is quiet about the second, and then gc would take what the files keep.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from fnmatch import fnmatchcase

from castore.cli.files import unreadable
from castore.errors import CastoreError

__all__ = ["files_matching"]


def files_matching(pattern: str, *, without: str) -> list[str]:
    """The files that `pattern` names, sorted; those in the folder `without` are left out.

    Raises CastoreError if there is none, or if a folder can't be listed.
    """
    base = "/" if pattern.startswith("/") else ""
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    left_out = os.path.realpath(without)
    matching = {path.removeprefix("./") for path in _matching(base, parts, left_out)}
    found = sorted(path for path in matching if stat.S_ISREG(_mode(path)))
    if not found:
        raise CastoreError(
            f"no file matches '{pattern}'",
            hint="nothing was removed; quote the glob, so that ctx and not the shell expands it",
            pattern=pattern,
        )
    return found


def _matching(base: str, parts: list[str], left_out: str) -> Iterator[str]:
    if not parts:
        yield base
        return
    first, rest = parts[0], parts[1:]
    if first == "**":
        yield from _matching(base, rest or ["*"], left_out)
        for entry in _entries(base, left_out):
            if entry.is_dir(follow_symlinks=False):
                yield from _matching(entry.path, parts, left_out)
    elif any(sign in first for sign in "*?["):
        for entry in _entries(base, left_out):
            # A name with such signs in it means itself, too.
            is_meant = entry.name == first or fnmatchcase(entry.name, first)
            if is_meant and (not rest or entry.is_dir()):
                yield from _matching(entry.path, rest, left_out)
    else:
        path = os.path.join(base, first)
        if not rest or stat.S_ISDIR(_mode(path)):
            yield from _matching(path, rest, left_out)


def _entries(folder: str, left_out: str) -> list[os.DirEntry[str]]:
    if os.path.realpath(folder) == left_out:
        return []
    try:
        with os.scandir(folder or ".") as entries:
            return list(entries)
    except FileNotFoundError:
        return []  # It went while we looked, and its files with it.
    except OSError as error:
        raise unreadable(folder, error) from error


def _mode(path: str) -> int:
    """What kind of file it is, as stat says; 0 if there is none."""
    try:
        return os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
