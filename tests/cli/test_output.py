"""How values read: for people, in pipes, as JSON."""

from __future__ import annotations

import subprocess
import sys

import pytest

from castore.cli.output import Count, Moment, Size, age_text, human, plain, printable, size_text
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


def test_control_characters_are_shown() -> None:
    assert printable("a\n\x1b[31mb\x7f\x9b") == "a\\x0a\\x1b[31mb\\x7f\\x9b"


def test_names_that_are_not_text_come_out_as_they_were() -> None:
    program = r"from castore.cli.output import *; line('caf\udce9'); line('lone \ud800'); finish()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, timeout=30)
    assert done.stdout == b"caf\xe9\nlone \\ud800\n"
