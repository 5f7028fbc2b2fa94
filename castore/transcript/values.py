"""JSON values where they stand: reading a few members of a large document without building the rest.

Law: a Value is a span of the source, and everything it says was read from exactly those bytes. Nothing is
read before it is asked for, but for members whose values are nearly always asked for next. Of a member given
twice the last counts, as for most readers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from castore.document.grammar import ARRAY, OBJECT, STRING, value_end
from castore.document.strings import decode_literal

__all__ = ["Source", "Value", "read_json", "shallow_end"]

_SPACE = re.compile(rb"[ \t\r\n]*+")
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_SCALAR = rb'[^][{}",:\s]++'
_MEMBER = re.compile(
    rb'[ \t\r\n]*+"([^"\\]*+(?:\\.[^"\\]*+)*+)"[ \t\r\n]*+:[ \t\r\n]*+'
    rb"(?:(%b|%b)[ \t\r\n]*+(,)?+)?+" % (_STRING, _SCALAR),
    re.DOTALL,
)
"""A member's name and, if its value is a string or scalar, that and the comma after it."""

_LEVELS = 8
"""Containers nested no deeper than this are passed over in one match; few are deeper."""


def _nested(levels: int) -> bytes:
    """What matches a container of a document that is known to be JSON: which bracket closes is not asked."""
    inner = rb'[^][{}"]++|%b' % _STRING
    container = rb"(?!)"
    for _ in range(levels):
        container = rb"[\[{](?>%b|%b)*+[\]}]" % (inner, container)
    return container


_VALUE = re.compile(rb"%b|%b|%b" % (_STRING, _SCALAR, _nested(_LEVELS)), re.DOTALL)
_COMMA, _CLOSE = 0x2C, 0x5D
_LAST_SPACE = 0x20
"""No other byte that white space may be is above it, and no byte that may stand in its place is below."""

_OPENED = frozenset({"content", "item", "message", "parts", "payload"})
"""Members that are passed over by reading what is in them: in a session it is nearly always asked for. The
choice is about time alone."""
_OPENED_LEVELS = 5

_SIZE_BITS = 32
_SIZE = (1 << _SIZE_BITS) - 1
_Spot = int
"""A value that nobody looked into: where it starts and, in the lower bits, its size. A session has hundreds
of thousands of them, and an object each would take more memory than the session."""


class Source:
    """The bytes of a session. data: JSON where values stand."""

    __slots__ = ("data", "levels", "names")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.levels = _OPENED_LEVELS
        """How deep what is nearly always asked for next is read along with a value."""
        self.names: dict[bytes, str] = {}
        """Names of members as they are spelled -> decoded: a session has few, thousands of times."""

    def end_of(self, at: int) -> int:
        """The offset after the value that begins at `at`."""
        found = _VALUE.match(self.data, at)
        return found.end() if found else value_end(self.data, at)


