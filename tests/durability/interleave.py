"""Run several functions in threads, one step at a time, in every order there is.

A thread stops before each step and goes on when it is chosen. Steps are the calls that other threads can
notice: looking for a file, giving or taking its name, entering and leaving the write transaction. The
transaction is entered only while nobody else is inside, as its lock has it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from castore import durable
from castore.index.connection import IndexFile
from castore.objects.loose import LooseSource

__all__ = ["Run", "every_order", "stepped"]

_BEGIN = "begin"


class Run:
    """One execution. `steps`: who did what, in order; `choices`: at each, who could have gone on."""

    def __init__(self, actors: dict[str, Callable[[], None]], prefix: list[str]) -> None:
        self._changed = threading.Condition()
        self._waiting: dict[str, str] = {}
        self._released: str | None = None
        self._inside: str | None = None
        self._done: set[str] = set()
        self._names: dict[int, str] = {}
        self._actors = actors
        self.errors: dict[str, BaseException] = {}
        self.steps: list[tuple[str, str]] = []
        self.choices: list[list[str]] = []
        self._prefix = prefix

    def go(self) -> None:
        """Until all actors have ended."""
        threads = [threading.Thread(target=self._act, args=each) for each in self._actors.items()]
        for thread in threads:
            thread.start()
        with self._changed:
            while True:
                self._changed.wait_for(lambda: len(self._waiting) + len(self._done) == len(self._actors))
                if not self._waiting:
                    break
                self._choose()
        for thread in threads:
            thread.join()

    def step(self, label: str) -> None:
        """Called by an actor before a step; by any other thread it is nothing."""
        name = self._names.get(threading.get_ident())
        if name is None:
            return
        with self._changed:
            self._waiting[name] = label
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._released == name)
            self._released = None

    def enter(self) -> None:
        self.step(_BEGIN)
        self._inside = self._names.get(threading.get_ident())

    def leave(self) -> None:
        self._inside = None

    def _choose(self) -> None:
        able = sorted(
            name for name, label in self._waiting.items() if label != _BEGIN or self._inside is None
        )
        # Whoever was going on comes first: then each other choice is a switch.
        if self.steps and self.steps[-1][0] in able:
            able.sort(key=lambda name: name != self.steps[-1][0])
        place = len(self.choices)
        chosen = self._prefix[place] if place < len(self._prefix) else able[0]
        assert chosen in able, "the same choices led elsewhere"
        self.choices.append(able)
        self.steps.append((chosen, self._waiting.pop(chosen)))
        self._released = chosen
        self._changed.notify_all()

    def _act(self, name: str, act: Callable[[], None]) -> None:
        self._names[threading.get_ident()] = name
        try:
            self.step("start")
            act()
        except BaseException as error:  # noqa: BLE001 - the test looks at it in its own thread
            self.errors[name] = error
        finally:
            with self._changed:
                self._done.add(name)
                self._changed.notify_all()


def every_order(
    start: Callable[[], dict[str, Callable[[], None]]], *, switches_max: int | None = None
) -> Iterator[Run]:
    """One run for each order of steps; `start` makes everything anew and gives the actors.

    switches_max: only those in which an actor that could have gone on was stopped so many times.
    """
    prefix: list[str] = []
    while True:
        run = Run(start(), prefix)
        with _current(run):
            run.go()
        yield run
        taken = [name for name, _ in run.steps]
        while taken:
            able = run.choices[len(taken) - 1]
            later = able[able.index(taken[-1]) + 1 :]
            if later and (switches_max is None or _switches([*taken[:-1], later[0]], run) <= switches_max):
                prefix = [*taken[:-1], later[0]]
                break
            taken.pop()
        if not taken:
            return


def _switches(taken: list[str], run: Run) -> int:
    """How often someone else went on than the one who did before, and could have."""
    pairs = zip(taken, taken[1:], run.choices[1:], strict=False)
    return sum(before != after and before in able for before, after, able in pairs)


_run: Run | None = None


@contextmanager
def _current(run: Run) -> Iterator[None]:
    global _run
    _run = run
    try:
        yield
    finally:
        _run = None


def stepped(patch: pytest.MonkeyPatch) -> None:
    """From here on the calls that others can notice are steps, while a run goes on."""

    def before(owner: Any, name: str) -> None:
        real = getattr(owner, name)

        def call(*values: Any, **options: Any) -> Any:
            if _run is not None:
                _run.step(name)
            return real(*values, **options)

        patch.setattr(owner, name, call)

    for name in ("stat", "get"):
        before(LooseSource, name)
    for name in ("rename", "unlink"):
        before(durable.calls, name)
    writing = IndexFile.writing

    @contextmanager
    def write(self: IndexFile) -> Iterator[Any]:
        run = _run
        if run is None:
            with writing(self) as connection:
                yield connection
            return
        run.enter()
        try:
            with writing(self) as connection:
                yield connection
                run.step("commit")
        finally:
            run.leave()

    patch.setattr(IndexFile, "writing", write)
