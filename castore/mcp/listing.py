"""ctx_list, and the list of resources: what is stored, the latest first, a page at a time.

Law: an entry is of what the caller sees; `after` of an answer goes on where it ended, whatever was stored
since.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from castore.digest import Digest
from castore.errors import InvalidOption, ObjectDamaged
from castore.mcp.answers import Answer, again, json_bytes, left_out_text
from castore.mcp.reading import SCHEME
from castore.roots.model import STATE, Root, RootKind
from castore.store import Store

__all__ = ["list_stored", "resources"]

_RESOURCES_MAX = 50
_REFS_MAX = 5
"""Objects of a root that its entry names."""

_TITLE_CHARACTERS_MAX = 100
_END_BYTES = 150
"""Kept back in a page for what says how to go on."""

_DIGITS = re.compile(r"(?:sha256:)?([0-9a-f]{6,64})\Z")
_UNLISTED = frozenset({RootKind.COLLAPSE, RootKind.SUMMARY})
"""Kinds of roots that nobody stored by hand: they have commands of their own."""

Entries = Iterator[tuple[str, dict[str, Any]]]
"""Each with what `after` takes to go on after it."""


def list_stored(store: Store, arguments: Mapping[str, Any]) -> Answer:
    """Raises InvalidOption for an `after` that no answer gave, RootDamaged."""
    after = arguments.get("after")
    what = arguments.get("what", "stored")
    entries = _objects(store, after) if what == "objects" else _roots(store, after)
    told: dict[str, Any] = {"entries": []}
    left = arguments["max_bytes"] - _END_BYTES - json_bytes(told)
    last = None
    for key, entry in islice(entries, arguments["limit"]):
        left -= json_bytes(entry) + 1
        if left < 0 and last is not None:
            break
        told["entries"].append(entry)
        last = key
    else:
        if next(entries, None) is None:
            last = None  # All were told.
    lines = [_line(entry) for entry in told["entries"]]
    if last is not None:
        # The call that goes on has the arguments of this one.
        told["left_out"] = "more entries"
        told["next"] = [again("ctx_list", arguments, after=last)]
        lines.append(left_out_text(told["left_out"], "ctx_list", told["next"]))
    return Answer(told, "\n".join(lines) or "nothing is stored")


def resources(store: Store) -> list[dict[str, Any]]:
    """The latest objects that were stored by themselves: uri, name and size of each."""
    found: dict[str, dict[str, Any]] = {}
    for root in _live(store, store.roots(4 * _RESOURCES_MAX)):
        if len(root.objects) != 1 or len(found) == _RESOURCES_MAX:
            continue
        digest = root.objects[0]
        size = {} if root.source is None else {"size": root.source.size}
        name = _title(root) or digest.short
        found.setdefault(digest.hex, {"uri": SCHEME + digest.hex, "name": name, "title": name, **size})
    return list(found.values())


# --- Helpers ---------------------------------------------------------------------------------------


def _roots(store: Store, after: str | None) -> Entries:
    """Those after the root with this id; read as far as they are asked for."""
    is_after, told, wanted = after is None, 0, 64
    while True:
        page = store.roots(wanted)
        for root in page[told:]:
            if is_after and _is_listed(store, root):
                yield root.id, _root_entry(root)
            is_after = is_after or root.id == after
        if len(page) < wanted:
            break
        told, wanted = len(page), 4 * wanted
    if not is_after:
        raise _unknown(after)


def _objects(store: Store, after: str | None) -> Entries:
    digits = ""
    if after is not None:
        match = _DIGITS.match(after)
        if match is None:
            raise _unknown(after)
        digits = match[1]
    for digest in store.digests():
        if digest.hex > digits:
            yield digest.hex, _object_entry(store, digest)


def _live(store: Store, roots: Iterable[Root]) -> Iterator[Root]:
    return (root for root in roots if _is_listed(store, root))


def _is_listed(store: Store, root: Root) -> bool:
    return root.kind not in _UNLISTED and root.is_live(store.parts.clock())


def _root_entry(root: Root) -> dict[str, Any]:
    entry: dict[str, Any] = {"kind": str(root.kind), "scope": root.scope}
    if title := _title(root):
        entry["title"] = title
    if len(root.objects) == 1:
        entry["ref"] = root.objects[0].short
    else:
        entry["refs"] = [each.short for each in root.objects[:_REFS_MAX]]
    if root.source is not None:
        entry["size"] = root.source.size
    entry |= {"objects": len(root.objects), "created": _moment(root.created)}
    return entry if root.expires is None else {**entry, "expires": _moment(root.expires)}


def _object_entry(store: Store, digest: Digest) -> dict[str, Any]:
    try:
        found = store.stat(digest)
    except ObjectDamaged:
        return {"ref": digest.short, "kind": "damaged"}
    return {"ref": digest.short, "kind": "object", **({} if found is None else {"size": found.size})}


def _title(root: Root) -> str:
    """What people know it by; the empty text if nobody gave it a name."""
    title = root.name or root.source_name or ""
    if len(title) > _TITLE_CHARACTERS_MAX:
        title = f"…{title[-_TITLE_CHARACTERS_MAX:]}"
    title = "".join(each if each.isprintable() else "?" for each in title)
    return title if root.place in (None, STATE) else f"{title}, record {root.place}"


def _line(entry: Mapping[str, Any]) -> str:
    ref = entry.get("ref") or ", ".join(entry.get("refs", ()))
    more = entry.get("objects", 1) - max(1, len(entry.get("refs", ())))
    parts: list[tuple[str, Callable[[Any], str]]] = [
        ("created", str),
        ("kind", str),
        ("title", str),
        ("size", lambda size: f"{size:,} bytes"),
        ("expires", lambda moment: f"until {moment}"),
    ]
    words = [say(entry[key]) for key, say in parts if key in entry]
    return "  ".join([*words, ref + (f" and {more:,} more objects" if more > 0 else "")])


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _unknown(after: str | None) -> InvalidOption:
    return InvalidOption(
        f"'after' is '{str(after)[:40]}', after which there is nothing",
        hint="take it from `next` of the answer before, or leave it out",
        option="after",
    )
