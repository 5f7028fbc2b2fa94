"""Run a command with a pseudo-terminal for stdout and stderr, and give what a person sees."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def seen_on_terminal(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    *,
    stdin: int = subprocess.DEVNULL,
    stdout: int | None = None,
    typed: str | None = None,
) -> str:
    """stdout: a descriptor to send it to instead; then only stderr is seen. typed: by a person, on stdin."""
    master, slave = pty.openpty()
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=stdin if typed is None else slave,
            stdout=slave if stdout is None else stdout,
            stderr=slave,
        )
    finally:
        os.close(slave)
    if typed is not None:
        os.write(master, typed.encode())
    seen = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # Linux says EIO when the last writer has gone.
            break
        if not piece:
            break
        seen += piece
    process.wait(timeout=60)
    os.close(master)
    return seen.decode().replace("\r\n", "\n")
