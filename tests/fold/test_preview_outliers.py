"""fold --preview outliers: a reference shows what stands apart, in no more bytes, and is true."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from castore.api import StoreHandle, fold_bytes, unfold_bytes, verify_files
from castore.config import PREVIEW_BYTES_MAX
from castore.errors import InvalidOption
from castore.fold.policy import FoldPolicy
from castore.overview.short import short_outliers
from castore.store import Store
from tests.retrieve.anomalies import requests
from tests.retrieve.texts import app

POLICY = FoldPolicy(preview="outliers")


def document(note: str) -> bytes:
    rng = random.Random(1)
    rows = [requests(rng, at) for at in range(400)]
    rows[123].update(status=500, note=note)
    lines = [app(rng, at) for at in range(300)]
    lines[77] = f"ERROR {note}"
    calm = [app(rng, at) for at in range(300)]
    return json.dumps({"rows": rows, "log": "\n".join(lines), "calm": "\n".join(calm)}).encode()


def previews(folded: bytes) -> dict[str, str]:
    value: dict[str, Any] = json.loads(folded)
    return {name: each["$ctx"]["preview"] for name, each in value.items()}


class TestPreview:
    def test_it_shows_what_stands_apart_and_edges_where_nothing_does(self, store: Store) -> None:
        data = document("upstream reset")
        folded = fold_bytes(store, data, POLICY)
        shown = previews(folded)
        assert shown["rows"].startswith("outliers [123] ")
        assert "upstream reset" in shown["rows"]
        assert shown["log"].startswith("outliers line 77 ERROR")
        assert " … 298 more lines … " in shown["calm"]
        assert unfold_bytes(store, folded) == data
        assert fold_bytes(store, data, POLICY) == folded

    @pytest.mark.parametrize(
        "note", ["… 5 more …", 'say "\\" …', "\ud800 alone", "蓝鹭🦩" * 30, "\x1b[31m\x00"]
    )
    def test_nothing_in_it_is_false_or_too_long(self, store: Store, tmp_path: Path, note: str) -> None:
        folded = fold_bytes(store, document(note), POLICY)
        for each in previews(folded).values():
            assert len(json.dumps(each, ensure_ascii=False).encode()) <= PREVIEW_BYTES_MAX
        (tmp_path / "folded.json").write_bytes(folded)
        handle = StoreHandle(store.folder, may_create=False)
        assert list(verify_files([str(tmp_path / "folded.json")], handle)) == []

    @pytest.mark.parametrize("bytes_max", range(24, 161, 8))
    def test_of_any_length(self, bytes_max: int) -> None:
        rows = json.loads(document('a "quoted" heron'))["rows"]
        shown = short_outliers(json.dumps(rows).encode(), bytes_max)
        assert shown is None or len(json.dumps(shown, ensure_ascii=False).encode()) <= bytes_max

    def test_other_words_are_refused(self) -> None:
        with pytest.raises(InvalidOption, match="'outliers'"):
            FoldPolicy(preview="middle")
