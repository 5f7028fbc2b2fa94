"""One JSON value and nothing else, as the object of an array, object or string is.

Law: `single_value` returns exactly where the strict scan finds one value that begins at the first byte
and ends at the last; the fast reader that it asks first only ever saves time.
"""

from __future__ import annotations

from castore.document.grammar import ARRAY, Node, scan_strictly
from castore.document.place import invalid, utf8_error_offset

__all__ = ["single_value"]

_STRICT_BYTES_MAX = 16 << 10


def single_value(data: bytes) -> Node:
    """The array, object or string that `data` is. Raises DocumentInvalid or LimitExceeded."""
    if len(data) > _STRICT_BYTES_MAX:
        node = _fast(data)
        if node is not None:
            return node
    # With this floor the scan reports a node only if it is the whole.
    nodes = scan_strictly(data, len(data) - 1)
    if not nodes:
        raise invalid("there is more, or less, than one array, object or string", 0)
    return nodes[0]


def _fast(data: bytes) -> Node | None:
    """None where it is not one, or can't be told: a lone surrogate, say."""
    import msgspec

    if data[:1] not in (b"[", b"{", b'"') or data[-1:] not in (b"]", b"}", b'"'):
        return None
    if utf8_error_offset(data) is not None:
        return None
    try:
        if data[0] == ARRAY:
            items = len(msgspec.json.decode(data, type=list[msgspec.Raw]))
            return Node(0, len(data), ARRAY, items)
        msgspec.json.decode(data, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return None
    return Node(0, len(data), data[0])
