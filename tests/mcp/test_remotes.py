"""Objects that lie at a remote: a call that reads one fetches it, or says that it may not or can't."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from castore import api
from castore.digest import Digest
from castore.mcp import worker
from castore.mcp.calls import Place, answer

TEXT = b"what lies at the remote\n" * 100
DIGEST = Digest.of(TEXT)


@pytest.fixture
def place(fast_path: Path) -> Place:
    """A store with a root whose object is at the remote `team` alone."""
    here = api.open_store(fast_path / "here", create=True)
    there = api.open_store(fast_path / "there", create=True)
    for store in (here, there):
        api.add_remote(store, "team", (fast_path / "bucket").as_uri())
    api.put(there, TEXT, name="poem")
    api.push(there, "poem")
    api.pull(here, "poem", lazily=True)
    here.close()
    there.close()
    return Place(str(fast_path / "here"))


def read(place: Place) -> dict[str, Any]:
    return answer(place, {"tool": "ctx_read", "arguments": {"ref": str(DIGEST)}})


class TestOnDemand:
    def test_a_call_that_reads_fetches(self, place: Place, fast_path: Path) -> None:
        assert read(place)["structured"]["text"] == TEXT.decode()
        shutil.rmtree(fast_path / "bucket")
        assert read(place)["structured"]["text"] == TEXT.decode()

    def test_what_only_lists_does_not(self, place: Place, fast_path: Path) -> None:
        shutil.rmtree(fast_path / "bucket")
        assert "is_error" not in answer(place, {"tool": "ctx_list", "arguments": {}})
        assert not list((fast_path / "here/objects").glob("*/*"))

    def test_offline_it_is_said_where_it_lies(self, place: Place) -> None:
        offline = Place(place.folder, is_offline=True)
        told = read(offline)["structured"]
        assert (told["error"], told["exit_code"], told["fields"]["remote"]) == ("remote", 16, "team")
        assert "--" not in told["hint"]
        assert read(place)["structured"]["text"] == TEXT.decode()
        assert "is_error" not in read(offline)

    def test_a_remote_that_is_gone_is_told(self, place: Place, fast_path: Path) -> None:
        shutil.rmtree(fast_path / "bucket")
        told = read(place)["structured"]
        assert (told["error"], told["exit_code"]) == ("remote", 16)
        assert "--" not in told["hint"]

    def test_the_process_that_answers_is_told_of_it(self, place: Place) -> None:
        for is_offline in (False, True):
            given = Place(place.folder, is_offline=is_offline)
            assert worker._place(json.loads(worker.place_line(given))) == given
