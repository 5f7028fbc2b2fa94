"""The places where a collapse log is kept, each as the tests open it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from castore.roots.files import decode_root, encode_root
from castore.roots.model import Root, RootKind, log_root_id
from castore.store import Store, StoreHandle
from castore.store.access import Access
from castore.transcript.collapse.entries import (
    EntryLog,
)
from castore.transcript.collapse.persistence import LogState
from castore.transcript.collapse.store_log import StoreLog
from castore.transcript.collapse.transcript_file import TranscriptFile
from tests.transcript.collapse.conformance import SESSION, Place, commit_of, health

NOW = 1_796_050_000.0
DAY = 86_400

HEADERS = {
    "plain": {"type": "user", "uuid": "u", "sessionId": SESSION},
    "pi": {"type": "session", "version": 3, "id": SESSION, "timestamp": "2026-11-30T12:00:00Z", "cwd": "/"},
    "old pi": {"type": "session", "id": SESSION, "timestamp": "2025-11-30T12:00:00Z", "cwd": "/"},
}


class Clock:
    now = NOW

    def __call__(self) -> float:
        return self.now


class InStore(Place):
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = Clock()
        self._open: list[StoreHandle] = []

    def log(self, session: str = SESSION) -> StoreLog:
        return StoreLog(self.handle(), session)

    def handle(self, *grants: str) -> StoreHandle:
        access = Access(grants) if grants else None
        handle = StoreHandle(self.folder, may_create=True, clock=self.clock, access=access)
        self._open.append(handle)
        return handle

    def store(self) -> Store:
        return self.handle().get()

    def close(self) -> None:
        for each in self._open:
            each.close()

    def root(self, number: int) -> Root:
        root = self.store().root(log_root_id(RootKind.COLLAPSE, "default", SESSION, number))
        assert root is not None
        return root

    def file(self, number: int) -> Path:
        id = log_root_id(RootKind.COLLAPSE, "default", SESSION, number)
        return self.folder / "roots" / id[:2] / f"{id}.json"

    def rewrite(self, number: int, **members: Any) -> None:
        """The root file says something else, and its check fits."""
        from dataclasses import replace

        path = self.file(number)
        root = decode_root(path.read_bytes(), str(path))
        path.unlink()
        path.write_bytes(encode_root(replace(root, **members)))


class InMemory(Place):
    def __init__(self) -> None:
        self.entries: list[Any] = [{"type": "user"}, None, 7, "text", ["collapse-commit"]]

    def log(self, session: str = SESSION) -> EntryLog:
        return EntryLog(session, self.entries.extend, lambda: self.entries)


class InFile(Place):
    def __init__(self, path: Path, header: str) -> None:
        self.path = path
        path.write_text(json.dumps(HEADERS[header]) + "\n")

    def log(self, session: str = SESSION) -> EntryLog:
        return TranscriptFile(self.path, timeout_seconds=0.2).log(session)

    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.path.read_text().splitlines()]


def filled(place: Place, count: int = 5) -> LogState:
    """A log of so many commits."""
    log = place.log()
    state = log.load()
    for number in range(count):
        commit, texts = commit_of(number)
        state = log.save(state, [commit], health(number), texts)
    return state
