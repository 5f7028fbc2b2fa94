"""Command: a summarizer that is a program of the user's. The text on its stdin, the summary on its stdout.

Laws:
- Its words are split as a shell splits them, and no shell runs them: neither the text nor anything else of a
  session is ever part of a command line.
- When `summarize` returns or raises, for whatever reason, the program is dead, and so is all that it started
  in its group. It may write for ever, never read, never end, or leave children that hold its pipes: it takes
  the time limit at most, and memory for the limit of output, besides the text itself. If this process ends
  meanwhile, with nothing of it run, the program stays: by SIGKILL, or a signal that becomes no exception.
- What is no summary (a code other than 0, a signal, too much, too late, not UTF-8, nothing) is
  SummarizerFailed and says what happened, with the last words of stderr, in which nothing steers a terminal.
- The summary is what it wrote until it ended; what a child of its writes later is not.

It runs in a session of its own, without a terminal, in the folder of this process, and in its environment or
the one that is given.
"""

from __future__ import annotations

import math
import os
import re
import selectors
import shlex
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import ClassVar

from castore.config import SUMMARY_BYTES_MAX
from castore.errors import InvalidOption, SummarizerFailed
from castore.transcript.collapse.summarizer import checked_summary, without_controls

__all__ = ["Command"]

_PIECE_BYTES = 64 << 10
_LAST_WORDS_BYTES_MAX = 4096
_LAST_WORDS_CHARACTERS_MAX = 200
_LOOK_SECONDS = 0.02
"""How often it is looked whether the program has ended, while something holds its pipes."""
_SECONDS_MAX = 86_400
_NAME_CHARACTERS_MAX = 40
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._+-]+")
_HALF = re.compile("[\ud800-\udfff]")
_OF_A_SHELL = re.compile(r"\A(?:[|&;<>]+|[0-9&]?>>?\S*|\S+;|\$\S+)\Z")
"""A word that a shell would have understood; to a program it is an argument like any other."""
_SHELL_HINT = "no shell runs it: for pipes and the like say \"sh -c '…'\""


@dataclass(frozen=True, slots=True)
class Command:
    """line: the program and its arguments, quoted as for a shell. seconds: how long it may take.
    environment: what it runs in; None: that of this process.

    Raises InvalidOption for a line without a program or with an open quote, and for limits that are none.
    """

    line: str
    seconds: float = 60
    output_bytes_max: int = SUMMARY_BYTES_MAX
    environment: Mapping[str, str] | None = field(default=None, repr=False, compare=False)
    name: ClassVar[str] = "command"
    version: ClassVar[int] = 1
    words: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", _split(self.line))
        if not (0 < self.seconds <= _SECONDS_MAX and math.isfinite(self.seconds)):
            raise InvalidOption(f"a summarizer's time limit is over 0 and up to {_SECONDS_MAX:,} seconds")
        if not 0 < self.output_bytes_max <= SUMMARY_BYTES_MAX:
            raise InvalidOption(f"a summary's limit is 1 to {SUMMARY_BYTES_MAX:,} bytes")

    @property
    def strategy(self) -> str:
        """Of the line only the program's name is told, and a digest: arguments may hold what is secret."""
        told = sha256(self.line.encode("utf-8", "surrogateescape")).hexdigest()[:8]
        return f"{self.name}@{self.version} {self._program} {told}"

    def summarize(self, text: str) -> str:
        run = _Run(self, _HALF.sub("\ufffd", text).encode())
        code = run.finish()
        if code:
            happened = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
            raise self._failed(happened, run.last_words, code=code)
        try:
            summary = bytes(run.output).decode()
        except UnicodeDecodeError as error:
            words = f"gave what is not UTF-8 (byte {error.start})"
            raise self._failed(words, run.last_words, code=code) from error
        if not summary.strip():
            raise self._failed("gave no summary", run.last_words, code=code)
        return checked_summary(summary, by=self.strategy)

    @property
    def _program(self) -> str:
        name = _NOT_PLAIN.sub("_", os.path.basename(self.words[0].rstrip("/")))
        return name[:_NAME_CHARACTERS_MAX] or "program"

    @property
    def _is_of_a_shell(self) -> bool:
        """Whether it was written as for a shell, and is not one."""
        return not self._program.endswith("sh") and any(map(_OF_A_SHELL.match, self.words[1:]))

    def _failed(self, happened: str, words: str = "", *, code: int | None = None) -> SummarizerFailed:
        said = f": {words}" if words else ""
        return SummarizerFailed(
            f"the summarizer '{self._program}' {happened}{said}",
            hint=_SHELL_HINT if self._is_of_a_shell else None,
            strategy=self.strategy,
            exit_code=code,
            stderr=words or None,
        )


def _seconds(seconds: float) -> str:
    return "1 second" if seconds == 1 else f"{seconds:g} seconds"


def _split(line: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(line))
        for word in words:
            os.fsencode(word)
    except ValueError as error:
        raise InvalidOption(f"the summarizer's command line can't be read: {error}") from error
    if not words or not words[0]:
        raise InvalidOption("the summarizer's command line names no program")
    if "\0" in line:
        raise InvalidOption("a command line has no zero bytes")
    return words


