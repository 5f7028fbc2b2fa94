"""A bar on stderr for work that takes more than a second, and only on a terminal.

Law: it never touches stdout, and it is gone when the work has ended, however it ended. rich is imported when
the second is over, so quick work does not pay for it.
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any

__all__ = ["PATIENCE_SECONDS", "Pulse"]

PATIENCE_SECONDS = 1.0


class Pulse:
    """A bar that says what is being done and for how long."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._bar: Any = None
        self._task: Any = None
        self._told: tuple[int, int] | None = None
        self._lock = threading.Lock()
        self._is_over = False
        self._timer = threading.Timer(PATIENCE_SECONDS, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Pulse:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._is_over = True
            if self._bar is not None:
                self._bar.stop()

    def tell(self, done: int, total: int) -> None:
        """So much of it is done. Any thread may say so."""
        with self._lock:
            self._told = done, total
            if self._bar is not None and not self._is_over:
                self._bar.update(self._task, completed=done, total=total)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        with self._lock:
            if self._is_over:
                return
            columns = [TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()]
            done, total = self._told or (0, None)
            if total is not None:
                columns.append(MofNCompleteColumn())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(self._what, completed=done, total=total)
            self._bar.start()
