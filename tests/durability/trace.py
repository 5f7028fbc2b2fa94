"""Run a program under strace, and read what it asked of the file system, in order."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

__all__ = ["CALLS", "READS", "Event", "Traced", "needs_strace", "parse", "traced"]

CALLS = (
    "openat,creat,write,pwrite64,writev,pwritev,ftruncate,fsync,fdatasync,syncfs,sync,"
    "rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,rmdir"
)
"""Every call that changes a file, a name, or what is on the disk."""

READS = "read,pread64,getdents64,newfstatat,statx,flock,fcntl,mmap,fchmod,chmod,fchmodat,fchown"
"""Calls on files that may fail too; those that change a mode only are among them."""

_SYNCS = ("fsync", "fdatasync", "syncfs")

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
    A sync that failed is an event too, `failed fsync`: what it did not write is lost.
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
    injected: str = ""
    """The call that was made to fail, as strace wrote it; nothing if it was not met."""


def traced(
    command: Sequence[str],
    folder: Path,
    *,
    environment: dict[str, str],
    stdin: bytes = b"",
    calls: str = CALLS,
    kill_at: tuple[str, int] | None = None,
    fail_at: tuple[str, int, str] | None = None,
) -> Traced:
    """What the command did, its standard output being a pipe. strace is aimed at the interpreter itself.

    kill_at: name and number of a call; the process or thread that makes it dies there, without it.
    fail_at: name and number of a call, and the error that it returns (`EIO`) without being made.
    """
    options = ["--seccomp-bpf", f"--trace={calls}"]
    if fail_at is not None:
        call, number, error = fail_at
        options.append(f"--inject={call}:error={error}:when={number}")
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
    lines = log.read_text().splitlines()
    log.unlink()
    injected = next((line for line in lines if line.endswith("(INJECTED)")), "")
    events = list(parse(lines, str(folder)))
    return Traced(done.returncode, done.stdout, done.stderr.decode(), events, injected)


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
        if result != "?" and int(result, 0) >= 0:
            yield _event(int(process), call, arguments, rest, number, folder)
        elif call in _SYNCS and result != "?":
            failed = _event(int(process), call, arguments, rest, number, folder)
            yield replace(failed, call=f"failed {call}")


def _event(process: int, call: str, arguments: str, rest: str, number: int, folder: str) -> Event:
    if call in ("openat", "creat"):
        opened = re.match(r"<(.*)>", rest)
        return Event(process, call, (opened[1],) if opened else (), None, arguments, number)
    on_file = _DESCRIPTOR.match(arguments)
    if call == "newfstatat" and on_file is not None and "AT_EMPTY_PATH" in arguments:
        return Event(process, call, (on_file[2],), int(on_file[1]), arguments, number)
    if call == "mmap":
        mapped = re.search(r"\d+<([^>]*)>", arguments)
        return Event(process, call, (mapped[1],) if mapped else (), None, arguments, number)
    if on_file is not None and not call.endswith("at") and call != "renameat2":
        return Event(process, call, (on_file[2],), int(on_file[1]), arguments, number)
    bases = _AT.findall(arguments) or [folder]
    names = _QUOTED.findall(arguments)
    paths = tuple(
        os.path.normpath(os.path.join(bases[min(place, len(bases) - 1)], name))
        for place, name in enumerate(names)
    )
    return Event(process, call, paths, None, arguments, number)
