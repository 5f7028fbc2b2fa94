"""Faults as scripts one can read: a letter for each call of one name.

    .  the call is made        E  it fails with EIO        F  it fails with ENOSPC
    S  it is skipped (a lying disk)                        X  the process is gone at this call

After the last letter every call is made.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from castore.durable import calls

NAMES = ("open", "write", "fsync", "syncfs", "rename", "unlink", "mkdir")


class Crash(BaseException):
    """Nothing of the program runs after this, but for what Python itself insists on."""


class Script:
    def __init__(self, letters: str) -> None:
        self.letters = letters
        self.count = 0

    def next(self) -> str:
        letter = self.letters[self.count] if self.count < len(self.letters) else "."
        self.count += 1
        return letter


@contextmanager
def scripted(scripts: dict[str, Script]) -> Iterator[list[tuple[str, str]]]:
    """Inside the block the calls of castore.durable follow the scripts. Gives the log: name and path."""
    log: list[tuple[str, str]] = []
    state = {"crashed": False}
    paths: dict[int, str] = {}

    def wrap(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any) -> Any:
            if state["crashed"]:
                raise Crash
            path = paths.get(arguments[0], "") if isinstance(arguments[0], int) else str(arguments[-1])
            if name in ("open", "mkdir", "unlink"):
                path = str(arguments[0])
            log.append((name, path))
            letter = scripts[name].next() if name in scripts else "."
            if letter == "X":
                state["crashed"] = True
                raise Crash
            if letter in "EF":
                number = errno.EIO if letter == "E" else errno.ENOSPC
                raise OSError(number, os.strerror(number))
            if letter == "S":
                return True
            result = call(*arguments)
            if name == "open":
                paths[result] = path
            return result

        return wrapped

    honest = {name: getattr(calls, name) for name in NAMES}
    for name, call in honest.items():
        setattr(calls, name, wrap(name, call))
    try:
        yield log
    finally:
        for name in NAMES:
            delattr(calls, name)
