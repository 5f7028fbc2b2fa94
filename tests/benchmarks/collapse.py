"""One step with a long session, alone in a process: `python -m tests.benchmarks.collapse STEP SESSION STORE`.

collapse: commits a span for every so many turns, so that the steps after it have a log to restore.
read: the session's transcript. restore: messages, views and log. project: that, and the model's view.
Prints the processor seconds, without what is imported before, and the peak of the process in bytes.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

from castore.store import StoreHandle
from castore.transcript.collapse.coordinator import CollapseCoordinator
from castore.transcript.collapse.spans import Messages
from castore.transcript.collapse.store_log import StoreLog
from castore.transcript.formats import FORMAT_NAMES, find_format, read_session

TURNS = 100
"""A span has so many turns, or a quarter of the session's if that is less."""


def main(step: str, session: Path, folder: str) -> None:
    data = session.read_bytes()
    coordinator = CollapseCoordinator(StoreLog(StoreHandle(folder, may_create=True), "benchmark"))
    if step == "collapse":
        _collapse(coordinator, data)
        return
    # What a program has loaded by then is not of the session.
    for name in FORMAT_NAMES:
        find_format(name)
    import msgspec  # noqa: F401

    coordinator.log.load()
    begin = time.process_time()
    if step == "read":
        read_session(data)
    else:
        transcript = coordinator.restore(data)
        if step == "project":
            assert coordinator.project(transcript).collapsed
    taken = time.process_time() - begin
    print(taken, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


def _collapse(coordinator: CollapseCoordinator, data: bytes) -> None:
    transcript = coordinator.restore(data)
    messages = Messages(transcript)
    turns = min(TURNS, transcript.turns // 4)
    for first in range(0, transcript.turns - turns, turns):
        span = messages.span(first, first + turns - 1)
        coordinator.stage(span, "The tests were run, and one of them failed.")
    coordinator.commit(transcript)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
