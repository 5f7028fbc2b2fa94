"""Answers: what a call gives, as structured content and as text, within the bytes that it may have.

Law: the structured content of an answer, as JSON, has at most the bytes that the call asked for, plus what it
repeats of the call's own arguments; the text has no more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from castore.config import PAGE_BYTES_MIN
from castore.digest import Digest
from castore.mcp.tools import TOOLS
from castore.retrieve.address import Address

__all__ = ["Answer", "again", "call_text", "fitting", "json_bytes", "left_out_text", "read_call"]

_ENVELOPE_BYTES = 300
"""About what stands in an answer around the bytes that were read."""

_JSON_GROWTH_MAX = 6
"""Bytes that one byte of a text takes in JSON: of a control character."""


@dataclass(frozen=True, slots=True)
class Answer:
    structured: Mapping[str, Any]
    text: str


def fitting(bytes_max: int, make: Callable[[int], Answer]) -> Answer:
    """The answer that `make` gives for a page of so many bytes that its JSON has at most `bytes_max`.

    How much longer a text gets in JSON is known when it is there: the page is made anew, shorter, until it
    fits, or is so short that it must.
    """
    wanted = max(PAGE_BYTES_MIN, bytes_max - _ENVELOPE_BYTES)
    least = max(PAGE_BYTES_MIN, (bytes_max - _ENVELOPE_BYTES) // _JSON_GROWTH_MAX)
    while True:
        answer = make(wanted)
        size = json_bytes(answer.structured)
        if size <= bytes_max or wanted <= least:
            return answer
        wanted = max(least, wanted * bytes_max // size - PAGE_BYTES_MIN)


def json_bytes(value: Any) -> int:
    """Bytes of it as the wire has it: JSON in UTF-8."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))


def read_call(digest: Digest, address: Address) -> dict[str, Any]:
    """The arguments of ctx_read that read this."""
    found: dict[str, Any] = {"ref": digest.short}
    if address.selects:
        found["select"] = list(address.selects)
    for each in (address.range, address.cut):
        if each is not None:
            found[str(each.unit)] = str(each)
    return found


def again(tool: str, arguments: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """The arguments of the same call with these changes; what has its default is left out."""
    table = TOOLS[tool].arguments
    kept = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in arguments.items()
        if value != getattr(table[name], "default", None)
    }
    return {**kept, **changes}


def left_out_text(left_out: str | None, tool: str, calls: list[dict[str, Any]]) -> str:
    """The line after a page that says what it left out and how to go on."""
    if left_out is None:
        return ""
    onwards = "; then ".join(call_text(tool, each) for each in calls)
    return f"[left out: {left_out}" + (f"; go on: {onwards}]" if onwards else "]")


def call_text(tool: str, arguments: Mapping[str, Any]) -> str:
    """`ctx_read {"ref":"3f9ac01b77de5a10","items":"9981"}`."""
    return f"{tool} {json.dumps(arguments, ensure_ascii=False, separators=(',', ':'))}"
