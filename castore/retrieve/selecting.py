"""Selecting values by JSONPath (RFC 9535), and giving them as they stand.

Law: what is given for a path is the literal that stands there in the bytes, not one that is written anew: a
number keeps its spelling. Of members with one name the last counts, as for most readers.

The library finds the places; the literals are then taken from the bytes, a container after the other, and
only along those places. The whole is parsed, so it has at most SELECT_BYTES_MAX bytes; a path that begins
with items of an array by their index takes the item first, and parses that alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from castore.config import SELECT_BYTES_MAX
from castore.document.grammar import value_end
from castore.document.path import values
from castore.errors import DocumentInvalid, LimitExceeded, NotFound
from castore.retrieve.address import Range, Unit
from castore.retrieve.jsonpath import Place, parse_path
from castore.retrieve.kinds import SPACE
from castore.retrieve.readable import Held, Readable
from castore.retrieve.slicing import item_slices

__all__ = ["Selected", "says", "select"]

_FIRST_ITEM = re.compile(r"\$\[(-?[0-9]{1,18})\]")
_SHOWN = 80


class Selected:
    """The literals that a path found, in its order. is_one: the path can find one value at most (it is
    singular in the words of RFC 9535), and did."""

    def __init__(self, literals: Sequence[bytes], *, is_one: bool) -> None:
        self.literals = literals
        self.is_one = is_one


def select(source: Readable, expression: str) -> Selected:
    """What `expression` finds in the JSON value that `source` is, or in what the string says that it is.

    Raises InvalidOption for what is no path, with the place; DocumentInvalid where there is no JSON value;
    NotFound where a path that names one place finds nothing there; LimitExceeded.
    """
    path = parse_path(expression)
    source, expression = _within_item(source, expression)
    if source.size > SELECT_BYTES_MAX:
        raise LimitExceeded(
            f"a JSONPath looks through {SELECT_BYTES_MAX:,} bytes at most, not {source.size:,}",
            hint="choose an item first: a path that begins with '$[N]', or --items; 'ctx grep' finds which",
            limit="SELECT_BYTES_MAX",
        )
    data = source.read(0, source.size).strip(SPACE)
    value, data = _value(data)
    if isinstance(value, str):
        # JSON inside a string is meant; of the string itself there is only the whole.
        inner = value.strip()
        if inner[:1] in ("[", "{", '"') and expression != "$":
            data = inner.encode("utf-8", "backslashreplace")
            value = _parsed(data)
    places = parse_path(expression).places(value)
    is_one = path.is_singular
    if is_one and not places:
        raise NotFound(
            f"there is nothing at {expression[:_SHOWN]}",
            hint="'ctx show REF' shows what there is",
            subject=expression[:_SHOWN],
        )
    return Selected(_literals(data, places), is_one=is_one)


def says(literal: bytes) -> Held | None:
    """What a string says, as text; None for another value. Half a character, which UTF-8 has no bytes for, is
    spelt as its escape."""
    if literal[:1] != b'"':
        return None
    return Held(str(json.loads(literal)).encode("utf-8", "backslashreplace"))


# --- Helpers ---------------------------------------------------------------------------------------


def _within_item(source: Readable, expression: str) -> tuple[Readable, str]:
    """The item that the path begins with, if it is one of a large array, and the path within that."""
    found = _FIRST_ITEM.match(expression)
    if found is None or "$" in expression[1:] or isinstance(source, Held) or not source.is_array:
        return source, expression
    number = int(found[1])
    pieces: list[bytes] = []
    size = 0
    is_there = False
    for piece, _ in item_slices(source, Range.one(Unit.ITEMS, number)):
        is_there = True
        size += len(piece)
        pieces.append(piece)
        if size > SELECT_BYTES_MAX:
            raise LimitExceeded(
                f"the item has over {SELECT_BYTES_MAX:,} bytes, which a JSONPath can't look through",
                limit="SELECT_BYTES_MAX",
            )
    if not is_there:
        raise NotFound(f"there is nothing at {expression[:_SHOWN]}", subject=expression[:_SHOWN])
    return Held(b"".join(pieces)), "$" + expression[found.end() :]


def _value(data: bytes) -> tuple[Any, bytes]:
    """The JSON value, and its bytes; of JSON Lines the array that they would be."""
    try:
        return _parsed(data), data
    except DocumentInvalid:
        lines = [line for line in data.split(b"\n") if line.strip(SPACE)]
        if len(lines) < 2:
            raise
        # A line without a value, or with two, makes no array of them.
        array = b"[" + b",\n".join(line.strip(SPACE) for line in lines) + b"]"
        if not all(_is_value(line) for line in lines):
            raise
        return _parsed(array), array


def _is_value(line: bytes) -> bool:
    try:
        _parsed(line)
    except DocumentInvalid:
        return False
    return True


def _parsed(data: bytes) -> Any:
    """Raises DocumentInvalid for what is no JSON value, LimitExceeded for one that is nested too deep."""
    import msgspec

    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        pass  # Lone surrogates and huge numbers are read below; all else is refused there, with its place.
    try:
        return json.loads(data, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise _too_deep() from error
    except UnicodeDecodeError as error:
        raise DocumentInvalid("it is not UTF-8 text, so no JSON value", offset=error.start) from error
    except ValueError as error:
        raise DocumentInvalid(
            f"it is no JSON value: {str(error)[:100]}", hint="--lines and --chars read text"
        ) from error


def _too_deep() -> LimitExceeded:
    return LimitExceeded("the JSON value is nested too deep to look through", limit="DEPTH_MAX")


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"'{name}' is no JSON")


def _literals(data: bytes, places: Sequence[Place]) -> list[bytes]:
    """The literal at each place."""
    if not places:
        return []
    if places == [()]:
        return [data]
    found = _from_containers(data, places)
    return found if found is not None else _from_walk(data, places)


_Tree = dict[Any, Any]


def _from_containers(data: bytes, places: Sequence[Place]) -> list[bytes] | None:
    """By a fast reader that leaves inner values as they stand; None where it can't read them."""
    import msgspec

    tree: _Tree = {}
    for number, place in enumerate(places):
        at = tree
        for step in place:
            at = at.setdefault(step, {})
        at.setdefault(_HERE, []).append(number)
    found: list[bytes] = [b""] * len(places)
    # The list stands for a walk: what the fast reader found in a container is read in its turn.
    todo: list[tuple[bytes, _Tree]] = [(data, tree)]
    lists, objects = msgspec.json.Decoder(list[msgspec.Raw]), msgspec.json.Decoder(dict[str, msgspec.Raw])
    try:
        while todo:
            literal, wanted = todo.pop()
            for number in wanted.pop(_HERE, ()):
                found[number] = literal.strip(SPACE)
            if wanted:
                inner: Any = (lists if literal.lstrip(SPACE)[:1] == b"[" else objects).decode(literal)
                todo += [(bytes(inner[step]), below) for step, below in wanted.items()]
    except (msgspec.DecodeError, RecursionError):
        return None
    return found


_HERE = object()


def _from_walk(data: bytes, places: Sequence[Place]) -> list[bytes]:
    """By walking over every value: slow, and right whatever the strings say."""
    wanted = set(places)
    starts = {}
    for start, steps in values(data):
        if tuple(steps) in wanted:
            starts[tuple(steps)] = start  # Of members with one name the last stays.
    return [data[starts[place] : value_end(data, starts[place])] for place in places]
