"""L10: whatever was planted in a store's folder: an error or the right bytes, soon, and nothing outside it
is read as an object, written, renamed or removed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.store.hostile import PUT_DIGEST, ROOT_ID, SECRET_DIGEST, Place


def replace(path: Path, make: Callable[[Path], object]) -> None:
    """Whatever is at `path` is gone, and `make` puts something there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    make(path)


KINDS: dict[str, Callable[[Place, Path], object]] = {
    "link to a file": lambda place, path: path.symlink_to(place.outside / "file"),
    "link to another store's": lambda place, path: path.symlink_to(
        place.outside / "elsewhere" / path.relative_to(place.store)
    ),
    "link to nothing": lambda place, path: path.symlink_to(place.outside / "not-there"),
    "link to itself": lambda place, path: path.symlink_to(path),
    "link to a folder": lambda place, path: path.symlink_to(place.outside / "empty"),
    "link to a device": lambda place, path: path.symlink_to("/dev/zero"),
    "hard link": lambda place, path: os.link(place.outside / "file", path),
    "hard link to another store's index": lambda place, path: os.link(
        place.outside / "elsewhere/index.sqlite", path
    ),
    "pipe": lambda place, path: os.mkfifo(path),
    "folder": lambda place, path: path.mkdir(),
    "full folder": lambda place, path: (path.mkdir(), (path / "x").write_bytes(b"x")),
    "junk": lambda place, path: path.write_bytes(bytes(range(256)) * 20),
    "gigabyte of nothing": lambda place, path: (path.touch(), os.truncate(path, 1 << 30)),
}

PLACES: dict[str, str] = {
    "format": "format",
    "config": "config.toml",
    "index": "index.sqlite",
    "wal": "index.sqlite-wal",
    "shm": "index.sqlite-shm",
    "journal": "index.sqlite-journal",
    "object": f"objects/{PUT_DIGEST.hex[:2]}/{PUT_DIGEST.hex}",
    "shard of objects": f"objects/{PUT_DIGEST.hex[:2]}",
    "shard of the secret": f"objects/{SECRET_DIGEST.hex[:2]}",
    "shard of roots": f"roots/{ROOT_ID[:2]}",
    "root": f"roots/{ROOT_ID[:2]}/{ROOT_ID}.json",
    "objects": "objects",
    "roots": "roots",
    "tmp": "tmp",
    "damaged": "damaged",
    "tombstones": "tombstones",
    "tombstone": f"tombstones/{SECRET_DIGEST.hex}.json",
    "notes of reads": "reads",
}


SHORT = ("link to another store's", "hard link to another store's index", "pipe", "junk")
"""The others are these again, in other places."""


@pytest.mark.parametrize(
    "what", [each if each in SHORT else pytest.param(each, marks=pytest.mark.long) for each in KINDS]
)
@pytest.mark.parametrize("where", PLACES)
class TestWhateverIsPlanted:
    def test_anywhere_is_an_error_or_harmless(self, place: Place, where: str, what: str) -> None:
        replace(place.store / PLACES[where], lambda path: KINDS[what](place, path))
        place.use_all()
