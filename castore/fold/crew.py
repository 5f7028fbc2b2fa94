"""Crew: forked processes that work through jobs beside their parent, for work that holds the interpreter.

Laws: a job is bytes in and bytes out, by a pure function that was there when the crew was made. What a
job gives does not depend on who does it: if a process of the crew dies, fails or has too much to say, the
answer is None and the parent does the job. The crew ends when the parent does, however that dies (its
pipe closes), and holds nothing that must be swept.

Why not threads: half of folding a value holds the interpreter lock, and two threads took as long as one.
Why not concurrent.futures: its processes outlive a killed parent, and bytes are pickled and copied twice.

Jobs and answers stand in slots of memory that is shared; only a slot's number goes through a pipe.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NoReturn

from castore.digest import Bytes

__all__ = ["SLOT_BYTES", "Crew", "Ticket"]

SLOT_BYTES = 1 << 20
"""A job and its answer must each fit in this."""

_SLOTS_EACH = 24
"""Jobs that wait for one process: enough to last while the parent scans on."""

_LENGTH = 8
_FAILED = (1 << 64) - 1

Work = Callable[[bytes], bytes]


class Ticket:
    """A job that was given away."""

    __slots__ = ("_crew", "_is_done", "answer", "slot")

    def __init__(self, crew: Crew, slot: int) -> None:
        self._crew = crew
        self._is_done = False
        self.slot = slot
        self.answer: bytes | None = None

    def wait(self) -> bytes | None:
        """The answer, or None: do it yourself."""
        while not self._is_done:
            self._crew.receive(self.slot)
        return self.answer

    def done(self, answer: bytes | None) -> None:
        self.answer = answer
        self._is_done = True


class Crew:
    """`count` processes that do `work`. Made while the program has one thread (castore.cores.may_fork)."""

    def __init__(self, work: Work, count: int) -> None:
        self._slots = mmap.mmap(-1, count * _SLOTS_EACH * SLOT_BYTES)
        self._tickets: dict[int, Ticket] = {}
        self._free: list[list[int]] = []
        self._members: list[_Member] = []
        for number in range(count):
            first = number * _SLOTS_EACH
            self._free.append(list(range(first, first + _SLOTS_EACH)))
            try:
                self._members.append(_Member(work, self._slots, [each.job for each in self._members]))
            except OSError:
                self.close()
                raise

    def close(self) -> None:
        """Its processes have ended. What they had not done is lost."""
        for member in self._members:
            member.close()
        self._members.clear()

    def has_room(self) -> bool:
        """Whether some process can take a job."""
        return self._idlest() is not None

    def give(self, pieces: Sequence[Bytes]) -> Ticket | None:
        """The job that `pieces` make has been given to a process; None if all have their hands full."""
        size = sum(map(len, pieces))
        number = self._idlest()
        if number is None or size > SLOT_BYTES - _LENGTH:
            return None
        slot = self._free[number].pop()
        self._write(slot, pieces, size)
        ticket = self._tickets[slot] = Ticket(self, slot)
        if not self._members[number].send(slot):
            self._lose(number)
        return ticket

    def _idlest(self) -> int | None:
        """The process that has the fewest jobs, if it can take one more."""
        for member in self._members:
            member.collect(self._take)
        living = [number for number, member in enumerate(self._members) if member.is_alive]
        number = max(living, key=lambda each: len(self._free[each]), default=None)
        return number if number is not None and self._free[number] else None

    def receive(self, slot: int) -> None:
        """Wait until the process that has the slot's job has done one, or has died."""
        number = slot // _SLOTS_EACH
        if not self._members or not self._members[number].wait(self._take):
            self._lose(number)

    def _take(self, slot: int) -> None:
        start = slot * SLOT_BYTES
        length = int.from_bytes(self._slots[start : start + _LENGTH], "little")
        start += _LENGTH
        answer = None if length == _FAILED else self._slots[start : start + length]
        self._free[slot // _SLOTS_EACH].append(slot)
        ticket = self._tickets.pop(slot, None)
        if ticket is not None:  # Else its process was given up before its last answers were read.
            ticket.done(answer)

    def _lose(self, number: int) -> None:
        """The process is gone: what it had is for the parent to do."""
        for slot in [slot for slot in self._tickets if slot // _SLOTS_EACH == number]:
            self._tickets.pop(slot).done(None)

    def _write(self, slot: int, pieces: Sequence[Bytes], size: int) -> None:
        at = slot * SLOT_BYTES
        self._slots[at : at + _LENGTH] = size.to_bytes(_LENGTH, "little")
        at += _LENGTH
        for piece in pieces:
            self._slots[at : at + len(piece)] = piece
            at += len(piece)


class _Member:
    """One process, seen from the parent: a pipe to it with numbers of slots, and one back."""

    def __init__(self, work: Work, slots: mmap.mmap, others: list[int]) -> None:
        theirs, self.job = os.pipe()
        opened = [theirs, self.job]
        try:
            self._answers, ours = os.pipe()
            opened += [self._answers, ours]
            self._pid = os.fork()
        except OSError:
            for descriptor in opened:
                os.close(descriptor)
            raise
        if self._pid == 0:
            # A pipe closes when its last writer does, so none of the parent's may be open here.
            for descriptor in (self.job, self._answers, *others):
                os.close(descriptor)
            _serve(work, slots, theirs, ours)
        os.close(theirs)
        os.close(ours)
        os.set_blocking(self._answers, False)
        self.is_alive = True

    def send(self, slot: int) -> bool:
        try:
            os.write(self.job, slot.to_bytes(4, "little"))
        except BrokenPipeError:
            self.is_alive = False
        return self.is_alive

    def collect(self, take: Callable[[int], None]) -> None:
        """Take what has been answered, without waiting."""
        try:
            numbers = os.read(self._answers, 4 * _SLOTS_EACH)
        except BlockingIOError:
            return
        if not numbers:
            self.is_alive = False
        for at in range(0, len(numbers), 4):
            take(int.from_bytes(numbers[at : at + 4], "little"))

    def wait(self, take: Callable[[int], None]) -> bool:
        """Take the next answer or answers; False if there will be none."""
        import select

        if self.is_alive:
            select.select([self._answers], [], [])
            self.collect(take)
        return self.is_alive

    def close(self) -> None:
        import signal

        os.close(self.job)
        os.close(self._answers)
        # Where somebody else reaps children (SIGCHLD may be ignored) it can be gone already.
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)


def _serve(work: Work, slots: mmap.mmap, jobs: int, answers: int) -> NoReturn:
    """The process of the crew: never returns, and runs nothing that its parent has set up for its own end."""
    status = 1
    try:
        while message := os.read(jobs, 4):
            slot = int.from_bytes(message, "little")
            start = slot * SLOT_BYTES
            length = int.from_bytes(slots[start : start + _LENGTH], "little")
            start += _LENGTH
            answer = _answer(work, slots[start : start + length])
            length = _FAILED if answer is None else len(answer)
            slots[start - _LENGTH : start] = length.to_bytes(_LENGTH, "little")
            if answer is not None:
                slots[start : start + length] = answer
            os.write(answers, slot.to_bytes(4, "little"))
        status = 0
    finally:
        os._exit(status)


def _answer(work: Work, job: bytes) -> bytes | None:
    """None for what the parent shall do: it meets the same error, and tells it."""
    try:
        answer = work(job)
    except (MemoryError, ArithmeticError, LookupError, TypeError, ValueError, AssertionError):
        return None
    return answer if len(answer) <= SLOT_BYTES - _LENGTH else None
