"""One JSON value and nothing else, as the object of an array, object or string is.

Law: `single_value` returns exactly where the strict scan finds one value that begins at the first byte
and ends at the last; the fast reader that it asks first only ever saves time.
"""

from __future__ import annotations

from castore.document.grammar import Node, scan_strictly
from castore.document.place import invalid, utf8_error_offset
from castore.errors import DocumentInvalid, LimitExceeded

__all__ = ["is_array", "single_value"]

_STRICT_BYTES_MAX = 16 << 10
_SPACE = b" \t\r\n"


def single_value(data: bytes, *, counts: bool = False) -> Node:
    """The array, object or string that `data` is. Raises DocumentInvalid or LimitExceeded.

    counts: an array's items are counted too, which costs a second look.
    """
    if len(data) > _STRICT_BYTES_MAX:
        node = _fast(data, counts=counts)
        if node is not None:
            return node
    # With this floor the scan reports a node only if it is the whole.
    nodes = scan_strictly(data, len(data) - 1)
    if not nodes:
        raise invalid("there is more, or less, than one array, object or string", 0)
    return nodes[0]


def is_array(data: bytes) -> bool:
    """Whether `data` is one array, with white space around it or none."""
    stripped = data.strip(_SPACE)
    if stripped[:1] != b"[":
        return False
    try:
        single_value(stripped)
    except (DocumentInvalid, LimitExceeded):
        return False
    return True


def _fast(data: bytes, *, counts: bool) -> Node | None:
    """None where it is not one, or can't be told: a lone surrogate, say."""
    import msgspec

    if data[:1] not in (b"[", b"{", b'"') or data[-1:] not in (b"]", b"}", b'"'):
        return None
    if utf8_error_offset(data) is not None:
        return None
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return None
    if not counts:
        return Node(0, len(data), data[0])
    from castore.document.structure import StructureScan

    scan = StructureScan(len(data) - 1)
    scan.feed(data)
    nodes = scan.take(data)
    return nodes[0] if nodes and not scan.is_irregular else None
