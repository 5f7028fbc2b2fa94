"""A store in a folder of its own, with a clock that only the test moves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from castore.digest import Digest
from castore.roots.model import Root, RootDraft, RootKind
from castore.store import Store
from tests.store.hostile import limited, place, template  # noqa: F401 - fixtures

NOW = 1_700_000_000.0


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    made = Store.init(tmp_path / "s", clock=clock)
    yield made
    made.close()


def put(store: Store, *pieces: bytes, **draft: object) -> Root:
    """One put of these bytes: a root for all of them."""
    with store.batch() as batch:
        digests = tuple(batch.stage(piece).digest for piece in pieces)
        return batch.commit(RootDraft(RootKind.PUT, digests, **draft))  # type: ignore[arg-type]


def file_of(store: Store, digest: Digest) -> Path:
    return Path(store.parts.layout.object_file(digest.hex))


def content(path: Path) -> bytes:
    """Of a file; a pipe that was planted there would be waited for."""
    return b"" if path.is_fifo() else path.read_bytes()


def overwrite(path: Path, data: bytes) -> None:
    """What a failing disk does to a read-only file."""
    if not path.is_fifo():
        path.chmod(0o600)
        path.write_bytes(data)


def flip(path: Path, bit: int) -> None:
    data = bytearray(content(path) or bytes(bit // 8 + 1))
    data[bit // 8] ^= 1 << bit % 8
    overwrite(path, bytes(data))


def everything(folder: Path) -> dict[str, bytes]:
    """Every file below the folder, but for the index and what is staged."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith("index.sqlite") and path.parent.name != "tmp"
    }
