"""A store of its own for a collapse log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.transcript.collapse.places import InStore


@pytest.fixture
def in_store(fast_path: Path) -> Iterator[InStore]:
    place = InStore(fast_path / ".ctxstore")
    yield place
    place.close()
