"""Bytes that a needle is hidden in, at any depth and in any spelling; and whether an address reads it."""

from __future__ import annotations

import json
import random
from typing import Any

from castore.retrieve.address import Address
from castore.retrieve.grep.said import said
from castore.retrieve.readable import Held
from castore.retrieve.reading import pieces_of

LEVELS = 4
NEEDLES = (
    "upstream reset",
    "订单失败",
    'say "hi"',
    "a\nb line",
    "tab\there",
    "back\\slash",
    "é😀x",
    '"status": "failed"',
    "/path/x",
)
_BITS = ("word ", '"', "\\", "\n", "订", "é", "😀", "x" * 20, " ", ",", "[", "]", "{", "}", "/")


def noise(chance: random.Random, count: int) -> str:
    return "".join(chance.choice(_BITS) for _ in range(chance.randrange(count)))


def dumped(chance: random.Random, value: Any) -> str:
    return json.dumps(
        value,
        ensure_ascii=chance.random() < 0.5,
        indent=chance.choice([None, None, 2]),
        separators=chance.choice([None, (",", ":")]),
    )


def value(chance: random.Random, depth: int, needle: str | None) -> Any:
    """A value of any shape that has the needle in it, perhaps in JSON inside a string."""
    kind = (
        chance.choice("sadj" if depth < 4 else "s")
        if needle is not None
        else chance.choice("nbtsadj"[: 7 if depth < 4 else 3])
    )
    if kind == "n":
        return chance.randrange(10 ** chance.randrange(1, 9))
    if kind == "b":
        return chance.choice([None, True, 1.5e10])
    if kind in "ts":
        size = chance.choice([5, 60, 200])
        return noise(chance, size) + (needle or "") + noise(chance, size)
    count = chance.choice([0, 1, 3, 8]) + (needle is not None)
    at = chance.randrange(count) if needle is not None else -1
    items = [value(chance, depth + 1, needle if each == at else None) for each in range(count)]
    if kind == "a":
        return items
    named = {
        (noise(chance, 4) if chance.random() < 0.3 else "k") + str(number): each
        for number, each in enumerate(items)
    }
    return named if kind == "d" else dumped(chance, chance.choice([items, named]))


def payload(seed: int) -> tuple[str, bytes] | None:
    """A needle, and the bytes it is in: a JSON value, text, or JSON Lines. None if it is hidden too deep."""
    chance = random.Random(seed)
    needle = chance.choice(NEEDLES)
    kind = chance.randrange(5)
    if kind < 3:
        text = (
            chance.choice(["", " \n"]) + dumped(chance, value(chance, 0, needle)) + chance.choice(["", "\n"])
        )
    elif kind == 3:
        text = noise(chance, 400) + "\n" + needle + noise(chance, 300)
    else:
        lines = (dumped(chance, value(chance, 1, needle if number == 3 else None)) for number in range(6))
        text = "\n".join(each.replace("\n", "") for each in lines)
    return (needle, text.encode()) if says(text.encode(), needle) else None


def says(data: bytes, needle: str) -> bool:
    """As it stands, or in what its strings say, and those inside them."""
    text = data.decode("utf-8", "surrogateescape")
    for _ in range(LEVELS + 1):
        if needle in text:
            return True
        text = said(text)
    return False


def reads(data: bytes, address: Address) -> bytes:
    """What `ctx cat` prints."""
    return b"".join(pieces_of(Held(data), address))
