"""Ending: a signal that ends this process lets it end its children first.

Law: a signal that would have ended the process ends it, by that signal, after every `finally` within
`children_end` has run; one that the process was told to ignore (nohup) is ignored. SIGKILL runs nothing.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["children_end"]

_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""Those that end a process at once. An interrupt is KeyboardInterrupt already."""


class _Ended(KeyboardInterrupt):
    """args: the signal."""


@contextmanager
def children_end() -> Iterator[None]:
    """What is started within it and ended by a `finally` does not outlive this process."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Python lets no other thread say what a signal does.
        return
    caught = [each for each in _SIGNALS if signal.getsignal(each) is signal.SIG_DFL]

    def end(number: int, frame: FrameType | None) -> None:
        for each in caught:
            signal.signal(each, signal.SIG_IGN)  # A second one is not to end what the first one began.
        raise _Ended(number)

    try:
        try:
            for each in caught:
                signal.signal(each, end)
            yield
        finally:
            for each in caught:
                signal.signal(each, signal.SIG_DFL)
    except _Ended as ended:
        signal.signal(ended.args[0], signal.SIG_DFL)
        os.kill(os.getpid(), ended.args[0])
        raise
