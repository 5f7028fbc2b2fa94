"""How fast objects are searched: `python -m tests.benchmarks.grep [BYTES] [--runs N] [--folder FOLDER]`.

A store of so many original bytes (1 GB if nothing is said), a quarter each: rows of an array, lines of logs,
rows with escaped Chinese, and JSON in strings of JSON; in objects of 2 kB to 4 MB, and one large one of each.
Each search is a whole process of `ctx grep`, less the time of `ctx --version`, for what is in one place.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

CTX = [sys.executable, "-m", "castore"]
NEEDLE = "upstream reset 订单失败"
LARGE_SHARE = 0.4
SIZES = (2_000, 2_000, 20_000, 20_000, 20_000, 200_000, 200_000, 2_000_000, 4_000_000)

SEARCHES = {
    "a literal that is in one place": ["upstream reset"],
    "Chinese, escaped there": ["订单失败"],
    "a literal, -i": ["-i", "Upstream Reset"],
    "a class, then a literal": [r"[45]\d\d upstream r"],
    "JSON inside a string": ["-F", '"status": "failed", "why"'],
    "a letter among digits": [r"\d{4}-\d\dT\d\dQ"],
    "branches, -i": ["-i", "(?:resett|peeer)[0-9]"],
    "no literal": [r"\d{9}\w{9}"],
    "a literal that is everywhere": ["web-1.*upstream"],
}


def row(at: int) -> str:
    return json.dumps({"id": at, "status": 200, "host": f"web-{at % 40:02d}", "ms": at % 977, "note": None})


def line(at: int) -> str:
    return f"2026-11-30T10:{at % 60:02d}:00Z INFO [worker-{at % 16}] done {at} in {at % 977} ms (web-1)"


def chinese(at: int) -> str:
    return json.dumps({"编号": at, "说明": f"第 {at} 号已经付款, 等待发货", "客户": "张三"})


def nested(at: int) -> str:
    inner = json.dumps({"status": "ok", "n": at, "rows": [{"a": at, "b": "x\ty"}] * 3})
    return json.dumps({"role": "tool", "content": inner})


def array(item: Callable[[int], str], size: int, seed: int) -> bytes:
    return b"[" + ", ".join(_entries(item, size, seed)).encode() + b"]"


def lines(item: Callable[[int], str], size: int, seed: int) -> bytes:
    return "\n".join(_entries(item, size, seed)).encode()


KINDS = ((row, array), (line, lines), (chinese, array), (nested, array))


def objects(size: int) -> Iterator[bytes]:
    """Of `size` bytes in all; what is searched for is in the middle of each kind."""
    for item, joined in KINDS:
        share = size // len(KINDS)
        yield joined(item, int(share * LARGE_SHARE), 0)
        left, number = share - int(share * LARGE_SHARE), 0
        while left > 0:
            number += 1
            data = joined(item, min(left, random.Random(number).choice(SIZES)), number * 1_000_003)
            left -= len(data)
            yield data
    yield json.dumps({"content": json.dumps({"status": "failed", "why": NEEDLE})}).encode()


def _entries(item: Callable[[int], str], size: int, seed: int) -> Iterator[str]:
    written = 0
    while written < size:
        entry = item(seed)
        written += len(entry.encode()) + 1
        seed += 1
        yield entry


def build(folder: Path, size: int) -> dict[str, str]:
    env = {**os.environ, "CTX_STORE": str(folder / ".ctxstore")}
    files = folder / "files"
    files.mkdir()
    listing = []
    for number, data in enumerate(objects(size)):
        path = files / str(number)
        path.write_bytes(data)
        listing.append(str(path))
    put = [*CTX, "put", "--stdin-paths"]
    subprocess.run(put, input="\n".join(listing).encode(), env=env, stdout=subprocess.DEVNULL, check=True)
    for each in listing:
        os.unlink(each)
    return env


def seconds(command: list[str], env: dict[str, str]) -> tuple[float, float]:
    """On the clock, and of the processor: of all its processes together."""
    quiet = subprocess.DEVNULL
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, env=env, stdout=quiet, stderr=quiet, check=False)
    taken, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return taken, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("size", type=int, nargs="?", default=1_000_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", help="on this disk (default: the temporary folder's)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        env = build(Path(folder), given.size)
        measure(env, given.runs)


def measure(env: dict[str, str], runs: int) -> None:
    stats = subprocess.run([*CTX, "stats", "--json"], env=env, capture_output=True, check=True).stdout
    facts = json.loads(stats)
    print(
        f"{facts['objects']:,} objects, {facts['bytes'] / 1e6:,.0f} MB; MB/s by the clock, by two processors"
    )
    start = _median([seconds([*CTX, "--version"], env) for _ in range(5)])
    for what, words in {"ctx verify": ["verify"], **SEARCHES}.items():
        command = [*CTX, *words] if what == "ctx verify" else [*CTX, "grep", *words]
        taken = _median([seconds(command, env) for _ in range(runs)])
        clock, processor = (a - b for a, b in zip(taken, start, strict=True))
        rates = facts["bytes"] / 1e6 / clock, facts["bytes"] / 1e6 / (processor / 2)
        print(f"{what:<42} {clock:6.2f} s  {rates[0]:7,.0f}  {rates[1]:7,.0f}", flush=True)


def _median(samples: list[tuple[float, float]]) -> tuple[float, float]:
    clock, processor = zip(*samples, strict=True)
    return statistics.median(clock), statistics.median(processor)


if __name__ == "__main__":
    main()
