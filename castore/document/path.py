"""Paths: where in a value something stands, as people and patterns write it (`$.messages[3].content`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from castore.document.grammar import ARRAY, OBJECT
from castore.document.strings import decode_literal

__all__ = ["Step", "count_items", "member_name_before", "paths_at", "values", "write_path"]

Step = str | int
"""A member's decoded name, or an item's index."""

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{},:]|[^\s\[\]{},:"]++', re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")


def write_path(steps: Iterable[Step]) -> str:
    written = ["$"]
    for step in steps:
        if isinstance(step, int):
            written.append(f"[{step}]")
        elif _NAME.match(step):
            written.append("." + step)
        else:
            shown = step if len(step) <= 80 else step[:79] + "…"
            quoted = shown.replace("\\", "\\\\").replace("'", "\\'")
            escaped = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in quoted)
            written.append(f"['{escaped}']")
    return "".join(written)


def values(
    data: bytes | bytearray, start: int = 0, end: int | None = None
) -> Iterator[tuple[int, list[Step]]]:
    """Every value in a valid sequence: the offset it begins at, and its steps from its top-level value.

    The list of steps is the walk's own and changes as it goes on.
    """
    steps: list[Step] = []
    kinds: list[int] = []
    is_name = False
    for token in _TOKEN.finditer(data, start, len(data) if end is None else end):
        at = token.start()
        byte = data[at]
        if byte in b"]}":
            kinds.pop()
            steps.pop()
            is_name = False
        elif byte == 0x2C:
            if kinds[-1] == ARRAY:
                steps[-1] += 1  # type: ignore[operator]
            else:
                is_name = True
        elif byte == 0x3A:
            is_name = False
        elif is_name:
            steps[-1] = decode_literal(token[0])
        else:
            if kinds and kinds[-1] == ARRAY and steps[-1] == -1:
                steps[-1] = 0
            yield at, steps
            if byte in (ARRAY, OBJECT):
                kinds.append(byte)
                # The first item or name comes next, or the close.
                steps.append(-1 if byte == ARRAY else "")
                is_name = byte == OBJECT


def paths_at(data: bytes | bytearray, offsets: Iterable[int]) -> dict[int, str]:
    """The path of the value that begins at or encloses each offset, in one walk."""
    wanted = sorted(set(offsets))
    found: dict[int, str] = {}
    last: tuple[Step, ...] = ()
    for at, steps in values(data):
        while len(found) < len(wanted) and wanted[len(found)] < at:
            found[wanted[len(found)]] = write_path(last)
        if len(found) == len(wanted):
            break
        if wanted[len(found)] == at:
            found[at] = write_path(steps)
        last = tuple(steps)
    for offset in wanted[len(found) :]:
        found[offset] = write_path(last)
    return found


def member_name_before(data: bytes | bytearray, at: int) -> str | None:
    """The name of the member whose value begins at `at`, or None if it is an item or a top-level value."""
    before = at - 1
    while before >= 0 and data[before] in b" \t\r\n":
        before -= 1
    if before < 0 or data[before] != 0x3A:
        return None
    close = data.rfind(b'"', 0, before)
    start = close
    while True:
        start = data.rfind(b'"', 0, start)
        backslashes = start - 1
        while backslashes >= 0 and data[backslashes] == 0x5C:
            backslashes -= 1
        if (start - 1 - backslashes) % 2 == 0:
            return decode_literal(bytes(data[start : close + 1]))


def count_items(data: bytes | bytearray, start: int, end: int) -> int:
    """Commas of an array's own in [start, end), where `start` is just inside it or just after an item."""
    depth = commas = 0
    for token in _TOKEN.finditer(data, start, end):
        byte = data[token.start()]
        if byte in (ARRAY, OBJECT):
            depth += 1
        elif byte in b"]}":
            depth -= 1
        elif byte == 0x2C and depth == 0:
            commas += 1
    return commas
