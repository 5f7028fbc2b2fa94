"""Reading what an address means: exactly what `ctx cat` prints.

Law: the bytes are those of docs/retrieval.md, each checked before it is given. What comes piece by piece may
end in an error: who writes it elsewhere keeps it back until the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from castore.config import SELECT_BYTES_MAX
from castore.digest import Digest
from castore.errors import InvalidOption, LimitExceeded
from castore.retrieve.address import WHOLE, Address, Range, Unit
from castore.retrieve.readable import Held, Readable
from castore.retrieve.selecting import says, select
from castore.retrieve.slicing import cut_stream, slices
from castore.store.store import Store

__all__ = ["Found", "find", "held", "of_values", "pieces_of", "read"]


@dataclass(frozen=True, slots=True)
class Found:
    """What the selects of an address gave: one thing to read, or the values that a path found, in order.

    is_selected: it is a value, which is given with a line feed after it.
    """

    source: Readable
    values: Sequence[bytes] | None = None
    is_selected: bool = False


def find(source: Readable, address: Address) -> Found:
    """Follow the selects. Raises what `selecting.select` raises; InvalidOption where several values stand
    where one is needed."""
    for number, expression in enumerate(address.selects):
        selected = select(source, expression)
        if not selected.is_one:
            if number + 1 < len(address.selects):
                raise InvalidOption(
                    f"'{expression[:80]}' may find several values, and the next --select needs one",
                    hint="name one place, as in $.rows[3]; the last --select may find several",
                    option="--select",
                )
            return Found(source, selected.literals, is_selected=True)
        source = Held(selected.literals[0])
    is_selected = bool(address.selects)
    if is_selected and isinstance(source, Held) and (address.range or address.cut):
        # A part of a string is a part of what it says.
        source = says(source.data) or source
    return Found(source, is_selected=is_selected)


def read(store: Store, digest: Digest, address: Address = WHOLE) -> Iterator[bytes]:
    """What the address means in an object: see `pieces_of`."""
    return pieces_of(store.ranged(digest), address)


def pieces_of(source: Readable, address: Address) -> Iterator[bytes]:
    """What the address means, in pieces. Raises InvalidOption, NotFound, DocumentInvalid, LimitExceeded;
    ObjectMissing, ObjectDamaged."""
    found = find(source, address)
    if found.values is not None:
        pieces = _of_values(found.values, address.range)
    elif address.range is not None:
        pieces = slices(found.source, address.range)
    elif address.cut is not None:
        yield from slices(found.source, address.cut)
        return
    else:
        pieces = _whole(found)
    if address.cut is None:
        yield from pieces
    elif address.cut.needs_length:
        yield from slices(Held(held(pieces)), address.cut)
    else:
        yield from cut_stream(pieces, address.cut)


def held(pieces: Iterator[bytes]) -> bytes:
    """All of it, in memory. Raises LimitExceeded."""
    taken: list[bytes] = []
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > SELECT_BYTES_MAX:
            raise LimitExceeded(
                f"over {SELECT_BYTES_MAX:,} bytes can't be counted from their end",
                hint="count characters or bytes from the beginning",
                limit="SELECT_BYTES_MAX",
            )
        taken.append(piece)
    return b"".join(taken)


def of_values(values: Sequence[bytes], wanted: Range | None) -> Sequence[bytes]:
    """Those of the values that the range is of. Raises InvalidOption for lines."""
    if wanted is None:
        return values
    if wanted.unit is not Unit.ITEMS:
        raise InvalidOption(
            "a --select that may find several values goes with --items, which counts them, not with --lines",
            option="--lines",
        )
    first, last = wanted.bounds(len(values))
    return values[first:last]


# --- Helpers ---------------------------------------------------------------------------------------


def _of_values(values: Sequence[bytes], wanted: Range | None) -> Iterator[bytes]:
    for value in of_values(values, wanted):
        yield value + b"\n"


def _whole(found: Found) -> Iterator[bytes]:
    yield from found.source.pieces(0, found.source.size)
    if found.is_selected:
        yield b"\n"
