"""Laws of grep, over payloads made at random: what is there is found, and read back by the hit's address."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest

from castore.retrieve.grep import large
from castore.retrieve.grep.inside import Inside, hits_in
from castore.retrieve.grep.large import hits_in_window
from castore.retrieve.grep.literals import required_literals
from castore.retrieve.grep.pattern import GrepOptions, Needle
from castore.retrieve.grep.said import levels, said
from castore.retrieve.readable import Held
from tests.retrieve.searched import payload, reads, says

FIXED = GrepOptions(fixed=True)


def payloads(count: int, first: int = 0) -> Iterator[tuple[int, str, bytes]]:
    for seed in range(first, first + count):
        made = payload(seed)
        if made is not None:
            yield seed, *made


def require_read(data: bytes, needle: str, hits: list[Inside], seed: int) -> None:
    assert hits, seed
    assert len({hit.address for hit in hits}) == len(hits), seed
    for hit in hits:
        assert says(reads(data, hit.address), needle), (seed, hit)
        assert len(hit.excerpt.encode()) <= 160, seed
        assert len(hit.brief.encode()) <= 60, seed
        assert not re.search(r"[\x00-\x1f\x7f]", hit.excerpt), seed


class TestWhatIsThereIsFoundAndReadBack:
    def _check(self, count: int, first: int) -> None:
        for seed, needle, data in payloads(count, first):
            require_read(data, needle, hits_in(data, Needle(needle, FIXED), FIXED, None), seed)

    def test_text_as_it_stands(self) -> None:
        self._check(400, 0)

    @pytest.mark.long
    def test_of_many(self) -> None:
        self._check(20_000, 100_000)

    def test_an_expression(self) -> None:
        for seed, needle, data in payloads(150, 1000):
            pattern = re.escape(needle[:-1]) + f"[{re.escape(needle[-1])}]"
            require_read(
                data, needle, hits_in(data, Needle(pattern, GrepOptions()), GrepOptions(), None), seed
            )

    def test_without_regard_to_case(self) -> None:
        options = GrepOptions(fixed=True, ignore_case=True)
        for seed, needle, data in payloads(150, 2000):
            assert hits_in(data, Needle(needle.upper(), options), options, None), seed

    def test_with_what_is_beside_it(self) -> None:
        options = GrepOptions(fixed=True, context=2)
        for seed, needle, data in payloads(150, 3000):
            hits = hits_in(data, Needle(needle, options), options, None)
            assert hits
            for hit in hits:
                assert says(reads(data, hit.address), needle), (seed, hit)
                assert len(hit.before) <= 2
                assert len(hit.after) <= 2

    def test_little_is_read(self) -> None:
        for seed, needle, data in payloads(300, 4000):
            for hit in hits_in(data, Needle(needle, FIXED), FIXED, None):
                assert len(reads(data, hit.address)) <= 1300, (seed, hit)


class TestLongObjects:
    """By windows, as objects are searched that are not held whole, the same is found."""

    @pytest.mark.parametrize("window", [700, 3000])
    def test_windows_have_what_the_whole_has(self, window: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(large, "WINDOW_BYTES", window)
        monkeypatch.setattr(large, "OVERLAP_BYTES", 200)
        for seed, needle, data in payloads(150, 5000):
            found = [
                hit
                for start in range(0, len(data), window)
                for hit in hits_in_window(Held(data), start, Needle(needle, FIXED), FIXED, None)
            ]
            require_read(data, needle, list({hit.address: hit for hit in found}.values()), seed)


class TestALookAtTheBytes:
    """`may_be_in` passes over nothing that has a match."""

    PATTERNS = (
        r"订单|reset",
        r"(?:upstream|下单) reset",
        r"(say|tell) \"hi\"",
        r"[a-z]b line",
        r"back.slash",
        r"status\": \"(failed|lost)",
        r"\w+/x",
        r"x{20}|é😀",
        r"(?i)UPSTREAM",
        r"kelvin|slash",
    )

    @pytest.mark.parametrize("pattern", PATTERNS)
    @pytest.mark.parametrize("ignore_case", [False, True])
    def test_nothing_is_passed_over(self, pattern: str, ignore_case: bool) -> None:
        options = GrepOptions(ignore_case=ignore_case)
        needle = Needle(pattern, options)
        for seed, _, data in payloads(60, 6000):
            is_there = any(needle.expression.search(level.text) for level in levels(data.decode()))
            assert not is_there or needle.may_be_in(data), seed

    @pytest.mark.parametrize("spelt", ["resEt \u212aelvin", "re\u017fet kelvin", "RESET KELVIN"])
    def test_letters_that_are_alike_in_other_scripts(self, spelt: str) -> None:
        options = GrepOptions(ignore_case=True)
        assert hits_in(spelt.encode(), Needle("reset kelvin", options), options, None)

    @pytest.mark.parametrize("text", ["upstream", "订单", "a/b", 'q"x', "tab\there", "é😀"])
    def test_however_its_letters_are_escaped(self, text: str) -> None:
        chance = random.Random(text)
        for _ in range(20):
            spelt = "".join(
                _escaped(each) if chance.random() < 0.5 or each in '"\t' else each for each in text
            )
            data = f'["{spelt}"]'.encode()
            assert hits_in(data, Needle(text, FIXED), FIXED, None), spelt

    @pytest.mark.parametrize(
        ("pattern", "texts"),
        [
            ("abc", [("abc",)]),
            ("a|bc", [("a",), ("bc",)]),
            ("(error|failed)[0-9]", [("error",), ("failed",)]),
            ("foo(bar)?baz", [("foo", "baz")]),
            (r"\d{4}-\d\dT", [("-", "T")]),
            ("(?i:abc)x", [("x",)]),
            ("(?=abc)de", [("de",)]),
            ("(a|b|)c", [("c",)]),
            ("ab?c+d", [("a", "c", "d")]),
            ("ab(?#com)cd", [("ab", "cd")]),
            (r"\x41bc", None),
            ("(?x) a b", None),
            ("(abc){0}", None),
            ("a||b", None),
            ("(" * 80 + "a" + ")" * 80, [("a",)]),
        ],
    )
    def test_what_a_pattern_needs(self, pattern: str, texts: list[tuple[str, ...]] | None) -> None:
        assert required_literals(pattern) == texts


class TestLevels:
    def test_origins_are_where_the_text_came_from(self) -> None:
        for seed, _, data in payloads(60, 7000):
            first, *further = levels(data.decode())
            for level in further:
                for at in range(0, len(level.text), 7):
                    start, end = level.origin(at), level.origin(at + 1)
                    piece = first.text[start:end]
                    for _ in range(level.number):
                        piece = said(piece)
                    assert level.text[at] in piece, seed

    @pytest.mark.parametrize(
        "text", ["a\\d", "\\", "C:\\new\\u12", '\\"', "\x1c\x1d\x1e", "\\ud83d", "\\\\u8ba2"]
    )
    def test_of_what_is_no_json(self, text: str) -> None:
        for level in levels(text):
            assert level.origin(len(level.text)) == len(text)


def _escaped(letter: str) -> str:
    units = letter.encode("utf-16-be")
    return "".join(f"\\u{units[at] << 8 | units[at + 1]:04x}" for at in range(0, len(units), 2))
