"""The tools: what a model is told of each, what it takes, and what it gives.

Law: every result of a tool fits its `output` schema, and every description is short, as a model pays for all
of them in every turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from castore.config import GREP_PATTERN_CHARACTERS_MAX, PAGE_BYTES
from castore.mcp.arguments import Argument, Flag, Number, Text, Texts
from castore.retrieve.kinds import ObjectKind

__all__ = ["ANSWER_BYTES_MAX", "ANSWER_BYTES_MIN", "INSTRUCTIONS", "SHOWN_BYTES", "TOOLS", "Tool"]

ANSWER_BYTES_MAX = 64 << 10
"""Longest answer of one call, as JSON; whoever asks for more gets this much."""

ANSWER_BYTES_MIN = 700
"""Shortest limit that a call may set: less has no room for what says how to go on."""

SHOWN_BYTES = 700
"""What ctx_show says of an object, if the call does not ask for more."""

INSTRUCTIONS = """\
castore keeps long payloads out of the context. A marker (`[ctx 3f9ac01b77de5a10: …]`) or a reference \
(`{"$ctx": {"digest": "sha256:3f9ac01b77de5a10…", …}}`) stands where one was: nothing is lost.
To see what it stands for: ctx_show says in a few hundred bytes what it is and what stands apart in it, \
ctx_grep finds the place of a text, ctx_read reads that place. Each takes the digest, or the marker, as `ref`.
Answers are pages of at most 8,000 bytes: `left_out` says what is missing, and `next` has the arguments of \
the calls that go on. Read the part that you need, not the whole."""
"""What a client may tell a model of the server: a line each."""


@dataclass(frozen=True, slots=True)
class Tool:
    """writes: it adds to the store; no tool takes anything away."""

    name: str
    title: str
    description: str
    arguments: Mapping[str, Argument]
    output: Mapping[str, Any]
    writes: bool = False


_TEXT: dict[str, Any] = {"type": "string"}
_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
_KIND: dict[str, Any] = {"type": "string", "enum": [str(each) for each in ObjectKind]}


def _object(required: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def _list(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": dict(items)}


_READ_CALL = {
    **_object(
        {"ref": _TEXT},
        {
            **dict.fromkeys(("items", "lines", "chars", "bytes"), _TEXT),
            "select": _list(_TEXT),
            "max_bytes": _COUNT,
        },
    ),
    "description": "Arguments of a ctx_read call.",
}
_REF = Text(
    "A digest or its first digits, a name, or a whole marker or reference.", True, characters_max=4096
)


def _bytes_max(default: int) -> Number:
    return Number(
        f"Longest answer, in bytes; what does not fit is a page with `next` (at most {ANSWER_BYTES_MAX:,}).",
        lowest=ANSWER_BYTES_MIN,
        highest=ANSWER_BYTES_MAX,
        default=default,
        is_capped=True,
    )


_KEEPING = {
    "name": Text("A name to find it by: a letter, then A-Z a-z 0-9 . _ - (100 at most).", characters_max=200),
    "keep_for": Text("Keep it this long, as in 30d (default: for ever).", characters_max=40),
}
_READ = Tool(
    "ctx_read",
    "Read a stored object",
    "Read what a marker or reference stands for, whole or in part: items, lines, chars, bytes, or the "
    "value at a JSONPath. A long answer is a page; `next` has the arguments that go on. If you don't know "
    "the place, call ctx_show or ctx_grep first.",
    {
        "ref": _REF,
        "select": Texts(
            "JSONPath (RFC 9535), as in $.rows[3].note; several: each goes on in what the one before found.",
            count_max=8,
        ),
        "items": Text("Items of an array, as a Python slice: 3:9, -20: or 7.", characters_max=60),
        "lines": Text("Lines, from 0, as a Python slice.", characters_max=60),
        "chars": Text("Characters of it, or of those items or lines, as a Python slice.", characters_max=60),
        "bytes": Text("The same in bytes.", characters_max=60),
        "max_bytes": _bytes_max(PAGE_BYTES),
    },
    _object(
        {"ref": _TEXT, "kind": _KIND},
        {
            "text": _TEXT,
            "base64": _TEXT,
            "total": _COUNT,
            "unit": _TEXT,
            "left_out": _TEXT,
            "next": _list(_READ_CALL),
        },
    ),
)
_GREP = Tool(
    "ctx_grep",
    "Search in stored objects",
    "Find a regular expression in stored objects, also inside JSON strings. Each hit has an excerpt and "
    "`read`, the arguments of the ctx_read call that shows its place. Use it to find the row or line that "
    "matters without reading the rest.",
    {
        "pattern": Text(
            "A regular expression (Python's); with `fixed` the text itself.",
            True,
            characters_max=GREP_PATTERN_CHARACTERS_MAX,
        ),
        "refs": Texts(
            "Where to search: digests, names, markers (default: all that is stored).", characters_max=4096
        ),
        "fixed": Flag("Take the pattern as plain text."),
        "ignore_case": Flag("Upper and lower case are alike."),
        "context": Number("Items or lines to show before and after each hit.", highest=20),
        "max_hits": Number("Stop after so many hits.", lowest=1, highest=1000, default=20, is_capped=True),
        "skip": Number("Hits to leave out, as `next` of a page says.", highest=10**9),
        "max_bytes": _bytes_max(PAGE_BYTES),
    },
    _object(
        {
            "hits": _list(
                _object(
                    {"read": _READ_CALL, "excerpt": _TEXT}, {"before": _list(_TEXT), "after": _list(_TEXT)}
                )
            ),
            "objects": _COUNT,
        },
        {"problems": _list(_TEXT), "left_out": _TEXT, "next": _list({"type": "object"})},
    ),
)
_SHOW = Tool(
    "ctx_show",
    "Say what an object is",
    "Say in a few hundred bytes what a marker or reference stands for: kind, size, keys, edges, and what "
    'stands apart (the error among 12,000 infos), with its place: `items=7` is items: "7" of ctx_read. '
    "Call it before reading anything long.",
    {"ref": _REF, "max_bytes": _bytes_max(SHOWN_BYTES)},
    _object({"ref": _TEXT, "text": _TEXT}, {"kind": _TEXT, "size": _COUNT}),
)
_LIST = Tool(
    "ctx_list",
    "List what is stored",
    "List what the store holds, the latest first: names, documents, sizes, and the digest to read each by. "
    "Use it when you have no marker or reference at hand.",
    {
        "what": Text(
            "`stored` (default): what was stored, and when; `objects`: every object, by digest.",
            choices=("stored", "objects"),
        ),
        "after": Text("Go on after this one: the `after` of the answer before.", characters_max=100),
        "limit": Number("Entries at most.", lowest=1, highest=200, default=20, is_capped=True),
        "max_bytes": _bytes_max(PAGE_BYTES),
    },
    _object(
        {
            "entries": _list(
                _object(
                    {},
                    {
                        "ref": _TEXT,
                        "kind": _TEXT,
                        "title": _TEXT,
                        "scope": _TEXT,
                        "size": _COUNT,
                        "objects": _COUNT,
                        "refs": _list(_TEXT),
                        "created": _TEXT,
                        "expires": _TEXT,
                    },
                )
            )
        },
        {"left_out": _TEXT, "next": _list({"type": "object"})},
    ),
)
_PUT = Tool(
    "ctx_put",
    "Store a text",
    "Store a text (or bytes as base64) and get its digest: note that where the text was, and read it back "
    "with ctx_read. Use it for what is too long to keep in the context and may be needed again.",
    {
        "text": Text("The text to store.", characters_max=1 << 24),
        "base64": Text("Bytes to store, instead of a text.", characters_max=1 << 24),
        **_KEEPING,
    },
    _object({"ref": _TEXT, "digest": _TEXT, "size": _COUNT, "is_new": {"type": "boolean"}}),
    writes=True,
)
_FOLD = Tool(
    "ctx_fold",
    "Fold a JSON document",
    "Move the long arrays and strings of a JSON document (or JSON Lines) into the store and get the "
    "document with short references in their places. Use it before a long JSON result is kept in the "
    "context.",
    {
        "document": Text("The JSON text.", True, characters_max=1 << 24),
        "bytes_over": Number("Fold values longer than this many bytes (default: 1024)."),
        **_KEEPING,
        "max_bytes": _bytes_max(PAGE_BYTES),
    },
    _object({"text": _TEXT, "size": _COUNT, "folded_size": _COUNT, "folded": _COUNT, "refs": _list(_TEXT)}),
    writes=True,
)

TOOLS: dict[str, Tool] = {each.name: each for each in (_READ, _GREP, _SHOW, _LIST, _PUT, _FOLD)}
