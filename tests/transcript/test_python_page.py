"""docs/python.md runs as it stands, block after block, as one program."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import castore

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.S)


def test_every_block_runs(fast_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(ROOT / "docs/example/session.jsonl", fast_path)
    monkeypatch.chdir(fast_path)
    names: dict[str, object] = {}
    for number, block in enumerate(BLOCKS):
        exec(compile(block, f"docs/python.md, block {number}", "exec"), names)
    store = names["store"]
    assert isinstance(store, castore.Store)
    store.close()


def test_names_what_there_is_for_sessions() -> None:
    for name in (
        "view_bytes",
        "make_view",
        "plan_view",
        "unfold_bytes",
        "clip_text",
        "ViewRequest",
        "ViewOptions",
        "CollapseCoordinator",
        "TranscriptFile",
    ):
        assert f"castore.{name}(" in PAGE
