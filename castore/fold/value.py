"""Python values as JSON documents and back: exactly the types JSON has, or an error that names the path."""

from __future__ import annotations

import json
import math
from typing import Any

from castore.config import DEPTH_MAX
from castore.document.path import Step, write_path
from castore.errors import LimitExceeded, ValueNotFoldable

__all__ = ["from_json", "to_json"]


def to_json(value: Any) -> bytes:
    """One JSON value, compact, from which `from_json` makes an equal value of the same types."""
    _check(value)
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError as error:  # An integer longer than Python is set to print.
        raise ValueNotFoldable(f"a number can't be written: {error}", path="$") from error
    try:
        return text.encode()
    except UnicodeEncodeError:  # A lone surrogate can only be written as an escape.
        return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()


def from_json(document: bytes) -> Any:
    return json.loads(document)


def _check(value: Any) -> None:
    """Without recursion: what is on the list is still to be looked at, with its steps."""
    waiting: list[tuple[Any, tuple[Step, ...]]] = [(value, ())]
    while waiting:
        each, steps = waiting.pop()
        if len(steps) > DEPTH_MAX:
            raise LimitExceeded(
                f"nesting is deeper than {DEPTH_MAX} (or goes in a circle)",
                limit="DEPTH_MAX",
                path=write_path(steps[:8]),
            )
        kind = type(each)
        if kind is list:
            waiting.extend((item, (*steps, at)) for at, item in enumerate(each))
        elif kind is dict:
            for key, item in each.items():
                if type(key) is not str:
                    raise _refused(f"the key {key!r:.40} is not a string", steps)
                waiting.append((item, (*steps, key)))
        elif kind is float:
            if not math.isfinite(each):
                raise _refused(f"{each} has no JSON form", steps)
        elif each is not None and kind not in (bool, int, str):
            raise _refused(f"{kind.__name__} is not a JSON type", steps)


def _refused(why: str, steps: tuple[Step, ...]) -> ValueNotFoldable:
    path = write_path(steps)
    error = ValueNotFoldable(f"this value can't be folded: {why} at {path}", path=path)
    error.at(path)
    return error
