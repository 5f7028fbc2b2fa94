"""Do the same to many frames in several threads, and take the results in order.

zstandard and SHA-256 release the interpreter lock, so that frames of a large object are encoded and
decoded on all cores while the object's own digest, which can't be split, runs beside them.

Law: the results are those of a plain loop, in its order; at most one a thread and two more are held at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from castore.cores import core_count

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["Ahead"]

T = TypeVar("T")
R = TypeVar("R")

_THREADS_MAX = 8


class Ahead:
    """Threads for each loop, none where there is one core. They end with it: beside others none may fork."""

    def __init__(self) -> None:
        self._threads = min(core_count(), _THREADS_MAX)

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """`function` of each item, in order, some of them ahead of need."""
        if self._threads < 2:
            for item in items:
                yield function(item)
            return
        from concurrent.futures import ThreadPoolExecutor

        pool = ThreadPoolExecutor(self._threads, "castore-frames")
        waiting: deque[Future[R]] = deque()
        try:
            for item in items:
                try:
                    waiting.append(pool.submit(function, item))
                except RuntimeError:  # No thread is to be had: what it would do is done here.
                    while waiting:
                        yield waiting.popleft().result()
                    yield function(item)
                    continue
                if len(waiting) > self._threads + 1:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)
