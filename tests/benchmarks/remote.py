"""Pushing to SeaweedFS on loopback, beside `rclone copy` of the same store's objects to the same server.

    python -m tests.benchmarks.run remote [--runs N] [--folder FOLDER]

As a step of that, `python -m tests.benchmarks.remote STORE` pushes all of a store within one process, and
prints how long that took and which requests it sent.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.benchmarks.run import Bench
    from tests.remote.servers import Server

COUNT = 10_000
COUNTS_OF_MEMORY = (2_000, 10_000, 50_000)


def push_and_copy(bench: Bench) -> None:
    """Objects a second of a first push, of a second one, and of rclone; requests; peaks."""
    from tests.remote.servers import KEY, SECRET, running_seaweed

    bench.env.update(AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=SECRET)
    with running_seaweed() as server:
        stores = {count: _store_of(bench, count) for count in COUNTS_OF_MEMORY}
        _rates(bench, server, stores[COUNT])
        _requests(bench, server, stores[COUNT])
        _memory(bench, server, stores)


def _rates(bench: Bench, server: Server, store: Path) -> None:
    from tests.benchmarks.run import CTX, seconds

    first, second, start = [], [], []
    copies: dict[str, list[float]] = {"": [], "--transfers 32 --checkers 32": []}
    env = {**bench.env, "CTX_STORE": str(store)}
    for _ in range(bench.runs):
        for options, samples in copies.items():
            command = ["rclone", "copy", "-q", *options.split(), str(store / "objects"), _there(server)]
            samples.append(seconds(command, env=env | _rclone(server)))
        start.append(seconds([*CTX, "--version"], env=env))
        name = _remote(server, store)
        first.append(seconds([*CTX, "push", name, "--all"], env=env))
        second.append(seconds([*CTX, "push", name, "--all"], env=env))
    net = [a - b for a, b in zip(first, start, strict=True)]
    for options, samples in copies.items():
        ratio = median([a / b for a, b in zip(samples, net, strict=True)])
        figure = f"{ratio:.2f}x ({COUNT / median(net):.0f}/s, rclone {COUNT / median(samples):.0f}/s)"
        bench.report(f"push of {COUNT:,} / rclone copy {options}".rstrip(), figure, "1.0x its rate")
    again = median([a - b for a, b in zip(second, start, strict=True)])
    bench.report("  a second push", f"{again:.2f} s", "sends no object")


def _requests(bench: Bench, server: Server, store: Path) -> None:
    import subprocess

    _remote(server, store, "counted")
    for what in ("requests of it, and of a second push", "  the second"):
        command = [sys.executable, "-m", "tests.benchmarks.remote", str(store), "counted"]
        done = subprocess.run(command, env=bench.env, capture_output=True, check=True)
        told = json.loads(done.stdout)
        figure = ", ".join(f"{count} {name}" for name, count in sorted(told["requests"].items()))
        bench.report(what, f"{figure}; {told['sent']} objects, {told['seconds']:.2f} s", "")


def _memory(bench: Bench, server: Server, stores: dict[int, Path]) -> None:
    from tests.benchmarks.run import CTX, _peak_bytes

    for count, store in stores.items():
        env = {**bench.env, "CTX_STORE": str(store)}
        idle = _peak_bytes([*CTX, "remote", "check", _remote(server, store, "idle")], env)
        peak = _peak_bytes([*CTX, "push", _remote(server, store, "memory"), "--all"], env)
        again = _peak_bytes([*CTX, "push", "memory", "--all"], env)
        figure = (
            f"{(peak - idle) / 1e6:.0f} MB over {idle / 1e6:.0f} MB of a check; again {again / 1e6:.0f} MB"
        )
        bench.report(f"peak memory of a push of {count:,}", figure, "flat")


# --- Helpers ---------------------------------------------------------------------------------------


def _store_of(bench: Bench, count: int) -> Path:
    """A store that has so many small objects, put in pieces, as sessions are folded one after another."""
    from tests.benchmarks.run import CTX, _small_files, seconds

    bench.fresh_store()
    files = _small_files(bench.folder / f"remote-{count}", count)
    for at in range(0, count, 1000):
        listing = bench.folder / "remote.txt"
        listing.write_text("".join(f"{path}\n" for path in files[at : at + 1000]))
        seconds([*CTX, "put", "--stdin-paths"], env=bench.env, stdin=listing)
    return Path(bench.env["CTX_STORE"])


def _remote(server: Server, store: Path, name: str | None = None) -> str:
    """A remote of the store with a prefix of its own, by this name or a new one."""
    from castore.remote.remotes import add
    from castore.store import Store

    opened = Store.open(store)
    try:
        name = name or f"r{os.urandom(4).hex()}"
        add(opened, name, server.settings(timeout_seconds=60, retry_seconds=60))
        return name
    finally:
        opened.close()


def _there(server: Server) -> str:
    return "there:" + server.settings().url.removeprefix("s3://")


def _rclone(server: Server) -> dict[str, str]:
    settings = {
        "type": "s3",
        "provider": "SeaweedFS",
        "endpoint": server.endpoint,
        "env_auth": "true",
        "force_path_style": "true",
    }
    return {
        "RCLONE_CONFIG": os.devnull,
        **{f"RCLONE_CONFIG_THERE_{key.upper()}": value for key, value in settings.items()},
    }


def main(store: str, remote: str) -> None:
    from castore.remote.choosing import choose
    from castore.remote.connecting import connect
    from castore.remote.push import push
    from castore.remote.remotes import get
    from castore.store import Store

    opened = Store.open(store)
    bucket = connect(remote, get(opened, remote))
    begun = time.perf_counter()
    report = push(opened, bucket, choose(opened, (), everything=True))
    taken = time.perf_counter() - begun
    print(json.dumps({"seconds": taken, "sent": report.objects_sent, "requests": dict(bucket.requests)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
