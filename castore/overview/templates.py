"""Strings without what differs in every one of them: numbers, digests, what is quoted.

Law: each is one pass over all strings at once, and gives one string for each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from castore.overview.tokens import hide_tails, hide_tokens

__all__ = ["joined", "shapes", "unquoted", "without_digits"]

_DIGITS = str.maketrans("123456789", "000000000")
_HEX = re.compile(r"\b(?=[a-f]*[0-9])[0-9a-f]{7,}\b|\b(?=[A-F]*[0-9])[0-9A-F]{8,}\b")
_HEX_RUN = re.compile(r"\b[0-9a-f]{7,}\b|\b[0-9A-F]{8,}\b")
_QUOTED = re.compile(r'"[^"\n]{0,400}"|\'[^\'\n]{1,80}\'')
_LOWER, _UPPER = re.compile(r"[a-z]+"), re.compile(r"[A-Z]+")
_OTHER = re.compile(r"[^\W\d_A-Za-z]+")


def joined(texts: Sequence[str]) -> list[str]:
    """The same on one line each, digits and hex still there."""
    whole = "\n".join(texts)
    if whole.count("\n") != len(texts) - 1:
        whole = "\n".join(text.replace("\n", " ") for text in texts)
    sample = whole[:4000] + "\n" + whole[len(whole) // 2 :][:4000].partition("\n")[2]
    if _HEX.search(sample):
        # Where there are digests, one of a hundred has no digit in it.
        whole = _HEX_RUN.sub("~", whole)
    whole = hide_tokens(whole, sample)
    return hide_tails(whole.split("\n"))


def unquoted(plain: list[str]) -> list[str]:
    """With all that is quoted as `"`; the same list if nothing is."""
    whole = "\n".join(plain)
    if '"' not in whole and "'" not in whole:
        return plain
    return _QUOTED.sub('"', whole).split("\n")


def without_digits(text: str) -> str:
    text = text.translate(_DIGITS)
    for run in ("0" * 16, "0000", "00", "00"):
        while run in text:
            text = text.replace(run, "0")
    return text


def shapes(templates: Sequence[str]) -> list[str]:
    """Runs of letters as one letter: `web-0` is `a-0`."""
    whole = _UPPER.sub("A", _LOWER.sub("a", "\n".join(templates)))
    if not whole.isascii():
        whole = _OTHER.sub("w", whole)
    return whole.split("\n")
