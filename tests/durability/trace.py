"""Run a program under strace, and read what it asked of the file system, in order."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

__all__ = ["CALLS", "Event", "Traced", "needs_strace", "parse", "traced"]

CALLS = (
    "openat,creat,write,pwrite64,writev,pwritev,ftruncate,fsync,fdatasync,syncfs,sync,"
    "rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,rmdir"
)
"""Every call that changes a file, a name, or what is on the disk."""

needs_strace = pytest.mark.skipif(
    shutil.which("strace") is None, reason="strace is not installed: no system call can be seen"
)

_LINE = re.compile(r"(\d+) +(\w+)\((.*)\) += (-?\d+|\?)(.*)\Z")
_UNFINISHED = re.compile(r"(\d+) +(\w+)\((.*) <unfinished \.\.\.>\Z")
_RESUMED = re.compile(r"(\d+) +<\.\.\. (\w+) resumed>(.*)\Z")
_DESCRIPTOR = re.compile(r"(\d+)<(.*?)>(?=[,)]|\Z| )")
_QUOTED = re.compile(r'"([^"]*)"')
_AT = re.compile(r"(?:AT_FDCWD|\d+)<([^>]*)>, ")


@dataclass(frozen=True)
class Event:
    """One call that succeeded. paths: absolute, as many as it has; descriptor: of a call on an open file.

    number: which call of this name it was of its process and thread, from 1, the failed ones counted.
    """

    process: int
    call: str
    paths: tuple[str, ...]
    descriptor: int | None
    flags: str
    number: int


@dataclass(frozen=True)
class Traced:
    code: int
    out: bytes
    err: str
    events: list[Event]


def traced(
    command: Sequence[str],
    folder: Path,
    *,
    environment: dict[str, str],
    stdin: bytes = b"",
    kill_at: tuple[str, int] | None = None,
) -> Traced:
    """What the command did, its standard output being a pipe. strace is aimed at the interpreter itself.

    kill_at: name and number of a call; the process or thread that makes it dies there, without it.
    """
    options = ["--seccomp-bpf", f"--trace={CALLS}"]
    if kill_at is not None:
        call, number = kill_at
        # strace gives no signal where a filter in the kernel chooses the calls, though that is faster.
        options = [f"--trace={call}", f"--inject={call}:signal=KILL:when={number}"]
    log = folder / f"strace-{os.urandom(4).hex()}.txt"
    done = subprocess.run(
        ["strace", "-f", "-y", "-s0", "-qq", *options, "-o", str(log), *command],
        cwd=folder,
        env=environment,
        input=stdin,
        capture_output=True,
        check=False,
        timeout=120,
    )
    events = list(parse(log.read_text().splitlines(), str(folder)))
    log.unlink()
    return Traced(done.returncode, done.stdout, done.stderr.decode(), events)


def parse(lines: Sequence[str], folder: str) -> Iterator[Event]:
    """The calls that succeeded, each where it returned. A line in no known form is an error."""
    begun: dict[tuple[str, str], str] = {}
    counts: dict[tuple[str, str], int] = {}
    for line in lines:
        if unfinished := _UNFINISHED.match(line):
            begun[unfinished[1], unfinished[2]] = unfinished[3]
            continue
        if resumed := _RESUMED.match(line):
            process, call, rest = resumed.groups()
            line = f"{process} {call}({begun.pop((process, call))}{rest}"
        match = _LINE.match(line)
        if match is None:
            if "+++" in line or "---" in line:
                continue
            raise AssertionError(f"strace wrote a line that is not understood: {line!r}")
        process, call, arguments, result, rest = match.groups()
        counts[process, call] = number = counts.get((process, call), 0) + 1
        if result != "?" and int(result) >= 0:
            yield _event(int(process), call, arguments, rest, number, folder)


def _event(process: int, call: str, arguments: str, rest: str, number: int, folder: str) -> Event:
    if call in ("openat", "creat"):
        opened = re.match(r"<(.*)>", rest)
        return Event(process, call, (opened[1],) if opened else (), None, arguments, number)
    on_file = _DESCRIPTOR.match(arguments)
    if on_file is not None and not call.endswith("at") and call != "renameat2":
        return Event(process, call, (on_file[2],), int(on_file[1]), arguments, number)
    bases = _AT.findall(arguments) or [folder]
    names = _QUOTED.findall(arguments)
    paths = tuple(
        os.path.normpath(os.path.join(bases[min(place, len(bases) - 1)], name))
        for place, name in enumerate(names)
    )
    return Event(process, call, paths, None, arguments, number)
