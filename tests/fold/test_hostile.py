"""L10: no input takes unbounded time or memory. Each runs in a process of its own with both limited."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

CPU_SECONDS = 40
MEMORY_BYTES = 1 << 30


def nested_lists(depth: int, padding: int) -> bytes:
    inner = b'"' + b"z" * padding + b'"'
    for _ in range(depth):
        inner = b'[{"role":"a","content":' + inner + b"}" + b',{"role":"b"}' * 9 + b"]"
    return inner


def many_references(claimed: int) -> bytes:
    reference = {"kind": "text", "digest": "sha256:" + "0" * 64, "size": claimed, "escape": "minimal"}
    return b"[" + b",".join([json.dumps({"$ctx": reference}).encode()] * 20_000) + b"]"


DOCUMENTS: dict[str, Callable[[], bytes]] = {
    "open brackets": lambda: b"[" * 20_000_000,
    "quotes": lambda: b'"' * 20_000_000,
    "backslashes in a string": lambda: b'["' + b"\\\\" * 10_000_000 + b'"]',
    "scalars": lambda: b"1 " * 5_000_000,
    "scalars and a container": lambda: b"1 " * 5_000_000 + b"{}",
    "containers": lambda: b"[]" * 3_000_000,
    "look-alike strings": lambda: b"[" + b'"$",' * 3_000_000 + b"1]",
    "look-alike members": lambda: b"[" + b'{"$ctx":1},' * 300_000 + b"1]",
    "a long array": lambda: b"[" + b"1," * 10_000_000 + b"1]",
    "lists in lists": lambda: nested_lists(200, 2_000_000),
    "a long first message": lambda: (
        b'[{"role":"a","c":[' + b'{"x":[1,2]},' * 400_000 + b"1]}" + b',{"role":"b"}' * 300_000 + b"]"
    ),
    "lone surrogates": lambda: b"[" + b'"\\ud800",' * 300_000 + b"1]",
}


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def run(store: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "castore", *arguments],
        env={**os.environ, "CTX_STORE": str(store), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        check=False,
        preexec_fn=limited,
    )


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents(tmp_path: Path, name: str) -> None:
    source, folded, back = tmp_path / "in", tmp_path / "out", tmp_path / "back"
    data = DOCUMENTS[name]()
    source.write_bytes(data)
    store = tmp_path / ".ctxstore"
    done = run(store, "fold", str(source), "-o", str(folded))
    assert b"Traceback" not in done.stderr
    if done.returncode:
        assert done.returncode in (17, 18), done.stderr
        assert not folded.exists()
        return
    done = run(store, "unfold", str(folded), "-o", str(back))
    assert done.returncode == 0, done.stderr
    assert back.read_bytes() == data
    done = run(store, "verify", str(folded))
    assert (done.returncode, done.stdout) == (0, b"")


@pytest.mark.parametrize("claimed", [1, 1 << 40])
def test_many_references_to_what_is_not_there(tmp_path: Path, claimed: int) -> None:
    folded = tmp_path / "folded.json"
    folded.write_bytes(many_references(claimed))
    store = tmp_path / ".ctxstore"
    done = run(store, "put", str(folded))
    assert done.returncode == 0, done.stderr
    done = run(store, "unfold", str(folded))
    assert (done.returncode, done.stdout) == (12, b"")
    done = run(store, "verify", str(folded))
    assert done.returncode == 3
    assert done.stdout.count(b"missing sha256:") == 20_000
    assert b"Traceback" not in done.stderr
