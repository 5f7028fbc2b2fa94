"""Tree: one JSON document as its values, each with the place at which it stands. Pure.

Laws:
- A value is never re-serialised: what is told of it is its literal, as the document spells it.
- Of members of one name the last counts, as for any reader of JSON.
- Takes time and memory linear in the document.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property

from castore.document.grammar import ARRAY, OBJECT, scan_strictly, value_end
from castore.document.path import Step, values, write_path
from castore.document.pattern import parse_pattern
from castore.document.place import invalid
from castore.document.strings import decode_literal
from castore.errors import DocumentInvalid, InvalidOption

__all__ = ["Steps", "Tree", "Value", "field_name", "meaning", "parse_field", "parse_fields"]

Steps = tuple[Step, ...]

_FIELD = re.compile(r"""(?:\['(?:\\.|[^'\\])*+'\]|\["(?:\\.|[^"\\])*+"\]|[^,])++""", re.DOTALL)
"""One of a list with commas; in a quoted name a comma is its own."""
_NUMBER = re.compile(rb"(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,18}))?")


@dataclass(slots=True, eq=False)
class Value:
    """start: offset in the document's bytes. byte: the first of its literal. children: of a container."""

    start: int
    byte: int
    children: dict[Step, Value] = field(default_factory=dict)

    @property
    def is_container(self) -> bool:
        return self.byte in (ARRAY, OBJECT)


class Tree:
    """An array or object. Raises DocumentInvalid, LimitExceeded for anything else than one."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        scan_strictly(data, len(data))
        top: list[Value] = []
        path: list[Value] = []
        for offset, steps in values(data):
            value = Value(offset, data[offset])
            del path[len(steps) :]
            if steps:
                path[-1].children[steps[-1]] = value
            else:
                top.append(value)
            path.append(value)
        if len(top) != 1 or not top[0].is_container:
            raise invalid("not one JSON array or object", top[1].start if len(top) > 1 else 0)
        self.root = top[0]
        self._placed = 0, 0
        """Of the value that was placed last: its offset, and the characters before it in its line."""

    @classmethod
    def of(cls, text: str) -> Tree:
        """Raises as the class does."""
        try:
            data = text.removeprefix("\ufeff").encode()
        except UnicodeEncodeError as error:
            raise DocumentInvalid("a text that is not Unicode is no JSON") from error
        return cls(data)

    def find(self, steps: Steps) -> Value | None:
        value = self.root
        for step in steps:
            found = value.children.get(step)
            if found is None:
                return None
            value = found
        return value

    def literal(self, value: Value) -> bytes:
        """As the document spells it."""
        return self.data[value.start : value_end(self.data, value.start)]

    def place(self, value: Value) -> tuple[int, int]:
        """Line and column, from 1; columns count characters. Quick for values in order of the document."""
        line = bisect_right(self._starts, value.start)
        at, characters = self._placed
        if not self._starts[line - 1] <= at <= value.start:
            at, characters = self._starts[line - 1], 0
        characters += len(self.data[at : value.start].decode())
        self._placed = value.start, characters
        return line, characters + 1

    @cached_property
    def _starts(self) -> list[int]:
        """Offsets at which lines begin."""
        return [0, *(each.end() for each in re.finditer(b"\n", self.data))]


def meaning(literal: bytes) -> object:
    """What two literals of a scalar, or of an empty container, have in common if they say the same:
    of a number its value, of a string its characters."""
    if literal[:1] == b'"':
        return decode_literal(literal)
    if literal[0] in (ARRAY, OBJECT):
        return literal[:1]
    number = _NUMBER.fullmatch(literal)
    if number is None:
        return literal
    sign, whole, fraction, exponent = number.groups(b"")
    digits = (whole + fraction).lstrip(b"0")
    if not digits:
        return 0, b"0"
    shown = digits.rstrip(b"0")
    power = int(exponent or b"0") - len(fraction) + len(digits) - len(shown)
    return power, sign + shown


# --- Fields ----------------------------------------------------------------------------------------


def parse_fields(text: str) -> list[str]:
    """The paths of a list with commas, as they are written. Raises InvalidOption for one that is none."""
    found = [each.strip() for each in _FIELD.findall(text)]
    for each in found:
        parse_field(each)
    if not found:
        raise InvalidOption("no field is named", option="fields")
    return found


def parse_field(path: str) -> Steps:
    """The steps of `a.b[0]`, with or without `$.`. Raises InvalidOption for what names no one value."""
    written = path if path.startswith("$") else f"${path}" if path.startswith("[") else f"$.{path}"
    segments = parse_pattern(written).segments
    steps = tuple(each.step for each in segments if each.step is not None and not each.descends)
    if not steps or len(steps) < len(segments):
        raise InvalidOption(
            f"'{path[:80]}' names no single field",
            hint="fields look like deadline_days, rows[0].name, ['odd name']",
            subject=path[:80],
        )
    return steps


def field_name(steps: Steps) -> str:
    """As parse_field reads it, but for the end of a name of over 80 characters."""
    return write_path(steps).removeprefix("$").removeprefix(".")
