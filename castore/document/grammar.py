"""The grammar, as code: a strict scan of a sequence of JSON values by regular expressions.

This is the reference of the two scanners. It says what a document is (RFC 8259 values, UTF-8, with any
white space between and around them; none is needed after an array or object, some is after a scalar),
and it finds the exact byte at which something is not one. It reads some 30 MB/s and imports nothing
heavy; `structure` finds the same nodes in large inputs at ten times that, and leaves every doubt to
this one. A property test holds the two to each other.
"""

from __future__ import annotations

import re
from functools import lru_cache

from castore.config import DEPTH_MAX
from castore.document.place import invalid, utf8_error_offset
from castore.errors import DocumentInvalid, LimitExceeded

__all__ = [
    "ARRAY",
    "OBJECT",
    "SPACE",
    "STRING",
    "STRING_END",
    "Node",
    "depth_exceeded",
    "scan_strictly",
    "value_end",
]

ARRAY, OBJECT, STRING = 0x5B, 0x7B, 0x22
"""A node's kind is the byte that opens it: `[`, `{` or `"`."""

_QUOTE, _COMMA, _COLON, _CLOSE_ARRAY, _CLOSE_OBJECT = 0x22, 0x2C, 0x3A, 0x5D, 0x7D
_SHORT_STRING_MAX = 120

_CONTROL = rb"\x00-\x1f"
_ESCAPE = rb'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})'
_NUMBER = rb"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+"
_LITERAL = rb"true|false|null"
_WS = rb"[ \t\r\n]*+"

SPACE = re.compile(_WS)
# The body of a string, up to its quote: plain runs are the inner loop, so that a long string is one match.
STRING_END = re.compile(rb'[^"\\%b]*+(?:%b[^"\\%b]*+)*+"' % (_CONTROL, _ESCAPE, _CONTROL))
_STRING_PREFIX = re.compile(rb'[^"\\%b]*+(?:%b[^"\\%b]*+)*+' % (_CONTROL, _ESCAPE, _CONTROL))
_SCALAR = re.compile(rb"%b|%b" % (_NUMBER, _LITERAL))


class Node:
    """A container or a string value of a document: its span, and what a reference to it would say.

    start, end: half-open byte span of the literal in the scanned data. items: of an array, else 0.
    last_comma: offset of the array's last own comma, -1 if it has fewer than two items.
    """

    __slots__ = ("end", "items", "kind", "last_comma", "start")

    def __init__(self, start: int, end: int, kind: int, items: int = 0, last_comma: int = -1) -> None:
        self.start = start
        self.end = end
        self.kind = kind
        self.items = items
        self.last_comma = last_comma

    def __repr__(self) -> str:
        return f"Node({self.start}:{self.end} {chr(self.kind)!r} {self.items} {self.last_comma})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and repr(self) == repr(other)

    __hash__ = None  # type: ignore[assignment]


@lru_cache(maxsize=16)
def _runs(string_max: int) -> tuple[re.Pattern[bytes], ...]:
    """Patterns that pass over many small scalars in one match: in an array, in an object, at the top; and
    over one item."""
    # A string of two bytes or more is to be reported where the floor is below that: then none may be passed.
    plain = rb'"[^"\\%b]{0,%d}+"' % (_CONTROL, string_max) if string_max >= 0 else rb"(?!)"
    scalar = rb"(?>%b|%b|%b)" % (plain, _NUMBER, _LITERAL)
    key = rb'"[^"\\%b]{0,%d}+"' % (_CONTROL, _SHORT_STRING_MAX)
    items = re.compile(rb"(?:%b%b%b,)*+" % (_WS, scalar, _WS))
    members = re.compile(rb"(?:%b%b%b:%b%b%b,)*+" % (_WS, key, _WS, _WS, scalar, _WS))
    item = re.compile(rb"%b%b," % (scalar, _WS))
    values = re.compile(rb"(?:%b[ \t\r\n]++)*+" % scalar)
    return items, members, values, item


def depth_exceeded(offset: int) -> LimitExceeded:
    return LimitExceeded(
        f"nesting is deeper than {DEPTH_MAX}", limit="DEPTH_MAX", offset=offset, line=None, column=None
    )


def scan_strictly(data: bytes | bytearray, floor: int) -> list[Node]:
    """The arrays, objects and string values of `data` longer than `floor` bytes, in order of start.

    `data` is a whole sequence of values, without a byte order mark. Raises DocumentInvalid with the
    offset of the first byte that makes it anything else, and LimitExceeded where nesting is deeper than
    DEPTH_MAX; the earliest defect is the one reported.
    """
    try:
        nodes = _Scan(data, floor).run()
    except (DocumentInvalid, LimitExceeded) as error:
        offset = error.fields["offset"]
        assert isinstance(offset, int)
        bad = utf8_error_offset(bytes(data[:offset]))
        # A character cut by the slice itself is no defect: it begins within its last three bytes.
        if bad is not None and (bad < offset - 3 or utf8_error_offset(bytes(data[: offset + 4])) == bad):
            raise invalid("not UTF-8", bad) from error
        raise
    bad = utf8_error_offset(data)
    if bad is not None:
        raise invalid("not UTF-8", bad)
    return nodes


def value_end(data: bytes | bytearray, at: int) -> int:
    """The offset after the value that begins at `at`, in a document that was scanned before."""
    return _Scan(data, len(data)).value(at)


