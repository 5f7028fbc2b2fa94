"""Threads for requests: many at once, in order, bounded ahead; and an interrupt does not wait for them.

Laws: the results are those of a plain loop, in its order; at most two a thread are held. On an error the
calls that are under way have ended before it is raised. On an interrupt they have not: they go on in their
threads, which do not keep the process from ending, so that what they do may still be done after it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from typing import Generic, TypeVar

__all__ = ["apart", "aside", "mapped"]

T = TypeVar("T")
R = TypeVar("R")


class _Call(Generic[T, R]):
    """One call: its item, and what came of it once `done` is released."""

    __slots__ = ("done", "error", "item", "result")

    def __init__(self, item: T) -> None:
        self.item = item
        self.done = threading.Event()
        self.error: BaseException | None = None
        self.result: R

    def run(self, function: Callable[[T], R]) -> None:
        try:
            self.result = function(self.item)
        except BaseException as error:  # noqa: BLE001  # It is raised where the result is waited for.
            self.error = error
        self.done.set()

    def outcome(self) -> R:
        self.done.wait()
        if self.error is not None:
            raise self.error
        return self.result


def aside(function: Callable[[], R]) -> R:
    """What the function gives, called in a thread if this is the main one: an interrupt ends the wait."""
    if threading.current_thread() is not threading.main_thread():
        return function()
    return apart(function)


def apart(function: Callable[[], R]) -> R:
    """What the function gives, called in a thread of its own."""
    call: _Call[None, R] = _Call(None)
    _thread(lambda: call.run(lambda _: function())).start()
    return call.outcome()


def mapped(function: Callable[[T], R], items: Iterable[T], workers: int) -> Iterator[R]:
    """`function` of each item, in order, up to `workers` of them at once."""
    queue: SimpleQueue[_Call[T, R] | None] = SimpleQueue()
    is_over = threading.Event()

    def work() -> None:
        while (call := queue.get()) is not None and not is_over.is_set():
            call.run(function)

    threads: list[threading.Thread] = []
    waiting: deque[_Call[T, R]] = deque()
    try:
        for item in items:
            if len(threads) < workers:
                threads.append(_thread(work))
                threads[-1].start()
            call: _Call[T, R] = _Call(item)
            waiting.append(call)
            queue.put(call)
            while len(waiting) >= 2 * workers or (waiting and waiting[0].done.is_set()):
                yield waiting.popleft().outcome()
        while waiting:
            yield waiting.popleft().outcome()
    except (KeyboardInterrupt, SystemExit):
        is_over.set()
        _end(threads, queue)
        raise
    except BaseException:
        is_over.set()
        _end(threads, queue)
        _join(threads)
        raise
    _end(threads, queue)
    _join(threads)


def _thread(work: Callable[[], None]) -> threading.Thread:
    return threading.Thread(target=work, daemon=True, name="castore-remote")


def _end(threads: list[threading.Thread], queue: SimpleQueue[_Call[T, R] | None]) -> None:
    for _ in threads:
        queue.put(None)


def _join(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.join()
