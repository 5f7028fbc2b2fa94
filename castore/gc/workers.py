"""Check many objects on all cores: processes, because for small ones the interpreter is what costs.

Law: the outcome is that of checking each object once, whatever the number of processes. Work is handed
out in groups, biggest objects first, through a pipe from which every process takes the next number, so
that none waits while another has work left. If a process dies, everything is checked here.
"""

from __future__ import annotations

import marshal
import os
import struct
from collections.abc import Callable, Sequence

from castore.cores import core_count, exit_status, may_fork
from castore.errors import CastoreError

__all__ = ["Outcome", "processes_for", "run"]

Outcome = tuple[str, str, str]
"""An object's digest in hex, the name of the finding, its words."""

Check = Callable[[str], Outcome | None]

_NUMBER = struct.Struct("<I")
_PIPE_BYTES = 1 << 16
_GROUPS_MAX = _PIPE_BYTES // _NUMBER.size
_GROUP_OBJECTS = 64
_GROUP_BYTES = 1 << 18
_PROCESSES_MAX = 16
_FORK_OBJECTS_MIN = 64
_FORK_BYTES_MIN = 4 << 20


def run(objects: Sequence[tuple[int, str]], check: Check, processes: int) -> list[Outcome]:
    """What `check` finds in each of `objects` (stored bytes and digest in hex), sorted by digest."""
    groups = _groups(objects)
    outcomes = _run_forked(groups, check, processes) if processes > 1 else None
    if outcomes is None:
        outcomes = [found for group in groups for name in group if (found := check(name)) is not None]
    return sorted(outcomes)


def processes_for(objects: Sequence[tuple[int, str]]) -> int:
    """How many to use: another one pays only for some work.

    One if most of the bytes are in one object: threads can share that one, processes can't.
    """
    total = sum(size for size, _ in objects)
    biggest = max((size for size, _ in objects), default=0)
    is_much = len(objects) >= _FORK_OBJECTS_MIN or total >= _FORK_BYTES_MIN
    if not is_much or 2 * biggest > total or not may_fork():
        return 1
    return min(core_count(), _PROCESSES_MAX, len(objects))


def _groups(objects: Sequence[tuple[int, str]]) -> list[list[str]]:
    """The biggest first; a group is closed by the objects or the bytes in it."""
    count_max = max(_GROUP_OBJECTS, -(-len(objects) * 2 // _GROUPS_MAX))
    bytes_max = max(_GROUP_BYTES, sum(size for size, _ in objects) * 2 // _GROUPS_MAX)
    groups: list[list[str]] = []
    group_bytes = bytes_max
    for size, name in sorted(objects, key=lambda each: (-each[0], each[1])):
        if not groups or group_bytes >= bytes_max or len(groups[-1]) >= count_max:
            groups.append([])
            group_bytes = 0
        groups[-1].append(name)
        group_bytes += size
    return groups


def _run_forked(groups: list[list[str]], check: Check, processes: int) -> list[Outcome] | None:
    queue, fill = os.pipe()
    os.write(fill, b"".join(map(_NUMBER.pack, range(len(groups)))))
    os.close(fill)
    children: list[tuple[int, int]] = []
    is_whole = True
    outcomes: list[Outcome] = []
    try:
        for _ in range(processes - 1):
            read, write = os.pipe()
            pid = os.fork()
            if pid == 0:
                _run_child(queue, groups, check, write)
            os.close(write)
            children.append((pid, read))
        outcomes += _take_all(queue, groups, check)
    finally:
        os.close(queue)
        for pid, read in children:
            with os.fdopen(read, "rb") as pipe:
                data = pipe.read()
            if exit_status(pid, data) == 0:
                outcomes += marshal.loads(data)
            else:
                is_whole = False
    return outcomes if is_whole else None


def _run_child(queue: int, groups: list[list[str]], check: Check, write: int) -> None:
    """Never returns: the process ends without running what the parent has set up for its own end."""
    status = 1
    try:
        outcomes = _take_all(queue, groups, check)
        with os.fdopen(write, "wb") as pipe:
            marshal.dump(outcomes, pipe)
        status = 0
    except (CastoreError, OSError, MemoryError, KeyboardInterrupt):
        # The parent checks everything again, and says what it meets.
        status = 1
    finally:
        os._exit(status)


def _take_all(queue: int, groups: list[list[str]], check: Check) -> list[Outcome]:
    outcomes = []
    while number := os.read(queue, _NUMBER.size):
        for name in groups[_NUMBER.unpack(number)[0]]:
            found = check(name)
            if found is not None:
                outcomes.append(found)
    return outcomes
