"""How values read: for people, in pipes, as JSON."""

from __future__ import annotations

import ast
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from unicodedata import category

import pytest

from castore.cli.output import (
    Count,
    Moment,
    Size,
    age_text,
    brief,
    human,
    json_text,
    plain,
    printable,
    size_text,
)
from castore.config import MESSAGE_CHARACTERS_MAX, WORD_CHARACTERS_MAX
from castore.digest import Digest

DIGEST = Digest.of(b"")


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (4096, "4.1 kB"),
        (9949, "9.9 kB"),
        (9950, "10 kB"),
        (201_000, "201 kB"),
        (999_499, "999 kB"),
        (999_500, "1.0 MB"),
        (1_843_220, "1.8 MB"),
        (48_000_000, "48 MB"),
        (10**18, "1.0 EB"),
        (10**22, "10000 EB"),
    ],
)
def test_sizes(size: int, text: str) -> None:
    assert size_text(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-30, "just now"),
        (0, "just now"),
        (59.9, "just now"),
        (60, "1 minute ago"),
        (200, "3 minutes ago"),
        (3600, "1 hour ago"),
        (86_399, "23 hours ago"),
        (86_400, "yesterday"),
        (12 * 86_400, "12 days ago"),
        (40 * 86_400, "2025-12-24"),
        (-86_400, "2026-02-03"),
    ],
)
def test_ages(seconds: float, text: str) -> None:
    now = 1_769_990_400.0  # 2026-02-02 00:00 UTC
    assert age_text(now - seconds, now) == text


def test_one_value_three_ways() -> None:
    assert [human(Size(4096), 0), plain(Size(4096))] == ["4.1 kB", "4096"]
    assert [human(Count(12000), 0), plain(Count(12000))] == ["12,000", "12000"]
    assert [human(DIGEST, 0), plain(DIGEST)] == [DIGEST.short, str(DIGEST)]
    assert [human(Moment(0), 100), plain(Moment(0))] == ["1 minute ago", "1970-01-01T00:00:00Z"]
    assert [human(None, 0), plain(None)] == ["-", "-"]


def test_times_outside_the_calendar_print() -> None:
    assert plain(Moment(1e20)) == "1" + "0" * 20


class TestPrintable:
    def test_control_characters_are_shown(self) -> None:
        assert printable("a\n\x1b[31mb\x7f\x9b") == "a\\x0a\\x1b[31mb\\x7f\\x9b"

    def test_nothing_that_steers_a_terminal_or_hides_is_left(self) -> None:
        """Of all of Unicode; and what is left is what was there."""
        hidden = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
        everything = [chr(number) for number in range(sys.maxunicode + 1)]
        for each in everything:
            shown = printable(each)
            assert (shown == each) == (category(each) not in hidden), hex(ord(each))
            assert hidden.isdisjoint(map(category, shown))

    def test_directions_halves_and_bytes(self) -> None:
        assert printable("gnp\u202efdp.é 日本") == "gnp\\u202efdp.é 日本"
        assert printable("a\u2028\ufeff\U000e0001\ud800\udce9") == "a\\u2028\\ufeff\\U000e0001\\ud800\\xe9"

    def test_plain_text_loads_no_tables(self) -> None:
        program = "import sys; from castore.cli import output; output.printable('a\\x1b')"
        program += "; sys.exit('unicodedata' in sys.modules)"
        subprocess.run([sys.executable, "-c", program], check=True, timeout=30)


class TestBrief:
    def test_what_is_short_stays(self) -> None:
        words = f"can't read '{'x' * 300}': no such file; {'some words ' * 100}"
        assert brief(words) == words

    def test_head_and_tail_of_a_long_word_stay(self) -> None:
        for long in ("'begin" + " x" * 5000 + "end'", "--begin" + "y" * 10_000 + "end"):
            shown = brief(f"can't read {long}: it isn't there")
            assert shown.startswith(f"can't read {long[:150]}")
            assert shown.endswith("end': it isn't there" if long[0] == "'" else "end: it isn't there")
            assert " more)…" in shown
            assert len(shown) < WORD_CHARACTERS_MAX + 60

    def test_the_whole_has_a_limit_too(self) -> None:
        for words in ("many words " * 10_000, "it's " * 100_000, ("y" * 399 + " ") * 5000):
            assert len(brief(words)) < MESSAGE_CHARACTERS_MAX + 30


class TestJson:
    SAID = '退款 é 𝒳 \u202e\x1b\x7f\u200b\ud800 \udce9 \xa0"\n'

    def test_characters_stand_and_what_nobody_sees_is_escaped(self) -> None:
        text = json_text({"a": self.SAID})
        assert "退款 é 𝒳 \\u202e\\u001b\\u007f\\u200b\\ud800 \\udce9" in text
        assert json.loads(text) == {"a": self.SAID}
        assert {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}.isdisjoint(map(category, text))

    def test_in_another_encoding_it_is_the_same_value(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="latin-1"))
        text = json_text({"a": self.SAID})
        assert text.isascii()
        assert json.loads(text) == {"a": self.SAID}


def test_names_that_are_not_text_come_out_as_they_were() -> None:
    program = r"from castore.cli.output import *; line('caf\udce9'); line('lone \ud800'); finish()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, timeout=30)
    assert done.stdout == b"caf\xe9\nlone \\ud800\n"


class TestPlurals:
    def test_words_that_take_no_s_alone_say_both_forms(self) -> None:
        wrong = []
        for path in sorted((Path(__file__).parents[2] / "castore").rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            for node in ast.walk(ast.parse(text)) if "plural(" in text else ():
                if not isinstance(node, ast.Call) or not ast.unparse(node.func).endswith("plural"):
                    continue
                word = node.args[1]
                is_odd = isinstance(word, ast.Constant) and re.search(
                    r"([^aeiou]y|s|x|z|ch|sh)$", str(word.value)
                )
                if is_odd and len(node.args) == 2:
                    wrong.append(f"{path.name}: {ast.unparse(node)}")
        assert wrong == []
