"""How many cores this process may use, and whether it may fork to use them."""

from __future__ import annotations

import os
import threading

__all__ = ["core_count", "exit_status", "may_fork"]


def core_count() -> int:
    """Cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def may_fork() -> bool:
    """Whether a forked process may do our work: no thread of the program can hold what it would wait for.

    Daemon threads do not count: what a progress bar holds, the work of the forked processes (reading,
    encoding, digesting, one pipe) never asks for.
    """
    return hasattr(os, "fork") and all(
        thread.daemon or thread is threading.current_thread() for thread in threading.enumerate()
    )


def exit_status(pid: int, answer: bytes) -> int:
    """Wait for a forked process that ends after it has written its answer; 0 if it has done its work.

    Where somebody else reaps children (SIGCHLD may be ignored) its status is lost, and its answer, which
    it writes last and whole, tells.
    """
    try:
        return os.waitpid(pid, 0)[1]
    except ChildProcessError:
        return 0 if answer else 1
