"""JSON values where they stand: reading a few members of a large document without building the rest.

Law: a Value is a span of the source, and everything it says was read from exactly those bytes. Nothing is
read before it is asked for: a value's large members are passed over by where they end, which the scan of
the document found once. Of a member given twice the last counts, as for most readers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from castore.document.grammar import ARRAY, OBJECT, STRING, value_end
from castore.document.strings import decode_literal

__all__ = ["FLOOR_BYTES", "Source", "Value", "read_json"]

FLOOR_BYTES = 64
"""Values longer than this are known by their ends; shorter ones are read again when they are passed."""

_SPACE = re.compile(rb"[ \t\r\n]*+")
_MEMBER = re.compile(
    rb'[ \t\r\n]*+"([^"\\]*+(?:\\.[^"\\]*+)*+)"[ \t\r\n]*+:[ \t\r\n]*+'
    rb'(?:("[^"\\]{0,64}+"|[^][{}",:\s]++)[ \t\r\n]*+(,)?+)?+',
    re.DOTALL,
)
"""A member's name, and its value and the comma after it, where the value is short and has no escape."""
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
# A scalar, or a container without another one in it, as most short ones are.
_SHORT = re.compile(
    rb'%b|[^][{}",:\s]++|\{(?:[^][{}"]++|%b)*+\}|\[(?:[^][{}"]++|%b)*+\]' % (_STRING, _STRING, _STRING),
    re.DOTALL,
)
_COMMA = 0x2C


class Source:
    """The bytes of a session and where its large values end. data: scanned, so valid where values stand."""

    __slots__ = ("data", "ends", "names")

    def __init__(self, data: bytes, ends: Mapping[int, int]) -> None:
        self.data = data
        self.ends = ends
        self.names: dict[bytes, str] = {}
        """Names of members as they are spelled -> decoded: a session has few, thousands of times."""

    def end_of(self, at: int) -> int:
        """The offset after the value that begins at `at`."""
        end = self.ends.get(at)
        if end is not None:
            return end
        short = _SHORT.match(self.data, at)
        return short.end() if short else value_end(self.data, at)


class Value:
    """One value of a source. start, end: the half-open span of its literal."""

    __slots__ = ("_members", "end", "source", "start")

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.source = source
        self.start = start
        self.end = end
        self._members: dict[str, Value] | None = None

    def __repr__(self) -> str:
        return f"Value({self.start}:{self.end} {self.literal[:40]!r})"

    def __len__(self) -> int:
        return self.end - self.start

    @property
    def literal(self) -> bytes:
        return self.source.data[self.start : self.end]

    @property
    def is_object(self) -> bool:
        return self.source.data[self.start] == OBJECT

    @property
    def is_array(self) -> bool:
        return self.source.data[self.start] == ARRAY

    @property
    def is_string(self) -> bool:
        return self.source.data[self.start] == STRING

    @property
    def is_null(self) -> bool:
        return self.source.data[self.start] == 0x6E

    @property
    def type_name(self) -> str:
        """What JSON calls it."""
        first = chr(self.source.data[self.start])
        names = {"{": "object", "[": "array", '"': "string", "t": "boolean", "f": "boolean", "n": "null"}
        return names.get(first, "number")

    @property
    def members(self) -> dict[str, Value]:
        """An object's members; {} for anything else."""
        if self._members is None:
            self._members = self._read_members() if self.is_object else {}
        return self._members

    def get(self, *names: str) -> Value | None:
        """The member at this way of names, each in the one before it; None where there is none."""
        value: Value | None = self
        for name in names:
            if value is None:
                return None
            members = value._members
            value = (value.members if members is None else members).get(name)
        return value

    def text(self, *names: str) -> str | None:
        """The decoded string at this way of names; None if there is none or it is no string."""
        value = self.get(*names)
        return decode_literal(value.literal) if value is not None and value.is_string else None

    def flag(self, *names: str) -> bool:
        """Whether there is a `true` at this way of names."""
        value = self.get(*names)
        return value is not None and value.literal == b"true"

    def integer(self, *names: str) -> int | None:
        value = self.get(*names)
        if value is None or value.type_name != "number":
            return None
        try:
            return int(value.literal) if len(value) < 20 else None
        except ValueError:
            return None

    def items(self) -> list[Value]:
        """An array's items; [] for anything else."""
        if not self.is_array:
            return []
        source = self.source
        data, end_of = source.data, source.end_of
        found: list[Value] = []
        at = _skip(data, self.start + 1)
        while at < self.end - 1:
            end = end_of(at)
            found.append(Value(source, at, end))
            at = _skip(data, end)
            if data[at] == _COMMA:
                at = _skip(data, at + 1)
        return found

    def python(self) -> Any:
        """The value as Python has it. For small ones; numbers may lose their spelling."""
        return read_json(self.literal)

    def _read_members(self) -> dict[str, Value]:
        source = self.source
        data, names = source.data, source.names
        found: dict[str, Value] = {}
        at = self.start + 1
        while (head := _MEMBER.match(data, at)) is not None:
            raw = head[1]
            name = names.get(raw)
            if name is None:
                name = names[raw] = decode_literal(b'"' + raw + b'"')
            if (groups := head.lastindex) != 1:
                found[name] = Value(source, head.start(2), head.end(2))
                if groups == 2:
                    break
                at = head.end()
                continue
            start = head.end()
            end = source.end_of(start)
            found[name] = Value(source, start, end)
            at = _skip(data, end)
            if data[at] != _COMMA:
                break
            at += 1
        return found


def read_json(text: str | bytes) -> Any:
    """As json.loads, but a whole number of more digits than Python takes for one is a float, so infinite.

    Raises ValueError if it is no JSON, RecursionError if it is nested too deep."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return json.loads(text, parse_int=_whole)


def _whole(digits: str) -> int | float:
    try:
        return int(digits)
    except ValueError:
        return float(digits)


def _skip(data: bytes, at: int) -> int:
    return _SPACE.match(data, at).end()  # type: ignore[union-attr]