class _Run:
    """One run of the program. output: what it wrote, up to the limit."""

    def __init__(self, command: Command, text: bytes) -> None:
        self._command = command
        self._text = memoryview(text)
        self._deadline = time.monotonic() + command.seconds
        self._errors = bytearray()
        self._open: set[int] = set()
        self.output = bytearray()

    @property
    def last_words(self) -> str:
        """The end of what it wrote to stderr, on one line."""
        words = " ".join(without_controls(self._errors.decode("utf-8", "replace")).split())
        return (
            words if len(words) <= _LAST_WORDS_CHARACTERS_MAX else f"…{words[-_LAST_WORDS_CHARACTERS_MAX:]}"
        )

    def finish(self) -> int:
        """Runs it to its end and gives its code, as Popen has it. Raises SummarizerFailed."""
        # Known before it is started: what is raised meanwhile, as by an interrupt, must not leave it behind.
        process = subprocess.Popen.__new__(subprocess.Popen)
        theirs: list[int] = []
        try:
            ours = []
            for is_theirs in (0, 1, 1):
                ends = os.pipe()
                self._open.update(ends)
                theirs.append(ends[is_theirs])
                ours.append(ends[1 - is_theirs])
            self._start(process, *theirs)
            for end in theirs:
                self._close(end)
            self._exchange(process, *ours)
            return self._ended(process)
        finally:
            if getattr(process, "pid", None) is not None:
                _kill_group(process)
                process.wait()
            for end in tuple(self._open):
                self._close(end)

    def _start(self, process: subprocess.Popen[bytes], text: int, output: int, errors: int) -> None:
        words = self._command.words
        try:
            subprocess.Popen.__init__(
                process,
                words,
                stdin=text,
                stdout=output,
                stderr=errors,
                env=self._command.environment,
                start_new_session=True,
            )
        except OSError as error:
            why = "is not there" if isinstance(error, FileNotFoundError) else "can't be run"
            raise self._command._failed(why, error.strerror or "") from error

    def _exchange(self, process: subprocess.Popen[bytes], text: int, output: int, errors: int) -> None:
        """Gives it the text and takes what it writes, until it closed both its outputs or has ended."""
        with selectors.DefaultSelector() as selector:
            for end in (text, output, errors):
                os.set_blocking(end, False)
                selector.register(end, selectors.EVENT_WRITE if end == text else selectors.EVENT_READ)
            waiting = {output, errors}
            while waiting:
                has_ended = _has_ended(process)
                if has_ended:
                    # What it left behind may hold the pipes for as long as it likes.
                    _kill_group(process)
                left = self._left()
                ready = [key.fd for key, _ in selector.select(0 if has_ended else min(_LOOK_SECONDS, left))]
                for end in ready:
                    is_open = self._give(end) if end == text else self._take(end, is_output=end == output)
                    if not is_open:
                        selector.unregister(end)
                        self._close(end)
                        waiting.discard(end)
                if has_ended and waiting.isdisjoint(ready):
                    return

    def _give(self, end: int) -> bool:
        """False: all is given, or nobody reads on, which is the program's own affair."""
        try:
            self._text = self._text[os.write(end, self._text[:_PIECE_BYTES]) :]
        except BlockingIOError:
            return True
        except BrokenPipeError:
            return False
        return len(self._text) > 0

    def _take(self, end: int, *, is_output: bool) -> bool:
        try:
            piece = os.read(end, _PIECE_BYTES)
        except BlockingIOError:
            return True
        if is_output:
            self.output += piece
            if len(self.output) > self._command.output_bytes_max:
                raise self._command._failed(
                    f"gave over {self._command.output_bytes_max:,} bytes", self.last_words
                )
        else:
            self._errors += piece
            del self._errors[:-_LAST_WORDS_BYTES_MAX]
        return bool(piece)

    def _ended(self, process: subprocess.Popen[bytes]) -> int:
        while not _has_ended(process):
            time.sleep(min(_LOOK_SECONDS, self._left()))
        if _is_lost(process):
            raise self._command._failed(
                "ended, and how is not known: its status went to another", self.last_words
            )
        _kill_group(process)
        return process.wait()

    def _left(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise self._command._failed(f"took over {_seconds(self._command.seconds)}", self.last_words)
        return left

    def _close(self, end: int) -> None:
        self._open.discard(end)
        os.close(end)


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Its number stays its own until it is waited for, so that its group can be killed without a doubt."""
    if not hasattr(os, "waitid"):  # macOS, before Python 3.13.
        return process.poll() is not None
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def _is_lost(process: subprocess.Popen[bytes]) -> bool:
    """Whether somebody else reaps the children of this process (SIGCHLD may be ignored): then its code is
    not known, and its number may be another's, which must not be killed."""
    if process.returncode is not None or not hasattr(os, "waitid"):
        return False
    try:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Nothing once it was waited for: its number may be another's then."""
    if process.returncode is not None or _is_lost(process):
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()  # The group is gone, or holds nothing that can be killed.
