"""A store with one object of each kind, and a server on it that many tests share."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from castore import api
from castore.mcp.calls import Place
from tests.mcp.agent import Agent

ROWS = json.dumps(
    [
        {"id": number, "status": 500 if number == 1234 else 200, "note": f"row {number}"}
        for number in range(2000)
    ]
).encode()
LOG = b"".join(b"2026-11-30 12:00:%02d INFO step %d\n" % (number % 60, number) for number in range(3000))
RAW = bytes(range(256)) * 100
SAMPLES = {
    "rows": ROWS,
    "log": LOG,
    "raw": RAW,
    "inner": json.dumps(
        {"result": json.dumps({"rows": list(range(1000)), "note": "订单 88123"}, ensure_ascii=False)}
    ).encode(),
    "string": json.dumps("a\nb\n" * 2000).encode(),
    "controls": b"\x01\x02\x03" * 5000,
    "empty": b"",
}


def filled(folder: Path) -> Path:
    """A new store in `folder` with the samples, each by its name."""
    store = api.init_store(folder)
    for name, data in SAMPLES.items():
        api.put(store, data, name=name)
    store.close()
    return folder


@pytest.fixture(scope="session")
def samples() -> Iterator[Path]:
    """A store that nobody writes in."""
    parent = tempfile.mkdtemp(
        prefix="castore-mcp-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    )
    try:
        yield filled(Path(parent) / ".ctxstore")
    finally:
        shutil.rmtree(parent)


@pytest.fixture
def folder(samples: Path, fast_path: Path) -> Path:
    """A copy of that store, to write in."""
    return Path(shutil.copytree(samples, fast_path / ".ctxstore"))


@pytest.fixture
def place(folder: Path) -> Place:
    return Place(str(folder), may_create=True)


@pytest.fixture(scope="module")
def agent(samples: Path) -> Iterator[Agent]:
    """A client of a server that nobody writes with."""
    with Agent(samples) as agent:
        yield agent
