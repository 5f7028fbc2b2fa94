"""Excerpts: what stands around a match, on one line.

Law: an excerpt has at most so many bytes of UTF-8, no line feed and nothing that would steer a terminal,
never a part of a character; and the match is in it, or its beginning if it is too long.
"""

from __future__ import annotations

import re
from unicodedata import category

__all__ = ["around", "beginning", "shown"]

_MORE = "…"
_MORE_BYTES = len(_MORE.encode())
_HEAD_SHARE = 3
"""A third of what is left beside the match goes to what is before it."""

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_PLAIN = re.compile(r"[ -~]*\Z")


def shown(text: str) -> str:
    """`text` on one line: of what is not seen, or would steer a terminal, the code."""
    if _PLAIN.match(text):
        return text
    return "".join(each if each.isprintable() or category(each) == "Zs" else _code(each) for each in text)


def around(text: str, start: int, end: int, bytes_max: int) -> str:
    """What stands around `text[start:end]`."""
    match = _cut(shown(text[start : min(end, start + bytes_max)]), bytes_max)
    left = bytes_max - _size(match)
    if left <= 2 * _MORE_BYTES:
        return match
    before, after = text[max(0, start - left) : start], text[end : end + left]
    tail = shown(after)
    head = shown(before)
    if _size(head) + _size(tail) <= left and start <= left and end + left >= len(text):
        return head + match + tail
    head_max = max(left // _HEAD_SHARE, left - _size(tail) - _MORE_BYTES)
    if start > left or _size(head) > head_max:
        head = _MORE + _cut_front(head, head_max - _MORE_BYTES)
    left -= _size(head)
    if end + len(after) < len(text) or _size(tail) > left:
        tail = _cut(tail, left - _MORE_BYTES) + _MORE
    return head + match + tail


def beginning(text: str, bytes_max: int) -> str:
    """Of a line or an item beside a hit."""
    whole = shown(text[:bytes_max])
    if len(text) <= bytes_max and _size(whole) <= bytes_max:
        return whole
    return _cut(whole, bytes_max - _MORE_BYTES) + _MORE


def _size(text: str) -> int:
    return len(text.encode())


def _cut(text: str, bytes_max: int) -> str:
    return text.encode()[: max(0, bytes_max)].decode("utf-8", "ignore")


def _cut_front(text: str, bytes_max: int) -> str:
    return text.encode()[-bytes_max:].decode("utf-8", "ignore") if bytes_max > 0 else ""


def _code(character: str) -> str:
    if character in _SHORT:
        return _SHORT[character]
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:
        number -= 0xDC00  # So Python spells a byte that is no text.
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
