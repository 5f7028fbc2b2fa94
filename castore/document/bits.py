"""Flags of the bytes of a text as bits, 64 a word, the first one lowest: what is asked of each byte at once.

Bits after the last byte are clear, until they are inverted. Most of it releases the interpreter lock.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["after", "at", "count", "counts_between", "equal", "first", "having", "last", "parity", "places"]

_BLOCK_BYTES = 1 << 17
_local = threading.local()
_ONE, _TOP = np.uint64(1), np.uint64(63)


def equal(octets: Any, value: int, *, ored: int = 0) -> Any:
    """Those bytes that are `value`, once these bits are set in them."""
    if not ored:
        return _words(octets, lambda some, out: np.equal(some, value, out=out))

    def alike(some: Any, out: Any) -> Any:
        return np.equal(np.bitwise_or(some, ored, out=out.view(np.uint8)), value, out=out)

    return _words(octets, alike)


def having(octets: Any, mask: int) -> Any:
    """Those bytes in which one of these bits is set."""
    return _words(octets, lambda some, out: np.bitwise_and(some, mask, out=out.view(np.uint8)))


def at(places: Any, size: int) -> Any:
    """These of so many, by their offsets."""
    flags = np.zeros(size, np.bool_)
    flags[places] = True
    return _words(flags, lambda some, out: some)


def _words(octets: Any, flags: Callable[[Any, Any], Any]) -> Any:
    """Set where what `flags` gives of the bytes is not 0; in blocks that stay near the processor."""
    scratch = _local.__dict__.get("scratch")
    if scratch is None:
        # Fresh memory would cost more than what is done with it.
        scratch = _local.__dict__["scratch"] = np.empty(_BLOCK_BYTES, np.bool_)
    packed = np.zeros(-(-octets.size // 64) * 8, np.uint8)
    for start in range(0, octets.size, _BLOCK_BYTES):
        some = octets[start : start + _BLOCK_BYTES]
        found = np.packbits(flags(some, scratch[: some.size]), bitorder="little")
        packed[start >> 3 : (start >> 3) + found.size] = found
    return packed.view("<u8")


def count(bits: Any) -> int:
    return int(np.bitwise_count(bits).sum())


def first(bits: Any) -> int:
    """The offset of the first bit that is set; one is."""
    at = int((bits != 0).argmax())
    word = int(bits[at])
    return at * 64 + (word & -word).bit_length() - 1


def last(bits: Any) -> int:
    """The offset of the last bit that is set; one is."""
    at = int(bits.size) - 1 - int((bits[::-1] != 0).argmax())
    word = int(bits[at])
    return at * 64 + word.bit_length() - 1


def after(bits: Any) -> Any:
    """Each bit one further on; what goes beyond the last word is lost."""
    moved = bits << _ONE
    moved[1:] |= bits[:-1] >> _TOP
    return moved


def parity(bits: Any) -> Any:
    """Set where an odd number of bits is set, from the first one up to and with this one."""
    found = bits.copy()
    for shift in (1, 2, 4, 8, 16, 32):
        found ^= found << np.uint64(shift)
    odd = found >> _TOP
    found ^= np.uint64(0) - (np.bitwise_xor.accumulate(odd) ^ odd)
    return found


def places(bits: Any) -> Any:
    """The offsets of the bits that are set."""
    octets = bits.view(np.uint8)
    some = np.flatnonzero(octets != 0)
    within = np.flatnonzero(np.unpackbits(octets[some], bitorder="little").view(np.bool_))
    found = some[within >> 3]
    found <<= 3
    found |= within & 7
    return found


def counts_between(bits: Any, offsets: Any) -> Any:
    """How many bits are set before the first of the offsets, between each and the next, after the last."""
    counts = np.bitwise_count(bits)
    before = np.cumsum(counts, dtype=np.int64)
    at = offsets >> 6
    below = bits[at] & ((_ONE << (offsets & 63).astype(np.uint64)) - _ONE)
    until = before[at] - counts[at] + np.bitwise_count(below)
    total = int(before[-1]) if before.size else 0
    return np.diff(until, prepend=0, append=total)
