"""A clock for what must be over in time: it counts on while the machine sleeps."""

from __future__ import annotations

import sys
import time

__all__ = ["elapsed"]


def elapsed() -> float:
    """Seconds since some moment, never set back. A lid that is shut for an hour is an hour.

    `time.monotonic` stands still while the machine is suspended, on Linux and on macOS, and other machines
    do not wait for that.
    """
    return time.clock_gettime(_CLOCK) if _CLOCK is not None else time.monotonic()


def _clock() -> int | None:
    if sys.platform == "darwin":
        return time.CLOCK_MONOTONIC
    return getattr(time, "CLOCK_BOOTTIME", None)


_CLOCK = _clock()
