"""Tokens: how many a text takes, counted where the optional extra is installed, estimated where it is not.

Laws: `count` says which of the two its number is; an estimate follows from the bytes alone, so it is the
same everywhere. Nothing is ever fetched. docs/decisions/0013-tokens.md has the measurements.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

__all__ = ["ENCODING", "count", "counter", "estimate"]

ENCODING = "o200k_base"
"""The vocabulary that is counted in, and that the estimate was fitted to. Models of other vendors have their
own, so for those an exact count is an estimate too."""


def count(data: bytes) -> tuple[int, bool]:
    """Tokens of the text, and whether they were counted (`castore[tokens]`) or estimated. Bytes that are no
    UTF-8 count as replacement characters."""
    count_one, is_exact = counter()
    return count_one(data), is_exact


def counter() -> tuple[Callable[[bytes], int], bool]:
    """What counts tokens of a text here, and whether it does not estimate them. For many texts: whether the
    extra is installed is looked for once."""
    try:
        tokenizer = import_module("toktok")
    except ImportError:
        return estimate, False

    def count_exactly(data: bytes) -> int:
        counted: int = tokenizer.batch_count([data.decode("utf-8", "replace")], ENCODING, threads=1)[0]
        return counted

    return count_exactly, True


def estimate(data: bytes) -> int:
    """About how many tokens the text takes: within 10 % for nine of ten texts of 500 bytes and more, and off
    by half at the worst of those measured. At least 1 if there is a byte."""
    classes = data.translate(_CLASSES)
    hundredths = sum(weight * classes.count(pattern) for pattern, weight in _WEIGHTS.items())
    return max(1, (hundredths + 50) // 100) if data else 0


# --- The model of the estimate ---------------------------------------------------------------------


def _class_of(byte: int) -> str:
    """Letters, digits, white space, punctuation; the first byte of a longer character says its length."""
    for first, name in ((0xF0, "4"), (0xE0, "3"), (0xC0, "2"), (0x80, "-")):
        if byte >= first:
            return name
    character = chr(byte)
    for is_of, name in ((str.islower, "a"), (str.isupper, "A"), (str.isdigit, "0")):
        if is_of(character):
            return name
    blanks = {" ": "s", "\n": "n", "\r": "n", "\t": "t"}
    return blanks.get(character, "x" if byte < 0x20 or byte == 0x7F else "p")


_CLASSES = "".join(map(_class_of, range(256))).encode()

# Hundredths of a token for every byte of a class, and for every place where one class follows another: words
# begin there. Fitted to exact counts of pieces of sessions, tool output, JSON and source code.
_WEIGHTS = {
    b"a": 9,
    b"A": 26,
    b"0": 29,
    b"n": 57,
    b"t": 70,
    b"p": 6,
    b"x": 100,
    b"2": 59,
    b"3": 60,
    b"4": 250,
    b"sa": 72,
    b"pa": 58,
    b"0a": 49,
    b"na": 49,
    b"ta": 49,
    b"sA": 7,
    b"pA": 29,
    b"0A": 93,
    b"aA": 59,
    b"Aa": 42,
    b"s0": 198,
    b"p0": 102,
    b"a0": 147,
    b"A0": 147,
    b"sp": 114,
    b"ap": 49,
    b"Ap": 49,
    b"0p": 49,
    b"ss": 3,
    b"pp": 17,
}
