"""What all tests share: how generated ones run, and where the folder of real files is."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.remote.servers import rclone, rclone_server, seaweed, seaweed_server

__all__ = ["rclone", "rclone_server", "seaweed", "seaweed_server"]

# Two cores that others use too: a slow example is no failure. In CI the same examples are run each time.
settings.register_profile(
    "castore",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("castore")

REPOSITORY = Path(__file__).parent.parent

_IN_MEMORY = "/dev/shm"
"""Syncs cost nothing there, and are asked for all the same."""


@pytest.fixture(scope="session")
def cases() -> Path:
    """The folder of real files: CASTORE_CASES, or shared/cases beside the repository. Else the test skips."""
    folder = Path(os.environ.get("CASTORE_CASES") or REPOSITORY.parent / "shared" / "cases")
    if not folder.is_dir():
        pytest.skip(f"the real files are not here: no folder {folder.name} beside the repository")
    return folder


@pytest.fixture
def fast_path(tmp_path: Path) -> Iterator[Path]:
    """A folder where syncing is cheap, if there is one: for tests that look at calls, not at disks."""
    if not os.access(_IN_MEMORY, os.W_OK):
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp(prefix="castore-test-", dir=_IN_MEMORY)).resolve()
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Processes started here can be interrupted, also if the suite runs in the background: a shell has SIGINT
    ignored there, and processes inherit that. (`preexec_fn` would do it for one process, but Python 3.12
    warns of it where there are threads.)"""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
