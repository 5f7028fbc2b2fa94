"""Numbers in few words, the same wherever people or agents read them."""

from __future__ import annotations

import re
import time

__all__ = [
    "age_text",
    "clip",
    "count_text",
    "date_text",
    "iso_text",
    "plain",
    "plural",
    "size_text",
    "visible",
]

_BLANKS = re.compile(r"[ \t-\r\x1c-\x1f\x85\u2028\u2029\u3000]+")
_SHORT_CODES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def size_text(size: int) -> str:
    """`312 B`, `4.1 kB`, `201 kB`, `1.9 MB`: powers of 1000, two or three digits."""
    amount, units = float(size), iter(("B", "kB", "MB", "GB", "TB", "PB", "EB"))
    unit = next(units)
    while amount >= 999.5 and unit != "EB":
        amount, unit = amount / 1000, next(units)
    return f"{amount:.1f} {unit}" if unit != "B" and amount < 9.95 else f"{amount:.0f} {unit}"


def count_text(count: int) -> str:
    return f"{count:,}"


def plural(count: int, word: str, words: str | None = None) -> str:
    """`1 object`, `12,000 objects`."""
    return f"{count:,} {word if count == 1 else words or word + 's'}"


def age_text(moment: float, now: float) -> str:
    """`just now`, `3 minutes ago`, `yesterday`, `12 days ago`; the date when it is further off, or ahead."""
    seconds = now - moment
    if seconds < -60 or seconds >= 30 * 86_400:
        return date_text(moment)
    if seconds < 60:
        return "just now"
    if seconds < 3600:
        return f"{plural(int(seconds // 60), 'minute')} ago"
    if seconds < 86_400:
        return f"{plural(int(seconds // 3600), 'hour')} ago"
    days = int(seconds // 86_400)
    return "yesterday" if days == 1 else f"{days} days ago"


def date_text(moment: float) -> str:
    """The day, in UTC: `2026-12-13`."""
    return iso_text(moment)[:10]


def iso_text(moment: float) -> str:
    """UTC, to the second. A time no calendar has prints as seconds."""
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
    except (OverflowError, ValueError, OSError):
        return f"{moment:.0f}"


def clip(text: str, bytes_max: int, *, from_end: bool = False) -> str:
    """`text`, or as much of its beginning (or its end) as has this many bytes of UTF-8, `…` included.

    No character is cut. Of a lone surrogate, which UTF-8 has not, the code is shown.
    """
    text = text[-bytes_max - 1 :] if from_end else text[: bytes_max + 1]
    data = text.encode("utf-8", "backslashreplace")
    if len(data) <= bytes_max:
        return data.decode()
    if bytes_max < 3:
        return ""
    if from_end:
        return "…" + data[len(data) - bytes_max + 3 :].decode("utf-8", "ignore")
    return data[: bytes_max - 3].decode("utf-8", "ignore") + "…"


def plain(text: str) -> str:
    """On one line, blanks in a row as one, and none at the ends; else as `visible`."""
    text = " ".join(text.split()) if text.isascii() else _BLANKS.sub(" ", text).strip(" ")
    return visible(text)


def visible(text: str) -> str:
    """On one line, every blank kept; of what would steer a terminal, of what nobody sees, and of blanks that
    are none of the keyboard's, the code: `\\x1b`, `\\u200b`, `\\xa0`."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() or each == "\u3000" else _code(each) for each in text)


def _code(character: str) -> str:
    number = ord(character)
    if character in _SHORT_CODES:
        return _SHORT_CODES[character]
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
