"""ctx_read, ctx_show, and the resources: what an object holds, and what it is."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from castore.config import PAGE_BYTES
from castore.digest import Digest
from castore.errors import LimitExceeded
from castore.mcp import wording
from castore.mcp.answers import Answer, call_text, fitting, json_bytes, left_out_text, read_call
from castore.mcp.tools import ANSWER_BYTES_MAX
from castore.retrieve.address import Address
from castore.retrieve.kinds import kind_of
from castore.retrieve.pages import page_of
from castore.retrieve.readable import Readable
from castore.roots.model import Root
from castore.store import Store

if TYPE_CHECKING:
    from castore.retrieve.showing import Onwards

__all__ = ["RESOURCE_BYTES_MAX", "SCHEME", "read", "resource", "show"]

RESOURCE_BYTES_MAX = 256 << 10
"""Longest object that is given as a resource: its reader has no way to ask for a part."""

SCHEME = "ctx://"

_ONWARDS = 3

_REFS_MAX = 20
"""Objects of a document, or of a name of several, that are told of at most."""


def read(store: Store, arguments: Mapping[str, Any]) -> Answer:
    """A page of what the address means. Raises what `retrieve.pages.page` and `Store.resolve` raise.

    However often the page is made until it fits, the object is read once.
    """
    digest = store.resolve(arguments["ref"])
    ranges = {each: arguments.get(each) for each in ("items", "lines", "chars", "bytes")}
    address = Address.parse(arguments.get("select", ()), **ranges)
    most = arguments["max_bytes"]
    kept = {} if most == PAGE_BYTES else {"max_bytes": most}
    source = store.ranged(digest)
    return fitting(most, lambda wanted: _page(source, digest, address, wanted, kept))


def _page(
    source: Readable, digest: Digest, address: Address, bytes_max: int, kept: Mapping[str, Any]
) -> Answer:
    """kept: what the calls that go on repeat."""
    found = page_of(source, address, bytes_max)
    calls = [{**read_call(digest, each), **kept} for each in found.next]
    told: dict[str, Any] = {"ref": digest.short, "kind": str(found.kind)}
    text = found.text
    if text is None:
        # What is no text takes four thirds of its bytes: `fitting` sees that as it sees escapes.
        told["base64"] = text = base64.b64encode(found.data).decode()
    else:
        told["text"] = text
    if found.total is not None:
        told |= {"total": found.total, "unit": str(found.unit)}
    if found.left_out is not None:
        told["left_out"] = found.left_out
    if calls:
        told["next"] = calls
    after = left_out_text(found.left_out, "ctx_read", calls)
    return Answer(told, text + ("\n" if after and not text.endswith("\n") else "") + after)


def show(store: Store, arguments: Mapping[str, Any]) -> Answer:
    """What an object is and what stands apart in it; of a folded document, a root, or a name of several
    objects, which objects it keeps. Raises what `Store.find` and `retrieve.showing.show` raise."""
    found = store.find(arguments["ref"])
    if isinstance(found, Digest):
        most = arguments["max_bytes"]

        def onwards(wanted: int) -> tuple[str, str]:
            # As JSON, with what stands around it, it is longer: so many times what this answer is.
            more = {"max_bytes": min(ANSWER_BYTES_MAX, max(_ONWARDS * most, wanted))}
            return call_text("ctx_show", {"ref": found.short, **more}), call_text("", more).strip()

        return fitting(most, lambda wanted: _shown(store, found, wanted, onwards))
    return _roots(found, arguments["max_bytes"], store.parts.clock())


def _shown(store: Store, digest: Digest, bytes_max: int, onwards: Onwards) -> Answer:
    from castore.config import SHOWN_BYTES_MIN
    from castore.retrieve.showing import show

    shown = show(store, digest, bytes_max=max(SHOWN_BYTES_MIN, bytes_max), onwards=onwards)
    told = {"ref": digest.short, "kind": str(shown.overview.kind), "size": shown.overview.size}
    # Each place in the words of this server's tools, which are never longer.
    lines = ((label, wording.place(value) if label == "outlier" else value) for label, value in shown.lines)
    text = replace(shown, lines=tuple(lines)).text
    return Answer({**told, "text": text}, text)


def _roots(roots: tuple[Root, ...], bytes_max: int, now: float) -> Answer:
    """A line for each root, and one for each object that they keep; as many as fit."""
    from castore.retrieve.naming import root_words

    digests = list(dict.fromkeys(each for root in roots for each in root.objects))
    lines = [*(root_words(root, now) for root in roots[:3]), *(each.short for each in digests[:_REFS_MAX])]
    if len(digests) > _REFS_MAX:
        lines.append(f"and {len(digests) - _REFS_MAX:,} more objects")
    document = next((root.document.digest for root in roots if root.document is not None), None)
    told: dict[str, Any] = {
        "ref": roots[0].id[:16] if document is None else document.short,
        "kind": str(roots[0].kind),
    }
    text = ""
    for line in lines:
        if json_bytes({**told, "text": f"{text}{line}\n"}) > bytes_max:
            break
        text += f"{line}\n"
    return Answer({**told, "text": text}, text)


def resource(store: Store, uri: str) -> dict[str, Any]:
    """The contents of `ctx://REF`: mime type, and `text` or `blob` (base64). Raises LimitExceeded where they
    are too long for a resource; what `Store.resolve` and `Store.read` raise."""
    digest = store.resolve(uri.removeprefix(SCHEME))
    source = store.ranged(digest)
    if source.size > RESOURCE_BYTES_MAX:
        raise LimitExceeded(
            f"object '{digest.short}' has {source.size:,} bytes, over the "
            f"{RESOURCE_BYTES_MAX:,} of a resource",
            hint="the tool ctx_read reads a part of it",
            limit="RESOURCE_BYTES_MAX",
            digest=str(digest),
        )
    data = source.read(0, source.size)
    kind = kind_of(source)
    if kind.is_json:
        return {"mimeType": "application/json", "text": data.decode()}
    try:
        return {"mimeType": "text/plain", "text": data.decode()}
    except UnicodeDecodeError:
        return {"mimeType": "application/octet-stream", "blob": base64.b64encode(data).decode()}
