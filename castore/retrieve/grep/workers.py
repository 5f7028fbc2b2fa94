"""Search in forked processes: some patterns take for ever, and a process can be ended.

Law: the answers come in the order of the jobs, each as soon as it and all before it are there; no process is
left when the iteration ends, however it ends. A process whose parent is gone ends with its job, at the latest
when that has taken as many seconds of the processor as a job may.

Where no process can be forked, the work is done here, and time is looked at between the jobs alone.
"""

from __future__ import annotations

import marshal
import os
import selectors
import signal
import struct
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from typing import Any, NoReturn, TypeVar

from castore.cores import core_count, may_fork
from castore.errors import CastoreError, LimitExceeded

__all__ = ["run"]

J = TypeVar("J")

Work = Callable[[J, Callable[[], None]], Any]
"""What is done for a job; what it gives can be marshalled. Now and then it calls the second argument, to
say that it goes on."""

_NUMBER = struct.Struct("<Q")
_READ_BYTES = 1 << 16
_PROCESSES_MAX = 16
_ALIVE = _NUMBER.pack(0)
"""An answer of no bytes."""

_AHEAD = 2
"""Jobs that a process is given at once, so that it does not wait for the next one."""

_GRACE_SECONDS = 5


def run(
    jobs: Sequence[J], work: Work[J], *, stuck_seconds: float, seconds: float | None
) -> Generator[Any, None, None]:
    """What `work` gives for each job. stuck_seconds: for one job. seconds: for all, or None.

    Raises LimitExceeded; CastoreError if a process ends by itself.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    if not jobs:
        return
    if not may_fork():
        for job in jobs:
            if deadline is not None and time.monotonic() > deadline:
                raise _too_long(seconds or 0)
            yield work(job, lambda: None)
        return
    crew = _Crew(jobs, work, stuck_seconds)
    try:
        yield from crew.answers(deadline, seconds)
    finally:
        crew.end()


class _Process:
    """A forked one, as its parent has it: what it was given and has not answered, and since when."""

    def __init__(self, pid: int, requests: int, answers: int) -> None:
        self.pid = pid
        self.requests = requests
        self.answers = answers
        self.buffer = bytearray()
        self.given: list[int] = []
        self.since = time.monotonic()


class _Crew:
    def __init__(self, jobs: Sequence[Any], work: Work[Any], stuck_seconds: float) -> None:
        self._jobs = jobs
        self._work = work
        self._stuck_seconds = stuck_seconds
        self._next = 0
        self._processes: list[_Process] = []
        self._selector = selectors.DefaultSelector()

    def answers(self, deadline: float | None, seconds: float | None) -> Iterator[Any]:
        ready: dict[int, Any] = {}
        for _ in range(min(core_count(), _PROCESSES_MAX, len(self._jobs))):
            self._start()
        for number in range(len(self._jobs)):
            while number not in ready:
                if deadline is not None and time.monotonic() > deadline:
                    raise _too_long(seconds or 0)
                for each in self._answered(deadline):
                    ready.update(self._taken(each))
            yield ready.pop(number)

    def end(self) -> None:
        """No process is left. Each is ours until it was waited for, so its number is no other's."""
        self._selector.close()
        for each in self._processes:
            os.kill(each.pid, signal.SIGKILL)
            os.close(each.requests)
            os.close(each.answers)
            with suppress(ChildProcessError):  # Somebody else may wait for all children.
                os.waitpid(each.pid, 0)
        self._processes.clear()

    def _start(self) -> None:
        from_parent, requests = os.pipe()
        answers, to_parent = os.pipe()
        pid = os.fork()
        if pid == 0:
            ends = [
                requests,
                answers,
                *(end for each in self._processes for end in (each.requests, each.answers)),
            ]
            _serve(self._jobs, self._work, from_parent, to_parent, ends, self._stuck_seconds)
        os.close(from_parent)
        os.close(to_parent)
        process = _Process(pid, requests, answers)
        self._processes.append(process)
        self._selector.register(answers, selectors.EVENT_READ, process)
        self._give(process)

    def _give(self, process: _Process) -> None:
        while len(process.given) < _AHEAD and self._next < len(self._jobs):
            os.write(process.requests, _NUMBER.pack(self._next))
            process.given.append(self._next)
            self._next += 1

    def _answered(self, deadline: float | None) -> list[_Process]:
        """Those that have written something, after waiting for it."""
        working = [each.since for each in self._processes if each.given]
        until = min(working) + self._stuck_seconds
        if deadline is not None:
            until = min(until, deadline)
        events = self._selector.select(max(0.0, until - time.monotonic()))
        if not events and time.monotonic() >= min(working) + self._stuck_seconds:
            raise _too_long(self._stuck_seconds)
        return [key.data for key, _ in events]

    def _taken(self, process: _Process) -> dict[int, Any]:
        """The whole answers in what it has written."""
        data = os.read(process.answers, _READ_BYTES)
        if not data:
            raise CastoreError(
                "a process that searched ended before its time", hint="there may be too little memory"
            )
        buffer = process.buffer
        buffer += data
        found: dict[int, Any] = {}
        while len(buffer) >= _NUMBER.size:
            end = _NUMBER.size + _NUMBER.unpack_from(buffer)[0]
            if len(buffer) < end:
                break
            process.since = time.monotonic()
            if end > _NUMBER.size:
                number, answer = marshal.loads(buffer[_NUMBER.size : end])
                found[number] = answer
                process.given.remove(number)
            del buffer[:end]
        self._give(process)
        return found


def _serve(
    jobs: Sequence[Any], work: Work[Any], requests: int, answers: int, others: list[int], seconds: float
) -> NoReturn:
    """The forked process: answer until there are no requests, and end without what the parent has set up."""
    status = 1

    def alive() -> None:
        _limit_processor(seconds)
        _write(answers, _ALIVE)

    try:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, signal.SIG_DFL)
        for end in others:
            os.close(end)
        while request := os.read(requests, _NUMBER.size):
            job = _NUMBER.unpack(request)[0]
            data = marshal.dumps((job, work(jobs[job], alive)))
            _write(answers, _NUMBER.pack(len(data)) + data)
        status = 0
    except (CastoreError, OSError, MemoryError, KeyboardInterrupt):
        status = 1  # The parent sees that the answers end.
    finally:
        os._exit(status)


def _write(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def _limit_processor(seconds: float) -> None:
    """This process is ended by the system if it goes on computing for longer than that."""
    import resource

    used = time.process_time()
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = int(used + seconds + _GRACE_SECONDS) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (soft if hard < 0 else min(soft, hard), hard))


def _too_long(seconds: float) -> LimitExceeded:
    return LimitExceeded(
        f"the search took over {seconds:,.0f} s",
        limit="GREP_SECONDS_MAX",
        hint="write the pattern without nested repeats such as (a+)+, or name fewer objects",
        seconds=seconds,
    )
