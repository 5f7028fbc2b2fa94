"""Run ctx with syncs left out: `python unsynced.py WHICH COUNT_FILE ARGUMENT…`.

WHICH: `none`, `all`, `index` (those of SQLite), `everything` (both), or the number of the one sync, from
1, that the program asks for and does not get; `kill-N`: it is killed where it asks for the N-th.
COUNT_FILE gets the number of syncs it asked for.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from typing import Any


class _UnsyncedConnection(sqlite3.Connection):
    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        return super().execute(statement.replace("synchronous=FULL", "synchronous=OFF"), *values)


def main() -> None:
    which, count_file, *arguments = sys.argv[1:]
    from castore import durable

    asked = 0
    fsync, syncfs = durable.calls.fsync, durable.calls.syncfs

    def is_left_out() -> bool:
        nonlocal asked
        asked += 1
        if which == f"kill-{asked}":
            os.kill(os.getpid(), signal.SIGKILL)
        return which in ("all", "everything", str(asked))

    durable.calls.fsync = lambda descriptor: None if is_left_out() else fsync(descriptor)  # type: ignore[method-assign]
    durable.calls.syncfs = lambda descriptor: is_left_out() or syncfs(descriptor)  # type: ignore[method-assign]
    if which in ("index", "everything"):
        connect = sqlite3.connect

        def connect_unsynced(*values: Any, **options: Any) -> sqlite3.Connection:
            connection = connect(*values, factory=_UnsyncedConnection, **options)
            connection.execute("PRAGMA synchronous=OFF")
            return connection

        sqlite3.connect = connect_unsynced  # type: ignore[assignment]
    from castore.cli.app import main as ctx

    sys.argv = ["ctx", *arguments]
    try:
        ctx()
    finally:
        with open(count_file, "w") as file:
            file.write(str(asked))


if __name__ == "__main__":
    main()
