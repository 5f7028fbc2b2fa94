"""Real sessions and documents through a bucket, folded in one store and unfolded in another: exact."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from castore.remote.bucket import Bucket
from castore.store import Store
from tests.access.sessions import pi_session
from tests.remote.laws import hold_bucket, hold_exact, hold_store
from tests.remote.servers import Place
from tests.transcript.growing import session

ROWS = [{"id": at, "status": 200, "text": "ein längerer Text \u2028 mit allem 🙂" * 3} for at in range(300)]
SOURCES = {
    "one value": json.dumps({"rows": ROWS, "log": "a line\r\n" * 900}, ensure_ascii=False).encode(),
    "lines": b"".join(json.dumps(row).encode() + b"\n" for row in ROWS),
    "odd JSON": b'\xef\xbb\xbf{"a":1.0,"a":1e0,"b":['
    + b"123456789012345678901234567890, " * 400
    + b"-0]}\r\n\r\n",
    "glued records": b"".join(json.dumps({"text": f"{at} " * 500}).encode() for at in range(4)),
    "look-alikes": json.dumps(
        {"$ctx": {"kind": "array"}, "$$ctx": ["$ctx " * 400], "x": "\ud800" * 700}
    ).encode(),
    "a long string": json.dumps({"image": "iVBORw0KGgo" + "A" * 3_000_000}).encode(),
    "base64": json.dumps({"data": "QUJDREVGR0g" * 2_000 + "QUI="}).encode(),
    "nothing folds": b'{"short": 1}\n',
    "Pi": pi_session("apples"),
    "Claude Code": session(8, "claude-code"),
}


@pytest.fixture
def stores(fast_path: Path) -> Iterator[tuple[Store, Store]]:
    here, there = Store.init(fast_path / "here"), Store.init(fast_path / "there")
    yield here, there
    here.close()
    there.close()


class TestExact:
    def test_our_own(self, stores: tuple[Store, Store], seaweed: Place) -> None:
        """All through one bucket, one after another, so that they share what they have in common."""
        here, there = stores
        bucket: Bucket = seaweed.bucket()
        for name, data in SOURCES.items():
            try:
                hold_exact(here, there, bucket, data)
            except AssertionError as error:
                raise AssertionError(f"{name}: {error}") from error
        assert hold_bucket(bucket, here) > 5
        for store in stores:
            hold_store(store)

    @pytest.mark.long
    def test_the_folder_of_cases(self, stores: tuple[Store, Store], seaweed: Place, cases: Path) -> None:
        here, there = stores
        bucket = seaweed.bucket()
        for folder in ("agents", "claude-code", "pi"):
            for path in sorted((cases / folder).iterdir()):
                if path.suffix in (".json", ".jsonl"):
                    hold_exact(here, there, bucket, path.read_bytes())
        hold_bucket(bucket, there)
        for store in stores:
            hold_store(store)