class _Scan:
    def __init__(self, data: bytes | bytearray, floor: int) -> None:
        self.data = data
        self.floor = floor
        self.nodes: list[Node] = []
        self.stack: list[Node] = []
        self.items_run, self.members_run, self.values_run, self.one_item = _runs(
            max(-1, min(_SHORT_STRING_MAX, floor - 2))
        )

    def run(self) -> list[Node]:
        data, end = self.data, len(self.data)
        at = SPACE.match(data, 0).end()  # type: ignore[union-attr]
        while (at := self.values_run.match(data, at).end()) < end:  # type: ignore[union-attr]
            first = data[at]
            at = self.value(at)
            if first not in b"[{" and at < end and data[at] not in b" \t\r\n":
                raise invalid("white space must follow a value that is not an array or object", at)
            at = SPACE.match(data, at).end()  # type: ignore[union-attr]
        return self.nodes

    def value(self, at: int) -> int:
        """Pass over one value, whatever is in it; returns the offset after it. No recursion."""
        data, stack = self.data, self.stack
        at = self._open_or_scalar(at)
        while stack:
            node = stack[-1]
            at = SPACE.match(data, at).end()  # type: ignore[union-attr]
            byte = data[at] if at < len(data) else -1
            if byte == _COMMA:
                node.last_comma = at
                node.items += 1
                at = self._next_item(node, at + 1)
            elif byte == (_CLOSE_ARRAY if node.kind == ARRAY else _CLOSE_OBJECT):
                at += 1
                self._close(at)
            else:
                raise self._unexpected(at, "',' or ']'" if node.kind == ARRAY else "',' or '}'")
        return at

    def _close(self, end: int) -> None:
        node = self.stack.pop()
        node.end = end
        if node.kind == OBJECT:
            node.items, node.last_comma = 0, -1
        if end - node.start <= self.floor:
            # Whatever is in a small container is smaller still and already gone, so it is the last one.
            self.nodes.pop()

    def _open_or_scalar(self, at: int) -> int:
        """At a value: pass a scalar, or open a container up to just after its first item."""
        data = self.data
        while True:
            byte = data[at] if at < len(data) else -1
            if byte == _QUOTE:
                return self._string(at, is_value=True)
            if byte not in (ARRAY, OBJECT):
                match = _SCALAR.match(data, at)
                if match is None:
                    raise self._unexpected(at, "a value")
                return match.end()
            if len(self.stack) >= DEPTH_MAX:
                raise depth_exceeded(at)
            node = Node(at, at, byte)
            self.stack.append(node)
            self.nodes.append(node)
            at = SPACE.match(data, at + 1).end()  # type: ignore[union-attr]
            if at < len(data) and data[at] == (_CLOSE_ARRAY if byte == ARRAY else _CLOSE_OBJECT):
                self._close(at + 1)
                return at + 1
            node.items = 1
            at = self._to_value(node, at)

    def _next_item(self, node: Node, at: int) -> int:
        return self._open_or_scalar(self._to_value(node, at))

    def _to_value(self, node: Node, at: int) -> int:
        """From where an item or member begins, over a run of small scalar ones, to the next value."""
        data = self.data
        if node.kind == ARRAY:
            end = self.items_run.match(data, at).end()  # type: ignore[union-attr]
            if end > at:
                node.items += len(self.one_item.findall(data, at, end))
                node.last_comma = end - 1
            return SPACE.match(data, end).end()  # type: ignore[union-attr]
        at = self.members_run.match(data, at).end()  # type: ignore[union-attr]
        at = SPACE.match(data, at).end()  # type: ignore[union-attr]
        if at >= len(data) or data[at] != _QUOTE:
            raise self._unexpected(at, "a member's name")
        at = self._string(at, is_value=False)
        at = SPACE.match(data, at).end()  # type: ignore[union-attr]
        if at >= len(data) or data[at] != _COLON:
            raise self._unexpected(at, "':'")
        return SPACE.match(data, at + 1).end()  # type: ignore[union-attr]

    def _string(self, at: int, *, is_value: bool) -> int:
        match = STRING_END.match(self.data, at + 1)
        if match is None:
            raise self._bad_string(at)
        end = match.end()
        if is_value and end - at > self.floor:
            self.nodes.append(Node(at, end, STRING))
        return end

    def _bad_string(self, at: int) -> DocumentInvalid:
        stop = _STRING_PREFIX.match(self.data, at + 1).end()  # type: ignore[union-attr]
        if stop >= len(self.data):
            return invalid("the document ends inside a string", stop)
        if self.data[stop] == 0x5C:
            cut = len(self.data) - stop < 6 and re.match(
                rb"\\(?:u[0-9a-fA-F]{0,3})?\Z", bytes(self.data[stop:])
            )
            return invalid(
                "the document ends inside a string" if cut else "invalid escape in a string",
                len(self.data) if cut else stop,
            )
        return invalid(f"control character 0x{self.data[stop]:02x} in a string", stop)

    def _unexpected(self, at: int, expected: str) -> DocumentInvalid:
        if at >= len(self.data):
            return invalid(f"the document ends where {expected} must be", at)
        byte = self.data[at]
        shown = f"'{chr(byte)}'" if 0x20 <= byte < 0x7F else f"byte 0x{byte:02x}"
        return invalid(f"expected {expected}, found {shown}", at)
