"""Where a value of a pool is, as an address says it, and in a few characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from castore.overview.model import Place
from castore.overview.pools import Pool, Step

__all__ = ["key_path", "named", "place_of"]


def place_of(steps: Sequence[tuple[Step, Any]], *, is_read: bool = False) -> Place:
    """The place at the end of these steps. is_read: the whole is a text or a string, read as JSON already."""
    selects: list[str] = []
    path = "$"
    lines: tuple[int, int] | None = None
    for step, name in steps:
        if lines is not None:
            break  # What is inside a line is read with the line.
        if step is Step.READ:
            if path != "$":
                selects.append(path)
            path = "$"
        elif step is Step.LINE:
            lines = (name, name + 1)
        elif step in (Step.MEMBER, Step.ENTRY):
            path += key_path(name)
        else:
            path += f"[{name}]"
    if path == "$" and not selects:
        return Place((), None, lines)
    if len(steps) == 1 and steps[0][0] is Step.ITEM and not is_read:
        return Place((), steps[0][1], None)
    return Place((*selects, path) if path != "$" else tuple(selects), None, lines)


def key_path(name: str) -> str:
    """A member in a JSONPath: `.name`, or in brackets and quotes where it is no plain name."""
    if name.isidentifier() and name.isascii():
        return f".{name}"
    quoted = name.replace("\\", "\\\\").replace("'", "\\'")
    return "['" + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in quoted) + "']"


def named(pool: Pool, until: Pool | None = None) -> str:
    """The path of a pool below another in a few characters: `user.name`, `items[].price`."""
    parts: list[str] = []
    at: Pool | None = pool
    while at is not None and at is not until:
        if at.step is Step.MEMBER or at.step is Step.COLUMN:
            parts.append(at.name)
        elif at.is_entries and at is not pool:
            parts.append("[]")
        at = at.parent
    return ".".join(reversed(parts)).replace(".[]", "[]").removeprefix("[].").removeprefix("[]")
