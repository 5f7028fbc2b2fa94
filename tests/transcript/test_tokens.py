"""Tokens: an estimate that follows from the bytes, and a count that says which of the two it is."""

from __future__ import annotations

import importlib.util
import random
import sys
import types
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from castore.transcript import tokens

ROOT = Path(__file__).parents[2]
MARKER = b"[ctx 3f9ac01b77de5a10: tool result, 48213 bytes, 812 lines]"
KNOWN = {
    MARKER: 27,
    b'{"$ctx":{"kind":"array","digest":"sha256:baa13e584fc566e7673e23ea3cfa5c3999dd3520b275fed31717404f3c320f8d"'
    b',"size":24584,"items":200}}': 58,
    b"def f(x):\n    return x + 1\n": 11,
    "今日は良い天気ですね。中文测试文本，这是一个例子。".encode(): 15,
    b"aGVsbG8gd29ybGQ" * 20: 181,
}
"""Text -> its exact count in o200k_base."""


class TestEstimate:
    @pytest.mark.parametrize(("data", "exact"), KNOWN.items())
    def test_is_near_the_exact_count(self, data: bytes, exact: int) -> None:
        assert abs(tokens.estimate(data) - exact) <= max(3, exact // 7)

    def test_of_nothing_is_none_and_of_a_byte_one(self) -> None:
        assert tokens.estimate(b"") == 0
        assert tokens.estimate(b"a") == 1
        assert tokens.estimate(b" ") == 1

    @given(st.binary(max_size=200), st.binary(max_size=200))
    def test_of_a_whole_is_about_that_of_its_halves(self, first: bytes, second: bytes) -> None:
        """At most the pair of bytes at the seam, and rounding, are counted otherwise."""
        parts = tokens.estimate(first) + tokens.estimate(second)
        assert -3 <= tokens.estimate(first + second) - parts <= 3

    def test_of_prose_is_what_the_design_measured(self) -> None:
        """1 KiB of prose: 274 tokens, within a tenth."""
        page = (ROOT / "docs/security.md").read_bytes()
        pieces = [page[at : at + 1024] for at in range(0, len(page) - 1024, 1024)]
        assert 220 <= sum(map(tokens.estimate, pieces)) / len(pieces) <= 300


class TestCount:
    def test_without_the_extra_is_an_estimate_and_says_so(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "toktok", None)
        assert tokens.count(MARKER) == (tokens.estimate(MARKER), False)

    def test_with_the_extra_is_what_that_counts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked = []

        def batch_count(texts: list[str], encoding: str, threads: int) -> list[int]:
            asked.append((texts, encoding, threads))
            return [7]

        module = types.ModuleType("toktok")
        module.batch_count = batch_count  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "toktok", module)
        assert tokens.count(b"caf\xc3\xa9 \xff") == (7, True)
        assert asked == [(["café \ufffd"], "o200k_base", 1)]

    @pytest.mark.skipif(importlib.util.find_spec("toktok") is None, reason="castore[tokens] is not installed")
    def test_is_exact(self) -> None:
        for data, exact in KNOWN.items():
            assert tokens.count(data) == (exact, True)

    @pytest.mark.skipif(importlib.util.find_spec("toktok") is None, reason="castore[tokens] is not installed")
    def test_is_near_the_estimate_on_our_own_pages(self) -> None:
        pages = [
            path.read_bytes()
            for path in sorted(ROOT.glob("docs/*.md")) + sorted(ROOT.glob("castore/**/*.py"))
        ]
        random.Random(1).shuffle(pages)
        ratios = sorted(tokens.estimate(page) / tokens.count(page)[0] for page in pages if len(page) > 500)
        assert 0.95 < ratios[len(ratios) // 2] < 1.05
        assert ratios[len(ratios) // 20] > 0.85
        assert ratios[-len(ratios) // 20] < 1.15