class Value:
    """One value of a source. start, end: the half-open span of its literal."""

    __slots__ = ("_items", "_members", "end", "source", "start")

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.source = source
        self.start = start
        self.end = end
        self._members: dict[str, _Spot | Value] | None = None
        self._items: list[Value] | None = None

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
        return dict(self.large_members(0))

    def large_members(self, bytes_min: int) -> Iterator[tuple[str, Value]]:
        """Those of the members that have at least so many bytes, with their names."""
        known = self._known()
        for name, spot in known.items():
            if type(spot) is not int:
                if spot.end - spot.start >= bytes_min:  # type: ignore[union-attr]
                    yield name, spot  # type: ignore[misc]
            elif spot & _SIZE >= bytes_min:
                yield name, self._value(name, spot)

    def names(self) -> Collection[str]:
        """The names of an object's members."""
        return self._known().keys()

    def get(self, name: str, second: str | None = None, third: str | None = None) -> Value | None:
        """The member at this way of names, each in the one before it; None where there is none."""
        known = self._members
        if known is None:
            known = self._known()
        spot = known.get(name)
        if spot is None:
            return None
        value = self._value(name, spot) if type(spot) is int else spot
        return value if second is None else value.get(second, third)  # type: ignore[union-attr, return-value]

    def text(
        self, name: str | None = None, second: str | None = None, third: str | None = None
    ) -> str | None:
        """The decoded string at this way of names; None if there is none or it is no string."""
        data = self.source.data
        if name is None:
            start, end = self.start, self.end
        elif second is not None:
            value = self.get(name)
            return None if value is None else value.text(second, third)
        else:
            # Asked for some twenty times a record, so not by way of a Value.
            known = self._members
            if known is None:
                known = self._known()
            spot = known.get(name)
            if spot is None:
                return None
            if type(spot) is int:
                start = spot >> _SIZE_BITS
                end = start + (spot & _SIZE)
            else:
                start, end = spot.start, spot.end  # type: ignore[union-attr]
        if data[start] != STRING:
            return None
        literal = data[start:end]
        return decode_literal(literal) if b"\\" in literal else literal[1:-1].decode()

    def flag(self, name: str) -> bool:
        """Whether the member of this name is `true`."""
        value = self.get(name)
        return value is not None and value.literal == b"true"

    def integer(self, name: str | None = None, second: str | None = None) -> int | None:
        value = self if name is None else self.get(name, second)
        if value is None or value.type_name != "number":
            return None
        try:
            return int(value.literal) if len(value) < 20 else None
        except ValueError:
            return None

    def items(self) -> list[Value]:
        """An array's items; [] for anything else."""
        if self._items is None:
            self._items = _read_array(self.source, self.start, 0)[0] if self.is_array else []
        return self._items

    def python(self) -> Any:
        """The value as Python has it. For small ones; numbers may lose their spelling."""
        return read_json(self.literal)

    def release(self) -> None:
        """Forget what was read of it: it is read again when it is asked for."""
        self._members = None
        self._items = None

    def _known(self) -> dict[str, _Spot | Value]:
        """The members, read now if they were not."""
        if self._members is None:
            source = self.source
            self._members = _read_object(source, self.start, source.levels)[0] if self.is_object else {}
        return self._members

    def _value(self, name: str, spot: _Spot) -> Value:
        """The member there; a container is kept, so that it is not read again whenever it is asked for."""
        start = spot >> _SIZE_BITS
        value = Value(self.source, start, start + (spot & _SIZE))
        if self.source.data[start] in _CONTAINERS:
            self._members[name] = value  # type: ignore[index]
        return value


_CONTAINERS = bytes((ARRAY, OBJECT))


def _read_object(source: Source, start: int, levels: int) -> tuple[dict[str, _Spot | Value], int]:
    """The members of the object that begins at `start`, and where it ends."""
    data, names, member = source.data, source.names, _MEMBER.match
    found: dict[str, _Spot | Value] = {}
    at = start + 1
    while (head := member(data, at)) is not None:
        raw = head[1]
        name = names.get(raw)
        if name is None:
            name = names[raw] = decode_literal(b'"' + raw + b'"')
        groups = head.lastindex
        if groups != 1:
            begin, end = head.span(2)
            found[name] = begin << _SIZE_BITS | end - begin
            at = head.end()
            if groups == 2:
                return found, at + 1
            continue
        begin = head.end()
        if levels and name in _OPENED:
            value = _open(source, begin, levels - 1)
            found[name], at = value, value.end
        else:
            at = source.end_of(begin)
            found[name] = begin << _SIZE_BITS | at - begin
        if data[at] <= _LAST_SPACE:
            at = _skip(data, at)
        if data[at] != _COMMA:
            return found, at + 1
        at += 1
    return found, _skip(data, at) + 1


def _read_array(source: Source, start: int, levels: int) -> tuple[list[Value], int]:
    """The items of the array that begins at `start`, and where it ends."""
    data, end_of = source.data, source.end_of
    found: list[Value] = []
    at = _skip(data, start + 1)
    while data[at] != _CLOSE:
        if levels and data[at] == OBJECT:
            value = _open(source, at, levels - 1)
        else:
            value = Value(source, at, end_of(at))
        found.append(value)
        at = value.end
        if data[at] <= _LAST_SPACE:
            at = _skip(data, at)
        if data[at] == _COMMA:
            at = _skip(data, at + 1)
    return found, at + 1


def _open(source: Source, start: int, levels: int) -> Value:
    """The container that begins at `start`, with what is in it read: so its end is found."""
    value = Value(source, start, start)
    if source.data[start] == OBJECT:
        value._members, value.end = _read_object(source, start, levels)
    else:
        value._items, value.end = _read_array(source, start, levels)
    return value


def shallow_end(data: bytes, at: int, stop: int | None = None) -> int | None:
    """The offset after the value that begins at `at`; None if it is nested deeper than a few levels, or does
    not end before `stop`."""
    found = _VALUE.match(data, at) if stop is None else _VALUE.match(data, at, stop)
    return None if found is None else found.end()


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
